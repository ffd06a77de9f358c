"""The comparison with ns-3 over a grid of wires: its record and its cheap runs."""

from __future__ import annotations

from validation.ns3.wired_grid import grid


def test_the_record_holds_every_run_that_is_compared() -> None:
    recorded = grid.recorded()
    assert {(run.flows, run.phase) for run in recorded} == {
        (flows, phase) for flows, phases in grid.PHASES.items() for phase in range(phases)
    }
    # A download of 10 MB takes 0.16 s at 500 Mbit/s, and longer with the round trips of its start.
    assert all(run.finish_mean_s > 0.4 and run.finish_max_s < 100 for run in recorded)
    assert all(run.drops > 1000 for run in recorded)


def test_downloads_take_as_long_as_in_ns3() -> None:
    theirs = [run for run in grid.recorded() if run.flows == 25]
    mine = [grid.run(25, phase) for phase in range(grid.PHASES[25])]
    assert grid.holds(theirs, mine, 25)
    recoveries = [sum(run.recoveries for run in runs) for runs in (theirs, mine)]
    assert abs(recoveries[1] / recoveries[0] - 1) < 0.1
