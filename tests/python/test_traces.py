"""Traces in Parquet equal the same rows in CSV."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import polars as pl
import pytest

from backlane import native

ROWS = {"time_s": [0.0, 0.1, 1.0 / 3.0], "rate_bps": [1e6, 0.0, 2.5e9], "note": ["a", "b", "c"]}

SCENARIO = """
duration = "5 s"
[topology]
kind = "chain"
nodes = 2
link = { rate = "1 Gbit/s", delay = "1 ms" }
[access]
kind = "trace"
ues = 1
downlink = "TRACE"
uplink = "TRACE"
at_end = "repeat"
[[flow]]
kind = "upload"
size = "1 MB"
to = "enb2"
"""

CHANNEL = """
duration = "5 s"
[topology]
kind = "grid"
rows = 1
columns = 2
spacing = "1 km"
link = { rate = "1 Gbit/s", delay = "1 ms" }
[access]
kind = "lte"
ues = 1
channel = { sinr = "radio.parquet", ENTITY at_end = "hold" }
[[flow]]
kind = "upload"
size = "1 MB"
to = "enb2"
"""


def planned(folder: Path, text: str) -> dict[str, object]:
    """The plan of a scenario in a folder."""
    plan: dict[str, object] = json.loads(native.module().plan(text, str(folder / "s.toml")))
    return plan


def refused(folder: Path, text: str) -> str:
    """The messages for a scenario that is refused."""
    with pytest.raises(native.module().ScenarioError) as caught:
        native.module().check(text, str(folder / "s.toml"))
    return str(caught.value)


def test_parquet_and_csv_of_the_same_rows_are_the_same_trace(tmp_path: Path) -> None:
    table = pl.DataFrame(ROWS)
    table.write_parquet(tmp_path / "trace")
    table.write_csv(tmp_path / "t.csv")
    (tmp_path / "trace").rename(tmp_path / "t.parquet")
    of = {
        name: planned(tmp_path, SCENARIO.replace("TRACE", name))["cells"]
        for name in ("t.csv", "t.parquet")
    }
    csv, parquet = (cells[0]["resolved"] for cells in of.values())  # type: ignore[index]
    assert csv == parquet.replace("t.parquet", "t.csv")
    assert "0.333333333,2500000000" in csv
    assert "note" not in csv


def test_a_recorded_series_is_a_channel_as_it_is(tmp_path: Path) -> None:
    rows = {
        "run_id": ["r1"] * 6,
        "entity": ["ue1", "ue2"] * 3,
        "time_s": [0.1, 0.1, 0.2, 0.2, 0.3, 0.3],
        "serving": ["enb1"] * 6,
        "sinr_db": [None, None, 19.5, None, 18.0, None],
    }
    pl.DataFrame(rows).write_parquet(tmp_path / "radio.parquet")
    assert "S095" in refused(tmp_path, CHANNEL.replace("ENTITY", ""))
    plan = planned(tmp_path, CHANNEL.replace("ENTITY", 'entity = "ue1", run = "r1",'))
    resolved = plan["cells"][0]["resolved"]  # type: ignore[index]
    # A UE that has not reported has no SINR.
    assert "time_s,sinr_db\n0.2,19.5\n0.3,18\n" in resolved


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"time_s": [0.0, 1.0], "rate_bps": [1.0, None]}, "S072"),
        ({"time_s": [0.0, 1.0], "rate_bps": [1.0, float("nan")]}, "S072"),
        ({"time_s": [1.0, 0.5], "rate_bps": [1.0, 1.0]}, "S091"),
        ({"time_s": [0.0, 1.0]}, "S070"),
        ({"other": [0.0, 1.0]}, "it has none of the columns run_id, entity, time_s"),
    ],
)
def test_a_parquet_file_with_a_hole_is_refused(
    tmp_path: Path, rows: dict[str, list[float]], said: str
) -> None:
    pl.DataFrame(rows).write_parquet(tmp_path / "t.parquet")
    assert said in refused(tmp_path, SCENARIO.replace("TRACE", "t.parquet"))


def test_what_is_no_parquet_file_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_text("time_s,rate_bps\n0,1\n1,2\n")
    said = refused(tmp_path, SCENARIO.replace("TRACE", "t.parquet"))
    assert "S002" in said
    assert "it is no Parquet file" in said


def test_a_table_of_more_rows_than_a_trace_may_have_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from backlane import traces

    monkeypatch.setattr(traces, "MOST_ROWS", 2)
    pl.DataFrame(ROWS).write_parquet(tmp_path / "trace.parquet")
    with pytest.raises(ValueError, match="it has 3 rows, and a table may have 2"):
        traces.csv_of(tmp_path / "trace.parquet")


def test_what_a_signal_raises_ends_a_plan() -> None:
    class AlarmError(Exception):
        """Raised by the handler."""

    def ring(*_: object) -> None:
        raise AlarmError

    rows = ", ".join(str(number) for number in range(1, 25))
    text = f"""
duration = "5 s"
[topology]
kind = "grid"
rows = 256
columns = 256
link = {{ rate = "1 Gbit/s", delay = "1 ms" }}
[sweep]
"tcp.retries" = [{rows}]
"""
    before = signal.signal(signal.SIGALRM, ring)
    try:
        for read in (native.module().check, native.module().plan):
            # Seconds of work, so that the signal arrives during it.
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(AlarmError):
                read(text, "grid.toml")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
