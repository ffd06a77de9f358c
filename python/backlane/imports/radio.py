"""Link budgets of a network's links: from the columns of a table to `link_budget`.

`link_of` makes a `RadioLink` of what a row has and lists what it assumes. `derive_rates` gives
links without a rate the one of their budget; `backlane budget` prints all of it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.imports.model import count, shown
from backlane.imports.quantities import plain, quantity
from backlane.link_budget import antenna, radios
from backlane.link_budget.budget import (
    FREQUENCIES_GHZ,
    RAIN_RATES_MM_H,
    Budget,
    Climate,
    RadioLink,
    compute,
)
from backlane.link_budget.series import RateSeries, rate_from_levels

if TYPE_CHECKING:
    from backlane.imports.model import Link, Network
    from backlane.imports.places import Ruler

DERIVED = "by its link budget"
"""How the note of a derived rate begins."""
_POLARIZATIONS = {
    "v": "V", "vertical": "V", "vert": "V",
    "h": "H", "horizontal": "H", "hor": "H", "horiz": "H",
    "c": "C", "circular": "C", "rhcp": "C", "lhcp": "C",
}  # fmt: skip
MOST_GAP_S = 300.0
"""A recorded level holds no longer: `traces` counts longer ones as gaps."""
_BOTH = re.compile(r"dual|both|x|xpol|xpic|co-?channel dual|[hv] ?[/+&,] ?[hv]|hv|vh")
_KINDS = {
    "frequency": "frequency", "bandwidth": "frequency", "gain": "gain", "diameter": "length",
    "power": "power", "eirp": "power", "losses": "gain", "noise_figure": "gain",
}  # fmt: skip
_PARTS = ("bandwidth", "power", "eirp", "gain_a", "gain_b", "diameter_a", "diameter_b")
"""With a frequency, one of these columns says that the file means a link budget."""


@dataclass(frozen=True)
class Defaults:
    """What the user says about all links; a column of the table comes first.

    Attributes:
        radio: instead of the column, for every link.
        losses_db: other than free space and gases, both ends together.
        noise_figure_db: where thresholds follow from it.
        rain_rate_mm_h: exceeded for 0.01 % of the year.
        gradient_n_km: dN1 of ITU-R P.453.
        strict: whether a radio that is not known is an error, or taken as a generic one.
    """

    radio: str | None = None
    losses_db: float = 0.0
    noise_figure_db: float | None = None
    rain_rate_mm_h: float | None = None
    gradient_n_km: float | None = None
    strict: bool = True


def name_of(link: Link) -> str:
    """Both ends, for messages."""
    return f"{shown(link.a)}–{shown(link.b)}"


def wants_budget(link: Link) -> bool:
    """Whether the file has more of a link budget than a frequency."""
    return "frequency" in link.more and any(part in link.more for part in _PARTS)


def radio_links(network: Network) -> list[Link]:
    """The links that are radio links by their columns; a note names how many others there are.

    Raises:
        BacklaneError: R060 when none is.
    """
    found = [link for link in network.links if any(k in link.more for k in ("frequency", *_PARTS))]
    others = len(network.links) - len(found)
    if not found:
        raise BacklaneError(
            "R060",
            f"none of {count(network.links, 'link')} has a frequency, an antenna or a power",
            network.sources[-1].path,
            "`backlane import --columns` lists the names of columns",
        )
    if others:
        text = f"{count(others, 'link')} without a frequency, an antenna and a power"
        network.note("dropped", text)
    return found


class _Row:
    """The values of a link, and what was assumed in their place."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.lacks: list[str] = []
        self.assumed: list[str] = []

    def error(self, message: str, fix: str) -> BacklaneError:
        return BacklaneError("R060", f"{name_of(self.link)}: {message}", self.link.place, fix)

    def value(self, *keys: str) -> float | None:
        """The first of some columns that has a value: Hz, m, dBm, dBi or dB."""
        for key in keys:
            text = self.link.more.get(key)
            if not text:
                continue
            kind = _KINDS[re.sub(r"(_a|_b)?(_back)?$", "", key)]
            found = quantity(kind, text)
            what = key.replace("_", " ")
            if found is None:
                raise self.error(f'{what} "{shown(text)}" cannot be used', "write a number")
            if kind == "frequency" and not found[1]:
                raise self.error(f'{what} "{shown(text)}" has no unit', "write GHz or MHz")
            return found[0]
        return None

    def pair(self, first: float | None, second: float | None, what: str) -> tuple[float, float]:
        """Values of both ends; one stands for both."""
        if first is None and second is None:
            self.lacks.append(what)
            return 0.0, 0.0
        if first is None or second is None:
            self.assumed.append(f"the same {what} at both ends")
        one = first if first is not None else second
        other = second if second is not None else first
        assert one is not None
        assert other is not None
        return one, other


def link_of(link: Link, network: Network, defaults: Defaults, ruler: Ruler) -> RadioLink:
    """The link as a budget needs it.

    Raises:
        BacklaneError: R060 for what is missing or cannot be used, R061 for an unknown radio.
    """
    row = _Row(link)
    carrier = row.value("frequency")
    if carrier is None:
        row.lacks.append("frequency")
    back = row.value("frequency_back") or carrier
    width = row.value("bandwidth", "bandwidth_back")
    if width is None:
        row.lacks.append("bandwidth")
    frequencies = (carrier or 0.0) / 1e9, (back or 0.0) / 1e9
    gains = _gains(row, frequencies)
    powers = _powers(row, gains)
    length = link.length_m
    if length is None:
        length = ruler.between(network.sites[link.a], network.sites[link.b])
    if length is None:
        row.lacks.append("length, or positions of both sites")
    if row.lacks:
        raise row.error(f"no {', no '.join(row.lacks)}", "add the columns, or fill them in")
    assert width is not None
    assert length is not None
    losses = row.value("losses")
    figure = row.value("noise_figure")
    latitudes = [network.sites[end].latitude for end in (link.a, link.b)]
    known = [latitude for latitude in latitudes if latitude is not None]
    return RadioLink(
        link.a,
        link.b,
        length / 1000,
        frequencies,
        width / 1e6,
        gains,
        powers,
        _polarization(row),
        _radio(row, defaults, frequencies[0], width / 1e6),
        defaults.losses_db if losses is None else losses,
        defaults.noise_figure_db if figure is None else figure,
        sum(known) / len(known) if known else None,
        assumed=tuple(row.assumed),
        place=link.place,
    )


def _gains(row: _Row, frequencies_ghz: tuple[float, float]) -> tuple[float, float]:
    """The gains of both antennas, from their columns or from diameters."""
    found: list[float | None] = []
    for gain_keys, dish_keys in (
        (("gain_a",), ("diameter_a",)),
        (("gain_b", "gain_a_back"), ("diameter_b", "diameter_a_back")),
    ):
        gain = row.value(*gain_keys)
        dish = row.value(*dish_keys)
        if gain is None and dish is not None:
            if not 0 < dish < 100:
                raise row.error(f"an antenna of {dish:g} m", "write its diameter")
            least, most = FREQUENCIES_GHZ
            # Of another carrier the check of the link names the fault.
            carrier = min(max(frequencies_ghz[0], least), most)
            gain = antenna.gain_dbi(dish, carrier)
            row.assumed.append(f"gains of antennas with an efficiency of {antenna.EFFICIENCY}")
        found.append(gain)
    return row.pair(found[0], found[1], "antenna gain or diameter")


def _powers(row: _Row, gains_dbi: tuple[float, float]) -> tuple[float, float]:
    """The powers of both transmitters; an EIRP is less the gain."""
    powers: list[float | None] = []
    for end, power_keys, eirp_keys in (
        (0, ("power",), ("eirp",)),
        (1, ("power_b", "power_back"), ("eirp_back",)),
    ):
        power, eirp = row.value(*power_keys), row.value(*eirp_keys)
        if power is None and eirp is not None:
            power = eirp - gains_dbi[end]
        powers.append(power)
    return row.pair(powers[0], powers[1], "transmit power or EIRP")


def _polarization(row: _Row) -> str:
    written = row.link.more.get("polarization", "").strip()
    text = written.lower()
    if not text:
        row.assumed.append("vertical polarization")
        return "V"
    if _BOTH.fullmatch(text):
        row.assumed.append("of both polarizations horizontal, which rain attenuates more")
        return "H"
    if text not in _POLARIZATIONS:
        raise row.error(f'polarization "{shown(written)}" is not known', "write V, H or C")
    return _POLARIZATIONS[text]


def _radio(row: _Row, defaults: Defaults, frequency_ghz: float, bandwidth_mhz: float) -> str:
    wanted = defaults.radio or row.link.more.get("radio")
    if not wanted:
        return radios.GENERIC
    if defaults.strict:
        return wanted
    try:
        return radios.ladder(wanted, frequency_ghz, bandwidth_mhz).radio
    except BacklaneError as error:
        row.assumed.append(f"a generic radio: {error.message}")
        return radios.GENERIC


def budget_of(link: Link, network: Network, defaults: Defaults, ruler: Ruler) -> Budget:
    """The budget of a link.

    Raises:
        BacklaneError: R060 for what is missing or cannot be used, R061 for a radio that does not
            fit.
    """
    rain = defaults.rain_rate_mm_h
    text = link.more.get("rain_rate")
    if text:
        rain = plain(text)
        least, most = RAIN_RATES_MM_H
        if rain is None or not least <= rain <= most:
            raise BacklaneError(
                "R060",
                f'{name_of(link)}: rain rate "{shown(text)}" cannot be used',
                link.place,
                f"write mm/h from {least:g} to {most:g}",
            )
    return compute(link_of(link, network, defaults, ruler), Climate(rain, defaults.gradient_n_km))


@dataclass(frozen=True)
class Recorded:
    """Recorded levels of one direction of a link.

    Attributes:
        direction: as the file calls it; empty if it has one alone.
        median_dbm: of the levels.
        series: the rates that the radio of the budget has with them.
    """

    direction: str
    median_dbm: float
    series: RateSeries


def recorded(link: Link, network: Network, budget: Budget) -> list[Recorded]:
    """The rates of a link with its recorded levels, for each direction that has any.

    A level holds until the next one, but at most for `MOST_GAP_S`; then its rate is not known.
    """
    found = []
    for (name, direction), samples in network.level_series.items():
        if name != link.more.get("link"):
            continue
        # Of one time, the last row counts.
        points = sorted(dict(samples).items())
        levels = [level for _, level in points if not math.isnan(level)]
        if not levels:
            continue
        held: list[tuple[float, float]] = []
        for time, level in points:
            if held and time - held[-1][0] > MOST_GAP_S:
                held.append((held[-1][0] + MOST_GAP_S, math.nan))
            held.append((time, level))
        times, values = zip(*held, strict=True)
        series = rate_from_levels(times, values, budget.ladder, budget.link.powers_dbm[0])
        found.append(Recorded(direction, median(levels), series))
    return found


def _rounded(rate_bps: float) -> float:
    return round(rate_bps, -5) if rate_bps > 10e6 else round(rate_bps)


def derive_rates(network: Network, ruler: Ruler) -> None:
    """Give links without a rate that of their budget in clear air; what is assumed is a note."""
    derived: list[str] = []
    failed: list[str] = []
    assumed: dict[str, None] = {}
    for link in network.links:
        if link.rate_bps is not None or not wants_budget(link):
            continue
        try:
            found = budget_of(link, network, Defaults(strict=False), ruler)
        except BacklaneError as error:
            failed.append(error.message)
            continue
        worse = found.worse
        if worse.at is None:
            failed.append(f"{name_of(link)}: no step holds at {worse.level_dbm:.1f} dBm")
            continue
        there, back = found.directions
        # Whole tenths of a Mbit/s: a scaled generic rate has no more digits to trust.
        link.rate_bps, link.rate_back_bps = _rounded(there.rate_bps), None
        if back.rate_bps != there.rate_bps:
            link.rate_back_bps = _rounded(back.rate_bps)
        step = worse.steps[worse.at].step
        text = f"{found.ladder.radio} {step.mode} at {worse.level_dbm:.1f} dBm"
        link.rate_note = f"{DERIVED}, {text}"
        derived.append(f"{name_of(link)} {worse.rate_bps / 1e6:.4g} Mbit/s ({text})")
        assumed |= dict.fromkeys(found.notes)
    network.listed(
        "assumed", f"the rate of {count(derived, 'link')} from the link budget in clear air",
        derived,
    )  # fmt: skip
    network.listed("assumed", "of these link budgets", [*assumed])
    network.listed("warning", f"no rate from a link budget for {count(failed, 'link')}", failed)
