"""The part `clean`: kernels over Backlane's links against a recording of a kernel over netem.

The recordings are of Linux 6.1 in one kernel, with netem for the path. Here each end of the
same path is a kernel of its own, and the path is Backlane's. Needs a kernel:
`backlane linux build 6.1`.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

import numpy as np

from validation.kernel.scenes import BUFFERS
from validation.linux.samples import ALGORITHMS, Algorithm, recorded, simulated

END_S = 20.0
"""The part of the recordings that is compared."""

FIRST = ("vegas", "reno", "cubic", "scalable", "illinois")
"""Controls whose windows depend on nothing but what arrives, for which equality is asked."""


@dataclass(frozen=True)
class Row:
    """A congestion control here and in its recording, over the first 20 s.

    Attributes:
        title: of the control.
        samples: instants with both.
        equal: with the same window.
        near: with windows that differ by at most a packet.
        retransmits: here and in the recording.
        goodput: here, as a share of the recording's.
        wall_s: of the run.
    """

    title: str
    samples: int
    equal: int
    near: int
    retransmits: tuple[int, int]
    goodput: float
    wall_s: float


def compare(algorithm: Algorithm, kernel: str) -> Row:
    """Run a control and compare its samples with the recording."""
    theirs = recorded(algorithm, "clean")
    until = theirs.time_s <= END_S + 1e-9
    changes = [
        ("flow.0.stack", "linux"),
        ("linux.kernel", f'"{kernel}"'),
        ("linux.sysctl", json.dumps(BUFFERS)),
    ]
    begun = time.monotonic()
    ours = simulated(algorithm, "clean", theirs.time_s[until], changes=changes, end_s=END_S)
    wall_s = time.monotonic() - begun
    apart = np.abs(ours.cwnd_pkts - theirs.cwnd_pkts[until])
    last = int(until.sum()) - 1
    return Row(
        title=algorithm.title,
        samples=apart.size,
        equal=int((apart == 0).sum()),
        near=int((apart <= 1).sum()),
        retransmits=(int(ours.retransmits[last]), int(theirs.retransmits[last])),
        goodput=float(ours.received_bytes[last] / theirs.received_bytes[last]),
        wall_s=wall_s,
    )


def compare_all(kernel: str) -> list[Row]:
    """Every recorded control but CUBIC without HyStart, which kernels do not have by name."""
    rows = []
    for control in ALGORITHMS:
        if control.name != "cubic_nohystart":
            rows.append(compare(control, kernel))
            print(rows[-1], flush=True)
    return rows


def table(rows: list[Row], release: str) -> str:
    """The section of the page."""
    lines = [
        f"Linux {release}: the first {END_S:g} s, {rows[0].samples} instants.",
        "",
        "| control | windows equal | within a packet | retransmissions, recorded | goodput |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        here, there = row.retransmits
        lines.append(
            f"| {row.title} | {100 * row.equal / row.samples:.1f} % | "
            f"{100 * row.near / row.samples:.1f} % | {here}, {there} | {row.goodput:.4f} |"
        )
    return "\n".join(lines)


def further(rows: list[Row]) -> list[str]:
    """The controls of `FIRST` with less than 97 % of the windows within a packet."""
    first = {one.title for one in ALGORITHMS if one.name in FIRST}
    return [row.title for row in rows if row.title in first and row.near < 0.97 * row.samples]
