"""The scenes that run once with kernels and once with the model, part by part."""

from __future__ import annotations

import copy
import json
import sys
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HERE = Path(__file__).parent
PATH = HERE / "path.toml"
PATHS3 = HERE.parent / "linux" / "paths3.toml"

KERNEL = "6.1"
"""The kernel of the recordings."""
RELEASE = "6.1.192-backlane"
"""Its own version."""

BUFFERS = (
    "net.ipv4.tcp_rmem=4096 8388608 33554432",
    "net.ipv4.tcp_wmem=4096 4194304 33554432",
)
"""The buffers of the recorded kernels, and of the model in the scenario files."""

SAMPLE_S = 0.01
"""Between two samples; runs last one longer, since the last instant of a run has none."""

Changes = dict[str, Any]


def _none(_draw: int) -> Changes:
    return {}


@dataclass(frozen=True)
class Scene:
    """A row of a table: one scenario, run once for each draw and stack.

    Attributes:
        name: in the recordings.
        title: for readers.
        controls: the congestion control of each flow.
        end_s: the length of a run.
        from_s: means are taken from here to the end.
        changes: keys of the scenario with other values, for both stacks.
        kernel_changes: settings of the kernels beside `BUFFERS`.
        draws: the seeds, or the numbers of the variants, of which each is a pair of runs.
        of_draw: what a draw changes beside the seed.
        file: the scenario.
    """

    name: str
    title: str
    controls: tuple[str, ...]
    end_s: float
    from_s: float
    changes: Mapping[str, Any] = field(default_factory=dict)
    kernel_changes: tuple[str, ...] = ()
    draws: tuple[int, ...] = (1,)
    of_draw: Callable[[int], Changes] = _none
    file: Path = PATH


@dataclass(frozen=True)
class Part:
    """Scenes with one question and one table.

    Attributes:
        title: the heading.
        about: the path and what is done to it.
        scenes: the rows.
    """

    title: str
    about: str
    scenes: tuple[Scene, ...]


TITLES = {
    "reno": "Reno", "cubic": "CUBIC", "vegas": "Vegas", "dctcp": "DCTCP", "lp": "TCP-LP",
    "veno": "Veno", "yeah": "YeAH", "htcp": "H-TCP",
}  # fmt: skip

BOTTLENECK, FORWARD = "topology.link.1", "topology.link.2"
"""The link with the queue, and that with the delay of the data."""

SEEDS = tuple(range(1, 21))


def _random() -> tuple[Scene, ...]:
    kinds: dict[str, tuple[str, Changes]] = {
        "loss": ("1 % lost", {f"{FORWARD}.loss": 0.01}),
        "reorder": ("1 % reordered", {f"{FORWARD}.impairments": {"reorder": 0.01}}),
    }
    scenes = [
        Scene(
            name=f"{kind}-{control}", title=f"{TITLES[control]}, {title}", controls=(control,),
            end_s=10, from_s=2, changes=changes, draws=SEEDS,
        )
        for kind, (title, changes) in kinds.items()
        for control in ("cubic", "reno", "vegas")
    ]  # fmt: skip
    title, changes = kinds["reorder"]
    faster = {f"{BOTTLENECK}.rate": "50 Mbit/s", f"{BOTTLENECK}.queue": "173 packets"}
    scenes.append(
        Scene(
            name="reorder-vegas-50", title=f"Vegas at 50 Mbit/s, {title}", controls=("vegas",),
            end_s=10, from_s=2, changes={**changes, **faster}, draws=SEEDS,
        )
    )  # fmt: skip
    return tuple(scenes)


OUTAGE_AT_S = 5.0
OUTAGES = tuple(range(1, 9))
"""A packet's time apart: the last packet before an outage may be the first of a pair, whose
acknowledgment waits for the second, or the second."""
PACKET_S = 0.0012


def _down(draw: int, ms: int) -> Changes:
    at_s = OUTAGE_AT_S + (draw - 1) * PACKET_S
    ends = {"at": f"{at_s:.4f} s", "until": f"{at_s + ms / 1000:.4f} s"}
    return {"failure": [{"link": "out1-out2", **ends, "silent": True}]}


def _outages() -> tuple[Scene, ...]:
    scenes = []
    for control in ("cubic", "reno"):
        scenes += [
            Scene(
                name=f"outage-{control}-{ms}", title=f"{TITLES[control]}, down for {ms} ms",
                controls=(control,), end_s=15, from_s=2, draws=OUTAGES,
                of_draw=partial(_down, ms=ms),
            )
            for ms in (250, 500, 2000, 3000)
        ]  # fmt: skip
        for ms in (250, 500, 1000, 2000):
            steps = [
                {"at": "0 s", "rate": "1 Tbit/s"},
                {"at": f"{OUTAGE_AT_S:g} s", "rate": "none"},
                {"at": f"{OUTAGE_AT_S + ms / 1000:g} s", "rate": "1 Tbit/s"},
            ]
            scenes.append(
                Scene(
                    name=f"spike-{control}-{ms}", title=f"{TITLES[control]}, held for {ms} ms",
                    controls=(control,), end_s=15, from_s=2,
                    changes={f"{FORWARD}.capacity": {"steps": steps}},
                )
            )  # fmt: skip
    return tuple(scenes)


def _controls() -> tuple[Scene, ...]:
    def changes(rtt_ms: int) -> Changes:
        return {
            f"{BOTTLENECK}.rate": "20 Mbit/s",
            f"{BOTTLENECK}.queue": f"{round(20e6 * rtt_ms / 1e3 / 12000) + 2} packets",
            f"{FORWARD}.delay": f"{rtt_ms / 2:g} ms",
            "topology.link.4.delay": f"{rtt_ms / 2:g} ms",
        }

    scenes = [
        Scene(
            name=f"{control}-{rtt_ms}", title=f"{TITLES[control]}, {rtt_ms} ms",
            controls=(control,), end_s=30, from_s=5, changes=changes(rtt_ms),
        )
        for control in ("htcp", "veno", "yeah", "lp")
        for rtt_ms in (40, 100)
    ]  # fmt: skip
    scenes.append(
        Scene(
            name="lp-40-agree", title="TCP-LP, 40 ms, clocks that agree", controls=("lp",),
            end_s=30, from_s=5, changes={**changes(40), "tcp.lp": {"rules": "linux"}},
            kernel_changes=("net.ipv4.tcp_timestamps=2",),
        )
    )  # fmt: skip
    return tuple(scenes)


def _second_start(draw: int) -> Changes:
    """The second flow starts 0.5 s after the first, and 97 ms later in each further draw."""
    return {"flow.1.start": f"{403 + 97 * draw} ms"}


def _pairs() -> tuple[Scene, ...]:
    return tuple(
        Scene(
            name="-".join(pair), title=" beside ".join(TITLES[one] for one in pair),
            controls=pair, end_s=20, from_s=5, draws=SEEDS[:10], of_draw=_second_start,
        )
        for pair in (("cubic", "cubic"), ("cubic", "reno"), ("cubic", "vegas"))
    )  # fmt: skip


def _marks() -> tuple[Scene, ...]:
    threshold = {"discipline": "drop-tail", "limit": "70 packets", "mark_above": "10 packets"}
    codel = {"discipline": "codel", "limit": "200 packets", "ecn": True}
    exact: Changes = {f"{BOTTLENECK}.queue": threshold, "tcp.ecn": "exact"}
    classic: Changes = {f"{BOTTLENECK}.queue": codel, "tcp.ecn": "classic"}
    asked = ("net.ipv4.tcp_ecn=1",)
    found = [
        Scene("dctcp", "DCTCP, marked above 10 packets", ("dctcp",), 15, 2, exact, asked),
        Scene(
            "dctcp-dctcp", "DCTCP beside DCTCP, the same", ("dctcp", "dctcp"), 15, 5, exact, asked,
            draws=SEEDS[:10], of_draw=_second_start,
        ),
    ]  # fmt: skip
    for control in ("cubic", "reno"):
        title = f"{TITLES[control]}, CoDel with marks"
        found.append(Scene(f"ecn-{control}", title, (control,), 15, 2, classic, asked))
        dropping = {f"{BOTTLENECK}.queue": {**codel, "ecn": False}}
        title = f"{TITLES[control]}, CoDel without marks"
        found.append(Scene(f"codel-{control}", title, (control,), 15, 2, dropping))
    return tuple(found)


SPREADS_US = tuple(round(200 * 50 ** (step / 19)) for step in range(20))
"""Between the shortest and the longest of three paths: 0.2 to 10 ms, in equal ratios."""


def _spread(draw: int) -> Changes:
    """Three delays around 20 ms."""
    half_us = SPREADS_US[draw - 1] / 2
    ends = {2: 20_000 + half_us, 4: 20_000 - half_us}
    return {f"topology.link.{link}.delay": f"{us:g} us" for link, us in ends.items()}


def _spreads() -> tuple[Scene, ...]:
    changes = {f"{BOTTLENECK}.rate": "20 Mbit/s", f"{BOTTLENECK}.queue": "69 packets"}
    return tuple(
        Scene(
            name=f"paths3-{control}", title=f"{TITLES[control]}, 20 lengths",
            controls=(control,), end_s=10, from_s=2, changes=changes, draws=SEEDS,
            of_draw=_spread, file=PATHS3,
        )
        for control in ("cubic", "vegas")
    )  # fmt: skip


def _short() -> tuple[Scene, ...]:
    changes = {f"{BOTTLENECK}.rate": "20 Mbit/s", f"{BOTTLENECK}.queue": "7 packets"}
    return tuple(
        Scene(
            name=f"short-{control}{suffix}", title=f"{TITLES[control]}, {how}",
            controls=(control,), end_s=20, from_s=2, changes=changes, kernel_changes=setting,
        )
        for control in ("cubic", "reno")
        for suffix, how, setting in (
            ("", "no queue discipline in the kernel", ()),
            ("-fq", "`fq` in the kernel, nothing in the model", ("net.core.default_qdisc=fq",)),
        )
    )  # fmt: skip


PARTS: dict[str, Part] = {
    "random": Part(
        "Random loss and random reordering",
        "10 Mbit/s, 40 ms, a queue of 35 packets; behind the queue each data packet is lost, or "
        "skips the delay of 20 ms and overtakes up to 16 others, with a probability of 1 %. The "
        "last row has 50 Mbit/s and a queue of 173. 10 s, 20 seeds; a seed draws the same numbers "
        "for both stacks, packet by packet.",
        _random(),
    ),
    "outage": Part(
        "Timeouts, and timeouts that were needless",
        "10 Mbit/s, 40 ms, a queue of 35 packets. At 5 s the link behind the queue loses all "
        'packets for a time ("down"), or holds them and then delivers them at once ("held"). '
        "15 s; outages begin at eight times, a packet of 1.2 ms apart.",
        _outages(),
    ),
    "controls": Part(
        "Controls without a recording",
        "20 Mbit/s; 40 ms and a queue of 69 packets, or 100 ms and 169. 30 s. In the last row the "
        "kernels' timestamps begin at zero (`tcp_timestamps = 2`) and the model has "
        '`rules = "linux"`.',
        _controls(),
    ),
    "pairs": Part(
        "Two flows",
        "10 Mbit/s, 40 ms, a queue of 35 packets. 20 s; the second flow starts at ten different "
        "times, 0.5 to 1.4 s after the first.",
        _pairs(),
    ),
    "marks": Part(
        "Congestion marks",
        "10 Mbit/s, 40 ms. The queue of DCTCP holds 70 packets and marks above 10; CoDel has its "
        "defaults (5 ms, 100 ms). 15 s.",
        _marks(),
    ),
    "paths3": Part(
        "Three paths of 20 lengths",
        "20 Mbit/s with a queue of 69 packets, then three paths around 20 ms in turn per packet. "
        "The longest is 0.2 to 10 ms longer than the shortest, in 20 steps of equal ratio. 10 s.",
        _spreads(),
    ),
    "short": Part(
        "A short queue, and pacing by `fq`",
        "20 Mbit/s, 40 ms, a queue of 7 packets: a tenth of the product of both. 20 s.",
        _short(),
    ),
}
"""The parts by the names of `--only`."""


@cache
def _file(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _set(scenario: dict[str, Any], key: str, value: Any) -> None:
    place: Any = scenario
    *way, last = key.split(".")
    for step in way:
        place = place[int(step)] if step.isdecimal() else place.setdefault(step, {})
    place[last] = value


def _add_flow(scenario: dict[str, Any], number: int) -> None:
    """A further flow between two hosts of its own, beside the first ones."""
    nodes, links = scenario["topology"]["node"], scenario["topology"]["link"]
    for end, router, x in (("sender", "near", "0 m"), ("receiver", "far", "500 m")):
        nodes.append({"id": f"{end}{number}", "kind": "server", "x": x, "y": f"{100 * number} m"})
        a, b = (f"{end}{number}", router) if end == "sender" else (router, f"{end}{number}")
        wire = {"rate": "1 Tbit/s", "delay": "0 s", "queue": "100000 packets"}
        links.append({"a": a, "b": b, **wire})
    ends = {"from": f"sender{number}", "to": f"receiver{number}"}
    scenario["flow"].append({"kind": "transfer", **ends, "size": "endless"})


def scenario(scene: Scene, draw: int, stack: str) -> dict[str, Any]:
    """The scenario of one run: of a draw, with `stack = "linux"` or "model"."""
    found = copy.deepcopy(_file(scene.file))
    found["name"] = scene.name
    found["seed"] = draw
    found["duration"] = f"{scene.end_s + SAMPLE_S:g} s"
    for number in range(2, len(scene.controls) + 1):
        _add_flow(found, number)
    for key, value in {**scene.changes, **scene.of_draw(draw)}.items():
        _set(found, key, value)
    for flow, control in zip(found["flow"], scene.controls, strict=True):
        flow["congestion_control"] = control
        flow["stack"] = stack
    if stack == "linux":
        found["linux"] = {"kernel": KERNEL, "sysctl": [*BUFFERS, *scene.kernel_changes]}
    return found


def mark(scene: Scene, draw: int) -> str:
    """A hash of the scenario with kernels: a recording with another one is of another scenario."""
    text = json.dumps(scenario(scene, draw, "linux"), sort_keys=True)
    return sha256(text.encode()).hexdigest()[:12]
