"""The studies of the project, and how a name finds one.

A study is a folder with a ``study.toml``. Those of the project are below ``studies/``, named by
subject and part, as ``bp_mr_mesh/paper``, and come with the package. A study may have an ``alias``,
a second name.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from backlane import shipped
from backlane.errors import BacklaneError
from backlane.studies.study import name_of, read_toml

_ROOTS = (Path("studies"), shipped.folder("studies"))
"""Where studies are looked for: below the current folder, and in the package."""


@dataclass(frozen=True)
class Entry:
    """One study of the project.

    Attributes:
        name: its folder below ``studies``.
        alias: a second name; empty when it has none.
        title: in one line.
        folder: its path.
    """

    name: str
    alias: str
    title: str
    folder: Path


def entries() -> list[Entry]:
    """The studies of the project, in the order of their names.

    Raises:
        BacklaneError: R003 or R022 when a ``study.toml`` cannot be read.
    """
    found: dict[str, Entry] = {}
    for root in _ROOTS:
        for path in sorted(root.glob("**/study.toml")):
            table, name = read_toml(path), name_of(path.parent)
            entry = Entry(
                name, str(table.get("alias", "")), str(table.get("title", "")), path.parent
            )
            found.setdefault(name, entry)
    return [found[name] for name in sorted(found)]


def locate(name: str) -> Path | None:
    """The folder of a study: a path, a name below ``studies``, or an alias; None without one."""
    for folder in (Path(name), *(root / name for root in _ROOTS)):
        if (folder / "study.toml").is_file():
            return folder
    return next((entry.folder for entry in entries() if name and entry.alias == name), None)


def find(name: str) -> Path:
    """The folder of a study that must exist.

    Raises:
        BacklaneError: R021 when there is none.
    """
    folder = locate(name)
    if folder is None:
        known = ", ".join(entry.name for entry in entries())
        raise BacklaneError(
            "R021",
            f'there is no study "{name}"',
            "reproduce STUDY",
            f"choose one of {known}" if known else "give the path of a study folder",
        )
    return folder
