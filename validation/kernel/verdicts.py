"""When the model counts as the kernel: the criteria, and the verdict of each row.

The criteria are those of `validation.linux` (goodput 1 %, window and smoothed RTT 3 %, one loss
episode; over several paths 10 % of goodput and a factor of 2 of the reordering learned), and what
each part asks beside them. They were chosen before any run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane import stats
from validation.kernel.scenes import BOTTLENECK
from validation.linux.bounds import Bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from validation.kernel.runs import Measured
    from validation.kernel.scenes import Scene

HOLDS, DIFFERS, UNDECIDED = "holds", "differs", "undecided"

ONE_PATH: Mapping[str, Bound] = {
    "goodput_mbps": Bound(relative=0.01),
    "cwnd_mean_pkts": Bound(relative=0.03),
    "srtt_mean_ms": Bound(relative=0.03),
    "episodes": Bound(absolute=1),
}
RANDOM: Mapping[str, Bound] = {
    "goodput_mbps": Bound(relative=0.01),
    "cwnd_mean_pkts": Bound(relative=0.03),
    "srtt_mean_ms": Bound(relative=0.03),
    "retransmits": Bound(relative=0.05),
    "rtos": Bound(absolute=0.5),
}

CRITERIA: Mapping[str, Mapping[str, Bound]] = {
    "random": RANDOM,
    "outage": {
        **ONE_PATH,
        "silence_s": Bound(relative=0.01),
        "rtos": Bound(absolute=0),
        "spurious_rtos": Bound(absolute=0),
        "undos": Bound(absolute=0),
    },
    "controls": ONE_PATH,
    "pairs": ONE_PATH,
    "marks": {**ONE_PATH, "marks": Bound(relative=0.05)},
    "paths3": RANDOM,
    "short": ONE_PATH,
}
"""By part and measure."""

EACH_LENGTH: Mapping[str, Bound] = {
    "goodput_mbps": Bound(relative=0.10),
    "reordering_pkts": Bound(factor=2),
}
"""Of a single length of `paths3`, as in `validation.linux`."""

WIDEST = 0.05
"""The half width of an interval, as part of the kernel's mean, beyond which it decides nothing."""

SIGNIFICANT = 0.05
"""The probability below which two counts of collapsed runs are different ones."""


@dataclass(frozen=True)
class Finding:
    """A measure of a row.

    Attributes:
        linux: the kernel's mean over the draws.
        model: the model's.
        apart: the mean difference, model − kernel, with its interval over the draws.
        verdict: of the measure; `None` where no criterion is set for it.
    """

    linux: float
    model: float
    apart: stats.Interval
    verdict: str | None


def finding(theirs: Mapping[int, float], ours: Mapping[int, float], bound: Bound | None) -> Finding:
    """Compare a measure over the draws of a row, by draw.

    With one draw the bound decides. With several it *differs* if the interval of the difference
    is without zero and the mean difference beyond the bound; it is *undecided* if the interval is
    wider than the bound and than `WIDEST`; and it *holds* otherwise.
    """
    linux = math.fsum(theirs.values()) / len(theirs)
    model = math.fsum(ours.values()) / len(ours)
    apart = stats.paired_difference(ours, theirs)
    if bound is None:
        return Finding(linux, model, apart, None)
    if not apart.known:
        verdict = HOLDS if bound.holds(linux, model) else DIFFERS
    elif not apart.has_zero and not bound.holds(linux, model):
        verdict = DIFFERS
    else:
        half = (apart.high - apart.low) / 2
        limit = max(bound.relative * abs(linux), bound.absolute, WIDEST * abs(linux))
        verdict = HOLDS if half <= limit else UNDECIDED
    return Finding(linux, model, apart, verdict)


def findings(
    rows: Iterable[Measured], scene: Scene, flow: int, bounds: Mapping[str, Bound],
    measures: Sequence[str],
) -> dict[str, Finding]:  # fmt: skip
    """The measures of a scene's flow, with those that `bounds` names.

    Raises:
        ValueError: when a draw lacks a run with one of the stacks.
    """
    by_stack: dict[str, dict[int, Measured]] = {"linux": {}, "model": {}}
    for one in rows:
        if (one.scene, one.flow) == (scene.name, flow):
            by_stack[one.stack][one.draw] = one
    theirs, ours = by_stack["linux"], by_stack["model"]
    if theirs.keys() != set(scene.draws) or ours.keys() != set(scene.draws):
        raise ValueError(f"{scene.name}: not every draw has a run with both stacks")

    def of(runs: Mapping[int, Measured], name: str) -> dict[int, float]:
        return {draw: float(getattr(one, name)) for draw, one in runs.items()}

    return {
        name: finding(of(theirs, name), of(ours, name), bounds.get(name))
        for name in dict.fromkeys((*measures, *bounds))
    }


def verdict(of: Iterable[str | None]) -> str:
    """Of a row, from those of its measures: the worst."""
    found = set(of)
    return next((one for one in (DIFFERS, UNDECIDED) if one in found), HOLDS)


def rate_mbps(scene: Scene) -> float:
    """The rate of a scene's bottleneck."""
    return float(str(scene.changes.get(f"{BOTTLENECK}.rate", "10 Mbit/s")).split()[0])


def collapsed(rows: Iterable[Measured], scene: Scene, stack: str) -> int:
    """The runs of a scene with one flow that reach less than half of the rate."""
    return sum(
        one.goodput_mbps < rate_mbps(scene) / 2
        for one in rows
        if (one.scene, one.stack) == (scene.name, stack)
    )


def chance(first: int, second: int, of: int) -> float:
    """Fisher's exact test, two-sided: how probable counts of `of` runs are that are as far apart.

    R. A. Fisher, "On the interpretation of χ² from contingency tables", 1922.
    """
    both = first + second
    ways = {
        k: math.comb(of, k) * math.comb(of, both - k)
        for k in range(max(0, both - of), min(of, both) + 1)
    }
    seen = ways[first]
    return sum(one for one in ways.values() if one <= seen) / sum(ways.values())
