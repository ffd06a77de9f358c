"""The numbers that two sets of samples are compared by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from validation.linux.samples import EPSILON_S, STEADY_FROM_S, Floats, Samples

#: A window this far below its last peak has been reduced (Scalable to 0.875, Reno to 0.5).
CUT = 0.9
#: The end of the interval for the peak of slow start.
PEAK_UNTIL_S = 2.0
#: Retransmissions with no more than this between them belong to one episode of loss.
EPISODE_GAP_S = 0.25


@dataclass(frozen=True)
class Summary:
    """One flow in numbers; windows in packets, "steady" from 10 s to 60 s.

    Attributes:
        goodput_bps: steady goodput.
        cwnd_mean_pkts: mean of the steady samples.
        cwnd_min_pkts: smallest of them.
        cwnd_max_pkts: largest of them.
        srtt_mean_s: mean smoothed round-trip time of the steady samples.
        episodes: bursts of retransmissions in the steady part.
        cuts: number of reductions of the steady window, for a loss or otherwise.
        peak_cwnd_pkts: largest window sampled in the first two seconds.
        retransmits: retransmitted segments in the whole run.
        duplicates: of these, reported by the receiver as needless.
        reordering_pkts: the reordering learned at the end.
    """

    goodput_bps: float
    cwnd_mean_pkts: float
    cwnd_min_pkts: float
    cwnd_max_pkts: float
    srtt_mean_s: float
    episodes: float
    cuts: float
    peak_cwnd_pkts: float
    retransmits: float
    duplicates: float
    reordering_pkts: float


@dataclass(frozen=True)
class Mode:
    """The runs that left slow start for one cause.

    Attributes:
        cause: "HyStart", or "a draw".
        share: part of all runs.
        least_pkts: smallest peak of slow start among them.
        most_pkts: largest.
    """

    cause: str
    share: float
    least_pkts: float
    most_pkts: float


@dataclass(frozen=True)
class Comparison:
    """A run compared with the trace.

    Attributes:
        linux: the trace in numbers.
        ours: the run in numbers; the mean of the runs where there are several.
        runs: every run in numbers.
        difference: mean absolute difference of the steady window of the first run, as part of
            the trace's mean.
        equal: part of all samples of the first run, from 0.05 s on, with exactly equal windows.
        within_one: part of all samples with windows that differ by a packet at most, in the mean
            of the runs.
        modes: of the peaks of slow start, for a control that has modes; else none.
    """

    linux: Summary
    ours: Summary
    runs: tuple[Summary, ...]
    difference: float
    equal: float
    within_one: float
    modes: tuple[Mode, ...] = ()


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


def count_episodes(time_s: Floats, retransmits: Floats) -> int:
    """The number of bursts of retransmissions, `EPISODE_GAP_S` apart."""
    sent_s = time_s[1:][np.diff(retransmits) > 0]
    return int(sent_s.size > 0) + int((np.diff(sent_s) > EPISODE_GAP_S).sum())


def steady(samples: Samples) -> slice:
    """The samples from 10 s on."""
    return slice(int(np.searchsorted(samples.time_s, STEADY_FROM_S - EPSILON_S)), None)


def summary(samples: Samples) -> Summary:
    """The numbers of one flow."""
    part = steady(samples)
    time_s, cwnd_pkts = samples.time_s[part], samples.cwnd_pkts[part]
    received_bytes = samples.received_bytes[part]
    early = samples.time_s < PEAK_UNTIL_S + EPSILON_S
    return Summary(
        goodput_bps=float(np.ptp(received_bytes) * 8 / np.ptp(time_s)),
        cwnd_mean_pkts=float(cwnd_pkts.mean()),
        cwnd_min_pkts=float(cwnd_pkts.min()),
        cwnd_max_pkts=float(cwnd_pkts.max()),
        srtt_mean_s=float(samples.srtt_s[part].mean()),
        episodes=count_episodes(time_s, samples.retransmits[part]),
        cuts=count_cuts(cwnd_pkts),
        peak_cwnd_pkts=float(samples.cwnd_pkts[early].max()),
        retransmits=float(samples.retransmits[-1]),
        duplicates=float(samples.duplicates[-1]),
        reordering_pkts=float(samples.reordering_pkts[-1]),
    )


def mean(summaries: tuple[Summary, ...]) -> Summary:
    """The mean of each number."""
    names = summaries[0].__dataclass_fields__
    return Summary(**{n: float(np.mean([getattr(s, n) for s in summaries])) for n in names})


#: What `slow_start_exit` calls the two detectors of HyStart.
BY_HYSTART = ("ack-train", "delay")


def modes(runs: list[Samples]) -> tuple[Mode, ...]:
    """The peaks of slow start by its cause of ending; a cause without runs has no mode."""
    peaks: dict[str, list[float]] = {"HyStart": [], "a draw": []}
    for run in runs:
        cause = "HyStart" if run.slow_start_exit in BY_HYSTART else "a draw"
        peaks[cause].append(summary(run).peak_cwnd_pkts)
    return tuple(
        Mode(cause, len(of) / len(runs), min(of), max(of)) for cause, of in peaks.items() if of
    )


def compare(linux: Samples, runs: list[Samples], *, has_modes: bool = False) -> Comparison:
    """Trace and runs in numbers, and the difference of the windows of the first run."""
    apart_pkts = np.abs(runs[0].cwnd_pkts - linux.cwnd_pkts)
    part = steady(linux)
    summaries = tuple(summary(run) for run in runs)
    return Comparison(
        linux=summary(linux),
        ours=mean(summaries),
        runs=summaries,
        difference=float(apart_pkts[part].mean() / linux.cwnd_pkts[part].mean()),
        equal=float((apart_pkts == 0).mean()),
        within_one=float(
            np.mean([(np.abs(run.cwnd_pkts - linux.cwnd_pkts) <= 1).mean() for run in runs])
        ),
        modes=modes(runs) if has_modes else (),
    )
