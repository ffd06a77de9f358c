"""The files of results have the columns and types that the simulator declares."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

import backlane
from backlane import _native, tables
from backlane.run_files import RunFiles, collect

EXAMPLES = Path(__file__).parents[2] / "examples"
TYPES = {"text": pl.String, "integer": pl.Int64, "float": pl.Float64}
RECORDED = [
    ("record.series", '["cwnd", "goodput", "queue", "radio"]'),
    ("record.interval", '"100 ms"'),
    ("record.reordering", "true"),
]
SERIES = ["cwnd", "goodput", "queue"]
ALWAYS = ["runs", "flows", "links", "nodes"]
CASES = {
    "grid.toml": (
        [("duration", '"5 s"'), ("access.ues", "3"), *RECORDED],
        ["reordering", "routing", *SERIES],
    ),
    "lte_cell.toml": (
        [("duration", '"1 s"'), *RECORDED],
        ["radio", "mcs", "reordering", "series/radio", *SERIES],
    ),
    "wifi_mesh/scenario.toml": (
        [("duration", '"8 s"'), *RECORDED],
        ["wifi", "routing", "reordering", *SERIES],
    ),
    "multipath_mesh/scenario.toml": (
        [("duration", '"2 s"'), *RECORDED],
        ["wifi", "routing", "reordering", "assignment", *SERIES],
    ),
    "slotted_downlink.toml": ([], ["slotted", "series/slotted"]),
}


def without_sweep(file: str, tmp_path: Path) -> Path:
    """A copy of an example as a single run."""
    folder = tmp_path / "example"
    folder.mkdir()
    for path in (EXAMPLES / file).parent.glob("*.csv"):
        shutil.copy(path, folder)
    path = folder / "scenario.toml"
    path.write_text((EXAMPLES / file).read_text().partition("[sweep]")[0])
    return path


@pytest.mark.parametrize("file", CASES)
def test_files_have_the_declared_columns_in_order_and_type(file: str, tmp_path: Path) -> None:
    overrides, others = CASES[file]
    path = without_sweep(file, tmp_path)
    backlane.run(path, overrides=overrides, out=tmp_path / "r")
    found = {
        path.relative_to(tmp_path / "r").with_suffix("").as_posix(): pl.read_parquet_schema(path)
        for path in (tmp_path / "r").rglob("*.parquet")
    }
    series = {f"series/{name}" if name in SERIES else name for name in others}
    assert found.keys() == {*ALWAYS, *series}
    for name, schema in found.items():
        declared = {key: TYPES[kind] for key, kind in _native.tables()[name].items()}
        if name != "runs":
            declared = {"run_id": pl.String} | declared
        # Slotted models have some of the columns of networks.
        is_whole = "slotted" not in file or name not in ALWAYS
        wanted = [key for key in declared if is_whole or key in schema]
        if "reordering" not in others and name == "flows":
            wanted = [key for key in wanted if key in schema]
        assert list(schema) == wanted, name
        assert all(schema[key] == declared[key] for key in wanted), name


def test_values_in_memory_are_those_of_the_files(tmp_path: Path) -> None:
    overrides, _ = CASES["lte_cell.toml"]
    path = without_sweep("lte_cell.toml", tmp_path)
    memory = backlane.run(path, overrides=overrides)
    stored = backlane.run(path, overrides=overrides, out=tmp_path / "r")
    timed = ["wall_s", "cpu_s"]
    assert stored.runs.drop(timed).equals(memory.runs.drop(timed))
    for name in set(memory.tables()) - {"runs"}:
        assert stored.table(name).equals(memory.table(name)), name


def test_a_table_that_an_earlier_version_stored_without_columns_is_joined(tmp_path: Path) -> None:
    flows = pl.DataFrame({"flow": ["ue1"], "finish_s": [1.5]})
    for run_id, table in {"old": pl.DataFrame(), "new": flows}.items():
        (tmp_path / run_id).mkdir()
        table.write_parquet(tmp_path / run_id / "flows.parquet")
        for name in ("links", "nodes"):
            flows.write_parquet(tmp_path / run_id / f"{name}.parquet")
    staged = tmp_path / "staged"
    staged.mkdir()
    collect(staged, ["old", "new"], lambda run_id: RunFiles(tmp_path / run_id), of_one_run=False)
    joined = pl.read_parquet(staged / "flows.parquet")
    assert joined.rows() == [("new", "ue1", 1.5)]
    assert pl.read_parquet(staged / "links.parquet")["run_id"].to_list() == ["old", "new"]


def test_a_growing_table_is_the_same_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table beyond the limit is written in parts, and equals the one that is written at once."""
    frames = [
        pl.DataFrame({"run_id": [f"r{n}"] * 3, "value": [n, n + 1, None]})
        if n % 5
        else pl.DataFrame({"run_id": [f"r{n}"], "value": [n / 2], "more": ["x"]})
        for n in range(47)
    ]
    monkeypatch.setattr(tables, "FRAMES_AT_ONCE", 7)
    for name, size, most in (("whole", 1 << 30, 99), ("parts", 1000, 99), ("few", 1 << 30, 10)):
        monkeypatch.setattr(tables, "BYTES_AT_ONCE", size)
        monkeypatch.setattr(tables, "FRAMES_IN_A_PART", most)
        table = tables.Growing(tmp_path / f"{name}.parquet")
        for frame in frames:
            table.add(frame)
        table.finish()
    names = ("whole", "parts", "few")
    whole, parts, few = (tables.read(tmp_path / f"{name}.parquet") for name in names)
    assert whole.height == sum(frame.height for frame in frames)
    assert whole.equals(parts) and whole.equals(few)
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {f"{name}.parquet" for name in names}


def test_a_growing_table_without_frames_is_not_written(tmp_path: Path) -> None:
    """No run has this table."""
    tables.Growing(tmp_path / "none.parquet").finish()
    assert not list(tmp_path.iterdir())
