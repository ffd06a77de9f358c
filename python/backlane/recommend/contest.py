"""The contest: seeds are added until the best is settled or the budget ends."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from backlane import objectives
from backlane.campaign.pool import run_all
from backlane.errors import BacklaneError
from backlane.recommend.selection import Race, race
from backlane.stats import UNIT, Interval, mean_interval
from backlane.text import number, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from backlane.campaign.plan import Plan, Run
    from backlane.measures import FlowMeasures
    from backlane.objectives import Objective
    from backlane.progress import Progress
    from backlane.recommend.options import Budget
    from backlane.recommend.samples import Samples


STEP = 10
"""A tenth of the seeds so far is added at a time."""


class OpenProgress(Protocol):
    """Opens a progress display."""

    def __call__(self, step: str, total: int) -> AbstractContextManager[Progress]:
        """A display for this number of runs."""


@dataclass(frozen=True)
class Limits:
    """What a contender must keep to.

    Attributes:
        fairness_floor: least mean of Jain's index; 0 for none.
        latency_ceiling_s: largest mean RTT; infinite for none.
    """

    fairness_floor: float = 0.0
    latency_ceiling_s: float = math.inf

    def broken(self, runs: Sequence[FlowMeasures]) -> str | None:
        """How runs break a limit with their whole interval; None if they may keep to it."""
        fairness = _around([m.jain for m in runs], UNIT)
        if fairness.high < self.fairness_floor:
            return f"fairness {fairness.mean:.3f} is below {self.fairness_floor:g}"
        rtt = _around([m.rtt_s.mean for m in runs], (0.0, math.inf))
        if rtt.low > self.latency_ceiling_s:
            return f"RTT {seconds(rtt.mean)} is above {seconds(self.latency_ceiling_s)}"
        return None

    def unsure(self, runs: Sequence[FlowMeasures]) -> str | None:
        """Which limit the interval of runs contains; None if they keep to all with certainty."""
        fairness = _around([m.jain for m in runs], UNIT)
        if fairness.known and fairness.low < self.fairness_floor:
            ends = f"[{number(fairness.low)}, {number(fairness.high)}]"
            return f"its fairness {ends} may be below {self.fairness_floor:g}"
        rtt = _around([m.rtt_s.mean for m in runs], (0.0, math.inf))
        if rtt.known and rtt.high > self.latency_ceiling_s:
            ends = f"[{seconds(rtt.low)}, {seconds(rtt.high)}]"
            return f"its RTT {ends} may be above {seconds(self.latency_ceiling_s)}"
        return None


def _around(values: Sequence[float], limits: tuple[float, float]) -> Interval:
    return mean_interval([value for value in values if not math.isnan(value)], limits)


@dataclass
class Contest:
    """The outcome of a contest.

    Attributes:
        race: of the contenders that keep to the limits.
        values: the logarithms of each contender, by the place of the seed.
        refused: why contenders left the contest beside the race, and after how many seeds.
        runs: the runs that were used, stored ones included.
        cpu_s: their CPU time.
        interrupted: whether Ctrl-C or a signal ended it.
    """

    race: Race
    values: dict[str, list[float]] = field(default_factory=dict)
    refused: dict[str, tuple[str, int]] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    cpu_s: float = 0.0
    interrupted: bool = False

    def drop_beyond(self) -> None:
        """Leave out values beyond the seeds at which contenders were eliminated."""
        if self.race.seeds == 0:
            return
        for name, values in self.values.items():
            out = self.race.eliminated.get(name)
            if out is not None:
                del values[out.seeds :]
            elif name in self.race.alive:
                del values[self.race.seeds :]


@dataclass
class Contestants:
    """Runs a contest over samples.

    Attributes:
        samples: of the plan.
        limits: what contenders must keep to.
        zone: the indifference zone, of logarithms.
        first: seeds of the first stage.
        budget: what may be spent.
        workers: threads.
        replan: a plan of the same cells with this many seeds.
        progress: opens a progress display.
        objective: what is compared; None becomes that of the kind of flows with the first runs.
    """

    samples: Samples
    limits: Limits
    zone: float
    first: int
    budget: Budget
    workers: int
    replan: Callable[[int], Plan]
    progress: OpenProgress | None = None
    objective: Objective | None = None

    def hold(self) -> Contest:
        """Add seeds until the best is settled, the budget ends, or Ctrl-C.

        Raises:
            BacklaneError: R032 when the budget does not pay for two seeds of each contender, R033
                when a run failed.
        """
        names = list(self.samples.cells)
        found = Contest(Race(names), {name: [] for name in names})
        wanted = self.first
        while True:
            reached, before = self._fill(found, wanted), -1
            # What a run takes is known better after the first ones.
            while before < reached < wanted and not found.interrupted:
                reached, before = self._fill(found, wanted), reached
            if found.interrupted:
                return found
            self._screen(found)
            alive = found.race.alive
            if found.race.is_settled or not alive or reached < wanted:
                break
            # The same steps with any number of workers, so that a budget of runs ends at the same
            # place on every machine.
            more = max(1, found.race.seeds // STEP)
            wanted = min(found.race.seeds + more, max(found.race.most, found.race.seeds + 1))
        found.drop_beyond()
        return found

    def _screen(self, found: Contest) -> None:
        """Eliminate; contenders that break a limit leave the contest before the race."""
        for name in found.race.alive:
            why = self._refusal(found, name)
            if why is not None:
                found.refused[name] = (why, len(found.values[name]))
        values = {n: of for n, of in found.values.items() if n not in found.refused}
        if min((len(of) for of in values.values()), default=0) >= self.first:
            found.race = race(values, self.first, self.zone)
        else:
            found.race.alive = list(values)
            found.race.seeds = min((len(of) for of in values.values()), default=0)
            found.race.most = self.first

    def _refusal(self, found: Contest, name: str) -> str | None:
        if self.objective is not None and math.inf in found.values[name]:
            return f"a run has no {self.objective.metric} above zero"
        if len(found.values[name]) < self.first:
            return None
        # The runs of the first stage: later ones would test again and again.
        return self.limits.broken(self.runs_of(name, self.first))

    def runs_of(self, name: str, seeds: int) -> list[FlowMeasures]:
        """The measures of a contender under all conditions, over its first seeds."""
        return [one for place in range(seeds) for one in self.samples.measures(name, place)]

    def _fill(self, found: Contest, wanted: int) -> int:
        """Run what is missing up to a number of seeds, as far as the budget pays.

        Returns:
            The number of seeds that each contender of the race then has.
        """
        if wanted > len(self.samples.plan.seeds):
            self.samples.extend(self.replan(max(wanted, 2 * len(self.samples.plan.seeds))))
        alive = found.race.alive
        begin = min((len(found.values[name]) for name in alive), default=wanted)
        places = range(begin, self._affordable(found, begin, wanted))
        if begin == 0 and len(places) < 2:
            raise BacklaneError(
                "R032", f"a budget of {self.budget} does not pay for two seeds of each of "
                f"{len(alive)} contenders", "--budget", "raise it, or compare fewer contenders",
            )  # fmt: skip
        runs = {
            run.run_id: run
            for place in places
            for name in alive
            for run in self.samples.runs_of(name, place)
        }
        self._run(found, list(runs.values()))
        if found.interrupted:
            return begin
        new = [run for run_id, run in runs.items() if run_id not in found.runs]
        found.runs |= runs
        found.cpu_s += self.samples.cpu_s(new)
        if self.objective is None and runs:
            first = (one for name in alive for one in self.samples.measures(name, 0))
            self.objective = objectives.default(any(one.finite for one in first))
        for name in alive:
            for place in places:
                if place == len(found.values[name]) and self.objective is not None:
                    found.values[name].append(self.samples.value(self.objective, name, place))
        return max(begin, places.stop)

    def _affordable(self, found: Contest, begin: int, wanted: int) -> int:
        """The number of seeds that the budget pays for, at most `wanted`."""
        from backlane import cost

        count, cpu_s = len(found.runs), found.cpu_s
        known = set(found.runs)
        for place in range(begin, wanted):
            runs = {
                run.run_id: run
                for name in found.race.alive
                for run in self.samples.runs_of(name, place)
                if run.run_id not in known
            }
            known |= runs.keys()
            count += len(runs)
            if found.runs:
                cpu_s += found.cpu_s / len(found.runs) * len(runs)
            else:
                cpu_s += cost.total(self.samples.plan, runs=list(runs.values())).cpu_s
            if not self.budget.affords(count, cpu_s):
                return place
        return wanted

    def _run(self, found: Contest, runs: Sequence[Run]) -> None:
        plan, store = self.samples.plan, self.samples.store
        step = f"{plan.name}, {len(found.race.alive)} contenders"
        if self.progress is None:
            outcome = run_all(plan, runs, store, self.workers, None)
        else:
            with self.progress(step, len(runs)) as bar:
                outcome = run_all(plan, runs, store, self.workers, bar)
        found.interrupted = outcome.interrupted
        for run in runs:
            failure = store.failure(run)
            if failure is not None and not outcome.interrupted:
                raise BacklaneError(
                    "R033", f"run {run.run_id} (seed {run.seed}) failed: {failure['message']}",
                    store.folder, f"see `backlane campaign status {store.folder}`",
                )  # fmt: skip
