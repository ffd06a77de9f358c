"""Fading by multipath in clear air (ITU-R P.530-17 §2.3.1, §2.3.2, §2.3.4).

The method for quick planning gives the share of the average worst month in which a narrow-band fade
is exceeded: K = 10^(-4.6 - 0.0027 dN1), p = K d^3.1 (1 + |ε|)^-1.29 f^0.8 10^(-0.00089 h - A/10).
With the roughness of the terrain it is that for detailed design: K = 10^(-4.4 - 0.0027 dN1)
(10 + s)^-0.46 and p = K d^3.4 (1 + |ε|)^-1.03 f^0.8 10^(-0.00076 h - A/10). Below a fade of
A_t = 25 + 1.2 lg p0 the law of §2.3.2 holds. §2.3.4 converts to a year. Equations and limit of the
quick method and the conversion are also in ITU-R P.2001-2, equations B.3.1 to B.3.2.
"""

from __future__ import annotations

import math

MOST_CONVERSION_DB = 10.8
"""The bound of the conversion to a year (§2.3.4)."""


def occurrence_percent(
    length_km: float,
    frequency_ghz: float,
    gradient_n_km: float,
    heights_m: tuple[float, float] = (0.0, 0.0),
    roughness_m: float | None = None,
) -> float:
    """The multipath occurrence factor p0: the worst-month share extrapolated to a fade of 0 dB.

    Args:
        length_km: of the path.
        frequency_ghz: of the carrier.
        gradient_n_km: dN1, the gradient of refractivity in the lowest 65 m that is not exceeded for
            1 % of an average year (ITU-R P.453), such as -200.
        heights_m: of both antennas above sea level; at 0 the factor is largest.
        roughness_m: standard deviation of terrain heights; None for the quick method.
    """
    slope = abs(heights_m[0] - heights_m[1]) / length_km
    lower = min(heights_m)
    if roughness_m is None:
        k = 10 ** (-4.6 - 0.0027 * gradient_n_km)
        path = length_km**3.1 * (1 + slope) ** -1.29 * 10 ** (-0.00089 * lower)
    else:
        k = 10 ** (-4.4 - 0.0027 * gradient_n_km) * (10 + roughness_m) ** -0.46
        path = length_km**3.4 * (1 + slope) ** -1.03 * 10 ** (-0.00076 * lower)
    return float(k * path * frequency_ghz**0.8)


def worst_month_percent(fade_db: float, occurrence: float) -> float:
    """The share of the average worst month in which a fade is exceeded (§2.3.2).

    Args:
        fade_db: at least 0.
        occurrence: p0 in percent.
    """
    if occurrence <= 0:
        return 0.0
    deep = 25 + 1.2 * math.log10(occurrence)
    if fade_db >= deep or deep <= 0:
        return min(100.0, occurrence * 10 ** (-fade_db / 10))
    at_deep = occurrence * 10 ** (-deep / 10)
    if at_deep >= 100:
        # Paths of hundreds of kilometres, for which the method is not made.
        return 100.0
    q_deep = -20 * math.log10(-math.log1p(-at_deep / 100)) / deep
    q_t = (q_deep - 2) / ((1 + 0.3 * 10 ** (-deep / 20)) * 10 ** (-0.016 * deep))
    q_t -= 4.3 * (10 ** (-deep / 20) + deep / 800)
    q = 2 + (1 + 0.3 * 10 ** (-fade_db / 20)) * 10 ** (-0.016 * fade_db) * (
        q_t + 4.3 * (10 ** (-fade_db / 20) + fade_db / 800)
    )
    return -100 * math.expm1(-(10 ** (-q * fade_db / 20)))


def conversion_db(
    length_km: float, latitude_deg: float, heights_m: tuple[float, float] = (0.0, 0.0)
) -> float:
    """What the worst month exceeds the year by, ΔG (§2.3.4)."""
    slope = abs(heights_m[0] - heights_m[1]) / length_km
    sign = 1 if abs(latitude_deg) <= 45 else -1
    place = 1.1 + sign * abs(math.cos(2 * math.radians(latitude_deg))) ** 0.7
    found = 10.5 - 5.6 * math.log10(place) - 2.7 * math.log10(length_km)
    return min(found + 1.7 * math.log10(1 + slope), MOST_CONVERSION_DB)


def year_percent(fade_db: float, occurrence: float, conversion: float) -> float:
    """The share of the year in which a fade is exceeded, for a conversion in dB."""
    return min(100.0, worst_month_percent(fade_db, occurrence) * 10 ** (-conversion / 10))
