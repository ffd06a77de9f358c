"""Costs of the Python package: `python -m validation.bench`.

Every figure is measured in a separate process. CPU times are the kernel's count for the process;
repeated runs give the minimum, since noise on a shared machine only adds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEATS = 5
GRID = Path(__file__).parents[1] / "examples" / "grid.toml"


MEMORY = """
import json, resource, sys
from backlane import _native
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
plan = json.loads(_native.plan(open({file!r}).read(), {file!r}, [("sweep.seeds", "1")]))
before = peak()
cell = [c for c in plan["cells"] if c["parameters"]["access.ues"] == 100][{cell}]
result = _native.run(cell["resolved"], 1)
print(json.dumps([cell["parameters"]["routing"], result.summary["cpu_s"], before, peak()]))
"""


def cpu_s(command: list[str]) -> float:
    """Minimum CPU time of a command, in seconds."""
    times = []
    for _ in range(REPEATS):
        before = os.times()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = os.times()
        times.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    return min(times)


def small_scenario(folder: Path) -> Path:
    """A chain of three nodes and one short transfer."""
    from backlane import _native

    file = folder / "chain.toml"
    file.write_text(_native.template("chain")[0], encoding="utf-8")
    return file


def memory() -> list[tuple[str, float, float]]:
    """Routing, CPU seconds and MB beyond the interpreter, for 100 x 10 MB on the grid."""
    rows = []
    for cell in range(3):
        code = MEMORY.format(file=str(GRID), cell=cell)
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        routing, cpu, before_kb, after_kb = json.loads(done.stdout)
        rows.append((routing, cpu, (after_kb - before_kb) / 1024))
    return rows


def campaign_wall_s(folder: Path, workers: int) -> float:
    """Wall time of a campaign of 16 equal runs."""
    from backlane import _native

    grid = _native.template("grid")[0].split("[sweep]")[0] + "[sweep]\nseeds = 16\n"
    file = folder / "grid.toml"
    file.write_text(grid, encoding="utf-8")
    out = folder / f"workers{workers}-{time.monotonic_ns()}"
    command = [sys.executable, "-m", "backlane", "campaign", "run", str(file), "--no-report"]
    command += ["--out", str(out), "--workers", str(workers)]
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def main() -> None:
    """Print the table."""
    python = [sys.executable]
    bare = cpu_s([*python, "-c", "pass"])
    imported = cpu_s([*python, "-c", "import backlane"])
    print(f"Python itself                      {bare:6.3f} CPU-s")
    print(f"import backlane                    {imported:6.3f} CPU-s")
    backlane = str(Path(sys.executable).with_name("backlane"))
    print(f"backlane --version                 {cpu_s([backlane, '--version']):6.3f} CPU-s")
    print(f"backlane --help                    {cpu_s([backlane, '--help']):6.3f} CPU-s")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = small_scenario(folder)
        run = [*python, "-m", "backlane", "run", str(file), "--out", str(folder / "out")]
        print(f"backlane run, small, with Parquet  {cpu_s(run):6.3f} CPU-s")
        for routing, cpu, megabytes in memory():
            print(f"grid, 100 x 10 MB, {routing:<15} {cpu:6.3f} CPU-s  {megabytes:5.1f} MB more")
        cores = len(os.sched_getaffinity(0))
        # Alternating, so that a machine that slows down slows both.
        pairs = [(campaign_wall_s(folder, 1), campaign_wall_s(folder, cores)) for _ in range(3)]
        for one, many in pairs:
            print(
                f"16 runs: {one:6.2f} s on one core, {many:6.2f} s on {cores}: "
                f"{one / many / cores:.2f} of ideal"
            )


if __name__ == "__main__":
    main()
