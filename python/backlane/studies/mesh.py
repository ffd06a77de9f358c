"""Metrics of a mesh that forwards over several next hops in proportion to flow rates.

``proportion_error@1`` is that of the source of the first flow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from backlane.studies.view import RunView


def proportion_error(view: RunView, number: float) -> float:
    """The largest relative error of the bytes to a neighbour at the source of a flow.

    The share of the bytes to a neighbour over the share of its flow rate, minus one, absolute.
    """
    index = int(number) - 1
    if not 0 <= index < len(view.everything):
        return math.nan
    source = view.everything[index]["source"]
    rates = {
        (row["to"], row["channel"]): float(row["flow_rate_bps"])
        for row in view.assignment
        if row["from"] == source and row["flow_rate_bps"]
    }
    carried = {
        (link["to"], link["channel"]): float(link["bytes"] or 0)
        for link in view.links
        if link["from"] == source and (link["to"], link.get("channel")) in rates
    }
    total, total_rate = math.fsum(carried.values()), math.fsum(rates.values())
    if not total:
        return math.nan
    return max(
        abs(carried.get(way, 0.0) / total / (rate / total_rate) - 1) for way, rate in rates.items()
    )


PLAIN: dict[str, tuple[str, float, str, Callable[[RunView], float]]] = {
    "dropped": ("packets", 1, "packets dropped", lambda v: float(v.run["packets_dropped"])),
}
"""By name: unit, scale, words, and the number of a run."""

OF_A_FLOW: dict[str, tuple[str, float, str, Callable[[RunView, float], float]]] = {
    "proportion_error": (
        "%", 100, "by which bytes to a neighbour miss its flow rate, source of flow {:g}",
        proportion_error),
}  # fmt: skip
"""The same of a flow by its number."""
