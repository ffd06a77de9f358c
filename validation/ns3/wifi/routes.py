"""The time and packets that AODV and OLSR need for a route over a chain, in both."""

from __future__ import annotations

import csv
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

import backlane
from validation.ns3.truth import TRUTH
from validation.ns3.wifi.ours import SCENARIO, overrides
from validation.ns3.wifi.works import HOPS, chain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.ns3.peer import Peer
    from validation.ns3.wifi.works import Work

FILE = TRUTH / "wifi_routes.csv"
PROTOCOLS = ("aodv", "olsr")
RUNS = 5
#: The start of the flow and the end of the run.
START_S, END_S = 20.0, 40.0


@dataclass(frozen=True)
class Route:
    """One protocol over one chain, the mean of all runs.

    Attributes:
        protocol: aodv or olsr.
        hops: of the chain.
        first_s: from the flow's start to its first packet at the end of the chain.
        packets: of the protocol, sent by all nodes during the run.
    """

    protocol: str
    hops: int
    first_s: float
    packets: float


def record(programs: Peer) -> None:
    """Run ns-3 again.

    Raises:
        OSError: when the file cannot be written.
        subprocess.CalledProcessError: when a program fails.
    """
    with FILE.open("w", newline="", encoding="utf-8") as target:
        table = csv.writer(target, lineterminator="\n")
        table.writerow([field.name for field in fields(Route)])
        for protocol in PROTOCOLS:
            for hops in HOPS:
                runs = [_in_ns3(programs, protocol, hops, run) for run in range(1, RUNS + 1)]
                table.writerow(astuple(_mean(protocol, hops, runs)))


def _in_ns3(programs: Peer, protocol: str, hops: int, run: int) -> tuple[float, float]:
    found = programs.run(
        "wifi",
        *_work(hops).options,
        f"--routing={protocol}",
        f"--flowStart={START_S:g}",
        f"--run={run}",
    )
    return found["first_s"], found["routing_packets"]


def recorded() -> list[Route]:
    """The recorded results.

    Raises:
        OSError: when there is none.
    """
    with FILE.open(newline="", encoding="utf-8") as source:
        return [
            Route(row["protocol"], int(row["hops"]), float(row["first_s"]), float(row["packets"]))
            for row in csv.DictReader(source)
        ]


def measured() -> list[Route]:
    """The same here."""
    return [
        _mean(protocol, hops, [_here(protocol, hops, seed) for seed in range(1, RUNS + 1)])
        for protocol in PROTOCOLS
        for hops in HOPS
    ]


def _here(protocol: str, hops: int, seed: int) -> tuple[float, float]:
    work = _work(hops)
    changes = dict(overrides(work))
    changes["flow"] = changes["flow"].replace('start = "100 ms"', f'start = "{START_S:g} s"')
    changes["routing.protocol"] = f'"{protocol}"'
    changes["duration"] = f'"{END_S:g} s"'
    changes["record"] = '{ series = ["goodput"], interval = "1 ms" }'
    run = backlane.run(SCENARIO, overrides=tuple(changes.items()), seed=seed)
    goodput = run.table("series/goodput")
    came = goodput.filter(goodput["delivered_bytes"] > 0)["time_s"].min()
    if not isinstance(came, float):
        raise TypeError(f"no packet came over {hops} hops with {protocol}")
    return came - START_S, float(run.table("routing")["messages"].sum())


def _work(hops: int) -> Work:
    return chain(hops, "udp", offered_bps=40e3, seconds=END_S - 1)


def _mean(protocol: str, hops: int, runs: Sequence[tuple[float, float]]) -> Route:
    first, packets = (sum(values) / len(runs) for values in zip(*runs, strict=True))
    return Route(protocol, hops, first, packets)


def table(ns3: Sequence[Route], ours: Sequence[Route]) -> str:
    """Both in Markdown."""
    lines = [
        "| protocol | hops | first packet after (ms) | packets of the protocol |",
        "|---|---|---|---|",
    ]
    for theirs, mine in zip(ns3, ours, strict=True):
        lines.append(
            f"| {theirs.protocol.upper()} | {theirs.hops} "
            f"| {1e3 * theirs.first_s:.1f} / {1e3 * mine.first_s:.0f} "
            f"| {theirs.packets:.1f} / {mine.packets:.1f} |"
        )
    return "\n".join(lines)
