"""Metrics and figures of slotted models: service, backlog growth, region of stability.

Flows are numbered from 1 in the order of the scenario: ``served@2`` is that of the second.
``paths`` draws windows and queues over the slots, a column per contender; ``region`` draws maps of
stability, one per contender, with the ``boundary`` of the figure.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from backlane.report.figures import draw
from backlane.report.slots import PATHS, paint_paths
from backlane.studies.style import WIDE_IN, where_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.campaign.plan import Label
    from backlane.report.figures import Drawn
    from backlane.studies.runs import Runs
    from backlane.studies.study import FigureSpec
    from backlane.studies.view import RunView

STABLE = 0.01
"""A point is stable if less than this share of the arrivals stays in the queues."""


def _all(view: RunView, column: str) -> float:
    """A number of all flows together."""
    found = [row[column] for row in view.slotted if row["flow"] == "all"]
    return float(found[0]) if found and found[0] is not None else math.nan


def _of_flow(view: RunView, number: float, *columns: str) -> float:
    """The sum of numbers of a flow."""
    rows = [row for row in view.slotted if row["flow"] != "all"]
    index = int(number) - 1
    if not 0 <= index < len(rows):
        return math.nan
    values = [rows[index][column] for column in columns]
    return math.nan if None in values else math.fsum(values)


def growth(view: RunView) -> float:
    """The growth of all queues together, as a share of the arrivals."""
    arrived = _all(view, "arrived_pkts")
    return _all(view, "backlog_slope_pkts") / arrived if arrived else math.nan


def lost_track_of(view: RunView) -> float:
    """Packets that were not delivered, not dropped and are not queued."""
    run = view.run
    known = ("packets_delivered", "packets_dropped", "packets_in_flight")
    return float(abs(int(run["packets_injected"]) - sum(int(run[name]) for name in known)))


PLAIN: dict[str, tuple[str, float, str, Callable[[RunView], float]]] = {
    "growth": ("%", 100, "arriving packets by which the queues grow", growth),
    "backlog": ("packets", 1, "mean of all queues", lambda v: _all(v, "backlog_mean_pkts")),
    "utility": ("", 1, "sum of the logarithms of throughput", lambda v: _all(v, "utility")),
    "lost_track_of": ("packets", 1, "packets lost track of", lost_track_of),
}
"""By name: unit, scale, words, and the number of a run."""

OF_A_FLOW: dict[str, tuple[str, float, str, Callable[[RunView, float], float]]] = {
    "served": (
        "%", 100, "slots in which flow {:g} is served",
        lambda v, n: _of_flow(v, n, "served_ratio")),
    "single": (
        "%", 100, "slots in which flow {:g} has one packet at its source",
        lambda v, n: _of_flow(v, n, "single_ratio")),
    "overflows": (
        "packets", 1, "packets of flow {:g} dropped by full buffers",
        lambda v, n: _of_flow(v, n, "drops_at_source", "drops_in_transit")),
}  # fmt: skip
"""The same of a flow by its number."""


def paths(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """Windows above and queues below, over the slots, a column per contender, first seed."""
    where, by = where_of(spec), spec.options["by"]
    rows: list[list[Any]] = [[by, "flow", "slot", *PATHS]]
    columns = []
    for contender in runs.levels(by, where):
        view = min(runs.at(where | {by: contender}), key=lambda view: view.seed)
        lines = {}
        for flow in view.entities("slotted"):
            windows, queues = (view.samples("slotted", flow, name) for name in PATHS)
            lines[flow] = (windows[0], windows[1], queues[1])
            rows += [[contender, flow, *found] for found in zip(*lines[flow], strict=True)]
        columns.append((_title(by, contender), lines))

    def paint(figure: Figure, axes: Axes) -> None:
        axes.remove()
        paint_paths(figure, columns)

    note = "Windows (above) and queues at the source (below) of both flows."
    return [draw(spec.id, spec.title, note, rows, paint, height_in=3.8, width_in=WIDE_IN)]


def _title(by: str, contender: Label) -> str:
    return f"{by.rsplit('.', 1)[-1]} = {contender}".replace("k_pkts", "K")


def region(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """Where queues grow, by the rates of two flows, a map per contender, first seed."""
    where, by = where_of(spec), spec.options["by"]
    contenders = runs.levels(by, where)
    boundary = [(float(x), float(y)) for x, y in spec.options["boundary"]]
    rows: list[list[Any]] = [[by, "x_rate_pkts", "y_rate_pkts", "growth"]]
    table = runs.results.table("region").partition_by("run_id", as_dict=True)
    maps = []
    for contender in contenders:
        view = min(runs.at(where | {by: contender}), key=lambda view: view.seed)
        found = table[view.run_id,]
        xs, ys, slopes = (
            found[name].to_list() for name in ("x_rate_pkts", "y_rate_pkts", "backlog_slope_pkts")
        )
        grown = [slope / (x + y) for x, y, slope in zip(xs, ys, slopes, strict=True)]
        rows += [[contender, round(x, 6), round(y, 6), round(part, 5)]
                 for x, y, part in zip(xs, ys, grown, strict=True)]  # fmt: skip
        maps.append((xs, ys, grown))

    def paint(figure: Figure, axes: Axes) -> None:
        axes.remove()
        panels = figure.subplots(1, len(contenders), sharey=True, squeeze=False)[0]
        mesh: Any = None
        for panel, contender, (xs, ys, grown) in zip(panels, contenders, maps, strict=True):
            side = round(math.sqrt(len(xs)))
            cells = [grown[index : index + side] for index in range(0, len(grown), side)]
            mesh = panel.pcolormesh(
                xs[::side], ys[:side], [list(line) for line in zip(*cells, strict=True)],
                vmin=0.0, vmax=0.2, cmap="YlOrRd", shading="nearest", rasterized=True,
            )  # fmt: skip
            panel.plot(*zip(*boundary, strict=True), color="#1b2a38", linewidth=1.4)
            panel.set_aspect("equal")
            panel.set_title(_title(by, contender), loc="left", fontsize=9)
            panel.set_xlabel("rate of flow 1, packets per slot")
        panels[0].set_ylabel("rate of flow 2, packets per slot")
        figure.colorbar(mesh, ax=list(panels), label="part of arrivals that stays", shrink=0.8)

    points = len(maps[0][0])
    note = (
        f"{points:,} pairs of rates; the line is the boundary in theory. "
        f"{_agreement(maps, boundary)}"
    )
    return [draw(spec.id, spec.title, note.replace(",", " ", 1), rows, paint, height_in=3.6,
                 width_in=WIDE_IN + 1)]  # fmt: skip


def _agreement(maps: list[Any], boundary: list[tuple[float, float]]) -> str:
    """The share of points on the side of the boundary that theory predicts."""
    right = total = 0
    for xs, ys, grown in maps:
        for x, y, growth_there in zip(xs, ys, grown, strict=True):
            right += (growth_there < STABLE) == _inside(x, y, boundary)
            total += 1
    return f"Measured and theory agree at {right / total:.1%} of the points."


def _inside(x: float, y: float, boundary: list[tuple[float, float]]) -> bool:
    """Whether a point lies below a boundary that leads from the y axis to the x axis.

    The region is convex: a point is inside if it is on the same side of every segment of the
    boundary as the origin.
    """
    return all(
        (bx - ax) * (y - ay) - (by - ay) * (x - ax) < 0 for (ax, ay), (bx, by) in pairwise(boundary)
    )


FORMS: dict[str, Callable[[FigureSpec, Runs], list[Drawn]]] = {"paths": paths, "region": region}
"""The forms of this module."""
