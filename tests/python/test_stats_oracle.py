"""The statistics in Rust against scipy and numpy, over many samples."""

from __future__ import annotations

import math
import random
import warnings

import numpy as np
import pytest
from scipy import special, stats

from backlane import _native
from backlane.ranking import Paired, seeds_needed
from backlane.stats import RESAMPLES, mean_interval, percentile

SEED = 20170601
"""The seed of the fixed random stream of intervals."""


def samples() -> list[list[float]]:
    """Samples of several sizes and shapes, with ties and outliers among them."""
    draw = random.Random(7)
    found: list[list[float]] = []
    for count in (2, 3, 5, 9, 10, 11, 16, 17, 30, 130):
        found.append([draw.gauss(5.0, 1.0) for _ in range(count)])
        found.append([draw.expovariate(1e3) for _ in range(count)])
        found.append([float(draw.randrange(3)) for _ in range(count - 1)] + [3.0])
        found.append([1e9 + draw.random() for _ in range(count)])
        found.append([0.0] * (count - 1) + [1.0])
    return found


def scipys(values: list[float]) -> tuple[float, float]:
    """The interval of scipy: BCa, or the percentile bootstrap where that is undefined."""
    for method in ("BCa", "percentile"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = stats.bootstrap(
                (np.asarray(values),),
                np.mean,
                confidence_level=0.95,
                n_resamples=RESAMPLES,
                method=method,
                rng=np.random.default_rng(SEED),
            ).confidence_interval
        if math.isfinite(found.low) and math.isfinite(found.high):
            break
    return float(found.low), float(found.high)


@pytest.mark.parametrize("values", samples(), ids=lambda values: f"{len(values)}")
def test_intervals_are_those_of_scipy(values: list[float]) -> None:
    found = mean_interval(values)
    mean = math.fsum(values) / len(values)
    assert found.mean == mean
    if len(values) < 10:
        half = float(special.stdtrit(len(values) - 1, 0.975) * stats.sem(values))
        wanted = (mean - half, mean + half)
    else:
        wanted = scipys(values)
    spread = max(values) - min(values)
    assert (found.low, found.high) == pytest.approx(wanted, rel=1e-12, abs=1e-9 * spread)


def test_distributions_are_those_of_scipy() -> None:
    for degrees in (1, 2, 4, 9, 29, 500):
        for t in (-40.0, -3.0, -0.5, 0.0, 0.1, 2.0, 9.0):
            p_value = _native.above((t, 1.0, degrees + 1), 0.0)
            assert p_value == pytest.approx(special.stdtr(degrees, -t), rel=1e-11, abs=1e-300)
    for count in (2, 5, 20):
        for level in (0.05, 0.005, 1e-6):
            wanted = (-special.ndtri(level / 2) * math.sqrt(count) / 3.0) ** 2
            found = seeds_needed(Paired(3.0, 1.0, count), 0.1, level)
            assert found == max(count + 1, math.ceil(wanted))


def test_percentiles_are_those_of_numpy() -> None:
    for values in samples():
        for percent in (0.0, 20.0, 33.3, 50.0, 95.0, 100.0):
            assert percentile(values, percent) == pytest.approx(np.percentile(values, percent))
