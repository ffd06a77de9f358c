"""Measures and figures of reordering, and of TCP's duplicate threshold.

``rd@2`` is the share of packets that arrive two places late (RFC 5236), all flows of a run pooled
by packets; ``rd@-1`` one place early, ``rd_late@3`` at least three places late. ``threshold`` draws
the duplicate threshold of a sender over time.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from backlane.report.figures import INK, draw, legend
from backlane.report.series import thin
from backlane.studies.style import WIDE_IN, colors, contenders_of, labels, where_of
from backlane.studies.timed import at, counted, mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.report.figures import Drawn
    from backlane.studies.runs import Runs
    from backlane.studies.study import FigureSpec
    from backlane.studies.view import RunView

AT_FIRST_PKTS = 3
"""The duplicate threshold that a connection begins with (RFC 5681 §3.2)."""
VERDICT_S = 0.2
"""Longest time from a timeout to its effect on the threshold: F-RTO decides within two round trips,
and before the next timeout, which Linux sends after 0.2 s at the earliest."""


def share_at(view: RunView, displacement: float) -> float:
    """The share of packets at a displacement."""
    found = view.displacements
    return found.get(round(displacement), 0.0) if found else math.nan


def share_from(view: RunView, displacement: float) -> float:
    """The share of packets at a displacement or a larger one."""
    found = view.displacements
    late = (share for k, share in found.items() if k >= displacement)
    return math.fsum(late) if found else math.nan


def _falls(view: RunView, flow: str) -> Iterator[tuple[bool, bool]]:
    """Falls of a flow's threshold: whether to the initial value, and whether by a timeout."""
    times, thresholds = view.samples("cwnd", flow, "reordering_pkts")
    timeouts = view.samples("cwnd", flow, "rtos")
    for index in range(1, len(times)):
        if thresholds[index] < thresholds[index - 1]:
            before = at(timeouts, min(times[index] - VERDICT_S, times[index - 1]))
            yield thresholds[index] == AT_FIRST_PKTS, timeouts[1][index] > before


def _per_flow(view: RunView, of: Callable[[str], float]) -> float:
    return mean([of(flow) for flow in view.entities("cwnd")])


def resets(view: RunView) -> float:
    """Timeouts that reset a grown threshold of a flow, mean over flows."""
    return _per_flow(view, lambda flow: _resets(view, flow))


def _resets(view: RunView, flow: str) -> float:
    return float(sum(map(all, _falls(view, flow))))


def untimed_falls(view: RunView) -> float:
    """Falls of the threshold of a flow without a timeout, mean over flows."""
    return _per_flow(view, lambda flow: float(sum(not timed for _, timed in _falls(view, flow))))


def cycle(view: RunView) -> float:
    """1 if a timeout reset the grown threshold of any flow, else 0."""
    found = resets(view)
    return math.nan if math.isnan(found) else float(found > 0)


def exit_by_reordering(view: RunView) -> float:
    """The share of flows whose slow start reordering ended."""
    causes = [flow.get("slow_start_exit") for flow in view.flows]
    return causes.count("reordering") / len(causes) if causes else math.nan


PLAIN: dict[str, tuple[str, float, str, Callable[[RunView], float]]] = {
    "in_flight_mean": (
        "packets", 1, "packets in flight of a flow", lambda v: counted(v, "in_flight_mean_pkts")),
    "threshold_cycle": (
        "", 1, "whether a timeout put a grown duplicate threshold back", cycle),
    "threshold_resets": (
        "per flow", 1, "times that a timeout put a grown duplicate threshold back", resets),
    "threshold_falls_untimed": (
        "per flow", 1, "times that the duplicate threshold fell without a timeout", untimed_falls),
    "threshold_max": (
        "packets", 1, "largest duplicate threshold of a flow",
        lambda v: counted(v, "reordering_max_pkts")),
    "exit_by_reordering": ("%", 100, "slow starts ended by reordering", exit_by_reordering),
}  # fmt: skip
"""By name: unit, scale, words, and the number of a run."""

OF_A_DISPLACEMENT: dict[str, tuple[str, float, str, Callable[[RunView, float], float]]] = {
    "rd": ("%", 100, "packets at a displacement of {:g}", share_at),
    "rd_late": ("%", 100, "packets late by {:g} places or more", share_from),
}
"""The same of a displacement in packets; late is positive."""


def threshold(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """The duplicate threshold of one flow over time with its timeouts, a panel per contender.

    The flow is ``flow``, by default the one with the most resets, of the first seed; ``span`` is
    the interval that is drawn, in s.
    """
    where, by = where_of(spec), spec.options["by"]
    contenders = contenders_of(spec, runs)
    begin, end = spec.options.get("span", (0.0, math.inf))
    shade = colors(runs.levels(by, where))
    rows: list[list[Any]] = [[by, "time_s", "threshold_pkts", "rtos"]]
    lines: dict[Any, tuple[list[float], list[float], list[float]]] = {}
    for contender in contenders:
        view = min(runs.at(where | {by: contender}), key=lambda view: view.seed)
        flow = spec.options.get("flow") or max(
            view.entities("cwnd"), key=lambda name: _resets(view, name), default=""
        )
        times, counts = view.samples("cwnd", flow, "rtos")
        drawn = [
            (t, value, count)
            for t, value, count in zip(
                times, view.samples("cwnd", flow, "reordering_pkts")[1], counts, strict=True
            )
            if begin <= t <= end
        ]
        timeouts = [b[0] for a, b in pairwise(drawn) if b[2] > a[2]]
        times, values = thin([t for t, *_ in drawn], [value for _, value, _ in drawn])
        lines[contender] = (times, values, timeouts)
        rows += [[contender, *found] for found in drawn]

    def paint(figure: Figure, axes: Axes) -> None:
        axes.remove()
        panels = figure.subplots(len(contenders), 1, sharex=True, squeeze=False)[:, 0]
        from matplotlib.lines import Line2D

        mark: dict[str, Any] = {"marker": "^", "color": INK, "markersize": 5, "linewidth": 0}
        handles = [Line2D([], [], color=INK, linewidth=1.2), Line2D([], [], **mark)]
        for panel, name, (contender, (times, values, timeouts)) in zip(
            panels, labels(spec, contenders), lines.items(), strict=True
        ):
            panel.step(times, values, where="post", color=shade[contender], linewidth=1.2)
            # An empty line without clipping would extend the layout to the corner.
            if timeouts:
                panel.plot(timeouts, [0.0] * len(timeouts), clip_on=False, zorder=4, **mark)
            if len(contenders) > 1:
                panel.set_title(name, loc="left", fontsize=9.5)
            panel.set_ylabel("threshold\nin packets")
            panel.set_ylim(bottom=0)
        panels[-1].set_xlabel("time in s")
        legend(figure, handles, ["threshold", "timeout"])

    which = "" if "flow" in spec.options else ", that whose threshold is reset most often"
    note = f"One flow of the first seed{which}; the marks are its retransmission timeouts."
    return [draw(spec.id, spec.title, note, rows, paint,
                 height_in=1.1 + 1.7 * len(contenders), width_in=WIDE_IN)]  # fmt: skip


FORMS: dict[str, Callable[[FigureSpec, Runs], list[Drawn]]] = {
    "threshold": threshold,
}
"""The forms of this module."""
