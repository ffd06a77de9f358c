"""The guide to Python shows what its code prints; the examples of docstrings run."""

from __future__ import annotations

import contextlib
import doctest
import io
import linecache
import os
import re
from pathlib import Path
from typing import Any

import pytest

import backlane

GUIDE = Path(__file__).parents[2] / "docs/guides/python.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_guide_shows_what_its_code_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = GUIDE.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    printed, made = "", []
    for number, found in enumerate(BLOCK.finditer(page)):
        language, text = found.groups()
        if language == "text":
            made.append((found, printed))
            continue
        place = f"<guide {number}>"
        linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(text, place, "exec"), names)
        printed = out.getvalue()
    assert len(made) >= 4
    if os.environ.get("UPDATE_GOLDEN"):
        for found, new in reversed(made):
            page = page[: found.start(2)] + new + page[found.end(2) :]
        GUIDE.write_text(page, encoding="utf-8")
    else:
        for found, new in made:
            assert found[2] == new


def test_the_example_of_the_package_runs() -> None:
    found = doctest.testmod(backlane)
    assert found.failed == 0
    assert found.attempted >= 3
