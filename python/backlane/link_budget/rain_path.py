"""Attenuation by rain that a link exceeds for a share of the year (ITU-R P.530-17 §2.4.1).

The rain rate exceeded for 0.01 % of the year at one place stands for the climate. Equation 32 gives
the distance factor r, equation 33 the attenuation exceeded for 0.01 %, equations 34 and 35 that for
0.001 to 1 %. The recommendation states them for all parts of the world, up to 100 GHz and 60 km.

Of equation 35a, C0 = 0.12 + 0.4 [lg(f/10)^0.8], the power is taken of the logarithm. The other
reading, of f/10, differs by less than 0.5 % at 0.1 % and by up to 5 % at 1 % of the year.
"""

from __future__ import annotations

import math

from backlane.link_budget.rain import coefficients

MOST_FACTOR = 2.5
"""The bound of the distance factor (after equation 32)."""
SHARES_PERCENT = (0.001, 1.0)
"""The range of equation 34."""
MOST_LENGTH_KM = 60.0
"""The range of the method."""
MOST_FREQUENCY_GHZ = 100.0
"""The range of the method."""


def distance_factor(
    length_km: float, rain_rate_mm_h: float, frequency_ghz: float, tilt_deg: float
) -> float:
    """The effective over the actual length of the path (equation 32).

    Args:
        length_km: of the path.
        rain_rate_mm_h: exceeded for 0.01 % of the year.
        frequency_ghz: of the carrier.
        tilt_deg: of the polarization.
    """
    _, alpha = coefficients(frequency_ghz, tilt_deg)
    below = 0.477 * length_km**0.633 * rain_rate_mm_h ** (0.073 * alpha) * frequency_ghz**0.123
    below -= 10.579 * (1 - math.exp(-0.024 * length_km))
    # Below 1/2.5, also below zero, the bound holds.
    return MOST_FACTOR if below < 1 / MOST_FACTOR else float(1 / below)


def attenuation_001_db(
    length_km: float, rain_rate_mm_h: float, frequency_ghz: float, tilt_deg: float
) -> float:
    """The attenuation exceeded for 0.01 % of the year (equation 33)."""
    if rain_rate_mm_h == 0:
        return 0.0
    k, alpha = coefficients(frequency_ghz, tilt_deg)
    factor = distance_factor(length_km, rain_rate_mm_h, frequency_ghz, tilt_deg)
    return float(k * rain_rate_mm_h**alpha * length_km * factor)


def _constants(frequency_ghz: float) -> tuple[float, float, float]:
    """C1, C2 and C3 (equations 35a to 35d)."""
    c0 = 0.12
    if frequency_ghz >= 10:
        c0 += 0.4 * math.log10(frequency_ghz / 10) ** 0.8
    return (
        0.07**c0 * 0.12 ** (1 - c0),
        0.855 * c0 + 0.546 * (1 - c0),
        0.139 * c0 + 0.043 * (1 - c0),
    )


def attenuation_db(
    attenuation_at_001_db: float, share_percent: float, frequency_ghz: float
) -> float:
    """The attenuation exceeded for a share of the year (equation 34).

    Args:
        attenuation_at_001_db: exceeded for 0.01 % of the year.
        share_percent: from 0.001 to 1.
        frequency_ghz: of the carrier.

    Raises:
        ValueError: for a share beyond the range of the equation.
    """
    least, most = SHARES_PERCENT
    if not least <= share_percent <= most:
        raise ValueError(f"ITU-R P.530-17 covers {least} to {most:g} %, not {share_percent:g} %")
    c1, c2, c3 = _constants(frequency_ghz)
    exponent = -(c2 + c3 * math.log10(share_percent))
    return float(attenuation_at_001_db * c1 * share_percent**exponent)


def exceeded_percent(
    attenuation: float, attenuation_at_001_db: float, frequency_ghz: float
) -> float:
    """The share of the year in which the attenuation by rain is larger: equation 34 solved for p.

    Args:
        attenuation: in dB, such as a fade margin.
        attenuation_at_001_db: exceeded for 0.01 % of the year.
        frequency_ghz: of the carrier.

    Returns:
        A percentage from 0.001 to 1, the ends of the range of the equation: 0.001 also stands for
        less, 1 for more. 100 without a margin, 0 without rain.
    """
    if attenuation <= 0:
        return 100.0
    if attenuation_at_001_db <= 0:
        return 0.0
    c1, c2, c3 = _constants(frequency_ghz)
    # C3 x² + C2 x + lg(A / (A001 C1)) = 0 for x = lg p, of which the larger root falls with A.
    constant = math.log10(attenuation / (attenuation_at_001_db * c1))
    inside = c2**2 - 4 * c3 * constant
    least, most = SHARES_PERCENT
    if inside <= 0:
        return least
    power = min((-c2 + math.sqrt(inside)) / (2 * c3), 2.0)
    return min(max(10**power, least), most)
