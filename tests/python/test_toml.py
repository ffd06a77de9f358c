"""Python values as TOML, read back by the standard library."""

from __future__ import annotations

import enum
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backlane import toml
from backlane.errors import BacklaneError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
DOCUMENTS = st.dictionaries(TEXTS, VALUES, max_size=6)


@settings(deadline=None)
@given(DOCUMENTS)
def test_a_document_is_read_back_as_it_was(value: dict[str, Any]) -> None:
    assert tomllib.loads(toml.document(value).text) == value


@settings(deadline=None)
@given(VALUES)
def test_a_single_value_stands_on_one_line_and_is_read_back(value: Any) -> None:
    text = toml.value_text(value)
    assert "\n" not in text
    assert tomllib.loads(f"x = {text}") == {"x": value}


def test_the_kinds_of_numbers_stay_apart() -> None:
    read = tomllib.loads(toml.document({"a": 1, "b": 1.0, "c": True, "d": -0.0}).text)
    assert [type(one) for one in read.values()] == [int, float, bool, float]
    assert math.copysign(1, read["d"]) == -1
    assert math.isnan(tomllib.loads(f"x = {toml.value_text(math.nan)}")["x"])


def leaves(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """Every entry that is neither a table nor a list, by its path."""
    if isinstance(value, dict):
        named = [(f"{path}.{toml.key_text(k)}" if path else toml.key_text(k), v)
                 for k, v in value.items()]  # fmt: skip
        return [leaf for name, inner in named for leaf in leaves(inner, name)]
    if isinstance(value, list):
        return [leaf for i, inner in enumerate(value) for leaf in leaves(inner, f"{path}[{i}]")]
    return [(path, value)]


@settings(deadline=None)
@given(DOCUMENTS)
def test_the_place_of_a_value_leads_to_its_path(value: dict[str, Any]) -> None:
    written = toml.document(value)
    lines = written.text.split("\n")
    for path, leaf in leaves(value):
        begin, end = next(span[:2] for span in written.spans if span[2] == path)
        assert begin[0] == end[0]
        shown = lines[begin[0] - 1][begin[1] - 1 : end[1] - 1]
        assert shown.endswith(toml.value_text(leaf))
        assert written.path_at(begin[0], end[1] - 1) == path


def test_paths_name_rows_keys_and_values_within_lists() -> None:
    written = toml.document(
        {
            "name": "x",
            "flow": [{"size": "1 MB"}, {"size": "2 MB"}],
            "sweep": {"routing.protocol": ["a", "b"]},
            "topology": {"link": [{"a": 1}, {"a": 2}]},
        }
    )

    def path_of(text: str) -> str:
        for number, line in enumerate(written.text.split("\n"), 1):
            if text in line:
                return written.path_at(number, line.index(text) + 1)
        raise AssertionError(text)

    assert path_of('"2 MB"') == "flow[1].size"
    assert path_of("[[flow]]") == "flow[0]"
    assert path_of('"b"') == 'sweep."routing.protocol"[1]'
    assert path_of("a = 2") == "topology.link[1].a"
    assert written.path_at(1, 1) == ""


def test_values_of_other_libraries_are_written_as_what_they_hold() -> None:
    class Kind(str, enum.Enum):
        GRID = "grid"

    values = {
        "a": np.int64(3), "b": np.float32(0.5), "c": np.array([[1, 2], [3, 4]]),
        "d": np.bool_(True), "e": Path("a/b.csv"), "f": (1, 2), "g": range(3), "h": Kind.GRID,
    }  # fmt: skip
    assert tomllib.loads(toml.document(values).text) == {
        "a": 3, "b": 0.5, "c": [[1, 2], [3, 4]], "d": True, "e": "a/b.csv", "f": [1, 2],
        "g": [0, 1, 2], "h": "grid",
    }  # fmt: skip


ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(
    ("value", "place", "message"),
    [
        ({"a": [{"b": None}]}, "a[0].b", "None has no value"),
        ({"a": {"b": object()}}, "a.b", "of type object"),
        ({"a": {"b": {1, 2}}}, "a.b", "of type set"),
        ({"a": {1: 2}}, "a", "the key 1 is no text"),
        ({1: 2}, None, "the key 1 is no text"),
        ({"a": "\ud800"}, "a", "not UTF-8"),
        ({"a": ENDLESS}, "a" + "[0]" * 100, "deeper than 100"),
    ],
    ids=["none", "object", "set", "key", "top key", "surrogate", "endless"],
)
def test_what_toml_does_not_have_is_refused_with_its_path(
    value: Any, place: str | None, message: str
) -> None:
    with pytest.raises(BacklaneError, match=message) as refused:
        toml.document(value)
    assert refused.value.code == "R029"
    assert refused.value.place == place
