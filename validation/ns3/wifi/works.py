"""What is run in both: stations around a receiver, hidden ones, chains, fading."""

from __future__ import annotations

from dataclasses import dataclass

STATIONS = (1, 2, 5, 10, 20, 50)
HOPS = (1, 2, 3, 4, 5, 6)
#: Nakagami's m and metres between sender and receiver.
FADINGS = tuple((m, metres) for m in (1.0, 3.0) for metres in (20.0, 30.0, 40.0, 50.0))


@dataclass(frozen=True)
class Work:
    """One run.

    Attributes:
        shape: `star` (senders around a receiver), `hidden` (a receiver between two senders that
            do not hear each other) or `chain`.
        standard: `a` or `b`.
        rate: of data, in Mbit/s.
        stations: senders, or hops of the chain.
        rts: RTS and CTS before all data.
        transport: `udp`, or `tcp` over a chain.
        spacing_m: between neighbours.
        sensitivity_dbm: from which a preamble is found.
        carrier_sense_dbm: from which the air is busy.
        fading: Nakagami's m, 0 for none.
        offered_bps: of IP packets, by each sender of UDP.
        seconds: simulated, after the second that does not count.
        runs: how many, with other random numbers each; their mean counts.
    """

    shape: str
    standard: str
    rate: float
    stations: int
    rts: bool = False
    transport: str = "udp"
    spacing_m: float = 1.0
    sensitivity_dbm: float = -82.0
    carrier_sense_dbm: float = -82.0
    fading: float = 0.0
    offered_bps: float = 1e6
    seconds: float = 10.0
    runs: int = 1

    @property
    def name(self) -> str:
        """What tells it from all others."""
        parts = [
            self.shape,
            f"802.11{self.standard}",
            f"{self.rate:g} Mbit/s",
            self.transport,
            f"{self.stations}",
            "RTS" if self.rts else "basic",
        ]
        if self.fading:
            parts.append(f"Nakagami {self.fading:g} at {self.spacing_m:g} m")
        return " ".join(parts)

    @property
    def control(self) -> float:
        """The rate of RTS, CTS and ACK by the standard's rule, in Mbit/s."""
        if self.standard == "b":
            return self.rate
        return max(rate for rate in (6.0, 12.0, 24.0) if rate <= self.rate)

    @property
    def packet_bytes(self) -> int:
        """The size of an IP packet."""
        return 1000 if self.standard == "b" else 1500

    @property
    def options(self) -> tuple[str, ...]:
        """What our program over ns-3 is told, but for the number of the run."""
        return (
            f"--shape={self.shape}",
            f"--standard={self.standard}",
            f"--rate={self.rate:g}",
            f"--control={self.control:g}",
            f"--stations={self.stations}",
            f"--rts={int(self.rts)}",
            f"--transport={self.transport}",
            f"--size={self.packet_bytes}",
            f"--spacing={self.spacing_m:g}",
            f"--sensitivity={self.sensitivity_dbm:g}",
            f"--carrierSense={self.carrier_sense_dbm:g}",
            f"--fading={self.fading:g}",
            f"--offered={self.offered_bps:g}",
            f"--seconds={self.seconds + 1:g}",
        )


#: What one station alone gets in bit/s, rounded up, and how long a mean over frames takes.
_ALONE = {
    ("b", 11.0): (6e6, 30.0),
    ("b", 2.0): (1.7e6, 80.0),
    ("a", 54.0): (31e6, 10.0),
    ("a", 6.0): (5.5e6, 40.0),
}


def saturated(standard: str, rate: float, stations: int, *, rts: bool) -> Work:
    """Every queue always full: each sender offers its share and half as much again."""
    alone_bps, seconds = _ALONE[standard, rate]
    return Work(
        shape="star",
        standard=standard,
        rate=rate,
        stations=stations,
        rts=rts,
        offered_bps=1.5 * alone_bps / stations,
        seconds=seconds,
    )


def _saturation() -> list[Work]:
    """One collision domain."""
    return [
        saturated(standard, rate, stations, rts=rts)
        for standard, rate in _ALONE
        for rts in (False, True)
        for stations in STATIONS
    ]


#: 30 m apart: the neighbour is heard at -75 dBm, the next at -84, the third at -89.3.
_APART_M, _FOUND_DBM = 30.0, -80.0


def _hidden() -> list[Work]:
    """Two senders that cannot sense each other, with more than the air can carry."""
    return [
        Work(
            shape="hidden",
            standard="a",
            rate=rate,
            stations=2,
            rts=rts,
            spacing_m=_APART_M,
            sensitivity_dbm=_FOUND_DBM,
            carrier_sense_dbm=_FOUND_DBM,
            offered_bps=10e6,
            seconds=200.0,
        )
        for rate in (6.0, 12.0, 24.0)
        for rts in (False, True)
    ]


def chain(hops: int, transport: str, offered_bps: float = 6e6, seconds: float = 40.0) -> Work:
    """Two hops are sensed and three are not."""
    return Work(
        shape="chain",
        standard="a",
        rate=6.0,
        stations=hops,
        transport=transport,
        spacing_m=_APART_M,
        sensitivity_dbm=_FOUND_DBM,
        carrier_sense_dbm=-86.0,
        offered_bps=offered_bps,
        seconds=seconds,
        runs=3,
    )


def _chains() -> list[Work]:
    """More than the chain can carry."""
    return [chain(hops, transport) for transport in ("udp", "tcp") for hops in HOPS]


def _fading() -> list[Work]:
    """One link whose frames fade one by one."""
    return [
        Work(
            shape="star",
            standard="a",
            rate=12.0,
            stations=1,
            fading=m,
            spacing_m=metres,
            sensitivity_dbm=-90.0,
            carrier_sense_dbm=-90.0,
            offered_bps=15e6,
            seconds=20.0,
        )
        for m, metres in FADINGS
    ]


def works() -> dict[str, list[Work]]:
    """All runs, by what they show."""
    return {
        "saturation": _saturation(),
        "hidden": _hidden(),
        "chains": _chains(),
        "fading": _fading(),
    }
