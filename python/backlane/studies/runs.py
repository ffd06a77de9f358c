"""The runs of experiments, selected by the values of swept keys."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane.studies import metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from backlane.campaign.plan import Label
    from backlane.results import Results
    from backlane.studies.view import RunView

BySeed = dict[int, float]


@dataclass(frozen=True)
class Runs:
    """The runs of one experiment.

    Attributes:
        results: the tables.
        cells: the swept values of each cell.
        views: one per run.
    """

    results: Results
    cells: list[dict[str, Label]]
    views: list[RunView]

    def at(self, where: Mapping[str, Any]) -> list[RunView]:
        """The runs of all matching cells."""
        chosen = set(matching(self.cells, where))
        return [view for view in self.views if view.cell in chosen]

    def levels(self, key: str, where: Mapping[str, Any]) -> list[Label]:
        """The values of a swept key, in the order of the sweep."""
        chosen = [self.cells[index] for index in matching(self.cells, where)]
        return list(dict.fromkeys(cell[key] for cell in chosen if key in cell))

    def values(self, metric: str, where: Mapping[str, Any]) -> BySeed:
        """One value per seed: the mean over the matching cells; only seeds that all have."""
        of = metrics.get(metric).of
        by_cell: list[BySeed] = []
        for index in matching(self.cells, where):
            values = {v.seed: of(v) for v in self.views if v.cell == index}
            by_cell.append({seed: x for seed, x in values.items() if not math.isnan(x)})
        if not by_cell:
            return {}
        seeds = set.intersection(*(set(found) for found in by_cell))
        return {s: math.fsum(found[s] for found in by_cell) / len(by_cell) for s in sorted(seeds)}

    @property
    def seed_count(self) -> int:
        """The number of different seeds."""
        return len({view.seed for view in self.views})


class Data:
    """The runs of a study by experiment; an experiment that has not run has no cells."""

    def __init__(self) -> None:
        self.runs: dict[str, Runs] = {}

    def cells(self, experiment: str) -> list[dict[str, Label]]:
        """The swept values of each cell."""
        return self.runs[experiment].cells if experiment in self.runs else []

    def at(self, experiment: str, where: Mapping[str, Any]) -> list[RunView]:
        """The runs of all matching cells."""
        return self.runs[experiment].at(where) if experiment in self.runs else []

    def values(self, experiment: str, metric: str, where: Mapping[str, Any]) -> BySeed:
        """One value per seed, as of `Runs.values`."""
        return self.runs[experiment].values(metric, where) if experiment in self.runs else {}


def matching(cells: Sequence[Mapping[str, Any]], where: Mapping[str, Any]) -> list[int]:
    """Indices of the cells with these swept values."""
    return [
        index
        for index, cell in enumerate(cells)
        if all(key in cell and cell[key] == value for key, value in where.items())
    ]


def by_seed(views: Sequence[RunView], of: Callable[[RunView], float]) -> BySeed:
    """A number for each seed: the mean over its runs that have it."""
    found: dict[int, list[float]] = {}
    for view in views:
        value = of(view)
        if not math.isnan(value):
            found.setdefault(view.seed, []).append(value)
    return {seed: math.fsum(found[seed]) / len(found[seed]) for seed in sorted(found)}
