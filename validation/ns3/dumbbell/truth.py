"""The results of ns-3 over one bottleneck: recorded in `truth/dumbbell.csv`.

`crates/tcp/tests/ns3.rs` compares them with the endpoint under `profile = "ns3"`.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from validation.ns3.truth import TRUTH

if TYPE_CHECKING:
    from validation.ns3.peer import Peer

FILE = TRUTH / "dumbbell.csv"

#: Our name of a congestion control, and ns-3's type.
CONTROLS = {
    "reno": "TcpNewReno",
    "cubic": "TcpCubic",
    "highspeed": "TcpHighSpeed",
    "illinois": "TcpIllinois",
    "scalable": "TcpScalable",
    "westwood": "TcpWestwood",
    "vegas": "TcpVegas",
}
MEASURES = (
    "goodput_mbps",
    "window_pkts",
    "segments",
    "drops",
    "retransmits",
    "recoveries",
    "timeouts",
    "rtt_ms",
)
#: Vegas compares RTTs in whole milliseconds, so that the phase of its start counts.
PHASES_MS = [eighth / 8 for eighth in range(8)]


def record(programs: Peer) -> None:
    """Run ns-3 and write the file."""
    with FILE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["control", "start_ms", "end_s", *MEASURES])
        for control, ns3 in CONTROLS.items():
            end_s, phases_ms = (20, PHASES_MS) if control == "vegas" else (60, [0.0])
            for start_ms in phases_ms:
                found = programs.run(
                    "dumbbell", f"--control={ns3}", f"--duration={end_s}", f"--start={start_ms}"
                )
                values = [f"{found[name]:.10g}" for name in MEASURES]
                writer.writerow([control, f"{start_ms:g}", end_s, *values])
