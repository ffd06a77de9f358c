"""The notebooks of the examples are complete, and run without Jupyter."""

from __future__ import annotations

import ast
import json
import linecache
import re
import time
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))
MOST_S = 60.0
"""CPU time; the slowest takes a tenth of it."""


def cells(path: Path, kind: str) -> list[str]:
    """The texts of the cells of a kind."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == kind]


def execute(path: Path) -> list[Any]:
    """Execute the code cells as a kernel does: one namespace, a file name for each cell.

    Returns:
        The value of the last expression of each cell, or None.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for number, source in enumerate(cells(path, "code")):
        place = f"<{path.stem} {number}>"
        linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, place, "exec"), names)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)
        shown.append(value)
    return shown


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["comparison", "congestion_control", "first_run"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
    for text in cells(path, "markdown"):
        for link in re.findall(r"\]\(([^)#]+)", text):
            assert (path.parent / link).exists(), link


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    plt.close("all")
    before_s = time.process_time()
    shown = [value for value in execute(path) if value is not None]
    assert time.process_time() - before_s < MOST_S
    assert list(tmp_path.iterdir()) == []
    kinds = {type(value).__name__ for value in shown}
    assert "DataFrame" in kinds
    for value in shown:
        if hasattr(value, "_repr_html_"):
            assert "<table" in value._repr_html_()
    printed = capsys.readouterr().out
    if path.stem == "first_run":
        assert "error[S014]" in printed
        assert "overrides['flow.0.size']" in printed
        assert "Results" in kinds
    if path.stem == "comparison":
        assert re.search(r"bp-mr/flow - shortest-path: [+-]0\.\d+ s", printed)
        assert {"Results", "Drawn"} <= kinds
    if path.stem == "congestion_control":
        (lines,) = [figure.axes[0].lines for figure in map(plt.figure, plt.get_fignums())]
        assert [np.size(line.get_xdata()) > 100 for line in lines] == [True, True]
        means = shown[-1]
        own = means.filter(means["flow.0.congestion_control"].str.contains("a_1_0_b_0_5"))
        assert own.height == 2
        assert (means["goodput_bps"] > 1e6).all()
