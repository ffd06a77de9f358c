"""Congestion controls in Python: the class to derive from.

A scenario names a class as ``"python:FILE:CLASS"``. `backlane.classes` loads it, and
`crates/python` calls its hooks.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from backlane import classes
from backlane.classes import Base, Named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from backlane._native import Ack, Arrival, LostPacket, RttSample, Window

CongestionState = Literal["open", "disorder", "cwr", "recovery", "loss"]
"""The state of loss recovery, as Linux divides it."""


class CongestionControl(ABC):
    """The law by which the window of one TCP connection grows and shrinks.

    The endpoint owns the window and lends it to the hooks; it finds the lost packets and sends
    them again itself. Windows are counted in packets. Only the hooks that a class defines are
    called. For one acknowledgment they come in this order: `on_rtt_sample`, `on_arrival`, then
    the `on_state_change` and `ssthresh` that loss detection brings, then `on_ack` unless the
    state is "cwr" or "recovery", where the endpoint itself shrinks the window to the threshold.

    The same scenario and seed give the same run as long as a class decides by nothing but the
    arguments of its hooks, its own attributes and `self.random`. Clocks, files, other sources of
    randomness and the order of a set of texts differ between two executions.

    Each end of a connection has an object of its own; only that of the sender gets
    acknowledgments of data.

    Args:
        seed: the connection's, drawn from the seed of the run.
    """

    needs_rate_samples: ClassVar[bool] = False
    """Whether `Ack.rate` shall be measured."""
    owns_window: ClassVar[bool] = False
    """Whether `on_ack` is called in every state, and nothing else shrinks the window."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        """Random numbers of this connection alone."""

    @classmethod
    def with_parameters(cls, **values: bool | int | float | str) -> type[CongestionControl]:
        """The class with other values of its parameters.

        A class attribute that is a number, a text or a boolean is a parameter.

        Args:
            values: by the name of the attribute, of the same type.

        Raises:
            BacklaneError: R020 for a parameter that the class does not have, or a value of another
                type.
        """
        return classes.variant(BASE, cls, values)

    def on_established(self, now_s: float, srtt_us: int, mss_bytes: int, window: Window) -> None:
        """The handshake is done and the window is the initial one.

        Args:
            now_s: simulated time.
            srtt_us: the RTT of the handshake; 0 if it could not be measured.
            mss_bytes: payload of a full segment.
            window: may be changed.
        """

    def on_rtt_sample(self, now_s: float, sample: RttSample, window: Window) -> None:
        """An RTT was measured; losses have not yet been looked for.

        Args:
            now_s: simulated time.
            sample: the RTT, and what its acknowledgment covers.
            window: may be changed; its threshold too.
        """

    def on_arrival(self, now_s: float, arrival: Arrival, window: Window) -> None:
        """An acknowledgment that is not older than the last one arrived.

        Args:
            now_s: simulated time.
            arrival: what it says; losses have not yet been looked for.
            window: may be changed.
        """

    @abstractmethod
    def on_ack(self, now_s: float, ack: Ack, window: Window) -> None:
        """Data was acknowledged in state "open", "disorder" or "loss": the window may grow.

        Args:
            now_s: simulated time.
            ack: what the acknowledgment brought; everything but the window has been updated.
            window: to be changed.
        """

    @abstractmethod
    def ssthresh(self, now_s: float, window: Window, in_flight_pkts: int) -> int:
        """The threshold for a loss seen now, in packets; below 2 it counts as 2.

        Called once on entry to "recovery" or "loss", before the state changes.

        Args:
            now_s: simulated time.
            window: still untouched, and not to be changed here.
            in_flight_pkts: packets in flight.
        """

    def on_loss(self, now_s: float, window: Window) -> None:
        """The state "recovery" or "loss" begins for a loss.

        Args:
            now_s: simulated time.
            window: its threshold follows from `ssthresh`, unless a reduction or a recovery was
                under way, and may be changed.
        """

    def undo_cwnd(self, window: Window, prior_cwnd_pkts: int) -> int:
        """The window after a recovery or timeout proved needless, in packets.

        Args:
            window: as it is now, and not to be changed here.
            prior_cwnd_pkts: what it was before the recovery.
        """
        return max(window.cwnd_pkts, prior_cwnd_pkts)

    def take_reduction(self) -> bool:
        """Whether the window shall be reduced to `ssthresh`; asked once after each `on_ack`."""
        return False

    def pacing_rate(self) -> float | None:
        """The rate at which segments may leave, in bits per second.

        None: as fast as the window allows. Asked for every segment.
        """
        return None

    def on_state_change(self, now_s: float, state: CongestionState, snd_nxt: int) -> None:
        """The state of loss recovery is about to become `state`.

        Args:
            now_s: simulated time.
            state: the new one; entering "loss", the window has not yet been cut.
            snd_nxt: the next sequence number to be sent.
        """

    def on_packet_lost(self, now_s: float, lost: LostPacket, window: Window) -> None:
        """A packet was marked lost, by an acknowledgment or a timer.

        Only called with `needs_rate_samples`; before `on_ack` and `on_timeout`.

        Args:
            now_s: simulated time.
            lost: what was in flight when it was sent, and lost since.
            window: not to be changed here.
        """

    def on_timeout(self, now_s: float, lost_pkts: int) -> None:
        """The retransmission timer expired, and what was outstanding is marked lost.

        Called after `ssthresh` and before the change of state, if the timeout brings them, and
        before the window is cut.

        Args:
            now_s: simulated time.
            lost_pkts: packets ever marked lost.
        """

    def on_recovery_exit(self, now_s: float, window: Window) -> None:
        """Recovery is over; the state is still "recovery".

        Args:
            now_s: simulated time.
            window: stands at the threshold, and may be changed.
        """

    def on_idle_restart(self, now_s: float, snd_nxt: int, window: Window) -> None:
        """The sender was idle for longer than the timeout.

        Args:
            now_s: simulated time.
            snd_nxt: the next sequence number to be sent.
            window: about to be shrunk, and not to be changed here.
        """

    def on_transmit_start(self, now_s: float, idle_s: float, snd_nxt: int) -> None:
        """Transmission starts with nothing in flight.

        Args:
            now_s: simulated time.
            idle_s: time since the last segment was sent.
            snd_nxt: the next sequence number to be sent.
        """

    def on_restart(self, now_s: float, window: Window) -> None:
        """Transmission starts with nothing in flight, after the application had nothing to send.

        Only called with `needs_rate_samples`.

        Args:
            now_s: simulated time.
            window: may be changed.
        """

    def holds_back(self) -> bool:
        """Whether the class itself keeps the flow below what the path may carry.

        Samples of what is sent then count as limited by the application. Asked after each
        `on_ack`, with `needs_rate_samples`.
        """
        return False


BASE = Base(CongestionControl, "congestion control", ("needs_rate_samples", "owns_window"))


def prepare(file: str, name: str, source: str) -> Callable[[int], dict[str, Any]]:
    """Load a class, as `classes.prepare` describes; `crates/python` calls it."""
    return classes.prepare(BASE, file, name, source)


def named(controls: Sequence[Mapping[str, Any]]) -> list[Named]:
    """The classes among the `custom_controls` of a plan."""
    return [Named.of(BASE, one["python"]) for one in controls]
