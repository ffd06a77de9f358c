"""The cost of the same work in ns-3 and here: alternating runs, minimum CPU seconds of each."""

from __future__ import annotations

import csv
import os
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

from validation.ns3 import ours
from validation.ns3.multipath.ours import timed as timed_paths
from validation.ns3.multipath.works import WARM_UP_S
from validation.ns3.multipath.works import Work as PathsWork
from validation.ns3.truth import BUFFER_BYTES, HERE, TRUTH
from validation.ns3.wifi.ours import timed
from validation.ns3.wifi.works import saturated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from validation.ns3.peer import Peer

FILE = TRUTH / "speed.csv"
WIFI_FILE = TRUTH / "wifi_speed.csv"
MULTIPATH_FILE = TRUTH / "multipath_speed.csv"

#: Number of pairs for stations and paths.
WIFI_PAIRS = 3


@dataclass(frozen=True)
class Timing:
    """One piece of work in both.

    Attributes:
        work: what it is.
        seconds: simulated.
        lena_s: CPU seconds of ns-3, only its event loop.
        ours_s: CPU seconds of ours, including the building of the network.
        lena_bytes: delivered by ns-3.
        ours_bytes: delivered by us.
        pairs: number of runs of each, of which the minimum counts.
        load: of the machine, mean of the minute before.
    """

    work: str
    seconds: float
    lena_s: float
    ours_s: float
    lena_bytes: float
    ours_bytes: float
    pairs: int
    load: float


def measure(programs: Peer) -> list[Timing]:
    """Run all work in both, alternately.

    Raises:
        subprocess.CalledProcessError: when a program of ns-3 fails.
    """
    cell_s, grid_s = 11.0, 4.0

    def cell() -> tuple[float, float]:
        found = programs.run(
            "cell",
            "--transport=tcp",
            "--rlc=am",
            f"--buffer={BUFFER_BYTES}",
            "--distance=100",
            f"--seconds={cell_s:g}",
            "--warmUp=0.5",
        )
        return found["cpu_s"], found["goodput_bps"] / 8 * (cell_s - 0.5)

    def grid() -> tuple[float, float]:
        found = programs.run("grid", f"--ues={HERE / 'ues.csv'}", f"--seconds={grid_s:g}")
        return found["cpu_s"], found["delivered_bytes"]

    return [
        timing
        for work, theirs, mine, seconds, count in (
            ("one cell, one UE at 100 m, a TCP transfer", cell, ours.timed_cell, cell_s, 5),
            ("grid of 25 cells, 100 UEs, each a TCP download", grid, ours.timed_grid, grid_s, 1),
        )
        for timing in _paired(work, theirs, mine, seconds, count)
    ]


def _paired(
    work: str,
    theirs: Callable[[], tuple[float, float]],
    mine: Callable[[str, float], tuple[float, float]],
    seconds: float,
    count: int,
) -> list[Timing]:
    """A row for each profile; a pair is one run of ns-3 and one of each profile."""
    profiles = ("lena", "standard")
    load = os.getloadavg()[0]
    lena = []
    own: dict[str, list[tuple[float, float]]] = {profile: [] for profile in profiles}
    for _ in range(count):
        lena.append(theirs())
        for profile in profiles:
            own[profile].append(mine(profile, seconds))
    return [
        Timing(
            f"{work}; profile {profile}",
            seconds,
            min(lena)[0],
            min(own[profile])[0],
            lena[0][1],
            own[profile][0][1],
            count,
            load,
        )
        for profile in profiles
    ]


def measure_wifi(programs: Peer) -> list[Timing]:
    """Run saturated stations in both, alternately.

    Raises:
        subprocess.CalledProcessError: when a program of ns-3 fails.
    """
    rows = []
    for stations in (1, 10):
        work = saturated("a", 54.0, stations, rts=False)
        load = os.getloadavg()[0]
        theirs, own = [], []
        for _ in range(WIFI_PAIRS):
            found = programs.run("wifi", *work.options)
            theirs.append((found["cpu_s"], found["goodput_bps"] / 8 * work.seconds))
            own.append(timed(work))
        rows.append(
            Timing(
                f"802.11a at 54 Mbit/s, {stations} saturated stations",
                work.seconds + 1,
                min(theirs)[0],
                min(own)[0],
                theirs[0][1],
                own[0][1],
                WIFI_PAIRS,
                load,
            )
        )
    return rows


def measure_multipath(programs: Peer) -> list[Timing]:
    """Run TCP over three paths in both, alternately.

    Raises:
        subprocess.CalledProcessError: when a program of ns-3 fails.
    """
    rows = []
    for work in (PathsWork(flows=1), PathsWork(flows=3)):
        load = os.getloadavg()[0]
        theirs, own = [], []
        for _ in range(WIFI_PAIRS):
            found = programs.run("multipath", *work.options)
            counted_s = work.seconds - WARM_UP_S
            theirs.append((found["cpu_s"], found["goodput_bps"] / 8 * counted_s))
            own.append(timed_paths(work))
        rows.append(
            Timing(
                work.name,
                work.seconds,
                min(theirs)[0],
                min(own)[0],
                theirs[0][1],
                own[0][1],
                WIFI_PAIRS,
                load,
            )
        )
    return rows


def record(rows: Sequence[Timing], file: Path = FILE) -> None:
    """Record the timings.

    Raises:
        OSError: when the file cannot be written.
    """
    with file.open("w", newline="", encoding="utf-8") as target:
        table = csv.writer(target, lineterminator="\n")
        table.writerow([field.name for field in fields(Timing)])
        table.writerows(astuple(row) for row in rows)


def recorded(file: Path = FILE) -> list[Timing]:
    """The recorded timings.

    Raises:
        OSError: when there are none.
    """
    with file.open(newline="", encoding="utf-8") as source:
        return [
            Timing(
                work=row["work"],
                seconds=float(row["seconds"]),
                lena_s=float(row["lena_s"]),
                ours_s=float(row["ours_s"]),
                lena_bytes=float(row["lena_bytes"]),
                ours_bytes=float(row["ours_bytes"]),
                pairs=int(row["pairs"]),
                load=float(row["load"]),
            )
            for row in csv.DictReader(source)
        ]
