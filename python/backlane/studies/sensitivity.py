"""How a result depends on assumptions: one number over all combinations of swept keys."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from backlane.report.figures import draw, legend
from backlane.stats import mean_interval, paired_difference
from backlane.studies import metrics
from backlane.studies.style import WIDE_IN, colors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.campaign.plan import Label
    from backlane.report.figures import Drawn
    from backlane.stats import Interval
    from backlane.studies.runs import Runs
    from backlane.studies.study import SensitivityTable


@dataclass(frozen=True)
class Row:
    """One combination of assumptions.

    Attributes:
        name: the values of the swept keys.
        cells: each contender with its mean and interval.
        ascending: whether they are in the stated order: "yes", "tie", "no", "unknown".
    """

    name: str
    cells: list[tuple[str, Interval]]
    ascending: str


def rows_of(table: SensitivityTable, runs: Runs) -> list[Row]:
    """One row per combination of the other swept keys."""
    others = [
        key for key in (runs.cells[0] if runs.cells else {})
        if key != table.by and key not in table.where
    ]  # fmt: skip
    of = metrics.get(table.metric).of
    rows = []
    for values in product(*(runs.levels(key, table.where) for key in others)):
        where = table.where | dict(zip(others, values, strict=True))
        cells = []
        for column in table.columns:
            chosen = runs.at(where | {table.by: column})
            if chosen:
                cells.append((column, mean_interval([of(view) for view in chosen])))
        if cells:
            name = ", ".join(map(_named, others, values)) or "all"
            rows.append(Row(name, cells, _ascending(table, runs, where)))
    return rows


def _named(key: str, value: Label) -> str:
    """A swept value in a row: the label of a section, or a number with its key."""
    section, _, last = key.rpartition(".")
    return f"{last.replace('_', ' ')} {value}" if section else str(value)


def _ascending(table: SensitivityTable, runs: Runs, where: Mapping[str, Any]) -> str:
    """Whether the columns ascend in the order of the table: "yes", "tie", "no" or "unknown"."""
    of = metrics.get(table.metric).of
    values = [
        {view.seed: of(view) for view in runs.at({**where, table.by: column})}
        for column in table.columns
    ]
    gaps = [paired_difference(after, before) for before, after in pairwise(values)]
    if any(not gap.known for gap in gaps):
        return "unknown"
    if all(gap.low > 0 for gap in gaps):
        return "yes"
    return "tie" if all(gap.low > 0 or gap.has_zero for gap in gaps) else "no"


def figure(key: str, table: SensitivityTable, rows: Sequence[Row], names: Sequence[Label]) -> Drawn:
    """A line per combination, a dot per contender.

    Args:
        key: name of the files.
        table: the definition.
        rows: one per combination.
        names: every contender of the experiment, so that each keeps its colour.
    """
    known = metrics.get(table.metric)
    shade = colors(names)
    csv: list[list[Any]] = [["combination", table.by, "mean", "low", "high"]]
    for row in rows:
        csv += [[row.name, name, i.mean, i.low, i.high] for name, i in row.cells]

    def paint(figure: Figure, axes: Axes) -> None:
        for y, row in enumerate(rows):
            for name, around in row.cells:
                color = shade[name]
                if around.known:
                    axes.hlines(y, around.low * known.scale, around.high * known.scale,
                                color=color, linewidth=2)  # fmt: skip
                axes.plot(around.mean * known.scale, y, "o", color=color, markersize=6)
        axes.set_yticks(range(len(rows)), [row.name for row in rows])
        axes.invert_yaxis()
        axes.grid(axis="x")
        axes.set_xlim(left=0)
        axes.set_xlabel(f"{known.words}, {known.unit}" if known.unit else known.words)
        handles = [axes.plot([], [], "o", color=shade[name])[0] for name in table.columns]
        legend(figure, handles, table.columns)

    return draw(key, table.title, table.reading or table.title, csv, paint,
                height_in=1.2 + 0.28 * len(rows), width_in=WIDE_IN)  # fmt: skip
