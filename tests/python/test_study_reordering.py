"""Reordering and the threshold that tolerates it, counted by hand, and their figures."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from matplotlib.figure import Figure

from backlane.errors import BacklaneError
from backlane.measures import measure
from backlane.report.map import Place
from backlane.report.mesh import Load, paint_mesh
from backlane.results import Results
from backlane.studies import displacements, figures, flows, metrics, ratios, reordering
from backlane.studies.ratios import above
from backlane.studies.runs import Runs
from backlane.studies.study import FigureSpec
from backlane.studies.terms import leading_number
from backlane.studies.view import Recorded, RunView, views


def run_view(
    tables: dict[str, pl.DataFrame] | None = None, cell: int = 0, seed: int = 1
) -> RunView:
    return RunView(
        run_id="r", cell=cell, seed=seed, run={"traffic_s": 20.0}, everything=[], flows=[],
        udp=[], links=[], routing=[], coding=[], slotted=[], backhaul=set(),
        measures=measure([], 20.0), recorded=Recorded(Results({}, None, tables or {})),
    )  # fmt: skip


def windows(**flows_of: list[tuple[int, int]]) -> dict[str, pl.DataFrame]:
    """The series of flows with these (threshold, timeouts) at each second."""
    rows = [
        {"run_id": "r", "entity": name, "time_s": float(t), "reordering_pkts": r, "rtos": n}
        for name, samples in flows_of.items()
        for t, (r, n) in enumerate(samples)
    ]  # fmt: skip
    return {"series/cwnd": pl.DataFrame(rows)}


def number(name: str, of: RunView) -> float:
    return metrics.get(name).of(of)


def test_displacements_of_flows_are_pooled_by_their_packets() -> None:
    results = Results(
        {},
        None,
        {
            "runs": pl.DataFrame({"run_id": ["r"], "cell": [0], "seed": [1], "traffic_s": [9.0]}),
            "flows": pl.DataFrame(
                {
                    "run_id": ["r", "r"], "flow": ["a", "b"], "congestion_control": ["reno"] * 2,
                    "packets_received": [32, 10], "reorder_discarded_pkts": [2.0, 0.0],
                }
            ),
            "links": pl.DataFrame({"run_id": []}, schema={"run_id": pl.String}),
            "nodes": pl.DataFrame({"run_id": []}, schema={"run_id": pl.String}),
            "reordering": pl.DataFrame(
                {
                    "run_id": ["r"] * 6, "flow": ["a", "a", "a", "b", "b", "b"],
                    "displacement_pkts": [-1.0, 0.0, 3.0, 0.0, 4.0, 7.0],
                    "density": [0.2, 0.7, 0.1, 0.5, 0.5, 0.0],
                }
            ),
        },
    )  # fmt: skip
    (view,) = views(results)
    # 30 and 10 packets count: 6 at −1, 21 + 5 at 0, 3 at 3 and 5 at 4.
    assert number("rd@-1", view) == pytest.approx(6 / 40)
    assert number("rd@0", view) == pytest.approx(26 / 40)
    assert number("rd_late@3", view) == pytest.approx(8 / 40)
    assert number("rd_late@4", view) == pytest.approx(5 / 40)
    assert number("rd@2", view) == 0.0
    assert sorted(view.displacements) == [-1, 0, 3, 4]
    assert math.isnan(number("rd@0", run_view()))


def test_a_reset_is_a_fall_of_the_threshold_to_three_with_a_timeout() -> None:
    grows_and_is_reset = [(3, 0), (12, 0), (40, 1), (3, 2), (9, 2), (3, 3)]
    assert number("threshold_resets", run_view(windows(a=grows_and_is_reset))) == 2
    assert number("threshold_falls_untimed", run_view(windows(a=grows_and_is_reset))) == 0
    assert number("threshold_cycle", run_view(windows(a=grows_and_is_reset))) == 1
    # Already increased at the first sample.
    assert number("threshold_resets", run_view(windows(a=[(14, 0), (3, 1)]))) == 1
    # A timeout without a fall, a fall without a timeout, and one that has grown again.
    never = [(3, 0), (3, 1), (8, 1), (3, 1), (20, 1), (5, 2)]
    assert number("threshold_resets", run_view(windows(a=never))) == 0
    assert number("threshold_falls_untimed", run_view(windows(a=never))) == 1
    assert number("threshold_cycle", run_view(windows(a=never))) == 0
    both = run_view(windows(a=grows_and_is_reset, b=never))
    assert number("threshold_resets", both) == 1.0
    assert math.isnan(number("threshold_resets", run_view()))


def test_a_threshold_may_fall_a_round_trip_after_its_timeout() -> None:
    """F-RTO evaluates a timeout by the next acknowledgments."""
    later = windows(a=[(3, 0), (40, 0), (40, 1), (40, 1), (3, 1), (20, 1), (3, 1)])
    series = later["series/cwnd"].with_columns(time_s=pl.col("time_s") / 20)
    view = run_view({"series/cwnd": series})
    # At 0.1 s the timeout, at 0.2 s the fall; the one at 0.3 s comes 0.2 s after it.
    assert number("threshold_resets", view) == 1
    assert number("threshold_falls_untimed", view) == 1


def of_flows(*rows: dict[str, Any], **more: Any) -> RunView:
    return replace(run_view(**more), everything=list(rows), flows=list(rows))


def test_what_the_flows_counted_is_a_mean_over_flows() -> None:
    counted = {"cwnd_mean_pkts": 12.0, "in_flight_mean_pkts": 10.0, "reordering_max_pkts": 3}
    none = dict.fromkeys(counted)
    view = of_flows(counted, {name: value * 3 for name, value in counted.items()}, none)
    assert number("window_mean", view) == pytest.approx(24.0)
    assert number("in_flight_mean", view) == pytest.approx(20.0)
    assert number("threshold_max", view) == pytest.approx(6.0)
    assert math.isnan(number("in_flight_mean", run_view()))


def test_windows_are_held_against_the_first_of_a_stretch_of_time() -> None:
    series = {
        "series/cwnd": pl.DataFrame(
            {
                "run_id": ["r"] * 5, "entity": ["a"] * 4 + ["b"],
                "time_s": [0.0, 1.0, 2.0, 3.0, 1.0], "cwnd_pkts": [90, 40, 50, 30, 90],
            }
        )
    }  # fmt: skip
    view = run_view(series)
    assert number("window_rise@1-3", view) == pytest.approx(50 / 40)
    assert number("window_rise@2-3", view) == pytest.approx(30 / 50)
    assert math.isnan(number("window_rise@4-5", view))
    assert math.isnan(number("window_rise@1-3", run_view()))


def test_slow_starts_that_reordering_ended_are_counted() -> None:
    causes = ("reordering", None, "loss", "reordering")
    view = of_flows(*({"slow_start_exit": cause} for cause in causes))
    assert number("exit_by_reordering", view) == pytest.approx(1 / 2)


def test_bytes_to_neighbours_are_held_against_their_flow_rates() -> None:
    assigned: list[dict[str, Any]] = [
        {"from": "S", "to": to, "channel": channel, "flow_rate_bps": bps}
        for to, channel, bps in (("a", 1, 30e6), ("b", 2, 10e6), ("c", 3, 0.0))
    ]
    links: list[dict[str, Any]] = [
        {"from": "S", "to": "a", "channel": 1, "bytes": 720},
        {"from": "S", "to": "b", "channel": 2, "bytes": 280},
        {"from": "a", "to": "S", "channel": 1, "bytes": 5000},
        {"from": "S", "to": "d", "channel": None, "bytes": 9000},
    ]
    view = replace(of_flows({"source": "S"}), assignment=assigned, links=links)
    # 72 % and 28 % instead of 75 % and 25 %.
    assert number("proportion_error@1", view) == pytest.approx(0.12)
    assert math.isnan(number("proportion_error@1", of_flows({"source": "S"})))
    assert math.isnan(number("proportion_error@2", view))


def test_a_ratio_crosses_between_numbers_and_its_interval_comes_from_the_seeds() -> None:
    low, high = {1: 0.5, 2: 0.7}, {1: 1.3, 2: 1.5}
    found = above({1.0: low, 4.0: high})
    # From 0.6 to 1.4 over two doublings: 1 is in the middle, at 2. Of both seeds each alone is the
    # extreme: 0.5 to 1.3 crosses at 4^(5/8), 0.7 to 1.5 at 4^(3/8).
    assert found.since.at == pytest.approx(2.0)
    assert (found.since.low, found.since.high) == pytest.approx((4 ** (3 / 8), 4 ** (5 / 8)))
    assert found.until.at == -math.inf
    assert found.text(1, 4) == "above 1 from 2.0 (95 %: 1.7 to 2.4) on"
    falls = above({1.0: high, 4.0: low})
    assert falls.until.at == pytest.approx(2.0)
    assert falls.since.at == math.inf
    assert falls.text(1, 4) == "above 1 up to 2.0 (95 %: 1.7 to 2.4)"


@pytest.mark.parametrize(
    ("means", "says"),
    [
        ({1.0: 0.8, 2.0: 1.1, 4.0: 0.9, 8.0: 1.2}, "above 1 from 5.0 on"),
        ({1.0: 1.2, 2.0: 0.8, 4.0: 0.8, 8.0: 1.2}, "above 1 up to 1.4 and from 5.7 on"),
        ({1.0: 0.8, 2.0: 1.1, 4.0: 0.9}, "nowhere above 1 for good from 1 to 4"),
        ({1.0: 1.2, 2.0: 1.1}, "above 1 from 1 to 2"),
    ],
)
def test_a_ratio_is_told_by_where_it_comes_down_and_where_it_stays_above(
    means: dict[float, float], says: str
) -> None:
    assert above({at: {1: value} for at, value in means.items()}).text(1, max(means)) == says


def test_an_interval_of_a_crossing_may_end_outside_the_axis() -> None:
    seeds = range(1, 11)
    # Four of the seeds end below 1, far enough for the mean of some resamples to be there.
    ends = {seed: 0.4 if seed <= 4 else 1.5 for seed in seeds}
    found = above({1.0: dict.fromkeys(seeds, 0.5), 64.0: ends})
    assert 1 < found.since.at < 64
    assert found.since.high == math.inf
    assert found.text(1, 64).endswith("to above 64) on")


@pytest.mark.parametrize(
    ("label", "expected"), [(4, 4.0), ("24 flows", 24.0), ("1.5e3 x", 1500.0), ("-2", -2.0)]
)
def test_a_swept_value_counts_as_the_number_that_it_begins_with(
    label: Any, expected: float
) -> None:
    assert leading_number(label) == expected
    assert math.isnan(leading_number("flows"))


def runs_of(swept: list[dict[str, Any]], *found: RunView) -> Runs:
    return Runs(Results({}, None, {}), swept, list(found))


def test_displacements_are_drawn_with_what_is_beyond_in_one_bar() -> None:
    near = {-1: 0.25, 0: 0.5, 1: 0.245, 9: 0.005}
    found = [replace(run_view(seed=seed), displacements=near) for seed in (1, 2)]
    runs = runs_of([{"tcp": "Linux"}], *found)
    spec = FigureSpec("f", "RD", "displacements", "one", {"by": "tcp"})
    (drawn,) = displacements.FORMS["displacements"](spec, runs)
    lines = drawn.csv.splitlines()
    assert lines[0] == "tcp,displacement_pkts,seeds,share,low,high"
    # Six on each side, and one bar for what is beyond.
    assert len(lines) == 1 + 15
    assert lines[-1] == "Linux,>6,2,0.005,0.005,0.005"
    assert "Linux,0,2,0.5,0.5,0.5" in lines


def test_a_published_share_is_drawn_at_its_displacement() -> None:
    found = [replace(run_view(seed=1), displacements={0: 0.5, 1: 0.25, -1: 0.25})]
    runs = runs_of([{"tcp": "Linux"}], *found)
    published = [{"by": "Linux", "x": 0, "value": 15, "source": "§IV"}]
    spec = FigureSpec("f", "RD", "displacements", "one", {"by": "tcp", "published": published})
    (drawn,) = displacements.FORMS["displacements"](spec, runs)
    assert drawn.csv.splitlines()[-1] == "published,0,Linux,15.0,15.0,§IV"
    assert "published (§IV)" in drawn.reading


def test_cells_that_a_figure_does_not_tell_apart_are_averaged_seed_by_seed() -> None:
    shares = {(0, 1): 0.2, (1, 1): 0.4, (0, 2): 0.5, (1, 2): 0.5}
    found = [
        replace(run_view(cell=cell, seed=seed), displacements={0: share, 1: 1 - share})
        for (cell, seed), share in shares.items()
    ]
    runs = runs_of([{"tcp": "Linux", "n": 1}, {"tcp": "Linux", "n": 2}], *found)
    spec = FigureSpec("f", "RD", "displacements", "one", {"by": "tcp"})
    (drawn,) = displacements.FORMS["displacements"](spec, runs)
    # 0.3 and 0.5; Student's t with one degree of freedom is 12.706.
    half = 12.7062 * 0.1
    (row,) = (line.split(",") for line in drawn.csv.splitlines() if line.startswith("Linux,0,"))
    assert row[2] == "2"
    assert [float(x) for x in row[3:]] == pytest.approx([0.4, 0.4 - half, 0.4 + half], rel=1e-4)


def test_a_threshold_is_drawn_with_its_timeouts() -> None:
    samples = [(3, 0), (12, 0), (40, 0), (3, 1), (9, 1)]
    runs = runs_of([{"tcp": "Linux"}], run_view(windows(a=samples, b=[(3, 0)])))
    spec = FigureSpec("f", "T", "threshold", "one", {"by": "tcp", "span": [1, 3]})
    (drawn,) = reordering.FORMS["threshold"](spec, runs)
    assert drawn.csv.splitlines()[1:] == ["Linux,1.0,12.0,0.0", "Linux,2.0,40.0,0.0",
                                          "Linux,3.0,3.0,1.0"]  # fmt: skip


def of_goodput(bps: float, cell: int, seed: int) -> RunView:
    row = {"flow": "a", "goodput_bps": bps, "delivered_bytes": 0}
    return replace(run_view(cell=cell, seed=seed), everything=[row])


def test_a_ratio_is_drawn_seed_by_seed_with_where_it_crosses() -> None:
    swept = [
        {"tcp": "Linux", "routing": routing, "flow.count": count}
        for routing in ("data+ack", "packet")
        for count in (1, 4)
    ]
    rates = [[2.0, 4.0], [2.0, 4.0], [1.0, 2.0], [3.0, 6.0]]
    found = [of_goodput(bps, cell, seed) for cell, both in enumerate(rates)
             for seed, bps in enumerate(both)]  # fmt: skip
    options = {"by": "tcp", "x": "flow.count", "over": "routing", "of": ["packet", "data+ack"]}
    spec = FigureSpec("f", "Pays", "ratio", "one", options)
    figures.check(spec, swept)
    (drawn,) = ratios.FORMS["ratio"](spec, runs_of(swept, *found))
    lines = drawn.csv.splitlines()
    assert lines[1:3] == ["Linux,1.0,2,0.5,0.5,0.5", "Linux,4.0,2,1.5,1.5,1.5"]
    assert "Linux: above 1 from 2.0 (95 %: 2.0 to 2.0) on" in drawn.reading
    four_each = replace(spec, options=options | {"times": 4})
    (drawn,) = ratios.FORMS["ratio"](four_each, runs_of(swept, *found))
    assert "Linux: above 1 from 8.0 (95 %: 8.0 to 8.0) on" in drawn.reading
    for wrong in ({"of": ["packet"]}, {"over": "queue"}, {"metric": "speed"}):
        with pytest.raises(BacklaneError) as caught:
            figures.check(replace(spec, options=options | wrong), swept)
        assert caught.value.code == "R022"


def test_a_ratio_without_a_seed_that_all_points_share_has_no_crossing() -> None:
    swept = [
        {"tcp": "Linux", "routing": routing, "flow.count": count}
        for routing in ("data+ack", "packet")
        for count in (1, 4)
    ]
    rates = [[0.0, 4.0], [2.0, 0.0], [1.0, 2.0], [3.0, 6.0]]
    found = [of_goodput(bps, cell, seed) for cell, both in enumerate(rates)
             for seed, bps in enumerate(both)]  # fmt: skip
    options = {"by": "tcp", "x": "flow.count", "over": "routing", "of": ["packet", "data+ack"]}
    spec = FigureSpec("f", "Pays", "ratio", "one", options)
    (drawn,) = ratios.FORMS["ratio"](spec, runs_of(swept, *found))
    assert "Linux: no seed has a ratio everywhere" in drawn.reading
    silent = [of_goodput(0.0, cell, 1) for cell in range(len(swept))]
    (drawn,) = ratios.FORMS["ratio"](spec, runs_of(swept, *silent))
    assert drawn.csv.splitlines()[1:] == []


def test_lines_go_over_labels_that_begin_with_a_number() -> None:
    swept = [{"tcp": "Linux", "flow": name} for name in ("24 flows", "4 flows")]
    found = [of_goodput(1e6 * (cell + 1), cell, 1) for cell in (0, 1)]
    options = {"by": "tcp", "x": "flow", "metric": "system_throughput"}
    spec = FigureSpec("f", "L", "lines", "one", options)
    (drawn,) = flows.FORMS["lines"](spec, runs_of(swept, *found))
    assert [line.split(",")[1] for line in drawn.csv.splitlines()[1:]] == ["24 flows", "4 flows"]
    assert drawn.svg.lstrip().startswith("<")


def test_an_assignment_is_drawn_for_each_contender() -> None:
    nodes = pl.DataFrame(
        {"run_id": ["r"] * 3, "id": ["A", "B", "C"], "kind": ["router"] * 3,
         "x_m": [0.0, 100.0, 200.0], "y_m": [0.0, 50.0, 0.0]}
    )  # fmt: skip
    carried = [("A", "B", 1, 3e6), ("B", "A", 1, 1e6), ("B", "C", 2, 2e6), ("C", "B", 2, 0.0)]
    links = pl.DataFrame(
        [{"run_id": "r", "from": a, "to": b, "channel": channel, "bytes": size}
         for a, b, channel, size in carried]
    )  # fmt: skip
    runs = Runs(
        Results({}, None, {"nodes": nodes, "links": links}),
        [{"routing": "packet"}, {"routing": "data"}],
        [run_view(cell=0), run_view(cell=1)],
    )
    spec = FigureSpec("f", "Mesh", "assignment", "one", {"by": "routing", "only": ["packet"]})
    (drawn,) = figures.figure(spec, runs)
    assert drawn.key == "f-1"
    assert "With packet, channel 1" in drawn.reading
    rows = [line.split(",") for line in drawn.csv.splitlines()]
    assert rows[0][:5] == ["a", "b", "channel", "a_to_b_bytes", "b_to_a_bytes"]
    assert rows[1][:5] == ["A", "B", "1", "3000000.0", "1000000.0"]


def test_a_mesh_is_within_its_axes() -> None:
    axes = Figure().add_subplot()
    places = {name: Place("router", x, y) for name, x, y in (("A", -50.0, 0.0), ("B", 900.0, 70.0))}
    paint_mesh(axes, places, [Load("A", "B", 1, 5e6, 0.0)], scale=0.5)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert left <= -25 < 450 <= right
    assert bottom <= 0 < 35 <= top


def test_bars_average_the_cells_of_a_seed_and_count_seeds() -> None:
    swept = [{"tcp": "Linux", "flow.count": count} for count in (1, 2)]
    rates = {(0, 1): 2e6, (1, 1): 8e6, (0, 2): 4e6, (1, 2): 6e6}
    found = [of_goodput(bps, cell, seed) for (cell, seed), bps in rates.items()]
    spec = FigureSpec("f", "B", "bars", "one", {"by": "tcp", "metric": "system_throughput"})
    (drawn,) = figures.figure(spec, runs_of(swept, *found))
    assert drawn.csv.splitlines()[1] == ",Linux,2,5.0,5.0,5.0"
