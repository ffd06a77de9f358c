"""The reorder density (RFC 5236) of packets by their numbers, in the order of arrival.

Written from the definition, independently of the simulator's, with which it is compared.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: A packet displaced by more counts as lost, as in the simulator.
THRESHOLD_PKTS = 300


def density(numbers: Iterable[int], threshold_pkts: int = THRESHOLD_PKTS) -> dict[int, float]:
    """The share of packets by displacement: place minus number, without lost packets.

    `numbers` count from 0 and have no duplicates.
    """
    coming = iter(numbers)
    window: deque[int] = deque()
    waiting: set[int] = set()
    early: set[int] = set()
    lost: set[int] = set()
    found: Counter[int] = Counter()

    def refill() -> None:
        while len(window) <= threshold_pkts:
            number = next(coming, None)
            if number is None:
                return
            if number not in lost:
                window.append(number)
                waiting.add(number)

    place = 0
    refill()
    while window:
        if place in waiting or place in early:
            number = window.popleft()
            waiting.discard(number)
            refill()
            if number in lost:
                continue
            if abs(place - number) <= threshold_pkts:
                found[place - number] += 1
            if number > place:
                early.add(number)
            early.discard(place)
        else:
            lost.add(place)
        place += 1
    total = sum(found.values())
    return {displacement: found[displacement] / total for displacement in sorted(found)}


def displacement_pkts(shares: Mapping[int, float]) -> float:
    """The mean displacement, late or early."""
    return sum(abs(displacement) * share for displacement, share in shares.items())


def mean(densities: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Of several runs or flows, each with the same weight."""
    each = list(densities)
    displacements = sorted(set().union(*each))
    return {k: sum(one.get(k, 0.0) for one in each) / len(each) for k in displacements}


def distance(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """The share of packets with another displacement: total variation distance."""
    return sum(abs(one.get(k, 0.0) - other.get(k, 0.0)) for k in set(one) | set(other)) / 2
