"""The cost of runs, compared with the machine's resources."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Cli

from backlane import cost, native
from backlane.campaign.plan import Cell, Plan, Run
from backlane.errors import BacklaneError

WIRE = """
duration = "10 s"
[topology]
kind = "graph"
node = [{ id = "a" }, { id = "b" }]
link = [{ a = "a", b = "b", rate = "10 Mbit/s", delay = "5 ms" }]
[[flow]]
kind = "transfer"
from = "a"
to = "b"
size = "endless"
"""
MB = 1_000_000


def plan_of(text: str) -> Plan:
    return Plan.from_dict(json.loads(native.module().plan(text, "s.toml", [], None)))


def estimate(cpu_s: float = 1.0, memory_mb: int = 100, disk_mb: int = 1) -> cost.Estimate:
    parts = (
        cost.Part("the run itself", 1, 0.0, 20 * MB, 0),
        cost.Part("TCP connections", 7, cpu_s, (memory_mb - 20) * MB, disk_mb * MB),
    )
    return cost.Estimate(cpu_s, memory_mb * MB, disk_mb * MB, 9, 1.0, False, parts)


def campaign(cells: int, seeds: int = 1) -> Plan:
    """A plan whose cells have numbers as names."""
    runs = [Run(f"{cell}-{seed}", cell, seed) for cell in range(cells) for seed in range(seeds)]
    return Plan(
        "c",
        "0",
        "1",
        [],
        [Cell(i, {}, str(i), str(i)) for i in range(cells)],
        [*range(seeds)],
        runs,
    )


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Sets the cost of each cell; returns the cells that are then estimated."""

    def by(of: Callable[[int], cost.Estimate]) -> list[str]:
        asked: list[str] = []

        def known(resolved: str) -> cost.Estimate:
            asked.append(resolved)
            return of(int(resolved))

        monkeypatch.setattr(cost, "of", known)
        return asked

    return by


def test_an_estimate_is_the_sum_of_its_parts() -> None:
    found = cost.of(plan_of(WIRE).cells[0].resolved)
    assert found.cpu_s == pytest.approx(sum(part.cpu_s for part in found.parts))
    assert found.memory_bytes == sum(part.memory_bytes for part in found.parts)
    assert found.disk_bytes == sum(part.disk_bytes for part in found.parts)
    # 10 Mbit/s in packets of 1500 bytes for 10 s, and half as many acknowledgments.
    assert found.events == pytest.approx(1.5 * 10e6 * 10 / 12_000, rel=0.03)


def test_what_is_not_a_resolved_scenario_is_no_run() -> None:
    with pytest.raises(native.module().ScenarioError):
        cost.of("duration = 3")


def test_a_campaign_costs_its_runs_and_takes_their_time_over_the_workers(
    costs: Callable[..., list[str]],
) -> None:
    costs(lambda cell: estimate(cpu_s=1.0 + cell, memory_mb=100 + cell))
    found = cost.total(campaign(4, seeds=3), workers=2)
    assert (found.runs, found.workers, found.is_sampled) == (12, 2, False)
    assert found.cpu_s == pytest.approx(3 * (1 + 2 + 3 + 4))
    assert found.wall_s == pytest.approx(15)
    assert found.disk_bytes == 12 * MB
    assert found.memory_bytes == cost.PROCESS_BYTES + 2 * 103 * MB


def test_only_the_runs_that_are_left_are_counted(costs: Callable[..., list[str]]) -> None:
    asked = costs(lambda cell: estimate(cpu_s=1.0 + cell))
    plan = campaign(4, seeds=2)
    found = cost.total(plan, workers=8, runs=plan.runs[-3:])
    assert found.cpu_s == pytest.approx(3 + 4 + 4)
    assert found.workers == 3
    assert found.wall_s == pytest.approx(4), "no sooner than the longest run"
    assert asked == ["2", "3"]


def test_of_very_many_cells_some_stand_for_all(costs: Callable[..., list[str]]) -> None:
    asked = costs(lambda cell: estimate(cpu_s=cell / 10_000))
    plan = campaign(10_000, seeds=2)
    found = cost.total(plan, workers=2)
    assert found.is_sampled
    assert len(asked) == len(set(asked)) == cost.MOST_CELLS
    assert {"0", "9999"} <= set(asked)
    assert found.cpu_s == pytest.approx(10_000, rel=0.01)
    assert "estimated from 200 of the cells" in "\n".join(cost.remark(plan, 2))


def test_little_work_begins_without_a_remark() -> None:
    assert cost.remark(plan_of(WIRE)) == []
    assert cost.remark(campaign(3), runs=[]) == []


@pytest.mark.parametrize(
    ("each", "said"),
    [
        (estimate(cpu_s=7200.0), "about 2 h 0 min of CPU time"),
        (estimate(memory_mb=600), "750 MB of memory"),
        (estimate(disk_mb=2000), "2 GB on disk"),
    ],
    ids=["time", "memory", "disk"],
)
def test_much_work_is_told_before(
    each: cost.Estimate, said: str, costs: Callable[..., list[str]]
) -> None:
    costs(lambda _cell: each)
    (line,) = cost.remark(campaign(1))
    assert line.startswith("this run will take about")
    assert said in line


def test_a_remark_on_a_campaign_has_its_wall_time_and_the_disk(
    costs: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs(lambda _cell: estimate(cpu_s=60.0, disk_mb=100))
    monkeypatch.setattr(cost, "free_disk", lambda _folder: 500 * MB)
    first, second = cost.remark(campaign(5, seeds=2), workers=2, folder=tmp_path)
    assert first == (
        "these 10 runs will take about 10 min of CPU time, 5 min with 2 workers, "
        "350 MB of memory (100 MB a run), 1 GB on disk"
    )
    assert "has 500 MB free" in second


def refused(
    plan: Plan,
    workers: int,
    available_mb: int,
    folder: Path | None = None,
    file: Path | None = None,
) -> BacklaneError:
    with pytest.raises(BacklaneError) as raised:
        cost.refuse(plan, workers, None, folder, file, available_mb * MB)
    assert raised.value.code == "R026"
    return raised.value


def test_runs_beyond_the_memory_are_refused_and_fewer_workers_named(
    costs: Callable[..., list[str]],
) -> None:
    costs(lambda cell: estimate(memory_mb=1000 if cell == 2 else 100))
    plan = campaign(8)
    cost.refuse(plan, 4, available_bytes=4150 * MB)
    error = refused(plan, 4, 3000, file=Path("s.toml"))
    assert error.message.startswith("4 runs at a time will take about 4.15 GB")
    assert "there are 3 GB" in error.message
    assert "TCP connections (980 MB a run)" in error.message
    assert error.mend is not None
    assert error.mend.startswith("use --workers 2, or")
    assert "--ignore-memory" in error.mend
    assert error.place == "s.toml"


def test_a_run_that_does_not_fit_alone_names_what_takes_most(
    costs: Callable[..., list[str]],
) -> None:
    costs(lambda _cell: estimate(memory_mb=5000))
    error = refused(campaign(1), 4, 3000)
    assert error.message.startswith("the run will take about 5.15 GB of memory")
    assert error.mend is not None
    assert error.mend.startswith("make the scenario smaller, above all TCP connections")


def test_a_million_flows_do_not_fit_into_four_gigabytes() -> None:
    many = WIRE.replace('size = "endless"', 'size = "endless"\ncount = 1_000_000')
    error = refused(plan_of(many), 1, 4000)
    assert "TCP connections" in error.message


def test_results_beyond_the_disk_are_refused_only_when_far_beyond(
    costs: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs(lambda _cell: estimate(disk_mb=1000))
    monkeypatch.setattr(cost, "free_disk", lambda _folder: 300 * MB)
    cost.refuse(campaign(1), folder=tmp_path, available_bytes=1 << 40)
    error = refused(campaign(2), 1, 1 << 20, folder=tmp_path)
    assert "2 GB" in error.message
    assert "300 MB free" in error.message


@pytest.mark.parametrize(
    ("groups", "files", "left"),
    [
        ("0::/a/b\n", {"a/memory.max": "1000", "a/memory.current": "400"}, [600]),
        ("0::/a/b\n", {"a/b/memory.max": "max", "a/b/memory.current": "9"}, []),
        # Inside a container the path is that of the host.
        ("0::/docker/x\n", {"memory.max": "1000", "memory.current": "1"}, [999]),
        (
            "5:cpu,memory:/m\n4:cpu:/c\n",
            {
                "memory/m/memory.limit_in_bytes": "500",
                "memory/m/memory.usage_in_bytes": "800",
                "memory/memory.limit_in_bytes": str((1 << 63) - 4096),
            },
            [0],
        ),
    ],
    ids=["v2, of the parent", "v2, none", "v2, of the container", "v1"],
)
def test_control_groups_limit_what_there_is(
    groups: str, files: dict[str, str], left: list[int], tmp_path: Path
) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    assert cost._left_in_groups(tmp_path, groups) == left


def test_a_limit_of_the_shell_counts() -> None:
    code = (
        "import resource\nfrom backlane import cost\nbefore = cost.available_memory()\n"
        "space, held = cost._held_bytes()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (space + 50_000_000, resource.RLIM_INFINITY))\n"
        "print(before, cost.available_memory() - held)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, left = map(int, done.stdout.split())
    # The call itself may take a little.
    assert 40_000_000 < left <= 51_000_000 < before


def test_the_disk_of_a_folder_that_is_not_there_yet_is_its_parents(tmp_path: Path) -> None:
    assert cost.free_disk(tmp_path / "not" / "yet") == pytest.approx(
        cost.free_disk(tmp_path), rel=0.2
    )


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1500, "1.5 kB"), (4.15e9, "4.15 GB"), (3e12, "3 TB")]
)
def test_sizes_are_read_easily(count: float, text: str) -> None:
    assert cost.size(count) == text


def test_the_cost_of_several_campaigns_is_their_sum_and_their_largest_run(
    costs: Callable[..., list[str]],
) -> None:
    costs(lambda cell: estimate(cpu_s=cell + 1.0, memory_mb=100 * (cell + 1)))
    one, two = cost.total(campaign(1, seeds=4), 2), cost.total(campaign(2, seeds=1), 1)
    both = cost.joined([one, two])
    assert (both.runs, both.cpu_s, both.workers) == (6, 4.0 + 3.0, 2)
    assert both.largest.memory_bytes == 200 * MB
    assert cost.joined([]).runs == 0


def test_the_verb_plan_says_what_is_left_and_runs_nothing(
    sweep: Path, tmp_path: Path, cli: Cli
) -> None:
    found = cli("plan", sweep, "--out", tmp_path / "r", "--workers", 2, "--json").json
    plan = plan_of(sweep.read_text())
    assert (found["cells"], found["runs"], found["to_do"]) == (4, 16, 16)
    assert found["cpu_s"] == pytest.approx(cost.total(plan).cpu_s)
    assert found["memory_bytes"] == cost.total(plan, 2).memory_bytes
    assert not (tmp_path / "r").exists()
    text = cli("plan", sweep, "--out", tmp_path / "r", "--workers", 2).out
    assert "4 cells, 16 runs, 0 of them stored" in text
    assert "these 16 runs will take about" in text
    dry = cli("campaign", "run", sweep, "--out", tmp_path / "r", "-j", 2, "--dry-run")
    assert dry.err.strip() == text.strip().splitlines()[-1].strip()
    words = ["--set", "sweep.seeds=1", "--out", tmp_path / "r"]
    assert cli("campaign", "run", sweep, *words, "--no-report").code == 0
    assert cli("plan", sweep, "--out", tmp_path / "r", "--json").json["to_do"] == 12
    assert "there is nothing to do" in cli("plan", sweep, *words).out
