"""Runs of changed copies of a resolved scenario: with a failure, or with an upgrade.

The copies form a campaign of their own in a folder below that of the recommendation. All have the
same seeds; the unchanged scenario is the first of them, and its stored runs are taken over.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backlane import campaign, cost
from backlane.campaign.plan import Cell, Plan, Run, make_plan
from backlane.campaign.store import Store
from backlane.errors import BacklaneError
from backlane.files import make_folder
from backlane.recommend.samples import Samples
from backlane.scenario import Source

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backlane.measures import FlowMeasures
    from backlane.objectives import Objective
    from backlane.recommend.contest import OpenProgress
    from backlane.recommend.options import Budget

AS_IT_IS = "as it is"
"""The name of the unchanged scenario."""


@dataclass(frozen=True)
class Variant:
    """A changed copy of a scenario.

    Attributes:
        name: of the change.
        text: the scenario as TOML.
        overrides: keys with values in TOML.
    """

    name: str
    text: str
    overrides: tuple[tuple[str, str], ...] = ()


@dataclass
class Outcomes:
    """The finished runs of variants.

    Attributes:
        samples: with a contender for each variant.
        seeds: of each variant.
        interrupted: whether Ctrl-C or a signal ended the work.
    """

    samples: Samples
    seeds: int
    interrupted: bool = False

    def measures(self, index: int) -> list[FlowMeasures]:
        """The measures of a variant, by seed."""
        name = self._names[index]
        return [one for place in range(self.seeds) for one in self.samples.measures(name, place)]

    def costs(self, index: int, objective: Objective) -> list[float]:
        """Logarithms of the cost by seed; infinite where there is no value above zero."""
        name = self._names[index]
        return [self.samples.value(objective, name, place) for place in range(self.seeds)]

    @property
    def _names(self) -> list[str]:
        """The contenders, in the order of the variants."""
        return list(self.samples.cells)


@dataclass(frozen=True)
class Left:
    """What is left of a budget.

    Attributes:
        budget: the whole.
        runs: used so far.
        cpu_s: used so far.
    """

    budget: Budget
    runs: int
    cpu_s: float

    def seeds(self, plan: Plan, most: int) -> int:
        """The number of seeds of all cells that it pays for, at most `most`."""
        per_seed = [run for run in plan.runs if run.seed == plan.seeds[0]]
        each_s = cost.total(plan, runs=per_seed).cpu_s
        for seeds in range(most, 0, -1):
            if self.budget.affords(self.runs + seeds * len(per_seed), self.cpu_s + seeds * each_s):
                return seeds
        return 0


def plan_of(key: str, name: str, variants: Sequence[Variant], seeds: Sequence[int]) -> Plan:
    """One plan over all variants.

    Args:
        key: what the variants differ in, as a swept key.
        name: of the plan.
        variants: the unchanged scenario first.
        seeds: of each.

    Raises:
        ScenarioError: when a variant is wrong.
    """
    cells: list[Cell] = []
    runs: dict[str, Run] = {}
    version = ""
    for index, variant in enumerate(variants):
        listed = ("sweep.seeds", f"[{', '.join(map(str, seeds))}]")
        source = Source(variant.text, f"{name}: {variant.name}", [*variant.overrides, listed])
        plan = make_plan(source)
        version = plan.model_version
        (cell,) = plan.cells
        cells.append(Cell(index, {key: variant.name}, cell.resolved, cell.hash))
        for run in plan.runs:
            runs.setdefault(run.run_id, Run(run.run_id, index, run.seed))
    joined = hashlib.sha256("\n".join(cell.hash for cell in cells).encode()).hexdigest()
    return Plan(name, joined, version, [key], cells, list(seeds), list(runs.values()))


def first_seeds(plan: Plan, count: int) -> Plan:
    """The same plan with fewer seeds."""
    seeds = plan.seeds[:count]
    runs = [run for run in plan.runs if run.seed in seeds]
    return replace(plan, seeds=seeds, runs=runs)


def carry_out(
    plan: Plan,
    folder: Path,
    known: Store,
    workers: int,
    progress: OpenProgress | None,
) -> Outcomes:
    """Run what is missing, and write the tables of a campaign.

    Args:
        plan: of the variants.
        folder: of their campaign.
        known: a store whose runs are taken over.
        workers: threads.
        progress: opens a progress display.

    Raises:
        BacklaneError: R033 when a run failed.
    """
    make_folder(folder)
    store = Store(folder)
    with store.locked():
        for run in plan.runs:
            if run.run_id in known and run.run_id not in store:
                store.adopt(known, run.run_id)
    if progress is None:
        done = campaign.run_plan(plan, folder, workers)
    else:
        with progress(plan.name, len(plan.runs)) as bar:
            done = campaign.run_plan(plan, folder, workers, progress=bar)
    failed = done.manifest["failed"]
    if failed and not done.outcome.interrupted:
        raise BacklaneError(
            "R033", f"run {failed[0]['run_id']} failed: {failed[0]['message']}", folder,
            f"see `backlane campaign status {folder}`",
        )  # fmt: skip
    samples = Samples(plan, store)
    return Outcomes(samples, len(plan.seeds), done.outcome.interrupted)


def mean_ratio(costs: Sequence[float], base: Sequence[float]) -> float:
    """The mean ratio of costs, less 1; infinite where one has no value."""
    gaps = [mine - other for mine, other in zip(costs, base, strict=True)]
    if not gaps or any(math.isnan(gap) or math.isinf(gap) for gap in gaps):
        return math.inf
    return math.expm1(math.fsum(gaps) / len(gaps))


def unfinished_per_run(runs: Sequence[FlowMeasures]) -> float:
    """The mean number of flows that did not finish."""
    return sum(len(one.unfinished) for one in runs) / len(runs) if runs else 0.0
