"""One run: from a plan to a results folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane import native, tables
from backlane.campaign.assemble import columns, manifest_of, run_row
from backlane.errors import BacklaneError, write_error
from backlane.files import make_folder, read_json, write_bytes, write_json, write_text
from backlane.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from backlane.campaign.plan import Cell, Plan, Run


@dataclass(frozen=True)
class Work:
    """The one run of a plan."""

    plan: Plan
    cell: Cell
    run: Run


def only_run(plan: Plan, file: str | Path) -> Work:
    """The run of a plan that has exactly one.

    Raises:
        BacklaneError: R006 when the file is a campaign.
    """
    if len(plan.runs) != 1:
        raise BacklaneError(
            "R006",
            f"this file is a campaign of {len(plan.runs)} runs",
            file,
            f"use `backlane campaign run {file}`",
        )
    return Work(plan, plan.cells[plan.runs[0].cell], plan.runs[0])


def may_have_radios(text: str) -> bool:
    """Whether the text of a scenario speaks of radios; a network without any has no remarks."""
    return "lte" in text or "wifi" in text


def remarks(work: Work, file: str | Path) -> list[dict[str, Any]]:
    """Warnings that only the network of the run can give.

    UEs and links out of reach, networks in pieces, extrapolated laws.
    """
    if not may_have_radios(work.cell.resolved):
        return []
    found: list[dict[str, Any]] = native.module().remarks(
        work.cell.resolved, work.run.seed, str(file)
    )
    return found


def simulate(work: Work, progress: Callable[[float, float, int], None] | None = None) -> Results:
    """Carry out the run.

    Args:
        work: what to run.
        progress: called about five times per second with simulated seconds, duration and
            events; what it raises stops the run.

    Raises:
        RunError: when the run could not be carried out.
    """
    result = native.module().run(work.cell.resolved, work.run.seed, progress)
    run_id = work.run.run_id
    row = run_row(work.run, work.cell, result.summary)
    found = {"runs": tables.frame(columns([row]))}
    series = {f"series/{probe}": plain for probe, plain in result.series.items()}
    for name, plain in (tables.of_run(result) | series).items():
        found[name] = tables.with_run_id(tables.frame(plain), run_id)
    manifest = manifest_of("run", work.plan, [row])
    return Results(manifest, tables=found, captures=result.captures)


def claim(folder: Path, work: Work) -> None:
    """Make sure that the folder can be written, before any time is spent on the run.

    Raises:
        BacklaneError: R007 when it holds a campaign, R001, R002 or R017 when it is not writable.
    """
    make_folder(folder)
    if (folder / "campaign.json").exists():
        raise BacklaneError(
            "R007", "the folder holds a campaign", folder, "choose another folder with --out DIR"
        )
    write_text(folder / "scenario.resolved.toml", work.cell.resolved)


def replaces(folder: Path, work: Work) -> bool:
    """Whether the folder holds the results of another run."""
    path = folder / "manifest.json"
    if not path.is_file():
        return False
    return read_json(path).get("scenario_hash") != work.plan.scenario_hash


def save(
    results: Results, work: Work, folder: Path, overrides: Sequence[tuple[str, str]] = ()
) -> None:
    """Write the results folder; the manifest comes last.

    Raises:
        BacklaneError: R001, R002, R007 or R017.
    """
    claim(folder, work)
    path = folder / "manifest.json"
    try:
        path.unlink(missing_ok=True)
        for stale in (*(folder / "series").glob("*.parquet"), *folder.glob("capture/*.pcapng")):
            stale.unlink()
    except OSError as error:
        raise write_error(error, path) from error
    for name, table in results.tables.items():
        target = folder / f"{name}.parquet"
        make_folder(target.parent)
        tables.write(target, table)
    for node, capture in results.captures.items():
        make_folder(folder / "capture")
        write_bytes(folder / "capture" / f"{node}.pcapng", capture)
    more: dict[str, Any] = {"overrides": [f"{key}={value}" for key, value in overrides]}
    results.manifest |= more
    write_json(path, results.manifest)
    results.folder = folder
