"""OpenCelliD: rows are cells; cells within 100 m are one site. Positions are estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.imports.columns import normal
from backlane.imports.model import Site, count, shown
from backlane.imports.places import great_circle_m
from backlane.imports.quantities import plain

if TYPE_CHECKING:
    from backlane.imports.model import Network
    from backlane.imports.reading import File

FIELDS = (
    "radio", "mcc", "net", "area", "cell", "unit", "lon", "lat", "range", "samples", "changeable",
    "created", "updated", "averagesignal",
)  # fmt: skip
RADIOS = frozenset({"GSM", "UMTS", "LTE", "CDMA", "NR", "NBIOT"})
CLUSTER_M = 100.0
"""Cells this near to the first cell of a site are at the site."""
_CELL = 0.002
"""A cell of the index in degrees: 222 m of latitude, more than 100 m of longitude up to 63°."""


def matches(rows: list[tuple[int, list[str]]]) -> bool:
    """Whether a table is a list of cells, with or without a header."""
    first = rows[0][1]
    names = [normal(cell) for cell in first]
    return {"radio", "mcc", "lon", "lat"} <= {*names} or (
        len(first) in (13, 14) and first[0].upper() in RADIOS and plain(first[6]) is not None
    )


def read(file: File, rows: list[tuple[int, list[str]]], network: Network) -> None:
    """Add a site for each cluster of cells.

    Raises:
        BacklaneError: R041 or R044 with the line.
    """
    names = [normal(cell) for cell in rows[0][1]]
    if "mcc" in names:
        rows = rows[1:]
    else:
        names = [*FIELDS]
        network.note("assumed", "the columns of OpenCelliD: the file has no header")
    column = {name: index for index, name in enumerate(names)}
    index: dict[tuple[int, int], list[Site]] = {}
    distinct: set[tuple[float, float]] = set()
    radios: dict[str, int] = {}
    for line, cells in rows:
        if len(cells) <= max(column["lon"], column["lat"]):
            raise file.bad(f"{len(cells)} fields where a cell has {len(names)}", line)
        longitude, latitude = plain(cells[column["lon"]]), plain(cells[column["lat"]])
        if longitude is None or latitude is None:
            raise BacklaneError(
                "R044", "a position is no pair of numbers", file.at(line), "correct it"
            )
        radio = cells[column["radio"]].upper()
        radios[radio] = radios.get(radio, 0) + 1
        distinct.add((latitude, longitude))
        at = (latitude, longitude)
        row, place = round(latitude / _CELL), round(longitude / _CELL)
        near = (
            site
            for i in (row - 1, row, row + 1)
            for j in (place - 1, place, place + 1)
            for site in index.get((i, j), ())
        )
        site = next(
            (s for s in near if s.position and great_circle_m(s.position, at) <= CLUSTER_M), None
        )
        if site is None:
            site = Site(f"cell{len(network.sites) + 1}", file.at(line))
            site.latitude, site.longitude = at
            site.more["cells"] = "0"
            network.add_site(site)
            index.setdefault((row, place), []).append(site)
        site.more["cells"] = str(int(site.more["cells"]) + 1)
    kinds = ", ".join(f"{number} {shown(radio)}" for radio, number in sorted(radios.items()))
    network.note(
        "merged",
        f"{count(rows, 'cell')} ({kinds}) at {count(distinct, 'place')} to "
        f"{count(network.sites, 'site')}: cells within {CLUSTER_M:.0f} m are one",
    )
    network.note("warning", "positions of OpenCelliD are estimates from phones (CC BY-SA 4.0)")
    network.wants_links = "a list of cells has no links"
