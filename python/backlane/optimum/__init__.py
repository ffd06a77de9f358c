"""The optimum of the bound as a scenario: explicit paths and weights that routers follow.

The linear program of `backlane.bound` has rates of all flows and the flow on each arc; `decompose`
cuts the latter into paths. Routing with ``protocol = "shortest-path"`` follows them
(``[[routing.explicit_paths]]``), so that a run shows what the optimum gives with packets.

Example:
    >>> import backlane
    >>> found = backlane.optimum.of("grid.toml")  # doctest: +SKIP
    >>> outcome = backlane.run(found.scenario, seed=found.seed)  # doctest: +SKIP
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backlane.bound.linear import LinearProgram
    from backlane.bound.program import Floats, Program
    from backlane.optimum.decompose import ArcPath
    from backlane.scenario import Overrides, Scenario, Source

OBJECTIVES = ("fair", "concurrent")
SPREADS = ("hash", "round-robin")
METHODS = ("auto", "exact", "approximate")
LEAST_SHARE = 1e-5
"""Of a pair's traffic: paths with less are rounding of the solver and left out."""


@dataclass(frozen=True)
class Path:
    """A path from one router to another."""

    nodes: tuple[str, ...]
    """All routers in order."""
    mbps: float
    """What it carries in the optimum, headers of IP and TCP or UDP included."""
    share: float
    """Of all that its pair of routers carries."""


@dataclass(frozen=True)
class Optimum:
    """The optimum of a scenario."""

    name: str
    seed: int
    """Of the run whose draws count."""
    objective: str
    """"fair": max-min fair rates; "concurrent": the same rate for every flow."""
    least_mbps: float
    """Payload rate of the smallest flow."""
    total_mbps: float
    """Payload of all flows together."""
    rates_mbps: dict[str, float]
    """Payload rate of each flow."""
    paths: list[Path]
    """Grouped by their ends."""
    loads_mbps: dict[tuple[str, str], float]
    """What the paths put on each direction of links between routers, headers included."""
    notes: list[str]
    """What about this scenario the program leaves out."""
    scenario: dict[str, Any] = field(repr=False)
    """The scenario with this routing; of a campaign, its first cell."""

    @property
    def pairs(self) -> int:
        """Pairs of routers with traffic."""
        return len({(path.nodes[0], path.nodes[-1]) for path in self.paths})

    def rows(self) -> list[dict[str, Any]]:
        """The tables of ``[[routing.explicit_paths]]``."""
        return _rows(self.paths)

    def inline(self) -> str:
        """The routing on one line, for the axis ``routing`` of a table ``[sweep]``."""
        from backlane.toml import value_text

        return value_text({"label": "optimum", **self.scenario["routing"]})

    def toml(self) -> str:
        """The scenario as text."""
        from backlane.toml import document

        return document(self.scenario).text


def of(
    file: Scenario | Source,
    overrides: Overrides = (),
    seed: int | None = None,
    objective: str = "fair",
    spread: str = "hash",
    limit_s: float = 300.0,
    method: str = "auto",
) -> Optimum:
    """Paths and weights that reach the bound of a scenario in the fluid model.

    Among all optima it is one with the least load on all links together. Of a network that is too
    large for flows on arcs, the paths are those of the approximation: they give all flows the same
    rate, within 0.2 % of the bound or as near as the time allows.

    Args:
        file: the scenario: a path, a text or a dict; of a campaign, the first cell.
        overrides: values put in place before.
        seed: of the run whose draws count; default: the first of the file.
        objective: "fair" for max-min fair rates, "concurrent" for the largest rate that all flows
            get at the same time.
        spread: "hash" divides flows among paths, "round-robin" packets.
        limit_s: time for each linear program, or for the approximation.
        method: "exact" for linear programs over arcs, "approximate", or "auto" by the size.

    Raises:
        ScenarioError: when the scenario is wrong.
        BacklaneError: R050 for a flow that no path serves, R051, R052, R056.
        ValueError: for another objective, spread or method.
    """
    import numpy as np

    from backlane.bound.bounds import MOST_VARIABLES, parsed
    from backlane.bound.network import program_of
    from backlane.campaign.plan import make_plan
    from backlane.optimum.decompose import decomposed
    from backlane.scenario import read

    if objective not in OBJECTIVES or spread not in SPREADS or method not in METHODS:
        choices = f"objective is one of {OBJECTIVES}, spread one of {SPREADS}"
        raise ValueError(f"{choices}, and method one of {METHODS}")
    source = read(file, overrides)
    plan = make_plan(source, seed=seed)
    chosen = plan.seeds[0]
    scenario = parsed(plan.cells[0].resolved)
    program = program_of(scenario, chosen, source.name)
    notes = list(program.notes)
    if method == "exact" or (method == "auto" and program.variables <= MOST_VARIABLES):
        rates, arcs_mbps = _solved(program, objective, limit_s)
        flows: Iterable[tuple[int, ArcPath]] = decomposed(program, rates, arcs_mbps)
    else:
        objective = "concurrent"
        rates, flows, share = _approximated(program, limit_s)
        notes.append(f"approximate: all flows get {100 * share:.1f} % of what the bound allows")
    paths = _paths(program, scenario, flows, source.name)
    loads: dict[tuple[str, str], float] = {}
    for path in paths:
        for link in zip(path.nodes, path.nodes[1:], strict=False):
            loads[link] = loads.get(link, 0.0) + path.mbps
    of_flows = np.zeros(len(program.flows))
    for demand, rate in zip(program.demands, rates, strict=True):
        of_flows[demand.flows] = rate / demand.weight
    routing = {"protocol": "shortest-path", "spread": spread}
    return Optimum(
        name=plan.name,
        seed=chosen,
        objective=objective,
        least_mbps=float(of_flows.min()),
        total_mbps=float(of_flows.sum()),
        rates_mbps={
            flow.name: float(rate) for flow, rate in zip(program.flows, of_flows, strict=True)
        },
        paths=paths,
        loads_mbps=loads,
        notes=notes,
        scenario=scenario
        | {"seed": chosen, "routing": {**routing, "explicit_paths": _rows(paths)}},
    )


def _rows(paths: list[Path]) -> list[dict[str, Any]]:
    return [
        {
            "from": path.nodes[0],
            "to": path.nodes[-1],
            "nodes": list(path.nodes),
            "weight": float(f"{path.share:.6g}"),
        }
        for path in paths
    ]


def _solved(program: Program, objective: str, limit_s: float) -> tuple[Floats, Floats]:
    """The rate of each demand, and the flow of each commodity on each arc, in Mbit/s of payload."""
    from backlane.bound.linear import LinearProgram, max_min

    try:
        linear = LinearProgram(program, limit_s)
        rates = max_min(program, linear)[0] if objective == "fair" else _common(program, linear)
        weights = [demand.weight for demand in program.demands]
        return linear.least_load(rates * weights)
    except BacklaneError as error:
        if error.code == "R052" and "--method" in (error.mend or ""):
            raise BacklaneError(
                "R052",
                error.message,
                error.place,
                "give a longer --time-limit, or --method approximate",
            ) from error
        raise


def _common(program: Program, linear: LinearProgram) -> Floats:
    import numpy as np

    return np.full(len(program.demands), linear.maximise().value)


def _approximated(
    program: Program, limit_s: float
) -> tuple[Floats, list[tuple[int, ArcPath]], float]:
    """The rate of each demand, its paths, and the common rate as a share of the bound."""
    import numpy as np

    from backlane.bound.bounds import GAP
    from backlane.bound.columns import concurrent
    from backlane.optimum.decompose import ArcPath

    found = concurrent(program, GAP, limit_s)
    rates = np.zeros(len(program.demands))
    flows = []
    for demand, arcs, mbps in found.paths:
        rates[demand] += mbps
        flows.append((demand, ArcPath(arcs, mbps)))
    return rates, flows, found.reached / found.bound if found.bound > 0 else 0.0


def _paths(
    program: Program,
    scenario: dict[str, Any],
    flows: Iterable[tuple[int, ArcPath]],
    file: str,
) -> list[Path]:
    """The paths between routers, those of each pair together."""
    routers = {node["id"] for node in scenario["topology"]["node"] if node["kind"] != "server"}
    first: dict[tuple[int, int], int] = {}
    for at, arc in enumerate(program.arcs):
        first.setdefault((arc.tail, arc.head), at)
    loads: dict[tuple[str, ...], float] = {}
    for demand, path in flows:
        class_ = program.classes[program.demands[demand].class_]
        nodes = _routers_of(program, path, routers, first, file)
        if len(nodes) > 1:
            load = path.mbps * class_.packet_bytes / class_.payload_bytes
            loads[nodes] = loads.get(nodes, 0.0) + load
    sums: dict[tuple[str, str], float] = {}
    for nodes, load in loads.items():
        ends = nodes[0], nodes[-1]
        sums[ends] = sums.get(ends, 0.0) + load
    order = {ends: place for place, ends in enumerate(sums)}
    found = [
        Path(nodes, load, load / sums[nodes[0], nodes[-1]])
        for nodes, load in loads.items()
        if load > LEAST_SHARE * sums[nodes[0], nodes[-1]]
    ]
    return sorted(found, key=lambda path: (order[path.nodes[0], path.nodes[-1]], -path.share))


def _routers_of(
    program: Program,
    path: ArcPath,
    routers: set[str],
    first: dict[tuple[int, int], int],
    file: str,
) -> tuple[str, ...]:
    """The routers that a path of arcs passes; hosts and cells are at its ends.

    Raises:
        BacklaneError: R056 when it takes the second of parallel links.
    """
    nodes: list[str] = []
    for place in path.arcs:
        arc = program.arcs[place]
        ends = [program.nodes[arc.tail], program.nodes[arc.head]]
        if not routers.issuperset(ends):
            nodes += [end for end in ends if end in routers and nodes[-1:] != [end]]
            continue
        if first[arc.tail, arc.head] != place:
            raise BacklaneError(
                "R056",
                f"several links lead from {ends[0]} to {ends[1]}, and paths take the first",
                file,
                "make one link of them, with the sum of their rates",
            )
        nodes += ends if not nodes else ends[1:]
    return tuple(nodes)
