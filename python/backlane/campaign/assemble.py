"""From single runs to the tables of a results folder."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from backlane import __version__, machine, native, tables
from backlane.files import make_folder, remove, write_text
from backlane.folder import FORMAT, publish, staging
from backlane.run_files import collect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from backlane.campaign.plan import Cell, Plan, Run
    from backlane.campaign.store import Store

_SUMMARY_COLUMNS = (
    "simulated_s", "traffic_s", "wall_s", "cpu_s", "threads", "events", "packets_injected",
    "packets_duplicated", "packets_delivered", "packets_dropped", "packets_in_flight",
    "delivered_bytes", "ended", "digest",
)  # fmt: skip


def run_row(cell: Cell, run: Run, summary: Mapping[str, Any]) -> dict[str, Any]:
    """One row of ``runs.parquet``."""
    row: dict[str, Any] = {"run_id": run.run_id, "cell": cell.index, "seed": run.seed}
    row |= cell.parameters
    row |= {name: summary.get(name) for name in _SUMMARY_COLUMNS}
    # Runs stored by versions without duplicates had none.
    row["packets_duplicated"] = summary.get("packets_duplicated", 0)
    delivered_bytes, traffic_s = summary.get("delivered_bytes"), summary.get("traffic_s")
    row["delivered_bps"] = None
    if delivered_bytes is not None and traffic_s:
        row["delivered_bps"] = delivered_bytes * 8 / traffic_s
    causes = summary.get("dropped_by_cause") or {}
    row["dropped_by_cause"] = json.dumps(causes, sort_keys=True)
    return row


class Totals:
    """What the manifest says of all rows of ``runs.parquet`` together; they are added in order."""

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        self.runs: set[str] = set()
        self.events = 0
        self.wall_s = self.cpu_s = 0.0
        self._digests = hashlib.sha256()
        self._rows = 0
        for row in rows:
            self.add(row)

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row; a run that serves several cells counts once but in the digest."""
        self._digests.update(("\n" if self._rows else "").encode() + str(row["digest"]).encode())
        self._rows += 1
        if row["run_id"] not in self.runs:
            self.runs.add(row["run_id"])
            self.events += int(row["events"] or 0)
            self.wall_s += float(row["wall_s"] or 0)
            self.cpu_s += float(row["cpu_s"] or 0)

    @property
    def digest(self) -> str:
        """One digest over the digests of all rows."""
        return self._digests.hexdigest()[:32]


def host() -> dict[str, Any]:
    """Where the results were computed."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "cores": machine.core_count(),
    }


def command() -> str:
    """The command line that made the results, without the path of the program."""
    import shlex

    program = sys.argv[0].rsplit("/", 1)[-1] if sys.argv else "python"
    if program == "__main__.py":
        program = "backlane"
    return shlex.join([program, *sys.argv[1:]])


def manifest_of(kind: str, plan: Plan, totals: Totals, **more: Any) -> dict[str, Any]:
    """The manifest of a results folder.

    Args:
        kind: "run" or "campaign".
        plan: the plan of the runs.
        totals: of the cells and seeds with a finished run.
        more: further entries.
    """
    return {
        "format": FORMAT,
        "kind": kind,
        "name": plan.name,
        "scenario_hash": plan.scenario_hash,
        "version": __version__,
        "model_version": plan.model_version,
        "commit": native.module().commit(),
        "parameters": plan.parameters,
        "seeds": plan.seeds,
        "cells": [{"index": c.index, "parameters": c.parameters, "hash": c.hash}
                  for c in plan.cells],
        "runs_planned": len(plan.runs),
        "runs_finished": len(totals.runs),
        "complete": len(totals.runs) == len(plan.runs),
        "events": totals.events,
        "wall_s": totals.wall_s,
        "cpu_s": totals.cpu_s,
        "digest": totals.digest,
        "command": command(),
        "host": host(),
        **({} if plan.compare is None else {"compare": plan.compare}),
    } | more  # fmt: skip


def assemble(
    folder: Path,
    plan: Plan,
    store: Store,
    shard: tuple[int, int] | None = None,
    overrides: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """Write tables, series, captures and manifest from the finished runs of `plan`.

    Every table but ``runs`` has each run once; ``runs`` has a row for each cell and seed, with the
    run that serves it.

    Returns:
        The manifest.
    """
    failed = [found for run in plan.runs if (found := store.failure(run)) is not None]
    cells = {run.run_id: run.cell for run in plan.runs}
    for entry in failed:
        entry["parameters"] = plan.cells[cells[entry["run_id"]]].parameters
    with staging(folder) as staged:
        totals, builds = _write_runs(staged / "runs.parquet", plan, store)
        finished = [run.run_id for run in plan.runs if run.run_id in totals.runs]
        collect(staged, finished, store.files, of_one_run=False)
        manifest = manifest_of(
            "campaign",
            plan,
            totals,
            commits=dict(builds),
            failed=failed,
            shard=None if shard is None else f"{shard[0]}/{shard[1]}",
            overrides=[f"{key}={value}" for key, value in overrides],
        )
        return publish(folder, staged, manifest)


ROWS_AT_ONCE = 5000
"""Rows of ``runs.parquet`` that are held as Python objects."""


def _write_runs(path: Path, plan: Plan, store: Store) -> tuple[Totals, Counter[str]]:
    """Write ``runs.parquet``; its totals, and the number of runs of each build by its commit."""
    totals = Totals()
    builds: Counter[str] = Counter()

    def rows() -> Iterator[dict[str, Any]]:
        for cell, run in plan.rows():
            if run.run_id in store:
                record = store.record(run.run_id)
                if run.run_id not in totals.runs:
                    builds[record.build.commit] += 1
                row = run_row(cell, run, record.summary)
                totals.add(row)
                yield row

    table = tables.Growing(path)
    left = rows()
    while some := list(islice(left, ROWS_AT_ONCE)):
        table.add(tables.frame_of_runs(some))
    table.finish()
    return totals, builds


def cell_path(folder: Path, index: int) -> Path:
    """Where the resolved scenario of a cell is kept."""
    return folder / "cells" / f"{index:04}.scenario.resolved.toml"


def write_cells(folder: Path, plan: Plan) -> None:
    """Write the resolved scenario of every cell; unchanged files are not written again."""
    make_folder(folder / "cells")
    wanted = {cell_path(folder, cell.index) for cell in plan.cells}
    for path in (folder / "cells").glob("*.scenario.resolved.toml"):
        if path not in wanted:
            remove(path)
    for cell in plan.cells:
        path = cell_path(folder, cell.index)
        if not path.is_file() or path.read_bytes() != cell.resolved.encode():
            write_text(path, cell.resolved)
