"""KML and KMZ: points are sites, lines between them are links. Nothing is fetched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.imports import columns
from backlane.imports.geojson import measures
from backlane.imports.model import Site, count, shown
from backlane.imports.places import path_m
from backlane.imports.quantities import is_true, plain, quantity
from backlane.imports.snap import Line, join_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backlane.imports.model import Network
    from backlane.imports.reading import Element, File

_FRESNEL = re.compile(r"^\s*\d+([.,]\d+)?\s*F\d\s*$|fresnel", re.IGNORECASE)
_OVERLAYS = ("GroundOverlay", "ScreenOverlay", "PhotoOverlay")


def read(file: File, root: Element, network: Network) -> None:
    """Add the placemarks of a file.

    Raises:
        BacklaneError: R041 or R044 with the line, R043 for a network link.
    """
    follow = next(root.all("NetworkLink"), None)
    if follow is not None:
        raise BacklaneError(
            "R043",
            "the KML has a NetworkLink: its content is elsewhere, and is never fetched",
            file.at(follow.line),
            "save the layers into one file (in Google Earth: Save Place As), or delete the link",
        )
    lines: list[Line] = []
    demands = polygons = fresnel = 0
    texts = False
    taken: dict[str, int] = {}
    for mark, folders in _placemarks(root, ()):
        name = mark.text_of("name") or ""
        if any("demand" in folder.lower() for folder in folders):
            demands += 1
            continue
        fields = _fields(mark)
        point = next(mark.all("Point"), None)
        path = next(mark.all("LineString"), None)
        if point is not None:
            _site(file, mark, name, fields, folders, point, network, taken)
        elif path is not None:
            if _FRESNEL.search(name):
                fresnel += 1
                continue
            lines.append(_line(file, mark, name, fields, path))
        else:
            polygons += 1
    network.listed(
        "warning",
        f"{count(taken, 'name')} that several placemarks have: numbered",
        [shown(name) for name in taken],
    )
    texts = any(re.search(r"dBi|MHz|GHz", e.text) for e in root.all("description"))
    overlays = sum(1 for _ in root.all(*_OVERLAYS))
    if demands:
        network.note("dropped", f"{count(demands, 'placemark')} in folders of demand: no sites")
    if fresnel:
        network.note("dropped", f"{count(fresnel, 'line')} that draw Fresnel zones")
    if polygons:
        network.note("dropped", f"{count(polygons, 'placemark')} that are neither point nor line")
    if overlays:
        network.note("dropped", f"{count(overlays, 'overlay')}")
    if texts:
        network.note("dropped", "frequencies and gains in the text of descriptions: not read")
    names = {(line.first, line.last) for line in lines}
    mirrored = bool(lines) and all((b, a) in names for a, b in names)
    for line in lines:
        line.directed = mirrored
    join_lines(file, lines, network)


def _placemarks(
    element: Element, folders: tuple[str, ...]
) -> Iterator[tuple[Element, tuple[str, ...]]]:
    for child in element.children:
        if child.name == "Placemark":
            yield child, folders
        elif child.name in ("Document", "Folder", "kml"):
            yield from _placemarks(child, (*folders, child.text_of("name") or ""))


def _fields(mark: Element) -> dict[str, str]:
    found = {}
    for data in mark.all("Data"):
        value = data.text_of("value")
        if value:
            found[data.get("name") or ""] = value
    for data in mark.all("SimpleData"):
        if data.text:
            found[data.get("name") or ""] = data.text
    return found


def _points(file: File, element: Element) -> list[tuple[float, float]]:
    """Latitude and longitude of each coordinate tuple, which has longitude first."""
    inner = element.child("coordinates")
    words = re.sub(r"(?<!\s)\s*,\s*", ",", inner.text).split() if inner is not None else []
    found = []
    for word in words:
        parts = [plain(part) for part in word.split(",")[:2]]
        if len(parts) != 2 or parts[0] is None or parts[1] is None:
            raise BacklaneError(
                "R044",
                f'"{shown(word)}" is no coordinate',
                file.at(inner.line if inner is not None else element.line),
                "write longitude,latitude",
            )
        found.append((parts[1], parts[0]))
    if not found:
        raise file.bad(f"a {element.name} without coordinates", element.line)
    return found


def _site(
    file: File,
    mark: Element,
    name: str,
    fields: dict[str, str],
    folders: tuple[str, ...],
    point: Element,
    network: Network,
    taken: dict[str, int],
) -> None:
    at = _points(file, point)[0]
    identity = name or mark.get("id") or f"site{len(network.sites) + 1}"
    if identity in network.sites:
        # Names of placemarks are no keys: two masts may both be called "Tower".
        taken[identity] = taken.get(identity, 1) + 1
        identity = f"{identity} ({taken[identity]})"
    site = Site(identity, file.at(mark.line))
    site.latitude, site.longitude = at
    found = columns.find([*fields], columns.SITE)
    kind = fields[found["type"].title] if "type" in found else ""
    words = {columns.normal(kind)} | {
        columns.normal(re.sub(r"(?i)\s*sites?$", "", folder)) for folder in folders[1:]
    }
    gate = fields[found["gateway"].title] if "gateway" in found else ""
    site.gateway = bool(words & columns.GATEWAY_WORDS) or is_true(gate)
    if "height" in found:
        height = quantity("length", fields[found["height"].title])
        site.height_m = height[0] if height is not None else None
    site.more = {columns.normal(k): v[:200] for k, v in fields.items()}
    network.add_site(site)


def _line(file: File, mark: Element, name: str, fields: dict[str, str], path: Element) -> Line:
    points = _points(file, path)
    if len(points) < 2:
        raise file.bad("a line with fewer than two coordinates", path.line)
    length = path_m(points)
    line = Line(points[0], points[-1], length, file.at(mark.line), name=name)
    measures(line, fields)
    line.more = {columns.normal(k): v[:200] for k, v in fields.items()}
    return line
