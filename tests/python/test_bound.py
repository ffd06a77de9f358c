"""The bounds against exhaustive search, against their own proofs, and against runs."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bound_networks import any_mesh, any_network
from conftest import BASE, Cli

import backlane
from backlane.bound import frames, wifi
from backlane.bound.bounds import Bound, _large_total, of
from backlane.bound.finish import shortest_remaining_first
from backlane.bound.linear import LinearProgram
from backlane.bound.network import Builder, program_of
from backlane.bound.paths import Paths
from backlane.bound.program import Class, Program
from backlane.bound.streams import Streams
from backlane.campaign.plan import parse_overrides
from backlane.errors import BacklaneError

EPSILON = 3e-6


def resolved(file: Path) -> dict[str, Any]:
    from backlane.bound.bounds import parsed

    return parsed(backlane.plan(file).cells[0].resolved)


def program(file: Path, seed: int = 1) -> Program:
    return program_of(resolved(file), seed, str(file))


def random_network(seed: int, sizes: bool, nodes: int = 5) -> str:
    """A connected network of routers with random rates, and flows between random pairs."""
    draw = random.Random(seed)
    pairs = [(draw.randrange(after), after) for after in range(1, nodes)]
    others = [pair for pair in itertools.combinations(range(nodes), 2) if pair not in pairs]
    pairs += draw.sample(others, min(len(others), draw.randrange(1, 4)))
    ids = ", ".join(f'{{ id = "r{node}", kind = "router" }}' for node in range(nodes))
    links = ", ".join(
        f'{{ a = "r{a}", b = "r{b}", rate = "{draw.choice([2, 3, 5, 8])} Mbit/s", '
        f'delay = "{draw.choice([1, 3, 10])} ms", queue = "30 packets" }}'
        for a, b in pairs
    )
    text = f'duration = "6 s"\n[topology]\nkind = "graph"\nnode = [{ids}]\nlink = [{links}]\n'
    for _ in range(draw.randrange(2, 5)):
        source, destination = draw.sample(range(nodes), 2)
        size = f"{draw.choice([100, 300, 700])} kB" if sizes else "endless"
        start = f"{draw.choice([0, 200])} ms" if sizes else "0 s"
        text += (
            f'[[flow]]\nkind = "transfer"\nfrom = "r{source}"\nto = "r{destination}"\n'
            f'size = "{size}"\nstart = "{start}"\n'
        )
    return text


def written(folder: Path, text: str) -> Path:
    file = folder / "s.toml"
    file.write_text(text, encoding="utf-8")
    return file


# Exhaustive search.


def simple_paths(p: Program, source: int, destination: int) -> Iterator[list[int]]:
    """All paths without a repeated node, as arcs."""

    def grown(node: int, seen: frozenset[int], arcs: list[int]) -> Iterator[list[int]]:
        if node == destination:
            yield arcs
            return
        for arc in np.flatnonzero(p.tails == node):
            head = int(p.heads[arc])
            if head not in seen:
                yield from grown(head, seen | {head}, [*arcs, int(arc)])

    yield from grown(source, frozenset([source]), [])


def best_vertex(rows: np.ndarray, limits: np.ndarray, gain: np.ndarray) -> float:
    """The maximum of gain · x over rows · x ≤ limits, x ≥ 0, by trying every vertex."""
    count = len(gain)
    planes = np.vstack([rows, -np.eye(count)])
    at = np.r_[limits, np.zeros(count)]
    best = 0.0
    choices = itertools.combinations(range(len(planes)), count)
    while chosen := list(itertools.islice(choices, 20_000)):
        picked = np.array(chosen)
        matrices = planes[picked]
        regular = np.abs(np.linalg.det(matrices)) > 1e-9
        points = np.linalg.solve(matrices[regular], at[picked][regular][..., None])[..., 0]
        inside = (points @ planes.T <= at + 1e-7).all(axis=1)
        if inside.any():
            best = max(best, float((points[inside] @ gain).max()))
    return best


def exhaustive(p: Program) -> tuple[float, float]:
    """Total and common rate over all paths of all demands."""
    paths = [
        (index, path)
        for index, demand in enumerate(p.demands)
        for path in simple_paths(p, demand.source, demand.destination)
    ]
    load = np.zeros((len(p.resources), len(paths)))
    for column, (index, path) in enumerate(paths):
        for arc in path:
            use = p.use[p.demands[index].class_].tocsc()[:, [arc]].toarray()[:, 0]
            load[:, column] += use
    used = load.any(axis=1)
    total = best_vertex(load[used], p.capacities[used], np.ones(len(paths)))
    floors = np.zeros((len(p.demands), len(paths) + 1))
    for column, (index, _) in enumerate(paths):
        floors[index, column] = -1
    floors[:, -1] = [demand.weight for demand in p.demands]
    rows = np.vstack([np.hstack([load[used], np.zeros((used.sum(), 1))]), floors])
    limits = np.r_[p.capacities[used], np.zeros(len(p.demands))]
    return total, best_vertex(rows, limits, np.eye(len(paths) + 1)[-1])


def small(seed: int) -> str:
    """Four routers in a ring with a chord or not, two or three flows."""
    draw = random.Random(seed)
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0)] + ([(0, 2)] if seed % 2 else [])
    ids = ", ".join(f'{{ id = "r{node}", kind = "router" }}' for node in range(4))
    links = ", ".join(
        f'{{ a = "r{a}", b = "r{b}", rate = "{draw.randrange(1, 9)} Mbit/s", delay = "1 ms" }}'
        for a, b in pairs
    )
    text = f'duration = "6 s"\n[topology]\nkind = "graph"\nnode = [{ids}]\nlink = [{links}]\n'
    for _ in range(2):
        source, destination = draw.sample(range(4), 2)
        text += (
            f'[[flow]]\nkind = "transfer"\nfrom = "r{source}"\nto = "r{destination}"\n'
            f'size = "endless"\ncount = {draw.randrange(1, 3)}\n'
        )
    return text


@pytest.mark.parametrize("seed", range(12))
def test_the_bounds_of_small_networks_are_those_of_every_vertex_over_every_path(
    seed: int, tmp_path: Path
) -> None:
    p = program(written(tmp_path, small(seed)))
    total, least = exhaustive(p)
    linear = LinearProgram(p, 60)
    assert linear.maximise(total=True).value == pytest.approx(total, rel=EPSILON)
    assert linear.maximise().value == pytest.approx(least, rel=EPSILON)


# Against runs.

ROUTINGS = [
    '{ protocol = "shortest-path" }',
    '{ protocol = "shortest-path", metric = "inverse-rate" }',
    '{ protocol = "bp-mr", granularity = "packet" }',
    '{ protocol = "bp-mr", granularity = "flow" }',
    '{ protocol = "olsr", warm_up = "20 s" }',
    '{ protocol = "l2.5r" }',
]


def flows_of_run(
    file: Path, routing: str, overrides: Sequence[tuple[str, str]] = ()
) -> list[dict[str, Any]]:
    result = backlane.run(file, overrides=[*overrides, ("routing", routing)], threads=1)
    return result.flows.to_dicts()


def require_below(bound: Bound, flows: list[dict[str, Any]]) -> None:
    """No flow of a run beats the bounds."""
    if bound.is_endless:
        assert min(flow["goodput_bps"] for flow in flows) / 1e6 <= bound.least_mbps
    if bound.finish is None:
        return
    each = {bound.flows[at]: s for at, s in zip(bound.finish.flows, bound.finish.each_s)}  # noqa: B905
    finished = [flow for flow in flows if flow["finish_time_s"] is not None]
    for flow in finished:
        assert flow["finish_time_s"] >= each[flow["flow"]]
    if len(finished) == len(bound.finish.flows):
        times = [flow["finish_time_s"] for flow in finished]
        assert sum(times) / len(times) >= bound.finish.mean_s
        assert max(flow["finish_s"] for flow in finished) >= bound.finish.last_s


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sizes", [False, True], ids=["endless", "sizes"])
def test_no_routing_beats_the_bounds_of_a_random_network(
    seed: int, sizes: bool, tmp_path: Path
) -> None:
    file = written(tmp_path, random_network(seed, sizes))
    (bound,) = of(file)
    for routing in ROUTINGS:
        flows = flows_of_run(file, routing)
        require_below(bound, flows)
        if bound.is_endless:
            assert sum(flow["goodput_bps"] for flow in flows) / 1e6 <= bound.total_mbps


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", [False, True], ids=["endless", "sizes"])
def test_no_routing_beats_the_bounds_of_wires_that_change(
    seed: int, sizes: bool, tmp_path: Path
) -> None:
    """Faster than their rate for a while, with packets that come earlier than the delay."""
    steps = ", ".join(
        f'{{ at = "{at} s", rate = "{rate}" }}'
        for at, rate in ((0, "9 Mbit/s"), (1, "none"), (2, "1 Mbit/s"), (3, "20 Mbit/s"))
    )
    keys = (
        f'capacity = {{ steps = [{steps}], at_end = "repeat" }}, '
        'impairments = { jitter = "500 us" }, impairments_back = { reorder = 0.05 }'
    )
    text, links = re.subn(
        r'delay = "[^"]*"', f'delay = "500 us", {keys}', random_network(seed, sizes)
    )
    assert links > 4
    file = written(tmp_path, text)
    (bound,) = of(file)
    for routing in ROUTINGS[:3]:
        require_below(bound, flows_of_run(file, routing))


def test_a_wire_with_a_capacity_has_its_mean_in_an_endless_run(tmp_path: Path) -> None:
    text = (
        'duration = "10 s"\n[topology]\nkind = "graph"\n'
        'node = [{ id = "a", kind = "router" }, { id = "b", kind = "router" }]\n'
        'link = [{ a = "a", b = "b", rate = "5 Mbit/s", delay = "1 ms", capacity_back = {}, '
        'capacity = { steps = [{ at = "0 s", rate = "8 Mbit/s" }, { at = "4 s", rate = "none" }, '
        '{ at = "5 s", rate = "3 Mbit/s" }] } }]\n'
    )
    for source, sink, mbps in (("a", "b", (4 * 8 + 5 * 3) / 10), ("b", "a", 5)):
        flow = f'[[flow]]\nkind = "transfer"\nfrom = "{source}"\nto = "{sink}"\nsize = "endless"\n'
        (bound,) = of(written(tmp_path, text + flow))
        assert bound.total_mbps == pytest.approx(mbps * 1448 / 1500, rel=1e-3)


@pytest.mark.parametrize("seed", range(30))
def test_no_routing_beats_the_bounds_of_any_flows_and_cells(seed: int, tmp_path: Path) -> None:
    file = written(tmp_path, any_network(seed))
    (bound,) = of(file, seed=seed)
    for routing in ROUTINGS[:5]:
        result = backlane.run(file, seed=seed, overrides=[("routing", routing)], threads=1)
        (run,) = result.runs.to_dicts()
        assert run["delivered_bps"] / 1e6 <= bound.total_mbps
        require_below(bound, result.flows.to_dicts())


@pytest.mark.parametrize("seed", range(30))
def test_no_routing_beats_the_bounds_of_a_mesh(seed: int, tmp_path: Path) -> None:
    file = written(tmp_path, any_mesh(seed))
    for routing in (ROUTINGS[0], ROUTINGS[2]):
        result = backlane.run(file, seed=seed, overrides=[("routing", routing)], threads=1)
        (run,) = result.runs.to_dicts()
        flows = result.flows.to_dicts()
        try:
            (bound,) = of(file, seed=seed)
        except BacklaneError as error:
            # Only where a flow is out of range.
            assert error.code == "R050"
            assert min(flow["delivered_bytes"] for flow in flows) == 0
            continue
        assert run["delivered_bps"] / 1e6 <= bound.total_mbps
        require_below(bound, flows)


EXAMPLES = Path(__file__).parents[2] / "examples"
STATIC = [ROUTINGS[0]]
ACCESS = {
    "ideal cells, sizes": (
        "demo/grid.toml", ["access.ues=30", 'flow.0.size="2 MB"', 'flow.0.start="0 s"'],
        [ROUTINGS[0], ROUTINGS[2]],
    ),
    "ideal cells, places drawn": (
        "demo/grid.toml",
        ["access.ues=20", 'flow.0.size="endless"', 'flow.0.start="0 s"', 'duration="2 s"',
         'access.placement="random"'],
        [ROUTINGS[3]],
    ),
    "LTE cell": ("lte_cell.toml", ['duration="4 s"'], STATIC),
    "LTE cell, UEs that stand": (
        "lte_cell.toml",
        ['duration="4 s"', 'access.fading="none"',
         'access.ue=[{ near = "enb1", distance = "500 m" }, { near = "enb1", distance = "3 km" }]'],
        STATIC,
    ),
    "LTE in a grid": (
        "lte_backhaul.toml",
        ["access.ues=12", 'flow.0.size="1 MB"', 'flow.0.start="uniform 0 s 500 ms"'],
        [ROUTINGS[0], ROUTINGS[2]],
    ),
    "802.11g": ("wifi_mesh/scenario.toml", ['flow.0.size="300 kB"'], ROUTINGS[:4]),
    "802.11a, two radios": (
        "multipath_mesh/scenario.toml", ['duration="5 s"', 'flow.0.start="0 s"'],
        [ROUTINGS[0], ROUTINGS[5]],
    ),
    "802.11b as ns-2": (
        "wifi_cells.toml", ['duration="10 s"', 'flow.0.start="0 s"'], ROUTINGS[:5],
    ),
    "traces": ("trace_access/scenario.toml", ['duration="10 s"'], STATIC),
}  # fmt: skip


def example(name: str, folder: Path) -> Path:
    """A copy of an example without its sweep."""
    source = EXAMPLES / name
    for beside in source.parent.iterdir():
        if beside.is_file():
            shutil.copy(beside, folder)
    copy = folder / source.name
    copy.write_text(source.read_text("utf-8").split("\n[sweep]")[0], encoding="utf-8")
    return copy


@pytest.mark.parametrize("scene", ACCESS)
def test_no_routing_beats_the_bounds_over_cells_and_radios(scene: str, tmp_path: Path) -> None:
    name, settings, routings = ACCESS[scene]
    overrides = parse_overrides(settings)
    file = example(name, tmp_path)
    (bound,) = of(file, overrides)
    for routing in routings:
        require_below(bound, flows_of_run(file, routing, overrides))


# Proofs and parts.


def grid(side: int, flows: int, seed: int) -> str:
    """A grid with random rates, and transfers from two corners to random nodes."""
    draw = random.Random(seed)
    at = [f"r{node}" for node in range(side * side)]
    ids = ", ".join(f'{{ id = "{node}", kind = "router" }}' for node in at)
    pairs = [(n, n + 1) for n in range(side * side) if (n + 1) % side]
    pairs += [(n, n + side) for n in range(side * (side - 1))]
    links = ", ".join(
        f'{{ a = "{at[a]}", b = "{at[b]}", rate = "{draw.choice([100, 200, 500])} Mbit/s", '
        f'delay = "1 ms" }}'
        for a, b in pairs
    )
    text = f'duration = "6 s"\n[topology]\nkind = "graph"\nnode = [{ids}]\nlink = [{links}]\n'
    for corner in (at[0], at[-1]):
        ends = ", ".join(f'"{end}"' for end in draw.sample(at[1:-1], flows))
        text += f'[[flow]]\nkind = "transfer"\nfrom = "{corner}"\nto = [{ends}]\nsize = "1 MB"\n'
    return text


@pytest.mark.parametrize("seed", range(3))
def test_prices_prove_the_value(seed: int, tmp_path: Path) -> None:
    p = program(written(tmp_path, grid(6, 12, seed)))
    best = LinearProgram(p, 60).maximise()
    assert Paths(p).concurrent_bound(best.prices) == pytest.approx(best.value, rel=EPSILON)
    # Any other prices prove less.
    others = best.prices + np.linspace(0, best.prices.max(), len(best.prices))
    assert Paths(p).concurrent_bound(others) >= best.value


@pytest.mark.parametrize("seed", range(3))
def test_the_approximation_encloses_the_optimum(seed: int, tmp_path: Path) -> None:
    file = written(tmp_path, grid(6, 12, seed))
    (exact,) = of(file, method="exact")
    (near,) = of(file, method="approximate")
    assert near.reached_mbps <= exact.least_mbps <= near.least_mbps * (1 + EPSILON)
    assert 0 <= near.gap <= 0.002
    assert near.total_mbps >= exact.total_mbps * (1 - EPSILON)
    assert near.finish is not None and exact.finish is not None
    # Fewer sets of prices prove less.
    assert 0.9 < near.finish.last_s / exact.finish.last_s < 1 + EPSILON


def test_the_total_of_an_approximation_is_exact_from_one_source(tmp_path: Path) -> None:
    file = written(tmp_path, grid(5, 8, 1).rsplit("[[flow]]", 1)[0])
    (exact,) = of(file, method="exact")
    (near,) = of(file, method="approximate")
    assert near.total_mbps == pytest.approx(exact.total_mbps, rel=EPSILON)


def test_a_total_that_takes_too_long_is_that_of_the_ends(tmp_path: Path) -> None:
    p = program(written(tmp_path, grid(5, 8, 1)))
    total, prices = _large_total(p, 0.0)
    assert total >= LinearProgram(p, 60).maximise(total=True).value
    # Two corners with two links each.
    rates = [r.capacity for r, price in zip(p.resources, prices, strict=True) if price > 0]
    assert len(rates) == 4
    assert total == pytest.approx(sum(rates) * 1448 / 1500)
    assert p.notes == ["the total is what the links at the ends of the flows carry"]


def test_no_order_of_jobs_has_a_smaller_sum_than_shortest_remaining_first() -> None:
    draw = np.random.default_rng(1)
    for _ in range(40):
        release, length = draw.uniform(0, 4, 6), draw.uniform(0.1, 3, 6)
        done, last = shortest_remaining_first(release, length)
        sums = []
        for order in itertools.permutations(range(6)):
            # A job runs where it is released and no job before it in the order waits.
            left, now, ends = list(length), 0.0, [0.0] * 6
            while any(left):
                ready = [job for job in order if left[job] > 0 and release[job] <= now]
                later = [release[job] for job in order if left[job] > 0 and release[job] > now]
                if not ready:
                    now = min(later)
                    continue
                step = min(left[ready[0]], min(later, default=np.inf) - now)
                left[ready[0]] -= step
                if left[ready[0]] < 1e-12:
                    left[ready[0]] = 0.0
                now += step
                ends[ready[0]] = now
            sums.append(sum(ends))
            assert max(ends) == pytest.approx(last)
        assert done.sum() <= min(sums) + 1e-9


def test_max_min_rates_on_a_tree_are_those_of_progressive_filling(tmp_path: Path) -> None:
    # From the root: 6 Mbit/s to a, with children b (1) and c (9). Three flows to a, b and c:
    # b is held at 1, a and c share the remaining 5.
    text = (
        'duration = "9 s"\n[topology]\nkind = "graph"\nnode = ['
        + ", ".join(f'{{ id = "{node}", kind = "router" }}' for node in "rabc")
        + "]\nlink = ["
        + ", ".join(
            f'{{ a = "{a}", b = "{b}", rate = "{rate} Mbit/s", delay = "1 ms" }}'
            for a, b, rate in (("r", "a", 6), ("a", "b", 1), ("a", "c", 9))
        )
        + ']\n[[flow]]\nkind = "udp"\nfrom = "r"\nto = ["a", "b", "c"]\nrate = "50 Mbit/s"\n'
        + 'packet_size = "972 B"\n'
    )
    (bound,) = of(written(tmp_path, text))
    share = 972 / 1000
    assert bound.fair_mbps == pytest.approx([2.5 * share, 1 * share, 2.5 * share], rel=EPSILON)
    assert bound.total_mbps == pytest.approx(6 * share, rel=EPSILON)
    assert bound.least_mbps == pytest.approx(share, rel=EPSILON)
    prices = {row.resource: row for row in bound.tight}
    assert prices["a-b"].least_price == pytest.approx(share, rel=EPSILON)
    assert prices["r-a"].total_price == pytest.approx(share, rel=EPSILON)


def test_a_source_is_no_faster_than_its_rate(tmp_path: Path) -> None:
    # The first of a thousand packets leaves at once: 999 intervals for all of them.
    text = grid(3, 2, 1).replace('kind = "transfer"', 'kind = "udp"\nrate = "3 Mbit/s"')
    rate = 3 * 1000 / 999
    (bound,) = of(written(tmp_path, text))
    assert bound.total_mbps == pytest.approx(4 * rate, rel=EPSILON)
    assert bound.least_mbps == pytest.approx(rate, rel=EPSILON)
    (near,) = of(written(tmp_path, text), method="approximate")
    assert near.total_mbps == pytest.approx(4 * rate, rel=EPSILON)
    assert near.least_mbps == pytest.approx(rate, rel=EPSILON)
    assert bound.finish is not None
    way_s = min(bound.finish.each_s) - 8 * 999e3 / 3e6
    assert 0.99e-3 < way_s < 5e-3
    require_below(bound, flows_of_run(tmp_path / "s.toml", ROUTINGS[0]))


DRAWN = [
    'start = "uniform 0 s 2 s"\nsize = "exponential 30 kB"',
    'start = "every exponential 100 ms from 1 s"\nsize = "uniform 10 kB 20 kB"\ncount = 2',
    'start = "staggered"\nsize = "10 kB"',
    'start = "every 200 ms from 1 s"\nsize = "10 kB"\ndrawn = 3',
]


@pytest.mark.parametrize("flow", DRAWN)
def test_flows_are_those_that_the_run_starts(flow: str, tmp_path: Path) -> None:
    text = BASE.split("[[flow]]")[0].replace("ues = 4", 'ues = 6\nplacement = "random"')
    file = written(tmp_path, f'{text}[[flow]]\nkind = "download"\n{flow}\n')
    for seed in (1, 5):
        rows = backlane.run(file, seed=seed, threads=1).flows.to_dicts()
        found = {each.name: each for each in program(file, seed).flows}
        assert [row["flow"] for row in rows] == list(found)
        for row in rows:
            each = found[row["flow"]]
            assert (each.source, each.destination) == (row["source"], row["destination"])
            assert each.start_s == pytest.approx(row["start_s"], abs=1e-9)
            assert each.size_bytes == row["size_bytes"]


def test_streams_are_those_of_the_engine() -> None:
    # The words that `the_first_words_are_stable` records.
    stream = Streams(1).stream("enb1", "jitter")
    assert [stream.next_u64(), stream.next_u64()] == [
        15_356_191_216_236_939_095, 11_076_029_917_091_266_420,
    ]  # fmt: skip


# Radios.

ONE_IN_TEN_DB = {
    6e6: 3.9, 9e6: 6.7, 12e6: 6.9, 18e6: 9.8, 24e6: 13.4, 36e6: 16.5, 48e6: 21.2, 54e6: 22.5,
}  # fmt: skip
"""Where one frame in ten of 1000 bytes is lost (`docs/models/wifi/phy.md`)."""


@pytest.mark.parametrize("rate_bps", ONE_IN_TEN_DB)
def test_noise_leaves_nine_frames_in_ten_where_the_model_does(rate_bps: float) -> None:
    at_db = ONE_IN_TEN_DB[rate_bps]
    assert 0.89 < frames.decoded(rate_bps, at_db, 8000) < 0.93
    assert frames.decoded(rate_bps, at_db - 3, 8000) < 0.01
    assert frames.decoded(rate_bps, at_db + 3, 8000) > 0.999


def test_an_exchange_takes_the_airtimes_of_the_standard() -> None:
    # 20 + 4 · 57 µs for 1500 bytes at 54 Mbit/s, SIFS, 28 µs for the ACK at 24 Mbit/s; and at
    # 11 Mbit/s 192 + 1118 µs, SIFS, 203 µs, with RTS and CTS at 11 Mbit/s before them.
    whole = Class(payload_bytes=1448, packet_bytes=1500, tunnel_bytes=0)
    a = wifi.Radios("802.11a", 54e6, None, 36, math.inf, 16.0, False)
    assert a.exchange_us(whole, 54e6) == 248 + 16 + 28
    b = wifi.Radios("802.11b", 11e6, None, 36, 0.0, 10.0, False)
    assert b.exchange_us(whole, 11e6) == 1310 + 10 + 203 + (192 + 15) + 203 + 20


def test_a_chain_that_cannot_send_at_once_carries_a_third(tmp_path: Path) -> None:
    # Three hops of 40 m: of its first and its third link, the sender of the third is as near to
    # the receiver of the first as its own sender. The data frames of all three share the air.
    ids = ", ".join(
        f'{{ id = "r{n}", kind = "router", x = "{40 * n} m", y = "0 m" }}' for n in range(4)
    )
    links = ", ".join(f'{{ a = "r{n}", b = "r{n + 1}", medium = "wifi" }}' for n in range(3))
    text = (
        f'duration = "6 s"\n[topology]\nkind = "graph"\nnode = [{ids}]\nlink = [{links}]\n'
        '[wifi]\nrate = "6 Mbit/s"\n[[flow]]\nkind = "udp"\nfrom = "r0"\nto = "r3"\n'
        'rate = "9 Mbit/s"\npacket_size = "1472 B"\n'
    )
    file = written(tmp_path, text)
    (bound,) = of(file)
    data_us = 20 + 4 * 513 - 40
    assert bound.total_mbps == pytest.approx(8 * 1472 / (3 * data_us), rel=1e-4)
    require_below(bound, flows_of_run(file, ROUTINGS[0]))


def test_lossy_links_are_those_that_the_run_draws(tmp_path: Path) -> None:
    # 17 links join neighbouring cells; half of them is rounded up, as in
    # `a_share_of_the_links_is_lossy_and_each_run_draws_which`.
    scenario = resolved(example("wifi_cells.toml", tmp_path))
    builder = Builder(scenario, 1, "s.toml")
    losses = list(wifi._given_losses(builder, scenario["wifi"]).values())
    assert (losses.count(0.33), losses.count(0.0)) == (9, 8)


def test_an_lte_ue_far_away_has_at_most_shannons_capacity(tmp_path: Path) -> None:
    # 36 + 26 log 3000 dB of loss; 10 dBm in a block against −112.4 dBm of noise.
    file = example("lte_cell.toml", tmp_path)
    overrides = parse_overrides(
        ['access.fading="none"', 'access.ue=[{ near = "enb1", distance = "3 km" }]',
         'access.enodeb_height="1.5 m"']
    )  # fmt: skip
    (bound,) = of(file, overrides)
    snr = 10 ** ((30 - 20 - 36 - 26 * math.log10(3000) + 112.447) / 10)
    mbps = math.log2(1 + snr) * 12 * 14 * 100 / 1e3 * 1448 / 1500
    assert bound.total_mbps == pytest.approx(mbps, rel=1e-3)


# The command.


def test_the_page_shows_what_the_command_prints(tmp_path: Path, cli: Cli) -> None:
    page = (EXAMPLES.parent / "docs/concepts/bound.md").read_text("utf-8")
    scenario = re.search(r"```toml valley.toml\n(.*?)```", page, re.DOTALL)
    shown = re.search(r"```text\n(.*?)```", page, re.DOTALL)
    assert scenario and shown
    (tmp_path / "valley.toml").write_text(scenario[1], encoding="utf-8")
    printed = cli("bound", tmp_path / "valley.toml").out
    assert [line.rstrip() for line in printed.splitlines()] == shown[1].splitlines()


def test_more_of_a_tight_link_adds_its_price(tmp_path: Path) -> None:
    page = (EXAMPLES.parent / "docs/concepts/bound.md").read_text("utf-8")
    found = re.search(r"```toml valley.toml\n(.*?)```", page, re.DOTALL)
    assert found
    (before,) = of(written(tmp_path, found[1]))
    prices = {row.resource: row for row in before.tight}
    (wider,) = of(written(tmp_path, found[1].replace("150 Mbit/s", "151 Mbit/s")))
    gain = wider.least_mbps - before.least_mbps
    assert gain == pytest.approx(prices["north-village"].least_price, rel=1e-3)
    # Both gateways have one rate: one more Mbit/s on each.
    (wider,) = of(written(tmp_path, found[1].replace("200 Mbit/s", "201 Mbit/s")))
    both = prices["epc-north"].total_price + prices["epc-south"].total_price
    assert wider.total_mbps - before.total_mbps == pytest.approx(both, rel=1e-3)


def test_json_has_every_flow_and_price(tmp_path: Path, cli: Cli) -> None:
    file = written(tmp_path, BASE)
    answer = json.loads(cli("bound", file, "--json").out)
    (bound,) = answer["bounds"]
    assert set(bound["fair_bps"]) == {"ue1", "ue2", "ue3", "ue4"}
    assert set(bound["finish"]["each_s"]) == {"ue1", "ue2", "ue3", "ue4"}
    assert bound["total_bps"] >= 4 * bound["least_bps"] > 0
    assert bound["tight"][0]["total_price"] > 0


def test_cells_that_differ_in_routing_alone_have_one_bound(tmp_path: Path, cli: Cli) -> None:
    sweep = '\n[sweep]\n"routing.protocol" = ["shortest-path", "olsr"]\n"access.ues" = [2, 4]\n'
    file = written(tmp_path, BASE + sweep)
    found = of(file)
    assert [bound.parameters for bound in found] == [{"access.ues": 2}, {"access.ues": 4}]


REFUSED = {
    "R050": (
        'duration = "1 s"\n[topology]\nkind = "graph"\nnode = ['
        '{ id = "a", kind = "router", x = "0 m", y = "0 m" }, '
        '{ id = "b", kind = "router", x = "9 km", y = "0 m" }]\n'
        'link = [{ a = "a", b = "b", medium = "wifi" }]\n[wifi]\n'
        '[[flow]]\nkind = "transfer"\nfrom = "a"\nto = "b"\nsize = "1 MB"\n',
        "no path leads from a to b",
    ),
    "R051": (
        '[slotted]\nslots = 10\ninterference = "none"\nlink = [{ from = "a", to = "b" }]\n'
        '[[slotted.flow]]\nfrom = "a"\nto = "b"\nrate = 0.5\n',
        "a slotted model has no rates",
    ),
    "R051 drawn": (
        'duration = "1 s"\n[topology]\nkind = "cells"\nrows = 2\ncolumns = 2\nnodes = 5\n'
        'placement_seed = "run"\nlink = { medium = "wifi" }\n[wifi]\n'
        '[[flow]]\nkind = "transfer"\nfrom = "n1"\nto = "n2"\nsize = "1 MB"\n',
        "each run draws a network of its own",
    ),
}


@pytest.mark.parametrize("code", REFUSED)
def test_what_has_no_bound_is_refused_with_its_place(code: str, tmp_path: Path, cli: Cli) -> None:
    text, message = REFUSED[code]
    file = written(tmp_path, text)
    result = cli("bound", file)
    assert result.code == 2
    assert f"error[{code.split()[0]}]: {message}" in result.err
    assert str(file) in result.err


def test_a_program_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    p = program(written(tmp_path, grid(4, 4, 1)))
    with pytest.raises(BacklaneError, match=r"took longer than 0 s") as raised:
        LinearProgram(p, 0.0).maximise()
    assert raised.value.code == "R052"


# In reports.


def test_a_report_shows_each_contender_as_a_share_of_the_bound(tmp_path: Path) -> None:
    sweep = '\n[sweep]\n"routing.protocol" = ["shortest-path", "bp-mr"]\nseeds = 2\n'
    file = written(tmp_path, BASE + sweep)
    folder = tmp_path / "results"
    backlane.campaign.run(file, folder)
    summary = backlane.report.write([folder])
    assert [share.contender for share in summary.shares] == ["shortest-path", "bp-mr"]
    results = backlane.load(folder)
    for share in summary.shares:
        expected = []
        for run in results.runs.to_dicts():
            if run["routing.protocol"] != share.contender:
                continue
            rows = results.flows.to_dicts()
            times = [row["finish_time_s"] for row in rows if row["run_id"] == run["run_id"]]
            finish = of(file, seed=run["seed"])[0].finish
            assert finish is not None
            expected.append(finish.mean_s / (sum(times) / len(times)))
        assert share.share.mean == pytest.approx(sum(expected) / 2)
        assert share.share.mean < 1 and not share.is_upper
    page = summary.path.read_text("utf-8")
    assert "Share of what any routing could reach" in page
    assert "tight for all flows at the same time are" in page


def test_endless_flows_are_compared_by_total_and_least_goodput(tmp_path: Path) -> None:
    text = BASE.replace('size = "200 kB"', 'size = "endless"').replace("60 s", "3 s")
    file = written(tmp_path, text)
    folder = tmp_path / "results"
    backlane.run(file, out=folder)
    summary = backlane.report.write([folder])
    assert [share.measure for share in summary.shares] == ["total goodput", "least goodput"]
    assert all(0.3 < share.share.mean < 1 for share in summary.shares)


def test_a_report_of_a_network_that_is_too_large_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, BASE)
    backlane.run(file, out=tmp_path / "results")
    monkeypatch.setattr("backlane.report.bounds.MOST_VARIABLES", 10)
    summary = backlane.report.write([tmp_path / "results"])
    assert summary.shares == []
    assert "too large for a report" in summary.path.read_text("utf-8")
