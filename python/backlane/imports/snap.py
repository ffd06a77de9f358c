"""Lines of maps as links: their ends meet sites by name, or by being within ten metres."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backlane.imports.model import Link, Site, count, shown
from backlane.imports.places import great_circle_m

if TYPE_CHECKING:
    from backlane.imports.model import Network
    from backlane.imports.reading import File

SNAP_M = 10.0
"""An end of a line this near to a site is at the site."""
_CELL = 0.0002
"""A cell of the index in degrees: 22 m of latitude, more than `SNAP_M` also at 60° of latitude."""


@dataclass
class Line:
    """A line of a map, with what its properties say."""

    first: tuple[float, float]
    last: tuple[float, float]
    length_m: float | None
    place: str
    ends: tuple[str, str] | None = None
    name: str = ""
    directed: bool = False
    rate_bps: float | None = None
    delay_s: float | None = None
    fibre: bool = False
    more: dict[str, str] = field(default_factory=dict)


class Index:
    """Sites by their place."""

    def __init__(self, network: Network) -> None:
        self._cells: dict[tuple[int, int], list[Site]] = {}
        for site in network.sites.values():
            self.add(site)

    def add(self, site: Site) -> None:
        """Add a site that has a position."""
        if site.position is not None:
            self._cells.setdefault(self._cell(site.position), []).append(site)

    def _cell(self, at: tuple[float, float]) -> tuple[int, int]:
        return round(at[0] / _CELL), round(at[1] / _CELL)

    def near(self, at: tuple[float, float]) -> Site | None:
        """The nearest site within `SNAP_M`."""
        row, column = self._cell(at)
        best, least = None, SNAP_M
        for i in (row - 1, row, row + 1):
            for j in (column - 1, column, column + 1):
                for site in self._cells.get((i, j), []):
                    assert site.position is not None
                    distance = great_circle_m(site.position, at)
                    if distance <= least:
                        best, least = site, distance
        return best


def join_lines(file: File, lines: list[Line], network: Network) -> None:
    """Make links of lines; those whose ends meet no site are named and left out.

    A file of lines alone gets a site at each end.
    """
    index = Index(network)
    if any(line.fibre for line in lines):
        network.medium = "fibre"
    alone = not network.sites and not any(line.ends for line in lines)
    if alone and lines:
        network.note("assumed", "a site at each end of the lines: the file has no points")
    loose: list[str] = []
    snapped = 0
    for line in lines:
        ends = line.ends
        if ends is None:
            found = []
            for at in (line.first, line.last):
                site = index.near(at)
                if site is None and alone:
                    site = Site(f"site{len(network.sites) + 1}", line.place)
                    site.latitude, site.longitude = at
                    network.add_site(site)
                    index.add(site)
                if site is not None:
                    found.append(site.id)
            if len(found) < 2:
                loose.append(shown(line.name))
                continue
            ends = (found[0], found[1])
            snapped += 1
        link = Link(ends[0], ends[1], line.place, directed=line.directed)
        link.length_m = line.length_m
        link.rate_bps, link.delay_s = line.rate_bps, line.delay_s
        link.more = line.more
        if line.name:
            link.more.setdefault("link", line.name)
        network.add_link(link)
    if snapped:
        network.note("read", f"{count(snapped, 'line')} whose ends are within 10 m of sites")
    network.listed("dropped", f"{count(loose, 'line')} whose ends meet no site", loose)
