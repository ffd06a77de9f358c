"""Records of a run, consumed while it runs."""

from __future__ import annotations

import json
from collections import defaultdict

import polars as pl
import pytest

from backlane import _native

SCENARIO = """
duration = "1 s"
[topology]
kind = "chain"
nodes = 2
link = { rate = "100 Mbit/s", delay = "1 ms" }
[[flow]]
kind = "transfer"
from = "enb1"
to = "enb2"
size = "endless"
[record]
series = ["queue"]
interval = "20 us"
capture = ["enb1"]
"""

SLOTTED = """
[slotted]
slots = 100000
sample_slots = 1
interference = "none"
link = [{ from = "A", to = "B" }]
flow = [{ from = "A", to = "B", rate = 0.5 }]
"""


class Kept:
    """Keeps every piece; raises with the one of this number."""

    def __init__(self, failing: int | None = None) -> None:
        self.rows: defaultdict[str, list[pl.DataFrame]] = defaultdict(list)
        self.files: defaultdict[str, bytes] = defaultdict(bytes)
        self.pieces = 0
        self.failing = failing

    def _count(self) -> None:
        self.pieces += 1
        if self.pieces == self.failing:
            message = "no room"
            raise OSError(message)

    def series(self, probe: str, table: _native.Table) -> None:
        self._count()
        self.rows[probe].append(pl.DataFrame(table))

    def capture(self, node: str, data: bytes) -> None:
        self._count()
        self.files[node] += data


def resolved(text: str) -> str:
    cells = json.loads(_native.plan(text, "test.toml"))["cells"]
    return str(cells[0]["resolved"])


@pytest.mark.parametrize("text", [SCENARIO, SLOTTED], ids=["network", "slotted"])
def test_pieces_are_the_whole(text: str) -> None:
    scenario = resolved(text)
    whole = _native.run(scenario, 1)
    sink = Kept()
    result = _native.run(scenario, 1, sink=sink)
    assert sink.pieces > 1
    assert sink.rows.keys() == whole.series.keys()
    for probe, table in whole.series.items():
        assert pl.concat(sink.rows[probe]).equals(pl.DataFrame(table))
    assert sink.files == whole.captures
    assert result.series == {}
    assert result.captures == {}
    assert result.summary["digest"] == whole.summary["digest"]
    flows = pl.DataFrame(result.tables["flows"])
    assert flows.equals(pl.DataFrame(whole.tables["flows"]))


def test_what_a_sink_raises_ends_the_run() -> None:
    scenario = resolved(SCENARIO)
    sink = Kept()
    _native.run(scenario, 1, sink=sink)
    for failing in (1, sink.pieces):
        with pytest.raises(OSError, match="no room"):
            _native.run(scenario, 1, sink=Kept(failing))
