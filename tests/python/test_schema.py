"""The JSON Schema of scenario files: what the simulator accepts passes, and form is checked."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backlane import native

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "examples" / "scenario.schema.json").read_text())
DIAGNOSTICS = ROOT / "crates" / "scenario" / "tests" / "diagnostics"
BASE = """\
duration = "10 s"
[topology]
kind = "chain"
nodes = 3
link = { rate = "10 Mbit/s", delay = "4 ms" }
[[flow]]
kind = "transfer"
from = "enb1"
to = "enb3"
size = "1 MB"
"""

FORM = {
    "S010", "S011", "S012", "S013", "S014", "S015", "S016", "S017", "S018", "S020", "S021",
    "S022", "S023", "S024", "S025", "S060", "S061", "S063", "S080", "S083",
}  # fmt: skip
"""Codes of keys, types, words, units and shapes, which need no more than the place in the file."""


@cache
def validator() -> Any:
    return jsonschema.Draft7Validator(SCHEMA)


def problems(text: str) -> list[str]:
    """Where and why the schema refuses a text that is TOML."""
    found = validator().iter_errors(tomllib.loads(text))
    return [f"{list(one.absolute_path)}: {one.message[:300]}" for one in found]


def accepts(text: str, path: Path) -> bool:
    """Whether the simulator takes it for a scenario."""
    try:
        native.module().check(text, str(path))
    except native.module().ScenarioError:
        return False
    return True


def tracked(*patterns: str) -> list[Path]:
    """Files of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.splitlines()]


def scenario_files() -> list[Path]:
    """Scenarios, but for those with the models of another program, which the simulator refuses."""
    found = tracked("examples/*.toml", "studies/*.toml", "validation/*.toml")
    return [path for path in found if accepts(path.read_text(), path)]


LITERAL = re.compile(r'r#"(.*?)"#|"((?:[^"\\]|\\.)*)"|"""\\?\n(.*?)"""', re.DOTALL)


def literals() -> list[tuple[str, Path]]:
    """Texts in the tests of crates and of Python, and in pages, that look like scenarios."""
    files = tracked("crates/*.rs", "tests/python/*.py")
    found = [
        (raw or block or unescaped(plain), path)
        for path in files
        for raw, plain, block in LITERAL.findall(path.read_text())
    ]
    for page in tracked("*.md"):
        fenced = re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)
        found += [(text, page) for text in fenced]
    return [(text, path) for text, path in found if "duration" in text or "[slotted" in text]


def unescaped(literal: str) -> str:
    """The text of a plain literal in Rust."""
    joined = re.sub(r"\\\n\s*", "", literal)
    simple = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
    return re.sub(r"\\(.)", lambda found: simple.get(found[1], found[0]), joined)


def test_the_schema_is_one_of_draft_7_with_a_name_of_no_host() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"].startswith("urn:backlane:scenario:")
    assert "://" not in json.dumps({**SCHEMA, "$schema": ""})


@pytest.mark.parametrize("path", scenario_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_scenario_of_the_repository_passes(path: Path) -> None:
    assert problems(path.read_text()) == []


@pytest.mark.parametrize("name", [name for name, _ in native.module().template_names()])
def test_a_template_passes(name: str) -> None:
    assert problems(native.module().template(name)[0]) == []


def test_a_valid_text_in_tests_and_pages_passes() -> None:
    valid = [text for text, path in literals() if accepts(text, path)]
    assert len(valid) >= 20
    refused = {text: found for text in valid if (found := problems(text))}
    assert refused == {}


def test_a_scenario_with_every_default_filled_in_passes() -> None:
    seen = 0
    for path in scenario_files():
        text = path.read_text()
        if "\n[sweep" in text:
            continue  # a plan writes out every cell
        plan = json.loads(native.module().plan(text, str(path)))
        resolved = plan["cells"][0]["resolved"]
        if len(resolved) < 1_000_000:
            seen += 1
            assert problems(resolved) == [], path
    assert seen >= 10


def test_the_schema_catches_errors_of_form_and_accepts_mere_warnings() -> None:
    documents = json.loads((DIAGNOSTICS / "documents.json").read_text())
    caught: set[str] = set()
    missed: set[str] = set()
    for code, text in documents.items():
        if code == "S001":  # no TOML
            continue
        if accepts(text, DIAGNOSTICS / "scenario.toml"):
            assert problems(text) == [], code
        else:
            (caught if problems(text) else missed).add(code)
    assert caught == FORM
    # The others are about the network, other files, or how keys go together.
    assert len(missed) == 66


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nodes = 3", "nodes = 3\nrows = 2"),
        ("nodes = 3", "node = 3"),
        ("nodes = 3\n", ""),
        ("chain", "chian"),
        ("kind = \"chain\"\n", ""),
        ("4 ms", "4"),
        ("4 ms", "4 msec"),
        ("4 ms", "-4 ms"),
        ("10 Mbit/s", "10 mbit/s"),
        ("1 MB", "exponential"),
        ("[[flow]]", "[flowz]\n[[flow]]"),
        ("[[flow]]", "[routing]\nhello_interval = \"1 s\"\n[[flow]]"),
        ("[[flow]]", "[sweep]\n\"topology.nodez\" = [3]\n[[flow]]"),
        ("[[flow]]", "[sweep]\nname = [\"a\"]\n[[flow]]"),
        ("[[flow]]", "[sweep]\nrouting.protcol = [\"olsr\"]\n[[flow]]"),
        ("[[flow]]", "[sweep]\n\"flow.0.sise\" = [\"1 MB\"]\n[[flow]]"),
        ("[[flow]]", "[sweep]\n\"topology.nodes\" = []\n[[flow]]"),
        ("[[flow]]", "[sweep]\n\"routing.protocol\" = [\"olrs\"]\n[[flow]]"),
    ],
)  # fmt: skip
def test_what_the_simulator_refuses_by_its_form_is_refused(old: str, new: str) -> None:
    text = BASE.replace(old, new, 1)
    assert text != BASE
    assert not accepts(text, ROOT / "s.toml")
    assert problems(text)


@pytest.mark.parametrize(
    "more",
    [
        '[sweep]\n"flow.0.size" = ["1 MB"]\n"flow.start" = ["0 s", "every 50 ms from 4 s"]\n',
        '[sweep]\nrouting.protocol = ["olsr"]\n',
        '[sweep.routing]\nprotocol = ["olsr"]\nhello_interval = ["1 s"]\n',
        '[routing]\nhello_interval = "1 s"\n[sweep]\n"routing.protocol" = ["olsr", "bp-mr"]\n',
        '[sweep]\n"tcp" = [{ label = "a", sack = true }, { label = "b", sack = false }]\n',
        '[sweep]\n"topology.link.queue.limit" = ["1 bdp", "20 packets"]\n',
        '[sweep]\n" routing . protocol " = ["olsr"]\n',
        '[sweep]\nseeds = [1, 4]\n"access.kind" = ["none"]\n',
    ],
)
def test_a_valid_sweep_passes(more: str) -> None:
    assert accepts(BASE + more, ROOT / "s.toml")
    assert problems(BASE + more) == []


def test_a_key_may_come_from_the_sweep_alone() -> None:
    text = BASE.replace("nodes = 3\n", "") + '[sweep]\n"topology.nodes" = [3, 4]\n'
    assert accepts(text, ROOT / "s.toml")
    assert problems(text) == []
    # What the sweep does not name is still asked for.
    assert problems(text.replace('size = "1 MB"', "bytes = 1"))


def test_a_single_table_stands_for_a_list_of_one() -> None:
    text = BASE.replace("[[flow]]", "[flow]")
    assert accepts(text, ROOT / "s.toml")
    assert problems(text) == []


NUMBERS = st.one_of(
    st.integers(0, 10**6).map(str),
    st.from_regex(r"[+-]?([0-9]{1,3}\.?[0-9]{0,2}|\.[0-9]{1,2})(e[+-]?[0-9])?", fullmatch=True),
)
UNITS = st.sampled_from(
    [
        "ps",
        "ns",
        "us",
        "µs",
        "μs",
        "ms",
        "s",
        "min",
        "h",
        "bit/s",
        "bps",
        "kbps",
        "kB/s",
        "Mbit/s",
        "Mib/s",
        "MiB/s",
        "Gbit/s",
        "B",
        "kB",
        "MB",
        "KiB",
        "GB",
        "bdp",
        "packets",
        "packet",
        "pkts",
        "m",
        "km",
        "um",
        "dBm",
        "dB",
        "Hz",
        "GHz",
        "deg",
        "km/h",
        "mph",
    ]
)
AMOUNTS = st.tuples(NUMBERS, st.sampled_from(["", " ", "  ", "\t"]), UNITS).map("".join)
PHRASES = st.one_of(
    AMOUNTS,
    st.tuples(AMOUNTS, AMOUNTS).map(lambda both: f" uniform  {both[0]} {both[1]}"),
    AMOUNTS.map(lambda one: f"exponential {one} "),
    st.tuples(AMOUNTS, AMOUNTS).map(lambda both: f"every exponential {both[0]} from {both[1]}"),
)
PLACES = [
    ("duration = {}\n", "duration = \"10 s\"\n"),
    ("rate = {}", "rate = \"10 Mbit/s\""),
    ("delay = {}", "delay = \"4 ms\""),
    ("queue = {}, rate", "rate"),
    ("size = {}", "size = \"1 MB\""),
    ("size = \"1 MB\"\nstart = {}", "size = \"1 MB\""),
    ("size = \"1 MB\"\ngap = {}", "size = \"1 MB\""),
    ("nodes = 3\nspacing = {}", "nodes = 3"),
]  # fmt: skip


@given(PHRASES, st.sampled_from(PLACES))
def test_a_quantity_that_the_simulator_reads_passes(phrase: str, place: tuple[str, str]) -> None:
    form, old = place
    text = BASE.replace(old, form.format(json.dumps(phrase, ensure_ascii=False)), 1)
    if accepts(text, ROOT / "s.toml"):
        assert problems(text) == []
