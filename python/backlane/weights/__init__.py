"""Costs of links for OSPF that suit the demands, by the measure of Fortz and Thorup (INFOCOM 2000).

`loads` sends demands along the shortest paths by given costs, divided evenly at each router among
equal ones, and rates what the links then carry; `search` looks for better costs; `least` computes
what no routing could improve on, by a linear program.

Example:
    >>> import backlane.weights
    >>> found = backlane.weights.of("grid.toml")  # doctest: +SKIP
    >>> found.costs  # doctest: +SKIP
    {('enb1', 'enb2'): 3, ...}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.toml import value_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from backlane.bound.program import Program
    from backlane.scenario import Overrides, Scenario, Source
    from backlane.weights.loads import Floats

MOST_COST = 20
"""The largest cost tried; Fortz and Thorup have weights from 1 to 20."""
EVALUATIONS = 2000
"""Sets of costs that a search rates."""


@dataclass(frozen=True)
class Rated:
    """What links carry under some costs."""

    name: str
    utilisation: float
    """The largest load of a link by its rate."""
    congestion: float
    """Fortz and Thorup's cost of the loads, by that of the best division of traffic there is; 1 at
    best. Not a number where that is unknown."""


@dataclass(frozen=True)
class Weights:
    """Costs for OSPF."""

    name: str
    """Of the scenario."""
    costs: dict[tuple[str, str], int]
    """By the names of both ends, from the first to the second; each link has both directions."""
    demands: int
    """Destinations with traffic."""
    offered_mbps: float
    """Payload of all demands together."""
    rated: list[Rated]
    """By hops, by the inverse of rates, and by `costs`, in this order."""
    evaluations: int

    def rows(self) -> list[dict[str, str | int]]:
        """The tables of ``[[routing.costs]]``, one for each link."""
        found: list[dict[str, str | int]] = []
        seen = set()
        for (tail, head), cost in self.costs.items():
            if (head, tail) in seen:
                continue
            seen.add((tail, head))
            row: dict[str, str | int] = {"link": f"{tail}-{head}", "cost": cost}
            if self.costs[head, tail] != cost:
                row["cost_back"] = self.costs[head, tail]
            found.append(row)
        return found

    def toml(self) -> str:
        """The rows as text for a scenario file with ``[routing] protocol = "ospf"``."""
        return "\n".join(
            "\n".join(
                ["[[routing.costs]]", *(f"{key} = {value_text(row[key])}" for key in row), ""]
            )
            for row in self.rows()
        )

    def inline(self) -> str:
        """The rows on one line, for ``--set routing.costs=…`` or a table of ``[sweep]``."""
        return value_text(self.rows())


def of(
    file: Scenario | Source,
    overrides: Overrides = (),
    seed: int | None = None,
    evaluations: int = EVALUATIONS,
    progress: Callable[[int], None] | None = None,
) -> Weights:
    """Costs that suit the flows of a scenario: each asks for its max-min fair rate of `bound`.

    Args:
        file: the scenario: a path, a text or a dict; of a campaign, the first cell.
        overrides: values put in place before.
        seed: of the run whose draws count, and of the search; default: the first of the file.
        evaluations: sets of costs that are rated.
        progress: called with the number of sets rated so far.

    Raises:
        ScenarioError: when the scenario is wrong.
        BacklaneError: R050, R051, R052; R055 when no wires between routers leave a choice.
    """
    from backlane.bound.bounds import of_program, parsed
    from backlane.bound.network import program_of
    from backlane.campaign.plan import make_plan
    from backlane.scenario import read

    source = read(file, overrides)
    plan = make_plan(source, seed=seed)
    chosen = plan.seeds[0]
    program = program_of(parsed(plan.cells[0].resolved), chosen, source.name)
    bound = of_program(program, plan.name, chosen)
    rates = bound.fair_mbps or [bound.reached_mbps] * len(program.flows)
    return of_rates(program, rates, plan.name, chosen, evaluations, progress)


def of_rates(
    program: Program,
    rates_mbps: list[float],
    name: str,
    seed: int,
    evaluations: int = EVALUATIONS,
    progress: Callable[[int], None] | None = None,
) -> Weights:
    """Costs that suit a rate of each flow.

    Raises:
        BacklaneError: R055.
    """
    from backlane.weights import loads
    from backlane.weights.least import least_congestion
    from backlane.weights.search import search

    wires = loads.wires_of(program, rates_mbps)
    if len(wires.free) < 4:
        raise BacklaneError(
            "R055", "there are less than two wires between routers, and no choice of paths", name
        )
    best = search(wires, seed, evaluations, MOST_COST, progress)
    least = least_congestion(wires)
    named: list[tuple[str, Floats]] = [
        ("by hops", wires.fixed(1.0)),
        ("by the inverse of rates", wires.by_rate),
        ("these costs", best),
    ]
    rated = []
    for label, costs in named:
        load = loads.loads(wires, costs)
        rated.append(
            Rated(
                label,
                float((load / wires.capacities_mbps)[wires.free].max()),
                loads.congestion(wires, load) / least,
            )
        )
    names = program.nodes
    return Weights(
        name=name,
        costs={
            (names[wires.tails[arc]], names[wires.heads[arc]]): int(best[arc]) for arc in wires.free
        },
        demands=len(wires.demands),
        offered_mbps=sum(rates_mbps),
        rated=rated,
        evaluations=evaluations,
    )
