"""The content of a recommendation: the final table and the sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backlane import objectives
from backlane.ranking import BEST, EQUAL, UNDECIDED, Paired, decide
from backlane.recommend import failures, upgrades
from backlane.recommend.why import reasons
from backlane.report.judge import margin_text
from backlane.stats import Interval, mean_interval
from backlane.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backlane.objectives import Objective
    from backlane.recommend.contest import Contest, Contestants
    from backlane.recommend.failures import Failure
    from backlane.recommend.options import Budget
    from backlane.recommend.upgrades import Gain

MOST_NAMED = 10_000
"""A larger number of seeds is not named."""


@dataclass(frozen=True)
class Row:
    """A contender in the final table.

    Attributes:
        name: of the contender.
        seeds: that it was run with.
        value: the measure over these seeds; of several conditions their geometric mean.
        ratio: value over that of the best less 1, over the seeds that both have; None for the best.
        outcome: "best", "worse", "equal", "undecided", "eliminated" or "refused".
        p_value: of being no worse, after Holm's correction.
        note: what ended its contest, or what is not certain about it.
    """

    name: str
    seeds: int
    value: Interval
    ratio: Interval | None
    outcome: str
    p_value: float = math.nan
    note: str = ""


@dataclass
class Recommendation:
    """The content of a recommendation.

    Attributes:
        name: of the scenario.
        folder: with the runs and tables.
        objective: what is compared.
        zone: the indifference zone and margin of equality, as a share of the best.
        rows: the best first, contenders that break a limit last.
        is_settled: whether the selection has ended.
        seeds_needed: about how many seeds end it; 0 when it is settled.
        conditions: that each contender was run under.
        reasons: sentences about the best and the next.
        runs: the number of runs used.
        cpu_s: their CPU time.
        budget: what was allowed.
        interrupted: whether Ctrl-C or a signal ended the work.
        failures: what single failures cost under the best, the whole network first.
        failure_seeds: of each failure.
        gains: what upgrades gain under the best.
        notes: what the budget did not pay for.
    """

    name: str
    folder: Path
    objective: Objective
    zone: float
    rows: list[Row]
    is_settled: bool
    seeds_needed: int
    conditions: list[str]
    reasons: list[str]
    runs: int
    cpu_s: float
    budget: Budget
    interrupted: bool = False
    failures: list[Failure] = field(default_factory=list)
    failure_seeds: int = 0
    gains: list[Gain] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def best(self) -> Row | None:
        """The first of the table; None when every contender breaks a limit."""
        return next((row for row in self.rows if row.outcome == BEST), None)

    def table(self) -> list[list[str]]:
        """The final table as text, under `HEADER`."""
        return [
            [
                row.name,
                str(row.seeds),
                self.objective.interval(self._signed(row.value)),
                "–" if row.ratio is None else ratio_text(row.ratio),
                self._outcome(row),
                row.note or "–",
            ]
            for row in self.rows
        ]

    def _signed(self, value: Interval) -> Interval:
        """`value` as `Objective.interval` takes it."""
        if self.objective.lowest:
            return value
        return Interval(-value.mean, -value.high, -value.low, value.count, value.method)

    def _outcome(self, row: Row) -> str:
        if row.outcome == EQUAL:
            return f"equal within {margin_text(self.zone)}"
        return "undecided, more seeds needed" if row.outcome == UNDECIDED else row.outcome

    def sentences(self) -> list[str]:
        """The answer, the reasons and what was spent."""
        best, margin = self.best, margin_text(self.zone)
        if best is None and self.interrupted:
            return ["interrupted before each contender had its first seeds."]
        if best is None:
            return ["no contender keeps to the limits.", self._spent()]
        value = self.objective.interval(self._signed(best.value))
        over = f", over {len(self.conditions)} conditions" if len(self.conditions) > 1 else ""
        has = f"has the {self.objective.best} {self.objective.title}{over}: {value}"
        if self.is_settled:
            lines = [
                f"recommended: {best.name} {has}.",
                f"If a contender leads by {margin} or more, the selection is right with a "
                "probability of 95 %.",
            ]
        else:
            rivals = [row.name for row in self.rows if row.outcome == UNDECIDED]
            needed = self.seeds_needed
            about = f" (at most about {needed})" if 0 < needed <= MOST_NAMED else ""
            lines = [f"undecided: {best.name} {has} so far."]
            if rivals:
                lines.append(f"More seeds{about} are needed to tell {listed(rivals)} from it.")
        equal = [row.name for row in self.rows if row.outcome == EQUAL]
        if equal:
            lines.append(f"Equal to it within {margin}: {listed(equal)}.")
        if best.note:
            lines.append(f"{best.name}: {best.note}.")
        lines += self.reasons
        if self.failures:
            lines += failures.sentences(self.failures, self.objective, self.failure_seeds)
        return [*lines, *self.notes, self._spent()]

    def _spent(self) -> str:
        return f"Used: {self.runs} runs (limit: {self.budget})."

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        best = self.best
        return {
            "name": self.name,
            "folder": str(self.folder),
            "objective": self.objective.word,
            "unit": self.objective.unit,
            "equal_within": self.zone,
            "best": None if best is None else best.name,
            "settled": self.is_settled,
            "interrupted": self.interrupted,
            "seeds_needed": self.seeds_needed,
            "conditions": self.conditions,
            "contenders": [
                {
                    "name": row.name,
                    "seeds": row.seeds,
                    "mean": row.value.mean,
                    "low": row.value.low,
                    "high": row.value.high,
                    "ratio": None if row.ratio is None else {
                        "mean": row.ratio.mean, "low": row.ratio.low, "high": row.ratio.high},
                    "outcome": row.outcome,
                    "p_value": row.p_value,
                    "note": row.note,
                }
                for row in self.rows
            ],
            "reasons": self.reasons,
            "runs": self.runs,
            "cpu_s": self.cpu_s,
            "failures": failures.as_dicts(self.failures),
            "upgrades": upgrades.as_dicts(self.gains),
            "notes": self.notes,
        }  # fmt: skip


HEADER = ("contender", "seeds", "value", "against the best", "outcome", "note")
"""The columns of the final table; the third is named after the measure."""


def ratio_text(ratio: Interval) -> str:
    """A difference in percent with its interval."""
    mean, low, high = (f"{100 * one:+.1f}" for one in (ratio.mean, ratio.low, ratio.high))
    return f"{mean} % [{low}, {high}]" if ratio.known else f"{mean} %"


def answer(contestants: Contestants, found: Contest, folder: Path, zone: float) -> Recommendation:
    """The recommendation that a contest leads to.

    Args:
        contestants: of the contest.
        found: its outcome.
        folder: with the runs.
        zone: the margin of equality, as a share of the best.
    """
    samples, race = contestants.samples, found.race
    objective = contestants.objective or objectives.default(finite=True)
    lowest = objective.lowest
    running = [name for name in found.values if name not in found.refused]
    common = min((len(found.values[name]) for name in race.alive), default=0)
    leaders = sorted(race.alive, key=lambda name: math.fsum(found.values[name][:common]))
    rows: list[Row] = []
    why: list[str] = []
    if leaders and common:
        best, *_ = leaders
        others = [name for name in running if name != best]
        gaps = {name: _gaps(found.values, name, best) for name in others}
        outcomes = decide([Paired.of(gaps[name]) for name in others], contestants.zone)
        limits = contestants.limits.unsure(contestants.runs_of(best, len(found.values[best])))
        rows = [Row(best, len(found.values[best]), _value(found.values[best], lowest), None, BEST,
                    note=limits or "")]  # fmt: skip
        for name, (outcome, p_value, _) in zip(others, outcomes, strict=True):
            out = race.eliminated.get(name)
            if out is not None and outcome == UNDECIDED:
                outcome = "eliminated"
            note = "" if out is None else f"eliminated after {out.seeds} seeds by {out.by}"
            ratio = _ratio(gaps[name], lowest)
            values = found.values[name]
            rows.append(
                Row(name, len(values), _value(values, lowest), ratio, outcome, p_value, note)
            )
        rows[1:] = sorted(rows[1:], key=lambda row: math.fsum(gaps[row.name]) / len(gaps[row.name]))
        if others and not found.interrupted:
            second = rows[1].name
            why = reasons(samples, best, second, len(gaps[second]))
    for name, (reason, seeds) in found.refused.items():
        finite = [value for value in found.values[name] if math.isfinite(value)]
        rows.append(Row(name, seeds, _value(finite, lowest), None, "refused", note=reason))
    return Recommendation(
        samples.plan.name, folder, objective, zone, rows,
        race.is_settled and bool(leaders), 0 if race.is_settled else race.most,
        samples.conditions(), why, len(found.runs), found.cpu_s, contestants.budget,
        found.interrupted,
    )  # fmt: skip


def _gaps(values: dict[str, list[float]], name: str, best: str) -> list[float]:
    both = min(len(values[name]), len(values[best]))
    pairs = zip(values[name][:both], values[best][:both], strict=True)
    return [mine - theirs for mine, theirs in pairs]


def _value(logs: Sequence[float], lowest: bool) -> Interval:
    sign = 1 if lowest else -1
    return mean_interval([math.exp(sign * value) for value in logs])


def _ratio(gaps: Sequence[float], lowest: bool) -> Interval:
    """A value over that of the best, less 1, from differences of logarithms of costs."""
    around = mean_interval([gap if lowest else -gap for gap in gaps])
    return Interval(
        math.expm1(around.mean), math.expm1(around.low), math.expm1(around.high), around.count,
        around.method,
    )  # fmt: skip
