"""From single runs to the tables of a results folder."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from backlane import __version__, machine, native, tables
from backlane.files import make_folder, remove, write_text
from backlane.folder import FORMAT, publish, staging
from backlane.run_files import collect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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


def digest_of(digests: Sequence[str]) -> str:
    """One digest over the digests of several runs, in plan order."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:32]


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


def manifest_of(
    kind: str, plan: Plan, rows: Sequence[Mapping[str, Any]], **more: Any
) -> dict[str, Any]:
    """The manifest of a results folder.

    Args:
        kind: "run" or "campaign".
        plan: the plan of the runs.
        rows: cells and seeds with a finished run, as in ``runs.parquet``.
        more: further entries.
    """
    runs = {row["run_id"]: row for row in rows}.values()
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
        "runs_finished": len(runs),
        "complete": len(runs) == len(plan.runs),
        "events": sum(int(row["events"] or 0) for row in runs),
        "wall_s": sum(float(row["wall_s"] or 0) for row in runs),
        "cpu_s": sum(float(row["cpu_s"] or 0) for row in runs),
        "digest": digest_of([str(row["digest"]) for row in rows]),
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
    finished = [run for run in plan.runs if run.run_id in store]
    builds: Counter[str] = Counter()
    summaries: dict[str, dict[str, Any]] = {}
    for run in finished:
        record = store.record(run.run_id)
        builds[record.build.commit] += 1
        summaries[run.run_id] = record.summary
    rows = [
        run_row(cell, run, summaries[run.run_id])
        for cell, run in plan.rows()
        if run.run_id in summaries
    ]
    failed = [found for run in plan.runs if (found := store.failure(run)) is not None]
    cells = {run.run_id: run.cell for run in plan.runs}
    for entry in failed:
        entry["parameters"] = plan.cells[cells[entry["run_id"]]].parameters
    with staging(folder) as staged:
        if rows:
            tables.write(staged / "runs.parquet", tables.frame_of_runs(rows))
        collect(staged, {run.run_id: store.files(run.run_id) for run in finished}, of_one_run=False)
        manifest = manifest_of(
            "campaign",
            plan,
            rows,
            commits=dict(builds),
            failed=failed,
            shard=None if shard is None else f"{shard[0]}/{shard[1]}",
            overrides=[f"{key}={value}" for key, value in overrides],
        )
        return publish(folder, staged, manifest)


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
