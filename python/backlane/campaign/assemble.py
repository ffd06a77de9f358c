"""From single runs to the tables of a results folder."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from typing import TYPE_CHECKING, Any

from backlane import __version__, native, tables
from backlane.files import make_folder, replacing, write_bytes, write_json, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backlane.campaign.plan import Cell, Plan, Run
    from backlane.campaign.store import Store

FORMAT = 1
"""Version of the layout of a results folder."""

_SUMMARY_COLUMNS = (
    "simulated_s", "wall_s", "cpu_s", "events", "packets_injected", "packets_delivered",
    "packets_dropped", "packets_in_flight", "ended", "digest",
)  # fmt: skip


def run_row(run: Run, cell: Cell, summary: Mapping[str, Any]) -> dict[str, Any]:
    """One row of ``runs.parquet``."""
    row: dict[str, Any] = {"run_id": run.run_id, "cell": run.cell, "seed": run.seed}
    row |= cell.parameters
    row |= {name: summary.get(name) for name in _SUMMARY_COLUMNS}
    causes = summary.get("dropped_by_cause") or {}
    row["dropped_by_cause"] = json.dumps(causes, sort_keys=True)
    return row


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows with equal keys as columns."""
    names = list(rows[0]) if rows else []
    return {name: [row[name] for row in rows] for name in names}


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
        "cores": len(os.sched_getaffinity(0)),
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
        plan: what was asked for.
        rows: the finished runs, as in ``runs.parquet``.
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
        "runs_finished": len(rows),
        "complete": len(rows) == len(plan.runs),
        "events": sum(int(row["events"] or 0) for row in rows),
        "wall_s": sum(float(row["wall_s"] or 0) for row in rows),
        "cpu_s": sum(float(row["cpu_s"] or 0) for row in rows),
        "digest": digest_of([str(row["digest"]) for row in rows]),
        "command": command(),
        "host": host(),
    } | more  # fmt: skip


def assemble(
    folder: Path,
    plan: Plan,
    store: Store,
    shard: tuple[int, int] | None = None,
    overrides: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """Write tables, series, cells and manifest from the finished runs of `plan`.

    The manifest is removed first and written last: while it is missing, the folder is not
    taken for results.

    Returns:
        The manifest.
    """
    import polars as pl

    manifest_path = folder / "manifest.json"
    manifest_path.unlink(missing_ok=True)
    finished = [run for run in plan.runs if run.run_id in store]
    rows = [run_row(run, plan.cells[run.cell], store.summary(run.run_id)) for run in finished]
    if rows:
        tables.write(folder / "runs.parquet", tables.frame(columns(rows)))
    for name in (*tables.ALWAYS, *tables.OF_RADIO, *tables.FURTHER):
        having = [
            run for run in finished if name in tables.ALWAYS or store.has_table(run.run_id, name)
        ]
        parts = [tables.with_run_id(store.table(run.run_id, name), run.run_id) for run in having]
        if parts:
            tables.write(folder / f"{name}.parquet", pl.concat(parts, how="diagonal_relaxed"))
    _write_series(folder, finished, store)
    for run in finished:
        for node, path in store.captures(run.run_id).items():
            make_folder(folder / "capture" / run.run_id)
            target = folder / "capture" / run.run_id / f"{node}.pcapng"
            if not target.is_file():
                write_bytes(target, path.read_bytes())
    failed = [found for run in plan.runs if (found := store.failure(run.run_id)) is not None]
    cells = {run.run_id: run.cell for run in plan.runs}
    for entry in failed:
        entry["parameters"] = plan.cells[cells[entry["run_id"]]].parameters
    manifest = manifest_of(
        "campaign",
        plan,
        rows,
        failed=failed,
        shard=None if shard is None else f"{shard[0]}/{shard[1]}",
        overrides=[f"{key}={value}" for key, value in overrides],
    )
    write_json(manifest_path, manifest)
    return manifest


def cell_path(folder: Path, index: int) -> Path:
    """Where the resolved scenario of a cell is kept."""
    return folder / "cells" / f"{index:04}.scenario.resolved.toml"


def write_cells(folder: Path, plan: Plan) -> None:
    """Keep the resolved scenario of every cell; what is there already is not written again."""
    make_folder(folder / "cells")
    for cell in plan.cells:
        path = cell_path(folder, cell.index)
        if not path.is_file() or path.read_bytes() != cell.resolved.encode():
            write_text(path, cell.resolved)


def _write_series(folder: Path, finished: Sequence[Run], store: Store) -> None:
    """Join the samples of all runs, streaming: they may be larger than the memory."""
    import polars as pl

    sources: dict[str, list[Run]] = {}
    for run in finished:
        for probe in store.series_names(run.run_id):
            sources.setdefault(probe, []).append(run)
    for probe, runs in sources.items():
        make_folder(folder / "series")
        scans = [
            pl.scan_parquet(store.runs / run.run_id / f"series-{probe}.parquet").select(
                pl.lit(run.run_id, dtype=pl.String).alias("run_id"), pl.all()
            )
            for run in runs
        ]
        with replacing(folder / "series" / f"{probe}.parquet") as temporary:
            # Statistics let a reader that wants one run skip the others.
            pl.concat(scans, how="diagonal_relaxed").sink_parquet(temporary)
