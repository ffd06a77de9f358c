"""Scenarios as Python gives them: a file, a text or a dict, with overrides.

`read` is the one place that turns them into the text that the compiled module reads. Classes within
a dict or an override become text of the scenario as well (`backlane.class_text`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from backlane import native, toml
from backlane.errors import BacklaneError
from backlane.files import read_scenario

if TYPE_CHECKING:
    from backlane.class_text import ClassText

Scenario: TypeAlias = "str | PathLike[str] | Mapping[str, Any]"
"""A path; a text, which has more than one line; or a dict with the content of a file."""

Overrides: TypeAlias = "Mapping[str, Any] | Sequence[tuple[str, Any]]"
"""Keys with values that take the place of those in the scenario.

Of a mapping, the values are those of Python: ``{"access.ues": 50, "duration": "60 s"}``. Of pairs,
a text is TOML as on the command line, ``("duration", '"60 s"')`` or ``("duration", "60 s")``.
"""

TEXT = "<text>"
"""The name of a scenario that is given as a text."""
DICT = "<dict>"
"""The name of a scenario that is given as a dict."""


@dataclass(frozen=True)
class Source:
    """A scenario as the compiled module takes it.

    Attributes:
        text: TOML.
        name: of the file, for messages; files that the scenario names are relative to its folder.
            Of texts and dicts that is the current one.
        overrides: keys with values in TOML.
        written: the places of the entries of a dict.
        own: the texts of classes that were passed as objects, and need no permission.
    """

    text: str
    name: str
    overrides: list[tuple[str, str]] = field(default_factory=list)
    written: toml.Written | None = field(default=None, repr=False)
    own: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    """The keys of overrides with values of Python."""

    @contextmanager
    def located(self) -> Iterator[None]:
        """Let a ScenarioError name entries of the dict instead of lines of its text."""
        try:
            yield
        except native.module().ScenarioError as error:
            found = self.relocated(error.diagnostics)
            if found != error.diagnostics:
                error.diagnostics = found
                error.rendered = "\n\n".join(one["rendered"] for one in found)
                error.args = (error.rendered,)
            raise

    def relocated(self, diagnostics: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Errors or warnings with paths of entries in place of lines, where there are entries."""
        return [self._relocated(one) for one in diagnostics]

    def _relocated(self, one: dict[str, Any]) -> dict[str, Any]:
        line, column = one.get("line"), one.get("column")
        if line is None or column is None:
            return one
        key = str(one.get("source_line")).partition("=")[0]
        if one["file"] == "--set" and key in self.keys:
            return _placed(one, "overrides", key, f"overrides[{key!r}]")
        if one["file"] == self.name and self.written is not None:
            path = self.written.path_at(line, column)
            if one["code"] == "S011" and " " not in str(one["message"]).removesuffix(" is missing"):
                # The compiled module points at the beginning of the text.
                path = ""
            return _placed(one, self.name, path, path or self.name)
        return one


def _placed(one: dict[str, Any], file: str, path: str, place: str) -> dict[str, Any]:
    """A diagnostic with a path in place of a line."""
    lines = [f"{one['severity']}[{one['code']}]: {one['message']}", f"  --> {place}"]
    lines += [f"   = {one[key]}" for key in ("label", "help") if one.get(key)]
    nowhere = dict.fromkeys(("line", "column", "source_line", "length"))
    return one | nowhere | {"file": file, "path": path, "rendered": "\n".join(lines)}


def read(
    scenario: Scenario | Source, overrides: Overrides = (), axes: Mapping[str, Any] | None = None
) -> Source:
    """Read a scenario with its overrides.

    Args:
        scenario: a path, a text, a dict, or what `read` returned.
        overrides: put in place of values of the scenario.
        axes: further overrides with values of Python, after the others.

    Raises:
        BacklaneError: R003 or R004 when a file cannot be read, R029 when a dict or an override
            holds a value that has no form in TOML, R020 when a class cannot be used.
    """
    if isinstance(scenario, Source):
        return scenario
    classes: dict[str, ClassText] = {}
    pairs = [*_pairs(overrides, classes), *_pairs(axes or {}, classes)]
    written = None
    if isinstance(scenario, Mapping):
        content = _with_texts(scenario, "", classes)
        if classes:
            rows = content.get("python") or []
            content["python"] = [*rows, *(one.row() for one in classes.values())]
        written = toml.document(content)
        text, name = written.text, DICT
    else:
        text, name = _text_of(scenario)
        if classes:
            texts = toml.document({"python": [one.row() for one in classes.values()]})
            text = f"{text.rstrip()}\n{texts.text}"
    own = frozenset(one.source for one in classes.values())
    keys = frozenset([*(overrides if isinstance(overrides, Mapping) else ()), *(axes or {})])
    return Source(text, name, pairs, written, own, keys)


def _text_of(scenario: str | PathLike[str]) -> tuple[str, str]:
    """The text of a file, or a text itself, and its name."""
    if isinstance(scenario, str) and "\n" in scenario:
        return scenario, TEXT
    if not isinstance(scenario, str | PathLike):
        raise BacklaneError(
            "R029", f"a {type(scenario).__name__} is no scenario", None,
            "give a path, a text in TOML, or a dict",
        )  # fmt: skip
    return read_scenario(Path(scenario)), str(scenario)


def _pairs(overrides: Overrides, classes: dict[str, ClassText]) -> list[tuple[str, str]]:
    """Overrides as keys with values in TOML."""
    given = overrides.items() if isinstance(overrides, Mapping) else overrides
    bare = not isinstance(overrides, Mapping)
    pairs = []
    for pair in given:
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)):
            raise BacklaneError(
                "R029", f"{pair!r:.60} is no override", None,
                'give a dict, such as {"access.ues": 50}, or pairs of key and value',
            )  # fmt: skip
        key, value = pair
        if not (bare and isinstance(value, str)):
            value = toml.value_text(_with_texts(value, key, classes), f"overrides[{key!r}]")
        pairs.append((key, value))
    return pairs


def _with_texts(value: Any, key: str, classes: dict[str, ClassText]) -> Any:
    """The value with names in place of classes, which are added to `classes`."""
    if isinstance(value, Mapping):
        return {name: _with_texts(one, _joined(key, name), classes) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_with_texts(one, key, classes) for one in value]
    if isinstance(value, type):
        from backlane import class_text

        found = class_text.of(value)
        number = 1
        while classes.setdefault(found.file, found) != found:
            number += 1
            found = found.numbered(number)
        return found.value_at(key)
    return value


def _joined(key: str, name: Any) -> str:
    return f"{key}.{name}" if key else str(name)
