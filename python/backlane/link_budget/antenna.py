"""Gain of a parabolic antenna from its diameter: G = η (πD/λ)².

The aperture efficiency η is 0.55 unless the caller knows it: manufacturers state 0.50
to 0.65, and ITU-R F.699 takes 20 lg(D/λ) + 7.7 dB as typical, which is 0.60.
"""

from __future__ import annotations

import math

from backlane.link_budget.free_space import LIGHT_M_S

EFFICIENCY = 0.55
"""Share of the aperture that is effective."""


def gain_dbi(diameter_m: float, frequency_ghz: float, efficiency: float = EFFICIENCY) -> float:
    """The gain of a dish in its main direction."""
    wavelength_m = LIGHT_M_S / (frequency_ghz * 1e9)
    return 10 * math.log10(efficiency) + 20 * math.log10(math.pi * diameter_m / wavelength_m)
