"""Colours of contenders, fixed by name: a protocol has the same one in each report and study.

The colours are those of Okabe and Ito (2008) without black and yellow, which vanish on one of the
backgrounds, and a lighter tint of each. A contender whose name has a known word has the colour of
that word. A second one with the same word, such as OLSR with another congestion control, has its
tint. Names without a known word take the colours that are left, in their order.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6bb0")
"""The full colours."""
TINTS = ("#7ab8dc", "#f0a97a", "#7fcfb8", "#e6bcd3", "#f3cf80", "#abdaf4", "#bfb5d8")
"""A lighter tint of each."""

_BLUE, _RED, _GREEN, _PINK, _ORANGE, _SKY, _VIOLET = range(len(PALETTE))

_WORDS: tuple[tuple[str, int], ...] = (
    # Routings, the more particular words first.
    ("flowlets?", _PINK),
    ("burst", _PINK),
    ("packet", _RED),
    ("flow", _GREEN),
    ("olsr", _BLUE),
    ("aodv", _ORANGE),
    ("static", _VIOLET),
    ("l25r|l2.5r", _SKY),
    ("ospf", _VIOLET),
    ("babel", _ORANGE),
    ("batman", _GREEN),
    # Congestion controls.
    ("cubic", _BLUE),
    ("bbr", _RED),
    ("reno|newreno", _GREEN),
    ("vegas", _PINK),
    ("westwood", _ORANGE),
    ("veno", _SKY),
    ("illinois", _VIOLET),
)


def _word_of(name: str) -> int | None:
    lowered = name.lower()
    for words, color in _WORDS:
        if re.search(rf"(?<![a-z])(?:{words})(?![a-z])", lowered):
            return color
    return None


def assigned(names: Sequence[str]) -> dict[str, str]:
    """The colour of each contender.

    Args:
        names: of all contenders of a network or figure, in their order.

    Returns:
        A colour for each name. Different names share one only if there are more than colours.
    """
    distinct = list(dict.fromkeys(names))
    every = [*PALETTE, *TINTS]
    found: dict[str, str] = {}
    free = list(every)
    for name in distinct:
        word = _word_of(name)
        for color in () if word is None else (PALETTE[word], TINTS[word]):
            if color in free:
                found[name] = color
                free.remove(color)
                break
    for name in distinct:
        if name not in found:
            free = free or list(every)
            found[name] = free.pop(0)
    return {name: found[name] for name in distinct}
