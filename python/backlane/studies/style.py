"""The style that the figures of a study share: colours, markers, keys and labels."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from backlane.report.colors import assigned
from backlane.studies.terms import leading_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from backlane.campaign.plan import Label
    from backlane.stats import Interval
    from backlane.studies.runs import Runs
    from backlane.studies.study import FigureSpec

WIDE_IN = 6.4


def colors(names: Sequence[Label]) -> dict[Label, str]:
    """A colour for each contender, the one that a report gives it."""
    by_name = assigned([str(name) for name in names])
    return {name: by_name[str(name)] for name in names}


MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def markers(names: Sequence[Label]) -> dict[Label, str]:
    """A marker for each contender, so that lines differ without colour too."""
    return {name: MARKERS[index % len(MARKERS)] for index, name in enumerate(names)}


def whole_ticks(axes: Axes, ats: Sequence[float]) -> None:
    """Ticks at the numbers of an axis if these are integers with enough distance."""
    places = [math.log(at) for at in ats] if axes.get_xscale() == "log" else ats
    room = min((b - a for a, b in pairwise(places)), default=1.0)
    whole = bool(ats) and all(at == int(at) for at in ats)
    if whole and room * 25 >= places[-1] - places[0]:
        axes.set_xticks(list(ats), [f"{at:.0f}" for at in ats])
        axes.minorticks_off()


def paint_curves(
    axes: Axes,
    curves: Sequence[tuple[Label, Sequence[tuple[float, Interval]]]],
    shade: Mapping[Label, str],
    marker: Mapping[Label, str],
) -> list[Line2D]:
    """A line for each contender through its means, with a band where all intervals are known.

    Returns:
        The lines, for a legend.
    """
    handles = []
    for contender, points in curves:
        ats = [at for at, _ in points]
        color = shade[contender]
        handles.append(
            axes.plot(ats, [i.mean for _, i in points], color=color, marker=marker[contender],
                      markersize=4.5, linewidth=1.3)[0]
        )  # fmt: skip
        if all(i.known for _, i in points):
            axes.fill_between(ats, [i.low for _, i in points], [i.high for _, i in points],
                              color=color, alpha=0.18, linewidth=0)  # fmt: skip
    return handles


def where_of(spec: FigureSpec) -> dict[str, Any]:
    """The fixed swept values of a figure."""
    return dict(spec.options.get("where", {}))


def chosen(spec: FigureSpec, *default: str) -> list[str]:
    """The names under ``metric``, one or several."""
    value = spec.options.get("metric", list(default))
    return [value] if isinstance(value, str) else list(value)


def contenders_of(spec: FigureSpec, runs: Runs) -> list[Label]:
    """The contenders of a figure: the values of ``by``, or those of them that ``only`` names."""
    levels = runs.levels(spec.options["by"], where_of(spec))
    only = spec.options.get("only")
    return [level for level in levels if only is None or level in only]


def labels(spec: FigureSpec, groups: Sequence[Label]) -> list[str]:
    """The names of the groups: ``labels`` of the figure, or the swept values."""
    if "labels" in spec.options:
        return [str(label) for label in spec.options["labels"]]
    ues = spec.options.get("x") == "access.ues"
    return [f"{group} UEs" if ues else str(group) for group in groups]


def position_of(spec: FigureSpec, level: Label) -> float:
    """The position of a swept value on an axis: its leading number, ``times`` a factor."""
    return leading_number(level) * float(spec.options.get("times", 1))


def patches(names: Sequence[Label], shade: Mapping[Label, str]) -> list[Any]:
    """The patches of colour of contenders, for a legend."""
    from matplotlib.patches import Patch

    return [Patch(facecolor=shade[n], edgecolor=shade[n], alpha=0.7) for n in names]
