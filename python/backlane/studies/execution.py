"""Plans and runs of the experiments of a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from backlane import campaign, classes
from backlane.campaign.plan import make_plan
from backlane.campaign.store import Store
from backlane.errors import BacklaneError
from backlane.machine import core_count
from backlane.results import Results
from backlane.studies.runs import Runs
from backlane.studies.view import views
from backlane.text import slug

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from backlane.campaign.plan import Plan
    from backlane.progress import Progress
    from backlane.studies.study import Alternative, Experiment, Settings


class OpenProgress(Protocol):
    """Opens a progress display."""

    def __call__(self, step: str, total: int) -> AbstractContextManager[Progress]:
        """A display for this number of runs."""


class Interrupted(Exception):
    """Ctrl-C ended a campaign; its finished runs are stored."""


@dataclass(frozen=True)
class Execution:
    """How the experiments of a study are run.

    Attributes:
        root: the folder of the store.
        quick: whether the set of runs is reduced.
        workers: threads; None for all cores.
        progress: opens a progress display; None for none.
        log: takes messages.
    """

    root: Path
    quick: bool
    workers: int | None
    progress: OpenProgress | None
    log: Callable[[str], None]

    def plan(self, experiment: Experiment) -> Plan:
        """All runs of an experiment."""
        return make_plan(experiment.file, self._settings(experiment))

    def run(self, experiment: Experiment, seeds: int = 0) -> Runs:
        """Run what is missing of an experiment; its own number of seeds unless given.

        Raises:
            BacklaneError: R023 when a run failed.
            Interrupted: after Ctrl-C.
        """
        settings = self._settings(experiment)
        if seeds:
            settings = [*settings, ("sweep.seeds", str(seeds))]
        return self._carry_out(experiment.file, settings, experiment.name, experiment.name)

    def run_alternative(self, experiment: Experiment, alternative: Alternative) -> Runs:
        """The same under another assumption."""
        settings = [*experiment.settings, *alternative.overrides]
        folder = f"{experiment.name}@{slug(alternative.name)}"
        return self._carry_out(
            experiment.file, settings, folder, f"{experiment.name}, {alternative.name}"
        )

    def cost(self, experiments: Iterable[Experiment]) -> list[str]:
        """What the runs that are missing of experiments cost; nothing if that is little."""
        from backlane import cost

        workers = self.workers or core_count()
        totals = []
        for one in experiments:
            plan, store = self.plan(one), Store(self.root / one.name)
            missing = [run for run in plan.runs if run.run_id not in store]
            totals.append(cost.total(plan, workers, missing))
        work = cost.joined(totals)
        return [] if cost.is_little(work) else cost.statement(work, self.root)

    def _settings(self, experiment: Experiment) -> Settings:
        return [*experiment.settings, *(experiment.quick if self.quick else [])]

    def _carry_out(self, file: Path, settings: Settings, name: str, step: str) -> Runs:
        folder = self.root / name
        plan = make_plan(file, settings)
        classes.authorize(plan.classes(), file, say=self.log)
        if self.progress is None:
            result = campaign.run_plan(plan, folder, self.workers, None, settings)
        else:
            with self.progress(step, len(plan.runs)) as progress:
                result = campaign.run_plan(plan, folder, self.workers, None, settings, progress)
        if result.outcome.interrupted:
            raise Interrupted
        failed = result.manifest["failed"]
        if failed:
            raise BacklaneError(
                "R023", f"{len(failed)} runs failed, the first: {failed[0]['message']}", folder,
                f"see `backlane campaign status {folder}`",
            )  # fmt: skip
        results = Results.open(folder)
        return Runs(results, results.cells, views(results))
