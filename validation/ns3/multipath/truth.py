"""The results of ns-3 over three paths: recorded in `truth/multipath*.csv`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from validation.ns3.multipath.density import density, displacement_pkts, mean
from validation.ns3.multipath.works import works
from validation.ns3.truth import TRUTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from validation.ns3.multipath.works import Work
    from validation.ns3.peer import Peer

FILE = TRUTH / "multipath.csv"
DENSITIES = TRUTH / "multipath_density.csv"
COLUMNS = (
    "work",
    "run",
    "goodput_bps",
    "sent",
    "retransmits",
    "in_order",
    "displacement_pkts",
    "drops",
    "longest_queue",
    "events",
    "cpu_s",
    "memory_mb",
    "options",
)


@dataclass(frozen=True)
class Measured:
    """The result of one run.

    Attributes:
        goodput_bps: of all flows, after the warm-up.
        retransmitted: share of the sender's packets that are retransmissions.
        in_order: share of the packets that are not displaced, RD[0].
        displacement_pkts: the mean displacement, late or early.
    """

    goodput_bps: float
    retransmitted: float
    in_order: float
    displacement_pkts: float


@dataclass(frozen=True)
class Found:
    """All runs of one work.

    Attributes:
        runs: each run.
        density: the share of packets by displacement, mean over runs.
    """

    runs: tuple[Measured, ...]
    density: Mapping[int, float]


def record(programs: Peer) -> None:
    """Run ns-3 again.

    Raises:
        OSError: when a file cannot be written.
        subprocess.CalledProcessError: when a program fails.
    """
    with (
        FILE.open("w", newline="", encoding="utf-8") as runs,
        DENSITIES.open("w", newline="", encoding="utf-8") as shares,
        TemporaryDirectory() as folder,
    ):
        table = csv.DictWriter(runs, COLUMNS, lineterminator="\n")
        table.writeheader()
        histogram = csv.writer(shares, lineterminator="\n")
        histogram.writerow(("work", "displacement_pkts", "density"))
        arrivals = Path(folder) / "arrivals"
        for work in (work for group in works().values() for work in group):
            densities = []
            for run in range(1, work.runs + 1):
                options = (*work.options, f"--run={run}")
                found = programs.run("multipath", *options, f"--arrivals={arrivals}")
                densities.append(_density(arrivals))
                table.writerow(
                    {
                        "work": work.name,
                        "run": run,
                        **found,
                        "in_order": f"{densities[-1].get(0, 0.0):.6g}",
                        "displacement_pkts": f"{displacement_pkts(densities[-1]):.6g}",
                        "options": " ".join(("multipath", *options)),
                    }
                )
                runs.flush()
            for displacement, share in mean(densities).items():
                histogram.writerow((work.name, displacement, f"{share:.6g}"))


def _density(arrivals: Path) -> dict[int, float]:
    """The mean over the flows of a run's output."""
    flows: dict[str, list[int]] = {}
    with arrivals.open(encoding="utf-8") as lines:
        for line in lines:
            flow, number = line.split()
            flows.setdefault(flow, []).append(int(number))
    return mean(density(numbers) for numbers in flows.values())


def recorded() -> dict[str, Found]:
    """The recorded results, by the work's name.

    Raises:
        OSError: when there is none.
    """
    runs: dict[str, list[Measured]] = {}
    with FILE.open(newline="", encoding="utf-8") as source:
        for row in csv.DictReader(source):
            measured = Measured(
                goodput_bps=float(row["goodput_bps"]),
                retransmitted=float(row["retransmits"]) / float(row["sent"]),
                in_order=float(row["in_order"]),
                displacement_pkts=float(row["displacement_pkts"]),
            )
            runs.setdefault(row["work"], []).append(measured)
    densities: dict[str, dict[int, float]] = {}
    with DENSITIES.open(newline="", encoding="utf-8") as source:
        for row in csv.DictReader(source):
            shares = densities.setdefault(row["work"], {})
            shares[int(row["displacement_pkts"])] = float(row["density"])
    return {name: Found(tuple(each), densities[name]) for name, each in runs.items()}


def found(work: Work, on_record: Mapping[str, Found]) -> Found:
    """The recorded result of a work.

    Raises:
        ValueError: when the record is of other runs.
    """
    if work.name not in on_record or len(on_record[work.name].runs) != work.runs:
        raise ValueError(f"{FILE} has not all runs of {work.name}: run ns-3 again (--record)")
    return on_record[work.name]
