"""Free-space loss between two isotropic antennas (ITU-R P.525-2, equations 3 and 4).

The recommendation rounds the loss at 1 GHz over 1 km to 92.4 dB; the constant here follows from
the speed of light, 92.448 dB.
"""

from __future__ import annotations

import math

LIGHT_M_S = 299_792_458.0
"""The speed of light in vacuum (exact, SI)."""
CONSTANT_DB = 20 * math.log10(4 * math.pi * 1e12 / LIGHT_M_S)
"""The loss at 1 GHz over 1 km."""


def loss_db(frequency_ghz: float, length_km: float) -> float:
    """The free-space loss, above 0 GHz and 0 km."""
    return CONSTANT_DB + 20 * math.log10(frequency_ghz * length_km)
