"""Results for notebooks: joined frames, frames of pandas, figures, and a table in HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas
    import polars as pl

    from backlane.campaign.plan import Label
    from backlane.report.figures import Drawn
    from backlane.results import Results

FIGURES = ("finish-time", "rtt", "goodput", "fairness")
MOST_ROWS = 40
"""Cells that the table in HTML shows."""


def joined(results: Results, name: str) -> pl.DataFrame:
    """A table with the cell, the seed and the swept values of each row's run in front.

    Raises:
        BacklaneError: R008 when it is missing, R010 when it is damaged.
    """
    if name == "runs":
        return results.runs
    keys = ["run_id", "cell", "seed", *results.parameters]
    runs = results.runs.select(keys).with_row_index("_run")
    table = results.table(name).with_row_index("_row")
    both = runs.join(table, on="run_id", how="inner", suffix=f" of {name}")
    return both.sort("_run", "_row").drop("_run", "_row")


def to_pandas(frame: pl.DataFrame) -> pandas.DataFrame:
    """A frame for pandas; integers with gaps have the type ``Int64``, texts are objects.

    Raises:
        BacklaneError: R049 when pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise BacklaneError(
            "R049", "pandas is not installed", None, "pip install 'backlane[pandas]'"
        ) from error
    columns: dict[str, Any] = {}
    for column in frame:
        kind = column.dtype
        if kind.is_integer() and column.null_count():
            columns[column.name] = pandas.array(column.to_list(), dtype="Int64")
        elif kind.is_numeric():
            columns[column.name] = column.to_numpy()
        else:
            columns[column.name] = column.to_list()
    return pandas.DataFrame(columns)


def figure(results: Results, metric: str, part: int) -> Drawn:
    """One figure of the report.

    Raises:
        BacklaneError: R030 when there is none, R019 when no run has finished.
    """
    from backlane.report import data, figures, slots

    if slots.is_slotted(results):
        raise BacklaneError(
            "R030", "a slotted model has other figures", results.folder, "use `backlane report`"
        )
    by_name = {one.key: one for one in (figures.FINISH_TIME, figures.RTT, figures.GOODPUT)}
    if metric not in FIGURES:
        raise BacklaneError(
            "R030", f'there is no figure "{metric}"', None, f"there are {', '.join(FIGURES)}"
        )
    network = data.network_of(results, results.name)
    if metric == "fairness":
        drawn = figures.fairness(network)
    else:
        drawn = figures.candlesticks(network, by_name[metric])
    if not 1 <= part <= len(drawn):
        raise BacklaneError(
            "R030", f"there is no part {part}", None, f"the figure has {len(drawn)} parts"
        )
    return drawn[part - 1]


def html(results: Results) -> str:
    """The cells with their means and 95 % intervals, as one table."""
    manifest = results.manifest
    title = (
        f"{results.name}: {manifest['runs_finished']} of {manifest['runs_planned']} runs finished, "
        f"{len(results.cells)} {'cell' if len(results.cells) == 1 else 'cells'}, "
        f"model version {manifest['model_version']}"
    )
    header, rows = _summary(results)
    left = len(rows) - MOST_ROWS
    note = f"<p>and {left} more cells</p>" if left > 0 else ""
    return (
        f"<div><p>{escape(title)}</p><table><thead>{_row('th', header)}</thead>"
        f"<tbody>{''.join(_row('td', row) for row in rows[:MOST_ROWS])}</tbody></table>{note}"
        f"<p>tables: {escape(', '.join(results.tables()))}</p></div>"
    )


def _row(tag: str, cells: Sequence[str]) -> str:
    inner = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
    return f"<tr>{inner}</tr>"


def _summary(results: Results) -> tuple[list[str], list[list[str]]]:
    """Header and rows: the swept values of each cell, and the means of its flows."""
    from backlane.report import data, slots
    from backlane.text import rate, seconds

    if slots.is_slotted(results):
        return list(slots.HEADER[1:]), [row[1:] for row in slots.rows(results)]
    header = [*results.parameters, "seeds", "finish time", "goodput", "RTT", "unfinished"]
    if not results.manifest["runs_finished"]:
        return header, []
    rows = []
    for cell in data.network_of(results, results.name).cells:
        every = list(cell.by_seed.values())
        rows.append(
            [
                *(_label(results.cells[cell.index][key]) for key in results.parameters),
                str(len(every)),
                _interval([one.finish_time_s.mean for one in every], seconds),
                _interval([one.goodput_bps for one in every], rate),
                _interval([one.rtt_s.mean for one in every], seconds),
                f"{len(cell.unfinished)} of {cell.finite_flows}" if cell.finite_flows else "–",
            ]
        )
    return header, rows


def _label(value: Label) -> str:
    from backlane.report import data

    return data.value_text("routing", value) if isinstance(value, str) else str(value)


def _interval(values: Sequence[float], written: Any) -> str:
    """A mean over seeds, and its 95 % interval where there are two seeds or more."""
    import math

    from backlane.stats import mean_interval

    found = mean_interval([value for value in values if not math.isnan(value)])
    if not found.known:
        return str(written(found.mean))
    return f"{written(found.mean)} [{written(found.low)}, {written(found.high)}]"
