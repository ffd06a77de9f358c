"""Ladders of radios, the budget of a link, and rates over time."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import backlane
from backlane.errors import CODES, BacklaneError
from backlane.link_budget import (
    Climate,
    RadioLink,
    RainCell,
    compute,
    data_files,
    ladder,
    names,
    radios,
    rain,
    rain_path,
    rate_from_levels,
    rate_from_rain,
)
from backlane.link_budget.budget import (
    BANDWIDTHS_MHZ,
    FREQUENCIES_GHZ,
    GAINS_DBI,
    LENGTHS_KM,
    POWERS_DBM,
)
from backlane.link_budget.rain_cell import mean_radius_km
from backlane.link_budget.series import DOWN

MILAN = RadioLink(
    "a", "b", 5.0, (18.0, 18.0), 56.0, (32.458, 32.458), (10.0, 10.0), radio="RAy17", losses_db=1.0
)
"""A link whose budget was worked by hand, with rain by itur 0.4.0."""


def test_every_ladder_climbs_and_has_a_source() -> None:
    assert {*names()} >= {"RAy17", "PTP800", "CFIP", "Terragraph", "802.11ac", "generic"}
    found = radios.ladders()
    assert len(found) == 16
    for one in [*found, ladder("generic", 80, 500)]:
        assert one.source
        rates = [step.rate_bps for step in one.steps]
        assert rates == sorted(set(rates))
        for below, above in zip(one.steps, one.steps[1:], strict=False):
            assert above.leaves_dbm > below.leaves_dbm, (one.radio, above.mode)
            assert above.enters_dbm > above.leaves_dbm
            # A radio that has left a step above can stay in the one below.
            assert below.leaves_dbm <= above.leaves_dbm


def test_the_default_levels_are_the_medians_that_cambium_publishes() -> None:
    rows = [row for row in data_files.rows("radios.csv") if row["acm_out_dbm"]]
    leaves = [
        float(row["acm_out_dbm"]) - float(row["threshold_dbm"])
        for row in rows
        if row["threshold_dbm"]
    ]
    enters = [float(row["acm_in_dbm"]) - float(row["acm_out_dbm"]) for row in rows]
    assert (len(leaves), len(enters)) == (12, 15)
    assert statistics.median(leaves) == pytest.approx(radios.LEAVES_DB, abs=0.05)
    assert statistics.median(enters) == pytest.approx(radios.ENTERS_DB, abs=0.05)


def test_the_noise_figure_of_a_generic_radio_is_above_what_published_thresholds_imply() -> None:
    # kTB is -99.50 dBm in 28 MHz and -96.49 in 56; QPSK needs 7.5 dB.
    implied = [
        step.threshold_dbm - noise - 7.5
        for band, channel, noise in ((18, 28, -99.50), (38, 28, -99.50), (38, 56, -96.49))
        if (step := ladder("CFIP", band, channel).steps[0]).threshold_dbm is not None
    ]
    assert implied == pytest.approx([2.0, 7.0, 7.49], abs=0.01)
    assert max(implied) < radios.NOISE_FIGURE_DB


def test_a_generic_ladder_scales_with_the_channel() -> None:
    narrow, wide = ladder("generic", 80, 28), ladder("generic", 80, 280)
    published = ladder("RAy17", 18, 28)
    for one, ten, model in zip(narrow.steps, wide.steps, published.steps, strict=True):
        assert one.rate_bps == pytest.approx(model.rate_bps)
        assert ten.rate_bps == pytest.approx(10 * model.rate_bps)
        assert one.threshold_dbm is not None
        assert ten.threshold_dbm == pytest.approx(one.threshold_dbm + 10)
    # -99.504 + 8 + 26.5.
    assert narrow.steps[-1].threshold_dbm == pytest.approx(-65.004, abs=1e-3)
    quiet = ladder("generic", 80, 28, noise_figure_db=2)
    assert quiet.steps[0].threshold_dbm == pytest.approx(-90.004, abs=1e-3)
    # With the noise figure of the model its own thresholds come out, within 2 dB: they are whole
    # dB, and that of 256QAM has 2 dB more than its ratio explains.
    for mine, theirs in zip(quiet.steps, published.steps, strict=True):
        assert mine.threshold_dbm == pytest.approx(theirs.threshold_dbm, abs=2.01)


def test_wifi_has_half_of_its_phy_rate_each_way() -> None:
    # 234 data subcarriers, 8 bits, 5/6, two streams, 4 us: 780 Mbit/s; -57 dBm in 20 MHz, +6 dB.
    best = ladder("802.11ac", 5.5, 80).steps[-1]
    assert best.rate_bps == pytest.approx(390e6)
    assert best.threshold_dbm == -51


@pytest.mark.parametrize(
    ("radio", "frequency_ghz", "bandwidth_mhz", "message"),
    [
        ("RAy71", 18, 28, 'did you mean "RAy17"'),
        ("RAy17", 38, 28, "a radio of 17 GHz, not of 38 GHz"),
        ("RAy17", 18, 30, "channels of 28, 40, 56 MHz, not of 30 MHz"),
        ("x" * 500, 18, 28, "there is no radio"),
    ],
)
def test_a_radio_that_does_not_fit_is_refused(
    radio: str, frequency_ghz: float, bandwidth_mhz: float, message: str
) -> None:
    with pytest.raises(BacklaneError) as caught:
        ladder(radio, frequency_ghz, bandwidth_mhz)
    assert caught.value.code == "R061"
    assert message in f"{caught.value.message} {caught.value.mend}"
    assert len(caught.value.message) < 200


def test_a_name_is_compared_without_case_and_punctuation() -> None:
    assert radios.known("ptp-800") == "PTP800"
    assert radios.known("RAY17") == "RAy17"
    assert ladder("cfip", 39.5, 56).band_ghz == 38
    # The nearest band within a third of the frequency.
    assert ladder("CFIP", 18, 56).band_ghz == 23


def test_the_budget_of_a_link_is_the_one_worked_by_hand() -> None:
    found = compute(MILAN, Climate(rain_rate_mm_h=35.2))
    there = found.directions[0]
    # 10 + 2 * 32.458 - 131.533 - 5 * 0.0575 - 1.
    assert there.level_dbm == pytest.approx(-57.90, abs=0.005)
    assert there.rain_001_db == pytest.approx(10.948, abs=0.002)
    # Margins to thresholds of -66, -69, -73, -76 dBm, and the shares that itur 0.4.0 gives.
    for at, margin, share in ((5, 8.10, 0.0221), (4, 11.10, 0.00957), (3, 15.10, 0.00371),
                              (2, 18.10, 0.00193)):  # fmt: skip
        threshold = there.steps[at].step.threshold_dbm
        assert threshold is not None
        assert there.level_dbm - threshold == pytest.approx(margin, abs=0.005)
        percent = rain_path.exceeded_percent(there.level_dbm - threshold, 10.948, 18)
        assert percent == pytest.approx(share, rel=0.01)
    assert there.at == 5
    assert found.worse.rate_bps == 337.7e6
    # The radio leaves 256QAM 4.6 dB above its threshold.
    assert there.steps[5].margin_db == pytest.approx(3.50, abs=0.005)
    assert there.steps[0].margin_db == pytest.approx(29.10, abs=0.005)
    available = [step.availability_percent for step in there.steps]
    assert all(one is not None for one in available)
    assert available == sorted(available, key=lambda one: -(one or 0))


def test_directions_differ_by_power_gain_and_carrier() -> None:
    link = replace(MILAN, powers_dbm=(10.0, 4.0), frequencies_ghz=(18.0, 19.0))
    there, back = compute(link).directions
    # 20 lg(19/18) = 0.470 dB; gases are 0.0575 and 0.0779 dB/km.
    expected = 6 + 0.470 + 5 * (0.0779 - 0.0575)
    assert there.level_dbm - back.level_dbm == pytest.approx(expected, abs=2e-3)
    assert (back.source, back.sink) == ("b", "a")
    assert compute(link).worse is not None
    assert compute(link).worse.source == "b"
    assert there.steps[0].availability_percent is None


def test_a_step_with_less_power_needs_a_higher_level() -> None:
    rungs = ladder("PTP800", 13, 7)
    # 64QAM is entered at -73.4 dBm with at most 18 dBm; of 26 dBm, 8 dB are not sent.
    assert rungs.steps[rungs.at(-73.4, 18) or 0].mode == "64QAM"
    assert rungs.steps[rungs.at(-73.4, 26) or 0].mode != "64QAM"
    assert rungs.steps[rungs.at(-65.4, 26) or 0].mode == "64QAM"
    assert rungs.at(-91) is None
    assert rungs.at(-90.9) == 0


def test_multipath_takes_its_share_of_a_long_link_alone() -> None:
    long = replace(
        MILAN, length_km=30.0, frequencies_ghz=(7.0, 7.0), radio="generic", latitude_deg=45.0,
        gains_dbi=(38.0, 38.0), powers_dbm=(28.0, 28.0),
    )  # fmt: skip
    found = compute(long, Climate(20, gradient_n_km=-200)).directions[0].steps[-1]
    assert found.multipath_percent is not None
    assert found.multipath_percent > 1e-4
    assert found.rain_percent is not None
    assert found.availability_percent == pytest.approx(
        100 - found.multipath_percent - found.rain_percent
    )
    short = compute(replace(long, length_km=1.0), Climate(20, gradient_n_km=-200))
    last = short.directions[0].steps[-1]
    assert last.multipath_percent is not None
    assert last.multipath_percent < 1e-9
    unknown = compute(replace(long, latitude_deg=None), Climate(20, gradient_n_km=-200))
    assert any("worst month" in note for note in unknown.notes)
    month = unknown.directions[0].steps[-1].multipath_percent
    assert month is not None
    assert month > found.multipath_percent


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"length_km": 0.0}, "length of a–b is 0 km"),
        ({"length_km": math.nan}, "length of a–b is no number"),
        ({"bandwidth_mhz": -28.0}, "bandwidth of a–b is -28 MHz"),
        ({"bandwidth_mhz": 0.0}, "bandwidth of a–b is 0 MHz"),
        ({"frequencies_ghz": (18.0, math.nan)}, "frequency of a–b is no number"),
        ({"frequencies_ghz": (0.4, 0.4)}, "frequency of a–b is 0.4 GHz"),
        ({"gains_dbi": (math.inf, 30.0)}, "antenna gain of a–b is no number"),
        ({"powers_dbm": (10.0, 200.0)}, "transmit power of a–b is 200 dBm"),
        ({"losses_db": -1.0}, "loss of a–b is -1 dB"),
        ({"noise_figure_db": math.nan}, "noise figure of a–b is no number"),
        ({"polarization": "diagonal"}, "no polarization"),
    ],
)
def test_a_value_that_no_link_has_is_refused(change: dict[str, object], text: str) -> None:
    with pytest.raises(BacklaneError) as caught:
        compute(replace(MILAN, **change))  # type: ignore[arg-type]
    assert caught.value.code == "R060"
    assert text in caught.value.message
    assert {"R060", "R061"} <= CODES.keys()


@pytest.mark.parametrize("rate", [-1.0, 301.0, math.nan, math.inf])
def test_a_rain_rate_that_no_place_has_is_refused(rate: float) -> None:
    with pytest.raises(BacklaneError, match="rain rate"):
        compute(MILAN, Climate(rate))
    with pytest.raises(BacklaneError, match="gradient"):
        compute(MILAN, Climate(30, gradient_n_km=math.nan))


def test_the_radio_follows_levels_with_hysteresis_and_keeps_its_step_over_a_gap() -> None:
    rungs = ladder("PTP800", 13, 7)
    modes = [step.mode for step in rungs.steps]
    low, high = modes.index("32QAM"), modes.index("64QAM")
    # 64QAM is left below -74.7 dBm and entered from -73.4; 128QAM is entered at -70.8.
    levels = [-74.0, -73.4, -74.0, -74.7, -74.8, -74.0, math.nan, -74.0, -73.3, -95.0, -90.9]
    found = rate_from_levels(range(len(levels)), levels, rungs)
    assert found.step.tolist() == [
        low, high, high, high, low, low, low, low, high, DOWN, 0,
    ]  # fmt: skip
    rates = [24.6e6, 30e6, 30e6, 30e6, 24.6e6, 24.6e6, math.nan, 24.6e6, 30e6, 0.0, 10e6]
    np.testing.assert_array_equal(found.rate_bps, rates)
    # Nine known seconds; the last value has no end.
    assert found.mean_bps == pytest.approx(sum(r for r in rates[:-1] if not math.isnan(r)) / 9)


@settings(deadline=None)
@given(
    st.lists(st.floats(-110, -20), min_size=1, max_size=60),
    st.sampled_from([*radios.ladders(), ladder("generic", 80, 500)]),
)
def test_a_step_that_is_taken_holds_and_the_next_could_not_be_entered(
    levels: list[float], rungs: radios.Ladder
) -> None:
    found = rate_from_levels(np.arange(len(levels)), levels, rungs)
    for level, at in zip(levels, found.step, strict=True):
        if at != DOWN:
            assert level >= rungs.steps[at].leaves_dbm
        if at + 1 < len(rungs.steps):
            assert level < rungs.steps[at + 1].enters_dbm


@pytest.mark.parametrize(
    ("times", "levels"),
    [
        ([], []),
        ([0, 1], [-50]),
        ([0, 0], [-50, -50]),
        ([1, 0], [-50, -50]),
        ([0, math.nan], [-50, -50]),
        ([0, 1], [-50, math.inf]),
    ],
)
def test_series_that_cannot_be_used_are_refused(times: list[float], levels: list[float]) -> None:
    with pytest.raises(BacklaneError) as caught:
        rate_from_levels(times, levels, ladder("RAy17", 18, 56))
    assert caught.value.code == "R047"


def test_levels_of_nothing_but_gaps_have_no_rate() -> None:
    found = rate_from_levels([0, 1, 2], [math.nan] * 3, ladder("RAy17", 18, 56))
    assert np.isnan(found.rate_bps).all()
    assert math.isnan(found.mean_bps)


def test_rain_lowers_the_level_by_its_attenuation_over_the_path() -> None:
    budget = compute(MILAN)
    clear = budget.directions[0].level_dbm
    found = rate_from_rain([0, 60, 120, 180], [0.0, 50.0, math.nan, 0.0], budget)
    # 3.892 dB/km at 50 mm/h, 18 GHz, V (ITU-R P.838-3).
    assert found.level_dbm[1] == pytest.approx(clear - 5 * 3.892, abs=0.003)
    assert found.level_dbm[[0, 3]].tolist() == pytest.approx([clear, clear])
    assert math.isnan(found.rate_bps[2])
    assert found.rate_bps[1] < found.rate_bps[0] == 337.7e6
    # Rain on a quarter of the path.
    part = rate_from_rain([0], [[50.0, 0.0, 0.0, 0.0]], budget)
    assert part.level_dbm[0] == pytest.approx(clear - 5 / 4 * 3.892, abs=0.003)
    for wrong in ([-1.0], [math.inf], [1.0, 2.0], [[[1.0]]]):
        with pytest.raises(BacklaneError):
            rate_from_rain([0], wrong, budget)


def test_a_cell_of_rain_moves_and_falls_to_a_third_at_its_radius() -> None:
    cell = RainCell(50, -6000, 0, 10, 90, radius_m=1000)
    # Ten minutes at 10 m/s to the east.
    assert float(cell.rain_rate_mm_h(0, 0, 600)) == pytest.approx(50)
    assert float(cell.rain_rate_mm_h(0, 1000, 600)) == pytest.approx(50 / math.e)
    assert float(cell.rain_rate_mm_h(-6000, 0, 0)) == pytest.approx(50)
    north = RainCell(50, 0, -1000, 5, 0, radius_m=1000)
    assert float(north.rain_rate_mm_h(0, 0, 200)) == pytest.approx(50)


def test_the_attenuation_by_a_cell_is_the_integral_over_the_path() -> None:
    # A cell over the middle of a path of length l: 2 ∫ k (R e^{-s/ρ})^α ds from 0 to l/2
    # = 2 k R^α (ρ/α) (1 - e^{-α l / 2ρ}).
    cell = RainCell(50, 0, 0, 10, 90, radius_m=1200)
    path = cell.along([0.0], (-2500, 0), (2500, 0))
    budget = compute(MILAN)
    lost = budget.directions[0].level_dbm - rate_from_rain([0], path, budget).level_dbm[0]
    k, alpha = rain.coefficients(18, 90)
    expected = 2 * k * 50**alpha * (1.2 / alpha) * (1 - math.exp(-alpha * 2.5 / 1.2))
    assert lost == pytest.approx(expected, rel=1e-3)


def test_a_passing_cell_takes_the_rate_down_and_gives_it_back() -> None:
    cell = RainCell(80, -20_000, 0, 10, 90)
    times = np.arange(0, 4000, 10)
    found = rate_from_rain(times, cell.along(times, (0, -2500), (0, 2500)), compute(MILAN))
    lowest = int(np.argmin(found.level_dbm))
    # The middle is over the path after 2000 s.
    assert times[lowest] == 2000
    assert found.rate_bps[lowest] < found.rate_bps[0] == found.rate_bps[-1]
    assert np.all(np.diff(found.level_dbm[: lowest + 1]) <= 1e-9)
    # The way back is later than the way down by the hysteresis.
    half = found.rate_bps[0]
    assert (found.rate_bps[:lowest] < half).sum() <= (found.rate_bps[lowest:] < half).sum()


def test_rates_become_a_trace_that_a_scenario_replays(tmp_path: Path) -> None:
    cell = RainCell(80, -1500, 0, 10, 90)
    times = np.arange(100, 400, 5)
    budget = compute(replace(MILAN, frequencies_ghz=(38.0, 38.0), radio="CFIP"))
    series = rate_from_rain(times, cell.along(times - 100, (0, -2500), (0, 2500)), budget)
    text = series.trace()
    lines = text.splitlines()
    assert lines[0] == "time_s,rate_bps"
    assert lines[1] == f"0.000000,{series.rate_bps[0]:.0f}"
    assert lines[-1] == f"295.000000,{series.rate_bps[-1]:.0f}"
    (tmp_path / "rain.csv").write_text(text)
    scenario = tmp_path / "rain.toml"
    scenario.write_text(
        'name = "rain"\nduration = "20 s"\n[topology]\nkind = "chain"\nnodes = 2\n'
        'link = { rate = "1 Gbit/s", delay = "2 ms" }\n[[server]]\nattach = "enb1"\n'
        'link = { rate = "10 Gbit/s", delay = "5 ms" }\n[access]\nkind = "trace"\n'
        'downlink = "rain.csv"\nuplink = "rain.csv"\nat_end = "stop"\nues = 1\n'
        '[routing]\nprotocol = "shortest-path"\n[[flow]]\nkind = "download"\nsize = "1 MB"\n'
    )
    assert backlane.check(scenario) == []
    gap = rate_from_levels([0, 1], [-50, math.nan], budget.ladder)
    with pytest.raises(BacklaneError, match="1 of 2 rates are not known"):
        gap.trace()


@settings(deadline=None)
@given(
    st.floats(*LENGTHS_KM), st.floats(*FREQUENCIES_GHZ), st.floats(*BANDWIDTHS_MHZ),
    st.floats(*GAINS_DBI), st.floats(*POWERS_DBM), st.floats(0, 300), st.floats(-2000, 500),
    st.floats(-90, 90),
)  # fmt: skip
def test_every_link_within_the_limits_has_shares_of_a_year(
    length: float, frequency: float, bandwidth: float, gain: float, power: float, rate: float,
    gradient: float, latitude: float,
) -> None:  # fmt: skip
    link = RadioLink(
        "a", "b", length, (frequency, frequency), bandwidth, (gain, gain), (power, power),
        latitude_deg=latitude,
    )  # fmt: skip
    found = compute(link, Climate(rate, gradient)).directions[0]
    assert math.isfinite(found.level_dbm)
    shares = [step.availability_percent for step in found.steps]
    assert all(share is not None and 0 <= share <= 100 for share in shares)


def test_the_mean_radius_is_excells_and_small_peaks_have_none() -> None:
    # 1.7 [(50/6)^-10 + (50/6)^-0.26] = 1.7 * 0.5762.
    assert mean_radius_km(50) == pytest.approx(0.980, abs=1e-3)
    assert RainCell(50, 0, 0, 8, 0).e_folding_m == pytest.approx(980, abs=1)
    with pytest.raises(BacklaneError, match="no mean radius"):
        RainCell(3, 0, 0, 8, 0).along([0], (0, 0), (1000, 0))
    assert RainCell(3, 0, 0, 8, 0, radius_m=2000).e_folding_m == 2000


@pytest.mark.parametrize(
    "change",
    [
        {"peak_mm_h": -1.0}, {"peak_mm_h": math.nan}, {"speed_m_s": -1.0}, {"x_m": math.inf},
        {"radius_m": 0.0}, {"radius_m": math.nan},
    ],
)  # fmt: skip
def test_what_is_no_cell_is_refused(change: dict[str, float]) -> None:
    with pytest.raises(BacklaneError) as caught:
        replace(RainCell(50, 0, 0, 8, 0, 1000), **change)
    assert caught.value.code == "R047"
