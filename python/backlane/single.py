"""One run: from a plan to a results folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane import cost, linux, native, tables
from backlane.campaign.assemble import Totals, manifest_of, run_row
from backlane.errors import BacklaneError, write_error
from backlane.files import locked, make_folder, read_json, sweep, write_text
from backlane.folder import CAMPAIGN, MANIFEST, RESOLVED, publish, staging
from backlane.machine import core_count
from backlane.results import Results
from backlane.run_files import RunFiles, collect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import polars as pl

    from backlane._native import RunResult
    from backlane.campaign.plan import Cell, Plan, Run
    from backlane.progress import Progress as Bar

    Progress = Callable[[float, float, int], None]


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
            f"use `backlane campaign run {file}`; in Python, backlane.sweep",
        )
    linux.require(plan.cells)
    return Work(plan, plan.cells[plan.runs[0].cell], plan.runs[0])


def may_have_radios(text: str) -> bool:
    """Whether the text of a scenario mentions radios; a network without radios has no remarks."""
    return "lte" in text or "wifi" in text


def remarks(work: Work, file: str | Path) -> list[dict[str, Any]]:
    """Warnings that need the network of the run.

    UEs and links out of range, partitioned networks, extrapolated path-loss models.
    """
    if not may_have_radios(work.cell.resolved):
        return []
    found: list[dict[str, Any]] = native.module().remarks(
        work.cell.resolved, work.run.seed, str(file)
    )
    return found


def threads_of(resolved: str, threads: int | None) -> dict[str, Any]:
    """The arguments of the compiled module for a number of threads; None is up to all cores.

    The files of Linux kernels are among them, if the scenario needs any.
    """
    kernels = linux.files(resolved)
    if threads is not None:
        return {"threads": threads, "at_most": False, "kernels": kernels}
    offered = cost.threads(resolved, core_count())
    return {"threads": offered, "at_most": True, "kernels": kernels}


def percent(bar: Bar) -> Progress:
    """The progress of a run as a share of its duration."""

    def update(at_s: float, end_s: float, _events: int) -> None:
        share = min(at_s / end_s, 1.0) if end_s else 0.0
        bar.update(100 * share, f"{at_s:.1f} of {end_s:.0f} simulated s")

    return update


def simulate(work: Work, progress: Progress | None = None, threads: int | None = None) -> Results:
    """Execute the run and keep everything in memory.

    Args:
        work: what to run.
        threads: threads of the run; None is up to all cores, where that pays.
        progress: called about five times per second with simulated seconds, duration and
            events; an exception stops the run.

    Raises:
        RunError: when the run failed.
    """
    offered = threads_of(work.cell.resolved, threads)
    result = native.module().run(work.cell.resolved, work.run.seed, progress, **offered)
    found = {"runs": _runs(work, result)}
    series = {f"series/{probe}": table for probe, table in result.series.items()}
    for name, table in (result.tables | series).items():
        found[name] = tables.with_run_id(tables.frame(table), work.run.run_id)
    manifest = manifest_of("run", work.plan, Totals(found["runs"].to_dicts()))
    return Results(manifest, _tables=found, _captures=result.captures)


def carry_out(
    work: Work,
    folder: Path,
    overrides: Sequence[tuple[str, str]] = (),
    progress: Progress | None = None,
    threads: int | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> Results:
    """Execute the run and write a results folder; series and captures are written during the run.

    An earlier run in the folder is replaced when this one is complete, and kept otherwise.

    Args:
        work: what to run.
        folder: the results folder.
        overrides: (key, value) pairs that replaced values of the file.
        progress: as for `simulate`.
        threads: as for `simulate`.
        say: gets a message if the run used one thread and `threads` asked for more.

    Raises:
        RunError: when the run could not be carried out.
        BacklaneError: R001, R002, R005, R007 or R017.
    """

    def execute(files: RunFiles) -> tuple[RunResult, dict[str, Any]]:
        offered = threads_of(work.cell.resolved, threads)
        result = native.module().run(work.cell.resolved, work.run.seed, progress, files, **offered)
        if threads is not None and result.undivided:
            say(f"the run used one thread: {result.undivided}")
        return result, {}

    return write(work, folder, execute, overrides)


def write(
    work: Work,
    folder: Path,
    execute: Callable[[RunFiles], tuple[RunResult, dict[str, Any]]],
    overrides: Sequence[tuple[str, str]] = (),
) -> Results:
    """Execute the run in some way and write a results folder, as `carry_out` does.

    Args:
        work: what to run.
        folder: the results folder.
        execute: executes it; it gets the sink of series and captures, and returns the result and
            further entries of the manifest.
        overrides: (key, value) pairs that replaced values of the file.

    Raises:
        BacklaneError: R001, R002, R005, R007 or R017.
    """
    _require_no_campaign(folder)
    with locked(folder):
        sweep(folder)
        with staging(folder) as parts, staging(folder) as staged:
            try:
                files = RunFiles(parts)
                result, more = execute(files)
                files.write_tables(result)
                runs = _runs(work, result)
                tables.write(staged / "runs.parquet", runs)
                write_text(staged / RESOLVED, work.cell.resolved)
                for host, text in result.consoles.items():
                    make_folder(staged / "console")
                    write_text(staged / "console" / f"{host}.txt", text + "\n")
                collect(staged, [work.run.run_id], lambda _run_id: files, of_one_run=True)
            except OSError as error:
                raise write_error(error, folder) from error
            manifest = manifest_of("run", work.plan, Totals(runs.to_dicts()), **more)
            manifest["overrides"] = [f"{key}={value}" for key, value in overrides]
            return Results(publish(folder, staged, manifest), folder)


def _runs(work: Work, result: RunResult) -> pl.DataFrame:
    """The table `runs`: one row."""
    return tables.frame_of_runs([run_row(work.cell, work.run, result.summary)])


def _require_no_campaign(folder: Path) -> None:
    """Make sure that a folder holds no campaign.

    Raises:
        BacklaneError: R007.
    """
    if (folder / CAMPAIGN).exists() or (folder / "store").exists():
        raise BacklaneError(
            "R007", "the folder holds a campaign", folder, "choose another folder with --out DIR"
        )


def replaces(folder: Path, work: Work) -> bool:
    """Whether the folder holds the results of another run."""
    path = folder / MANIFEST
    if not path.is_file():
        return False
    return read_json(path).get("scenario_hash") != work.plan.scenario_hash
