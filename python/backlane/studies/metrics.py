"""Numbers of a run by name: what claims and figures are written in.

Each is one number per run; means over seeds and intervals come later. A number that a run does
not have (no flow of that kind, no series recorded) is NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from backlane.measures import FlowMeasures, measure
from backlane.stats import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backlane.results import Results

CUT = 0.85
"""A window that falls below this share of its last peak has been cut."""


@dataclass
class RunView:
    """One run, opened for measuring.

    Attributes:
        run_id: of the run.
        cell: its index in the plan.
        seed: its seed.
        run: its row of ``runs``.
        flows: the TCP flows.
        udp: the UDP flows.
        links: all link directions.
        backhaul: names of eNodeBs and gateways.
        measures: the statistics over the TCP flows.
        windows: the recorded congestion window of each flow: times in s, packets.
    """

    run_id: str
    cell: int
    seed: int
    run: dict[str, Any]
    flows: list[dict[str, Any]]
    udp: list[dict[str, Any]]
    links: list[dict[str, Any]]
    backhaul: set[str]
    measures: FlowMeasures
    windows: dict[str, tuple[list[float], list[float]]]


@dataclass(frozen=True)
class Metric:
    """A number of a run.

    Attributes:
        unit: for axes and tables; empty for a ratio.
        scale: from SI to the unit.
        words: what it is.
        of: takes it from a run.
    """

    unit: str
    scale: float
    words: str
    of: Callable[[RunView], float]

    def text(self, value: float) -> str:
        """A value with its unit."""
        if math.isnan(value):
            return "–"
        shown = value * self.scale
        digits = f"{shown:.3g}" if abs(shown) < 1000 else f"{shown:,.0f}".replace(",", " ")
        return f"{digits} {self.unit}".strip()


def _width_s(view: RunView) -> float:
    stick = view.measures.finish_time_s
    return stick.p80 - stick.p20


def _loss_events(view: RunView) -> float:
    if not view.measures.flows:
        return math.nan
    return (view.measures.fast_retransmits + view.measures.rtos) / view.measures.flows


def _silence(view: RunView) -> float:
    known = [f["longest_silence_s"] for f in view.flows if f["longest_silence_s"] is not None]
    return math.fsum(known) / len(known) if known else math.nan


def _udp_delivery(view: RunView) -> float:
    sent = sum(int(flow["segments_sent"] or 0) for flow in view.udp)
    got = sum(int(flow["packets_received"] or 0) for flow in view.udp)
    return got / sent if sent else math.nan


def _backhaul_drops(view: RunView) -> float:
    inside = [
        link for link in view.links if link["from"] in view.backhaul and link["to"] in view.backhaul
    ]
    packets = sum(int(link["packets"] or 0) for link in inside)
    return sum(int(link["drops"] or 0) for link in inside) / packets if packets else math.nan


def _needless(view: RunView) -> float:
    sent = view.measures.retransmits
    return view.measures.spurious_retransmits / sent if sent else math.nan


def _window_mean_pkts(view: RunView) -> float:
    means = [math.fsum(w) / len(w) for _, w in view.windows.values() if w]
    return math.fsum(means) / len(means) if means else math.nan


def _window_max_bytes(view: RunView) -> float:
    largest = [max(w) for _, w in view.windows.values() if w]
    # Flows of one run have the same segment size: bytes over packets of the first.
    sizes = [
        float(flow["size_bytes"]) / max(int(flow["segments_sent"]) - int(flow["retransmits"]), 1)
        for flow in view.flows[:1]
        if flow["size_bytes"]
    ]
    if not largest or not sizes:
        return math.nan
    return percentile(largest, 50) * sizes[0]


def peaks(window: Sequence[float]) -> list[float]:
    """The largest window before each cut."""
    found, peak = [], 0.0
    for before, after in pairwise(window):
        peak = max(peak, before)
        if after < CUT * peak:
            found.append(peak)
            peak = after
    return found


def _peak_variation(view: RunView) -> float:
    """Standard deviation of the peaks over their mean, for flows with three cuts and more."""
    ratios = []
    for _, window in view.windows.values():
        levels = peaks(window)
        if len(levels) >= 3:
            mean = math.fsum(levels) / len(levels)
            variance = math.fsum((level - mean) ** 2 for level in levels) / (len(levels) - 1)
            ratios.append(math.sqrt(variance) / mean)
    return math.fsum(ratios) / len(ratios) if ratios else math.nan


METRICS: dict[str, Metric] = {
    "finish_mean": Metric(
        "s", 1, "mean finish time; of an unfinished flow, the time that it had",
        lambda v: v.measures.ranking_s),
    "finish_max": Metric("s", 1, "longest finish time", lambda v: v.measures.finish_time_s.maximum),
    "finish_width": Metric("s", 1, "width P80 − P20 of the finish times", _width_s),
    "unfinished": Metric("", 1, "flows that did not finish",
                         lambda v: float(len(v.measures.unfinished))),
    "jain": Metric("", 1, "Jain's index of goodput", lambda v: v.measures.jain),
    "rtt_mean": Metric("ms", 1e3, "mean over flows of the mean RTT",
                       lambda v: v.measures.rtt_s.mean),
    "goodput_mean": Metric("Mbit/s", 1e-6, "mean goodput of a flow",
                           lambda v: v.measures.goodput_bps),
    "reordered": Metric("%", 100, "packets that arrived reordered (RFC 4737)",
                        lambda v: v.measures.reordered_ratio),
    "loss_events": Metric("per flow", 1, "fast retransmits and timeouts", _loss_events),
    "hops_mean": Metric("", 1, "mean hops of a packet", lambda v: v.measures.hops_mean),
    "path_changes": Metric(
        "per flow", 1, "changes of path",
        lambda v: v.measures.path_changes / v.measures.flows if v.measures.flows else math.nan),
    "silence": Metric("s", 1, "longest time in which nothing arrives, mean over flows", _silence),
    "udp_delivery": Metric("%", 100, "UDP packets delivered", _udp_delivery),
    "backhaul_drops": Metric("%", 100, "packets dropped in backhaul queues", _backhaul_drops),
    "needless": Metric("%", 100, "retransmissions that were not needed (reported as duplicates)",
                       _needless),
    "window_mean": Metric("packets", 1, "mean congestion window", _window_mean_pkts),
    "window_max": Metric("kB", 1e-3, "largest congestion window, median flow", _window_max_bytes),
    "peak_variation": Metric("", 1, "variation of the window at cuts", _peak_variation),
}  # fmt: skip
"""Every metric by its name."""

STICKS: dict[str, tuple[str, Callable[[FlowMeasures], Any]]] = {
    "finish": ("finish time in s", lambda m: m.finish_time_s),
    "rtt": ("mean RTT of a flow in ms", lambda m: m.rtt_s),
}
"""Distributions over flows that can be drawn as candlesticks: axis label, five numbers."""


def views(results: Results) -> list[RunView]:
    """Open every run of a results folder."""
    flows = _by_run(results, "flows")
    links = _by_run(results, "links")
    nodes = _by_run(results, "nodes")
    windows = _windows(results)
    found = []
    for row in results.runs.iter_rows(named=True):
        run_id = row["run_id"]
        tcp = [flow for flow in flows.get(run_id, []) if flow["congestion_control"] is not None]
        udp = [flow for flow in flows.get(run_id, []) if flow["congestion_control"] is None]
        found.append(
            RunView(
                run_id=run_id,
                cell=int(row["cell"]),
                seed=int(row["seed"]),
                run=row,
                flows=tcp,
                udp=udp,
                links=links.get(run_id, []),
                backhaul={
                    node["id"]
                    for node in nodes.get(run_id, [])
                    if node["kind"] in ("enodeb", "epc")
                },
                measures=measure(tcp, float(row["simulated_s"])),
                windows=windows.get(run_id, {}),
            )
        )
    return found


def _by_run(results: Results, table: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in results.table(table).iter_rows(named=True):
        groups.setdefault(row["run_id"], []).append(row)
    return groups


def _windows(results: Results) -> dict[str, dict[str, tuple[list[float], list[float]]]]:
    if "cwnd" not in results.series:
        return {}
    found: dict[str, dict[str, tuple[list[float], list[float]]]] = {}
    series = results.scan("series/cwnd").select("run_id", "entity", "time_s", "cwnd_pkts").collect()
    for run_id, entity, time_s, pkts in series.iter_rows():
        if pkts is None:
            continue
        times, window = found.setdefault(run_id, {}).setdefault(entity, ([], []))
        times.append(float(time_s))
        window.append(float(pkts))
    return found
