"""Metrics over an interval of a run, and of its radio.

``goodput@20-40`` is the goodput from 20 s to 40 s, ``goodput`` that of the whole run. They cover
the flows whose window was recorded, and the UEs at their ends. The number after the ``@`` of
``reach`` is a rate in Mbit/s, after that of ``filled`` a range of MCSs.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from backlane.stats import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backlane.studies.view import RunView, Samples

SUSTAINED_S = 1.0
"""A rate is reached when it holds for this time."""
FIFTHS = 5
BIN_S = 0.5
"""The mean MCS, which selects the bin, is taken over this time: dozens of fades, a few metres."""
FULL = 0.9
"""A bin is in full use from this share of its capacity on."""
SETTLED_S = 1.5
"""Time after a first loss: the window has been reduced, and has not grown much."""

BLOCK_BITS = (
    2792, 3624, 4584, 5736, 7224, 8760, 10_296, 12_216, 14_112, 15_840, 15_840, 17_568, 19_848,
    22_920, 25_456, 28_336, 30_576, 30_576, 32_856, 36_696, 39_232, 43_816, 46_888, 51_024,
    55_056, 57_336, 61_664, 63_776, 75_376,
)  # fmt: skip
"""Transport block over 100 resource blocks by MCS, in bits (TS 36.213 §7.1.7)."""

Span = tuple[float, float]


def mean(values: Sequence[float]) -> float:
    """The mean of the known values; NaN without any."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def at(samples: Samples, time_s: float) -> float:
    """The last value at or before a time; 0 before the first."""
    times, values = samples
    index = bisect_right(times, time_s + 1e-9)
    return values[index - 1] if index else 0.0


def within(samples: Samples, span: Span) -> list[float]:
    """The values in (begin, end]."""
    times, values = samples
    first, last = (bisect_right(times, end + 1e-9) for end in span)
    return list(values[first:last])


def _rise(view: RunView, column: str, span: Span) -> list[float]:
    """The increase of a counter of each recorded flow."""
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
    """PDCP delay of downlink packets, mean over the samples with deliveries."""
    return mean(_radio(view, "pdcp_delay_s", span))


def delay_max_s(view: RunView, span: Span) -> float:
    """The longest PDCP delay; each sample is the mean over one recording interval."""
    return max(_radio(view, "pdcp_delay_s", span), default=math.nan)


def counted(view: RunView, column: str) -> float:
    """The mean of a counter over the TCP flows."""
    known = (flow.get(column) for flow in view.flows)
    return mean([float(value) for value in known if value is not None])


def in_flight_pkts(view: RunView, span: Span) -> list[float]:
    """Packets in flight at each sample of each flow."""
    flows = view.entities("cwnd")
    return [
        value
        for flow in flows
        for value in within(view.samples("cwnd", flow, "in_flight_pkts"), span)
    ]


def window_rise(view: RunView, span: Span) -> float:
    """The largest window of an interval over that at its start, mean over flows."""
    found = []
    for window in view.windows.values():
        first, then = at(window, span[0]), within(window, span)
        if first and then:
            found.append(max(then) / first)
    return mean(found)


def reach_s(view: RunView, rate_bps: float) -> float:
    """Time from the start of a flow until its goodput holds a rate for a second; mean over flows.

    Each fifth of the second must have the rate, since data that is delivered at once when a hole is
    filled is not a rate. A flow that never reaches it counts with its whole time.
    """
    found = []
    starts = {flow["flow"]: float(flow["start_s"]) for flow in view.flows}
    for flow in view.entities("cwnd"):
        samples = view.samples("cwnd", flow, "delivered_bytes")
        start_s, times = starts.get(flow, 0.0), samples[0]
        last_s = times[-1] if times else math.nan
        began = (t for t in [start_s, *times] if t >= start_s and _holds(samples, t, rate_bps))
        found.append(next(began, last_s) - start_s)
    return mean(found)


def _holds(samples: Samples, begin_s: float, rate_bps: float) -> bool:
    step_s = SUSTAINED_S / FIFTHS
    if not samples[0] or begin_s + SUSTAINED_S > samples[0][-1] + 1e-9:
        return False
    marks = [at(samples, begin_s + step * step_s) for step in range(FIFTHS + 1)]
    # A tolerance of 0.1 % for samples that are not at the marks.
    return all(b - a >= 0.999 * rate_bps * step_s / 8 for a, b in pairwise(marks))


def _block_bits(mcs: float) -> float:
    """A transport block over all 100 resource blocks, interpolated between MCSs."""
    low = min(int(mcs), len(BLOCK_BITS) - 2)
    share = mcs - low
    return BLOCK_BITS[low] * (1 - share) + BLOCK_BITS[low + 1] * share


def bins(view: RunView) -> dict[int, tuple[float, float]]:
    """Bytes achieved and available by bins of the mean MCS: 28 holds 27 to 29, 26 holds 25 to 27.

    Available is the size of a block over a whole carrier of 20 MHz at the mean MCS in each TTI
    without a HARQ retransmission, with or without backlog. The bins are in the order of the UE's
    passage.
    """
    found: dict[int, tuple[float, float]] = {}
    for ue in view.watched_ues:
        used = view.samples("radio", ue, "used_bytes")
        repeated = view.samples("radio", ue, "harq_retransmissions")
        groups: dict[int, list[float]] = {}
        for time_s, mcs in zip(*view.samples("radio", ue, "mcs"), strict=True):
            groups.setdefault(math.ceil(time_s / BIN_S - 1e-9), []).append(mcs)
        for group, values in groups.items():
            mcs = mean(values)
            middle = 2 * math.floor((mcs + 1) / 2)
            span = ((group - 1) * BIN_S, group * BIN_S)
            ttis = BIN_S * 1e3 - math.fsum(within(repeated, span))
            before = found.get(middle, (0.0, 0.0))
            found[middle] = (
                before[0] + math.fsum(within(used, span)),
                before[1] + ttis * _block_bits(mcs) / 8,
            )
    return found


def filled(view: RunView, low: float, high: float) -> float:
    """Bytes achieved over bytes available, mean over the bins of MCS from `low` to `high`."""
    found = bins(view)
    return mean([a / b for middle, (a, b) in found.items() if low <= middle <= high and b > 0])


def first_full_mcs(view: RunView) -> float:
    """The bin in which nearly all that is available is first achieved; 0 when there is none."""
    found = bins(view)
    full = (middle for middle, (a, b) in found.items() if b > 0 and a / b >= FULL)
    return float(next(full, 0))


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
    """The window after the first loss and its recovery over that before."""
    ratios = []
    for flow in view.entities("cwnd"):
        times, sent_again = view.samples("cwnd", flow, "retransmits")
        lost_s = next((t for t, count in zip(times, sent_again, strict=True) if count > 0), None)
        if lost_s is None:
            continue
        before = within(view.samples("cwnd", flow, "cwnd_pkts"), (lost_s - 1.0, lost_s))
        after = at(view.samples("cwnd", flow, "cwnd_pkts"), lost_s + SETTLED_S)
        if before and after:
            ratios.append(after / max(before))
    return mean(ratios)


def drops_per_flow(view: RunView) -> float:
    """Packets of a finished flow that did not arrive, mean over flows."""
    return mean([lost_pkts(flow) for flow in finished(view)])


def finished(view: RunView) -> list[dict[str, Any]]:
    """The observed TCP flows that finished."""
    return [flow for flow in observed(view) if flow["finish_time_s"] is not None]


def observed(view: RunView) -> list[dict[str, Any]]:
    """All TCP flows of the UEs at an end of those whose window was recorded, one after another.

    Where no radio was recorded, the flows whose window was.
    """
    ues = set(view.watched_ues)
    ends = [{str(flow["source"]), str(flow["destination"])} & ues for flow in view.flows]
    return [flow for flow, at in zip(view.flows, ends, strict=True) if at] or view.watched


def finished_goodput_bps(view: RunView) -> float:
    """Goodput of an observed flow that finished, mean over flows."""
    rates = [flow["goodput_bps"] for flow in finished(view)]
    return mean([float(rate) for rate in rates if rate is not None])


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
    sizes = [float(flow["size_bytes"]) for flow in observed(view) if flow["size_bytes"] is not None]
    return percentile(sizes, 90) if sizes else math.nan


def udp_goodput_bps(view: RunView) -> float:
    """Payload of UDP delivered to UEs, as a rate over the active time of its source."""
    rates = [
        float(flow["goodput_bps"])
        for flow in view.udp
        if flow["goodput_bps"] is not None and str(flow["destination"]).startswith("ue")
    ]
    return math.fsum(rates) if rates else math.nan


OVER_TIME: dict[str, tuple[str, float, str, Callable[[RunView, Span], float]]] = {
    "goodput": ("Mbit/s", 1e-6, "goodput", goodput_bps),
    "sent": ("segments", 1, "segments sent", sent_segments),
    "dupacks": ("per s", 1, "duplicate acknowledgments", duplicate_acks_per_s),
    "queue": ("packets", 1, "mean queue at the eNodeB", queue_pkts),
    "queue_median": ("packets", 1, "median queue at the eNodeB", queue_median_pkts),
    "delay": ("ms", 1e3, "mean PDCP delay", delay_s),
    "window_rise": ("", 1, "largest window over the first", window_rise),
    "delay_max": ("ms", 1e3, "longest PDCP delay", delay_max_s),
}
"""By name: unit, scale from SI, words, and the number between two times."""

PLAIN: dict[str, tuple[str, float, str, Callable[[RunView], float]]] = {
    "first_full": ("", 1, "first bin of MCS that is used to 90 %", first_full_mcs),
    "exit_window": ("packets", 1, "window at the end of slow start", exit_window_pkts),
    "exit_by_delay": ("%", 100, "slow starts ended by a rising delay", exit_by_delay),
    "first_cut": ("", 1, "window after the first loss over that before", first_cut),
    "drops_per_flow": ("packets", 1, "packets dropped of a flow", drops_per_flow),
    "finished_goodput": ("Mbit/s", 1e-6, "mean goodput of a flow", finished_goodput_bps),
    "rtt_rise": ("", 1, "mean RTT over the smallest", rtt_rise),
    "size_p90": ("kB", 1e-3, "size below which 90 % of the flows are", size_p90_bytes),
    "udp_goodput": ("Mbit/s", 1e-6, "payload of UDP that arrived at UEs", udp_goodput_bps),
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
"""Samples of one run by name, for distances between distributions."""
