"""Histograms of reordering: the figure form ``displacements`` (reorder density, RFC 5236)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from backlane.report.figures import INK, draw
from backlane.stats import mean_interval
from backlane.studies import published
from backlane.studies.runs import by_seed
from backlane.studies.style import WIDE_IN, colors, contenders_of, labels, where_of
from backlane.studies.timed import mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.report.figures import Drawn
    from backlane.stats import Interval
    from backlane.studies.runs import Runs
    from backlane.studies.study import FigureSpec
    from backlane.studies.view import RunView

FURTHEST = (6, 12, 20, 30)
"""A histogram has a bar per displacement up to one of these, and one bar beyond."""
BEYOND = 0.02
"""It is the first with less than this share beyond."""


def displacements(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """The reorder density: a panel per contender, means and intervals over seeds."""
    where, by = where_of(spec), spec.options["by"]
    contenders = contenders_of(spec, runs)
    shade = colors(runs.levels(by, where))
    views = {
        contender: [view for view in runs.at(where | {by: contender}) if view.displacements]
        for contender in contenders
    }
    end = next(
        (k for k in FURTHEST if all(_beyond(found, k) < BEYOND for found in views.values())),
        FURTHEST[-1],
    )
    places = range(-end - 1, end + 2)
    names = [f"<−{end}", *(f"{k}".replace("-", "−") for k in range(-end, end + 1)), f">{end}"]
    rows: list[list[Any]] = [[by, "displacement_pkts", "seeds", "share", "low", "high"]]
    bars: dict[Any, list[Interval]] = {}
    for contender, found in views.items():
        bars[contender] = [_around(found, k, end) for k in places]
        rows += [
            [contender, name, i.count, i.mean, i.low, i.high]
            for name, i in zip(names, bars[contender], strict=True)
        ]

    marks = published.marks(spec)
    rows += [one.row() for one in marks]

    def paint(figure: Figure, axes: Axes) -> None:
        axes.remove()
        panels = figure.subplots(1, len(contenders), sharey=True, squeeze=False)[0]
        ticks = [0, end // 2 + 1, end + 1, end + end // 2 + 1, 2 * end + 2]
        thin_line = 1.2 if end <= 12 else 0.5
        for panel, contender, name in zip(
            panels, contenders, labels(spec, contenders), strict=True
        ):
            color = shade[contender]
            for k, around in zip(places, bars[contender], strict=True):
                panel.bar(k, around.mean * 100, 0.8, color=color, alpha=0.55, edgecolor=color)
                if around.known:
                    ends = around.low * 100, around.high * 100
                    panel.vlines(k, *ends, color=INK, linewidth=thin_line)
            here = [one for one in marks if one.by in (None, contender)]
            published.paint_points(panel, here, spec, {})
            in_place = bars[contender][end + 1].mean
            panel.set_title(f"{name}: {in_place:.0%} in place", loc="left", fontsize=9.5)
            panel.set_xticks([places[tick] for tick in ticks], [names[tick] for tick in ticks])
            panel.set_xlabel("displacement in packets")
        panels[0].set_ylabel("packets in %")
        # The panels share the axis: setting the bottom fixes its top.
        panels[0].set_ylim(bottom=0)

    note = (
        "Reorder density (RFC 5236), all flows by packets; late packets are right of 0. Lines are "
        f"95 % intervals.{published.note(marks)}"
    )
    return [draw(spec.id, spec.title, note, rows, paint, width_in=WIDE_IN)]


def _share(view: RunView, place: int, end: int) -> float:
    """The share at a place of the histogram; the first and the last are all beyond."""
    if abs(place) <= end:
        return view.displacements.get(place, 0.0)
    shares = ((k if place > 0 else -k, share) for k, share in view.displacements.items())
    return math.fsum(share for k, share in shares if k > end)


def _around(views: Sequence[RunView], place: int, end: int) -> Interval:
    return mean_interval(list(by_seed(views, lambda view: _share(view, place, end)).values()))


def _beyond(views: Sequence[RunView], end: int) -> float:
    return mean([_share(view, -end - 1, end) + _share(view, end + 1, end) for view in views])


FORMS: dict[str, Callable[[FigureSpec, Runs], list[Drawn]]] = {"displacements": displacements}
"""The form of this module."""
