"""Imports between the files of a Rust crate, and their circles.

A file imports another if it uses a name that the other defines: in a `use`, or in a path such as
`crate::a::B` or `super::b::c()`. A name that comes through a re-export counts for the file that
defines it. Declaring a child module and re-exporting with `pub use` are no imports. Methods are
not seen: a call needs no import, wherever its `impl` block is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

Module = tuple[str, ...]
"""The path of a module from the root of its crate."""

ITEM = re.compile(r"\b(?:struct|enum|union|trait|type|fn|const|static|macro_rules!)\s+(\w+)")
USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
PATH = re.compile(r"(?<![\w:])(?:[a-z_]\w*::)+\w+")


def circles(sources: Mapping[str, str]) -> list[set[str]]:
    """The sets of files that import each other.

    Args:
        sources: the code of each file of a crate by path, without comments, texts and tests.
    """
    crate = _Crate(sources)
    graph = {module: crate.imports(module) for module in crate.code if crate.is_part(module)}
    reached = {module: _reached(graph, module) for module in graph}
    found: list[set[str]] = []
    for module in graph:
        if module in reached[module]:
            circle = {crate.file[m] for m in reached[module] if module in reached[m]}
            if circle not in found:
                found.append(circle)
    return found


def _reached(graph: Mapping[Module, set[Module]], start: Module) -> set[Module]:
    reached: set[Module] = set()
    ahead = [start]
    while ahead:
        new = graph.get(ahead.pop(), set()) - reached
        reached |= new
        ahead += new
    return reached


def _leaves(tree: str) -> Iterator[tuple[str, str]]:
    """The paths of a use tree, each with the name that it brings in."""
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, name = re.sub(r"\s+", " ", tree.strip()).partition(" as ")
        path = path.removesuffix("::self")
        yield path, name.strip() or path.rpartition("::")[2]
        return
    inner = rest[: rest.rindex("}")]
    depth, start = 0, 0
    for place, character in enumerate(inner + ","):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            if branch := inner[start:place].strip():
                yield from ((head.strip() + path, name) for path, name in _leaves(branch))
            start = place + 1


class _Crate:
    """The modules of a crate: one for each file."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.file: dict[Module, str] = {}
        self.code: dict[Module, str] = {}
        for name, code in sources.items():
            path = name.split("/src/")[1].removesuffix(".rs").split("/")
            if path[-1] in {"lib", "main", "mod"}:
                path.pop()
            self.file[tuple(path)], self.code[tuple(path)] = name, code
        self.items = {module: set(ITEM.findall(code)) for module, code in self.code.items()}
        self.uses = {
            module: [leaf for _, tree in USE.findall(code) for leaf in _leaves(tree)]
            for module, code in self.code.items()
        }

    def is_part(self, module: Module) -> bool:
        """Whether a module is declared, and not for tests alone."""
        return all(
            re.search(rf"\bmod\s+{name}\s*;", self.code.get(module[:depth], ""))
            for depth, name in enumerate(module)
        )

    def imports(self, module: Module) -> set[Module]:
        """The modules that define what a module uses."""
        code = self.code[module]
        trees = [tree for public, tree in USE.findall(code) if not public]
        paths = [path for tree in trees for path, _ in _leaves(tree)]
        paths += PATH.findall(USE.sub("", code))
        found = {self.definer(module, tuple(path.split("::")), frozenset()) for path in paths}
        return {definer for definer in found if definer is not None} - {module}

    def definer(
        self, at: Module, path: Module, seen: frozenset[tuple[Module, Module]]
    ) -> Module | None:
        """The module that defines what a path names there; None for modules and other crates."""
        if not path or (at, path) in seen or at not in self.code:
            return None
        seen |= {(at, path)}
        first, rest = path[0], path[1:]
        if first == "crate":
            return self.definer((), rest, seen)
        if first == "super":
            return self.definer(at[:-1], rest, seen)
        if first == "self":
            return self.definer(at, rest, seen)
        if (*at, first) in self.code:
            return self.definer((*at, first), rest, seen)
        if first == "*" or first in self.items[at]:
            return at
        for used, name in self.uses[at]:
            if name == first:
                return self.definer(at, (*used.split("::"), *rest), seen)
        for used, name in self.uses[at]:
            start, *steps = used.split("::")
            is_here = start in {"crate", "self", "super"} or (*at, start) in self.code
            if name == "*" and is_here:
                found = self.definer(at, (start, *steps[:-1], *path), seen)
                if found is not None:
                    return found
        return None
