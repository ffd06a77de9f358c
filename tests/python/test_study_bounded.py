"""Metrics of studies beside what no routing could beat."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

import backlane
from backlane.studies import metrics
from backlane.studies.view import views

if TYPE_CHECKING:
    from pathlib import Path

NETWORK = """
name = "bounded"
duration = "60 s"
[topology]
kind = "graph"
node = [{ id = "a" }, { id = "b" }]
link = [{ a = "a", b = "b", rate = "10 Mbit/s", delay = "1 ms" }]
[routing]
protocol = "olsr"
warm_up = "10 s"
[[flow]]
kind = "transfer"
from = "a"
to = "b"
size = "12 MB"
[[flow]]
kind = "udp"
from = "a"
to = "b"
rate = "8 kbit/s"
packet_size = "1000 B"
[[failure]]
link = "a-b"
at = "10 s"
until = "12 s"
"""


def test_metrics_beside_the_bound_are_those_of_the_tables(tmp_path: Path) -> None:
    """The share of the bound, routing messages per second, and the silence of a stream."""
    results = backlane.run(NETWORK, seed=1, out=tmp_path / "out")
    (view,) = views(results)
    (bound,) = backlane.bound.of(NETWORK)
    assert bound.finish is not None
    finish_s = results.flows["finish_time_s"][0]
    share = metrics.get("finish_share").of(view)
    assert share == pytest.approx(bound.finish.mean_s / finish_s)
    assert 0.3 < share <= 1.0
    sent = results.table("routing")["message_bytes"].sum()
    simulated_s = results.runs["simulated_s"][0]
    assert metrics.get("control").of(view) == pytest.approx(8 * sent / simulated_s)
    # A packet leaves each second; the link is down for two, and OLSR needs more to use it again.
    silence_s = metrics.get("silence_udp").of(view)
    assert 2.9 < silence_s < 20
    assert silence_s == results.flows["longest_silence_s"][1]
    assert math.isnan(metrics.get("total_share").of(view))
