"""Positions: degrees in every notation, swapped axes, projected coordinates, lengths.

Lengths are geodesics of WGS 84 (geographiclib); where only an order matters they are great circles,
which differ by at most 0.56 %.
"""

from __future__ import annotations

import itertools
import math
import re
from statistics import median
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.imports.model import count, shown, some
from backlane.imports.quantities import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from backlane.imports.model import Network, Site

EARTH_RADIUS_M = 6_371_008.8
"""Mean radius of the IUGG, as in the core."""
MOST_LENGTH_M = 5e7
"""Longer links are an error in the unit: the equator has 40 075 km."""
_MOST_LETTERS = 60
"""Of a coordinate."""
_DMS = re.compile(
    r"""(?P<sign>[-+])?\s*
    (?P<degrees>\d+(?:[.,]\d+)?)\s*[°ºd:\s]?\s*
    (?:(?P<minutes>\d+(?:[.,]\d+)?)\s*['’′m:]?\s*)?
    (?:(?P<seconds>\d+(?:[.,]\d+)?)\s*(?:"|''|″|”|s)?\s*)?""",
    re.VERBOSE | re.IGNORECASE,
)


def degrees(text: str) -> tuple[float, str] | None:
    """A coordinate in degrees with its hemisphere (N, S, E, W or nothing).

    Reads ``44.64``, ``44,64``, ``33.8688 S``, ``N 50 22.15``, ``160°20'2.04"E``, ``41-23-45 N``.
    None for anything else.
    """
    text = text.strip().replace("\u2212", "-").replace("\u00a0", " ")
    if len(text) > _MOST_LETTERS:
        return None
    value = plain(text)
    if value is not None:
        return value, ""
    hemisphere = ""
    if text and text[0].upper() in "NSEWO":
        hemisphere, text = text[0].upper(), text[1:].strip()
    elif text and text[-1].upper() in "NSEWO" and not text[:-1].strip().isalpha():
        hemisphere, text = text[-1].upper(), text[:-1].strip()
    if re.fullmatch(r"\d{1,3}-\d{1,2}-\d{1,2}(?:\.\d+)?", text):
        text = text.replace("-", " ")
    found = _DMS.fullmatch(text)
    if found is None:
        return None
    whole, minutes, seconds = (
        float((found[part] or "0").replace(",", ".")) for part in ("degrees", "minutes", "seconds")
    )
    if minutes >= 60 or seconds >= 60:
        return None
    value = whole + minutes / 60 + seconds / 3600
    # "O" is west in Spanish and French; east in German is "O" too, so that it is not read.
    if hemisphere == "O":
        return None
    if found["sign"] == "-":
        value = -value
    return (-abs(value) if hemisphere in ("S", "W") else value), hemisphere


def set_degrees(site: Site, first: tuple[float, str], second: tuple[float, str]) -> None:
    """Set latitude and longitude of a site.

    Raises:
        BacklaneError: R044 when a hemisphere contradicts its column.
    """
    (latitude, north), (longitude, east) = first, second
    if north in ("E", "W") or east in ("N", "S"):
        raise BacklaneError(
            "R044",
            f"latitude {latitude:g} {north} and longitude {longitude:g} {east}: the hemispheres "
            "say that they are swapped",
            site.place,
            "give --swap, or exchange the two columns",
        )
    site.latitude, site.longitude = latitude, longitude


def check_ranges(network: Network) -> None:
    """Refuse coordinates that are no degrees, or are swapped.

    Raises:
        BacklaneError: R044.
    """
    placed = [site for site in network.sites.values() if site.position is not None]
    wrong = [s for s in placed if abs(s.latitude or 0) > 90 or abs(s.longitude or 0) > 360]
    if not wrong:
        for site in placed:
            assert site.longitude is not None
            if abs(site.longitude) > 180:
                site.longitude = (site.longitude + 180) % 360 - 180
                network.note("merged", "longitudes beyond 180° are counted from the other side")
        return
    first = wrong[0]
    read = f"{count(network.sites, 'site')} read"
    assert first.latitude is not None
    assert first.longitude is not None
    if all(abs(s.longitude or 0) <= 90 and abs(s.latitude or 0) <= 360 for s in placed):
        raise BacklaneError(
            "R044",
            f"latitude {first.latitude:g} of {shown(first.id)} is beyond ±90 and every longitude "
            f"is within: latitude and longitude are swapped ({read})",
            first.place,
            "give --swap, or exchange the two columns",
        )
    if len(wrong) > len(placed) / 2:
        raise BacklaneError(
            "R044",
            f"x {first.longitude:g}, y {first.latitude:g} of {shown(first.id)} are no degrees: "
            f"the file has projected coordinates ({read})",
            first.place,
            "name their system with --crs EPSG:CODE (needs pyproj), --crs metres or feet for "
            "a local grid, or --crs drawing if they are none",
        )
    names = some([f"{shown(s.id)} ({s.latitude:g}, {s.longitude:g})" for s in wrong])
    raise BacklaneError(
        "R044",
        f"latitude beyond ±90 or longitude beyond ±360: {names}",
        first.place,
        "correct these rows",
    )


def swap(network: Network) -> None:
    """Exchange latitude and longitude of every site, as the user asks."""
    for site in network.sites.values():
        site.latitude, site.longitude = site.longitude, site.latitude
    network.note("read", "latitude and longitude exchanged (--swap)")


def project(network: Network, system: str) -> None:
    """Convert projected coordinates: "metres", "feet", a system of pyproj, or "drawing".

    Raises:
        BacklaneError: R049 without pyproj, R044 when the system is not known.
    """
    placed = [site for site in network.sites.values() if site.position is not None]
    word = system.lower()
    if word == "drawing":
        drawing(network, "--crs drawing")
        return
    if word in ("metres", "meters", "m", "feet", "ft"):
        scale = 0.3048 if word in ("feet", "ft") else 1.0
        for site in placed:
            assert site.longitude is not None
            assert site.latitude is not None
            site.x_m, site.y_m = site.longitude * scale, site.latitude * scale
            site.latitude = site.longitude = None
        network.note("read", f"coordinates read as {word} of a local grid (--crs)")
        return
    try:
        import pyproj
    except ImportError as error:
        raise BacklaneError(
            "R049", "--crs needs the package pyproj", system, "pip install pyproj"
        ) from error
    try:
        convert = pyproj.Transformer.from_crs(system, "EPSG:4326", always_xy=True)
    except pyproj.exceptions.ProjError as error:
        raise BacklaneError(
            "R044", f'pyproj does not know the system "{shown(system)}"', None, "see epsg.io"
        ) from error
    for site in placed:
        x, y = convert.transform(site.longitude, site.latitude)
        if not (math.isfinite(x) and math.isfinite(y)):
            raise BacklaneError(
                "R044",
                f"{site.longitude:g}, {site.latitude:g} of {shown(site.id)} is outside of {system}",
                site.place,
                "check the system",
            )
        site.latitude, site.longitude = y, x
    network.note("read", f"coordinates converted from {system} to latitude and longitude")


def great_circle_m(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The distance on a sphere (haversine)."""
    (lat_a, lon_a), (lat_b, lon_b) = ((math.radians(x) for x in p) for p in (a, b))
    h = math.sin((lat_b - lat_a) / 2) ** 2
    h += math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    return 2 * EARTH_RADIUS_M * math.asin(min(1.0, math.sqrt(h)))


def _measure() -> Callable[[tuple[float, float], tuple[float, float]], float]:
    from geographiclib.geodesic import Geodesic

    def geodesic(a: tuple[float, float], b: tuple[float, float]) -> float:
        return float(Geodesic.WGS84.Inverse(*a, *b, Geodesic.DISTANCE)["s12"])

    return geodesic


def path_m(points: list[tuple[float, float]]) -> float | None:
    """The length of a path of positions; None if one is beyond degrees."""
    if any(abs(latitude) > 90 or abs(longitude) > 360 for latitude, longitude in points):
        return None
    return sum(map(_measure(), points[:-1], points[1:]))


class Ruler:
    """Distances between sites."""

    def __init__(self) -> None:
        self._measure = _measure()

    def between(self, a: Site, b: Site) -> float | None:
        """The distance in metres; None if one has no position, or they have different kinds."""
        if a.position is not None and b.position is not None:
            return self._measure(a.position, b.position)
        if None in (a.x_m, a.y_m, b.x_m, b.y_m):
            return None
        assert a.x_m is not None
        assert a.y_m is not None
        assert b.x_m is not None
        assert b.y_m is not None
        return math.hypot(a.x_m - b.x_m, a.y_m - b.y_m)


def judge_lengths(network: Network) -> None:
    """Find the unit of lengths without one: that with which they fit the positions best.

    Without positions they are km, or m if most would be longer than 600 km.

    Raises:
        BacklaneError: R047 for a length beyond `MOST_LENGTH_M`.
    """
    for title, links in network.unitless.items():
        rows = [link for link in links if link.length_m]
        if not rows:
            continue
        ratios = []
        for link in rows:
            a, b = network.sites.get(link.a), network.sites.get(link.b)
            if a is None or b is None or a.position is None or b.position is None:
                continue
            straight = great_circle_m(a.position, b.position)
            if straight > 1:
                ratios.append((link.length_m or 0.0) / straight)
        unit, factor = "km", 1.0
        if ratios:
            typical = median(ratios)
            unit, factor = min(
                (("km", 1.0), ("m", 1e-3), ("miles", 1.609344), ("ft", 0.3048e-3)),
                key=lambda one: abs(math.log(typical * one[1])),
            )
        elif median(link.length_m or 0.0 for link in rows) > 600e3:
            unit, factor = "m", 1e-3
        for link in rows:
            link.length_m = (link.length_m or 0.0) * factor
        how = "they fit the positions best" if ratios else "there are no positions to compare with"
        network.note("assumed", f"{shown(title)} has no unit: taken as {unit}, since {how}")
    for link in network.links:
        if link.length_m is not None and link.length_m > MOST_LENGTH_M:
            raise BacklaneError(
                "R047",
                f"a link of {link.length_m / 1000:.0f} km, more than once around the earth",
                link.place,
                "check the length and its unit",
            )


def check_lengths(network: Network) -> None:
    """Compare the lengths that the file gives with its positions.

    A path is never shorter than the straight line. Where most are, the positions are a drawing,
    or their axes are swapped.

    Raises:
        BacklaneError: R044 when exchanged axes fit and the given ones do not.
    """
    pairs = []
    for link in network.links:
        a, b = network.sites[link.a], network.sites[link.b]
        if link.length_m and a.position is not None and b.position is not None:
            straight = great_circle_m(a.position, b.position)
            swapped = great_circle_m((a.position[1], a.position[0]), (b.position[1], b.position[0]))
            pairs.append((link.length_m, straight, swapped))
    if len(pairs) < 3:
        return

    def error(index: int) -> float:
        return median(abs(math.log(max(p[index], 1.0) / max(p[0], 1.0))) for p in pairs)

    if error(1) > 0.1 and error(2) < 0.02:
        raise BacklaneError(
            "R044",
            f"the lengths of {count(pairs, 'link')} fit the positions only with latitude and "
            "longitude exchanged: they are swapped",
            network.sources[0].path,
            "give --swap, or exchange the two columns",
        )
    short = sum(length < 0.9 * straight for length, straight, _ in pairs)
    if 2 * short > len(pairs):
        drawing(
            network,
            f"{short} of {count(pairs, 'link')} with a length are shorter than the straight line "
            "between their ends",
        )


def drawing(network: Network, why: str) -> None:
    """Give up the positions: they are those of a drawing."""
    for site in network.sites.values():
        if site.position is not None:
            site.more["drawn_at"] = f"{site.longitude:g}, {site.latitude:g}"
        site.latitude = site.longitude = site.x_m = site.y_m = None
    network.positions = "drawing"
    network.note("dropped", f"the positions are not geographic, so that no length is known: {why}")


def plane(network: Network) -> None:
    """Positions beyond degrees: kilometres of a plane if the lengths are theirs, else a drawing.

    Lengths that do not fit a plane either are those of a computation that took pixels for degrees:
    they are left out.
    """
    off = fit = 0
    for link in network.links:
        a, b = network.sites.get(link.a), network.sites.get(link.b)
        if a is None or b is None or a.position is None or b.position is None:
            continue
        if link.length_m is not None:
            straight = 1000 * math.dist(a.position, b.position)
            fit += abs(link.length_m - straight) <= 0.01 * straight + 10
            off += 1
    if off and fit == off:
        for site in network.sites.values():
            if site.latitude is not None and site.longitude is not None:
                site.x_m, site.y_m = site.longitude * 1000, site.latitude * 1000
            site.latitude = site.longitude = None
        network.positions = "metres"
        network.note("read", "positions are kilometres of a plane: the lengths are those of it")
        return
    drawing(network, "the coordinates are beyond degrees")
    for link in network.links:
        link.length_m = None
    if off:
        network.note(
            "dropped", f"the lengths of {count(off, 'link')}, which come from these coordinates"
        )


def middle(sites: list[Site]) -> tuple[float, float]:
    """The middle of the bounding box; longitudes may cross the antimeridian."""
    latitudes = [s.latitude for s in sites if s.latitude is not None]
    longitudes = sorted(s.longitude for s in sites if s.longitude is not None)
    gaps = [(b - a, b) for a, b in itertools.pairwise(longitudes)]
    gaps.append((longitudes[0] + 360 - longitudes[-1], longitudes[0]))
    width, west = max(gaps)
    east = west + (360 - width)
    return (min(latitudes) + max(latitudes)) / 2, (west + east) / 2


def flat(sites: list[Site]) -> dict[str, tuple[float, float]]:
    """Metres east and north of the middle: the equirectangular projection, for maps."""
    placed = [site for site in sites if site.position is not None]
    if not placed:
        return {}
    latitude_0, longitude_0 = middle(placed)
    across = math.cos(math.radians(latitude_0))
    found = {}
    for site in placed:
        assert site.latitude is not None
        assert site.longitude is not None
        turned = (site.longitude - longitude_0 + 180) % 360 - 180
        found[site.id] = (
            EARTH_RADIUS_M * across * math.radians(turned),
            EARTH_RADIUS_M * math.radians(site.latitude - latitude_0),
        )
    return found
