"""All bounds of a scenario."""

from __future__ import annotations

import dataclasses
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from backlane.bound import columns
from backlane.bound.finish import Finish, finish_of, sized
from backlane.bound.linear import LinearProgram, Solution, max_min
from backlane.bound.network import program_of
from backlane.bound.paths import Paths, by_node
from backlane.bound.program import Arc, Demand, Resource
from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from backlane.bound.program import Floats, Integers, Program, Rule
    from backlane.scenario import Overrides, Scenario, Source

METHODS = ("auto", "exact", "approximate")
MOST_VARIABLES = 20_000
"""Of a linear program that is solved without being asked for; beyond, it is approximated."""
LIMIT_S = 300.0
"""Time for each linear program."""
GAP = 0.002
"""Of an approximation."""
TIGHT = 1e-6
"""Smallest price, as a share of the largest, of a resource that counts as tight."""
AIR = ("radio", "air", "cell air")
"""Kinds of resources whose capacity is time."""


@dataclass(frozen=True)
class Tight:
    """A resource that limits a bound."""

    resource: str
    kind: str
    capacity: float
    """Mbit/s of a wire or cell; of a radio seconds in a second."""
    total_price: float
    """What one more unit of it adds to the total, in Mbit/s."""
    least_price: float
    """What it adds to the rate of each flow, in Mbit/s."""

    @property
    def is_air(self) -> bool:
        """Whether the capacity is time on the air."""
        return self.kind in AIR

    @property
    def step(self) -> str:
        """An amount of it that can be imagined."""
        return "1 % of air" if self.is_air else "1 Mbit/s"

    def gain(self, price: float) -> str:
        """What a step adds at a price."""
        return f"{price * (0.01 if self.is_air else 1):.3g} Mbit/s"


@dataclass(frozen=True)
class Bound:
    """What no routing could beat."""

    name: str
    parameters: dict[str, Any]
    """Of a campaign: the swept parameters that are alike in all cells that have this bound."""
    seed: int
    nodes: int
    arcs: int
    commodities: int
    variables: int
    method: str
    """"exact" or "approximate"."""
    flows: list[str]
    total_mbps: float
    """Payload that all flows together can get."""
    least_mbps: float
    """The largest rate that every flow can get at the same time."""
    reached_mbps: float
    """A common rate that a routing is known to reach in the fluid model: the bound, but for the
    gap of an approximation."""
    fair_mbps: list[float] | None
    """Max-min fair rates of the flows; None where the network is too large."""
    finish: Finish | None
    tight: list[Tight]
    notes: list[str]
    is_endless: bool
    """Whether all flows go on to the end, so that a run's least goodput can be compared."""
    seconds: dict[str, float]
    """Time of each part of the computation."""

    @property
    def gap(self) -> float:
        """The share of `least_mbps` that is not known to be reachable in the fluid model."""
        return 1 - self.reached_mbps / self.least_mbps if self.least_mbps > 0 else 0.0


def of(
    file: Scenario | Source,
    overrides: Overrides = (),
    seed: int | None = None,
    method: str = "auto",
    limit_s: float = LIMIT_S,
) -> list[Bound]:
    """The bounds of a scenario file: one for each cell whose network or flows differ.

    Args:
        file: the scenario: a path, a text or a dict; of a campaign, cells that differ only in what
            no bound depends on, such as the routing, have one bound together.
        overrides: values put in place before: a dict, or pairs of key and TOML.
        seed: of the run whose draws count; default: the first of the file.
        method: "exact" for linear programs, "approximate", or "auto" by the size.
        limit_s: time for each linear program, or for the approximation.

    Raises:
        ScenarioError: when the scenario is wrong.
        BacklaneError: R050, R051, R052, or when the file cannot be read.
    """
    from backlane.campaign.plan import make_plan
    from backlane.scenario import read

    source = read(file, overrides)
    plan = make_plan(source, seed=seed)
    programs: dict[str, Program] = {}
    cells: dict[str, list[dict[str, Any]]] = {}
    for cell in plan.cells:
        program = program_of(parsed(cell.resolved), plan.seeds[0], source.name)
        key = identity(program)
        programs.setdefault(key, program)
        cells.setdefault(key, []).append(cell.parameters)
    return [
        of_program(program, plan.name, plan.seeds[0], method, limit_s, _common(cells[key]))
        for key, program in programs.items()
    ]


def of_resolved(
    text: str,
    seed: int,
    file: str = "scenario.resolved.toml",
    method: str = "auto",
    limit_s: float = LIMIT_S,
) -> Bound:
    """The bounds of a resolved scenario for a seed.

    Raises:
        BacklaneError: R050, R051 or R052.
    """
    scenario = parsed(text)
    program = program_of(scenario, seed, file)
    return of_program(program, str(scenario.get("name", "")), seed, method, limit_s)


def _common(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """The parameters that are alike in all cells."""
    first = cells[0]
    return {key: value for key, value in first.items() if all(cell[key] == value for cell in cells)}


def parsed(resolved: str) -> dict[str, Any]:
    """A resolved scenario as tables.

    Raises:
        ValueError: when the text is no TOML.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(resolved)


def identity(program: Program) -> str:
    """What a bound depends on."""
    arcs = [(arc.tail, arc.head, arc.delay_s, arc.use) for arc in program.arcs]
    taken = [(sorted(rules), [use.data.tobytes() for use in program.use])
             for rules in [program.rules]]  # fmt: skip
    return repr((program.nodes, arcs, program.resources, program.classes, program.flows, taken))


def of_program(
    program: Program,
    name: str,
    seed: int,
    method: str = "auto",
    limit_s: float = LIMIT_S,
    parameters: dict[str, Any] | None = None,
) -> Bound:
    """The bounds of a program.

    Raises:
        BacklaneError: R052.
    """
    clock = _Clock()
    variables = program.variables
    is_exact = method == "exact" or (method == "auto" and variables <= MOST_VARIABLES)
    paths = Paths(program)
    solve = _exact if is_exact else _approximate
    found = solve(program, paths, limit_s, clock)
    finish = finish_of(program, paths, found.all_prices, limit_s)
    clock.lap("finish")
    return Bound(
        name=name,
        parameters=parameters or {},
        seed=seed,
        nodes=len(program.nodes),
        arcs=len(program.arcs),
        commodities=len(program.commodities),
        variables=variables,
        method="exact" if is_exact else "approximate",
        flows=[flow.name for flow in program.flows],
        total_mbps=found.total_mbps,
        least_mbps=found.least_mbps,
        reached_mbps=found.reached_mbps,
        fair_mbps=found.fair_mbps,
        finish=finish,
        tight=_tight(program, found),
        notes=program.notes,
        is_endless=all(f.size_bytes is None and f.stop_s is None for f in program.flows),
        seconds=clock.laps,
    )


class _Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = now - self._last
        self._last = now


@dataclass
class _Found:
    total_mbps: float
    least_mbps: float
    reached_mbps: float
    fair_mbps: list[float] | None
    total_prices: Floats
    least_prices: Floats
    all_prices: list[Floats]


def _least_cap(program: Program) -> float:
    """The smallest rate of a source: no common rate is higher."""
    return min(demand.cap_mbps for demand in program.demands)


def _exact(program: Program, paths: Paths, limit_s: float, clock: _Clock) -> _Found:
    linear = LinearProgram(program, limit_s)
    total = linear.maximise(total=True)
    clock.lap("total")
    rates, levels = max_min(program, linear)
    clock.lap("max-min")
    fair = np.zeros(len(program.flows))
    for demand, rate in zip(program.demands, rates, strict=True):
        fair[demand.flows] = rate
    prices = [total.prices, *(level.prices for level in levels)]
    last = _of_sizes(program, limit_s)
    if last is not None:
        prices.append(last.prices)
        clock.lap("sizes")
    least = levels[0]
    return _Found(
        total_mbps=_proven(total.value),
        least_mbps=_proven(least.value),
        reached_mbps=least.value,
        fair_mbps=[float(rate) for rate in fair],
        total_prices=total.prices,
        least_prices=least.prices,
        all_prices=prices,
    )


def _of_sizes(program: Program, limit_s: float) -> Solution | None:
    together = sized(program)
    return None if together is None else LinearProgram(together, limit_s).maximise()


def _proven(value: float) -> float:
    """An optimum with the tolerance of the solver on the safe side."""
    return value * (1 + 1e-6)


def _approximate(program: Program, paths: Paths, limit_s: float, clock: _Clock) -> _Found:
    least = columns.concurrent(program, GAP, limit_s)
    clock.lap("least")
    total_mbps, total_prices = _large_total(program, limit_s)
    clock.lap("total")
    prices = [least.prices]
    together = sized(program)
    if together is not None:
        prices.append(columns.concurrent(together, GAP, limit_s).prices)
        clock.lap("sizes")
    cap = _least_cap(program)
    return _Found(
        total_mbps=_proven(total_mbps),
        least_mbps=min(least.bound, cap),
        reached_mbps=min(least.reached, cap),
        fair_mbps=None,
        total_prices=total_prices,
        least_prices=least.prices if least.bound <= cap else np.zeros(len(program.resources)),
        all_prices=prices,
    )


def _large_total(program: Program, limit_s: float) -> tuple[float, Floats]:
    """A bound of the total of a large network, and its prices."""
    try:
        merged = _merged_total(program, limit_s)
    except BacklaneError as error:
        if error.code != "R052":
            raise
        program.notes.append("the total is what the links at the ends of the flows carry")
        sides = (
            (program.tails, {demand.source for demand in program.demands}),
            (program.heads, {demand.destination for demand in program.demands}),
        )
        return min((_total_at(program, *side) for side in sides), key=lambda found: found[0])
    return merged.value, merged.prices


def _total_at(program: Program, nodes: Integers, ends: set[int]) -> tuple[float, Floats]:
    """What the arcs at some nodes carry, if each flow crosses one of them."""
    priced = np.zeros(len(program.resources), dtype=bool)
    taken = np.inf
    for arc in np.flatnonzero(np.isin(nodes, sorted(ends))):
        resource, rule = program.arcs[arc].use[0]
        priced[resource] = True
        taken = min(taken, *(program.rules[rule](class_) for class_ in program.classes), np.inf)
    prices = np.where(priced, 1 / taken, 0.0)
    return float(program.capacities @ prices), prices


def _merged_total(program: Program, limit_s: float) -> Solution:
    """The largest total if any source could serve any destination: one commodity."""
    sink = len(program.nodes)
    nodes = [*program.nodes, "all destinations", "all sources"]
    resources = list(program.resources)
    arcs = list(program.arcs)
    caps: dict[int, float] = {}
    for demand in program.demands:
        most = demand.cap_mbps * len(demand.flows)
        caps[demand.source] = caps.get(demand.source, 0.0) + most
    leaving = by_node(program.tails, len(program.nodes))
    for node, cap in sorted(caps.items()):
        use: tuple[tuple[int, str], ...] = ()
        if np.isfinite(cap):
            resources.append(Resource(f"sources at {program.nodes[node]}", "sources", cap))
            use = ((len(resources) - 1, "payload"),)
        # What a node sends leaves it: a node may be a source and a destination.
        nodes.append(f"sources at {program.nodes[node]}")
        arcs.append(Arc(sink + 1, len(nodes) - 1, 0.0, use))
        arcs += [
            dataclasses.replace(program.arcs[arc], tail=len(nodes) - 1) for arc in leaving[node]
        ]
    arcs += [Arc(node, sink, 0.0, ()) for node in sorted({d.destination for d in program.demands})]
    rules = {name: _smallest(program, rule) for name, rule in program.rules.items()}
    merged = dataclasses.replace(
        program,
        nodes=nodes,
        arcs=arcs,
        resources=resources,
        classes=program.classes[:1],
        demands=[Demand(sink + 1, sink, 0, [0], 1.0)],
        rules={**rules, "payload": lambda _class: 1.0},
    )
    solution = LinearProgram(merged, limit_s).maximise(total=True)
    return dataclasses.replace(solution, prices=solution.prices[: len(program.resources)])


def _smallest(program: Program, rule: Rule) -> Rule:
    """What the class that takes least takes."""
    least = min(rule(class_) for class_ in program.classes)
    return lambda _class: least


def _tight(program: Program, found: _Found) -> list[Tight]:
    prices = _scaled(program, found.least_prices, found.least_mbps)
    least_total = TIGHT * found.total_prices.max(initial=0.0)
    least_least = TIGHT * prices.max(initial=0.0)
    rows = [
        Tight(r.name, r.kind, r.capacity, float(total), float(least))
        for r, total, least in zip(program.resources, found.total_prices, prices, strict=True)
        if total > least_total or least > least_least
    ]
    return sorted(rows, key=lambda row: (-row.least_price, -row.total_price, row.resource))


def _scaled(program: Program, prices: Floats, value: float) -> Floats:
    """Prices at which all resources together cost the value."""
    worth = float(program.capacities @ prices)
    return prices * (value / worth) if worth > 0 else prices
