"""Figures of a few flows: the goodput of each over time, and numbers over a swept number.

``rates`` draws one panel per contender with a line per flow; ``lines`` a mean with its interval
over the numbers of the swept key ``x``, a line per contender and a picture per metric.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from backlane.report.figures import INK, draw
from backlane.stats import mean_interval
from backlane.studies import metrics, published, shares
from backlane.studies.runs import by_seed
from backlane.studies.style import (
    WIDE_IN,
    chosen,
    colors,
    contenders_of,
    markers,
    paint_curves,
    position_of,
    where_of,
    whole_ticks,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.report.figures import Drawn
    from backlane.studies.runs import Runs
    from backlane.studies.study import FigureSpec
    from backlane.studies.view import RunView

STEP_S = 5.0
"""Goodput over time is averaged over this interval."""


def _rates(view: RunView) -> list[tuple[str, list[float], list[float]]]:
    """Each flow's name, the ends of the steps, and its goodput in kbit/s."""
    end_s = float(view.run["traffic_s"])
    ends = [STEP_S * step for step in range(1, int(end_s / STEP_S + 1e-9) + 1)]
    found = []
    for flow in view.everything:
        arrived = [shares.arrived_bytes(view, flow, end) for end in [0.0, *ends]]
        rises = [after - before for before, after in pairwise(arrived)]
        found.append((str(flow["flow"]), ends, [rise * 8e-3 / STEP_S for rise in rises]))
    return found


def rates(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """The goodput of each flow over time, a panel per contender, first seed."""
    where, by = where_of(spec), spec.options["by"]
    contenders = contenders_of(spec, runs)
    rows: list[list[Any]] = [[by, "flow", "time_s", "goodput_kbps"]]
    panels_of = []
    for contender in contenders:
        first = min(runs.at(where | {by: contender}), key=lambda view: view.seed)
        lines = _rates(first)
        panels_of.append(lines)
        rows += [[contender, flow, t, v] for flow, ts, vs in lines
                 for t, v in zip(ts, vs, strict=True)]  # fmt: skip
    flows = list(dict.fromkeys(flow for lines in panels_of for flow, _, _ in lines))
    shade = colors(flows)
    marks = published.marks(spec)
    rows += [mark.row() for mark in marks]

    def paint(figure: Figure, axes: Axes) -> None:
        axes.remove()
        panels = figure.subplots(len(contenders), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        handles: dict[str, Any] = {}
        for panel, contender, lines in zip(panels, contenders, panels_of, strict=True):
            for flow, times, values in lines:
                handles[flow] = panel.plot(times, values, color=shade[flow], linewidth=1.2)[0]
            panel.set_title(str(contender), loc="left", fontsize=9)
            here = [one for one in marks if one.by in (None, contender)]
            published.paint_levels(panel, here, lambda one: shade.get(str(one.flow), INK))
            panel.set_ylabel("goodput\nin kbit/s")
        # All panels share the axis: setting the bottom fixes its top.
        panels[0].set_ylim(bottom=0)
        panels[-1].set_xlabel("time in s")
        published.key(figure, list(handles.values()), list(handles), marks)

    note = f"Means over {STEP_S:g} s, first seed.{published.note(marks)}"
    return [draw(spec.id, spec.title, note, rows, paint,
                 height_in=0.9 + 1.6 * len(contenders), width_in=WIDE_IN)]  # fmt: skip


def lines(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """A picture for each metric: means and 95 % intervals over a swept number."""
    return [_line(spec, runs, metric) for metric in chosen(spec, "total_goodput")]


def _line(spec: FigureSpec, runs: Runs, metric: str) -> Drawn:
    where, x, by = where_of(spec), spec.options["x"], spec.options["by"]
    known = metrics.get(metric)
    contenders = contenders_of(spec, runs)
    levels = runs.levels(by, where)
    shade, marker = colors(levels), markers(levels)
    rows: list[list[Any]] = [[by, x, "seeds", metric, "low", "high"]]
    curves = []
    for contender in contenders:
        points = []
        for level in runs.levels(x, where | {by: contender}):
            views = runs.at(where | {by: contender, x: level})
            values = [value * known.scale for value in by_seed(views, known.of).values()]
            around = mean_interval(values)
            rows.append([contender, level, around.count, around.mean, around.low, around.high])
            points.append((position_of(spec, level), around))
        curves.append((contender, sorted(points, key=lambda point: point[0])))
    marks = published.marks(spec, metric)
    rows += [mark.row() for mark in marks]

    def paint(figure: Figure, axes: Axes) -> None:
        handles = paint_curves(axes, curves, shade, marker)
        published.paint_points(axes, marks, spec, shade)
        axes.set_xlabel(str(spec.options.get("labels", [x])[0]))
        whole_ticks(axes, sorted({at for _, points in curves for at, _ in points}))
        axes.set_ylabel(f"{known.words}, {known.unit}" if known.unit else known.words)
        axes.set_ylim(bottom=0)
        if known.words.startswith("Jain"):
            axes.set_ylim(0, 1.02)
        published.key(figure, handles, [str(contender) for contender, _ in curves], marks)

    suffix = "" if isinstance(spec.options.get("metric"), str) else f"-{metric}"
    note = f"{known.words}; bands are 95 % intervals.{published.note(marks)}"
    return draw(f"{spec.id}{suffix}", spec.title, note, rows, paint, width_in=WIDE_IN)


FORMS: dict[str, Callable[[FigureSpec, Runs], list[Drawn]]] = {"rates": rates, "lines": lines}
"""The forms of this module."""
