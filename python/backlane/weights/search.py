"""A search for costs: change one, keep what is better, and shake where nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backlane.weights.loads import congestion, loads

if TYPE_CHECKING:
    from collections.abc import Callable

    from backlane.weights.loads import Floats, Wires

PATIENCE = 150
"""Sets without an improvement, after which some costs are drawn again. This and the share are our
choice, made before the first search."""
SHAKEN = 0.1
"""The share of costs that are drawn again then."""


def search(
    wires: Wires,
    seed: int,
    evaluations: int,
    most_cost: int,
    progress: Callable[[int], None] | None = None,
) -> Floats:
    """The best costs found, whole numbers from 1 to `most_cost`.

    It starts from the better of equal costs and the inverse of rates. In each step the cost of one
    direction is drawn again: one time in two of a loaded one, chosen in proportion to its
    utilisation, so that traffic leaves it. The same arguments give the same costs.

    Args:
        wires: links and demands.
        seed: of the draws.
        evaluations: sets of costs that are rated.
        most_cost: the largest cost.
        progress: called with the number of sets rated so far.
    """
    draws = np.random.default_rng(seed)
    starts = [wires.fixed(1.0), np.clip(np.rint(wires.by_rate), 1.0, float(most_cost))]
    rated = [(congestion(wires, loads(wires, costs)), costs) for costs in starts]
    best_value, best = min(rated, key=lambda one: one[0])
    value, costs = best_value, best.copy()
    load = loads(wires, costs)
    idle = 0
    for turn in range(len(starts), evaluations):
        tried = costs.copy()
        if idle >= PATIENCE:
            count = max(int(SHAKEN * len(wires.free)), 1)
            shaken = draws.choice(wires.free, count, replace=False)
            tried = best.copy()
            tried[shaken] = draws.integers(1, most_cost + 1, count)
        else:
            used = (load / wires.capacities_mbps)[wires.free]
            if draws.random() < 0.5 and used.sum() > 0:
                arc = draws.choice(wires.free, p=used / used.sum())
            else:
                arc = draws.choice(wires.free)
            tried[arc] = draws.integers(1, most_cost + 1)
        new_load = loads(wires, tried)
        new_value = congestion(wires, new_load)
        if new_value <= value or idle >= PATIENCE:
            idle = 0 if new_value < value or idle >= PATIENCE else idle + 1
            value, costs, load = new_value, tried, new_load
        else:
            idle += 1
        if value < best_value:
            best_value, best = value, costs.copy()
        if progress is not None:
            progress(turn + 1)
    return _mirrored(wires, best)


def _mirrored(wires: Wires, costs: Floats) -> Floats:
    """The costs, where a direction without traffic has the cost of its other one.

    Acknowledgments, which are no demands, so return as data comes. Nothing changes if that makes
    the division worse.
    """
    load = loads(wires, costs)
    ends = zip(wires.tails[wires.free], wires.heads[wires.free], strict=True)
    place = {(int(a), int(b)): int(arc) for (a, b), arc in zip(ends, wires.free, strict=True)}
    tried = costs.copy()
    for (tail, head), arc in place.items():
        other = place[head, tail]
        if load[arc] == 0.0 < load[other]:
            tried[arc] = costs[other]
    if congestion(wires, loads(wires, tried)) <= congestion(wires, load):
        return tried
    return costs
