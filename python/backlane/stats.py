"""Statistics over flows, then over seeds.

A number of a cell is computed in two steps: within each run the statistic over its flows (the
mean, a percentile, Jain's index), then the mean of these over the seeds with a 95 % interval.
Flows of one run share the network and are not independent; runs with different seeds are.

Cells are compared *paired by seed*: the interval is that of the per-seed differences. `ranking`
orders contenders and says what the seeds decide.

The numbers are computed by the crate `backlane-stats`, which the playground uses too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane import _native

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEVEL = 0.95
"""Confidence level of every interval."""
ENOUGH_SEEDS = 10
"""From this number on, intervals are bootstrapped; below, by Student's t, with "few seeds"."""
RESAMPLES = 9999
"""Bootstrap resamples; odd, so that percentiles fall on a resample."""


@dataclass(frozen=True)
class Interval:
    """A mean over seeds with its 95 % confidence interval.

    Attributes:
        mean: in the unit of the values.
        low: lower end; NaN when there is only one value.
        high: upper end; NaN when there is only one value.
        count: values, that is, seeds.
        method: "t", "bootstrap" or "none".
    """

    mean: float
    low: float
    high: float
    count: int
    method: str

    @property
    def known(self) -> bool:
        """Whether there are enough values for an interval."""
        return not math.isnan(self.low)

    @property
    def has_zero(self) -> bool:
        """Whether the interval contains zero; also true without an interval."""
        return not self.known or self.low <= 0.0 <= self.high


UNIT = (0.0, 1.0)
"""The limits of shares and of Jain's index."""


def mean_interval(
    values: Sequence[float], limits: tuple[float, float] = (-math.inf, math.inf)
) -> Interval:
    """The mean with its 95 % interval, cut at the limits of what the values can be.

    Two to nine values: Student's t with n − 1 degrees of freedom. Ten and more: bias-corrected
    accelerated bootstrap of the mean (Efron, 1987) with a fixed random stream; the percentile
    bootstrap where that is undefined. Equal values: an interval of width zero.
    """
    return Interval(*_native.mean_interval(values, *limits))


def paired_difference(mine: Mapping[int, float], other: Mapping[int, float]) -> Interval:
    """Mean of `mine` − `other` over the seeds both have, with its interval."""
    seeds = sorted(mine.keys() & other.keys())
    return mean_interval([mine[seed] - other[seed] for seed in seeds])


def jain(values: Sequence[float]) -> float:
    """Jain's fairness index (Σx)² / (n Σx²): 1 when all are equal, 1/n when only one is not zero.

    NaN for no values or all zero.
    """
    return _native.jain(values)


def percentile(values: Sequence[float], percent: float) -> float:
    """Percentile with linear interpolation between order statistics (numpy's default).

    NaN for no values.
    """
    return _native.percentile(values, percent)


@dataclass(frozen=True)
class Candlestick:
    """Box from P20 to P80, whiskers from minimum to maximum, line at the mean."""

    minimum: float
    p20: float
    mean: float
    p80: float
    maximum: float


def candlestick(values: Sequence[float]) -> Candlestick:
    """The five numbers of one run; NaN for no values."""
    if not values:
        return Candlestick(math.nan, math.nan, math.nan, math.nan, math.nan)
    return Candlestick(
        min(values),
        percentile(values, 20),
        math.fsum(values) / len(values),
        percentile(values, 80),
        max(values),
    )


def mean_candlestick(runs: Sequence[Candlestick]) -> Candlestick:
    """Each of the five numbers as its mean over runs; runs without values are left out."""
    known = [run for run in runs if not math.isnan(run.mean)]
    if not known:
        return candlestick([])
    count = len(known)
    return Candlestick(
        math.fsum(r.minimum for r in known) / count,
        math.fsum(r.p20 for r in known) / count,
        math.fsum(r.mean for r in known) / count,
        math.fsum(r.p80 for r in known) / count,
        math.fsum(r.maximum for r in known) / count,
    )
