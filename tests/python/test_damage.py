"""Finished runs are kept, changes are found: every file of a store is damaged in turn."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from conftest import BASE, Cli

import backlane
from backlane.campaign import record
from backlane.errors import BacklaneError
from backlane.files import read_json

RECORDED = """
[record]
series = ["cwnd", "queue"]
interval = "20 ms"
capture = ["epc"]

[sweep]
"routing.protocol" = ["shortest-path", "bp-mr"]
seeds = 2
"""
TIMES = ["wall_s", "cpu_s"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with series and captures; tests must not change it."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "c.toml").write_text(BASE.replace('"60 s"', '"2 s"') + RECORDED)
    backlane.campaign.run(folder / "c.toml", folder / "r")
    return folder


def content(folder: Path) -> dict[str, object]:
    """Everything in a results folder that does not depend on the clock."""
    results = backlane.load(folder)
    found: dict[str, object] = {"runs": results.runs.drop(TIMES).rows()}
    for name in ("flows", "links", "nodes", *(f"series/{probe}" for probe in results.series)):
        found[name] = results.table(name).rows()
    for path in folder.glob("capture/*/*.pcapng"):
        found[str(path.relative_to(folder))] = path.read_bytes()
    for path in folder.glob("cells/*.toml"):
        found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def junk(path: Path) -> None:
    path.write_bytes(b'{"PAR1": [' * 1000)


def be_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def dangle(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


DAMAGES: list[Callable[[Path], None]] = [
    flip, truncate, empty, junk, Path.unlink, be_a_folder, dangle,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_each_damaged_file_of_a_store_is_found_and_its_run_made_anew(
    damage: Callable[[Path], None], whole: Path, tmp_path: Path
) -> None:
    expected = content(whole / "r")
    run = sorted((whole / "r" / "store").iterdir())[1].name
    names = sorted(path.name for path in (whole / "r" / "store" / run).iterdir())
    assert "capture-epc.pcapng" in names
    assert "series-cwnd-000000.parquet" in names
    for name in names:
        folder = tmp_path / name
        shutil.copytree(whole / "r", folder)
        damage(folder / "store" / run / name)
        outcome = backlane.campaign.run(whole / "c.toml", folder).outcome
        assert outcome.finished == [run], name
        assert outcome.reused == 3
        # Without its record, the folder is no run, and no run is lost.
        gone = name == record.NAME and damage not in (flip, truncate, empty, junk)
        assert list(outcome.damaged) == ([] if gone else [run])
        assert content(folder) == expected, name


def test_a_run_in_the_folder_of_another_one_is_found(whole: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(whole / "r", tmp_path / "r")
    first, second, *_ = sorted((folder / "store").iterdir())
    shutil.rmtree(first)
    shutil.copytree(second, first)
    outcome = backlane.campaign.run(whole / "c.toml", folder).outcome
    assert outcome.damaged == {first.name: f"it holds run {second.name}"}
    assert content(folder) == content(whole / "r")


@pytest.mark.parametrize("in_its_place", ["a file", "an empty folder", "a folder with a file"])
def test_what_stands_in_the_place_of_a_run_makes_way(
    in_its_place: str, whole: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(whole / "r", tmp_path / "r")
    victim = sorted((folder / "store").iterdir())[0]
    shutil.rmtree(victim)
    if in_its_place == "a file":
        victim.write_text("I am no run")
    else:
        victim.mkdir()
        if in_its_place != "an empty folder":
            (victim / "flows.parquet").write_bytes(b"half")
    result = backlane.campaign.run(whole / "c.toml", folder)
    assert result.outcome.finished == [victim.name]
    assert result.manifest["complete"] is True
    assert content(folder) == content(whole / "r")


def test_a_record_that_was_altered_is_found_even_when_its_json_is_sound(
    whole: Path, tmp_path: Path
) -> None:
    for key, value in (("digest", "0" * 16), ("events", 1)):
        folder = shutil.copytree(whole / "r", tmp_path / key)
        path = sorted((folder / "store").iterdir())[0] / record.NAME
        altered = json.loads(path.read_text())
        altered["summary"][key] = value
        path.write_text(json.dumps(altered))
        outcome = backlane.campaign.run(whole / "c.toml", folder).outcome
        assert list(outcome.damaged) == [path.parent.name]
        assert content(folder) == content(whole / "r")


def test_a_run_with_one_row_less_is_found(whole: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(whole / "r", tmp_path / "r")
    path = sorted((folder / "store").iterdir())[0] / "flows.parquet"
    pl.read_parquet(path).head(-1).write_parquet(path)
    outcome = backlane.campaign.run(whole / "c.toml", folder).outcome
    assert outcome.damaged == {path.parent.name: "flows.parquet was changed"}
    assert content(folder) == content(whole / "r")


def test_the_user_is_told_of_damage_and_of_runs_by_another_build(
    whole: Path, tmp_path: Path, cli: Cli
) -> None:
    folder = shutil.copytree(whole / "r", tmp_path / "r")
    first, second, *_ = sorted((folder / "store").iterdir())
    truncate(first / "links.parquet")
    value = read_json(second / record.NAME)
    del value["seal"]
    value["build"] |= {"commit": "c0ffee" * 6, "sources": "0" * 16}
    (second / record.NAME).write_text(json.dumps(value | {"seal": record.seal(value)}))
    result = cli("campaign", "run", whole / "c.toml", "--out", folder, "--no-report")
    assert result.code == 0
    assert f"stored run {first.name} is damaged (links.parquet was changed)" in result.err
    assert "1 stored runs come from commit c0ffeec0ffee" in result.err
    assert backlane.load(folder).manifest["commits"]["c0ffee" * 6] == 1
    again = cli("campaign", "run", whole / "c.toml", "--out", folder, "--no-report")
    assert "damaged" not in again.err


def test_a_run_stored_in_another_format_is_made_anew(whole: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(whole / "r", tmp_path / "r")
    path = sorted((folder / "store").iterdir())[0] / record.NAME
    value = read_json(path) | {"format": 1}
    path.write_text(json.dumps(value))
    outcome = backlane.campaign.run(whole / "c.toml", folder).outcome
    assert "written in format 1" in outcome.damaged[path.parent.name]


def test_results_of_a_newer_version_are_refused(whole: Path, tmp_path: Path, cli: Cli) -> None:
    for name, words in (
        ("manifest.json", ["report"]),
        ("campaign.json", ["campaign", "status"]),
        ("campaign.json", ["campaign", "run", whole / "c.toml", "--no-report", "--out"]),
    ):
        folder = tmp_path / "-".join(str(word) for word in words).replace("/", "_")
        shutil.copytree(whole / "r", folder)
        value = read_json(folder / name) | {"format": 99}
        (folder / name).write_text(json.dumps(value))
        result = cli(*words, folder)
        assert result.code == 2
        assert "R027" in result.err
        assert name in result.err


def test_a_table_that_was_edited_is_no_result(whole: Path, tmp_path: Path) -> None:
    for name in ("flows", "runs", "series/cwnd"):
        folder = shutil.copytree(whole / "r", tmp_path / name)
        path = folder / f"{name}.parquet"
        pl.read_parquet(path).head(-1).write_parquet(path)
        for read in (backlane.load(folder).table, backlane.load(folder).scan):
            with pytest.raises(BacklaneError, match="changed after it was written"):
                read(name)


WRONG_TYPES = [
    ("name", 7), ("parameters", "routing"), ("parameters", [1]), ("cells", {}), ("cells", [3]),
    ("cells", [{"parameters": []}]), ("seeds", None), ("runs_finished", "4"), ("digest", []),
    ("failed", [{"run_id": 3}]), ("failed", 5), ("files", []), ("files", {"flows.parquet": 1}),
    ("format", "two"), ("compare", 5), ("compare", {"keys": [[1]]}),
    ("compare", {"measure": "beauty"}), ("compare", {"measure": []}),
    ("compare", {"equal_within": "5 %"}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), WRONG_TYPES)
def test_a_manifest_with_a_wrong_type_is_damaged(
    key: str, value: object, whole: Path, tmp_path: Path, cli: Cli
) -> None:
    folder = shutil.copytree(whole / "r", tmp_path / "r")
    path = folder / "manifest.json"
    path.write_text(json.dumps(read_json(path) | {key: value}))
    result = cli("report", folder)
    assert result.code == 2, result.err
    assert ("R010" in result.err) or ("R027" in result.err)
    assert "manifest.json" in result.err


WRONG_PLANS = [
    ("name", 7), ("cells", 3), ("cells", [3]), ("cells", [{"index": "../x"}]), ("cells", None),
    ("seeds", ["1"]), ("seeds", [7]), ("runs", [{"run_id": "../../x", "cell": 0, "seed": 1}]),
    ("runs", [{"run_id": "0" * 16, "cell": 9, "seed": 1}]), ("runs", [[]]), ("runs", []),
    ("compare", 5), ("compare", {"keys": ["beauty"], "measure": None, "equal_within": None}),
    ("compare", {"keys": []}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), WRONG_PLANS)
def test_a_plan_with_a_wrong_entry_is_damaged(
    key: str, value: object, whole: Path, tmp_path: Path, cli: Cli
) -> None:
    folder = shutil.copytree(whole / "r", tmp_path / "r")
    path = folder / "campaign.json"
    path.write_text(json.dumps(read_json(path) | {key: value}))
    for words in (["status", folder], ["merge", tmp_path / "m", folder]):
        result = cli("campaign", *words)
        assert result.code == 2, result.err
        assert "R010" in result.err
        assert "campaign.json" in result.err


def test_a_campaign_without_its_plan_goes_on(whole: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(whole / "r", tmp_path / "r")
    (folder / "campaign.json").unlink()
    outcome = backlane.campaign.run(whole / "c.toml", folder).outcome
    assert (outcome.reused, outcome.finished) == (4, [])


def test_a_deep_json_file_is_damaged(whole: Path, tmp_path: Path, cli: Cli) -> None:
    folder = shutil.copytree(whole / "r", tmp_path / "r")
    (folder / "manifest.json").write_text("[" * 200_000)
    assert "R010" in cli("report", folder).err
    run = sorted((folder / "store").iterdir())[0]
    (run / record.NAME).write_text('{"a":' * 200_000)
    outcome = backlane.campaign.run(whole / "c.toml", folder).outcome
    assert list(outcome.damaged) == [run.name]


def test_a_damaged_note_of_a_failure_does_not_stop_the_campaign(
    whole: Path, tmp_path: Path, cli: Cli
) -> None:
    folder = shutil.copytree(whole / "r", tmp_path / "r")
    run = sorted((folder / "store").iterdir())[0]
    shutil.rmtree(run)
    (folder / "failed").mkdir()
    (folder / "failed" / f"{run.name}.json").write_text("{")
    status = cli("campaign", "status", folder, "--json")
    assert (status.code, status.json["failed"]) == (1, 1)
    assert backlane.campaign.run(whole / "c.toml", folder).outcome.finished == [run.name]


def test_a_report_over_results_of_an_older_model_says_so(
    whole: Path, tmp_path: Path, cli: Cli
) -> None:
    folder = shutil.copytree(whole / "r", tmp_path / "r")
    path = folder / "manifest.json"
    path.write_text(json.dumps(read_json(path) | {"model_version": "0"}))
    result = cli("report", folder, "--json")
    assert result.code == 0, result.err
    assert "was made by model version 0" in result.json["remarks"][0]
    assert "was made by model version 0" in cli("report", folder).err
    assert "model version" not in cli("report", whole / "r").err
