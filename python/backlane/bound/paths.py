"""Shortest paths under prices of resources, and what prices prove.

For any prices of the resources, a flow pays at least its distance for each Mbit of payload, and all
flows together pay at most what all resources cost: the duality that makes every set of prices a
bound (Shahrokhi and Matula 1990).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backlane.bound.program import Commodity, Floats, Integers, Program


class Paths:
    """Distances over the arcs of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._forward = Graph(program.tails, program.heads, len(program.nodes))
        self._backward = Graph(program.heads, program.tails, len(program.nodes))

    def lengths(self, prices: Floats, class_: int) -> Floats:
        """What an Mbit of payload of a class pays on each arc."""
        return np.asarray(self.program.use[class_].T @ prices, dtype=np.float64)

    def of(self, commodity: Commodity, lengths: Floats) -> tuple[Floats, Integers]:
        """Distances from (or to) the common end, and for each node the arc that leads to it.

        The arc is -1 where there is none.
        """
        graph = self._forward if commodity.from_source else self._backward
        return graph.tree(commodity.end, lengths)

    def trees(self, ends: Integers, lengths: Floats, from_source: bool) -> tuple[Floats, Integers]:
        """As `of` for several common ends: a row for each."""
        graph = self._forward if from_source else self._backward
        return graph.trees(ends, lengths)

    def between(self, lengths: Floats, pairs: set[tuple[int, int]]) -> dict[tuple[int, int], float]:
        """Distances between pairs of nodes, with one tree for the end that most of them share."""
        found: dict[tuple[int, int], float] = {}
        left = set(pairs)
        while left:
            counts = Counter((side, pair[side]) for pair in left for side in (0, 1))
            side, end = max(counts, key=lambda key: (counts[key], key))
            graph = self._backward if side else self._forward
            distance, _ = graph.tree(end, lengths)
            served = {pair for pair in left if pair[side] == end}
            found.update({pair: float(distance[pair[1 - side]]) for pair in served})
            left -= served
        return found

    def around(self, delays: Floats, arcs: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Of each node: the distance to the nearest of some arcs, and from the nearest of them.

        The latter includes the arc's own delay, of the shortest of them.
        """
        program = self.program
        before = self._backward.nearest(delays, np.unique(program.tails[arcs]))
        after = self._forward.nearest(delays, np.unique(program.heads[arcs]))
        return before, after + float(delays[arcs].min(initial=np.inf))

    def demand_distances(self, prices: Floats) -> Floats:
        """What an Mbit of each demand pays at least."""
        found = np.full(len(self.program.demands), np.inf)
        for commodity in self.program.commodities:
            distance, _ = self.of(commodity, self.lengths(prices, commodity.class_))
            for index in commodity.demands:
                found[index] = distance[far_end(self.program, commodity, index)]
        return found

    def concurrent_bound(self, prices: Floats) -> float:
        """The largest common rate per unit of weight that the prices allow, in Mbit/s."""
        pays = self.demand_distances(prices)
        weights = np.array([demand.weight for demand in self.program.demands])
        cost = float(weights @ pays)
        return float(self.program.capacities @ prices) / cost if cost > 0 else np.inf


def far_end(program: Program, commodity: Commodity, demand: int) -> int:
    """The end of a demand that its group does not share."""
    found = program.demands[demand]
    return found.destination if commodity.from_source else found.source


def by_node(nodes: Integers, count: int) -> list[Integers]:
    """The places in a list of nodes at which each node stands."""
    order = np.argsort(nodes, kind="stable")
    return np.split(order, np.searchsorted(nodes[order], np.arange(1, count)))


class Graph:
    """A sparse graph whose arcs may be parallel: the shortest of them counts."""

    def __init__(self, tails: Integers, heads: Integers, nodes: int) -> None:
        self._nodes = nodes
        self._order = np.lexsort((heads, tails))
        keys = (tails * nodes + heads)[self._order]
        self._first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])[: len(keys)]
        self._tails = tails[self._order][self._first]
        self._heads = heads[self._order][self._first]
        self._is_simple = len(self._first) == len(keys)
        self._indptr = np.searchsorted(self._tails, np.arange(nodes + 1)).astype(np.int32)
        self._keys = keys[self._first]

    def _matrix(self, lengths: Floats) -> tuple[sparse.csr_array, Integers]:
        values = lengths[self._order]
        arcs = self._order
        if not self._is_simple:
            least = np.minimum.reduceat(values, self._first)
            group = np.cumsum(np.isin(np.arange(len(values)), self._first)) - 1
            hits = np.flatnonzero(values == least[group])
            _, at = np.unique(group[hits], return_index=True)
            arcs = self._order[hits[at]]
            values = least
        matrix = sparse.csr_array(
            (values, self._heads.astype(np.int32), self._indptr), shape=(self._nodes,) * 2
        )
        return matrix, arcs

    def nearest(self, lengths: Floats, sources: Integers) -> Floats:
        """The distance of each node from the nearest source."""
        matrix, _ = self._matrix(lengths)
        found = csgraph.dijkstra(matrix, indices=sources, min_only=True)
        return np.asarray(found, dtype=np.float64)

    def tree(self, source: int, lengths: Floats) -> tuple[Floats, Integers]:
        """Distances from a source, and for each node the arc that leads to it, or -1."""
        distance, leads = self.trees(np.array([source]), lengths)
        return distance[0], leads[0]

    def distances(self, sources: Integers, lengths: Floats) -> Floats:
        """From each source, a row for each."""
        matrix, _ = self._matrix(lengths)
        return np.asarray(csgraph.dijkstra(matrix, indices=sources), dtype=np.float64)

    def trees(self, sources: Integers, lengths: Floats) -> tuple[Floats, Integers]:
        """As `tree`, a row for each source."""
        matrix, arcs = self._matrix(lengths)
        distance, before = csgraph.dijkstra(matrix, indices=sources, return_predecessors=True)
        leads = np.full(before.shape, -1, dtype=np.int64)
        rows, reached = np.nonzero(before >= 0)
        keys = before[rows, reached].astype(np.int64) * self._nodes + reached
        leads[rows, reached] = arcs[np.searchsorted(self._keys, keys)]
        return distance, leads
