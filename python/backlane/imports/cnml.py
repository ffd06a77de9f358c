"""CNML of guifi.net: nodes with devices, whose interfaces name the links of both ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backlane.imports.model import Link, Site, count, shown
from backlane.imports.quantities import plain

if TYPE_CHECKING:
    from backlane.imports.model import Network
    from backlane.imports.reading import Element, File


def read(file: File, root: Element, network: Network) -> None:
    """Add nodes and links.

    Raises:
        BacklaneError: R041, R044 or R045 with the line.
    """
    working = 0
    seen: dict[str, tuple[str, str]] = {}
    loops: list[str] = []
    nodes = [*root.all("node")]
    for node in nodes:
        site = Site(node.get("id") or "", file.at(node.line), name=node.get("title"))
        for axis in ("lat", "lon"):
            value = node.get(axis)
            if value is None:
                continue
            degrees = plain(value)
            if degrees is None:
                raise file.bad(f'{axis} "{shown(value)}" is no number', node.line)
            if axis == "lat":
                site.latitude = degrees
            else:
                site.longitude = degrees
        site.height_m = plain(node.get("antenna_elevation") or "")
        site.more["status"] = node.get("status") or ""
        working += site.more["status"] == "Working"
        network.add_site(site)
    for node in nodes:
        own = node.get("id") or ""
        for element in node.all("link"):
            other = element.get("linked_node_id")
            if not other:
                raise file.bad("a link without linked_node_id", element.line)
            identity = element.get("id") or ""
            if other == own:
                if identity not in seen:
                    loops.append(f"{shown(own)} (link {shown(identity)})")
                seen[identity] = (own, own)
                continue
            if seen.get(identity) == (other, own):
                continue  # the other end of a link that is listed
            seen.setdefault(identity, (own, other))
            link = Link(own, other, file.at(element.line))
            link.more["link"] = identity
            link.more["status"] = element.get("link_status") or ""
            link.more["type"] = element.get("link_type") or ""
            network.add_link(link)
    network.unknown = "drop"
    network.listed("dropped", f"{count(loops, 'link')} of a node with itself", loops)
    live = sum(link.more.get("status") == "Working" for link in network.links)
    network.note(
        "read",
        f"{count(network.sites, 'node')}, {working} with status Working, and "
        f"{count(network.links, 'link')}, {live} Working (--keep status=Working)",
    )
