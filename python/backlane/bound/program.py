"""The network of a scenario as resources that flows share.

A path of a flow is a sequence of arcs. Each bit of payload takes something of the resources of each
arc: of a wire the bits of the packet that carries it, of a radio the time that this takes. A wire's
direction is a resource of one arc; a cell, and a radio, are resources of several.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Rule = Callable[["Class"], float]

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Flow:
    """A flow of the scenario, as a run with the seed starts it."""

    name: str
    kind: str
    source: str
    destination: str
    size_bytes: int | None
    """None: endless."""
    start_s: float
    """Earliest start, on the clock of the flows; of flows in sequence, that of the first."""
    stop_s: float | None
    rate_bps: float | None
    """Of a UDP source, the largest payload rate; None: as much as there is."""
    payload_bytes: int
    header_bytes: int
    is_tcp: bool
    in_sequence: bool
    """Whether it starts after the end of another flow."""


@dataclass(frozen=True)
class Resource:
    """Something that arcs share."""

    name: str
    kind: str
    """"wire", "cell", "radio"."""
    capacity: float
    """Mbit/s of a wire or cell; seconds of air in a second of a radio."""


@dataclass(frozen=True)
class Arc:
    """One direction of a link."""

    tail: int
    head: int
    delay_s: float
    use: tuple[tuple[int, str], ...]
    """Resources, each with the rule by which a packet takes of it (`Class.taken`)."""


@dataclass(frozen=True)
class Class:
    """Flows whose packets are alike."""

    payload_bytes: int
    packet_bytes: int
    """With the headers of IP and TCP or UDP."""
    tunnel_bytes: int
    """What GTP-U adds between routers."""


@dataclass
class Demand:
    """Flows with the same ends and the same packets."""

    source: int
    destination: int
    class_: int
    flows: list[int] = field(default_factory=list)
    weight: float = 0.0
    """Number of flows; of endless ones, each counts the share of the run that it is active."""
    cap_mbps: float = np.inf
    """Largest rate of one flow."""


@dataclass
class Program:
    """Arcs, resources and demands; rates are payload in Mbit/s."""

    nodes: list[str]
    arcs: list[Arc]
    resources: list[Resource]
    classes: list[Class]
    demands: list[Demand]
    flows: list[Flow]
    rules: dict[str, Rule] = field(default_factory=dict)
    """By name: a function of a `Class` that gives what an Mbit of payload takes of a resource."""
    one_way_s: list[float] = field(default_factory=list)
    """Of each flow: smallest propagation delay between its ends."""
    opening_s: list[float] = field(default_factory=list)
    """Of each flow: from its start to its first packet of data; the handshake of TCP."""
    notes: list[str] = field(default_factory=list)
    """What about this scenario makes the bound looser."""

    @cached_property
    def tails(self) -> Integers:
        """The node where each arc begins."""
        return np.array([arc.tail for arc in self.arcs], dtype=np.int64)

    @cached_property
    def heads(self) -> Integers:
        """The node where each arc ends."""
        return np.array([arc.head for arc in self.arcs], dtype=np.int64)

    @cached_property
    def delays_s(self) -> Floats:
        """The propagation delay of each arc."""
        return np.array([arc.delay_s for arc in self.arcs], dtype=np.float64)

    @cached_property
    def capacities(self) -> Floats:
        """The capacity of each resource."""
        return np.array([resource.capacity for resource in self.resources], dtype=np.float64)

    @cached_property
    def use(self) -> list[sparse.csr_array]:
        """For each class: resources × arcs, what an Mbit of payload takes."""
        found = []
        shape = (len(self.resources), len(self.arcs))
        for class_ in self.classes:
            taken = {name: rule(class_) for name, rule in self.rules.items()}
            rows, columns, values = [], [], []
            for column, arc in enumerate(self.arcs):
                for row, rule in arc.use:
                    rows.append(row)
                    columns.append(column)
                    values.append(taken[rule])
            found.append(sparse.csr_array((values, (rows, columns)), shape=shape))
        return found

    @property
    def variables(self) -> int:
        """Variables of its linear program."""
        return len(self.arcs) * len(self.commodities) + len(self.demands) + 1

    @cached_property
    def commodities(self) -> list[Commodity]:
        """Demands in groups with a common end, so that each group needs one set of arc flows."""
        return _grouped(self.demands)


@dataclass(frozen=True)
class Commodity:
    """Demands from one source, or to one destination, with packets of one class."""

    end: int
    """The common source or destination."""
    from_source: bool
    class_: int
    demands: tuple[int, ...]


def _grouped(demands: list[Demand]) -> list[Commodity]:
    """Few groups: the end with most demands first."""
    left = dict(enumerate(demands))
    groups: list[Commodity] = []
    while left:
        ends: dict[tuple[int, bool, int], list[int]] = {}
        for index, demand in left.items():
            ends.setdefault((demand.source, True, demand.class_), []).append(index)
            ends.setdefault((demand.destination, False, demand.class_), []).append(index)
        taken: set[int] = set()
        for (end, from_source, class_), members in sorted(
            ends.items(), key=lambda item: (-len(item[1]), item[0])
        ):
            if taken.isdisjoint(members):
                groups.append(Commodity(end, from_source, class_, tuple(members)))
                taken.update(members)
        for index in taken:
            del left[index]
    return groups
