"""The rules that test claims, on the terms of `backlane.studies.terms`.

``order``
    Terms ascend. ``strict`` (ORD): the 95 % interval of every adjacent difference, paired by
    seed, lies above zero. ``weak``: none lies below zero, so that equal terms are in order.
    Otherwise (ORDw): the means ascend.
``equal``
    The means of two terms differ by at most ``within`` of the larger one.
``band``
    The mean of each term lies in ``[low, high]``; with ``seeds``, the value itself does in at least
    that share of the seeds (QUAL).
``spread``
    (largest − smallest) / mean over the terms' means is at most ``within``.
``span``
    largest − smallest of the terms' means is at most ``within``.
``rank``
    The first term is among the ``largest`` largest; with ``against``, swept keys with other
    values, its place is not worse than there.
``distance``
    The largest Kolmogorov-Smirnov distance between the ``distribution`` of any two terms, values of
    all seeds together, lies in ``[low, high]``.
``trend``
    Over the numbers of the swept key ``along``: the least-squares slope is positive and the rise
    from the first to the last is at most ``within`` of the first; with ``rank = true`` only
    Spearman's ρ is above ``least`` (0 unless given).
``effect``
    Of two swept keys ``factors`` the first explains more of the variance (η² of a two-way layout
    of cell means by seed).
``sign``
    With ``sign = "positive"`` the interval of the mean of each term lies above zero, with
    ``sign = "none"`` it contains zero. It is Student's, at ``level`` (0.95 unless given), which a
    claim with many cases sets higher.
``share``
    Terms ascend in at least ``within`` of the seeds.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from backlane.stats import LEVEL, mean_interval, paired_difference
from backlane.studies import metrics
from backlane.studies.terms import leading_number, leaves, terms, value
from backlane.studies.timed import DISTRIBUTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backlane.studies.runs import BySeed, Data
    from backlane.studies.terms import Part

NEEDS = {
    "order": ["terms"], "share": ["terms", "within"], "equal": ["terms", "within"],
    "band": ["terms", "low", "high"], "spread": ["terms", "within"],
    "span": ["terms", "within"], "sign": ["terms", "sign"],
    "rank": ["terms"], "distance": ["terms", "distribution"],
    "trend": ["along", "terms"], "effect": ["factors"], "claims": ["all_of"],
}  # fmt: skip
"""Every rule, with its required options."""


@dataclass
class Case:
    """The outcome of one case of a part; `holds` is None if it is unknown."""

    holds: bool | None
    text: str
    tie: bool = False
    unsettled: bool = False
    p_values: list[float] = field(default_factory=list)


def decide(part: Part, case: Mapping[str, Any], data: Data) -> Case:
    """Test one case of a part."""
    if part.rule == "effect":
        return _effect(part, case, data)
    stated = terms(part, case)
    if part.rule == "trend":
        return _trend(part, stated, data)
    if part.rule == "distance":
        return _distance(part, stated, data)
    values = [value(data, term) for term in stated]
    if any(not found for found in values):
        missing = next(t["name"] for t, found in zip(stated, values, strict=True) if not found)
        return Case(None, f"no value of {missing}")
    means = [mean_interval(list(found.values())).mean for found in values]
    names = [term["name"] for term in stated]
    shown = [_show(term, mean) for term, mean in zip(stated, means, strict=True)]
    text = ", ".join(f"{name} {value}" for name, value in zip(names, shown, strict=True))
    options = part.options
    if part.rule == "order":
        if options.get("weak"):
            return _not_descending(values, text)
        return _order(values, means, text, strict=bool(options.get("strict")))
    if part.rule == "equal":
        apart = abs(means[0] - means[1]) / max(abs(means[0]), abs(means[1]), 1e-300)
        return Case(apart <= options["within"], f"{text} ({apart:.0%} apart)")
    if part.rule == "band":
        low, high = float(options["low"]), float(options["high"])
        if "seeds" in options:
            return _band_by_seed(values, low, high, float(options["seeds"]), text)
        around = [mean_interval(list(found.values())) for found in values]
        straddles = any(i.known and (i.low < low < i.high or i.low < high < i.high) for i in around)
        return Case(all(low <= mean <= high for mean in means), text, unsettled=straddles)
    if part.rule == "sign":
        return _sign(values, text, str(options["sign"]), float(options.get("level", LEVEL)))
    if part.rule == "spread":
        centre = math.fsum(means) / len(means)
        spread = (max(means) - min(means)) / centre if centre else math.nan
        return Case(spread <= options["within"], f"{text} (spread {spread:.0%})")
    if part.rule == "span":
        return Case(max(means) - min(means) <= options["within"], text)
    if part.rule == "rank":
        place = 1 + sum(mean > means[0] for mean in means[1:])
        if "against" not in options:
            return Case(place <= options["largest"], f"{text} (place {place})")
        others = [value(data, {**t, "where": t["where"] | options["against"]}) for t in stated]
        if any(not found for found in others):
            return Case(None, "no value to compare the place with")
        there = [mean_interval(list(found.values())).mean for found in others]
        before = 1 + sum(mean > there[0] for mean in there[1:])
        return Case(place <= before, f"{text} (place {place}, against {before})")
    seeds = sorted(set.intersection(*(set(found) for found in values)))
    held = [all(a[s] < b[s] for a, b in pairwise(values)) for s in seeds]
    share = sum(held) / len(held) if held else math.nan
    return Case(share >= options["within"], f"{text} (in {share:.0%} of the seeds)")


def _order(values: Sequence[BySeed], means: Sequence[float], text: str, *, strict: bool) -> Case:
    ascending = all(a < b for a, b in pairwise(means))
    if not strict:
        return Case(ascending, text)
    gaps = [paired_difference(after, before) for before, after in pairwise(values)]
    if any(not gap.known for gap in gaps):
        return Case(None, f"{text} (one seed)")
    holds = all(gap.low > 0 for gap in gaps)
    return Case(
        holds,
        text,
        tie=not holds and all(gap.low > 0 or gap.has_zero for gap in gaps),
        unsettled=any(gap.has_zero for gap in gaps),
        p_values=[_p_value(before, after) for before, after in pairwise(values)],
    )


def _not_descending(values: Sequence[BySeed], text: str) -> Case:
    gaps = [paired_difference(after, before) for before, after in pairwise(values)]
    if any(not gap.known for gap in gaps):
        return Case(None, f"{text} (one seed)")
    return Case(all(gap.high >= 0 for gap in gaps), text)


def _band_by_seed(
    values: Sequence[BySeed], low: float, high: float, needed: float, text: str
) -> Case:
    seeds = sorted(set.intersection(*(set(found) for found in values)))
    held = [all(low <= found[s] <= high for found in values) for s in seeds]
    share = sum(held) / len(held) if held else math.nan
    return Case(share >= needed, f"{text} (in {share:.0%} of the seeds)")


def _sign(values: Sequence[BySeed], text: str, sign: str, level: float) -> Case:
    ends = [_student(list(found.values()), level) for found in values]
    if any(math.isnan(low) for low, _ in ends):
        return Case(None, f"{text} (one seed)")
    positive = sign == "positive"
    holds = all(low > 0 if positive else low <= 0 <= high for low, high in ends)
    return Case(holds, text)


def _student(values: Sequence[float], level: float) -> tuple[float, float]:
    """The ends of Student's interval of a mean; NaN of one value."""
    from scipy import stats

    if len(values) < 2:
        return math.nan, math.nan
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    half = float(stats.t.ppf((1 + level) / 2, len(values) - 1)) * math.sqrt(variance / len(values))
    return mean - half, mean + half


def _distance(part: Part, stated: Sequence[Mapping[str, Any]], data: Data) -> Case:
    from scipy import stats

    options = part.options
    base, _, span = str(options["distribution"]).partition("@")
    of = DISTRIBUTIONS[base][3]
    begin, _, end = span.partition("-")
    between = (float(begin or 0.0), float(end or math.inf))
    samples = []
    for term in stated:
        views = data.at(term["experiment"], term["where"])
        samples.append([x for view in views for x in of(view, between)])
        if not samples[-1]:
            return Case(None, f"no values of {term['name']}")
    found = [
        (float(stats.ks_2samp(a, b).statistic), f"{one['name']} – {other['name']}")
        for (one, a), (other, b) in combinations(zip(stated, samples, strict=True), 2)
    ]
    apart, pair = max(found)
    low, high = float(options.get("low", 0.0)), float(options.get("high", 1.0))
    return Case(low <= apart <= high, f"largest distance {apart:.2f} ({pair})")


def _p_value(before: BySeed, after: BySeed) -> float:
    """Two-sided paired t test; 0 for differences that are all equal and not zero."""
    from scipy import stats

    seeds = sorted(before.keys() & after.keys())
    gaps = [after[seed] - before[seed] for seed in seeds]
    if max(gaps) == min(gaps):
        return 0.0 if gaps[0] else 1.0
    with warnings.catch_warnings():
        # scipy warns about precision if the differences are nearly equal; p is tiny then.
        warnings.simplefilter("ignore")
        return float(stats.ttest_1samp(gaps, 0.0).pvalue)


def _show(term: Mapping[str, Any], mean: float) -> str:
    if "ratio" in term:
        return f"{mean:.3g}"
    return metrics.get(leaves(term)[0]["metric"]).text(mean)


def _trend(part: Part, stated: Sequence[Mapping[str, Any]], data: Data) -> Case:
    from scipy import stats

    along = part.options["along"]
    points = []
    for term in stated:
        found = value(data, term)
        if not found:
            return Case(None, f"no value at {term['name']}")
        mean = mean_interval(list(found.values())).mean
        points.append((leading_number(term["where"][along]), mean, term))
    xs, ys = [x for x, _, _ in points], [y for _, y, _ in points]
    text = f"{_show(points[0][2], ys[0])} → {_show(points[-1][2], ys[-1])}"
    if part.options.get("rank"):
        rho = float(stats.spearmanr(xs, ys).statistic)
        return Case(rho > part.options.get("least", 0.0), f"{text} (ρ = {rho:.2f})")
    slope = float(stats.linregress(xs, ys).slope)
    rise = (ys[-1] - ys[0]) / ys[0]
    return Case(slope > 0 and rise <= part.options.get("within", math.inf), f"{text} ({rise:+.0%})")


def _effect(part: Part, case: Mapping[str, Any], data: Data) -> Case:
    first, second = part.options["factors"]
    where = dict(part.options.get("where", {})) | dict(case)
    only: dict[str, list[Any]] = part.options.get("levels", {})
    cells = [
        cell
        for cell in data.cells(part.experiment)
        if all(cell.get(k) == v for k, v in where.items())
        and all(cell.get(k) in v for k, v in only.items())
    ]
    found = [
        (cell[first], cell[second], x)
        for cell in cells
        for x in data.values(part.experiment, part.options["metric"], cell).values()
    ]
    if len(found) < 4:
        return Case(None, "not enough runs")
    shares = eta_squared(found)
    text = f"η²: {first} {shares[0]:.2f}, {second} {shares[1]:.2f}"
    return Case(shares[0] > shares[1], text)


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
