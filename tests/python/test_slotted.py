"""The slotted model from its file to its tables and pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from backlane.results import Results

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

DOWNLINK = """
name = "downlink"
[slotted]
slots = 2000
interference = "collision-domain"
sample_slots = 100
link = [{ from = "I", to = "R1" }, { from = "I", to = "R2", on = 0.5 }]
[[slotted.flow]]
from = "I"
to = "R1"
arrivals = "window"
[[slotted.flow]]
from = "I"
to = "R2"
rate = 0.2
"""


def test_a_run_gives_a_row_for_each_flow_and_one_for_all(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "downlink.toml"
    file.write_text(DOWNLINK)
    done = cli("run", file, "--out", tmp_path / "out")
    assert done.code == 0
    assert "served" in done.out
    results = Results.open(tmp_path / "out")
    table = results.table("slotted")
    assert table["flow"].to_list() == ["I-R1", "I-R2", "all"]
    assert table.schema["drops_at_source"] == pl.Int64
    delivered = table["throughput_pkts"].to_list()
    assert delivered[2] == pytest.approx(delivered[0] + delivered[1])
    assert results.flows["packets_received"].to_list() == [round(d * 2000) for d in delivered[:2]]
    paths = results.table("series/slotted")
    assert paths["time_s"].to_list()[:4] == [0.0, 0.0, 100.0, 100.0]
    row = results.runs.row(0, named=True)
    found = row["packets_delivered"] + row["packets_dropped"] + row["packets_in_flight"]
    assert found == row["packets_injected"]


def test_a_campaign_has_a_page_of_its_own(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "downlink.toml"
    file.write_text(DOWNLINK + '[sweep]\n"slotted.k_pkts" = [0, 50]\nseeds = 3\n')
    done = cli("campaign", "run", file, "--out", tmp_path / "out")
    assert done.code == 0
    assert "k_pkts = 50" in done.out
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<figure") == 2
    # Three flows' rows for each of two cells, and the header.
    assert page.count("<tr") == 7


def test_a_map_of_stability_has_a_row_for_each_point(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "downlink.toml"
    region = '[slotted.region]\nflows = ["I-R2", "other"]\npoints = 3\nmost_rate = 0.9\n'
    window = 'arrivals = "window"'
    file.write_text(DOWNLINK.replace(window, 'name = "other"\nrate = 0.1') + region)
    assert cli("run", file, "--out", tmp_path / "out").code == 0
    points = Results.open(tmp_path / "out").table("region")
    assert points["y_rate_pkts"].to_list()[:3] == pytest.approx([0.15, 0.45, 0.75])
    # With a channel that is ON in half of the slots, 0.75 is unstable and 0.15 is stable.
    assert points["backlog_slope_pkts"].to_list()[6] > 0.1
    assert abs(points["backlog_slope_pkts"].to_list()[0]) < 0.05


def test_a_report_over_a_slotted_model_and_a_network_is_refused(tmp_path: Path, cli: Cli) -> None:
    slotted, network = tmp_path / "downlink.toml", tmp_path / "chain.toml"
    slotted.write_text(DOWNLINK)
    network.write_text(
        'duration = "1 s"\ntopology = { kind = "chain", nodes = 2, '
        'link = { rate = "1 Mbit/s", delay = "1 ms" } }\n'
        'flow = [{ kind = "transfer", from = "enb1", to = "enb2", size = "1 kB" }]\n'
    )
    for file in (slotted, network):
        assert cli("run", file, "--out", tmp_path / file.stem).code == 0
    found = cli("report", tmp_path / "downlink", tmp_path / "chain", "--out", tmp_path / "p.html")
    assert found.code == 2
    assert "R024" in found.err


def test_a_report_over_results_of_an_older_model_says_so(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "downlink.toml"
    file.write_text(DOWNLINK)
    assert cli("run", file, "--out", tmp_path / "out").code == 0
    path = tmp_path / "out" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_version": "0"}))
    assert "was made by model version 0" in cli("report", tmp_path / "out").err
