"""The simulator as WebAssembly against the native one: plans, digests and every cell of all tables.

The module is built by `make playground`. Without it, or without Node, these tests are skipped and
say so. The page itself is tested in a browser by `make test-playground`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from backlane import _native, ranking

ROOT = Path(__file__).parents[2]
ENGINE = Path(os.environ.get("BACKLANE_PLAYGROUND", ROOT / "target" / "playground")) / "engine.wasm"

#: Overrides that make long examples short; the others run as they are.
SHORTER: dict[str, list[tuple[str, str]]] = {
    name: [("flow.0.size", '"300 kB"')]
    for name in (
        "examples/demo/backhaul.toml",
        "examples/demo/grid.toml",
        "examples/granularity.toml",
        "examples/grid.toml",
        "examples/large_grid.toml",
        "examples/lte_backhaul.toml",
        "examples/real_backhaul/scenario.toml",
        "examples/storm/scenario.toml",
    )
}
#: Examples that a tab refuses, by the code.
REFUSED = {"examples/country.toml": "W003", "examples/python_router/grid.toml": "W002"}


def scenarios() -> list[str]:
    """The examples that need no program of their own."""
    found = [*ROOT.glob("examples/*.toml"), *ROOT.glob("examples/*/*.toml")]
    own = {path.parent for path in ROOT.glob("examples/*/Cargo.toml")}
    wanted = [path for path in found if path.parent not in own and path.name != "pyproject.toml"]
    return sorted(path.relative_to(ROOT).as_posix() for path in wanted)


class Page:
    """The engine in Node, asked one request after another."""

    def __init__(self) -> None:
        script = ROOT / "playground" / "tests" / "ask.mjs"
        self.process = subprocess.Popen(
            ["node", str(script), str(ENGINE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        """Ends Node."""
        self.process.communicate()


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    if not ENGINE.exists():
        pytest.skip(f"{ENGINE} is not there: make playground builds it")
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    page = Page()
    yield page
    page.close()


def request(name: str, verb: str) -> dict[str, Any]:
    """A request about an example, with every file beside it that is text."""
    path = ROOT / name
    files: dict[str, str] = {}
    folders = (path.parent, *(one for one in (ROOT / "examples").iterdir() if one.is_dir()))
    for folder in folders:
        for file in sorted(folder.rglob("*")):
            if file.suffix in {".csv", ".down", ".up", ".py"}:
                name_there = Path(os.path.relpath(file, path.parent)).as_posix()
                files[name_there] = file.read_text(encoding="utf-8")
    overrides = SHORTER.get(name, [])
    text = path.read_text(encoding="utf-8")
    return {"do": verb, "text": text, "name": name, "files": files, "overrides": overrides}


def cells(table: dict[str, Any]) -> dict[str, list[Any]]:
    """The columns of a table of the page."""
    return {name: column["values"] for name, column in table["columns"].items()}


def native_cells(table: Any) -> dict[str, list[Any]]:
    """The same of a native table; values that are no finite number are null in JSON."""
    frame = pl.DataFrame(table)
    columns = {}
    for column in frame:
        if column.dtype.is_float():
            column = column.fill_nan(None)
            column = column.replace([float("inf"), float("-inf")], None)
        columns[column.name] = [
            str(value) if isinstance(value, int) and value > 2**53 else value
            for value in column.to_list()
        ]
    return columns


@pytest.mark.parametrize("name", [one for one in scenarios() if one not in REFUSED])
def test_the_page_gives_the_native_results(page: Page, name: str) -> None:
    answer = page.ask(request(name, "plan"))
    assert "ok" in answer, answer
    plan = answer["ok"]
    text = (ROOT / name).read_text(encoding="utf-8")
    native = json.loads(_native.plan(text, str(ROOT / name), SHORTER.get(name, [])))
    assert plan["scenario_hash"] == native["scenario_hash"]
    assert [run["run_id"] for run in plan["runs"]] == [run["run_id"] for run in native["runs"]]
    # The first run and that of the last cell.
    chosen = {run["cell"]: run for run in reversed(plan["runs"])}
    for run in (chosen[min(chosen)], chosen[max(chosen)]):
        resolved = plan["cells"][run["cell"]]["resolved"]
        ran = page.ask({"do": "run", "resolved": resolved, "seed": run["seed"], "series": True})
        assert "ok" in ran, ran
        there = ran["ok"]
        here = _native.run(native["cells"][run["cell"]]["resolved"], int(run["seed"]))
        assert there["summary"]["digest"] == here.summary["digest"]
        assert set(there["tables"]) == set(here.tables)
        for table, columns in here.tables.items():
            assert cells(there["tables"][table]) == native_cells(columns), table
        for series, columns in here.series.items():
            assert cells(there["series"][series]) == native_cells(columns), series


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_a_tab_cannot_run_is_refused_with_a_reason(page: Page, name: str) -> None:
    answer = page.ask(request(name, "plan"))
    assert answer["error"]["code"] == REFUSED[name]
    assert answer["error"]["help"]
    explained = page.ask({"do": "explain", "code": REFUSED[name]})
    assert explained["ok"]


def test_contenders_and_conditions_are_those_of_the_package(page: Page) -> None:
    plan = page.ask(request("examples/demo/grid.toml", "plan"))["ok"]
    assert (plan["parameters"], plan["choices"]) == (["routing", "access.ues"], ["routing"])


def test_a_seed_beyond_what_javascript_can_count_is_kept(page: Page) -> None:
    seed = 2**62 + 1
    asked = request("examples/chain.toml", "plan") | {"seed": str(seed)}
    plan = page.ask(asked)["ok"]
    assert plan["seeds"] == [str(seed)]
    resolved = plan["cells"][0]["resolved"]
    there = page.ask({"do": "run", "resolved": resolved, "seed": str(seed)})["ok"]
    assert there["summary"]["digest"] == _native.run(resolved, seed).summary["digest"]


def test_a_file_that_is_not_attached_is_a_diagnostic_with_a_place(page: Page) -> None:
    asked = request("examples/wifi_mesh/scenario.toml", "check") | {"files": {}}
    answer = page.ask(asked)
    assert answer["error"]["code"] == "S002"
    assert answer["diagnostics"][0]["line"] > 0
    assert "attach" in answer["diagnostics"][0]["label"]


def test_a_request_that_is_none_is_an_error(page: Page) -> None:
    assert page.ask({"do": "dance"})["error"]["code"] == "W001"
    seed = page.ask({"do": "run", "resolved": "", "seed": "first"})
    assert seed["error"]["code"] == "W001"


def test_the_page_ranks_as_the_package_does(page: Page) -> None:
    contenders = {
        "slow": {1: 2.0, 2: 2.1, 3: 1.9},
        "fast": {1: 1.0, 2: 1.1, 3: 0.9},
        "same": {1: 1.001, 2: 1.101, 3: 0.901},
        "many": {seed: 1.0 + seed % 5 for seed in range(1, 13)},
    }
    listed = [
        {"name": name, "values": {str(seed): value for seed, value in values.items()}}
        for name, values in contenders.items()
    ]
    rows = page.ask({"do": "rank", "contenders": listed})["ok"]
    for row, standing in zip(rows, ranking.rank(contenders), strict=True):
        assert (row["name"], row["verdict"]) == (standing.name, standing.verdict)
        assert row["seeds_needed"] == standing.seeds_needed
        value = standing.value
        found = [row["value"][end] for end in ("mean", "low", "high")]
        assert found == [value.mean, value.low, value.high]
    turned = page.ask({"do": "rank", "contenders": listed, "more": True, "limits": [0, 3]})["ok"]
    assert turned[0]["name"] == "many"
    assert all(row["value"]["high"] <= 3 for row in turned)
    assert turned[1]["behind"]["mean"] < 0
