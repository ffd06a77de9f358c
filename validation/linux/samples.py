"""Samples of one flow, recorded from Linux or taken from a run, at the same instants."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

import backlane

if TYPE_CHECKING:
    from backlane.results import Results

HERE = Path(__file__).parent
SCENARIO = HERE / "clean.toml"
TRACES = HERE / "traces"

#: The part of the run that the figures of a steady flow are taken over.
STEADY_FROM_S = 10.0
END_S = 60.0

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Variant:
    """A congestion control as it was recorded.

    Attributes:
        name: of the trace and the figure.
        title: for readers.
        overrides: what it changes in the scenario.
    """

    name: str
    title: str
    overrides: tuple[tuple[str, str], ...]


VARIANTS = (
    Variant("reno", "Reno", (("tcp.congestion_control", "reno"),)),
    Variant("cubic", "CUBIC", (("tcp.congestion_control", "cubic"),)),
    Variant(
        "cubic_nohystart",
        "CUBIC without HyStart",
        (("tcp.congestion_control", "cubic"), ("tcp.cubic.hystart", "off")),
    ),
    Variant("vegas", "Vegas", (("tcp.congestion_control", "vegas"),)),
)


@dataclass(frozen=True)
class Samples:
    """What is known of one flow.

    Attributes:
        time_s: the instants: every 10 ms until 1 s, then every 100 ms, from 0.05 s to 60 s.
        cwnd_pkts: congestion window at each.
        srtt_s: smoothed round-trip time at each.
        goodput_bps: bytes acknowledged (Linux) or delivered in order (run) from 10 s to 60 s.
        retransmits: segments sent again in 60 s.
    """

    time_s: Floats
    cwnd_pkts: Floats
    srtt_s: Floats
    goodput_bps: float
    retransmits: int


def recorded(variant: Variant) -> Samples:
    """The trace of the Linux kernel.

    Raises:
        OSError: when the trace is missing.
    """
    with (TRACES / f"{variant.name}_clean.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def column(name: str) -> Floats:
        return np.array([float(row[name]) for row in rows])

    time_s, acked_bytes = column("t"), column("bytes_acked")
    start = int(np.searchsorted(time_s, STEADY_FROM_S - 1e-6))
    steady_s = time_s[-1] - time_s[start]
    return Samples(
        time_s=time_s,
        cwnd_pkts=column("cwnd"),
        srtt_s=column("srtt_us") / 1e6,
        goodput_bps=float((acked_bytes[-1] - acked_bytes[start]) * 8 / steady_s),
        retransmits=int(column("total_retrans")[-1]),
    )


def simulated(variant: Variant, time_s: Floats) -> Samples:
    """Runs of the scenario, sampled at `time_s`, multiples of 10 ms.

    The series tells no bytes, so that goodput is a run of 60 s less a run of 10 s; and it ends
    before the last instant of a run, so that the samples are those of a longer run.

    Raises:
        ValueError: when the run has no sample at one of the instants.
    """
    head, flow = _run(variant, STEADY_FROM_S).flows, _run(variant, END_S).flows
    delivered_bytes = flow["delivered_bytes"][0] - head["delivered_bytes"][0]
    series = _run(variant, END_S + 0.01).table("series/cwnd")
    at_ms = np.rint(series["time_s"].to_numpy() * 1e3).astype(np.int64)
    wanted_ms = np.rint(time_s * 1e3).astype(np.int64)
    places = np.searchsorted(at_ms, wanted_ms)
    if places.max() >= at_ms.size or not np.array_equal(at_ms[places], wanted_ms):
        raise ValueError(f"{variant.name}: the run was not sampled at every instant of the trace")
    return Samples(
        time_s=time_s,
        cwnd_pkts=series["cwnd_pkts"].to_numpy()[places].astype(np.float64),
        srtt_s=series["srtt_s"].to_numpy()[places].astype(np.float64),
        goodput_bps=float(delivered_bytes * 8 / (END_S - STEADY_FROM_S)),
        retransmits=int(flow["retransmits"][0]),
    )


def _run(variant: Variant, duration_s: float) -> Results:
    duration = ("duration", f"{duration_s:g} s")
    return backlane.run(SCENARIO, overrides=(*variant.overrides, duration))
