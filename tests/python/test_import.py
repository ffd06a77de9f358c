"""The verb `import`: output, files, options, and the guide with what its commands print."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import Cli
from scipy.sparse.csgraph import minimum_spanning_tree

import backlane
from backlane import plugins
from backlane.errors import CODES, explain
from backlane.imports import FORMATS, Network, Options, run

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data/import"
GUIDE = ROOT / "docs/guides/import.md"
BACKHAUL = ROOT / "examples/real_backhaul"

SITES = "id,latitude,longitude\na,44.10,10.10\nb,44.20,10.20\nc,44.30,10.10\n"
LINKS = "site_a,site_b,rate_mbps,delay_ms,loss\na,b,100,2,0.001\nb,c,250.5,,\n"


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    sites, links = tmp_path / "sites.csv", tmp_path / "links.csv"
    sites.write_text(SITES)
    links.write_text(LINKS)
    return sites, links


def test_messages_go_to_stderr_and_files_to_stdout(
    two: tuple[Path, Path], tmp_path: Path, cli: Cli
) -> None:
    out = tmp_path / "new" / "net.toml"
    done = cli("import", *two, "--out", out)
    assert done.code == 0, done.err
    assert done.out.splitlines() == [str(out), str(tmp_path / "new" / "net.import.json")]
    assert "read: 3 sites of sites.csv" in done.err
    assert cli("check", out).code == 0
    again = cli("import", *two, "--out", out)
    assert (again.code, "R011" in again.err) == (2, True)
    assert cli("import", *two, "--out", out, "--force").code == 0


def test_json_counts_what_was_understood(two: tuple[Path, Path], tmp_path: Path, cli: Cli) -> None:
    found = cli("import", *two, "--out", tmp_path / "net.toml", "--json").json
    assert found["ok"] is True
    assert found["understood"]["sites"] == 3
    assert found["understood"]["links"] == 2
    assert found["understood"]["rates"] == 2
    assert found["added"] == []
    bad = cli("import", two[0], "--json", "--out", tmp_path / "x.toml")
    assert bad.code == 2
    assert bad.json["errors"][0]["code"] == "R046"
    assert not (tmp_path / "x.toml").exists()


def test_values_of_the_file_are_unmarked_and_all_others_are_assumed(two: tuple[Path, Path]) -> None:
    text = run([*two], Options()).written.scenario
    first, second = (line for line in text.splitlines() if line.startswith("  { a = "))
    assert 'rate = "100 Mbit/s", delay = "2 ms"' in first
    assert "loss = 0.001" in first
    assert "# assumed: queue;" in first
    # 13 684.301 m by pyproj 3.7.2 (Geod, WGS 84), over 299 702 547 m/s: 45.6596 us.
    assert 'rate = "250.5 Mbit/s", delay = "45.66 us"' in second
    for line in text.partition("[[gateway]]")[2].splitlines():
        if re.match(r"(link|duration|kind = \"ideal|ues|size|start|protocol)", line):
            assert "# assumed" in line, line


def test_the_same_files_give_the_same_bytes_and_no_path(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    first, second = (run([*two], Options(name="x")).written for _ in range(2))
    assert first == second
    assert str(tmp_path) not in first.scenario + json.dumps(first.record)
    assert re.search(r"SHA-256 [0-9a-f]{64}, \d+ bytes", first.scenario)
    assert "# Licence of the data: not stated" in first.scenario
    named = run([*two], Options(licence="CC BY 4.0")).written
    assert "# Licence of the data: CC BY 4.0" in named.scenario
    assert named.record["licence"] == "CC BY 4.0"


def test_an_added_link_is_named_with_its_length_and_can_be_refused(
    two: tuple[Path, Path], tmp_path: Path, cli: Cli
) -> None:
    two[1].write_text("site_a,site_b\na,b\n")
    done = cli("import", *two, "--out", tmp_path / "net.toml", "--json")
    (added,) = done.json["added"]
    assert {added["a"], added["b"]} == {"b", "c"}
    # 13 684.301 m by pyproj 3.7.2 (Geod, WGS 84).
    assert added["length_m"] == pytest.approx(13_684.301, abs=0.01)
    text = (tmp_path / "net.toml").read_text()
    assert "# assumed: this link (--pieces join), rate, queue; 13.684 km" in text
    refused = cli("import", *two, "--out", tmp_path / "no.toml", "--pieces", "refuse")
    assert (refused.code, "R048" in refused.err) == (2, True)
    strict = cli("import", *two, "--out", tmp_path / "no.toml", "--no-assume")
    assert (strict.code, "1 links would be added" in strict.err) == (2, True)
    largest = cli("import", *two, "--out", tmp_path / "l.toml", "--pieces", "largest", "--json")
    assert largest.json["scenario"] == {"sites": 2, "links": 1}
    assert "1 site outside of the largest piece: c" in json.dumps(largest.json["notes"])


def test_the_users_rate_delay_and_gateway_are_used(two: tuple[Path, Path]) -> None:
    two[1].write_text("site_a,site_b\na,b\nb,c\n")
    text = run(
        [*two], Options(rate="40 Mbit/s", gateways=("c",), delay="3 ms", assume=False)
    ).written.scenario
    assert text.count('rate = "40 Mbit/s"') == 2
    assert 'attach = ["c"]\n' in text


def test_real_microwave_links_are_imported_and_run(tmp_path: Path) -> None:
    found = run([BACKHAUL / "sites.csv", BACKHAUL / "links.csv"], Options())
    assert found.understood["sites"] == 96
    assert (found.understood["links"], found.understood["pairs"]) == (75, 73)
    assert found.understood["lengths"] == 75
    assert len([link for link in found.network.links if link.added]) == 22
    assert "in 23 pieces of 18, 8, 8, 6" in " ".join(found.network.texts("warning"))
    first = found.written.record["links"][0]
    assert first["length_m"] == 7210
    assert first["more"]["frequency"] == "24.913 GHz"
    assert first["more"]["frequency_back"] == "25.921 GHz"
    assert first["more"]["polarization"] == "V"
    path = tmp_path / "net.toml"
    path.write_text(found.written.scenario)
    assert backlane.check(path) == []
    results = backlane.run(path, overrides=[("duration", "2 s"), ("access.ues", "8")])
    assert results.runs["delivered_bytes"][0] > 0


def test_recorded_levels_are_summed_up_with_their_gaps(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    two[1].write_text("link,site_a,site_b\nl1,a,b\nl2,b,c\n")
    levels = tmp_path / "levels.csv"
    rows = [("l1", 60 * i, -45.0 - 20 * (i == 3)) for i in range(6)]
    rows += [("l2", 0, -50.0), ("l2", 60, -50.0), ("l2", 1000, -52.0)]
    levels.write_text(
        "link,time_unix_s,tx_dbm,rx_dbm\n"
        + "".join(f"{link},{time},9,{rx}\n" for link, time, rx in rows)
        + "l2,1060,9,\n"
    )
    found = run([*two, levels], Options())
    record = {link["more"]["link"]: link["levels"] for link in found.written.record["links"]}
    assert record["l1"] == "6 levels, median -45.0 dBm, least -65.0"
    assert record["l2"] == "3 levels, median -50.0 dBm, least -52.0, 1 gaps of more than 5 min"
    notes = " ".join(note.text for note in found.network.notes)
    assert "10 levels of 2 links, 1 missing; the deepest fade is 20.0 dB on l1" in notes


def scattered(number: int) -> list[tuple[float, float]]:
    draw = random.Random(number)
    return [(45 + draw.random(), 9 + draw.random()) for _ in range(number)]


def by_rule(rule: str, places: list[tuple[float, float]], tmp_path: Path) -> Network:
    path = tmp_path / "sites.csv"
    rows = "".join(f"s{i},{lat!r},{lon!r}\n" for i, (lat, lon) in enumerate(places))
    path.write_text("id,lat,lon\n" + rows)
    return run([path], Options(rule=rule)).network


def chords(places: list[tuple[float, float]]) -> np.ndarray:
    angles = np.radians(np.array(places))
    lat, lon = angles[:, 0], angles[:, 1]
    space = np.column_stack((np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)))
    found: np.ndarray = np.linalg.norm(space[:, None] - space[None], axis=2) * 6_371_008.8
    return found


@pytest.mark.parametrize("all_pairs", [1000, 100])
def test_the_tree_has_the_length_of_scipys(
    all_pairs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Above the limit only near pairs are looked at.
    monkeypatch.setattr("backlane.imports.pieces._ALL_PAIRS", all_pairs)
    number = 400
    places = scattered(number)
    distances = chords(places)
    network = by_rule("mst", places, tmp_path)
    assert len(network.links) == number - 1
    mine = sum(distances[int(link.a[1:]), int(link.b[1:])] for link in network.links)
    assert mine == pytest.approx(minimum_spanning_tree(distances).sum(), rel=1e-9)


@pytest.mark.parametrize("number", [40, 120])
def test_gabriel_links_are_those_of_looking_at_every_third_site(
    number: int, tmp_path: Path
) -> None:
    places = scattered(number)
    squares = chords(places) ** 2
    expected = {
        (i, j)
        for i in range(number)
        for j in range(i)
        if all(
            squares[i, k] + squares[k, j] >= squares[i, j] for k in range(number) if k not in (i, j)
        )
    }
    links = by_rule("gabriel", places, tmp_path).links
    assert {tuple(sorted((int(x.a[1:]), int(x.b[1:])), reverse=True)) for x in links} == expected


def test_a_mesh_keeps_its_degrees_and_adds_no_link_longer_than_the_tree(tmp_path: Path) -> None:
    places = scattered(200)
    distances = chords(places)
    links = by_rule("mesh", places, tmp_path).links
    ends = {frozenset((int(link.a[1:]), int(link.b[1:]))) for link in links}
    degrees = Counter(end for pair in ends for end in pair)
    assert max(degrees.values()) <= 4
    # The first links are the tree's; what follows is shorter than its longest.
    lengths = [distances[int(link.a[1:]), int(link.b[1:])] for link in links]
    longest = max(lengths[:199])
    assert len(lengths) > 220
    assert max(lengths[199:]) <= longest
    # No two sites with fewer than three links could have had one of that length.
    free = [site for site in range(200) if degrees[site] < 3]
    for a, b in itertools.combinations(free, 2):
        assert distances[a, b] > longest or frozenset((a, b)) in ends


def test_text_that_is_not_utf8_is_read_and_said(tmp_path: Path) -> None:
    path = tmp_path / "sites.csv"
    path.write_bytes("id,lat,lon\nKöln,50.9,6.9\nAachen,50.8,6.1\n".encode("cp1252"))
    found = run([path], Options(rule="mst"))
    assert "Köln" in found.network.sites
    assert 'id = "Koln"' in found.written.scenario
    assert any("Windows-1252" in text for text in found.network.texts("assumed"))


def test_tables_in_parquet_and_workbooks_are_read(tmp_path: Path) -> None:
    trace = tmp_path / "trace.parquet"
    pl.DataFrame({"time_s": [5.0, 6.0, 8.0], "rate_bps": [1e6, 2e6, 0.0]}).write_parquet(trace)
    found = run([trace], Options(name="x"))
    assert found.written.beside["x.down.csv"].splitlines()[1:] == [
        "0.000000,1000000", "1.000000,2000000", "3.000000,0",
    ]  # fmt: skip
    sites = tmp_path / "sites.parquet"
    pl.DataFrame({"id": ["a", "b"], "lat": [1.0, 2.0], "lon": [3.0, 4.0]}).write_parquet(sites)
    assert run([sites], Options(rule="mst")).understood["positions"] == 2


def test_projected_coordinates_are_converted_if_the_user_names_their_system() -> None:
    pyproj = pytest.importorskip("pyproj")
    path = DATA / "state_plane_feet.csv"
    found = run([path], Options(crs="EPSG:2272", rule="mst"))
    convert = pyproj.Transformer.from_crs("EPSG:2272", "EPSG:4326", always_xy=True)
    longitude, latitude = convert.transform(1310994.46, 416621.39)
    assert found.network.sites["1"].position == pytest.approx((latitude, longitude))
    feet = run([path], Options(crs="feet", rule="mst"))
    assert feet.understood["positions_are"] == "metres"
    assert feet.network.sites["1"].x_m == pytest.approx(1310994.46 * 0.3048)


def test_every_format_is_listed_and_every_code_explained(cli: Cli) -> None:
    listed = cli("import", "--formats").out
    assert all(re.search(rf"^{name} ", listed, re.MULTILINE) for name in FORMATS)
    columns = cli("import", "--columns").out
    assert "  latitude: latitude, lat," in columns
    assert "  rate [mbps]: rate, capacity," in columns
    for code in [f"R0{number}" for number in range(40, 50)]:
        assert code in CODES
        assert explain(code)
        assert code in GUIDE.read_text()


def test_an_importer_of_another_package_is_used_by_its_name(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        plugins, "importer", lambda name: (lambda _: "name = 'x'\n") if name == "own" else None
    )
    (tmp_path / "net.bin").write_text("?")
    out = tmp_path / "net.toml"
    assert cli("import", tmp_path / "net.bin", "--format", "own", "--out", out).code == 0
    assert out.read_text() == "name = 'x'\n"
    done = cli("import", tmp_path / "net.bin", "--format", "other", "--out", out)
    assert (done.code, "R040" in done.err) == (2, True)


def shown(command: str, folder: Path) -> str:
    """What a command prints on a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "backlane", *_words(command)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"},
        check=False,
    )
    # Tables are padded with spaces, which have no place in a page.
    return re.sub(r" +$", "", done.stdout, flags=re.MULTILINE)


def printed_by(code: str, folder: Path) -> str:
    """What a program prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def _words(command: str) -> list[str]:
    import shlex

    return shlex.split(command)[1:]


def test_the_guide_shows_what_its_commands_print(tmp_path: Path) -> None:
    page = GUIDE.read_text(encoding="utf-8")
    for name, text in re.findall(r"^```csv (\S+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = 0

    def printed(found: re.Match[str]) -> str:
        nonlocal commands
        commands += 1
        return f"{found[1]}{shown(found[2], tmp_path)}```\n"

    block = re.compile(
        r"(^```sh\n(backlane (?:import|check|budget)[^\n]*)\n```\n\n```text\n).*?^```\n",
        re.DOTALL | re.MULTILINE,
    )
    fresh = block.sub(printed, page)
    scenario = (tmp_path / "town.toml").read_text()
    links = re.search(r"^link = \[\n.*?^\]\n", scenario, re.DOTALL | re.MULTILINE)
    assert links
    fresh = re.sub(
        r"(^```toml links\n).*?(^```$)",
        lambda found: found[1] + links[0] + found[2],
        fresh,
        flags=re.DOTALL | re.MULTILINE,
    )
    assert commands == 7
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    fresh = re.sub(
        r"(^```text printed\n).*?(^```$)",
        lambda found: found[1] + printed_by(code, tmp_path) + found[2],
        fresh,
        flags=re.DOTALL | re.MULTILINE,
    )
    if os.environ.get("UPDATE_GOLDEN") and fresh != page:
        GUIDE.write_text(fresh, encoding="utf-8")
    else:
        assert fresh == page, "UPDATE_GOLDEN=1 writes the page"
