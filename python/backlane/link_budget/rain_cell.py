"""A synthetic cell of rain that moves over the map.

The cell is round, and its rain rate falls exponentially from the middle: R(ρ) = R_M e^{-ρ/ρ0}, the
form of EXCELL (Capsoni et al., "Data and theory for a new model of the horizontal structure of rain
cells for propagation applications", Radio Science 22(3), 1987). Measured cells have this form on
average (von Hardenberg et al., Geophysical Research Letters 30(24), 2003). Without a radius from
the user ρ0 is EXCELL's mean radius for the peak. The cell keeps its form and moves in a straight
line at a constant speed; growth, decay and rain between cells are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

LEAST_PEAK_MM_H = 6.0
"""Below this peak the mean radius of EXCELL grows without bound: the user gives one."""
_PARTS_OF_RADIUS = 20
"""A path is divided into parts of this share of the radius, at which k R^α is exact to 0.1 %."""
_MOST_PARTS = 5000


def mean_radius_km(peak_mm_h: float) -> float:
    """The mean radius of cells with a peak: 1.7 [(R_M/6)^-10 + (R_M/6)^-0.26] (EXCELL).

    Raises:
        BacklaneError: R047 for a peak below `LEAST_PEAK_MM_H`.
    """
    if not peak_mm_h >= LEAST_PEAK_MM_H:
        raise BacklaneError(
            "R047",
            f"cells with a peak of {peak_mm_h:g} mm/h have no mean radius",
            None,
            f"give a radius, or a peak of {LEAST_PEAK_MM_H:g} mm/h and more",
        )
    ratio = peak_mm_h / 6
    return float(1.7 * (ratio**-10 + ratio**-0.26))


@dataclass(frozen=True)
class RainCell:
    """A cell of rain.

    Attributes:
        peak_mm_h: the rain rate in the middle, R_M.
        x_m: of the middle at time 0, to the east.
        y_m: of the middle at time 0, to the north.
        speed_m_s: of the middle; EXCELL's authors and radar studies see 6 to 12 m/s.
        heading_deg: where it moves, clockwise from north.
        radius_m: ρ0; None for the mean radius of cells with this peak.
    """

    peak_mm_h: float
    x_m: float
    y_m: float
    speed_m_s: float
    heading_deg: float
    radius_m: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no cell.

        Raises:
            BacklaneError: R047.
        """
        numbers = (self.peak_mm_h, self.x_m, self.y_m, self.speed_m_s, self.heading_deg)
        if not all(map(math.isfinite, numbers)) or self.peak_mm_h < 0 or self.speed_m_s < 0:
            raise BacklaneError("R047", "a cell of rain with a value that is none", None, "fix it")
        if self.radius_m is not None and not 0 < self.radius_m < math.inf:
            raise BacklaneError("R047", "a cell of rain without a radius", None, "give metres")

    @property
    def e_folding_m(self) -> float:
        """The radius ρ0."""
        if self.radius_m is not None:
            return self.radius_m
        return mean_radius_km(self.peak_mm_h) * 1000

    def rain_rate_mm_h(self, x_m: ArrayLike, y_m: ArrayLike, time_s: ArrayLike) -> NDArray[float64]:
        """The rain rate at places and times, which are broadcast against each other."""
        import numpy as np

        heading = math.radians(self.heading_deg)
        moved = self.speed_m_s * np.asarray(time_s, dtype=float)
        east = np.asarray(x_m, dtype=float) - self.x_m - moved * math.sin(heading)
        north = np.asarray(y_m, dtype=float) - self.y_m - moved * math.cos(heading)
        found: NDArray[float64] = self.peak_mm_h * np.exp(-np.hypot(east, north) / self.e_folding_m)
        return found

    def along(
        self, time_s: ArrayLike, a_m: tuple[float, float], b_m: tuple[float, float]
    ) -> NDArray[float64]:
        """The rain rate in equal parts of a path, a row for each time.

        Args:
            time_s: times.
            a_m: one end, east and north.
            b_m: the other end.
        """
        import numpy as np

        length = math.hypot(b_m[0] - a_m[0], b_m[1] - a_m[1])
        parts = math.ceil(length / self.e_folding_m * _PARTS_OF_RADIUS)
        parts = min(max(parts, 1), _MOST_PARTS)
        middle = (np.arange(parts) + 0.5) / parts
        x = a_m[0] + middle * (b_m[0] - a_m[0])
        y = a_m[1] + middle * (b_m[1] - a_m[1])
        times = np.asarray(time_s, dtype=float).reshape(-1, 1)
        return self.rain_rate_mm_h(x, y, times)
