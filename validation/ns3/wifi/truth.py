"""The results of ns-3's Wi-Fi: recorded in `truth/wifi.csv`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.ns3.truth import TRUTH
from validation.ns3.wifi.works import works

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from validation.ns3.peer import Peer
    from validation.ns3.wifi.works import Work

FILE = TRUTH / "wifi.csv"
COLUMNS = (
    "work",
    "run",
    "goodput_bps",
    "data",
    "rts",
    "cts",
    "ack",
    "events",
    "cpu_s",
    "memory_mb",
    "options",
)


@dataclass(frozen=True)
class Measured:
    """The result of one run, after its first second.

    Attributes:
        goodput_bps: at the last receiver: of MSDUs, or of the payload of UDP or TCP over a chain.
        unanswered: share of the frames that open an exchange (RTS, or data without) to which no
            ACK was sent.
    """

    goodput_bps: float
    unanswered: float


def record(programs: Peer) -> None:
    """Run ns-3 again.

    Raises:
        OSError: when the file cannot be written.
        subprocess.CalledProcessError: when a program fails.
    """
    with FILE.open("w", newline="", encoding="utf-8") as target:
        table = csv.DictWriter(target, COLUMNS, lineterminator="\n", extrasaction="ignore")
        table.writeheader()
        for work in (work for group in works().values() for work in group):
            for run in range(1, work.runs + 1):
                options = (*work.options, f"--run={run}")
                found = programs.run("wifi", *options)
                command = " ".join(("wifi", *options))
                table.writerow({"work": work.name, "run": run, **found, "options": command})


def recorded() -> dict[str, list[Measured]]:
    """The recorded runs, by the work's name.

    Raises:
        OSError: when there is none.
    """
    runs: dict[str, list[Measured]] = {}
    with FILE.open(newline="", encoding="utf-8") as source:
        for row in csv.DictReader(source):
            runs.setdefault(row["work"], []).append(_measured(row))
    return runs


def _measured(row: Mapping[str, str]) -> Measured:
    opened = "rts" if float(row["rts"]) else "data"
    return Measured(
        goodput_bps=float(row["goodput_bps"]),
        unanswered=1 - float(row["ack"]) / float(row[opened]),
    )


def mean(runs: Sequence[Measured]) -> Measured:
    """The mean of several runs."""
    return Measured(
        goodput_bps=sum(run.goodput_bps for run in runs) / len(runs),
        unanswered=sum(run.unanswered for run in runs) / len(runs),
    )


def found(work: Work, on_record: Mapping[str, Sequence[Measured]]) -> Measured:
    """The recorded result of a work.

    Raises:
        ValueError: when the record is of other runs.
    """
    if len(on_record.get(work.name, ())) != work.runs:
        raise ValueError(f"{FILE} has not all runs of {work.name}: run ns-3 again (--record)")
    return mean(on_record[work.name])
