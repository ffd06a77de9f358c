"""The largest differences between run and trace: the criteria, and the recorded ones.

The criteria define when a congestion control counts as that of Linux. Runs that are closer must
stay so: `details.csv` keeps the differences of the last full comparison, and a check fails if a
difference has grown by more than a small tolerance since.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.linux.samples import PATHS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from validation.linux.measures import Comparison, Summary
    from validation.linux.samples import Algorithm


@dataclass(frozen=True)
class Bound:
    """A largest difference.

    Attributes:
        relative: as part of Linux's value.
        absolute: in the unit of the measure; the wider of the two holds.
        factor: the run may be larger or smaller by this factor.
    """

    relative: float = 0.0
    absolute: float = 0.0
    factor: float = 1.0

    def holds(self, linux: float, ours: float) -> bool:
        """Whether the run is within the bound."""
        if abs(ours - linux) <= max(self.relative * abs(linux), self.absolute):
            return True
        return self.factor > 1 and linux / self.factor <= ours <= linux * self.factor

    def __str__(self) -> str:
        if self.factor > 1:
            return f"factor {self.factor:g}"
        return f"{100 * self.relative:g} %" if self.relative else f"± {self.absolute:g}"


@dataclass(frozen=True)
class Measure:
    """A number that is compared.

    Attributes:
        key: its name in `details.csv`, with its unit.
        title: for readers.
        unit: the unit, if it has one.
        value: reads it from a summary, in that unit.
        digits: after the point.
        allowance: how much further from Linux than before a check accepts, as part of Linux's
            value; `LOOSER` times as much where one packet changes the whole run.
        step: the smallest allowance, in the unit.
    """

    key: str
    title: str
    unit: str
    value: Callable[[Summary], float]
    digits: int
    allowance: float = 0.0
    step: float = 0.0

    @property
    def relative(self) -> bool:
        """Whether its differences are relative to Linux's value."""
        return self.allowance > 0

    @property
    def heading(self) -> str:
        """The title with the unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


LOOSER = 20
#: For counts that must not move, or only by one where one packet changes the whole run.
EXACT = 1 / LOOSER
#: The rounding of a number with seven digits.
WRITTEN = 1e-4

MEASURES = (
    Measure("goodput_mbps", "goodput", "Mbit/s", lambda s: s.goodput_bps / 1e6, 3, 1e-4),
    Measure("cwnd_mean_pkts", "mean window", "packets", lambda s: s.cwnd_mean_pkts, 1, 5e-4),
    Measure("srtt_mean_ms", "mean smoothed RTT", "ms", lambda s: s.srtt_mean_s * 1e3, 2, 1e-3),
    Measure("episodes", "loss episodes", "", lambda s: s.episodes, 0, 0.0, EXACT),
    Measure("peak_cwnd_pkts", "slow start's peak", "packets", lambda s: s.peak_cwnd_pkts, 0, 1e-3),
    Measure(
        "reordering_pkts", "reordering learned", "packets", lambda s: s.reordering_pkts, 0, 0.01
    ),
    Measure("cwnd_min_pkts", "smallest window", "packets", lambda s: s.cwnd_min_pkts, 0, 0.0, 1),
    Measure("cwnd_max_pkts", "largest window", "packets", lambda s: s.cwnd_max_pkts, 0, 0.0, 1),
    Measure("cuts", "window cuts", "", lambda s: s.cuts, 0, 0.0, EXACT),
    Measure("retransmits", "retransmissions", "", lambda s: s.retransmits, 0, 0.01, 2),
    Measure("duplicates", "duplicates reported", "", lambda s: s.duplicates, 0, 0.0, 2),
)

#: What must hold on a path without reordering, by measure.
ONE_PATH: Mapping[str, Bound] = {
    "goodput_mbps": Bound(relative=0.01),
    "cwnd_mean_pkts": Bound(relative=0.03),
    "srtt_mean_ms": Bound(relative=0.03),
    "episodes": Bound(absolute=1),
    "peak_cwnd_pkts": Bound(relative=0.10),
}

#: What must hold, by path and measure.
CRITERIA: Mapping[str, Mapping[str, Bound]] = {
    "clean": ONE_PATH,
    "r20_rtt100_bdp1": ONE_PATH,
    "r100_rtt20_bdp05": ONE_PATH,
    "paths3": {
        "goodput_mbps": Bound(relative=0.10),
        "reordering_pkts": Bound(factor=2),
    },
}

#: Replaces narrower criteria for controls with random numbers.
DRAWN = Bound(relative=0.05)

#: The peak of slow start where it has modes: the mode that Linux's peak is in has at least this
#: share of the runs. Less would make the trace a rare event of the model.
LEAST_SHARE = 0.05

PEAK = "peak_cwnd_pkts"


def criterion(algorithm: Algorithm, path: str, measure: Measure) -> Bound | None:
    """The criterion of a measure, if any."""
    bound = CRITERIA[path].get(measure.key)
    if bound and algorithm.draws and 0 < bound.relative < DRAWN.relative:
        return DRAWN
    return bound


def holds(measure: Measure, bound: Bound, comparison: Comparison) -> bool:
    """Whether a criterion holds; for a peak with modes, in one that is not rare."""
    linux = measure.value(comparison.linux)
    if measure.key == PEAK and comparison.modes:
        return any(
            mode.share >= LEAST_SHARE
            and (
                mode.least_pkts <= linux <= mode.most_pkts
                or bound.holds(linux, mode.least_pkts)
                or bound.holds(linux, mode.most_pkts)
            )
            for mode in comparison.modes
        )
    return bound.holds(linux, measure.value(comparison.ours))


def missed(algorithm: Algorithm, path: str, comparison: Comparison) -> list[str]:
    """The titles of the measures whose criterion does not hold."""
    return [
        measure.title
        for measure in MEASURES
        if (bound := criterion(algorithm, path, measure)) and not holds(measure, bound, comparison)
    ]


#: The measure that is the mean absolute difference of the steady window, as part of its mean,
#: and how much it may grow.
DIFFERENCE = "window_difference"
DIFFERENCE_ALLOWANCE = 0.001

#: Path, algorithm and measure.
Place = tuple[str, str, str]


def reached(details: Path) -> dict[Place, float]:
    """The absolute differences of the last full comparison; shares of modes have none.

    Raises:
        OSError: when `details` cannot be read.
    """
    with details.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        (row["path"], row["algorithm"], row["measure"]): abs(
            float(row["ours"]) - float(row["linux"])
        )
        for row in rows
        if row["linux"]
    }


def lost(
    algorithm: Algorithm, path: str, comparison: Comparison, before: Mapping[Place, float]
) -> Iterator[str]:
    """The measures that deviate further from Linux than in `before`."""
    is_steady = not (algorithm.draws or PATHS[path].sensitive)
    once = before.get((path, algorithm.name, DIFFERENCE))
    if is_steady and once is not None and comparison.difference > once + DIFFERENCE_ALLOWANCE:
        yield f"the window differs by {100 * comparison.difference:.3f} %, not {100 * once:.3f} %"
    looser = 1.0 if is_steady else LOOSER
    for measure in MEASURES:
        linux, ours = measure.value(comparison.linux), measure.value(comparison.ours)
        once = before.get((path, algorithm.name, measure.key))
        if measure.key == PEAK and comparison.modes:
            bound = criterion(algorithm, path, measure)
            if bound and not holds(measure, bound, comparison):
                yield f"{measure.title} of {linux:.0f} is in no mode that is not rare"
            continue
        if once is None:
            continue
        allowance = looser * max(measure.allowance * abs(linux), measure.step)
        if abs(ours - linux) > once + allowance + WRITTEN:
            yield f"{measure.title} is {ours:.{measure.digits}f} for {linux:.{measure.digits}f}"
