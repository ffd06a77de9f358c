"""System calls that fail once each: a coded error, nothing lost, nothing half-written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BASE

SCENARIO = (
    BASE.replace('"60 s"', '"2 s"').replace("ues = 4", "ues = 1")
    + """
[record]
series = ["queue"]
interval = "100 ms"
capture = ["epc"]
"""
)
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that lets calls fail."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    path = tmp_path_factory.mktemp("shim") / "faults.so"
    options = ["-shared", "-fPIC", "-O1", "-Wall", "-Werror"]
    subprocess.run([compiler, *options, "-o", path, HERE / "faults.c", "-ldl"], check=True)
    return path


@pytest.mark.parametrize("verb", ["run", "campaign run"])
def test_every_call_that_fails_is_told_and_nothing_is_lost(
    verb: str, shim: Path, tmp_path: Path
) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SCENARIO + ("\n[sweep]\nseeds = 2\n" if verb == "campaign run" else ""))
    words = [*verb.split(), file, "--out", "{out}"]
    if verb == "campaign run":
        words += ["--no-report", "--workers", 1]
    found = subprocess.run(
        [sys.executable, HERE / "faults.py", tmp_path, *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "LD_PRELOAD": str(shim)},
    )
    assert found.returncode == 0, found.stderr
    result = json.loads(found.stdout)
    assert result["wrong"] == []
    assert result["counts"]["flock"] >= 1
    assert min(result["counts"][kind] for kind in ("write", "rename", "fsync", "mkdir")) >= 4
