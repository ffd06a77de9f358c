"""The runs in both: a flow over one path, UDP and TCP over three."""

from __future__ import annotations

import math
from dataclasses import dataclass

#: The routers on the path from S to R, by the path's name.
PATHS = {"a": ("a1",), "b": ("b1", "b2"), "c": ("c1", "c2", "c3")}

#: Offered to all paths together, of IP packets; one path carries 30.5 Mbit/s.
OFFERED_BPS = (15e6, 36e6, 45e6, 81e6, 105e6)

#: Runs of work with little scatter, and of TCP over three paths.
FEW, MANY = 3, 10

#: Goodput counts from here on; flows start in the first second.
WARM_UP_S = 5.0


@dataclass(frozen=True)
class Work:
    """One piece of work.

    Attributes:
        paths: those in use, of `PATHS`.
        transport: `udp` or `tcp`.
        flows: how many, each from S to R.
        pins: a flow keeps to a path in each direction.
        sack: selective acknowledgments.
        delayed: segments acknowledged together.
        offered_bps: of IP packets, by UDP.
        seconds: simulated.
        runs: with other random numbers each.
    """

    paths: str = "abc"
    transport: str = "tcp"
    flows: int = 1
    pins: bool = False
    sack: bool = True
    delayed: int = 2
    offered_bps: float = 0.0
    seconds: float = 15.0
    runs: int = MANY

    @property
    def name(self) -> str:
        """Its unique name."""
        if self.transport == "udp":
            return f"UDP {self.offered_bps / 1e6:g} Mbit/s over {len(self.paths)} paths"
        if len(self.paths) == 1:
            hops = len(PATHS[self.paths]) + 1
            return f"TCP over {hops} hops, an ACK for {self.delayed}"
        flows = f"{self.flows} flow" + "s" * (self.flows > 1)
        spread = "pinned" if self.pins else "per packet"
        return f"{flows} of TCP {spread}, " + ("SACK" if self.sack else "no SACK")

    @property
    def options(self) -> tuple[str, ...]:
        """The arguments of our program over ns-3, without the number of the run."""
        return (
            f"--paths={self.paths}",
            f"--transport={self.transport}",
            f"--flows={self.flows}",
            f"--pins={int(self.pins)}",
            f"--sack={int(self.sack)}",
            f"--delayed={self.delayed}",
            f"--offered={self.offered_bps:g}",
            f"--seconds={self.seconds:g}",
            f"--warmUp={WARM_UP_S:g}",
        )


def works() -> dict[str, list[Work]]:
    """All work, by what it shows."""
    return {
        "alone": [
            Work(paths=path, delayed=delayed, runs=FEW) for delayed in (1, 2) for path in PATHS
        ],
        "udp": [Work(transport="udp", offered_bps=offered, runs=FEW) for offered in OFFERED_BPS],
        "tcp": [
            *(
                Work(flows=flows, sack=sack, seconds=10.0)
                for flows in (1, 3)
                for sack in (True, False)
            ),
            Work(flows=3, pins=True, seconds=10.0),
        ],
    }


#: 802.11a at 54 Mbit/s, answers at 24: seconds of a slot, SIFS, DIFS and a preamble; bits in a
#: symbol of 4 us by rate.
_SLOT_S, _SIFS_S, _DIFS_S, _PREAMBLE_S, _SYMBOL_S = 9e-6, 16e-6, 34e-6, 20e-6, 4e-6
_DATA_BITS, _ACK_BITS = 216, 96
#: The mean of a back-off of 0 to 15 slots.
_BACK_OFF_S = 7.5 * _SLOT_S


def _frame_s(mac_bytes: int, symbol_bits: int) -> float:
    """A frame's time on the air: preamble, service field of 16 bits, data, tail of 6 bits."""
    return _PREAMBLE_S + _SYMBOL_S * math.ceil((16 + 8 * mac_bytes + 6) / symbol_bits)


def _exchange_s(packet_bytes: int) -> float:
    """A packet, its ACK and the time before them, for a single station."""
    data_s = _frame_s(packet_bytes + 36, _DATA_BITS)
    return _DIFS_S + _BACK_OFF_S + data_s + _SIFS_S + _frame_s(14, _ACK_BITS)


def goodput_in_turn_bps(delayed: int) -> float:
    """TCP's goodput over a link if frames of its two ends alternate without collisions.

    If both ends are backlogged they count down their back-offs together, so that a link can carry
    slightly more.
    """
    taken_s = delayed * _exchange_s(1500) + _exchange_s(52)
    return 8 * 1448 * delayed / taken_s
