"""GNPy: elements and connections of an optical network, and its workbook of Nodes and Links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backlane.imports import columns, csv_links, csv_sites
from backlane.imports.model import Link, Site, count, shown
from backlane.imports.quantities import number
from backlane.imports.values import items, label, locate, text

if TYPE_CHECKING:
    from backlane.imports.model import Network
    from backlane.imports.reading import File
    from backlane.imports.tables import Table

_MOST_HOPS = 500
"""Amplifiers and spans between two sites."""


def read(file: File, document: dict[str, Any], network: Network) -> None:
    """Contract fibres, amplifiers and fused nodes to links between sites.

    Raises:
        BacklaneError: R041, R044 or R045 with the path.
    """
    network.medium = "fibre"
    kinds: dict[str, str] = {}
    lengths: dict[str, float] = {}
    elements = items(file, document.get("elements"), "elements")
    for place, element in elements:
        uid = text(file, element.get("uid"), f"{place}.uid")
        kinds[uid] = (label(element, "type") or "").lower()
        parameters = element.get("params")
        if isinstance(parameters, dict):
            length = number(parameters.get("length"))
            if length is not None and length >= 0:
                unit = str(parameters.get("length_units", "km"))
                lengths[uid] = length * (1.0 if unit == "m" else 1000.0)
    main = "roadm" if "roadm" in kinds.values() else "transceiver"
    after: dict[str, list[str]] = {}
    for place, row in items(file, document.get("connections"), "connections"):
        a, b = (text(file, row.get(k), f"{place}.{k}") for k in ("from_node", "to_node"))
        for end in (a, b):
            if end not in kinds:
                network.unknown = "error"
                raise network.no_such_site(end, file.at(place))
        after.setdefault(a, []).append(b)
    for place, element in elements:
        uid = text(file, element.get("uid"), f"{place}.uid")
        if kinds[uid] == main:
            site = Site(uid, file.at(place))
            metadata = element.get("metadata")
            holder = metadata if isinstance(metadata, dict) else {}
            location = holder.get("location")
            locate(file, site, holder, place, zero=True)
            site.name = label(location, "city") if isinstance(location, dict) else None
            network.add_site(site)
    for start in [*network.sites]:
        for first in after.get(start, []):
            _walk(file, start, first, kinds, lengths, after, main, network)
    hidden = {k: sum(v == k for v in kinds.values()) for k in sorted({*kinds.values()} - {main})}
    network.note(
        "merged",
        "contracted to links between sites: "
        + ", ".join(f"{number} × {shown(kind)}" for kind, number in hidden.items()),
    )


def _walk(
    file: File,
    start: str,
    first: str,
    kinds: dict[str, str],
    lengths: dict[str, float],
    after: dict[str, list[str]],
    main: str,
    network: Network,
) -> None:
    """Follow a fibre from a site to the next site; a fused node leads on to its next span."""
    length = 0.0
    at, seen = first, {start}
    spans = 0
    while kinds[at] != main:
        if at in seen or len(seen) > _MOST_HOPS:
            return
        seen.add(at)
        if at in lengths:
            spans += 1
            length += lengths[at]
        onward = [n for n in after.get(at, []) if n not in seen]
        if not onward:
            return
        at = onward[0]
    if at == start:
        return
    link = Link(start, at, file.at("connections"), directed=True)
    link.length_m = length if spans else None
    link.more["spans"] = str(spans)
    network.add_link(link)


def workbook(sheets: list[Table], network: Network) -> None:
    """Sheets of sites and of links, such as Nodes and Links of GNPy.

    Raises:
        BacklaneError: R041, R044, R045 or R047 with sheet and row; R040 when no sheet fits.
    """
    used = []
    names = {sheet.sheet.strip().lower() for sheet in sheets}
    main = {"nodes", "links"} if {"nodes", "links"} <= names else names
    for sheet in sheets:
        # Other sheets of GNPy (Eqpt, Service) name pairs of nodes that are no links.
        if sheet.sheet.strip().lower() not in main:
            continue
        links = columns.find(sheet.header, csv_links.LINK)
        sites = columns.find(sheet.header, columns.SITE)
        if csv_links.matches(links):
            csv_links.read(sheet, links, network)
            network.medium = "fibre" if sheet.sheet.lower() == "links" else network.medium
        elif csv_sites.matches(sites):
            csv_sites.read(sheet, sites, network)
        else:
            continue
        used.append(sheet.sheet)
    network.note("read", f"sheets {', '.join(map(shown, used))}" if used else "no sheet")
    others = [shown(sheet.sheet) for sheet in sheets if sheet.sheet not in used]
    network.listed("dropped", f"{count(others, 'sheet')} without sites or links", others)
