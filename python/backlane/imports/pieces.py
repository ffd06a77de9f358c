"""Links that a file does not have: by a rule, or to join pieces. Each is named with its length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.imports.merge import pair_of
from backlane.imports.model import Link, count, shown, some
from backlane.imports.places import EARTH_RADIUS_M

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from backlane.imports.model import Network
    from backlane.imports.places import Ruler

RULES = {
    "mst": "a spanning tree: the fewest and shortest links that join all sites",
    "mesh": "the tree with at most 4 links a site, and redundant links up to 3 a site, none longer "
    "than the longest of file and tree",
    "gabriel": "two sites without a third in the circle between them",
}
"""Rules that draw links, as `kind = "sites"` of a scenario has them."""
_ALL_PAIRS = 3000
"""Up to this many sites all pairs are looked at, above it near ones."""


class Groups:
    """Which sites are joined (union-find)."""

    def __init__(self, names: list[str]) -> None:
        self._above = {name: name for name in names}
        self.number = len(names)

    def find(self, name: str) -> str:
        """The representative of a group."""
        while self._above[name] != name:
            self._above[name] = self._above[self._above[name]]
            name = self._above[name]
        return name

    def join(self, a: str, b: str) -> bool:
        """Join two groups; whether they were apart."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        self._above[b] = a
        self.number -= 1
        return True

    def members(self) -> list[list[str]]:
        """The groups, the largest first, each in the order of the sites."""
        found: dict[str, list[str]] = {}
        for name in self._above:
            found.setdefault(self.find(name), []).append(name)
        return sorted(found.values(), key=len, reverse=True)


def groups_of(network: Network) -> Groups:
    """The pieces of a network."""
    groups = Groups([*network.sites])
    for link in network.links:
        groups.join(link.a, link.b)
    return groups


def by_rule(network: Network, rule: str, ruler: Ruler) -> None:
    """Add the links of a rule to those of the file.

    Raises:
        BacklaneError: R044 when a site has no position.
    """
    names = [name for name, site in network.sites.items() if site.has_position]
    lost = [name for name, site in network.sites.items() if not site.has_position]
    if len(names) < 2:
        raise BacklaneError(
            "R044",
            f"--rule {rule} needs positions, and {count(names, 'site')} have one",
            network.sources[0].path,
            "give a file with positions",
        )
    network.listed("warning", f"{count(lost, 'site')} without a position get no link", [*lost])
    points = _points(network, names)
    groups = groups_of(network)
    degrees = dict.fromkeys(network.sites, 0)
    present = set()
    for link in network.links:
        present.add(pair_of(link))
        degrees[link.a] += 1
        degrees[link.b] += 1
    why = f"--rule {rule}"
    cap = 4 if rule == "mesh" else len(names)

    def add(i: int, j: int) -> None:
        a, b = names[i], names[j]
        groups.join(a, b)
        degrees[a] += 1
        degrees[b] += 1
        link = Link(a, b, why, added=why)
        present.add(pair_of(link))
        network.links.append(link)

    if rule == "gabriel":
        for i, j in _gabriel(points):
            if pair_of(Link(names[i], names[j], why)) not in present:
                add(i, j)
    else:
        for i, j in _near(points):
            if groups.number == 1 + len(lost):
                break
            a, b = names[i], names[j]
            if max(degrees[a], degrees[b]) < cap and groups.find(a) != groups.find(b):
                add(i, j)
        if rule == "mesh":
            few = sum(degrees[name] < 3 for name in names)
            longest = _longest(network, names, points)
            for i, j in _near(points):
                if few < 2 or _distance(points, i, j) > longest:
                    break
                a, b = names[i], names[j]
                if max(degrees[a], degrees[b]) < 3 and pair_of(Link(a, b, why)) not in present:
                    add(i, j)
                    few -= (degrees[a] == 3) + (degrees[b] == 3)
    _say_added(network, why, ruler)


def _distance(points: np.ndarray, i: int, j: int) -> float:
    import numpy as np

    return float(np.linalg.norm(points[i] - points[j]))


def _longest(network: Network, names: list[str], points: np.ndarray) -> float:
    """The longest link so far: radios that reach further are not known."""
    at = {name: index for index, name in enumerate(names)}
    return max(
        (
            _distance(points, at[link.a], at[link.b])
            for link in network.links
            if link.a in at and link.b in at
        ),
        default=0.0,
    )


def treat(network: Network, how: str, ruler: Ruler) -> None:
    """Make one piece of the network: join, or keep the largest, or refuse.

    Raises:
        BacklaneError: R048 when the user refuses.
    """
    groups = groups_of(network)
    if groups.number <= 1:
        return
    members = groups.members()
    sizes = ", ".join(str(len(group)) for group in members[:8])
    text = f"the network is in {len(members)} pieces of {sizes}{' …' if members[8:] else ''} sites"
    if how == "refuse":
        raise BacklaneError(
            "R048",
            text,
            network.sources[0].path,
            "--pieces join adds the shortest links, --pieces largest keeps the largest piece",
        )
    network.note("warning", text)
    placed = [g for g in members if any(network.sites[n].has_position for n in g)]
    if how == "largest" or members[0] not in placed:
        placed = members[:1]
    keep = {name for group in placed for name in group}
    lost = [shown(name) for name in network.sites if name not in keep]
    why = "outside of the largest piece" if len(placed) == 1 else "in pieces without a position"
    network.listed("dropped", f"{count(lost, 'site')} {why}", lost)
    retain(network, keep)
    if len(placed) > 1:
        _join(network, ruler)


def retain(network: Network, keep: set[str]) -> None:
    """Leave out all but some sites, with what leads to the others."""
    network.sites = {name: site for name, site in network.sites.items() if name in keep}
    network.links = [link for link in network.links if link.a in keep and link.b in keep]
    gone = [d for d in network.demands if d.a not in keep or d.b not in keep]
    network.demands = [d for d in network.demands if d.a in keep and d.b in keep]
    if gone:
        network.note("dropped", f"{count(gone, 'demand')} of these sites")


def _join(network: Network, ruler: Ruler) -> None:
    names = [name for name, site in network.sites.items() if site.has_position]
    groups = groups_of(network)
    why = "--pieces join"
    for i, j in _near(_points(network, names)):
        if groups.number == 1:
            break
        if groups.join(names[i], names[j]):
            network.links.append(Link(names[i], names[j], why, added=why))
    _say_added(network, why, ruler)


def _say_added(network: Network, why: str, ruler: Ruler) -> None:
    new = [link for link in network.links if link.added == why]
    longest_first = []
    for link in new:
        link.length_m = ruler.between(network.sites[link.a], network.sites[link.b])
        longest_first.append((link.length_m or 0.0, f"{shown(link.a)}–{shown(link.b)}"))
    longest_first.sort(key=lambda one: -one[0])
    names = [f"{name} {length / 1000:.3f} km" for length, name in longest_first]
    if names:
        network.note("added", f"{count(new, 'link')} that the file lacks ({why}): {some(names)}")


def _points(network: Network, names: list[str]) -> np.ndarray:
    """Positions in space, so that distances need no projection; metres."""
    import numpy as np

    sites = [network.sites[name] for name in names]
    if any(site.position is None for site in sites):
        return np.array([[site.x_m or 0.0, site.y_m or 0.0] for site in sites])
    angles = np.radians(np.array([site.position for site in sites], dtype=float))
    latitude, longitude = angles[:, 0], angles[:, 1]
    found: np.ndarray = EARTH_RADIUS_M * np.column_stack((
        np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)
    ))  # fmt: skip
    return found


def _near(points: np.ndarray) -> Iterator[tuple[int, int]]:
    """Pairs, the shortest first; of many sites only near pairs, and enough to join all."""
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    total = len(points)
    if total < 2:
        return
    first: np.ndarray
    second: np.ndarray
    if total <= _ALL_PAIRS:
        first, second = np.triu_indices(total, 1)
    else:
        tree = cKDTree(points)
        nearest = 16
        while True:
            index = np.asarray(tree.query(points, k=nearest + 1)[1])
            first = np.repeat(np.arange(total), nearest)
            second = index[:, 1:].ravel()
            graph = coo_matrix((np.ones(len(first)), (first, second)), shape=(total, total))
            if connected_components(graph, directed=False)[0] == 1 or nearest > total // 2:
                break
            nearest = min(4 * nearest, total - 1)
    lengths = np.linalg.norm(points[first] - points[second], axis=1)
    for at in np.lexsort((second, first, np.round(lengths, 6))):
        if first[at] != second[at]:
            yield int(first[at]), int(second[at])


def _neighbours(points: np.ndarray) -> np.ndarray:
    """Pairs that the Gabriel graph may have: those of the Delaunay triangulation.

    A stereographic projection keeps circles, so that the triangulation is that of the sphere.
    """
    import numpy as np
    from scipy.spatial import Delaunay, QhullError

    total = len(points)
    if total > 60:
        flat = points
        if points.shape[1] == 3:
            middle = points.mean(axis=0)
            up = middle / max(float(np.linalg.norm(middle)), 1e-9)
            east = np.cross([0.0, 0.0, 1.0] if abs(up[2]) < 0.9 else [1.0, 0.0, 0.0], up)
            east /= np.linalg.norm(east)
            north = np.cross(up, east)
            scale = 1 + points @ up / EARTH_RADIUS_M
            flat = (
                np.column_stack((points @ east, points @ north)) / np.maximum(scale, 1e-9)[:, None]
            )
        try:
            corners = Delaunay(flat).simplices
        except QhullError:
            corners = None
        if corners is not None:
            edges = np.vstack((corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]))
            found: np.ndarray = np.unique(np.sort(edges, axis=1), axis=0)
            return found
    if total <= _ALL_PAIRS:
        return np.column_stack(np.triu_indices(total, 1))
    return np.array([*_near(points)])


def _gabriel(points: np.ndarray) -> Iterator[tuple[int, int]]:
    import numpy as np
    from scipy.spatial import cKDTree

    pairs = _neighbours(points)
    first, second = points[pairs[:, 0]], points[pairs[:, 1]]
    radius = np.linalg.norm(first - second, axis=1) / 2
    found = cKDTree(points).query((first + second) / 2, k=min(4, len(points)))
    nearest, which = (np.asarray(part) for part in found)
    for row, (i, j) in enumerate(pairs):
        inside = (
            d < radius[row] * (1 - 1e-9) and k not in (i, j)
            for d, k in zip(nearest[row], which[row], strict=True)
        )
        if not any(inside):
            yield int(i), int(j)
