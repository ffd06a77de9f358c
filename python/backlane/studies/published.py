"""Published values, drawn into the figures of a study beside its own.

``published`` of a figure lists values that the paper's text or tables state. An entry has a
``value``, or an interval from ``low`` to ``high``, in the unit of the figure's axis, and the
``source``. ``by`` and ``x`` name the contender and the group or number that it belongs to,
``metric`` the panel of a figure with several, and ``flow`` a flow where flows are drawn; what is
left out means all of them. A value of one place is a diamond, any other a dashed line. In a
distribution a ``share`` makes the value a point of it; in a load, ``metric = "delivery"`` puts it
on the right axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.report.figures import INK, PAPER, legend
from backlane.studies.study import refuse_unknown, take
from backlane.studies.style import chosen, position_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.campaign.plan import Label
    from backlane.studies.study import FigureSpec

LABEL = "published"
PLACES = frozenset({"candlesticks", "load", "bars", "bins"})
"""Forms with a place for each group and contender."""
FORMS = PLACES | {
    "lines", "ratio", "drops", "traces", "panels", "rates", "ecdf", "density", "displacements",
}  # fmt: skip
"""Forms that draw published values."""
_KEYS = {"value", "low", "high", "x", "by", "metric", "flow", "share", "source"}
_DASHES: dict[str, Any] = {"linestyle": (0, (4, 2)), "linewidth": 1.3, "zorder": 5}
_DIAMOND: dict[str, Any] = {
    "marker": "D", "markersize": 5.5, "markerfacecolor": PAPER, "markeredgecolor": INK,
    "markeredgewidth": 1.3, "linestyle": "none", "zorder": 6,
}  # fmt: skip


@dataclass(frozen=True)
class Mark:
    """One published value.

    Attributes:
        low: the value, or the lower end of the interval, in the unit of the axis.
        high: the same, or the upper end.
        x: group, or number of the axis; None for all.
        by: contender; None for all.
        metric: panel; None for the only one or all.
        flow: where flows are drawn; None for all.
        share: ordinate of a point of a distribution; NaN if the value alone is known.
        source: section, table or figure of the paper.
    """

    low: float
    high: float
    x: Label | None
    by: Label | None
    metric: str | None
    flow: str | None
    share: float
    source: str

    @property
    def middle(self) -> float:
        """The value, or the middle of the interval."""
        return (self.low + self.high) / 2

    def row(self) -> list[Any]:
        """A row of the figure's CSV."""
        where = [name for name in (self.x, self.by, self.flow) if name is not None]
        return [LABEL, *where, self.low, self.high, self.source]


def marks(spec: FigureSpec, metric: str | None = None) -> list[Mark]:
    """The published values of a figure, or of its panel for a metric.

    Raises:
        BacklaneError: R022 when an entry is wrong.
    """
    found = [_mark(one, f"figure {spec.id}: published") for one in _entries(spec)]
    return [one for one in found if None in (metric, one.metric) or one.metric == metric]


def _entries(spec: FigureSpec) -> list[Any]:
    entries: list[Any] = take(spec.options, "published", list, f"figure {spec.id}", [])
    return entries


def _mark(entry: Any, place: str) -> Mark:
    if not isinstance(entry, dict):
        raise BacklaneError("R022", "an entry is not a table", place, "write { value = … }")
    refuse_unknown(entry, _KEYS, place)
    ends = [entry[key] for key in ("value", "low", "high") if key in entry]
    both = "low" in entry and "high" in entry and "value" not in entry
    if not both and list(entry.keys() & {"value", "low", "high"}) != ["value"]:
        raise BacklaneError("R022", "no single value", place, "write `value`, or `low` and `high`")
    share = entry.get("share", math.nan)
    for number in [*ends, share]:
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise BacklaneError("R022", f"{number!r} is no number", place, "fix the value")
    return Mark(
        low=float(ends[0]),
        high=float(ends[-1]),
        x=entry.get("x"),
        by=entry.get("by"),
        metric=entry.get("metric"),
        flow=entry.get("flow"),
        share=float(share),
        source=take(entry, "source", str, place),
    )


def check(spec: FigureSpec, cells: Sequence[Mapping[str, Any]], *, quick: bool = False) -> None:
    """Check before the first run that the published values have a place in the figure.

    Args:
        spec: the figure.
        cells: the swept values of each cell of its experiment.
        quick: whether some of the cells are missing; values without a place are left out then.

    Raises:
        BacklaneError: R022 when an entry is wrong, or names what is not swept or not drawn.
    """
    place = f"figure {spec.id}: published"
    found = marks(spec)
    if found and spec.kind not in FORMS:
        known = ", ".join(sorted(FORMS))
        raise BacklaneError("R022", f'"{spec.kind}" draws none', place, f"forms that do: {known}")
    drawn = ["delivery"] if spec.kind == "load" else chosen(spec)
    keys: dict[str, str] = {"by": spec.options["by"]}
    if spec.kind in PLACES - {"bins"}:
        keys["x"] = spec.options.get("x", "")
    for one in found:
        if one.metric is not None and one.metric not in drawn:
            raise BacklaneError("R022", f'"{one.metric}" is not drawn', place, "name a metric")
        for name, key in keys.items():
            value = getattr(one, name)
            if value is not None and not quick and all(cell.get(key) != value for cell in cells):
                raise BacklaneError("R022", f'`{name}`: no run has "{value}"', place,
                                    "name a swept value")  # fmt: skip


def note(found: Sequence[Mark]) -> str:
    """A sentence on the published values of a figure; empty if there are none."""
    sources = list(dict.fromkeys(one.source for one in found))
    return f" Diamonds and dashed lines are published ({'; '.join(sources)})." if sources else ""


def key(
    figure: Figure, handles: Sequence[Any], names: Sequence[Label], found: Sequence[Mark]
) -> None:
    """A legend with an entry for published values, if there are any."""
    from matplotlib.lines import Line2D

    texts = [str(name) for name in names]
    if not found:
        legend(figure, handles, texts)
        return
    shown = Line2D([], [], **(_DIAMOND | {"linestyle": (0, (2, 1)), "color": INK}))
    legend(figure, [*handles, shown], [*texts, LABEL], least=1)


def paint_places(
    axes: Axes, found: Sequence[Mark], places: Mapping[tuple[Label, Label], float]
) -> None:
    """Draw values at the places of groups and contenders.

    Args:
        axes: the axes.
        found: the values.
        places: the place of each group and contender; the group is "" in a figure without.
    """
    for one in found:
        ats = [
            at for (group, name), at in places.items()
            if one.x in (None, group) and one.by in (None, name)
        ]  # fmt: skip
        if one.by is None:
            _level(axes, one, (min(ats) - 0.42, max(ats) + 0.42) if ats else None, INK)
            continue
        for at in ats:
            _point(axes, at, one)


def paint_points(
    axes: Axes, found: Sequence[Mark], spec: FigureSpec, shade: Mapping[Label, str]
) -> None:
    """Draw values at numbers of the horizontal axis; without a number, over the whole axis."""
    for one in found:
        color = color_by(shade)(one)
        if one.x is None:
            _level(axes, one, None, color)
        else:
            _point(axes, position_of(spec, one.x), one, color)


def paint_levels(axes: Axes, found: Iterable[Mark], color: Callable[[Mark], str]) -> None:
    """Draw values as lines over the whole axis."""
    for one in found:
        _level(axes, one, None, color(one))


def paint_abscissas(axes: Axes, found: Iterable[Mark], color: Callable[[Mark], str]) -> None:
    """Draw values of the horizontal axis: a diamond at their share, or an upright line."""
    for one in found:
        if not math.isnan(one.share):
            turned = replace(one, low=one.share, high=one.share)
            _point(axes, one.middle, turned, color(one))
        elif one.low == one.high:
            axes.axvline(one.low, color=color(one), **_DASHES)
        else:
            axes.axvspan(one.low, one.high, color=color(one), alpha=0.15, linewidth=0)


def _point(axes: Axes, at: float, one: Mark, color: str = INK) -> None:
    if one.low != one.high:
        axes.vlines(at, one.low, one.high, color=color, **_DASHES)
    axes.plot([at], [one.middle], **(_DIAMOND | {"markeredgecolor": color}))


def _level(axes: Axes, one: Mark, ends: tuple[float, float] | None, color: str) -> None:
    for value in {one.low, one.high}:
        if ends is None:
            axes.axhline(value, color=color, **_DASHES)
        else:
            axes.hlines(value, *ends, color=color, **_DASHES)


def color_by(shade: Mapping[Label, str]) -> Callable[[Mark], str]:
    """The colour of a value: that of its contender, or ink."""
    return lambda one: shade.get(one.by, INK) if one.by is not None else INK
