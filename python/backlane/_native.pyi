"""Types of the compiled simulator (crates/python)."""

from collections.abc import Callable, Sequence
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
    """Of R103: the file and line of the congestion control; other errors have none."""

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
    def acked_pkts(self) -> int:
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

def tables() -> dict[str, dict[str, str]]:
    """Name and type (`text`, `integer`, `float`) of the columns of each table.

    Series are named `series/<probe>`.
    """

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
) -> RunResult: ...
def schema() -> str: ...
def explain(code: str) -> str | None: ...
def explain_key(path: str) -> str | None: ...
def nearest_key(path: str) -> str | None: ...
def codes() -> list[str]: ...
def template(name: str) -> str: ...
def template_names() -> list[str]: ...
