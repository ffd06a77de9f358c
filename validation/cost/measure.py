"""The cost of one run, in a separate process: `python -m validation.cost.measure < JSON`.

Memory is the peak of the process during the run, minus its memory before with every library
loaded; CPU time is that of the run's thread, including building. Both include the construction of
the tables; disk is the size of the results folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from validation.cost.scenes import Scene

MOST_CPU_S = 30.0
"""Longer runs are left out."""


class TooLongError(Exception):
    """The run takes longer than `MOST_CPU_S`."""


def _held_bytes(field: str) -> int:
    """A field of the kernel's account of this process, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def here(name: str, resolved: str, digest: str, seed: int) -> dict[str, Any]:
    """Execute the run in this process."""
    import polars  # noqa: F401 - loaded before memory is counted

    from backlane import native, single
    from backlane.campaign.plan import Cell, Plan, Run

    version = native.module().model_version()
    cell, run = Cell(0, {}, resolved, digest), Run("0" * 16, 0, seed)
    plan = Plan(name, digest, version, [], [cell], [seed], [run])
    work = single.Work(plan, cell, run)
    before = _held_bytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # reset the peak

    def watch(simulated_s: float, _duration_s: float, _events: int) -> None:
        if sum(os.times()[:2]) > MOST_CPU_S:
            raise TooLongError(f"{simulated_s:.3g}")

    with tempfile.TemporaryDirectory() as folder:
        results = single.carry_out(work, Path(folder) / "out", progress=watch)
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        disk_bytes = sum(path.stat().st_size for path in files)
        row = results.runs.row(0, named=True)
    return {
        "cpu_s": row["cpu_s"],
        "memory_bytes": max(_held_bytes("VmHWM") - before, 0),
        "disk_bytes": disk_bytes,
        "events": row["events"],
        "simulated_s": row["simulated_s"],
    }


def apart(scene: Scene) -> dict[str, Any] | None:
    """Execute the run in a separate process; None if it takes too long."""
    given = {
        "name": scene.name, "resolved": scene.resolved, "digest": scene.hash, "seed": scene.seed
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "validation.cost.measure"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        if "TooLongError" in done.stderr:
            return None
        raise RuntimeError(f"{scene.name}: {done.stderr}")
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


if __name__ == "__main__":
    print(json.dumps(here(**json.load(sys.stdin))))
