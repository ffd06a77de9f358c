"""What links carry when demands follow the shortest paths by given costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from backlane.bound.paths import Graph, by_node

if TYPE_CHECKING:
    from backlane.bound.program import Program

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

KNEES = (0.0, 1 / 3, 2 / 3, 0.9, 1.0, 1.1)
SLOPES = (1.0, 3.0, 10.0, 70.0, 500.0, 5000.0)
"""Fortz and Thorup's cost of a load: its slope from each share of the capacity on."""
TIE = 1e-9


@dataclass(frozen=True)
class Wires:
    """Directions of links, and the traffic between nodes."""

    nodes: int
    tails: Integers
    heads: Integers
    capacities_mbps: Floats
    """Of each arc: the rate of its wire; infinite where another medium limits."""
    free: Integers
    """The arcs whose costs can be set: wires between routers, in both directions."""
    demands: dict[int, dict[int, float]]
    """By destination and source: load in Mbit/s, headers included."""

    @cached_property
    def backward(self) -> Graph:
        """The arcs, each from its head to its tail."""
        return Graph(self.heads, self.tails, self.nodes)

    @property
    def by_rate(self) -> Floats:
        """Costs of all arcs: the inverse of rates, 1 for the fastest wire."""
        return self.fixed(self.capacities_mbps[self.free].max() / self.capacities_mbps)

    def fixed(self, cost: float | Floats) -> Floats:
        """Costs of all arcs: those given on free arcs, 1 on the others."""
        costs = np.ones(len(self.tails))
        costs[self.free] = cost if isinstance(cost, float) else cost[self.free]
        return costs


def wires_of(program: Program, rates_mbps: list[float]) -> Wires:
    """The wires of a program, and its flows at these rates.

    Args:
        program: of a scenario.
        rates_mbps: payload of each flow.
    """
    kinds = [resource.kind for resource in program.resources]
    capacity = np.full(len(program.arcs), np.inf)
    degree = np.bincount(program.tails, minlength=len(program.nodes))
    is_free = np.zeros(len(program.arcs), dtype=bool)
    for arc, one in enumerate(program.arcs):
        used = [row for row, _ in one.use if kinds[row] == "wire"]
        if used:
            capacity[arc] = min(program.resources[row].capacity for row in used)
            # Hosts have one link.
            is_free[arc] = degree[one.tail] > 1 and degree[one.head] > 1
    demands: dict[int, dict[int, float]] = {}
    for demand in program.demands:
        class_ = program.classes[demand.class_]
        payload = sum(rates_mbps[flow] for flow in demand.flows)
        load = payload * class_.packet_bytes / class_.payload_bytes
        sources = demands.setdefault(demand.destination, {})
        sources[demand.source] = sources.get(demand.source, 0.0) + load
    return Wires(
        nodes=len(program.nodes),
        tails=program.tails,
        heads=program.heads,
        capacities_mbps=capacity,
        free=np.flatnonzero(is_free),
        demands=demands,
    )


def loads(wires: Wires, costs: Floats) -> Floats:
    """The load of each arc in Mbit/s, by OSPF's rule: evenly over all first links of equal paths.

    Args:
        wires: links and demands.
        costs: of each arc, above 0.
    """
    tails, heads = wires.tails.tolist(), wires.heads.tolist()
    outgoing = [arcs.tolist() for arcs in by_node(wires.tails, wires.nodes)]
    cost: list[float] = costs.tolist()
    found = [0.0] * len(tails)
    distances = wires.backward.distances(np.array(list(wires.demands)), costs)
    for (destination, offered), row in zip(wires.demands.items(), distances, strict=True):
        distance: list[float] = row.tolist()
        carried = [0.0] * wires.nodes
        for source, load in offered.items():
            carried[source] = load
        # From the farthest node on, so that all of a node's traffic is there when it is divided.
        for node in np.argsort(row, kind="stable")[::-1].tolist():
            if carried[node] == 0.0 or node == destination or distance[node] == np.inf:
                continue
            first = [
                arc
                for arc in outgoing[node]
                if abs(distance[heads[arc]] + cost[arc] - distance[node]) <= TIE
            ]
            share = carried[node] / len(first)
            for arc in first:
                found[arc] += share
                carried[heads[arc]] += share
    return np.array(found)


def congestion(wires: Wires, load: Floats) -> float:
    """Fortz and Thorup's cost: the sum of a convex function of each free arc's load.

    Its slope grows from 1 on an empty link to 5000 beyond 110 % of its rate.
    """
    rate = wires.capacities_mbps[wires.free]
    carried = load[wires.free]
    total = np.zeros(len(rate))
    before = 0.0
    for knee, slope in zip(KNEES, SLOPES, strict=True):
        total += (slope - before) * np.maximum(carried - knee * rate, 0.0)
        before = slope
    return float(total.sum())
