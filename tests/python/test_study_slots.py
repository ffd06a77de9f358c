"""Measures and figures of slotted models, and the rule on signs, computed by hand."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest
from test_studies import Fixed, outcome

from backlane.measures import measure
from backlane.results import Results
from backlane.studies import metrics, slots
from backlane.studies.runs import Runs
from backlane.studies.study import FigureSpec
from backlane.studies.view import Recorded, RunView

POINTS = {
    "run_id": ["r"] * 4,
    "x_rate_pkts": [0.2, 0.2, 0.6, 0.6],
    "y_rate_pkts": [0.2, 0.6, 0.2, 0.6],
    # As in theory except for the second, which is outside and does not grow.
    "backlog_slope_pkts": [0.0, 0.0, 0.08, 0.36],
}
PATHS = {
    "run_id": ["r"] * 4,
    "entity": ["one", "two"] * 2,
    "time_s": [0.0, 0.0, 10.0, 10.0],
    "window_pkts": [1.0, 3.0, 1.0, 5.0],
    "queue_pkts": [1.0, 3.0, 1.0, 5.0],
}


def row(name: str, **more: Any) -> dict[str, Any]:
    """A row of ``slotted``."""
    return {
        "flow": name, "arrived_pkts": 0.5, "throughput_pkts": 0.4, "backlog_mean_pkts": 7.0,
        "drops_at_source": 2, "drops_in_transit": 1, "served_ratio": 0.25, "single_ratio": 1.0,
        "utility": -1.5, "backlog_slope_pkts": None,
    } | more  # fmt: skip


def results() -> Results:
    tables = {"region": pl.DataFrame(POINTS), "series/slotted": pl.DataFrame(PATHS)}
    return Results({}, None, tables)


def view(*rows: dict[str, Any]) -> RunView:
    counts = {
        "packets_injected": 10, "packets_delivered": 6, "packets_dropped": 1,
        "packets_in_flight": 3,
    }  # fmt: skip
    return RunView(
        run_id="r", cell=0, seed=1, run=counts, everything=[], flows=[], udp=[], links=[],
        routing=[], coding=[], slotted=list(rows), backhaul=set(), measures=measure([], 10.0),
        recorded=Recorded(results()),
    )  # fmt: skip


def test_numbers_are_of_one_flow_or_of_all() -> None:
    everything = row("all", backlog_slope_pkts=0.025, served_ratio=None)
    of = view(row("one"), row("two", served_ratio=0.75), everything)
    found = {name: metrics.get(name).of(of) for name in ("served@1", "served@2", "overflows@1")}
    assert found == {"served@1": 0.25, "served@2": 0.75, "overflows@1": 3.0}
    # 0.025 of 0.5 that arrive
    assert metrics.get("growth").of(of) == pytest.approx(0.05)
    assert metrics.get("utility").of(of) == -1.5
    assert math.isnan(metrics.get("served@3").of(of))
    assert math.isnan(metrics.get("growth").of(view()))
    assert metrics.get("lost_track_of").of(of) == 0.0
    of.run["packets_in_flight"] = 1
    assert metrics.get("lost_track_of").of(of) == 2.0


def test_a_sign_is_that_of_an_interval() -> None:
    # Means 1.0 and 0.1; the standard error of both is 0.2/√3 = 0.115, Student's t(2) at 95 % 4.30.
    data = Fixed(
        {("finish_mean", "up"): [0.8, 1.0, 1.2], ("finish_mean", "flat"): [-0.1, 0.1, 0.3]}
    )
    rising = {"rule": "sign", "sign": "positive"}
    still = {"rule": "sign", "sign": "none"}
    assert outcome(data, **rising, terms=["up"]).outcome == "reproduced"
    assert outcome(data, **rising, terms=["flat"]).outcome == "differs"
    assert outcome(data, **still, terms=["flat"]).outcome == "reproduced"
    assert outcome(data, **still, terms=["up"]).outcome == "differs"
    # At 99 % t is 9.92, and 1.0 − 1.146 lies below zero.
    assert outcome(data, **rising, level=0.99, terms=["up"]).outcome == "differs"
    single = Fixed({("finish_mean", "up"): [1.0]})
    assert outcome(single, **rising, terms=["up"]).outcome == "unknown"


def spec(kind: str, **options: Any) -> FigureSpec:
    return FigureSpec("f", "A title", kind, "e", {"by": "slotted.k_pkts", **options})


def test_a_map_says_how_many_points_lie_on_their_side_of_the_boundary() -> None:
    runs = Runs(results(), [{"slotted.k_pkts": 0}], [view()])
    boundary = [[0.0, 0.5], [0.3, 0.5], [0.5, 0.3], [0.5, 0.0]]
    drawn = slots.region(spec("region", boundary=boundary), runs)[0]
    assert "75.0%" in drawn.reading
    # 0.36 of 1.2 that arrive
    assert drawn.csv.splitlines()[-1] == "0,0.6,0.6,0.3"


def test_paths_are_drawn_as_they_were_sampled() -> None:
    runs = Runs(results(), [{"slotted.k_pkts": 0}], [view()])
    drawn = slots.paths(spec("paths"), runs)[0]
    assert drawn.csv.splitlines()[1:] == [
        "0,one,0.0,1.0,1.0", "0,one,10.0,1.0,1.0", "0,two,0.0,3.0,3.0", "0,two,10.0,5.0,5.0",
    ]  # fmt: skip
    assert "K = 0" in drawn.svg
