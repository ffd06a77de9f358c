"""Fields of JSON, with a coded error that names the path of what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.imports import columns
from backlane.imports.quantities import number

if TYPE_CHECKING:
    from backlane.imports.model import Site
    from backlane.imports.reading import File

_LATITUDES = ("latitude", "lat", "Latitude")
_LONGITUDES = ("longitude", "lon", "lng", "long", "Longitude")
_NESTED = ("location", "position", "coordinates", "geo", "gps", "geometry", "pos", "coords")


def items(file: File, value: Any, path: str) -> list[tuple[str, dict[str, Any]]]:
    """The objects of a list, each with its path.

    Raises:
        BacklaneError: R041 when it is no list of objects.
    """
    if not isinstance(value, list):
        raise file.bad(f"a list is expected, and this is {kind_of(value)}", path)
    found = []
    for index, one in enumerate(value):
        if not isinstance(one, dict):
            raise file.bad(f"an object is expected, and this is {kind_of(one)}", f"{path}[{index}]")
        found.append((f"{path}[{index}]", one))
    return found


def text(file: File, value: Any, path: str) -> str:
    """An id: a text or a whole number.

    Raises:
        BacklaneError: R041.
    """
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**30 else "number"
    if isinstance(value, float) and number(value) is not None:
        return f"{value:g}"
    raise file.bad(f"an id is expected, and this is {kind_of(value)}", path)


def texts(value: Any) -> list[str]:
    """The texts of a list; anything else has none."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def kind_of(value: Any) -> str:
    """What a value is, in words."""
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "an empty text" if not value.strip() else "a text"
    return "a list" if isinstance(value, list) else "an object"


def label(value: dict[str, Any], *keys: str) -> str | None:
    """The first of some fields that is a text."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found.strip():
            return found.strip()
    return None


def locate(file: File, site: Site, value: dict[str, Any], path: str, zero: bool = False) -> None:
    """Set the position of a site from the usual fields of an object, also nested ones.

    Args:
        file: for errors.
        site: to be placed.
        value: the object.
        path: of the object.
        zero: whether 0, 0 is a place; else it stands for a missing one.

    Raises:
        BacklaneError: R044 for a coordinate that is no number.
    """
    for holder in (value, *_holders(value)):
        if isinstance(holder, list):
            pair = [number(part) for part in holder[:2]]
            if len(pair) == 2 and None not in pair:
                found: tuple[float | None, float | None] = pair[1], pair[0]
            else:
                continue
        else:
            first = next((holder[k] for k in _LATITUDES if holder.get(k) not in (None, "")), None)
            second = next((holder[k] for k in _LONGITUDES if holder.get(k) not in (None, "")), None)
            if first is None or second is None:
                continue
            found = number(first), number(second)
            if None in found:
                raise BacklaneError(
                    "R044", "a coordinate that is no number", file.at(path), "write degrees"
                )
        if found == (0, 0) and not zero:
            continue
        site.latitude, site.longitude = found
        return


def _holders(value: dict[str, Any]) -> list[Any]:
    """Nested objects and lists that may hold a position."""
    found: list[Any] = []
    for holder in (value, value.get("properties"), value.get("attributes"), value.get("data")):
        if not isinstance(holder, dict):
            continue
        if holder is not value:
            found.append(holder)
        for key in _NESTED:
            inner = holder.get(key)
            if isinstance(inner, dict):
                found.append(inner)
                if isinstance(inner.get("coordinates"), list):
                    found.append(inner["coordinates"])
            elif isinstance(inner, list):
                found.append(inner)
    return found


def rest(value: dict[str, Any], *used: str) -> dict[str, str]:
    """Plain fields of an object that are kept beside the scenario."""
    found: dict[str, str] = {}
    for key, one in value.items():
        if key in used or len(found) >= 30:
            continue
        if isinstance(one, str) and one.strip():
            found[columns.normal(key)] = one.strip()[:200]
        elif isinstance(one, bool):
            found[columns.normal(key)] = str(one).lower()
        elif number(one) is not None:
            found[columns.normal(key)] = f"{one:g}" if isinstance(one, float) else str(one)[:40]
    return found
