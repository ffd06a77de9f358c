"""The measures of a run: statistics over its flows.

**Unfinished flows.** A flow with a size that has not finished when the run ends has no finish time.
It is counted and named wherever finish times are shown, and the mean, percentiles and extremes are
those of the finished flows. For *ranking*, where leaving it out would reward a routing that starves
a flow, it counts with the time from its start to the end of the run, a lower bound of its finish
time. A mean that contains such a bound is marked "≥".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane.stats import Candlestick, candlestick, jain, percentile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True)
class FlowMeasures:
    """Statistics over a set of flows of one run.

    Attributes:
        flows: how many.
        finite: flows with a size, which can finish.
        unfinished: names of finite flows that did not.
        finish_time_s: over the finished flows.
        ranking_s: mean finish time with bounds for unfinished flows; NaN without finite flows.
        ranking_p95_s: the 95th percentile of the same times.
        rtt_s: over the mean RTT of each flow that has samples.
        rtt_in_order_s: the same of samples at acknowledgments that advance, of data in order.
        goodput_bps: mean over flows, each over its own active time. The sum of these over flows
            that are active at different times may exceed the rate of a link that they share.
        least_goodput_bps: the smallest of them.
        each_goodput_bps: over the flows.
        delivered_bps: sum over flows of the bytes delivered, over the time of the run: never more
            than the network carries.
        jain: Jain's index of goodput over the finite flows, or over all when none is finite.
        retransmits: segments sent again, all flows.
        fast_retransmits: entries of fast recovery, all flows.
        rtos: retransmission timeouts, all flows.
        spurious_retransmits: needless retransmissions, all flows.
        segments_sent: all flows.
        reordered_ratio: mean over flows.
        hops_mean: mean over flows.
        path_changes: all flows.
    """

    flows: int
    finite: int
    unfinished: list[str]
    finish_time_s: Candlestick
    ranking_s: float
    ranking_p95_s: float
    rtt_s: Candlestick
    rtt_in_order_s: Candlestick
    goodput_bps: float
    least_goodput_bps: float
    each_goodput_bps: Candlestick
    delivered_bps: float
    jain: float
    retransmits: int
    fast_retransmits: int
    rtos: int
    spurious_retransmits: int
    segments_sent: int
    reordered_ratio: float
    hops_mean: float
    path_changes: int


def measure(rows: Iterable[Mapping[str, Any]], traffic_s: float) -> FlowMeasures:
    """Statistics over flows.

    Args:
        rows: flows of one run, as in ``flows.parquet``.
        traffic_s: when the run ended, on the clock of the flows: counted from the warm-up.
    """
    flows = list(rows)
    finite = [flow for flow in flows if flow.get("size_bytes") is not None]
    finished = [float(f["finish_time_s"]) for f in finite if f.get("finish_time_s") is not None]
    unfinished = [flow for flow in finite if flow.get("finish_time_s") is None]
    bounds = [max(traffic_s - float(flow.get("start_s") or 0.0), 0.0) for flow in unfinished]
    fair = finite or flows
    goodputs = [goodput_bps(flow, traffic_s) for flow in flows]
    return FlowMeasures(
        flows=len(flows),
        finite=len(finite),
        unfinished=[str(flow.get("flow")) for flow in unfinished],
        finish_time_s=candlestick(finished),
        ranking_s=_mean(finished + bounds),
        ranking_p95_s=percentile(finished + bounds, 95),
        rtt_s=candlestick(_known(flows, "rtt_mean_s")),
        rtt_in_order_s=candlestick(_known(flows, "rtt_in_order_mean_s")),
        goodput_bps=_mean(goodputs),
        least_goodput_bps=min(goodputs, default=math.nan),
        each_goodput_bps=candlestick(goodputs),
        delivered_bps=_delivered_bps(flows, traffic_s),
        jain=jain([goodput_bps(flow, traffic_s) for flow in fair]),
        retransmits=_total(flows, "retransmits"),
        fast_retransmits=_total(flows, "fast_retransmits"),
        rtos=_total(flows, "rtos"),
        spurious_retransmits=_total(flows, "spurious_retransmits"),
        segments_sent=_total(flows, "segments_sent"),
        reordered_ratio=_mean(_known(flows, "reordered_ratio")),
        hops_mean=_mean(_known(flows, "hops_mean")),
        path_changes=_total(flows, "path_changes"),
    )


def by_control(flows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The flows over TCP by their congestion control; empty unless there are several."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for flow in flows:
        if flow.get("congestion_control") is not None:
            groups.setdefault(str(flow["congestion_control"]), []).append(flow)
    return groups if len(groups) > 1 else {}


def goodput_bps(flow: Mapping[str, Any], traffic_s: float) -> float:
    """Application bits per second of one flow; of an unfinished one over its active time."""
    value = flow.get("goodput_bps")
    if value is not None:
        return float(value)
    active_s = traffic_s - float(flow.get("start_s") or 0.0)
    return float(flow.get("delivered_bytes") or 0) * 8 / active_s if active_s > 0 else 0.0


def _delivered_bps(flows: Sequence[Mapping[str, Any]], traffic_s: float) -> float:
    total_bytes = sum(int(flow.get("delivered_bytes") or 0) for flow in flows)
    return total_bytes * 8 / traffic_s if traffic_s > 0 else math.nan


def _known(rows: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    values = (row.get(name) for row in rows)
    return [float(value) for value in values if value is not None and not math.isnan(value)]


def _total(rows: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(int(row.get(name) or 0) for row in rows)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
