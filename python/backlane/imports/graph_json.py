"""JSON with nodes and links: node-link of networkx, topohub, NetJSON, SNDlib, Cytoscape, D3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.imports.model import Demand, Link, Site, count, shown
from backlane.imports.places import plane
from backlane.imports.quantities import number
from backlane.imports.sndlib import from_modules, say_modules
from backlane.imports.values import items, label, locate, rest, text, texts

if TYPE_CHECKING:
    from backlane.imports.model import Network
    from backlane.imports.reading import File

_ENDS = (("source", "target"), ("from", "to"), ("src", "dst"), ("a", "b"), ("start", "end"))
_RATES = {"rate_bps": 1.0, "capacity_bps": 1.0, "bps": 1.0, "rate_mbps": 1e6, "mbps": 1e6}
_RATES |= {"capacity_mbps": 1e6, "bandwidth_mbps": 1e6, "LinkSpeedRaw": 1.0, "capacity_gbps": 1e9}
_LENGTHS = {"dist": 1e3, "length_km": 1e3, "distance_km": 1e3, "length_m": 1.0, "distance_m": 1.0}


def netjson(file: File, document: Any, network: Network) -> None:
    """NetJSON NetworkGraph, or a NetworkCollection of them.

    Raises:
        BacklaneError: R041, R044 or R045 with the path.
    """
    graphs = [("", document)]
    if document.get("type") == "NetworkCollection":
        graphs = items(file, document.get("collection"), "collection")
        others = [shown(str(g.get("type"))) for _, g in graphs if g.get("type") != "NetworkGraph"]
        network.listed("dropped", "parts of the collection that are no graph", others)
        graphs = [(path, g) for path, g in graphs if g.get("type") == "NetworkGraph"]
    for path, graph in graphs:
        start = f"{path}." if path else ""
        nodes = items(file, graph.get("nodes"), f"{start}nodes")
        links = items(file, graph.get("links"), f"{start}links")
        metric = label(graph, "metric") or "unknown"
        network.note(
            "read",
            f"NetJSON of {shown(label(graph, 'protocol') or 'unknown')}, metric {shown(metric)}: "
            "a cost of routing, never taken as a rate",
        )
        for place, node in nodes:
            identity = text(file, node.get("id"), f"{place}.id")
            site = Site(identity, file.at(place), name=label(node, "label", "name"))
            locate(file, site, node, place)
            site.more = rest(node, "id", "label", "name")
            network.add_site(site, "keep" if path else "error")
            for alias in texts(node.get("local_addresses")):
                network.aliases[alias] = identity
        _links(file, links, network, reversible=True)


def node_link(file: File, document: dict[str, Any], network: Network) -> None:
    """Node-link JSON and relatives, with ``edges`` or ``links``.

    Raises:
        BacklaneError: R041, R044 or R045 with the path.
    """
    elements = document.get("elements")
    if isinstance(elements, dict):
        document = {
            key: [one.get("data", one) if isinstance(one, dict) else one for one in value]
            for key, value in elements.items()
            if isinstance(value, list)
        }
    key = next((k for k in ("edges", "links") if isinstance(document.get(k), list)), "edges")
    if isinstance(document.get("edges"), list) and isinstance(document.get("links"), list):
        raise file.bad("both edges and links are listed", "edges", "keep one of them")
    nodes = items(file, document.get("nodes"), "nodes")
    links = items(file, document.get(key, []), key)
    if "adjacency" in document:
        links += _adjacency(file, document["adjacency"], nodes)
    graph = document.get("graph")
    graph = graph if isinstance(graph, dict) else {}
    network.name = network.name or label(graph, "name", "Network", "label")
    waypoints = []
    fibre = any("dist" in link for _, link in links)
    for index, (place, node) in enumerate(nodes):
        value = next((node[k] for k in ("id", "key", "name", "label") if k in node), index)
        identity = text(file, value, f"{place}.id")
        site = Site(identity, file.at(place), name=label(node, "name", "label"))
        # topohub and networkx have x, y of drawings too: only named fields are positions.
        locate(file, site, node, place, zero=True)
        kind = label(node, "type", "kind", "role") or ""
        if "waypoint" in kind.lower():
            site.forwards_only = True
            waypoints.append(identity)
        site.gateway = kind.lower() in ("gateway", "pop") or node.get("gateway") is True
        site.more = rest(node, "id", "name", "label")
        network.add_site(site)
    if waypoints:
        network.note(
            "read", f"{count(waypoints, 'waypoint')} of cables, which forward and have no users"
        )
    if fibre or any("pre_installed_capacity" in link for _, link in links):
        network.medium = "fibre"
    by_index = nodes and not any("id" in node or "key" in node for _, node in nodes)
    _links(file, links, network, names=[*network.sites] if by_index else None)
    if document.get("directed") is True:
        for link in network.links:
            link.directed = True
    _demands(file, document, network)
    placed = [site.position for site in network.sites.values() if site.position is not None]
    if any("pos" in node for _, node in nodes) and any(
        abs(at[0]) > 90 or abs(at[1]) > 180 for at in placed
    ):
        plane(network)
    if any("modules" in link.more for link in network.links):
        say_modules(network, None)


def _adjacency(
    file: File, rows: Any, nodes: list[tuple[str, dict[str, Any]]]
) -> list[tuple[str, dict[str, Any]]]:
    """The links of networkx's adjacency data: a list of neighbours for each node, in its order."""
    if not isinstance(rows, list) or len(rows) != len(nodes):
        raise file.bad(f"a list for each of {count(nodes, 'node')} is expected", "adjacency")
    found = {}
    for index, (row, (_, node)) in enumerate(zip(rows, nodes, strict=True)):
        for place, near in items(file, row, f"adjacency[{index}]"):
            ends = (str(node.get("id")), str(near.get("id")), str(near.get("key", "")))
            # An undirected link stands in both lists.
            if (ends[1], ends[0], ends[2]) not in found:
                found[ends] = (place, near | {"source": node.get("id"), "target": near.get("id")})
    return [*found.values()]


def listed(file: File, document: list[Any], network: Network) -> None:
    """A list of links, or of sites with positions, each an object.

    Raises:
        BacklaneError: R040 when it is neither, else as `node_link`.
    """
    first = document[0]
    if any(a in first and b in first for a, b in _ENDS):
        _links(file, items(file, document, "links"), network)
        return
    site = Site("?", "?")
    locate(file, site, first, "nodes[0]", zero=True)
    if site.position is None or not {"id", "name", "key", "label"} & first.keys():
        raise BacklaneError(
            "R040",
            "a list of objects that are neither links nor sites with positions",
            file.path,
            "`backlane import --formats` lists what can be read",
        )
    node_link(file, {"nodes": document, "edges": []}, network)


def _ends(file: File, link: dict[str, Any], place: str) -> tuple[Any, Any]:
    for a, b in _ENDS:
        if a in link and b in link:
            return link[a], link[b]
    raise file.bad("a link without source and target", place, "name both ends")


def _links(
    file: File,
    links: list[tuple[str, dict[str, Any]]],
    network: Network,
    names: list[str] | None = None,
    reversible: bool = False,
) -> None:
    added = []
    for place, row in links:
        ends = []
        for end, key in zip(_ends(file, row, place), ("source", "target"), strict=True):
            value = end.get("id") if isinstance(end, dict) else end
            if names is not None and isinstance(value, int) and not isinstance(value, bool):
                if not 0 <= value < len(names):
                    raise BacklaneError(
                        "R045",
                        f"there is no node {value}: the file lists {len(names)}, from 0",
                        file.at(f"{place}.{key}"),
                        "correct the index",
                    )
                ends.append(names[value])
            else:
                ends.append(text(file, value, f"{place}.{key}"))
        link = Link(ends[0], ends[1], file.at(place))
        link.more = rest(row, "source", "target", "from", "to", "dist")
        inner = row.get("properties")
        if isinstance(inner, dict):
            link.more |= rest(inner)
        _measures(file, link, row, place)
        if isinstance(row.get("id"), str):
            link.more["link"] = row["id"]
        network.add_link(link)
        added.append(link)
    there = {(link.a, link.b) for link in added}
    if reversible and any((link.b, link.a) in there for link in added if link.a != link.b):
        for link in added:
            link.directed = True


def _measures(file: File, link: Link, row: dict[str, Any], place: str) -> None:
    for fields in (row, row.get("properties"), row.get("data")):
        if not isinstance(fields, dict):
            continue
        for key, factor in _RATES.items():
            value = number(fields.get(key))
            if value is not None and 0 < value * factor <= 1e13:
                link.rate_bps = value * factor
        for key, factor in _LENGTHS.items():
            value = number(fields.get(key))
            if value is not None and 0 <= value * factor <= 5e7:
                link.length_m = value * factor
        delay = number(fields.get("delay_ms"))
        if delay is not None and 0 <= delay < 1e5:
            link.delay_s = delay / 1e3
    if "pre_installed_capacity" in row or isinstance(row.get("modules"), list):
        modules = [
            number(module.get("module_capacity", module.get("capacity")))
            for _, module in items(file, row.get("modules") or [], f"{place}.modules")
        ]
        from_modules(
            link,
            number(row.get("pre_installed_capacity")) or 0.0,
            [m for m in modules if m is not None],
            None,
        )


def _demands(file: File, document: dict[str, Any], network: Network) -> None:
    listed = document.get("demands")
    graph = document.get("graph")
    if isinstance(listed, list):
        for place, row in items(file, listed, "demands"):
            a, b = (text(file, end, place) for end in _ends(file, row, place))
            value = number(row.get("demand_value", row.get("value")))
            if value is None or value < 0:
                raise BacklaneError(
                    "R047", "a demand without a value", file.at(place), "write a number"
                )
            network.demands.append(Demand(a, b, file.at(place), value))
    elif isinstance(graph, dict) and isinstance(graph.get("demands"), dict):
        for a, row in graph["demands"].items():
            for b, value in row.items() if isinstance(row, dict) else ():
                size = number(value)
                if size is not None and size > 0:
                    place = file.at(f"graph.demands.{shown(a)}")
                    network.demands.append(Demand(str(a), str(b), place, size))
