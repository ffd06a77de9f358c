"""Links over radios as a graph: the colour is the channel, the width the bytes carried."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane.report.figures import FAINT, INK, PAPER, Drawn, draw, slug, source_of
from backlane.report.map import Place, color_of, places
from backlane.text import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.report.data import CellData, Network
    from backlane.results import Results

_MOST_GRAPHS = 9
_MOST_NAMED = 60
_WIDEST = 7.0
_NARROWEST = 0.8
_LEGEND_COLUMNS = 4
_LEGEND_ROW_IN = 0.19


@dataclass(frozen=True)
class Load:
    """The load of a link over radios, mean over runs.

    Attributes:
        a: one end.
        b: the other end.
        channel: of its radios.
        forth_bytes: from `a` to `b`.
        back_bytes: from `b` to `a`.
    """

    a: str
    b: str
    channel: int
    forth_bytes: float
    back_bytes: float


def loads(results: Results, run_ids: Sequence[str]) -> list[Load]:
    """The links over radios of some runs, with the mean load of each direction."""
    import polars as pl

    links = results.links
    if "channel" not in links.columns:
        return []
    carried = (
        links.filter(pl.col("run_id").is_in(list(run_ids)) & pl.col("channel").is_not_null())
        .group_by("from", "to", "channel", maintain_order=True)
        .agg(pl.col("bytes").mean())
    )
    directed = {(a, b, channel): float(mean or 0.0) for a, b, channel, mean in carried.rows()}
    found: dict[tuple[str, str, int], Load] = {}
    for (a, b, channel), size in directed.items():
        if (b, a, channel) not in found:
            back = directed.get((b, a, channel), 0.0)
            found[a, b, channel] = Load(a, b, channel, size, back)
    return list(found.values())


def paint_mesh(
    axes: Axes,
    where: Mapping[str, Place],
    links: Sequence[Load],
    scale: float = 1.0,
    top_bytes: float | None = None,
) -> None:
    """Draw links and nodes on axes of equal scale.

    Each direction is a line on the right in its direction. A link without load is a thin line.

    Args:
        axes: where to draw.
        where: the place of each node.
        links: what to draw.
        scale: factor of the places.
        top_bytes: the load of the widest line; the largest of `links` if left out.
    """
    top = top_bytes or _most_bytes(links)
    channels = sorted({one.channel for one in links})
    for one in links:
        color = channel_color(channels, one.channel)
        for start, end, size in ((one.a, one.b, one.forth_bytes), (one.b, one.a, one.back_bytes)):
            _paint_direction(axes, where[start], where[end], scale, color, size / top)
        middle = [
            (getattr(where[one.a], axis) + getattr(where[one.b], axis)) / 2 * scale
            for axis in ("x_m", "y_m")
        ]
        axes.annotate(
            str(one.channel),
            (middle[0], middle[1]),
            ha="center",
            va="center",
            fontsize=7,
            color=INK,
            zorder=2.5,
            bbox={"boxstyle": "circle,pad=0.15", "facecolor": PAPER, "edgecolor": color, "lw": 0.8},
        )
    shown = {end: where[end] for one in links for end in (one.a, one.b)}
    # The limits of the axes do not include lines beside their places.
    axes.update_datalim([(place.x_m * scale, place.y_m * scale) for place in shown.values()])
    axes.autoscale_view()
    named = len(shown) <= _MOST_NAMED
    for name, place in shown.items():
        axes.annotate(
            name if named else "",
            (place.x_m * scale, place.y_m * scale),
            ha="center",
            va="center",
            fontsize=8,
            zorder=3,
            bbox={"boxstyle": "round,pad=0.25", "facecolor": PAPER, "edgecolor": INK, "lw": 0.8},
        )


def _paint_direction(
    axes: Axes, start: Place, end: Place, scale: float, color: str, share: float
) -> None:
    """A line from `start` to `end`, moved to its right by half of its width in points."""
    from matplotlib.transforms import ScaledTranslation

    width = _NARROWEST + (_WIDEST - _NARROWEST) * min(max(share, 0.0), 1.0)
    across, up = end.x_m - start.x_m, end.y_m - start.y_m
    length = math.hypot(across, up) or 1.0
    aside = (width / 2 + 0.4) / 72
    figure = axes.get_figure(root=True)
    if figure is None:
        return
    moved = ScaledTranslation(aside * up / length, -aside * across / length, figure.dpi_scale_trans)
    axes.plot(
        [start.x_m * scale, end.x_m * scale],
        [start.y_m * scale, end.y_m * scale],
        color=color,
        linewidth=width,
        solid_capstyle="butt",
        transform=axes.transData + moved,
        zorder=1,
    )


def channel_color(channels: Sequence[int], channel: int) -> str:
    """The colour of a channel among those in use; it repeats after seven."""
    return color_of(list(channels).index(channel))


def _most_bytes(links: Sequence[Load]) -> float:
    """The largest load of a direction; 1 without load."""
    return max((max(one.forth_bytes, one.back_bytes) for one in links), default=0.0) or 1.0


def mesh_legend(figure: Figure, links: Sequence[Load], top_bytes: float | None = None) -> None:
    """A legend of channels and widths above the axes."""
    from matplotlib.lines import Line2D

    top = top_bytes or _most_bytes(links)
    channels = sorted({one.channel for one in links})
    steps = (0.0, 0.5, 1.0)
    handles = [
        *(Line2D([], [], color=channel_color(channels, one), linewidth=3) for one in channels),
        *(
            Line2D([], [], color=INK, linewidth=_NARROWEST + (_WIDEST - _NARROWEST) * step)
            for step in steps
        ),
    ]
    labels = [
        *(f"channel {one}" for one in channels),
        *(f"{number(top * step / 1e6)} MB" for step in steps),
    ]
    figure.legend(
        handles,
        labels,
        loc="outside upper left",
        ncols=_LEGEND_COLUMNS,
        handlelength=1.3,
        columnspacing=1.0,
        fontsize=8,
        borderaxespad=0.1,
        labelspacing=0.3,
    )


def legend_rows(links: Sequence[Load]) -> int:
    """Rows of that legend."""
    return -(-(len({one.channel for one in links}) + 3) // _LEGEND_COLUMNS)


def graphs(network: Network, condition: str) -> list[Drawn]:
    """A graph for each contender under a condition; none without links over radios."""
    cells = [cell for cell in network.at(condition) if cell.run_ids][:_MOST_GRAPHS]
    found = [loads(cell.results, list(cell.run_ids.values())) for cell in cells]
    most = _most_bytes([one for links in found for one in links])
    return [
        _graph(network, cell, links, most)
        for cell, links in zip(cells, found, strict=True)
        if links
    ]


def _graph(network: Network, cell: CellData, links: list[Load], top_bytes: float) -> Drawn:
    everywhere = places(cell)
    shown = {end for one in links for end in (one.a, one.b)}
    where = {name: place for name, place in everywhere.items() if name in shown}
    rows: list[list[Any]] = [["a", "b", "channel", "a_to_b_bytes", "b_to_a_bytes", "a_x_m", "a_y_m",
                              "b_x_m", "b_y_m"]]  # fmt: skip
    for one in links:
        pa, pb = where[one.a], where[one.b]
        rows.append([one.a, one.b, one.channel, one.forth_bytes, one.back_bytes, pa.x_m, pa.y_m,
                     pb.x_m, pb.y_m])  # fmt: skip
    across_m, height_m = (
        max(values) - min(values)
        for values in ([p.x_m for p in where.values()], [p.y_m for p in where.values()])
    )
    scale, unit = (1e-3, "km") if max(across_m, height_m) >= 3000 else (1.0, "m")

    def paint(figure: Figure, axes: Axes) -> None:
        axes.set_aspect("equal", anchor="N")
        axes.margins(0.1)
        paint_mesh(axes, where, links, scale, top_bytes)
        axes.set_xlabel(f"x in {unit}")
        axes.set_ylabel(f"y in {unit}", labelpad=6)
        axes.grid(False)
        axes.tick_params(color=FAINT)
        mesh_legend(figure, links, top_bytes)

    tall = height_m / max(across_m, 1.0)
    at = f", {cell.condition}" if cell.condition else ""
    return draw(
        f"{slug(network.name)}-channels-{slug(cell.contender)}",
        f"Channels and load, {network.name}, {cell.contender}{at}",
        _reading(cell.contender, links),
        rows,
        paint,
        height_in=min(max(3.2 * tall + 0.95, 2.2), 4.9) + _LEGEND_ROW_IN * legend_rows(links),
        source=source_of(network),
    )


def _reading(contender: str, links: Sequence[Load]) -> str:
    """Which channel carries most, and the busiest link."""
    by_channel: dict[int, float] = {}
    for one in links:
        by_channel[one.channel] = (
            by_channel.get(one.channel, 0.0) + one.forth_bytes + one.back_bytes
        )
    total = sum(by_channel.values())
    most = max(by_channel, key=lambda channel: by_channel[channel])
    busiest = max(links, key=lambda one: max(one.forth_bytes, one.back_bytes))
    a, b = busiest.a, busiest.b
    if busiest.back_bytes > busiest.forth_bytes:
        a, b = b, a
    share = by_channel[most] / total * 100 if total else 0.0
    size = max(busiest.forth_bytes, busiest.back_bytes)
    return (
        f"With {contender}, channel {most} carries {number(share)} % of all that goes over radios; "
        f"the busiest link is {a} → {b} with {number(size / 1e6)} MB (mean over run and seeds)."
    )
