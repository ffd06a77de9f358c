"""Channels and flow rates of a mesh, from the file to the table and the drawn graph."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING

import polars as pl
import pytest

import backlane.cli
from backlane.report.map import Place
from backlane.report.mesh import Load, channel_color, legend_rows, loads, paint_mesh
from backlane.results import Results

if TYPE_CHECKING:
    from pathlib import Path

MESH = """
name = "square"
duration = "4 s"
[topology]
kind = "diamond"
spacing = "50 m"
link = { medium = "wifi" }
[wifi]
loss = 0.0
[assignment]
channels = "fcra"
available = [36, 40, 44]
[routing]
protocol = "l2.5r"
[[flow]]
kind = "udp"
from = "source"
to = "sink"
rate = "8 Mbit/s"
packet_size = "1000 B"
[sweep]
"routing.allocation" = ["packet", "data+ack"]
seeds = 2
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign with its report."""
    folder = tmp_path_factory.mktemp("square")
    (folder / "square.toml").write_text(MESH)
    words = ["campaign", "run", folder / "square.toml", "--out", folder / "out"]
    assert backlane.cli.execute([str(word) for word in words]) == 0
    return folder / "out"


def test_the_table_has_both_directions_of_each_link_and_their_channels(out: Path) -> None:
    results = Results.open(out)
    table = results.assignment
    assert table.schema["channel"] == pl.Int64
    assert table.schema["flow_rate_bps"] == table.schema["scale"] == pl.Float64
    run = table.filter(pl.col("run_id") == table["run_id"][0])
    assert run.height == 8
    ends = ["from", "to", "channel"]
    links = results.links.filter(pl.col("run_id") == table["run_id"][0])
    assert run.select(ends).rows() == links.select(ends).rows()
    assert set(run["channel"].to_list()) <= {36, 40, 44}
    assert run["utilisation"].to_list() == pytest.approx([1.0] * 8, abs=0.6)
    assert 0 < run["scale"][0] <= 1


def test_the_graph_tells_channel_and_bytes_of_each_link(out: Path) -> None:
    page = (out / "report.html").read_text()
    assert "Channels and load" in page
    results = Results.open(out)
    with (out / "figures" / "square-channels-packet.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["a"], row["b"]) for row in rows] == [
        ("source", "top"),
        ("source", "bottom"),
        ("top", "sink"),
        ("bottom", "sink"),
    ]
    packets = [run for run, cell in results.runs.select("run_id", "cell").rows() if cell == 0]
    carried = (
        results.links.filter(
            pl.col("run_id").is_in(packets),
            pl.col("from") == "source",
            pl.col("to") == "top",
        )["bytes"].mean()
    )  # fmt: skip
    assert float(rows[0]["a_to_b_bytes"]) == carried
    assert len(packets) == 2


def test_loads_are_means_over_the_runs_that_are_asked_for(out: Path) -> None:
    results = Results.open(out)
    runs = results.runs["run_id"].to_list()
    each = [loads(results, [run])[0] for run in runs]
    mean = loads(results, runs)[0]
    assert mean.forth_bytes == pytest.approx(sum(one.forth_bytes for one in each) / len(runs))
    assert (mean.a, mean.b) == ("source", "top")


def test_each_direction_is_a_line_as_wide_as_its_load_on_the_right_of_the_way() -> None:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    where = {"a": Place("router", 0.0, 0.0), "b": Place("router", 100.0, 0.0)}
    figure = Figure()
    axes = figure.subplots()
    paint_mesh(axes, where, [Load("a", "b", 6, 3e6, 0.0)])
    forth, back = [line for line in axes.get_lines() if isinstance(line, Line2D)]
    assert forth.get_linewidth() > 5 * back.get_linewidth()
    # Going from the left to the right, the right-hand side is below.
    height = [line.get_transform().transform((50.0, 0.0))[1] for line in (forth, back)]
    assert height[0] < axes.transData.transform((50.0, 0.0))[1] < height[1]
    low, high = axes.get_xlim()
    assert low <= 0.0 < 100.0 <= high
    assert {text.get_text() for text in axes.texts} == {"a", "b", "6"}


def test_a_mesh_that_carried_nothing_is_drawn_thin() -> None:
    from matplotlib.figure import Figure

    where = {"a": Place("router", 0.0, 0.0), "b": Place("router", 0.0, 0.0)}
    axes = Figure().subplots()
    paint_mesh(axes, where, [Load("a", "b", 1, 0.0, 0.0)])
    widths = {line.get_linewidth() for line in axes.get_lines()}
    assert len(widths) == 1
    assert math.isfinite(widths.pop())


def test_seven_channels_have_colours_of_their_own_and_a_legend_of_rows() -> None:
    channels = list(range(1, 8))
    assert len({channel_color(channels, one) for one in channels}) == 7
    assert legend_rows([Load("a", "b", one, 1.0, 1.0) for one in channels]) == 3
