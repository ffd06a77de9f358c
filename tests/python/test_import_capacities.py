"""`backlane import --capacities`: recorded levels as capacities of links over time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import Cli

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SITES = "id,latitude,longitude\na,44.0,10.0\nb,44.02,10.0\nc,44.02,10.05\n"
LINKS = "link,site_a,site_b,frequency_ghz\nl1,a,b,17\nl2,b,c,17\n"
FAST, DOWN = 337_700_000, 0
"""RAy17 with 56 MHz (RACOM RAy11/17 manual p. 135): 256QAM, and below QPSK's threshold."""


def levels(rows: dict[tuple[str, str], list[tuple[int, float | None]]]) -> str:
    lines = ["link,direction,time_unix_s,rx_dbm"]
    for (link, direction), samples in rows.items():
        for time, level in samples:
            lines.append(f"{link},{direction},{time},{'' if level is None else level}")
    return "\n".join(lines) + "\n"


TWO_WAYS = levels(
    {
        # Clear, a fade of two minutes, clear; the last row repeats the rate.
        ("l1", "near-far"): [(1000, -40), (1060, -120), (1120, -120), (1180, -40), (1240, -40)],
        ("l1", "far-near"): [(1000, -40), (1060, -40), (1120, -120), (1180, -40), (1240, -40)],
    }
)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / name for name in ("sites.csv", "links.csv", "levels.csv")]
    for path, text in zip(paths, (SITES, LINKS, TWO_WAYS), strict=True):
        path.write_text(text)
    return paths


def rows(path: Path) -> list[tuple[float, int]]:
    head, *lines = path.read_text().splitlines()
    assert head == "time_s,rate_bps"
    return [(float(at), int(bps)) for at, bps in (line.split(",") for line in lines)]


def test_recorded_levels_become_a_trace_of_each_direction(
    files: list[Path], tmp_path: Path, cli: Cli
) -> None:
    out = tmp_path / "town.toml"
    done = cli("import", *files, "--out", out, "--capacities", "RAy17:56")
    assert done.code == 0, done.err
    scenario = tomllib.loads(out.read_text())
    first, second = scenario["topology"]["link"]
    assert first["rate"] == "337.7 Mbit/s"
    there, back = (tmp_path / first[key]["file"] for key in ("capacity", "capacity_back"))
    assert rows(there) == [(0, FAST), (60, DOWN), (180, FAST), (240, FAST)]
    assert rows(back) == [(0, FAST), (120, DOWN), (180, FAST), (240, FAST)]
    assert "capacity" not in second, "it has no levels"
    assert scenario["duration"] == "240 s"
    assert cli("check", out).code == 0
    assert "a RAy17 radio with 56 MHz for the capacities of 1 link" in done.err


def test_a_window_of_the_recording_is_played_faster(
    files: list[Path], tmp_path: Path, cli: Cli
) -> None:
    out = tmp_path / "town.toml"
    window = ("--window", "90:210", "--faster", "10")
    assert cli("import", *files, "--out", out, "--capacities", "RAy17:56", *window).code == 0
    scenario = tomllib.loads(out.read_text())
    link = scenario["topology"]["link"][0]
    # The window begins within the fade and ends in clear air.
    assert rows(tmp_path / link["capacity"]["file"]) == [(0, DOWN), (9, FAST), (12, FAST)]
    back = rows(tmp_path / link["capacity_back"]["file"])
    assert back == [(0, FAST), (3, DOWN), (9, FAST), (12, FAST)]
    assert scenario["duration"] == "12 s"


def test_a_scenario_with_capacities_carries_what_they_offer(
    files: list[Path], tmp_path: Path, cli: Cli
) -> None:
    out = tmp_path / "town.toml"
    options = ("--capacities", "RAy17:56", "--faster", "100", "--gateway", "a")
    assert cli("import", *files, "--out", out, *options).code == 0
    text = out.read_text()
    # Flows from b to the core fill the link from b to a: 2.4 s, of which 0.6 s are a fade.
    text = text[: text.index("[access]")] + (
        '[access]\nkind = "none"\n[[flow]]\nkind = "udp"\nfrom = "b"\nto = "server"\n'
        'rate = "500 Mbit/s"\npacket_size = "1250 B"\n'
    )
    out.write_text(text)
    done = cli("run", out, "--out", tmp_path / "results", "--json")
    assert done.code == 0, done.err
    received = done.json["delivered_bytes"] * 8
    # Payload is 1250 of 1278 bytes; the queue of 10 ms and 6 ms of delay are on the way at the end.
    offered = 1.8 * FAST * 1250 / 1278
    assert offered * 0.99 < received <= offered


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--capacities", "RAy17"), "is no radio with a channel"),
        (("--capacities", "RAy17:56", "--window", "9:9"), "is no window of time"),
        (("--capacities", "RAy17:56", "--window", "500:900"), "ends 240 s after"),
        (("--window", "0:9"), "a window without capacities"),
        (("--capacities", "Ray99:56"), "there is no radio"),
    ],
)
def test_what_gives_no_capacities_is_refused(
    files: list[Path], tmp_path: Path, cli: Cli, options: tuple[str, ...], message: str
) -> None:
    done = cli("import", *files, "--out", tmp_path / "town.toml", *options)
    assert done.code != 0
    assert message in done.err
    assert not (tmp_path / "town.toml").exists()


def test_files_without_levels_and_links_without_a_step_are_refused(
    files: list[Path], tmp_path: Path, cli: Cli
) -> None:
    out = tmp_path / "town.toml"
    done = cli("import", *files[:2], "--out", out, "--capacities", "RAy17:56")
    assert "no recorded levels" in done.err
    files[2].write_text(levels({("l1", ""): [(0, -120), (60, -120)]}))
    done = cli("import", *files, "--out", out, "--capacities", "RAy17:56")
    assert "l1 is below the slowest step" in done.err


def test_gaps_of_the_recording_hold_the_former_rate(
    files: list[Path], tmp_path: Path, cli: Cli
) -> None:
    samples: list[tuple[int, float | None]] = [(0, -40), (60, None), (1000, -120), (1060, -120)]
    files[2].write_text(levels({("l1", ""): samples}))
    out = tmp_path / "town.toml"
    done = cli("import", *files, "--out", out, "--capacities", "RAy17:56")
    link = tomllib.loads(out.read_text())["topology"]["link"][0]
    assert rows(tmp_path / link["capacity"]["file"]) == [(0, FAST), (1000, DOWN), (1060, DOWN)]
    # A level counts for 300 s.
    assert "the former rate in gaps of the levels, 700 s" in done.err
