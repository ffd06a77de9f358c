"""Tables of sites: a row is a site, or a cell of OpenCelliD."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.imports import columns, tables
from backlane.imports.model import Site, count, shown
from backlane.imports.places import degrees, set_degrees
from backlane.imports.quantities import is_true, plain, quantity

if TYPE_CHECKING:
    from backlane.imports.columns import Column
    from backlane.imports.model import Network
    from backlane.imports.tables import Table

_STRONG_IDS = 5
"""The first names of an id leave no doubt; a column "code" may be something else."""
_POINT = re.compile(r"(?:SRID=\d+;)?\s*POINT\s*(?:Z|M|ZM)?\s*\(([^()]*)\)", re.IGNORECASE)


def matches(found: dict[str, Column]) -> bool:
    """Whether the columns are those of sites."""
    has_position = any(
        {*pair} <= found.keys() for pair in (("latitude", "longitude"), ("x", "y"), ("x_m", "y_m"))
    )
    named = "id" in found or "name" in found
    return has_position or (named and ("geometry" in found or len(found) >= 3))


def read(table: Table, found: dict[str, Column], network: Network) -> None:
    """Add the sites of a table.

    Raises:
        BacklaneError: R041, R044, R045 or R047 with the line.
    """
    generated = repeated = demands = without = 0
    key = _key(table, found)
    by_name = key is not None and key == found.get("name")
    taken = {site.id for site in network.sites.values()}
    heights_lost: list[str] = []
    times: dict[str, int] = {}
    before = len(network.sites)
    for number, (line, cells) in enumerate(table.rows, start=1):
        place = table.at(line)
        if len(cells) > len(table.header) and any(cells[len(table.header) :]):
            raise BacklaneError(
                "R041",
                f"{len(cells)} fields where the header has {len(table.header)}",
                place,
                "quote fields that hold the delimiter",
            )
        row = {
            field: cells[column.index] if column.index < len(cells) else ""
            for field, column in found.items()
        }
        kind = columns.normal(row.get("type", ""))
        if kind in columns.NO_SITE_WORDS:
            demands += 1
            continue
        identity = cells[key.index] if key is not None and key.index < len(cells) else ""
        if not identity:
            if key is not None and not by_name:
                raise BacklaneError("R045", "a site has no id", place, "give it one")
            identity = f"site{number}"
            generated += 1
        if by_name and identity in taken:
            repeated += 1
            name = identity
            while identity in taken:
                times[name] = times.get(name, 1) + 1
                identity = f"{name} ({times[name]})"
        taken.add(identity)
        site = Site(identity, place, name=row.get("name") or None)
        _place(site, row, network)
        without += not site.has_position
        site.forwards_only = kind in columns.FORWARD_WORDS
        site.gateway = kind in columns.GATEWAY_WORDS or is_true(row.get("gateway", ""))
        if row.get("height"):
            height = quantity("length", row["height"])
            factor = found["height"].factor or 1.0
            if height is None:
                heights_lost.append(f"{shown(row['height'])} of {shown(identity)}")
            else:
                site.height_m = height[0] * (1.0 if height[1] else factor)
        users = plain(row.get("users", ""))
        if users is not None and 0 <= users <= 100_000:
            site.users = int(users)
        site.more = _rest(table, cells, found)
        if row.get("type"):
            site.more["type"] = row["type"]
        network.add_site(site)
    sites = len(network.sites) - before
    network.note("read", f"{count(sites, 'site')} of {table.file.path.name}{_how(table, found)}")
    passive = [shown(s.id) for s in network.sites.values() if s.forwards_only]
    network.listed("read", f"{count(passive, 'place')} without users, by type", passive)
    if generated:
        network.note("assumed", f"{count(generated, 'site')} without a name called site1, site2, …")
    if repeated:
        network.note("warning", f"{count(repeated, 'site')} have the name of another: numbered")
    if demands:
        network.note("dropped", f"{count(demands, 'demand point')}, which are no sites")
    if without:
        network.note("warning", f"{count(without, 'site')} without a position")
    network.listed("dropped", "heights that are no lengths", heights_lost)
    filters = sorted(k for k in ("status",) if _has(table, k))
    if filters:
        values = sorted({s.more.get(filters[0], "") for s in network.sites.values()} - {""})
        network.note(
            "warning",
            f"every {filters[0]} is imported; --keep {filters[0]}=… takes some of: "
            f"{', '.join(map(shown, values[:8]))}",
        )
    if rest := tables.unused(table, {c.index for c in found.values()}):
        network.note("dropped", f"{table.file.path.name}: {rest} (kept beside the scenario)")


def _key(table: Table, found: dict[str, Column]) -> Column | None:
    """The column of ids: one that is called so, or the first weaker one without repetitions."""
    ranked = []
    for index, title in enumerate(table.header):
        name = columns.normal(title)
        if name in columns.SITE["id"].names:
            ranked.append(
                (columns.SITE["id"].names.index(name), columns.Column(index, title, None))
            )
    ranked.sort(key=lambda one: one[0])
    for rank, column in ranked:
        values = [cells[column.index] for _, cells in table.rows if column.index < len(cells)]
        if rank < _STRONG_IDS or (len({*values}) == len(table.rows) and all(values)):
            found["id"] = column
            return column
    found.pop("id", None)
    return found.get("name")


def _has(table: Table, name: str) -> bool:
    return any(columns.normal(title) == name for title in table.header)


def _how(table: Table, found: dict[str, Column]) -> str:
    names = [
        f"{field} from {shown(found[field].title)}"
        for field in ("id", "name", "latitude", "longitude", "x", "y", "x_m", "y_m", "height")
        if field in found and columns.normal(found[field].title) != field
    ]
    above = f"; header in row {table.above + 1}" if table.above else ""
    return (f": {', '.join(names)}" if names else "") + above


def _rest(table: Table, cells: list[str], found: dict[str, Column]) -> dict[str, str]:
    used = {column.index for column in found.values()}
    return {
        columns.normal(title): cells[index]
        for index, title in enumerate(table.header)
        if index not in used and index < len(cells) and cells[index] and title.strip()
    }


def _place(site: Site, row: dict[str, str], network: Network) -> None:
    """Set the position of a site from its row."""
    if "x_m" in row and "y_m" in row and "latitude" not in row:
        if row["x_m"] or row["y_m"]:
            x, y = (_metres(row[name], site) for name in ("x_m", "y_m"))
            site.x_m, site.y_m = x, y
            network.positions = "metres"
        return
    if "latitude" in row and "longitude" in row:
        first, second = row["latitude"], row["longitude"]
    elif "x" in row and "y" in row:
        first, second = row["y"], row["x"]
        network.note("assumed", "x and y taken as longitude and latitude")
    elif row.get("geometry"):
        first, second = _geometry(row["geometry"], site, network)
    else:
        return
    if not first and not second:
        return
    latitude, longitude = degrees(first), degrees(second)
    for value, text in ((latitude, first), (longitude, second)):
        if value is None:
            raise BacklaneError(
                "R044",
                f'"{shown(text)}" is no coordinate',
                site.place,
                "write degrees: 44.6471, or 44°38'50\"N",
            )
    assert latitude is not None
    assert longitude is not None
    set_degrees(site, latitude, longitude)


def _metres(text: str, site: Site) -> float:
    value = plain(text)
    if value is None or abs(value) > 1e8:
        raise BacklaneError(
            "R044", f'"{shown(text)}" is no coordinate in metres', site.place, "correct it"
        )
    return value


def _geometry(text: str, site: Site, network: Network) -> tuple[str, str]:
    """Latitude and longitude of a cell: WKT has longitude first, a pair latitude."""
    point = _POINT.fullmatch(text.strip())
    if point is not None:
        parts = point[1].split()
        if len(parts) >= 2:
            return parts[1], parts[0]
    parts = [p for p in re.split(r"[;,\s]+", text.strip("()[] ")) if p]
    if len(parts) == 2 and all(degrees(p) is not None for p in parts):
        network.note("read", "positions of one cell taken as latitude, longitude")
        return parts[0], parts[1]
    if site.name or site.id:
        return "", ""
    raise BacklaneError(
        "R044", f'"{shown(text)}" is no position', site.place, "write POINT (lon lat)"
    )
