"""Statistics compared with values computed by hand or by scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from backlane.measures import measure
from backlane.stats import (
    UNIT,
    candlestick,
    jain,
    mean_candlestick,
    mean_interval,
    paired_difference,
    percentile,
)


def test_jain_is_one_for_equal_shares_and_one_nth_for_a_monopoly() -> None:
    assert jain([3.0, 3.0, 3.0]) == pytest.approx(1.0, abs=1e-15)
    assert jain([5.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25, abs=1e-15)
    # (1+2+3)² / (3 · (1+4+9)) = 36/42
    assert jain([1.0, 2.0, 3.0]) == pytest.approx(36 / 42, abs=1e-15)
    assert math.isnan(jain([]))
    assert math.isnan(jain([0.0, 0.0]))


def test_a_t_interval_of_three_values_is_that_of_the_tables() -> None:
    # mean 2, s = 1, t(0.975, 2) = 4.302653: half width 4.302653/√3 = 2.484138
    found = mean_interval([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.high - 2.0 == pytest.approx(2.4841377, abs=1e-6)
    assert 2.0 - found.low == pytest.approx(2.4841377, abs=1e-6)
    assert found.method == "t"


@given(st.lists(st.integers(-(10**9), 10**9).map(lambda n: n / 1000), min_size=2, max_size=9))
def test_t_intervals_agree_with_scipy(values: list[float]) -> None:
    found = mean_interval(values)
    if min(values) == max(values):
        assert found.low == found.high == values[0]
        return
    scale = reference.sem(values)
    low, high = reference.t.interval(0.95, len(values) - 1, np.mean(values), scale)
    assert found.low == pytest.approx(low, rel=1e-9, abs=1e-6)
    assert found.high == pytest.approx(high, rel=1e-9, abs=1e-6)


def test_from_ten_seeds_on_the_interval_is_a_bca_bootstrap_and_always_the_same() -> None:
    values = [4.1, 3.9, 4.4, 4.0, 5.2, 4.3, 3.8, 4.6, 4.2, 4.05]
    first, second = mean_interval(values), mean_interval(list(values))
    expected = reference.bootstrap(
        (values,), np.mean, n_resamples=200_000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert first == second
    assert first.method == "bootstrap"
    assert first.low == pytest.approx(expected.low, abs=0.01)
    assert first.high == pytest.approx(expected.high, abs=0.015)


def test_the_bootstrap_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(5)
    hits = sum(
        (found := mean_interval(list(random.normal(10, 2, 20)))).low <= 10 <= found.high
        for _ in range(200)
    )
    # A 95 % interval of 20 values covers 93 % or so; below 88 % something is wrong.
    assert 176 <= hits <= 199


def test_one_value_has_no_interval_and_equal_values_have_one_of_width_zero() -> None:
    assert not mean_interval([7.0]).known
    assert mean_interval([7.0]).mean == 7.0
    for count in (3, 12):
        found = mean_interval([0.1] * count)
        assert (found.low, found.mean, found.high) == (0.1, 0.1, 0.1)


def test_percentiles_are_those_of_numpy() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 9.0, 7.0]
    for percent in (0, 20, 50, 80, 100):
        assert percentile(values, percent) == pytest.approx(np.percentile(values, percent))


def test_a_candlestick_has_the_box_of_the_papers() -> None:
    found = candlestick([float(v) for v in range(11)])
    assert (found.minimum, found.p20, found.mean, found.p80, found.maximum) == (0, 2, 5, 8, 10)
    assert mean_candlestick([found, candlestick([20.0]), candlestick([])]).mean == 12.5


def test_pairing_by_seed_finds_a_difference_that_the_spread_of_seeds_hides() -> None:
    base = {seed: 10.0 + 5 * seed for seed in range(1, 6)}
    slower = {seed: value + 1.0 + 0.01 * seed for seed, value in base.items()}
    found = paired_difference(slower, base)
    assert found.mean == pytest.approx(1.03)
    assert found.low > 0
    assert mean_interval(list(slower.values())).low < mean_interval(list(base.values())).mean


def test_only_seeds_that_both_have_are_compared() -> None:
    assert paired_difference({1: 3.0, 2: 9.0}, {1: 1.0, 3: 0.0}).count == 1


def test_an_interval_of_a_share_stays_within_its_limits() -> None:
    values = [0.99, 1.0, 0.95]
    assert mean_interval(values).high > 1.0
    found = mean_interval(values, UNIT)
    assert found.high == 1.0
    assert found.low == mean_interval(values).low
    assert mean_interval([0.0, 0.02], UNIT).low == 0.0


def flow(finish: float | None, **more: object) -> dict[str, object]:
    return {
        "flow": "f",
        "size_bytes": 1000,
        "start_s": 2.0,
        "finish_time_s": finish,
        "goodput_bps": None if finish is None else 8000 / finish,
        "delivered_bytes": 500,
        "rtt_mean_s": 0.05,
        **more,
    }


def test_an_unfinished_flow_is_counted_and_ranks_with_the_time_it_had() -> None:
    found = measure([flow(1.0), flow(3.0), flow(None, flow="stuck")], traffic_s=12.0)
    assert found.unfinished == ["stuck"]
    assert found.finish_time_s.mean == 2.0
    assert found.ranking_s == pytest.approx((1 + 3 + 10) / 3)
    # 500 B in 10 s = 400 bit/s
    assert found.goodput_bps == pytest.approx((8000 + 8000 / 3 + 400) / 3)


def test_an_endless_flow_is_not_called_unfinished() -> None:
    found = measure([flow(None, size_bytes=None)], traffic_s=12.0)
    assert found.unfinished == []
    assert found.finite == 0
    assert math.isnan(found.ranking_s)
