"""A finished run is kept, is never repeated and never counted twice."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import polars as pl
import pytest
from conftest import BASE, SWEEP, Cli, finish, start

import backlane
from backlane import native
from backlane.campaign import record
from backlane.campaign.store import Store
from backlane.files import TEMPORARY_PREFIX

TIMES = ["wall_s", "cpu_s"]
KILLS = int(os.environ.get("BACKLANE_TEST_KILLS", "6"))
"""How often the campaign is killed; `make test-kills` asks for 100."""


def tables_of(folder: Path) -> dict[str, pl.DataFrame]:
    results = backlane.load(folder)
    tables = {name: results.table(name) for name in ("flows", "links", "nodes")}
    return tables | {"runs": results.runs.drop(TIMES)}


def same_results(one: Path, other: Path) -> bool:
    mine, theirs = tables_of(one), tables_of(other)
    return all(mine[name].equals(theirs[name]) for name in mine)


def finished(folder: Path) -> set[str]:
    found = {path.parent.name for path in folder.glob("store/*/run.json")}
    return {name for name in found if not name.startswith(TEMPORARY_PREFIX)}


def test_a_campaign_killed_again_and_again_ends_with_the_tables_of_an_undisturbed_one(
    tmp_path: Path,
) -> None:
    runs = 4 * max(25, 5 * KILLS)
    file = tmp_path / "c.toml"
    file.write_text(BASE + SWEEP.replace("seeds = 4", f"seeds = {runs // 4}"))
    folder = tmp_path / "killed"
    moments = random.Random(11)
    into_runs = 0
    for _ in range(KILLS):
        before = finished(folder)
        process = start("campaign", "run", file, "--out", folder, "--no-report")
        goal = len(before) + moments.randrange(1, 15)
        while len(finished(folder)) < goal and process.poll() is None:
            time.sleep(0.001)
        time.sleep(moments.random() * 0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kept = finished(folder)
        assert before <= kept
        into_runs += any((folder / "store").glob(f"{TEMPORARY_PREFIX}*"))
    assert 2 * into_runs >= KILLS, f"only {into_runs} of {KILLS} kills fell into running runs"
    untouched = {
        run: (folder / "store" / run / "run.json").stat().st_mtime_ns for run in finished(folder)
    }
    last = finish(start("campaign", "run", file, "--out", folder, "--no-report", "--json"))
    assert last.code == 0, last.err
    assert last.json["finished_now"] + last.json["reused"] == runs
    assert last.json["reused"] == len(untouched)
    for run, moment in untouched.items():
        assert (folder / "store" / run / "run.json").stat().st_mtime_ns == moment
    assert not list(folder.rglob(f"{TEMPORARY_PREFIX}*"))
    table = backlane.load(folder).runs
    assert table.height == table["run_id"].n_unique() == runs
    backlane.campaign.run(file, tmp_path / "whole")
    assert same_results(folder, tmp_path / "whole")
    assert (
        backlane.load(folder).manifest["digest"]
        == (backlane.load(tmp_path / "whole").manifest["digest"])
    )


def test_a_finished_campaign_runs_nothing_again(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backlane.campaign.run(sweep, tmp_path / "r")
    monkeypatch.setattr(
        native.module(), "run", lambda *_, **_threads: pytest.fail("a run was repeated")
    )
    again = backlane.campaign.run(sweep, tmp_path / "r")
    assert again.outcome.reused == 16
    assert again.outcome.finished == []


def test_more_seeds_keep_the_runs_that_are_there(sweep: Path, tmp_path: Path) -> None:
    backlane.campaign.run(sweep, tmp_path / "r")
    sweep.write_text(BASE + SWEEP.replace("seeds = 4", "seeds = 6"))
    more = backlane.campaign.run(sweep, tmp_path / "r")
    assert more.outcome.reused == 16
    assert len(more.outcome.finished) == 8
    assert backlane.load(tmp_path / "r").runs.height == 24


def test_shards_merged_equal_the_whole(sweep: Path, tmp_path: Path, done: Path, cli: Cli) -> None:
    for part in (1, 2, 3):
        result = cli(
            "campaign", "run", sweep, "--shard", f"{part}/3", "--out", tmp_path / f"s{part}",
            "--no-report",
        )  # fmt: skip
        assert result.code == 0, result.err
    parts = [tmp_path / f"s{part}" for part in (3, 1, 2)]
    merged = cli("campaign", "merge", tmp_path / "all", *parts, "--no-report", "--json")
    assert merged.code == 0, merged.err
    assert merged.json["complete"] is True
    assert same_results(tmp_path / "all", done)
    again = cli("campaign", "merge", tmp_path / "all", *parts, "--no-report", "--json")
    assert again.json["finished_now"] == 0
    assert same_results(tmp_path / "all", done)


def test_a_shard_has_every_run_of_its_part_and_no_other(sweep: Path, tmp_path: Path) -> None:
    plan = backlane.plan(sweep)
    parts = [plan.shard((i, 3)) for i in (1, 2, 3)]
    assert sorted(r.run_id for part in parts for r in part) == sorted(r.run_id for r in plan.runs)


def test_parts_of_different_scenarios_are_not_merged(
    sweep: Path, tmp_path: Path, done: Path, cli: Cli
) -> None:
    sweep.write_text(BASE.replace("200 kB", "150 kB") + SWEEP)
    backlane.campaign.run(sweep, tmp_path / "other")
    result = cli("campaign", "merge", tmp_path / "all", done, tmp_path / "other")
    assert result.code == 2
    assert "R009" in result.err
    assert not (tmp_path / "all").exists()


def test_parts_of_different_model_versions_are_not_merged(
    sweep: Path, tmp_path: Path, done: Path, cli: Cli
) -> None:
    backlane.campaign.run(sweep, tmp_path / "other")
    path = tmp_path / "other" / "campaign.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_version": "ancient"}))
    result = cli("campaign", "merge", tmp_path / "all", done, tmp_path / "other")
    assert result.code == 2
    assert "model version" in result.err


def test_parts_that_disagree_about_a_run_are_not_merged(
    sweep: Path, tmp_path: Path, done: Path, cli: Cli
) -> None:
    other = backlane.campaign.run(sweep, tmp_path / "other").folder
    path = next(other.glob("store/*/run.json"))
    value = json.loads(path.read_text())
    value["summary"]["digest"] = "0" * 16
    del value["seal"]
    path.write_text(json.dumps(value | {"seal": record.seal(value)}))
    result = cli("campaign", "merge", tmp_path / "all", done, other)
    assert result.code == 2
    assert "R016" in result.err
    assert path.parent.name in result.err


def test_two_processes_do_not_share_a_folder(sweep: Path, tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "r"
    with Store(folder).locked():
        result = cli("campaign", "run", sweep, "--out", folder)
        assert result.code == 2
        assert "R005" in result.err
    assert cli("campaign", "run", sweep, "--out", folder, "--no-report").code == 0


def test_leftovers_of_a_killed_process_are_swept(sweep: Path, tmp_path: Path) -> None:
    store = tmp_path / "r" / "store"
    (store / f"{TEMPORARY_PREFIX}abc").mkdir(parents=True)
    (store / f"{TEMPORARY_PREFIX}abc" / "flows.parquet").write_bytes(b"half")
    backlane.campaign.run(sweep, tmp_path / "r")
    assert len(list(store.iterdir())) == 16


def test_a_run_that_fails_is_told_and_the_others_go_on(
    sweep: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator = native.module()
    real = simulator.run

    class BadNodeError(simulator.RunError):  # type: ignore[misc, name-defined]
        code = "W001"

    def fail_seed_2(
        resolved: str, seed: int, progress: object, sink: object, *threads: object, **more: object
    ) -> object:
        if seed == 2:
            raise BadNodeError("node enb1 has burnt down")
        return real(resolved, seed, progress, sink)

    monkeypatch.setattr(simulator, "run", fail_seed_2)
    result = cli("campaign", "run", sweep, "--out", tmp_path / "r", "--no-report", "--json")
    assert result.code == 1
    assert len(result.json["failed"]) == 4
    assert result.json["runs_finished"] == 12
    assert "burnt down" in result.err
    assert backlane.load(tmp_path / "r").runs.filter(pl.col("seed") == 2).is_empty()
    status = cli("campaign", "status", tmp_path / "r", "--json")
    assert (status.code, status.json["failed"], status.json["left"]) == (1, 4, 0)
    monkeypatch.setattr(simulator, "run", real)
    mended = cli("campaign", "run", sweep, "--out", tmp_path / "r", "--no-report", "--json")
    assert mended.code == 0
    assert mended.json["finished_now"] == 4


def test_ctrl_c_keeps_what_is_finished_and_exits_130(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text(BASE + SWEEP.replace("seeds = 4", "seeds = 400"))
    folder = tmp_path / "r"
    process = start("campaign", "run", file, "--out", folder)
    while len(finished(folder)) < 3 and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    result = finish(process)
    assert result.code == 130, result.err
    assert "Traceback" not in result.err
    runs = backlane.load(folder).runs
    assert 3 <= runs.height < 1600
    assert runs.height == len(finished(folder))
    assert backlane.load(folder).manifest["complete"] is False


def test_a_folder_whose_tables_were_not_written_is_not_taken_for_results(
    sweep: Path, tmp_path: Path, cli: Cli
) -> None:
    backlane.campaign.run(sweep, tmp_path / "r")
    (tmp_path / "r" / "manifest.json").unlink()
    result = cli("report", tmp_path / "r")
    assert result.code == 2
    assert "R008" in result.err


def test_a_damaged_table_is_named(sweep: Path, tmp_path: Path, cli: Cli) -> None:
    backlane.campaign.run(sweep, tmp_path / "r")
    (tmp_path / "r" / "flows.parquet").write_bytes(b"PAR1 this is not a table")
    result = cli("report", tmp_path / "r")
    assert result.code == 2
    assert "R010" in result.err
    assert "flows.parquet" in result.err
