"""Specific attenuation by oxygen and water vapour (ITU-R P.676-12, Annex 1, line by line).

Equations 1 to 9 with the 44 lines of oxygen and 35 lines of water vapour of tables 1 and 2, for
1 to 1000 GHz. The default atmosphere is the one of the recommendation's examples: 1013.25 hPa of
dry air, 15 °C and 7.5 g/m³ of water vapour.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from backlane.link_budget import data_files

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Atmosphere:
    """The air along a path.

    Attributes:
        dry_pressure_hpa: of the air without its vapour.
        temperature_k: of the air.
        vapour_g_m3: water vapour.
    """

    dry_pressure_hpa: float = 1013.25
    temperature_k: float = 288.15
    vapour_g_m3: float = 7.5


STANDARD = Atmosphere()
"""The air of the recommendation's examples."""


@cache
def _lines(name: str) -> NDArray[float64]:
    import numpy as np

    rows = data_files.rows(name)
    return np.array([[float(value) for value in row.values()] for row in rows]).T


def oxygen_db_km(frequency_ghz: float, air: Atmosphere = STANDARD) -> float:
    """The attenuation by dry air (equation 1 with N''_oxygen)."""
    import numpy as np

    f0, a1, a2, a3, a4, a5, a6 = _lines("oxygen_p676_12.csv")
    f, p = frequency_ghz, air.dry_pressure_hpa
    theta = 300 / air.temperature_k
    e = air.vapour_g_m3 * air.temperature_k / 216.7  # equation 4
    strength = a1 * 1e-7 * p * theta**3 * np.exp(a2 * (1 - theta))  # equation 3
    width = a3 * 1e-4 * (p * theta ** (0.8 - a4) + 1.1 * e * theta)  # equation 6a
    width = np.sqrt(width**2 + 2.25e-6)  # equation 6b
    shift = (a5 + a6 * theta) * 1e-4 * (p + e) * theta**0.8  # equation 7
    shape = (f / f0) * (
        (width - shift * (f0 - f)) / ((f0 - f) ** 2 + width**2)
        + (width - shift * (f0 + f)) / ((f0 + f) ** 2 + width**2)
    )  # equation 5
    debye = 5.6e-4 * (p + e) * theta**0.8  # equation 9
    continuum = (
        f
        * p
        * theta**2
        * (
            6.14e-5 / (debye * (1 + (f / debye) ** 2))
            + 1.4e-12 * p * theta**1.5 / (1 + 1.9e-5 * f**1.5)
        )
    )  # equation 8
    return 0.1820 * f * float((strength * shape).sum() + continuum)


def vapour_db_km(frequency_ghz: float, air: Atmosphere = STANDARD) -> float:
    """The attenuation by water vapour (equation 1 with N''_water vapour)."""
    import numpy as np

    f0, b1, b2, b3, b4, b5, b6 = _lines("water_vapour_p676_12.csv")
    f, p = frequency_ghz, air.dry_pressure_hpa
    theta = 300 / air.temperature_k
    e = air.vapour_g_m3 * air.temperature_k / 216.7
    strength = b1 * 1e-1 * e * theta**3.5 * np.exp(b2 * (1 - theta))
    width = b3 * 1e-4 * (p * theta**b4 + b5 * e * theta**b6)
    width = 0.535 * width + np.sqrt(0.217 * width**2 + 2.1316e-12 * f0**2 / theta)
    shape = (f / f0) * (width / ((f0 - f) ** 2 + width**2) + width / ((f0 + f) ** 2 + width**2))
    return 0.1820 * f * float((strength * shape).sum())


def specific_attenuation_db_km(frequency_ghz: float, air: Atmosphere = STANDARD) -> float:
    """The attenuation by oxygen and water vapour.

    Raises:
        ValueError: for a frequency beyond the range of the method.
    """
    if not 1 <= frequency_ghz <= 1000:
        raise ValueError(f"ITU-R P.676-12 covers 1 to 1000 GHz, not {frequency_ghz:g} GHz")
    return oxygen_db_km(frequency_ghz, air) + vapour_db_km(frequency_ghz, air)
