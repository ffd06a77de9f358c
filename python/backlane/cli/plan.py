"""`backlane plan`: the runs of a scenario and their estimated cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backlane import campaign, cost
from backlane.campaign.plan import make_plan, parse_overrides, parse_shard
from backlane.campaign.store import Store
from backlane.cli import output
from backlane.cli.app import Verb, json_option, set_option
from backlane.machine import core_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backlane.campaign.plan import Plan, Run

MOST_ROWS = 50
"""Cells in the table; of more, the dearest are shown."""


@click.command(
    cls=Verb,
    example="backlane plan town.toml\nbacklane plan town.toml --set sweep.seeds=40 --workers 8",
    help="Estimate CPU time, memory and disk of all runs of a scenario that are not stored yet, "
    "without running anything.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="Campaign folder; default results/<name>."
)
@click.option("-j", "--workers", type=click.IntRange(1, 4096), help="Threads; default all cores.")
@click.option("--shard", metavar="i/n", help="Only every n-th run, beginning with the i-th.")
@set_option
@json_option
def command(
    file: Path,
    out: Path | None,
    workers: int | None,
    shard: str | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print the plan."""
    part = parse_shard(shard)
    plan = make_plan(file, parse_overrides(settings))
    folder = out or campaign.default_folder(plan)
    store = Store(folder)
    runs = plan.shard(part)
    missing = [one for one in runs if one.run_id not in store]
    work = cost.total(plan, workers or core_count(), missing)
    if as_json:
        output.emit(_summary(plan, runs, work, folder))
        return
    rows = _rows(plan, missing)
    stored = len(runs) - len(missing)
    title = f"{plan.name}: {len(plan.cells)} cells, {len(runs)} runs, {stored} of them stored"
    output.print_table(
        title, ["cell", "runs to do", "CPU time a run", "memory a run", "disk a run"], rows
    )
    if len(plan.cells) > MOST_ROWS:
        output.tell(f"(the {MOST_ROWS} dearest of {len(plan.cells)} cells)")
    for line in cost.statement(work, folder) or ["all runs are stored: there is nothing to do"]:
        output.tell(line)
    available = cost.available_memory()
    if work.memory_bytes > available and work.runs:
        output.tell(f"the memory does not suffice: {cost.size(available)} are free")


def _rows(plan: Plan, missing: Sequence[Run]) -> list[list[str]]:
    counts: dict[int, int] = {}
    for one in missing:
        counts[one.cell] = counts.get(one.cell, 0) + 1
    cells = plan.cells
    if len(cells) > MOST_ROWS:
        cells = sorted(cells, key=lambda cell: -cost.of(cell.resolved).cpu_s)[:MOST_ROWS]
    rows = []
    for cell in cells:
        each = cost.of(cell.resolved)
        name = ", ".join(f"{key} = {value}" for key, value in cell.parameters.items()) or "all"
        rows.append(
            [
                name,
                str(counts.get(cell.index, 0)),
                cpu(each.cpu_s),
                cost.size(each.memory_bytes),
                cost.size(each.disk_bytes),
            ]
        )
    return rows


def cpu(seconds: float) -> str:
    """A CPU time, with digits below ten seconds."""
    return f"{seconds:.2g} s" if seconds < 10 else cost.time(seconds)


def _summary(plan: Plan, runs: Sequence[Run], work: cost.Total, folder: Path) -> dict[str, Any]:
    return {
        "ok": True,
        "name": plan.name,
        "folder": str(folder),
        "cells": len(plan.cells),
        "runs": len(runs),
        "to_do": work.runs,
        **work.as_dict(),
        "free_memory_bytes": cost.available_memory(),
        "free_disk_bytes": cost.free_disk(folder),
    }
