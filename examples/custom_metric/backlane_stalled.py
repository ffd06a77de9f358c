"""Flows in which nothing arrives for a second: a metric and a form of figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from backlane.report.figures import Drawn, draw
from backlane.studies.metrics import Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.studies.runs import Runs
    from backlane.studies.study import FigureSpec
    from backlane.studies.view import RunView

LIMIT_S = 1.0


def silences_s(view: RunView) -> list[float]:
    """The longest time between two arrivals of each TCP flow with at least two."""
    # The columns of `flows` are described in docs/reference/tables.md.
    found = (flow["longest_silence_s"] for flow in view.flows)
    return [silence_s for silence_s in found if silence_s is not None]


def stalled(view: RunView) -> float:
    """The share of flows that stall; NaN for a run without flows."""
    found = silences_s(view)
    return sum(s > LIMIT_S for s in found) / len(found) if found else math.nan


STALLED = Metric(unit="%", scale=100, words="flows in which nothing arrives for 1 s", of=stalled)


def silences(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """A point for each flow and value of the swept key `by`."""
    by = spec.options["by"]
    levels = runs.levels(by, {})
    points = [
        (index, level, silence_s)
        for index, level in enumerate(levels)
        for view in runs.at({by: level})
        for silence_s in silences_s(view)
    ]
    rows: list[list[Any]] = [[by, "longest_silence_s"]]
    rows += [[level, silence_s] for _, level, silence_s in points]

    def paint(_figure: Figure, axes: Axes) -> None:
        axes.plot([x for x, _, _ in points], [y for _, _, y in points], "o", alpha=0.5)
        axes.set_xticks(range(len(levels)), [str(level) for level in levels])
        axes.set_ylabel("longest time without an arrival in s")

    return [draw(spec.id, spec.title, "A point for each flow.", rows, paint)]
