"""Compare LTE access with ns-3's LENA: `python -m validation.ns3`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from validation.ns3 import ours, page, peer, speed, truth
from validation.ns3.compare import pairs
from validation.ns3.figures import draw_streams, draw_transfers

if TYPE_CHECKING:
    from collections.abc import Sequence

BUILT = Path("results") / "ns3"
DETAILS = truth.HERE / "details.csv"


def main() -> int:
    """Run, draw and write the page; 1 when a stream no longer holds, or ns-3 is missing."""
    parser = argparse.ArgumentParser(prog="python -m validation.ns3", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="only compare; leave figures and page as they are"
    )
    parser.add_argument("--record", action="store_true", help="run ns-3 anew before")
    parser.add_argument("--speed", action="store_true", help="measure anew what both cost")
    arguments = parser.parse_args()
    if arguments.record or arguments.speed:
        try:
            programs = peer.build(BUILT)
        except peer.Missing as missing:
            print(missing, file=sys.stderr)
            return 1
        if arguments.record:
            truth.record(programs)
        if arguments.speed:
            speed.record(speed.measure(programs))
    recorded, found = truth.streams(), ours.streams()
    both = {
        scheduler: (_of(scheduler, recorded), _of(scheduler, found))
        for scheduler in truth.SCHEDULERS
    }
    transfers = {
        control: (truth.transfer(control), ours.transfer(control)) for control in truth.CONTROLS
    }
    parts = {
        "streams": page.streams(both, truth.HERE),
        "walk": page.walk(truth.walk("pf"), ours.walk("pf")),
        "transfers": page.transfers(transfers),
        "timings": page.timings(speed.recorded()),
    }
    print("\n\n".join(parts.values()))
    before = page.reached(DETAILS)
    lost = [pair.name for pair in pairs(recorded, found) if pair.name in before and not pair.holds]
    for name in lost:
        print(f"no longer as in LENA: {name}", file=sys.stderr)
    if not arguments.check:
        page.write_details(both, transfers, DETAILS)
        page.replace(truth.HERE / "README.md", parts)
        draw_streams(both, truth.HERE / "streams.png")
        draw_transfers(transfers, truth.HERE / "transfers.png")
    return int(bool(lost))


def _of(scheduler: str, streams: Sequence[truth.Stream]) -> list[truth.Stream]:
    return [stream for stream in streams if stream.scheduler == scheduler]


if __name__ == "__main__":
    sys.exit(main())
