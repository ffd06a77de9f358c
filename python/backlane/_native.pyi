"""Types of the compiled simulator (crates/python)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from backlane.congestion import CongestionState

class ScenarioError(Exception):
    """A scenario that cannot be run as written."""

    diagnostics: list[dict[str, Any]]
    rendered: str

class RunError(Exception):
    """A run that could not be carried out."""

    code: str
    place: str
    """Of R103: the file and line of the Python class; other errors have none."""

class Table:
    """A table with the Arrow PyCapsule interface: `polars.DataFrame(table)` shares its columns."""

    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

class Sink(Protocol):
    """Receives series and captures during a run; an exception ends the run."""

    def series(self, probe: str, table: Table, /) -> object:
        """Receive further rows of a series.

        All pieces of a probe have the same columns; in order they are the series.
        """

    def capture(self, node: str, data: bytes, /) -> object:
        """Receive further bytes of the capture of a node, a pcapng file.

        The first piece begins with the head of the file, and each ends with a whole block.
        """

class RunResult:
    """The results of one run."""

    summary: dict[str, Any]
    tables: dict[str, Table]
    """By name, without series."""
    series: dict[str, Table]
    """By the name of the probe; empty if a sink received them."""
    captures: dict[str, bytes]
    """Files by the node's name; empty if a sink received them."""
    consoles: dict[str, str]
    """What the kernels of hosts have printed, by host."""
    undivided: str | None
    """Why the run used one thread, if more were offered."""

class Window:
    """The congestion window and the slow-start threshold, as the endpoint lends them to a hook.

    Both are whole numbers of packets. A window below 1 counts as 1, a threshold below 2 as 2;
    what is negative or no whole number is an error.
    """

    cwnd_pkts: int
    """The congestion window, in packets."""
    ssthresh_pkts: int
    """The slow-start threshold, in packets; 2³² − 1: none yet."""

    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below the threshold."""

    def slow_start(self, acked_pkts: int) -> int:
        """Grow by the packets acknowledged, up to the threshold.

        Returns:
            The packets that are left for congestion avoidance.
        """

    def increase_additively(self, per_pkts: int, acked_pkts: int) -> None:
        """Grow by one packet for every `per_pkts` packets acknowledged, over many calls."""

class RateSample:
    """How fast the network delivered, over the flight of the newest segment acknowledged."""

    @property
    def delivered_pkts(self) -> int:
        """Packets delivered while that segment was in flight."""
    @property
    def interval_us(self) -> int:
        """The longer of the sending and the acknowledging interval; 0: no valid sample."""
    @property
    def delivered_ce_pkts(self) -> int:
        """Packets delivered with a congestion mark while that segment was in flight."""
    @property
    def prior_delivered_pkts(self) -> int:
        """Packets ever delivered when that segment was sent; 0 with an invalid sample."""
    @property
    def prior_lost_pkts(self) -> int:
        """Packets ever lost when that segment was sent."""
    @property
    def tx_in_flight_pkts(self) -> int:
        """Packets in flight when that segment was sent, itself included."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the application limited the sender when that segment was sent."""
    @property
    def is_retransmitted(self) -> bool:
        """Whether that segment had been retransmitted."""

class Ack:
    """What an acknowledgment brought."""

    @property
    def acked_pkts(self) -> int:
        """Packets newly acknowledged or SACKed."""
    @property
    def covered_pkts(self) -> int:
        """Packets that the cumulative acknowledgment covers now, those SACKed before included."""
    @property
    def in_flight_pkts(self) -> int:
        """Packets in flight after the acknowledgment was processed."""
    @property
    def snd_una(self) -> int:
        """The first sequence number not acknowledged."""
    @property
    def snd_nxt(self) -> int:
        """The next sequence number to be sent: a round that starts now ends when it is passed."""
    @property
    def is_cwnd_limited(self) -> bool:
        """Whether the congestion window limited the last flight, not application or receiver."""
    @property
    def delivered_pkts(self) -> int:
        """Packets ever delivered, this acknowledgment included."""
    @property
    def delivered_ce_pkts(self) -> int:
        """Packets ever delivered with a congestion mark, this acknowledgment included."""
    @property
    def lost_pkts(self) -> int:
        """Packets ever marked lost."""
    @property
    def newly_lost_pkts(self) -> int:
        """Packets newly marked lost by this acknowledgment."""
    @property
    def prior_in_flight_pkts(self) -> int:
        """Packets in flight before the acknowledgment was processed."""
    @property
    def has_ece(self) -> bool:
        """Whether it echoes a congestion mark (ECE)."""
    @property
    def min_rtt_us(self) -> int:
        """The smallest RTT of the last 300 s; 0 before the first sample."""
    @property
    def rtt_us(self) -> int | None:
        """The RTT sample of this acknowledgment, if there was one."""
    @property
    def srtt_us(self) -> int:
        """The smoothed RTT."""
    @property
    def max_packets_out_pkts(self) -> int:
        """The most packets out in the last flight."""
    @property
    def pacing_wait_us(self) -> int:
        """How long pacing holds the next segment back."""
    @property
    def mss_bytes(self) -> int:
        """Payload of a full segment."""
    @property
    def state(self) -> CongestionState:
        """The state of loss recovery."""
    @property
    def rate(self) -> RateSample:
        """The delivery rate; all zero unless the class sets `needs_rate_samples`."""

class LostPacket:
    """A packet that was marked lost."""

    @property
    def tx_in_flight_pkts(self) -> int:
        """Packets in flight when it was sent, itself included."""
    @property
    def lost_since_sent_pkts(self) -> int:
        """Packets marked lost since it was sent, itself included."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the application limited the sender when it was sent."""
    @property
    def delivered_pkts(self) -> int:
        """Packets ever delivered, the present acknowledgment included."""

class Arrival:
    """What a new acknowledgment says, before losses are looked for."""

    @property
    def acked_bytes(self) -> int:
        """Bytes that it acknowledges cumulatively."""
    @property
    def delivered_pkts(self) -> int:
        """Packets newly acknowledged or SACKed."""
    @property
    def snd_una(self) -> int:
        """The first sequence number not acknowledged, this acknowledgment included."""
    @property
    def snd_nxt(self) -> int:
        """The next sequence number to be sent."""
    @property
    def has_ece(self) -> bool:
        """Whether it echoes a congestion mark (ECE, RFC 3168)."""
    @property
    def one_way_delay_us(self) -> int | None:
        """The delay of the data on its way, from timestamps; only differences mean something."""
    @property
    def srtt_us(self) -> int:
        """The smoothed RTT; 0 before the first sample."""
    @property
    def mss_bytes(self) -> int:
        """Payload of a full segment."""

class RttSample:
    """An RTT sample, of the newest segment acknowledged."""

    @property
    def rtt_us(self) -> int:
        """The sample."""
    @property
    def srtt_us(self) -> int:
        """The smoothed RTT, this sample included."""
    @property
    def covered_pkts(self) -> int:
        """Packets that the cumulative acknowledgment covers now, those SACKed before included."""
    @property
    def sacked_pkts(self) -> int:
        """Packets SACKed and not cumulatively acknowledged."""
    @property
    def packets_out_pkts(self) -> int:
        """Packets sent and not cumulatively acknowledged."""
    @property
    def snd_una(self) -> int:
        """The first sequence number not acknowledged."""
    @property
    def snd_nxt(self) -> int:
        """The next sequence number to be sent."""
    @property
    def mss_bytes(self) -> int:
        """Payload of a full segment."""

class RouterContext:
    """A node as the hooks of its router see it. It can only be used during a hook."""

    @property
    def node(self) -> str:
        """The name of the node."""
    @property
    def now_s(self) -> float:
        """Simulated time."""
    @property
    def neighbours(self) -> Mapping[str, Neighbour]:
        """The neighbouring routers by name, in the order of the interfaces.

        Of parallel links to one neighbour, only the first is used.
        """
    @property
    def map(self) -> NetworkMap:
        """All routers and links, as computed routes need them. A distributed protocol does without.

        It shows no failures, and no packets.
        """
    def send(self, neighbour: str, message: bytes) -> None:
        """Send a message to a neighbour, in a UDP datagram: 28 bytes more on the link.

        Messages wait in the queues like packets and may be lost. One has 1472 bytes at most.
        """
    def broadcast(self, message: bytes) -> None:
        """Send a message to all neighbours: one frame on each radio, a copy on each wire."""
    def set_timer(self, after_s: float, name: str = "") -> None:
        """Have `on_timer` called after this time. A timer that runs under this name is moved."""
    def cancel_timer(self, name: str = "") -> None:
        """Stop a timer, if it runs."""

class Neighbour:
    """A neighbouring router, and the interface that leads to it."""

    @property
    def name(self) -> str:
        """The name of the node."""
    @property
    def rate_bps(self) -> int:
        """The rate of the link towards it; over a radio the nominal one."""
    @property
    def delay_s(self) -> float:
        """The propagation delay of the link; 0 over a radio."""
    @property
    def backlog_pkts(self) -> int:
        """Packets in the queue of the interface; the one in transmission does not count.

        Interfaces of one radio have one queue. The value is that at the beginning of the hook.
        """
    @property
    def has_carrier(self) -> bool:
        """Whether the wire is up; always true over a radio. As at the beginning of the hook."""

class NetworkMap:
    """All routers and links of the network."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The routers, in the order of the scenario."""
    def links(self, node: str) -> tuple[Link, ...]:
        """The links from a router, in the order of its interfaces."""

class Link:
    """A link to a neighbouring router."""

    @property
    def neighbour(self) -> str:
        """The router at its end."""
    @property
    def rate_bps(self) -> int:
        """Its rate; over a radio the nominal one."""
    @property
    def delay_s(self) -> float:
        """Its propagation delay; 0 over a radio."""

class Packet:
    """A packet that is to be forwarded."""

    @property
    def source(self) -> str:
        """The node that sent it."""
    @property
    def destination(self) -> str:
        """The node that it is for."""
    @property
    def entry(self) -> str:
        """The router where its source is attached."""
    @property
    def exit(self) -> str:
        """The router where it leaves the network: its destination is attached there."""
    @property
    def previous(self) -> str:
        """The node that it came from: a neighbour, or its source at the first router."""
    @property
    def flow(self) -> int:
        """The number of its flow."""
    @property
    def reverse(self) -> bool:
        """Whether it travels from the flow's destination to its source, as ACKs do."""
    @property
    def sequence(self) -> int:
        """Its number among the packets of its flow and direction."""
    @property
    def size_bytes(self) -> int:
        """Its size, headers included."""
    @property
    def hops(self) -> int:
        """Routers that have forwarded it, this one included."""
    @property
    def ttl(self) -> int:
        """Hops that are left before it is dropped."""

class FlowState:
    """The state of a flow in a pause of a run; counts are totals since its start."""

    @property
    def has_started(self) -> bool:
        """Whether it has started."""
    @property
    def has_ended(self) -> bool:
        """Whether it has finished or failed."""
    @property
    def delivered_bytes(self) -> int:
        """Payload delivered, in order where the transport promises order."""
    @property
    def mss_bytes(self) -> int:
        """Payload of a full segment; this and the others are 0 without TCP."""
    @property
    def cwnd_pkts(self) -> int:
        """Congestion window."""
    @property
    def in_flight_pkts(self) -> int:
        """Packets in flight."""
    @property
    def srtt_s(self) -> float:
        """Smoothed RTT; 0 before the first sample."""
    @property
    def min_rtt_s(self) -> float:
        """The smallest RTT; 0 before the first sample."""
    @property
    def rtt_samples(self) -> int:
        """RTT samples."""
    @property
    def rtt_sum_s(self) -> float:
        """Their sum."""
    @property
    def delivered_pkts(self) -> int:
        """Packets that acknowledgments reported as delivered, in any order."""
    @property
    def segments_sent(self) -> int:
        """Segments with data sent, retransmissions included."""
    @property
    def retransmits(self) -> int:
        """Segments sent again."""

class LinkState:
    """The state of a link direction in a pause of a run."""

    @property
    def sent_bytes(self) -> int:
        """Bytes sent since the start of the run."""
    @property
    def queue_bytes(self) -> int:
        """Bytes that wait for it, those in a queue of its router included."""
    @property
    def drops(self) -> int:
        """Packets dropped from its queues since the start of the run."""
    @property
    def rate_bps(self) -> int:
        """Its rate; 0 while it is down."""

class Stepper:
    """A run of a resolved scenario that pauses, on one thread.

    Args:
        resolved: the scenario.
        seed: of the run.
        commanded: names of the TCP flows whose windows are set; None: all.

    Raises:
        RunError: when it cannot be built; R093 for a slotted model.
    """

    def __new__(
        cls, resolved: str, seed: int, commanded: Sequence[str] | None = None
    ) -> Stepper: ...
    @property
    def flows(self) -> list[str]:
        """The names of the flows, in the order of the results."""
    @property
    def commanded(self) -> list[int]:
        """The numbers of the flows whose windows can be set."""
    @property
    def links(self) -> list[tuple[str, str]]:
        """The ends of each link direction, in the order of the results."""
    @property
    def wires(self) -> list[tuple[int, int]]:
        """The links between routers: the numbers of both directions."""
    @property
    def protocol(self) -> str:
        """The routing protocol."""
    @property
    def warm_up_s(self) -> float:
        """When the warm-up ends."""
    @property
    def end_s(self) -> float:
        """When the run ends at the latest, the warm-up included."""
    @property
    def now_s(self) -> float:
        """The simulated time, the warm-up included."""
    @property
    def ended(self) -> str | None:
        """How the run ended, if it did."""
    @property
    def digest(self) -> str:
        """Of all events so far."""
    def advance(self, until_s: float) -> None:
        """Run until a time, or to the end; an exception closes the run.

        Raises:
            RunError: R092 when the run is closed; when the run failed.
        """
    def flow(self, number: int) -> FlowState: ...
    def link(self, number: int) -> LinkState: ...
    def set_window(self, number: int, cwnd_pkts: int) -> None:
        """Set the window of a commanded flow, from its next acknowledgment on."""
    def set_costs(self, costs: Sequence[int]) -> None:
        """Set the costs of the links of `wires`, at least 1.

        Raises:
            RunError: R093 when the protocol is not shortest-path.
        """
    def finish(self) -> RunResult:
        """The result of a run that has ended; the run is closed.

        Raises:
            RunError: R092 before the end.
        """
    def close(self) -> None:
        """End the run without a result."""

def tables() -> dict[str, dict[str, str]]:
    """Name and type (`text`, `integer`, `float`) of the columns of each table.

    Series are named `series/<probe>`.
    """

def mean_interval(
    values: Sequence[float], low: float, high: float
) -> tuple[float, float, float, int, str]: ...
def percentile(values: Sequence[float], percent: float) -> float: ...
def jain(values: Sequence[float]) -> float: ...
def holm(p_values: Sequence[float], family: int | None) -> list[float]: ...
def paired(values: Sequence[float]) -> tuple[float, float, int]: ...
def above(found: tuple[float, float, int], bound: float) -> float: ...
def differs(found: tuple[float, float, int]) -> float: ...
def within(found: tuple[float, float, int], margin: float) -> float: ...
def seeds_needed(found: tuple[float, float, int], margin: float, level: float) -> int: ...
def decide(
    found: Sequence[tuple[float, float, int]], margin: float
) -> list[tuple[str, float, int]]: ...
def rank(
    contenders: Sequence[tuple[str, Mapping[int, float]]], equal_within: float
) -> list[
    tuple[
        str,
        tuple[float, float, float, int, str],
        tuple[float, float, float, int, str] | None,
        tuple[str, float, int],
    ]
]: ...
def model_version() -> str: ...
def commit() -> str: ...
def sources() -> str: ...
def check(text: str, path: str, overrides: Sequence[tuple[str, str]] = ...) -> list[dict[str, Any]]:
    """The warnings of a scenario; what a signal handler raises ends the check."""

def remarks(resolved: str, seed: int, path: str) -> list[dict[str, Any]]: ...
def estimate(resolved: str) -> dict[str, Any]: ...
def plan(
    text: str,
    path: str,
    overrides: Sequence[tuple[str, str]] = ...,
    seed: int | None = None,
) -> str:
    """The plan as JSON, with the warnings; what a signal handler raises ends it."""

def run(
    resolved: str,
    seed: int,
    progress: Callable[[float, float, int], None] | None = None,
    sink: Sink | None = None,
    threads: int = 1,
    at_most: bool = False,
    kernels: dict[str, tuple[str, str, str]] | None = None,
) -> RunResult: ...
def contender_keys(swept: Sequence[str], named: Sequence[str]) -> list[str]: ...
def schema() -> str: ...
def explain(code: str) -> str | None: ...
def explain_key(path: str) -> str | None: ...
def nearest_key(path: str) -> str | None: ...
def codes() -> list[str]: ...
def template(name: str) -> tuple[str, list[tuple[str, str]]]:
    """A scenario, and the files that it names, each with its text."""

def template_names() -> list[tuple[str, str]]:
    """The templates, each with what it describes."""

class EmulationView:
    """An emulation at an instant."""

    now_s: float
    """Simulated time, that of the warm-up included."""
    links: list[tuple[int, int, int, int]]
    """Of each link direction: bytes sent, bytes queued, packets dropped, rate in bit/s."""
    received_pkts: int
    """Read from hosts."""
    delivered_pkts: int
    """Delivered to hosts."""
    refused_pkts: int
    """That a host's interface did not take."""
    rejected_pkts: int
    """From hosts, but not for a host of an external flow, or not of IPv4; known at the end."""
    late_p50_s: float | None
    late_p95_s: float | None
    late_p99_s: float | None
    late_mean_s: float | None
    """How far deliveries were behind the wall clock; None before the first."""
    late_pkts: int
    """Deliveries that were late by more than 10 ms."""
    late_worst_s: float
    """The largest lateness of an event."""
    behind_periods: int
    """Periods longer than a second in which every event was late by more than 10 ms."""
    behind_s: float
    """Their length together."""

class Emulator:
    """A run on the wall clock; the hosts of its external flows are on this machine. Linux alone."""

    def __init__(self, resolved: str, seed: int) -> None: ...
    @property
    def hosts(self) -> list[tuple[str, str]]:
        """The name and the IPv4 address of each host."""
    @property
    def links(self) -> list[tuple[str, str]]:
        """The ends of each link direction, in the order of the views."""
    @property
    def warm_up_s(self) -> float: ...
    @property
    def end_s(self) -> float: ...
    def open(self, number: int, path: str) -> int:
        """Open the TUN device of a host in the namespace at `path`; its descriptor.

        The caller makes it an interface (TUNSETIFF). It remains the emulation's.

        Raises:
            OSError: when the system refuses.
        """
    def run(self, sink: Sink | None = None) -> RunResult:
        """Run to the end of the scenario's duration, or until `stop` from another thread.

        Raises:
            RunError: when a model or a device failed.
        """
    def stop(self) -> None:
        """End the run within 50 ms; it has results."""
    def view(self) -> EmulationView:
        """The emulation a quarter of a second ago at most."""
    def summary(self) -> dict[str, Any]:
        """What the emulation measured of itself so far, for a manifest."""
    def close(self) -> None:
        """Close the devices of an emulation that does not run; their interfaces vanish."""
