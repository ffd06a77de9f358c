"""Goodputs, shares and starved windows of a run, counted by hand."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

from backlane.measures import measure
from backlane.results import Results
from backlane.studies import flows, metrics
from backlane.studies.runs import Runs
from backlane.studies.study import FigureSpec
from backlane.studies.view import Recorded, RunView


def flow(name: str, delivered: int, **more: Any) -> dict[str, Any]:
    return {
        "flow": name,
        "kind": "transfer",
        "congestion_control": "reno",
        "goodput_bps": None,
        "start_s": 0.0,
        "delivered_bytes": delivered,
        **more,
    }


def view(
    *rows: dict[str, Any],
    routing: list[dict[str, Any]] | None = None,
    coding: list[dict[str, Any]] | None = None,
    arrived: dict[str, list[float]] | None = None,
    cell: int = 0,
    seed: int = 1,
) -> RunView:
    tables = {}
    if arrived:
        tables["series/goodput"] = pl.DataFrame(
            {
                "run_id": ["r"] * sum(map(len, arrived.values())),
                "entity": [name for name, values in arrived.items() for _ in values],
                "time_s": [float(t + 1) for values in arrived.values() for t in range(len(values))],
                "delivered_bytes": [value for values in arrived.values() for value in values],
            }
        )
    found = list(rows)
    return RunView(
        run_id="r", cell=cell, seed=seed, run={"traffic_s": 20.0}, everything=found, flows=found,
        udp=[], links=[], routing=routing or [], coding=coding or [], slotted=[], backhaul=set(),
        measures=measure([], 20.0), recorded=Recorded(Results({}, None, tables)),
    )  # fmt: skip


def number(name: str, of: RunView) -> float:
    return metrics.get(name).of(of)


def test_shares_are_of_what_all_flows_have() -> None:
    three = view(flow("a", 1_000_000), flow("b", 60_000), flow("c", 10_000, start_s=10.0))
    # 400, 24 and 8 kbit/s: a fair share is 144.
    assert number("total_goodput", three) == pytest.approx(432e3)
    assert number("flow_goodput@3", three) == pytest.approx(8e3)
    assert number("flow_share@2", three) == pytest.approx(24 / 144)
    assert number("least_share", three) == pytest.approx(8 / 144)
    assert number("least_goodput", three) == pytest.approx(8e3)
    assert number("surviving", three) == 3
    assert number("jain_all", three) == pytest.approx(432**2 / (3 * (400**2 + 24**2 + 8**2)))
    assert math.isnan(number("flow_goodput@4", three))
    starving = view(flow("a", 1_000_000), flow("b", 10_000))
    assert number("surviving", starving) == 1


def test_a_window_starves_a_flow_that_gets_less_than_a_hundredth_of_a_fair_share() -> None:
    # The second flow receives data only in the last 5 s of 20.
    second = [0.0] * 15 + [1e5 * step for step in range(1, 6)]
    both = view(
        flow("a", 2_000_000), flow("b", 500_000),
        arrived={"a": [1e5 * step for step in range(1, 21)], "b": second},
    )  # fmt: skip
    assert number("starved_windows@2", both) == pytest.approx(0.75)
    assert number("starved_windows@1", both) == 0.0
    assert number("starved_windows_most", both) == pytest.approx(0.75)
    assert math.isnan(number("starved_windows@2", view(flow("a", 1), flow("b", 1))))


def test_the_detour_is_told_by_the_routers_passed() -> None:
    # A quarter of the packets passed three routers, the others one.
    assert number("detour@1", view(flow("a", 1, hops_mean=1.5))) == pytest.approx(0.25)


def test_routers_and_coded_flows_are_summed() -> None:
    nodes = [
        {"overflow_at_source": 90, "overflow_in_transit": 0, "trapped_mean_pkts": 0.5},
        {"overflow_at_source": 0, "overflow_in_transit": 10, "trapped_mean_pkts": 1.5},
    ]
    coded = [
        {"bytes_compared": 10, "bytes_unequal": 0, "edge_drops": 3, "edge_drops_answered": 3},
        {
            "bytes_compared": 10,
            "bytes_unequal": 2,
            "edge_drops": 3,
            "edge_drops_answered": 0,
            "edge_drops_late": 1,
            "edge_drops_open": 2,
            "duplicate_acks_given": 4,
        },
    ]
    sums = view(flow("a", 2_000_000, duplicate_acks=5, rtos=1), routing=nodes, coding=coded)
    assert number("overflow_at_source", sums) == pytest.approx(0.9)
    assert number("trapped", sums) == pytest.approx(2.0)
    assert number("wrong_bytes", sums) == 2.0
    assert number("edge_drops_answered", sums) == pytest.approx(0.75)
    assert number("edge_drops_heard", sums) == 1.0
    assert number("troubles_per_mb", sums) == pytest.approx(3.0)
    # One of five duplicates, and the timeout.
    assert number("unmasked_per_mb", sums) == pytest.approx(1.0)
    none = view(flow("a", 0))
    for name in (
        "overflow_at_source", "trapped", "wrong_bytes", "edge_drops_answered", "edge_drops_heard",
    ):  # fmt: skip
        assert math.isnan(number(name, none)), name


def test_a_flow_is_asked_for_by_its_number_alone() -> None:
    assert metrics.find("flow_goodput") is None
    assert metrics.find("flow_goodput@1-2") is None
    assert metrics.find("detour@1") is not None


@pytest.mark.parametrize(
    ("kind", "options", "header", "rows"),
    [
        ("rates", {}, ["routing", "flow", "time_s", "goodput_kbps"], 2 * 4),
        ("lines", {"x": "wifi.loss"}, ["routing", "wifi.loss", "seeds"], 2),
    ],
)
def test_flows_are_drawn_over_time_and_numbers_over_what_is_swept(
    kind: str, options: dict[str, Any], header: list[str], rows: int
) -> None:
    arrived = {"a": [1e5 * step for step in range(1, 21)]}
    views = [
        view(flow("a", 2_000_000 + seed), arrived=arrived, cell=cell, seed=seed)
        for cell in (0, 1)
        for seed in (1, 2)
    ]
    swept: list[dict[str, Any]] = [
        {"routing": "AODV", "wifi.loss": 0.0},
        {"routing": "TCP-aware", "wifi.loss": 0.0},
    ]
    runs = Runs(Results({}, None, {}), swept, views)
    spec = FigureSpec("f", "Two", kind, "one", {"by": "routing", **options})
    (drawn,) = flows.FORMS[kind](spec, runs)
    lines = drawn.csv.splitlines()
    assert lines[0].split(",")[: len(header)] == header
    assert len(lines) == 1 + rows
    assert drawn.svg.lstrip().startswith("<")
