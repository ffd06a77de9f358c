"""GeoJSON (RFC 7946), with the properties of the Open Fibre Data Standard; and OFDS itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.imports import columns
from backlane.imports.model import Link, Site, count, shown
from backlane.imports.places import path_m
from backlane.imports.quantities import is_true, number, quantity
from backlane.imports.snap import Line, join_lines
from backlane.imports.values import items, kind_of, label, rest, text

if TYPE_CHECKING:
    from backlane.imports.model import Network
    from backlane.imports.reading import File

_ENDS = (("start", "end"), ("source", "target"), ("from", "to"), ("site_a", "site_b"), ("a", "b"))


def read(file: File, document: dict[str, Any], network: Network) -> None:
    """Points are sites, lines are links between them.

    Raises:
        BacklaneError: R041, R044 or R045 with the path.
    """
    system = document.get("crs")
    if system is not None:
        named = system.get("properties") if isinstance(system, dict) else None
        name = str(named.get("name") if isinstance(named, dict) else system)
        if "CRS84" not in name and not name.endswith((":4326", "::4326")):
            raise BacklaneError(
                "R044",
                f"the file has the coordinate system {shown(name)}; RFC 7946 admits WGS 84 alone",
                file.at("crs"),
                "convert it: ogr2ogr -t_srs EPSG:4326 -lco RFC7946=YES out.geojson in.geojson",
            )
    kind = document.get("type")
    if kind == "FeatureCollection":
        features = items(file, document.get("features"), "features")
    elif kind == "Feature":
        features = [("feature", document)]
    else:
        features = [("geometry", {"type": "Feature", "geometry": document, "properties": None})]
    other: dict[str, int] = {}
    lines: list[Line] = []
    number_of = 0
    for place, feature in features:
        geometry = feature.get("geometry")
        properties = feature.get("properties")
        if properties is None:
            properties = {}
        if not isinstance(properties, dict):
            raise file.bad(f"properties are {kind_of(properties)}", f"{place}.properties")
        if geometry is None:
            other["feature without a geometry"] = other.get("feature without a geometry", 0) + 1
            continue
        if not isinstance(geometry, dict):
            raise file.bad(f"the geometry is {kind_of(geometry)}", f"{place}.geometry")
        shape = geometry.get("type")
        coordinates = geometry.get("coordinates")
        where = f"{place}.geometry.coordinates"
        if shape == "GeometryCollection":
            other["GeometryCollection"] = other.get("GeometryCollection", 0) + 1
        elif shape == "Point":
            number_of += 1
            point = _position(file, coordinates, where)
            _site(file, feature, properties, point, place, number_of, network)
        elif shape == "LineString" or (shape == "MultiLineString" and _one(coordinates)):
            path: Any = coordinates
            if shape == "MultiLineString" and isinstance(coordinates, list):
                path = coordinates[0]
            lines.append(_line(file, path, properties, feature, place, where))
        elif isinstance(shape, str):
            other[shown(shape)] = other.get(shown(shape), 0) + 1
        else:
            raise file.bad("a geometry without a type", f"{place}.geometry")
    for name, much in other.items():
        network.note("dropped", f"{much} × {name}: neither a site nor a link")
    if not number_of and not lines and other:
        network.wants_links = "the file has neither points nor lines"
    join_lines(file, lines, network)
    _ofds_ends(file, features, network)


def _one(coordinates: Any) -> bool:
    return isinstance(coordinates, list) and len(coordinates) == 1


def _position(file: File, value: Any, where: str) -> tuple[float, float]:
    """Latitude and longitude of a position, which has longitude first."""
    pair = [number(part) for part in value[:2]] if isinstance(value, list) else []
    if len(pair) != 2 or pair[0] is None or pair[1] is None:
        raise BacklaneError(
            "R044",
            "a position is no pair of numbers",
            file.at(where),
            "write [longitude, latitude]",
        )
    return pair[1], pair[0]


def _site(
    file: File,
    feature: dict[str, Any],
    properties: dict[str, Any],
    point: tuple[float, float],
    place: str,
    index: int,
    network: Network,
) -> None:
    value = next(
        (v for v in (properties.get("id"), feature.get("id")) if v not in (None, "")), None
    )
    name = label(properties, "name", "Name", "title", "label", "site_name", "site")
    if value is None:
        flat = {k: str(v) for k, v in properties.items() if isinstance(v, str | int)}
        found = columns.find([*flat], columns.SITE)
        value = flat[found["id"].title] if "id" in found else name
    repeat = value is not None and value == name and str(value) in network.sites
    if value is None or repeat:
        identity = f"site{index}"
        network.note("assumed", "sites without an id called site1, site2, …")
    else:
        identity = text(file, value, f"{place}.properties.id")
    site = Site(identity, file.at(place), name=name)
    site.latitude, site.longitude = point
    kind = label(properties, "type", "site_type", "role", "kind") or ""
    site.gateway = columns.normal(kind) in columns.GATEWAY_WORDS or is_true(
        str(properties.get("gateway", properties.get("is_gateway", "")))
    )
    height = number(properties.get("height", properties.get("antenna_height")))
    site.height_m = height
    site.more = rest(properties, "id", "name")
    network.add_site(site)


def _line(
    file: File,
    path: Any,
    properties: dict[str, Any],
    feature: dict[str, Any],
    place: str,
    where: str,
) -> Line:
    if not isinstance(path, list) or len(path) < 2:
        raise file.bad("a line with fewer than two positions", where)
    points = [_position(file, one, f"{where}[{i}]") for i, one in enumerate(path)]
    length = path_m(points)
    ends: tuple[str, str] | None = None
    for keys in _ENDS:
        if keys[0] in properties and keys[1] in properties:
            ends = _named(file, properties, keys, place)
            break
    line = Line(points[0], points[-1], length, file.at(place), ends)
    line.name = label(properties, "name", "id") or label(feature, "id") or place
    flat = {k: str(v) for k, v in properties.items() if isinstance(v, str | int | float)}
    ofds = isinstance(properties.get("start"), dict)
    line.fibre = ofds
    measures(line, flat, ofds)
    line.more |= rest(properties, "name")
    return line


def measures(line: Line, flat: dict[str, str], ofds: bool = False) -> None:
    """Rate, length and link budget of a line from its properties; unusable ones are kept as text.

    The Open Fibre Data Standard gives capacities in Gbit/s.
    """
    found = columns.find([*flat], columns.LINK)
    for key in ("rate", "delay", "length", "loss"):
        if key not in found:
            continue
        field = columns.LINK[key]
        read = quantity(field.kind, flat[found[key].title])
        factor = found[key].factor
        if read is None or read[0] < 0:
            continue
        if not read[1] and factor is None and not (ofds and key == "rate"):
            continue
        value = read[0] * (1.0 if read[1] else factor or 1e9)
        if key == "rate" and value > 0:
            line.rate_bps = value
        elif key == "length" and not ofds:
            line.length_m = value or line.length_m
        elif key == "delay":
            line.delay_s = value


def _named(
    file: File, properties: dict[str, Any], keys: tuple[str, str], place: str
) -> tuple[str, str]:
    values = [properties[key] for key in keys]
    for value, key in zip(values, keys, strict=True):
        path = f"{place}.properties.{key}"
        if any(isinstance(v, dict) for v in values) and not isinstance(value, dict):
            raise file.bad(
                f"{key} is {kind_of(value)} where an object with an id is expected", path
            )
        if isinstance(value, list) or value is None:
            raise file.bad(f"{key} is {kind_of(value)} where a site is expected", path)
    ends = [
        text(file, v.get("id") if isinstance(v, dict) else v, f"{place}.properties.{key}")
        for v, key in zip(values, keys, strict=True)
    ]
    return ends[0], ends[1]


def _ofds_ends(file: File, features: list[tuple[str, dict[str, Any]]], network: Network) -> None:
    """Sites that spans describe in place: kept aside, for when no file lists the nodes."""
    for place, feature in features:
        properties = feature.get("properties")
        for key in ("start", "end") if isinstance(properties, dict) else ():
            value = properties.get(key) if isinstance(properties, dict) else None
            if not isinstance(value, dict) or not isinstance(value.get("location"), dict):
                continue
            where = f"{place}.properties.{key}"
            identity = text(file, value.get("id"), f"{where}.id")
            site = Site(identity, file.at(where), name=label(value, "name"))
            point = _position(file, value["location"].get("coordinates"), f"{where}.location")
            site.latitude, site.longitude = point
            network.spare.setdefault(identity, site)


def ofds(file: File, document: dict[str, Any], network: Network) -> None:
    """The JSON of the Open Fibre Data Standard.

    Raises:
        BacklaneError: R041, R044 or R045 with the path.
    """
    for top, one in items(file, document.get("networks"), "networks"):
        network.name = network.name or label(one, "name")
        for place, node in items(file, one.get("nodes", []), f"{top}.nodes"):
            identity = text(file, node.get("id"), f"{place}.id")
            site = Site(identity, file.at(place), name=label(node, "name"))
            location = node.get("location")
            if isinstance(location, dict):
                where = f"{place}.location"
                point = _position(file, location.get("coordinates"), where)
                site.latitude, site.longitude = point
            site.more = rest(node, "id", "name")
            network.add_site(site)
        for place, span in items(file, one.get("spans", []), f"{top}.spans"):
            ends = [
                text(file, v.get("id") if isinstance(v, dict) else v, f"{place}.{key}")
                for key, v in (("start", span.get("start")), ("end", span.get("end")))
            ]
            link = Link(ends[0], ends[1], file.at(place))
            capacity = number(span.get("capacity"))
            link.rate_bps = capacity * 1e9 if capacity and capacity > 0 else None
            route = span.get("route")
            if isinstance(route, dict) and isinstance(route.get("coordinates"), list):
                where = f"{place}.route"
                points = [_position(file, p, where) for p in route["coordinates"]]
                link.length_m = path_m(points)
            link.more = rest(span, "start", "end")
            network.add_link(link)
    network.medium = "fibre"
    network.note("read", f"{count(network.links, 'span')} of the Open Fibre Data Standard")
