"""Routers in Python: the class to derive from.

A scenario names a class with ``protocol = "python"`` and ``router = "FILE:CLASS"`` under
``[routing]``. `backlane.classes` loads it, and `crates/python` calls its hooks.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from backlane import classes
from backlane.classes import Base, Named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from backlane._native import Packet, RouterContext


class Router(ABC):
    """A routing protocol on one node.

    Each router of the network has its own object, made before the run. Only the hooks that a class
    defines are called. A hook sees its own node through the context: neighbours with rate and
    backlog, the simulated time, timers. What it sends and the timers that it sets take effect when
    it returns.

    Packets for a host of the node itself never reach the router. The router keeps no packets: it
    forwards each one at once or drops it. It is not notified of the failure of a wire: it detects
    the failure by missing messages, or reads `Neighbour.has_carrier`.

    A class attribute that is a number, a text or a boolean is a parameter: the scenario may give it
    another value under ``parameters``, of the same type.

    The same scenario and seed give the same run if a class depends only on the arguments of its
    hooks, its own attributes and `self.random`. Clocks, files, other sources of randomness and the
    order of a set of texts differ between two executions.

    Args:
        seed: the node's, drawn from the seed of the run.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        """Random numbers of this node alone."""

    @classmethod
    def with_parameters(cls, **values: bool | int | float | str) -> type[Router]:
        """The class with other values of its parameters.

        A class attribute that is a number, a text or a boolean is a parameter.

        Args:
            values: by the name of the attribute, of the same type.

        Raises:
            BacklaneError: R020 for a parameter that the class does not have, or a value of another
                type.
        """
        return classes.variant(BASE, cls, values)

    def start(self, context: RouterContext) -> None:
        """The run begins, at time zero. Set timers and send first messages here.

        Args:
            context: the node.
        """

    @abstractmethod
    def next_hop(self, context: RouterContext, packet: Packet) -> str | None:
        """The neighbour that a packet is sent to, by name; None drops it.

        Args:
            context: the node.
            packet: was received from a neighbour or a host of this node; `packet.exit` is the
                router where it leaves the network, and never this node.
        """

    def on_message(self, context: RouterContext, neighbour: str, message: bytes) -> None:
        """A message of a neighbour's router was received.

        Args:
            context: the node.
            neighbour: the one that sent it.
            message: the bytes that it gave to `send` or `broadcast`.
        """

    def on_timer(self, context: RouterContext, name: str) -> None:
        """A timer fired. It does not fire again unless it is set again.

        Args:
            context: the node.
            name: the one given to `set_timer`.
        """

    def on_tx_failed(self, context: RouterContext, neighbour: str, packet: Packet) -> str | None:
        """A radio gave up sending a packet to a neighbour. Wires give no such feedback.

        Args:
            context: the node.
            neighbour: the one that did not acknowledge the packet.
            packet: no message; lost messages are not reported.

        Returns:
            The neighbour that the packet is sent to now, by name; None drops it.
        """
        return None


BASE = Base(Router, "router")


def prepare(
    file: str, name: str, source: str, parameters: Mapping[str, Any]
) -> Callable[[int], dict[str, Any]]:
    """Load a class, as `classes.prepare` describes; `crates/python` calls it."""
    return classes.prepare(BASE, file, name, source, parameters)


def named(routers: Sequence[Mapping[str, Any]]) -> list[Named]:
    """The classes among the `python_routers` of a plan."""
    return [Named.of(BASE, one["class"], one["parameters"]) for one in routers]
