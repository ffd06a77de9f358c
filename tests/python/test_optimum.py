"""The optimum as explicit paths: cut from the program's flows, followed by runs, never exceeded."""

from __future__ import annotations

import copy
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import backlane
from backlane import optimum
from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from conftest import Cli

LINKS = (
    ("a", "b", 10), ("b", "d", 10), ("a", "c", 20), ("c", "d", 20), ("b", "c", 10), ("d", "e", 40),
)  # fmt: skip
STREAMS = (("a", "d"), ("a", "e"), ("b", "e"), ("c", "b"), ("d", "a"))


GRID = {
    "duration": "4 s",
    "topology": {
        "kind": "grid", "rows": 4, "columns": 4, "spacing": "100 m",
        "link": {"rate": "20 Mbit/s", "delay": "1 ms"},
    },
    "flow": [
        {"kind": "transfer", "from": "enb1", "to": [f"enb{n}" for n in range(5, 17)],
         "size": "endless"},
    ],
}  # fmt: skip


def network(links: tuple[tuple[str, str, float], ...] = LINKS, **more: Any) -> dict[str, Any]:
    """Routers with links of these rates in Mbit/s."""
    names = sorted({end for a, b, _ in links for end in (a, b)})
    return {
        "name": "net",
        "duration": "8 s",
        "topology": {
            "kind": "graph",
            "node": [{"id": name, "kind": "router"} for name in names],
            "link": [
                {"a": a, "b": b, "rate": f"{round(rate * 1e6)} bit/s", "delay": "1 ms"}
                for a, b, rate in links
            ],
        },
    } | more


def streams(pairs: tuple[tuple[str, str], ...], rates_mbps: list[float]) -> list[dict[str, Any]]:
    """UDP sources with these payload rates; 972 bytes of payload are 1000 bytes on a wire."""
    return [
        {
            "kind": "udp", "from": a, "to": b, "packet_size": "972 B",
            "rate": f"{round(rate * 1e6)} bit/s",
        }
        for (a, b), rate in zip(pairs, rates_mbps, strict=True)
    ]  # fmt: skip


def downloads(count: int) -> list[dict[str, Any]]:
    return [
        {"kind": "transfer", "from": a, "to": b, "size": "endless", "count": count}
        for a, b in STREAMS
    ]


def test_links_carry_in_a_run_what_the_program_says_and_every_flow_gets_its_rate() -> None:
    """Sources at their rates, in turns: loads within 1 %, and the flows reach the bound."""
    wanted = network(flow=streams(STREAMS, [100.0] * 5))
    found = optimum.of(wanted, spread="round-robin")
    # Both ways from c to b are used, and both from d to a.
    ends = Counter((path.nodes[0], path.nodes[-1]) for path in found.paths)
    assert ends["c", "b"] == ends["d", "a"] == 2
    [bound] = backlane.bound.of(wanted)
    assert found.least_mbps == pytest.approx(bound.least_mbps, rel=1e-5)
    rates = list(found.rates_mbps.values())
    assert rates == pytest.approx(bound.fair_mbps, rel=1e-5)
    scenario = copy.deepcopy(found.scenario)
    for flow, rate in zip(scenario["flow"], rates, strict=True):
        flow["rate"] = f"{round(0.995 * rate * 1e6)} bit/s"
    run = backlane.run(scenario, seed=1, threads=1)
    for link in run.links.iter_rows(named=True):
        load = 0.995 * found.loads_mbps.get((link["from"], link["to"]), 0.0)
        assert link["bytes"] * 8 / 8 / 1e6 == pytest.approx(load, rel=0.01, abs=0.01), link
    reached = (run.flows["goodput_bps"] / 1e6).to_list()
    assert reached == pytest.approx([0.995 * rate for rate in rates], rel=0.01)
    assert min(reached) <= bound.least_mbps


@pytest.mark.parametrize("spread", ["hash", "round-robin"])
@pytest.mark.parametrize("objective", ["fair", "concurrent"])
def test_no_transfers_over_the_paths_exceed_the_bound(objective: str, spread: str) -> None:
    wanted = network(flow=downloads(3))
    [bound] = backlane.bound.of(wanted)
    found = optimum.of(wanted, objective=objective, spread=spread)
    run = backlane.run(found.scenario, seed=1, threads=1)
    reached = [float(rate) / 1e6 for rate in run.flows["goodput_bps"]]
    assert min(reached) <= bound.least_mbps
    assert sum(reached) <= bound.total_mbps
    # What the shortest paths give to all flows together is less.
    hops = backlane.run(wanted | {"routing": {"protocol": "shortest-path"}}, seed=1, threads=1)
    assert sum(reached) > sum(hops.flows["goodput_bps"]) / 1e6


@pytest.mark.parametrize("seed", range(15))
def test_paths_on_random_networks_carry_the_rates_within_the_links(seed: int) -> None:
    """Each pair's paths are simple, lead along links, and sum up to its flows; no link is over."""
    draws = np.random.default_rng(seed)
    count = int(draws.integers(4, 9))
    names = "abcdefghi"[:count]
    ends = {tuple(sorted((i, (i + 1) % count))) for i in range(count)}
    ends |= {tuple(sorted(draws.choice(count, 2, replace=False))) for _ in range(count)}
    links = tuple((names[a], names[b], float(draws.uniform(5, 20))) for a, b in sorted(ends))
    pairs = tuple(
        (names[a], names[b]) for a, b in (draws.choice(count, 2, replace=False) for _ in range(6))
    )
    objective = ("fair", "concurrent")[seed % 2]
    found = optimum.of(network(links, flow=streams(pairs, [100.0] * 6)), objective=objective)
    rate = {(a, b): mbps for x, y, mbps in links for a, b in ((x, y), (y, x))}
    for path in found.paths:
        assert len(set(path.nodes)) == len(path.nodes)
        assert all(link in rate for link in zip(path.nodes, path.nodes[1:], strict=False))
    for link, load in found.loads_mbps.items():
        assert load <= rate[link] * (1 + 1e-6)
    wanted: dict[tuple[str, str], float] = dict.fromkeys(pairs, 0.0)
    for pair, mbps in zip(pairs, found.rates_mbps.values(), strict=True):
        wanted[pair] += mbps * 1000 / 972
    carried = dict.fromkeys(pairs, 0.0)
    for path in found.paths:
        carried[path.nodes[0], path.nodes[-1]] += path.mbps
    assert carried == pytest.approx(wanted, rel=1e-4)
    if objective == "concurrent":
        assert list(found.rates_mbps.values()) == pytest.approx([found.least_mbps] * 6, rel=1e-4)
    # The rows are a valid scenario.
    backlane.check(found.scenario)


def test_hosts_and_cells_are_at_the_ends_of_paths(cli: Cli, tmp_path: Path) -> None:
    """Paths are those of routers, from the gateway to the cells; the file that is written runs."""
    file, out = tmp_path / "grid.toml", tmp_path / "optimum.toml"
    file.write_text(
        'name = "grid"\nduration = "3 s"\n[topology]\nkind = "grid"\nrows = 2\ncolumns = 2\n'
        'link = { rate = "10 Mbit/s", delay = "1 ms" }\n'
        '[[gateway]]\nattach = ["enb1"]\nlink = { rate = "1 Gbit/s", delay = "1 ms" }\n'
        '[[server]]\nattach = "epc"\nlink = { rate = "1 Gbit/s", delay = "1 ms" }\n'
        '[access]\nkind = "ideal"\nrate = "50 Mbit/s"\ndelay = "1 ms"\nper_enodeb = { enb4 = 4 }\n'
        '[[flow]]\nkind = "download"\nto = "ues"\nsize = "endless"\nstart = "0 s"\n'
    )
    answer = json.loads(cli("optimum", file, "-o", out, "--spread", "round-robin", "--json").out)
    nodes = {tuple(path["nodes"]): path["weight"] for path in answer["paths"]}
    assert nodes == {
        ("epc", "enb1", "enb2", "enb4"): pytest.approx(0.5, abs=1e-4),
        ("epc", "enb1", "enb3", "enb4"): pytest.approx(0.5, abs=1e-4),
    }
    run = backlane.run(out, seed=1, threads=1)
    links = {(row["from"], row["to"]): row["packets"] for row in run.links.iter_rows(named=True)}
    assert abs(links["enb1", "enb2"] - links["enb1", "enb3"]) <= 12  # three a flow
    assert links["enb1", "enb2"] > 500
    shown = cli("optimum", file)
    assert "epc enb1 enb2 enb4" in shown.out and "least flow" in shown.out
    assert "routing = { label" in shown.out + shown.err


def test_paths_lead_over_radios_whose_neighbours_are_those_in_range(tmp_path: Path) -> None:
    """Their links are found when a run begins; a path out of range drops its packets."""
    places = {"a": (0, 0), "b": (70, 0), "c": (70, 40), "d": (140, 0)}
    mesh: dict[str, Any] = {
        "duration": "4 s",
        "topology": {
            "kind": "graph",
            "node": [
                {"id": name, "kind": "router", "x": f"{x} m", "y": f"{y} m"}
                for name, (x, y) in places.items()
            ],
            "link": [],
        },
        "wifi": {"standard": "802.11g", "rate": "12 Mbit/s", "neighbours": "in-range"},
        "flow": streams((("a", "d"),), [1.0]),
    }
    found = optimum.of(mesh)
    assert {len(path["nodes"]) for path in found.scenario["routing"]["explicit_paths"]} == {3}
    run = backlane.run(found.scenario, seed=1)
    assert run.flows["packets_received"].sum() > 400
    over_c = [{"from": "a", "to": "d", "nodes": ["a", "c", "d"]}]
    far = places | {"c": (100, 9000)}
    for node in mesh["topology"]["node"]:
        node["y"] = f"{far[node['id']][1]} m"
    run = backlane.run(mesh | {"routing": {"explicit_paths": over_c}}, seed=1)
    assert run.flows["packets_received"].sum() == 0
    dropped = json.loads(run.runs["dropped_by_cause"][0])
    assert dropped["no_route"] == run.flows["packets_sent"].sum() > 400


def test_paths_of_a_large_network_are_those_of_the_approximation() -> None:
    """Column generation: within its gap of the exact optimum, and no link above its rate."""
    rates = {link: rate for a, b, rate in LINKS for link in ((a, b), (b, a))}
    for scenario in (network(flow=downloads(2)), GRID):
        exact = optimum.of(scenario, objective="concurrent")
        found = optimum.of(scenario, method="approximate")
        assert found.objective == "concurrent"
        assert found.least_mbps == pytest.approx(exact.least_mbps, rel=0.003)
        assert "approximate: all flows get" in found.notes[-1]
        for link, load in found.loads_mbps.items():
            assert load <= rates.get(link, 20.0) * (1 + 1e-6)
        assert optimum.of(scenario, method="approximate").paths == found.paths
    found = optimum.of(GRID, method="approximate", spread="round-robin")
    pairs = tuple(("enb1", f"enb{n}") for n in range(5, 17))
    udp = streams(pairs, [0.97 * found.least_mbps] * len(pairs))
    run = backlane.run(found.scenario | {"flow": udp}, seed=1)
    assert run.flows["packets_received"].sum() > 0.99 * float(run.flows["packets_sent"].sum())
    assert sum(json.loads(run.runs["dropped_by_cause"][0]).values()) == 0


def test_a_flow_that_no_path_serves_is_named_with_the_fix(cli: Cli, tmp_path: Path) -> None:
    """Radios out of range; a network of wires in parts is no valid scenario (S033)."""
    file = tmp_path / "radios.toml"
    file.write_text(
        'duration = "1 s"\n[topology]\nkind = "graph"\nnode = ['
        '{ id = "a", kind = "router", x = "0 m", y = "0 m" }, '
        '{ id = "b", kind = "router", x = "9 km", y = "0 m" }]\n'
        'link = [{ a = "a", b = "b", medium = "wifi" }]\n[wifi]\n'
        '[[flow]]\nkind = "transfer"\nfrom = "a"\nto = "b"\nsize = "1 MB"\n'
    )
    answer = cli("optimum", file)
    assert answer.code == 2 and "error[R050]: no path leads from a to b" in answer.err
    assert f"{file}: flow a-b" in answer.err and "add a link" in answer.err
    parts = network((("a", "b", 10), ("c", "d", 10)), flow=streams((("a", "d"),), [1.0]))
    with pytest.raises(backlane.ScenarioError) as refused:
        optimum.of(parts)
    assert [one["code"] for one in refused.value.diagnostics] == ["S033"]


def test_paths_that_cannot_be_followed_are_named_with_the_fix() -> None:
    """The scenario of an optimum whose network changed since."""
    found = optimum.of(network(flow=downloads(1)))
    scenario = copy.deepcopy(found.scenario)
    links = scenario["topology"]["link"]
    links[:] = [link for link in links if {link["a"], link["b"]} != {"d", "e"}]
    links.append(links[0] | {"a": "c", "b": "e"})
    with pytest.raises(backlane.ScenarioError) as refused:
        backlane.check(scenario)
    assert {one["code"] for one in refused.value.diagnostics} == {"S131"}
    first = refused.value.diagnostics[0]
    assert first["message"] == 'there is no link "d-e"'
    assert first["label"] == 'the neighbours of "d" are "b", "c"'


def test_an_optimum_on_the_second_of_parallel_links_is_refused() -> None:
    links = (("a", "b", 10), ("a", "b", 10))
    with pytest.raises(BacklaneError) as refused:
        optimum.of(network(links, flow=streams((("a", "b"),), [100.0])))
    assert refused.value.code == "R056" and "from a to b" in refused.value.message


def test_the_same_scenario_has_the_same_paths() -> None:
    first, second = (optimum.of(network(flow=downloads(2))) for _ in range(2))
    assert first == second
    with pytest.raises(ValueError, match="objective"):
        optimum.of(network(flow=downloads(2)), objective="most")
