"""The numbers that two sets of samples are compared by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from validation.linux.samples import STEADY_FROM_S, Floats, Samples

#: A window this far below its last peak has been cut (Reno cuts to 0.5, CUBIC to 0.7).
CUT = 0.85
#: The end of what counts as slow start's peak.
PEAK_UNTIL_S = 2.0
#: Half a sampling step, for comparisons of instants.
EPSILON_S = 0.005


@dataclass(frozen=True)
class Summary:
    """One flow in numbers; windows in packets, "steady" from 10 s to 60 s.

    Attributes:
        goodput_bps: steady goodput.
        cwnd_mean_pkts: mean of the steady samples.
        cwnd_min_pkts: least of them.
        cwnd_max_pkts: largest of them.
        srtt_mean_s: mean smoothed round-trip time of the steady samples.
        retransmits: segments sent again in the whole run.
        peak_cwnd_pkts: largest window sampled in the first two seconds.
        cuts: how often the steady window was cut.
    """

    goodput_bps: float
    cwnd_mean_pkts: float
    cwnd_min_pkts: float
    cwnd_max_pkts: float
    srtt_mean_s: float
    retransmits: int
    peak_cwnd_pkts: float
    cuts: int


@dataclass(frozen=True)
class Comparison:
    """A run beside the trace.

    Attributes:
        linux: the trace in numbers.
        ours: the run in numbers.
        difference: mean absolute difference of the steady window, as part of its mean.
        equal: part of all samples, from 0.05 s on, whose window is the same packet for packet.
    """

    linux: Summary
    ours: Summary
    difference: float
    equal: float


def count_cuts(cwnd_pkts: Floats) -> int:
    """How often the window fell below `CUT` of its highest value since it last began to grow."""
    cuts, falling, mark_pkts = 0, False, 0.0
    for cwnd in cwnd_pkts:
        if falling:
            falling = cwnd <= mark_pkts
            mark_pkts = cwnd
        elif cwnd < CUT * mark_pkts:
            cuts += 1
            falling, mark_pkts = True, cwnd
        else:
            mark_pkts = max(mark_pkts, cwnd)
    return cuts


def steady(samples: Samples) -> slice:
    """The samples from 10 s on."""
    return slice(int(np.searchsorted(samples.time_s, STEADY_FROM_S - EPSILON_S)), None)


def summary(samples: Samples) -> Summary:
    """The numbers of one flow."""
    part = steady(samples)
    cwnd_pkts = samples.cwnd_pkts[part]
    early = samples.time_s < PEAK_UNTIL_S + EPSILON_S
    return Summary(
        goodput_bps=samples.goodput_bps,
        cwnd_mean_pkts=float(cwnd_pkts.mean()),
        cwnd_min_pkts=float(cwnd_pkts.min()),
        cwnd_max_pkts=float(cwnd_pkts.max()),
        srtt_mean_s=float(samples.srtt_s[part].mean()),
        retransmits=samples.retransmits,
        peak_cwnd_pkts=float(samples.cwnd_pkts[early].max()),
        cuts=count_cuts(cwnd_pkts),
    )


def compare(linux: Samples, ours: Samples) -> Comparison:
    """Both in numbers, and how far their windows lie apart."""
    apart_pkts = np.abs(ours.cwnd_pkts - linux.cwnd_pkts)
    part = steady(linux)
    return Comparison(
        linux=summary(linux),
        ours=summary(ours),
        difference=float(apart_pkts[part].mean() / linux.cwnd_pkts[part].mean()),
        equal=float((apart_pkts == 0).mean()),
    )
