"""Specific attenuation by rain, γ = k R^α (ITU-R P.838-3, equations 1 to 5, tables 1 to 4).

k and α are smooth functions of the frequency from 1 to 1000 GHz, for horizontal and vertical
polarization; equations 4 and 5 combine them for any tilt of the polarization and any elevation of
the path.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from backlane.link_budget import data_files

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import ArrayLike, NDArray

TILT_DEG = {"H": 0.0, "V": 90.0, "C": 45.0}
"""Tilt of the polarization: horizontal, vertical, circular (P.838-3, after equation 5)."""


@cache
def _table(name: str) -> tuple[tuple[tuple[float, float, float], ...], float, float]:
    """The terms (a, b, c) of a coefficient, then m and q."""
    terms = []
    slope = constant = 0.0
    for row in data_files.rows("rain_p838_3.csv"):
        if row["name"] != name:
            continue
        if row["j"] == "mq":
            slope, constant = float(row["a"]), float(row["b"])
        else:
            terms.append((float(row["a"]), float(row["b"]), float(row["c"])))
    return tuple(terms), slope, constant


def _value(name: str, frequency_ghz: float) -> float:
    terms, slope, constant = _table(name)
    x = math.log10(frequency_ghz)
    return sum(a * math.exp(-(((x - b) / c) ** 2)) for a, b, c in terms) + slope * x + constant


def coefficients(
    frequency_ghz: float, tilt_deg: float, elevation_deg: float = 0.0
) -> tuple[float, float]:
    """The coefficients k and α.

    Args:
        frequency_ghz: from 1 to 1000.
        tilt_deg: of the polarization against the horizontal, `TILT_DEG`.
        elevation_deg: of the path.

    Raises:
        ValueError: for a frequency beyond the range of the tables.
    """
    if not 1 <= frequency_ghz <= 1000:
        raise ValueError(f"ITU-R P.838-3 covers 1 to 1000 GHz, not {frequency_ghz:g} GHz")
    k_h, k_v = (10 ** _value(name, frequency_ghz) for name in ("k_H", "k_V"))
    a_h, a_v = (_value(name, frequency_ghz) for name in ("alpha_H", "alpha_V"))
    mix = math.cos(math.radians(elevation_deg)) ** 2 * math.cos(2 * math.radians(tilt_deg))
    k = (k_h + k_v + (k_h - k_v) * mix) / 2
    return k, (k_h * a_h + k_v * a_v + (k_h * a_h - k_v * a_v) * mix) / (2 * k)


def specific_attenuation_db_km(
    rain_rate_mm_h: ArrayLike, frequency_ghz: float, tilt_deg: float, elevation_deg: float = 0.0
) -> NDArray[float64]:
    """The attenuation by each kilometre of uniform rain, for each rain rate."""
    import numpy as np

    k, alpha = coefficients(frequency_ghz, tilt_deg, elevation_deg)
    found: NDArray[float64] = k * np.asarray(rain_rate_mm_h, dtype=float) ** alpha
    return found
