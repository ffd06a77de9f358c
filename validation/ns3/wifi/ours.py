"""The same stations here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import backlane
from validation.ns3.wifi.truth import Measured, mean

if TYPE_CHECKING:
    import polars as pl

    from validation.ns3.wifi.works import Work

SCENARIO = Path(__file__).parent / "stations.toml"
#: UDP and IP, which in ns-3 exist only over a chain.
HEADERS = 28


@dataclass(frozen=True)
class _Counts:
    """The counters of a run.

    Attributes:
        payload_bytes: delivered.
        attempts: to transmit a frame, by all stations.
        failures: attempts without a response.
        answers: frames of the receiver, CTS and ACK.
        cpu_s: of the run.
    """

    payload_bytes: float
    attempts: float
    failures: float
    answers: float
    cpu_s: float


def measured(work: Work) -> Measured:
    """The mean of its runs, without the first second."""
    return mean([_measured(work, seed) for seed in range(1, work.runs + 1)])


def _measured(work: Work, seed: int) -> Measured:
    # A run is the beginning of a longer one, so that a difference is the count of the interval.
    late, early = (_run(work, seconds, seed) for seconds in (work.seconds + 1, 1.0))
    payload_bytes = late.payload_bytes - early.payload_bytes
    if work.shape != "chain":
        payload_bytes *= work.packet_bytes / (work.packet_bytes - HEADERS)
    attempts = late.attempts - early.attempts
    if work.rts or work.shape == "chain":
        unanswered = (late.failures - early.failures) / attempts
    else:
        unanswered = 1 - (late.answers - early.answers) / attempts
    return Measured(8 * payload_bytes / work.seconds, unanswered)


def timed(work: Work) -> tuple[float, float]:
    """CPU seconds, and the payload delivered in bytes, including the first second."""
    counts = _run(work, work.seconds + 1, seed=1)
    return counts.cpu_s, counts.payload_bytes


def _run(work: Work, seconds: float, seed: int) -> _Counts:
    changes = (*overrides(work), ("duration", f'"{seconds:g} s"'))
    run = backlane.run(SCENARIO, overrides=changes, seed=seed)
    radios = run.table("wifi")
    receiver = radios.filter(radios["node"] == _receiver(work))
    return _Counts(
        payload_bytes=_sum(run.table("flows"), "delivered_bytes"),
        attempts=_sum(radios, "attempts"),
        failures=_sum(radios, "failures"),
        answers=_sum(receiver, "frames_sent"),
        cpu_s=float(run.table("runs")["cpu_s"][0]),
    )


def _sum(table: pl.DataFrame, column: str) -> float:
    return float(table[column].sum())


def _receiver(work: Work) -> str:
    return {"star": "n0", "hidden": "n1", "chain": f"n{work.stations}"}[work.shape]


def _places(work: Work) -> list[tuple[float, float]]:
    if work.shape == "star":
        angles = [2 * math.pi * index / work.stations for index in range(1, work.stations + 1)]
        circle = [(work.spacing_m * math.cos(a), work.spacing_m * math.sin(a)) for a in angles]
        return [(0.0, 0.0), *circle]
    count = 3 if work.shape == "hidden" else work.stations + 1
    return [(work.spacing_m * index, 0.0) for index in range(count)]


def overrides(work: Work) -> list[tuple[str, str]]:
    """The values that replace those of `SCENARIO`."""
    places = _places(work)
    nodes = [
        f'{{ id = "n{index}", kind = "router", x = "{x:.3f} m", y = "{y:.3f} m" }}'
        for index, (x, y) in enumerate(places)
    ]
    if work.shape == "star":
        pairs = [(index, 0) for index in range(1, len(places))]
        flows = pairs
    else:
        pairs = [(index, index + 1) for index in range(len(places) - 1)]
        flows = [(0, 1), (2, 1)] if work.shape == "hidden" else [(0, work.stations)]
    links = [f'{{ a = "n{a}", b = "n{b}", medium = "wifi" }}' for a, b in pairs]
    fading = f'{{ model = "nakagami", m = {work.fading:g} }}' if work.fading else '"none"'
    reception = f'{{ model = "error-rate", sensitivity = "{work.sensitivity_dbm:g} dBm" }}'
    return [
        ("topology.node", f"[{', '.join(nodes)}]"),
        ("topology.link", f"[{', '.join(links)}]"),
        ("wifi.standard", f'"802.11{work.standard}"'),
        ("wifi.rate", f'"{work.rate:g} Mbit/s"'),
        ("wifi.rts_threshold", '"0 B"' if work.rts else '"off"'),
        # ns-3 counts the failures of an RTS separately from the counter of its retry limit.
        ("wifi.short_retry", "255" if work.rts else "7"),
        ("wifi.fading", fading),
        ("wifi.reception", reception),
        ("wifi.carrier_sense", f'"{work.carrier_sense_dbm:g} dBm"'),
        ("flow", f"[{', '.join(_flow(work, a, b) for a, b in flows)}]"),
    ]


def _flow(work: Work, begin: int, end: int) -> str:
    ends = f'from = "n{begin}", to = "n{end}"'
    if work.transport == "tcp":
        return f'{{ kind = "transfer", {ends}, size = "endless", start = "100 ms" }}'
    payload_bytes = work.packet_bytes - HEADERS
    rate = work.offered_bps * payload_bytes / work.packet_bytes
    start = "100 ms" if work.shape == "chain" else "uniform 0 s 10 ms"
    return (
        f'{{ kind = "udp", {ends}, rate = "{rate:.0f} bit/s", '
        f'packet_size = "{payload_bytes} B", start = "{start}" }}'
    )
