"""One cell with a UE at rest, in motion, and in motion with fading, against LENA.

Both simulators read one fading trace (`validation.ns3.fading`), each with offsets of its own. The
goodput of a run agrees if it differs by no more than 5 %.
"""

from __future__ import annotations

import csv
import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import backlane
from validation.ns3 import fading
from validation.ns3.ours import KEYS
from validation.ns3.truth import BUFFER_BYTES, HERE, TRUTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.ns3.peer import Peer

FILE = TRUTH / "motion.csv"
TOLERANCE = 0.05
WARM_UP_S = 1.0
#: Runs of a transfer under fading in ns-3, and of all runs under fading here.
RUNS = 5
#: 60 km/h, as both write it.
SPEED_M_PER_S = 16.6666667

PLACES = {
    "rest at 100 m": (100, 0.0, False, 21.0),
    "60 km/h from 50 m": (50, SPEED_M_PER_S, False, 41.0),
    "60 km/h from 50 m, EVA": (50, SPEED_M_PER_S, True, 41.0),
    "rest at 700 m, EVA": (700, 0.0, True, 21.0),
}
"""Distance in m, speed in m/s, whether it fades, end in s."""

CONTROLS = {"cubic": "cubic", "linuxreno": "reno"}
"""Ours by ns-3's."""
RULES = {"pf": "proportional-fair", "rr": "round-robin"}


@dataclass(frozen=True)
class Work:
    """One run in both.

    Attributes:
        place: a key of `PLACES`.
        load: `pf` or `rr`: a UDP stream with this scheduler; or a control of `CONTROLS`: a TCP
            transfer with proportional fair.
    """

    place: str
    load: str

    @property
    def name(self) -> str:
        """Place and load."""
        return f"{self.place}, {self.load}"


@dataclass(frozen=True)
class Result:
    """The outcome of a run: goodput in bit/s and the mean MCS, both after the warm-up."""

    goodput_bps: float
    mcs_mean: float


def works() -> list[Work]:
    """All runs, in the order of the record; transfers have no place at the edge."""
    return [
        Work(place, load)
        for load in (*RULES, *CONTROLS)
        for place in PLACES
        if load in RULES or "700" not in place
    ]


def record(programs: Peer) -> None:
    """Run ns-3 and write the results, with the checksum of the fading trace.

    Raises:
        OSError: when the file cannot be written.
        subprocess.CalledProcessError: when the program fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "eva60.fad"
        checksum = fading.write(trace)
        rows: list[dict[str, str | float]] = []
        for work in works():
            fades = PLACES[work.place][2]
            for run in range(1, 1 + (RUNS if fades and work.load in CONTROLS else 1)):
                found = programs.run("cell", *options(work, trace), f"--RngRun={run}")
                known = checksum if fades else ""
                rows.append({"work": work.name, "run": run, "fading_sha256": known, **found})
    write(rows)


def write(rows: Sequence[dict[str, str | float]]) -> None:
    """Write the rows of a record."""
    with FILE.open("w", newline="", encoding="utf-8") as target:
        table = csv.DictWriter(target, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def options(work: Work, trace: Path) -> list[str]:
    """The arguments of `cell` for a run."""
    distance_m, speed, fades, end_s = PLACES[work.place]
    found = [f"--distance={distance_m}", f"--seconds={end_s:g}", f"--warmUp={WARM_UP_S:g}"]
    if speed:
        found.append(f"--speed={speed}")
    if fades:
        found.append(f"--fading={trace}")
    if work.load in RULES:
        return [*found, f"--scheduler={work.load}"]
    tcp = ("--transport=tcp", f"--control={work.load}", "--rlc=am", f"--buffer={BUFFER_BYTES}")
    return [*found, *tcp]


def recorded() -> dict[str, Result]:
    """The means of ns-3, by the names of the runs.

    Raises:
        OSError: when the record is missing.
        ValueError: when it is of another fading trace than `fading.write` makes.
    """
    with FILE.open(newline="", encoding="utf-8") as source:
        rows = list(csv.DictReader(source))
    text = "".join(" ".join(f"{db:.2f}" for db in row) + "\n" for row in fading.decibels())
    ours = hashlib.sha256(text.encode("ascii")).hexdigest()
    if any(row["fading_sha256"] not in ("", ours) for row in rows):
        raise ValueError(f"{FILE} was recorded with another fading trace")
    found: dict[str, list[Result]] = {}
    for row in rows:
        one = Result(float(row["goodput_bps"]), float(row["mcs_mean"]))
        found.setdefault(row["work"], []).append(one)
    return {name: _of(results) for name, results in found.items()}


def measured() -> dict[str, Result]:
    """The same here."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "eva60.fad"
        fading.write(trace)
        return {work.name: _mean(work, trace) for work in works()}


def _mean(work: Work, trace: Path) -> Result:
    """The mean over `RUNS`, where fading has an offset to draw."""
    seeds = range(1, 1 + (RUNS if PLACES[work.place][2] else 1))
    return _of([_run(work, trace, seed) for seed in seeds])


def _of(found: Sequence[Result]) -> Result:
    """The mean of several runs."""
    return Result(
        float(np.mean([one.goodput_bps for one in found])),
        float(np.mean([one.mcs_mean for one in found])),
    )


def _run(work: Work, trace: Path, seed: int) -> Result:
    distance_m, speed, fades, end_s = PLACES[work.place]
    motion = f', speed = "{speed} m/s", heading = "outward"' if speed else ""
    chosen = [("access.ue", f'[{{ near = "enb1", distance = "{distance_m} m"{motion} }}]')]
    if fades:
        chosen.append(("access.fading_trace", f'{{ file = "{trace}" }}'))
    if work.load in RULES:
        file = HERE / "cell.toml"
        chosen.append(("access.scheduler.rule", RULES[work.load]))
    else:
        file = HERE / "transfer.toml"
        chosen += [("tcp.congestion_control", CONTROLS[work.load]), *KEYS[work.load]]
    # A run is the beginning of a longer one, so that a difference is the count of the interval.
    long, short = (
        backlane.run(file, overrides=[*chosen, ("duration", f"{seconds:g} s")], seed=seed)
        for seconds in (end_s, WARM_UP_S)
    )
    bytes_ = [float(run.table("flows")["delivered_bytes"].sum()) for run in (long, short)]
    radio = long.table("series/radio")
    sent = radio.filter((radio["time_s"] > WARM_UP_S) & (radio["granted_bytes"] > 0))
    return Result(
        8 * (bytes_[0] - bytes_[1]) / (end_s - WARM_UP_S), float(np.mean(sent["mcs"].to_numpy()))
    )


def holds(lena: Result, ours: Result) -> bool:
    """Whether the goodput agrees."""
    return abs(ours.goodput_bps / lena.goodput_bps - 1) <= TOLERANCE


def table(lena: dict[str, Result], ours: dict[str, Result]) -> str:
    """Both side by side, in Markdown."""
    lines = ["| run | mean MCS | goodput (Mbit/s) | difference |", "|---|---|---|---|"]
    for name, theirs in lena.items():
        here = ours[name]
        mark = "" if holds(theirs, here) else "**"
        lines.append(
            f"| {name} | {theirs.mcs_mean:.2f} / {here.mcs_mean:.2f} "
            f"| {theirs.goodput_bps / 1e6:.2f} / {here.goodput_bps / 1e6:.2f} "
            f"| {mark}{100 * (here.goodput_bps / theirs.goodput_bps - 1):+.1f} %{mark} |"
        )
    return "\n".join(lines)
