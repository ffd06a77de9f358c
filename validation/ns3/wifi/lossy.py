"""What AODV delivers over chains of intact but lossy links, in both.

Every frame that arrives is lost with a probability, broadcasts and acknowledgments too. A packet at
its retry limit counts as a broken link, and the search that follows needs broadcasts, which are not
repeated: a route loss costs far more than a packet.
"""

from __future__ import annotations

import csv
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import backlane
from validation.ns3.truth import TRUTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.ns3.peer import Peer

FILE = TRUTH / "wifi_lossy.csv"
SCENARIO = Path(__file__).parent / "lossy.toml"
CHAINS = [(hops, loss) for hops in (1, 2, 3) for loss in (0.1, 0.3, 0.5)]
RUNS = 5
OFFERED_BPS = 100e3
SECONDS = 101
PROFILES = ("ns3", "rfc")


@dataclass(frozen=True)
class Chain:
    """The runs of one chain.

    Attributes:
        hops: of the chain.
        loss: of a frame.
        run: its number.
        share: of the offered packets that arrived.
    """

    hops: int
    loss: float
    run: int
    share: float


def record(programs: Peer) -> None:
    """Run ns-3 again.

    Raises:
        OSError: when the file cannot be written.
        subprocess.CalledProcessError: when a program fails.
    """
    with FILE.open("w", newline="", encoding="utf-8") as target:
        table = csv.writer(target, lineterminator="\n")
        table.writerow([field.name for field in fields(Chain)])
        for hops, loss in CHAINS:
            for run in range(1, RUNS + 1):
                table.writerow(astuple(_in_ns3(programs, hops, loss, run)))


def _in_ns3(programs: Peer, hops: int, loss: float, run: int) -> Chain:
    found = programs.run(
        "aodv",
        "--rts=false",
        f"--hops={hops}",
        f"--loss={loss:g}",
        f"--offered={OFFERED_BPS:g}",
        f"--seconds={SECONDS}",
        f"--run={run}",
    )
    # Its packets of 1000 bytes have 28 of headers, and it does not count the first second.
    payload_bps = OFFERED_BPS * 972 / 1000
    return Chain(hops, loss, run, round(found["goodput_bps"] / payload_bps, 3))


def recorded() -> list[Chain]:
    """The recorded results.

    Raises:
        OSError: when there is none.
    """
    with FILE.open(newline="", encoding="utf-8") as source:
        return [
            Chain(int(row["hops"]), float(row["loss"]), int(row["run"]), float(row["share"]))
            for row in csv.DictReader(source)
        ]


def measured(profile: str) -> list[Chain]:
    """The same here, with a profile of AODV and HELLOs."""
    return [_here(profile, hops, loss, run) for hops, loss in CHAINS for run in range(1, RUNS + 1)]


def _here(profile: str, hops: int, loss: float, run: int) -> Chain:
    changes = {
        "topology.nodes": f"{hops + 1}",
        "flow.0.to": f'"enb{hops + 1}"',
        "wifi.loss": f"{loss:g}",
        "routing.profile": f'"{profile}"',
    }
    result = backlane.run(SCENARIO, overrides=tuple(changes.items()), seed=run)
    bps = float(result.table("runs")["delivered_bps"][0])
    return Chain(hops, loss, run, bps / OFFERED_BPS)


def mean(chains: Sequence[Chain], hops: int, loss: float) -> float:
    """The mean share of a chain over its runs."""
    found = [one.share for one in chains if (one.hops, one.loss) == (hops, loss)]
    return sum(found) / len(found)


def table(ns3: Sequence[Chain], ours: Sequence[Sequence[Chain]]) -> str:
    """All in Markdown; ours in the order of `PROFILES`."""
    lines = [
        "| hops | loss of a frame | ns-3 | " + " | ".join(f'here, "{p}"' for p in PROFILES) + " |",
        "|---|---|---|" + "---|" * len(PROFILES),
    ]
    for hops, loss in CHAINS:
        shares = [mean(chains, hops, loss) for chains in (ns3, *ours)]
        words = " | ".join(f"{100 * share:.1f} %" for share in shares)
        lines.append(f"| {hops} | {loss:g} | {words} |")
    return "\n".join(lines)
