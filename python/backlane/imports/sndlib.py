"""SNDlib: the native text format and its XML twin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.imports.model import Demand, Link, Site, count, shown
from backlane.imports.places import drawing
from backlane.imports.quantities import plain, unit_factor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backlane.imports.model import Network
    from backlane.imports.reading import Element, File

_TOKEN = re.compile(r"#[^\n]*|\(|\)|[^\s()#]+")
_PIXELS = "their coordinates are beyond degrees"


def from_modules(
    link: Link, installed: float, modules: list[float], unit_bps: float | None
) -> None:
    """Set the rate: the installed capacity, else the smallest module, which is then assumed."""
    sizes = sorted(size for size in modules if size > 0)
    if modules:
        link.more["modules"] = " ".join(f"{size:g}" for size in sizes)
    scale = unit_bps or 1e6
    if installed > 0:
        link.rate_bps = installed * scale
        link.rate_note = None if unit_bps else "assumed Mbit/s"
    elif sizes:
        link.rate_bps = sizes[0] * scale
        link.rate_note = "assumed the smallest module" + ("" if unit_bps else ", in Mbit/s")


def native(file: File, network: Network) -> None:
    """The native format.

    Raises:
        BacklaneError: R041 or R045 with the line.
    """
    tokens = _Tokens(file)
    sections: dict[str, list[tuple[int, list[object]]]] = {}
    for line, name in tokens:
        if name.startswith("?"):
            while tokens.peek_line() == line:
                tokens.take()
            continue
        if name in (")", "("):
            raise file.bad(f'"{name}" where a section is expected', line)
        body = tokens.group(line)
        sections.setdefault(name.upper(), []).extend(_rows(body))
    if "NODES" not in sections:
        raise file.bad("the section NODES is missing")
    meta = {str(row[0]).lower(): row for _, row in sections.get("META", []) if row}
    unit = _unit(str(meta["unit"][-1])) if "unit" in meta else None
    for line, row in sections["NODES"]:
        site = Site(str(row[0]), file.at(line))
        if len(row) > 1:
            pair = row[1]
            numbers = [plain(str(part)) for part in pair] if isinstance(pair, list) else []
            if len(numbers) != 2 or None in numbers:
                raise file.bad(f"the position of {shown(str(row[0]))} is no pair of numbers", line)
            site.longitude, site.latitude = numbers
        network.add_site(site)
    for line, row in sections.get("LINKS", []):
        a, b, numbers, tail = _record(file, line, row)
        link = Link(a, b, file.at(line))
        modules = [plain(str(part)) for part in tail]
        if any(size is None for size in (*modules, *numbers[:1])):
            raise BacklaneError(
                "R047", "a capacity that is no number", file.at(line), "write a number"
            )
        from_modules(
            link,
            (numbers[0] if numbers else None) or 0.0,
            [size for size in modules[::2] if size is not None],
            unit,
        )
        link.more["link"] = str(row[0])
        network.add_link(link)
    for line, row in sections.get("DEMANDS", []):
        a, b, numbers, _ = _record(file, line, row)
        if len(numbers) < 2 or numbers[1] is None:
            raise BacklaneError("R047", "a demand without a value", file.at(line), "write a number")
        network.demands.append(Demand(a, b, file.at(line), numbers[1], unit))
    _finish(network, unit)


def _unit(text: str) -> float | None:
    word = text.strip().lower()
    return unit_factor("rate", word) or unit_factor("rate", word.replace("persec", "/s"))


def _record(
    file: File, line: int, row: list[object]
) -> tuple[str, str, list[float | None], list[object]]:
    """The ends, the numbers and the list at the end of a link or a demand."""
    if len(row) < 2 or not isinstance(row[1], list) or len(row[1]) != 2:
        raise file.bad(f"{shown(str(row[0]))} names no two ends", line, "write id ( a b ) …")
    a, b = (str(end) for end in row[1])
    tail = row[-1] if isinstance(row[-1], list) and len(row) > 2 else []
    return a, b, [plain(str(part)) for part in row[2:] if not isinstance(part, list)], tail


def _rows(body: list[tuple[int, object]]) -> Iterator[tuple[int, list[object]]]:
    """The records of a section: each begins with an id on a new line."""
    row: list[object] = []
    start = -1
    for line, part in body:
        if not isinstance(part, list) and line != start:
            if row:
                yield start, row
            row, start = [], line
        row.append(part)
    if row:
        yield start, row


class _Tokens:
    """Words and parentheses with their lines."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._items: list[tuple[int, str]] = []
        for number, text in enumerate(file.text.splitlines(), start=1):
            self._items += [
                (number, found[0]) for found in _TOKEN.finditer(text) if found[0][0] != "#"
            ]
        self._at = 0

    def __iter__(self) -> Iterator[tuple[int, str]]:
        while self._at < len(self._items):
            yield self.take()

    def take(self) -> tuple[int, str]:
        self._at += 1
        return self._items[self._at - 1]

    def peek_line(self) -> int | None:
        return self._items[self._at][0] if self._at < len(self._items) else None

    def group(self, line: int) -> list[tuple[int, object]]:
        """The content of the parentheses that open here."""
        if self._at >= len(self._items) or self._items[self._at][1] != "(":
            raise self._file.bad('"(" is missing', line)
        self.take()
        stack: list[list[tuple[int, object]]] = [[]]
        while self._at < len(self._items):
            line, text = self.take()
            if text == "(":
                if len(stack) > 4:
                    raise self._file.bad("parentheses too deep", line)
                stack.append([])
            elif text == ")":
                done = stack.pop()
                if not stack:
                    return done
                stack[-1].append((line, [part for _, part in done]))
            else:
                stack[-1].append((line, text))
        raise self._file.bad('")" is missing at the end', line)


def xml(file: File, root: Element, network: Network) -> None:
    """The XML format.

    Raises:
        BacklaneError: R041 or R045 with the line.
    """
    structure = root.child("networkStructure")
    if structure is None:
        raise file.bad("networkStructure is missing", root.line)
    unit = _unit(root.text_of("meta", "unit") or "") if root.text_of("meta", "unit") else None
    nodes = structure.child("nodes")
    for node in nodes.children_named("node") if nodes else []:
        site = Site(node.get("id") or "", file.at(node.line))
        x, y = (node.text_of("coordinates", axis) for axis in ("x", "y"))
        if x is not None and y is not None:
            site.longitude, site.latitude = plain(x), plain(y)
            if site.position is None:
                raise file.bad(f"the position of {shown(site.id)} is no pair of numbers", node.line)
        network.add_site(site)
    if nodes is not None and nodes.get("coordinatesType") == "pixel":
        drawing(network, "the file says coordinatesType pixel")
    links = structure.child("links")
    for element in links.children_named("link") if links else []:
        a, b = element.text_of("source"), element.text_of("target")
        if a is None or b is None:
            raise file.bad("a link without source and target", element.line)
        link = Link(a, b, file.at(element.line))
        modules = element.child("additionalModules")
        sizes = [
            plain(module.text_of("capacity") or "")
            for module in (modules.children_named("addModule") if modules else [])
        ]
        installed = element.text_of("preInstalledModule", "capacity")
        size = plain(installed) if installed else 0.0
        if size is None or None in sizes:
            raise BacklaneError(
                "R047", "a capacity that is no number", file.at(element.line), "write a number"
            )
        from_modules(link, size, [s for s in sizes if s is not None], unit)
        link.more["link"] = element.get("id") or ""
        network.add_link(link)
    demands = root.child("demands")
    for element in demands.children_named("demand") if demands else []:
        a, b = element.text_of("source"), element.text_of("target")
        value = plain(element.text_of("demandValue") or "")
        if a is None or b is None or value is None:
            raise file.bad("a demand without source, target and demandValue", element.line)
        network.demands.append(Demand(a, b, file.at(element.line), value, unit))
    _finish(network, unit)


def _finish(network: Network, unit: float | None) -> None:
    network.medium = "fibre"
    say_modules(network, unit)
    placed = [site for site in network.sites.values() if site.position is not None]
    if any(abs(s.latitude or 0) > 90 or abs(s.longitude or 0) > 180 for s in placed):
        drawing(network, _PIXELS)


def say_modules(network: Network, unit: float | None) -> None:
    """Say which capacities are modules, and in which unit."""
    modules = [link for link in network.links if "module" in (link.rate_note or "")]
    rated = [link for link in network.links if link.rate_bps is not None]
    if modules:
        network.note(
            "assumed", f"the smallest module of {count(modules, 'link')} without installed capacity"
        )
    if rated and not unit:
        network.note("assumed", "capacities in Mbit/s: the file names no unit (--unit sets it)")
