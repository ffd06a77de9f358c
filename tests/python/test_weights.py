"""Costs of links: the loads that follow, a search beside every set there is, and the program."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import backlane
from backlane import weights
from backlane.bound.bounds import parsed
from backlane.bound.network import program_of
from backlane.campaign.plan import make_plan
from backlane.scenario import read
from backlane.weights.least import least_congestion
from backlane.weights.loads import Wires, congestion, loads, wires_of
from backlane.weights.search import search

if TYPE_CHECKING:
    from conftest import Cli

LINKS = (
    ("a", "b", 10), ("b", "d", 10), ("a", "c", 20), ("c", "d", 20), ("b", "c", 10), ("d", "e", 40),
)  # fmt: skip
FLOWS = (("a", "d", 9), ("a", "e", 6), ("b", "e", 3), ("c", "b", 2))


def network(**more: Any) -> dict[str, Any]:
    """A network of five routers with streams of fixed rates, in Mbit/s with headers."""
    return {
        "name": "five",
        "duration": "4 s",
        "topology": {
            "kind": "graph",
            "node": [{"id": one, "kind": "router"} for one in "abcde"],
            "link": [
                {"a": a, "b": b, "rate": f"{rate} Mbit/s", "delay": "1 ms", "queue": "200 packets"}
                for a, b, rate in LINKS
            ],
        },
        "flow": [
            {
                "kind": "udp", "from": a, "to": b, "packet_size": "972 B",
                "rate": f"{rate * 972} kbit/s",
            }
            for a, b, rate in FLOWS
        ],
    } | more  # fmt: skip


def wires(scenario: dict[str, Any]) -> Wires:
    source = read(scenario)
    plan = make_plan(source)
    program = program_of(parsed(plan.cells[0].resolved), 1, "five")
    return wires_of(program, [flow.rate_bps / 1e6 for flow in program.flows if flow.rate_bps])


def as_costs(of: Wires, names: dict[str, int]) -> np.ndarray:
    """Costs by "ab", for both directions, as an array."""
    costs = np.ones(len(of.tails))
    for arc in range(len(of.tails)):
        ends = "abcde"[of.tails[arc]] + "abcde"[of.heads[arc]]
        costs[arc] = names.get(ends, names.get(ends[::-1], 1))
    return costs


def rows(names: dict[str, int]) -> list[dict[str, Any]]:
    return [{"link": f"{ends[0]}-{ends[1]}", "cost": cost} for ends, cost in names.items()]


@pytest.mark.parametrize(
    "names",
    [{}, {"ab": 2, "ac": 2, "bd": 1, "cd": 1}, {"ab": 5}, {"ac": 3, "bc": 1}, {"cd": 7, "bd": 4}],
)
def test_links_carry_in_a_run_what_the_loads_say(names: dict[str, int]) -> None:
    """OSPF divides evenly in turns, so that a run has the fluid's loads but for its ends."""
    of = wires(network())
    load = loads(of, as_costs(of, names))
    routing = {
        "protocol": "ospf", "cost": "fixed", "fixed_cost": 1, "spread": "round-robin",
        "hello_interval": "1 h", "dead_interval": "4 h", "costs": rows(names),
    }  # fmt: skip
    # Links so fast that nothing is dropped, and loads are those that are offered.
    scenario = network(routing=routing)
    for link in scenario["topology"]["link"]:
        link["rate"] = "1 Gbit/s"
    links = backlane.run(scenario, seed=1, threads=1).links
    sent = {(row["from"], row["to"]): row["bytes"] for row in links.iter_rows(named=True)}
    for arc in range(len(of.tails)):
        ends = "abcde"[of.tails[arc]], "abcde"[of.heads[arc]]
        mbps = sent[ends] * 8 / 4 / 1e6
        assert mbps == pytest.approx(load[arc], abs=0.06), ends


def test_the_congestion_of_a_load_is_that_of_the_paper() -> None:
    """By hand: one link of 3 Mbit/s that carries 2.8; slopes 1 up to 1, 3 to 2, 10 to 2.7, 70."""
    of = Wires(2, np.array([0]), np.array([1]), np.array([3.0]), np.array([0]), {1: {0: 2.8}})
    assert congestion(of, np.array([2.8])) == pytest.approx(1 + 3 + 7 + 7)
    assert congestion(of, np.array([3.6])) == pytest.approx(1 + 3 + 7 + 21 + 150 + 1500)


def test_a_search_finds_the_best_of_all_sets_of_costs() -> None:
    ring = network()
    ring["topology"]["link"] = ring["topology"]["link"][:4]
    ring["topology"]["node"] = ring["topology"]["node"][:4]
    ring["flow"] = [flow for flow in ring["flow"] if "e" not in (flow["from"], flow["to"])]
    of = wires(ring)
    assert len(of.free) == 8
    best = min(
        congestion(of, loads(of, np.array(costs, dtype=float)))
        for costs in itertools.product((1, 2, 3), repeat=8)
    )
    found = search(of, 1, 600, 3)
    assert congestion(of, loads(of, found)) == pytest.approx(best)
    assert set(found) <= {1, 2, 3}


@pytest.mark.parametrize("seed", range(12))
def test_no_costs_beat_the_linear_program_on_random_networks(seed: int) -> None:
    draws = np.random.default_rng(seed)
    count = int(draws.integers(4, 8))
    pairs = [(node, (node + 1) % count) for node in range(count)]
    pairs += [tuple(draws.choice(count, 2, replace=False)) for _ in range(count)]
    tails = np.array([end for a, b in pairs for end in (a, b)])
    heads = np.array([end for a, b in pairs for end in (b, a)])
    rates = np.repeat(draws.uniform(5, 20, len(pairs)), 2)
    demands: dict[int, dict[int, float]] = {}
    for _ in range(5):
        source, destination = (int(end) for end in draws.choice(count, 2, replace=False))
        demands.setdefault(destination, {})[source] = float(draws.uniform(1, 12))
    of = Wires(count, tails, heads, rates, np.arange(len(tails)), demands)
    least = least_congestion(of)
    start = congestion(of, loads(of, np.ones(len(tails))))
    found = congestion(of, loads(of, search(of, seed, 300, 20)))
    assert least * (1 - 1e-9) <= found <= start
    # All that is sent arrives.
    load = loads(of, np.ones(len(tails)))
    for destination, sources in demands.items():
        balance = load[heads == destination].sum() - load[tails == destination].sum()
        own = sum(all_.get(destination, 0.0) for all_ in demands.values())
        assert balance == pytest.approx(sum(sources.values()) - own)


def test_the_same_seed_gives_the_same_costs_and_better_ones_than_hops() -> None:
    first, second = (weights.of(network(), seed=3, evaluations=400) for _ in range(2))
    assert first == second
    hops, _, own = first.rated
    assert own.congestion < hops.congestion
    assert own.congestion >= 1 - 1e-9
    assert not math.isnan(own.congestion)


def test_the_rows_run_and_carry_what_was_rated(tmp_path: Path, cli: Cli) -> None:
    """The file that is written, behind a scenario with OSPF: loads are those of the rating."""
    file, out = tmp_path / "five.toml", tmp_path / "costs.toml"
    routing = {
        "protocol": "ospf", "spread": "round-robin", "hello_interval": "1 h",
        "dead_interval": "4 h",
    }  # fmt: skip
    file.write_text(read(network(routing=routing)).text)
    answer = json.loads(cli("weights", file, "-o", out, "--evaluations", "300", "--json").out)
    file.write_text(file.read_text() + "\n" + out.read_text())
    links = backlane.run(file, seed=1, threads=1).links
    most = links.filter(~links["from"].is_in(["e"]))["utilisation"].max()
    assert most == pytest.approx(answer["rated"][2]["utilisation"], abs=0.02)
    shown = cli("weights", file, "--evaluations", "50")
    assert "costs = [{ link = " in shown.out and "these costs" in shown.out


def test_a_chain_leaves_no_choice(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "chain.toml"
    file.write_text(
        'duration = "1 s"\n[topology]\nkind = "chain"\nnodes = 2\n'
        'link = { rate = "10 Mbit/s", delay = "1 ms" }\n'
        '[[flow]]\nkind = "transfer"\nfrom = "enb1"\nto = "enb2"\nsize = "endless"\n'
    )
    answer = cli("weights", file)
    assert answer.code == 2 and "R055" in answer.err
