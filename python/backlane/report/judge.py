"""Which contender is best, and which differences are not significant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane.stats import ENOUGH_SEEDS, Interval, Standing, rank
from backlane.text import number, rate, seconds

if TYPE_CHECKING:
    from backlane.measures import FlowMeasures
    from backlane.report.data import Network


@dataclass(frozen=True)
class Verdict:
    """The ranking of the contenders under one condition.

    Attributes:
        network: name of the network.
        condition: name of the condition; may be empty.
        metric: "finish time" (lowest is best) or "goodput" (highest is best).
        standings: best first; of goodput, `value.mean` is negative.
        unfinished: unfinished flows of each contender, over all seeds.
        seeds: the smallest number of seeds of a contender.
    """

    network: str
    condition: str
    metric: str
    standings: list[Standing]
    unfinished: dict[str, int]
    seeds: int

    @property
    def best(self) -> Standing:
        """The first in the ranking."""
        return self.standings[0]

    @property
    def ties(self) -> list[str]:
        """The contenders that tie with the best, itself included; empty if none does."""
        tied = [standing.name for standing in self.standings if standing.tie]
        return [self.best.name, *tied] if tied else []

    @property
    def few_seeds(self) -> bool:
        """Whether there are fewer seeds than a study needs."""
        return self.seeds < ENOUGH_SEEDS

    def value(self, standing: Standing) -> str:
        """Mean and interval with units."""
        bound = "≥ " if self.metric == "finish time" and self.unfinished[standing.name] else ""
        return bound + interval_text(standing.value, self.metric)

    @property
    def outcome(self) -> str:
        """The last column of the table."""
        if len(self.standings) == 1:
            return "nothing to compare"
        if self.seeds < 2:
            return "one seed: not judged"
        text = f"tie: {', '.join(self.ties)}" if self.ties else "best"
        lost = self.unfinished[self.best.name]
        if lost:
            text += f", though {lost} of its flows did not finish"
        return f"{text} (few seeds: {self.seeds})" if self.few_seeds else text

    @property
    def behind(self) -> str:
        """The difference of the first contender that does not tie."""
        other = next((s for s in self.standings[1:] if not s.tie), None)
        if other is None or other.behind is None:
            return "–"
        share = number(abs(other.behind.mean / self.best.value.mean) * 100, 2)
        if self.metric != "finish time":
            return f"{other.name}: −{share} %"
        return f"{other.name}: {'≥ ' if self.unfinished[other.name] else ''}+{share} %"

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        sign = 1 if self.metric == "finish time" else -1
        return {
            "network": self.network,
            "condition": self.condition,
            "metric": self.metric,
            "unit": "s" if self.metric == "finish time" else "bit/s",
            "best": self.best.name,
            "ties": self.ties,
            "seeds": self.seeds,
            "few_seeds": self.few_seeds,
            "standings": [
                {
                    "name": s.name,
                    "mean": sign * s.value.mean,
                    "low": min(sign * s.value.low, sign * s.value.high),
                    "high": max(sign * s.value.low, sign * s.value.high),
                    "unfinished_flows": self.unfinished[s.name],
                    "tie": s.tie,
                    "difference": None if s.behind is None else {
                        "mean": s.behind.mean, "low": s.behind.low, "high": s.behind.high},
                }
                for s in self.standings
            ],
        }  # fmt: skip


def interval_text(value: Interval, metric: str) -> str:
    """``3.21 s [3.10, 3.33]``, in the unit of the metric."""
    if metric == "goodput":
        flipped = Interval(-value.mean, -value.high, -value.low, value.count, value.method)
        ends = f" [{rate(flipped.low)}, {rate(flipped.high)}]" if flipped.known else ""
        return rate(flipped.mean) + ends
    return seconds_interval(value)


def seconds_interval(value: Interval) -> str:
    """A mean in seconds or milliseconds with its interval in the same unit."""
    if not value.known:
        return seconds(value.mean)
    scale, unit = (1.0, "s") if abs(value.mean) >= 1 else (1e3, "ms")
    mean, low, high = (one * scale for one in (value.mean, value.low, value.high))
    return f"{number(mean)} {unit} [{number(low, like=mean)}, {number(high, like=mean)}]"


def judge(network: Network) -> list[Verdict]:
    """One verdict per condition."""
    finite = any(cell.finite_flows for cell in network.cells)
    metric = "finish time" if finite else "goodput"

    def value(measures: FlowMeasures) -> float:
        return measures.ranking_s if finite else -measures.goodput_bps

    verdicts = []
    for condition in network.conditions:
        cells = network.at(condition)
        standings = rank(
            {
                cell.contender: {
                    seed: found
                    for seed, measures in cell.by_seed.items()
                    if (found := value(measures)) == found
                }
                for cell in cells
            }
        )
        if standings:
            verdicts.append(
                Verdict(
                    network.name,
                    condition,
                    metric,
                    standings,
                    {cell.contender: len(cell.unfinished) for cell in cells},
                    min(len(cell.by_seed) for cell in cells),
                )
            )
    return verdicts


def sentence(network: Network, verdicts: list[Verdict]) -> str:
    """The answer for one network in one or two sentences."""
    if not verdicts:
        return f"{network.name}: no flow was measured."
    if len(network.contenders) == 1:
        return f"{network.name}: {_alone(verdicts)}{_unfinished(verdicts)}"
    if verdicts[-1].seeds < 2:
        last = verdicts[-1]
        return (
            f"{network.name}: with a single seed nothing can be told apart; "
            f"{_first(last)} ({last.value(last.best)}){_where(last)}."
        )
    parts = []
    groups: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(tuple(verdict.ties or [verdict.best.name]), []).append(verdict)
    for names, members in groups.items():
        parts.append(_group(names, members, len(verdicts)))
    text = f"{network.name}: {'; '.join(parts)}."
    text += _unfinished(verdicts)
    if verdicts[-1].few_seeds:
        text += f" Few seeds ({verdicts[-1].seeds}): a study takes ten or more."
    return text


def _alone(verdicts: list[Verdict]) -> str:
    what = f"the mean {verdicts[0].metric}"
    if len(verdicts) == 1:
        only = verdicts[0]
        return f"{what} is {only.value(only.best)}{_where(only)}."
    low, *_, high = sorted(verdicts, key=lambda v: abs(v.best.value.mean))
    return (
        f"{what} goes from {low.value(low.best)}{_where(low)} "
        f"to {high.value(high.best)}{_where(high)}."
    )


def _first(verdict: Verdict) -> str:
    word = "lowest mean finish time" if verdict.metric == "finish time" else "highest mean goodput"
    return f"{verdict.best.name} has the {word}"


def _where(verdict: Verdict) -> str:
    return f" at {verdict.condition}" if verdict.condition else ""


def _group(names: tuple[str, ...], members: list[Verdict], total: int) -> str:
    last = members[-1]
    places = [verdict.condition for verdict in members if verdict.condition]
    if len(members) == total and total > 2:
        where = f" under all {total} conditions ({places[0]} … {places[-1]})"
    elif places:
        where = f" at {' and '.join(places)}"
    else:
        where = ""
    at = f"at {last.condition} " if len(members) > 1 and last.condition else ""
    if len(names) > 1:
        word = "the lowest" if last.metric == "finish time" else "the highest"
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        text = f"{listed} tie for {word} mean {last.metric}{where}: {at}{last.best.name} has "
    else:
        text = f"{_first(last)}{where}: {at}"
    text += last.value(last.best)
    other = next((s for s in last.standings[1:] if not s.tie), None)
    if other is not None and other.behind is not None:
        share = number(abs(other.behind.mean / last.best.value.mean) * 100, 2)
        word = "more" if last.metric == "finish time" else "less"
        bound = "at least " if last.unfinished[other.name] else ""
        text += f"; {other.name} has {bound}{share} % {word}"
    return text


def _unfinished(verdicts: list[Verdict]) -> str:
    counts: dict[str, int] = {}
    for verdict in verdicts:
        for name, count in verdict.unfinished.items():
            counts[name] = counts.get(name, 0) + count
    named = [f"{count} flows of {name}" for name, count in counts.items() if count]
    return f" Did not finish: {', '.join(named)}." if named else ""
