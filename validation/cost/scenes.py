"""The scenarios whose cost is measured: those of the repository, and some that isolate one cost."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backlane.studies.study import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backlane.studies.study import Settings

ROOT = Path(__file__).parents[2]
NOT_SCENARIOS = {"Cargo.toml"}

RENO = """\
from backlane import CongestionControl


class Reno(CongestionControl):
    def on_ack(self, now_s, ack, window):
        left = window.slow_start(ack.acked_pkts) if window.in_slow_start else ack.acked_pkts
        if left > 0:
            window.increase_additively(window.cwnd_pkts, left)

    def ssthresh(self, now_s, window, in_flight_pkts):
        return max(window.cwnd_pkts // 2, 2)
"""


@dataclass(frozen=True)
class Scene:
    """One run."""

    group: str
    """Its origin: "example", "study", "unseen" (another cell of a study) or "made"."""
    name: str
    resolved: str
    hash: str
    seed: int


def _cells(
    group: str, name: str, file: Path, settings: Settings, which: list[float]
) -> Iterator[Scene]:
    """The cells at these fractions of the sweep; each once."""
    from backlane import native

    text = file.read_text(encoding="utf-8")
    plan = json.loads(native.module().plan(text, str(file), settings, None))
    cells = plan["cells"]
    for index in sorted({min(int(part * len(cells)), len(cells) - 1) for part in which}):
        label = name if len(cells) == 1 else f"{name}#{index}"
        cell = cells[index]
        yield Scene(group, label, cell["resolved"], cell["hash"], plan["seeds"][0])


def _examples() -> Iterator[Scene]:
    """The first, the middle and the last cell of each example; the templates are examples."""
    folder = ROOT / "examples"
    files = [*folder.glob("*.toml"), *folder.glob("*/*.toml")]
    for file in sorted(file for file in files if file.name not in NOT_SCENARIOS):
        if not (file.parent / "Cargo.toml").exists():  # only that program has the models
            yield from _cells("example", str(file.relative_to(ROOT)), file, [], [0.0, 0.5, 1.0])


def _studies(group: str, which: float) -> Iterator[Scene]:
    """One cell of each experiment of each study."""
    for path in sorted((ROOT / "studies").glob("**/study.toml")):
        study = load(path.parent)
        for experiment in study.experiments.values():
            name = f"studies/{study.name}:{experiment.name}"
            yield from _cells(group, name, experiment.file, experiment.settings, [which])


def repository() -> Iterator[Scene]:
    """The scenarios of the repository, each once.

    The second cell of an experiment is only for validation and is not used in the fit.
    """
    seen = set()
    for scene in (*_examples(), *_studies("study", 0.5), *_studies("unseen", 0.2)):
        if scene.hash not in seen:
            seen.add(scene.hash)
            yield scene


def _wire(
    flows: str, duration_s: float = 10.0, rate: str = "1 Gbit/s", more: str = "", top: str = ""
) -> str:
    return f"""
duration = "{duration_s} s"
{top}
[topology]
kind = "graph"
node = [{{ id = "a" }}, {{ id = "b" }}, {{ id = "c" }}]
link = [
    {{ a = "a", b = "b", rate = "{rate}", delay = "5 ms" }},
    {{ a = "b", b = "c", rate = "{rate}", delay = "5 ms" }},
]
[routing]
protocol = "shortest-path"
[[flow]]
from = "a"
to = "c"
{flows}
{more}
"""


def _access(kind: str, ues: int, flow: str, duration_s: float = 10.0, enodebs: int = 4) -> str:
    return f"""
duration = "{duration_s} s"
[topology]
kind = "chain"
nodes = {enodebs}
spacing = "500 m"
link = {{ rate = "1 Gbit/s", delay = "1 ms" }}
[[server]]
node = "server"
attach = "enb1"
link = {{ rate = "10 Gbit/s", delay = "5 ms" }}
[access]
{kind}
ues = {ues}
[[flow]]
from = "server"
to = "ues"
{flow}
"""


def _grid(side: int, routing: str, rate: str = "1 Mbit/s", duration_s: float = 2.0) -> str:
    count = min(side * side, 200)
    step = side * side // count
    nodes = [1 + i * step for i in range(count)]
    ends = [1 + (node - 1 + 2 * side + 2) % (side * side) for node in nodes]
    sources = ", ".join(f'"enb{node}"' for node in nodes)
    sinks = ", ".join(f'"enb{node}"' for node in ends)
    return f"""
duration = "{duration_s} s"
[topology]
kind = "grid"
rows = {side}
columns = {side}
link = {{ rate = "100 Mbit/s", delay = "1 ms" }}
[routing]
{routing}
[[flow]]
kind = "udp"
rate = "{rate}"
packet_size = "1000 B"
from = [{sources}]
to = [{sinks}]
"""


def _stations(count: int, duration_s: float = 5.0, flow: str = 'kind = "udp"') -> str:
    nodes = ['{ id = "sink", x = "0 m", y = "0 m" }']
    for station in range(count):
        angle = math.tau * station / count
        x, y = (round(5000 * part) for part in (math.cos(angle), math.sin(angle)))
        nodes.append(f'{{ id = "s{station}", x = "{x} mm", y = "{y} mm" }}')
    load = f'rate = "{54 / count:.3f} Mbit/s"\npacket_size = "1500 B"' if "udp" in flow else ""
    return f"""
duration = "{duration_s} s"
[topology]
kind = "graph"
node = [{", ".join(nodes)}]
[wifi]
standard = "802.11a"
neighbours = "in-range"
[routing]
protocol = "shortest-path"
[[flow]]
{flow}
{load}
from = [{", ".join(f'"s{station}"' for station in range(count))}]
to = ["sink"]
"""


def _slotted(side: int, flows: int, slots: int, scheduler: str, more: str = "") -> str:
    """A square lattice with links to the right and down."""
    links = []
    for row in range(side):
        for column in range(side):
            here = f"n{row}_{column}"
            if column + 1 < side:
                links.append(f'{{ from = "{here}", to = "n{row}_{column + 1}" }}')
            if row + 1 < side:
                links.append(f'{{ from = "{here}", to = "n{row + 1}_{column}" }}')
    rows = [
        f'{{ name = "f{flow}", from = "n{flow % (side - 1)}_0", '
        f'to = "n{side - 1}_{side - 1}", rate = {0.5 / flows} }}'
        for flow in range(flows)
    ]
    return f"""
[slotted]
slots = {slots}
interference = "primary"
scheduler = "{scheduler}"
{more}
link = [{", ".join(links)}]
flow = [{", ".join(rows)}]
"""


ENDLESS = 'kind = "download"\nsize = "endless"'
LTE = 'kind = "lte"\nplacement = "round-robin"'
IDEAL = 'kind = "ideal"\nrate = "100 Mbit/s"\ndelay = "10 ms"'


def made() -> dict[str, str]:
    """Scenarios that stress one part, by name."""
    scenes = {}
    for count in (1_000, 10_000, 100_000):
        small = f'kind = "transfer"\ncount = {count}\nsize = "10 kB"\nstart = "uniform 0 s 8 s"'
        scenes[f"{count} transfers of 10 kB"] = _wire(small)
        late = f'kind = "transfer"\ncount = {count}\nsize = "10 kB"\nstart = "9.99 s"'
        scenes[f"{count} transfers that begin together"] = _wire(late)
    for count in (1_000, 100_000):
        load = 'kind = "udp"\nrate = "1 kbit/s"\npacket_size = "125 B"'
        scenes[f"{count} UDP loads"] = _wire(f"count = {count}\n{load}")
        scenes[f"{count} ideal UEs"] = _access(
            IDEAL, count, 'kind = "download"\nsize = "10 kB"\nstart = "uniform 0 s 9 s"'
        )
    idle = _access(IDEAL, 100_000, 'kind = "download"\nsize = "10 kB"\nstart = "9.99 s"')
    scenes["100000 ideal UEs at rest"] = idle
    for count in (10, 100, 300, 1_000):
        scenes[f"{count} LTE UEs, endless downloads"] = _access(LTE, count, ENDLESS, 5.0)
    one = 'kind = "download"\nsize = "1 MB"'
    scenes["1000 LTE UEs, one download"] = _access(LTE, 1_000, one, 5.0).replace('"ues"', '"ue1"')
    scenes["10 LTE UEs, uploads"] = (
        _access(LTE, 10, 'kind = "upload"\nsize = "endless"', 5.0)
        .replace('from = "server"', 'from = "ues"')
        .replace('to = "ues"', 'to = "server"')
    )
    for side in (5, 20, 50, 100):
        for routing in ("shortest-path", "bp-mr", "aodv"):
            scenes[f"{side} x {side} nodes, {routing}"] = _grid(side, f'protocol = "{routing}"')
    warm = 'protocol = "olsr"\nwarm_up = "20 s"'
    for side in (5, 10, 20):
        scenes[f"{side} x {side} nodes, olsr, warm-up"] = _grid(side, warm)
    for routing in ("bp", "bp-classic"):
        scenes[f"20 x 20 nodes, {routing}"] = _grid(20, f'protocol = "{routing}"')
    for side in (3, 5):
        scenes[f"{side} x {side} nodes, tcp-aware-bp"] = _grid(side, 'protocol = "tcp-aware-bp"')
    tcp = 'kind = "transfer"\nsize = "endless"'
    for rate in ("10 Mbit/s", "1 Gbit/s", "10 Gbit/s"):
        scenes[f"one transfer at {rate}"] = _wire(tcp, rate=rate)
    scenes["one transfer at 1 Gbit/s, fq-codel"] = _wire(tcp).replace(
        'delay = "5 ms" }', 'delay = "5 ms", queue = { discipline = "fq-codel", limit = "1 bdp" } }'
    )
    capture = '[record]\ncapture = ["b"]'
    scenes["capture at 1 Gbit/s"] = _wire(tcp, more=capture)
    series = '[record]\nseries = ["cwnd", "goodput", "queue"]\ninterval = "1 ms"'
    scenes["10 flows, a sample each ms"] = _wire(
        f"count = 10\n{tcp}", 20.0, "10 Mbit/s", more=series
    )
    scenes["a control in Python"] = _wire(
        tcp, rate="100 Mbit/s", more='[tcp]\ncongestion_control = "python:own.py:Reno"'
    )
    for count in (10, 50, 200):
        scenes[f"{count} saturated stations"] = _stations(count)
    scenes["10 stations, TCP"] = _stations(10, flow='kind = "transfer"\nsize = "endless"')
    scenes["slotted, 60 links, exact"] = _slotted(6, 4, 20_000, "exact")
    scenes["slotted, 60 links, greedy"] = _slotted(6, 4, 200_000, "greedy")
    scenes["slotted, 60 links, 100 flows"] = _slotted(6, 100, 50_000, "greedy")
    scenes["slotted, 1012 links, greedy"] = _slotted(23, 10, 5_000, "greedy")
    scenes["slotted, a sample each slot"] = _slotted(3, 10, 100_000, "greedy", "sample_slots = 1")
    return scenes


def synthetic(folder: Path) -> Iterator[Scene]:
    """Those of `made`; files that they need are written to `folder`."""
    (folder / "own.py").write_text(RENO, encoding="utf-8")
    for name, text in made().items():
        file = folder / "made.toml"
        file.write_text(text, encoding="utf-8")
        yield from _cells("made", name, file, [], [0.0])
