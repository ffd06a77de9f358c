"""Meshes of 802.11 radios from the file to the tables and the report."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import polars as pl

from backlane.results import Results

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

MESH = """
name = "mesh"
duration = "10 s"
[topology]
kind = "graph"
node = [
  { id = "a", kind = "router", x = "0 m", y = "0 m", channels = [1] },
  { id = "b", kind = "router", x = "100 m", y = "0 m", channels = [1, 6] },
  { id = "c", kind = "router", x = "200 m", y = "0 m", channels = [6] },
]
link = [
  { a = "a", b = "b", medium = "wifi" },
  { a = "b", b = "c", medium = "wifi" },
]
[wifi]
profile = "ns2"
[[flow]]
kind = "transfer"
from = "a"
to = "c"
size = "endless"
[record]
series = ["goodput"]
interval = "1 s"
"""
SWEEP = """
[sweep]
"routing" = [
  { protocol = "shortest-path" },
  { label = "slow", protocol = "olsr", warm_up = "10 s" },
]
seeds = 2
"""


def test_a_run_tells_of_radios_routers_and_goodput(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "mesh.toml"
    file.write_text(MESH)
    assert cli("run", file, "--out", tmp_path / "out").code == 0
    results = Results.open(tmp_path / "out")
    radios = results.wifi.select("node", "channel").rows()
    assert radios == [("a", 1), ("b", 1), ("b", 6), ("c", 6)]
    assert results.wifi.schema["attempts"] == pl.Int64
    assert results.wifi.schema["busy_share"] == pl.Float64
    assert results.routing["node"].to_list() == ["a", "b", "c"]
    assert results.links["channel"].to_list() == [1, 1, 6, 6]
    # The traffic of a link took its share of air time.
    assert 0.3 < results.links["utilisation"].to_list()[0] < 1.0
    series = results.table("series/goodput")
    assert series["time_s"].to_list() == [float(second) for second in range(1, 10)]
    bytes_s = series["delivered_bytes"].to_list()
    assert bytes_s == sorted(bytes_s)
    assert bytes_s[-1] <= results.flows["delivered_bytes"].to_list()[0]


def test_the_report_tells_of_the_air(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "mesh.toml"
    file.write_text(MESH + SWEEP)
    out = tmp_path / "out"
    assert cli("campaign", "run", file, "--out", out).code == 0
    page = (out / "report.html").read_text()
    assert "mesh: air" in page
    assert "attempts without answer" in page
    with (out / "figures" / "mesh-map-slow.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["a"], row["b"], row["channel"]) for row in rows] == [
        ("a", "b", "1"),
        ("b", "c", "6"),
    ]
    with (out / "figures" / "mesh-goodput-slow.csv").open() as lines:
        goodput = [float(row["Mbit/s"]) for row in csv.DictReader(lines)]
    # With a channel for each hop, the capacity of a hop at 2 Mbit/s: 11584 bits in 7.65 ms for the
    # segment with its RTS, CTS and ACK, and half of 1.86 ms for an acknowledgment of two.
    assert 0.8 * 1.35 < sum(goodput) / len(goodput) < 1.35


def test_results_without_radios_have_empty_tables_of_them(single: Path, cli: Cli) -> None:
    assert cli("run", single, "--out", single.parent / "out").code == 0
    results = Results.open(single.parent / "out")
    assert results.wifi.is_empty()
    assert results.links["channel"].null_count() == results.links.height


def test_a_mesh_in_pieces_is_told_before_it_runs(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "mesh.toml"
    file.write_text(MESH.replace("200 m", "9 km"))
    done = cli("run", file, "--out", tmp_path / "out")
    assert done.code == 0
    assert "S114" in done.err
    assert "the radio link b-c is out of range" in done.err


CELLS = """
name = "cells"
duration = "2 s"
[topology]
kind = "cells"
rows = 2
columns = 2
nodes = 5
placement_seed = "run"
link = { medium = "wifi" }
[wifi]
profile = "ns2"
loss = 0.0
[[flow]]
kind = "udp"
from = "n1"
to = ["n2", "n3", "n4", "n5"]
drawn = 2
rate = "100 kbit/s"
[sweep]
"routing.protocol" = ["shortest-path", "aodv"]
seeds = 3
"""


def test_the_runs_of_a_seed_share_the_network_and_the_flows_that_it_draws(
    tmp_path: Path, cli: Cli
) -> None:
    file = tmp_path / "cells.toml"
    file.write_text(CELLS)
    assert cli("campaign", "run", file, "--out", tmp_path / "out").code == 0
    results = Results.open(tmp_path / "out")
    runs = results.runs.select("run_id", "seed")
    places = results.nodes.join(runs, on="run_id").group_by("run_id", "seed", maintain_order=True)
    by_run = [(seed, rows["x_m"].to_list()) for (_, seed), rows in places]
    flows = results.flows.join(runs, on="run_id").group_by("run_id", "seed", maintain_order=True)
    ends = [(seed, rows["flow"].to_list()) for (_, seed), rows in flows]
    for found in (by_run, ends):
        assert [seed for seed, _ in found] == [1, 2, 3, 1, 2, 3]
        assert found[:3] == found[3:]
    assert len({tuple(places) for _, places in by_run}) == 3
    assert all(len(set(names)) == 2 for _, names in ends)
    resolved = (tmp_path / "out" / "cells" / "0000.scenario.resolved.toml").read_text()
    assert 'placement_seed = "run"' in resolved
    # A resolved cell is a scenario: its seed gives the same run.
    (tmp_path / "again.toml").write_text(resolved)
    again = tmp_path / "again"
    assert cli("run", tmp_path / "again.toml", "--seed", "2", "--out", again).code == 0
    assert Results.open(again).nodes["x_m"].to_list() == by_run[1][1]
