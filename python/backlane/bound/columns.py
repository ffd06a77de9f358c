"""Bounds of networks that are too large for arc flows: paths as they are needed.

The maximum concurrent flow over a growing set of paths (column generation, Ford and Fulkerson
1958). The linear program over the paths known so far has a value that a routing reaches, and
prices; under prices near those, the shortest path of each demand is a new column. Any prices prove
a bound (`Paths.concurrent_bound`): the gap between the two is certified, not estimated. Prices are
smoothed towards the best ones so far (Wentges 1997), without which they leap.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from backlane.bound.linear import highs
from backlane.bound.paths import Paths, by_node, far_end

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from backlane.bound.program import Floats, Integers, Program

SMOOTHING = 0.5
"""Weight of the best prices so far, in one of two searches for paths."""
FIRST_ROUNDS = 12
"""Rounds that load the network and raise prices, before the first linear program."""
PRIMAL_SIMPLEX = 4
"""HiGHS's number of it."""
CHEAPER = 1e-6
"""A path is worth a column if it is cheaper by this share than those that are known."""
MOST_ENDS = 8
"""Nodes whose own links are tried as a bound."""
CHUNK = 64
"""Trees that are in memory at a time."""


@dataclass(frozen=True)
class Approximation:
    """A common rate between two proven values."""

    bound: float
    """No routing exceeds it."""
    reached: float
    """A routing that reaches it was found."""
    prices: Floats
    """The prices of the resources that prove the bound."""
    rounds: int
    paths: list[tuple[int, tuple[int, ...], float]]
    """What reaches it: the demand, the arcs from its source on, and Mbit/s of payload."""


def concurrent(program: Program, gap: float = 0.01, limit_s: float = 120.0) -> Approximation:
    """The maximum concurrent flow, to a gap or as near as the time allows.

    Args:
        program: the network and its demands.
        gap: ends when the flow reaches this share less than the bound.
        limit_s: ends after this time in any case.
    """
    ends = time.monotonic() + limit_s
    router = _Router(program)
    master = _Master(program, limit_s)
    capacities = program.capacities
    prices = 1 / capacities
    best, bound = prices, np.inf
    load = np.zeros(len(capacities))
    for prices in router.narrow_ends():
        proven = router.bound(prices, router.shortest(prices)[1])
        if proven < bound:
            bound, best = proven, prices
    prices = 1 / capacities
    rounds = 0
    while rounds < FIRST_ROUNDS:
        rounds += 1
        columns, pays = router.shortest(prices)
        proven = router.bound(prices, pays)
        if proven < bound:
            bound, best = proven, prices
        master.add(columns, np.ones(len(pays), dtype=bool), router.arcs)
        load += columns @ router.weights
        # Dearer by the share of the largest load that a resource has.
        relative = load / capacities
        prices = np.exp(8 * (relative / relative.max() - 1)) / capacities
    while True:
        reached, dual, floors = master.solve(max(ends - time.monotonic(), 1.0))
        if reached >= bound * (1 - gap) or time.monotonic() > ends:
            break
        dual *= 1 / max(float(capacities @ dual), 1e-300)
        near = best / float(capacities @ best)
        known = floors / max(float(floors @ router.weights), 1e-300)
        is_better = False
        for weight in (SMOOTHING, 0.0):
            prices = weight * near + (1 - weight) * dual
            columns, pays = router.shortest(prices)
            proven = router.bound(prices, pays)
            rounds += 1
            if proven < bound:
                bound, best = proven, prices
            # Under the prices of the program a new path is cheaper than the known ones.
            new = columns.T @ dual < known * (1 - CHEAPER)
            master.add(columns, new, router.arcs)
            is_better |= bool(new.any())
        if not is_better:
            break
    return Approximation(bound, min(reached, bound), best, rounds, master.flows())


class _Router:
    """Shortest paths of all demands at once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.paths = Paths(program)
        self.weights = np.array([demand.weight for demand in program.demands])
        self.arcs: list[Integers] = []
        """Of each demand, the arcs of the last shortest path from its source on."""
        groups: dict[tuple[int, bool], list[int]] = {}
        for place, commodity in enumerate(program.commodities):
            groups.setdefault((commodity.class_, commodity.from_source), []).append(place)
        self._groups = [
            (class_, from_source, places[at : at + CHUNK])
            for (class_, from_source), places in groups.items()
            for at in range(0, len(places), CHUNK)
        ]

    def bound(self, prices: Floats, pays: Floats) -> float:
        """What prices prove."""
        cost = float(self.weights @ pays)
        return float(self.program.capacities @ prices) / cost if cost > 0 else np.inf

    def narrow_ends(self) -> Iterator[Floats]:
        """Prices of the arcs around a node, for the nodes that have most to send or receive."""
        program = self.program
        found: list[tuple[float, int, list[int]]] = []
        for ends, nodes in (("source", program.tails), ("destination", program.heads)):
            weight = np.zeros(len(program.nodes))
            for demand in program.demands:
                weight[getattr(demand, ends)] += demand.weight
            arcs_of = by_node(nodes, len(program.nodes))
            for node in np.flatnonzero(weight):
                used = {
                    program.arcs[arc].use[0][0] for arc in arcs_of[node] if program.arcs[arc].use
                }
                most = float(program.capacities[list(used)].sum())
                found.append((most / float(weight[node]), len(found), sorted(used)))
        for _, _, used_there in sorted(found)[:MOST_ENDS]:
            prices = np.zeros(len(program.resources))
            prices[used_there] = 1.0
            yield prices

    def shortest(self, prices: Floats) -> tuple[sparse.csc_array, Floats]:
        """For each demand what an Mbit takes of each resource on its shortest path, and pays."""
        program = self.program
        pays = np.zeros(len(program.demands))
        shape = (len(program.resources), len(program.demands))
        total = sparse.csr_array(shape)
        self.arcs = [np.zeros(0, dtype=np.int64)] * len(program.demands)
        for class_, from_source, places in self._groups:
            commodities = [program.commodities[place] for place in places]
            ends = np.array([commodity.end for commodity in commodities])
            lengths = self.paths.lengths(prices, class_)
            distance, leads = self.paths.trees(ends, lengths, from_source)
            demands = np.concatenate([commodity.demands for commodity in commodities])
            rows = np.repeat(np.arange(len(places)), [len(c.demands) for c in commodities])
            far = np.array(
                [far_end(program, c, demand) for c in commodities for demand in c.demands]
            )
            pays[demands] = distance[rows, far]
            arcs, of = self._walked(leads, ends, rows, far, from_source)
            # In the order in which they were walked.
            order = np.argsort(of, kind="stable")
            ends_of = np.searchsorted(of[order], np.arange(1, len(demands)))
            for demand, walk in zip(demands, np.split(arcs[order], ends_of), strict=True):
                self.arcs[demand] = walk[::-1] if from_source else walk
            taken = sparse.csr_array(
                (np.ones(len(arcs)), (arcs, demands[of])),
                shape=(len(program.arcs), len(program.demands)),
            )
            total = total + program.use[class_] @ taken
        return sparse.csc_array(total), pays

    def _walked(
        self, leads: Integers, ends: Integers, rows: Integers, far: Integers, from_source: bool
    ) -> tuple[Integers, Integers]:
        """The arcs of all paths, each with the place of its demand; walked side by side."""
        towards = self.program.tails if from_source else self.program.heads
        at, of = far, np.arange(len(far))
        all_arcs, all_of = [], []
        while True:
            going = at != ends[rows[of]]
            if not going.any():
                break
            at, of = at[going], of[going]
            arcs = leads[rows[of], at]
            all_arcs.append(arcs)
            all_of.append(of)
            at = towards[arcs]
        if not all_arcs:
            empty = np.zeros(0, dtype=np.int64)
            return empty, empty
        return np.concatenate(all_arcs), np.concatenate(all_of)


class _Master:
    """The linear program over the known paths: λ, and a rate for each path."""

    def __init__(self, program: Program, limit_s: float) -> None:
        self._resources = len(program.resources)
        self._demands = len(program.demands)
        module = highs()
        self._solver = module.Highs.__bases__[0]()
        self._solver.setOptionValue("output_flag", False)
        # New columns leave the last solution feasible.
        self._solver.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)
        self._solver.setOptionValue("threads", 1)
        self._solver.setOptionValue("random_seed", 0)
        self._optimal = module.HighsModelStatus.kOptimal
        lp = module.HighsLp()
        rows = self._resources + self._demands
        lp.num_col_, lp.num_row_ = 1, rows
        lp.col_cost_ = np.array([1.0])
        lp.col_lower_, lp.col_upper_ = np.zeros(1), np.array([np.inf])
        lp.row_lower_ = np.r_[np.full(self._resources, -np.inf), np.zeros(self._demands)]
        lp.row_upper_ = np.r_[program.capacities, np.full(self._demands, np.inf)]
        lp.a_matrix_.format_ = module.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.array([0, self._demands], dtype=np.int32)
        lp.a_matrix_.index_ = np.arange(self._resources, rows, dtype=np.int32)
        lp.a_matrix_.value_ = -np.array([demand.weight for demand in program.demands])
        lp.sense_ = module.ObjSense.kMaximize
        self._solver.passModel(lp)
        self._reached = 0.0
        self._paths: list[tuple[int, Integers]] = []
        self._flows = np.zeros(0)
        self._prices = np.zeros(self._resources)
        self._floors = np.zeros(self._demands)

    def add(
        self, columns: sparse.csc_array, chosen: NDArray[np.bool_], arcs: list[Integers]
    ) -> None:
        """Add the paths of some demands, each with its arcs."""
        at = np.flatnonzero(chosen)
        self._paths += [(int(demand), arcs[demand]) for demand in at]
        own = sparse.csc_array(
            (np.ones(len(at)), (at, np.arange(len(at)))), shape=(self._demands, len(at))
        )
        whole = sparse.csc_array(sparse.vstack([columns[:, at], own], format="csc"))
        count = len(at)
        self._solver.addCols(
            count,
            np.zeros(count),
            np.zeros(count),
            np.full(count, np.inf),
            whole.nnz,
            whole.indptr[:-1].astype(np.int32),
            whole.indices.astype(np.int32),
            whole.data,
        )

    def solve(self, limit_s: float) -> tuple[float, Floats, Floats]:
        """The common rate, the prices of the resources and of the demands.

        Those of the last time if the limit is reached.
        """
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + limit_s)
        self._solver.run()
        if self._solver.getModelStatus() == self._optimal:
            duals = np.abs(np.array(self._solver.getSolution().row_dual))
            self._reached = self._solver.getInfo().objective_function_value
            self._flows = np.array(self._solver.getSolution().col_value)[1:]
            self._prices = duals[: self._resources]
            self._floors = duals[self._resources :]
        return self._reached, self._prices.copy(), self._floors.copy()

    def flows(self) -> list[tuple[int, tuple[int, ...], float]]:
        """Demand, arcs and rate of the paths in use, at the last optimum."""
        used = np.flatnonzero(self._flows > 0.0)
        return [
            (demand, tuple(arcs.tolist()), float(self._flows[place]))
            for place, (demand, arcs) in ((place, self._paths[place]) for place in used)
        ]
