"""Capacity over time: mahimahi, tables of time and rate, recorded levels of links."""

from __future__ import annotations

import itertools
import math
import re
from datetime import datetime, timezone
from statistics import median
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.imports import columns
from backlane.imports.model import Trace, count, shown, some
from backlane.imports.quantities import number, plain, unit_factor
from backlane.imports.values import items

if TYPE_CHECKING:
    from backlane.imports.columns import Column
    from backlane.imports.model import Network
    from backlane.imports.reading import File
    from backlane.imports.tables import Table

PACKET_BYTES = 1500
"""What an opportunity of mahimahi delivers."""
_KBPS = frozenset({"dl_bitrate", "ul_bitrate"})
"""Columns of G-NetTrack, in kbit/s (Raca et al., MMSys 2018 and 2020)."""
MOST_STAMPS = 5_000_000
"""Lines of a trace."""


def direction_of(name: str) -> bool | None:
    """Whether a file name says uplink (True) or downlink (False)."""
    word = name.lower()
    if word.endswith(".up") or re.search(r"(^|[-_.])(up|uplink|ul)([-_.]|$)", word):
        return True
    if word.endswith(".down") or re.search(r"(^|[-_.])(down|downlink|dl)([-_.]|$)", word):
        return False
    return None


def mahimahi(file: File, network: Network) -> None:
    """A line for each opportunity, in milliseconds.

    Raises:
        BacklaneError: R041 with the line, R042 for too many lines.
    """
    stamps: list[int] = []
    for line, raw in enumerate(file.text.splitlines(), start=1):
        text = raw.strip()
        if not text or text.startswith("#"):
            continue
        if not re.fullmatch(r"\d{1,12}", text):
            raise file.bad(f'"{shown(text)}" is no time in milliseconds', line)
        stamp = int(text)
        if stamps and stamp < stamps[-1]:
            raise file.bad(f"the time goes back from {stamps[-1]} to {stamp} ms", line)
        if len(stamps) >= MOST_STAMPS:
            raise BacklaneError(
                "R042", f"more than {MOST_STAMPS} lines", file.at(line), "cut the trace"
            )
        stamps.append(stamp)
    if not stamps or stamps[-1] <= 0:
        raise file.bad("a trace of no length")
    trace = Trace(file.path.name, stamps_ms=stamps, uplink=direction_of(file.path.name))
    trace.length_s = stamps[-1] / 1000
    trace.mean_bps = len(stamps) * PACKET_BYTES * 8 / trace.length_s
    trace.longest_gap_s = max((b - a for a, b in itertools.pairwise(stamps)), default=0)
    trace.longest_gap_s /= 1000
    network.traces.append(trace)
    network.note(
        "read",
        f"{file.path.name}: {len(stamps)} opportunities to deliver {PACKET_BYTES} bytes "
        f"in {trace.length_s:.1f} s, mean {trace.mean_bps / 1e6:.2f} Mbit/s, longest gap "
        f"{trace.longest_gap_s * 1000:.0f} ms; it begins again at its end",
    )


def cooked(file: File, rows: list[tuple[int, list[str]]], network: Network, unit: str) -> None:
    """Two columns without titles: seconds and a rate.

    Raises:
        BacklaneError: R041 with the line.
    """
    points = []
    for line, cells in rows:
        pair = [plain(cell) for cell in cells]
        if len(pair) < 2 or pair[0] is None or pair[1] is None:
            raise file.bad("no pair of a time in seconds and a rate", line)
        points.append((line, pair[0], pair[1]))
    if unit:
        factor = unit_factor("rate", unit) or 1e6
    else:
        factor = 1e6
        network.note("assumed", "the rates of the trace in Mbit/s (--unit)")
    _points(file, [(line, t, rate * factor) for line, t, rate in points], network)


_STEPS = {"duration_ms": 1e-3, "duration_s": 1.0, "duration": 1e-3}
_WIDTHS = {"bandwidth_kbps": 1e3, "bandwidth_mbps": 1e6, "bandwidth_bps": 1.0, "bw_kbps": 1e3}


def steps(file: File, document: Any, network: Network) -> None:
    """JSON steps of a duration and a bandwidth, as players of video are tested with.

    Raises:
        BacklaneError: R041 or R047 with the path.
    """
    time = 0.0
    points: list[tuple[int, float, float]] = []
    for place, row in items(file, document, "steps"):
        pair = []
        for names in (_STEPS, _WIDTHS):
            key = next((name for name in names if name in row), None)
            value = number(row.get(key)) if key is not None else None
            if key is None or value is None or value < 0:
                raise BacklaneError(
                    "R047", "a step without duration and bandwidth", file.at(place), "correct it"
                )
            pair.append(value * names[key])
        points.append((len(points) + 1, time, pair[1]))
        time += pair[0]
    if points:
        points.append((len(points) + 1, time, points[-1][2]))
    _points(file, points, network)


def is_steps(first: dict[str, Any]) -> bool:
    """Whether an object is a step of a trace."""
    return bool(_STEPS.keys() & first.keys()) and bool(_WIDTHS.keys() & first.keys())


def table(table: Table, found: dict[str, Column], network: Network, unit: str) -> None:
    """A table with a column of times and one of rates.

    Raises:
        BacklaneError: R041 or R047 with the line.
    """
    time, rate = found["time"], found["rate"]
    factor = rate.factor
    if unit:
        factor = unit_factor("rate", unit)
    if factor is None and columns.normal(rate.title) in _KBPS:
        factor = 1e3
        network.note("read", f"{shown(rate.title)} in kbit/s, as G-NetTrack writes it")
    if factor is None:
        factor = 1e6
        network.note("assumed", f"{shown(rate.title)} in Mbit/s (--unit)")
    points = []
    for line, cells in table.rows:
        if max(time.index, rate.index) >= len(cells):
            raise table.file.bad("a row that ends too early", table.at(line).rpartition(":")[2])
        stamp = clock(cells[time.index])
        value = plain(cells[rate.index])
        if stamp is None or value is None:
            raise BacklaneError(
                "R047",
                f'"{shown(cells[time.index])}", "{shown(cells[rate.index])}" is no time and rate',
                table.at(line),
                "write numbers",
            )
        points.append((line, stamp * (time.factor or 1.0), value * factor))
    _points(table.file, points, network)


def clock(text: str) -> float | None:
    """Seconds: a number, or a date with time (taken as UTC where it has no zone)."""
    value = plain(text)
    if value is not None:
        return value
    text = text.strip()
    # "2019.12.14_10.16.30" of G-NetTrack
    android = re.fullmatch(r"(\d{4})\.(\d\d)\.(\d\d)_(\d\d)\.(\d\d)\.(\d\d)", text)
    if android is not None:
        text = "{}-{}-{}T{}:{}:{}".format(*android.groups())
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
        if found.tzinfo is None:
            found = found.replace(tzinfo=timezone.utc)
        return found.timestamp()
    except (ValueError, OverflowError):
        return None


def _points(file: File, points: list[tuple[int, float, float]], network: Network) -> None:
    several = len(points)
    points = [p for p, q in zip(points, [*points[1:], None], strict=True) if not q or p[1] != q[1]]
    several -= len(points)
    if len(points) < 2:
        raise file.bad("a trace needs two points of different times")
    if several:
        network.note("merged", f"{several} rows of the time of the next one: the last one holds")
    for (_, before, _), (line, now, rate) in itertools.pairwise(points):
        if now <= before:
            raise file.bad(f"the time does not grow: {before:g} s, then {now:g} s", line)
        if not 0 <= rate <= 1e12:
            raise file.bad(f"a rate of {rate:g} bit/s", line)
    if not 0 <= points[0][2] <= 1e12:
        raise file.bad(f"a rate of {points[0][2]:g} bit/s", points[0][0])
    start = points[0][1]
    trace = Trace(file.path.name, uplink=direction_of(file.path.name))
    trace.points = [(round(t - start, 6), rate) for _, t, rate in points]
    steps = [b[0] - a[0] for a, b in zip(trace.points, trace.points[1:], strict=False)]
    if min(steps) <= 0:
        raise file.bad("two points within a microsecond")
    trace.longest_gap_s = max(steps)
    # The last value holds as long as the one before it, as in the core.
    trace.length_s = trace.points[-1][0] + steps[-1]
    bits = sum(rate * step for (_, rate), step in zip(trace.points, steps, strict=False))
    trace.mean_bps = (bits + trace.points[-1][1] * steps[-1]) / trace.length_s
    network.traces.append(trace)
    network.note(
        "read",
        f"{file.path.name}: {count(points, 'point')} over {trace.length_s:.1f} s, mean "
        f"{trace.mean_bps / 1e6:.3f} Mbit/s, longest step {trace.longest_gap_s:.3f} s",
    )
    if start:
        network.note("merged", f"the trace starts at {start:g} s, which becomes 0")


def levels(table: Table, found: dict[str, Column], network: Network) -> None:
    """Levels of links over time: summed up for each link, since wires have a fixed rate.

    Raises:
        BacklaneError: R041 or R047 with the line.
    """
    seen: dict[tuple[str, str], list[tuple[float, float]]] = {}
    last: dict[tuple[str, str], float] = {}
    gaps: dict[tuple[str, str], int] = {}
    missing = rows = 0
    names = {key: column.index for key, column in found.items()}
    for line, cells in table.rows:
        if len(cells) <= max(names["link"], names["time"], names["rx"]):
            raise table.file.bad("a row that ends too early", line)
        rows += 1
        direction = cells[names["direction"]] if "direction" in names else ""
        key = (cells[names["link"]], direction)
        text = cells[names["rx"]]
        stamp = clock(cells[names["time"]])
        if stamp is None:
            raise BacklaneError(
                "R047",
                f'"{shown(cells[names["time"]])}" is no time',
                table.at(line),
                "write seconds, or a date with time",
            )
        if not text or text.lower() in ("nan", "na", "null"):
            missing += 1
            network.level_series.setdefault(key, []).append((stamp, math.nan))
            continue
        value = plain(text)
        if value is None or not -200 < value < 100:
            raise BacklaneError(
                "R047", f'"{shown(text)}" is no level in dBm', table.at(line), "correct it"
            )
        if key in last and stamp - last[key] > 300:
            gaps[key] = gaps.get(key, 0) + 1
        last[key] = stamp
        seen.setdefault(key, []).append((stamp, value))
        network.level_series.setdefault(key, []).append((stamp, value))
    for (link, direction), samples in seen.items():
        values = [value for _, value in samples]
        text = f"{direction}: " if direction else ""
        text += f"{len(values)} levels, median {median(values):.1f} dBm, least {min(values):.1f}"
        if gaps.get((link, direction)):
            text += f", {gaps[link, direction]} gaps of more than 5 min"
        network.levels[link] = "; ".join(filter(None, [network.levels.get(link), text]))
    deepest = max(
        ((median([v for _, v in s]) - min(v for _, v in s), k) for k, s in seen.items()),
        default=(0.0, ("", "")),
    )
    network.note(
        "read",
        f"{table.file.path.name}: {rows} levels of {count({k for k, _ in seen}, 'link')}, "
        f"{missing} missing; the deepest fade is {deepest[0]:.1f} dB on {shown(deepest[1][0])}",
    )
    network.note(
        "dropped",
        "levels over time: without --capacities a wire has one rate; each link's median and least "
        "level stand beside the scenario",
    )
    broken = [shown(link) for (link, _), number in gaps.items() if number]
    if broken:
        unique = [*dict.fromkeys(broken)]
        network.note(
            "warning", f"{count(unique, 'link')} with gaps of more than 5 min: {some(unique)}"
        )


def columns_of(table: Table) -> dict[str, Column]:
    """The columns of a trace."""
    return columns.find(table.header, columns.TRACE)
