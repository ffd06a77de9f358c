"""Published values in the figures of a study: where they are drawn, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from test_studies import folder

from backlane.errors import BacklaneError
from backlane.report.figures import INK
from backlane.studies import figures, published
from backlane.studies.study import FigureSpec

__all__ = ["folder"]

CELLS: list[dict[str, Any]] = [{"load": 25, "routing": name} for name in ("OLSR", "per flow")]
PLACES: dict[tuple[Any, Any], float] = {
    (25, "OLSR"): 0.0, (25, "per flow"): 1.0, (50, "OLSR"): 2.7, (50, "per flow"): 3.7,
}  # fmt: skip


def spec(*entries: Any, kind: str = "bars", **options: Any) -> FigureSpec:
    where = {"x": "load", "by": "routing", "metric": "jain", "published": list(entries)}
    return FigureSpec("f", "", kind, "e", where | options)


def mark(**entry: Any) -> published.Mark:
    return published.marks(spec({"source": "table 1"} | entry))[0]


def diamonds(axes: Any) -> list[tuple[float, float]]:
    return [
        (float(x), float(y))
        for line in axes.lines if line.get_marker() == "D"
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    ]  # fmt: skip


def segments(axes: Any) -> list[list[list[float]]]:
    return [
        part.tolist()
        for found in axes.collections if isinstance(found, LineCollection)
        for part in found.get_segments()
    ]  # fmt: skip


def test_a_value_of_a_group_and_a_contender_is_a_diamond_at_its_place() -> None:
    axes = Figure().add_subplot()
    published.paint_places(axes, [mark(x=50, by="OLSR", value=0.6)], PLACES)
    assert diamonds(axes) == [(2.7, 0.6)]
    # Without a group it belongs to each of them.
    axes = Figure().add_subplot()
    published.paint_places(axes, [mark(by="per flow", value=0.8)], PLACES)
    assert diamonds(axes) == [(1.0, 0.8), (3.7, 0.8)]


def test_a_value_of_all_contenders_is_a_line_over_their_places() -> None:
    axes = Figure().add_subplot()
    published.paint_places(axes, [mark(x=25, low=0.5, high=0.7)], PLACES)
    assert diamonds(axes) == []
    ends = sorted(segments(axes))
    assert ends == [
        [[pytest.approx(-0.42), 0.5], [pytest.approx(1.42), 0.5]],
        [[pytest.approx(-0.42), 0.7], [pytest.approx(1.42), 0.7]],
    ]


def test_an_interval_of_one_place_is_a_line_from_end_to_end() -> None:
    axes = Figure().add_subplot()
    published.paint_places(axes, [mark(x=25, by="OLSR", low=0.5, high=0.7)], PLACES)
    assert segments(axes) == [[[0.0, 0.5], [0.0, 0.7]]]


def test_values_on_axes_of_numbers_are_at_their_number_in_their_colour() -> None:
    axes = Figure().add_subplot()
    found = [mark(x="20 Mbit/s", by="OLSR", value=3.0), mark(value=5.0)]
    published.paint_points(axes, found, spec(times=3), {"OLSR": "#0072b2"})
    assert diamonds(axes) == [(60.0, 3.0)]
    assert axes.lines[0].get_markeredgecolor() == "#0072b2"
    assert np.asarray(axes.lines[1].get_ydata()).tolist() == [5.0, 5.0]
    assert axes.lines[1].get_color() == INK


def test_values_of_distributions_are_points_or_upright_lines() -> None:
    axes = Figure().add_subplot()
    found = [mark(value=7.0, share=0.5), mark(value=9.0)]
    published.paint_abscissas(axes, found, published.color_by({}))
    assert diamonds(axes) == [(7.0, 0.5)]
    assert np.asarray(axes.lines[1].get_xdata()).tolist() == [9.0, 9.0]


def test_the_legend_names_them_once_and_only_if_there_are_any() -> None:
    for found, names in (([mark(value=1.0), mark(value=2.0)], ["published"]), ([], None)):
        figure = Figure(layout="constrained")
        published.key(figure, [], [], found)
        legends = [[text.get_text() for text in key.get_texts()] for key in figure.legends]
        assert legends == ([names] if names else [])


@pytest.mark.parametrize(
    ("entry", "kind", "word"),
    [
        ({"value": 1.0}, "bars", "source"),
        ({"source": "s"}, "bars", "value"),
        ({"source": "s", "low": 1.0}, "bars", "value"),
        ({"source": "s", "value": 1.0, "low": 0.0, "high": 2.0}, "bars", "value"),
        ({"source": "s", "value": True}, "bars", "number"),
        ({"source": "s", "value": 1.0, "y": 2}, "bars", "`y`"),
        ({"source": "s", "value": 1.0, "by": "AODV"}, "bars", "AODV"),
        ({"source": "s", "value": 1.0, "x": 26}, "bars", "26"),
        ({"source": "s", "value": 1.0, "metric": "rtt_mean"}, "bars", "rtt_mean"),
        ({"source": "s", "value": 1.0}, "maps", "draws none"),
        (1.0, "bars", "table"),
    ],
)
def test_wrong_entries_are_refused_before_the_first_run(entry: Any, kind: str, word: str) -> None:
    with pytest.raises(BacklaneError, match=word) as error:
        figures.check(spec(entry, kind=kind), CELLS)
    assert error.value.code == "R022"


def test_a_study_draws_them_and_writes_them_beside_its_numbers(
    folder: Path, tmp_path: Path, cli: Cli
) -> None:
    path = folder / "study.toml"
    done = 'published = [{ by = "reno", value = 0.5, source = "table 7" }]\n'
    text = path.read_text().replace('id = "fig1"\n', f'id = "fig1"\n{done}')
    path.write_text(text)
    ran = cli("reproduce", str(folder), "--store", str(tmp_path / "store"), "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["claims"]
    rows = (folder / "figures" / "fig1-finish.csv").read_text().splitlines()
    assert rows[-1] == "published,reno,0.5,0.5,table 7"
    assert "published (table 7)" in (folder / "README.md").read_text()
