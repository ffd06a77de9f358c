"""Formatting of numbers, names and long texts."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_LINES = 40
_MOST_LETTERS = 2000
_MOST_IN_A_NAME = 80
_MOST_BYTES_IN_A_NAME = 160


def span(seconds: float) -> str:
    """A time as text: ``12 s``, ``3 min``, ``2 h 10 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def number(value: float | None, digits: int = 3, like: float | None = None) -> str:
    """A number with some significant digits; a dash for NaN.

    Args:
        value: what to write.
        digits: significant digits.
        like: use the decimal places of this number, so that the ends of an interval have those of
            its middle.
    """
    if value is None or not math.isfinite(value):
        return "–"
    guide = value if like is None else like
    if guide == 0 or not math.isfinite(guide):
        return f"{value:g}"
    size = math.floor(math.log10(abs(guide)))
    return f"{value:.{max(digits - 1 - size, 0)}f}"


def seconds(value: float | None) -> str:
    """A duration with a fitting unit."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{number(value)} s" if abs(value) >= 1 else f"{number(value * 1e3)} ms"


def rate(value_bps: float | None) -> str:
    """A data rate with a fitting unit."""
    if value_bps is None or not math.isfinite(value_bps):
        return "–"
    for scale, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if abs(value_bps) >= scale:
            return f"{number(value_bps / scale)} {unit}"
    return f"{number(value_bps)} bit/s"


def slug(name: str) -> str:
    """A name as a part of a path: one that stays in its folder, is not hidden, and is not long.

    Letters, digits, ``.``, ``_`` and ``-`` are kept; others become ``-``.
    """
    kept = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFC", name)).strip(".-")
    kept = kept[:_MOST_IN_A_NAME].encode()[:_MOST_BYTES_IN_A_NAME].decode(errors="ignore")
    return kept.rstrip(".-") or "unnamed"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names in a sentence: ``a``, ``a and b``, ``a, b and c``, ``a, b and 7 more``."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def brief(text: str) -> str:
    """A text with its first and last lines, and of each line the beginning and the end."""
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        half = _MOST_LINES // 2
        left_out = len(lines) - 2 * half
        lines = [*lines[:half], f"… {left_out} lines left out …", *lines[-half:]]
    return "\n".join(map(brief_line, lines))


def brief_line(line: str) -> str:
    """The beginning and the end of a line."""
    if len(line) <= _MOST_LETTERS:
        return line
    half = _MOST_LETTERS // 2
    left_out = len(line) - 2 * half
    return f"{line[:half]} … {left_out} characters left out … {line[-half:]}"
