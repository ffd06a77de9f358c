"""The comparison with ns-3 over three paths: its arithmetic, its record and its cheap runs."""

from __future__ import annotations

import pytest
from validation.ns3.multipath import ours, truth
from validation.ns3.multipath.density import density, displacement_pkts, distance
from validation.ns3.multipath.page import Pair
from validation.ns3.multipath.truth import Found, Measured
from validation.ns3.multipath.works import Work, goodput_in_turn_bps, works


def found(goodput_bps: float, in_order: float) -> Found:
    shares = {0: in_order, 1: 1 - in_order}
    return Found((Measured(goodput_bps, 0.0, in_order, 1 - in_order),), shares)


def test_a_density_is_that_of_places_less_numbers() -> None:
    early_and_late = density([0, 3, 1, 4, 2, 5, 6, 7])
    assert early_and_late == {0: 4 / 8, -2: 1 / 8, 1: 1 / 8, -1: 1 / 8, 2: 1 / 8}
    assert displacement_pkts(early_and_late) == pytest.approx(6 / 8)


def test_what_is_lost_displaces_nothing_and_what_is_very_late_is_lost() -> None:
    assert density([0, 1, 3, 4, 5]) == {0: 1.0}
    very_late = [0, 1, 3, 4, 5, 6, 2, 7]
    assert density(very_late, threshold_pkts=3) == {0: 1.0}
    assert density(very_late, threshold_pkts=4) == {-1: 4 / 8, 0: 3 / 8, 4: 1 / 8}


def test_the_distance_of_two_densities_is_the_share_that_moved() -> None:
    assert distance({0: 0.7, 1: 0.3}, {0: 0.5, 1: 0.3, -2: 0.2}) == pytest.approx(0.2)


def test_work_counts_as_the_same_by_goodput_and_by_displacement() -> None:
    ns3 = found(10e6, 0.7)
    assert Pair(Work(), ns3, found(10.19e6, 0.74)).holds
    assert not Pair(Work(), ns3, found(10.21e6, 0.74)).holds
    assert not Pair(Work(), ns3, found(10.19e6, 0.76)).holds


def test_frames_in_turn_take_what_the_timing_of_802_11a_says() -> None:
    # 1536 bytes and 22 bits are 57 symbols of 216 bits: 248 us with the preamble; an ACK of 24
    # Mbit/s is 28 us; DIFS 34, SIFS 16, 7.5 slots 67.5 us. An acknowledgment of 88 bytes is 36 us.
    data_s, acknowledgment_s = 393.5e-6, 181.5e-6
    assert goodput_in_turn_bps(1) == pytest.approx(8 * 1448 / (data_s + acknowledgment_s))
    assert goodput_in_turn_bps(2) == pytest.approx(16 * 1448 / (2 * data_s + acknowledgment_s))


def test_the_record_holds_every_run_that_is_compared() -> None:
    recorded = truth.recorded()
    groups = works()
    names = [work.name for group in groups.values() for work in group]
    assert len(set(names)) == len(names)
    assert set(recorded) == set(names)
    for work in (work for group in groups.values() for work in group):
        on_record = truth.found(work, recorded)
        assert len(on_record.runs) == work.runs
        assert sum(on_record.density.values()) == pytest.approx(1, abs=1e-3)
        for run in on_record.runs:
            assert 0 < run.goodput_bps < len(work.paths) * 30.5e6
            if work.pins or len(work.paths) == 1:
                # One path does not reorder.
                assert run.in_order == 1
            elif work.transport == "tcp":
                assert run.in_order < 0.5


def test_runs_that_are_not_on_record_are_asked_for() -> None:
    with pytest.raises(ValueError, match="run ns-3 again"):
        truth.found(Work(), {})


@pytest.mark.parametrize(
    "work", [works()["alone"][2], works()["udp"][1]], ids=lambda work: work.name
)
def test_paths_here_carry_and_reorder_what_they_do_in_ns3(work: Work) -> None:
    pair = Pair(work, truth.found(work, truth.recorded()), ours.measured(work))
    assert pair.holds, f"{pair.goodput:+.1%}, {pair.displaced_otherwise:.1%}"
