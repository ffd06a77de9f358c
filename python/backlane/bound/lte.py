"""LTE cells as shares of time.

A cell gives each subframe's resource blocks once, so that the times its UEs need, each at the rate
that it would have alone, add up to at most a second of each second. That rate is the largest
transport block of the bandwidth on all layers (TS 36.213 table 7.1.7.2.1-1), and where the channel
is known before the run at most Shannon's capacity of the cell's resource elements at the SINR
without interference. Control channels, reference signals, errors, HARQ, RLC and the uplink's grants
are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane.bound import losses
from backlane.bound.quantities import number
from backlane.bound.streams import Streams

if TYPE_CHECKING:
    from backlane.bound.network import Builder
    from backlane.bound.program import Class

BLOCKS = {
    "1.4 MHz": 6, "3 MHz": 15, "5 MHz": 25, "10 MHz": 50, "15 MHz": 75, "20 MHz": 100,
}  # fmt: skip
LARGEST_BITS = {
    6: (4392, 5992), 15: (11064, 14688), 25: (18336, 24496), 50: (36696, 48936),
    75: (55056, 75376), 100: (75376, 97896),
}  # fmt: skip
"""Bits of the largest transport block by resource blocks: up to 64QAM, up to 256QAM."""
MORE_WITH_LAYERS = 1.04
"""A block over two layers has at most this many times two blocks of one layer."""
ELEMENTS = 12 * 14
"""Resource elements of a pair of resource blocks in a subframe."""
BLOCK_HZ = 180e3


@dataclass(frozen=True)
class Ue:
    """A UE as far as it is known before the run."""

    name: str
    place_m: tuple[float, float] | None
    """None: it moves, or its channel is a trace or fades."""
    serving: str | None


def add_cells(builder: Builder) -> list[str]:
    """Add the cells and their UEs; returns the names of the UEs."""
    access = builder.scenario["access"]
    carriers = access["carrier"]
    sites = builder.places()
    enodebs = builder.enodebs()
    ues = _ues(builder, access, sites)
    shares = {}
    for enodeb in enodebs:
        down = [
            builder.resource(f"{enodeb} downlink {number_of}".rstrip(), "cell air", 1.0)
            for number_of in _numbers(carriers)
        ]
        shares[enodeb] = (down, builder.resource(f"{enodeb} uplink", "cell air", 1.0))
    radio = _Radio(access)
    for ue in ues:
        builder.leaves[ue.name] = builder.node(ue.name)
        builder.enters[ue.name] = builder.node(f"{ue.name} up")
        for enodeb in radio.cells(ue, enodebs, sites):
            at = builder.index[enodeb]
            down, up = shares[enodeb]
            # Each carrier is an arc of its own.
            for carrier, resource in zip(carriers, down, strict=True):
                rule = _rule(builder, radio.downlink_mbps(carrier, ue, sites.get(enodeb)))
                builder.arc(at, builder.leaves[ue.name], 0.0, (resource, rule))
            rule = _rule(builder, radio.uplink_mbps(carriers[0], ue, sites.get(enodeb)))
            builder.arc(builder.enters[ue.name], at, 0.0, (up, rule))
    builder.notes.append(
        "LTE: control channels, block errors, retransmissions and interference are left out"
    )
    return [ue.name for ue in ues]


def _numbers(carriers: list[dict[str, Any]]) -> list[str]:
    return [str(at) if len(carriers) > 1 else "" for at in range(1, len(carriers) + 1)]


def _rule(builder: Builder, mbps: float) -> str:
    """Seconds of a cell for an Mbit of payload at a rate."""
    text = f"{mbps:.6g}"
    rate = float(text) * (1 + 1e-5)

    def rule(class_: Class) -> float:
        return class_.packet_bytes / class_.payload_bytes / rate

    return builder.rule(f"cell at {text} Mbit/s", rule)


def _ues(
    builder: Builder, access: dict[str, Any], sites: dict[str, tuple[float, float]]
) -> list[Ue]:
    is_steady = (
        access["fading"] == "none"
        and access["shadowing"]["model"] == "none"
        and access["mobility"]["model"] == "static"
        and "channel" not in access
    )
    if "ue" in access:
        return [_listed(at, row, is_steady, sites) for at, row in enumerate(access["ue"], 1)]
    from backlane.bound.network import serving

    spread_m = number(access["spread"])
    streams = Streams(builder.seed)
    found = []
    for name, enodeb in serving(builder).items():
        stream = streams.stream(name, "position")
        east_m = (2 * stream.uniform() - 1) * spread_m
        north_m = (2 * stream.uniform() - 1) * spread_m
        x_m, y_m = sites.get(enodeb, (0.0, 0.0))
        found.append(Ue(name, (x_m + east_m, y_m + north_m) if is_steady else None, enodeb))
    return found


def _listed(
    at: int, row: dict[str, Any], is_steady: bool, sites: dict[str, tuple[float, float]]
) -> Ue:
    stands = is_steady and not {"trace", "channel"} & row.keys()
    stands &= "speed" not in row or number(row["speed"]) == 0
    place = None
    if stands and "near" in row:
        x_m, y_m = sites.get(row["near"], (0.0, 0.0))
        bearing = math.radians(number(row["bearing"])) if "bearing" in row else 0.0
        distance_m = number(row["distance"])
        place = (x_m + distance_m * math.cos(bearing), y_m + distance_m * math.sin(bearing))
    elif stands:
        place = (number(row["x"]), number(row["y"]))
    return Ue(f"ue{at}", place, row.get("serving"))


class _Radio:
    """Rates of UEs alone in a cell."""

    def __init__(self, access: dict[str, Any]) -> None:
        self._access = access
        self._layers = int(access["layers"])
        self._heights = number(access["enodeb_height"]), number(access["ue_height"])

    def cells(self, ue: Ue, enodebs: list[str], sites: dict[str, tuple[float, float]]) -> list[str]:
        """The eNodeBs that may serve a UE: the given one, and those it receives more strongly."""
        law = self._law(self._access["carrier"][0], "frequency")
        if ue.place_m is None or law is None:
            return enodebs
        loss = {enodeb: law(self._distance_m(ue.place_m, sites[enodeb])) for enodeb in enodebs}
        own = min(loss.values()) if ue.serving is None else loss[ue.serving]
        return [enodeb for enodeb in enodebs if loss[enodeb] <= own + 1e-9]

    def downlink_mbps(
        self, carrier: dict[str, Any], ue: Ue, site: tuple[float, float] | None
    ) -> float:
        """The most that a carrier gives a UE."""
        blocks = BLOCKS[carrier["bandwidth"]]
        each_dbm = number(self._access["enodeb_power"]) - 10 * math.log10(blocks)
        figure_db = number(self._access["ue_noise_figure"])
        most = LARGEST_BITS[blocks][bool(self._access["qam256"])]
        return self._mbps(blocks, most, each_dbm, figure_db, carrier, "frequency", ue, site)

    def uplink_mbps(
        self, carrier: dict[str, Any], ue: Ue, site: tuple[float, float] | None
    ) -> float:
        """The most that a UE can send: all its power on as few blocks as it likes."""
        blocks = BLOCKS[carrier["bandwidth"]]
        most = LARGEST_BITS[blocks][0]
        # Spread evenly a power carries most.
        each_dbm = number(self._access["ue_power"]) - 10 * math.log10(blocks)
        figure_db = number(self._access["enodeb_noise_figure"])
        return self._mbps(blocks, most, each_dbm, figure_db, carrier, "uplink_frequency", ue, site)

    def _mbps(
        self,
        blocks: int,
        most_bits: int,
        each_dbm: float,
        figure_db: float,
        carrier: dict[str, Any],
        frequency: str,
        ue: Ue,
        site: tuple[float, float] | None,
    ) -> float:
        layers = self._layers if frequency == "frequency" else 1
        peak = most_bits * layers * (MORE_WITH_LAYERS if layers > 1 else 1.0) / 1e3
        law = self._law(carrier, frequency)
        if ue.place_m is None or site is None or law is None:
            return peak
        noise = losses.noise_dbm(BLOCK_HZ, figure_db)
        sinr_db = each_dbm - law(self._distance_m(ue.place_m, site)) - noise
        shannon = math.log2(1 + 10 ** (sinr_db / 10)) * ELEMENTS * blocks * layers / 1e3
        return min(peak, shannon)

    def _law(self, carrier: dict[str, Any], frequency: str) -> Any:
        at = carrier.get(frequency, carrier["frequency"])
        return losses.law(self._access["path_loss"], number(at), *self._heights)

    def _distance_m(self, ue: tuple[float, float], site: tuple[float, float]) -> float:
        up_m = self._heights[0] - self._heights[1]
        return max(math.hypot(ue[0] - site[0], ue[1] - site[1], up_m), 1.0)
