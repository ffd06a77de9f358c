"""How far a run may lie from the trace before the comparison fails.

The bounds are a small multiple of what was measured when they were written, and stand for
"follows the kernel but for single packets". They guard against a change of behaviour; what
remains within them is explained in README.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from validation.linux.measures import Comparison, Summary


@dataclass(frozen=True)
class Row:
    """A measure of both, as a row of the table.

    Attributes:
        title: what it is, with its unit.
        value: takes it from a summary, in that unit.
        digits: after the point.
        relative: the largest difference as part of Linux's value.
        absolute: the largest difference in the unit; the wider of the two bounds holds.
    """

    title: str
    value: Callable[[Summary], float]
    digits: int
    relative: float = 0.0
    absolute: float = 0.0

    def holds(self, comparison: Comparison) -> bool:
        """Whether the run is within the bound."""
        linux, ours = self.value(comparison.linux), self.value(comparison.ours)
        return abs(ours - linux) <= max(self.relative * abs(linux), self.absolute)

    def bound(self) -> str:
        """The bound for readers."""
        if self.relative:
            return f"{100 * self.relative:g} %"
        return f"{self.absolute:g}"


ROWS = (
    Row("goodput, 10–60 s (Mbit/s)", lambda s: s.goodput_bps / 1e6, 3, relative=1e-4),
    Row("mean window, 10–60 s (packets)", lambda s: s.cwnd_mean_pkts, 2, relative=5e-4),
    Row("smallest window, 10–60 s (packets)", lambda s: s.cwnd_min_pkts, 0, absolute=1),
    Row("largest window, 10–60 s (packets)", lambda s: s.cwnd_max_pkts, 0, absolute=1),
    Row("mean smoothed RTT, 10–60 s (ms)", lambda s: s.srtt_mean_s * 1e3, 2, relative=1e-3),
    Row("times the window was cut, 10–60 s", lambda s: s.cuts, 0, absolute=0),
    Row("largest window, 0–2 s (packets)", lambda s: s.peak_cwnd_pkts, 0, absolute=0),
    Row("retransmissions, 0–60 s", lambda s: s.retransmits, 0, relative=0.05),
)

#: Mean absolute difference of the steady window, as part of its mean.
DIFFERENCE = 0.0025


def broken(comparison: Comparison) -> Iterator[str]:
    """The titles of the measures that are out of bounds."""
    for row in ROWS:
        if not row.holds(comparison):
            yield row.title
    if comparison.difference > DIFFERENCE:
        yield "mean difference of the window"
