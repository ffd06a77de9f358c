"""From a resolved scenario to its program."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backlane.bound import lte, traces, wifi
from backlane.bound.flows import flows_of
from backlane.bound.paths import Paths
from backlane.bound.program import Arc, Class, Demand, Flow, Program, Resource
from backlane.bound.quantities import number
from backlane.bound.streams import Streams
from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from backlane.bound.program import Rule


@dataclass
class Builder:
    """A program under construction."""

    scenario: dict[str, Any]
    seed: int
    file: str
    nodes: list[str] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    arcs: list[Arc] = field(default_factory=list)
    resources: list[Resource] = field(default_factory=list)
    rules: dict[str, Rule] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    enters: dict[str, int] = field(default_factory=dict)
    """Of a UE: the node where its uplink begins. Other nodes send where they receive."""
    leaves: dict[str, int] = field(default_factory=dict)
    """Of a UE: the node where its downlink ends."""
    has_tunnels: bool = False
    horizon_s: float = 0.0
    """Length of runs of endless flows; 0 if flows have sizes."""
    least_bytes: float = 0.0
    """Size of the smallest flow that has one."""

    def attempts(self, each_s: float, class_: Class) -> float:
        """Attempts over which the luck of a link evens out, of this length each."""
        if self.horizon_s > 0:
            return max(self.horizon_s / each_s, 1.0)
        return max(self.least_bytes / class_.payload_bytes, 1.0)

    def node(self, name: str) -> int:
        """The node with a name; a new one if there is none."""
        if name not in self.index:
            self.index[name] = len(self.nodes)
            self.nodes.append(name)
        return self.index[name]

    def resource(self, name: str, kind: str, capacity: float) -> int:
        """A new resource."""
        self.resources.append(Resource(name, kind, capacity))
        return len(self.resources) - 1

    def rule(self, name: str, rule: Rule) -> str:
        """A rule by which packets take of a resource, by its name."""
        self.rules.setdefault(name, rule)
        return name

    def arc(self, tail: int, head: int, delay_s: float, *use: tuple[int, str]) -> None:
        """A new arc."""
        self.arcs.append(Arc(tail, head, delay_s, use))

    def places(self) -> dict[str, tuple[float, float]]:
        """Positions in metres of the nodes that have one."""
        return {
            node["id"]: (number(node["x"]), number(node["y"]))
            for node in self.scenario["topology"]["node"]
            if "x" in node and "y" in node
        }

    def enodebs(self) -> list[str]:
        """The eNodeBs, in the order of the scenario."""
        nodes = self.scenario["topology"]["node"]
        return [node["id"] for node in nodes if node["kind"] == "enodeb"]


def bits(class_: Class) -> float:
    """Bits on a wire for each bit of payload."""
    return class_.packet_bytes / class_.payload_bytes


def bits_in_tunnel(class_: Class) -> float:
    """The same within GTP-U, between routers."""
    return (class_.packet_bytes + class_.tunnel_bytes) / class_.payload_bytes


def program_of(scenario: dict[str, Any], seed: int, file: str) -> Program:
    """The program of a resolved scenario for one seed.

    Raises:
        BacklaneError: R051 for a scenario that has no bound of this kind, R050 when no path leads
            from the source of a flow to its destination.
    """
    if "slotted" in scenario:
        raise BacklaneError(
            "R051",
            "a slotted model has no rates to bound",
            file,
            "its stability region is what [slotted.region] maps",
        )
    if "node" not in scenario["topology"]:
        raise BacklaneError(
            "R051",
            "each run draws a network of its own",
            file,
            "give [topology] a number as placement_seed",
        )
    if not scenario.get("flow"):
        raise BacklaneError("R051", "there are no flows", file, "add a [[flow]]")
    builder = Builder(scenario, seed, file)
    builder.rule("bits", bits)
    builder.rule("bits in a tunnel", bits_in_tunnel)
    for node in scenario["topology"]["node"]:
        builder.node(node["id"])
    builder.has_tunnels = scenario["access"]["kind"] == "lte"
    _wires(builder)
    if "wifi" in scenario:
        wifi.add_radios(builder)
    ues = _add_access(builder)
    flows = flows_of(scenario, ues, seed)
    if any(failure for failure in scenario.get("failure", ())):
        builder.notes.append("failures are left out: the bound is that of the intact network")
    return _demands(builder, flows)


_IMPAIRMENTS = ("impairments", "impairments_back")


def _least_delay_s(link: dict[str, Any], is_back: bool) -> float:
    """The shortest time on a wire: jitter may shorten the delay, and `reorder` skip it."""
    delay_s = number(link["delay"])
    there, back = (link.get(key) for key in _IMPAIRMENTS)
    own = (back if is_back and back is not None else there) or {}
    if own.get("reorder", 0) > 0:
        return 0.0
    deviations = 4 if own.get("jitter_law") == "normal" else 1
    return max(0.0, delay_s - deviations * number(own.get("jitter", "0 s")))


def _wires(builder: Builder) -> None:
    hosts = {n["id"] for n in builder.scenario["topology"]["node"] if n["kind"] == "server"}
    taken: dict[str, int] = {}
    is_lossy = False
    for link in builder.scenario["topology"].get("link", ()):
        if link.get("medium", "wire") != "wire":
            continue
        is_lossy |= link.get("loss", 0) > 0 or link.get("loss_back", 0) > 0
        is_lossy |= any("bursts" in link.get(key, {}) for key in _IMPAIRMENTS)
        between_routers = not hosts & {link["a"], link["b"]}
        rule = "bits in a tunnel" if between_routers and builder.has_tunnels else "bits"
        for is_back, (tail, head) in enumerate(((link["a"], link["b"]), (link["b"], link["a"]))):
            rate_mbps, delay_s = (
                traces.wire_mbps(builder, link, bool(is_back)),
                _least_delay_s(link, bool(is_back)),
            )
            name = f"{tail}-{head}"
            taken[name] = taken.get(name, 0) + 1
            if taken[name] > 1:
                name = f"{name}#{taken[name]}"
            at = builder.resource(name, "wire", rate_mbps)
            builder.arc(builder.index[tail], builder.index[head], delay_s, (at, rule))
    if is_lossy:
        builder.notes.append("random losses of wires are left out")


def _add_access(builder: Builder) -> list[str]:
    """The UEs and their cells; returns the names of the UEs."""
    access = builder.scenario["access"]
    kind = access["kind"]
    if kind == "none":
        return []
    if kind == "lte":
        return lte.add_cells(builder)
    if kind not in ("ideal", "trace"):
        raise BacklaneError(
            "R051",
            f'the access technology "{kind}" is that of another program',
            builder.file,
            'there are bounds for "ideal", "lte", "trace" and for a network without UEs',
        )
    served = serving(builder)
    if kind == "trace":
        traces.add_links(builder, served)
        return list(served)
    rate_mbps, delay_s = number(access["rate"]) / 1e6, number(access["delay"])
    for enodeb in dict.fromkeys(served.values()):
        down = builder.resource(f"{enodeb}-{enodeb}:ues", "cell", rate_mbps)
        up = builder.resource(f"{enodeb}:ues-{enodeb}", "cell", rate_mbps)
        at = builder.index[enodeb]
        below, above = builder.node(f"{enodeb}:ues"), builder.node(f"{enodeb}:ues up")
        builder.arc(at, below, delay_s, (down, "bits"))
        builder.arc(above, at, delay_s, (up, "bits"))
    for ue, enodeb in served.items():
        builder.leaves[ue] = builder.index[f"{enodeb}:ues"]
        builder.enters[ue] = builder.index[f"{enodeb}:ues up"]
    return list(served)


def serving(builder: Builder) -> dict[str, str]:
    """Each UE with the eNodeB that it is placed at, in the order of the UEs."""
    access, enodebs = builder.scenario["access"], builder.enodebs()
    if access.get("per_enodeb"):
        listed = [node for node, count in access["per_enodeb"].items() for _ in range(count)]
        return {f"ue{number}": node for number, node in enumerate(listed, 1)}
    streams = Streams(builder.seed)
    found = {}
    for index in range(int(access["ues"])):
        ue = f"ue{index + 1}"
        at = index % len(enodebs)
        if access["placement"] == "random":
            at = streams.stream(ue, "placement").uniform_below(len(enodebs))
        found[ue] = enodebs[at]
    return found


def _demands(builder: Builder, flows: list[Flow]) -> Program:
    """The flows in groups with the same ends and packets."""
    if not flows:
        raise BacklaneError(
            "R051", "no flow starts before the end", builder.file, "give them an earlier start"
        )
    classes: dict[Class, int] = {}
    groups: dict[tuple[int, int, int, float | None], Demand] = {}
    tunnel = 0
    if builder.has_tunnels:
        tunnel = round(number(builder.scenario["access"]["tunnel"]))
    for index, flow in enumerate(flows):
        of_ues = flow.source in builder.enters or flow.destination in builder.leaves
        class_ = Class(
            flow.payload_bytes,
            flow.payload_bytes + flow.header_bytes,
            tunnel if of_ues else 0,
        )
        source = builder.enters.get(flow.source, builder.index.get(flow.source, -1))
        destination = builder.leaves.get(flow.destination, builder.index.get(flow.destination, -1))
        number_of_class = classes.setdefault(class_, len(classes))
        key = (source, destination, number_of_class, flow.rate_bps)
        demand = groups.setdefault(key, Demand(source, destination, number_of_class))
        demand.flows.append(index)
        if flow.rate_bps is not None:
            most = _most_mbps(flow, builder.scenario)
            known = demand.cap_mbps if len(demand.flows) > 1 else 0.0
            demand.cap_mbps = max(most, known)
    horizon_s = horizon(builder.scenario, flows)
    sizes = [flow.size_bytes for flow in flows if flow.size_bytes is not None]
    builder.least_bytes = min(sizes, default=0)
    builder.horizon_s = 0.0 if sizes else horizon_s
    shares = [active_share(flow, builder.scenario, horizon_s) for flow in flows]
    demands = list(groups.values())
    for demand in demands:
        demand.weight = sum(shares[flow] for flow in demand.flows)
    program = Program(
        nodes=builder.nodes,
        arcs=builder.arcs,
        resources=builder.resources,
        classes=list(classes),
        demands=demands,
        flows=flows,
        rules=dict(builder.rules),
        notes=builder.notes,
    )
    _require_paths(builder, program)
    return program


def _most_mbps(flow: Flow, scenario: dict[str, Any]) -> float:
    """The largest mean rate of a source, whose first packet leaves at once."""
    assert flow.rate_bps is not None
    if flow.size_bytes is None:
        end_s = number(scenario["duration"])
        end_s = end_s if flow.stop_s is None else min(end_s, flow.stop_s)
        return (flow.rate_bps + 8 * flow.payload_bytes / (end_s - flow.start_s)) / 1e6
    after_first = flow.size_bytes - flow.payload_bytes
    if after_first <= 0:
        return math.inf
    return flow.rate_bps / 1e6 * flow.size_bytes / after_first


def _require_paths(builder: Builder, program: Program) -> None:
    """Find the smallest delay of each flow, there and back, and flows that no path serves.

    Raises:
        BacklaneError: R050.
    """

    def way(source: str, destination: str) -> tuple[int, int]:
        tail = builder.enters.get(source, builder.index.get(source, -1))
        return tail, builder.leaves.get(destination, builder.index.get(destination, -1))

    there = [way(flow.source, flow.destination) for flow in program.flows]
    back = [way(flow.destination, flow.source) for flow in program.flows if flow.is_tcp]
    delays = Paths(program).between(program.delays_s, set(there) | set(back))
    for at, flow in enumerate(program.flows):
        there_s = delays[there[at]]
        back_s = delays[way(flow.destination, flow.source)] if flow.is_tcp else 0.0
        if not math.isfinite(there_s + back_s):
            raise BacklaneError(
                "R050",
                f"no path leads from {flow.source} to {flow.destination}"
                + ("" if math.isinf(there_s) else " and back"),
                f"{builder.file}: flow {flow.name}",
                "add a link, or take the flow away",
            )
        program.one_way_s.append(there_s)
        program.opening_s.append(there_s + back_s if flow.is_tcp else 0.0)


def horizon(scenario: dict[str, Any], flows: list[Flow]) -> float:
    """Seconds from the first start of a flow to the end of the scenario."""
    return number(scenario["duration"]) - min(flow.start_s for flow in flows)


def active_share(flow: Flow, scenario: dict[str, Any], horizon_s: float) -> float:
    """The share of the horizon in which a flow is active.

    1 unless the flow is endless and begins later than others: a rate over its own time is that much
    less over the whole.
    """
    if flow.size_bytes is not None:
        return 1.0
    end_s = number(scenario["duration"])
    if flow.stop_s is not None:
        end_s = min(end_s, flow.stop_s)
    return (end_s - flow.start_s) / horizon_s
