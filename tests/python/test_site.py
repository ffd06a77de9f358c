"""What the documentation site needs and can be checked without Sphinx.

`make site` builds the site and fails with the first warning. These tests find the usual causes in
seconds, and compare what pages show with what the program prints.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import command_line
import pytest

import backlane

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"
TUTORIAL = ROOT / "docs" / "tutorial.md"
OPTIMUM = ROOT / "docs" / "guides" / "optimum.md"
WEIGHTS = ROOT / "docs" / "guides" / "weights.md"
RECOMMEND = ROOT / "docs" / "guides" / "recommend.md"
UPGRADE = ROOT / "docs" / "guides" / "upgrade.md"
GYM = ROOT / "docs" / "guides" / "gym.md"
COMMAND_LINE = ROOT / "docs" / "reference" / "command_line.md"


def pages() -> set[str]:
    """The pages of the site, without those in its own folder."""
    found = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "STYLE.md")]
    found += [ROOT / name for name in ("SECURITY.md", "crates/lte/data/README.md")]
    found += [path for path in (ROOT / "docs").rglob("*.md") if SITE not in path.parents]
    for folder in ("studies", "validation", "examples", "fuzz"):
        found += (ROOT / folder).rglob("README.md")
    return {path.relative_to(ROOT).as_posix() for path in found}


def toctrees() -> list[tuple[str, bool]]:
    """Each entry of the trees of contents, and whether it is a pattern."""
    entries = []
    for page in SITE.glob("*.md"):
        for tree in re.findall(
            r"^```\{toctree\}\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S
        ):
            for line in tree.splitlines():
                if line and not line.startswith(":"):
                    target = re.sub(r"^.* <(.*)>$", r"\1", line)
                    entries.append((target, ":glob:" in tree))
    return entries


def test_every_page_is_in_a_tree_of_contents() -> None:
    wanted, own, listed = pages(), {path.stem for path in SITE.glob("*.md")}, set()
    for target, pattern in toctrees():
        if target.startswith("api/"):
            continue  # written by the build
        if not target.startswith("/"):
            assert target in own, target
            own.remove(target)
            continue
        found = list(ROOT.glob(f"{target[1:]}.md")) if pattern else [ROOT / f"{target[1:]}.md"]
        assert found, f"no page is {target}"
        listed |= {path.relative_to(ROOT).as_posix() for path in found}
    assert own == {"index"}
    assert wanted - listed == set()
    assert listed - wanted == set()


def test_every_folder_that_a_page_links_to_has_a_list_of_its_files() -> None:
    listed = set(re.findall(r"^```\{folder\} (\S+)$", (SITE / "folders.md").read_text(), re.M))
    linked = set()
    for name in pages():
        page = re.sub(r"```.*?```", "", (ROOT / name).read_text("utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)\s#:]+)\)", page):
            if (target := (ROOT / name).parent / link).is_dir():
                linked.add(target.resolve().relative_to(ROOT).as_posix())
    assert linked == listed


def test_the_page_of_commands_is_that_of_the_program() -> None:
    fresh = command_line.page()
    assert "### backlane campaign run" in fresh
    if os.environ.get("UPDATE_GOLDEN"):
        COMMAND_LINE.write_text(fresh, encoding="utf-8")
    assert COMMAND_LINE.read_text("utf-8") == fresh, "UPDATE_GOLDEN=1 writes the page"


def printed(command: str, folder: Path) -> str:
    """What a command of the tutorial prints on standard output."""
    program, *words = shlex.split(command)
    start = {"backlane": ["-m", "backlane"], "python": []}[program]
    done = subprocess.run(
        [sys.executable, *start, *words],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "\n".join(lines).strip("\n") + "\n"


@pytest.mark.parametrize(
    ("path", "count"),
    [(TUTORIAL, 6), (RECOMMEND, 4), (UPGRADE, 4), (GYM, 3), (WEIGHTS, 1), (OPTIMUM, 1)],
    ids=lambda one: getattr(one, "stem", ""),
)
def test_pages_show_what_their_commands_print(path: Path, count: int, tmp_path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    for name, text in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = []

    def renewed(found: re.Match[str]) -> str:
        command, shown = found["command"], found["shown"]
        commands.append(command)
        fresh = printed(command, tmp_path)
        if shown.endswith("…\n"):  # the page has the first lines only
            kept = max(shown.count("\n") - 1, 1)
            fresh = "".join(fresh.splitlines(keepends=True)[:kept]) + "…\n"
        return found[0].replace(f"```text\n{shown}", f"```text\n{fresh}")

    block = r"^```sh\n(?P<command>[^\n]*)\n```\n\n```text\n(?P<shown>.*?)^```$"
    fresh = re.sub(block, renewed, page, flags=re.DOTALL | re.MULTILINE)
    assert len(commands) == page.count("```text\n") == count
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(fresh, encoding="utf-8")
    else:
        assert fresh == page, "UPDATE_GOLDEN=1 writes the page"


def test_the_description_of_the_package_is_complete_and_agrees_with_itself() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["readme"] == "README.md"
    assert project["version"] == backlane.__version__
    for name in project["license-files"]:
        assert (ROOT / name).is_file(), name
    crates = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]
    assert crates["version"] == project["version"]
    assert crates["license"] == project["license"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (\S+)$", citation, re.M) == [project["version"]]
    assert re.findall(r'^  - name: "(.*)"$', citation, re.M) == [project["authors"][0]["name"]]
    assert re.findall(r"^  - (\S+)$", citation, re.M)[:2] == ["Apache-2.0", "MIT"]


def test_workflows_call_targets_that_exist_and_pin_their_actions() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert workflows
    for path in workflows:
        text = path.read_text("utf-8")
        called = set(re.findall(r"\bmake ([a-z0-9-]+)", text))
        assert called <= targets, path.name
        assert re.search(r"^permissions:\n  contents: read$", text, re.M), path.name
        assert not re.search(r"https?://", text), path.name
        for action in re.findall(r"uses: (\S+)", text):
            assert re.fullmatch(r"actions/[\w-]+@v\d+", action), f"{path.name}: {action}"


def test_the_page_of_features_counts_its_rows() -> None:
    page = (ROOT / "docs" / "concepts" / "features.md").read_text(encoding="utf-8")
    said = re.findall(r"^\| [^|]+ \| (yes|partly|no) \|", page, re.MULTILINE)
    counts = [said.count(word) for word in ("yes", "partly", "no")]
    have, part, missing = counts
    line = f"Of {len(said)} features {have} are there, {part} in part, and {missing} are missing."
    assert line in page
