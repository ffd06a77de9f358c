"""Utilisation of the links on the map of the network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from backlane.report.figures import FAINT, INK, LEVELS, PALETTE, PAPER, Drawn, draw, slug
from backlane.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.report.data import CellData, Network

_WIDTHS = (1.1, 1.7, 2.4, 3.2, 4.2)
_BAND_WIDTH = 4.5
_BAND_ALPHA = 0.25
_LEGEND_COLUMNS = 3
_LEGEND_ROW_IN = 0.19
_MOST_NAMED = 30
_MOST_MAPS = 9
_TOPS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Upper ends of the colour scale; the maps of one network share the smallest that suffices."""

_Link = tuple[str, str, float, float, int | None]
"""(a, b, utilisation a→b, utilisation b→a, channel of a link over radios)."""


@dataclass(frozen=True)
class Place:
    """Where a node is drawn.

    Attributes:
        kind: of the node.
        x_m: to the right.
        y_m: upwards.
    """

    kind: str
    x_m: float
    y_m: float


def maps(network: Network, condition: str) -> list[Drawn]:
    """One map per contender under a condition; none when the nodes have no links."""
    cells = [cell for cell in network.at(condition) if cell.run_ids][:_MOST_MAPS]
    placed = [places(cell) for cell in cells]
    links = [
        _mean_utilisation(cell, set(places)) for cell, places in zip(cells, placed, strict=True)
    ]
    most = max((max(link[2], link[3]) for found in links for link in found), default=0.0)
    top = next(step for step in _TOPS if step >= min(most, 1.0))
    return [
        _map(network, cell, places, found, top)
        for cell, places, found in zip(cells, placed, links, strict=True)
        if found
    ]


def _mean_utilisation(cell: CellData, names: set[str]) -> list[_Link]:
    """Means over seeds for the links between named nodes; over radios, of the time on the air."""
    import polars as pl

    links = cell.results.links.filter(pl.col("run_id").is_in(list(cell.run_ids.values())))
    if "channel" not in links.columns:
        links = links.with_columns(pl.lit(None, dtype=pl.Int64).alias("channel"))
    ends = ["from", "to", "channel"]
    means = links.group_by(ends, maintain_order=True).agg(pl.col("utilisation").mean())
    directed = {
        (a, b, channel): float(u or 0.0)
        for a, b, channel, u in means.rows()
        if a in names and b in names
    }
    return [
        (a, b, forth, directed.get((b, a, channel), 0.0), channel)
        for (a, b, channel), forth in directed.items()
        if (b, a, channel) not in directed or a < b
    ]


def places(cell: CellData) -> dict[str, Place]:
    """Where each node of the backhaul is drawn.

    Nodes without a position are placed beside the others: the EPC to the right of the network, at
    the height of its neighbours, a server beyond it; if no node has a position, on a circle.
    """
    import polars as pl

    first = next(iter(cell.run_ids.values()))
    nodes = cell.results.nodes.filter(pl.col("run_id") == first)
    rows = [row for row in nodes.iter_rows(named=True) if row["kind"] != "ue"]
    known = {
        row["id"]: Place(row["kind"], float(row["x_m"]), float(row["y_m"]))
        for row in rows
        if row["x_m"] is not None and row["y_m"] is not None
    }
    mesh = [row for row in rows if row["id"] not in known and row["kind"] in ("enodeb", "router")]
    if mesh:
        radius = max((math.hypot(p.x_m, p.y_m) for p in known.values()), default=500.0) * 1.2
        for index, row in enumerate(mesh):
            angle = 2 * math.pi * index / len(mesh)
            known[row["id"]] = Place(
                row["kind"], radius * math.cos(angle), radius * math.sin(angle)
            )
    right = max((p.x_m for p in known.values()), default=0.0)
    width = max(
        right - min((p.x_m for p in known.values()), default=0.0),
        max((p.y_m for p in known.values()), default=0.0)
        - min((p.y_m for p in known.values()), default=0.0),
        1.0,
    )
    heights = [p.y_m for p in known.values()]
    middle = sum(heights) / len(heights) if heights else 0.0
    aside = [row for row in rows if row["id"] not in known]
    for step, kind in ((0.22, "epc"), (0.42, "server")):
        members = [row for row in aside if row["kind"] == kind]
        for index, row in enumerate(members):
            offset = (index - (len(members) - 1) / 2) * 0.25 * width
            known[row["id"]] = Place(kind, right + step * width, middle + offset)
    return known


def _map(
    network: Network, cell: CellData, places: dict[str, Place], links: list[_Link], top: float
) -> Drawn:
    epcs = {name for name, place in places.items() if place.kind == "epc"}
    gateways = {
        other
        for a, b, *_ in links
        for hub, other in ((a, b), (b, a))
        if hub in epcs and places[other].kind in ("enodeb", "router")
    }
    rows: list[list[Any]] = [["a", "b", "utilisation_a_to_b", "utilisation_b_to_a", "a_x_m",
                              "a_y_m", "b_x_m", "b_y_m", "channel"]]  # fmt: skip
    for a, b, forth, back, channel in links:
        pa, pb = places[a], places[b]
        rows.append([a, b, forth, back, pa.x_m, pa.y_m, pb.x_m, pb.y_m, channel])
    across_m, height_m = (
        max(values) - min(values)
        for values in ([p.x_m for p in places.values()], [p.y_m for p in places.values()])
    )
    scale, unit = (1e-3, "km") if max(across_m, height_m) >= 3000 else (1.0, "m")

    channels = sorted({link[4] for link in links if link[4] is not None})
    legend_rows = -(-(len(LEVELS) + len(_MARKS) + len(channels)) // _LEGEND_COLUMNS)
    usual_rows = -(-(len(LEVELS) + len(_MARKS)) // _LEGEND_COLUMNS)

    def paint(figure: Figure, axes: Axes) -> None:
        _paint_channels(axes, links, places, scale, channels)
        _paint_links(axes, links, places, scale, top)
        _paint_nodes(axes, places, gateways, scale)
        axes.set_aspect("equal", anchor="N")
        axes.set_xlabel(f"x in {unit}")
        axes.set_ylabel(f"y in {unit}", labelpad=6)
        axes.grid(False)
        axes.margins(0.06)
        _legends(figure, top, channels)

    tall = height_m / max(across_m, 1.0)
    where = f", {cell.condition}" if cell.condition else ""
    return draw(
        f"{slug(network.name)}-map-{slug(cell.contender)}",
        f"Link utilisation, {network.name}, {cell.contender}{where}",
        _reading(cell.contender, links),
        rows,
        paint,
        height_in=min(max(3.45 * tall + 1.3, 2.6), 4.9)
        + _LEGEND_ROW_IN * (legend_rows - usual_rows),
    )


def _level(share: float) -> int:
    return min(int(max(share, 0.0) * len(LEVELS)), len(LEVELS) - 1)


def _paint_channels(
    axes: Axes,
    links: list[_Link],
    places: dict[str, Place],
    scale: float,
    channels: list[int],
) -> None:
    """A broad band below each link over radios, in the colour of its channel."""
    for a, b, _, _, channel in links:
        if channel is not None:
            ends = places[a], places[b]
            axes.plot(
                [place.x_m * scale for place in ends],
                [place.y_m * scale for place in ends],
                color=color_of(channels.index(channel)),
                linewidth=_BAND_WIDTH,
                alpha=_BAND_ALPHA,
                solid_capstyle="round",
                zorder=0.5,
            )


def color_of(number: int) -> str:
    """The colour of a channel by its place among those in use."""
    return PALETTE[number % len(PALETTE)]


def _paint_links(
    axes: Axes,
    links: list[_Link],
    places: dict[str, Place],
    scale: float,
    top: float,
) -> None:
    for a, b, forth, back, _ in sorted(links, key=lambda link: max(link[2], link[3])):
        level = _level(max(forth, back) / top)
        pa, pb = places[a], places[b]
        axes.plot(
            [pa.x_m * scale, pb.x_m * scale],
            [pa.y_m * scale, pb.y_m * scale],
            color=LEVELS[level],
            linewidth=_WIDTHS[level],
            solid_capstyle="round",
            zorder=1 + level / 10,
        )


_MARKS = {
    "node": ("o", PAPER, 22),
    "gateway": ("s", PALETTE[0], 40),
    "EPC": ("D", PALETTE[2], 52),
    "server": ("^", PALETTE[4], 66),
}


def _role(name: str, place: Place, gateways: set[str]) -> str:
    if place.kind == "epc":
        return "EPC"
    if place.kind == "server":
        return "server"
    return "gateway" if name in gateways else "node"


def _paint_nodes(axes: Axes, places: dict[str, Place], gateways: set[str], scale: float) -> None:
    small = len(places) > 2 * _MOST_NAMED
    for name, place in places.items():
        role = _role(name, place, gateways)
        mark, color, size = _MARKS[role]
        axes.scatter(
            place.x_m * scale,
            place.y_m * scale,
            marker=mark,
            s=size * (0.5 if small and role == "node" else 1),
            facecolor=color,
            edgecolor=INK,
            linewidth=0.7,
            zorder=3,
        )
        if role != "node" or len(places) <= _MOST_NAMED:
            axes.annotate(
                name,
                (place.x_m * scale, place.y_m * scale),
                xytext=(0, 6),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                zorder=4,
                bbox={"boxstyle": "square,pad=0.1", "facecolor": PAPER, "alpha": 0.7, "lw": 0},
            )


def _legends(figure: Figure, top: float, channels: list[int]) -> None:
    from matplotlib.lines import Line2D

    bounds = [top * 100 * step / len(LEVELS) for step in range(len(LEVELS) + 1)]
    steps = [Line2D([], [], color=c, linewidth=w) for c, w in zip(LEVELS, _WIDTHS, strict=True)]
    marks = [
        Line2D([], [], marker=mark, color=FAINT, markerfacecolor=color, markeredgecolor=INK,
               markersize=6.5, linewidth=0)
        for mark, color, _ in _MARKS.values()
    ]  # fmt: skip
    bands = [
        Line2D([], [], color=color_of(number), linewidth=_BAND_WIDTH, alpha=_BAND_ALPHA)
        for number in range(len(channels))
    ]
    figure.legend(
        [*steps, *marks, *bands],
        [
            *(f"{low:g}–{high:g} %" for low, high in pairwise(bounds)),
            *_MARKS,
            *(f"channel {channel}" for channel in channels),
        ],
        loc="outside upper left",
        ncols=_LEGEND_COLUMNS,
        handlelength=1.3,
        columnspacing=1.2,
        fontsize=8.5,
        borderaxespad=0.1,
        labelspacing=0.3,
    )


def _reading(contender: str, links: list[_Link]) -> str:
    directed = [
        (a, b, u) for a, b, forth, back, _ in links for a, b, u in ((a, b, forth), (b, a, back))
    ]
    a, b, most = max(directed, key=lambda link: link[2])
    busier = sorted(max(forth, back) for _, _, forth, back, _ in links)
    median = busier[len(busier) // 2]
    return (
        f"With {contender} the busiest link is {a} → {b} at {number(most * 100)} %; half of the "
        f"links stay below {number(median * 100)} % (busier direction, mean over run and seeds)."
    )
