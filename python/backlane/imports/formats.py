"""Which format a file has, and the reader of each. One table: a format is declared once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.imports import (
    cnml,
    columns,
    csv_links,
    csv_sites,
    geojson,
    gnpy,
    graph_json,
    graphml,
    kml,
    mesh,
    opencellid,
    sndlib,
    tables,
    traces,
    workbook,
)
from backlane.imports.model import count, shown, some
from backlane.imports.quantities import plain
from backlane.imports.reading import File, unzip

if TYPE_CHECKING:
    from collections.abc import Callable

    from backlane.imports.model import Network
    from backlane.imports.reading import Element

FORMATS = {
    "table": "CSV, TSV, Excel or Parquet of sites, links, levels or rates, by the column names",
    "geojson": "GeoJSON: points are sites, lines are links",
    "kml": "KML and KMZ: points are sites, lines are links",
    "graphml": "GraphML: Topology Zoo, networkx, yEd",
    "netjson": "NetJSON NetworkGraph",
    "node-link": "JSON of nodes and edges or links: networkx, topohub, SNDlib, Cytoscape, D3",
    "sndlib": "SNDlib, native or XML",
    "olsr": "olsrd: jsoninfo, txtinfo or latlon.js",
    "meshviewer": "Freifunk meshviewer.json, or nodes.json and graph.json of ffmap",
    "batman": "batadv-vis: jsondoc, json or a table",
    "bmx6": "BMX6: a list of nodes with their links",
    "ospf": "BIRD: show ospf state",
    "babel": "babeld: the dump of its monitor",
    "cnml": "CNML of guifi.net",
    "gnpy": "GNPy: JSON, or a workbook of Nodes and Links",
    "ofds": "Open Fibre Data Standard: JSON, GeoJSON or CSV",
    "node-list": "nodeList of a mesh: devices without links",
    "opencellid": "OpenCelliD CSV, with or without a header",
    "mahimahi": "capacity trace of mahimahi: a millisecond a line",
    "rates": "capacity trace: seconds and a rate a line",
}
"""The formats by name."""


def read(file: File, network: Network, unit: str, wanted: str | None = None) -> str:
    """Read a file into a network.

    Args:
        file: with its bytes.
        network: to add to.
        unit: of rates without one.
        wanted: the format, if the user names one.

    Returns:
        The name of the format.

    Raises:
        BacklaneError: R040 when the format is not known, R041 to R047 when the file is wrong.
    """
    name, reader = _detect(file, unit)
    if wanted is not None and wanted != name:
        raise BacklaneError(
            "R040",
            f'this looks like "{name}" and not like "{wanted}"',
            file.path,
            "leave --format out, or check the file",
        )
    reader(network)
    return name


_NOT_READ = {
    b"%PDF": ("a PDF", "export the table it was made of"),
    b"\x89PNG": ("a picture", "export the data it shows"),
    b"\xff\xd8\xff": ("a picture", "export the data it shows"),
    b"CDF": ("netCDF", "save the levels as CSV: link,time,rx_dbm"),
    b"\x89HDF": ("HDF5 or netCDF 4", "save the levels as CSV: link,time,rx_dbm"),
    b"SQLite format 3": ("a database, or a GeoPackage", "export it as GeoJSON or CSV"),
    b"\x00\x00\x27\x0a": ("a shapefile", "convert it: ogr2ogr out.geojson in.shp"),
    b"II*\x00": ("a GeoTIFF", "a terrain is no network"),
    b"BZh": ("compressed with bzip2", "unpack it"),
    b"\xfd7zXZ": ("compressed with xz", "unpack it"),
    b"(\xb5/\xfd": ("compressed with zstd", "unpack it"),
}
"""The first bytes of files that are often given, with what helps."""


def _detect(file: File, unit: str) -> tuple[str, Callable[[Network], None]]:
    data = file.data
    if not data.strip():
        raise file.bad("the file is empty")
    if data.startswith(b"PAR1"):
        return _table(tables.from_parquet(file), unit)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _archive(file, unit)
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        return _workbook(file)
    for magic, (what, instead) in _NOT_READ.items():
        if data.startswith(magic):
            raise BacklaneError("R040", f"this is {what}, which is not read", file.path, instead)
    start = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    utf16_xml = data.startswith((b"\xff\xfe<\0", b"\xfe\xff\0<"))
    if start.startswith(b"<") or utf16_xml:
        return _xml(file)
    if start[:1] in (b"{", b"["):
        return _json(file)
    return _text(file, unit)


def _archive(file: File, unit: str) -> tuple[str, Callable[[Network], None]]:
    if b"xl/" in file.data:
        return _workbook(file)
    inner = File(file.path, unzip(file, (".kml", ".csv", ".json", ".geojson", ".graphml")))
    inner.sha256, inner.size = file.sha256, file.size
    if inner.data.startswith((b"PK", b"\x1f\x8b")):
        raise file.bad("an archive within an archive", fix="unpack it")
    return _detect(inner, unit)


def _workbook(file: File) -> tuple[str, Callable[[Network], None]]:
    sheets = workbook.sheets(file)
    fits = [
        sheet
        for sheet in sheets
        if csv_links.matches(columns.find(sheet.header, csv_links.LINK))
        or csv_sites.matches(columns.find(sheet.header, columns.SITE))
    ]
    if not fits:
        raise _unknown_table(file, sheets[0].header)
    names = {sheet.sheet.lower() for sheet in sheets}
    name = "gnpy" if {"nodes", "links"} <= names else "table"
    return name, lambda network: gnpy.workbook(sheets, network)


def _xml(file: File) -> tuple[str, Callable[[Network], None]]:
    root = file.xml()
    readers: dict[str, tuple[str, Callable[[File, Element, Network], None]]] = {
        "graphml": ("graphml", graphml.read),
        "kml": ("kml", kml.read),
        "network": ("sndlib", sndlib.xml),
        "cnml": ("cnml", cnml.read),
    }
    if root.name in ("Document", "Placemark", "Folder"):
        readers[root.name] = ("kml", kml.read)
    if root.name not in readers:
        what = "a web page" if root.name.lower() == "html" else f"XML of <{shown(root.name)}>"
        raise BacklaneError(
            "R040",
            f"this is {what}, which no reader knows",
            file.at(root.line),
            "`backlane import --formats` lists what can be read",
        )
    name, reader = readers[root.name]
    return name, lambda network: reader(file, root, network)


_GEOMETRIES = {
    "FeatureCollection", "Feature", "Point", "LineString", "Polygon", "MultiPoint",
    "MultiLineString", "MultiPolygon", "GeometryCollection",
}  # fmt: skip


def _json(file: File) -> tuple[str, Callable[[Network], None]]:
    value = file.json()
    found = _known_json(file, value)
    if found is None:
        keys = [*value] if isinstance(value, dict) else []
        what = f"with the keys {some([shown(str(k)) for k in keys])}" if keys else "of this shape"
        raise BacklaneError(
            "R040",
            f"JSON {what} is no format that is known",
            file.path,
            "`backlane import --formats` lists what can be read",
        )
    name, reader = found
    return name, lambda network: reader(file, value, network)


def _known_json(file: File, value: Any) -> tuple[str, Callable[[File, Any, Network], None]] | None:
    if isinstance(value, list):
        first = value[0] if value and isinstance(value[0], dict) else {}
        if {"primary", "router", "neighbor", "secondary"} & first.keys():
            return "batman", mesh.batman_vis
        if any(isinstance(v, dict) and ("topology" in v or "mid" in v) for v in value):
            return "olsr", mesh.olsr_json
        if "name" in first and "links" in first:
            return "bmx6", mesh.bmx6
        if traces.is_steps(first):
            return "rates", traces.steps
        return ("node-link", graph_json.listed) if first else None
    if not isinstance(value, dict):
        return None
    kind = str(value.get("type"))
    if kind in ("NetworkGraph", "NetworkCollection"):
        return "netjson", graph_json.netjson
    if kind in _GEOMETRIES:
        return "geojson", geojson.read
    if "networks" in value:
        return "ofds", geojson.ofds
    if "elements" in value and "connections" in value:
        return "gnpy", gnpy.read
    if "vis" in value:
        return "batman", mesh.batman_vis
    if "nodeList" in value:
        return "node-list", mesh.node_list
    if "batadv" in value or _is_meshviewer(value.get("nodes")):
        return "meshviewer", mesh.meshviewer
    if "topology" in value or "mid" in value or {"links", "neighbors"} <= value.keys():
        return "olsr", mesh.olsr_json
    if "nodes" in value or isinstance(value.get("elements"), dict):
        return "node-link", graph_json.node_link
    return None


def _is_meshviewer(nodes: Any) -> bool:
    if isinstance(nodes, dict):
        nodes = [*nodes.values()]
    first = nodes[0] if isinstance(nodes, list) and nodes else None
    return isinstance(first, dict) and ("node_id" in first or "nodeinfo" in first)


def _text(file: File, unit: str) -> tuple[str, Callable[[Network], None]]:
    text = file.text
    head = text[: 1 << 16]
    if head.lstrip().startswith("?SNDlib") or re.search(r"^[ \t]*NODES\s*\(", head, re.MULTILINE):
        return "sndlib", lambda network: sndlib.native(file, network)
    if re.search(r"^[ \t]*Table:", head, re.MULTILINE):
        name = "batman" if re.search(r"^[ \t]*MAC", head, re.MULTILINE) else "olsr"
        return name, lambda network: mesh.tables(file, network)
    if re.search(r"^[ \t]*area\s+[\d.]+", head, re.MULTILINE):
        return "ospf", lambda network: mesh.ospf(file, network)
    if re.search(r"^[ \t]*(?:Node|Self|P?Link)\s*\(\s*['\"]", head, re.MULTILINE):
        return "olsr", lambda network: mesh.latlon(file, network)
    if re.search(r"^(BABEL 1\.\d|add neighbour )", head, re.MULTILINE):
        return "babel", lambda network: mesh.babel(file, network)
    if head.startswith(("OpenVPN CLIENT LIST", "TITLE,OpenVPN", "TITLE\tOpenVPN")):
        return "openvpn", lambda network: mesh.openvpn(file, network)
    lines = [line.strip() for line in head.splitlines() if line.strip()][:50]
    # Most lines decide, so that a wrong one is named by its line.
    if lines and 2 * sum(bool(re.fullmatch(r"\d+", line)) for line in lines) > len(lines):
        return "mahimahi", lambda network: traces.mahimahi(file, network)
    words = [re.split(r"[\s,;]+", line) for line in lines if not line.startswith("#")]
    pairs = [len(w) == 2 and None not in map(plain, w) for w in words]
    if pairs and pairs[0] and 2 * sum(pairs) > len(pairs):
        rows = [
            (number, re.split(r"[\s,;]+", line.strip()))
            for number, line in enumerate(text.splitlines(), start=1)
            if line.strip() and not line.lstrip().startswith("#")
        ]
        return "rates", lambda network: traces.cooked(file, rows, network, unit)
    rows = tables.split(file)
    if rows and opencellid.matches(rows):
        return "opencellid", lambda network: opencellid.read(file, rows, network)
    return _table(tables.from_csv(file), unit)


def _table(table: tables.Table, unit: str) -> tuple[str, Callable[[Network], None]]:
    file = table.file
    if not table.header:
        raise BacklaneError(
            "R040",
            "the table has no row of column names",
            table.at(table.rows[0][0]),
            "add one, such as id,latitude,longitude or site_a,site_b,rate_mbps",
        )
    if any(title.startswith(("spans/0/", "nodes/0/")) for title in table.header):
        table.header = [
            f"{title} gbps" if title == "spans/0/capacity" else title for title in table.header
        ]
        fibre = True
        table.header = [f"{t} m" if t == "spans/0/fibreLength" else t for t in table.header]
    else:
        fibre = False
    level = columns.find(table.header, columns.LEVEL)
    links = columns.find(table.header, csv_links.LINK)
    sites = columns.find(table.header, columns.SITE)
    trace = columns.find(table.header, columns.TRACE)
    if {"link", "time", "rx"} <= level.keys():
        return "table", lambda network: traces.levels(table, level, network)
    # Recordings of a drive have positions too.
    if {"time", "rate"} <= trace.keys() and not csv_links.matches(links):
        return "table", lambda network: traces.table(table, trace, network, unit)
    if {"latitude", "longitude"} <= sites.keys():
        return "table", lambda network: csv_sites.read(table, sites, network)
    if csv_links.matches(links):

        def read_links(network: Network) -> None:
            network.medium = "fibre" if fibre else network.medium
            csv_links.read(table, links, network, unit)

        return "ofds" if fibre else "table", read_links
    if csv_sites.matches(sites):
        return "table", lambda network: csv_sites.read(table, sites, network)
    if "time" in trace:
        others = [shown(t) for i, t in enumerate(table.header) if i != trace["time"].index]
        raise BacklaneError(
            "R040",
            f"a time series of {some(others)}: neither a capacity nor a level is named",
            file.path,
            "if it is a capacity, call the column rate_mbps or rate_bps; rain is not imported",
        )
    raise _unknown_table(file, table.header)


def _unknown_table(file: File, header: list[str]) -> BacklaneError:
    return BacklaneError(
        "R040",
        f"a table of {count(header, 'column')} that are those of no site and no link: "
        f"{some([shown(title) for title in header])}",
        file.path,
        "name the columns: id, latitude, longitude for sites; site_a, site_b for links",
    )
