"""Which contender is best, which are worse, which are equal, and what the seeds do not decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane import objectives
from backlane.ranking import EQUAL, EQUAL_WITHIN, UNDECIDED, WORSE, Standing, rank
from backlane.stats import ENOUGH_SEEDS
from backlane.text import listed, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backlane.measures import FlowMeasures
    from backlane.objectives import Objective
    from backlane.report.data import Network

MOST_SEEDS = 10_000
"""A larger number of seeds needed is not named."""


@dataclass(frozen=True)
class Verdict:
    """The ranking of the contenders under one condition.

    Attributes:
        network: name of the network.
        condition: name of the condition; may be empty.
        objective: what is compared.
        standings: best first; where the highest is best, `value.mean` is negative.
        unfinished: unfinished flows of each contender, over all seeds.
        seeds: the smallest number of seeds of a contender.
        equal_within: the margin of equality, as a share of the best.
    """

    network: str
    condition: str
    objective: Objective
    standings: list[Standing]
    unfinished: dict[str, int]
    seeds: int
    equal_within: float = EQUAL_WITHIN

    @property
    def metric(self) -> str:
        """What is compared, such as "finish time"."""
        return self.objective.metric

    @property
    def best(self) -> Standing:
        """The first in the ranking."""
        return self.standings[0]

    def named(self, verdict: str) -> list[str]:
        """The contenders with an outcome."""
        return [standing.name for standing in self.standings if standing.verdict == verdict]

    @property
    def equal(self) -> list[str]:
        """The contenders that are equal to the best within the margin, without the best."""
        return self.named(EQUAL)

    @property
    def undecided(self) -> list[str]:
        """The contenders that more seeds would have to tell from the best, without the best."""
        return self.named(UNDECIDED)

    @property
    def not_worse(self) -> list[str]:
        """The best, and all that are not known to be worse."""
        return [standing.name for standing in self.standings if standing.verdict != WORSE]

    @property
    def few_seeds(self) -> bool:
        """Whether there are fewer seeds than a study needs."""
        return self.seeds < ENOUGH_SEEDS

    @property
    def margin(self) -> str:
        """The margin in percent."""
        return margin_text(self.equal_within)

    def value(self, standing: Standing) -> str:
        """Mean and interval with units."""
        lost = self.objective.counts_unfinished and self.unfinished[standing.name]
        return ("≥ " if lost else "") + self.objective.interval(standing.value)

    @property
    def outcome(self) -> str:
        """The last column of the table."""
        if len(self.standings) == 1:
            return "one contender"
        if self.seeds < 2:
            return "one seed: not judged"
        parts = []
        if self.equal:
            parts.append(f"equal within {self.margin}: {listed(self.equal)}")
        if self.undecided:
            parts.append(f"undecided, more seeds needed{self._needed}: {listed(self.undecided)}")
        text = "; ".join(parts) or "best"
        lost = self.unfinished[self.best.name]
        if lost:
            text += f", though {lost} of its flows did not finish"
        return f"{text} (few seeds: {self.seeds})" if self.few_seeds else text

    @property
    def _needed(self) -> str:
        """About how many seeds, if that is a number that one can run."""
        most = max((s.seeds_needed for s in self.standings if s.verdict == UNDECIDED), default=0)
        return f" (about {most})" if 0 < most <= MOST_SEEDS else ""

    @property
    def behind(self) -> str:
        """The difference of the first contender that is worse."""
        other = self.first_worse
        if other is None:
            return "–"
        lost = self.objective.counts_unfinished and self.unfinished[other.name]
        sign = "+" if self.objective.lowest else "−"
        return f"{other.name}: {'≥ ' if lost else ''}{sign}{self.share(other)} %"

    @property
    def first_worse(self) -> Standing | None:
        """The first contender that is worse."""
        return next((s for s in self.standings if s.verdict == WORSE), None)

    def share(self, standing: Standing) -> str:
        """The difference from the best in percent of the best."""
        if standing.behind is None or not self.best.value.mean:
            return "–"
        return number(abs(standing.behind.mean / self.best.value.mean) * 100, 2)

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        sign = 1 if self.objective.lowest else -1
        return {
            "network": self.network,
            "condition": self.condition,
            "metric": self.metric,
            "unit": self.objective.unit,
            "best": self.best.name,
            "equal": self.equal,
            "undecided": self.undecided,
            "equal_within": self.equal_within,
            "seeds": self.seeds,
            "few_seeds": self.few_seeds,
            "standings": [
                {
                    "name": s.name,
                    "mean": sign * s.value.mean,
                    "low": min(sign * s.value.low, sign * s.value.high),
                    "high": max(sign * s.value.low, sign * s.value.high),
                    "unfinished_flows": self.unfinished[s.name],
                    "verdict": s.verdict,
                    "p_value": s.p_value,
                    "seeds_needed": s.seeds_needed,
                    "difference": None if s.behind is None else {
                        "mean": s.behind.mean, "low": s.behind.low, "high": s.behind.high},
                }
                for s in self.standings
            ],
        }  # fmt: skip


def margin_text(share: float) -> str:
    """A margin of equality in percent."""
    return f"{share * 100:g} %"


def judge(network: Network) -> list[Verdict]:
    """One verdict per condition.

    Where the network has one contender whose runs have flows of several congestion controls, these
    are compared.
    """
    finite = any(cell.finite_flows for cell in network.cells)
    compared = network.results.compared
    word = compared.get("measure")
    objective = objectives.OBJECTIVES[word] if word else objectives.default(finite)
    verdicts = []
    for condition in network.conditions:
        cells = network.at(condition)
        by_seed: dict[str, Mapping[int, FlowMeasures]] = {c.contender: c.by_seed for c in cells}
        if len(network.contenders) == 1 and cells[0].by_control:
            by_seed = dict(cells[0].by_control)
        verdict = judged(
            network.name, condition, by_seed, objective,
            float(compared.get("equal_within") or EQUAL_WITHIN),
        )  # fmt: skip
        if verdict is not None:
            verdicts.append(verdict)
    return verdicts


def judged(
    network: str,
    condition: str,
    contenders: Mapping[str, Mapping[int, FlowMeasures]],
    objective: Objective,
    equal_within: float,
) -> Verdict | None:
    """The verdict about contenders, from the measures of each seed; None where none has a value."""
    costs = {
        name: {
            seed: cost
            for seed, measures in by_seed.items()
            if (cost := objective.cost(measures)) == cost
        }
        for name, by_seed in contenders.items()
    }
    standings = rank(costs, equal_within)
    if not standings:
        return None
    unfinished = {
        name: sum(len(measures.unfinished) for measures in by_seed.values())
        for name, by_seed in contenders.items()
    }
    seeds = min(len(by_seed) for by_seed in contenders.values())
    return Verdict(network, condition, objective, standings, unfinished, seeds, equal_within)


def sentence(network: Network, verdicts: list[Verdict]) -> str:
    """The answer for one network in one or two sentences."""
    if not verdicts:
        return f"{network.name}: no flow was measured."
    if all(len(verdict.standings) == 1 for verdict in verdicts):
        return f"{network.name}: {_alone(verdicts)}{_unfinished(verdicts)}"
    if verdicts[-1].seeds < 2:
        last = verdicts[-1]
        return (
            f"{network.name}: with a single seed nothing can be told apart; "
            f"{_first(last)} ({last.value(last.best)}){_where(last)}."
        )
    parts = []
    groups: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[Verdict]] = {}
    for verdict in verdicts:
        key = (verdict.best.name, tuple(sorted(verdict.equal)), tuple(sorted(verdict.undecided)))
        groups.setdefault(key, []).append(verdict)
    parts += [_group(members, len(verdicts)) for members in groups.values()]
    text = f"{network.name}: {'; '.join(parts)}."
    text += _unfinished(verdicts)
    if verdicts[-1].few_seeds:
        text += f" Few seeds ({verdicts[-1].seeds}): a study takes ten or more."
    return text


def _alone(verdicts: list[Verdict]) -> str:
    what = f"the {verdicts[0].objective.title}"
    if len(verdicts) == 1:
        only = verdicts[0]
        return f"{what} is {only.value(only.best)}{_where(only)}."
    low, *_, high = sorted(verdicts, key=lambda v: abs(v.best.value.mean))
    return (
        f"{what} goes from {low.value(low.best)}{_where(low)} "
        f"to {high.value(high.best)}{_where(high)}."
    )


def _first(verdict: Verdict) -> str:
    return f"{verdict.best.name} has the {verdict.objective.best} {verdict.objective.title}"


def _where(verdict: Verdict) -> str:
    return f" at {verdict.condition}" if verdict.condition else ""


def _group(members: list[Verdict], total: int) -> str:
    last = members[-1]
    places = [verdict.condition for verdict in members if verdict.condition]
    if len(members) == total and total > 2:
        where = f" under all {total} conditions ({places[0]} … {places[-1]})"
    elif places:
        where = f" at {' and '.join(places)}"
    else:
        where = ""
    at = f"at {last.condition} " if len(members) > 1 and last.condition else ""
    if last.undecided:
        names = listed([last.best.name, *last.undecided])
        text = f"more seeds are needed to decide between {names}{where}: {at}{last.best.name} has "
        text += f"the {last.objective.best} {last.objective.title} so far, "
    elif last.equal:
        names = listed([last.best.name, *last.equal])
        text = f"{names} are equal within {last.margin} in {last.objective.title}{where}: "
        text += f"{at}{last.best.name} has "
    else:
        text = f"{_first(last)}{where}: {at}"
    text += last.value(last.best)
    if last.undecided and last.equal:
        are = "is" if len(last.equal) == 1 else "are"
        text += f"; {listed(last.equal)} {are} equal to it within {last.margin}"
    other = last.first_worse
    if other is not None:
        word = "more" if last.objective.lowest else "less"
        lost = last.objective.counts_unfinished and last.unfinished[other.name]
        text += f"; {other.name} has {'at least ' if lost else ''}{last.share(other)} % {word}"
    return text


def _unfinished(verdicts: list[Verdict]) -> str:
    counts: dict[str, int] = {}
    for verdict in verdicts:
        for name, count in verdict.unfinished.items():
            counts[name] = counts.get(name, 0) + count
    named = [f"{count} flows of {name}" for name, count in counts.items() if count]
    return f" Did not finish: {', '.join(named)}." if named else ""
