"""The operands of rules: terms, each a selection of cells with one value per seed.

A term is a value of the key ``along``, or a table of swept keys, optionally with its own ``metric``
and ``experiment``. A term with its own experiment does not inherit fixed keys. ``mean``, ``sum``,
``min``, ``max``, ``ratio`` and ``difference`` combine terms seed by seed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backlane.studies.runs import BySeed, Data

_JOINS: dict[str, Callable[[list[float]], float]] = {
    "mean": lambda xs: math.fsum(xs) / len(xs),
    "sum": math.fsum,
    "min": min,
    "max": max,
    "ratio": lambda xs: xs[0] / xs[1] if xs[1] else math.nan,
    "difference": lambda xs: xs[0] - xs[1],
}


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

    @property
    def experiments(self) -> list[str]:
        """The experiments that it needs."""
        if not self.experiment:
            return []
        named = [found for found, _ in selections(self, {})]
        return list(dict.fromkeys([self.experiment, *named]))


def leading_number(label: Any) -> float:
    """The leading number of a swept value; NaN if there is none."""
    if isinstance(label, int | float):
        return float(label)
    match = re.match(r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?", str(label))
    try:
        return float(match.group()) if match else math.nan
    except ValueError:
        return math.nan


def terms(part: Part, case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The terms of a case, each complete: metric, experiment, the fixed values, a name."""
    options = part.options
    base = {
        "metric": options.get("metric"),
        "experiment": part.experiment,
        "along": options.get("along"),
        "where": dict(options.get("where", {})) | dict(case),
    }
    return [_complete(term, base) for term in options.get("terms", [{}])]


def _complete(term: Any, base: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(term, dict):
        term = {str(base["along"]): term}
    alone: dict[str, Any] = {"where": {}} if "experiment" in term else {}
    base = {**base, **alone, **{k: term[k] for k in ("metric", "experiment") if k in term}}
    own = {key: value for key, value in term.items() if key not in ("metric", "experiment")}
    for combination in _JOINS:
        if combination in own:
            fixed = {key: value for key, value in own.items() if key != combination}
            inner_base = {**base, "where": base["where"] | fixed}
            inner = [_complete(t, inner_base) for t in own[combination]]
            name = f"{combination}({', '.join(t['name'] for t in inner)})"
            return {combination: inner, "name": name}
    name = ", ".join(str(value) for value in own.values()) or str(term.get("metric", "all"))
    if "experiment" in term:
        name = term["experiment"] if name == "all" else f"{term['experiment']}: {name}"
    return {
        "metric": base["metric"],
        "experiment": base["experiment"],
        "where": base["where"] | own,
        "name": name,
    }


def leaves(term: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The selections of a term."""
    for combination in _JOINS:
        if combination in term:
            return [leaf for inner in term[combination] for leaf in leaves(inner)]
    return [term]


def selections(part: Part, case: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every experiment and selection of cells that a case needs."""
    found = [
        (leaf["experiment"], leaf["where"]) for term in terms(part, case) for leaf in leaves(term)
    ]
    against = part.options.get("against")
    if against is not None:
        found += [(name, {**where, **against}) for name, where in found]
    return found


def value(data: Data, term: Mapping[str, Any]) -> BySeed:
    """The values of a term, by seed."""
    for combination, join in _JOINS.items():
        if combination in term:
            inner = [value(data, t) for t in term[combination]]
            seeds = sorted(set.intersection(*(set(values) for values in inner)))
            return {seed: join([values[seed] for values in inner]) for seed in seeds}
    return data.values(term["experiment"], term["metric"], term["where"])
