"""Recorded levels as capacities of wires: a trace of rates for each direction, beside the scenario.

The rate is that of one radio at each level (`link_budget.series`), for all links alike. All traces
begin at one instant, so that a rain cell crosses the links in its order. Of a link, the direction
that the file has first leads from its first site to its second.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.imports.model import count
from backlane.imports.quantities import quantity
from backlane.imports.radio import MOST_GAP_S
from backlane.link_budget import radios
from backlane.link_budget.series import rate_from_levels

if TYPE_CHECKING:
    from backlane.imports.model import Link, Network

_RADIO = re.compile(r"(?P<radio>.+):(?P<mhz>\d+(\.\d+)?)")
_WINDOW = re.compile(r"(?P<begin>\d+(\.\d+)?):(?P<end>\d+(\.\d+)?)")
CLEAR_GHZ = 23.0
"""For the ladder of links without a frequency; the generic one is the same at any."""


@dataclass(frozen=True)
class Wanted:
    """What the user says about capacities.

    Attributes:
        radio: of every link.
        channel_mhz: of the radio.
        window_s: begin and end, from the first level of the files; None for all.
        faster: how many times faster than recorded the traces are.
    """

    radio: str
    channel_mhz: float
    window_s: tuple[float, float] | None = None
    faster: float = 1.0

    @classmethod
    def of(cls, radio: str, window: str | None, faster: float) -> Wanted:
        """From the options of the command line: "generic:28" and "3600:7200".

        Raises:
            BacklaneError: R070.
        """
        found = _RADIO.fullmatch(radio)
        if found is None or not float(found["mhz"]) > 0:
            raise BacklaneError(
                "R070",
                f'"{radio[:60]}" is no radio with a channel',
                "--capacities",
                "write RADIO:MHZ, such as generic:28; `backlane budget --radios` lists them",
            )
        span = _WINDOW.fullmatch(window) if window is not None else None
        if window is not None and (span is None or float(span["begin"]) >= float(span["end"])):
            raise BacklaneError(
                "R070",
                f'"{window[:60]}" is no window of time',
                "--window",
                "write FROM:TO, in seconds from the first level, such as 3600:7200",
            )
        bounds = (float(span["begin"]), float(span["end"])) if span else None
        return cls(found["radio"], float(found["mhz"]), bounds, faster)


@dataclass(frozen=True)
class Traced:
    """The capacities of a link.

    Attributes:
        there: from the first site to the second, as the text of a trace.
        back: the other direction; None if it is the same.
        clear_bps: the largest rate of both.
        length_s: of the traces.
    """

    there: str
    back: str | None
    clear_bps: float
    length_s: float


def add(network: Network, wanted: Wanted) -> None:
    """Give links with recorded levels their capacities, and the largest as their rate.

    Raises:
        BacklaneError: R070 without levels in the window, R061 for a radio that does not fit.
    """
    series = network.level_series
    stamps = [time for samples in series.values() for time, _ in samples]
    if not stamps:
        raise BacklaneError(
            "R070",
            "the files have no recorded levels",
            network.sources[-1].path,
            "give the table with the levels of the links too",
        )
    first, last = min(stamps), max(stamps)
    begin, end = wanted.window_s or (0.0, last - first)
    if begin >= last - first:
        raise BacklaneError(
            "R070",
            f"the recording ends {last - first:.0f} s after its first level",
            "--window",
            "write an earlier window",
        )
    of_link: dict[str, list[list[tuple[float, float]]]] = {}
    for (name, _), samples in series.items():
        of_link.setdefault(name, []).append(sorted(dict(samples).items()))
    held_s = 0.0
    done: list[Link] = []
    for link in network.links:
        found = []
        ladder = radios.ladder(
            wanted.radio, _frequency_ghz(link), wanted.channel_mhz, place="--capacities"
        )
        for samples in of_link.get(link.more.get("link", ""), [])[:2]:
            steps, gaps_s = _steps(samples, ladder, first + begin, first + end)
            held_s += gaps_s
            if steps:
                found.append(steps)
        if not found:
            continue
        rates = [bps for steps in found for _, bps in steps]
        length_s = (end - begin) / wanted.faster
        texts = [_text(steps, wanted.faster, length_s) for steps in found]
        back = texts[1] if len(texts) > 1 and texts[1] != texts[0] else None
        if max(rates) <= 0:
            raise BacklaneError(
                "R070",
                f"{link.more['link']} is below the slowest step of {wanted.radio} all the time",
                link.place,
                "name another radio, or leave the link out with --keep",
            )
        link.capacity = Traced(texts[0], back, max(rates), length_s)
        link.rate_bps, link.rate_back_bps = max(rates), None
        link.rate_note = f"the largest that the recorded levels give a {wanted.radio} radio"
        done.append(link)
    if not done:
        raise BacklaneError(
            "R070",
            "no link of the files has levels in the window",
            "--window",
            "write another window",
        )
    network.notes = [n for n in network.notes if not n.text.startswith("levels over time")]
    speed = f", {wanted.faster:g} times as fast" if wanted.faster != 1 else ""
    network.note(
        "assumed",
        f"a {wanted.radio} radio with {wanted.channel_mhz:g} MHz for the capacities of "
        f"{count(done, 'link')} over {end - begin:.0f} s of the recording{speed} (--capacities)",
    )
    if held_s:
        network.note(
            "assumed",
            f"the former rate in gaps of the levels, {held_s:.0f} s of all links together",
        )


def _frequency_ghz(link: Link) -> float:
    text = link.more.get("frequency")
    value = quantity("frequency", text) if text else None
    return value[0] / 1e9 if value else CLEAR_GHZ


def _steps(
    samples: list[tuple[float, float]], ladder: radios.Ladder, begin: float, end: float
) -> tuple[list[tuple[float, float]], float]:
    """Changes of the rate from `begin` on, the first at 0, and the seconds of gaps."""
    inside = [(time, level) for time, level in samples if time < end]
    known = [(time, level) for time, level in inside if not math.isnan(level)]
    if not any(time >= begin for time, _ in known):
        return [], 0.0
    gaps_s = 0.0
    times = [time for time, _ in known]
    for before, after in zip(times, [*times[1:], end], strict=True):
        if after > begin:
            gaps_s += max(0.0, after - max(before + MOST_GAP_S, begin))
    series = rate_from_levels(times, [level for _, level in known], ladder)
    steps: list[tuple[float, float]] = []
    for time, bps in zip(series.time_s, series.rate_bps, strict=True):
        at = max(0.0, float(time) - begin)
        if steps and steps[-1][0] == at:
            steps[-1] = (at, float(bps))
        elif not steps:
            steps.append((0.0, float(bps)))
        elif steps[-1][1] != bps:
            steps.append((at, float(bps)))
    return steps, gaps_s


def _text(steps: list[tuple[float, float]], faster: float, length_s: float) -> str:
    """A trace of capacity, whose last row is at its end."""
    rows = [(at / faster, bps) for at, bps in steps]
    if rows[-1][0] < length_s:
        rows.append((length_s, rows[-1][1]))
    return "time_s,rate_bps\n" + "".join(f"{at:.3f},{bps:.0f}\n" for at, bps in rows)


def scaled(traced: Traced, factor: int) -> Traced:
    """The capacities of this many parallel links together."""
    if factor == 1:
        return traced

    def times(text: str | None) -> str | None:
        if text is None:
            return None
        head, *rows = text.splitlines()
        pairs = (row.split(",") for row in rows)
        return "\n".join([head, *(f"{at},{int(bps) * factor}" for at, bps in pairs)]) + "\n"

    there = times(traced.there)
    assert there is not None
    clear_bps = traced.clear_bps * factor
    return replace(traced, there=there, back=times(traced.back), clear_bps=clear_bps)
