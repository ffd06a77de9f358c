"""Results in notebooks: joined frames, pandas, HTML, figures and progress."""

from __future__ import annotations

import builtins
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import polars as pl
import pytest
from conftest import BASE

import backlane
from backlane import BacklaneError, frames, progress
from backlane.stats import mean_interval


def test_a_joined_table_has_the_values_of_its_run_in_front(done: Path) -> None:
    results = backlane.load(done)
    flows = results.joined()
    front = ["run_id", "cell", "seed", "routing", "access.ues"]
    assert flows.columns == [*front, *results.flows.columns[1:]]
    assert flows.height == results.flows.height
    for key, run in results.runs.partition_by("run_id", as_dict=True).items():
        mine = flows.filter(pl.col("run_id") == key[0])
        assert mine.height == run["access.ues"][0]
        assert mine.select(front).unique().rows() == run.select(front).rows()
        own = results.flows.filter(pl.col("run_id") == key[0])
        assert mine.select(own.columns).equals(own)
    assert results.joined("runs").equals(results.runs)
    assert results.joined("links").height == results.links.height
    assert set(results.tables()) >= {"runs", "flows", "links", "nodes"}


def test_cells_that_share_runs_each_have_their_rows() -> None:
    over = {"routing": [{"label": one, "protocol": "olsr"} for one in "ab"]}
    results = backlane.sweep(BASE, over, seeds=2)
    flows = results.joined()
    assert flows.height == 2 * results.flows.height
    parts = [flows.filter(pl.col("routing") == one).drop("routing", "cell") for one in "ab"]
    assert parts[0].equals(parts[1])


def test_a_name_that_both_tables_have_is_kept_twice(done: Path) -> None:
    results = backlane.load(done).in_memory()
    renamed = results.runs.rename({"access.ues": "hops_mean"})
    results.manifest["parameters"] = ["routing", "hops_mean"]
    results._tables["runs"] = renamed
    assert {"hops_mean", "hops_mean of flows"} <= set(results.joined().columns)


def test_pandas_has_the_same_values(done: Path) -> None:
    pytest.importorskip("pandas")
    results = backlane.load(done)
    for name in results.tables():
        frame, table = results.joined(name), results.to_pandas(name)
        assert list(table.columns) == frame.columns
        for column in frame:
            kind = table[column.name].dtype
            if column.dtype.is_integer():
                assert str(kind) in ("int64", "Int64", "uint32"), column.name
            gaps = table[column.name].isna().tolist()
            values = [
                None if gap else value for gap, value in zip(gaps, table[column.name], strict=True)
            ]
            assert values == column.to_list(), column.name


def test_pandas_keeps_integers_with_gaps() -> None:
    pytest.importorskip("pandas")
    table = frames.to_pandas(pl.DataFrame({"a": [1, None], "b": [1.5, None], "c": ["x", None]}))
    assert [str(kind) for kind in table.dtypes][:2] == ["Int64", "float64"]
    assert table["a"].isna().tolist() == [False, True]


def test_without_pandas_the_error_says_what_to_install(
    done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(BacklaneError, match="pandas is not installed") as refused:
        backlane.load(done).to_pandas()
    assert refused.value.code == "R049"


class Cells(HTMLParser):
    """The texts of a table, row by row; fails for tags that are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert not attrs
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_the_table_of_a_notebook_has_the_means_of_each_cell(done: Path) -> None:
    results = backlane.load(done)
    header, *rows = Cells(results._repr_html_()).rows
    assert header[:3] == ["routing", "access.ues", "seeds"]
    assert [row[:3] for row in rows] == [
        [str(cell["routing"]), str(cell["access.ues"]), "4"] for cell in results.cells
    ]
    means = (
        results.joined()
        .filter(pl.col("cell") == 0)
        .group_by("seed")
        .agg(pl.col("finish_time_s").mean())["finish_time_s"]
    )
    around = mean_interval(means.sort().to_list())
    assert rows[0][3].split(" ")[0] == f"{around.mean * 1e3:.0f}"
    assert rows[0][3].endswith("ms]")


def test_results_and_figures_have_a_short_description(done: Path) -> None:
    results = backlane.load(done)
    assert repr(results) == f"<Results of 'small': 16 of 16 runs, 4 cells, {str(done)!r}>"
    assert "in memory" in repr(results.in_memory())
    assert len(repr(results.figure("rtt"))) < 300


def test_names_in_html_are_text() -> None:
    evil = "<script>alert(1)</script>"
    over = {"routing": [{"label": evil, "protocol": "olsr"}]}
    results = backlane.sweep(BASE.replace('"small"', f'"{evil}"'), over, seeds=1)
    page = results._repr_html_()
    assert "script" not in Cells(page).tags
    assert page.count("&lt;script&gt;") == 2


def test_many_cells_are_cut() -> None:
    over = {"access.ues": [1], "flow.0.size": [f"{size} kB" for size in range(1, 43)]}
    page = backlane.sweep(BASE, over, seeds=1)._repr_html_()
    assert len(Cells(page).rows) == 1 + frames.MOST_ROWS
    assert "and 2 more cells" in page


@pytest.mark.parametrize("metric", frames.FIGURES)
def test_a_figure_is_one_call(metric: str, done: Path) -> None:
    results = backlane.load(done)
    drawn = results.figure(metric)
    assert drawn.png.startswith(b"\x89PNG")
    assert drawn._repr_png_() == drawn.png
    assert drawn.csv.count("\n") == 1 + len(results.cells)
    assert results.in_memory().figure(metric).png == drawn.png


def test_the_figure_of_goodput_has_the_goodputs_of_the_flows(done: Path) -> None:
    results = backlane.load(done)
    line = results.figure("goodput").csv.splitlines()[1].split(",")
    flows = results.joined().filter(pl.col("cell") == 0)
    means = flows.group_by("seed").agg(pl.col("goodput_bps").mean())["goodput_bps"]
    assert float(line[5]) == pytest.approx(means.mean() / 1e6)  # type: ignore[operator]
    assert line[2] == "4"


@pytest.mark.parametrize(("metric", "part"), [("colour", 1), ("rtt", 2), ("rtt", 0)])
def test_a_figure_that_does_not_exist_is_refused(metric: str, part: int, done: Path) -> None:
    with pytest.raises(BacklaneError) as refused:
        backlane.load(done).figure(metric, part)
    assert refused.value.code == "R030"


class Notebook:
    """A stand-in for IPython with a kernel; records what is displayed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown: list[str] = []
        module, display = ModuleType("IPython"), ModuleType("IPython.display")
        module.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
        display.HTML = str  # type: ignore[attr-defined]
        display.display = self.display  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", module)
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
        monkeypatch.setattr(progress, "STEP_S", 0.0)

    def display(self, html: str, display_id: bool) -> Any:
        assert display_id
        self.shown.append(html)
        return SimpleNamespace(update=self.shown.append)


def test_a_notebook_shows_one_bar_and_removes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Notebook(monkeypatch)
    backlane.sweep(BASE.replace('"small"', '"<b>"'), seeds=3)
    assert page.shown[-1] == ""
    assert all(one.startswith("<progress") for one in page.shown[:-1])
    assert "&lt;b&gt;: " in page.shown[0]
    page.shown.clear()
    backlane.sweep(BASE, seeds=1, progress=False)
    assert page.shown == []


def test_a_script_shows_progress_if_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    monkeypatch.setattr(progress, "STEP_S", 0.0)
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    backlane.run(BASE)
    assert capsys.readouterr().err == ""
    backlane.sweep(BASE, seeds=2, progress=True)
    assert "small: " in capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress.shown(True, "x", 10, "runs") as bar:
        assert bar is not None
        bar.update(1, "")
        bar.update(20, "\x1b[31m")
    written = capsys.readouterr().err
    assert "about 0 s left" in written
    assert "\x1b" not in written
    assert written.endswith("\r")


def test_importing_the_package_needs_neither_pandas_nor_ipython() -> None:
    assert not hasattr(builtins, "get_ipython")
    assert not progress.in_notebook()
