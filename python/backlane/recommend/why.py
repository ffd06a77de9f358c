"""What the winner does otherwise than another contender: paths, losses, links."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from backlane.text import number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backlane.measures import FlowMeasures
    from backlane.recommend.samples import Samples

MOST_LINKS = 3
"""Links that are named."""


def reasons(samples: Samples, winner: str, other: str, seeds: int) -> list[str]:
    """Sentences about two contenders, over the seeds that both have."""
    mine, theirs = (_runs(samples, name, seeds) for name in (winner, other))
    parts = []
    for noun, unit, of in _COUNTS:
        one, two = _mean(mine, of), _mean(theirs, of)
        if not (math.isnan(one) or math.isnan(two)) and (one or two):
            parts.append(f"{noun} {number(one)}{unit} against {number(two)}{unit}")
    found = []
    if parts:
        found.append(f"{winner} against {other}: {', '.join(parts)}.")
    links, others = (_links(samples, name, seeds) for name in (winner, other))
    busiest = sorted(links, key=lambda link: (-links[link], link))[:MOST_LINKS]
    named = [f"{link} {_percent(links[link])} ({_percent(others.get(link))})" for link in busiest]
    if named:
        found.append(f"The busiest links with {winner} (with {other}): {', '.join(named)}.")
    return found


def _retransmitted(measures: FlowMeasures) -> float:
    """The share of segments that were sent again, in percent."""
    if not measures.segments_sent:
        return math.nan
    return 100 * measures.retransmits / measures.segments_sent


_COUNTS: Sequence[tuple[str, str, Callable[[FlowMeasures], float]]] = (
    ("reordered packets", " %", lambda m: 100 * m.reordered_ratio),
    ("timeouts a run", "", lambda m: float(m.rtos)),
    ("retransmitted segments", " %", _retransmitted),
    ("needless retransmissions a run", "", lambda m: float(m.spurious_retransmits)),
    ("unfinished flows a run", "", lambda m: float(len(m.unfinished))),
    ("RTT", " ms", lambda m: 1e3 * m.rtt_s.mean),
    ("hops", "", lambda m: m.hops_mean),
)
"""What is compared, a mean over runs: its noun, its unit, its value in a run."""


def _runs(samples: Samples, name: str, seeds: int) -> list[FlowMeasures]:
    return [one for place in range(seeds) for one in samples.measures(name, place)]


def _mean(runs: Sequence[FlowMeasures], of: Callable[[FlowMeasures], float]) -> float:
    known = [value for run in runs if not math.isnan(value := of(run))]
    return math.fsum(known) / len(known) if known else math.nan


def _links(samples: Samples, name: str, seeds: int) -> dict[str, float]:
    """The mean utilisation of each direction of a link."""
    sums: dict[str, list[float]] = {}
    for place in range(seeds):
        for run in samples.runs_of(name, place):
            table = samples.table(run, "links")
            if table is None:
                continue
            for begin, end, share in table.select("from", "to", "utilisation").iter_rows():
                if share is not None:
                    sums.setdefault(f"{begin} → {end}", []).append(float(share))
    return {link: math.fsum(shares) / len(shares) for link, shares in sums.items()}


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"
