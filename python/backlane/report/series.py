"""Congestion windows, goodput and queues over time, for one seed of each contender."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from backlane.report.colors import PALETTE
from backlane.report.figures import Drawn, draw, legend, slug, source_of
from backlane.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.report.data import CellData, Network
    from backlane.results import Results

_MOST_LINES = 3
_MOST_CONTENDERS = 6
_BUCKETS = 350


def count(results: Results, contenders: int) -> int:
    """The number of figures of series over time at one condition."""
    drawn = len({"cwnd", "goodput", "queue"} & set(results.series))
    return drawn * min(contenders, _MOST_CONTENDERS)


def windows(network: Network, condition: str) -> list[Drawn]:
    """The congestion window of up to three recorded flows, one figure per contender."""
    return _figures(network, condition, "cwnd", "cwnd_pkts", "congestion window in packets",
                    "Congestion window", "flow")  # fmt: skip


def goodputs(network: Network, condition: str) -> list[Drawn]:
    """The goodput between samples of up to three recorded flows, one figure per contender."""
    return _figures(network, condition, "goodput", "delivered_bytes", "goodput in Mbit/s",
                    "Goodput", "flow")  # fmt: skip


def queues(network: Network, condition: str) -> list[Drawn]:
    """The three fullest of the recorded queues, one figure per contender."""
    return _figures(network, condition, "queue", "queue_bytes", "queue in kB", "Queue", "queue",
                    1e-3)  # fmt: skip


def _figures(
    network: Network,
    condition: str,
    probe: str,
    column: str,
    axis: str,
    title: str,
    what: str,
    scale: float = 1.0,
) -> list[Drawn]:
    if probe not in network.results.series:
        return []
    drawn = []
    cells = [cell for cell in network.at(condition) if cell.run_ids][:_MOST_CONTENDERS]
    shared = _chosen(network, cells, probe)
    for cell in cells:
        seed = min(cell.run_ids)
        lines = {
            name: rates(times, values)
            if probe == "goodput"
            else (times, [value * scale for value in values])
            for name, (times, values) in _read(cell, seed, probe, column, shared).items()
        }
        # A rate needs two samples, which a short run may not have.
        lines = {name: line for name, line in lines.items() if line[0]}
        if not lines:
            continue
        where = f", {cell.condition}" if cell.condition else ""
        drawn.append(
            _figure(
                f"{slug(network.name)}-{probe}-{slug(cell.contender)}",
                f"{title}, {network.name}, {cell.contender}{where}, seed {seed}",
                lines,
                axis,
                what,
                source_of(network),
            )
        )
    return drawn


def rates(times: list[float], values: list[float]) -> tuple[list[float], list[float]]:
    """The goodput up to each sample but the first, in Mbit/s."""
    steps = list(pairwise(zip(times, values, strict=True)))
    return times[1:], [(v - u) * 8e-6 / (t - s) for (s, u), (t, v) in steps]


def _chosen(network: Network, cells: list[CellData], probe: str) -> list[str] | None:
    """Entities to draw: of flows the first that are recorded, the same for each contender."""
    import polars as pl

    if probe == "queue" or not cells:
        return None
    run_id = cells[0].run_ids[min(cells[0].run_ids)]
    scan = network.results.scan(f"series/{probe}").filter(pl.col("run_id") == run_id)
    names = scan.select(pl.col("entity").unique(maintain_order=True)).collect()
    return names.get_column("entity").to_list()[:_MOST_LINES]


def _read(
    cell: CellData, seed: int, probe: str, column: str, chosen: list[str] | None
) -> dict[str, tuple[list[float], list[float]]]:
    import polars as pl

    scan = cell.results.scan(f"series/{probe}")
    if column not in scan.collect_schema().names():
        return {}
    table = (
        scan.filter(pl.col("run_id") == cell.run_ids[seed], pl.col(column).is_not_null())
        .select("entity", pl.col("time_s").cast(pl.Float64), pl.col(column).cast(pl.Float64))
        .collect()
    )
    if chosen is None:
        fullest = (
            table.group_by("entity", maintain_order=True)
            .agg(pl.col(column).mean())
            .sort(column, descending=True, maintain_order=True)
        )
        chosen = fullest.get_column("entity").to_list()[:_MOST_LINES]
    lines = {}
    for name in chosen:
        one = table.filter(pl.col("entity") == name)
        if one.height:
            lines[name] = thin(one.get_column("time_s").to_list(), one.get_column(column).to_list())
    return lines


def thin(times: list[float], values: list[float]) -> tuple[list[float], list[float]]:
    """At most two samples per step of the time axis: its lowest and its highest.

    Extremes of windows and queues are kept.
    """
    if len(times) <= 2 * _BUCKETS:
        return times, values
    size = -(-len(times) // _BUCKETS)
    kept: list[int] = []
    for start in range(0, len(times), size):
        part = range(start, min(start + size, len(times)))
        low, high = min(part, key=values.__getitem__), max(part, key=values.__getitem__)
        kept += sorted({low, high})
    return [times[i] for i in kept], [values[i] for i in kept]


def _figure(
    key: str,
    title: str,
    lines: dict[str, tuple[list[float], list[float]]],
    axis: str,
    what: str,
    source: str,
) -> Drawn:
    unit = axis.rpartition(" ")[2]
    rows: list[list[Any]] = [[what, "time_s", unit]]
    for name, (times, values) in lines.items():
        rows += [[name, t, v] for t, v in zip(times, values, strict=True)]

    def paint(figure: Figure, axes: Axes) -> None:
        handles = [
            axes.plot(times, values, color=PALETTE[i], linewidth=1.1)[0]
            for i, (times, values) in enumerate(lines.values())
        ]
        axes.set_ylim(bottom=0)
        axes.set_xlabel("time in s")
        axes.set_ylabel(axis)
        legend(figure, handles, list(lines))

    name, (times, values) = max(lines.items(), key=lambda item: max(item[1][1]))
    peak = max(values)
    at = times[values.index(peak)]
    reading = f"The {what} {name} peaks at {number(peak)} {unit} after {number(at)} s."
    drawn = draw(key, title, reading, rows, paint, source=source)
    return replace(drawn, lines=lines, unit=unit)
