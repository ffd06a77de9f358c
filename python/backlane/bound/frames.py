"""How many frames of 802.11 noise leaves intact, at most.

The error rates are those of ``docs/models/wifi/phy.md``, as lower bounds: of the distances of the
convolutional code the first ones alone, of DQPSK the errors of DBPSK, and none of CCK.
"""

from __future__ import annotations

import math

WEIGHTS = {
    "1/2": (10, 2, 1, (36, 211, 1404, 11633)),
    "2/3": (6, 1, 2, (3, 70, 285, 1276)),
    "3/4": (5, 1, 3, (42, 201, 1492, 10469)),
}
"""By code rate: free distance, step of the distances, bits a period, weights of the distances."""
OFDM = {
    6e6: ("bpsk", "1/2"), 9e6: ("bpsk", "3/4"), 12e6: ("qpsk", "1/2"), 18e6: ("qpsk", "3/4"),
    24e6: ("16-qam", "1/2"), 36e6: ("16-qam", "3/4"), 48e6: ("64-qam", "2/3"),
    54e6: ("64-qam", "3/4"),
}  # fmt: skip
_QAM = {"bpsk": (1.0, 1.0), "qpsk": (1.0, 2.0), "16-qam": (0.75, 10.0), "64-qam": (7 / 12, 42.0)}
"""Of ½ erfc √(SINR/d): factor and d."""
SAFE = 0.97
"""Of the exponent: the simulator interpolates a table."""


def decoded(rate_bps: float, snr_db: float, bits: float) -> float:
    """An upper bound of the share of frames of this size that are decoded."""
    error = min(_bit_error(rate_bps, 10 ** (snr_db / 10)), 0.5)
    return math.exp(bits * SAFE * math.log1p(-error))


def _bit_error(rate_bps: float, sinr: float) -> float:
    if rate_bps in (1e6, 2e6):
        return 0.5 * math.exp(-sinr * 22e6 / rate_bps)
    if rate_bps not in OFDM:
        return 0.0
    modulation, code = OFDM[rate_bps]
    factor, scale = _QAM[modulation]
    raw = factor * 0.5 * math.erfc(math.sqrt(sinr / scale))
    free, step, inputs, weights = WEIGHTS[code]
    d = math.sqrt(4 * raw * (1 - raw))
    terms = (weight * d ** (free + step * at) for at, weight in enumerate(weights))
    return sum(terms) / (2 * inputs)
