"""Utilisation of the links on the map of the network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from backlane.report.colors import PALETTE
from backlane.report.figures import FAINT, INK, LEVELS, PAPER, Drawn, draw, slug, source_of
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
_APART = 0.16
"""Distance of the core network from the map, as a share of its size."""
_MOST_NAMED = 30
_MOST_MAPS = 9


@dataclass(frozen=True)
class LinkLoad:
    """The load of a link, mean over seeds.

    Attributes:
        a: one end.
        b: the other end.
        forth: utilisation from `a` to `b`, 0 to 1; of a link over radios, of the time on the air.
        back: utilisation from `b` to `a`.
        busiest_forth: the same in the busiest second; NaN if it is not known.
        busiest_back: the same from `b` to `a`.
        channel: of a link over radios.
        rate_bps: the nominal rate; NaN if it is not known.
    """

    a: str
    b: str
    forth: float
    back: float
    busiest_forth: float
    busiest_back: float
    channel: int | None
    rate_bps: float

    @property
    def most(self) -> float:
        """Of the busier direction."""
        return max(self.forth, self.back)


@dataclass(frozen=True)
class Place:
    """Where a node is drawn.

    Attributes:
        kind: of the node.
        x_m: to the right.
        y_m: upwards.
        is_apart: whether it has no position, and stands beside the map.
        degrees: latitude and longitude, if the scenario gives them.
    """

    kind: str
    x_m: float
    y_m: float
    is_apart: bool = False
    degrees: tuple[float, float] | None = None


def maps(network: Network, condition: str) -> list[Drawn]:
    """One map per contender under a condition; none when the nodes have no links."""
    cells = [cell for cell in network.at(condition) if cell.run_ids][:_MOST_MAPS]
    placed = [places(cell) for cell in cells]
    links = [loads(cell, set(places)) for cell, places in zip(cells, placed, strict=True)]
    return [
        _map(network, cell, places, found)
        for cell, places, found in zip(cells, placed, links, strict=True)
        if found
    ]


def loads(cell: CellData, names: set[str]) -> list[LinkLoad]:
    """The links between named nodes, with means over seeds."""
    import polars as pl

    links = cell.results.links.filter(pl.col("run_id").is_in(list(cell.run_ids.values())))
    lacking = {"channel": pl.Int64, "busiest_second": pl.Float64}
    links = links.with_columns(
        pl.lit(None, dtype=kind).alias(name)
        for name, kind in lacking.items()
        if name not in links.columns
    )
    ends = ["from", "to", "channel"]
    means = links.group_by(ends, maintain_order=True).agg(
        pl.col("utilisation").mean(), pl.col("busiest_second").mean(), pl.col("rate_bps").mean()
    )
    directed = {
        (a, b, channel): tuple(math.nan if value is None else float(value) for value in found)
        for a, b, channel, *found in means.rows()
        if a in names and b in names
    }
    nothing = (0.0, math.nan, math.nan)
    listed = []
    for (a, b, channel), (forth, busiest_forth, rate_bps) in directed.items():
        if (b, a, channel) in directed and a > b:
            continue
        back, busiest_back, _ = directed.get((b, a, channel), nothing)
        listed.append(LinkLoad(a, b, forth, back, busiest_forth, busiest_back, channel, rate_bps))
    return listed


def places(cell: CellData) -> dict[str, Place]:
    """Where each node of the backhaul is drawn.

    A node of the core network without a position stands apart, above the map. Routers without
    positions are on a circle: if one of them has none, the map is a scheme.
    """
    import polars as pl

    first = next(iter(cell.run_ids.values()))
    nodes = cell.results.nodes.filter(pl.col("run_id") == first)
    rows = [row for row in nodes.iter_rows(named=True) if row["kind"] != "ue"]
    known = {
        row["id"]: Place(row["kind"], float(row["x_m"]), float(row["y_m"]), degrees=_degrees(row))
        for row in rows
        if row["x_m"] is not None and row["y_m"] is not None
    }
    mesh = [row for row in rows if row["id"] not in known and row["kind"] in ("enodeb", "router")]
    radius = max((math.hypot(p.x_m, p.y_m) for p in known.values()), default=500.0) * 1.2
    for index, row in enumerate(mesh):
        angle = 2 * math.pi * index / len(mesh)
        at = radius * math.cos(angle), radius * math.sin(angle)
        known[row["id"]] = Place(row["kind"], *at, is_apart=True)
    xs = [place.x_m for place in known.values()] or [0.0]
    ys = [place.y_m for place in known.values()] or [0.0]
    size = max(max(xs) - min(xs), max(ys) - min(ys), 1.0)
    core = [row for row in rows if row["id"] not in known]
    for index, row in enumerate(core):
        x = min(xs) + (max(xs) - min(xs)) * (index + 1) / (len(core) + 1)
        known[row["id"]] = Place(row["kind"], x, max(ys) + _APART * size, is_apart=True)
    return known


def _degrees(row: dict[str, Any]) -> tuple[float, float] | None:
    latitude, longitude = row.get("latitude_deg"), row.get("longitude_deg")
    return None if latitude is None or longitude is None else (latitude, longitude)


def _map(
    network: Network, cell: CellData, places: dict[str, Place], links: list[LinkLoad]
) -> Drawn:
    epcs = {name for name, place in places.items() if place.kind == "epc"}
    gateways = {
        other
        for link in links
        for hub, other in ((link.a, link.b), (link.b, link.a))
        if hub in epcs and places[other].kind in ("enodeb", "router")
    }
    rows: list[list[Any]] = [["a", "b", "utilisation_a_to_b", "utilisation_b_to_a",
                              "busiest_second_a_to_b", "busiest_second_b_to_a", "a_x_m", "a_y_m",
                              "b_x_m", "b_y_m", "channel"]]  # fmt: skip
    for one in links:
        pa, pb = (places[end] for end in (one.a, one.b))
        at = [None if p.is_apart else v for p in (pa, pb) for v in (p.x_m, p.y_m)]
        rows.append([one.a, one.b, one.forth, one.back, one.busiest_forth, one.busiest_back, *at,
                     one.channel])  # fmt: skip
    across_m, height_m = (
        max(values) - min(values)
        for values in ([p.x_m for p in places.values()], [p.y_m for p in places.values()])
    )
    scale, unit = (1e-3, "km") if max(across_m, height_m) >= 3000 else (1.0, "m")

    channels = sorted({one.channel for one in links if one.channel is not None})
    legend_rows = -(-(len(LEVELS) + len(_MARKS) + len(channels)) // _LEGEND_COLUMNS)
    usual_rows = -(-(len(LEVELS) + len(_MARKS)) // _LEGEND_COLUMNS)

    def paint(figure: Figure, axes: Axes) -> None:
        _paint_channels(axes, links, places, scale, channels)
        _paint_links(axes, links, places, scale)
        _paint_nodes(axes, places, gateways, scale)
        axes.set_aspect("equal", anchor="N")
        axes.set_xlabel(f"x in {unit}")
        axes.set_ylabel(f"y in {unit}", labelpad=6)
        axes.grid(False)
        axes.margins(0.06)
        _paint_apart(axes, places, scale)
        _legends(figure, channels)

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
        source=source_of(network),
    )


def _level(share: float) -> int:
    return min(int(max(share, 0.0) * len(LEVELS)), len(LEVELS) - 1)


def _paint_channels(
    axes: Axes,
    links: list[LinkLoad],
    places: dict[str, Place],
    scale: float,
    channels: list[int],
) -> None:
    """A broad band below each link over radios, in the colour of its channel."""
    for one in links:
        if one.channel is not None:
            ends = places[one.a], places[one.b]
            axes.plot(
                [place.x_m * scale for place in ends],
                [place.y_m * scale for place in ends],
                color=color_of(channels.index(one.channel)),
                linewidth=_BAND_WIDTH,
                alpha=_BAND_ALPHA,
                solid_capstyle="round",
                zorder=0.5,
            )


def color_of(number: int) -> str:
    """The colour of a channel by its place among those in use."""
    return PALETTE[number % len(PALETTE)]


def _paint_links(axes: Axes, links: list[LinkLoad], places: dict[str, Place], scale: float) -> None:
    for one in sorted(links, key=lambda link: link.most):
        level = _level(one.most)
        pa, pb = places[one.a], places[one.b]
        axes.plot(
            [pa.x_m * scale, pb.x_m * scale],
            [pa.y_m * scale, pb.y_m * scale],
            color=LEVELS[level],
            linewidth=_WIDTHS[level],
            solid_capstyle="round",
            zorder=1 + level / 10,
        )


def _paint_apart(axes: Axes, places: dict[str, Place], scale: float) -> None:
    """A frame around the nodes that stand apart, and axes that end where the map does."""
    from matplotlib.patches import Rectangle

    apart = [p for p in places.values() if p.is_apart and p.kind in ("epc", "server")]
    mapped = [p for p in places.values() if p not in apart]
    if any(place.is_apart for place in mapped):
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_xlabel("a scheme: the nodes have no positions")
        axes.set_ylabel("")
    if not apart or not mapped:
        return
    xs, ys = ([getattr(place, axis) * scale for place in mapped] for axis in ("x_m", "y_m"))
    size = max(max(xs) - min(xs), max(ys) - min(ys), scale)
    half = 0.45 * _APART * size
    top = apart[0].y_m * scale
    width = max(max(xs) - min(xs), 0.4 * size)
    axes.add_patch(
        Rectangle(((min(xs) + max(xs) - width) / 2, top - half), width, 2 * half, fill=False,
                  linestyle="--", edgecolor=FAINT, linewidth=0.9)
    )  # fmt: skip
    axes.annotate("core network", ((min(xs) + max(xs) - width) / 2, top + half), xytext=(2, 2),
                  textcoords="offset points", fontsize=7.5)  # fmt: skip
    ticks = axes.get_yticks()
    axes.set_yticks([tick for tick in ticks if min(ys) <= tick <= max(ys)])


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


def _legends(figure: Figure, channels: list[int]) -> None:
    from matplotlib.lines import Line2D

    bounds = [100 * step / len(LEVELS) for step in range(len(LEVELS) + 1)]
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


def _reading(contender: str, links: list[LinkLoad]) -> str:
    directed = [
        direction
        for one in links
        for direction in (
            (one.a, one.b, one.forth, one.busiest_forth),
            (one.b, one.a, one.back, one.busiest_back),
        )
    ]
    a, b, most, second = max(directed, key=lambda link: link[2])
    busier = sorted(one.most for one in links)
    median = busier[len(busier) // 2]
    peak = "" if math.isnan(second) else f" and {number(second * 100)} % in its busiest second"
    return (
        f"With {contender} the busiest link is {a} → {b} at {number(most * 100)} %{peak}; half of "
        f"the links stay below {number(median * 100)} % (busier direction, mean over run and "
        "seeds)."
    )
