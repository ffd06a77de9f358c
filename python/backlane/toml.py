"""Python values as TOML, with the place of every value in the text.

A scenario that is given as a dict is written as TOML and read like a file. `Written.path_at` leads
from a line and a column of the text back to a path such as ``flow[1].size``, so that errors name
the entry of the dict.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

from backlane.errors import BacklaneError

MOST_LEVELS = 100
"""Dicts and lists within each other; a value that contains itself has more."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED = re.compile('[\x00-\x1f"\\\\\x7f]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}

Position = tuple[int, int]
"""Line and column, both from 1."""


@dataclass(frozen=True)
class Written:
    """A text and the places of its values.

    Attributes:
        text: the document.
        spans: beginning, end and path of every entry, an outer one before those within it.
    """

    text: str
    spans: list[tuple[Position, Position, str]] = field(repr=False)

    def path_at(self, line: int, column: int) -> str:
        """The path of the innermost entry at a place; empty where there is none."""
        found = ""
        for begin, end, path in self.spans:
            if begin <= (line, column) < end:
                found = path
        return found


def document(value: Mapping[str, Any]) -> Written:
    """A whole document.

    Tables at the top become sections, and lists of tables sections in double brackets; deeper ones
    are written inline. Tuples, NumPy scalars and arrays, and paths are written as what they hold.

    Raises:
        BacklaneError: R029 for a value or a key that TOML does not have.
    """
    writer = _Writer()
    # Nothing is at the first place, where a reader points when a whole section is missing.
    writer.end_line()
    sections = {}
    for key, item in value.items():
        item = _plain(item, str(key))
        if isinstance(item, Mapping) or _is_tables(item):
            sections[key] = item
        else:
            writer.entry(key, item, "", 1)
            writer.end_line()
    for key, item in sections.items():
        _require_key(key, str(key))
        name = key_text(key)
        if isinstance(item, Mapping):
            writer.section(f"[{name}]", item, name)
            continue
        for index, row in enumerate(item):
            writer.section(f"[[{name}]]", row, f"{name}[{index}]")
    return writer.written()


def value_text(value: Any, path: str = "") -> str:
    """A single value on one line, as in an override.

    Args:
        value: what to write.
        path: its place, for messages.

    Raises:
        BacklaneError: R029 for a value that TOML does not have.
    """
    writer = _Writer(one_line=True)
    writer.value(value, path, 1)
    return writer.written().text.removesuffix("\n")


def key_text(key: str) -> str:
    """A key, in quotation marks where it needs them."""
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    return f'"{_ESCAPED.sub(lambda found: _escape(found[0]), text)}"'


def _escape(letter: str) -> str:
    return _SHORT.get(letter) or f"\\u{ord(letter):04x}"


class _Writer:
    """Builds a text and knows where it is."""

    def __init__(self, one_line: bool = False) -> None:
        self._lines: list[str] = []
        self._line = ""
        self._one_line = one_line
        self._spans: list[tuple[Position, Position, str]] = []

    def written(self) -> Written:
        return Written("\n".join([*self._lines, self._line]), self._spans)

    def put(self, text: str) -> None:
        self._line += text

    def end_line(self, indent: int = 0) -> None:
        self._lines.append(self._line)
        self._line = "  " * indent

    def _at(self) -> Position:
        return len(self._lines) + 1, len(self._line) + 1

    def _open(self, path: str) -> int:
        """Begin an entry; its end is set by `_close`."""
        self._spans.append((self._at(), self._at(), path))
        return len(self._spans) - 1

    def _close(self, number: int) -> None:
        begin, _, path = self._spans[number]
        self._spans[number] = (begin, self._at(), path)

    def section(self, header: str, table: Mapping[str, Any], path: str) -> None:
        """A header with the entries of a table."""
        number = self._open(path)
        self.put(header)
        self.end_line()
        for key, item in table.items():
            self.entry(key, item, path, 1)
            self.end_line()
        self._close(number)
        self.end_line()

    def entry(self, key: Any, item: Any, path: str, level: int) -> None:
        """``key = value``."""
        _require_key(key, path)
        name = key_text(key)
        path = f"{path}.{name}" if path else name
        number = self._open(path)
        self.put(f"{name} = ")
        self.value(item, path, level)
        self._close(number)

    def value(self, item: Any, path: str, level: int) -> None:
        """A value, inline."""
        item = _plain(item, path)
        if level > MOST_LEVELS:
            raise _refused(f"it is nested deeper than {MOST_LEVELS} levels", path)
        if isinstance(item, Mapping):
            self._table(item, path, level)
        elif isinstance(item, list):
            self._array(item, path, level)
        else:
            self.put(_scalar(item))

    def _table(self, item: Mapping[str, Any], path: str, level: int) -> None:
        if not item:
            self.put("{}")
            return
        self.put("{ ")
        for index, (key, inner) in enumerate(item.items()):
            self.put(", " if index else "")
            self.entry(key, inner, path, level + 1)
        self.put(" }")

    def _array(self, items: list[Any], path: str, level: int) -> None:
        spread = not self._one_line and any(isinstance(one, Mapping) for one in items)
        self.put("[")
        for index, one in enumerate(items):
            if spread:
                self.end_line(level)
            elif index:
                self.put(" ")
            inner = f"{path}[{index}]"
            number = self._open(inner)
            self.value(one, inner, level + 1)
            self._close(number)
            self.put("," if spread or index + 1 < len(items) else "")
        if spread:
            self.end_line(level - 1)
        self.put("]")


def _scalar(item: bool | int | float | str) -> str:
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return _string(item)
    return repr(item)


def _is_tables(item: Any) -> bool:
    return isinstance(item, list) and bool(item) and all(isinstance(one, Mapping) for one in item)


def _plain(item: Any, path: str) -> Any:
    """A value as a mapping, a list, a text, a number or a boolean.

    Raises:
        BacklaneError: R029.
    """
    if type(item).__module__.split(".")[0] == "numpy" and hasattr(item, "tolist"):
        item = item.tolist()
    if isinstance(item, str):
        return _utf8(str.__str__(item), path)
    if isinstance(item, PathLike):
        return _utf8(fspath(item), path)
    if isinstance(item, tuple | range):
        return list(item)
    if isinstance(item, bool | int | float | list | Mapping):
        # Subclasses, such as members of an enumeration, write themselves in their own ways.
        for kind in (bool, int, float):
            if isinstance(item, kind):
                return kind(item)
        return item
    if item is None:
        raise _refused("None has no value in a scenario", path, "leave the key out")
    raise _refused(
        f"a value of type {type(item).__name__} cannot stand in a scenario", path,
        "give a text, a number, a boolean, a list or a dict",
    )  # fmt: skip


def _utf8(text: str | bytes, path: str) -> str:
    """The text, if it can be written.

    Raises:
        BacklaneError: R029.
    """
    try:
        text = text.decode() if isinstance(text, bytes) else text
        text.encode()
    except UnicodeError as error:
        raise _refused("a text is not UTF-8", path, "remove the surrogate characters") from error
    return text


def _require_key(key: Any, path: str) -> None:
    """Make sure that a key is a text.

    Raises:
        BacklaneError: R029.
    """
    if not isinstance(key, str):
        raise _refused(f"the key {key!r:.40} is no text", path, "keys are texts")
    _utf8(key, path)


def _refused(message: str, path: str, mend: str = "write it in another way") -> BacklaneError:
    return BacklaneError("R029", message, path or None, mend)
