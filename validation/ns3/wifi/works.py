"""The runs in both: stations around a receiver, hidden ones, chains, fading."""

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
            do not sense each other) or `chain`.
        standard: `a` or `b`.
        rate: of data, in Mbit/s.
        stations: senders, or hops of the chain.
        rts: RTS and CTS before all data.
        transport: `udp`, or `tcp` over a chain.
        spacing_m: between neighbours.
        sensitivity_dbm: threshold of preamble detection.
        carrier_sense_dbm: threshold of CCA.
        fading: Nakagami's m, 0 for none.
        offered_bps: of IP packets, by each sender of UDP.
        seconds: simulated, after the first second, which does not count.
        runs: number of runs with different random numbers; their mean counts.
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
        """Its unique name."""
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
        """The arguments of our program over ns-3, without the number of the run."""
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


#: Goodput of a single station in bit/s, rounded up, and the duration of a mean over frames.
_ALONE = {
    ("b", 11.0): (6e6, 30.0),
    ("b", 2.0): (1.7e6, 80.0),
    ("a", 54.0): (31e6, 10.0),
    ("a", 6.0): (5.5e6, 40.0),
}


def saturated(standard: str, rate: float, stations: int, *, rts: bool) -> Work:
    """Every queue always full: each sender offers 1.5 times its share."""
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


#: 30 m apart: the neighbour is received at -75 dBm, the next at -84, the third at -89.3.
_APART_M, _FOUND_DBM = 30.0, -80.0


def _hidden() -> list[Work]:
    """Two saturated senders that cannot sense each other."""
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
        runs=10,
    )


def _chains() -> list[Work]:
    """A saturated chain."""
    return [chain(hops, transport) for transport in ("udp", "tcp") for hops in HOPS]


def _fading() -> list[Work]:
    """One link with independent fading of each frame."""
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
    """All runs, by group."""
    return {
        "saturation": _saturation(),
        "hidden": _hidden(),
        "chains": _chains(),
        "fading": _fading(),
    }
