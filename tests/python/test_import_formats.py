"""Every format: files as people publish them give the counts that an independent reader found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import backlane
from backlane.errors import BacklaneError
from backlane.imports import Imported, Options, run

DATA = Path(__file__).parent / "data/import"

Counts = dict[str, Any]
EXPECTED: dict[tuple[str, ...], Counts] = {
    # Topology Zoo: edges as in the file without self-loops, pairs of nodes, positions, rates.
    ("Esnet.graphml",): {"sites": 68, "links": 92, "pairs": 79, "positions": 17, "rates": 10},
    ("Interoute.graphml",): {"sites": 110, "links": 156, "pairs": 146, "positions": 96, "rates": 0},
    ("Garr201112.graphml",): {"sites": 61, "links": 89, "pairs": 75, "positions": 48, "rates": 77},
    ("Bren.graphml",): {"sites": 37, "links": 38, "pairs": 38, "positions": 29, "rates": 25},
    ("yed.graphml",): {"sites": 3, "links": 3, "pairs": 2, "positions": 0, "rates": 0},
    ("abilene.xml",): {"sites": 12, "links": 15, "positions": 12, "rates": 15, "demands": 132},
    # Capacities in modules alone: none counts as a rate of the file.
    ("sndlib_modules.txt",): {"sites": 3, "links": 3, "positions": 3, "rates": 0, "demands": 2},
    ("sndlib_pixels.txt",): {"sites": 3, "links": 2, "positions": 0, "positions_are": "drawing"},
    ("sndlib_home_made.json",): {"sites": 3, "links": 2, "positions": 3, "rates": 0, "demands": 1},
    ("topohub_topozoo_Nsfnet.json",): {"sites": 13, "links": 15, "positions": 13, "lengths": 15},
    ("ninux_roma_netjson.json",): {"sites": 147, "links": 191, "positions": 0, "rates": 0},
    ("netjsonmap.json",): {"sites": 55, "links": 25, "positions": 55, "rates": 0},
    ("netjson-3-links.json",): {"sites": 4, "links": 3, "positions": 0, "rates": 0},
    ("netdiff_olsr-2-links-newformat.json",): {"sites": 3, "links": 2, "positions": 0, "rates": 0},
    ("netdiff_olsr-2-links.txt",): {"sites": 3, "links": 2, "positions": 0, "rates": 0},
    ("netdiff_batman.json",): {"sites": 5, "links": 4, "rates": 0},
    ("netdiff_batman.txt",): {"sites": 5, "links": 4, "rates": 0},
    ("netdiff_bmx6.json",): {"sites": 7, "links": 6, "rates": 0},
    ("meshviewer.json",): {"sites": 3, "links": 2, "positions": 2, "rates": 0},
    # Four routers and a transit network with its three members.
    ("ospf_state.txt",): {"sites": 5, "pairs": 5, "positions": 0, "rates": 0},
    ("ofds_nodes.geojson", "ofds_spans.geojson"): {"sites": 2, "links": 1, "positions": 2},
    ("ofds_spans.geojson",): {"sites": 2, "links": 1, "positions": 2, "rates": 1},
    ("ofds_spans.csv",): {"sites": 2, "links": 1, "rates": 1, "lengths": 1},
    ("test_raw_square_topology.kml",): {"sites": 6, "links": 8, "gateways": 2, "positions": 6},
    ("test_raw_square_topology.kmz",): {"sites": 6, "links": 8, "gateways": 2, "positions": 6},
    ("radio_mobile.kml",): {"sites": 2, "links": 1, "positions": 2, "lengths": 1},
    (
        "tgplanner_test_raw_square_topology_sites.csv",
        "tgplanner_test_raw_square_topology_links.csv",
    ): {"sites": 6, "links": 8, "positions": 6, "gateways": 2},
    ("CORONET_Global_Topology.xls",): {
        "sites": 100, "links": 136, "positions": 100, "lengths": 136, "rates": 0,
    },
    # The coordinates are those of a drawing: every fibre is shorter than the straight line.
    ("meshTopologyExampleV2.json",): {
        "sites": 5, "links": 6, "lengths": 6, "positions": 0, "positions_are": "drawing",
    },
    ("netdiff_26494_detail_1.cnml",): {"sites": 94, "links": 12, "positions": 94, "rates": 0},
    ("semicolon_sites.csv", "semicolon_links.csv"): {
        "sites": 3, "links": 2, "positions": 3, "gateways": 1, "rates": 2,
    },
    ("norway_bus_13_part1.log",): {"sites": 0, "traces": 1},
    ("drive.up",): {"sites": 0, "traces": 1},
}  # fmt: skip

WITHOUT_LINKS: dict[str, Counts] = {
    "ccn_sites.csv": {"sites": 10, "positions": 10},
    "AMS_metadatasubset.csv": {"sites": 9, "positions": 9},
    "tgplanner_test_csv_with_latlon_strings.csv": {"sites": 3, "positions": 3},
    "tgplanner_test_sites_with_height.csv": {"sites": 8, "positions": 8},
    "tomeshnet-node-list.json": {"sites": 33, "positions": 33},
    "ofds_nodes.geojson": {"sites": 2, "positions": 2},
    "netjsongraph_geojson-sample.json": {"sites": 8, "positions": 8},
    "opencellid_no_header.csv": {"sites": 3, "positions": 3},
}

REFUSED = {
    "state_plane_feet.csv": ("R044", "3 sites read"),
    "bad_span.geojson": ("R041", "features[0].properties.start"),
    "rain_gauge.csv": ("R040", "neither a capacity nor a level"),
}


def imported(*names: str, **more: Any) -> Imported:
    if "xls" in names[0]:
        pytest.importorskip("xlrd")
    return run([DATA / name for name in names], Options(**more))


def notes(found: Imported, kind: str) -> str:
    return "\n".join(note.text for note in found.network.notes if note.kind == kind)


def save(found: Imported, folder: Path) -> Path:
    path = folder / "imported.toml"
    path.write_text(found.written.scenario, encoding="utf-8")
    for name, text in found.written.beside.items():
        (folder / name).write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("names", EXPECTED, ids="+".join)
def test_a_file_gives_the_counts_of_an_independent_reader(names: tuple[str, ...]) -> None:
    found = imported(*names)
    assert {key: found.understood[key] for key in EXPECTED[names]} == EXPECTED[names]


@pytest.mark.parametrize("names", EXPECTED, ids="+".join)
def test_an_import_passes_the_check_and_runs(names: tuple[str, ...], tmp_path: Path) -> None:
    path = save(imported(*names), tmp_path)
    assert backlane.check(path) == []
    result = backlane.run(path, overrides=[("duration", "3 s")])
    assert result.runs["delivered_bytes"][0] > 0


@pytest.mark.parametrize("name", WITHOUT_LINKS)
def test_sites_without_links_are_refused_until_the_user_names_a_rule(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(BacklaneError) as error:
        imported(name)
    assert error.value.code == "R046"
    wanted = WITHOUT_LINKS[name]
    assert f"{wanted['sites']} sites read and no link" in error.value.message
    assert "--rule" in str(error.value.mend)
    for rule in ("mst", "mesh", "gabriel"):
        found = imported(name, rule=rule)
        assert {key: found.understood[key] for key in wanted} == wanted
        assert found.understood["links"] == 0
        assert all(link.added == f"--rule {rule}" for link in found.network.links)
        assert f"({'--rule ' + rule})" in notes(found, "added")
        path = save(found, tmp_path)
        assert backlane.check(path) == []
    result = backlane.run(path, overrides=[("duration", "3 s")])
    assert result.runs["delivered_bytes"][0] > 0


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_right_is_refused_with_place_and_reason(name: str) -> None:
    code, part = REFUSED[name]
    with pytest.raises(BacklaneError) as error:
        imported(name)
    assert error.value.code == code
    assert part in error.value.rendered
    assert name in str(error.value.place)


def test_networkx_reads_the_same_graphs() -> None:
    networkx = pytest.importorskip("networkx")
    for name in ("Esnet", "Interoute", "Garr201112", "Bren"):
        graph = networkx.read_graphml(DATA / f"{name}.graphml")
        found = imported(f"{name}.graphml")
        loops = networkx.number_of_selfloops(graph)
        assert found.understood["sites"] == graph.number_of_nodes()
        assert found.understood["links"] == graph.number_of_edges() - loops
        rated = sum("LinkSpeedRaw" in data for _, _, data in graph.edges(data=True))
        assert found.understood["rates"] == rated
    document = json.loads((DATA / "topohub_topozoo_Nsfnet.json").read_text())
    graph = networkx.node_link_graph(document, edges="edges")
    found = imported("topohub_topozoo_Nsfnet.json")
    ends = {frozenset((link.a, link.b)) for link in found.network.links}
    assert ends == {frozenset(edge[:2]) for edge in graph.edges}


def test_topology_zoo_names_loops_hyperedges_and_links_of_length_zero() -> None:
    interoute = imported("Interoute.graphml")
    assert "2 links of a site with itself: 17, 73" in notes(interoute, "dropped")
    assert "6 nodes that stand for a hyperedge" in notes(interoute, "read")
    bren = imported("Bren.graphml")
    assert "17 links of length zero" in notes(bren, "warning")
    assert len(bren.network.links) == 38
    garr = imported("Garr201112.graphml")
    assert "19 links of length zero" in notes(garr, "warning")
    assert "14 links parallel to another" in notes(garr, "merged")
    rates = [link.rate_bps for link in garr.network.links if link.rate_bps is not None]
    assert min(rates) == 34e6


def test_parallel_links_become_one_with_the_sum_of_their_rates(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(
        "site_a,site_b,rate_mbps\na,b,100\nb,c,10\na,b,50\n", encoding="utf-8"
    )
    found = run([tmp_path / "links.csv"], Options())
    assert [(link.a, link.b, link.rate_bps) for link in found.network.links] == [
        ("a", "b", 150e6), ("b", "c", 10e6),
    ]  # fmt: skip
    assert 'rate = "150 Mbit/s"' in found.written.scenario
    assert "2 parallel links" in found.written.scenario


def test_no_quality_of_a_link_becomes_a_rate() -> None:
    for name in (
        "ninux_roma_netjson.json", "netdiff_olsr-2-links.txt", "netdiff_batman.json",
        "netdiff_bmx6.json", "meshviewer.json", "ospf_state.txt",
    ):  # fmt: skip
        found = imported(name)
        assert all(link.rate_bps is None for link in found.network.links), name
        assert "never taken as a rate" in notes(found, "read")
        lines = [line for line in found.written.scenario.splitlines() if "{ a = " in line]
        assert lines
        assert all('rate = "100 Mbit/s"' in line for line in lines)
        assert all("# assumed: rate" in line for line in lines)


def test_modules_are_the_rate_where_nothing_is_installed_and_the_unit_can_be_given() -> None:
    found = imported("sndlib_modules.txt")
    assert [link.rate_bps for link in found.network.links] == [155e6, 155e6, 622e6]
    assert "the smallest module of 2 links" in notes(found, "assumed")
    assert "names no unit" in notes(found, "assumed")
    given = imported("sndlib_modules.txt", unit="Gbit/s")
    assert [link.rate_bps for link in given.network.links] == [155e9, 155e9, 622e9]


def test_demands_become_transfers_in_proportion() -> None:
    found = imported("sndlib_modules.txt")
    sizes = [
        int(line.split('"')[1].removesuffix(" B"))
        for line in found.written.scenario.splitlines()
        if line.startswith("size = ")
    ]
    assert sizes == [1_500_000, 500_000]  # 195 : 65, a mean of 1 MB
    values = [demand["value"] for demand in found.written.record["demands"]]
    assert values == [195.0, 65.0]


def test_both_forms_of_kml_are_alike_and_zones_are_no_links() -> None:
    plain = imported("test_raw_square_topology.kml")
    packed = imported("test_raw_square_topology.kmz")
    assert [vars(s) | {"place": ""} for s in plain.network.sites.values()] == [
        vars(s) | {"place": ""} for s in packed.network.sites.values()
    ]
    radio = imported("radio_mobile.kml")
    (link,) = radio.network.links
    assert link.length_m == pytest.approx(11_700, rel=0.005)
    assert "2 lines that draw Fresnel zones" in notes(radio, "dropped")
    assert "in the text of descriptions: not read" in notes(radio, "dropped")


def test_a_span_is_joined_by_ids_although_its_ends_are_150_m_away() -> None:
    for names in (["ofds_nodes.geojson", "ofds_spans.geojson"], ["ofds_spans.geojson"]):
        found = imported(*names)
        (link,) = found.network.links
        assert {link.a, link.b} == {"1", "2"}
        # pyproj 3.7.2, Geod(ellps="WGS84").line_length of the route; the ends are 201 km apart.
        assert link.length_m == pytest.approx(243_679.441, rel=1e-6)


def test_a_trace_starts_at_zero_and_keeps_its_points(tmp_path: Path) -> None:
    found = imported("norway_bus_13_part1.log", name="bus")
    rows = found.written.beside["bus.down.csv"].splitlines()
    assert rows[0] == "time_s,rate_bps"
    assert len(rows) == 46
    assert rows[1] == "0.000000,643414"
    assert "starts at 66.51 s, which becomes 0" in notes(found, "merged")
    assert "Mbit/s (--unit)" in notes(found, "assumed")
    drive = imported("drive.up", name="drive")
    assert drive.written.beside == {"drive.up": (DATA / "drive.up").read_text()}
    # 10 opportunities of 1500 bytes in 100 ms.
    assert drive.network.traces[0].mean_bps == pytest.approx(1.2e6)
    assert drive.network.traces[0].longest_gap_s == pytest.approx(0.040)


def test_a_trace_for_each_direction_makes_both(tmp_path: Path) -> None:
    (tmp_path / "bus.down").write_text("0\n2\n4\n10\n")
    (tmp_path / "bus.up").write_text("0\n50\n100\n")
    found = run([tmp_path / "bus.up", tmp_path / "bus.down"], Options(name="bus"))
    assert 'downlink = "bus.down"\n' in found.written.scenario
    assert 'uplink = "bus.up"\n' in found.written.scenario
    assert backlane.check(save(found, tmp_path)) == []
    with pytest.raises(BacklaneError) as error:
        run([tmp_path / "bus.up", tmp_path / "bus.up"], Options())
    assert error.value.code == "R046"


def test_a_trace_with_long_steps_passes_the_check(tmp_path: Path) -> None:
    path = tmp_path / "slow.csv"
    path.write_text("time_s,rate_mbps\n0,5\n40,6\n80,2\n")
    found = run([path], Options())
    assert 'max_gap = "41 s"' in found.written.scenario
    assert backlane.check(save(found, tmp_path)) == []


def test_the_medium_decides_the_delay(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("a,b,length_km\nx,y,100\n")
    # 100 km over 299 702 547 m/s, and over 299 792 458 m/s / 1.468.
    for medium, delay in (("air", "333.664 us"), ("fibre", "489.672 us")):
        text = run([path], Options(medium=medium)).written.scenario  # type: ignore[arg-type]
        assert f'delay = "{delay}"' in text


@pytest.mark.parametrize(
    ("start", "word"),
    [(b"%PDF-1.7", "PDF"), (b"\x89HDF\r\n", "HDF5"), (b"SQLite format 3\0", "GeoPackage")],
)
def test_common_files_that_are_not_read_are_named(start: bytes, word: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(start + bytes(100))
    with pytest.raises(BacklaneError) as error:
        run([tmp_path / "file"], Options())
    assert error.value.code == "R040"
    assert word in error.value.message


def test_coordinates_in_every_notation_are_degrees() -> None:
    found = imported("tgplanner_test_csv_with_latlon_strings.csv", rule="mst")
    positions = [site.position for site in found.network.sites.values()]
    assert positions == [
        (pytest.approx(5.41692, abs=1e-4), pytest.approx(160.33390, abs=1e-4)),
        (37.7749, -122.4194),
        (-33.8688, 171.2093),
    ]
    zero = imported("tgplanner_test_raw_square_topology_sites.csv", rule="mst")
    assert zero.network.sites["POP6"].position == (0.0, -1.488743884)
    height = imported("tgplanner_test_sites_with_height.csv", rule="mst")
    assert next(iter(height.network.sites.values())).height_m == pytest.approx(10.23396289)
    assert "feet" in notes(height, "dropped")


def test_longitude_and_latitude_are_found_by_name_not_by_order() -> None:
    found = imported("AMS_metadatasubset.csv", rule="mst")
    assert found.network.sites["ams1"].position == (52.305896, 4.670664)
    assert "ams8 and ams9" in notes(found, "warning")


def test_tables_with_semicolons_marks_commas_and_units_are_read() -> None:
    found = imported("semicolon_sites.csv", "semicolon_links.csv")
    first, second = found.network.links
    assert (first.rate_bps, second.rate_bps) == (250.5e6, 1e9)
    assert second.delay_s == pytest.approx(0.25e-3)
    assert found.network.sites["Mast 1"].height_m == 35
    assert found.network.sites["Mast 1"].gateway
    more = found.written.record["links"][0]["more"]
    assert more["frequency"] == "17.9 GHz"
    assert more["bandwidth"] == "28 MHz"
    assert more["gain_a"] == "38.5 dBi"
    assert more["diameter_a"] == "0.6 m"
    assert more["power"] == "10 dBm"


def test_a_length_without_a_unit_has_the_one_that_fits_the_positions(tmp_path: Path) -> None:
    sites, links = tmp_path / "sites.csv", tmp_path / "links.csv"
    # 0.1 degree of latitude is 11.11 km at 44.1° (pyproj 3.7.2, WGS 84: 11 111.9 m).
    sites.write_text("id,lat,lon\na,44.0,10\nb,44.1,10\n")
    for length, unit in ((11.2, "km"), (11_200, "m"), (6.96, "miles"), (36_700, "ft")):
        links.write_text(f"a,b,distance\na,b,{length}\n")
        found = run([sites, links], Options())
        assert found.network.links[0].length_m == pytest.approx(11_200, rel=0.002), unit
        assert f"taken as {unit}, since they fit" in notes(found, "assumed")


def test_a_rate_without_a_unit_is_in_mbit_or_in_the_users_unit(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("a,b,capacity\nx,y,2\ny,z,3 Gbit/s\n")
    found = run([path], Options())
    assert [link.rate_bps for link in found.network.links] == [2e6, 3e9]
    assert "capacity has no unit: taken as Mbit/s" in notes(found, "assumed")
    given = run([path], Options(unit="Gbit/s"))
    assert [link.rate_bps for link in given.network.links] == [2e9, 3e9]
    with pytest.raises(BacklaneError) as error:
        run([path], Options(unit="parsecs"))
    assert error.value.code == "R012"


def test_a_row_with_the_positions_of_both_ends_makes_the_sites(tmp_path: Path) -> None:
    path = tmp_path / "cml.csv"
    path.write_text(
        "cml_id,site_0_lat,site_0_lon,site_1_lat,site_1_lon,length,frequency,polarization\n"
        "1,57.70,11.90,57.75,11.95,6.3,38.1,V\n2,57.75,11.95,57.80,11.90,6.4,38150,H\n"
    )
    found = run([path], Options())
    assert found.understood["sites"] == 3
    assert found.understood["positions"] == 3
    frequencies = [link.more["frequency"] for link in found.network.links]
    assert frequencies == ["38.1 GHz", "38.15 GHz"]


def test_lists_of_objects_are_sites_or_links(tmp_path: Path) -> None:
    nodes, links = tmp_path / "nodes.json", tmp_path / "links.json"
    nodes.write_text(
        '[{"id": 7, "status": "Active", "coordinates": [-73.99, 40.71, 12]},'
        ' {"id": 9, "status": "Planned", "coordinates": [-73.98, 40.72, 3]}]'
    )
    links.write_text('[{"from": 7, "to": 9, "status": "active"}]')
    found = run([nodes, links], Options())
    assert found.network.sites["7"].position == (40.71, -73.99)
    assert found.understood["links"] == 1


def test_a_drive_with_positions_is_a_trace_in_kbit_per_second(tmp_path: Path) -> None:
    path = tmp_path / "drive.csv"
    path.write_text(
        "Timestamp,Longitude,Latitude,RSRP,DL_bitrate,UL_bitrate\n"
        "2019.12.14_10.16.30,-8.39,51.94,-95,1200,10\n"
        "2019.12.14_10.16.31,-8.39,51.94,-95,800,10\n"
        "2019.12.14_10.16.31,-8.39,51.94,-95,900,10\n"
        "2019.12.14_10.16.33,-8.39,51.94,-95,0,10\n"
    )
    (trace,) = run([path], Options()).network.traces
    assert trace.points == [(0.0, 1.2e6), (1.0, 0.9e6), (3.0, 0.0)]
    steps = tmp_path / "steps.json"
    steps.write_text('[{"duration_ms": 500, "bandwidth_kbps": 100, "latency_ms": 9},'
                     ' {"duration_ms": 1500, "bandwidth_kbps": 300}]')  # fmt: skip
    (trace,) = run([steps], Options()).network.traces
    assert trace.points == [(0.0, 1e5), (0.5, 3e5), (2.0, 3e5)]


def test_the_latlon_js_of_olsrd_has_positions_and_aliases(tmp_path: Path) -> None:
    path = tmp_path / "latlon.js"
    path.write_text(
        "/* This file is overwritten regularly by olsrd */\n"
        "Self('10.1.0.1',44.64,10.92,0,'','town');\n"
        "Mid('10.1.0.2','10.2.0.2');\nNode('10.1.0.2',44.65,10.93,0,'10.1.0.1','mill');\n"
        "Link('10.1.0.1','10.2.0.2',1.000,0.900,1.111);\n"
        "Link('10.2.0.2','10.1.0.1',0.900,1.000,1.111);\n"
    )
    found = run([path], Options())
    assert found.network.sites["10.1.0.2"].position == (44.65, 10.93)
    assert found.network.sites["10.1.0.1"].name == "town"
    assert (found.understood["links"], found.understood["rates"]) == (1, 0)


def test_adjacency_data_of_networkx_lists_each_link_once(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(
        '{"directed": false, "multigraph": false, "nodes": [{"id": 1}, {"id": 2}, {"id": 3}],'
        ' "adjacency": [[{"id": 2}], [{"id": 1}, {"id": 3}], [{"id": 2}]]}'
    )
    assert run([path], Options()).understood["links"] == 2


def test_pairs_of_sites_in_one_cell_are_divided_at_the_arrow(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    for pair, ends in (
        ("aa:01-->bb:02", ("aa:01", "bb:02")), ("North - South", ("North", "South")),
        ("n-1 -> n-2", ("n-1", "n-2")), ("A/B", ("A", "B")), ("A-B", ("A", "B")),
    ):  # fmt: skip
        path.write_text(f"site_pair,rate_mbps\n{pair},10\n")
        (link,) = run([path], Options()).network.links
        assert (link.a, link.b) == ends


@pytest.mark.parametrize(
    ("text", "degrees"),
    [
        ("44.6471", 44.6471), ("44,6471", 44.6471), ("-44.5", -44.5), ("44.5 S", -44.5),
        ("S44.5", -44.5), ("44.371N", 44.371), ("44°30'00\"N", 44.5), ("44° 30.6' N", 44.51),
        ("44-30-36.0 N", 44.51), ("44 30 36 S", -44.51), ("44:30:36", 44.51), ("−44.5", -44.5),
    ],
)  # fmt: skip
def test_a_latitude_is_read_in_the_notations_of_surveys(
    text: str, degrees: float, tmp_path: Path
) -> None:
    path = tmp_path / "sites.tsv"
    path.write_text(f"id\tlat\tlon\na\t{text}\t10.5\nb\t44\t10.6\n", encoding="utf-8")
    found = run([path], Options(rule="mst"))
    assert found.network.sites["a"].latitude == pytest.approx(degrees)


def test_netjson_collections_keep_the_graphs_alone(tmp_path: Path) -> None:
    graph = json.loads((DATA / "netjson-3-links.json").read_text())
    path = tmp_path / "collection.json"
    path.write_text(
        json.dumps({"type": "NetworkCollection", "collection": [{"type": "NetworkRoutes"}, graph]})
    )
    found = run([path], Options())
    assert found.understood["links"] == 3
    assert "NetworkRoutes" in notes(found, "dropped")


def test_amplifiers_of_a_sheet_forward_and_have_no_users(tmp_path: Path) -> None:
    sites, links = tmp_path / "nodes.csv", tmp_path / "links.csv"
    sites.write_text("City,Latitude,Longitude,Type\nA,1,1,ROADM\nB,1,2,ILA\nC,1,3,ROADM\n")
    links.write_text("Node A,Node Z,Distance (km)\nA,B,112\nB,C,112\n")
    found = run([sites, links], Options())
    assert 'id = "B", kind = "router"' in found.written.scenario
    assert "1 place without users, by type: B" in notes(found, "read")
    assert "ues = 2" in found.written.scenario


def test_the_neighbours_of_babeld_are_a_star(tmp_path: Path) -> None:
    path = tmp_path / "babel.txt"
    path.write_text(
        "BABEL 1.0\nversion babeld-1.9\nhost x\nmy-id 02:00:00:00:00:01\nok\n"
        "add neighbour 5571 address fe80::1 if wlan0 reach ffff rxcost 256 txcost 256 cost 256\n"
        "add neighbour 5572 address fe80::2 if wlan0 reach ffff rxcost 96 txcost 96 cost 96\n"
    )
    found = run([path], Options())
    assert found.understood["sites"] == 3
    assert "a star" in notes(found, "warning")


def test_cells_at_one_mast_are_one_site() -> None:
    found = imported("opencellid_no_header.csv", rule="mst")
    assert "4 cells (2 GSM, 1 LTE, 1 UMTS) at 4 places to 3 sites" in notes(found, "merged")
    assert "no header" in notes(found, "assumed")


def test_states_of_devices_are_named_and_filter() -> None:
    assert "33 devices, 12 with status active" in notes(
        imported("tomeshnet-node-list.json", rule="mst"), "read"
    )
    active = imported("tomeshnet-node-list.json", rule="mst", keep=("status=active",))
    assert len(active.network.sites) == 12
    cnml = imported("netdiff_26494_detail_1.cnml")
    assert "7 with status Working" in notes(cnml, "read")
    working = imported("netdiff_26494_detail_1.cnml", keep=("status=Working",))
    assert working.understood["sites"] == 7
    assert working.understood["links"] == 2
    assert "status" in notes(imported("ccn_sites.csv", rule="mst"), "warning")


def test_unreachable_routers_and_networks_of_many_members() -> None:
    found = imported("ospf_state.txt")
    assert "4 routers, 2 pairs of neighbours, 1 transit network of 3" in notes(found, "read")
    assert "10.0.0.4" in notes(found, "dropped")
    assert "10.0.0.4" not in found.network.sites
    assert found.network.sites["10.9.0.0/24"].forwards_only


def test_offline_and_vpn_are_left_out_by_name() -> None:
    text = notes(imported("meshviewer.json"), "dropped")
    assert "1 link of type vpn" in text
    assert "1 node offline: aa04" in text
    assert "2 nodes without a link of the mesh: aa05, aa06" in text


def test_all_of_topology_zoo_and_sndlib_import_and_pass_the_check(tmp_path: Path) -> None:
    topohub = pytest.importorskip("topohub")
    data = Path(topohub.__file__).parent / "data"
    done = 0
    for group in ("topozoo", "sndlib"):
        for path in sorted((data / group).glob("*.json")):
            found = run([Path(f"topohub:{group}/{path.stem}")], Options())
            listed = json.loads(path.read_text())
            assert found.understood["sites"] == len(listed["nodes"]), path.stem
            saved = save(found, tmp_path)
            assert backlane.check(saved) == [], path.stem
            if len(found.network.sites) <= 60 and done % 10 == 0:
                result = backlane.run(saved, overrides=[("duration", "1 s")])
                assert result.runs["delivered_bytes"][0] > 0, path.stem
            done += 1
    assert done >= 229
