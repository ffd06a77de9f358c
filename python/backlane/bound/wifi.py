"""802.11 radios as shares of time.

A radio sends or receives one frame at a time: the exchanges of all its links take at most a second
of each second (half duplex). An exchange is the data frame and its acknowledgment, with RTS and
CTS where the scenario has them, and repeats of frames that noise or a given loss destroys;
interframe spaces beyond SIFS, back-off, collisions and other stations' frames are left out, so that
no medium access control has less. Links of a channel
of which one's sender drowns the other's receiver cannot send at the same time: data frames of a set
of links that do so pairwise (a clique) take at most a second of each second together.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane.bound import frames, losses
from backlane.bound.program import Arc
from backlane.bound.quantities import number
from backlane.bound.streams import Streams
from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backlane.bound.network import Builder
    from backlane.bound.program import Class

ACK_BYTES = 14
RTS_BYTES = 20
OVERLAP_US = 40.0
"""Of a frame that is drowned this long at its end, a receiver may still decode all: ten symbols."""
PREAMBLE_DB = 4.0
"""A weaker preamble is not found."""
DEVIATIONS = 5.0
"""By how many standard deviations chance may favour a run beyond its mean."""
MOST_CLIQUE_LINKS = 1500
"""Directions of links up to which cliques are looked for."""

HIGHEST_BPS = {"802.11a": 54e6, "802.11b": 11e6, "802.11g": 54e6, "802.11-dsss": 11e6}
SIFS_US = {"802.11a": 16.0, "802.11b": 10.0, "802.11g": 10.0, "802.11-dsss": 10.0}
BANDWIDTH_HZ = {"802.11a": 20e6, "802.11b": 22e6, "802.11g": 20e6, "802.11-dsss": 22e6}
FREQUENCY_HZ = {"802.11a": 5.18e9, "802.11b": 2.437e9, "802.11g": 2.437e9, "802.11-dsss": 2.437e9}
DSSS_BPS = (1e6, 2e6, 5.5e6, 11e6)
DROWNED_DB = {1e6: -11.2, 2e6: -6.6, 5.5e6: -4.0, 11e6: -1.0}
"""With DSSS, the SINR at which no 40 bits come through; with OFDM it is above 0 dB at any rate."""


@dataclass(frozen=True)
class Radios:
    """What the radios of a scenario have in common."""

    standard: str
    rate_bps: float
    control_bps: float | None
    overhead_bytes: int
    rts_above_bytes: float
    sifs_us: float
    is_short: bool

    def airtime_us(self, size_bytes: float, rate_bps: float) -> float:
        """A frame with its preamble, header and padding (IEEE 802.11)."""
        if rate_bps in DSSS_BPS:
            preamble = 96.0 if self.is_short and rate_bps > 1e6 else 192.0
            return preamble + math.ceil(8e6 * size_bytes / rate_bps)
        symbols = math.ceil((22 + 8 * size_bytes) / (4e-6 * rate_bps))
        return 20.0 + 4.0 * symbols + (6.0 if self.standard == "802.11g" else 0.0)

    def answer_bps(self, rate_bps: float) -> float:
        """The rate of what answers a frame."""
        if self.control_bps is not None:
            return self.control_bps
        if self.standard == "802.11-dsss":
            return 1e6
        if rate_bps in DSSS_BPS:
            return rate_bps
        return max(rate for rate in (6e6, 12e6, 24e6) if rate <= rate_bps)

    def data_us(self, class_: Class, rate_bps: float) -> float:
        """The data frame of a packet."""
        return self.airtime_us(class_.packet_bytes + self.overhead_bytes, rate_bps)

    def success(self, class_: Class, link: Link) -> float:
        """At most this share of the data frames over a link is decoded."""
        share = 1 - link.loss
        if link.snr_db is not None:
            size_bits = 8 * (class_.packet_bytes + self.overhead_bytes)
            share *= frames.decoded(link.rate_bps, link.snr_db, size_bits)
        return share

    def exchange_us(self, class_: Class, rate_bps: float) -> float:
        """A packet from the first bit of its exchange to the last."""
        answer = self.answer_bps(rate_bps)
        whole = self.data_us(class_, rate_bps) + self.sifs_us
        whole += self.airtime_us(ACK_BYTES, answer)
        if class_.packet_bytes + self.overhead_bytes > self.rts_above_bytes:
            whole += self.airtime_us(RTS_BYTES, answer) + self.airtime_us(ACK_BYTES, answer)
            whole += 2 * self.sifs_us
        return whole


@dataclass(frozen=True)
class Link:
    """A direction of a link over radios."""

    tail: str
    head: str
    channel: int
    rate_bps: float
    loss: float = 0.0
    """Given share of attempts that are lost."""
    snr_db: float | None = None
    """Signal over noise, where that decides."""


def add_radios(builder: Builder) -> None:
    """Add the links over 802.11 and what they share.

    Raises:
        BacklaneError: R051 where a link has no common channel.
    """
    wifi = builder.scenario["wifi"]
    radios = _radios(wifi)
    air = _Air(builder, wifi, radios)
    links = list(_links(builder, wifi, radios, air))
    shares: dict[tuple[str, int], int] = {}
    for link in links:
        for node in (link.tail, link.head):
            if (node, link.channel) not in shares:
                name = f"radio of {node} on channel {link.channel}"
                shares[node, link.channel] = builder.resource(name, "radio", 1.0)
    cliques = _cliques(builder, links, air) if len(links) <= MOST_CLIQUE_LINKS else {}
    for at, link in enumerate(links):
        sent, received, alone = _rules(builder, radios, link)
        use = [
            (shares[link.tail, link.channel], sent),
            (shares[link.head, link.channel], received),
            *((clique, alone) for clique in cliques.get(at, ())),
        ]
        tail, head = builder.index[link.tail], builder.index[link.head]
        builder.arcs.append(Arc(tail, head, 0.0, tuple(use)))
    builder.notes.append("802.11: back-off, collisions and acknowledgments of TCP are left out")


def _rules(builder: Builder, radios: Radios, link: Link) -> tuple[str, str, str]:
    """Seconds for an Mbit of payload: at the sender, at the receiver, and without drowning others.

    The sender repeats frames that are lost. A receiver may meanwhile receive others, and what is
    lost may overlap with what is not.
    """

    def share(class_: Class) -> float:
        # Of n attempts with a probability s, chance decodes no more than this.
        success = radios.success(class_, link)
        attempts = builder.attempts(radios.exchange_us(class_, link.rate_bps) * 1e-6, class_)
        lucky = DEVIATIONS * math.sqrt(success / attempts) + DEVIATIONS**2 / (2 * attempts)
        return min(1.0, success + lucky)

    def sent(class_: Class) -> float:
        data_us = radios.data_us(class_, link.rate_bps)
        whole_us = radios.exchange_us(class_, link.rate_bps)
        return (whole_us + data_us * (1 / share(class_) - 1)) / (8 * class_.payload_bytes)

    def received(class_: Class) -> float:
        return radios.exchange_us(class_, link.rate_bps) / (8 * class_.payload_bytes)

    def alone(class_: Class) -> float:
        least_us = max(radios.data_us(class_, link.rate_bps) - OVERLAP_US, 0.0)
        return least_us / (8 * class_.payload_bytes)

    rate = f"{link.rate_bps:g} bit/s"
    lost = f"{rate}, loss {link.loss:.6f}, SNR {link.snr_db}"
    return (
        builder.rule(f"sent at {lost}", sent),
        builder.rule(f"received at {rate}", received),
        builder.rule(f"alone at {rate}", alone),
    )


def _radios(wifi: dict[str, Any]) -> Radios:
    standard = wifi["standard"]
    rate, control, rts = wifi["rate"], wifi["control_rate"], wifi["rts_threshold"]
    return Radios(
        standard=standard,
        rate_bps=HIGHEST_BPS[standard] if rate == "highest" else number(rate),
        control_bps=None if control == "standard" else number(control),
        overhead_bytes=round(number(wifi["overhead"])),
        rts_above_bytes=math.inf if rts == "off" else number(rts),
        sifs_us=SIFS_US[standard] if wifi["sifs"] == "standard" else number(wifi["sifs"]) * 1e6,
        is_short=wifi["preamble"] == "short",
    )


def _channels(builder: Builder, wifi: dict[str, Any]) -> dict[str, list[int]]:
    return {
        node["id"]: list(node.get("channels", wifi["channels"]))
        for node in builder.scenario["topology"]["node"]
        if node["kind"] in ("enodeb", "router")
    }


def _links(builder: Builder, wifi: dict[str, Any], radios: Radios, air: _Air) -> Iterator[Link]:
    """Both directions of the listed links that may carry something, and of all pairs in range."""
    channels = _channels(builder, wifi)
    known: set[tuple[str, str, int]] = set()
    losses_of = _given_losses(builder, wifi)

    def both_ways(a: str, b: str, channel: int, rate: float, loss: float | None) -> Iterator[Link]:
        for tail, head in ((a, b), (b, a)):
            if loss is not None:
                yield Link(tail, head, channel, rate, loss)
            elif air.reaches(tail, head):
                yield Link(tail, head, channel, rate, 0.0, air.snr_db(tail, head))

    for at, link in enumerate(builder.scenario["topology"].get("link", ())):
        if link.get("medium", "wire") != "wifi" or link.get("channel") == "none":
            continue
        a, b = link["a"], link["b"]
        both = [channel for channel in channels[a] if channel in channels[b]]
        channel = link.get("channel", both[0] if both else None)
        if channel is None:
            raise BacklaneError(
                "R051", f"{a} and {b} have no common channel", builder.file, "give them one"
            )
        rate = number(link["rate"]) if "rate" in link else radios.rate_bps
        known |= {(a, b, channel), (b, a, channel)}
        loss = float(link["loss"]) if "loss" in link else losses_of.get(at)
        yield from both_ways(a, b, channel, rate, loss)
    if wifi["neighbours"] != "in-range":
        return
    for a, b in itertools.combinations(channels, 2):
        for channel in channels[a]:
            if channel in channels[b] and (a, b, channel) not in known:
                yield from both_ways(a, b, channel, radios.rate_bps, None)


def _given_losses(builder: Builder, wifi: dict[str, Any]) -> dict[int, float]:
    """The loss of each listed link where the radios have a given loss, as the run draws it."""
    if "loss" not in wifi:
        return {}
    laid = {
        at: link
        for at, link in enumerate(builder.scenario["topology"].get("link", ()))
        if link.get("medium", "wire") == "wifi" and link.get("channel") != "none"
    }
    names = {at: f"{link['a']}-{link['b']}" for at, link in laid.items()}
    lossy = wifi["lossy_links"]
    named = [lossy] if isinstance(lossy, str) else list(lossy)
    ways = {name: at for at, name in reversed(names.items())}
    ways = {f"{laid[at]['b']}-{laid[at]['a']}": at for at in reversed(names)} | ways
    candidates = list(names) if named == ["all"] else [ways[name] for name in named]
    streams = Streams(builder.seed)
    drawn = sorted((streams.stream(names[at], "lossy").uniform(), at) for at in candidates)
    count = math.floor(float(wifi["lossy_share"]) * len(drawn) + 0.5)
    found = dict.fromkeys(names, 0.0)
    for _, at in drawn[:count]:
        loss = float(wifi["loss"])
        if wifi["loss_law"] == "uniform":
            loss *= streams.stream(names[at], "loss").uniform()
        found[at] = loss
    return found


class _Air:
    """Received powers."""

    def __init__(self, builder: Builder, wifi: dict[str, Any], radios: Radios) -> None:
        self._places = builder.places()
        frequency = wifi["frequency"]
        height_m = number(wifi["antenna_height"])
        self._law = losses.law(
            wifi["path_loss"],
            FREQUENCY_HZ[radios.standard] if frequency == "standard" else number(frequency),
            height_m,
            height_m,
        )
        self._sent_dbm = number(wifi["power"]) + 2 * number(wifi["antenna_gain"])
        reception = wifi["reception"]
        self._is_rated = reception["model"] == "error-rate"
        self._sensitivity_dbm = number(reception["sensitivity"])
        capture = reception.get("capture", "off")
        self._captures_louder = capture == "off" or number(capture) >= 0
        self._noise_dbm = -math.inf
        if self._is_rated:
            bandwidth_hz = BANDWIDTH_HZ[radios.standard]
            self._noise_dbm = losses.noise_dbm(bandwidth_hz, number(reception["noise_figure"]))
        self._is_steady = wifi["fading"]["model"] == "none" and self._law is not None
        self._is_given = "loss" in wifi

    @property
    def knows_conflicts(self) -> bool:
        """Whether a louder frame always drowns another."""
        return self._is_steady and self._captures_louder

    def power_dbm(self, a: str, b: str) -> float:
        """What one station receives of another."""
        assert self._law is not None
        (ax, ay), (bx, by) = (self._places.get(node, (0.0, 0.0)) for node in (a, b))
        return self._sent_dbm - self._law(math.hypot(ax - bx, ay - by))

    def snr_db(self, a: str, b: str) -> float | None:
        """Signal over noise; None where chance decides, or where power alone does."""
        if not (self._is_steady and self._is_rated):
            return None
        return self.power_dbm(a, b) - self._noise_dbm

    def reaches(self, a: str, b: str) -> bool:
        """Whether a frame can be found at all; True where chance decides."""
        if not self._is_steady:
            return True
        snr_db = self.snr_db(a, b)
        is_found = snr_db is None or snr_db >= PREAMBLE_DB
        return is_found and self.power_dbm(a, b) >= self._sensitivity_dbm

    def drowns(self, other: Link, link: Link) -> bool:
        """Whether what another link's sender sends drowns the frames of a link."""
        if other.tail in (link.tail, link.head):
            return True
        signal = self.power_dbm(link.tail, link.head)
        if self._is_given:
            signal = max(signal, self._sensitivity_dbm)
        above_db = -DROWNED_DB.get(link.rate_bps, 0.0) if self._is_rated else 0.0
        return self.power_dbm(other.tail, link.head) >= signal + above_db


def _cliques(builder: Builder, links: list[Link], air: _Air) -> dict[int, list[int]]:
    """Sets of links that pairwise cannot send at once: of each link, the resources of its sets."""
    if not air.knows_conflicts:
        return {}
    count = len(links)
    beside = [
        {
            b
            for b in range(count)
            if b != a
            and links[a].channel == links[b].channel
            and (air.drowns(links[b], links[a]) or air.drowns(links[a], links[b]))
        }
        for a in range(count)
    ]
    found: dict[frozenset[int], int] = {}
    for first in range(count):
        clique, others = {first}, set(beside[first])
        while others:
            # The link that keeps most others possible; ties by number, so that runs agree.
            best = max(others, key=lambda b: (len(others & beside[b]), -b))
            clique.add(best)
            others &= beside[best]
        found.setdefault(frozenset(clique), first)
    of_link: dict[int, list[int]] = {}
    for clique_links, first in found.items():
        link = links[first]
        name = f"air around {link.tail}-{link.head} on channel {link.channel}"
        resource = builder.resource(name, "air", 1.0)
        for at in clique_links:
            of_link.setdefault(at, []).append(resource)
    return of_link
