"""The models of a link budget against the ITU's examples and an implementation by others."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backlane.link_budget import antenna, free_space, gases, multipath, rain, rain_path, receiver

DATA = Path(__file__).parent / "data/link_budget"

FREQUENCY = st.floats(1, 100)
LENGTH = st.floats(0.01, 60)
RAIN = st.floats(1, 150)
TILT = st.sampled_from([0.0, 45.0, 90.0])


def table(name: str) -> list[dict[str, float]]:
    lines = [line for line in (DATA / name).read_text().splitlines() if not line.startswith("#")]
    return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)]


@pytest.mark.parametrize(
    ("frequency_ghz", "length_km", "loss_db"),
    # 20 lg(4πdf/c) by hand: 92.4478 + 20 lg f + 20 lg d; P.525 rounds the constant to 92.4.
    [(18, 5, 131.533), (80, 1, 130.510), (6, 30, 137.553), (60, 0.2, 114.031)],
)
def test_free_space_loss_is_that_of_the_recommendation(
    frequency_ghz: float, length_km: float, loss_db: float
) -> None:
    assert free_space.loss_db(frequency_ghz, length_km) == pytest.approx(loss_db, abs=6e-4)
    rounded = 92.4 + 20 * math.log10(frequency_ghz * length_km)
    assert free_space.loss_db(frequency_ghz, length_km) == pytest.approx(rounded, abs=0.05)


def test_a_dish_has_the_gain_of_its_aperture() -> None:
    # λ = 16.6551 mm at 18 GHz: (π 0.3 / λ)² = 3202.15, times 0.55 is 1761.2, 32.458 dB.
    assert antenna.gain_dbi(0.3, 18) == pytest.approx(32.458, abs=1e-3)
    assert antenna.gain_dbi(0.6, 38) == pytest.approx(44.97, abs=5e-3)
    # ITU-R F.699: 20 lg(D/λ) + 7.7 dB is an efficiency of 0.60.
    typical = 20 * math.log10(0.6 / (0.299792458 / 38)) + 7.7
    assert antenna.gain_dbi(0.6, 38, 0.6) == pytest.approx(typical, abs=0.03)


@pytest.mark.parametrize("row", table("rain_validation.csv"))
def test_rain_has_the_coefficients_of_the_itus_examples(row: dict[str, float]) -> None:
    k, alpha = rain.coefficients(row["frequency_ghz"], row["tilt_deg"], row["elevation_deg"])
    assert k == pytest.approx(row["k"], rel=1e-6)
    assert alpha == pytest.approx(row["alpha"], rel=1e-6)
    found = rain.specific_attenuation_db_km(
        [0.0, row["rain_rate_mm_h"]], row["frequency_ghz"], row["tilt_deg"], row["elevation_deg"]
    )
    assert found.tolist() == pytest.approx([0, row["specific_db_km"]], rel=1e-6)


@pytest.mark.parametrize("frequency_ghz", [0.99, 1001, -18, math.nan])
def test_frequencies_without_coefficients_are_refused(frequency_ghz: float) -> None:
    with pytest.raises(ValueError, match="1 to 1000 GHz"):
        rain.coefficients(frequency_ghz, 0)
    with pytest.raises(ValueError, match="1 to 1000 GHz"):
        gases.specific_attenuation_db_km(frequency_ghz)


def test_rain_attenuation_is_that_of_an_implementation_by_others() -> None:
    rows = table("rain_itur.csv")
    assert len(rows) == 51
    for row in rows:
        frequency, tilt = row["frequency_ghz"], row["tilt_deg"]
        assert rain.coefficients(frequency, tilt) == pytest.approx((row["k"], row["alpha"]), 1e-6)
        at_001 = rain_path.attenuation_001_db(
            row["length_km"], row["rain_rate_mm_h"], frequency, tilt
        )
        for share, column in ((1, "a_1"), (0.1, "a_0_1"), (0.01, "a_0_01"), (0.001, "a_0_001")):
            found = rain_path.attenuation_db(at_001, share, frequency)
            assert found == pytest.approx(row[column], rel=1e-6), (row, share)


@settings(deadline=None)
@given(FREQUENCY, LENGTH, RAIN, TILT, st.floats(0.001, 1))
def test_the_share_of_the_year_is_the_inverse_of_the_attenuation(
    frequency_ghz: float, length_km: float, rain_rate: float, tilt: float, share: float
) -> None:
    at_001 = rain_path.attenuation_001_db(length_km, rain_rate, frequency_ghz, tilt)
    found = rain_path.attenuation_db(at_001, share, frequency_ghz)
    assert rain_path.exceeded_percent(found, at_001, frequency_ghz) == pytest.approx(share, 1e-6)
    # The rounded constants of equation 34 give 0.998 times equation 33 at 0.01 %.
    assert rain_path.attenuation_db(at_001, 0.01, frequency_ghz) == pytest.approx(
        0.998 * at_001, rel=1e-4
    )


# Below 4 GHz, and in light rain beyond 36 km, equation 32 lets the effective length fall
# faster than k R^α grows.
@settings(deadline=None)
@given(st.floats(4, 100), st.floats(0.01, 35), RAIN, TILT)
def test_more_rain_and_longer_paths_attenuate_more_and_margins_fail_less(
    frequency_ghz: float, length_km: float, rain_rate: float, tilt: float
) -> None:
    at_001 = rain_path.attenuation_001_db(length_km, rain_rate, frequency_ghz, tilt)
    assert 0 < rain_path.distance_factor(length_km, rain_rate, frequency_ghz, tilt) <= 2.5
    assert rain_path.attenuation_001_db(length_km, rain_rate * 1.1, frequency_ghz, tilt) > at_001
    shares = [rain_path.exceeded_percent(at_001 * m, at_001, frequency_ghz) for m in (0.5, 1, 2)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.01 > shares[2]


def test_a_share_beyond_the_equation_is_refused_or_bounded() -> None:
    for share in (0.0009, 1.1, math.nan):
        with pytest.raises(ValueError, match=r"0\.001 to 1 %"):
            rain_path.attenuation_db(10, share, 18)
    assert rain_path.exceeded_percent(1e6, 10, 18) == 0.001
    assert rain_path.exceeded_percent(1e-6, 10, 18) == 1
    assert rain_path.exceeded_percent(0, 10, 18) == 100
    assert rain_path.exceeded_percent(-3, 0, 18) == 100
    assert rain_path.exceeded_percent(3, 0, 18) == 0
    assert rain_path.attenuation_001_db(5, 0, 18, 90) == 0


@pytest.mark.parametrize("row", table("gases_validation.csv"))
def test_gases_attenuate_as_in_the_itus_examples(row: dict[str, float]) -> None:
    found = gases.oxygen_db_km(row["frequency_ghz"]), gases.vapour_db_km(row["frequency_ghz"])
    # The examples have five to ten digits.
    assert found[0] == pytest.approx(row["oxygen_db_km"], rel=1e-5)
    assert found[1] == pytest.approx(row["vapour_db_km"], rel=1e-3, abs=1e-7)
    whole = gases.specific_attenuation_db_km(row["frequency_ghz"])
    assert whole == pytest.approx(sum(found), rel=1e-12)


def test_gases_of_other_air_are_those_of_an_implementation_by_others() -> None:
    rows = table("gases_itur.csv")
    assert len(rows) == 33
    for row in rows:
        air = gases.Atmosphere(row["dry_pressure_hpa"], row["temperature_k"], row["vapour_g_m3"])
        frequency = row["frequency_ghz"]
        assert gases.oxygen_db_km(frequency, air) == pytest.approx(row["oxygen_db_km"], rel=1e-6)
        assert gases.vapour_db_km(frequency, air) == pytest.approx(row["vapour_db_km"], rel=1e-6)


def test_deep_multipath_fades_are_those_of_an_implementation_by_others() -> None:
    rows = table("multipath_itur.csv")
    assert len(rows) == 8
    for row in rows:
        heights = row["height_a_m"], row["height_b_m"]
        occurrence = multipath.occurrence_percent(
            row["length_km"], row["frequency_ghz"], row["gradient_n_km"], heights,
            row["roughness_m"],
        )  # fmt: skip
        found = multipath.worst_month_percent(row["fade_db"], occurrence)
        assert found == pytest.approx(row["percent"], rel=1e-6)


def test_the_quick_method_has_the_values_worked_by_hand() -> None:
    # K = 10^(-4.6 + 0.54) = 8.7096e-5; ε = 60/30 = 2 mrad; p0 = K 30^3.1 3^-1.29 7^0.8 10^-0.089.
    assert multipath.occurrence_percent(30, 7, -200, (100, 160)) == pytest.approx(3.0951, rel=1e-4)
    # ε = 3 mrad, K 10^3.1 4^-1.29 18^0.8 10^-0.0445.
    assert multipath.occurrence_percent(10, 18, -200, (50, 80)) == pytest.approx(0.16713, rel=1e-4)
    assert multipath.worst_month_percent(30, 3.0951) == pytest.approx(3.0951e-3, rel=1e-9)
    # At 20 dB, below A_t = 25.59 dB, the share is below that of the deep law, 0.030951 %.
    assert multipath.worst_month_percent(20, 3.0951) == pytest.approx(0.0278, rel=5e-3)


@settings(deadline=None)
@given(st.floats(0.01, 100))
def test_both_laws_of_multipath_meet_and_fall_with_the_fade(occurrence: float) -> None:
    deep = 25 + 1.2 * math.log10(occurrence)
    below, above = (
        multipath.worst_month_percent(deep + step, occurrence) for step in (-1e-9, 1e-9)
    )
    assert below == pytest.approx(above, rel=1e-6)
    shares = [multipath.worst_month_percent(fade, occurrence) for fade in np.arange(0, 60, 0.5)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == pytest.approx(100 * (1 - math.exp(-1)), rel=1e-9)


def test_a_year_has_less_multipath_than_its_worst_month() -> None:
    # |cos 104°| = 0.241922, ^0.7 = 0.370257; 10.5 - 5.6 lg 0.729743 - 2.7 lg 20.7 + 1.7 lg 2.528.
    heights = 37.0, 37 + 1.528 * 20.7
    found = multipath.conversion_db(20.7, 52, heights)
    assert found == pytest.approx(10.5 + 0.76622 - 3.55309 + 0.68469, abs=2e-3)
    assert multipath.conversion_db(0.5, 60) == 10.8
    # On the other side of 45° the sign turns.
    assert multipath.conversion_db(20, 10) < multipath.conversion_db(20, 80)
    month = multipath.worst_month_percent(30, 3.0)
    assert multipath.year_percent(30, 3.0, 10) == pytest.approx(month / 10)


@pytest.mark.parametrize(
    ("bandwidth_mhz", "noise"),
    # kTB at 290 K: -173.975 dBm/Hz.
    [(7, -105.52), (28, -99.50), (56, -96.49), (250, -90.00), (2000, -80.96)],
)
def test_noise_is_that_of_290_kelvin(bandwidth_mhz: float, noise: float) -> None:
    assert receiver.noise_dbm(bandwidth_mhz * 1e6) == pytest.approx(noise, abs=6e-3)
    assert receiver.threshold_dbm(bandwidth_mhz * 1e6, 20, 6) == pytest.approx(noise + 26, abs=6e-3)
