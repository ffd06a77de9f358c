"""Differences between runs and LENA's, and the criteria of agreement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from validation.ns3.truth import Floats, Stream

#: A stream agrees with LENA if its goodput differs by no more than this part, and its mean MCS by
#: no more than this many steps.
GOODPUT = 0.10
MCS = 1.0

#: Begin of the interval for a transfer's means.
STEADY_FROM_S = 10.0


@dataclass(frozen=True)
class Pair:
    """One stream in both.

    Attributes:
        lena: ns-3's.
        ours: of this simulator.
    """

    lena: Stream
    ours: Stream

    @property
    def name(self) -> str:
        """Scheduler and distance."""
        return f"{self.lena.scheduler} {self.lena.distance_m:g} m"

    @property
    def goodput(self) -> float:
        """Difference of the goodput as part of LENA's."""
        return self.ours.goodput_bps / self.lena.goodput_bps - 1

    @property
    def mcs(self) -> float:
        """Difference of the mean MCS."""
        return self.ours.mcs_mean - self.lena.mcs_mean

    @property
    def holds(self) -> bool:
        """Whether both differences are small enough."""
        return abs(self.goodput) <= GOODPUT and abs(self.mcs) <= MCS


def pairs(lena: Sequence[Stream], ours: Sequence[Stream]) -> list[Pair]:
    """Streams of the same scheduler and distance, where the link is up in ns-3.

    Raises:
        ValueError: when the two lists are not of the same streams.
    """
    places = [[(stream.scheduler, stream.distance_m) for stream in side] for side in (lena, ours)]
    if places[0] != places[1]:
        raise ValueError("the runs are not those of the record")
    both = (Pair(*sides) for sides in zip(lena, ours, strict=True))
    return [pair for pair in both if pair.lena.goodput_bps > 0]


def step_db(lena_m: float, ours_m: float) -> float:
    """The SINR thresholds of MCS relative to LENA's: 26 dB for ten times the distance."""
    return 26 * math.log10(lena_m / ours_m)


@dataclass(frozen=True)
class Summary:
    """A transfer in numbers, from `STEADY_FROM_S` on.

    Attributes:
        goodput_bps: delivered in order.
        cwnd_mean_bytes: the window.
        queue_mean_bytes: the backlog of RLC.
        queue_max_bytes: the longest queue of all samples, from the first on.
        drops: at RLC, from the first on.
        retransmits: retransmitted segments, from the first on.
    """

    goodput_bps: float
    cwnd_mean_bytes: float
    queue_mean_bytes: float
    queue_max_bytes: float
    drops: float
    retransmits: float


def summary(samples: Mapping[str, Floats]) -> Summary:
    """The numbers of one transfer's samples."""
    time_s = samples["time_s"]
    steady = time_s >= STEADY_FROM_S - 1e-9
    delivered = samples["delivered_bytes"][steady]
    span_s = time_s[steady][-1] - time_s[steady][0]
    return Summary(
        goodput_bps=8 * float(delivered[-1] - delivered[0]) / float(span_s),
        cwnd_mean_bytes=float(np.mean(samples["cwnd_bytes"][steady])),
        queue_mean_bytes=float(np.mean(samples["queue_bytes"][steady])),
        queue_max_bytes=float(np.max(samples["queue_bytes"])),
        drops=float(samples["drops"][-1]),
        retransmits=float(samples["retransmits"][-1]),
    )
