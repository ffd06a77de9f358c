"""Campaigns on Dask and as job arrays: the same results as on threads, also when workers die."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from backlane import campaign
from backlane.campaign import on_dask, on_slurm, units
from backlane.campaign.executors import Executor
from backlane.campaign.plan import make_plan
from backlane.campaign.pool import Outcome
from backlane.campaign.store import Store
from backlane.errors import BacklaneError
from backlane.files import make_folder

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")

SCENARIO = """
name = "cheap"
duration = "1 s"
[topology]
kind = "graph"
node = [{ id = "a" }, { id = "b" }]
link = [{ a = "a", b = "b", rate = "10 Mbit/s", delay = "1 ms" }]
[[flow]]
kind = "transfer"
from = "a"
to = "b"
size = "50 kB"
start = "uniform 0 s 100 ms"
[sweep]
"tcp.congestion_control" = ["cubic", "reno"]
seeds = 20
"""

MEASURED = ("wall_s", "cpu_s", "threads")
"""Columns of the cost of a run, which differ from one execution to the next."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("threads")
    campaign.run(SCENARIO, folder)
    return folder


def require_equal(folder: Path, other: Path) -> None:
    for name in ("runs", "flows", "links", "nodes"):
        mine, theirs = (pl.read_parquet(path / f"{name}.parquet") for path in (folder, other))
        assert mine.drop(MEASURED, strict=False).equals(theirs.drop(MEASURED, strict=False)), name
        assert mine["run_id"].n_unique() == 40


def code_of(error: pytest.ExceptionInfo[BacklaneError]) -> str:
    return error.value.code


def test_workers_of_dask_give_the_tables_of_threads(tmp_path: Path, undisturbed: Path) -> None:
    result = campaign.run(SCENARIO, tmp_path, executor="dask", workers=2)
    assert len(result.outcome.finished) == 40
    require_equal(tmp_path, undisturbed)
    again = campaign.run(SCENARIO, tmp_path, executor="dask", workers=2)
    assert (again.outcome.finished, again.outcome.reused) == ([], 40)


def test_a_killed_worker_costs_no_run_and_counts_none_twice(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []

    def kill_one() -> None:
        store = Store(tmp_path)
        while not killed:
            time.sleep(0.002)
            done = len(list(store.runs.glob("[0-9a-f]*"))) if store.runs.is_dir() else 0
            if done >= 5:
                workers = [
                    child.pid
                    for child in psutil.Process().children()
                    if any("spawn_main" in word for word in child.cmdline())
                ]
                os.kill(workers[0], signal.SIGKILL)
                killed.append(workers[0])

    # Many small units, so that some are in flight when the worker dies.
    monkeypatch.setattr(units, "divide", lambda _p, runs, _w, _m=None: [[r.run_id] for r in runs])
    thread = threading.Thread(target=kill_one, daemon=True)
    thread.start()
    result = campaign.run(SCENARIO, tmp_path, executor="dask", workers=2)
    thread.join(10)
    assert killed, "no worker was found"
    assert sorted(result.outcome.finished) == sorted(set(result.outcome.finished))
    assert len(result.outcome.finished) == 40
    require_equal(tmp_path, undisturbed)


def claimed(folder: Path) -> Any:
    plan = make_plan(SCENARIO)
    make_folder(folder)
    campaign.claim(folder, plan)
    make_folder(Store(folder).runs)
    return plan


def test_a_unit_that_is_executed_again_runs_nothing_twice(tmp_path: Path) -> None:
    plan = claimed(tmp_path)
    ids = [run.run_id for run in plan.runs[:3]]
    first = units.execute(str(tmp_path), ids, units.here())
    again = units.execute(str(tmp_path), ids, units.here())
    assert (first.finished, first.stored) == (ids, [])
    assert (again.finished, again.stored) == ([], ids)


def test_units_are_at_most_as_many_as_asked_and_hold_each_run_once(tmp_path: Path) -> None:
    plan = make_plan(SCENARIO)
    for workers, most in ((1, None), (3, None), (50, None), (4, 5)):
        divided = units.divide(plan, plan.runs, workers, most)
        assert [one for unit in divided for one in unit] == [run.run_id for run in plan.runs]
        assert len(divided) == min(4 * workers, most or 40, 40)


def test_a_worker_of_another_build_is_refused(tmp_path: Path) -> None:
    plan = claimed(tmp_path)
    other = replace(units.here(), sources="0" * 64, version="0.0.1")
    with pytest.raises(BacklaneError) as error:
        units.execute(str(tmp_path), [plan.runs[0].run_id], other)
    assert code_of(error) == "R111"
    assert "0.0.1" in str(error.value)


def test_a_worker_without_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BacklaneError) as error:
        units.require_store(str(tmp_path / "elsewhere"), units.here(), "token")
    assert code_of(error) == "R112"
    token = units.make_token(tmp_path)
    units.require_store(str(tmp_path), units.here(), token)
    assert [path.name for path in tmp_path.iterdir()] == [token]


def test_a_file_system_without_rename_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_self: Path, _target: Path) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(BacklaneError) as error:
        units.probe_rename(tmp_path)
    assert code_of(error) == "R115"
    assert list(tmp_path.iterdir()) == []


def test_a_scheduler_that_is_not_there_or_has_no_workers_is_an_error(tmp_path: Path) -> None:
    plan = claimed(tmp_path)
    run = (plan, tmp_path, plan.runs)
    with pytest.raises(BacklaneError) as error:
        on_dask.run_units(*run, "tcp://127.0.0.1:9", 1, None, Outcome())
    assert code_of(error) == "R113"


def test_a_scheduler_that_goes_away_leaves_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "divide", lambda _p, runs, _w, _m=None: [[r.run_id] for r in runs])
    plan = claimed(tmp_path)
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
        silence_logs=50,
    )  # fmt: skip
    taken: list[Any] = []
    take = on_dask._take

    def take_and_close(future: Any, outcome: Outcome) -> None:
        take(future, outcome)
        if not taken:
            taken.append(future)
            cluster.close()

    monkeypatch.setattr(on_dask, "_take", take_and_close)
    outcome = Outcome()
    with pytest.raises(BacklaneError) as error:
        on_dask.run_units(plan, tmp_path, plan.runs, cluster.scheduler_address, 1, None, outcome)
    assert code_of(error) == "R113"
    stored = [run for run in plan.runs if run.run_id in Store(tmp_path)]
    assert 0 < len(outcome.finished) <= len(stored) < 40
    monkeypatch.undo()
    assert campaign.run(SCENARIO, tmp_path).outcome.reused == len(stored)


def test_names_of_executors() -> None:
    assert Executor.parse("dask:tcp://host:8786") == Executor("dask", "tcp://host:8786")
    assert Executor.parse("slurm") == Executor("slurm")
    for wrong in ("celery", "dask:host", "threads:4", "slurm:x"):
        with pytest.raises(BacklaneError) as error:
            Executor.parse(wrong)
        assert code_of(error) == "R110"


SBATCH = """#!{python}
# Executes an array as Slurm would, three jobs at a time; the job of one unit dies the first time.
import os, re, signal, subprocess, sys
script = open(sys.argv[-1]).read()
last = int(re.search(r"--array=0-(\\d+)%", script)[1])
print("17", flush=True)
died = 0
for unit in range(last + 1):
    environment = dict(os.environ, SLURM_ARRAY_TASK_ID=str(unit))
    process = subprocess.Popen(["sh", sys.argv[-1]], env=environment, stdout=subprocess.DEVNULL)
    if unit == 2 and not os.path.exists({mark!r}):
        open({mark!r}, "w").close()
        process.send_signal(signal.SIGKILL)
    died += process.wait() != 0
sys.exit(died > 0)
"""


def test_a_job_array_gives_the_tables_of_threads_and_a_lost_job_is_submitted_again(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, folder = tmp_path / "bin", tmp_path / "it's a folder"
    programs.mkdir()
    sbatch = programs / "sbatch"
    sbatch.write_text(SBATCH.format(python=sys.executable, mark=str(tmp_path / "died")))
    sbatch.chmod(sbatch.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(BacklaneError) as error:
        campaign.run(SCENARIO, folder, executor="slurm", workers=1)
    assert code_of(error) == "R114"
    assert "10 runs have no result" in str(error.value)
    result = campaign.run(SCENARIO, folder, executor="slurm", workers=1)
    assert (len(result.outcome.finished), result.outcome.reused) == (10, 30)
    require_equal(folder, undisturbed)


def test_without_sbatch_the_error_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BacklaneError) as error:
        campaign.run(SCENARIO, tmp_path / "out", executor="slurm")
    assert code_of(error) == "R110"


def test_the_script_quotes_names(tmp_path: Path) -> None:
    folder = tmp_path / "a b; touch x"
    folder.mkdir()
    text = on_slurm.script(folder, 3, 2)
    assert "--array=0-2%2" in text
    check = subprocess.run(["sh", "-n"], input=text, text=True, check=False, cwd=tmp_path)
    assert check.returncode == 0
    assert f"'{folder.resolve()}'" in text


def test_a_unit_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    plan = claimed(tmp_path)
    on_slurm.prepare(plan, tmp_path, plan.runs, 1)
    with pytest.raises(BacklaneError) as error:
        on_slurm.work(tmp_path, 99)
    assert code_of(error) == "R114"
