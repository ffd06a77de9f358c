"""The runs of a recommendation by contender, condition and seed, and their measures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backlane.measures import FlowMeasures, measure
from backlane.report import contenders
from backlane.report.data import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from backlane.campaign.plan import Plan, Run
    from backlane.campaign.store import Store
    from backlane.objectives import Objective


@dataclass
class Samples:
    """What the store holds of a plan.

    Attributes:
        plan: of the runs.
        store: where they are kept.
        keys: the swept keys that make a contender.
        cells: the cells of each contender, one per condition.
    """

    plan: Plan
    store: Store
    keys: list[str] = field(init=False)
    cells: dict[str, list[int]] = field(default_factory=dict, init=False)
    _runs: dict[tuple[str, int], Run] = field(default_factory=dict, init=False, repr=False)
    _measures: dict[str, FlowMeasures] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        named = list((self.plan.compare or {}).get("keys", ()))
        self.keys = contenders.choices(self.plan.parameters, named)
        for cell in self.plan.cells:
            name = label(self.keys, cell.parameters) or "as configured"
            self.cells.setdefault(name, []).append(cell.index)
        self.extend(self.plan)

    def extend(self, plan: Plan) -> None:
        """Take a plan of the same cells with more seeds."""
        self.plan = plan
        self._runs = {(cell.hash, run.seed): run for cell, run in plan.rows()}

    def conditions(self) -> list[str]:
        """The conditions, in the order of the plan."""
        given = [key for key in self.plan.parameters if key not in self.keys]
        return list(dict.fromkeys(label(given, cell.parameters) for cell in self.plan.cells))

    def runs_of(self, name: str, place: int) -> list[Run]:
        """The runs of a contender with the seed at a place of the plan, one per condition."""
        seed = self.plan.seeds[place]
        return [self._runs[self.plan.cells[cell].hash, seed] for cell in self.cells[name]]

    def measures(self, name: str, place: int) -> list[FlowMeasures]:
        """The measures of these runs.

        Raises:
            BacklaneError: R008 or R010 for a stored run that is damaged.
        """
        return [self._of(run) for run in self.runs_of(name, place)]

    def value(self, objective: Objective, name: str, place: int) -> float:
        """The logarithm of the cost, averaged over the conditions; the lowest is best.

        Infinite where the measure has no value or is not above zero.
        """
        logs = []
        for found in self.measures(name, place):
            value = objective.of(found)
            if not value > 0 or math.isinf(value):
                return math.inf
            logs.append(math.log(value) if objective.lowest else -math.log(value))
        return math.fsum(logs) / len(logs)

    def mean(self, of: Sequence[float]) -> float:
        """The geometric mean over conditions that belongs to an average of logarithms."""
        return math.exp(math.fsum(of) / len(of)) if of else math.nan

    def table(self, run: Run, name: str) -> pl.DataFrame | None:
        """A table of a stored run."""
        return self.store.files(run.run_id).table(name)

    def cpu_s(self, runs: Sequence[Run]) -> float:
        """The CPU time that stored runs took."""
        return math.fsum(
            float(self.store.record(run.run_id).summary.get("cpu_s") or 0.0) for run in runs
        )

    def _of(self, run: Run) -> FlowMeasures:
        if run.run_id not in self._measures:
            flows = self.table(run, "flows")
            rows = [] if flows is None else flows.rows(named=True)
            traffic_s = float(self.store.record(run.run_id).summary.get("traffic_s") or 0.0)
            self._measures[run.run_id] = measure(rows, traffic_s)
        return self._measures[run.run_id]
