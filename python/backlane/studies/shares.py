"""Metrics of the shares of flows, of routers and of coded flows.

Flows, TCP and UDP, are numbered from 1 in the order of the scenario: ``flow_goodput@2`` is that of
the second. A fair share is the total of all flows divided by their number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from backlane.measures import goodput_bps
from backlane.stats import jain
from backlane.studies.timed import at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backlane.studies.view import RunView

SURVIVES = 0.05
"""A flow with more than this part of a fair share survives."""
STARVES = 0.01
"""A window in which a flow gets less than this part of a fair share starves it."""
WINDOW_S = 5.0
"""The length of these windows."""


def goodputs_bps(view: RunView) -> list[float]:
    """Of every flow, in order."""
    return [goodput_bps(flow, float(view.run["traffic_s"])) for flow in view.everything]


def total_bps(view: RunView) -> float:
    """Of all flows together."""
    return math.fsum(goodputs_bps(view))


def shares(view: RunView) -> list[float]:
    """The goodput of each flow over a fair share."""
    found = goodputs_bps(view)
    fair = math.fsum(found) / len(found) if found else 0.0
    return [value / fair if fair else math.nan for value in found]


def surviving(view: RunView) -> float:
    """Flows with more than a twentieth of a fair share."""
    return float(sum(share > SURVIVES for share in shares(view)))


def least_share(view: RunView) -> float:
    """The smallest share of a flow, over a fair share."""
    return min(shares(view), default=math.nan)


def of_flow(found: list[float], number: float) -> float:
    """The value of a flow by its number, from 1."""
    index = int(number) - 1
    return found[index] if 0 <= index < len(found) else math.nan


def arrived_bytes(view: RunView, flow: Mapping[str, Any], time_s: float) -> float:
    """Bytes of a flow delivered by a time; the series ends before the run does."""
    if time_s >= float(view.run["traffic_s"]):
        return float(flow.get("delivered_bytes") or 0)
    return at(view.samples("goodput", str(flow["flow"]), "delivered_bytes"), time_s)


def least_goodput(view: RunView) -> float:
    """The smallest goodput of a flow, in bit/s."""
    return min(goodputs_bps(view), default=math.nan)


def starved_windows(view: RunView, number: float) -> float:
    """The share of windows of 5 s, from the last start on, in which a flow starves.

    The fair share is that of the window: the bytes of all flows divided by their number.
    """
    index = int(number) - 1
    if not 0 <= index < len(view.everything) or not view.entities("goodput"):
        return math.nan
    begin = max(float(flow.get("start_s") or 0.0) for flow in view.everything)
    windows = int((float(view.run["traffic_s"]) - begin) / WINDOW_S + 1e-9)
    starved = 0
    for window in range(windows):
        low = begin + window * WINDOW_S
        got = [
            arrived_bytes(view, flow, low + WINDOW_S) - arrived_bytes(view, flow, low)
            for flow in view.everything
        ]
        starved += got[index] <= STARVES * math.fsum(got) / len(got)
    return starved / windows if windows else math.nan


def starved_windows_most(view: RunView) -> float:
    """The share of windows of 5 s in which a flow starves, of the flow with the most."""
    return max(
        (starved_windows(view, number) for number in range(1, len(view.everything) + 1)),
        default=math.nan,
    )


def detour(view: RunView, number: float) -> float:
    """The share of a flow's packets that took three hops instead of one.

    From the mean number of routers passed, including the source: 1 on the direct path, 3 on the
    detour of a diamond.
    """
    index = int(number) - 1
    if not 0 <= index < len(view.everything):
        return math.nan
    hops = view.everything[index].get("hops_mean")
    return (float(hops) - 1) / 2 if hops is not None else math.nan


def _total(rows: list[dict[str, Any]], name: str) -> float:
    return math.fsum(float(row.get(name) or 0) for row in rows)


def overflow_at_source(view: RunView) -> float:
    """The share of overflow drops that are at the source of the packet."""
    source = _total(view.routing, "overflow_at_source")
    dropped = source + _total(view.routing, "overflow_in_transit")
    return source / dropped if dropped else math.nan


def trapped_pkts(view: RunView) -> float:
    """Packets at one router for more than 10 s, mean over time."""
    return _total(view.routing, "trapped_mean_pkts") if view.routing else math.nan


def troubles_per_mb(view: RunView) -> float:
    """Duplicate acknowledgments and timeouts at the TCP senders, per megabyte delivered."""
    delivered = _total(view.flows, "delivered_bytes")
    troubles = _total(view.flows, "duplicate_acks") + _total(view.flows, "rtos")
    return troubles / (delivered / 1e6) if delivered else math.nan


def unmasked_per_mb(view: RunView) -> float:
    """The same without the duplicates that network coding gives TCP for drops at the edge."""
    delivered = _total(view.flows, "delivered_bytes")
    given = _total(view.coding, "duplicate_acks_given")
    troubles = _total(view.flows, "duplicate_acks") - given + _total(view.flows, "rtos")
    return troubles / (delivered / 1e6) if delivered else math.nan


def wrong_bytes(view: RunView) -> float:
    """Decoded bytes that differ from those sent, or are out of order."""
    compared = _total(view.coding, "bytes_compared")
    return _total(view.coding, "bytes_unequal") if compared else math.nan


def edge_drops_answered(view: RunView) -> float:
    """The share of drops in the edge queue to which TCP reacted within two RTTs.

    Unanswered drops of the last two RTTs of the run do not count.
    """
    drops = _total(view.coding, "edge_drops") - _total(view.coding, "edge_drops_open")
    return _total(view.coding, "edge_drops_answered") / drops if drops else math.nan


def edge_drops_heard(view: RunView) -> float:
    """The share of drops in the edge queue after which TCP reduced its window, at any time.

    Drops of the last two RTTs of the run without a reduction do not count.
    """
    drops = _total(view.coding, "edge_drops") - _total(view.coding, "edge_drops_open")
    heard = _total(view.coding, "edge_drops_answered") + _total(view.coding, "edge_drops_late")
    return heard / drops if drops else math.nan


Found = tuple[str, float, str, "Callable[[RunView], float]"]

PLAIN: dict[str, Found] = {
    "total_goodput": ("kbit/s", 1e-3, "goodput of all flows together", total_bps),
    "system_throughput": ("Mbit/s", 1e-6, "system throughput", total_bps),
    "jain_all": ("", 1, "Jain's index of goodput, all flows", lambda v: jain(goodputs_bps(v))),
    "surviving": ("", 1, "flows that survive", surviving),
    "least_share": ("", 1, "smallest part of a fair share", least_share),
    "least_goodput": ("kbit/s", 1e-3, "smallest goodput of a flow", least_goodput),
    "starved_windows_most": (
        "%", 100, "windows of 5 s in which a flow starves, the worst flow", starved_windows_most),
    "overflow_at_source": ("%", 100, "overflow drops at the source", overflow_at_source),
    "trapped": ("packets", 1, "packets trapped for more than 10 s", trapped_pkts),
    "troubles_per_mb": (
        "per MB", 1, "duplicate acknowledgments and timeouts at TCP", troubles_per_mb),
    "unmasked_per_mb": (
        "per MB", 1, "duplicate acknowledgments not given for edge drops, and timeouts, at TCP",
        unmasked_per_mb),
    "wrong_bytes": ("B", 1, "decoded bytes that differ", wrong_bytes),
    "edge_drops_answered": (
        "%", 100, "edge drops that TCP answered within two round trips", edge_drops_answered),
    "edge_drops_heard": (
        "%", 100, "edge drops after which TCP reduced its window", edge_drops_heard),
}  # fmt: skip
"""Metrics by name: unit, scale, words, how it is taken."""

OF_A_FLOW: dict[str, tuple[str, float, str, Callable[[RunView, float], float]]] = {
    "flow_goodput": ("kbit/s", 1e-3, "goodput of flow {:g}",
                     lambda v, n: of_flow(goodputs_bps(v), n)),
    "flow_share": ("", 1, "part of a fair share that flow {:g} has",
                   lambda v, n: of_flow(shares(v), n)),
    "starved_windows": ("%", 100, "windows of 5 s in which flow {:g} starves", starved_windows),
    "detour": ("%", 100, "packets of flow {:g} that took the detour", detour),
}  # fmt: skip
"""Metrics that take the number of a flow after an ``@``."""
