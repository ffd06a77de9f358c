"""Directions and parallel links: what the rows of a file are, once put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backlane.imports.model import Link, count, shown

if TYPE_CHECKING:
    from backlane.imports.model import Network


def pair_of(link: Link) -> tuple[str, str]:
    """The ends in one order."""
    return (link.a, link.b) if link.a <= link.b else (link.b, link.a)


def without_loops(network: Network) -> None:
    """Leave out links that join a site to itself, by name."""
    loops = [shown(link.a) for link in network.links if link.a == link.b]
    network.links = [link for link in network.links if link.a != link.b]
    network.listed("dropped", f"{count(loops, 'link')} of a site with itself", loops)


def directions(network: Network) -> None:
    """Join the rows of both directions: the k-th from a to b with the k-th from b to a."""
    waiting: dict[tuple[str, str], list[Link]] = {}
    kept: list[Link] = []
    joined = differ = 0
    for link in network.links:
        if not link.directed:
            kept.append(link)
            continue
        reverse = waiting.get((link.b, link.a))
        if not reverse:
            waiting.setdefault((link.a, link.b), []).append(link)
            kept.append(link)
            continue
        first = reverse.pop(0)
        joined += 1
        first.directed = False
        if link.rate_bps is not None and link.rate_bps != first.rate_bps:
            first.rate_back_bps = link.rate_bps
            differ += first.rate_bps is not None
        first.length_m = first.length_m if first.length_m is not None else link.length_m
        first.delay_s = first.delay_s if first.delay_s is not None else link.delay_s
        for key, value in link.more.items():
            if first.more.get(key, value) != value:
                first.more[f"{key}_back"] = value
            else:
                first.more[key] = value
    alone = [link for link in kept if link.directed]
    network.links = kept
    if joined:
        network.note("merged", f"{joined} pairs of directions, each to one link in both")
    if alone:
        for link in alone:
            link.directed = False
        network.listed(
            "warning",
            f"{count(alone, 'link')} of one direction alone, taken as links in both",
            [f"{shown(link.a)}–{shown(link.b)}" for link in alone],
        )
    if differ:
        network.note("merged", f"{count(differ, 'link')} with another rate in each direction")


def pairs(network: Network) -> int:
    """How many pairs of sites the links join."""
    return len({pair_of(link) for link in network.links})


def parallel(network: Network) -> None:
    """Replace links between the same two sites by one whose rate is the sum of theirs."""
    groups: dict[tuple[str, str], list[Link]] = {}
    for link in network.links:
        groups.setdefault(pair_of(link), []).append(link)
    several = [group for group in groups.values() if len(group) > 1]
    if not several:
        return
    merged = []
    for group in groups.values():
        first = group[0]
        if len(group) > 1:
            rates = [link.rate_bps for link in group if link.rate_bps is not None]
            first.count = sum(link.count for link in group)
            backs = [
                back for link in group if (back := link.rate_back_bps or link.rate_bps) is not None
            ]
            first.rate_bps = sum(rates) if rates else None
            first.rate_back_bps = sum(backs) if backs and sum(backs) != sum(rates) else None
            lengths = [link.length_m for link in group if link.length_m is not None]
            first.length_m = max(lengths, default=None)
            delays = [link.delay_s for link in group if link.delay_s is not None]
            first.delay_s = max(delays, default=None)
            without = len(group) - len(rates)
            if rates and without:
                first.rate_note = f"{count(without, 'parallel link')} without a rate not counted"
        merged.append(first)
    gone = len(network.links) - len(merged)
    network.links = merged
    network.listed(
        "merged",
        f"{count(gone, 'link')} parallel to another into it, rates summed; {len(merged)} pairs",
        [f"{shown(group[0].a)}–{shown(group[0].b)} ×{len(group)}" for group in several],
    )
