"""The tables of 802.11 in README.md, and all numbers as CSV."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from validation.ns3.wifi.truth import Measured
    from validation.ns3.wifi.works import Work

#: A run agrees with ns-3 if its goodput differs by no more than this part.
GOODPUT = 0.02


@dataclass(frozen=True)
class Pair:
    """One run in both.

    Attributes:
        work: the run.
        ns3: the result of ns-3.
        ours: the result here.
    """

    work: Work
    ns3: Measured
    ours: Measured

    @property
    def goodput(self) -> float:
        """Difference of the goodput as part of ns-3's."""
        return self.ours.goodput_bps / self.ns3.goodput_bps - 1

    @property
    def holds(self) -> bool:
        """Whether the difference is small enough."""
        return abs(self.goodput) <= GOODPUT


def tables(groups: Mapping[str, Sequence[Pair]]) -> dict[str, str]:
    """The Markdown of each group."""
    return {
        f"wifi {group}": _saturation(pairs) if group == "saturation" else _listed(pairs)
        for group, pairs in groups.items()
    }


def _saturation(pairs: Sequence[Pair]) -> str:
    counts = sorted({pair.work.stations for pair in pairs})
    lines = [
        "| | " + " | ".join(f"n = {count}" for count in counts) + " |",
        "|---|" + "---|" * len(counts),
    ]
    rows: dict[str, dict[int, Pair]] = {}
    for pair in pairs:
        access = "RTS" if pair.work.rts else "basic"
        row = f"802.11{pair.work.standard} {pair.work.rate:g} Mbit/s, {access}"
        rows.setdefault(row, {})[pair.work.stations] = pair
    for row, found in rows.items():
        lines.append(f"| {row} | " + " | ".join(_cell(found[count]) for count in counts) + " |")
    return "\n".join([*lines, "", _summary(pairs)])


def _cell(pair: Pair) -> str:
    mark = "" if pair.holds else "**"
    return f"{_goodputs(pair)} {mark}{100 * pair.goodput:+.1f} %{mark}; {_unanswered(pair, 3)}"


def _unanswered(pair: Pair, digits: int) -> str:
    # An ACK just after the warm-up for data just before it would be printed as -0.000.
    shares = (round(found.unanswered, digits) + 0.0 for found in (pair.ns3, pair.ours))
    return " / ".join(f"{share:.{digits}f}" for share in shares)


def _goodputs(pair: Pair) -> str:
    return f"{pair.ns3.goodput_bps / 1e6:.3f} / {pair.ours.goodput_bps / 1e6:.3f}"


def _listed(pairs: Sequence[Pair]) -> str:
    lines = [
        "| run | goodput (Mbit/s) | difference | unanswered |",
        "|---|---|---|---|",
    ]
    for pair in pairs:
        mark = "" if pair.holds else "**"
        lines.append(
            f"| {pair.work.name} | {_goodputs(pair)} "
            f"| {mark}{100 * pair.goodput:+.1f} %{mark} "
            f"| {_unanswered(pair, 4)} |"
        )
    return "\n".join([*lines, "", _summary(pairs)])


def _summary(pairs: Sequence[Pair]) -> str:
    holding = sum(pair.holds for pair in pairs)
    return (
        f"{holding} of {len(pairs)} runs differ by no more than {100 * GOODPUT:g} % in goodput; "
        f"the largest difference is {100 * max(abs(pair.goodput) for pair in pairs):.1f} %."
    )


def write_details(groups: Mapping[str, Sequence[Pair]], file: Path) -> None:
    """Every run, a row each.

    Raises:
        OSError: when the file cannot be written.
    """
    with file.open("w", newline="", encoding="utf-8") as target:
        rows = csv.writer(target, lineterminator="\n")
        rows.writerow(
            ("work", "ns3_goodput_bps", "goodput_bps", "ns3_unanswered", "unanswered", "holds")
        )
        for pair in (pair for pairs in groups.values() for pair in pairs):
            numbers = (
                pair.ns3.goodput_bps,
                pair.ours.goodput_bps,
                pair.ns3.unanswered,
                pair.ours.unanswered,
            )
            holds = "yes" if pair.holds else "no"
            rows.writerow((pair.work.name, *(f"{number:.7g}" for number in numbers), holds))
