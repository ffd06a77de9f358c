"""Figures of series over time and of distributions.

``panels`` draws recorded series over time, one panel per quantity and a line per contender;
``ecdf`` and ``density`` draw distributions over all seeds, ``bins`` the achieved share of the
available capacity by MCS, and ``drops`` the lost packets of a flow by its size.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from backlane.report.figures import INK, draw, x_axis
from backlane.report.series import thin
from backlane.stats import mean_interval
from backlane.studies import published, timed
from backlane.studies.style import (
    WIDE_IN,
    chosen,
    colors,
    contenders_of,
    patches,
    where_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.campaign.plan import Label
    from backlane.report.figures import Drawn
    from backlane.studies.runs import Runs
    from backlane.studies.study import FigureSpec
    from backlane.studies.view import RunView, Samples

RATE_STEP_S = 0.5
"""Goodput over time is averaged over this interval."""
_BINS = (28, 26, 24, 22, 20, 18, 16, 14)
_CLASSES = 8
_STEPS = 40


def _of_flow(column: str) -> Callable[[RunView], Samples]:
    def found(view: RunView) -> Samples:
        flows = view.entities("cwnd")
        return view.samples("cwnd", flows[0], column) if flows else ([], [])

    return found


def _of_ue(column: str, scale: float = 1.0) -> Callable[[RunView], Samples]:
    def found(view: RunView) -> Samples:
        ues = view.watched_ues
        times, values = view.samples("radio", ues[0], column) if ues else ([], [])
        return times, [value * scale for value in values]

    return found


def _rate(view: RunView) -> Samples:
    counter = _of_flow("delivered_bytes")(view)
    ends = [step * RATE_STEP_S for step in range(1, int(_end_s(counter) / RATE_STEP_S) + 1)]
    rises = [timed.at(counter, end) - timed.at(counter, end - RATE_STEP_S) for end in ends]
    return ends, [rise * 8e-6 / RATE_STEP_S for rise in rises]


def _delivered(view: RunView) -> Samples:
    times, values = _of_flow("delivered_bytes")(view)
    return times, [value * 1e-6 for value in values]


def _end_s(samples: Samples) -> float:
    return samples[0][-1] if samples[0] else 0.0


PANELS: dict[str, tuple[str, Callable[[RunView], Samples]]] = {
    "window": ("window\nin packets", _of_flow("cwnd_pkts")),
    "threshold": ("threshold\nin packets", _of_flow("ssthresh_pkts")),
    "queue": ("queue\nin packets", _of_ue("queue_pkts")),
    "delay": ("PDCP delay\nin ms", _of_ue("pdcp_delay_s", 1e3)),
    "goodput": ("goodput\nin Mbit/s", _rate),
    "delivered": ("delivered\nin MB", _delivered),
    "mcs": ("MCS", _of_ue("mcs")),
}
"""The quantities of a panel: axis label, and times and values of one run."""


def _panels(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    where, by = where_of(spec), spec.options["by"]
    names = chosen(spec, "window")
    contenders = contenders_of(spec, runs)
    shade = colors(runs.levels(by, where))
    rows: list[list[Any]] = [["panel", by, "time_s", "value"]]
    lines: dict[str, list[tuple[Any, list[float], list[float]]]] = {name: [] for name in names}
    for contender in contenders:
        first = min(runs.at(where | {by: contender}), key=lambda view: view.seed)
        for name in names:
            times, values = thin(*map(list, PANELS[name][1](first)))
            lines[name].append((contender, times, values))
            rows += [[name, contender, t, v] for t, v in zip(times, values, strict=True)]
    marks = published.marks(spec)
    rows += [mark.row() for mark in marks]

    def paint(figure: Figure, axes: Axes) -> None:
        axes.remove()
        panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
        handles: list[Any] = []
        for panel, name in zip(panels, names, strict=True):
            handles = [
                panel.plot(times, values, color=shade[contender], linewidth=1.0)[0]
                for contender, times, values in lines[name]
            ]
            here = [one for one in marks if one.metric in (None, name)]
            published.paint_levels(panel, here, published.color_by(shade))
            panel.set_ylabel(PANELS[name][0])
            panel.set_ylim(bottom=0)
        panels[-1].set_xlabel("time in s")
        published.key(figure, handles, [str(contender) for contender in contenders], marks)

    note = f"Over time, first seed.{published.note(marks)}"
    return [draw(spec.id, spec.title, note, rows, paint,
                 height_in=0.9 + 1.35 * len(names), width_in=WIDE_IN)]  # fmt: skip


def _pooled(spec: FigureSpec, runs: Runs, name: str) -> list[tuple[Any, list[float]]]:
    """The values of all seeds of each contender, sorted."""
    base, _, span = name.partition("@")
    begin, _, end = span.partition("-")
    between = (float(begin or 0.0), float(end or math.inf))
    _, scale, _, of = timed.DISTRIBUTIONS[base]
    where, by = where_of(spec), spec.options["by"]
    return [
        (
            level,
            sorted(x * scale for view in runs.at(where | {by: level}) for x in of(view, between)),
        )
        for level in contenders_of(spec, runs)
    ]


def _ecdf(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    return [_ecdf_panel(spec, runs, name) for name in chosen(spec, "flow_goodput")]


def _ecdf_panel(spec: FigureSpec, runs: Runs, name: str) -> Drawn:
    base = name.partition("@")[0]
    unit, _, words, _ = timed.DISTRIBUTIONS[base]
    by = spec.options["by"]
    shade = colors(runs.levels(by, where_of(spec)))
    pooled = [(level, values) for level, values in _pooled(spec, runs, name) if values]
    # Two hundred points per curve are as fine as the picture.
    shares = [step / 200 for step in range(201)]
    curves = [
        (level, [values[min(int(share * len(values)), len(values) - 1)] for share in shares])
        for level, values in pooled
    ]
    rows: list[list[Any]] = [["share", *(level for level, _ in curves)]]
    rows += [[share, *(x[i] for _, x in curves)] for i, share in enumerate(shares)]
    marks = published.marks(spec, name)
    rows += [mark.row() for mark in marks]

    def paint(figure: Figure, axes: Axes) -> None:
        handles = [
            axes.plot(x, shares, color=shade[level], linewidth=1.2, drawstyle="steps-post")[0]
            for level, x in curves
        ]
        axes.set_xlabel(f"{words} in {unit}")
        axes.set_ylabel("share of the samples below" if base == "queue" else "share below")
        axes.set_ylim(0, 1.01)
        axes.set_xlim(left=0)
        published.paint_abscissas(axes, marks, published.color_by(shade))
        published.key(figure, handles, [str(level) for level, _ in curves], marks)

    note = f"{words}, all seeds together.{published.note(marks)}"
    return draw(f"{spec.id}-{base}", spec.title, note, rows, paint, width_in=WIDE_IN)


def _density(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    name = chosen(spec, "in_flight")[0]
    unit, _, words, _ = timed.DISTRIBUTIONS[name.partition("@")[0]]
    by = spec.options["by"]
    shade = colors(runs.levels(by, where_of(spec)))
    pooled = [(level, values) for level, values in _pooled(spec, runs, name) if values]
    top = max((values[-1] for _, values in pooled), default=1.0) or 1.0
    width = top / _STEPS
    middles = [(step + 0.5) * width for step in range(_STEPS)]
    curves = [(level, _shares(values, width)) for level, values in pooled]
    rows: list[list[Any]] = [[unit, *(level for level, _ in curves)]]
    rows += [[at, *(shares[i] for _, shares in curves)] for i, at in enumerate(middles)]
    marks = published.marks(spec, name)
    rows += [mark.row() for mark in marks]

    def paint(figure: Figure, axes: Axes) -> None:
        handles = []
        for level, shares in curves:
            percent = [share * 100 for share in shares]
            axes.fill_between(middles, percent, color=shade[level], alpha=0.2, step="mid")
            handles.append(axes.step(middles, percent, color=shade[level], where="mid")[0])
        axes.set_xlabel(words if unit == "packets" else f"{words} in {unit}")
        axes.set_ylabel(f"% of the time, steps of {width:.3g}")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        published.paint_abscissas(axes, marks, published.color_by(shade))
        published.key(figure, handles, [str(level) for level, _ in curves], marks)

    note = f"{words}, all seeds together.{published.note(marks)}"
    return [draw(spec.id, spec.title, note, rows, paint, width_in=WIDE_IN)]


def _shares(values: Sequence[float], width: float) -> list[float]:
    counts = [0] * _STEPS
    for value in values:
        counts[min(int(value / width), _STEPS - 1)] += 1
    return [count / len(values) for count in counts]


def _bins(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """Achieved over available: a group for each bin of MCS, a bar for each contender."""
    where, by = where_of(spec), spec.options["by"]
    contenders = contenders_of(spec, runs)
    shade = colors(runs.levels(by, where))
    rows: list[list[Any]] = [["mcs", by, "seeds", "mean", "low", "high"]]
    bars, ticks, place = [], [], 0.0
    places: dict[tuple[Label, Label], float] = {}
    for middle in _BINS:
        first = place
        for contender in contenders:
            views = runs.at(where | {by: contender})
            values = [timed.filled(view, middle, middle) for view in views]
            around = mean_interval([value for value in values if not math.isnan(value)])
            rows.append([middle, contender, around.count, around.mean, around.low, around.high])
            bars.append((place, shade[contender], around))
            places[middle, contender] = place
            place += 1
        ticks.append((first + place - 1) / 2)
        place += 0.7
    marks = published.marks(spec)
    rows += [mark.row() for mark in marks]

    def paint(figure: Figure, axes: Axes) -> None:
        for at, color, around in bars:
            if around.count:
                axes.bar(at, around.mean, 0.8, color=color, alpha=0.55, edgecolor=color)
            if around.known:
                axes.vlines(at, around.low, around.high, color=INK, linewidth=1.5)
        axes.set_ylim(0, 1.02)
        axes.set_ylabel("achieved / available")
        published.paint_places(axes, marks, places)
        axes.set_xlabel("mean MCS")
        x_axis(axes, ticks, [str(middle) for middle in _BINS], grouped=True)
        published.key(figure, patches(contenders, shade), contenders, marks)

    note = f"Achieved of the available capacity, by MCS.{published.note(marks)}"
    return [draw(spec.id, spec.title, note, rows, paint, width_in=WIDE_IN)]


def _drops(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """Lost packets of a flow by its size: the mean in classes with equal numbers of flows."""
    where, by = where_of(spec), spec.options["by"]
    contenders = contenders_of(spec, runs)
    shade = colors(runs.levels(by, where))
    rows: list[list[Any]] = [[by, "flows", "size_mean_bytes", "drops_mean"]]
    lines = []
    for contender in contenders:
        flows = sorted(
            (float(flow["size_bytes"]), timed.lost_pkts(flow))
            for view in runs.at(where | {by: contender})
            for flow in timed.finished(view)
        )
        classes = [
            flows[i * len(flows) // _CLASSES : (i + 1) * len(flows) // _CLASSES]
            for i in range(_CLASSES)
        ]
        points = [
            (timed.mean([size for size, _ in part]), timed.mean([lost for _, lost in part]))
            for part in classes if part
        ]  # fmt: skip
        rows += [
            [contender, len(part), *point]
            for part, point in zip([c for c in classes if c], points, strict=True)
        ]
        lines.append((contender, points))
    marks = published.marks(spec)
    rows += [mark.row() for mark in marks]

    def paint(figure: Figure, axes: Axes) -> None:
        handles = [
            axes.plot([size / 1e3 for size, _ in points], [lost for _, lost in points],
                      color=shade[contender], marker="o", markersize=3.5, linewidth=1.1)[0]
            for contender, points in lines
        ]  # fmt: skip
        axes.set_xlabel("size of the flow in kB, eighths of the flows")
        axes.set_ylabel("packets dropped")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        published.paint_points(axes, marks, spec, shade)
        published.key(figure, handles, [str(contender) for contender, _ in lines], marks)

    note = f"Packets dropped of a flow by its size.{published.note(marks)}"
    return [draw(spec.id, spec.title, note, rows, paint, width_in=WIDE_IN)]


FORMS: dict[str, Callable[[FigureSpec, Runs], list[Drawn]]] = {
    "panels": _panels,
    "ecdf": _ecdf,
    "density": _density,
    "bins": _bins,
    "drops": _drops,
}
"""The forms of this module."""

CHOICES: dict[str, Sequence[str]] = {
    "panels": list(PANELS),
    "ecdf": list(timed.DISTRIBUTIONS),
    "density": list(timed.DISTRIBUTIONS),
    "bins": ["filled"],
    "drops": ["drops_per_flow"],
}
"""The values of ``metric`` for each form."""
