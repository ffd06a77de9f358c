"""Rankings: Holm's correction, equality, the need of more seeds; by worked examples and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as reference

from backlane.ranking import BEST, EQUAL, UNDECIDED, WORSE, Paired, holm, rank, seeds_needed

# Differences of ten seeds: mean 0.043, standard deviation 0.225.
WOBBLE = [0.3, -0.4, 0.1, -0.2, 0.25, 0.33, 0.05, -0.2, 0.2, 0.0]


def test_holms_adjusted_values_are_those_of_a_worked_example() -> None:
    # 4 · 0.005, 3 · 0.01, 2 · 0.03, and 1 · 0.04 raised to the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # Of a family of six, of which only these are known: 6 · 0.005, 5 · 0.01, …
    assert holm([0.01, 0.04, 0.03, 0.005], 6) == pytest.approx([0.05, 0.12, 0.12, 0.03])
    assert holm([0.6, math.nan, 0.7])[0::2] == [1.0, 1.0]
    assert math.isnan(holm([0.6, math.nan, 0.7])[1])


def test_the_tests_are_those_of_scipy() -> None:
    paired = Paired.of(WOBBLE)
    assert paired.differs == pytest.approx(reference.ttest_1samp(WOBBLE, 0.0).pvalue, rel=1e-9)
    lower = reference.ttest_1samp(WOBBLE, -0.2, alternative="greater").pvalue
    upper = reference.ttest_1samp(WOBBLE, 0.2, alternative="less").pvalue
    assert upper > lower
    assert paired.within(0.2) == pytest.approx(upper, rel=1e-9)
    # At the 5 % level the two one-sided tests hold exactly when the 90 % interval is inside.
    for margin in (0.15, 0.17, 0.18, 0.2):
        low, high = reference.t.interval(0.9, 9, np.mean(WOBBLE), reference.sem(WOBBLE))
        assert (paired.within(margin) <= 0.05) == (-margin < low and high < margin)


def contenders(**offsets: float) -> dict[str, dict[int, float]]:
    """A base that varies much, and others that vary little around an offset from it."""
    base = {seed: 5.0 + 0.5 * seed for seed in range(1, 11)}
    found = {"base": base}
    for index, (name, offset) in enumerate(offsets.items()):
        shifted = WOBBLE[index:] + WOBBLE[:index]
        found[name] = {seed: base[seed] + offset + shifted[seed - 1] for seed in base}
    return found


def test_the_four_outcomes() -> None:
    # The mean of the base is 7.75; 5 % of it are 0.39.
    found = rank(contenders(near=0.0, between=0.2, far=2.0))
    assert [(s.name, s.verdict) for s in found] == [
        ("base", BEST), ("near", EQUAL), ("between", UNDECIDED), ("far", WORSE)
    ]  # fmt: skip
    assert [s.seeds_needed > 10 for s in found] == [False, False, True, False]
    assert found[3].behind is not None
    assert found[3].behind.mean == pytest.approx(2.043)


def test_a_small_difference_that_is_certain_is_equal_within_the_margin_and_worse_beyond() -> None:
    two = {"a": dict.fromkeys(range(5), 10.0), "b": dict.fromkeys(range(5), 10.3)}
    assert rank(two)[1].verdict == EQUAL
    assert rank(two, equal_within=0.02)[1].verdict == WORSE


def test_one_seed_decides_nothing_and_equal_values_are_equal() -> None:
    assert rank({"a": {1: 1.0}, "b": {1: 100.0}})[1].verdict == UNDECIDED
    assert rank({"a": {1: 0.0, 2: 0.0}, "b": {1: 0.0, 2: 0.0}})[1].verdict == EQUAL
    assert rank({}) == []
    assert [s.verdict for s in rank({"a": {1: 1.0}, "b": {}})] == [BEST]


def test_the_correction_keeps_a_contender_that_a_plain_test_would_call_worse() -> None:
    offsets = {f"c{index}": 3.0 for index in range(8)}
    found = {s.name: s for s in rank(contenders(close=0.17, **offsets), equal_within=0.001)}
    gaps = [found["close"].behind]
    assert gaps[0] is not None
    plain = Paired.of([0.17 + wobble for wobble in WOBBLE])
    assert plain.differs < 0.05
    assert found["close"].verdict == UNDECIDED
    # 45 pairs; eight smaller p-values come before it.
    assert found["close"].p_value == pytest.approx(min(1.0, 37 * plain.differs))


@pytest.mark.parametrize("count", [2, 8])
def test_few_of_contenders_that_do_not_differ_are_called_worse(count: int) -> None:
    random = np.random.default_rng(3)
    wrong = 0
    for _ in range(300):
        values = random.normal(10.0, 1.0, (10, count))
        found = rank({str(i): dict(enumerate(values[:, i])) for i in range(count)}, 0.0001)
        wrong += any(standing.verdict == WORSE for standing in found)
    # 5 % of 300 are 15, with a standard deviation of 4.
    assert wrong <= 26


def test_the_number_of_seeds_needed_grows_with_the_square_of_the_deviation() -> None:
    few, many = (Paired.of([0.1 * k * w for w in WOBBLE]) for k in (1, 10))
    assert seeds_needed(few, 0.05, 0.05) < 30
    # (1.96 · 0.2403 / 0.457)² < 11: one more than there are.
    assert seeds_needed(many, 0.5, 0.05) == 11
    deviation = np.std(WOBBLE, ddof=1)
    expected = math.ceil((1.959964 * deviation / (0.1 - 0.043)) ** 2)
    assert seeds_needed(many, 0.1, 0.05) == expected
