"""Bounds of networks that are too large for a linear program.

The maximum concurrent flow by multiplicative weights (Garg and Könemann 2007, Fleischer 2000), with
the demands of one source routed together (Karakostas 2008). Each phase routes all demands once
along shortest paths, and what a path loads becomes dearer. The prices prove a bound at any time
(`Paths.concurrent_bound`), and the flow, scaled to the capacities, shows how far from it the truth
can be: the gap is certified, not estimated.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backlane.bound.paths import Paths, far_end

if TYPE_CHECKING:
    from backlane.bound.program import Commodity, Floats, Integers, Program


@dataclass(frozen=True)
class Approximation:
    """A common rate between two proven values."""

    bound: float
    """No routing exceeds it."""
    reached: float
    """A routing that reaches it was found."""
    prices: Floats
    """The prices of the resources that prove the bound."""
    phases: int


def concurrent(
    program: Program, gap: float = 0.01, limit_s: float = 120.0, step: float | None = None
) -> Approximation:
    """The maximum concurrent flow, to a gap or as near as the time allows.

    Args:
        program: the network and its demands.
        gap: ends when the flow reaches this share less than the bound.
        limit_s: ends after this time in any case.
        step: of the prices; None chooses by the gap.
    """
    began = time.monotonic()
    step = min(0.5, 3 * gap) if step is None else step
    paths = Paths(program)
    router = _Router(program, paths)
    prices = 1 / program.capacities
    load = np.zeros(len(program.resources))
    # Demands of about what the network carries, so that a phase is worth about one.
    router.scale = _first_scale(router, prices)
    bound, best = paths.concurrent_bound(prices), prices.copy()
    reached, phases = 0.0, 0
    while True:
        phases += 1
        for place in range(len(program.commodities)):
            router.phase(place, prices, load, step)
        reached = max(reached, router.scale * phases / float(np.max(load / program.capacities)))
        if phases % 5 == 0 or phases < 5:
            now = paths.concurrent_bound(prices)
            if now < bound:
                bound, best = now, prices.copy()
            prices /= prices.max()
        if reached >= bound * (1 - gap) or time.monotonic() - began > limit_s:
            return Approximation(bound, min(reached, bound), best, phases)


def _first_scale(router: _Router, prices: Floats) -> float:
    """The common rate that shortest paths alone reach."""
    load = np.zeros(len(prices))
    for place, commodity in enumerate(router.program.commodities):
        load += router.load(place, commodity, prices, router.weights(commodity))
    return 1 / float(np.max(load / router.program.capacities))


class _Router:
    """Routes demands along the trees of a commodity."""

    def __init__(self, program: Program, paths: Paths) -> None:
        self.program = program
        self.paths = paths
        self.scale = 1.0
        self._far = [
            np.array([far_end(program, commodity, d) for d in commodity.demands])
            for commodity in program.commodities
        ]

    def weights(self, commodity: Commodity) -> Floats:
        return np.array([self.program.demands[d].weight for d in commodity.demands])

    def load(self, place: int, commodity: Commodity, prices: Floats, rates: Floats) -> Floats:
        """What rates take of each resource along the shortest paths."""
        _, leads = self.paths.of(commodity, self.paths.lengths(prices, commodity.class_))
        flow = self._accumulated(place, commodity, leads, rates)
        return np.asarray(self.program.use[commodity.class_] @ flow, dtype=np.float64)

    def _accumulated(
        self, place: int, commodity: Commodity, leads: Integers, rates: Floats
    ) -> Floats:
        """The flow on each arc: all paths are walked back to the common end side by side."""
        flow = np.zeros(len(self.program.arcs))
        towards = self.program.tails if commodity.from_source else self.program.heads
        at, carried = self._far[place], rates
        while len(at):
            going = at != commodity.end
            at, carried = at[going], carried[going]
            arcs = leads[at]
            np.add.at(flow, arcs, carried)
            at = towards[arcs]
        return flow

    def phase(self, place: int, prices: Floats, load: Floats, step: float) -> None:
        """Route all demands of a commodity once; prices and load change in place."""
        commodity = self.program.commodities[place]
        rates = self.weights(commodity) * self.scale
        left = 1.0
        while left > 1e-12:
            taken = self.load(place, commodity, prices, rates * left)
            most = float(np.max(taken / self.program.capacities))
            share = 1.0 if most <= 1 else 1 / most
            taken *= share
            load += taken
            prices *= 1 + step * taken / self.program.capacities
            left *= 1 - share
