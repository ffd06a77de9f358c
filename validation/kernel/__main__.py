"""Compare kernels in simulated time with recordings: `python -m validation.kernel`.

The recordings are of Linux 6.1 in one kernel, with netem for the path. Here each end of the
same path is a kernel of its own, and the path is Backlane's. Needs a kernel:
`backlane linux build 6.1`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backlane import linux
from validation.linux.samples import ALGORITHMS, Algorithm, recorded, simulated

HERE = Path(__file__).parent
PAGE = HERE / "README.md"

END_S = 20.0
"""The part of the recordings that is compared."""

BUFFERS = [
    "net.ipv4.tcp_rmem=4096 8388608 33554432",
    "net.ipv4.tcp_wmem=4096 4194304 33554432",
]
"""The settings of the recorded kernels."""

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


def page(rows: list[Row], release: str) -> str:
    """The page with the table."""
    lines = [
        "# A kernel over simulated links",
        "",
        f"Linux {release} at both ends of the path `clean` of "
        "[TCP against Linux](../linux/README.md), in simulated time over Backlane's links, "
        "compared with the recording of Linux 6.1 over netem: "
        f"the first {END_S:g} s, {rows[0].samples} instants. Made by `backlane validate kernel`.",
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
    lines += [
        "",
        "A sample here is the state 5 µs before the instant, and the links without a rate of the "
        "recording take 12 ns for a packet. CDG and BBR draw random numbers.",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Run, print and write the page; 1 if a control of `FIRST` is below its bounds."""
    parser = argparse.ArgumentParser(prog="python -m validation.kernel", description=__doc__)
    parser.add_argument("--check", action="store_true", help="leave the page as it is")
    parser.add_argument("--kernel", default="6.1", help="a kernel of `backlane linux list`")
    arguments = parser.parse_args()
    kernels = linux.kernels()
    if arguments.kernel not in kernels:
        print(linux.missing(arguments.kernel).rendered, file=sys.stderr)
        return 2
    controls = [one for one in ALGORITHMS if one.name != "cubic_nohystart"]
    rows = []
    for control in controls:
        row = compare(control, arguments.kernel)
        print(row, flush=True)
        rows.append(row)
    text = page(rows, kernels[arguments.kernel].release)
    if not arguments.check:
        PAGE.write_text(text, encoding="utf-8")
    print(text)
    first = {one.title for one in ALGORITHMS if one.name in FIRST}
    apart = [row for row in rows if row.title in first and row.near < 0.97 * row.samples]
    for row in apart:
        print(f"windows of {row.title} are further apart than before", file=sys.stderr)
    return int(bool(apart))


if __name__ == "__main__":
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    sys.exit(main())
