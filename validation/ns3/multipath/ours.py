"""The same three paths here."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import backlane
from validation.ns3.multipath.density import displacement_pkts, mean
from validation.ns3.multipath.truth import Found, Measured
from validation.ns3.multipath.works import PATHS, WARM_UP_S

if TYPE_CHECKING:
    from backlane.results import Results
    from validation.ns3.multipath.works import Work

SCENARIO = Path(__file__).parent / "paths.toml"
#: UDP and IP.
HEADERS = 28


def measured(work: Work) -> Found:
    """All its runs."""
    each = [_measured(work, seed) for seed in range(1, work.runs + 1)]
    return Found(tuple(run for run, _ in each), mean(shares for _, shares in each))


def _measured(work: Work, seed: int) -> tuple[Measured, dict[int, float]]:
    # A run is the beginning of a longer one, so that a difference is the count of the interval.
    late, early = (run(work, seconds, seed) for seconds in (work.seconds, WARM_UP_S))
    delivered = [_sum(each, "delivered_bytes") for each in (late, early)]
    retransmits = _sum(late, "retransmits") if work.transport == "tcp" else 0.0
    sent = _sum(late, "segments_sent") if work.transport == "tcp" else 1.0
    shares = _density(late)
    return (
        Measured(
            goodput_bps=8 * (delivered[0] - delivered[1]) / (work.seconds - WARM_UP_S),
            retransmitted=retransmits / sent,
            in_order=shares.get(0, 0.0),
            displacement_pkts=displacement_pkts(shares),
        ),
        shares,
    )


def timed(work: Work) -> tuple[float, float]:
    """CPU seconds of a run, and the bytes delivered after the warm-up."""
    late, early = (run(work, seconds, seed=1) for seconds in (work.seconds, WARM_UP_S))
    delivered = _sum(late, "delivered_bytes") - _sum(early, "delivered_bytes")
    return float(late.table("runs")["cpu_s"][0]), delivered


def run(work: Work, seconds: float, seed: int) -> Results:
    """One run."""
    changes = (*overrides(work), ("duration", f'"{seconds:g} s"'))
    return backlane.run(SCENARIO, overrides=changes, seed=seed)


def _density(run: Results) -> dict[int, float]:
    """The mean over the flows."""
    table = run.table("reordering")
    flows: dict[int, dict[int, float]] = {}
    for flow, displacement, share in table.select(
        "flow", "displacement_pkts", "density"
    ).iter_rows():
        flows.setdefault(flow, {})[displacement] = share
    return mean(flows.values())


def _sum(run: Results, column: str) -> float:
    return float(run.table("flows")[column].sum())


def overrides(work: Work) -> list[tuple[str, str]]:
    """The values that replace those of `SCENARIO`."""
    nodes, links = ["S", "R"], []
    for path in work.paths:
        chain = ("S", *PATHS[path], "R")
        nodes += PATHS[path]
        links += list(itertools.pairwise(chain))
    channels: dict[str, list[int]] = {node: [] for node in nodes}
    for channel, ends in enumerate(links, start=1):
        for end in ends:
            channels[end].append(channel)
    placed = [
        f'{{ id = "{node}", kind = "router", x = "{index} m", y = "0 m", '
        f"channels = {channels[node]} }}"
        for index, node in enumerate(nodes)
    ]
    joined = [
        f'{{ a = "{a}", b = "{b}", medium = "wifi", channel = {channel}, loss = 0.0 }}'
        for channel, (a, b) in enumerate(links, start=1)
    ]
    return [
        ("topology.node", f"[{', '.join(placed)}]"),
        ("topology.link", f"[{', '.join(joined)}]"),
        ("routing.allocation", '"data+ack"' if work.pins else '"packet"'),
        ("tcp.sack", "true" if work.sack else "false"),
        ("tcp.delayed_ack_segments", f"{work.delayed}"),
        ("flow", f"[{_flow(work)}]"),
    ]


def _flow(work: Work) -> str:
    ends = f'from = "S", to = "R", start = "uniform 0 s 1 s", count = {work.flows}'
    if work.transport == "tcp":
        return f'{{ kind = "transfer", {ends}, size = "endless" }}'
    rate = work.offered_bps * (1500 - HEADERS) / 1500
    return f'{{ kind = "udp", {ends}, rate = "{rate:.0f} bit/s", packet_size = "1472 B" }}'
