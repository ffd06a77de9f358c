"""Quantities of a resolved scenario as numbers in SI units.

A resolved scenario prints each quantity in one form, a number and a unit ("500 Mbit/s", "0.5 ms"),
which the compiled module has checked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backlane.bound.streams import Streams

_SI = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_IEC = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60}

UNITS: dict[str, float] = {
    "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0,
    "um": 1e-6, "mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3,
    "dB": 1.0, "dBm": 1.0, "dBi": 1.0, "deg": 1.0, "km/h": 1 / 3.6, "m/s": 1.0,
}  # fmt: skip
"""Factors to s, m, dB, dBm, degrees and m/s; below to bit/s, bytes and Hz."""
for _prefix, _factor in (_SI | _IEC).items():
    UNITS[f"{_prefix}bit/s"] = _factor
    UNITS[f"{_prefix}B/s"] = 8 * _factor
    UNITS[f"{_prefix}B"] = _factor
    UNITS[f"{_prefix}bit"] = _factor / 8
    UNITS[f"{_prefix}Hz"] = _factor

_NUMBER = re.compile(r"\s*([-+]?[0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][-+]?[0-9]+)?)\s*(\S+)\s*")


def number(text: str) -> float:
    """The number of a quantity, in the SI unit of its kind (bytes for sizes).

    Raises:
        ValueError: when the text is no quantity.
    """
    found = _NUMBER.fullmatch(text)
    if found is None or found[2] not in UNITS:
        raise ValueError(f"{text!r:.60} is no quantity")
    return float(found[1].replace("_", "")) * UNITS[found[2]]


@dataclass(frozen=True)
class Law:
    """How a value is drawn: always `low`, uniform from `low` to `high`, or exponential."""

    kind: str
    low: float
    high: float

    @property
    def least(self) -> float:
        """The smallest value that can be drawn."""
        return 0.0 if self.kind == "exponential" else self.low

    def time(self, streams: Streams, entity: str, purpose: str) -> float:
        """A time as a run draws it."""
        if self.kind == "fixed":
            return self.low
        stream = streams.stream(entity, purpose)
        if self.kind == "uniform":
            return self.low + (self.high - self.low) * stream.uniform()
        return stream.exponential(self.low)

    def size(self, streams: Streams, entity: str) -> int:
        """A size in bytes as a run draws it."""
        if self.kind == "fixed":
            return round(self.low)
        stream = streams.stream(entity, "size")
        if self.kind == "uniform":
            return round(self.low) + stream.uniform_below(round(self.high) - round(self.low) + 1)
        return max(int(stream.exponential(self.low)), 1)


def law(text: str) -> Law:
    """The law in "10 MB", "uniform 50 kB 500 kB" or "exponential 500 kB".

    Raises:
        ValueError: when the text is none.
    """
    words = text.split()
    if words[:1] == ["uniform"] and len(words) == 5:
        return Law("uniform", number(" ".join(words[1:3])), number(" ".join(words[3:5])))
    if words[:1] == ["exponential"]:
        mean = number(" ".join(words[1:]))
        return Law("exponential", mean, mean)
    value = number(text)
    return Law("fixed", value, value)
