"""Laws of path loss that know neither chance nor line of sight (``docs/models/radio.md``)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from backlane.bound.quantities import number

if TYPE_CHECKING:
    from collections.abc import Callable

    Law = Callable[[float], float]

LIGHT_M_PER_S = 299_792_458.0
NOISE_DBM_PER_HZ = -174.0


def noise_dbm(bandwidth_hz: float, figure_db: float) -> float:
    """Thermal noise behind a receiver."""
    return NOISE_DBM_PER_HZ + 10 * math.log10(bandwidth_hz) + figure_db


def law(table: dict[str, Any], frequency_hz: float, site_m: float, user_m: float) -> Law | None:
    """Loss in decibels over the straight distance in metres; None for a law that draws.

    Args:
        table: the section `path_loss`.
        frequency_hz: of the carrier.
        site_m: height of one antenna.
        user_m: height of the other.
    """
    model = table["model"]
    wavelength_m = LIGHT_M_PER_S / frequency_hz

    def free(distance_m: float) -> float:
        return 20 * math.log10(4 * math.pi * max(distance_m, 1.0) / wavelength_m)

    if model == "friis":
        return free
    if model == "kun2600":
        return lambda distance_m: 36 + 26 * math.log10(max(distance_m, 1.0))
    if model == "log-distance":
        reference_m = number(table["reference_distance"])
        at_reference = table["reference_loss"]
        loss_db = (
            20 * math.log10(4 * math.pi * reference_m / wavelength_m)
            if at_reference == "free-space"
            else number(at_reference)
        )
        exponent = float(table["exponent"])
        return lambda distance_m: (
            loss_db + 10 * exponent * math.log10(max(distance_m / reference_m, 1.0))
        )
    if model == "two-ray":
        heights_m2 = site_m * user_m
        crossover_m = 4 * math.pi * heights_m2 / wavelength_m
        return lambda distance_m: (
            free(distance_m)
            if distance_m <= crossover_m
            else 40 * math.log10(distance_m) - 20 * math.log10(heights_m2)
        )
    if model == "cost231-hata":
        return _cost231(frequency_hz / 1e6, site_m, user_m, table["city"])
    return None


def _cost231(mhz: float, site_m: float, user_m: float, city: str) -> Law:
    log_f, log_h = math.log10(mhz), math.log10(max(site_m, 1.0))
    user = (1.1 * log_f - 0.7) * user_m - (1.56 * log_f - 0.8)
    fixed = 46.3 + 33.9 * log_f - 13.82 * log_h - user + (3 if city == "metropolitan" else 0)
    slope = 44.9 - 6.55 * log_h
    return lambda distance_m: fixed + slope * math.log10(max(distance_m, 1.0) / 1000)
