"""Numbers with units as files of networks write them."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?")

RATES = {
    "bps": 1.0, "bit": 1.0, "bits": 1.0, "b": 1.0,
    "kbps": 1e3, "kbit": 1e3, "kb": 1e3, "k": 1e3,
    "mbps": 1e6, "mbit": 1e6, "mbits": 1e6, "mb": 1e6, "m": 1e6, "mega": 1e6,
    "gbps": 1e9, "gbit": 1e9, "gbits": 1e9, "gb": 1e9, "g": 1e9, "gig": 1e9,
    "tbps": 1e12, "tbit": 1e12, "t": 1e12,
}  # fmt: skip
TIMES = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
LENGTHS = {
    "m": 1.0, "cm": 0.01, "metres": 1.0, "meters": 1.0, "metre": 1.0, "meter": 1.0, "km": 1e3,
    "kilometres": 1e3, "kilometers": 1e3, "mi": 1609.344, "mile": 1609.344, "miles": 1609.344,
    "ft": 0.3048, "feet": 0.3048, "foot": 0.3048,
}  # fmt: skip
FREQUENCIES = {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9}
POWERS = {"dbm": 1.0}
GAINS = {"dbi": 1.0, "db": 1.0}
RATIOS = {"": 1.0, "percent": 0.01, "%": 0.01}

UNITS: dict[str, dict[str, float]] = {
    "rate": RATES,
    "time": TIMES,
    "length": LENGTHS,
    "frequency": FREQUENCIES,
    "power": POWERS,
    "gain": GAINS,
    "ratio": RATIOS,
}
"""The units of each kind of quantity, with their factors."""


def plain(text: str) -> float | None:
    """A number, also with a decimal comma; None for anything else."""
    text = text.strip().replace("\u2212", "-")
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    value = float(text.replace(",", "."))
    return value if math.isfinite(value) else None


def unit_factor(kind: str, unit: str) -> float | None:
    """The factor of a unit of a kind; None if it is not one."""
    unit = unit.strip().lower()
    units = UNITS[kind]
    if unit in units:
        return units[unit]
    if kind == "rate":
        # "Mbit/s", "mb/s", "bits per second", "MBITPERSEC"
        unit = re.sub(r"(/s(ec(ond)?)?|persec(ond)?|_?per_?s(ec(ond)?)?|_s|ps)$", "", unit)
        return units.get(unit.strip(" ./_"))
    return None


def quantity(kind: str, text: str) -> tuple[float, bool] | None:
    """A value in the unit of the kind, and whether a unit was written; None if it is neither."""
    text = text.strip().replace("\u2212", "-").replace("\u00a0", " ")
    found = _NUMBER.match(text)
    if found is None:
        return None
    unit = text[found.end() :].strip()
    value = plain(found[0])
    if value is None:
        return None
    if not unit:
        return value, False
    factor = unit_factor(kind, unit)
    return None if factor is None else (value * factor, True)


def number(value: object) -> float | None:
    """A finite number of JSON, or one in a text; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        try:
            found = float(value)
        except OverflowError:
            return None
        return found if math.isfinite(found) else None
    return plain(value) if isinstance(value, str) else None


def is_true(text: str) -> bool:
    """Whether a cell says yes."""
    return text.strip().lower() in {"1", "true", "yes", "y", "x", "ja", "si", "sí", "oui"}
