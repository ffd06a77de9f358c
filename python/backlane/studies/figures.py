"""The figures of a study, in the form in which the paper draws them.

Each form takes the runs of one experiment. ``x`` and ``by`` are swept keys: the groups along the
axis, and the contenders in each group, with the same colour in all figures of a study.
"""

from __future__ import annotations

import math
from dataclasses import replace
from textwrap import fill
from typing import TYPE_CHECKING, Any

from backlane import plugins
from backlane.errors import BacklaneError
from backlane.report import map as maps
from backlane.report import mesh
from backlane.report.data import CellData, Network
from backlane.report.figures import (
    INK,
    Drawn,
    draw,
    paint_sticks,
    stick_numbers,
    x_axis,
)
from backlane.report.series import thin
from backlane.stats import Interval, mean_interval
from backlane.studies import (
    curves,
    displacements,
    flows,
    metrics,
    published,
    ratios,
    reordering,
    slots,
)
from backlane.studies.metrics import CANDLESTICKS, METRICS
from backlane.studies.runs import by_seed
from backlane.studies.study import take
from backlane.studies.style import (
    WIDE_IN,
    chosen,
    colors,
    contenders_of,
    labels,
    patches,
    where_of,
)

MOST_BESIDE = 8
"""The most contenders whose bars stand beside each other; of more, each has a row."""

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.campaign.plan import Label
    from backlane.studies.runs import Runs
    from backlane.studies.study import FigureSpec

    Form = Callable[[FigureSpec, Runs], list[Drawn]]

_NEEDS = {
    "load": ("by", "x"),
    "lines": ("by", "x"),
    "traces": ("by", "flow"),
    "ratio": ("by", "x", "over"),
}
"""The required keys of a form; `by` if it is not listed."""
_SCALES = {"finish": 1.0, "rtt": 1e3, "rtt_in_order": 1e3}


def check(spec: FigureSpec, cells: Sequence[Mapping[str, Any]], *, quick: bool = False) -> None:
    """Check before the first run that a figure can be drawn from these cells.

    Args:
        spec: the figure.
        cells: the swept values of each cell of its experiment.
        quick: whether these are a reduced set, which may lack those of published values.

    Raises:
        BacklaneError: R022 when a key or metric of the figure is missing or does not exist, R028
            when its form is that of another package, which cannot be used.
    """
    place = f"figure {spec.id}"
    if _form(spec.kind) is None:
        known = f"known: {', '.join([*FORMS, *plugins.names(plugins.FIGURES)])}"
        raise BacklaneError("R022", f'"{spec.kind}" is not a form', place, known)
    for key in _NEEDS.get(spec.kind, ("by",)):
        take(spec.options, key, str, place)
    if spec.kind == "region":
        take(spec.options, "boundary", list, place)
    if spec.kind == "ratio" and len(take(spec.options, "of", list, place)) != 2:
        raise BacklaneError("R022", "`of` takes two values", place, "name two values of `over`")
    for key in ("x", "by", "over"):
        name = spec.options.get(key)
        if name is not None and name not in cells[0]:
            raise BacklaneError("R022", f"`{name}` is not swept", place, "name a swept key")
    published.check(spec, cells, quick=quick)
    if spec.kind == "candlesticks":
        _named(spec, list(CANDLESTICKS))
    elif spec.kind in ("bars", "lines", "ratio"):
        for name in chosen(spec, next(iter(METRICS))):
            metrics.require(name, place)
    elif spec.kind in curves.FORMS:
        _named(spec, list(curves.CHOICES[spec.kind]))


def figure(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """Draw a figure of a study that was checked; several when it has several panels.

    Raises:
        BacklaneError: R028 when the form of another package fails.
    """
    form = _form(spec.kind)
    if form is None:
        raise KeyError(spec.kind)
    return form(spec, runs)


def _form(kind: str) -> Form | None:
    """The form of a name; None when there is none."""
    plugin = plugins.load_function(plugins.FIGURES, kind, FORMS)
    if plugin is None:
        return FORMS.get(kind)

    def form(spec: FigureSpec, runs: Runs) -> list[Drawn]:
        drawn = plugin.call(lambda: plugin.value(spec, runs))
        if not isinstance(drawn, list) or not all(isinstance(one, Drawn) for one in drawn):
            raise plugin.wrong("gave no list of figures")
        return drawn

    return form


def _named(spec: FigureSpec, known: Sequence[str]) -> list[str]:
    names = chosen(spec, *known[:1])
    for name in names:
        if name.partition("@")[0] not in known:
            raise BacklaneError(
                "R022", f'there is no metric "{name}"', f"figure {spec.id}",
                f"known: {', '.join(known)}",
            )  # fmt: skip
    return names


def _candlesticks(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    return [_candlestick_panel(spec, runs, metric) for metric in _named(spec, list(CANDLESTICKS))]


def _candlestick_panel(spec: FigureSpec, runs: Runs, metric: str) -> Drawn:
    axis, stick = CANDLESTICKS[metric]
    scale, where = _SCALES[metric], where_of(spec)
    x, by = spec.options.get("x"), spec.options["by"]
    contenders = runs.levels(by, where)
    groups: list[Label] = runs.levels(x, where) if x else [""]
    shade = colors(contenders)
    rows: list[list[Any]] = [
        [x or "", by, "seeds", "minimum", "p20", "mean", "p80", "maximum", "low", "high",
         "unfinished"]
    ]  # fmt: skip
    marks = published.marks(spec, metric)
    sticks, ticks, place = [], [], 0.0
    places: dict[tuple[Label, Label], float] = {}
    for group in groups:
        first = place
        for name in contenders:
            chosen = runs.at(where | {by: name} | ({x: group} if x else {}))
            found = [stick(view.measures) for view in chosen]
            numbers = [value * scale for value in stick_numbers(found)]
            unfinished = sum(len(view.measures.unfinished) for view in chosen)
            rows.append([group, name, len(chosen), *numbers, unfinished])
            if not math.isnan(numbers[2]):
                sticks.append((place, shade[name], numbers))
            places[group, name] = place
            place += 1
        ticks.append((first + place - 1) / 2)
        place += 0.7
    rows += [mark.row() for mark in marks]

    def paint(figure: Figure, axes: Axes) -> None:
        paint_sticks(axes, sticks)
        published.paint_places(axes, marks, places)
        axes.set_ylim(bottom=0)
        axes.set_ylabel(axis)
        if x:
            x_axis(axes, ticks, labels(spec, groups), grouped=True)
        else:
            x_axis(axes, range(len(contenders)), [str(n) for n in contenders], grouped=False)
        named = contenders if x else []
        published.key(figure, patches(named, shade), named, marks)

    where_text = f"{len(groups)} groups" if x else "one network"
    note = f"{axis}, {where_text}.{published.note(marks)}"
    return draw(f"{spec.id}-{metric}", spec.title, note, rows, paint, width_in=WIDE_IN)


def _load(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """Finish time as candlesticks over a load, and on the right axis the UDP delivery ratio."""
    where = where_of(spec)
    x, by = spec.options["x"], spec.options["by"]
    contenders, loads = runs.levels(by, where), runs.levels(x, where)
    shade = colors(contenders)
    rows: list[list[Any]] = [
        [x, by, "seeds", "minimum", "p20", "mean", "p80", "maximum", "low", "high",
         "udp_delivery_ratio"]
    ]  # fmt: skip
    marks = published.marks(spec)
    sticks, ticks, place = [], [], 0.0
    places: dict[tuple[Label, Label], float] = {}
    delivery: dict[Label, list[tuple[float, float]]] = {name: [] for name in contenders}
    for load in loads:
        first = place
        for name in contenders:
            chosen = runs.at(where | {by: name, x: load})
            numbers = stick_numbers([view.measures.finish_time_s for view in chosen])
            ratios = [metrics.get("udp_delivery").of(view) for view in chosen]
            ratio = mean_interval([value for value in ratios if not math.isnan(value)]).mean
            rows.append([load, name, len(chosen), *numbers, ratio])
            sticks.append((place, shade[name], numbers))
            places[load, name] = place
            delivery[name].append((place, ratio))
            place += 1
        ticks.append((first + place - 1) / 2)
        place += 0.7
    rows += [mark.row() for mark in marks]

    def paint(figure: Figure, axes: Axes) -> None:
        paint_sticks(axes, sticks)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("finish time in s")
        axes.set_xticks(ticks, [str(load) for load in loads])
        axes.tick_params(axis="x", length=0)
        axes.set_xlabel("UDP rate of each of the flows")
        right = axes.twinx()
        for name, points in delivery.items():
            right.plot(
                [at for at, _ in points], [ratio * 100 for _, ratio in points],
                color=shade[name], linewidth=1.2, marker="s", markersize=3.5, linestyle=":",
            )  # fmt: skip
        lowest = min((r for points in delivery.values() for _, r in points), default=1.0)
        right.set_ylim(math.floor(min(lowest, 0.95) * 20) * 5, 101)
        right.set_ylabel("UDP delivered in % (dotted)")
        right.spines["right"].set_visible(True)
        right.grid(visible=False)
        published.paint_places(axes, [one for one in marks if one.metric != "delivery"], places)
        published.paint_places(right, [one for one in marks if one.metric == "delivery"], places)
        published.key(figure, patches(contenders, shade), contenders, marks)

    note = f"Finish time and UDP delivery over the load.{published.note(marks)}"
    return [draw(spec.id, spec.title, note, rows, paint, width_in=WIDE_IN)]


def _bars(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """A mean with its interval per contender; one group per value of ``x``."""
    return [_bars_panel(spec, runs, metric) for metric in chosen(spec, next(iter(METRICS)))]


def _bars_panel(spec: FigureSpec, runs: Runs, metric: str) -> Drawn:
    where = where_of(spec)
    x, by = spec.options.get("x"), spec.options["by"]
    known = metrics.get(metric)
    contenders = runs.levels(by, where)
    groups: list[Label] = runs.levels(x, where) if x else [""]
    shade = colors(contenders)
    rows: list[list[Any]] = [[x or "", by, "seeds", metric, "low", "high"]]
    marks = published.marks(spec, metric)
    bars, ticks, place = [], [], 0.0
    places: dict[tuple[Label, Label], float] = {}
    for group in groups:
        first = place
        for name in contenders:
            chosen = runs.at(where | {by: name} | ({x: group} if x else {}))
            values = by_seed(chosen, known.of).values()
            around = mean_interval([value * known.scale for value in values])
            rows.append([group, name, around.count, around.mean, around.low, around.high])
            bars.append((place, shade[name], around))
            places[group, name] = place
            place += 1
        ticks.append((first + place - 1) / 2)
        place += 0.7
    rows += [mark.row() for mark in marks]
    words = f"{known.words}, {known.unit}" if known.unit else known.words
    suffix = "" if isinstance(spec.options.get("metric"), str) else f"-{metric}"
    note = f"{known.words}.{published.note(marks)}"
    if x and not marks and len(contenders) > MOST_BESIDE:
        found = {at: around for at, _, around in bars}
        around_of = {pair: found[at] for pair, at in places.items()}
        of_groups = dict(zip(groups, labels(spec, groups), strict=True))
        height_in = 1.2 + 0.3 * len(contenders)
        return draw(
            f"{spec.id}{suffix}", spec.title, note, rows,
            lambda figure, axes: _paint_rows(figure, axes, around_of, of_groups, contenders, words),
            height_in=height_in, width_in=WIDE_IN,
        )  # fmt: skip

    def paint(figure: Figure, axes: Axes) -> None:
        for at, color, around in bars:
            axes.bar(at, around.mean, 0.72, color=color, alpha=0.55, edgecolor=color)
            if around.known:
                axes.vlines(at, around.low, around.high, color=INK, linewidth=2.0)
        published.paint_places(axes, marks, places)
        axes.set_ylabel(fill(words, 36))
        if all(not around.mean < 0 for _, _, around in bars):
            axes.set_ylim(bottom=0)
        if metric == "jain":
            axes.set_ylim(0, 1)
        if x:
            x_axis(axes, ticks, labels(spec, groups), grouped=True)
        else:
            x_axis(axes, [at for at, _, _ in bars], [str(n) for n in contenders], grouped=False)
        named = contenders if x else []
        published.key(figure, patches(named, shade), named, marks)

    return draw(f"{spec.id}{suffix}", spec.title, note, rows, paint, width_in=WIDE_IN)


def _paint_rows(
    figure: Figure,
    axes: Axes,
    around_of: Mapping[tuple[Label, Label], Interval],
    groups: Mapping[Label, str],
    contenders: Sequence[Label],
    words: str,
) -> None:
    """Bars from left to right: a row per contender, in it a bar per group."""
    shade = colors(list(groups))
    share = 0.8 / len(groups)
    for row, name in enumerate(contenders):
        for index, group in enumerate(groups):
            around = around_of[group, name]
            at = row - 0.4 + (index + 0.5) * share
            color = shade[group]
            axes.barh(at, around.mean, 0.9 * share, color=color, alpha=0.55, edgecolor=color)
            if around.known:
                axes.hlines(at, around.low, around.high, color=INK, linewidth=1.6)
    axes.set_yticks(range(len(contenders)), [str(name) for name in contenders])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(contenders) - 0.4, -0.6)
    axes.set_xlabel(words)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    if all(not around.mean < 0 for around in around_of.values()):
        axes.set_xlim(left=0)
    published.key(figure, patches(list(groups), shade), list(groups.values()), [])


def _traces(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """The congestion window of one flow over time, logarithmic, first seed."""
    where, by, flow = where_of(spec), spec.options["by"], spec.options["flow"]
    contenders = runs.levels(by, where)
    shade = colors(contenders)
    rows: list[list[Any]] = [[by, "time_s", "cwnd_pkts"]]
    lines = []
    for name in contenders:
        chosen = runs.at(where | {by: name})
        if not chosen:
            continue
        first = min(chosen, key=lambda view: view.seed)
        window = first.windows.get(flow)
        if window is None:
            continue
        times, packets = thin(*map(list, window))
        lines.append((name, times, packets))
        rows += [[name, t, p] for t, p in zip(times, packets, strict=True)]
    marks = published.marks(spec)
    rows += [mark.row() for mark in marks]

    def paint(figure: Figure, axes: Axes) -> None:
        handles = [
            axes.plot(times, packets, color=shade[name], linewidth=1.1)[0]
            for name, times, packets in lines
        ]
        axes.set_yscale("log")
        axes.set_xlabel("time in s")
        axes.set_ylabel("congestion window in packets")
        published.paint_levels(axes, marks, published.color_by(shade))
        published.key(figure, handles, [str(name) for name, _, _ in lines], marks)

    note = f"The window of {flow}, first seed.{published.note(marks)}"
    return [draw(spec.id, spec.title, note, rows, paint, width_in=WIDE_IN)]


def _maps(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """The network with the utilisation of its links, one map per contender."""
    return _numbered(spec, maps.maps(_network(spec, runs), ""))


def _assignment(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """The links over radios with their channels and the bytes carried, one per contender."""
    return _numbered(spec, mesh.graphs(_network(spec, runs), ""))


def _network(spec: FigureSpec, runs: Runs) -> Network:
    where, by = where_of(spec), spec.options["by"]
    network = Network(spec.title, [by], [], [], runs.results)
    for name in contenders_of(spec, runs):
        chosen = runs.at(where | {by: name})
        network.cells.append(
            CellData(
                str(name), "", runs.results,
                {view.seed: view.measures for view in chosen},
                {view.seed: view.run_id for view in chosen},
            )
        )  # fmt: skip
    return network


def _numbered(spec: FigureSpec, drawn: Sequence[Drawn]) -> list[Drawn]:
    return [replace(one, key=f"{spec.id}-{index + 1}") for index, one in enumerate(drawn)]


FORMS: dict[str, Form] = {
    "candlesticks": _candlesticks,
    "load": _load,
    "bars": _bars,
    "traces": _traces,
    "maps": _maps,
    "assignment": _assignment,
    **curves.FORMS,
    **flows.FORMS,
    **ratios.FORMS,
    **displacements.FORMS,
    **reordering.FORMS,
    **slots.FORMS,
}
"""Every form of a figure by its name, the ``kind`` of ``[[figure]]``."""
