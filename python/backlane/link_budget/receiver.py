"""Thermal noise, threshold and fade margin of a receiver.

Noise is kTB at 290 K, the reference temperature of noise figures (ITU-R P.372 §2), with
the Boltzmann constant of the SI, and the noise figure of the receiver. Thresholds of published
radios are in `radios`.
"""

from __future__ import annotations

import math

BOLTZMANN_J_K = 1.380649e-23
"""Exact, SI."""
REFERENCE_K = 290.0
"""The temperature that noise figures refer to."""


def noise_dbm(bandwidth_hz: float, noise_figure_db: float = 0.0) -> float:
    """The noise in a bandwidth."""
    watt = BOLTZMANN_J_K * REFERENCE_K * bandwidth_hz
    return 10 * math.log10(watt * 1000) + noise_figure_db


def threshold_dbm(bandwidth_hz: float, snr_db: float, noise_figure_db: float) -> float:
    """The level at which a modulation has the signal-to-noise ratio that it needs."""
    return noise_dbm(bandwidth_hz, noise_figure_db) + snr_db
