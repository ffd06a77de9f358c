"""Measures of a run, and how far ours may be from the record."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane.stats import mean_interval
from validation.bp_mr_authors.runs import CASES, jain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from backlane.stats import Interval
    from validation.bp_mr_authors.runs import Flow


@dataclass(frozen=True)
class Measure:
    """One number of a run.

    Attributes:
        title: of its column.
        of: computes it from the flows of a run.
        digits: after the point.
        within: how far ours may be, in words; empty if nothing is asked.
        holds: whether ours is near enough to the record.
    """

    title: str
    of: Callable[[Sequence[Flow]], float]
    digits: int
    within: str = ""
    holds: Callable[[float, float], bool] = lambda ours, theirs: True


def _mean(of: Callable[[Flow], float]) -> Callable[[Sequence[Flow]], float]:
    """Over the flows that finished."""

    def mean(flows: Sequence[Flow]) -> float:
        known = [value for value in map(of, flows) if math.isfinite(value)]
        return math.fsum(known) / len(known)

    return mean


def _rows(between: bool) -> Callable[[Sequence[Flow]], float]:
    mean = _mean(lambda flow: flow.finish_s)
    return lambda flows: mean([flow for flow in flows if flow.between_gateways == between])


def _near(share: float) -> Callable[[float, float], bool]:
    return lambda ours, theirs: abs(ours - theirs) <= share * theirs


MEASURES: dict[str, Measure] = {
    "first_byte": Measure("first byte in s", _mean(lambda f: f.first_byte_s), 2),
    "finish": Measure("finish in s", _mean(lambda f: f.finish_s), 2, "15 %", _near(0.15)),
    "unfinished": Measure(
        "unfinished", lambda flows: float(sum(math.isinf(f.finish_s) for f in flows)), 1
    ),
    "gateway_rows": Measure("rows 1, 3, 5", _rows(between=False), 2),
    "between_rows": Measure("rows 2, 4", _rows(between=True), 2),
    "jain": Measure("Jain", jain, 3, "0.1", lambda ours, theirs: abs(ours - theirs) <= 0.1),
    "reordered": Measure(
        "reordered", lambda flows: float(sum(f.reordered for f in flows)), 0, "20 %", _near(0.2)
    ),
    "retransmitted": Measure(
        "retransmitted", lambda flows: float(sum(f.retransmitted for f in flows)), 0
    ),
    "fast_recoveries": Measure(
        "fast recoveries", lambda flows: float(sum(f.fast_recoveries for f in flows)), 0
    ),
    "rtos": Measure("timeouts", lambda flows: float(sum(f.rtos for f in flows)), 0),
    "rtt": Measure("RTT in ms", _mean(lambda f: f.rtt_s * 1e3), 1),
}


@dataclass(frozen=True)
class Pair:
    """A measure of a case beside the record.

    Attributes:
        case: of `CASES`.
        name: of `MEASURES`.
        theirs: of the recorded run.
        ours: over our seeds.
    """

    case: str
    name: str
    theirs: float
    ours: Interval

    @property
    def holds(self) -> bool:
        """Whether our mean is near enough."""
        return MEASURES[self.name].holds(self.ours.mean, self.theirs)


def pairs(ours: Sequence[Flow], theirs: Sequence[Flow]) -> list[Pair]:
    """Every measure of every case."""
    record, runs = by_run(theirs), by_run(ours)
    found = []
    for case in CASES:
        seeds = [flows for (name, _), flows in runs.items() if name == case]
        for name, measure in MEASURES.items():
            around = mean_interval([measure.of(flows) for flows in seeds])
            found.append(Pair(case, name, measure.of(record[case, 0]), around))
    return found


def by_run(flows: Sequence[Flow]) -> dict[tuple[str, int], list[Flow]]:
    """The flows of each case and seed."""
    found: dict[tuple[str, int], list[Flow]] = defaultdict(list)
    for flow in flows:
        found[flow.run, flow.seed].append(flow)
    return found


def order(of: Mapping[str, float]) -> list[str]:
    """The three routings without warm-up by mean finish time."""
    return sorted(("per flow", "olsr", "per packet"), key=lambda case: of[case])


def waits(flows: Sequence[Flow]) -> dict[str, list[int]]:
    """UEs by when OLSR gave them a route: at their first SYN, the second after 3 s, or later."""
    found: dict[str, list[int]] = {"at once": [], "3 s": [], "9 s": []}
    for flow in sorted(flows, key=lambda flow: flow.ue):
        late = flow.first_byte_s
        found["at once" if late < 1 else "3 s" if late < 5 else "9 s"].append(flow.ue)
    return found
