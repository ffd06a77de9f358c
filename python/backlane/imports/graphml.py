"""GraphML: Topology Zoo, networkx, yEd. Positions are data named latitude and longitude.

Coordinates of a drawing (yEd's ``y:Geometry``) are never taken as positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.imports import columns
from backlane.imports.model import Link, Site, count, shown
from backlane.imports.quantities import plain, quantity

if TYPE_CHECKING:
    from backlane.imports.columns import Column
    from backlane.imports.model import Network
    from backlane.imports.reading import Element, File

_RATE_WORDS = ("LinkSpeedRaw", "rate_bps", "capacity_bps", "bandwidth_bps")


def read(file: File, root: Element, network: Network) -> None:
    """Add the nodes and edges of a file.

    Raises:
        BacklaneError: R041, R044, R045 or R047 with the line.
    """
    keys: dict[tuple[str, str], str] = {}
    for key in root.children_named("key"):
        name = key.get("attr.name") or key.get("yfiles.type") or key.get("id") or ""
        for kind in [key.get("for") or "all"]:
            for one in ("node", "edge", "graph") if kind == "all" else (kind,):
                keys[(one, key.get("id") or "")] = name
    graphs = [*root.all("graph")]
    if not graphs:
        raise file.bad("the file has no graph", root.line)
    data = {
        keys.get(("graph", d.get("key") or ""), ""): d.text
        for d in graphs[0].children_named("data")
    }
    network.name = network.name or data.get("Network") or data.get("label") or data.get("name")
    network.medium = "fibre"
    hyper, outside, drawn = [], 0, 0
    for graph in graphs:
        directed = graph.get("edgedefault") == "directed"
        for node in graph.children_named("node"):
            site, fields = _site(file, node, keys)
            drawn += any(node.all("Geometry"))
            if fields.get("hyperedge") in ("1", "true"):
                site.forwards_only = True
                hyper.append(shown(site.id))
            outside += fields.get("internal") in ("0", "false")
            network.add_site(site)
        for edge in graph.children_named("edge"):
            _edge(file, edge, keys, directed, network)
        if graph.children_named("hyperedge"):
            line = graph.children_named("hyperedge")[0].line
            raise file.bad("elements hyperedge are not read", line, "write a node for each")
    network.listed(
        "read",
        f"{count(hyper, 'node')} that stand for a hyperedge, kept: they forward, without users",
        hyper,
    )
    if outside:
        network.note("read", f"{count(outside, 'node')} of other networks (Internal 0), kept")
    if drawn:
        network.note(
            "dropped", f"places in a drawing of {count(drawn, 'node')}: they are no coordinates"
        )


def _fields(element: Element, kind: str, keys: dict[tuple[str, str], str]) -> dict[str, str]:
    found = {}
    for data in element.children_named("data"):
        name = keys.get((kind, data.get("key") or ""), data.get("key") or "")
        if data.text:
            found[name] = data.text
    return found


def _site(
    file: File, node: Element, keys: dict[tuple[str, str], str]
) -> tuple[Site, dict[str, str]]:
    raw = _fields(node, "node", keys)
    fields = {columns.normal(name): value for name, value in raw.items()}
    site = Site(node.get("id") or "", file.at(node.line))
    site.name = next((fields[k] for k in ("label", "name", "title") if k in fields), None)
    if site.name is None:
        site.name = next((e.text for e in node.all("NodeLabel") if e.text), None)
    header = [*raw]
    found: dict[str, Column] = columns.find(header, columns.SITE)
    if "latitude" in found and "longitude" in found:
        values = [plain(raw[found[axis].title]) for axis in ("latitude", "longitude")]
        if None in values:
            raise BacklaneError(
                "R044",
                f"the position of {shown(site.id)} is no pair of numbers",
                site.place,
                "write degrees",
            )
        site.latitude, site.longitude = values
    elif "latitude" in found or "longitude" in found:
        raise BacklaneError(
            "R044", f"{shown(site.id)} has half a position", site.place, "give both axes"
        )
    site.gateway = fields.get("gateway") in ("1", "true")
    site.more = {k: v[:200] for k, v in fields.items() if k not in ("latitude", "longitude")}
    return site, fields


def _edge(
    file: File,
    edge: Element,
    keys: dict[tuple[str, str], str],
    directed: bool,
    network: Network,
) -> None:
    a, b = edge.get("source"), edge.get("target")
    if not a or not b:
        raise file.bad("an edge without source and target", edge.line)
    own = edge.get("directed")
    link = Link(a, b, file.at(edge.line), directed=own == "true" if own else directed)
    raw = _fields(edge, "edge", keys)
    for name in _RATE_WORDS:
        if name in raw:
            value = plain(raw[name])
            if value is None or value < 0 or value > 1e14:
                raise BacklaneError(
                    "R047", f'rate "{shown(raw[name])}" cannot be used', link.place, "correct it"
                )
            link.rate_bps = value or None
    found = columns.find([*raw], columns.LINK)
    if link.rate_bps is None and "rate" in found and "LinkSpeed" not in raw:
        read = quantity("rate", raw[found["rate"].title])
        factor = found["rate"].factor
        if read is not None and (read[1] or factor) and read[0] > 0:
            link.rate_bps = read[0] * (1.0 if read[1] else factor or 1.0)
    for key in ("length", "delay"):
        if key in found:
            read = quantity(columns.LINK[key].kind, raw[found[key].title])
            factor = found[key].factor
            if read is not None and (read[1] or factor) and read[0] >= 0:
                value = read[0] * (1.0 if read[1] else factor or 1.0)
                if key == "length":
                    link.length_m = value
                else:
                    link.delay_s = value
    link.more = {columns.normal(name): text[:200] for name, text in raw.items()}
    network.add_link(link)
