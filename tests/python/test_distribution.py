"""What others install: the files of wheels and of the source distribution, container and recipe.

Nothing is built here. `make wheels` builds, and examines each wheel with the functions that are
tested below; `make tutorial` follows the tutorial from one.
"""

from __future__ import annotations

import re
import shutil
import sys
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from conftest import BASE, Cli
from validation import tutorial_from_wheel, wheels

from backlane import native, shipped
from backlane.studies import catalogue, claims, study

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
INCLUDED = PYPROJECT["tool"]["maturin"]["include"]
MATURIN = next(one for one in PYPROJECT["build-system"]["requires"] if one.startswith("maturin"))


def yaml_of(*parts: str) -> Any:
    """A YAML file of the repository, parsed."""
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(ROOT.joinpath(*parts).read_text("utf-8"))


def below(folder: Path, name: str) -> list[Path]:
    """Write the files that a wheel has under a name below a folder; the written files."""
    written = []
    for known, path in shipped.select(name).items():
        target = folder / known
        target.parent.mkdir(parents=True, exist_ok=True)
        written.append(Path(shutil.copyfile(path, target)))
    return written


# Files.


def test_the_wheel_and_the_source_distribution_have_the_files_of_the_package() -> None:
    both = [one for one in INCLUDED if isinstance(one, str)]
    assert both == [f"python/backlane/shipped/{one}" for one in shipped.PATTERNS]
    for pattern in shipped.PATTERNS:
        assert list(ROOT.glob(pattern)), pattern
        assert list(ROOT.glob(f"python/backlane/shipped/{pattern}")), pattern


def crates_of_the_module() -> set[Path]:
    """The folders of the crates that are compiled into the module."""
    found: set[Path] = set()
    waiting = ["python"]
    while waiting:
        folder = ROOT / "crates" / waiting.pop()
        if folder not in found:
            found.add(folder)
            manifest = tomllib.loads((folder / "Cargo.toml").read_text("utf-8"))
            names = [*manifest.get("dependencies", {}), *manifest.get("build-dependencies", {})]
            waiting += [
                name.removeprefix("backlane-") for name in names if name.startswith("backlane-")
            ]
    return found


def test_the_source_distribution_has_what_crates_embed_from_outside() -> None:
    patterns = [one["path"] for one in INCLUDED if isinstance(one, dict)]
    assert all(one["format"] == "sdist" for one in INCLUDED if isinstance(one, dict))
    embedded = set()
    for crate in crates_of_the_module():
        for source in (crate / "src").rglob("*.rs"):
            for name in re.findall(
                r'include_(?:str|bytes)!\(\s*"([^"]+)"', source.read_text("utf-8")
            ):
                path = (source.parent / name).resolve()
                if not path.is_relative_to(crate):
                    embedded.add(path.relative_to(ROOT).as_posix())
    assert "examples/grid.toml" in embedded
    lacking = [one for one in embedded if not any(fnmatch(one, glob) for glob in patterns)]
    assert lacking == []


def test_every_scenario_and_study_of_a_wheel_is_complete(tmp_path: Path) -> None:
    written = [path for kind in ("examples", "studies") for path in below(tmp_path, kind)]
    assert not [path for path in written if path.suffix == ".png" and "studies" in path.parts]
    scenarios = [
        path
        for path in written
        if path.suffix == ".toml" and "[topology]" in path.read_text("utf-8")
    ]
    assert len(scenarios) > 25
    for path in scenarios:
        native.module().check(path.read_text("utf-8"), str(path))
    folders = [path.parent for path in written if path.name == "study.toml"]
    assert len(folders) == len(list(ROOT.glob("studies/*/*/study.toml")))
    for folder in folders:
        found = study.load(folder)
        assert all(one.file.is_file() for one in found.experiments.values()), folder
        own = study.load(ROOT / folder.relative_to(tmp_path))
        assert len(claims.load(found)) == len(claims.load(own)), folder


def test_the_licences_of_copied_data_come_with_it() -> None:
    for folder in ("examples/storm", "examples/real_backhaul"):
        assert f"{folder}/LICENSE.pycomlink" in shipped.select(folder)


# Reaching them.


def test_init_copies_an_example_with_its_files(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    missing = cli("check", "examples/wifi_mesh/scenario.toml")
    assert "backlane init --copy examples/wifi_mesh" in missing.err
    made = cli("init", "--copy", "examples/wifi_mesh/", "--json").json
    assert made["written"] == [
        "examples/wifi_mesh/scenario.toml",
        "examples/wifi_mesh/sites.csv",
        "examples/scenario.schema.json",
    ]
    for name in made["written"][:2]:
        assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes()
    assert cli("check", "examples/wifi_mesh/scenario.toml").code == 0
    (tmp_path / "examples" / "wifi_mesh" / "sites.csv").write_text("mine\n")
    again = cli("init", "--copy", "examples/wifi_mesh")
    assert (again.code, "R011" in again.err) == (2, True)
    assert (tmp_path / "examples" / "wifi_mesh" / "sites.csv").read_text() == "mine\n"
    assert cli("init", "--copy", "examples/wifi_mesh", "--force").code == 0
    assert (tmp_path / "examples" / "wifi_mesh" / "sites.csv").read_text() != "mine\n"


def test_a_copy_of_an_unknown_name_or_beside_a_template_is_refused(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    unknown = cli("init", "--copy", "examples/storms")
    assert "R015" in unknown.err
    assert 'did you mean "examples/storm/"?' in unknown.err
    for name in ("", "..", "examples/../Cargo.toml", str(ROOT / "Cargo.toml")):
        assert "R015" in cli("init", "--copy", name).err, name
    assert "--copy takes no template" in cli("init", "grid", "--copy", "examples/storm").err
    assert not list(tmp_path.iterdir())


def test_every_name_that_is_listed_can_be_copied(cli: Cli) -> None:
    names = cli("init", "--list", "--json").json["copies"]
    assert {"examples/chain.toml", "examples/storm/", "studies/bp_mr_mesh/"} <= set(names)
    assert all(shipped.select(name) for name in names)
    assert sum(len(shipped.select(name)) for name in names) == len(shipped.files())


def test_a_study_of_an_installed_package_writes_below_results(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, work = tmp_path / "package", tmp_path / "work"
    folder = package / "studies" / "small" / "paper"
    folder.mkdir(parents=True)
    work.mkdir()
    (folder / "study.toml").write_text(
        'title = "Small"\nabout = "One cell."\n'
        '[[experiment]]\nname = "small"\nshows = "a cell"\nmost_seeds = 2\n'
        '[[figure]]\nid = "fig1"\ntitle = "Time"\nkind = "candlesticks"\n'
        'experiment = "small"\nby = "flow.0.size"\n'
    )
    (folder / "small.toml").write_text(
        BASE + '[sweep]\n"flow.0.size" = ["20 kB", "40 kB"]\nseeds = 2\n'
    )
    (folder / "claims.toml").write_text(
        '[[claim]]\nid = "S-1"\nsource = "here"\nstatement = "larger files take longer"\n'
        'weight = "A"\nexperiment = "small"\nrule = "order"\nmetric = "finish_mean"\n'
        'along = "flow.0.size"\nterms = ["20 kB", "40 kB"]\n'
    )
    before = {path: path.read_bytes() for path in package.rglob("*") if path.is_file()}
    monkeypatch.chdir(work)
    monkeypatch.setattr(shipped, "_HERE", package)
    monkeypatch.setattr(catalogue, "_ROOTS", (Path("studies"), shipped.folder("studies")))
    found = cli("reproduce", "small/paper", "--json").json
    assert found["page"] == "results/studies/small/paper/full/all/README.md"
    assert (work / found["page"]).is_file()
    assert {path: path.read_bytes() for path in package.rglob("*") if path.is_file()} == before
    # A copy below the current folder comes first, and gets its page.
    shutil.copytree(folder, work / "studies" / "small" / "paper")
    found = cli("reproduce", "small/paper", "--json").json
    assert found["page"] == "studies/small/paper/README.md"


# Wheels.

GOOD = {
    "--file-header": "  Machine:  Advanced Micro Devices X86-64\n",
    "--dynamic": " 0x1 (NEEDED) Shared library: [libm.so.6]\n (NEEDED) Shared lib: [libc.so.6]",
    "--version-info": "  0x0010:   Name: GLIBC_2.2.5  Flags: none\n  0x0020:   Name: GLIBC_2.28\n",
    "--dyn-syms": "   812: 0000000000251 GLOBAL DEFAULT   11 PyInit__native\n",
}
NAME = "backlane-0.1.0-cp310-abi3-manylinux_2_28_x86_64.whl"


def members() -> set[str]:
    """The files of a wheel."""
    listed = {f"backlane/shipped/{one}" for one in shipped.files()}
    return listed | {"backlane/py.typed", "backlane/_native.pyi", "backlane/shipped/__init__.py"}


def test_a_wheel_that_fits_its_tag_has_no_problems() -> None:
    assert wheels.problems(wheels.TARGETS["x86_64-gnu"], NAME, members(), GOOD) == []
    assert wheels.newest_glibc(GOOD["--version-info"]) == (2, 28)


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("--file-header", "Machine: AArch64", "not for X86-64"),
        ("--dynamic", "(NEEDED) Shared library: [libssl.so.3]", "needs libssl.so.3"),
        ("--dynamic", "(NEEDED) Shared library: [libpython3.11.so.1.0]", "needs libpython3.11"),
        ("--version-info", "Name: GLIBC_2.4 Name: GLIBC_2.34", "needs glibc 2.34"),
        ("--dyn-syms", "GLOBAL DEFAULT PyInit_backlane", "does not export PyInit__native"),
    ],
)
def test_a_module_that_does_not_fit_its_tag_is_found(option: str, text: str, said: str) -> None:
    found = wheels.problems(wheels.TARGETS["x86_64-gnu"], NAME, members(), GOOD | {option: text})
    assert len(found) == 1
    assert said in found[0]


def test_a_wheel_with_another_tag_or_other_files_is_found() -> None:
    target = wheels.TARGETS["x86_64-gnu"]
    for name in ("backlane-0.1.0-cp310-abi3-linux_x86_64.whl", NAME.replace("abi3", "cp310")):
        assert "is not tagged" in wheels.problems(target, name, members(), GOOD)[0]
    few = members() - {"backlane/shipped/examples/chain.toml"}
    assert wheels.problems(target, NAME, few, GOOD) == [
        "it lacks 1 files, as backlane/shipped/examples/chain.toml"
    ]
    more = members() | {"backlane/shipped/studies/p/figures/a.png"}
    assert "studies/p/figures/a.png" in wheels.problems(target, NAME, more, GOOD)[0]
    # A module for musl has no symbols of glibc.
    musl = NAME.replace("manylinux_2_28", "musllinux_1_2")
    elf = GOOD | {"--dynamic": "(NEEDED) Shared library: [libc.so]"}
    found = wheels.problems(wheels.TARGETS["x86_64-musl"], musl, members(), elf)
    assert found == ["its module needs glibc 2.28"]


# The tutorial from a wheel.


def test_the_tutorial_begins_with_an_empty_environment_and_a_wheel() -> None:
    page = tutorial_from_wheel.TUTORIAL.read_text("utf-8")
    commands = [command for command, _ in tutorial_from_wheel.steps(page)]
    assert commands[:4] == [
        "python3 -m venv .venv", ". .venv/bin/activate", "pip install ./backlane-*.whl",
        "backlane doctor",
    ]  # fmt: skip
    assert len(commands) == page.count("```sh\n") + 3
    shown = [text for _, text in tutorial_from_wheel.steps(page) if text]
    assert len(shown) == page.count("```text\n")
    assert set(tutorial_from_wheel.files(page)) == {"sites.csv", "town.toml", "why.py"}


def test_an_output_that_differs_from_the_page_is_found() -> None:
    agrees = tutorial_from_wheel.agrees
    assert agrees("a\nb\n", "a  \nb\n\n")
    assert agrees("a\n…\n", "a\nb\nc\n")
    assert not agrees("a\nb\n", "a\nc\n")
    assert not agrees("a\nb\n…\n", "a\n")
    assert not agrees("a\n", "a\nb\n")


def test_commands_share_one_shell_and_a_failure_ends_them(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    done = tutorial_from_wheel.follow(["X=7", "cd /", "echo $X $PWD"], folder, tmp_path / "a")
    assert [text for _, text in done] == ["", "", "7 /\n"]
    assert all(seconds >= 0 for seconds, _ in done)
    with pytest.raises(SystemExit, match="exit status 3 of: sh -c 'exit 3'"):
        tutorial_from_wheel.follow(["true", "sh -c 'exit 3'", "true"], folder, tmp_path / "b")


# Container, recipe, workflows.


def test_the_container_builds_with_the_backend_of_the_project_and_not_as_root() -> None:
    text = (ROOT / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    steps = [
        line.split(maxsplit=1)
        for line in text.splitlines()
        if line.strip() and not line.startswith("#")
    ]
    words = {"ARG", "FROM", "RUN", "WORKDIR", "COPY", "ENV", "USER", "ENTRYPOINT", "CMD"}
    assert {step[0] for step in steps} <= words
    stages = [rest for word, rest in steps if word == "FROM"]
    assert stages == ["${BUILD_IMAGE} AS build", "${RUN_IMAGE}"]
    assert f"'{MATURIN}'" in text
    images = dict(rest.split("=", 1) for word, rest in steps if word == "ARG")
    oldest = tuple(int(part) for part in PROJECT["requires-python"].removeprefix(">=").split("."))
    version = re.fullmatch(r"python:(\d+)\.(\d+)-slim-\w+", images["RUN_IMAGE"])
    assert version is not None
    assert (int(version[1]), int(version[2])) >= oldest
    last = [rest for word, rest in steps if word in {"USER", "ENTRYPOINT"}]
    assert last == ["backlane", '["backlane"]']
    kept = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.M)
    for name in kept:
        assert list(ROOT.glob(name)), name
    for name in (PROJECT["readme"], *PROJECT["license-files"], "Cargo.lock", "crates/python"):
        assert any(fnmatch(name.split("/")[0], pattern) for pattern in kept), name
    for one in shipped.PATTERNS:
        assert one.split("/")[0] in kept, one


def test_the_recipe_has_the_version_and_the_requirements_of_the_project() -> None:
    recipe = yaml_of("conda", "recipe.yaml")
    assert recipe["package"]["name"] == PROJECT["name"]
    assert recipe["context"]["version"] == PROJECT["version"]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["license_file"] == PROJECT["license-files"]
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert (ROOT / "conda" / recipe["source"]["path"]).resolve() == ROOT
    required = {f"python{PROJECT['requires-python']}"}
    for one in PROJECT["dependencies"]:
        name = one.split(";")[0].strip()
        # The package without the toolkits of windows has this name there.
        required.add(name.replace("matplotlib>", "matplotlib-base>"))
    assert {one.replace(" ", "") for one in recipe["requirements"]["run"]} == required
    assert MATURIN in {one.replace(" ", "") for one in recipe["requirements"]["host"]}


def test_workflows_run_modules_that_exist_and_take_artefacts_that_are_made() -> None:
    paths = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert len(paths) >= 3
    for path in paths:
        workflow = yaml_of(*path.relative_to(ROOT).parts)
        assert workflow[True], path.name  # YAML 1.1 reads the key `on` as true
        jobs = workflow["jobs"]
        for name, job in jobs.items():
            assert job["timeout-minutes"] <= 180, name
            needed = job.get("needs", [])
            needed = [needed] if isinstance(needed, str) else needed
            assert set(needed) <= set(jobs), name
            made = {
                step["with"]["name"]
                for one in needed
                for step in jobs[one]["steps"]
                if step.get("uses", "").startswith("actions/upload-artifact@")
            }
            for step in job["steps"]:
                assert ("run" in step) != ("uses" in step), name
                if step.get("uses", "").startswith("actions/download-artifact@"):
                    assert step["with"]["name"] in made, name
                for module in re.findall(r"python -m (validation\.\w+)", step.get("run", "")):
                    assert find_spec(module) is not None, module


def test_the_workflow_of_wheels_tries_a_wheel_of_each_kind_of_system() -> None:
    jobs = yaml_of(".github", "workflows", "wheels.yml")["jobs"]
    tried = "\n".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    for name in ("x86_64-musl", "aarch64-gnu"):
        target = wheels.TARGETS[name]
        assert f"*-{target.tag}_{target.machine}.whl" in tried, name
    assert "make tutorial" in [step.get("run") for step in jobs["linux"]["steps"]]
    machines = jobs["macos-and-windows"]["strategy"]["matrix"]["machine"]
    assert {one.split("-")[0] for one in machines} == {"macos", "windows"}
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert set(re.findall(r"'(maturin>[^']*)'", makefile + tried)) == {MATURIN}
