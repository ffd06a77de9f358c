"""Fixtures: a small campaign, and the command line inside and outside this process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

import backlane.cli

# The suite draws the same examples on every machine.
# `HYPOTHESIS_PROFILE=explore pytest tests/python` draws others, and more of them.
hypothesis.settings.register_profile("suite", derandomize=True, database=None, deadline=None)
hypothesis.settings.register_profile("explore", max_examples=2000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

BASE = """\
name = "small"
duration = "60 s"
seed = 1

[topology]
kind = "grid"
rows = 2
columns = 3
spacing = "200 m"
link = { rate = "100 Mbit/s", delay = "2 ms", queue = "1 bdp" }

[[gateway]]
node = "epc"
attach = ["enb3"]
link = { rate = "1 Gbit/s", delay = "0.5 ms", queue = "1 bdp" }

[[server]]
node = "server"
attach = "epc"
link = { rate = "10 Gbit/s", delay = "5 ms" }

[access]
kind = "ideal"
rate = "50 Mbit/s"
delay = "5 ms"
ues = 4

[routing]
protocol = "shortest-path"

[tcp]
congestion_control = "cubic"

[[flow]]
kind = "download"
size = "200 kB"
from = "server"
to = "ues"
start = "uniform 0 s 1 s"
"""

SWEEP = """
[sweep]
"routing" = [{ protocol = "shortest-path" }, { protocol = "bp-mr", granularity = "flow" }]
"access.ues" = [3, 5]
seeds = 4
"""


@dataclass
class Finished:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Finished]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command line in this process."""

    def run(*words: object) -> Finished:
        capsys.readouterr()
        code = backlane.cli.execute([str(word) for word in words])
        captured = capsys.readouterr()
        return Finished(code, captured.out, captured.err)

    return run


def start(*words: object, **more: Any) -> subprocess.Popen[str]:
    """Start a command line as a separate process."""
    return subprocess.Popen(
        [sys.executable, "-m", "backlane", *(str(word) for word in words)],
        stdout=more.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **more.pop("env", {})},
        **more,
    )


def finish(process: subprocess.Popen[str]) -> Finished:
    """Wait for a process."""
    out, err = process.communicate(timeout=300)
    return Finished(process.returncode, out or "", err or "")


@pytest.fixture
def single(tmp_path: Path) -> Path:
    """A scenario of one run."""
    path = tmp_path / "single.toml"
    path.write_text(BASE)
    return path


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """A campaign of 2 × 2 cells and 4 seeds."""
    path = tmp_path / "sweep.toml"
    path.write_text(BASE + SWEEP)
    return path


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of that campaign; tests must not change them."""
    folder = tmp_path_factory.mktemp("done")
    (folder / "sweep.toml").write_text(BASE + SWEEP)
    backlane.campaign.run(folder / "sweep.toml", folder / "results")
    return folder / "results"
