"""Lower bounds on the finish times of flows with a size.

Alone: a flow is not faster than the maximum flow between its ends, after its delay and, with TCP, a
handshake. Together: under any prices of the resources, each Mbit of a flow pays at least its
distance, and all resources together earn at most what their capacity costs in each second. So the
flows are jobs on one machine, and no order of them has a smaller sum of completion times than
shortest remaining processing time first (Schrage 1968), with any routing.
"""

from __future__ import annotations

import dataclasses
import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backlane.bound.linear import LinearProgram
from backlane.bound.paths import by_node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backlane.bound.paths import Paths
    from backlane.bound.program import Demand, Floats, Integers, Program

EXACT_SIZE = 100_000
"""Pairs of ends times arcs up to which maximum flows are computed."""
SAFE = 1 - 1e-6
"""Rounding, and the tolerance of the solver, on the safe side."""
PRICED = 1e-9
"""Share of the largest price below which a resource counts as free."""


@dataclass(frozen=True)
class Finish:
    """Lower bounds on finish times."""

    flows: list[int]
    """The flows with a size."""
    each_s: Floats
    """From the start of each of them to its last byte."""
    mean_s: float
    last_s: float
    """When the last of them ends, on the clock of the flows."""


@dataclass(frozen=True)
class Alone:
    """What each flow needs without any other."""

    rate_mbps: Floats
    """An upper bound of its payload rate."""
    opening_s: Floats
    """From its start to the first packet of data."""
    one_way_s: Floats
    """Smallest propagation delay between its ends."""


def finish_of(
    program: Program, paths: Paths, prices: Sequence[Floats], limit_s: float
) -> Finish | None:
    """The bounds, or None if no flow has a size.

    Args:
        program: the network and its flows.
        paths: its distances.
        prices: prices of the resources; each set proves a bound of its own.
        limit_s: for each linear program.
    """
    finite = [at for at, flow in enumerate(program.flows) if flow.size_bytes is not None]
    if not finite:
        return None
    by_itself = alone(program, limit_s)
    starts = np.array([flow.start_s for flow in program.flows])
    mbit = np.array([(flow.size_bytes or 0) * 8e-6 for flow in program.flows])
    each = by_itself.opening_s + by_itself.one_way_s + mbit / by_itself.rate_mbps
    # A flow that follows another starts later than `start_s`: only its own time is known.
    free = np.array([not program.flows[at].in_sequence for at in finite])
    finite_at = np.array(finite)
    last_s = float(np.max((starts + each)[finite_at]))
    mean_s = float(np.mean(each[finite_at]))
    machine = _Machine(program, paths, by_itself, finite_at[free], starts, mbit)
    for set_of_prices in prices:
        jobs = machine.jobs(set_of_prices)
        if jobs is None:
            continue
        sums = each.copy()
        sums[jobs.flows] = jobs.finish_s - starts[jobs.flows]
        mean_s = max(mean_s, float(np.mean(sums[finite_at])))
        last_s = max(last_s, jobs.last_s)
    return Finish(finite, SAFE * each[finite_at], SAFE * mean_s, SAFE * last_s)


def sized(program: Program) -> Program | None:
    """The program whose common rate is that of downloads which all end at the same time.

    None if no flow has a size.
    """
    demands = []
    for demand in program.demands:
        sizes = [program.flows[at].size_bytes for at in demand.flows]
        weight = sum(size * 8e-6 for size in sizes if size is not None)
        if weight > 0:
            demands.append(dataclasses.replace(demand, weight=weight))
    return dataclasses.replace(program, demands=demands) if demands else None


def alone(program: Program, limit_s: float) -> Alone:
    """The fastest that each flow can be."""
    rates = np.full(len(program.flows), np.inf)
    fastest = _Fastest(program, limit_s)
    for demand in program.demands:
        rates[demand.flows] = min(fastest.between(demand), demand.cap_mbps)
    return Alone(rates, np.array(program.opening_s), np.array(program.one_way_s))


class _Fastest:
    """Upper bounds of the payload rate between two nodes."""

    def __init__(self, program: Program, limit_s: float) -> None:
        self._program = program
        self._limit_s = limit_s
        pairs = {(d.source, d.destination, d.class_) for d in program.demands}
        self._is_exact = len(pairs) * len(program.arcs) <= EXACT_SIZE
        self._known: dict[tuple[int, int, int], float] = {}
        self._widest: dict[tuple[int, int], Floats] = {}
        self._out = by_node(program.tails, len(program.nodes))
        self._into = by_node(program.heads, len(program.nodes))
        self._width = [self._widths(class_) for class_ in range(len(program.classes))]

    def between(self, demand: Demand) -> float:
        """The narrower end; a maximum flow where that may be less and the network is small."""
        key = (demand.source, demand.destination, demand.class_)
        if key not in self._known:
            self._known[key] = self._rate(demand)
        return self._known[key]

    def _rate(self, demand: Demand) -> float:
        narrow = min(
            self._end(self._out[demand.source], demand.class_),
            self._end(self._into[demand.destination], demand.class_),
        )
        if not self._is_exact or self._path(demand) >= narrow * (1 - 1e-12):
            return narrow
        single = dataclasses.replace(demand, weight=1.0, cap_mbps=np.inf, flows=[0])
        program = dataclasses.replace(self._program, demands=[single])
        return min(narrow, LinearProgram(program, self._limit_s).maximise().value * (1 + 1e-9))

    def _widths(self, class_: int) -> Floats:
        """What each arc carries alone."""
        taken = self._program.use[class_].tocsc()
        width = np.full(len(self._program.arcs), np.inf)
        of_arc = np.repeat(np.arange(len(width)), np.diff(taken.indptr))
        np.minimum.at(width, of_arc, self._program.capacities[taken.indices] / taken.data)
        return width

    def _end(self, arcs: Integers, class_: int) -> float:
        """What arcs carry together; those that share a resource have it once."""
        shared: dict[int, float] = {}
        total = 0.0
        for arc in arcs:
            width = float(self._width[class_][arc])
            use = self._program.arcs[arc].use
            if len(use) == 1:
                at = use[0][0]
                shared[at] = max(shared.get(at, 0.0), width)
            else:
                total += width
        return total + sum(shared.values())

    def _path(self, demand: Demand) -> float:
        """What the widest path carries."""
        key = (demand.source, demand.class_)
        if key not in self._widest:
            self._widest[key] = self._widest_from(*key)
        return float(self._widest[key][demand.destination])

    def _widest_from(self, source: int, class_: int) -> Floats:
        found = np.zeros(len(self._program.nodes))
        found[source] = np.inf
        heap = [(-np.inf, source)]
        while heap:
            width, node = heapq.heappop(heap)
            if -width < found[node]:
                continue
            for arc in self._out[node]:
                head = int(self._program.heads[arc])
                through = min(-width, float(self._width[class_][arc]))
                if through > found[head]:
                    found[head] = through
                    heapq.heappush(heap, (-through, head))
        return found


@dataclass(frozen=True)
class _Jobs:
    """Flows as jobs of one machine."""

    flows: Integers
    finish_s: Floats
    """On the clock of the flows; only their sum is a bound."""
    last_s: float


class _Machine:
    """The resources as one machine, under prices."""

    def __init__(
        self,
        program: Program,
        paths: Paths,
        by_itself: Alone,
        flows: Integers,
        starts: Floats,
        mbit: Floats,
    ) -> None:
        self._program = program
        self._paths = paths
        self._opening = by_itself.opening_s
        self._flows = flows
        self._starts = starts
        self._mbit = mbit

    def jobs(self, prices: Floats) -> _Jobs | None:
        """The flows that pay, in the order of shortest remaining processing time."""
        program = self._program
        prices = np.where(prices > PRICED * prices.max(initial=0.0), prices, 0.0)
        worth = float(program.capacities @ prices)
        pays = np.zeros(len(program.flows))
        distance = self._paths.demand_distances(prices)
        ends = np.zeros((2, len(program.flows)), dtype=np.int64)
        for demand, each in zip(program.demands, distance, strict=True):
            pays[demand.flows] = each
            ends[:, demand.flows] = [[demand.source], [demand.destination]]
        flows = self._flows[(pays * self._mbit)[self._flows] > 0] if worth > 0 else self._flows[:0]
        if len(flows) == 0:
            return None
        # Each path crosses a priced arc: not before the nearest, and what follows the last one.
        priced = np.zeros(len(program.arcs), dtype=bool)
        for use in program.use:
            priced |= np.asarray(use.T @ prices) > 0
        before, after = self._paths.around(program.delays_s, priced)
        release = (self._starts + self._opening)[flows] + before[ends[0, flows]]
        length = (pays * self._mbit)[flows] / worth
        done, last = shortest_remaining_first(release, length)
        behind = after[ends[1, flows]]
        return _Jobs(flows, done + behind, last + float(behind.min()))


def shortest_remaining_first(release: Floats, length: Floats) -> tuple[Floats, float]:
    """Completion times of preemptive jobs on one machine, and the last of them."""
    done = np.zeros(len(release))
    waiting: list[tuple[float, int]] = []
    now = 0.0
    order = np.argsort(release, kind="stable")
    place = 0
    while place < len(order) or waiting:
        if not waiting:
            now = max(now, float(release[order[place]]))
        while place < len(order) and release[order[place]] <= now:
            job = int(order[place])
            heapq.heappush(waiting, (float(length[job]), job))
            place += 1
        left, job = heapq.heappop(waiting)
        until = float(release[order[place]]) if place < len(order) else np.inf
        if now + left <= until:
            now += left
            done[job] = now
        else:
            heapq.heappush(waiting, (left - (until - now), job))
            now = until
    return done, float(done.max(initial=0.0))
