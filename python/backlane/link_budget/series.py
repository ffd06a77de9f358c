"""The rate of a link over time, from recorded levels or from rain rates.

A value holds until the next one. The radio follows the levels as `Ladder.follow` states: it leaves
a step below one level and enters it above a higher one, and may change several steps between two
values. Both its reaction, some 10 ms, and lost frames of a change are left out. A level that is not
a number is a gap: the rate there is not known, and the radio is in its former step afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.link_budget.rain import TILT_DEG, specific_attenuation_db_km

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import ArrayLike, NDArray

    from backlane.link_budget.budget import Budget
    from backlane.link_budget.radios import Ladder

DOWN = -1
"""The step of a link below its slowest modulation."""


@dataclass(frozen=True)
class RateSeries:
    """Rates over time; each value holds until the next time.

    Attributes:
        time_s: increasing.
        level_dbm: received; NaN in a gap.
        step: of the ladder; `DOWN` below it. In a gap that before it.
        rate_bps: 0 while the link is down; NaN in a gap.
    """

    time_s: NDArray[float64]
    level_dbm: NDArray[float64]
    step: NDArray[int64]
    rate_bps: NDArray[float64]

    @property
    def mean_bps(self) -> float:
        """The mean over the time in which the rate is known; NaN without any.

        The last value has no end and counts for nothing.
        """
        import numpy as np

        spans, rates = np.diff(self.time_s), self.rate_bps[:-1]
        there = ~np.isnan(rates)
        total = float(spans[there].sum())
        return float((spans[there] * rates[there]).sum() / total) if total else float("nan")

    @property
    def shares(self) -> dict[int, float]:
        """The share of the known time in each step, `DOWN` among them, as `mean_bps` counts it."""
        import numpy as np

        spans, steps = np.diff(self.time_s), self.step[:-1]
        there = ~np.isnan(self.rate_bps[:-1])
        total = float(spans[there].sum())
        return {
            int(step): float(spans[there & (steps == step)].sum()) / total
            for step in np.unique(steps[there])
        }

    @property
    def known_share(self) -> float:
        """The share of the time in which the rate is known; 0 for a single value."""
        import numpy as np

        spans = np.diff(self.time_s)
        there = ~np.isnan(self.rate_bps[:-1])
        return float(spans[there].sum() / spans.sum()) if spans.size else 0.0

    def trace(self) -> str:
        """The rates as a trace of capacity that `[access] kind = "trace"` reads, from time 0.

        Raises:
            BacklaneError: R047 when the series has gaps.
        """
        import numpy as np

        if np.isnan(self.rate_bps).any():
            gaps = int(np.isnan(self.rate_bps).sum())
            raise _unusable(f"{gaps} of {self.rate_bps.size} rates are not known")
        rows = zip(self.time_s - self.time_s[0], self.rate_bps, strict=True)
        return "time_s,rate_bps\n" + "".join(f"{time:.6f},{rate:.0f}\n" for time, rate in rows)


def rate_from_levels(
    time_s: ArrayLike, level_dbm: ArrayLike, rungs: Ladder, power_dbm: float | None = None
) -> RateSeries:
    """The rate for recorded levels.

    Args:
        time_s: finite and increasing.
        level_dbm: received with the full transmit power; NaN for a missing value.
        rungs: the steps of the radio.
        power_dbm: the full transmit power, which some steps may not allow.

    Raises:
        BacklaneError: R047 for times or levels that cannot be used.
    """
    import numpy as np

    times, levels = _times(time_s), np.asarray(level_dbm, dtype=float)
    if levels.shape != times.shape:
        raise _unusable(f"{levels.size} levels for {times.size} times")
    if np.isinf(levels).any():
        raise _unusable("a level is infinite")
    steps = np.empty(times.size, dtype=np.int64)
    rates = np.empty(times.size)
    at: int | None = None
    for index, level in enumerate(levels):
        gap = bool(np.isnan(level))
        if not gap:
            at = rungs.follow(float(level), at, power_dbm)
        steps[index] = DOWN if at is None else at
        known = 0.0 if at is None else rungs.steps[at].rate_bps
        rates[index] = np.nan if gap else known
    return RateSeries(times, levels, steps, rates)


def rate_from_rain(
    time_s: ArrayLike, rain_rate_mm_h: ArrayLike, budget: Budget, end: int = 0
) -> RateSeries:
    """The rate while it rains: the clear-air level less the rain along the path.

    The attenuation is the mean of k R^α over the path times its length. One rain rate for each time
    stands for the whole path, which overstates the attenuation of links longer than a cell of rain.

    Args:
        time_s: finite and increasing.
        rain_rate_mm_h: for each time, or for each time and each of equal parts of the path
            (`RainCell.along`); NaN for a missing value.
        budget: of the link.
        end: 0 for the direction from `a` to `b`, 1 for the other.

    Raises:
        BacklaneError: R047 for times or rain rates that cannot be used.
    """
    import numpy as np

    times, rain = _times(time_s), np.asarray(rain_rate_mm_h, dtype=float)
    if rain.ndim not in (1, 2) or rain.shape[0] != times.size or not rain.size:
        raise _unusable(f"rain rates of the shape {rain.shape} for {times.size} times")
    if np.isinf(rain).any() or (rain < 0).any():
        raise _unusable("a rain rate is negative or infinite")
    direction, link = budget.directions[end], budget.link
    each = specific_attenuation_db_km(rain, direction.frequency_ghz, TILT_DEG[link.polarization])
    lost = (each.mean(axis=1) if each.ndim == 2 else each) * link.length_km
    power = link.powers_dbm[end]
    return rate_from_levels(times, direction.level_dbm - lost, budget.ladder, power)


def _times(time_s: ArrayLike) -> NDArray[float64]:
    import numpy as np

    times = np.asarray(time_s, dtype=float)
    if times.ndim != 1 or not times.size:
        raise _unusable("no times")
    if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise _unusable("times that do not increase")
    return times


def _unusable(message: str) -> BacklaneError:
    return BacklaneError("R047", message, None, "correct the series")
