"""The comparison with ns-3's Wi-Fi: its arithmetic and its record."""

from __future__ import annotations

import dataclasses

import pytest
from validation.ns3.wifi import lossy, ours, truth
from validation.ns3.wifi.page import Pair, tables
from validation.ns3.wifi.truth import Measured
from validation.ns3.wifi.works import STATIONS, Work, saturated, works

WORK = saturated("a", 54.0, 10, rts=False)


def pair(goodput_bps: float) -> Pair:
    return Pair(WORK, Measured(10e6, 0.3), Measured(goodput_bps, 0.3))


def test_a_run_counts_as_the_same_within_two_per_cent_only() -> None:
    assert pair(10.19e6).holds
    assert pair(9.81e6).holds
    assert not pair(10.21e6).holds
    assert not pair(9.79e6).holds


def test_a_run_that_differs_stands_bold_in_the_table() -> None:
    apart = dataclasses.replace(WORK, stations=20)
    both = [pair(10e6), Pair(apart, Measured(10e6, 0.3), Measured(9e6, 0.4))]
    table = tables({"saturation": both})["wifi saturation"]
    assert "| n = 10 | n = 20 |" in table
    assert "10.000 / 10.000 +0.0 %; 0.300 / 0.300" in table
    assert "10.000 / 9.000 **-10.0 %**; 0.300 / 0.400" in table
    assert "1 of 2 runs" in table


def test_control_frames_go_at_the_standards_rates() -> None:
    rates = [(54.0, 24.0), (24.0, 24.0), (18.0, 12.0), (12.0, 12.0), (9.0, 6.0), (6.0, 6.0)]
    for rate, control in rates:
        assert Work("star", "a", rate, 1).control == control
    assert Work("star", "b", 11.0, 1).control == 11.0


def test_the_record_holds_every_run_that_is_compared() -> None:
    recorded = truth.recorded()
    groups = works()
    names = [work.name for group in groups.values() for work in group]
    assert len(set(names)) == len(names)
    assert set(recorded) == set(names)
    for work in (work for group in groups.values() for work in group):
        assert len(recorded[work.name]) == work.runs
        found = truth.found(work, recorded)
        assert 0 < found.goodput_bps < 1e6 * work.rate
        assert -0.001 < found.unanswered < 1
    for access in (False, True):
        shares = [
            truth.found(saturated("b", 11.0, stations, rts=access), recorded).unanswered
            for stations in STATIONS
        ]
        # Collisions increase with the number of stations; a single one has none.
        assert shares == sorted(shares)
        assert shares[0] == pytest.approx(0, abs=1e-3)


def test_runs_that_are_not_on_record_are_asked_for() -> None:
    with pytest.raises(ValueError, match="run ns-3 again"):
        truth.found(WORK, {})


@pytest.mark.parametrize(
    "work",
    [
        saturated("b", 11.0, 5, rts=False),
        saturated("a", 54.0, 10, rts=True),
        works()["fading"][3],
        works()["hidden"][3],
    ],
    ids=lambda work: work.name,
)
def test_stations_here_get_what_they_get_in_ns3(work: Work) -> None:
    found = Pair(work, truth.found(work, truth.recorded()), ours.measured(work))
    assert found.holds, f"{found.goodput:+.1%}"
    assert found.ours.unanswered == pytest.approx(found.ns3.unanswered, abs=0.02)


def test_aodv_over_two_lossy_hops_delivers_what_it_does_in_ns3() -> None:
    recorded = lossy.recorded()
    assert [(one.hops, one.loss) for one in recorded[:: lossy.RUNS]] == lossy.CHAINS
    assert len(recorded) == lossy.RUNS * len(lossy.CHAINS)
    for loss in (0.3, 0.5):
        runs = [lossy._here("ns3", 2, loss, run) for run in range(1, lossy.RUNS + 1)]
        found = lossy.mean(runs, 2, loss)
        assert found == pytest.approx(lossy.mean(recorded, 2, loss), abs=0.05)
    # By the RFC the destination has to answer, and less arrives.
    runs = [lossy._here("rfc", 2, 0.3, run) for run in range(1, lossy.RUNS + 1)]
    assert lossy.mean(runs, 2, 0.3) < lossy.mean(recorded, 2, 0.3) - 0.05


def test_shares_of_a_chain_are_averaged_over_its_runs() -> None:
    chains = [lossy.Chain(2, 0.3, 1, 0.5), lossy.Chain(2, 0.3, 2, 0.7), lossy.Chain(3, 0.3, 1, 0.1)]
    assert lossy.mean(chains, 2, 0.3) == pytest.approx(0.6)
