"""Metrics by name, for claims and figures.

Each is one number per run; means over seeds and intervals are computed from them. A metric that a
run does not have (no flow of that kind, no series recorded) is NaN. Some names take an interval of
time or another number, as ``goodput@20-40``; `find` resolves every name.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from backlane import plugins
from backlane.errors import BacklaneError
from backlane.stats import percentile
from backlane.studies import bounded, mesh, reordering, shares, slots, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backlane.measures import FlowMeasures
    from backlane.studies.view import RunView

CUT = 0.85
"""A window below this share of its last peak has been cut."""


@dataclass(frozen=True)
class Metric:
    """A metric of a run.

    Attributes:
        unit: for axes and tables; empty for a ratio.
        scale: from SI to the unit.
        words: its description.
        of: computes it from a run.
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
    """Over the samples of the recorded flows, or else from the counters of the flows."""
    if not view.windows:
        return timed.counted(view, "cwnd_mean_pkts")
    means = [math.fsum(w) / len(w) for _, w in view.windows.values() if w]
    return math.fsum(means) / len(means) if means else math.nan


def _window_of_pkts(view: RunView, number: float) -> float:
    """Of the recorded flow of a UE."""
    _, window = view.windows.get(f"ue{number:g}", ([], []))
    return timed.mean(window)


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
    """Standard deviation of the peaks over their mean, for flows with at least three cuts."""
    ratios = []
    for _, window in view.windows.values():
        levels = peaks(window)
        if len(levels) >= 3:
            mean = math.fsum(levels) / len(levels)
            variance = math.fsum((level - mean) ** 2 for level in levels) / (len(levels) - 1)
            ratios.append(math.sqrt(variance) / mean)
    return math.fsum(ratios) / len(ratios) if ratios else math.nan


def _rtt_in_order_s(view: RunView) -> float:
    known = [flow["rtt_in_order_mean_s"] for flow in view.flows]
    return timed.mean([float(rtt_s) for rtt_s in known if rtt_s is not None])


METRICS: dict[str, Metric] = {
    "finish_mean": Metric(
        "s", 1, "mean finish time; of an unfinished flow, the time that it had",
        lambda v: v.measures.ranking_s),
    "finish_max": Metric("s", 1, "longest finish time", lambda v: v.measures.finish_time_s.maximum),
    "finish_width": Metric("s", 1, "width P80 − P20 of the finish times", _width_s),
    "first_byte": Metric(
        "s", 1, "mean time from a flow's start until its first data arrives",
        lambda v: timed.counted(v, "first_byte_time_s")),
    "unfinished": Metric("", 1, "flows that did not finish",
                         lambda v: float(len(v.measures.unfinished))),
    "jain": Metric("", 1, "Jain's index of goodput", lambda v: v.measures.jain),
    "rtt_mean": Metric("ms", 1e3, "mean over flows of the mean RTT",
                       lambda v: v.measures.rtt_s.mean),
    "rtt_in_order": Metric(
        "ms", 1e3, "mean over flows of the mean RTT at acknowledgments that advance, without data "
        "that was retransmitted or arrived out of order", _rtt_in_order_s),
    "delivered": Metric(
        "Mbit/s", 1e-6, "what all flows delivered together, over the time of the run",
        lambda v: v.measures.delivered_bps),
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
    "window_mean_all": Metric(
        "packets", 1, "mean congestion window while data was outstanding, all flows",
        lambda v: timed.counted(v, "cwnd_mean_pkts")),
    "window_max": Metric("kB", 1e-3, "largest congestion window, median flow", _window_max_bytes),
    "peak_variation": Metric("", 1, "variation of the window at cuts", _peak_variation),
    **{name: Metric(*found) for name, found in timed.PLAIN.items()},
    **{name: Metric(*found) for name, found in shares.PLAIN.items()},
    **{name: Metric(*found) for name, found in slots.PLAIN.items()},
    **{name: Metric(*found) for name, found in reordering.PLAIN.items()},
    **{name: Metric(*found) for name, found in mesh.PLAIN.items()},
    **{name: Metric(*found) for name, found in bounded.PLAIN.items()},
}  # fmt: skip
"""Every metric of a whole run by its name."""

_OF_A_UE: dict[str, tuple[str, float, str, Callable[[RunView, float], float]]] = {
    "window_of": ("packets", 1, "mean congestion window of ue{:g}", _window_of_pkts),
}
OF_A_NUMBER = {
    **_OF_A_UE,
    **shares.OF_A_FLOW,
    **slots.OF_A_FLOW,
    **mesh.OF_A_FLOW,
    **reordering.OF_A_DISPLACEMENT,
}
"""Metrics that take the number of a flow or a UE, or a displacement."""

_BUILT_IN = {*METRICS, *OF_A_NUMBER, *timed.OVER_TIME, "reach", "filled"}

WITH_NUMBERS = [*timed.OVER_TIME, "reach@", "filled@", *(f"{n}@" for n in OF_A_NUMBER)]
"""Names that take numbers after an ``@``, optional for those of `timed.OVER_TIME`."""


@cache
def find(name: str) -> Metric | None:
    """The metric of a name; None when there is none.

    Raises:
        BacklaneError: R028 when the metric of another package cannot be used.
    """
    if (plugin := plugins.load(plugins.METRICS, name, Metric, _BUILT_IN)) is not None:
        return _of_package(plugin)
    if name in METRICS:
        return METRICS[name]
    match = re.fullmatch(r"(\w+)(?:@(-?[0-9.]+)(?:-([0-9.]+))?)?", name)
    if match is None:
        return None
    base, low, high = match[1], _number(match[2]), _number(match[3])
    if base in timed.OVER_TIME and (low is None) == (high is None):
        unit, scale, words, of = timed.OVER_TIME[base]
        if low is None or high is None:
            return Metric(unit, scale, words, lambda v: of(v, (0.0, float(v.run["traffic_s"]))))
        words = f"{words} from {low:g} to {high:g} s"
        return Metric(unit, scale, words, lambda v: of(v, (low, high))) if low < high else None
    if base in OF_A_NUMBER and low is not None and high is None:
        unit, scale, words, of_number = OF_A_NUMBER[base]
        return Metric(unit, scale, words.format(low), lambda v: of_number(v, low))
    if base == "reach" and low is not None and high is None:
        return Metric("s", 1, f"time until {low:g} Mbit/s are held",
                      lambda v: timed.reach_s(v, low * 1e6))  # fmt: skip
    if base == "filled" and low is not None:
        top = low if high is None else high
        words = f"achieved of the available, MCS {low:g}" + ("" if high is None else f" to {top:g}")
        return Metric("%", 100, words, lambda v: timed.filled(v, low, top))
    return None


def _of_package(plugin: plugins.Plugin[Metric]) -> Metric:
    """A metric whose exceptions name the package."""

    def of(view: RunView) -> float:
        return plugin.call(lambda: float(plugin.value.of(view)))

    return replace(plugin.value, of=of)


def get(name: str) -> Metric:
    """The metric of a name that was checked."""
    found = find(name)
    if found is None:
        raise KeyError(name)
    return found


def require(name: str, place: str) -> Metric:
    """The metric of a name.

    Raises:
        BacklaneError: R022 when there is none, R028 when that of another package cannot be used.
    """
    found = find(name)
    if found is None:
        known = ", ".join([*METRICS, *WITH_NUMBERS, *plugins.names(plugins.METRICS)])
        raise BacklaneError("R022", f'there is no metric "{name}"', place, f"known: {known}")
    return found


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


CANDLESTICKS: dict[str, tuple[str, Callable[[FlowMeasures], Any]]] = {
    "finish": ("finish time in s", lambda m: m.finish_time_s),
    "rtt": ("mean RTT of a flow in ms", lambda m: m.rtt_s),
    "rtt_in_order": ("mean RTT of a flow in ms", lambda m: m.rtt_in_order_s),
}
"""Distributions over flows that can be drawn as candlesticks: axis label, five numbers."""
