"""Which swept keys make a contender.

The swept keys are of two kinds. The choices of the designer of a network make a *contender*; what
is given to the designer, such as load, placement and weather, makes a *condition*. Contenders are
compared under the same condition, conditions are not compared.

``[compare] keys`` in the scenario names the choices. Without it they are the swept keys of the
routing, of TCP and its congestion controls, of the channel assignment, of queues, and of the links
of the topology but for their losses, impairments and capacities over time; if none of these is
swept, all swept keys are choices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backlane import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

SECTIONS = ("routing", "tcp", "assignment")
"""Sections of the scenario file that are choices of the network's designer."""


def words(key: str) -> list[str]:
    """The words of a key's path, without quotes."""
    return [word.strip().strip("\"'") for word in key.split(".")]


def choices(swept: Sequence[str], named: Sequence[str] = ()) -> list[str]:
    """The swept keys that make a contender, in the order of the sweep.

    Args:
        swept: the keys of the sweep.
        named: those that the scenario compares; none for the rule of this module.
    """
    return _native.contender_keys(swept, named)


def is_choice(key: str) -> bool:
    """Whether a key is a choice by the rule, and not for lack of one."""
    return choices([key, "duration"]) == [key]
