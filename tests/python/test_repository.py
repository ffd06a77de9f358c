"""The repository keeps its own rules: layering, determinism, licences, links and sizes."""

from __future__ import annotations

import ast
import importlib.metadata
import io
import json
import re
import subprocess
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rust_imports import circles

import backlane

ROOT = Path(__file__).parents[2]

# What each crate may import of ours. A model never imports another; `routing` implements the
# trait that `net` defines, and `traffic` joins `net` with `tcp` and `coding`.
MODELS = {
    "units", "param", "engine", "radio", "tcp", "coding", "net", "lte", "wifi", "routing",
    "traffic", "slotted", "assignment",
}  # fmt: skip
MAY_IMPORT: dict[str, set[str]] = {
    "units": set(),
    "param": {"units"},
    "engine": {"units"},
    "tcp": {"units", "param"},
    "coding": {"units", "param"},
    "net": {"units", "param", "engine"},
    "radio": {"units", "param", "engine"},
    "lte": {"units", "param", "engine", "radio", "net"},
    "wifi": {"units", "param", "engine", "radio", "net"},
    "routing": {"units", "param", "engine", "net"},
    "traffic": {"units", "param", "engine", "net", "tcp", "coding"},
    "slotted": {"param", "engine"},
    "assignment": {"units", "param"},
    "record": set(),
    "scenario": {"units", "param", "assignment"},
    "world": MODELS | {"record", "scenario"},
    "stats": set(),
    "emulate": {"units", "engine", "world"},
    "linux": {"units", "engine", "net", "scenario", "traffic", "world"},
    "python": {"units", "record", "scenario", "stats", "world", "emulate", "linux"},
    "web": {"record", "scenario", "stats", "world"},
    "testkit": MODELS,
    "bench": MODELS | {"record", "scenario", "world", "testkit"},
    "fuzzing": MODELS | {"record", "scenario", "world"},
}
BELOW_SCENARIO = [*sorted(MODELS), "record"]
"""Crates that never touch a file, the environment, a clock, a thread or a terminal."""
DETERMINISTIC = [*BELOW_SCENARIO, "scenario", "world"]
"""Crates whose every output is part of a result."""

FORBIDDEN = {
    "a file": r"\bstd::fs\b|\bFile::(?:open|create)\b",
    "the environment": r"\bstd::env\b|\boption_env!",
    "a clock": r"\bstd::time\b|\bSystemTime\b|\bInstant::now\b",
    "a thread": r"\bstd::thread\b|\bthread_local!",
    "a terminal": r"\be?print(?:ln)?!|\bdbg!",
    "a socket": r"\bstd::net\b",
    "unsafe code": r"\bunsafe\b",
}

PERMISSIVE = {
    "MIT", "MIT-0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "Zlib", "ISC", "Unicode-3.0",
    "0BSD", "CC0-1.0", "Unlicense", "BSL-1.0", "Apache-2.0 WITH LLVM-exception", "HPND",
    "PSF-2.0", "Python-2.0", "MIT-CMU",
}  # fmt: skip
PERMISSIVE_TEXTS = re.compile(
    r"\b(?:MIT|BSD|Apache|ISC|zlib|HPND|PSF|Python Software Foundation)\b", re.IGNORECASE
)
COPYLEFT_TEXTS = re.compile(r"\b[AL]?GPL|General Public|Mozilla|\bMPL\b|\bEUPL\b", re.IGNORECASE)
"""Both for the classifiers of Python packages without an SPDX expression, and their licence field
where there is no classifier. A classifier covers the package's own code: SciPy (BSD) bundles GCC's
Fortran library, whose exception permits linking; matplotlib's licence is PSF-like."""

UNSAFE = {"crates/coding/src/simd.rs", "crates/engine/src/prefetch.rs"}
"""The module with vector instructions, and the one that prefetches."""

MOST_LINES = 900
LONG_BY_DESIGN = {"docs/reference/scenario.md"}

IDIOMS = [
    r"(?:becomes?|became) of", r"(?:un)?told", r"tells? (?:of|nobody)", r"speaks? of",
    r"hea(?:rs?|rd) of", r"(?:no|any|some)body", r"anew", r"born", r"(?:falls?|fell) nowhere",
    r"reckon(?:s|ed|ing)?", r"beh[eo]ld", r"whatever", r"for want of", r"by way of", r"at hand",
    r"of (?:its|their) own accord", r"looked after", r"strangers?", r"for ever", r"in vain",
    r"so many", r"the least of", r"[wt]hence", r"thereby", r"where(?:in|of)", r"lest",
]  # fmt: skip
"""Phrases for which STYLE.md has a plainer word."""
IDIOM = re.compile(rf"\b(?:{'|'.join(IDIOMS)})\b", re.IGNORECASE)
WRITTEN_BY_PROGRAMS = ("docs/errors.md", "docs/reference/", "studies/")


def run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


@cache
def tracked() -> list[str]:
    """The tracked files that exist in the checkout."""
    try:
        listed = run("git", "ls-files", "-z").split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [name for name in listed if name and (ROOT / name).is_file()]


@cache
def text_of(name: str) -> str:
    """The text of a file; empty if it is not text."""
    try:
        return (ROOT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


@cache
def metadata(*options: str) -> Any:
    command = ["cargo", "metadata", "--format-version", "1", *options]
    try:
        return json.loads(run(*command, "--offline"))
    except subprocess.CalledProcessError:
        return json.loads(run(*command))


def short(package: str) -> str:
    return package.removeprefix("backlane-")


def code_of(source: str) -> str:
    """Rust source without comments, texts and test modules."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'',
        re.DOTALL,
    )
    source = token.sub(lambda found: " " if found[0].startswith("/") else '""', source)
    kept = []
    while (at := source.find("#[cfg(test)]")) >= 0:
        kept.append(source[:at])
        end = re.compile(r"[;{]").search(source, at)
        assert end, "an item follows the attribute"
        place, depth = end.end(), int(end[0] == "{")
        while depth:
            depth += {"{": 1, "}": -1}.get(source[place], 0)
            place += 1
        source = source[place:]
    return "".join([*kept, source])


def crate_sources(crate: str) -> list[str]:
    return [n for n in tracked() if n.startswith(f"crates/{crate}/src/") and n.endswith(".rs")]


def default_hashers(code: str) -> list[str]:
    """Uses of HashMap and HashSet that name no hasher."""
    found = re.findall(r"\bHash(?:Map|Set)(?:::<[^>]*>)?::(?:new|with_capacity|from)\b", code)
    found += re.findall(r"\b(?:RandomState|DefaultHasher)\b", code)
    for use in re.finditer(r"\bHash(Map|Set)\s*(?:::)?\s*<", code):
        place, depth, commas = use.end(), 1, 0
        while depth and place < len(code):
            character = code[place]
            depth += {"<": 1, "(": 1, "[": 1, ">": -1, ")": -1, "]": -1}.get(character, 0)
            commas += depth == 1 and character == "," and code[place + 1 :].lstrip()[0] != ">"
            place += 1
        if commas < (2 if use[1] == "Map" else 1):
            found.append(code[use.start() : place])
    return found


def test_each_crate_imports_only_what_its_row_allows() -> None:
    packages = metadata("--no-deps")["packages"]
    assert {short(package["name"]) for package in packages} == MAY_IMPORT.keys()
    for package in packages:
        crate = short(package["name"])
        for dependency in package["dependencies"]:
            if not dependency["name"].startswith("backlane-"):
                continue
            allowed = MAY_IMPORT[crate]
            if dependency["kind"] == "dev":
                # Scenario files are tested with the keys of all models.
                whole = {"world"} if crate == "scenario" else set()
                allowed = allowed | {crate, "testkit"} | whole
            other = short(dependency["name"])
            assert other in allowed, f"{crate} must not import {other}"


def python_imports(text: str) -> set[str]:
    """The modules that a Python file imports, also within functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_only_the_command_line_imports_its_modules() -> None:
    assert "backlane.cli" in python_imports("def f():\n    from backlane import cli")
    for name in tracked():
        inside = name.startswith("python/backlane/") and name.endswith(".py")
        if inside and not name.startswith(("python/backlane/cli/", "python/backlane/__main__")):
            found = {m for m in python_imports(text_of(name)) if m.startswith("backlane.cli")}
            assert not found, f"{name} imports {found}"


def test_the_rules_for_imports_have_no_circle() -> None:
    done: set[str] = set()
    while ready := {c for c, needs in MAY_IMPORT.items() if c not in done and needs <= done}:
        done |= ready
    assert done == MAY_IMPORT.keys()


@pytest.mark.parametrize("crate", sorted(MAY_IMPORT))
def test_no_files_of_a_crate_import_each_other_in_a_circle(crate: str) -> None:
    found = circles({name: code_of(text_of(name)) for name in crate_sources(crate)})
    assert not found, f"these files of {crate} import each other: {found}"


def test_a_circle_of_imports_is_found() -> None:
    a = "use crate::b::{C, D}; pub struct A;"
    through_the_root = {
        "x/src/lib.rs": "mod a; mod b; pub use a::A;",
        "x/src/a.rs": a,
        "x/src/b.rs": "use super::A; pub struct C; pub struct D;",
    }
    assert circles(through_the_root) == [{"x/src/a.rs", "x/src/b.rs"}]
    by_a_path = through_the_root | {"x/src/b.rs": "pub struct C(crate::A); pub struct D;"}
    assert circles(by_a_path) == [{"x/src/a.rs", "x/src/b.rs"}]
    with_its_parent = {
        "x/src/lib.rs": "mod a; use a::A; struct B;",
        "x/src/a.rs": "use super::B; pub struct A;",
    }
    assert circles(with_its_parent) == [{"x/src/lib.rs", "x/src/a.rs"}]
    one_way = through_the_root | {"x/src/b.rs": "pub struct C; pub struct D;"}
    assert circles(one_way) == []
    undeclared = with_its_parent | {"x/src/lib.rs": "struct B;"}
    assert circles(undeclared) == []


@pytest.mark.parametrize("crate", BELOW_SCENARIO)
def test_nothing_below_the_scenario_reaches_outside(crate: str) -> None:
    sources = crate_sources(crate)
    assert sources
    for name in sources:
        code = code_of(text_of(name))
        for what, pattern in FORBIDDEN.items():
            if what == "unsafe code" and name in UNSAFE:
                continue
            found = re.search(pattern, code)
            assert not found, f"{name} uses {what}: {found[0] if found else ''}"


@pytest.mark.parametrize("crate", DETERMINISTIC)
def test_no_result_depends_on_a_random_hasher(crate: str) -> None:
    for name in crate_sources(crate):
        assert not default_hashers(code_of(text_of(name))), name


@pytest.mark.parametrize("crate", DETERMINISTIC)
def test_no_result_depends_on_the_mathematics_of_the_platform(crate: str) -> None:
    # IEEE 754 rounds sqrt exactly; the others differ between libraries in the last bit.
    inexact = r"\.(?:exp|exp2|exp_m1|ln|ln_1p|log|log2|log10|sin|cos|tan|asin|acos|atan|atan2|sinh"
    inexact += r"|cosh|tanh|cbrt|hypot|powf)\("
    for name in crate_sources(crate):
        found = re.search(inexact, code_of(text_of(name)))
        assert not found, f"{name}: take {found[0] if found else ''} from libm"


def test_these_checks_can_fail() -> None:
    # The bindings may do what the models must not: they measure time and catch panics.
    bindings = "".join(code_of(text_of(name)) for name in crate_sources("python"))
    assert re.search(FORBIDDEN["a clock"], bindings)
    assert re.search(FORBIDDEN["unsafe code"], code_of("unsafe { x }"))
    assert default_hashers("let m: HashMap<u64, Vec<(u8, u8)>> = x;")
    assert default_hashers("HashSet::new()")
    assert not default_hashers("HashMap<u64, E, BuildHasherDefault<K>>")
    code = code_of('// std::fs\nlet a = "std::env"; #[cfg(test)]\nmod t { f(|| { std::fs }); } x')
    assert "std" not in code
    assert code.rstrip().endswith("x")
    assert permissive("(MIT OR GPL-3.0) AND Unicode-3.0")
    assert not permissive("MIT AND GPL-3.0")
    assert permissive("MIT/Apache-2.0")
    assert not permissive("MPL-2.0")


def permissive(expression: str) -> bool:
    """Whether a choice within an SPDX expression is on the list; "/" is the old way for OR."""
    words = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def alternatives() -> bool:
        value = conjunction()
        while words and words[0] == "OR":
            words.pop(0)
            value = conjunction() or value
        return value

    def conjunction() -> bool:
        value = single()
        while words and words[0] == "AND":
            words.pop(0)
            value = single() and value
        return value

    def single() -> bool:
        word = words.pop(0)
        if word == "(":
            value = alternatives()
            assert words.pop(0) == ")"
            return value
        if words and words[0] == "WITH":
            word = f"{word} WITH {words[1]}"
            del words[:2]
        return word in PERMISSIVE

    value = alternatives()
    assert not words, expression
    return value


def test_every_crate_that_is_built_in_has_a_permissive_licence() -> None:
    packages = metadata("--locked")["packages"]
    assert len(packages) > len(MAY_IMPORT)
    for package in packages:
        licence = package["license"]
        assert licence, f"{package['name']} names no licence"
        assert permissive(licence), f"{package['name']}: {licence}"


def runtime_distributions() -> list[importlib.metadata.Distribution]:
    """The installed packages that Backlane needs at run time, and what they need."""
    try:
        waiting = [importlib.metadata.distribution("backlane")]
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("backlane is not installed")
    found: dict[str, importlib.metadata.Distribution] = {}
    while waiting:
        for requirement in waiting.pop().requires or []:
            name = re.match(r"[\w.-]+", requirement)
            if "extra ==" in requirement or not name or name[0].lower() in found:
                continue
            try:
                distribution = importlib.metadata.distribution(name[0])
            except importlib.metadata.PackageNotFoundError:
                continue  # for another platform or an older Python
            found[name[0].lower()] = distribution
            waiting.append(distribution)
    return [found[name] for name in sorted(found)]


def test_every_python_package_at_run_time_has_a_permissive_licence() -> None:
    distributions = runtime_distributions()
    names = {distribution.metadata["Name"].lower() for distribution in distributions}
    assert {"click", "matplotlib", "numpy", "polars", "rich", "scipy"} <= names
    for distribution in distributions:
        fields = distribution.metadata
        name = fields["Name"].lower()
        if "License-Expression" in fields:
            expression = fields["License-Expression"]
            assert permissive(expression), f"{name}: {expression}"
            continue
        classifiers = [c for c in fields.get_all("Classifier") or [] if c.startswith("License")]
        stated = " ".join(classifiers or fields.get_all("License") or [])
        assert PERMISSIVE_TEXTS.search(stated), f"{name}: {stated[:200]}"
        assert not COPYLEFT_TEXTS.search(stated), f"{name}: {stated[:200]}"


def test_no_file_names_a_place_on_somebodys_machine() -> None:
    machine = re.compile(r"(?<![\w.~}/-])/(?:home|root|Users|mnt|media|srv|work|workspace)/\w")
    temporary = re.compile(r"(?<![\w.~}/-])/(?:tmp|var/tmp)/\w")
    index = re.compile(r"index-url|extra-index|replace-with\s*=|https?://(?:localhost|\d+\.\d+\.)")
    for name in tracked():
        text = text_of(name)
        if name == Path(__file__).relative_to(ROOT).as_posix():
            continue
        found = machine.search(text) or index.search(text)
        assert not found, f"{name}: {found[0] if found else ''}"
        if not name.startswith("tests/") and "/tests/" not in name:
            assert not temporary.search(text), name


def test_every_package_in_the_lock_file_is_from_the_public_index() -> None:
    sources = set(re.findall(r'^source = "(.*)"', text_of("Cargo.lock"), re.MULTILINE))
    assert sources == {"registry+https://github.com/rust-lang/crates.io-index"}


def test_no_path_leads_out_of_the_repository() -> None:
    climbing = re.compile(r"(?<![\w./])(?:\.\./)+[\w./-]*")
    for name in tracked():
        # Tests write files into folders of their own and point from there.
        if "tests/" in name:
            continue
        for found in climbing.finditer(text_of(name)):
            place = (ROOT / name).parent / found[0]
            assert place.resolve().is_relative_to(ROOT.resolve()), f"{name}: {found[0]}"


def headings(page: str) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    titles = re.findall(r"^#+ +(.*)$", re.sub(r"```.*?```", "", page, flags=re.DOTALL), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower().strip()).replace(" ", "-") for title in titles}


def test_every_link_between_pages_leads_somewhere() -> None:
    pages = [name for name in tracked() if name.endswith(".md")]
    assert "README.md" in pages
    for name in pages:
        page = re.sub(r"```.*?```|`[^`\n]*`|<!--.*?-->", "", text_of(name), flags=re.DOTALL)
        links = re.findall(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", page)
        links += re.findall(r"""(?:src|href)=["']([^"']+)["']""", page)
        for link in links:
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (ROOT / name).parent / path if path else ROOT / name
            assert target.exists(), f"{name} links to {link}"
            if anchor and target.suffix == ".md":
                anchors = headings(target.read_text(encoding="utf-8"))
                assert anchor in anchors, f"{name} links to {link}"


def prose_of(name: str) -> str:
    """The prose of a file on one line: the text of a page, or comments and docstrings."""
    return " ".join(" ".join(_prose(name, text_of(name))).split())


def _prose(name: str, text: str) -> Iterator[str]:
    if name == "CHANGELOG.md":
        text = text.partition("## Unreleased")[2].partition("\n## ")[0]
    if name.endswith(".md"):
        yield re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    elif name.endswith(".rs"):
        for comment in re.finditer(r"(?:^[ \t]*//.*\n)+|//.*$", text, re.MULTILINE):
            yield re.sub(r"^[ \t]*//[/!]?", "", comment[0], flags=re.MULTILINE)
    elif name.endswith((".py", ".pyi")):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string.lstrip("# ")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                yield str(node.value.value)


def test_prose_is_plain() -> None:
    for name in tracked():
        if name.startswith(WRITTEN_BY_PROGRAMS):
            continue
        prose = prose_of(name)
        found = IDIOM.search(prose)
        place = prose[max(0, found.start() - 40) : found.end() + 40] if found else ""
        assert not found, f"{name}: ...{place}...; STYLE.md has plainer words"


def test_the_words_of_a_comment_are_found_across_its_lines() -> None:
    assert not IDIOM.search("newborn, wherever, a new queue")
    source = '/// What becomes\n/// of it.\nlet x = "told"; // so\n// many'
    prose = " ".join(" ".join(_prose("a.rs", source)).split())
    assert prose == "What becomes of it. so many"
    assert len(IDIOM.findall(prose)) == 2
    page = "Plain.\n```text\ntold\n```\nA `told` key.\n"
    assert not IDIOM.search(" ".join(_prose("a.md", page)))
    module = '"""Says it anew."""\nx = "told"  # nobody\n'
    assert [found[0] for found in IDIOM.finditer(" ".join(_prose("a.py", module)))] == [
        "nobody", "anew",
    ]  # fmt: skip


MODEL_HEADINGS = [
    "What it models", "Sources", "What it leaves out", "How it was validated", "Known divergence",
]  # fmt: skip


def test_every_model_page_has_the_same_headings() -> None:
    pages = [n for n in tracked() if re.match(r"docs/models/((lte|wifi)/)?[^/]+\.md$", n)]
    assert len(pages) >= 7
    for name in pages:
        titles = re.findall(r"^## (.*)$", text_of(name), re.MULTILINE)
        for heading in MODEL_HEADINGS:
            assert any(title.startswith(heading) for title in titles), f"{name}: {heading}"


def test_every_test_that_a_page_names_exists() -> None:
    sources = "".join(text_of(name) for name in tracked() if name.endswith((".rs", ".py")))
    functions = set(re.findall(r"\b(?:fn|def) (\w+)", sources))
    named = 0
    for name in tracked():
        is_page = name.startswith("docs/") and name.endswith(".md")
        if not is_page or name.startswith(WRITTEN_BY_PROGRAMS):
            continue
        # A test's name is a sentence; four words and more are no key of a file.
        for found in re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+){4,})`", text_of(name)):
            assert found in functions, f"{name} names {found}"
            named += 1
    assert named > 30


PAGES_WITH_FILES = [
    "README.md", "docs/concepts/bound.md", "docs/guides/capture.md",
    "docs/guides/custom_congestion_control.md",
    "docs/guides/first_campaign.md", "docs/guides/own_network.md",
    "docs/guides/python_router.md", "docs/guides/replay_a_channel.md",
]  # fmt: skip


@pytest.mark.parametrize("page", PAGES_WITH_FILES)
def test_every_scenario_on_a_page_passes_the_check(page: str, tmp_path: Path) -> None:
    # A block that is a whole file names it after the language.
    files = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", text_of(page), re.DOTALL | re.MULTILINE)
    for name, text in files:
        (tmp_path / name).write_text(text, encoding="utf-8")
    scenarios = [name for name, _ in files if name.endswith(".toml")]
    assert bool(scenarios) == bool(files)
    for name in scenarios:
        assert backlane.check(tmp_path / name) == []


def test_no_file_has_grown_past_one_idea() -> None:
    kinds = (".rs", ".py", ".pyi", ".sh", ".md")
    for name in tracked():
        if name.endswith(kinds) and name not in LONG_BY_DESIGN:
            lines = text_of(name).count("\n")
            assert lines < MOST_LINES, f"{name} has {lines} lines"


def test_every_crate_and_package_opens_with_a_map_of_itself() -> None:
    for crate in MAY_IMPORT:
        source = ROOT / "crates" / crate / "src"
        opening = source / "lib.rs"
        text = (opening if opening.exists() else source / "main.rs").read_text()
        paragraph = re.match(r"(?://!.*\n)*", text)
        assert paragraph, crate
        assert len(re.findall(r"\w+", paragraph[0])) >= 10, f"{crate}: {paragraph[0]!r}"
    for name in tracked():
        if name.startswith("python/backlane/") and name.endswith(".py"):
            assert text_of(name).startswith('"""'), name


def test_the_architecture_page_lists_every_crate_and_package() -> None:
    plan = text_of("docs/architecture.md")
    picture = text_of("docs/architecture.svg")
    for crate in MAY_IMPORT:
        assert f"`{crate}`" in plan, f"crate {crate}"
        assert f">{crate}<" in picture, f"crate {crate}"
    folders = {
        path.parent.relative_to(ROOT / "python" / "backlane").as_posix()
        for path in (ROOT / "python" / "backlane").glob("*/__init__.py")
    }
    assert folders
    for folder in folders:
        assert f"`{folder}/`" in plan, f"python/backlane/{folder}"


def test_pages_of_studies_say_when_an_older_model_or_older_files_made_them() -> None:
    from backlane.studies.age import current, pages

    found = pages(ROOT / "studies")
    assert len(found) >= 7
    for page in found:
        wanted = current(page)
        assert page.read_text() == wanted, f"{page}: run `python -m backlane.studies.age`"


def test_a_page_of_an_older_model_has_a_notice_until_it_is_made_anew() -> None:
    from backlane.studies.age import with_notice

    made = "Made on 2026-01-01 by x with Backlane 0.1.0, model version {}, sources at commit c: 1"
    page = "# A study\n\n" + made
    old, new = page.format(3), page.format(4)
    assert with_notice(new, "4") == new
    assert "Model version 3 made this page; this version of Backlane has 4." in with_notice(
        old, "4"
    )
    assert with_notice(with_notice(old, "4"), "4") == with_notice(old, "4")
    assert with_notice(with_notice(old, "4"), "3") == old
    changed = with_notice(old, "4", changed=True)
    assert "files of this study have changed" in changed
    assert "Model version 3 made this page" in changed
    assert with_notice(changed, "4") == with_notice(old, "4")
    assert with_notice(changed, "3", changed=True).count("> **") == 1
    with pytest.raises(ValueError, match="name its model version"):
        with_notice("# A study\n", "4")
