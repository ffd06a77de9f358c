"""The best contender in a changed network: with failures, or with upgrades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane.bound.bounds import parsed
from backlane.recommend import failures, upgrades
from backlane.recommend.variants import Left, Variant, carry_out, first_seeds, plan_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backlane.recommend.answer import Recommendation
    from backlane.recommend.contest import Contestants
    from backlane.recommend.upgrades import Upgrade
    from backlane.recommend.variants import Outcomes


@dataclass
class Changed:
    """Runs of the best contender in a changed network, with what is left of the budget.

    Attributes:
        contestants: of the contest.
        made: receives the results.
    """

    contestants: Contestants
    made: Recommendation

    def fail(self) -> None:
        """Each link and node down in turn."""
        made, resolved = self.made, self._resolved()
        changed = failures.variants(resolved, parsed(resolved))
        most = min(failures.MOST_SEEDS, self.contestants.first)
        found = self._run(failures.KEY, "n-minus-1", changed, most)
        if found is not None:
            names = [one.name for one in changed]
            made.failures = failures.judge(names, found, made.objective)
            made.failure_seeds = found.seeds

    def upgrade(self, candidates: Sequence[Upgrade]) -> None:
        """Each upgrade in turn."""
        made, resolved = self.made, self._resolved()
        changed = upgrades.variants(resolved, parsed(resolved), candidates)
        found = self._run(upgrades.KEY, "upgrades", changed, self.contestants.first)
        if found is not None:
            zone = self.contestants.zone
            made.gains = upgrades.judge(candidates, found, made.objective, zone)

    def _resolved(self) -> str:
        """The scenario of the best under the last condition."""
        samples, best = self.contestants.samples, self.made.best
        assert best is not None
        return samples.plan.cells[samples.cells[best.name][-1]].resolved

    def _run(self, key: str, what: str, changed: Sequence[Variant], most: int) -> Outcomes | None:
        """Run variants; None when the budget does not pay for one seed, or after Ctrl-C."""
        made, contestants = self.made, self.contestants
        seeds = contestants.samples.plan.seeds[:most]
        plan = plan_of(key, f"{made.name}, {what}", changed, seeds)
        count = Left(contestants.budget, made.runs, made.cpu_s).seeds(plan, len(seeds))
        if count == 0:
            made.notes.append(
                f"{what}: the budget does not pay for one seed of {len(changed)} networks."
            )
            return None
        plan = first_seeds(plan, count)
        found = carry_out(
            plan, made.folder / what, contestants.samples.store, contestants.workers,
            contestants.progress,
        )  # fmt: skip
        made.runs += len(plan.runs)
        made.interrupted = found.interrupted
        if found.interrupted:
            return None
        made.cpu_s += found.samples.cpu_s(plan.runs)
        return found
