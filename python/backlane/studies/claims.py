"""Claims: what a paper says, the rule that judges it, and the verdict.

A claim has one or more *parts*; it is reproduced when every part holds. A part names a metric and
*terms*: each term is a selection of cells, averaged where it fits several, with one value per
seed. ``for_each`` repeats a part over values of swept keys; ``at_least`` says in how many of
these cases it must hold.

Rules, with the tolerance codes of the claims table:

``order``
    Terms ascend. ``strict`` (ORD): the 95 % interval of every adjacent difference, paired by
    seed, lies above zero. Otherwise (ORDw): the means ascend.
``equal``
    The means of two terms differ by at most ``within`` of the larger one.
``band``
    The mean of each term lies in ``[low, high]``.
``spread``
    (largest − smallest) / mean over the terms' means is at most ``within``.
``span``
    largest − smallest of the terms' means is at most ``within``.
``rank``
    The first term is among the ``largest`` largest.
``trend``
    Over the numbers of the swept key ``along``: the least-squares slope is positive and the rise
    from the first to the last is at most ``within`` of the first; with ``rank = true`` only
    Spearman's ρ is positive.
``effect``
    Of two swept keys ``factors`` the first explains more of the variance (η² of a two-way layout
    of cell means by seed).
``share``
    Terms ascend in at least ``within`` of the seeds.
``claims``
    The claims named in ``all_of`` are reproduced.
"""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.stats import mean_interval, paired_difference
from backlane.studies.metrics import METRICS
from backlane.studies.study import read_toml, refuse_unknown, require_experiment, take

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from backlane.campaign.plan import Label, Plan
    from backlane.studies.metrics import RunView
    from backlane.studies.study import Study

WEIGHTS = ("A", "B", "C", "MECH")
RULES = ("order", "equal", "band", "spread", "span", "rank", "trend", "effect", "share", "claims")
_COMBINATIONS = ("mean", "min", "max", "ratio")
_PART_KEYS = {
    "experiment", "rule", "metric", "where", "for_each", "at_least", "along", "terms", "strict",
    "within", "low", "high", "rank", "factors", "levels", "largest",
    "all_of",
}  # fmt: skip
_CLAIM_KEYS = {"id", "place", "says", "weight", "cause", "part"}

BySeed = dict[int, float]


@dataclass(frozen=True)
class Part:
    """One rule of a claim, repeated over its cases."""

    experiment: str
    rule: str
    options: dict[str, Any]

    def cases(self) -> list[dict[str, Any]]:
        """Every combination of the values of ``for_each``; one empty case without it."""
        axes: dict[str, list[Any]] = self.options.get("for_each", {})
        return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


@dataclass(frozen=True)
class Claim:
    """What a paper says.

    Attributes:
        id: such as "P1-04".
        place: section and figure of the paper.
        says: the claim in our words.
        weight: "A" headline, "B" supporting, "C" fragile, "MECH" mechanism that must hold.
        cause: why it differs, found by a run; shown only when it differs.
        parts: its rules.
    """

    id: str
    place: str
    says: str
    weight: str
    cause: str
    parts: list[Part]

    @property
    def experiments(self) -> list[str]:
        """What must have run."""
        return list(dict.fromkeys(part.experiment for part in self.parts if part.experiment))


@dataclass
class Verdict:
    """How a claim came out.

    Attributes:
        claim: the claim.
        outcome: "reproduced", "differs" or "unknown".
        measured: the numbers, in words.
        tie: whether it differs only in that an interval contains zero.
        unsettled: experiments in which more seeds could change the outcome.
        p_values: of every strict comparison, paired t, two-sided.
        survives: whether all of these stay below 5 % after Holm's correction over the study.
    """

    claim: Claim
    outcome: str
    measured: str
    tie: bool = False
    unsettled: set[str] = field(default_factory=set)
    p_values: list[float] = field(default_factory=list)
    survives: bool = True


class Data:
    """The numbers of a study, by experiment, cell and seed."""

    def __init__(self) -> None:
        self.cells: dict[str, list[dict[str, Label]]] = {}
        self.views: dict[str, list[RunView]] = {}

    def add(self, experiment: str, cells: list[dict[str, Label]], views: Sequence[RunView]) -> None:
        """Take in the runs of an experiment."""
        self.cells[experiment] = cells
        self.views[experiment] = list(views)

    def values(self, experiment: str, metric: str, where: Mapping[str, Any]) -> BySeed:
        """One value per seed: the mean over the cells that fit; only seeds that all have."""
        chosen = matching(self.cells.get(experiment, []), where)
        of = METRICS[metric].of
        by_cell: list[BySeed] = []
        for index in chosen:
            values = {v.seed: of(v) for v in self.views[experiment] if v.cell == index}
            by_cell.append({seed: x for seed, x in values.items() if not math.isnan(x)})
        if not by_cell:
            return {}
        seeds = set.intersection(*(set(found) for found in by_cell))
        return {s: math.fsum(found[s] for found in by_cell) / len(by_cell) for s in sorted(seeds)}


def matching(cells: Sequence[Mapping[str, Any]], where: Mapping[str, Any]) -> list[int]:
    """Indices of the cells with these swept values."""
    return [
        index
        for index, cell in enumerate(cells)
        if all(key in cell and cell[key] == value for key, value in where.items())
    ]


def load(study: Study) -> list[Claim]:
    """Read ``claims.toml``; a study without one claims nothing.

    Raises:
        BacklaneError: R003 or R022.
    """
    path = study.folder / "claims.toml"
    if not path.exists():
        return []
    claims = [_claim(table, path) for table in take(read_toml(path), "claim", list, str(path))]
    ids = [claim.id for claim in claims]
    for claim in claims:
        if ids.count(claim.id) > 1:
            raise BacklaneError("R022", f"{claim.id} stands twice", path, "number the claims anew")
        for part in claim.parts:
            if part.rule != "claims":
                require_experiment(study, part.experiment, f"{path}: {claim.id}")
            for other in part.options.get("all_of", []):
                if other not in ids:
                    raise BacklaneError(
                        "R022", f'there is no claim "{other}"', f"{path}: {claim.id}", "mend all_of"
                    )
    return claims


def check_cells(claims: Sequence[Claim], plans: Mapping[str, Plan], path: Path) -> None:
    """Make sure, before the first run, that every selection fits a cell that will be run.

    Raises:
        BacklaneError: R022 with the claim and the selection.
    """
    for claim in claims:
        for part in claim.parts:
            plan = plans.get(part.experiment)
            if plan is None:
                continue
            cells = [cell.parameters for cell in plan.cells]
            place = f"{path}: {claim.id}"
            for case in part.cases():
                for where in _selections(part, case):
                    require_cells(cells, where, plan.name, place)


def require_cells(
    cells: Sequence[Mapping[str, Any]], where: Mapping[str, Any], name: str, place: str
) -> None:
    """Raise R022 when no cell has these swept values."""
    if matching(cells, where):
        return
    swept = {key: list(dict.fromkeys(cell[key] for cell in cells)) for key in cells[0]}
    wrong = []
    for key, value in where.items():
        if key not in swept:
            wrong.append(f"{key} = {value!r} (not swept)")
        elif value not in swept[key]:
            wrong.append(f"{key} = {value!r} (swept: {', '.join(map(repr, swept[key]))})")
    raise BacklaneError(
        "R022", f'no cell of "{name}" has {"; ".join(wrong) or where}', place,
        "name a cell of the sweep, or add it to the sweep",
    )  # fmt: skip


def _claim(table: Mapping[str, Any], path: Path) -> Claim:
    name = take(table, "id", str, str(path))
    place = f"{path}: {name}"
    refuse_unknown(table, _CLAIM_KEYS | _PART_KEYS, place)
    weight = take(table, "weight", str, place)
    if weight not in WEIGHTS:
        raise BacklaneError("R022", f'weight "{weight}"', place, f"one of {', '.join(WEIGHTS)}")
    shared = {key: value for key, value in table.items() if key in _PART_KEYS}
    parts = [_part(shared | part, place) for part in table.get("part", [{}])]
    return Claim(
        id=name,
        place=take(table, "place", str, place),
        says=take(table, "says", str, place),
        weight=weight,
        cause=take(table, "cause", str, place, ""),
        parts=parts,
    )


def _part(table: Mapping[str, Any], place: str) -> Part:
    refuse_unknown(table, _PART_KEYS, place)
    rule = take(table, "rule", str, place)
    if rule not in RULES:
        raise BacklaneError("R022", f'"{rule}" is no rule', place, f"known: {', '.join(RULES)}")
    options = {k: v for k, v in table.items() if k not in ("rule", "experiment")}
    needs = {
        "order": ["terms"], "share": ["terms", "within"], "equal": ["terms", "within"],
        "band": ["terms", "low", "high"], "spread": ["terms", "within"],
        "span": ["terms", "within"], "rank": ["terms", "largest"],
        "trend": ["along", "terms"], "effect": ["factors"], "claims": ["all_of"],
    }[rule]  # fmt: skip
    for key in needs:
        take(options, key, object, place)
    part = Part(str(table.get("experiment", "")), rule, options)
    if rule != "claims":
        for case in part.cases():
            for term in _terms(part, case):
                _check_metric(term, place)
    return part


def _check_metric(term: Mapping[str, Any], place: str) -> None:
    for combination in _COMBINATIONS:
        for inner in term.get(combination, []):
            _check_metric(inner, place)
    if not any(key in term for key in _COMBINATIONS):
        metric = term.get("metric")
        if metric not in METRICS:
            raise BacklaneError(
                "R022", f'there is no metric "{metric}"', place, f"known: {', '.join(METRICS)}"
            )


def _terms(part: Part, case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The terms of a case, each complete: metric, and the fixed values under ``where``."""
    options = part.options
    base = dict(options.get("where", {})) | dict(case)
    along = options.get("along")
    return [
        _complete(term, base, options.get("metric"), along) for term in options.get("terms", [{}])
    ]


def _complete(
    term: Any, base: Mapping[str, Any], metric: str | None, along: str | None
) -> dict[str, Any]:
    if not isinstance(term, dict):
        return {"metric": metric, "where": dict(base) | {str(along): term}, "name": str(term)}
    for combination in _COMBINATIONS:
        if combination in term:
            inner = [
                _complete(t, base, term.get("metric", metric), along) for t in term[combination]
            ]
            name = f"{combination}({', '.join(t['name'] for t in inner)})"
            return {combination: inner, "name": name}
    where = {k: v for k, v in term.items() if k != "metric"}
    name = ", ".join(str(v) for v in where.values()) or "all"
    return {"metric": term.get("metric", metric), "where": dict(base) | where, "name": name}


def _selections(part: Part, case: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def walk(term: Mapping[str, Any]) -> None:
        for combination in _COMBINATIONS:
            for inner in term.get(combination, []):
                walk(inner)
        if "where" in term:
            found.append(term["where"])

    for term in _terms(part, case):
        walk(term)
    return found


def _value(data: Data, experiment: str, term: Mapping[str, Any]) -> BySeed:
    for combination in _COMBINATIONS:
        if combination not in term:
            continue
        inner = [_value(data, experiment, t) for t in term[combination]]
        seeds = sorted(set.intersection(*(set(values) for values in inner)))
        joins: dict[str, Callable[[list[float]], float]] = {
            "mean": lambda xs: math.fsum(xs) / len(xs),
            "min": min,
            "max": max,
            "ratio": lambda xs: xs[0] / xs[1] if xs[1] else math.nan,
        }
        join = joins[combination]
        return {seed: join([values[seed] for values in inner]) for seed in seeds}
    return data.values(experiment, term["metric"], term["where"])


@dataclass
class _Case:
    """How one case of a part came out; `holds` is None when nothing can be said."""

    holds: bool | None
    text: str
    tie: bool = False
    unsettled: bool = False
    p_values: list[float] = field(default_factory=list)


def judge(claims: Sequence[Claim], data: Data) -> list[Verdict]:
    """Judge every claim, in order; those that name other claims come out last."""
    found: dict[str, Verdict] = {}
    for claim in sorted(claims, key=lambda c: any(p.rule == "claims" for p in c.parts)):
        found[claim.id] = _judge(claim, data, found)
    _holm(list(found.values()))
    return [found[claim.id] for claim in claims]


def _judge(claim: Claim, data: Data, known: Mapping[str, Verdict]) -> Verdict:
    texts: list[str] = []
    outcomes: list[bool | None] = []
    verdict = Verdict(claim, "unknown", "")
    ties = True
    for part in claim.parts:
        if part.rule == "claims":
            names = part.options["all_of"]
            missed = [n for n in names if known[n].outcome != "reproduced"]
            outcomes.append(not missed)
            ties = ties and not missed
            texts.append("all reproduced" if not missed else f"not: {', '.join(missed)}")
            continue
        cases = part.cases()
        results = [_decide(part, case, data) for case in cases]
        if any(result.holds is None for result in results):
            outcomes.append(None)
        else:
            enough = part.options.get("at_least", len(results))
            outcomes.append(sum(bool(result.holds) for result in results) >= enough)
        if not outcomes[-1]:
            ties = ties and all(r.holds or r.tie for r in results)
        for case, result in zip(cases, results, strict=True):
            label = ", ".join(str(value) for value in case.values())
            mark = "" if result.holds or len(results) == 1 else "✗ "
            texts.append(f"{mark}{label + ': ' if label else ''}{result.text}")
            verdict.p_values += result.p_values
            if result.unsettled:
                verdict.unsettled.add(part.experiment)
    verdict.measured = "; ".join(texts)
    if None not in outcomes:
        verdict.outcome = "reproduced" if all(outcomes) else "differs"
    verdict.tie = verdict.outcome == "differs" and ties
    return verdict


def _decide(part: Part, case: Mapping[str, Any], data: Data) -> _Case:
    if part.rule == "effect":
        return _effect(part, case, data)
    terms = _terms(part, case)
    if part.rule == "trend":
        return _trend(part, terms, data)
    values = [_value(data, part.experiment, term) for term in terms]
    if any(not found for found in values):
        missing = next(t["name"] for t, found in zip(terms, values, strict=True) if not found)
        return _Case(None, f"no value of {missing}")
    means = [mean_interval(list(found.values())).mean for found in values]
    names = [term["name"] for term in terms]
    shown = [_show(term, mean) for term, mean in zip(terms, means, strict=True)]
    text = ", ".join(f"{name} {value}" for name, value in zip(names, shown, strict=True))
    options = part.options
    if part.rule == "order":
        return _order(values, means, text, strict=bool(options.get("strict")))
    if part.rule == "equal":
        apart = abs(means[0] - means[1]) / max(abs(means[0]), abs(means[1]), 1e-300)
        return _Case(apart <= options["within"], f"{text} ({apart:.0%} apart)")
    if part.rule == "band":
        low, high = float(options["low"]), float(options["high"])
        around = [mean_interval(list(found.values())) for found in values]
        straddles = any(i.known and (i.low < low < i.high or i.low < high < i.high) for i in around)
        return _Case(all(low <= mean <= high for mean in means), text, unsettled=straddles)
    if part.rule == "spread":
        centre = math.fsum(means) / len(means)
        spread = (max(means) - min(means)) / centre if centre else math.nan
        return _Case(spread <= options["within"], f"{text} (spread {spread:.0%})")
    if part.rule == "span":
        return _Case(max(means) - min(means) <= options["within"], text)
    if part.rule == "rank":
        place = 1 + sum(mean > means[0] for mean in means[1:])
        return _Case(place <= options["largest"], f"{text} (place {place})")
    seeds = sorted(set.intersection(*(set(found) for found in values)))
    held = [all(a[s] < b[s] for a, b in pairwise(values)) for s in seeds]
    share = sum(held) / len(held) if held else math.nan
    return _Case(share >= options["within"], f"{text} (in {share:.0%} of the seeds)")


def _order(values: Sequence[BySeed], means: Sequence[float], text: str, *, strict: bool) -> _Case:
    ascending = all(a < b for a, b in pairwise(means))
    if not strict:
        return _Case(ascending, text)
    gaps = [paired_difference(after, before) for before, after in pairwise(values)]
    if any(not gap.known for gap in gaps):
        return _Case(None, f"{text} (one seed)")
    holds = all(gap.low > 0 for gap in gaps)
    return _Case(
        holds,
        text,
        tie=not holds and all(gap.low > 0 or gap.has_zero for gap in gaps),
        unsettled=any(gap.has_zero for gap in gaps),
        p_values=[_p_value(before, after) for before, after in pairwise(values)],
    )


def _p_value(before: BySeed, after: BySeed) -> float:
    """Two-sided paired t test; 0 for differences that are all equal and not zero."""
    from scipy import stats

    seeds = sorted(before.keys() & after.keys())
    gaps = [after[seed] - before[seed] for seed in seeds]
    if max(gaps) == min(gaps):
        return 0.0 if gaps[0] else 1.0
    with warnings.catch_warnings():
        # Differences that are nearly equal make scipy warn that p is tiny, which it is.
        warnings.simplefilter("ignore")
        return float(stats.ttest_1samp(gaps, 0.0).pvalue)


def _holm(verdicts: Sequence[Verdict]) -> None:
    """Holm (1979): the k-th smallest of m p-values is compared with 5 % / (m − k + 1)."""
    ordered = sorted((p, verdict.claim.id) for verdict in verdicts for p in verdict.p_values)
    fails: set[str] = set()
    failed = False
    for rank, (p, name) in enumerate(ordered):
        failed = failed or p > 0.05 / (len(ordered) - rank)
        if failed:
            fails.add(name)
    for verdict in verdicts:
        verdict.survives = verdict.claim.id not in fails


def _show(term: Mapping[str, Any], mean: float) -> str:
    if "ratio" in term:
        return f"{mean:.3g}"
    while "metric" not in term:
        term = next(term[c] for c in _COMBINATIONS if c in term)[0]
    return METRICS[term["metric"]].text(mean)


def _number(label: Any) -> float:
    """The number a swept value begins with."""
    if isinstance(label, int | float):
        return float(label)
    match = re.match(r"[-+0-9.eE]+", str(label))
    return float(match.group()) if match else math.nan


def _trend(part: Part, terms: Sequence[Mapping[str, Any]], data: Data) -> _Case:
    from scipy import stats

    along = part.options["along"]
    points = []
    for term in terms:
        found = _value(data, part.experiment, term)
        if not found:
            return _Case(None, f"no value at {term['name']}")
        mean = mean_interval(list(found.values())).mean
        points.append((_number(term["where"][along]), mean, term))
    xs, ys = [x for x, _, _ in points], [y for _, y, _ in points]
    text = f"{_show(points[0][2], ys[0])} → {_show(points[-1][2], ys[-1])}"
    if part.options.get("rank"):
        rho = float(stats.spearmanr(xs, ys).statistic)
        return _Case(rho > 0, f"{text} (ρ = {rho:.2f})")
    slope = float(stats.linregress(xs, ys).slope)
    rise = (ys[-1] - ys[0]) / ys[0]
    return _Case(
        slope > 0 and rise <= part.options.get("within", math.inf), f"{text} ({rise:+.0%})"
    )


def _effect(part: Part, case: Mapping[str, Any], data: Data) -> _Case:
    first, second = part.options["factors"]
    where = dict(part.options.get("where", {})) | dict(case)
    only: dict[str, list[Any]] = part.options.get("levels", {})
    cells = [
        cell
        for cell in data.cells.get(part.experiment, [])
        if all(cell.get(k) == v for k, v in where.items())
        and all(cell.get(k) in v for k, v in only.items())
    ]
    found = [
        (cell[first], cell[second], x)
        for cell in cells
        for x in data.values(part.experiment, part.options["metric"], cell).values()
    ]
    if len(found) < 4:
        return _Case(None, "not enough runs")
    shares = eta_squared(found)
    text = f"η²: {first} {shares[0]:.2f}, {second} {shares[1]:.2f}"
    return _Case(shares[0] > shares[1], text)


def eta_squared(rows: Sequence[tuple[Any, Any, float]]) -> tuple[float, float]:
    """Shares of the variance that the levels of two factors explain, in a balanced layout.

    Args:
        rows: (level of the first factor, level of the second, value).
    """
    values = [value for _, _, value in rows]
    mean = math.fsum(values) / len(values)
    total = math.fsum((value - mean) ** 2 for value in values)
    shares = []
    for factor in (0, 1):
        levels: dict[Any, list[float]] = {}
        for row in rows:
            levels.setdefault(row[factor], []).append(row[2])
        between = math.fsum(
            len(found) * (math.fsum(found) / len(found) - mean) ** 2 for found in levels.values()
        )
        shares.append(between / total if total else math.nan)
    return shares[0], shares[1]
