"""Metrics that compare a run with what no routing could beat (`backlane.bound`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from backlane.studies.view import RunView


def share(view: RunView, measure: str) -> float:
    """A measure of a run as a share of its bound, as in reports; NaN where it has none."""
    from backlane.report.bounds import share_of

    bound = view.recorded.bound(view.cell, view.seed)
    found = None if bound is None else share_of(measure, bound, view.measures)
    return math.nan if found is None else found[1]


def control_bps(view: RunView) -> float:
    """Bits of all routing messages of all nodes per second, warm-up included."""
    sent = sum(int(row["message_bytes"] or 0) for row in view.routing)
    return 8 * sent / float(view.run["simulated_s"])


def silence_of_streams_s(view: RunView) -> float:
    """The longest time in which nothing of a UDP stream arrives; of several, the largest."""
    known = [flow["longest_silence_s"] for flow in view.udp]
    return max((float(one) for one in known if one is not None), default=math.nan)


PLAIN: dict[str, tuple[str, float, str, Callable[[RunView], float]]] = {
    "finish_share": (
        "%", 100, "lower bound of the mean finish time over the mean finish time",
        lambda v: share(v, "mean finish time")),
    "total_share": (
        "%", 100, "total goodput of the most that any routing could have",
        lambda v: share(v, "total goodput")),
    "silence_udp": (
        "s", 1, "longest time in which nothing of a UDP stream arrives", silence_of_streams_s),
    "control": ("kbit/s", 1e-3, "routing messages of all nodes", control_bps),
}  # fmt: skip
"""By name: unit, scale, words, and the number of a run."""
