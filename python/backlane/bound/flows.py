"""The flows of a resolved scenario, as the run with a seed starts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backlane.bound.program import Flow
from backlane.bound.quantities import Law, law, number
from backlane.bound.streams import SplitMix, Streams

if TYPE_CHECKING:
    from collections.abc import Iterator

IPV4_BYTES = 20
UDP_BYTES = 8
TCP_BYTES = 20
TIMESTAMPS_BYTES = 12
TCP_KINDS = ("download", "upload", "transfer")


def flows_of(scenario: dict[str, Any], ues: list[str], seed: int) -> list[Flow]:
    """All flows that start before the end of the run.

    Args:
        scenario: the resolved scenario.
        ues: names of the UEs.
        seed: of the run.
    """
    streams = Streams(seed)
    taken: dict[str, int] = {}
    duration_s = number(scenario["duration"])
    found: list[Flow] = []
    for group, table in enumerate(scenario.get("flow", ())):
        found += _group(table, group, scenario["tcp"], ues, duration_s, streams, taken)
    return found


def _group(
    table: dict[str, Any],
    group: int,
    tcp: dict[str, Any],
    ues: list[str],
    duration_s: float,
    streams: Streams,
    taken: dict[str, int],
) -> Iterator[Flow]:
    kind = table["kind"]
    is_tcp = kind in TCP_KINDS
    if is_tcp:
        payload = round(number(tcp["mss"]))
        headers = IPV4_BYTES + TCP_BYTES + (TIMESTAMPS_BYTES if tcp["timestamps"] else 0)
        rate = None
    elif "rate" in table and "packet_size" in table:
        payload = round(number(table["packet_size"]))
        headers = IPV4_BYTES + UDP_BYTES
        rate = number(table["rate"])
    else:
        # A source of the running program: its packets have at least one byte of payload.
        payload, headers, rate = 65_507, IPV4_BYTES + UDP_BYTES, None
    size = None if table["size"] == "endless" else law(table["size"])
    stop = None if table["stop"] == "end" else number(table["stop"])
    gap = law(table["gap"]) if "gap" in table else None
    starts = _Starts(table["start"], streams)
    last_s = min(duration_s, duration_s if stop is None else stop)
    for source, destination in _pairs(table, group, ues, streams.seed):
        start_s = 0.0
        for turn in range(int(table["count"])):
            plain = {"download": destination, "upload": source}.get(kind, f"{source}-{destination}")
            name = _unique(plain, taken)
            follows = gap is not None and turn > 0
            if not follows:
                start_s = starts.next(name)
                if start_s >= last_s:
                    if gap is not None:
                        break
                    continue
            yield Flow(
                name=name,
                kind=kind,
                source=source,
                destination=destination,
                size_bytes=None if size is None else size.size(streams, name),
                start_s=start_s,
                stop_s=stop,
                rate_bps=rate,
                payload_bytes=payload,
                header_bytes=headers,
                is_tcp=is_tcp,
                in_sequence=follows,
            )


def _unique(name: str, taken: dict[str, int]) -> str:
    """The name of a flow as the tables of results have it."""
    taken[name] = taken.get(name, 0) + 1
    return name if taken[name] == 1 else f"{name}#{taken[name]}"


def _ends(value: Any, ues: list[str]) -> list[str]:
    names = [value] if isinstance(value, str) else list(value)
    return list(ues) if names == ["ues"] else names


def _pairs(table: dict[str, Any], group: int, ues: list[str], seed: int) -> list[tuple[str, str]]:
    sources, destinations = _ends(table["from"], ues), _ends(table["to"], ues)
    drawn = table.get("drawn", "all")
    if isinstance(drawn, int):
        destinations = SplitMix(group, seed).some(destinations, drawn)
    count = max(len(sources), len(destinations)) if sources and destinations else 0
    at = [list(ends) * count if len(ends) == 1 else list(ends) for ends in (sources, destinations)]
    return list(zip(at[0], at[1], strict=False))


class _Starts:
    """The starts of the flows of a group (`crates/world/src/starts.rs`)."""

    def __init__(self, text: str, streams: Streams) -> None:
        self._streams = streams
        self._index = 0
        self._last: float | None = None
        self._every: tuple[float, Law] | None = None
        self._law: Law | None = None
        if text == "staggered":
            return
        if text.startswith("every "):
            between, first = text.removeprefix("every ").rsplit(" from ", 1)
            self._every = (number(first), law(between))
        else:
            self._law = law(text)

    def next(self, flow: str) -> float:
        """The start of the next flow."""
        index = self._index
        self._index += 1
        if self._law is not None:
            return self._law.time(self._streams, flow, "start")
        if self._every is None:
            batch = index // 25
            return 4.0 * (batch + 1) + 0.05 * (index + 1 - 25 * batch)
        first, gap = self._every
        if gap.kind == "fixed":
            return first + gap.low * index
        drawn = 0.0 if self._last is None else gap.time(self._streams, flow, "gap")
        self._last = first if self._last is None else self._last + drawn
        return self._last
