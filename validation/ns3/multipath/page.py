"""The tables of the three paths in README.md, and all numbers as CSV."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane.stats import Interval, mean_interval
from validation.ns3.multipath.density import distance
from validation.ns3.multipath.works import goodput_in_turn_bps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from validation.ns3.multipath.truth import Found
    from validation.ns3.multipath.works import Work

#: Goodput agrees with ns-3 if its mean differs by no more than this part.
GOODPUT = 0.02
#: Reordering agrees with ns-3 if the distance of the densities is no larger.
REORDERED = 0.05

MEASURES = ("goodput_bps", "retransmitted", "in_order", "displacement_pkts")


@dataclass(frozen=True)
class Pair:
    """One piece of work in both.

    Attributes:
        work: the run.
        ns3: the result of ns-3.
        ours: the result here.
    """

    work: Work
    ns3: Found
    ours: Found

    def means(self, measure: str) -> tuple[Interval, Interval]:
        """Of a measure over the runs, ns-3's first."""
        return tuple(  # type: ignore[return-value]
            mean_interval([getattr(run, measure) for run in found.runs])
            for found in (self.ns3, self.ours)
        )

    @property
    def goodput(self) -> float:
        """Difference of the goodput as part of ns-3's."""
        ns3, ours = self.means("goodput_bps")
        return ours.mean / ns3.mean - 1

    @property
    def displaced_otherwise(self) -> float:
        """The total variation distance of the two densities."""
        return distance(self.ns3.density, self.ours.density)

    @property
    def holds(self) -> bool:
        """Whether both differences are small enough."""
        return abs(self.goodput) <= GOODPUT and self.displaced_otherwise <= REORDERED


def tables(groups: Mapping[str, Sequence[Pair]]) -> dict[str, str]:
    """The Markdown of each group."""
    return {
        "multipath alone": _alone(groups["alone"]),
        "multipath udp": _spread(groups["udp"], retransmits=False),
        "multipath tcp": _spread(groups["tcp"], retransmits=True),
    }


def _alone(pairs: Sequence[Pair]) -> str:
    lines = [
        "| run | frames in turn (Mbit/s) | goodput (Mbit/s) | difference | sent again (%) |",
        "|---|---|---|---|---|",
    ]
    for pair in pairs:
        in_turn = goodput_in_turn_bps(pair.work.delayed) / 1e6
        lines.append(
            f"| {pair.work.name} | {in_turn:.2f} | {_both(pair, 'goodput_bps', 1e-6, 2)} "
            f"| {_difference(pair)} | {_both(pair, 'retransmitted', 100, 2)} |"
        )
    return "\n".join([*lines, "", _summary(pairs)])


def _spread(pairs: Sequence[Pair], *, retransmits: bool) -> str:
    heads = ["run", "goodput (Mbit/s)", "difference", "RD[0] (%)", "mean displacement (packets)"]
    heads += ["displaced otherwise (%)"] + ["sent again (%)"] * retransmits
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for pair in pairs:
        otherwise = f"{100 * pair.displaced_otherwise:.1f}"
        cells = [
            pair.work.name,
            _both(pair, "goodput_bps", 1e-6, 2),
            _difference(pair),
            _both(pair, "in_order", 100, 1),
            _both(pair, "displacement_pkts", 1, 2),
            otherwise if pair.displaced_otherwise <= REORDERED else f"**{otherwise}**",
        ]
        cells += [_both(pair, "retransmitted", 100, 2)] * retransmits
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", _summary(pairs)])


def _both(pair: Pair, measure: str, scale: float, digits: int) -> str:
    return " / ".join(
        f"{scale * mean.mean:.{digits}f} ± {scale * (mean.high - mean.low) / 2:.{digits}f}"
        for mean in pair.means(measure)
    )


def _difference(pair: Pair) -> str:
    mark = "" if abs(pair.goodput) <= GOODPUT else "**"
    return f"{mark}{100 * pair.goodput:+.1f} %{mark}"


def _summary(pairs: Sequence[Pair]) -> str:
    holding = sum(pair.holds for pair in pairs)
    return (
        f"{holding} of {len(pairs)} differ by no more than {100 * GOODPUT:g} % in goodput and "
        f"{100 * REORDERED:g} % of the packets in displacement."
    )


def write_details(groups: Mapping[str, Sequence[Pair]], file: Path) -> None:
    """Every number, a row each.

    Raises:
        OSError: when the file cannot be written.
    """
    with file.open("w", newline="", encoding="utf-8") as target:
        rows = csv.writer(target, lineterminator="\n")
        rows.writerow(
            ("work", "measure", "ns3", "ns3_low", "ns3_high", "ours", "low", "high", "holds")
        )
        for pair in (pair for pairs in groups.values() for pair in pairs):
            holds = "yes" if pair.holds else "no"
            for measure in MEASURES:
                numbers = [
                    number
                    for mean in pair.means(measure)
                    for number in (mean.mean, mean.low, mean.high)
                ]
                shown = (f"{number:.7g}" for number in numbers)
                rows.writerow((pair.work.name, measure, *shown, holds))
