"""One run of a scene with either stack, in numbers."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import backlane
from backlane.errors import BacklaneError
from validation.kernel.scenes import HERE, SAMPLE_S, Scene, mark, scenario
from validation.linux.measures import count_episodes

if TYPE_CHECKING:
    from collections.abc import Mapping

COUNTER = HERE / "counters.c"

#: Counters of Linux (`/proc/net/netstat`) that add up to a count of the model.
COUNTERS: Mapping[str, tuple[str, ...]] = {
    "recoveries": ("TCPSackRecovery", "TCPRenoRecovery"),
    "rtos": ("TCPTimeouts",),
    "spurious_rtos": ("TCPSpuriousRTOs",),
    "undos": ("TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo"),
}


@dataclass(frozen=True)
class Measured:
    """One flow of one run. Means are over the scene's `from_s` to its end, counts of all of it.

    Attributes:
        scene: its name.
        draw: seed or number of the variant.
        flow: its number, from 1 on.
        stack: "linux" or "model".
        scenario: hash of the scenario.
        goodput_mbps: payload delivered in order.
        cwnd_mean_pkts: mean congestion window.
        srtt_mean_ms: mean smoothed RTT.
        retransmits: segments sent again.
        episodes: bursts of retransmissions, 0.25 s apart, from `from_s` on.
        recoveries: entries into fast recovery.
        rtos: retransmission timeouts.
        spurious_rtos: of these, found spurious by F-RTO.
        undos: reductions taken back.
        dsacks: segments that the receiver reported as received twice.
        reordering_pkts: degree of reordering that the sender assumes at the end.
        marks: packets marked by the queues of the network.
        silence_s: longest time between two arrivals at the receiver.
    """

    scene: str
    draw: int
    flow: int
    stack: str
    scenario: str
    goodput_mbps: float
    cwnd_mean_pkts: float
    srtt_mean_ms: float
    retransmits: float
    episodes: float
    recoveries: float
    rtos: float
    spurious_rtos: float
    undos: float
    dsacks: float
    reordering_pkts: float
    marks: float
    silence_s: float


NUMBERS = tuple(one.name for one in dataclasses.fields(Measured) if one.type == "float")
"""The measures."""


def model(scene: Scene, draw: int) -> list[Measured]:
    """A run with the model of TCP; one entry for each flow."""
    results = backlane.run(scenario(scene, draw, "model"), threads=1)
    return _measured(scene, draw, "model", results, {})


def linux(scene: Scene, draw: int) -> list[Measured]:
    """The same with a Linux kernel at both ends of each flow.

    Raises:
        BacklaneError: when there is no kernel or no compiler.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        counter = _compiled(place)
        asked = scenario(scene, draw, "linux")
        senders = [flow["from"] for flow in asked["flow"]]
        for flow in list(asked["flow"]):
            asked["flow"].append(
                {
                    "kind": "transfer", "from": flow["from"], "to": flow["to"], "size": "endless",
                    "stack": "linux", "start": f"{scene.end_s + SAMPLE_S / 2:g} s",
                    "client": [str(counter)], "server": [str(counter)],
                }
            )  # fmt: skip
        results = backlane.run(asked, out=place / "results", threads=1)
        counts = {
            number: counters((place / "results" / "console" / f"{host}.txt").read_text())
            for number, host in enumerate(senders, 1)
        }
        return _measured(scene, draw, "linux", results, counts)


def _compiled(folder: Path) -> Path:
    if shutil.which("gcc") is None:
        raise BacklaneError("R097", "reading a kernel's counters needs gcc")
    program = folder / "counters"
    subprocess.run(["gcc", "-O2", "-static", "-o", str(program), str(COUNTER)], check=True)
    return program


def counters(text: str) -> dict[str, int]:
    """The counters of the last `/proc/net/netstat` in a console.

    Raises:
        ValueError: when there is none.
    """
    lines = [line.split() for line in text.splitlines() if line.startswith("TcpExt:")]
    if len(lines) < 2 or len(lines[-2]) != len(lines[-1]):
        raise ValueError("the console has no counters of TCP")
    return {name: int(value) for name, value in zip(lines[-2][1:], lines[-1][1:], strict=True)}


def _measured(
    scene: Scene,
    draw: int,
    stack: str,
    results: backlane.Results,
    counts: Mapping[int, Mapping[str, int]],
) -> list[Measured]:
    series = results.table("series/cwnd")
    flows = results.flows.head(len(scene.controls)).to_dicts()
    marks = float(results.table("links")["marks"].sum())
    found = []
    for number, flow in enumerate(flows, 1):
        own = series.filter(pl.col("entity") == flow["flow"])
        part = own.filter(pl.col("time_s") > scene.from_s - SAMPLE_S / 2)
        times_s = part["time_s"].to_numpy()
        received = part["delivered_bytes"].to_numpy()
        numbers: dict[str, Any] = {
            "goodput_mbps": float(np.ptp(received) * 8e-6 / np.ptp(times_s)),
            "cwnd_mean_pkts": float(part["cwnd_pkts"].to_numpy().mean()),
            "srtt_mean_ms": float(part["srtt_s"].to_numpy().mean() * 1e3),
            "retransmits": float(own["retransmits"][-1]),
            "episodes": float(count_episodes(times_s, part["retransmits"].to_numpy())),
            "dsacks": float(own["spurious_retransmits"][-1]),
            "reordering_pkts": float(own["reordering_pkts"][-1]),
            "marks": marks,
            "silence_s": float(flow["longest_silence_s"]),
        }
        if number in counts:
            of = counts[number]
            for name, parts in COUNTERS.items():
                numbers[name] = float(sum(of[one] for one in parts))
        else:
            last = own.tail(1).to_dicts()[0]
            numbers["recoveries"] = float(last["fast_retransmits"])
            numbers["rtos"] = float(last["rtos"])
            numbers["undos"] = float(last["undos"])
            numbers["spurious_rtos"] = float(flow["spurious_rtos"])
        # As it is written.
        rounded = {name: float(f"{value:.7g}") for name, value in numbers.items()}
        found.append(Measured(scene.name, draw, number, stack, mark(scene, draw), **rounded))
    return found
