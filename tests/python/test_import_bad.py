"""Wrong files are refused with a code, a place and a fix; no bytes end in another exception."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import random
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import backlane
from backlane.errors import CODES, BacklaneError
from backlane.imports import Options, reading, run

DATA = Path(__file__).parent / "data/import"

XML = '<?xml version="1.0"?>\n'
GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'
KEYS = '<key id="a" for="node" attr.name="Latitude"/><key id="o" for="node" attr.name="Longitude"/>'
KML = '<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{}</Document></kml>'
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
NET = '"type":"NetworkGraph","protocol":"x","version":"1","metric":"x"'
POINT = '{"type":"Feature","properties":{"id":"%s"},"geometry":{"type":"Point","coordinates":%s}}'
MARK = "<Placemark><name>{}</name><Point><coordinates>{}</coordinates></Point></Placemark>"
PATH = "<Placemark><LineString><coordinates>{}</coordinates></LineString></Placemark>"
SITES = "id,latitude,longitude\na,44.1,10.1\nb,44.2,10.2\n"
LINKS = "site_a,site_b,rate_mbps,length_km,loss\n"
CELLS = "radio,mcc,net,area,cell,unit,lon,lat\n"
OLSR = '{"topology":[{"lastHopIP":"1","destinationIP":%s}],"mid":%s}'
SND = "?SNDlib native format; type: network; version: 1.0\n"
SNDXML = '<network xmlns="http://sndlib.zib.de/network">{}</network>'


def graph(body: str) -> str:
    return XML + GRAPHML.format(f'{KEYS}<graph edgedefault="undirected">{body}</graph>')


def features(*rows: str) -> str:
    return '{"type":"FeatureCollection","features":[' + ",".join(rows) + "]}"


def snd(nodes: str, links: str = "", demands: str = "") -> str:
    return f"{SND}NODES (\n{nodes}\n)\nLINKS (\n{links}\n)\nDEMANDS (\n{demands}\n)\n"


def sndxml(nodes: str, links: str = "", demands: str = "") -> str:
    structure = f"<nodes>{nodes}</nodes><links>{links}</links>"
    body = f"<networkStructure>{structure}</networkStructure><demands>{demands}</demands>"
    return XML + SNDXML.format(body)


AB = '<node id="A"/><node id="B"/>'
BAD: dict[str, list[tuple[str, str, str]]] = {
    "sites table": [
        ("R045", ":4", SITES + "a,44.3,10.3\n"),
        ("R045", ":3", "id,latitude,longitude\na,44.1,10.1\n,44.2,10.2\n"),
        ("R044", ":2", "id,latitude,longitude\na,north,10.1\n"),
        ("R044", ":2", "id,latitude,longitude\na,100.5,10.1\nb,110.2,10.2\n"),
        ("R044", ":2", "id,latitude,longitude\na,10.1 E,44.1 N\n"),
        ("R044", ":2", "id,latitude,longitude\na,5000000,600000\nb,5000100,600100\n"),
        ("R041", ":2", "id,latitude,longitude\na,44,1,10,1\n"),
        ("R041", "", 'id,latitude,longitude\n"a,44.1,10.1\n'),
        ("R040", "", "colour,taste\nred,sweet\n"),
        ("R040", "", "1,2,3,4\n5,6,7,8\n9,1,2,3\n"),
        ("R044", ":2", "id,latitude,longitude\na,44°70'00\"N,10.1\n"),
        ("R046", "", SITES),
    ],
    "links table": [
        ("R045", ":2", LINKS + "a,,10,1,0\n"),
        ("R047", ":2", LINKS + "a,b,fast,1,0\n"),
        ("R047", ":2", LINKS + "a,b,-5,1,0\n"),
        ("R047", ":2", LINKS + "a,b,10 parsecs,1,0\n"),
        ("R047", ":2", LINKS + "a,b,10,far,0\n"),
        ("R047", ":2", LINKS + "a,b,10,-1,0\n"),
        ("R047", ":2", LINKS + "a,b,10,1,1.5\n"),
        ("R041", ":2", LINKS + "a,b,10,1,0,7,8\n"),
        ("R041", ":2", "site_pair,rate\nonly one,10\n"),
        ("R044", ":2", "from,to,lat1,lon1,lat2,lon2\na,b,x,10,44,11\n"),
        ("R047", ":3", LINKS + "a,b,10,1,0\nb,c,1e400,1,0\n"),
        ("R047", ":2", LINKS + "a,b,10,90000,0\n"),
    ],
    "geojson": [
        ("R041", ": features", '{"type":"FeatureCollection"}'),
        ("R041", ": features[0]", '{"type":"FeatureCollection","features":[7]}'),
        ("R041", "features[0].geometry", features('{"type":"Feature","geometry":7}')),
        ("R041", ".properties", features('{"type":"Feature","properties":[],"geometry":null}')),
        ("R044", ".coordinates", features(POINT % ("a", '["x",1]'))),
        ("R044", ".coordinates", features(POINT % ("a", "[1]"))),
        ("R045", "features[1]", features(POINT % ("a", "[10,44]"), POINT % ("a", "[11,45]"))),
        ("R044", "features[0]", features(POINT % ("a", "[44,100]"), POINT % ("b", "[45,101]"))),
        ("R044", ": crs", '{"type":"FeatureCollection","crs":{"type":"name","properties":'
         '{"name":"urn:ogc:def:crs:EPSG::3857"}},"features":[]}'),
        ("R041", ":1:", '{"type":"FeatureCollection","features":['),
        ("R041", ".coordinates", features('{"type":"Feature","geometry":{"type":"LineString",'
         '"coordinates":[[1,2]]}}')),
        ("R046", "", features()),
    ],
    "kml": [
        ("R041", ":2:", XML + "<kml><Document>"),
        ("R043", "", XML + KML.format("<NetworkLink><Link><href>http://x.test/a.kml</href></Link>"
         "</NetworkLink>")),
        ("R043", "", XML + BOMB + KML.format("&b;")),
        ("R043", "", XML + OUTSIDE + KML.format("&a;")),
        ("R044", ":2", XML + KML.format(MARK.format("a", "north,south"))),
        ("R041", ":2", XML + KML.format("<Placemark><Point/></Placemark>")),
        ("R044", ":2", XML + KML.format(MARK.format("a", "10"))),
        ("R041", ":2", XML + KML.format(PATH.format("1,2"))),
        ("R044", ":2", XML + KML.format(MARK.format("a", "44,100") + MARK.format("b", "45,99"))),
        ("R046", "", XML + KML.format("")),
    ],
    "graphml": [
        ("R041", ":2", XML + GRAPHML.format("")),
        ("R041", ":2:", XML + "<graphml><graph>"),
        ("R045", ":2", graph('<node id="A"/><node id="A"/>')),
        ("R045", ":2", graph('<node id=""/>')),
        ("R045", ":2", graph(AB + '<edge source="A" target="C"/>')),
        ("R041", ":2", graph(AB + '<edge source="A"/>')),
        ("R044", ":2", graph('<node id="A"><data key="a">x</data><data key="o">1</data></node>')),
        ("R044", ":2", graph('<node id="A"><data key="a">1</data></node>')),
        ("R041", ":2", graph(AB + '<hyperedge><endpoint node="A"/></hyperedge>')),
        ("R043", "", XML + BOMB + GRAPHML.format("&b;")),
        ("R046", "", graph(AB)),
        ("R040", ":2", XML + "<gexf/>"),
    ],
    "netjson": [
        ("R041", ": nodes", f"{{{NET}}}"),
        ("R041", ": links", f'{{{NET},"nodes":[]}}'),
        ("R041", ": nodes[0]", f'{{{NET},"nodes":["a"],"links":[]}}'),
        ("R041", "nodes[0].id", f'{{{NET},"nodes":[{{"name":"a"}}],"links":[]}}'),
        ("R041", "nodes[0].id", f'{{{NET},"nodes":[{{"id":[]}}],"links":[]}}'),
        ("R045", "nodes[1]", f'{{{NET},"nodes":[{{"id":"a"}},{{"id":"a"}}],"links":[]}}'),
        ("R041", "links[0]", f'{{{NET},"nodes":[{{"id":"a"}}],"links":[{{"source":"a"}}]}}'),
        ("R045", "links[0]", f'{{{NET},"nodes":[{{"id":"a"}}],"links":[{{"source":"a",'
         '"target":"b"}]}'),
        ("R044", "nodes[0]", f'{{{NET},"nodes":[{{"id":"a","properties":{{"lat":"x","lon":"y"}}}}]'
         ',"links":[]}'),
        ("R041", ":1:", f"{{{NET}"),
        ("R046", "", f'{{{NET},"nodes":[],"links":[]}}'),
    ],
    "node-link": [
        ("R041", ": nodes", '{"nodes":{"a":1},"edges":[]}'),
        ("R041", ": nodes[0]", '{"nodes":[1],"edges":[]}'),
        ("R041", "nodes[0].id", '{"nodes":[{"id":null}],"edges":[]}'),
        ("R045", "nodes[1]", '{"nodes":[{"id":1},{"id":"1"}],"edges":[]}'),
        ("R041", ": edges", '{"nodes":[{"id":1}],"edges":[],"links":[]}'),
        ("R045", "edges[0]", '{"nodes":[{"id":1}],"edges":[{"source":1,"target":2}]}'),
        ("R041", "links[0]", '{"nodes":[{"id":1}],"links":[{"from":1}]}'),
        ("R045", "links[0]", '{"nodes":[{"name":"x"}],"links":[{"source":0,"target":1}]}'),
        ("R044", "nodes[0]", '{"nodes":[{"id":1,"lat":{},"lon":1}],"edges":[]}'),
        ("R046", "", '{"nodes":[],"edges":[]}'),
        ("R047", "demands[0]", '{"nodes":[{"id":1},{"id":2}],"links":[],"demands":'
         '[{"source":1,"target":2,"demand_value":"much"}]}'),
    ],
    "olsr": [
        ("R041", ".destinationIP", OLSR % ("null", "[]")),
        ("R041", ".destinationIP", OLSR % ("[]", "[]")),
        ("R041", ": mid", OLSR % ('"2"', '"none"')),
        ("R041", "mid[0]", OLSR % ('"2"', "[3]")),
        ("R041", "mid[0].aliases", OLSR % ('"2"', '[{"main":{"ipAddress":"1"},"aliases":4}]')),
        ("R041", ": topology", '{"topology":{},"mid":[]}'),
        ("R041", "topology[0]", '{"topology":["x"],"mid":[]}'),
        ("R041", "", "Table: Links\nLocal IP\tRemote IP\n1\t2\n"),
        ("R041", ":3", "Table: Topology\nDest. IP\tLast hop IP\nlonely\n"),
        ("R046", "", '{"topology":[],"mid":[]}'),
        ("R041", ":3", "Table: Topology\nDest. IP\tLast hop IP\n<b>\t{}\n"),
    ],
    "meshviewer": [
        ("R041", ": nodes[1]", '{"nodes":[{"node_id":"a"},7],"links":[]}'),
        ("R041", "nodes[1].node_id", '{"nodes":[{"node_id":"a"},{"hostname":"b"}],"links":[]}'),
        ("R045", "nodes[1]", '{"nodes":[{"node_id":"a"},{"node_id":"a"}],"links":[]}'),
        ("R041", ": links", '{"nodes":[{"node_id":"a"}],"links":{}}'),
        ("R041", "links[0]", '{"nodes":[{"node_id":"a"}],"links":[[]]}'),
        ("R041", "links[0].source", '{"nodes":[{"node_id":"a"}],"links":[{"target":"a"}]}'),
        ("R041", "links[0].target", '{"nodes":[{"node_id":"a"}],"links":[{"source":"a",'
         '"target":{}}]}'),
        ("R044", "nodes[0]", '{"nodes":[{"node_id":"a","location":{"latitude":"x",'
         '"longitude":1}}],"links":[]}'),
        ("R046", "", '{"nodes":[{"node_id":"a"},{"node_id":"b"}],"links":[]}'),
        ("R046", "", '{"nodes":[{"node_id":"a","is_online":false}],"links":[]}'),
        ("R041", ": nodes[0]", '{"batadv":{},"nodes":["a"]}'),
    ],
    "sndlib native": [
        ("R041", ":2", SND + "NODES\n"),
        ("R041", "", SND + "LINKS (\n)\n"),
        ("R041", "", SND + "NODES (\n A ( 1 2 )\n"),
        ("R041", ":2", SND + ")\n"),
        ("R041", ":3", snd(" A ( x y )")),
        ("R041", ":3", snd(" A ( 1 )")),
        ("R045", ":4", snd(" A ( 1 2 )\n A ( 1 2 )")),
        ("R041", ":6", snd(" A ( 1 2 )", " L A B 0.0")),
        ("R045", ":6", snd(" A ( 1 2 )", " L ( A B ) 0.0 0.0 0.0 0.0 ( )")),
        ("R047", ":7", snd(" A ( 1 2 )\n B ( 2 2 )", " L ( A B ) much 0.0 0.0 0.0 ( )")),
        ("R047", ":10", snd(" A ( 1 2 )\n B ( 2 2 )", " L ( A B ) 1.0 ( )", " D ( A B ) 1 x y")),
        ("R045", ":10", snd(" A ( 1 2 )\n B ( 2 2 )", " L ( A B ) 1.0 ( )", " D ( A C ) 1 2 y")),
    ],
    "sndlib xml": [
        ("R041", ":2", XML + SNDXML.format("")),
        ("R041", ":2:", XML + "<network>"),
        ("R045", ":2", sndxml("<node/>")),
        ("R045", ":2", sndxml('<node id="A"/><node id="A"/>')),
        ("R041", ":2", sndxml('<node id="A"><coordinates><x>a</x><y>1</y></coordinates></node>')),
        ("R041", ":2", sndxml(AB, "<link/>")),
        ("R045", ":2", sndxml(AB, "<link><source>A</source><target>C</target></link>")),
        ("R047", ":2", sndxml(AB, "<link><source>A</source><target>B</target><preInstalledModule>"
         "<capacity>x</capacity></preInstalledModule></link>")),
        ("R041", ":2", sndxml(AB, "", "<demand><source>A</source></demand>")),
        ("R045", ":2", sndxml(AB, "", "<demand><source>A</source><target>C</target><demandValue>1"
         "</demandValue></demand>")),
        ("R043", "", XML + BOMB + SNDXML.format("&b;")),
    ],
    "batman": [
        ("R041", ": vis", '{"vis":{}}'),
        ("R041", "vis[0]", '{"vis":[1]}'),
        ("R041", "vis[0].primary", '{"vis":[{"neighbors":[]}]}'),
        ("R041", "vis[0].primary", '{"vis":[{"primary":{},"neighbors":[]}]}'),
        ("R041", "vis[0].neighbors", '{"vis":[{"primary":"a","neighbors":"b"}]}'),
        ("R041", "vis[0].neighbors[0]", '{"vis":[{"primary":"a","neighbors":[1]}]}'),
        ("R041", "neighbors[0].router", '{"vis":[{"primary":"a","neighbors":[{"neighbor":"b"}]}]}'),
        ("R041", "neighbors[0].neighbor", '{"vis":[{"primary":"a","neighbors":[{"router":"a",'
         '"neighbor":null}]}]}'),
        ("R041", ":1:", '{"vis":['),
        ("R041", "line[0].router", '{"router":null,"neighbor":"b"}\n{"primary":"a"}\n'),
        ("R046", "", '{"vis":[]}'),
    ],
    "bmx6": [
        ("R041", "nodes[1].name", '[{"name":"a","links":[]},{"links":[]}]'),
        ("R041", "nodes[1]", '[{"name":"a","links":[]},7]'),
        ("R041", "nodes[1].name", '[{"name":"a","links":[]},{"name":null,"links":[]}]'),
        ("R041", "nodes[1].name", '[{"name":"a","links":[]},{"name":" ","links":[]}]'),
        ("R041", "nodes[0].links", '[{"name":"a","links":{}}]'),
        ("R041", "nodes[0].links[0]", '[{"name":"a","links":["b"]}]'),
        ("R041", "nodes[0].links[0].name", '[{"name":"a","links":[{"rxRate":1}]}]'),
        ("R041", "nodes[0].links[0].name", '[{"name":"a","links":[{"name":[]}]}]'),
        ("R041", ":1:", '[{"name":"a","links":['),
        ("R046", "", '[{"name":"a","links":[]},{"name":"b","links":[]}]'),
    ],
    "ospf and babel": [
        ("R041", "", "BIRD 2.0 ready.\narea 0.0.0.0\n"),
        ("R041", "", "area 0.0.0.0\nrouter 1.1.1.1\n"),
        ("R041", "", "area 0.0.0.0\n\n\t\tdistance 10\n"),
        ("R046", "", "area 0.0.0.0\n\n\trouter 1.1.1.1\n\n\trouter 1.1.1.2\n"),
        ("R046", "", "area 0\n\trouter 1.1.1.1\n\t\tstubnet 1.2.0.0/16\n\trouter 1.1.1.2\n"),
        ("R046", "", "area 0\n\trouter 1.1.1.1\n\t\trouter 1.1.1.1 metric 1\n"
         "\trouter 1.1.1.2\n"),
        ("R046", "", "area 0\n\trouter 1.1.1.1\n\t\tunreachable\n"),
        ("R046", "", "area 0\n\tnetwork 10.0.0.0/8\n\t\trouter 1.1.1.1\n"),
        ("R041", "", "BABEL 1.0\nversion babeld-1.9\nok\n"),
        ("R041", "", "BABEL 1.0\nadd neighbour 5 address\n"),
    ],
    "cnml": [
        ("R041", ":2", XML + '<cnml><node id="1" lat="x" lon="2"/></cnml>'),
        ("R041", ":2", XML + '<cnml><node id="1" lat="2" lon="?"/></cnml>'),
        ("R041", ":2", XML + '<cnml><node id="1"><link id="2"/></node></cnml>'),
        ("R045", ":2", XML + '<cnml><node id="1"/><node id="1"/></cnml>'),
        ("R045", ":2", XML + '<cnml><node title="x"/></cnml>'),
        ("R046", "", XML + '<cnml><node id="1"/><node id="2"/></cnml>'),
        ("R046", "", XML + "<cnml/>"),
        ("R041", ":2:", XML + '<cnml><node id="1">'),
        ("R041", ":2:", XML + '<cnml><node id="1" id="2"/></cnml>'),
        ("R044", ":2", XML + '<cnml><node id="1" lat="100" lon="9"/>'
         '<node id="2" lat="101" lon="8"/></cnml>'),
        ("R043", "", XML + BOMB + "<cnml>&b;</cnml>"),
    ],
    "gnpy": [
        ("R041", ": elements", '{"elements":7,"connections":[]}'),
        ("R041", "elements[0]", '{"elements":["a"],"connections":[]}'),
        ("R041", "elements[0].uid", '{"elements":[{"type":"Roadm"}],"connections":[]}'),
        ("R041", "elements[0].uid", '{"elements":[{"uid":{},"type":"Roadm"}],"connections":[]}'),
        ("R045", "elements[1]", '{"elements":[{"uid":"a","type":"Roadm"},'
         '{"uid":"a","type":"Roadm"}],"connections":[]}'),
        ("R041", ": connections", '{"elements":[{"uid":"a","type":"Roadm"}],"connections":{}}'),
        ("R041", "connections[0]", '{"elements":[{"uid":"a","type":"Roadm"}],"connections":[1]}'),
        ("R041", ".to_node", '{"elements":[{"uid":"a","type":"Roadm"}],"connections":'
         '[{"from_node":"a"}]}'),
        ("R045", "connections[0]", '{"elements":[{"uid":"a","type":"Roadm"}],"connections":'
         '[{"from_node":"a","to_node":"b"}]}'),
        ("R046", "", '{"elements":[{"uid":"f","type":"Fiber"}],"connections":[]}'),
        ("R044", "elements[0]", '{"elements":[{"uid":"a","type":"Roadm","metadata":{"location":'
         '{"latitude":"x","longitude":2}}}],"connections":[]}'),
    ],
    "open fibre data": [
        ("R041", ": networks", '{"networks":{}}'),
        ("R041", "networks[0]", '{"networks":["a"]}'),
        ("R041", "networks[0].nodes", '{"networks":[{"nodes":1}]}'),
        ("R041", "networks[0].nodes[0].id", '{"networks":[{"nodes":[{}],"spans":[]}]}'),
        ("R045", "networks[0].nodes[1]", '{"networks":[{"nodes":[{"id":"1"},{"id":"1"}]}]}'),
        ("R044", "nodes[0].location", '{"networks":[{"nodes":[{"id":"1","location":'
         '{"coordinates":["x"]}}]}]}'),
        ("R041", "spans[0].start", '{"networks":[{"nodes":[{"id":"1"}],"spans":[{"end":"1"}]}]}'),
        ("R041", "spans[0].end", '{"networks":[{"nodes":[{"id":"1"}],"spans":[{"start":"1",'
         '"end":{}}]}]}'),
        ("R045", "spans[0]", '{"networks":[{"nodes":[{"id":"1"}],"spans":[{"start":"1",'
         '"end":"2"}]}]}'),
        ("R044", "spans[0].route", '{"networks":[{"nodes":[{"id":"1"},{"id":"2"}],"spans":'
         '[{"start":"1","end":"2","route":{"coordinates":[7]}}]}]}'),
        ("R046", "", '{"networks":[]}'),
    ],
    "lists of devices and cells": [
        ("R041", ": nodeList", '{"nodeList":{}}'),
        ("R041", "nodeList[0]", '{"nodeList":[1]}'),
        ("R041", "nodeList[0].name", '{"nodeList":[{}]}'),
        ("R044", "nodeList[0]", '{"nodeList":[{"name":"a","latitude":"x","longitude":1}]}'),
        ("R045", "nodeList[1]", '{"nodeList":[{"name":"a"},{"name":"a"}]}'),
        ("R046", "", '{"nodeList":[{"name":"a"},{"name":"b"}]}'),
        ("R040", "", '[{"colour":"red"}]'),
        ("R044", ":2", CELLS + "GSM,1,1,1,1,1,x,y\n"),
        ("R041", ":2", CELLS + "GSM,1,1\n"),
        ("R044", ":2", CELLS + "GSM,1,1,1,1,1,44,100\nGSM,1,1,1,1,1,45,101\n"),
        ("R046", "", CELLS + "GSM,1,1,1,1,1,4,50\nLTE,1,1,1,1,1,5,50\n"),
        ("R040", "", "OpenVPN CLIENT LIST\nUpdated,now\n"),
    ],
    "traces": [
        ("R041", ":3", "0\n5\nsoon\n"),
        ("R041", ":3", "0\n5\n4\n"),
        ("R041", "", "0\n0\n"),
        ("R041", ":2", "1.0 2.5\n0.5 2.5\n"),
        ("R041", ":2", "1.0 2.5\n2.0 -2.5\n"),
        ("R041", "", "1.0 2.5\n"),
        ("R041", ":3", "time_s,rate_mbps\n1,2\n0,3\n"),
        ("R047", ":2", "time_s,rate_mbps\nnever,2\n2,3\n"),
        ("R047", ":3", "time_s,rate_mbps\n1,2\n2,much\n"),
        ("R041", ":3", "time_s,rate_mbps\n1,2\n2,1e300\n"),
        ("R041", "", "time_s,rate_mbps\n1,2\n1,3\n"),
        ("R047", "steps[1]", '[{"duration_ms":5,"bandwidth_kbps":9},{"duration_ms":5}]'),
        ("R040", "", "time,rain\n1,2\n2,3\n"),
        ("R047", ":2", "link,time_unix_s,rx_dbm\nl1,1,loud\n"),
        ("R047", ":2", "link,time_unix_s,rx_dbm\nl1,then,-40\n"),
    ],
}  # fmt: skip


def refused(path: Path, **options: Any) -> BacklaneError:
    with pytest.raises(BacklaneError) as error:
        run([path], Options(**options))
    assert error.value.code in CODES
    assert error.value.mend
    return error.value


CASES = [
    pytest.param(code, place, text, id=f"{kind}-{index}")
    for kind, rows in BAD.items()
    for index, (code, place, text) in enumerate(rows)
]


def test_there_are_ten_and_more_wrong_files_of_each_format() -> None:
    assert min(len(rows) for rows in BAD.values()) >= 10


@pytest.mark.parametrize(("code", "place", "text"), CASES)
def test_a_wrong_file_is_refused_at_its_place(
    code: str, place: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "wrong"
    path.write_text(text, encoding="utf-8")
    error = refused(path)
    assert error.code == code, error.rendered
    assert place in str(error.place).removeprefix(str(tmp_path)), error.rendered


def test_a_billion_laughs_is_refused_before_it_expands(tmp_path: Path) -> None:
    declared = "".join(
        f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' if i else '<!ENTITY l0 "ha">' for i in range(10)
    )
    for root in ("kml", "graphml", "network", "cnml"):
        path = tmp_path / f"{root}.xml"
        path.write_text(f"{XML}<!DOCTYPE {root} [{declared}]><{root}>&l9;</{root}>")
        assert refused(path).code == "R043"


def test_files_beyond_the_limits_are_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(2 << 30)  # sparse: 2 GiB that take no room
    assert refused(large).code == "R042"
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(b"0" * (reading.MOST_BYTES + 1)))
    assert packed.stat().st_size < 1 << 20
    assert refused(packed).code == "R042"
    archive = tmp_path / "bomb.kmz"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("doc.kml", b" " * (reading.MOST_BYTES + 1))
    assert refused(archive).code == "R042"
    workbook = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(workbook, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/workbook.xml", b" " * (reading.MOST_BYTES + 1))
    assert refused(workbook).code == "R042"
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    assert refused(deep).code in ("R041", "R042")
    nested = tmp_path / "deep.kml"
    nested.write_text("<kml>" + "<Folder>" * 200 + "</Folder>" * 200 + "</kml>")
    assert refused(nested).code == "R042"


def test_no_pipe_device_or_folder_is_read(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path, tmp_path / "missing"):
        assert refused(path).code == "R003"


def test_an_archive_within_an_archive_is_refused(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as file:
        file.writestr("doc.kml", KML.format(""))
    path = tmp_path / "outer.kmz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("doc.kml", inner.getvalue())
    assert refused(path).code == "R041"


def test_swapped_axes_are_found_by_range_letters_and_lengths(tmp_path: Path) -> None:
    path = tmp_path / "sites.csv"
    path.write_text("id,lat,lon\na,122.4,37.7\nb,122.5,37.8\n")
    error = refused(path)
    assert (error.code, "--swap" in str(error.mend)) == ("R044", True)
    assert "swapped" in error.message
    found = run([path], Options(swap=True, rule="mst"))
    assert found.network.sites["a"].position == (37.7, 122.4)
    # Within range both ways: the lengths of links tell. One degree of longitude at 60° is 55.8 km.
    path.write_text("id,lat,lon\na,10,60\nb,10,61\nc,11,60\nd,11,61\n")
    links = tmp_path / "links.csv"
    links.write_text("a,b,length_km\na,b,111.6\nb,d,54.9\nd,c,111.6\nc,a,54.9\n")
    with pytest.raises(BacklaneError) as raised:
        run([path, links], Options())
    assert raised.value.code == "R044"
    assert "swapped" in raised.value.message
    assert run([path, links], Options(swap=True)).understood["links"] == 4


def test_unknown_ends_are_named_with_the_nearest_site_and_can_be_treated(tmp_path: Path) -> None:
    sites, links = tmp_path / "sites.csv", tmp_path / "links.csv"
    sites.write_text("id,lat,lon\ntown,44.1,10.1\nmill,44.2,10.2\n")
    links.write_text("a,b\ntown,mill\nmill,towm\n")
    with pytest.raises(BacklaneError) as raised:
        run([sites, links], Options())
    assert raised.value.code == "R045"
    assert str(raised.value.place).endswith("links.csv:3")
    assert 'did you mean "town"?' in str(raised.value.mend)
    dropped = run([sites, links], Options(unknown="drop"))
    assert dropped.understood["links"] == 1
    assert any("mill–towm" in text for text in dropped.network.texts("dropped"))
    assert run([links, sites], Options(unknown="create")).understood["sites"] == 3


def test_names_are_data_in_the_scenario_and_on_the_screen(tmp_path: Path, cli: Cli) -> None:
    evil = [
        '"]\nduration = "1 s"\n#', "<script>alert(1)</script>", "\x1b[2Jx", "=cmd()", "..", "ues",
        "ue1", "epc", "server", "a" * 500, "名前", "#", "{ }", "'''", '"""', "\\", "nul\u0000",
        "\u202eabc",
    ]  # fmt: skip
    nodes = [{"id": name, "label": f"{name}\n[flow]"} for name in evil]
    links = [{"source": a, "target": b, "cost": 1} for a, b in itertools.pairwise(evil)]
    document = {
        "type": "NetworkGraph", "protocol": "x\n[[flow]]", "version": None, "metric": "\x1b[31m",
        "nodes": nodes, "links": links,
    }  # fmt: skip
    path = tmp_path / "evil.json"
    path.write_text(json.dumps(document))
    out = tmp_path / "evil.toml"
    done = cli("import", path, "--out", out, "--licence", 'x"\n[tcp]\n')
    assert done.code == 0, done.err
    assert "\x1b" not in done.err + done.out
    text = out.read_text()
    assert all(c.isprintable() or c == "\n" for c in text)
    assert backlane.check(out) == []
    assert text.count("[[flow]]\nkind") == 1
    lines = text.splitlines()
    assert [line for line in lines if line.startswith("duration")] == [
        'duration = "60 s" # assumed; a run ends when its transfers have finished'
    ]
    assert not any(line.startswith("[tcp]") for line in lines)
    assert "<script>" not in "".join(line.partition("#")[0] for line in lines)


SAMPLES = {
    path.name: path.read_bytes()
    for path in sorted(DATA.iterdir())
    if path.stat().st_size < 60_000 and path.suffix not in (".md",)
}
JUNK = [None, True, -1, 1e308, 10**40, "", "x", [], {}, [None], {"id": None}, "1e999", [1, "a"]]


def damaged(data: bytes, draw: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(draw.randint(1, 6)):
        if not found:
            break
        at = draw.randrange(len(found))
        kind = draw.randrange(5)
        if kind == 0:
            found[at] = draw.randrange(256)
        elif kind == 1:
            del found[at : at + draw.randint(1, 40)]
        elif kind == 2:
            found[at:at] = draw.choice([b"<", b'"', b",", b";", b"(", b"\n", b"9" * 30, b"\0"])
        elif kind == 3:
            start = draw.randrange(len(found))
            found[at:at] = found[start : start + draw.randint(1, 60)]
        else:
            found = found[:at]
    return bytes(found)


def reshaped(data: bytes, draw: random.Random) -> bytes:
    """JSON with values of other types."""
    value: Any = json.loads(data)
    for _ in range(draw.randint(1, 3)):
        holder: Any = None
        key: Any = None
        inner: Any = value
        while isinstance(inner, dict | list) and inner:
            holder = inner
            key = draw.choice([*inner]) if isinstance(inner, dict) else draw.randrange(len(inner))
            inner = inner[key]
            if draw.random() < 0.25:
                break
        if holder is not None and draw.random() < 0.7:
            holder[key] = json.loads(json.dumps(draw.choice(JUNK)))
        elif holder is not None:
            del holder[key]
    return json.dumps(value).encode()


def only_coded(data: bytes, folder: Path, name: str, rule: str | None = None) -> None:
    """Import bytes; what comes out passes the check, or the error has a code and a fix."""
    path = folder / name
    path.write_bytes(data)
    try:
        found = run([path], Options(rule=rule))
    except BacklaneError as error:
        assert error.code in CODES
        return
    scenario = folder / "out.toml"
    scenario.write_text(found.written.scenario, encoding="utf-8")
    for beside, text in found.written.beside.items():
        (folder / beside).write_text(text, encoding="utf-8")
    backlane.check(scenario)


SETTINGS = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@SETTINGS
@given(st.binary(max_size=400))
def test_any_bytes_are_imported_or_refused_with_a_code(tmp_path: Path, data: bytes) -> None:
    only_coded(data, tmp_path, "any")


@SETTINGS
@given(st.sampled_from(sorted(SAMPLES)), st.integers(0, 2**32))
def test_damaged_files_are_imported_or_refused_with_a_code(
    tmp_path: Path, name: str, seed: int
) -> None:
    draw = random.Random(seed)
    only_coded(damaged(SAMPLES[name], draw), tmp_path, name, draw.choice([None, "mst", "gabriel"]))


def test_a_rate_beyond_any_link_is_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "net.txt"
    file.write_text(
        "?SNDlib native format; type: network; version: 1.0\n"
        "NODES (\n  a ( 10.0 50.0 )\n  b ( 11.0 50.0 )\n)\n"
        "LINKS (\n  l1 ( a b ) 1e30 0.00 0.00 0.00 ( )\n)\n"
    )
    with pytest.raises(BacklaneError, match="cannot be used") as caught:
        run([file], Options())
    assert caught.value.code == "R047"
    assert "net.txt" in (caught.value.place or "")


@SETTINGS
@given(st.sampled_from([n for n in sorted(SAMPLES) if "json" in n]), st.integers(0, 2**32))
def test_json_of_other_shapes_is_imported_or_refused_with_a_code(
    tmp_path: Path, name: str, seed: int
) -> None:
    only_coded(reshaped(SAMPLES[name], random.Random(seed)), tmp_path, name)


SHEETS = {
    "xl/workbook.xml": '<workbook xmlns:r="r"><sheets><sheet name="Nodes" r:id="r1"/>'
    '<sheet name="Links" r:id="r2"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="r1" '
    'Target="worksheets/sheet1.xml"/><Relationship Id="r2" Target="worksheets/sheet2.xml"/>'
    "</Relationships>",
    "xl/sharedStrings.xml": "<sst><si><t>City</t></si><si><r><t>Lati</t></r><r><t>tude</t></r></si>"
    "<si><t>Longitude</t></si></sst>",
    "xl/worksheets/sheet1.xml": "<worksheet><sheetData>"
    '<row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3" t="s"><v>1</v></c>'
    '<c r="C3" t="s"><v>2</v></c></row>'
    '<row r="4"><c r="A4" t="inlineStr"><is><t>Oslo</t></is></c><c r="B4"><v>59.9</v></c>'
    '<c r="C4"><v>10.7</v></c></row>'
    '<row r="5"><c r="A5" t="str"><v>Bergen</v></c><c r="B5"><v>60.4</v></c>'
    '<c r="C5"><v>5.3</v></c></row></sheetData></worksheet>',
    "xl/worksheets/sheet2.xml": "<worksheet><sheetData>"
    '<row><c t="str"><v>Node A</v></c><c t="str"><v>Node Z</v></c>'
    '<c r="E1" t="str"><v>Distance (km)</v></c></row>'
    '<row><c t="str"><v>Oslo</v></c><c t="str"><v>Bergen</v></c><c r="E2"><v>480</v></c></row>'
    "</sheetData></worksheet>",
}  # fmt: skip


def workbook(path: Path, **changes: str) -> Path:
    """A workbook with some of its parts replaced; an empty one is left out."""
    with zipfile.ZipFile(path, "w") as file:
        for name, text in SHEETS.items():
            text = changes.get(Path(name).stem.removesuffix(".xml"), text)
            if text:
                file.writestr(name, text)
    return path


def test_a_workbook_of_nodes_and_links_is_read(tmp_path: Path) -> None:
    found = run([workbook(tmp_path / "net.xlsx")], Options())
    assert found.network.sites["Oslo"].position == (59.9, 10.7)
    (link,) = found.network.links
    assert (link.a, link.b, link.length_m) == ("Oslo", "Bergen", 480_000)
    assert "row 4" in found.network.sites["Oslo"].place


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("R041", {"workbook": ""}),
        ("R041", {"workbook": "<workbook>"}),
        ("R041", {"workbook": "<workbook/>"}),
        ("R041", {"sharedStrings": ""}),
        ("R041", {"sharedStrings": "<sst/>"}),
        ("R041", {"sheet1": "<worksheet><row>"}),
        ("R043", {"sheet1": f"{BOMB}<worksheet>&b;</worksheet>"}),
        ("R043", {"sharedStrings": f"{OUTSIDE}<sst>&a;</sst>"}),
        ("R040", {"sheet1": "", "sheet2": SHEETS["xl/worksheets/sheet1.xml"].replace("4", "9")
                  .replace("<v>0", "<v>7").replace('t="s"><v>7', 't="str"><v>Colour')
                  .replace('t="s"', 't="str"')}),
        ("R045", {"sheet2": SHEETS["xl/worksheets/sheet2.xml"].replace(">Bergen", ">Berlin")}),
        ("R047", {"sheet2": SHEETS["xl/worksheets/sheet2.xml"].replace("480", "far")}),
        ("R044", {"sheet1": SHEETS["xl/worksheets/sheet1.xml"].replace("59.9", "north")}),
    ],
)  # fmt: skip
def test_a_damaged_workbook_is_refused(code: str, changes: dict[str, str], tmp_path: Path) -> None:
    assert refused(workbook(tmp_path / "net.xlsx", **changes)).code == code


def test_any_damage_of_a_workbook_has_a_code(tmp_path: Path) -> None:
    data = workbook(tmp_path / "net.xlsx").read_bytes()
    for seed in range(150):
        only_coded(damaged(data, random.Random(seed)), tmp_path, "damaged.xlsx")


def long_site(index: int) -> str:
    return f"名{index},44.{index % 9},10.{index % 9}\n"


LONG = {
    "newlines": "\n" * 300_000 + "x",
    "blanks in kml": XML + KML.format(MARK.format("a", " " * 300_000 + "x")),
    "digits": "id,latitude,longitude\na," + "1" * 100_000 + "x,10\n",
    "arrows": "site_pair,rate\n" + " " * 100_000 + "x,10\n",
    "quotes": '"' * 300_000,
    "commas": "," * 300_000,
    "brackets": "[" * 300_000,
    "parentheses": SND + "NODES " + "(" * 300_000,
    "calls": "Node('a'" + ")" * 300_000,
    "names of one slug": "id,latitude,longitude\n" + "".join(map(long_site, range(20_000))),
    "one name": "name,latitude,longitude\n" + "x,44.1,10.1\n" * 20_000,
    "one placemark": XML + KML.format(MARK.format("a", "10,44") * 20_000),
}


@pytest.mark.parametrize("kind", LONG)
def test_the_work_on_a_file_grows_no_faster_than_its_length(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.write_text(LONG[kind], encoding="utf-8")
    start = time.process_time()
    refused(path)
    # Each takes less than a second; work in the square of the length takes minutes.
    assert time.process_time() - start < 15
