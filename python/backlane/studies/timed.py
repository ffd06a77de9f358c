"""Numbers of a run over a stretch of its time, and of its radio.

``goodput@20-40`` is the goodput from 20 s to 40 s, ``goodput`` that of the whole run. What is
looked at are the flows whose window was recorded, and the UEs at their ends. A number after the
``@`` of ``reach`` is a rate in Mbit/s, after that of ``filled`` a range of MCSs.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from backlane.stats import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backlane.studies.view import RunView, Samples

SUSTAINED_S = 1.0
"""A rate is reached when it holds for so long."""
BIN_S = 0.5
"""The mean MCS that decides the bin is taken over so long: dozens of fades, metres of way."""
FULL = 0.9
"""A bin whose capacity is used to this share is used fully."""
SETTLED_S = 1.5
"""So long after a first loss its recovery is over and the next has not come."""

Span = tuple[float, float]


def mean(values: Sequence[float]) -> float:
    """The mean of what is known; NaN of nothing."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def at(samples: Samples, time_s: float) -> float:
    """The last value until a time; 0 before the first."""
    times, values = samples
    index = bisect_right(times, time_s + 1e-9)
    return values[index - 1] if index else 0.0


def within(samples: Samples, span: Span) -> list[float]:
    """The values in (begin, end]."""
    times, values = samples
    return values[bisect_right(times, span[0] + 1e-9) : bisect_right(times, span[1] + 1e-9)]


def _rise(view: RunView, column: str, span: Span) -> list[float]:
    """How much a counter of each recorded flow rose."""
    counters = [view.samples("cwnd", flow, column) for flow in view.entities("cwnd")]
    return [at(counter, span[1]) - at(counter, span[0]) for counter in counters]


def goodput_bps(view: RunView, span: Span) -> float:
    """Bytes that arrived in order, as a rate, mean over flows."""
    return mean(_rise(view, "delivered_bytes", span)) * 8 / (span[1] - span[0])


def sent_segments(view: RunView, span: Span) -> float:
    """Segments sent by all flows."""
    rises = _rise(view, "segments_sent", span)
    return math.fsum(rises) if rises else math.nan


def duplicate_acks_per_s(view: RunView, span: Span) -> float:
    """Duplicate acknowledgments, mean over flows."""
    return mean(_rise(view, "duplicate_acks", span)) / (span[1] - span[0])


def _radio(view: RunView, column: str, span: Span) -> list[float]:
    return [
        value
        for ue in view.watched_ues
        for value in within(view.samples("radio", ue, column), span)
    ]


def queue_pkts(view: RunView, span: Span) -> float:
    """Packets in the eNodeB's queue for the UE, mean over the samples."""
    return mean(_radio(view, "queue_pkts", span))


def queue_median_pkts(view: RunView, span: Span) -> float:
    """The same, median."""
    found = _radio(view, "queue_pkts", span)
    return percentile(found, 50) if found else math.nan


def delay_s(view: RunView, span: Span) -> float:
    """PDCP delay of downlink packets, mean over the samples in which some came out."""
    return mean(_radio(view, "pdcp_delay_s", span))


def delay_max_s(view: RunView, span: Span) -> float:
    """The longest PDCP delay."""
    return max(_radio(view, "pdcp_delay_max_s", span), default=math.nan)


def in_flight_pkts(view: RunView, span: Span) -> list[float]:
    """Packets in flight at each sample of each flow."""
    flows = view.entities("cwnd")
    return [
        value
        for flow in flows
        for value in within(view.samples("cwnd", flow, "in_flight_pkts"), span)
    ]


def reach_s(view: RunView, rate_bps: float) -> float:
    """When goodput first holds a rate for a second, from the start of the flow; mean over flows.

    What never does counts with the time that it had.
    """
    found = []
    starts = {flow["flow"]: float(flow["start_s"]) for flow in view.flows}
    for flow in view.entities("cwnd"):
        samples = view.samples("cwnd", flow, "delivered_bytes")
        start_s, times = starts.get(flow, 0.0), samples[0]
        needed = rate_bps * SUSTAINED_S / 8
        ends = (
            t for t, value in zip(*samples, strict=True)
            if t - start_s >= SUSTAINED_S and value - at(samples, t - SUSTAINED_S) >= needed
        )  # fmt: skip
        last_s = times[-1] if times else math.nan
        found.append(next(ends, last_s + SUSTAINED_S) - SUSTAINED_S - start_s)
    return mean(found)


def bins(view: RunView, span: Span = (0.0, math.inf)) -> dict[int, tuple[float, float]]:
    """Bytes used and bytes granted by bins of the mean MCS: 28 holds 27 to 29, 26 holds 25 to 27.

    In the order in which the UE came through them.
    """
    found: dict[int, tuple[float, float]] = {}
    for ue in view.watched_ues:
        times, mcs = view.samples("radio", ue, "mcs")
        used = dict(zip(*view.samples("radio", ue, "used_bytes"), strict=True))
        granted = dict(zip(*view.samples("radio", ue, "granted_bytes"), strict=True))
        groups: dict[int, list[tuple[float, float]]] = {}
        for time_s, value in zip(times, mcs, strict=True):
            if span[0] < time_s <= span[1] and not math.isnan(value):
                groups.setdefault(math.ceil(time_s / BIN_S - 1e-9), []).append((time_s, value))
        for group in groups.values():
            middle = 2 * math.floor((mean([value for _, value in group]) + 1) / 2)
            before = found.get(middle, (0.0, 0.0))
            found[middle] = (
                before[0] + math.fsum(used.get(t, 0.0) for t, _ in group),
                before[1] + math.fsum(granted.get(t, 0.0) for t, _ in group),
            )
    return found


def filled(view: RunView, low: float, high: float) -> float:
    """Bytes used over bytes granted, mean over the bins of MCS from `low` to `high`."""
    found = bins(view)
    return mean([u / g for b, (u, g) in found.items() if low <= b <= high and g > 0])


def first_full_mcs(view: RunView) -> float:
    """The bin in which nearly all that is granted is first used; 0 when there is none."""
    found = bins(view)
    return next((float(b) for b, (u, g) in found.items() if g > 0 and u / g >= FULL), 0.0)


def _exits(view: RunView, column: str) -> list[Any]:
    return [flow[column] for flow in view.watched if flow.get("slow_start_exit") is not None]


def exit_window_pkts(view: RunView) -> float:
    """The window at which slow start ended."""
    return mean([float(value) for value in _exits(view, "slow_start_exit_pkts")])


def exit_by_delay(view: RunView) -> float:
    """The share of slow starts that a rising delay ended."""
    causes = _exits(view, "slow_start_exit")
    return causes.count("delay") / len(causes) if causes else math.nan


def first_cut(view: RunView) -> float:
    """What the first loss leaves of the window: the threshold after it over the window before."""
    ratios = []
    for flow in view.entities("cwnd"):
        times, sent_again = view.samples("cwnd", flow, "retransmits")
        lost_s = next((t for t, count in zip(times, sent_again, strict=True) if count > 0), None)
        if lost_s is None:
            continue
        before = within(view.samples("cwnd", flow, "cwnd_pkts"), (lost_s - 1.0, lost_s))
        after = at(view.samples("cwnd", flow, "ssthresh_pkts"), lost_s + SETTLED_S)
        if before and after:
            ratios.append(after / max(before))
    return mean(ratios)


def drops_per_flow(view: RunView) -> float:
    """Packets of a finished flow that did not arrive, mean over flows."""
    return mean([lost_pkts(flow) for flow in finished(view)])


def finished(view: RunView) -> list[dict[str, Any]]:
    """The TCP flows that finished."""
    return [flow for flow in view.flows if flow["finish_time_s"] is not None]


def lost_pkts(flow: dict[str, Any]) -> float:
    """Packets that left the source and did not arrive."""
    return float(max(int(flow["packets_sent"]) - int(flow["packets_received"]), 0))


def rtt_rise(view: RunView) -> float:
    """Mean RTT over the smallest, mean over flows."""
    known = [
        float(flow["rtt_mean_s"]) / float(flow["rtt_min_s"])
        for flow in view.watched
        if flow["rtt_mean_s"] is not None and flow["rtt_min_s"]
    ]
    return mean(known)


def size_p90_bytes(view: RunView) -> float:
    """The size below which 90 % of the flows are."""
    sizes = [float(flow["size_bytes"]) for flow in view.flows if flow["size_bytes"] is not None]
    return percentile(sizes, 90) if sizes else math.nan


def udp_goodput_bps(view: RunView) -> float:
    """Payload of UDP that arrived, as a rate over the time that its source was on, all flows."""
    rates = [float(flow["goodput_bps"]) for flow in view.udp if flow["goodput_bps"] is not None]
    return math.fsum(rates) if rates else math.nan


OVER_TIME: dict[str, tuple[str, float, str, Callable[[RunView, Span], float]]] = {
    "goodput": ("Mbit/s", 1e-6, "goodput", goodput_bps),
    "sent": ("segments", 1, "segments sent", sent_segments),
    "dupacks": ("per s", 1, "duplicate acknowledgments", duplicate_acks_per_s),
    "queue": ("packets", 1, "mean queue at the eNodeB", queue_pkts),
    "queue_median": ("packets", 1, "median queue at the eNodeB", queue_median_pkts),
    "delay": ("ms", 1e3, "mean PDCP delay", delay_s),
    "delay_max": ("ms", 1e3, "longest PDCP delay", delay_max_s),
}
"""By name: unit, scale from SI, words, and the number between two times."""

PLAIN: dict[str, tuple[str, float, str, Callable[[RunView], float]]] = {
    "first_full": ("", 1, "first bin of MCS that is used to 90 %", first_full_mcs),
    "exit_window": ("packets", 1, "window at the end of slow start", exit_window_pkts),
    "exit_by_delay": ("%", 100, "slow starts ended by a rising delay", exit_by_delay),
    "first_cut": ("", 1, "window after the first loss over that before", first_cut),
    "drops_per_flow": ("packets", 1, "packets dropped of a flow", drops_per_flow),
    "rtt_rise": ("", 1, "mean RTT over the smallest", rtt_rise),
    "size_p90": ("kB", 1e-3, "size below which 90 % of the flows are", size_p90_bytes),
    "udp_goodput": ("Mbit/s", 1e-6, "payload of UDP that arrived", udp_goodput_bps),
}
"""The same for a whole run."""


def flow_goodputs_bps(view: RunView, _span: Span) -> list[float]:
    """Size over finish time of each finished flow."""
    return [
        float(flow["size_bytes"]) * 8 / float(flow["finish_time_s"])
        for flow in finished(view)
        if flow["size_bytes"] is not None
    ]


DISTRIBUTIONS: dict[str, tuple[str, float, str, Callable[[RunView, Span], list[float]]]] = {
    "flow_goodput": ("Mbit/s", 1e-6, "throughput of a flow", flow_goodputs_bps),
    "queue": ("packets", 1, "queue at the eNodeB", lambda v, s: _radio(v, "queue_pkts", s)),
    "in_flight": ("packets", 1, "packets in flight", in_flight_pkts),
}
"""Many values of one run: what distances between distributions are taken of."""
