"""`backlane check`: find problems before a run."""

from __future__ import annotations

from pathlib import Path

import click

import backlane
from backlane import campaign, cost
from backlane.campaign.plan import parse_overrides
from backlane.cli import output
from backlane.cli.app import Verb, afford, json_option, set_option
from backlane.machine import core_count


@click.command(
    cls=Verb,
    example="backlane check grid.toml\nbacklane check grid.toml --set access.ues=50",
    help="Check a scenario file: units, names, connectivity, impossible values.",
)
@click.argument("file", type=click.Path(path_type=Path))
@set_option
@json_option
def command(file: Path, settings: tuple[str, ...], as_json: bool) -> None:
    """Check and list the warnings."""
    overrides = parse_overrides(settings)
    warnings = backlane.check(file, overrides)
    plan = backlane.plan(file, overrides)
    for warning in warnings:
        output.error(warning["rendered"])
    folder = campaign.default_folder(plan)
    afford(plan, file, folder, True, min(core_count(), len(plan.runs)))
    if as_json:
        found = cost.total(plan)
        output.emit(
            {
                "ok": True,
                "file": str(file),
                "name": plan.name,
                "scenario_hash": plan.scenario_hash,
                "cells": len(plan.cells),
                "runs": len(plan.runs),
                "cost": {
                    "cpu_s": found.cpu_s,
                    "memory_bytes": found.largest.memory_bytes,
                    "disk_bytes": found.disk_bytes,
                },
                "warnings": warnings,
            }
        )
        return
    what = "1 run" if len(plan.runs) == 1 else f"{len(plan.cells)} cells, {len(plan.runs)} runs"
    count = len(warnings)
    noted = f"; {count} warning{'s' if count > 1 else ''}" if warnings else ""
    output.tell(f"{file}: fine, {what}{noted}")
