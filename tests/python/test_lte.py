"""LTE access from the file to the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from backlane.results import Results

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

CELL = """
duration = "2 s"
[topology]
kind = "chain"
nodes = 1
link = { rate = "1 Gbit/s", delay = "1 ms" }
[[server]]
attach = "enb1"
link = { rate = "1 Gbit/s", delay = "10 ms" }
[access]
kind = "lte"
ues = 3
[[flow]]
kind = "download"
size = "100 kB"
[record]
series = ["radio"]
interval = "100 ms"
"""
SWEEP = """
[sweep]
"access.kind" = ["lte", "ideal"]
seeds = 2
"""


def test_a_run_has_a_row_for_each_ue_and_mcs(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "cell.toml"
    file.write_text(CELL)
    assert cli("run", file, "--out", tmp_path / "out").code == 0
    results = Results.open(tmp_path / "out")
    assert results.radio["ue"].to_list() == ["ue1", "ue2", "ue3"]
    assert results.radio.schema["granted_bytes"] == pl.Int64
    assert results.radio.schema["pdcp_delay_p95_s"] == pl.Float64
    assert set(results.mcs["direction"]) == {"down", "up"}
    down, up = (sum(results.radio[f"{way}used_bytes"].to_list()) for way in ("", "uplink_"))
    assert sum(results.mcs["used_bytes"].to_list()) == down + up
    series = results.table("series/radio")
    assert series.columns[:4] == ["run_id", "entity", "time_s", "serving"]
    assert series.schema["sinr_db"] == pl.Float64


def test_a_campaign_joins_runs_with_and_without_a_radio(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "both.toml"
    file.write_text(CELL + SWEEP)
    assert cli("campaign", "run", file, "--out", tmp_path / "out").code == 0
    results = Results.open(tmp_path / "out")
    assert results.flows["run_id"].n_unique() == 4
    assert results.radio["run_id"].n_unique() == 2
    assert results.mcs["run_id"].n_unique() == 2
    page = (tmp_path / "out/report.html").read_text()
    assert "first BLER" in page


def test_check_and_run_warn_of_a_ue_out_of_reach_and_the_run_ends(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "far.toml"
    far = '[[access.ue]]\nnear = "enb1"\ndistance = "40 km"\n'
    file.write_text(CELL.replace("ues = 3\n", far + far))
    checked = cli("check", file)
    assert checked.code == 0
    assert "warning[S102]: ue1 is out of reach: its SNR from enb1 is -34.2 dB" in checked.err
    assert "and one other" in checked.err
    ran = cli("run", file, "--out", tmp_path / "out")
    assert ran.code == 0
    assert "warning[S102]" in ran.err
    assert Results.open(tmp_path / "out").radio["granted_bytes"].to_list() == [0, 0]
    near = CELL.replace("ues = 3\n", 'ues = 3\nradio_link = { out_of_sync = "-6 dB" }\n')
    file.write_text(near)
    assert "warning" not in cli("check", file).err
