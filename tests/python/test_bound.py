"""The bounds against exhaustive search, against their own proofs, and against runs."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import backlane
from backlane.bound.bounds import Bound, of
from backlane.bound.linear import LinearProgram
from backlane.bound.network import program_of
from backlane.bound.program import Program
from backlane.campaign.plan import parse_overrides

EPSILON = 1e-6


def resolved(file: Path) -> dict[str, Any]:
    from backlane.bound.bounds import _parsed

    return _parsed(backlane.plan(file).cells[0].resolved)


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
    rates = [flow["goodput_bps"] / 1e6 for flow in flows]
    if bound.is_endless:
        assert sum(rates) <= bound.total_mbps
        assert min(rates) <= bound.least_mbps
        return
    assert bound.finish is not None
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
        require_below(bound, flows_of_run(file, routing))


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
