"""From files to a scenario: read, put together, check, complete, write."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from backlane.errors import BacklaneError
from backlane.imports import capacities, formats, hub, merge, pieces, places, radio, reading, write
from backlane.imports.model import Network, Source, Unknown, count, shown
from backlane.imports.quantities import quantity, unit_factor
from backlane.imports.trace_scenario import trace_scenario
from backlane.imports.write import Assumed, Written
from backlane.text import slug

if TYPE_CHECKING:
    from pathlib import Path

    from backlane.imports.capacities import Wanted

# No link is faster than 100 Tbit/s, a fibre of all bands; a larger number is a damaged file.
MAX_RATE_BPS = 1e14


@dataclass(frozen=True)
class Options:
    """What the user says about an import.

    Attributes:
        format: of every file, instead of looking at it.
        name: of the scenario.
        licence: of the data.
        rate: of links without one, such as "200 Mbit/s".
        delay: of links without delay and length.
        unit: of rates without one.
        pieces: "join", "largest" or "refuse".
        rule: draws links, one of `pieces.RULES`.
        gateways: sites that lead to the core network.
        keep: filters "column=value,value".
        swap: exchange latitude and longitude.
        medium: "air" or "fibre", what the links lead through.
        crs: the system of projected coordinates.
        unknown: what follows when a link names a site that is not listed.
        capacities: makes recorded levels the capacities of links.
        assume: False refuses a scenario with assumed rates or delays.
    """

    format: str | None = None
    name: str | None = None
    licence: str | None = None
    rate: str | None = None
    delay: str | None = None
    unit: str = ""
    pieces: str = "join"
    rule: str | None = None
    gateways: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    swap: bool = False
    crs: str | None = None
    medium: Literal["air", "fibre"] | None = None
    unknown: Unknown | None = None
    capacities: Wanted | None = None
    assume: bool = True


@dataclass
class Imported:
    """The result of an import.

    Attributes:
        network: what is in the scenario.
        written: the texts.
        understood: counts of what the files hold, before anything is added or left out.
        name: of the scenario.
    """

    network: Network
    written: Written
    understood: dict[str, Any] = field(default_factory=dict)
    name: str = ""


def read(paths: list[Path], options: Options, network: Network | None = None) -> Network:
    """Read files into one network and put it together.

    Args:
        paths: the files.
        options: of the user.
        network: filled as far as the files are right; its notes explain a refusal.

    Raises:
        BacklaneError: R003, or R040 to R047 with the place in the file.
    """
    network = Network() if network is None else network
    for path in paths:
        file = reading.load(hub.path_of(path))
        source = Source(str(path), file.sha256, file.size)
        network.sources.append(source)
        try:
            source.format = formats.read(file, network, options.unit, options.format)
            if "text" in vars(file) and not file.is_utf8:
                network.note("assumed", f"{path.name} is not UTF-8: read as Windows-1252")
        except RecursionError as error:
            raise BacklaneError(
                "R042", "the file is nested too deeply", path, "this is no network"
            ) from error
    _apply_unit(network, options.unit)
    if options.medium is not None:
        network.medium = options.medium
    if options.unknown is not None:
        network.unknown = options.unknown
    _keep(network, options.keep)
    if options.swap:
        places.swap(network)
    if options.crs:
        places.project(network, options.crs)
    if network.positions != "drawing":
        places.check_ranges(network)
    network.resolve()
    if options.keep:
        _keep_links(network, options.keep)
    _check_rates(network)
    merge.without_loops(network)
    merge.directions(network)
    if network.positions == "none" and any(s.position for s in network.sites.values()):
        network.positions = "geographic"
    if any(site.x_m is not None for site in network.sites.values()):
        network.positions = "metres"
    places.judge_lengths(network)
    if network.positions == "geographic":
        places.check_lengths(network)
    _doubtful(network)
    return network


def _check_rates(network: Network) -> None:
    for link in network.links:
        for rate in (link.rate_bps, link.rate_back_bps):
            if rate is not None and rate > MAX_RATE_BPS:
                raise BacklaneError(
                    "R047", f"a rate of {rate:.3g} bit/s cannot be used", link.place,
                    "correct the rate or its unit",
                )  # fmt: skip


def _apply_unit(network: Network, unit: str) -> None:
    """Give capacities and demands without a unit that of the user.

    Raises:
        BacklaneError: R012 when it is none.
    """
    if not unit:
        return
    factor = unit_factor("rate", unit)
    if factor is None:
        raise BacklaneError("R012", f'"{unit}" is no unit of rates', "--unit", "such as Mbit/s")
    for link in network.links:
        if link.rate_note and link.rate_bps is not None and "Mbit/s" in link.rate_note:
            link.rate_bps *= factor / 1e6
            link.rate_note = link.rate_note.replace("Mbit/s", unit).replace("assumed M", "M")
    for demand in network.demands:
        demand.unit_bps = demand.unit_bps or factor


def _filters(keep: tuple[str, ...]) -> dict[str, set[str]]:
    found = {}
    for text in keep:
        name, equals, values = text.partition("=")
        if not equals or not name.strip():
            raise BacklaneError(
                "R012", f'"{text}" is no filter', "--keep", "write --keep status=active"
            )
        found[name.strip().lower()] = {value.strip().lower() for value in values.split(",")}
    return found


def _fits(more: dict[str, str], filters: dict[str, set[str]]) -> bool:
    return all(more[name].lower() in values for name, values in filters.items() if name in more)


def _keep(network: Network, keep: tuple[str, ...]) -> None:
    """Leave out the sites that the user's filters refuse, and the links to them."""
    filters = _filters(keep)
    lost = {name for name, site in network.sites.items() if not _fits(site.more, filters)}
    if not lost:
        return
    network.sites = {n: s for n, s in network.sites.items() if n not in lost}
    before = len(network.links)

    def known(end: str) -> str:
        return network.aliases.get(end, end)

    network.links = [
        link for link in network.links if known(link.a) not in lost and known(link.b) not in lost
    ]
    network.listed("dropped", f"{count(lost, 'site')} by --keep", sorted(map(shown, lost)))
    if before > len(network.links):
        network.note("dropped", f"{count(before - len(network.links), 'link')} to these")


def _keep_links(network: Network, keep: tuple[str, ...]) -> None:
    filters = _filters(keep)
    kept = [link for link in network.links if _fits(link.more, filters)]
    gone = len(network.links) - len(kept)
    if gone:
        network.note("dropped", f"{count(gone, 'link')} by --keep")
    network.links = kept


def _doubtful(network: Network) -> None:
    """Name places that two sites share, and links of length zero."""
    at: dict[tuple[float, float], list[str]] = {}
    for site in network.sites.values():
        if site.position is not None:
            at.setdefault(site.position, []).append(shown(site.id))
    shared = [f"{' and '.join(group)}" for group in at.values() if len(group) > 1]
    many = sum(len(group) for group in at.values() if len(group) > 1)
    network.listed("warning", f"{count(many, 'site')} at the place of another", shared)
    none = [shown(s.id) for s in network.sites.values() if not s.has_position]
    if none and len(none) < len(network.sites):
        network.listed("warning", f"{count(none, 'site')} without a position", none)
    elif none and network.positions != "drawing":
        network.note("warning", "no site has a position: no length is known")
    zero = []
    for link in network.links:
        a, b = network.sites[link.a], network.sites[link.b]
        if link.length_m == 0 or (
            link.length_m is None and a.position is not None and a.position == b.position
        ):
            zero.append(f"{shown(link.a)}–{shown(link.b)}")
    network.listed("warning", f"{count(zero, 'link')} of length zero", zero)


def understood(network: Network) -> dict[str, Any]:
    """Counts of what the files hold."""
    sites = network.sites.values()
    return {
        "sites": len(network.sites),
        "positions": sum(site.position is not None for site in sites)
        or sum(site.has_position for site in sites),
        "positions_are": network.positions,
        "gateways": sum(site.gateway for site in sites),
        "links": len(network.links),
        "pairs": merge.pairs(network),
        "rates": sum(
            link.rate_bps is not None and not (link.rate_note or "").startswith("assumed")
            for link in network.links
        ),
        "lengths": sum(link.length_m is not None for link in network.links),
        "demands": len(network.demands),
        "traces": len(network.traces),
    }


def quantity_of(kind: str, text: str | None, option: str) -> float | None:
    """A value of the command line.

    Raises:
        BacklaneError: R012.
    """
    if text is None:
        return None
    found = quantity(kind, text)
    if found is None or not found[1] or not found[0] > 0:
        example = "200 Mbit/s" if kind == "rate" else "2 ms"
        raise BacklaneError(
            "R012", f'"{text}" is no {kind}', option, f'write a number with a unit: "{example}"'
        )
    return found[0]


def run(paths: list[Path], options: Options, network: Network | None = None) -> Imported:
    """Import files.

    Args:
        paths: the files.
        options: of the user.
        network: filled as far as the files are right; its notes explain a refusal.

    Raises:
        BacklaneError: R003, R012, or R040 to R049.
    """
    rate = quantity_of("rate", options.rate, "--rate")
    delay = quantity_of("time", options.delay, "--delay")
    assumed = Assumed(rate or 100e6, delay or 1e-3, rate is not None, delay is not None)
    network = read(paths, options, network)
    counts = understood(network)
    name = options.name or network.name or re.sub(r"\.\w+$", "", paths[0].name)
    name = slug(name)
    if network.traces and not network.sites:
        written = trace_scenario(network, name, options.licence)
        return Imported(network, written, counts, name)
    _complete(network, options)
    _refuse_assumed(network, options)
    gates = _gateways(network, options.gateways)
    written = write.scenario(network, name, options.licence, assumed, gates)
    return Imported(network, written, counts, name)


def _complete(network: Network, options: Options) -> None:
    """Lengths from positions, links by a rule, one piece, parallel links joined."""
    first = network.sources[0].path
    for reason in sorted({*network.leave_out.values()}):
        names = [n for n, why in network.leave_out.items() if why == reason and n in network.sites]
        pieces.retain(network, network.sites.keys() - {*names})
        network.listed("dropped", f"{count(names, 'site')} {reason}", [*map(shown, names)])
    if not network.sites:
        raise BacklaneError(
            "R046",
            "the files list no site",
            first,
            "give a file with sites; `backlane import --formats` lists what can be read",
        )
    ruler = places.Ruler()
    if not network.links and not options.rule and len(network.sites) > 1:
        raise BacklaneError(
            "R046",
            f"{count(network.sites, 'site')} read and no link"
            + (f": {network.wants_links}" if network.wants_links else ""),
            first,
            "give the file with the links too, or let a rule draw them: --rule "
            + ", ".join(pieces.RULES),
        )
    for link in network.links:
        if link.length_m is None:
            link.length_m = ruler.between(network.sites[link.a], network.sites[link.b])
    if options.capacities is not None:
        capacities.add(network, options.capacities)
    if options.rate is None:
        radio.derive_rates(network, ruler)
    if options.rule:
        pieces.by_rule(network, options.rule, ruler)
    pieces.treat(network, options.pieces, ruler)
    merge.parallel(network)


def _refuse_assumed(network: Network, options: Options) -> None:
    if options.assume:
        return
    added = sum(link.added is not None for link in network.links)
    rates = sum(link.rate_bps is None or bool(link.rate_note) for link in network.links)
    delays = sum(link.delay_s is None and link.length_m is None for link in network.links)
    missing = [
        text
        for number, text in (
            (added, f"{added} links would be added"),
            (0 if options.rate else rates, f"{rates} links have no rate (--rate)"),
            (0 if options.delay else delays, f"{delays} links have no delay or length (--delay)"),
        )
        if number
    ]
    if missing:
        raise BacklaneError(
            "R048" if added else "R047",
            f"something would be assumed: {'; '.join(missing)}",
            network.sources[0].path,
            "give the values, or leave --no-assume out",
        )


def _gateways(network: Network, wanted: tuple[str, ...]) -> tuple[str, ...]:
    found = []
    for name in wanted:
        known = network.aliases.get(name, name)
        if known not in network.sites:
            by_name = [s.id for s in network.sites.values() if s.name == name]
            if len(by_name) != 1:
                raise network.no_such_site(name, "--gateway")
            known = by_name[0]
        found.append(known)
    return tuple(found)
