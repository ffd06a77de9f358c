"""The order of contenders, and what the seeds decide about it.

Each contender is compared with the best by the differences *paired by seed*. Three outcomes are
possible: it is worse, it is equal within a margin, or the seeds do not suffice to decide.

Worse: the two-sided paired t test, after Holm's correction (Holm 1979). The best is chosen from the
same data, so that the family is that of all pairs of contenders, of which the comparisons with the
best are a part. Over the comparisons with the best alone the correction would be too weak: among
ten contenders that do not differ, at least one would be called worse in 12 % of the cases.

Equal: two one-sided paired t tests (Schuirmann 1987) reject that the difference lies at or beyond
either end of the margin, after Holm's correction over the comparisons with the best. Equality
within the margin takes precedence over a difference that is significant and small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane.stats import LEVEL, Interval, mean_interval, paired_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BEST, WORSE, EQUAL, UNDECIDED = "best", "worse", "equal", "undecided"
"""The outcomes of `rank`."""
EQUAL_WITHIN = 0.05
"""The margin of equality without ``[compare] equal_within``, as a share of the best."""


@dataclass(frozen=True)
class Standing:
    """One contender in a ranking.

    Attributes:
        name: the contender.
        value: its mean over seeds with interval.
        behind: mean − best, paired by seed; None for the best itself.
        verdict: "best", "worse", "equal" or "undecided".
        p_value: of being no worse, after the correction; NaN for the best and with fewer than two
            seeds.
        seeds_needed: about how many seeds would decide; 0 when it is decided or not known.
    """

    name: str
    value: Interval
    behind: Interval | None
    verdict: str
    p_value: float = math.nan
    seeds_needed: int = 0


def holm(p_values: Sequence[float], family: int | None = None) -> list[float]:
    """Adjusted p-values (Holm 1979), each at most 1; a NaN stays.

    The k-th smallest of m is multiplied by m − k + 1, and is at least the one before it.

    Args:
        p_values: of the comparisons.
        family: m, when further comparisons belong to the family whose p-values are not smaller
            than all of these, or not known; default the number of p-values.
    """
    known = sorted((p, index) for index, p in enumerate(p_values) if not math.isnan(p))
    adjusted = [math.nan] * len(p_values)
    least = 0.0
    for rank_, (p, index) in enumerate(known):
        least = max(least, min(1.0, p * ((family or len(known)) - rank_)))
        adjusted[index] = least
    return adjusted


@dataclass(frozen=True)
class Paired:
    """Mean and standard error of differences, with Student's distribution."""

    mean: float
    error: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Paired:
        """From the differences; the error is NaN for fewer than two."""
        count = len(values)
        if count < 2:
            return cls(values[0] if values else math.nan, math.nan, count)
        if min(values) == max(values):
            return cls(values[0], 0.0, count)
        mean = math.fsum(values) / count
        variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
        return cls(mean, math.sqrt(variance / count), count)

    def above(self, bound: float) -> float:
        """One-sided p-value of a true mean at most `bound`."""
        from scipy.special import stdtr

        if math.isnan(self.error):
            return math.nan
        if self.error == 0.0:
            return 0.0 if self.mean > bound else 1.0
        return float(stdtr(self.count - 1, (bound - self.mean) / self.error))

    @property
    def differs(self) -> float:
        """Two-sided p-value of a true mean of zero."""
        if math.isnan(self.error):
            return math.nan
        if self.error == 0.0:
            return 0.0 if self.mean else 1.0
        return 2.0 * Paired(abs(self.mean), self.error, self.count).above(0.0)

    def within(self, margin: float) -> float:
        """P-value of a true mean that is not inside ± `margin`: the larger of two tests."""
        if self.mean == self.error == 0.0:
            return 0.0
        mirrored = Paired(-self.mean, self.error, self.count)
        return max(self.above(-margin), mirrored.above(-margin))


def rank(
    contenders: Mapping[str, Mapping[int, float]], equal_within: float = EQUAL_WITHIN
) -> list[Standing]:
    """Order contenders by their mean over seeds, lowest first, and compare each with the best.

    Args:
        contenders: for each name the statistic of each seed.
        equal_within: the margin of equality, as a share of the absolute mean of the best.
    """
    intervals = {
        name: mean_interval([by_seed[seed] for seed in sorted(by_seed)])
        for name, by_seed in contenders.items()
        if by_seed
    }
    order = sorted(intervals, key=lambda name: intervals[name].mean)
    if not order:
        return []
    best, *others = order
    margin = equal_within * abs(intervals[best].mean)
    found = [_differences(contenders[name], contenders[best]) for name in others]
    standings = [Standing(best, intervals[best], None, BEST)]
    for name, (verdict, p_value, needed) in zip(others, decide(found, margin), strict=True):
        behind = paired_difference(contenders[name], contenders[best])
        standings.append(Standing(name, intervals[name], behind, verdict, p_value, needed))
    return standings


def decide(found: Sequence[Paired], margin: float) -> list[tuple[str, float, int]]:
    """The outcome of each comparison with the best, its p-value, and the seeds that would decide.

    Args:
        found: the differences of each other contender from the best.
        margin: of equality, in their unit.
    """
    pairs = len(found) * (len(found) + 1) // 2
    worse = holm([one.differs for one in found], pairs)
    equal = holm([one.within(margin) for one in found])
    outcomes = []
    for one, is_worse, is_equal in zip(found, worse, equal, strict=True):
        if is_equal <= 1 - LEVEL:
            outcomes.append((EQUAL, is_worse, 0))
        elif is_worse <= 1 - LEVEL and one.mean > 0:
            outcomes.append((WORSE, is_worse, 0))
        else:
            needed = seeds_needed(one, margin, (1 - LEVEL) / pairs)
            outcomes.append((UNDECIDED, is_worse, needed))
    return outcomes


def _differences(mine: Mapping[int, float], other: Mapping[int, float]) -> Paired:
    return Paired.of([mine[seed] - other[seed] for seed in sorted(mine.keys() & other.keys())])


def seeds_needed(paired: Paired, margin: float, level: float) -> int:
    """About how many seeds decide whether a difference is worse or within the margin.

    The number at which the interval of the same mean and deviation lies above zero or inside the
    margin, whichever needs fewer: (z s / w)² with z of the two-sided level and w the distance from
    that condition. 0 when the deviation is not known.
    """
    from scipy.special import ndtri

    if math.isnan(paired.error):
        return 0
    distance = max(abs(paired.mean), margin - abs(paired.mean))
    if distance <= 0.0:
        return 0
    deviation = paired.error * math.sqrt(paired.count)
    wanted = (float(-ndtri(level / 2)) * deviation / distance) ** 2
    return max(paired.count + 1, math.ceil(wanted)) if math.isfinite(wanted) else 0
