"""Selection of the best with as few seeds as suffice (Kim and Nelson 2001).

S.-H. Kim and B. L. Nelson, "A fully sequential procedure for indifference-zone selection in
simulation", ACM TOMACS 11(3), 2001. All contenders get `first` seeds. Then seed after seed a
contender is eliminated whose sum of differences from another one leaves a continuation region that
narrows to nothing. If the values are normal and the best leads by the indifference zone, it is
selected with probability 1 − α; common random numbers are allowed and make it faster.

The values here are logarithms of costs, so that the zone is a ratio.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Elimination:
    """Why a contender got no more seeds.

    Attributes:
        seeds: after how many.
        by: the contender whose sum was lower.
    """

    seeds: int
    by: str


@dataclass
class Race:
    """The state of a selection.

    Attributes:
        alive: the contenders that are left, in the order given.
        eliminated: the others.
        seeds: the number of seeds that were looked at.
        most: the number of seeds at which the selection certainly ends.
        is_settled: whether one is left, or those left have the same sums at the end.
    """

    alive: list[str]
    eliminated: dict[str, Elimination] = field(default_factory=dict)
    seeds: int = 0
    most: int = 0
    is_settled: bool = False


def constant(count: int, first: int, alpha: float = 0.05) -> float:
    """The constant h² of the procedure, with c = 1.

    η = ½ [(2α / (K − 1))^(−2 / (n₀ − 1)) − 1] and h² = 2 η (n₀ − 1).

    Args:
        count: number of contenders K, two or more.
        first: seeds of the first stage n₀, two or more.
        alpha: the probability of another selection.
    """
    eta = (math.pow(2 * alpha / (count - 1), -2 / (first - 1)) - 1) / 2
    return 2 * eta * (first - 1)


def race(
    values: Mapping[str, Sequence[float]], first: int, zone: float, alpha: float = 0.05
) -> Race:
    """Look at the seeds one after the other, as far as there are values.

    The result depends on the values alone, and not on how many were computed at a time.

    Args:
        values: of each contender, finite, by seed; the lowest is best. Those of eliminated ones may
            end earlier.
        first: seeds of the first stage.
        zone: the indifference zone, above 0.
        alpha: the probability of another selection.
    """
    found = Race(list(values))
    if len(values) < 2:
        found.is_settled, found.seeds = True, min(map(len, values.values()), default=0)
        return found
    found.seeds = min(len(of) for of in values.values())
    if found.seeds < first:
        found.most = first
        return found
    h2 = constant(len(values), first, alpha)
    # When the region of a pair is empty, in seeds.
    ends = {
        (one, other): h2 * _variance(values[one][:first], values[other][:first]) / zone**2
        for one in values
        for other in values
        if one != other
    }
    found.seeds = first
    while True:
        sums = {name: math.fsum(values[name][: found.seeds]) for name in found.alive}
        found.eliminated |= {
            name: Elimination(found.seeds, by)
            for name in found.alive
            if (by := _eliminates(name, sums, ends, found.seeds, zone)) is not None
        }
        found.alive = [name for name in found.alive if name not in found.eliminated]
        pairs = [ends[one, other] for one in found.alive for other in found.alive if one != other]
        found.most = max(found.seeds, math.ceil(max(pairs, default=0.0)))
        if found.seeds >= max(pairs, default=0.0):
            found.is_settled = True
            return found
        if min(len(values[name]) for name in found.alive) <= found.seeds:
            return found
        found.seeds += 1


def _eliminates(
    name: str,
    sums: Mapping[str, float],
    ends: Mapping[tuple[str, str], float],
    seeds: int,
    zone: float,
) -> str | None:
    """The contender that eliminates another, the farthest ahead; None if there is none."""
    ahead = [
        (sums[name] - total, other)
        for other, total in sums.items()
        if other != name and sums[name] - total > max(0.0, zone / 2 * (ends[name, other] - seeds))
    ]
    return max(ahead, key=lambda one: one[0])[1] if ahead else None


def _variance(one: Sequence[float], other: Sequence[float]) -> float:
    """Sample variance of the differences; exactly 0 where all are equal."""
    gaps = [a - b for a, b in zip(one, other, strict=True)]
    if min(gaps) == max(gaps):
        return 0.0
    mean = math.fsum(gaps) / len(gaps)
    return math.fsum((gap - mean) ** 2 for gap in gaps) / (len(gaps) - 1)
