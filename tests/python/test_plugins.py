"""Metrics, forms of figures and importers that other packages announce as entry points."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import BASE, Cli

from backlane import plugins
from backlane.errors import BacklaneError
from backlane.results import Results
from backlane.studies import metrics
from backlane.studies.view import views

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXAMPLE = Path(__file__).parents[2] / "examples" / "custom_metric"

Install = Callable[[str, str, dict[str, dict[str, str]]], Path]


def clear() -> None:
    plugins._announced.cache_clear()
    metrics.find.cache_clear()
    importlib.invalidate_caches()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Adds packages to the path as an installation does: a module, and what it announces."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    before = set(sys.modules)

    def add(name: str, source: str, groups: dict[str, dict[str, str]]) -> Path:
        module = site / f"{name.replace('-', '_')}.py"
        module.write_text(source)
        info = site / f"{module.stem}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = []
        for group, points in groups.items():
            lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        clear()
        return module

    yield add
    for module in set(sys.modules) - before:
        if (site / f"{module}.py").exists():
            del sys.modules[module]
    shutil.rmtree(site)
    clear()


@pytest.fixture
def example(install: Install) -> None:
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    source = (EXAMPLE / "backlane_stalled.py").read_text()
    install("backlane-stalled", source, project["entry-points"])


STUDY = """\
title = "Silences"
about = "Four UEs."
[[experiment]]
name = "small"
shows = "everything"
[[figure]]
id = "fig1"
title = "Longest silences"
kind = "silences"
experiment = "small"
by = "flow.0.size"
"""
CLAIM = """\
[[claim]]
id = "T-1"
source = "here"
statement = "no flow stalls"
weight = "A"
experiment = "small"
rule = "band"
low = 0
high = 0
metric = "stalled"
terms = [{}]
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "silences"
    folder.mkdir()
    sweep = '[sweep]\n"flow.0.size" = ["50 kB", "100 kB"]\nseeds = 2\n'
    (folder / "small.toml").write_text(BASE + sweep)
    (folder / "study.toml").write_text(STUDY)
    (folder / "claims.toml").write_text(CLAIM)
    return folder


@pytest.mark.usefixtures("example")
def test_a_study_uses_the_metric_and_the_figure_of_the_example(
    study: Path, tmp_path: Path, cli: Cli
) -> None:
    store = tmp_path / "store"
    done = cli("reproduce", str(study), "--store", str(store), "--json")
    assert done.code == 0, done.err
    (claim,) = json.loads(done.out)["claims"]
    assert claim["outcome"] == "reproduced"
    rows = (study / "figures" / "fig1.csv").read_text().splitlines()
    assert rows[0] == "flow.0.size,longest_silence_s"
    # Four flows, two sizes, two seeds.
    assert len(rows) == 1 + 16
    results = Results.open(next(path.parent for path in store.rglob("manifest.json")))
    metric = metrics.get("stalled")
    for view in views(results):
        late = [flow["longest_silence_s"] > 1.0 for flow in view.flows]
        assert metric.of(view) == sum(late) / 4


def test_a_name_that_is_taken_is_refused(install: Install) -> None:
    install("one", "", {plugins.METRICS: {"jain": "one:JAIN", "goodput": "one:G"}})
    for name in ("jain", "goodput"):
        with pytest.raises(BacklaneError, match=rf'package one: .*"{name}".* Backlane') as raised:
            metrics.require(name, "claim A")
        assert raised.value.code == "R028"
    assert metrics.require("hops_mean", "claim A") is metrics.METRICS["hops_mean"]
    install("two", "", {plugins.METRICS: {"late": "two:LATE"}})
    install("three", "", {plugins.METRICS: {"late": "three:LATE"}})
    with pytest.raises(BacklaneError, match=r'package three: the name "late" .* of two$'):
        metrics.require("late", "claim A")


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("import not_installed", "ModuleNotFoundError: No module named 'not_installed'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("", "AttributeError: module 'broken' has no attribute 'IT'"),
        ("IT = 5", "is no Metric"),
    ],
)
def test_a_package_that_cannot_be_used_is_named_before_the_first_run(
    source: str, cause: str, install: Install, study: Path, tmp_path: Path, cli: Cli
) -> None:
    install("broken", source, {plugins.METRICS: {"stalled": "broken:IT"}})
    found = cli("reproduce", str(study), "--store", str(tmp_path / "store"))
    assert found.code == 2
    assert "error[R028]: package broken: " in found.err
    assert cause in found.err
    assert not list((tmp_path / "store").rglob("run.json"))


def test_a_metric_that_raises_is_named_and_the_runs_are_kept(
    install: Install, study: Path, tmp_path: Path, cli: Cli
) -> None:
    source = "from backlane.studies.metrics import Metric\n"
    source += "def of(view):\n    return 1 / 0\n"
    source += "M = Metric('', 1, 'nothing', of)\nF = print\n"
    points = {plugins.METRICS: {"stalled": "raising:M"}, plugins.FIGURES: {"silences": "raising:F"}}
    module = install("raising", source, points)
    found = cli("reproduce", str(study), "--store", str(tmp_path / "store"))
    assert found.code == 2
    wanted = 'error[R028]: package raising: "stalled" raised: ZeroDivisionError: division by zero'
    assert wanted in found.err
    assert f"{module}:3" in found.err
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("run.json")}
    assert len(stored) == 4
    # Without the package's metric the same runs serve.
    (study / "claims.toml").write_text(CLAIM.replace("stalled", "unfinished"))
    found = cli("reproduce", str(study), "--store", str(tmp_path / "store"))
    assert 'package raising: "silences" gave no list of figures' in found.err
    again = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("run.json")}
    assert again == stored


def test_an_unknown_metric_lists_those_of_packages(install: Install) -> None:
    install("one", "", {plugins.METRICS: {"late": "one:LATE"}})
    with pytest.raises(BacklaneError) as raised:
        metrics.require("nothing", "claim A")
    assert raised.value.code == "R022"
    assert raised.value.mend is not None
    assert raised.value.mend.endswith(", late")


def test_an_importer_gives_the_text_of_a_scenario(install: Install, tmp_path: Path) -> None:
    source = "def good(path):\n    return path.name\ndef bad(path):\n    return 5\nwrong = 5\n"
    points = {name: f"reader:{name}" for name in ("good", "bad", "wrong")}
    install("reader", source, {plugins.IMPORTERS: points})
    good, bad = plugins.importer("good"), plugins.importer("bad")
    assert good is not None
    assert good(tmp_path / "a.ned") == "a.ned"
    assert bad is not None
    with pytest.raises(BacklaneError, match='package reader: "bad" gave no text'):
        bad(tmp_path / "a.ned")
    with pytest.raises(BacklaneError, match='package reader: "wrong" cannot be called'):
        plugins.importer("wrong")
    assert plugins.importer("other") is None
