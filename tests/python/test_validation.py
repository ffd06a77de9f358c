"""The comparison with Linux: its arithmetic, and its part that takes a second."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pytest
from validation.linux import page
from validation.linux.bounds import MEASURES, Bound, criterion, lost, missed
from validation.linux.measures import (
    Comparison,
    Mode,
    compare,
    count_cuts,
    count_episodes,
    modes,
    summary,
)
from validation.linux.samples import ALGORITHMS, HERE, PATHS, Samples, recorded, runs

BY_NAME = {algorithm.name: algorithm for algorithm in ALGORITHMS}


def of_itself(name: str, path: str) -> Comparison:
    linux = recorded(BY_NAME[name], path)
    return compare(linux, [linux])


def test_a_window_is_cut_once_however_long_it_falls() -> None:
    saw = np.array([100, 110, 80, 60, 50, 51, 80, 110, 100, 98, 97], dtype=float)
    assert count_cuts(saw) == 2
    assert count_cuts(np.array([100, 95, 91, 92, 100.0])) == 0


def test_retransmissions_close_together_are_one_episode() -> None:
    time_s = np.arange(10) / 10
    again = np.array([5, 5, 6, 8, 8, 8, 8, 9, 9, 9.0])
    assert count_episodes(time_s, again) == 2
    assert count_episodes(time_s, np.full(10, 5.0)) == 0


def test_a_bound_is_relative_absolute_or_a_factor() -> None:
    assert Bound(relative=0.01).holds(100, 101)
    assert not Bound(relative=0.01).holds(100, 101.001)
    assert Bound(absolute=1).holds(0, 1)
    assert not Bound(absolute=1).holds(5, 7)
    assert Bound(factor=2).holds(10, 20)
    assert Bound(factor=2).holds(10, 5)
    assert not Bound(factor=2).holds(10, 20.1)


def test_every_trace_gives_the_episodes_counted_when_it_was_recorded() -> None:
    episodes = {"cubic": 4, "highspeed": 10, "illinois": 2, "scalable": 23, "reno": 5}
    for name, count in episodes.items():
        assert summary(recorded(BY_NAME[name], "paths3")).episodes == count, name


def test_a_trace_holds_every_criterion_against_itself_and_a_worse_run_does_not() -> None:
    algorithm = BY_NAME["reno"]
    comparison = of_itself("reno", "clean")
    assert missed(algorithm, "clean", comparison) == []
    halved = dataclasses.replace(comparison.ours, goodput_bps=comparison.ours.goodput_bps / 2)
    worse = dataclasses.replace(comparison, ours=halved)
    assert missed(algorithm, "clean", worse) == ["goodput"]
    before = {("clean", "reno", measure.key): 0.0 for measure in MEASURES}
    assert not list(lost(algorithm, "clean", comparison, before))
    assert len(list(lost(algorithm, "clean", worse, before))) == 1


def test_the_details_name_every_measure_of_every_trace() -> None:
    with (HERE / "details.csv").open(newline="", encoding="utf-8") as file:
        rows = {(row["path"], row["algorithm"], row["measure"]) for row in csv.DictReader(file)}
    for path in PATHS:
        for algorithm in ALGORITHMS:
            assert {(path, algorithm.name, measure.key) for measure in MEASURES} <= rows


def test_the_measured_part_of_a_page_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n", encoding="utf-8")
    page.replace(file, "new")
    text = file.read_text(encoding="utf-8")
    assert "old" not in text
    assert "\n\nnew\n\n" in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    file.write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="marks"):
        page.replace(file, "new")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("reno", "clean"),
        ("vegas", "clean"),
        ("scalable", "clean"),
        ("westwood", "paths3"),
        ("illinois", "r20_rtt100_bdp1"),
        ("highspeed", "r100_rtt20_bdp05"),
    ],
)
def test_a_flow_is_what_linux_was(name: str, path: str) -> None:
    algorithm = BY_NAME[name]
    linux = recorded(algorithm, path)
    comparison = compare(linux, runs(algorithm, path, linux.time_s))
    assert missed(algorithm, path, comparison) == []
    assert any(criterion(algorithm, path, measure) for measure in MEASURES)


def with_peak(samples: Samples, peak_pkts: float, cause: str) -> Samples:
    """The samples with another peak of slow start, ended for another cause."""
    cwnd_pkts = np.minimum(samples.cwnd_pkts, peak_pkts)
    cwnd_pkts[0] = peak_pkts
    return dataclasses.replace(samples, cwnd_pkts=cwnd_pkts, slow_start_exit=cause)


def test_peaks_are_in_a_mode_by_the_cause_that_ended_slow_start() -> None:
    linux = recorded(BY_NAME["cdg"], "clean")
    causes = [(245, "ack-train"), (250, "delay"), (60, "control"), (160, "control")]
    found = modes([with_peak(linux, peak_pkts, cause) for peak_pkts, cause in causes])
    assert found == (Mode("HyStart", 0.5, 245, 250), Mode("a draw", 0.5, 60, 160))
    assert modes([with_peak(linux, 250, "delay")]) == (Mode("HyStart", 1.0, 250, 250),)


@pytest.mark.parametrize(
    ("peak_pkts", "share", "holds"),
    [(247, 0.9, True), (100, 0.1, True), (200, 0.1, False), (100, 0.04, False)],
)
def test_a_peak_holds_in_a_mode_that_is_not_rare(
    peak_pkts: float, share: float, *, holds: bool
) -> None:
    algorithm = BY_NAME["cdg"]
    comparison = of_itself("cdg", "clean")
    by_draw = share if peak_pkts < 240 else 1 - share
    found = dataclasses.replace(
        comparison,
        linux=dataclasses.replace(comparison.linux, peak_cwnd_pkts=peak_pkts),
        modes=(Mode("HyStart", 1 - by_draw, 245, 253), Mode("a draw", by_draw, 59, 160)),
    )
    assert missed(algorithm, "clean", found) == ([] if holds else ["slow start's peak"])
    assert bool(list(lost(algorithm, "clean", found, {}))) is not holds


def test_samples_within_a_packet_are_counted_over_all_runs() -> None:
    linux = recorded(BY_NAME["reno"], "clean")
    near = dataclasses.replace(linux, cwnd_pkts=linux.cwnd_pkts + 1)
    far = dataclasses.replace(linux, cwnd_pkts=linux.cwnd_pkts + 2)
    assert compare(linux, [near]).within_one == 1
    assert compare(linux, [near]).equal == 0
    assert compare(linux, [near, far]).within_one == 0.5


def test_the_table_of_shares_has_every_control_and_every_path() -> None:
    comparisons = {
        (path, algorithm): of_itself(algorithm.name, path)
        for path in PATHS
        for algorithm in ALGORITHMS
    }
    table = page.shares(comparisons).splitlines()
    assert table[2] == "| congestion control | " + " | ".join(PATHS) + " |"
    assert [line.split(" | ")[0] for line in table[4:]] == [f"| {a.title}" for a in ALGORITHMS]
    assert table[4].count("100.0 % (0.000 %)") == len(PATHS)
