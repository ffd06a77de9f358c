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

from backlane import _native
from backlane.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BEST = "best"
"""The outcome of `rank` for the contender with the lowest mean."""
WORSE = "worse"
"""Worse than the best."""
EQUAL = "equal"
"""Equal to the best within the margin."""
UNDECIDED = "undecided"
"""The seeds do not suffice."""
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
    return _native.holm(p_values, family)


@dataclass(frozen=True)
class Paired:
    """Mean and standard error of differences, with Student's distribution."""

    mean: float
    error: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Paired:
        """From the differences; the error is NaN for fewer than two."""
        return cls(*_native.paired(values))

    @property
    def _numbers(self) -> tuple[float, float, int]:
        return self.mean, self.error, self.count

    def above(self, bound: float) -> float:
        """One-sided p-value of a true mean at most `bound`."""
        return _native.above(self._numbers, bound)

    @property
    def differs(self) -> float:
        """Two-sided p-value of a true mean of zero."""
        return _native.differs(self._numbers)

    def within(self, margin: float) -> float:
        """P-value of a true mean that is not inside ± `margin`: the larger of two tests."""
        return _native.within(self._numbers, margin)


def rank(
    contenders: Mapping[str, Mapping[int, float]], equal_within: float = EQUAL_WITHIN
) -> list[Standing]:
    """Order contenders by their mean over seeds, lowest first, and compare each with the best.

    Args:
        contenders: for each name the statistic of each seed.
        equal_within: the margin of equality, as a share of the absolute mean of the best.
    """
    rows = _native.rank(list(contenders.items()), equal_within)
    return [
        Standing(name, Interval(*value), behind and Interval(*behind), verdict, p_value, needed)
        for name, value, behind, (verdict, p_value, needed) in rows
    ]


def decide(found: Sequence[Paired], margin: float) -> list[tuple[str, float, int]]:
    """The outcome of each comparison with the best, its p-value, and the seeds that would decide.

    Args:
        found: the differences of each other contender from the best.
        margin: of equality, in their unit.
    """
    return _native.decide([(one.mean, one.error, one.count) for one in found], margin)


def seeds_needed(paired: Paired, margin: float, level: float) -> int:
    """About how many seeds decide whether a difference is worse or within the margin.

    The number at which the interval of the same mean and deviation lies above zero or inside the
    margin, whichever needs fewer: (z s / w)² with z of the two-sided level and w the distance from
    that condition. 0 when the deviation is not known.
    """
    return _native.seeds_needed((paired.mean, paired.error, paired.count), margin, level)
