"""Dumps of community meshes: OLSR, batman-adv, meshviewer, BMX6, BIRD's OSPF, node lists.

Qualities (LQ, ETX, TQ, metrics) are costs of routing and never taken as rates.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.imports.model import Link, Site, count, shown
from backlane.imports.quantities import number
from backlane.imports.values import items, label, locate, rest, text, texts

if TYPE_CHECKING:
    from backlane.imports.model import Network
    from backlane.imports.reading import File

_VPN = ("vpn", "tunnel", "fastd", "l2tp", "wireguard", "vxlan", "mvpn", "tinc")


def _site(network: Network, identity: str, place: str) -> Site:
    return network.add_site(Site(identity, place), "keep")


def _quality(network: Network, what: str) -> None:
    network.note("read", f"{what} is a cost of routing, never taken as a rate")


def olsr_json(file: File, document: Any, network: Network) -> None:
    """Jsoninfo of olsrd: topology, MID aliases; links and HNA are named.

    Raises:
        BacklaneError: R041 with the path.
    """
    parts = document if isinstance(document, list) else [document]
    merged: dict[str, Any] = {}
    for part in parts:
        if not isinstance(part, dict):
            raise file.bad("an object of jsoninfo is expected")
        merged |= part
    if "topology" not in merged and isinstance(merged.get("data"), list):
        merged = {"topology": merged["data"]}
    for place, row in items(file, merged.get("mid", []), "mid"):
        main = row.get("main", row)
        address = main.get("ipAddress") if isinstance(main, dict) else main
        for _, alias in items(file, row.get("aliases", []), f"{place}.aliases"):
            if isinstance(alias.get("ipAddress"), str) and isinstance(address, str):
                network.aliases[alias["ipAddress"]] = address
    rows = items(file, merged.get("topology", []), "topology")
    names = ("lastHopIP", "destinationIP")
    if not rows:
        rows = items(file, merged.get("links", []), "links")
        names = ("localIP", "remoteIP")
    for place, row in rows:
        a, b = (text(file, row.get(name), f"{place}.{name}") for name in names)
        link = Link(a, b, file.at(place), directed=True)
        link.more = rest(row, *names, "validityTime")
        network.add_link(link)
    network.unknown = "create"
    _quality(network, "link quality (LQ, NLQ, ETX)")
    announced = items(file, merged.get("hna", []), "hna")
    _hna(network, [str(row.get("destination")) for _, row in announced])


def _hna(network: Network, prefixes: list[str]) -> None:
    network.listed(
        "dropped",
        f"{len(prefixes)} announced prefixes (HNA): devices behind them are not in the dump",
        [shown(prefix) for prefix in prefixes],
    )


def tables(file: File, network: Network) -> None:
    """Txtinfo of olsrd, and the like table of batman-adv.

    Raises:
        BacklaneError: R041 with the line.
    """
    table, header = "", False
    prefixes: list[str] = []
    seen: set[str] = set()
    for line, raw in enumerate(file.text.splitlines(), start=1):
        row = raw.strip()
        if not row:
            continue
        found = re.match(r"Table:\s*(.+)", row)
        if found:
            table, header = found[1].strip().lower(), True
            seen.add(table)
            continue
        if header:
            header = False
            continue
        cells = [c.strip() for c in (row.split("\t") if "\t" in row else row.split())]
        if table == "topology":
            if len(cells) < 2 or not all(re.fullmatch(r"[\w.:%-]+", c) for c in cells[:2]):
                raise file.bad("a row of the topology without two addresses", line)
            # The first column is the destination, the second its last hop.
            link = Link(cells[1], cells[0], file.at(line), directed=True)
            if len(cells) >= 5:
                link.more["cost"] = cells[4]
            network.add_link(link)
        elif table == "mid" and len(cells) >= 2:
            for alias in re.split(r"[;,\s]+", cells[1]):
                network.aliases[alias] = cells[0]
        elif table == "hna":
            prefixes.append(cells[0])
    if "topology" not in seen:
        raise file.bad("there is no Table: Topology", fix="dump all tables of txtinfo")
    network.unknown = "create"
    _quality(network, "link quality (LQ, NLQ, cost)")
    _hna(network, prefixes)


_CALL = re.compile(r"\s*(Node|Self|Mid|P?Link)\s*\((.*?)\)\s*;?\s*")
_ARGUMENT = re.compile(r"""\s*(?:'([^']*)'|"([^"]*)"|([^,'"]*))\s*(?:,|$)""")


def latlon(file: File, network: Network) -> None:
    """latlon.js of olsrd's nameservice plugin: Node, Mid and Link, a call on each line.

    Raises:
        BacklaneError: R041 or R044 with the line.
    """
    for line, raw in enumerate(file.text.splitlines(), start=1):
        call = _CALL.fullmatch(raw) if len(raw) < 2000 else None
        if call is None:
            continue
        given = ["".join(part or "" for part in found) for found in _ARGUMENT.findall(call[2])]
        words = [word.strip() for word in given]
        if len(words) < 2 or not words[0]:
            raise file.bad(f"{call[1]} with too few arguments", line)
        if call[1] == "Mid":
            network.aliases[words[1]] = words[0]
        elif call[1].endswith("Link"):
            link = Link(words[0], words[1], file.at(line), directed=True)
            if len(words) > 4:
                link.more["etx"] = words[4]
            network.add_link(link)
        else:
            site = _site(network, words[0], file.at(line))
            pair = [number(word) for word in words[1:3]]
            if len(pair) < 2 or None in pair:
                raise BacklaneError(
                    "R044", "a position that is no pair of numbers", file.at(line), "write degrees"
                )
            if pair != [0, 0]:
                site.latitude, site.longitude = pair
            site.name = words[5] if len(words) > 5 and words[5] else None
    network.unknown = "create"
    _quality(network, "link quality (LQ, NLQ, ETX)")


def batman_vis(file: File, document: Any, network: Network) -> None:
    """Batadv-vis in its jsondoc form, or one object a line.

    Raises:
        BacklaneError: R041 with the path.
    """
    clients = 0
    if isinstance(document, dict) and "vis" in document:
        for place, row in items(file, document["vis"], "vis"):
            primary = text(file, row.get("primary"), f"{place}.primary")
            _site(network, primary, file.at(place))
            for alias in texts(row.get("secondary")):
                network.aliases[alias] = primary
            for where, near in items(file, row.get("neighbors", []), f"{place}.neighbors"):
                a, b = (text(file, near.get(k), f"{where}.{k}") for k in ("router", "neighbor"))
                link = Link(a, b, file.at(where), directed=True)
                link.more = rest(near, "router", "neighbor")
                network.add_link(link)
            clients += len(texts(row.get("clients")))
    else:
        for place, row in items(file, document, "line"):
            if isinstance(row.get("of"), str) and isinstance(row.get("secondary"), str):
                network.aliases[row["secondary"]] = row["of"]
            elif "router" in row and "neighbor" in row:
                a, b = (text(file, row[k], f"{place}.{k}") for k in ("router", "neighbor"))
                network.add_link(Link(a, b, file.at(place), directed=True))
            elif "gateway" in row or "client" in row:
                clients += 1
            elif isinstance(row.get("primary"), str):
                _site(network, row["primary"], file.at(place))
    network.unknown = "create"
    _quality(network, "the metric of batman-adv (TQ)")
    if clients:
        network.note("dropped", f"{count(clients, 'client')}: stations, not routers of the mesh")


def meshviewer(file: File, document: dict[str, Any], network: Network) -> None:
    """meshviewer.json, or nodes.json and graph.json of ffmap.

    Raises:
        BacklaneError: R041, R044 or R045 with the path.
    """
    offline, tunnels = [], 0
    nodes = document.get("nodes", [])
    if isinstance(nodes, dict):
        nodes = [*nodes.values()]
    for place, row in items(file, nodes, "nodes"):
        info = row.get("nodeinfo")
        info = info if isinstance(info, dict) else row
        flags = row.get("flags")
        flags = flags if isinstance(flags, dict) else row
        identity = text(file, info.get("node_id", row.get("node_id")), f"{place}.node_id")
        site = Site(identity, file.at(place), name=label(info, "hostname"))
        if flags.get("is_online", flags.get("online", True)) is False:
            offline.append(identity)
            continue
        locate(file, site, info, place)
        site.gateway = flags.get("is_gateway", flags.get("gateway")) is True
        site.more = rest(row, "node_id", "hostname", "gateway", "gateway_nexthop", "addresses")
        network.add_site(site)
        for alias in texts([row.get("mac")]) + texts(row.get("addresses")):
            network.aliases[alias] = identity
    graph = document.get("batadv")
    links = document.get("links", graph.get("links", []) if isinstance(graph, dict) else [])
    names = _graph_names(file, graph, network)
    gone = set(offline)
    lost = 0
    for place, row in items(file, links, "links"):
        kind = str(row.get("type") or ("vpn" if row.get("vpn") is True else "")).lower()
        if kind.startswith(_VPN):
            tunnels += 1
            continue
        ends = []
        for key in ("source", "target"):
            value = row.get(key)
            if names and isinstance(value, int) and 0 <= value < len(names):
                ends.append(names[value])
            else:
                ends.append(text(file, value, f"{place}.{key}"))
        if gone & {*ends}:
            lost += 1
            continue
        link = Link(ends[0], ends[1], file.at(place))
        link.more = rest(row, "source", "target")
        network.add_link(link)
    network.unknown = "drop"
    _quality(network, "the quality of a link (tq)")
    if tunnels:
        network.note(
            "dropped", f"{count(tunnels, 'link')} of type vpn: they lead over the Internet"
        )
    network.listed("dropped", f"{count(offline, 'node')} offline", [shown(n) for n in offline])
    if lost:
        network.note("dropped", f"{count(lost, 'link')} to these")
    network.resolve()
    linked = {end for link in network.links for end in (link.a, link.b)}
    alone = [shown(name) for name in network.sites if name not in linked]
    if links:
        network.sites = {n: s for n, s in network.sites.items() if n in linked}
        network.listed("dropped", f"{count(alone, 'node')} without a link of the mesh", alone)
    else:
        network.wants_links = "give graph.json too"


def _graph_names(file: File, graph: Any, network: Network) -> list[str]:
    """The ids behind the indices of ffmap's graph.json."""
    if not isinstance(graph, dict):
        return []
    found = []
    for place, row in items(file, graph.get("nodes", []), "batadv.nodes"):
        identity = label(row, "node_id", "id")
        if identity is None:
            raise file.bad("a node without an id", place)
        found.append(identity)
        if not network.sites or identity not in network.sites:
            _site(network, identity, file.at(place))
    return found


def bmx6(file: File, document: Any, network: Network) -> None:
    """A list of nodes, each with its links by name.

    Raises:
        BacklaneError: R041 with the path.
    """
    for place, row in items(file, document, "nodes"):
        name = text(file, row.get("name"), f"{place}.name")
        _site(network, name, file.at(place))
        for where, near in items(file, row.get("links", []), f"{place}.links"):
            link = Link(name, text(file, near.get("name"), f"{where}.name"), file.at(where))
            link.directed = True
            link.more = rest(near, "name")
            network.add_link(link)
    network.unknown = "create"
    _quality(network, "rxRate and txRate of BMX6, in percent,")


def node_list(file: File, document: dict[str, Any], network: Network) -> None:
    """Lists of devices with positions and without links, as of tomesh.

    Raises:
        BacklaneError: R041, R044 or R045 with the path.
    """
    active = 0
    for place, row in items(file, document.get("nodeList"), "nodeList"):
        identity = text(file, row.get("name", row.get("id")), f"{place}.name")
        site = Site(identity, file.at(place))
        locate(file, site, row, place, zero=True)
        height = number(row.get("altitude"))
        site.height_m = height
        site.more = rest(row, "name", "latitude", "longitude", "altitude")
        active += site.more.get("status") == "active"
        network.add_site(site)
    network.note(
        "read",
        f"{count(network.sites, 'device')}, {active} with status active (--keep status=active)",
    )
    network.wants_links = "the file lists devices and no links"


_SECTION = re.compile(r"^(\s*)(router|network|xnetwork|area)\s+(\S+)(?:\s|$)")


def ospf(file: File, network: Network) -> None:
    """``birdc show ospf state``: routers, transit networks, and what is unreachable.

    Raises:
        BacklaneError: R041 when no area is listed.
    """
    sections: list[tuple[str, str, int, list[tuple[int, str]]]] = []
    in_area = False
    for line, raw in enumerate(file.text.splitlines(), start=1):
        if not raw.strip():
            continue
        depth = len(raw.expandtabs(8)) - len(raw.expandtabs(8).lstrip())
        found = _SECTION.match(raw)
        if found and found[2] == "area":
            in_area = True
        elif found and in_area and depth <= 8 and depth > 0:
            sections.append((found[2], found[3], line, []))
        elif raw.strip() == "other ASBRs":
            sections.append(("other", "", line, []))
        elif sections and depth > 8:
            sections[-1][3].append((line, raw.strip()))
    if not sections:
        raise file.bad("no area with routers is listed", fix="save `birdc show ospf state`")
    neighbours: set[tuple[str, str]] = set()
    members_of: dict[str, list[str]] = {}
    prefixes = 0
    for kind, name, line, rows in sections:
        if kind == "router":
            _site(network, name, file.at(line))
            for at, row in rows:
                words = row.split()
                if words[0] == "unreachable":
                    network.leave_out[name] = "unreachable by the file"
                elif words[0] == "router" and len(words) >= 2:
                    link = Link(name, words[1], file.at(at), directed=True)
                    if len(words) >= 4:
                        link.more["metric"] = words[3]
                    network.add_link(link)
                    neighbours.add((min(name, words[1]), max(name, words[1])))
                elif words[0] in ("stubnet", "external", "xnetwork", "xrouter"):
                    prefixes += 1
        elif kind == "network":
            members = [
                words[1]
                for _, row in rows
                if len(words := row.split()) > 1 and words[0] == "router"
            ]
            if len(members) >= 2:
                members_of[name] = members
                _site(network, name, file.at(line)).forwards_only = True
                for member in members:
                    network.add_link(Link(name, member, file.at(line)))
    network.unknown = "create"
    routers = len(network.sites) - len(members_of)
    sizes = ", ".join(str(len(members)) for members in members_of.values())
    network.note(
        "read",
        f"{count(routers, 'router')}, {count(neighbours, 'pair')} of neighbours, "
        f"{count(members_of, 'transit network')}"
        + (f" of {sizes} members, each a node that forwards" if sizes else ""),
    )
    if prefixes:
        network.note("dropped", f"{prefixes} prefixes of stub and external networks")
    _quality(network, "the metric of OSPF")


def babel(file: File, network: Network) -> None:
    """The dump of one babeld: its neighbours, a star.

    Raises:
        BacklaneError: R041 when it lists no neighbour.
    """
    own = "babeld"
    near: dict[str, int] = {}
    for line, row in enumerate(file.text.splitlines(), start=1):
        words = row.split()
        if words[:1] == ["my-id"] and len(words) > 1:
            own = words[1]
        elif words[:2] == ["add", "neighbour"] and "address" in words[:-1]:
            near.setdefault(words[words.index("address") + 1], line)
    if not near:
        raise file.bad("the dump lists no neighbour")
    _site(network, own, str(file.path))
    for address, line in near.items():
        network.add_link(Link(own, address, file.at(line)))
    network.unknown = "create"
    network.note("warning", "one babeld knows its neighbours alone: a star, not the whole mesh")
    _quality(network, "a cost of Babel (rxcost, txcost)")


def openvpn(file: File, network: Network) -> None:
    """The status of an OpenVPN server: a star of tunnels, which is no backhaul.

    Raises:
        BacklaneError: R040 always.
    """
    raise BacklaneError(
        "R040",
        "the status of an OpenVPN server lists tunnels over the Internet, and no links of a "
        "network",
        file.path,
        "import the topology of the mesh below it",
    )
