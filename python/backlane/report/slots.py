"""The report of slotted models: throughput and backlog of each flow, and the sampled paths."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from backlane.report.colors import PALETTE
from backlane.report.figures import draw, legend, slug
from backlane.report.html import Page, Table
from backlane.stats import mean_interval
from backlane.text import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.progress import Progress
    from backlane.report.figures import Drawn
    from backlane.results import Results

HEADER = (
    "cell", "flow", "arrive, per slot", "delivered, per slot", "served at the source",
    "mean backlog", "growth per slot", "dropped",
)  # fmt: skip
"""Columns of the table; means over seeds, with 95 % intervals where there are several."""

PATHS = ("window_pkts", "queue_pkts")
"""The columns drawn over the slots."""

_MOST_CELLS = 6


def is_slotted(results: Results) -> bool:
    """Whether these are results of a slotted model."""
    return results.has("slotted")


def rows(results: Results) -> list[list[str]]:
    """A row for each cell and flow, and one for all flows of a cell."""
    import polars as pl

    runs = results.runs.select("run_id", "cell")
    table = runs.join(results.table("slotted"), on="run_id", maintain_order="left_right")
    found = []
    for (cell, flow), part in table.group_by("cell", "flow", maintain_order=True):
        dropped = part.get_column("drops_at_source") + part.get_column("drops_in_transit")
        found.append(
            [
                name_of(results, int(str(cell))),
                str(flow),
                _mean(part, "arrived_pkts"),
                _mean(part, "throughput_pkts"),
                _mean(part, "served_ratio", 100, " %"),
                _mean(part, "backlog_mean_pkts"),
                _mean(part, "backlog_slope_pkts"),
                number(float(dropped.cast(pl.Float64).to_numpy().mean())),
            ]
        )
    return found


def name_of(results: Results, cell: int) -> str:
    """The label of a cell: its swept values."""
    named = [f"{key.rsplit('.', 1)[-1]} = {value}" for key, value in results.cells[cell].items()]
    return ", ".join(named) or "all"


def _mean(part: Any, column: str, scale: float = 1.0, unit: str = "") -> str:
    values = [value * scale for value in part.get_column(column).to_list() if value is not None]
    if not values:
        return "–"
    found = mean_interval(values)
    text = number(found.mean)
    if found.known:
        text += f" [{number(found.low, like=found.mean)}, {number(found.high, like=found.mean)}]"
    return text + unit


def sentence(results: Results) -> str:
    """The numbers of cells with a stable and with a growing backlog."""
    import polars as pl

    every = results.table("slotted").filter(pl.col("flow") == "all")
    runs = every.height
    return (
        f"{results.name}: {runs} runs of a slotted model; from "
        f"{number(_least(every, 'throughput_pkts', min))} to "
        f"{number(_least(every, 'throughput_pkts', max))} packets per slot are delivered, and "
        f"{number(_least(every, 'backlog_mean_pkts', min))} to "
        f"{number(_least(every, 'backlog_mean_pkts', max))} wait."
    )


def _least(table: Any, column: str, choose: Any) -> float:
    return float(choose(table.get_column(column).drop_nulls().to_list() or [math.nan]))


def path_count(results: Results) -> int:
    """The number of figures of `paths`."""
    if "slotted" not in results.series:
        return 0
    return min(results.runs.get_column("cell").n_unique(), _MOST_CELLS)


def paths(results: Results) -> list[Drawn]:
    """Windows and queues over the slots, for the first seed of up to six cells."""
    if "slotted" not in results.series:
        return []
    import polars as pl

    drawn = []
    series = results.table("series/slotted")
    for cell in range(min(len(results.cells), _MOST_CELLS)):
        runs = results.runs.filter(pl.col("cell") == cell).sort("seed")
        if not runs.height:
            continue
        own = series.filter(pl.col("run_id") == runs.get_column("run_id")[0])
        drawn.append(_path(results, cell, own))
    return drawn


def _path(results: Results, cell: int, own: Any) -> Drawn:
    parts = own.partition_by("entity", maintain_order=True, as_dict=True)
    lines = {
        str(key[0]): tuple(part.get_column(c).to_list() for c in ("time_s", *PATHS))
        for key, part in parts.items()
    }
    rows = [
        [flow, *point] for flow, found in lines.items() for point in zip(*found, strict=True)
    ]  # fmt: skip

    def paint(figure: Figure, axes: Axes) -> None:
        axes.remove()
        paint_paths(figure, [("", lines)])[1][0].locator_params(axis="x", nbins=5)

    name = name_of(results, cell)
    return draw(f"{slug(results.name)}-slots-{cell}", f"{results.name}, {name}",
                "Windows (above) and queues at the source (below), first seed.",
                [["flow", "slot", *PATHS], *rows], paint, height_in=3.4)  # fmt: skip


def paint_paths(
    figure: Figure, columns: Sequence[tuple[str, Mapping[str, Sequence[Sequence[float | None]]]]]
) -> Any:
    """Windows above and queues below over the slots, a line per flow.

    Args:
        figure: an empty figure.
        columns: the title of each, and slots, windows and queues of its flows.

    Returns:
        The panels by row and column.
    """
    panels = figure.subplots(2, len(columns), sharex=True, sharey="row", squeeze=False)
    handles: dict[str, Any] = {}
    for column, (title, lines) in enumerate(columns):
        for index, (flow, (slots, *found)) in enumerate(lines.items()):
            color = PALETTE[index % len(PALETTE)]
            for row, values in enumerate(found):
                known = [math.nan if value is None else value for value in values]
                (line,) = panels[row][column].plot(slots, known, color=color, linewidth=1.2)
                handles[flow] = line
        panels[0][column].set_title(title, loc="left", fontsize=9)
        panels[1][column].set_xlabel("slot")
    for row, name in enumerate(("window", "queue")):
        panels[row][0].set_ylabel(f"{name}\nin packets")
        # The panels of a row share the axis: setting the bottom fixes its top.
        panels[row][0].set_ylim(bottom=0)
    legend(figure, list(handles.values()), list(handles))
    return panels


def build(
    every: Sequence[Results], progress: Progress | None = None
) -> tuple[str, list[Drawn], list[str]]:
    """The page, its figures and its sentences."""
    sentences = [sentence(results) for results in every]
    page = Page(", ".join(results.name for results in every))
    page.answer(sentences)
    drawn: list[Drawn] = []
    for results in every:
        page.heading(results.name)
        page.table(Table(HEADER, rows(results), text_columns=2))
        page.text("Amounts are packets. Growth is that of all queues over the second half.", True)
        found = paths(results)
        drawn += page.figures(found)
        if progress is not None:
            progress.update(float(len(drawn)), "")
    return page.html(), drawn, sentences
