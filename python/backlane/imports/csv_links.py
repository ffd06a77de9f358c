"""Tables of links: a row is a link or a direction, with what a link budget needs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.imports import columns, tables
from backlane.imports.model import Link, Site, count, shown
from backlane.imports.places import degrees, path_m, set_degrees
from backlane.imports.quantities import quantity, unit_factor

if TYPE_CHECKING:
    from backlane.imports.columns import Column
    from backlane.imports.model import Network
    from backlane.imports.tables import Table

LINK = columns.LINK | columns.ENDS
"""The fields of a link in a table."""
_ARROWS = (
    re.compile(r"\s*(?:<-->|-->|<->|->|=>|→|↔)\s*"),
    re.compile(r"\s*[–—]\s*|\s+-\s+|\s*/\s*"),
    re.compile(r"\s*[:_-]\s*"),
)
_DIRECTED = frozenset({"tx_site", "rx_site", "tx", "rx", "src", "dst", "pair", "site_pair"})
_BUDGET = (
    "frequency", "frequency_back", "bandwidth", "gain_a", "gain_b", "diameter_a", "diameter_b",
    "power", "power_b", "eirp", "losses", "noise_figure", "rain_rate", "polarization", "radio",
    "modulation",
)  # fmt: skip
_UNIT_OF = {
    "frequency": ("GHz", 1e-9),
    "frequency_back": ("GHz", 1e-9),
    "bandwidth": ("MHz", 1e-6),
    "gain_a": ("dBi", 1.0),
    "gain_b": ("dBi", 1.0),
    "diameter_a": ("m", 1.0),
    "diameter_b": ("m", 1.0),
    "power": ("dBm", 1.0),
    "power_b": ("dBm", 1.0),
    "eirp": ("dBm", 1.0),
    "losses": ("dB", 1.0),
    "noise_figure": ("dB", 1.0),
}
_LINE = re.compile(r"LINESTRING\s*Z?\s*\(([^()]*)\)", re.IGNORECASE)


def matches(found: dict[str, Column]) -> bool:
    """Whether the columns are those of links."""
    return {"a", "b"} <= found.keys() or "pair" in found or columns.ENDS.keys() <= found.keys()


def read(table: Table, found: dict[str, Column], network: Network, unit: str = "") -> None:
    """Add the links of a table; `unit` is that of rates without one.

    Raises:
        BacklaneError: R041, R044, R045 or R047 with the line.
    """
    start = len(network.links)
    if unit and (factor := unit_factor("rate", unit)):
        for key in ("rate", "rate_back"):
            if key in found and found[key].factor is None:
                found[key] = replace(found[key], factor=factor)
    units: set[str] = set()
    placed = columns.ENDS.keys() <= found.keys()
    for line, cells in table.rows:
        place = table.at(line)
        if len(cells) > len(table.header) and any(cells[len(table.header) :]):
            raise BacklaneError(
                "R041",
                f"{len(cells)} fields where the header has {len(table.header)}",
                place,
                "quote fields that hold the delimiter",
            )
        row = {
            name: cells[column.index] if column.index < len(cells) else ""
            for name, column in found.items()
        }
        a, b = _ends(row, place, network, placed)
        link = Link(a, b, place)
        _rates(link, row, found, units)
        link.delay_s = _value("delay", row, found, place, units)
        link.length_m = _length(row, found, place)
        if _bare(row.get("length", "")):
            link.more["bare_length"] = "yes"
        link.loss = _value("loss", row, found, place, units)
        if link.loss is not None and not 0 <= link.loss <= 1:
            raise _unusable("loss", row["loss"], place, "write a share from 0 to 1")
        _budget(link, row, found, place, units)
        if row.get("name"):
            link.more["link"] = row["name"]
        for extra in ("type",):
            if row.get(extra):
                link.more[extra] = row[extra]
        used = {column.index for column in found.values()}
        for index, title in enumerate(table.header):
            if index not in used and index < len(cells) and cells[index] and title.strip():
                link.more[columns.normal(title)] = cells[index]
        network.add_link(link)
    _direct(network.links[start:], found)
    column = found.get("length")
    if column is not None and column.factor is None:
        bare = [link for link in network.links[start:] if link.more.pop("bare_length", None)]
        network.unitless.setdefault(column.title, []).extend(bare)
    links = len(network.links) - start
    network.note("read", f"{count(links, 'row')} of links in {table.file.path.name}")
    for text in sorted(units):
        network.note("assumed", text)
    budget = [name.replace("_", " ") for name in _BUDGET if name in found]
    if budget:
        network.note(
            "read",
            f"{', '.join(budget)} kept for a link budget beside the scenario, which has no key "
            "for them",
        )
    if rest := tables.unused(table, {c.index for c in found.values()}):
        network.note("dropped", f"{table.file.path.name}: {rest} (kept beside the scenario)")


def _ends(row: dict[str, str], place: str, network: Network, placed: bool) -> tuple[str, str]:
    a, b = row.get("a", ""), row.get("b", "")
    if row.get("pair") and not (a and b):
        if len(row["pair"]) > 500:
            raise BacklaneError("R041", "a pair of sites of more than 500 letters", place, "cut it")
        parts = next(
            (p for arrow in _ARROWS if len(p := arrow.split(row["pair"])) == 2 and all(p)), []
        )
        if not parts:
            raise BacklaneError(
                "R041", f'"{shown(row["pair"])}" names no two sites', place, "write A-->B"
            )
        a, b = (part.strip() for part in parts)
    if placed:
        a = a or f"{row['a_lat']} {row['a_lon']}"
        b = b or f"{row['b_lat']} {row['b_lon']}"
        for end, axes in ((a, ("a_lat", "a_lon")), (b, ("b_lat", "b_lon"))):
            if end in network.sites:
                continue
            latitude, longitude = degrees(row[axes[0]]), degrees(row[axes[1]])
            if latitude is None or longitude is None:
                raise BacklaneError(
                    "R044",
                    f'"{shown(row[axes[0]])}", "{shown(row[axes[1]])}" is no position',
                    place,
                    "write degrees",
                )
            site = Site(end, place)
            set_degrees(site, latitude, longitude)
            network.add_site(site)
    if not a or not b:
        raise BacklaneError("R045", "a link lacks an end", place, "name both sites")
    return a, b


def _unusable(what: str, text: str, place: str, fix: str) -> BacklaneError:
    return BacklaneError("R047", f'{what} "{shown(text)}" cannot be used', place, fix)


def _value(
    key: str, row: dict[str, str], found: dict[str, Column], place: str, units: set[str]
) -> float | None:
    """A quantity of a row in SI units; None for an empty field."""
    text = row.get(key, "")
    if not text or text.lower() in ("na", "n/a", "nan", "none", "null", "-", "unknown", "?"):
        return None
    field = LINK[key]
    read = quantity(field.kind, text)
    if read is None:
        raise _unusable(
            key.replace("_", " "), text, place, f'write a number with a unit, like "5 {field.unit}"'
        )
    value, has_unit = read
    if has_unit:
        return value
    factor = found[key].factor
    if factor is None:
        factor = 1.0
        if field.unit and field.kind not in ("gain", "power"):
            factor = unit_factor(field.kind, field.unit) or 1.0
            shown_unit = {"mbps": "Mbit/s", "ghz": "GHz", "mhz": "MHz"}.get(field.unit, field.unit)
            if field.kind == "frequency" and abs(value) >= 1000 and field.unit == "ghz":
                # A carrier of 1000 GHz and more is none of a radio link: these are MHz.
                factor, shown_unit = (1e6, "MHz") if abs(value) < 1e6 else (1.0, "Hz")
            units.add(f"{shown(found[key].title)} has no unit: taken as {shown_unit}")
    return value * factor


def _rates(link: Link, row: dict[str, str], found: dict[str, Column], units: set[str]) -> None:
    for key in ("rate", "rate_back"):
        value = _value(key, row, found, link.place, units)
        if value is not None and not 0 < value <= 1e13:
            raise _unusable(
                "rate", row[key], link.place, "write a rate above zero, or leave it out"
            )
        if key == "rate":
            link.rate_bps = value
        else:
            link.rate_back_bps = value


def _bare(text: str) -> bool:
    read = quantity("length", text)
    return read is not None and not read[1]


def _length(row: dict[str, str], found: dict[str, Column], place: str) -> float | None:
    # A length without any unit is taken as km here; `places.judge_lengths` compares.
    length = _value("length", row, found, place, set())
    if length is not None and not 0 <= length <= 5e10:
        raise _unusable("length", row["length"], place, "write the length of the path")
    if length is None and row.get("geometry"):
        line = _LINE.search(row["geometry"])
        if line is not None:
            points = []
            for pair in line[1].split(","):
                numbers = [degrees(part) for part in pair.split()[:2]]
                if len(numbers) == 2 and numbers[0] and numbers[1]:
                    points.append((numbers[1][0], numbers[0][0]))
            if len(points) >= 2:
                return path_m(points)
    return length


def _budget(
    link: Link, row: dict[str, str], found: dict[str, Column], place: str, units: set[str]
) -> None:
    for key in _BUDGET:
        if not row.get(key):
            continue
        if key not in _UNIT_OF:
            link.more[key] = row[key]
            continue
        try:
            value = _value(key, row, found, place, units)
        except BacklaneError:
            link.more[key] = row[key]
            continue
        if value is not None:
            unit, scale = _UNIT_OF[key]
            link.more[key] = f"{value * scale:.6g} {unit}"


def _direct(links: list[Link], found: dict[str, Column]) -> None:
    """Rows are directions when the titles say so, or when every row has its reverse."""
    titles = {columns.normal(found[k].title) for k in ("a", "b", "pair") if k in found}
    pairs = [(link.a, link.b) for link in links]
    there = set(pairs)
    mirrored = bool(pairs) and all((b, a) in there for a, b in pairs)
    if titles & _DIRECTED or mirrored:
        for link in links:
            link.directed = link.rate_back_bps is None
