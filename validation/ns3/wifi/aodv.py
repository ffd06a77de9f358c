"""TCP over chains of 802.11b with AODV, with the lifetime of packets in ns-3's queues, in both."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

import backlane
from validation.ns3.truth import TRUTH
from validation.ns3.wifi.ours import SCENARIO, overrides
from validation.ns3.wifi.works import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.ns3.peer import Peer

FILE = TRUTH / "wifi_aodv.csv"
COLUMNS = (
    "hops",
    "variant",
    "run",
    "goodput_bps",
    "given_up",
    "expired",
    "routing_packets",
    "options",
)
HOPS = (3, 4)
SECONDS = 30.0
#: Of a segment, so that its packet has 1000 bytes.
MSS_BYTES = 948


@dataclass(frozen=True)
class Variant:
    """One way to route.

    Attributes:
        name: in the table.
        routing: in ns-3's program.
        arp: whether ns-3 asks for addresses. Without, its AODV knows no neighbour's address, and
            no packet that the MAC drops breaks a route.
        runs: in ns-3.
    """

    name: str
    routing: str
    arp: bool
    runs: int


VARIANTS = (
    Variant("static routes", "static", arp=True, runs=5),
    Variant("AODV, expiry breaks no route", "aodv", arp=False, runs=3),
    Variant("AODV, expiry breaks routes", "aodv", arp=True, runs=5),
)


@dataclass(frozen=True)
class Found:
    """The mean of all runs.

    Attributes:
        goodput_bps: of the payload.
        expired: packets dropped because they had waited too long, as far as that is counted.
        packets: of the routing protocol.
    """

    goodput_bps: float
    expired: float
    packets: float


def _work(hops: int) -> Work:
    return Work(
        shape="chain",
        standard="b",
        rate=11.0,
        stations=hops,
        transport="tcp",
        spacing_m=50.0,
        sensitivity_dbm=-80.0,
        carrier_sense_dbm=-86.0,
        seconds=SECONDS,
    )


def record(programs: Peer) -> None:
    """Run ns-3 again.

    Raises:
        OSError: when the file cannot be written.
        subprocess.CalledProcessError: when a program fails.
    """
    with FILE.open("w", newline="", encoding="utf-8") as target:
        table = csv.DictWriter(target, COLUMNS, lineterminator="\n", extrasaction="ignore")
        table.writeheader()
        for hops in HOPS:
            for variant in VARIANTS:
                for run in range(1, variant.runs + 1):
                    options = (
                        *_work(hops).options,
                        f"--routing={variant.routing}",
                        "--maxDelay=0.5",
                        "--queue=500",
                        f"--arp={int(variant.arp)}",
                        f"--run={run}",
                    )
                    found = {"routing_packets": 0.0, **programs.run("wifi", *options)}
                    command = " ".join(("wifi", *options))
                    row = {"hops": hops, "variant": variant.name, "run": run, "options": command}
                    table.writerow({**row, **found})


def recorded() -> dict[tuple[int, str], Found]:
    """The recorded means, by hops and variant.

    Raises:
        OSError: when there is none.
    """
    rows: dict[tuple[int, str], list[Found]] = {}
    with FILE.open(newline="", encoding="utf-8") as source:
        for row in csv.DictReader(source):
            found = Found(
                float(row["goodput_bps"]), float(row["expired"]), float(row["routing_packets"])
            )
            rows.setdefault((int(row["hops"]), row["variant"]), []).append(found)
    return {key: _mean(found) for key, found in rows.items()}


def measured() -> dict[tuple[int, str], Found]:
    """The same here, over five seeds."""
    return {
        (hops, variant.name): _mean([_here(hops, variant, seed) for seed in range(1, 6)])
        for hops in HOPS
        for variant in VARIANTS
    }


def _here(hops: int, variant: Variant, seed: int) -> Found:
    changes = dict(overrides(_work(hops)))
    protocol = "shortest-path" if variant.routing == "static" else variant.routing
    changes["routing.protocol"] = f'"{protocol}"'
    changes["wifi.lifetime"] = '"500 ms"'
    changes["wifi.queue"] = '"500 packets"'
    changes["wifi.report_expiry"] = "true" if variant.arp else "false"
    changes["tcp.mss"] = f'"{MSS_BYTES} B"'
    delivered = []
    for seconds in (SECONDS + 1, 1.0):
        changes["duration"] = f'"{seconds:g} s"'
        run = backlane.run(SCENARIO, overrides=tuple(changes.items()), seed=seed)
        delivered.append(float(run.table("flows")["delivered_bytes"].sum()))
        if seconds > 1:
            expired = float(run.table("wifi")["drops"].sum())
            packets = 0.0
            if variant.routing == "aodv":
                packets = float(run.table("routing")["messages"].sum())
    return Found(8 * (delivered[0] - delivered[1]) / SECONDS, expired, packets)


def _mean(found: Sequence[Found]) -> Found:
    count = len(found)
    return Found(
        sum(one.goodput_bps for one in found) / count,
        sum(one.expired for one in found) / count,
        sum(one.packets for one in found) / count,
    )


def table(ns3: dict[tuple[int, str], Found], ours: dict[tuple[int, str], Found]) -> str:
    """Both in Markdown."""
    lines = [
        "| hops | routes | goodput (Mbit/s) | difference | expired | packets of AODV |",
        "|---|---|---|---|---|---|",
    ]
    for (hops, variant), theirs in ns3.items():
        mine = ours[hops, variant]
        lines.append(
            f"| {hops} | {variant} | {theirs.goodput_bps / 1e6:.3f} / {mine.goodput_bps / 1e6:.3f} "
            f"| {100 * (mine.goodput_bps / theirs.goodput_bps - 1):+.1f} % "
            f"| {theirs.expired:.0f} / {mine.expired:.0f} "
            f"| {theirs.packets:.0f} / {mine.packets:.0f} |"
        )
    return "\n".join(lines)
