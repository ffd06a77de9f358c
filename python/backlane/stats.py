"""Statistics over flows, then over seeds.

A number of a cell is computed in two steps: within each run the statistic over its flows (the
mean, a percentile, Jain's index), then the mean of these over the seeds with a 95 % interval.
Flows of one run share the network and are not independent; runs with different seeds are.

Cells are compared *paired by seed*: the interval is that of the per-seed differences. `ranking`
orders contenders and says what the seeds decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEVEL = 0.95
"""Confidence level of every interval."""
ENOUGH_SEEDS = 10
"""From this number on, intervals are bootstrapped; below, by Student's t, with "few seeds"."""
RESAMPLES = 9999
"""Bootstrap resamples; odd, so that percentiles fall on a resample."""
_BOOTSTRAP_SEED = 20170601


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
    count = len(values)
    if count == 0:
        return Interval(math.nan, math.nan, math.nan, 0, "none")
    mean = math.fsum(values) / count
    if count == 1:
        return Interval(mean, math.nan, math.nan, 1, "none")
    method = "t" if count < ENOUGH_SEEDS else "bootstrap"
    if min(values) == max(values):
        return Interval(values[0], values[0], values[0], count, method)
    if method == "t":
        from scipy.special import stdtrit

        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (count - 1))
        half = float(stdtrit(count - 1, 0.5 + LEVEL / 2)) * deviation / math.sqrt(count)
        low, high = mean - half, mean + half
    else:
        low, high = _bootstrap(tuple(values))
    return Interval(mean, max(low, limits[0]), min(high, limits[1]), count, method)


@lru_cache(maxsize=4096)
def _bootstrap(values: tuple[float, ...]) -> tuple[float, float]:
    import warnings

    import numpy as np
    from scipy import stats

    for method in ("BCa", "percentile"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = stats.bootstrap(
                (np.asarray(values, dtype=float),),
                np.mean,
                confidence_level=LEVEL,
                n_resamples=RESAMPLES,
                method=method,
                rng=np.random.default_rng(_BOOTSTRAP_SEED),
            ).confidence_interval
        if math.isfinite(found.low) and math.isfinite(found.high):
            break
    return float(found.low), float(found.high)


def paired_difference(mine: Mapping[int, float], other: Mapping[int, float]) -> Interval:
    """Mean of `mine` − `other` over the seeds both have, with its interval."""
    seeds = sorted(mine.keys() & other.keys())
    return mean_interval([mine[seed] - other[seed] for seed in seeds])


def jain(values: Sequence[float]) -> float:
    """Jain's fairness index (Σx)² / (n Σx²): 1 when all are equal, 1/n when only one is not zero.

    NaN for no values or all zero.
    """
    squares = math.fsum(v * v for v in values)
    if not squares:
        return math.nan
    return math.fsum(values) ** 2 / (len(values) * squares)


def percentile(values: Sequence[float], percent: float) -> float:
    """Percentile with linear interpolation between order statistics (numpy's default).

    NaN for no values.
    """
    if not values:
        return math.nan
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


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
