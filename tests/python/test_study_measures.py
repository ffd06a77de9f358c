"""Measures over time and of the radio, and rules on several experiments, computed by hand."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest
from test_studies import DATA, Fixed, outcome

from backlane.campaign.plan import Label
from backlane.errors import BacklaneError
from backlane.measures import measure
from backlane.results import Results
from backlane.studies import curves, metrics, timed
from backlane.studies.runs import Data, Runs
from backlane.studies.study import FigureSpec
from backlane.studies.view import Recorded, RunView

RATE_BPS = 8e6


def flow(name: str, **more: Any) -> dict[str, Any]:
    """A row of ``flows``."""
    return {
        "flow": name, "source": "server", "destination": name.partition("#")[0],
        "congestion_control": "reno", "size_bytes": 100_000, "start_s": 0.0,
        "finish_time_s": None, "packets_sent": 100, "packets_received": 90,
        "rtt_mean_s": 0.3, "rtt_min_s": 0.1, "slow_start_exit": "loss",
        "slow_start_exit_pkts": 64.0, "rtt_in_order_mean_s": 0.2,
    } | more  # fmt: skip


def ramp() -> dict[str, list[Any]]:
    """1 MB/s from 2 s on, a sample each 0.1 s until 10 s; losses occur at 5 s."""
    times = [step / 10 for step in range(1, 101)]
    return {
        "run_id": ["r"] * 100,
        "entity": ["ue1"] * 100,
        "time_s": times,
        "delivered_bytes": [max(0.0, t - 2.0) * 1e6 for t in times],
        "cwnd_pkts": [100.0 if t < 5.05 else 60.0 for t in times],
        "ssthresh_pkts": [None if t < 5.05 else 50.0 for t in times],
        "in_flight_pkts": [10.0 if t <= 5.0 else 20.0 for t in times],
        "segments_sent": [t * 1000 for t in times],
        "retransmits": [0.0 if t < 4.95 else 3.0 for t in times],
        "duplicate_acks": [0.0 if t < 4.95 else 30.0 for t in times],
    }


def radio() -> dict[str, list[Any]]:
    """MCS 28 for 4 s with half of it achieved, then MCS 25 with all of it; and another UE."""
    times = [step / 10 for step in range(1, 101)]
    one: dict[str, list[Any]] = {
        "run_id": ["r"] * 100,
        "entity": ["ue1"] * 100,
        "time_s": times,
        "mcs": [28.0 if t < 4.05 else 25.0 for t in times],
        # 100 TTIs of 75 376 bits; then 80 of 57 336, the other twenty for HARQ.
        "used_bytes": [471_100.0 if t < 4.05 else 573_360.0 for t in times],
        "harq_retransmissions": [0.0 if t < 4.05 else 20.0 for t in times],
        "queue_pkts": [0.0 if t < 6.05 else 200.0 for t in times],
        "pdcp_delay_s": [None if t < 1.05 else 0.04 if t < 5.55 else 0.06 for t in times],
    }
    other = {**one, "entity": ["ue2"] * 100, "queue_pkts": [999.0] * 100}
    return {name: [*one[name], *other[name]] for name in one}


def view(*flows: dict[str, Any]) -> RunView:
    rows = list(flows) or [flow("ue1")]
    tables = {"series/cwnd": pl.DataFrame(ramp()), "series/radio": pl.DataFrame(radio())}
    return RunView(
        run_id="r", cell=0, seed=1, run={"traffic_s": 10.0}, everything=rows, flows=rows, udp=[],
        links=[], routing=[], coding=[], slotted=[], backhaul=set(),
        measures=measure([], 10.0), recorded=Recorded(Results({}, None, tables)),
    )  # fmt: skip


def number(name: str, of: RunView | None = None) -> float:
    return metrics.get(name).of(of or view())


def test_goodput_between_two_times_is_what_arrived_between_them() -> None:
    assert number("goodput@0-2") == 0.0
    assert number("goodput@4-8") == pytest.approx(RATE_BPS)
    assert number("goodput@1-3") == pytest.approx(RATE_BPS / 2)
    assert number("goodput") == pytest.approx(RATE_BPS * 0.8)


def test_a_rate_is_reached_when_it_holds_for_a_second() -> None:
    # From 2 s on at 8 Mbit/s: from 1.9 s on each fifth of a second has 4.
    assert number("reach@4") == pytest.approx(1.9)
    assert number("reach@8") == pytest.approx(2.0)
    # A flow that never does counts with 10 s.
    assert number("reach@9") == pytest.approx(10.0)


def test_counters_and_samples_are_of_the_stretch_asked_for() -> None:
    assert number("sent@2-4") == pytest.approx(2000)
    assert number("dupacks@0-10") == pytest.approx(3.0)
    assert number("dupacks@6-10") == 0.0
    # Only the UE of the recorded flow counts, regardless of the other one's queue.
    assert number("queue@0-6") == 0.0
    assert number("queue@7-9") == 200.0
    assert number("queue_median") == 0.0
    assert number("delay@0-10") == pytest.approx(0.05)
    assert number("delay_max") == pytest.approx(0.06)
    assert number("delay_max@0-5") == pytest.approx(0.04)


def test_capacity_is_counted_by_bins_of_the_mean_mcs() -> None:
    found = timed.bins(view())
    assert list(found) == [28, 26]
    assert found[28] == pytest.approx((471_100 * 40, 942_200 * 40))
    assert found[26] == pytest.approx((573_360 * 60, 573_360 * 60))
    assert number("filled@28") == pytest.approx(0.5)
    assert number("filled@26-28") == pytest.approx(0.75)
    assert math.isnan(number("filled@14-18"))
    assert number("first_full") == 26


def test_windows_are_of_the_recorded_flow_named_and_of_all_flows() -> None:
    # 50 samples of 100 packets and 50 of 60.
    assert number("window_of@1") == pytest.approx(80.0)
    assert math.isnan(number("window_of@2"))
    both = view(flow("ue1", cwnd_mean_pkts=30.0), flow("ue2", cwnd_mean_pkts=50.0))
    assert number("window_mean_all", both) == 40.0


def test_the_time_to_the_first_byte_is_the_mean_of_the_flows_that_have_one() -> None:
    flows = [flow(f"ue{k}", first_byte_time_s=time_s) for k, time_s in enumerate([1.0, 3.0, None])]
    assert number("first_byte", view(*flows)) == 2.0


def test_the_first_loss_leaves_a_share_of_the_window() -> None:
    assert number("first_cut") == pytest.approx(0.6)


def test_flows_tell_drops_exits_and_how_far_the_rtt_rose() -> None:
    one = flow("ue1", finish_time_s=2.0)
    two = flow("ue1#2", finish_time_s=1.0, packets_received=100, size_bytes=200_000)
    both = view(one, two, flow("ue1#3"))
    assert number("drops_per_flow", both) == 5.0
    assert timed.flow_goodputs_bps(both, (0, math.inf)) == [400e3, 1.6e6]
    assert number("size_p90", both) == pytest.approx(180_000)
    assert number("rtt_rise") == pytest.approx(3.0)
    silent = flow("ue1#4", rtt_in_order_mean_s=None)
    late = flow("ue1#5", rtt_in_order_mean_s=0.4)
    assert number("rtt_in_order", view(one, late, silent)) == pytest.approx(0.3)
    assert number("exit_window") == 64
    assert number("exit_by_delay") == 0.0
    assert number("exit_by_delay", view(flow("ue1", slow_start_exit="delay"))) == 1.0


@pytest.mark.parametrize(
    "name", ["goodput@3", "goodput@5-4", "reach", "reach@a", "queue@1-2-3", "x"]
)
def test_a_name_with_the_wrong_numbers_is_no_metric(name: str) -> None:
    assert metrics.find(name) is None
    with pytest.raises(BacklaneError, match="there is no metric"):
        metrics.require(name, "here")


def test_a_band_may_be_asked_of_a_share_of_the_seeds() -> None:
    band = {"rule": "band", "low": 1.95, "high": 3.0}
    assert outcome(DATA, **band, seeds=0.6, terms=["c"]).outcome == "reproduced"
    assert outcome(DATA, **band, seeds=0.7, terms=["c"]).outcome == "differs"


def test_a_difference_is_taken_seed_by_seed() -> None:
    gap = {"difference": ["b", "a"]}
    assert outcome(DATA, rule="band", low=0.99, high=1.01, terms=[gap]).outcome == "reproduced"


class TwoExperiments(Fixed):
    """The same under "e"; the half of each number under "half"."""

    def values(self, experiment: str, metric: str, where: Any) -> dict[int, float]:
        share = 0.5 if experiment == "half" else 1.0
        found = super().values("e", metric, where)
        return {seed: value * share for seed, value in found.items()}


def test_a_term_may_come_from_another_experiment() -> None:
    data = TwoExperiments(DATA.numbers)
    other = {"experiment": "half", "routing": "b"}
    ratio = {"ratio": [other, "b"]}
    verdict = outcome(data, rule="band", low=0.49, high=0.51, terms=[ratio])
    assert verdict.outcome == "reproduced"
    assert verdict.claim.experiments == ["e", "half"]


def test_a_place_may_be_compared_with_that_under_other_values() -> None:
    class Loaded(Fixed):
        def values(self, experiment: str, metric: str, where: Any) -> dict[int, float]:
            found = super().values(experiment, metric, where)
            sign = -1 if where.get("load") == 2 else 1
            return {seed: sign * value for seed, value in found.items()}

    data = Loaded(DATA.numbers)
    rule = {"rule": "rank", "against": {"load": 2}, "where": {"load": 1}}
    # "b" is second of two, and first where all is turned round.
    assert outcome(data, **rule, terms=["a", "b"]).outcome == "differs"
    assert outcome(data, **rule, terms=["b", "a"]).outcome == "reproduced"


def test_the_distance_of_distributions_is_that_of_kolmogorov_and_smirnov() -> None:
    data = Data()
    fast = view(flow("ue1", finish_time_s=1.0), flow("ue1#2", finish_time_s=1.0))
    mixed = view(flow("ue1", finish_time_s=1.0), flow("ue1#2", finish_time_s=2.0))
    mixed.cell = 1
    cells: list[dict[str, Label]] = [{"routing": "a"}, {"routing": "b"}]
    data.runs["e"] = Runs(Results({}, None, {}), cells, [fast, mixed])
    rule = {"rule": "distance", "distribution": "flow_goodput", "terms": ["a", "b"]}
    assert outcome(data, **rule, low=0.5, high=0.5).outcome == "reproduced"
    assert outcome(data, **rule, low=0.6).outcome == "differs"
    assert outcome(data, **{**rule, "terms": ["a", "nobody"]}).outcome == "unknown"


@pytest.mark.parametrize(
    ("kind", "metric"),
    [
        ("panels", ["window", "threshold", "queue", "delay", "goodput", "delivered", "mcs"]),
        ("ecdf", ["flow_goodput", "queue@0-5"]),
        ("density", "in_flight@0-5"),
        ("bins", "filled"),
        ("drops", "drops_per_flow"),
    ],
)
def test_every_form_over_time_draws_what_it_was_asked_for(kind: str, metric: Any) -> None:
    runs = Runs(Results({}, None, {}), [{"cc": "reno"}], [view(flow("ue1", finish_time_s=2.0))])
    spec = FigureSpec("fig", "A figure", kind, "e", {"by": "cc", "metric": metric})
    drawn = curves.FORMS[kind](spec, runs)
    assert len(drawn) == (2 if kind == "ecdf" else 1)
    for one in drawn:
        assert one.png.startswith(b"\x89PNG")
        assert "reno" in one.csv
        assert "nan" not in one.csv
