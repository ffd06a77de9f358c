"""The least congestion of any division of traffic, by a linear program."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from backlane.weights.loads import KNEES, SLOPES

if TYPE_CHECKING:
    from backlane.weights.loads import Wires

MOST_VARIABLES = 60_000
"""Larger programs are not solved."""


def least_congestion(wires: Wires) -> float:
    """The minimum of `loads.congestion` over all ways to divide the demands among paths.

    Variables: the flow to each destination on each arc, and of each free arc the cost, which lies
    above each of the lines that make up the convex function (Fortz and Thorup, section 3).

    Returns:
        Not a number if the program is too large or has no optimum.
    """
    arcs, count = len(wires.tails), len(wires.demands)
    flows, free = arcs * count, len(wires.free)
    if flows > MOST_VARIABLES:
        return math.nan
    of_arcs = np.arange(arcs)
    leaving = sparse.csr_array((np.ones(arcs), (wires.tails, of_arcs)), shape=(wires.nodes, arcs))
    entering = sparse.csr_array((np.ones(arcs), (wires.heads, of_arcs)), shape=(wires.nodes, arcs))
    blocks, wanted = [], []
    for destination, sources in wires.demands.items():
        kept = np.flatnonzero(np.arange(wires.nodes) != destination)
        blocks.append((leaving - entering)[kept])
        supply = np.zeros(wires.nodes)
        for source, load in sources.items():
            supply[source] = load
        wanted.append(supply[kept])
    conservation = sparse.hstack(
        [sparse.block_diag(blocks), sparse.csr_array((sum(map(len, wanted)), free))], format="csr"
    )
    total = sparse.hstack([sparse.eye_array(arcs, format="csr")[wires.free]] * count)
    rows, limits = [], []
    rate = wires.capacities_mbps[wires.free]
    height = np.zeros(free)
    slope_before, knee_before = 0.0, 0.0
    for knee, slope in zip(KNEES, SLOPES, strict=True):
        height += slope_before * (knee - knee_before) * rate
        # slope * (load - knee * rate) + height <= cost
        rows.append(sparse.hstack([slope * total, -sparse.eye_array(free)]))
        limits.append(slope * knee * rate - height)
        slope_before, knee_before = slope, knee
    cost = np.r_[np.zeros(flows), np.ones(free)]
    result = linprog(
        cost,
        A_ub=sparse.vstack(rows, format="csr"),
        b_ub=np.concatenate(limits),
        A_eq=conservation,
        b_eq=np.concatenate(wanted),
        method="highs",
    )
    return math.nan if result.fun is None else float(result.fun)
