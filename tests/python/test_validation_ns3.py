"""The comparison with ns-3's LENA: its arithmetic, its record, and its parts without ns-3."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from validation.ns3 import ours, page, peer, truth
from validation.ns3.compare import pairs, step_db, summary
from validation.ns3.truth import CONTROLS, DISTANCES_M, SCHEDULERS, Stream

STREAM = Stream("pf", 700.0, 32e6, 18.0, 12.5, 0.0)


def compared(goodput_bps: float = 32e6, mcs_mean: float = 18.0) -> bool:
    ours = dataclasses.replace(STREAM, goodput_bps=goodput_bps, mcs_mean=mcs_mean)
    (pair,) = pairs([STREAM], [ours])
    return pair.holds


def test_a_stream_counts_as_the_same_within_both_bounds_only() -> None:
    assert compared()
    assert compared(goodput_bps=29e6, mcs_mean=17.0)
    assert not compared(goodput_bps=28.7e6)
    assert not compared(goodput_bps=35.3e6)
    assert not compared(mcs_mean=16.9)


def test_runs_of_other_distances_than_the_record_are_refused() -> None:
    with pytest.raises(ValueError, match="not those of the record"):
        pairs([STREAM], [dataclasses.replace(STREAM, distance_m=750.0)])


def test_an_mcs_left_at_half_the_distance_asks_for_eight_decibels_more() -> None:
    assert step_db(1000.0, 500.0) == pytest.approx(26 * 0.30103, abs=1e-4)
    assert step_db(700.0, 700.0) == 0


def test_a_transfer_is_summed_up_from_ten_seconds_on() -> None:
    time_s = np.arange(1, 201) / 10
    samples = {
        "time_s": time_s,
        "delivered_bytes": np.where(time_s <= 10, 0.0, (time_s - 10) * 1e6),
        "cwnd_bytes": np.where(time_s < 9.95, 5e6, 1e6),
        "queue_bytes": np.where(time_s < 9.95, 7e5, 3e5),
        "drops": np.where(time_s < 5, 0.0, 4.0),
        "retransmits": np.where(time_s < 15, 4.0, 5.0),
    }
    found = summary(samples)
    assert found.goodput_bps == pytest.approx(8e6)
    assert (found.cwnd_mean_bytes, found.queue_mean_bytes) == pytest.approx((1e6, 3e5))
    assert (found.queue_max_bytes, found.drops, found.retransmits) == (7e5, 4, 5)


def test_the_record_holds_every_stream_and_transfer_that_is_compared() -> None:
    streams = truth.streams()
    places = [(stream.scheduler, stream.distance_m) for stream in streams]
    assert places == [(scheduler, d) for scheduler in SCHEDULERS for d in DISTANCES_M]
    for stream in streams:
        # Thermal noise of -174 dBm/Hz and 9 dB over 180 kHz; 10 dBm in each resource block.
        loss_db = 36 + 26 * np.log10(stream.distance_m)
        noise_dbm = -174 + 10 * np.log10(180e3) + 9
        assert stream.sinr_db == pytest.approx(10 - loss_db - noise_dbm, abs=0.1)
    for scheduler in SCHEDULERS:
        walk = truth.walk(scheduler)
        assert list(walk) == sorted(walk, reverse=True)
        assert list(walk.values()) == sorted(walk.values())
    for control in CONTROLS:
        samples = truth.transfer(control)
        assert np.all(np.diff(samples["delivered_bytes"]) >= 0)
        assert samples["queue_bytes"].max() <= truth.BUFFER_BYTES


def test_without_ns3_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(peer.Missing, match=r"^g\+\+ is missing.*apt-get install .*libns3-dev$"):
        peer.build(tmp_path)


@pytest.mark.parametrize("distance_m", [350, 700, 1500, 2500])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_stream_here_is_as_fast_as_in_lena(scheduler: str, distance_m: int) -> None:
    lena = next(
        stream
        for stream in truth.streams()
        if (stream.scheduler, stream.distance_m) == (scheduler, distance_m)
    )
    (pair,) = pairs([lena], [ours.stream(scheduler, distance_m)])
    assert pair.holds, f"{pair.goodput:+.1%}, {pair.mcs:+g}"
    assert pair.ours.sinr_db == pytest.approx(lena.sinr_db, abs=0.02)


def test_a_transfer_here_has_the_queue_and_window_of_lena_until_fates_of_packets_differ() -> None:
    lena, mine = truth.transfer("cubic"), ours.transfer("cubic")
    assert lena["time_s"] == pytest.approx(mine["time_s"])
    # There are two overflows before 25 s; at 26 s both lose a retransmission and time out.
    until = lena["time_s"] < 25
    for name, closeness in (("cwnd_bytes", 0.025), ("queue_bytes", 0.025)):
        differences = np.abs(mine[name][until] - lena[name][until])
        assert np.mean(differences) < closeness * np.mean(lena[name][until]), name
    assert mine["delivered_bytes"][until][-1] == pytest.approx(
        lena["delivered_bytes"][until][-1], rel=0.02
    )


def test_the_grid_has_its_ues_where_ns3_has_them() -> None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    scenario = tomllib.loads((truth.HERE / "grid.toml").read_text(encoding="utf-8"))
    ues = [(ue["serving"], ue["x"], ue["y"]) for ue in scenario["access"]["ue"]]
    lines = (truth.HERE / "ues.csv").read_text(encoding="utf-8").splitlines()[1:]
    expected = [line.split(",") for line in lines]
    assert ues == [(f"enb{int(cell) + 1}", f"{x} m", f"{y} m") for cell, x, y in expected]


def test_a_page_without_the_marks_of_a_part_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    begin, end = page.BEGIN.format(part="walk"), page.END.format(part="walk")
    file.write_text(f"before\n{begin}\nold\n{end}\nafter\n", encoding="utf-8")
    page.replace(file, {"walk": "new"})
    assert file.read_text(encoding="utf-8") == f"before\n{begin}\n\nnew\n\n{end}\nafter\n"
    with pytest.raises(ValueError, match="marks of streams are missing"):
        page.replace(file, {"streams": "new"})
