"""N − 1: every single link and node of the network down in turn, under the best contender."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane.recommend.variants import AS_IT_IS, Variant, mean_ratio, unfinished_per_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backlane.objectives import Objective
    from backlane.recommend.variants import Outcomes

KEY = "down"
"""The swept key of the campaign of failures."""
MOST_SEEDS = 5
"""Seeds of each failure: the worst are named, and no test is made."""
WORST = 5
"""Failures that are named."""


@dataclass(frozen=True)
class Failure:
    """What a failure costs.

    Attributes:
        name: what is down, such as "link a-b".
        unfinished: flows of a run that do not finish, on average.
        ratio: the cost over that of the whole network, less 1; infinite where a run has no value.
        rest_s: mean finish time of the flows that do finish; NaN without any.
    """

    name: str
    unfinished: float
    ratio: float
    rest_s: float


def variants(resolved: str, scenario: dict[str, Any]) -> list[Variant]:
    """The scenario as it is, and with each link and each node down from the start of the flows on.

    Servers, and the links to them, are outside of the network and stay up.
    """
    nodes = scenario["topology"]["node"]
    outside = {node["id"] for node in nodes if node.get("kind") == "server"}
    down = [
        ("link", f"{link['a']}-{link['b']}")
        for link in scenario["topology"].get("link", ())
        if not {link["a"], link["b"]} & outside
    ]
    down += [("node", node["id"]) for node in nodes if node["id"] not in outside]
    found = [Variant(AS_IT_IS, resolved)]
    for kind, name in down:
        failure = f'\n[[failure]]\n{kind} = "{name}"\nat = "0 s"\n'
        found.append(Variant(f"{kind} {name}", resolved + failure))
    return found


def judge(names: Sequence[str], outcomes: Outcomes, objective: Objective) -> list[Failure]:
    """What each failure costs, the worst first: by flows that do not finish, then by the measure.

    Args:
        names: of the variants; the first is the unchanged scenario.
        outcomes: their runs.
        objective: what is compared.
    """
    base = outcomes.costs(0, objective)
    found = []
    for index, name in enumerate(names):
        runs = outcomes.measures(index)
        ratio = mean_ratio(outcomes.costs(index, objective), base)
        times = [one.finish_time_s.mean for one in runs if one.finish_time_s.mean >= 0]
        rest_s = math.fsum(times) / len(times) if times else math.nan
        found.append(Failure(name, unfinished_per_run(runs), ratio, rest_s))
    whole, *failed = found
    return [whole, *sorted(failed, key=lambda one: (-one.unfinished, -one.ratio))]


def sentences(failures: Sequence[Failure], objective: Objective, seeds: int) -> list[str]:
    """The worst failures in words."""
    whole, *failed = failures
    if not failed:
        return ["N − 1: there is no link or node that could fail."]
    harmless = sum(one.unfinished <= whole.unfinished and one.ratio < 0.05 for one in failed)
    head = (
        f"N − 1: {len(failed)} single failures over {seeds} seeds. With {harmless or 'none'} of "
        f"them all flows are served and {objective.title} is less than 5 % worse. The worst:"
    )
    return [head, *(f"  {_line(one, whole, objective)}" for one in failed[:WORST])]


def _line(one: Failure, whole: Failure, objective: Objective) -> str:
    more = one.unfinished - whole.unfinished
    lost = f"{more:g} more flows a run do not finish, " if more > 0 else ""
    if lost and objective.counts_unfinished:
        # With the time until the end of the run for each unfinished flow, the measure says no more.
        if math.isnan(one.rest_s):
            return f"{one.name}: no flow finishes"
        rest = f"{100 * (one.rest_s / whole.rest_s - 1):+.0f} %"
        return f"{one.name}: {lost}the mean finish time of the others {rest}"
    if math.isinf(one.ratio):
        return f"{one.name}: {lost}{objective.metric} has no value"
    # Of a cost whose highest value is best, the value falls as the cost rises.
    change = one.ratio if objective.lowest else 1 / (1 + one.ratio) - 1
    return f"{one.name}: {lost}{objective.metric} {100 * change:+.0f} %"


def as_dicts(failures: Sequence[Failure]) -> list[dict[str, Any]]:
    """For ``--json``."""
    return [
        {
            "down": one.name,
            "unfinished_flows": one.unfinished,
            "cost_ratio": one.ratio,
            "finish_time_of_finished_s": one.rest_s,
        }
        for one in failures
    ]
