"""The schema in a language server of TOML: completion, hover and diagnostics."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from test_schema import BASE, SCHEMA, scenario_files
from toml_server import TomlServer

ROOT = Path(__file__).parents[2]
TOMBI = shutil.which("tombi")
pytestmark = pytest.mark.skipif(TOMBI is None, reason="tombi is not installed")
HEAD = "#:schema ./scenario.schema.json\n"
names = (f"file{number}.toml" for number in count())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TomlServer]:
    folder = tmp_path_factory.mktemp("editor")
    shutil.copy(ROOT / "examples" / "scenario.schema.json", folder)
    assert TOMBI is not None
    started = TomlServer([TOMBI, "lsp", "--offline"], folder)
    yield started
    started.close()


def words(*path: str) -> set[str]:
    """The words of a tag in the schema, as the server shows them."""
    at = SCHEMA
    for key in path:
        at = at.get("items", at)["properties"][key]
    return {f'"{word}"' for word in at["enum"]}


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("|\n", {"duration", "topology", "flow", "sweep", "routing"}),
        ("[topology]\n|\n", {"kind", "rows", "nodes", "link"}),
        ('[topology]\nkind = "grid"\n|\n', {"rows", "columns", "spacing", "link"}),
        ('[routing]\nprotocol = "olsr"\n|\n', {"hello_interval", "tc_interval", "metric"}),
        ('[[flow]]\nkind = "transfer"\n|\n', {"from", "to", "size", "start"}),
        ('[topology]\nkind = "grid"\nlink = { | }\n', {"rate", "delay", "queue", "medium"}),
        ("[sweep]\n|\n", {"seeds", "routing", "flow", "access.ues", "routing.protocol"}),
    ],
)
def test_keys_are_offered(text: str, offered: set[str], server: TomlServer) -> None:
    found = server.complete(next(names), HEAD + text)
    assert offered <= set(found)
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('[topology]\nkind = "|"\n', ("topology", "kind")),
        ('[routing]\nprotocol = "|"\n', ("routing", "protocol")),
        ('[access]\nkind = "|"\n', ("access", "kind")),
        ('[[flow]]\nkind = "|"\n', ("flow", "kind")),
    ],
)
def test_exactly_the_words_of_a_tag_are_offered(
    text: str, path: tuple[str, ...], server: TomlServer
) -> None:
    found = server.complete(next(names), HEAD + text)
    assert set(found) == words(*path)


def test_a_key_shows_its_sentence(server: TomlServer) -> None:
    text = '[routing]\nprotocol = "bp-mr"\ngranu|larity = "flow"\n'
    sentence = SCHEMA["properties"]["routing"]["properties"]["granularity"]["description"]
    assert "\n" not in sentence
    assert server.hover(next(names), HEAD + text).startswith(f"{sentence}\n")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("nodes = 3", "nodes = 3\nrows = 2", 6, '["kind", "nodes", "spacing", "link"]'),
        ("nodes = 3\n", "", 3, '"nodes" is required'),
        ("chain", "chian", 4, "must be one of"),
        ("10 Mbit/s", "10 Mbot/s", 6, '"10 Mbot/s" does not match'),
        ('size = "1 MB"', "sise = 1", 11, '"sise" is not allowed'),
    ],
)
def test_a_problem_is_shown_at_its_line(
    old: str, new: str, line: int, message: str, server: TomlServer
) -> None:
    text = HEAD + BASE.replace(old, new, 1)
    found = server.diagnose(next(names), text)
    assert any(at == line and message in said for at, said in found), found


def test_a_key_of_another_kind_is_refused_unless_the_kind_is_swept(server: TomlServer) -> None:
    foreign = BASE + '[routing]\nhello_interval = "1 s"\n'
    assert server.diagnose(next(names), HEAD + foreign)
    swept = foreign + '[sweep]\n"routing.protocol" = ["olsr", "bp-mr"]\n'
    assert server.diagnose(next(names), HEAD + swept) == []


def test_nothing_is_said_of_the_scenarios_of_the_repository(server: TomlServer) -> None:
    said = {}
    for path in scenario_files():
        text = path.read_text()
        lines = [line for line in text.splitlines() if not line.startswith("#:schema")]
        found = server.diagnose(next(names), HEAD + "\n".join(lines) + "\n")
        if found:
            said[str(path.relative_to(ROOT))] = found
    assert said == {}
