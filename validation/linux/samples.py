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
    from collections.abc import Iterable

HERE = Path(__file__).parent
TRACES = HERE / "traces"

#: The part of the run for the numbers of a steady flow.
STEADY_FROM_S = 10.0
END_S = 60.0
#: Half a sampling step, for comparisons of instants.
EPSILON_S = 0.005

#: Number of runs where one is not enough, and where shares of runs are compared.
RUNS = 10
RUNS_FOR_SHARES = 100

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RecordedPath:
    """A path on which Linux was recorded.

    Attributes:
        title: for figures.
        sensitive: the result depends on the phase of a clock that is not in the trace, so that
            the trace is one of many and runs start at several phases.
    """

    title: str
    sensitive: bool


#: The paths by the names of their scenarios and traces.
PATHS = {
    "clean": RecordedPath("one path, 50 Mbit/s, 40 ms, queue of 173 packets", sensitive=False),
    "r20_rtt100_bdp1": RecordedPath(
        "one path, 20 Mbit/s, 100 ms, queue of 167 packets", sensitive=False
    ),
    "r100_rtt20_bdp05": RecordedPath(
        "one path, 100 Mbit/s, 20 ms, queue of 83 packets", sensitive=False
    ),
    "paths3": RecordedPath(
        "three paths of 18, 20 and 22 ms in turn behind 50 Mbit/s and 173 packets", sensitive=True
    ),
}


@dataclass(frozen=True)
class Algorithm:
    """A congestion control as it was recorded.

    Attributes:
        name: of the traces.
        title: for readers.
        overrides: what it changes in the scenarios.
        draws: it uses random numbers, so that runs differ by seed, and the trace is one of many
            possible ones.
        has_modes: a draw may end slow start long before HyStart does, so that its peak has two
            modes, and a mean over runs is in neither.
    """

    name: str
    title: str
    overrides: tuple[tuple[str, str], ...]
    draws: bool = False
    has_modes: bool = False


def _named(name: str, title: str, *, draws: bool = False, has_modes: bool = False) -> Algorithm:
    overrides = (("tcp.congestion_control", name),)
    return Algorithm(name, title, overrides, draws, has_modes)


ALGORITHMS = (
    _named("reno", "Reno"),
    _named("cubic", "CUBIC"),
    Algorithm(
        "cubic_nohystart",
        "CUBIC without HyStart",
        (("tcp.congestion_control", "cubic"), ("tcp.cubic.hystart", "off")),
    ),
    _named("vegas", "Vegas"),
    _named("westwood", "Westwood+"),
    _named("highspeed", "HighSpeed"),
    _named("hybla", "Hybla"),
    _named("illinois", "Illinois"),
    _named("scalable", "Scalable"),
    _named("bbr", "BBR", draws=True),
    _named("cdg", "CDG", draws=True, has_modes=True),
)


@dataclass(frozen=True)
class Samples:
    """The state of one flow at each instant.

    Attributes:
        time_s: the instants: every 10 ms until 1 s, then every 100 ms, from 0.05 s to 60 s.
        cwnd_pkts: congestion window.
        srtt_s: smoothed round-trip time.
        reordering_pkts: the reordering learned.
        received_bytes: acknowledged (Linux) or delivered in order (run) so far.
        retransmits: segments retransmitted so far.
        duplicates: segments that the receiver reported as received twice so far (D-SACK).
        slow_start_exit: why a run left its first slow start, as in `flows.parquet`; not known of
            a trace.
    """

    time_s: Floats
    cwnd_pkts: Floats
    srtt_s: Floats
    reordering_pkts: Floats
    received_bytes: Floats
    retransmits: Floats
    duplicates: Floats
    slow_start_exit: str | None = None


def recorded(algorithm: Algorithm, path: str) -> Samples:
    """The trace of the Linux kernel.

    Raises:
        OSError: when the trace is missing.
    """
    trace = TRACES / f"{algorithm.name}_{path}.csv"
    with trace.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def column(name: str) -> Floats:
        return np.array([float(row[name]) for row in rows])

    return Samples(
        time_s=column("t"),
        cwnd_pkts=column("cwnd"),
        srtt_s=column("srtt_us") / 1e6,
        reordering_pkts=column("reordering"),
        received_bytes=column("bytes_acked"),
        retransmits=column("total_retrans"),
        duplicates=column("dsack"),
    )


def simulated(
    algorithm: Algorithm,
    path: str,
    time_s: Floats,
    seed: int = 1,
    changes: Iterable[tuple[str, str]] = (),
    end_s: float = END_S,
) -> Samples:
    """A run of the path's scenario with `changes`, sampled at `time_s`.

    The instants are multiples of 10 ms up to `end_s`.

    Raises:
        ValueError: when the run has no sample at one of the instants.
    """
    # The series of a run ends before its last instant.
    longer = (("duration", f"{end_s + 0.01:g} s"), ("seed", str(seed)))
    overrides = (*algorithm.overrides, *longer, *changes)
    results = backlane.run(HERE / f"{path}.toml", overrides=overrides)
    series = results.table("series/cwnd")
    at_ms = np.rint(series["time_s"].to_numpy() * 1e3).astype(np.int64)
    wanted_ms = np.rint(time_s * 1e3).astype(np.int64)
    places = np.searchsorted(at_ms, wanted_ms)
    if places.max() >= at_ms.size or not np.array_equal(at_ms[places], wanted_ms):
        raise ValueError(f"{algorithm.name}: the run was not sampled at every instant of the trace")

    def column(name: str) -> Floats:
        return series[name].to_numpy()[places].astype(np.float64)

    return Samples(
        time_s=time_s,
        cwnd_pkts=column("cwnd_pkts"),
        srtt_s=column("srtt_s"),
        reordering_pkts=column("reordering_pkts"),
        received_bytes=column("delivered_bytes"),
        retransmits=column("retransmits"),
        duplicates=column("spurious_retransmits"),
        slow_start_exit=results.table("flows")["slow_start_exit"][0],
    )


def runs(algorithm: Algorithm, path: str, time_s: Floats) -> list[Samples]:
    """The runs of an algorithm: one, or several with different seeds and starts.

    The starts divide a millisecond, the tick of the kernel's timestamps.
    """
    sensitive = PATHS[path].sensitive
    several = RUNS_FOR_SHARES if algorithm.has_modes else RUNS
    count = several if algorithm.draws or sensitive else 1
    starts_us = [1000 * run // count if sensitive else 0 for run in range(count)]
    return [
        simulated(algorithm, path, time_s, run + 1, [("flow.start", f"{start_us} us")])
        for run, start_us in enumerate(starts_us)
    ]
