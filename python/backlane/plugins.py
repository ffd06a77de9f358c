"""Metrics, forms of figures and importers of other packages.

A package announces them as entry points of a group, under the name by which a study or a command
uses them:

    [project.entry-points."backlane.metrics"]
    stalled = "backlane_stalled:STALLED"

A package is imported when one of its names is used, before the first run of a study. A problem with
it is R028, which names the package. Runs that have finished are kept.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from importlib.metadata import EntryPoint
    from pathlib import Path

METRICS = "backlane.metrics"
"""Entry points are instances of `backlane.studies.metrics.Metric`."""
FIGURES = "backlane.figures"
"""Entry points are functions of a `FigureSpec` and the `Runs` of its experiment."""
IMPORTERS = "backlane.importers"
"""Entry points follow the protocol `Importer`."""

T = TypeVar("T")
R = TypeVar("R")


class Importer(Protocol):
    """Converts a file of another program."""

    def __call__(self, source: Path) -> str:
        """The text of a scenario file."""


@dataclass(frozen=True)
class Plugin(Generic[T]):
    """An object of another package.

    Attributes:
        name: of the entry point.
        package: the distribution that announces it.
        value: the object.
    """

    name: str
    package: str
    value: T

    def call(self, function: Callable[[], R]) -> R:
        """Call the code of the package.

        Raises:
            BacklaneError: what the package raised, as R028 if it is another exception.
        """
        try:
            return function()
        except BacklaneError:
            raise
        except Exception as error:
            raise _failure(self.package, f'"{self.name}" raised', error) from error

    def wrong(self, what: str) -> BacklaneError:
        """The error for a wrong object or result."""
        return BacklaneError(
            "R028", f'package {self.package}: "{self.name}" {what}', None, _advice(self.package)
        )


@cache
def _announced(group: str) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))


def names(group: str) -> list[str]:
    """The announced names of a group."""
    return sorted({entry.name for entry in _announced(group)})


def load(group: str, name: str, kind: type[T], built_in: Container[str] = ()) -> Plugin[T] | None:
    """Import the object that a package announces under a name.

    Args:
        group: of the entry points.
        name: of the entry point.
        kind: what the object must be.
        built_in: names that Backlane has itself.

    Returns:
        None if no package announces the name.

    Raises:
        BacklaneError: R028 when the name is taken, the import fails or the object is wrong.
    """
    found = [entry for entry in _announced(group) if entry.name == name]
    if not found:
        return None
    packages = sorted(_package(entry) for entry in found)
    if name in built_in or len(found) > 1:
        others = ["Backlane", *packages[1:]] if name in built_in else packages[1:]
        raise BacklaneError(
            "R028",
            f'package {packages[0]}: the name "{name}" in {group} is also that of '
            f"{' and '.join(others)}",
            None,
            f"uninstall {packages[0]}, or rename the entry point",
        )
    try:
        value = found[0].load()
    except (Exception, SystemExit) as error:
        raise _failure(packages[0], f"{found[0].value} cannot be imported", error) from error
    plugin = Plugin(name, packages[0], value)
    if not isinstance(value, kind):
        raise plugin.wrong(f"is no {kind.__name__}")
    return plugin


def load_function(
    group: str, name: str, built_in: Container[str] = ()
) -> Plugin[Callable[..., Any]] | None:
    """`load`, for what can be called."""
    found: Plugin[Any] | None = load(group, name, object, built_in)
    if found is not None and not callable(found.value):
        raise found.wrong("cannot be called")
    return found


def importer(name: str) -> Importer | None:
    """The importer of a name; None if no package announces it.

    Raises:
        BacklaneError: R028.
    """
    found = load_function(IMPORTERS, name)
    if found is None:
        return None

    def convert(source: Path) -> str:
        text = found.call(lambda: found.value(source))
        if not isinstance(text, str):
            raise found.wrong("gave no text")
        return text

    return convert


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.module


def _failure(package: str, what: str, error: BaseException) -> BacklaneError:
    """An exception of a package, with the place that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else None
    cause = f"{type(error).__name__}: {error}".rstrip(": ")
    return BacklaneError("R028", f"package {package}: {what}: {cause}", place, _advice(package))


def _advice(package: str) -> str:
    return f"upgrade or uninstall {package}; finished runs are kept"
