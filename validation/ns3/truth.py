"""The results of ns-3: recorded as CSV under `truth/`, with commands and machine."""

from __future__ import annotations

import csv
import platform
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from validation.ns3 import peer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).parent
TRUTH = HERE / "truth"

SCHEDULERS = ("pf", "rr")
DISTANCES_M = (*range(50, 2001, 50), 2500)
#: Of a stream and of a transfer: its end, and where means begin.
STREAM_S = (6.0, 1.0)
TRANSFER_S = (40.0, 10.0)
CONTROLS = ("cubic", "newreno", "linuxreno")
TRANSFER_M = 700
#: The walk: its first distance from the cell, its speed, its duration.
WALK_M, WALK_M_PER_S, WALK_S = 300, 20, 115.0
#: 750 packets of 1500 bytes, each with two bytes of PDCP.
BUFFER_BYTES = 750 * 1502

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Stream:
    """One full-buffer stream.

    Attributes:
        scheduler: of LENA, `pf` or `rr`.
        distance_m: from the cell.
        goodput_bps: of UDP's payload.
        mcs_mean: over first transmissions.
        sinr_db: over the resource blocks, mean of the linear values.
        retransmitted: HARQ retransmissions for each TTI.
    """

    scheduler: str
    distance_m: float
    goodput_bps: float
    mcs_mean: float
    sinr_db: float
    retransmitted: float


def record(programs: peer.Peer) -> None:
    """Run ns-3 again and write all of `truth/`.

    Raises:
        OSError: when a file cannot be written.
        subprocess.CalledProcessError: when a program fails.
    """
    TRUTH.mkdir(exist_ok=True)
    commands = []
    options: tuple[str, ...]
    rows: list[dict[str, float | str]] = []
    end, begin = STREAM_S
    for scheduler in SCHEDULERS:
        for distance in DISTANCES_M:
            options = (
                f"--scheduler={scheduler}",
                f"--distance={distance}",
                f"--seconds={end:g}",
                f"--warmUp={begin:g}",
            )
            rows.append({"scheduler": scheduler, **programs.run("cell", *options)})
            commands.append(" ".join(("cell", *options)))
    _write(TRUTH / "streams.csv", rows)
    for scheduler in SCHEDULERS:
        walk = f"walk_{scheduler}.csv"
        options = (
            f"--scheduler={scheduler}",
            f"--distance={WALK_M}",
            f"--speed={WALK_M_PER_S}",
            f"--seconds={WALK_S:g}",
        )
        programs.run("cell", *options, f"--steps={TRUTH / walk}")
        commands.append(" ".join(("cell", *options, f"--steps={walk}")))
    for what in ("blocks", "reports"):
        text = programs.printed("blocks", f"--what={what}")
        (TRUTH / f"{what}.csv").write_text(text, encoding="utf-8")
        commands.append(f"blocks --what={what} > {what}.csv")
    rows = []
    end, begin = TRANSFER_S
    for control in CONTROLS:
        series = TRUTH / f"transfer_{control}.csv"
        options = (
            "--transport=tcp",
            f"--control={control}",
            "--rlc=am",
            f"--buffer={BUFFER_BYTES}",
            f"--distance={TRANSFER_M}",
            f"--seconds={end:g}",
            f"--warmUp={begin:g}",
            f"--series={series}",
        )
        rows.append({"control": control, **programs.run("cell", *options)})
        shown = (*options[:-1], f"--series=transfer_{control}.csv")
        commands.append(" ".join(("cell", *shown)))
    _write(TRUTH / "transfers.csv", rows)
    (TRUTH / "README.md").write_text(_provenance(commands), encoding="utf-8")


def _write(file: Path, rows: Sequence[Mapping[str, float | str]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as target:
        table = csv.DictWriter(target, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def processor() -> str:
    """The processor's name, or its architecture if the name is unknown."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def today() -> str:
    """The date, in UTC."""
    return datetime.now(timezone.utc).date().isoformat()


def _provenance(commands: Sequence[str]) -> str:
    compiled = " ".join(peer.compilation(Path("cell.cc"), Path("cell")))
    settings = " ".join(f"{name}={value}" for name, value in peer.MALLOC.items())
    return "\n".join(
        [
            "# Output of ns-3",
            "",
            f"Recorded on {today()} by `python -m validation.ns3 --record` with ns-3 from "
            f"{peer.version()}, on {processor()}. Compiled with `g++ {compiled}`, run with "
            f"`{settings}`. The programs are in [../programs](../programs).",
            "",
            "`streams.csv`: a row for each stream. `walk_<scheduler>.csv`: each change of "
            "the MCS under a stream whose UE walks away. `blocks.csv`, `reports.csv`: results of "
            "LENA's functions for blocks and reports on a flat channel. `transfers.csv`: a row "
            "for each TCP transfer; its samples each 100 ms are in `transfer_<control>.csv`. The "
            "columns `cpu_s` and `memory_mb` are of that run, on a machine with other jobs. "
            "`motion.csv`: a row for each run of `validation.ns3.motion`, which has its arguments, "
            "with the checksum of the fading trace that `validation.ns3.fading` makes.",
            "",
            "```",
            *commands,
            "```",
            "",
        ]
    )


def streams() -> list[Stream]:
    """The recorded streams.

    Raises:
        OSError: when the record is missing.
    """
    return [
        Stream(
            scheduler=row["scheduler"],
            distance_m=float(row["distance_m"]),
            goodput_bps=float(row["goodput_bps"]),
            mcs_mean=float(row["mcs_mean"]),
            sinr_db=float(row["sinr_db"]),
            retransmitted=float(row["retransmissions"]) / (1000 * (STREAM_S[0] - STREAM_S[1])),
        )
        for row in _rows(TRUTH / "streams.csv")
    ]


def walk(scheduler: str) -> dict[int, float]:
    """The distance of the UE, in m, at each fall of its MCS.

    Raises:
        OSError: when the record is missing.
    """
    rows = _rows(TRUTH / f"walk_{scheduler}.csv")
    return {int(row["mcs"]): float(row["distance_m"]) for row in rows[1:]}


def transfer(control: str) -> dict[str, Floats]:
    """The recorded samples of a transfer, by column.

    Raises:
        OSError: when the record is missing.
    """
    rows = _rows(TRUTH / f"transfer_{control}.csv")
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as source:
        return list(csv.DictReader(source))
