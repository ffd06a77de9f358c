"""Compare LTE access and 802.11 with ns-3: `python -m validation.ns3`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from validation.ns3 import motion, ours, page, peer, speed, truth
from validation.ns3.compare import pairs
from validation.ns3.dumbbell import truth as dumbbell_truth
from validation.ns3.figures import draw_streams, draw_transfers
from validation.ns3.multipath import figures as multipath_figures
from validation.ns3.multipath import ours as multipath_ours
from validation.ns3.multipath import page as multipath_page
from validation.ns3.multipath import truth as multipath_truth
from validation.ns3.multipath.works import works as multipath_works
from validation.ns3.wifi import aodv, lossy, routes
from validation.ns3.wifi import page as wifi_page
from validation.ns3.wifi import truth as wifi_truth
from validation.ns3.wifi.figures import draw_saturation
from validation.ns3.wifi.ours import measured
from validation.ns3.wifi.works import works
from validation.ns3.wired_grid import grid

if TYPE_CHECKING:
    from collections.abc import Sequence

BUILT = Path("results") / "ns3"
DETAILS = truth.HERE / "details.csv"
WIFI_DETAILS = truth.HERE / "wifi" / "details.csv"
MULTIPATH_DETAILS = truth.HERE / "multipath" / "details.csv"

PARTS = ("lte", "wifi", "multipath", "dumbbell", "wired_grid")


def main() -> int:
    """Run, draw and write the page; 1 if a stream no longer agrees, or ns-3 is missing."""
    parser = argparse.ArgumentParser(prog="python -m validation.ns3", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="only compare; leave figures and page as they are"
    )
    parser.add_argument("--record", action="store_true", help="run ns-3 again before")
    parser.add_argument("--speed", action="store_true", help="measure the cost of both again")
    parser.add_argument("--only", choices=PARTS, help="leave out the others")
    arguments = parser.parse_args()
    parts = (arguments.only,) if arguments.only else PARTS
    if arguments.record or arguments.speed:
        try:
            programs = peer.build(BUILT)
        except peer.Missing as missing:
            print(missing, file=sys.stderr)
            return 1
        if arguments.record:
            _record(programs, parts)
        if arguments.speed:
            _measure(programs, parts)
    # cargo test compares the dumbbell: crates/tcp/tests/ns3.rs.
    compare = {"lte": _lte, "wifi": _wifi, "multipath": _multipath, "wired_grid": _wired_grid}
    compared = [compare[part] for part in parts if part in compare]
    lost = [name for comparison in compared for name in comparison(only_check=arguments.check)]
    for name in lost:
        print(f"no longer as in ns-3: {name}", file=sys.stderr)
    return int(bool(lost))


def _record(programs: peer.Peer, parts: Sequence[str]) -> None:
    """Run ns-3 again."""
    if "lte" in parts:
        truth.record(programs)
        motion.record(programs)
    if "wifi" in parts:
        wifi_truth.record(programs)
        routes.record(programs)
        lossy.record(programs)
        aodv.record(programs)
    if "multipath" in parts:
        multipath_truth.record(programs)
    if "dumbbell" in parts:
        dumbbell_truth.record(programs)
    if "wired_grid" in parts:
        grid.record(programs)


def _measure(programs: peer.Peer, parts: Sequence[str]) -> None:
    """Measure the cost of both again."""
    if "lte" in parts:
        speed.record(speed.measure(programs))
    if "wifi" in parts:
        speed.record(speed.measure_wifi(programs), speed.WIFI_FILE)
    if "multipath" in parts:
        speed.record(speed.measure_multipath(programs), speed.MULTIPATH_FILE)


def _lte(*, only_check: bool) -> list[str]:
    """The cell of LTE; the streams that agreed with LENA and no longer do."""
    recorded, found = truth.streams(), ours.streams()
    both = {
        scheduler: (_of(scheduler, recorded), _of(scheduler, found))
        for scheduler in truth.SCHEDULERS
    }
    transfers = {
        control: (truth.transfer(control), ours.transfer(control)) for control in truth.CONTROLS
    }
    moving = (motion.recorded(), motion.measured())
    parts = {
        "streams": page.streams(both, truth.HERE),
        "walk": page.walk(truth.walk("pf"), ours.walk("pf")),
        "motion": motion.table(*moving),
        "transfers": page.transfers(transfers),
        "timings": page.timings(speed.recorded()),
    }
    print("\n\n".join(parts.values()))
    before = page.reached(DETAILS)
    if not only_check:
        page.write_details(both, transfers, moving, DETAILS)
        page.replace(truth.HERE / "README.md", parts)
        draw_streams(both, truth.HERE / "streams.png")
        draw_transfers(transfers, truth.HERE / "transfers.png")
    lost = [pair.name for pair in pairs(recorded, found) if pair.name in before and not pair.holds]
    held = {name for name, lena in moving[0].items() if motion.holds(lena, moving[1][name])}
    return [*lost, *(name for name in moving[0] if name in before and name not in held)]


def _wifi(*, only_check: bool) -> list[str]:
    """The stations of 802.11; the runs that agreed with ns-3 and no longer do."""
    on_record = wifi_truth.recorded()
    both = {
        group: [
            wifi_page.Pair(work, wifi_truth.found(work, on_record), measured(work))
            for work in group_works
        ]
        for group, group_works in works().items()
    }
    parts = {
        "wifi runs": page.measured_by(truth.HERE),
        **wifi_page.tables(both),
        "wifi routes": routes.table(routes.recorded(), routes.measured()),
        "wifi lossy": lossy.table(lossy.recorded(), [lossy.measured(p) for p in lossy.PROFILES]),
        "wifi aodv": aodv.table(aodv.recorded(), aodv.measured()),
        "wifi timings": page.timings(speed.recorded(speed.WIFI_FILE)),
    }
    print("\n\n".join(parts.values()))
    before = page.reached(WIFI_DETAILS)
    if not only_check:
        wifi_page.write_details(both, WIFI_DETAILS)
        page.replace(truth.HERE / "wifi" / "README.md", parts)
        draw_saturation(both["saturation"], truth.HERE / "wifi" / "saturation.png")
    every = [pair for compared in both.values() for pair in compared]
    return [pair.work.name for pair in every if pair.work.name in before and not pair.holds]


def _multipath(*, only_check: bool) -> list[str]:
    """Flows spread over three paths; the runs that agreed with ns-3 and no longer do."""
    on_record = multipath_truth.recorded()
    both = {
        group: [
            multipath_page.Pair(
                work, multipath_truth.found(work, on_record), multipath_ours.measured(work)
            )
            for work in group_works
        ]
        for group, group_works in multipath_works().items()
    }
    parts = {
        "multipath runs": page.measured_by(truth.HERE),
        **multipath_page.tables(both),
        "multipath timings": page.timings(speed.recorded(speed.MULTIPATH_FILE)),
    }
    print("\n\n".join(parts.values()))
    before = page.reached(MULTIPATH_DETAILS)
    if not only_check:
        folder = truth.HERE / "multipath"
        multipath_page.write_details(both, MULTIPATH_DETAILS)
        page.replace(folder / "README.md", parts)
        multipath_figures.draw(both["udp"], both["tcp"], folder / "spread.png")
    every = [pair for compared in both.values() for pair in compared]
    return [pair.work.name for pair in every if pair.work.name in before and not pair.holds]


def _wired_grid(*, only_check: bool) -> list[str]:
    """Downloads over wires; the numbers of downloads that ns-3 finishes sooner or later."""
    both = (grid.recorded(), grid.measured())
    parts = {"wired grid": grid.table(*both), "keys": grid.keys_table()}
    print("\n\n".join(parts.values()))
    if not only_check:
        page.replace(truth.HERE / "wired_grid" / "README.md", parts)
    return [f"{flows} downloads" for flows in grid.PHASES if not grid.holds(*both, flows)]


def _of(scheduler: str, streams: Sequence[truth.Stream]) -> list[truth.Stream]:
    return [stream for stream in streams if stream.scheduler == scheduler]


if __name__ == "__main__":
    sys.exit(main())
