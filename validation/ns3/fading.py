"""A fading trace for both simulators: Extended Vehicular A at 60 km/h, in LENA's format.

The trace is made here and by another method than Backlane's own model: complex Gaussian noise is
shaped by the Doppler spectrum of Clarke in the frequency domain, for each tap of TS 36.104 Annex
B.2. Both simulators read the same file, so that a difference between them is not one of the
channel.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from validation.ns3.truth import Floats

#: Delays in ns and powers in dB (TS 36.104 Table B.2-2).
EVA = (
    (0, 0.0),
    (30, -1.5),
    (150, -1.4),
    (310, -3.6),
    (370, -0.6),
    (710, -9.1),
    (1090, -7.0),
    (1730, -12.0),
    (2510, -16.9),
)
BLOCKS, BLOCK_HZ = 100, 180e3
SAMPLES, SAMPLE_S = 10_000, 1e-3
#: 60 km/h at 2.655 GHz.
DOPPLER_HZ = 60 / 3.6 * 2.655e9 / 299_792_458
SEED = 36104


def write(file: Path) -> str:
    """Write the trace; its SHA-256."""
    text = "".join(" ".join(f"{db:.2f}" for db in row) + "\n" for row in decibels())
    file.write_text(text, encoding="ascii")
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def decibels() -> Floats:
    """Gains of each resource block (a row) at each millisecond."""
    draw = np.random.default_rng(SEED)
    power = np.array([10 ** (db / 10) for _, db in EVA])
    delays_s = np.array([ns for ns, _ in EVA]) * 1e-9
    taps = np.stack([_tap(draw) for _ in EVA]) * np.sqrt(power / power.sum())[:, None]
    offsets_hz = (np.arange(BLOCKS) - (BLOCKS - 1) / 2) * BLOCK_HZ
    response = np.exp(-2j * np.pi * np.outer(offsets_hz, delays_s)) @ taps
    gains: Floats = 10 * np.log10(np.maximum(np.abs(response) ** 2, 1e-10))
    return gains


def _tap(draw: np.random.Generator) -> np.ndarray:
    """Rayleigh fading of mean power one, with the spectrum 1/sqrt(1 - (f/fd)^2)."""
    frequency = np.fft.fftfreq(SAMPLES, SAMPLE_S)
    inside = np.abs(frequency) < DOPPLER_HZ
    shape = np.zeros(SAMPLES)
    shape[inside] = (1 - (frequency[inside] / DOPPLER_HZ) ** 2) ** -0.25
    noise = draw.standard_normal(SAMPLES) + 1j * draw.standard_normal(SAMPLES)
    samples = np.fft.ifft(shape * noise)
    scaled: np.ndarray = samples * np.sqrt(SAMPLES**2 / (2 * np.sum(shape**2)))
    return scaled
