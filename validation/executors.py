"""Campaigns on Dask's workers: a killed worker, efficiency, and memory with many runs.

``make validate-executors`` measures on this machine and writes docs/validation/executors.md.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from backlane import campaign
from backlane.campaign.store import Store

PAGE = Path(__file__).parents[1] / "docs" / "validation" / "executors.md"

CHEAP = """
name = "cheap"
duration = "1 s"
[topology]
kind = "graph"
node = [{{ id = "a" }}, {{ id = "b" }}]
link = [{{ a = "a", b = "b", rate = "10 Mbit/s", delay = "1 ms" }}]
[[flow]]
kind = "transfer"
from = "a"
to = "b"
size = "{size}"
start = "uniform 0 s 100 ms"
[sweep]
"tcp.congestion_control" = ["cubic", "reno"]
seeds = {seeds}
"""

WORKERS = 2


def _psutil() -> Any:
    import psutil  # type: ignore[import-untyped, unused-ignore]

    return psutil


def _workers() -> list[Any]:
    psutil, found = _psutil(), []
    for child in psutil.Process().children():
        with suppress(psutil.Error):  # A killed worker is a zombie for a while.
            if any("spawn_main" in word for word in child.cmdline()):
                found.append(child)
    return found


class _Peak(threading.Thread):
    """The largest resident memory of this process and of each worker, in bytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.executing = self.own = self.worker = 0
        self.over = threading.Event()

    def run(self) -> None:
        """Look five times in a second."""
        psutil = _psutil()
        own = psutil.Process()
        while not self.over.wait(0.2):
            self.own = max(self.own, own.memory_info().rss)
            workers = _workers()
            if workers:
                self.executing = self.own
            for worker in workers:
                try:
                    self.worker = max(self.worker, worker.memory_info().rss)
                except psutil.Error:
                    continue


def _kill_after(folder: Path, runs: int) -> threading.Thread:
    """Kill a worker as soon as this number of runs is stored."""

    def kill() -> None:
        store = Store(folder)
        while not store.runs.is_dir() or sum(1 for _ in store.runs.iterdir()) < runs:
            time.sleep(0.01)
        os.kill(_workers()[0].pid, signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread


def _same(one: Path, other: Path) -> bool:
    measured = ("wall_s", "cpu_s", "threads")
    for name in ("runs", "flows", "links", "nodes"):
        tables = [pl.read_parquet(folder / f"{name}.parquet") for folder in (one, other)]
        first, second = (table.drop(measured, strict=False) for table in tables)
        if not first.equals(second):
            return False
    return True


def _efficiency(folder: Path) -> dict[str, str]:
    """CPU time of the runs by the time of the workers, for short runs and for long ones."""
    rows = {}
    for name, seeds, length in (("short", 60, 1), ("long", 20, 10)):
        heavy = CHEAP.replace("10 Mbit/s", "1 Gbit/s").replace('"1 s"', f'"{60 * length} s"')
        text = heavy.format(size=f"{2500 * length} MB", seeds=seeds)
        for executor in ("dask", "threads"):
            at = folder / f"{name}-{executor}"
            begun = time.monotonic()
            campaign.run(text, at, executor=executor, workers=WORKERS)
            wall_s = time.monotonic() - begun
            cpu_s = float(pl.read_parquet(at / "runs.parquet")["cpu_s"].sum())
            where = f"{WORKERS} workers" if executor == "dask" else f"{WORKERS} threads"
            runs = f"{2 * seeds} runs of {cpu_s / 2 / seeds:.1f} CPU-s"
            rows[f"{runs} on {where}: CPU time of the runs / ({WORKERS} × time to the tables)"] = (
                f"{cpu_s / WORKERS / wall_s:.2f} ({wall_s:.1f} s, with the start of the workers)"
                if executor == "dask"
                else f"{cpu_s / WORKERS / wall_s:.2f} ({wall_s:.1f} s)"
            )
    return rows


def _killed(folder: Path) -> dict[str, str]:
    """A campaign of 1000 runs of which a worker is killed, and the same on threads."""
    killed = CHEAP.format(size="50 kB", seeds=500)
    campaign.run(killed, folder / "threads")
    thread = _kill_after(folder / "killed", 300)
    result = campaign.run(killed, folder / "killed", executor="dask", workers=WORKERS)
    thread.join(5)
    ids = result.outcome.finished
    equal = _same(folder / "threads", folder / "killed")
    once = len(ids) == len(set(ids)) == 1000
    return {
        "1000 runs, a worker killed after 300: all executed, none twice": f"{once} ({len(ids)})",
        "their tables equal those of threads, but for times": str(equal),
    }


def _memory(folder: Path, many: int) -> dict[str, str]:
    """Peak memory with many cheap runs."""
    peak = _Peak()
    peak.start()
    begun = time.monotonic()
    campaign.run(
        CHEAP.format(size="5 kB", seeds=many // 2),
        folder / "many",
        executor="dask",
        workers=WORKERS,
    )
    many_s = time.monotonic() - begun
    peak.over.set()
    stored = sum(1 for _ in Store(folder / "many").runs.iterdir())
    rows = pl.scan_parquet(folder / "many" / "flows.parquet").select(pl.len()).collect().item()
    return {
        f"{many} runs of a few milliseconds": f"{many_s:.0f} s",
        "runs in the store, and rows of flows": f"{stored}, {rows}",
        "peak memory there of the process with campaign and scheduler, while runs are executed": (
            f"{peak.executing / 1e6:.0f} MB"
        ),
        "peak memory there of that process, with the tables": f"{peak.own / 1e6:.0f} MB",
        "peak memory there of a worker": f"{peak.worker / 1e6:.0f} MB",
    }


def measure(folder: Path, many: int) -> str:
    """Measure in a folder for results; the text of the page."""
    rows: dict[str, str] = {}
    for part in (_efficiency, _killed, lambda at: _memory(at, many)):
        rows |= part(folder)
        print(rows, flush=True)
    table = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    return (
        f"# Campaigns on Dask\n\nMeasured by `make validate-executors` with {WORKERS} workers on a "
        f"machine of {os.cpu_count()} cores; the campaign, the scheduler and the workers share "
        f"them.\n\n| | |\n|---|---|\n{table}\n"
    )


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--many", type=int, default=100_000, help="runs of the test of memory")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = measure(Path(folder), arguments.many)
    PAGE.write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
