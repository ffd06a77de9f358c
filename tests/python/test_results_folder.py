"""A results folder holds one result: an earlier one stays until the new one is complete."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from conftest import BASE, SWEEP, Cli, finish, start

import backlane
from backlane import native
from backlane.files import TEMPORARY_PREFIX, locked

RECORD = """
[record]
series = ["queue"]
interval = "20 ms"
capture = ["epc"]
"""
LTE = BASE.replace(
    'kind = "ideal"\nrate = "50 Mbit/s"\ndelay = "5 ms"\nues = 4', 'kind = "lte"\nues = 2'
)
ENDLESS = BASE.replace('"60 s"', '"100000 s"').replace('"200 kB"', '"endless"')


def names(folder: Path) -> set[str]:
    """Every file below a folder but the lock."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.relative_to(folder).as_posix() for path in found}


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_run_leaves_nothing_of_the_run_before_it(tmp_path: Path, cli: Cli) -> None:
    assert "lte" in LTE
    first = write(tmp_path / "lte.toml", LTE.replace('"60 s"', '"3 s"') + RECORD)
    second = write(tmp_path / "plain.toml", BASE)
    folder = tmp_path / "r"
    assert cli("run", first, "--out", folder).code == 0
    assert cli("report", folder).code == 0
    assert {"radio.parquet", "series/queue.parquet", "capture/epc.pcapng", "report.html"} <= names(
        folder
    )
    (folder / "notes.txt").write_text("mine")
    result = cli("run", second, "--out", folder)
    assert "replacing the results of another run" in result.err
    assert cli("run", second, "--out", tmp_path / "fresh").code == 0
    assert names(folder) == names(tmp_path / "fresh") | {"notes.txt"}
    assert (folder / "scenario.resolved.toml").read_text() == (
        tmp_path / "fresh" / "scenario.resolved.toml"
    ).read_text()


def test_a_campaign_leaves_nothing_of_the_plan_before_it(tmp_path: Path, cli: Cli) -> None:
    file = write(tmp_path / "c.toml", BASE + RECORD + SWEEP)
    folder = tmp_path / "r"
    assert cli("campaign", "run", file, "--out", folder).code == 0
    assert "cells/0003.scenario.resolved.toml" in names(folder)
    write(file, BASE + SWEEP.replace("[3, 5]", "[3]"))
    assert cli("campaign", "run", file, "--out", folder, "--no-report").code == 0
    cli("campaign", "run", file, "--out", tmp_path / "fresh", "--no-report")
    mine, fresh = (
        {name for name in names(place) if not name.startswith("store/")}
        for place in (folder, tmp_path / "fresh")
    )
    assert mine == fresh


def test_a_report_stays_while_it_says_what_the_results_say(
    sweep: Path, tmp_path: Path, cli: Cli
) -> None:
    folder = tmp_path / "r"
    assert cli("campaign", "run", sweep, "--out", folder).code == 0
    assert cli("campaign", "run", sweep, "--out", folder, "--no-report").code == 0
    assert "report.html" in names(folder)
    sweep.write_text(BASE + SWEEP.replace("seeds = 4", "seeds = 5"))
    assert cli("campaign", "run", sweep, "--out", folder, "--no-report").code == 0
    assert "report.html" not in names(folder)


def test_a_run_that_ends_early_leaves_the_results_before_it(
    single: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "r"
    assert cli("run", single, "--out", folder).code == 0
    kept = {name: (folder / name).read_bytes() for name in names(folder)}
    other = write(tmp_path / "other.toml", BASE.replace("200 kB", "100 kB") + RECORD)

    def interrupted(
        _resolved: str, _seed: int, _progress: object, sink: object, **_threads: object
    ) -> object:
        sink.capture("epc", b"half")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    monkeypatch.setattr(native.module(), "run", interrupted)
    assert cli("run", other, "--out", folder).code == 130
    assert {name: (folder / name).read_bytes() for name in names(folder)} == kept


def test_a_killed_run_is_swept_by_the_next_one(single: Path, tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "r"
    process = start("run", write(tmp_path / "endless.toml", ENDLESS), "--out", folder)
    while not list(folder.glob(f"{TEMPORARY_PREFIX}*")) and process.poll() is None:
        time.sleep(0.002)
    process.kill()
    process.communicate()
    assert list(folder.glob(f"{TEMPORARY_PREFIX}*"))
    assert cli("run", single, "--out", folder).code == 0
    assert not list(folder.rglob(f"{TEMPORARY_PREFIX}*"))


def test_two_runs_do_not_share_a_folder(single: Path, tmp_path: Path, cli: Cli) -> None:
    with locked(tmp_path / "r"):
        result = cli("run", single, "--out", tmp_path / "r")
    assert result.code == 2
    assert "R005" in result.err


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_ends_a_run_and_leaves_nothing_behind(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    folder = tmp_path / "r"
    process = start("run", write(tmp_path / "endless.toml", ENDLESS), "--out", folder)
    while not list(folder.glob(f"{TEMPORARY_PREFIX}*")) and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(number)
    result = finish(process)
    assert result.code == code, result.err
    assert "Traceback" not in result.err
    assert names(folder) == set()


def test_ctrl_c_ends_a_run_from_python(tmp_path: Path) -> None:
    file = write(tmp_path / "endless.toml", ENDLESS)
    code = f"import backlane; print('begun', flush=True); backlane.run({str(file)!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in finish(process).err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_a_campaign_with_tables_of_what_is_finished(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    file = write(tmp_path / "c.toml", BASE + SWEEP.replace("seeds = 4", "seeds = 400"))
    folder = tmp_path / "r"
    process = start("campaign", "run", file, "--out", folder)
    while len(list(folder.glob("store/*/run.json"))) < 3 and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(number)
    result = finish(process)
    assert result.code == code, result.err
    assert "interrupted" in result.err
    manifest = backlane.load(folder).manifest
    assert manifest["complete"] is False
    assert manifest["runs_finished"] >= 3
    assert not list(folder.rglob(f"{TEMPORARY_PREFIX}*"))


def test_a_signal_that_is_ignored_stays_ignored(sweep: Path, tmp_path: Path) -> None:
    process = start(
        "campaign", "run", sweep, "--out", tmp_path / "r", "--no-report",
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    while not (tmp_path / "r" / "store").is_dir() and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGHUP)
    assert finish(process).code == 0


ALIKE = {
    "two labels of one default": (
        '"routing" = [{ label = "default", protocol = "bp-mr" }, '
        '{ label = "per flow", protocol = "bp-mr", granularity = "flow" }]'
    ),
    "one value in two units": '"flow.size" = ["200 kB", "200000 B"]',
    "one value twice": '"access.ues" = [3, 3]',
}


@pytest.mark.parametrize("axis", ALIKE.values(), ids=ALIKE.keys())
def test_cells_that_resolve_alike_share_their_runs(axis: str, tmp_path: Path, cli: Cli) -> None:
    file = write(tmp_path / "c.toml", f"{BASE}\n[sweep]\n{axis}\nseeds = 2\n")
    result = cli("campaign", "run", file, "--out", tmp_path / "r", "--json")
    assert result.code == 0, result.err
    assert (result.json["runs_planned"], result.json["finished_now"]) == (2, 2)
    assert result.json["complete"] is True
    results = backlane.load(tmp_path / "r")
    assert results.runs.select("cell", "seed").rows() == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert results.runs["run_id"].to_list()[:2] == results.runs["run_id"].to_list()[2:]
    flows = results.flows.group_by("run_id").len()
    assert flows.height == 2
    assert set(flows["len"]) == {len(set(results.flows["flow"]))}
    by_cell = (
        results.runs.join(results.flows, on="run_id")
        .group_by("cell")
        .agg(pl.col("segments_sent").sum())
    )
    assert by_cell["segments_sent"].n_unique() == 1
    status = cli("campaign", "status", tmp_path / "r", "--json").json
    assert [cell["finished"] for cell in status["cells"]] == [2, 2]
    assert (status["planned"], status["finished"], status["left"]) == (2, 2, 0)
    page = (tmp_path / "r" / "report.html").read_text()
    ues = results.flows["flow"].n_unique()
    assert f"0 of {2 * ues}" in page
    assert f"0 of {4 * ues}" not in page


def test_shards_of_cells_that_resolve_alike_divide_the_runs(tmp_path: Path, cli: Cli) -> None:
    file = write(tmp_path / "c.toml", f'{BASE}\n[sweep]\n"access.ues" = [3, 3]\nseeds = 3\n')
    for part in (1, 2):
        out = tmp_path / str(part)
        cli("campaign", "run", file, "--shard", f"{part}/2", "--out", out, "--no-report")
    stored = [{p.name for p in (tmp_path / part / "store").iterdir()} for part in ("1", "2")]
    assert not stored[0] & stored[1]
    assert len(stored[0] | stored[1]) == 3


def test_a_table_does_not_lose_large_numbers(tmp_path: Path, cli: Cli) -> None:
    file = write(tmp_path / "s.toml", BASE.replace("seed = 1", f"seed = {2**63 - 1}"))
    assert cli("run", file, "--out", tmp_path / "r").code == 0
    assert backlane.load(tmp_path / "r").runs["seed"].to_list() == [2**63 - 1]


def test_a_moved_results_folder_is_the_same_results(done: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(done, tmp_path / "moved")
    assert json.loads((moved / "manifest.json").read_text())["files"]
    assert backlane.load(moved).flows.equals(backlane.load(done).flows)


def test_a_run_that_delivered_nothing_delivered_at_no_rate(tmp_path: Path) -> None:
    text = BASE.replace('"60 s"', '"2 s"') + '\n[[failure]]\nnode = "epc"\nat = "0 s"\n'
    runs = backlane.run(write(tmp_path / "s.toml", text)).runs
    assert runs["delivered_bytes"].to_list() == [0]
    assert runs["delivered_bps"].to_list() == [0.0]
