"""Paths out of the flows on arcs (Ford and Fulkerson 1962, chapter I.2).

Each path takes as much as its narrowest arc has left, or as its demand still needs. The widest path
comes first (Pollack 1960), so that few paths carry most; there are at most as many as arcs and
demands together.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backlane.bound.program import Floats, Program

EXACT = 1e-7
"""The share of a demand that rounding may leave without a path."""


@dataclass(frozen=True)
class ArcPath:
    """A path as arcs of a program."""

    arcs: tuple[int, ...]
    mbps: float
    """Payload."""


def decomposed(
    program: Program, rates_mbps: Floats, arcs_mbps: Floats
) -> Iterator[tuple[int, ArcPath]]:
    """The paths of each demand.

    Args:
        program: arcs and demands.
        rates_mbps: of each demand, all its flows together.
        arcs_mbps: of each commodity and arc.
    """
    for commodity, flows in zip(program.commodities, arcs_mbps.tolist(), strict=True):
        left = {arc: flow for arc, flow in enumerate(flows) if flow > 0.0}
        outgoing: dict[int, list[int]] = {}
        for arc in left:
            outgoing.setdefault(program.arcs[arc].tail, []).append(arc)
        for demand in commodity.demands:
            ends = program.demands[demand].source, program.demands[demand].destination
            needed = float(rates_mbps[demand])
            least = EXACT * needed
            while needed > least:
                arcs = _widest(program, outgoing, left, *ends)
                if not arcs:
                    break
                taken = min(needed, *(left[arc] for arc in arcs))
                if taken <= least / (1 + len(left)):
                    break
                for arc in arcs:
                    left[arc] -= taken
                needed -= taken
                yield demand, ArcPath(arcs, taken)


def _widest(
    program: Program,
    outgoing: dict[int, list[int]],
    left: dict[int, float],
    source: int,
    destination: int,
) -> tuple[int, ...]:
    """The path whose narrowest arc has most left, the one with fewest arcs among equals."""
    leads: dict[int, int] = {}
    done: set[int] = set()
    open_ = [(-float("inf"), 0, source, -1)]
    while open_:
        width, hops, node, arc = heappop(open_)
        if node in done:
            continue
        done.add(node)
        leads[node] = arc
        if node == destination:
            break
        for out in outgoing.get(node, ()):
            head = program.arcs[out].head
            if left[out] > 0.0 and head not in done:
                heappush(open_, (max(width, -left[out]), hops + 1, head, out))
    if destination not in leads:
        return ()
    arcs: list[int] = []
    node = destination
    while node != source:
        arcs.append(leads[node])
        node = program.arcs[leads[node]].tail
    return tuple(reversed(arcs))
