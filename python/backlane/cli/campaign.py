"""`backlane campaign`: sweeps, shards, resume."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backlane import campaign, classes, cost
from backlane.campaign.executors import Executor
from backlane.campaign.plan import make_plan, parse_overrides, parse_shard
from backlane.campaign.store import Store
from backlane.cli import output
from backlane.cli.app import (
    Verb,
    Verbs,
    afford,
    json_option,
    memory_option,
    python_option,
    set_option,
)  # fmt: skip
from backlane.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_PROBLEM
from backlane.machine import core_count

if TYPE_CHECKING:
    from backlane.campaign import CampaignResult

command = Verbs(
    "campaign",
    example="backlane campaign run grid.toml --out results/grid",
    help="Run a sweep over parameters and seeds; stop and go on at any time.",
)


@command.command(
    "run",
    cls=Verb,
    example="backlane campaign run grid.toml --out results/grid\n"
    "backlane campaign run grid.toml --shard 1/2 --out results/grid-1",
    help="Carry out all runs that are not finished yet, then write tables and report.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="Campaign folder; default results/<name>."
)
@click.option(
    "-j",
    "--workers",
    type=click.IntRange(1, 4096),
    help="Threads, processes or jobs; default all cores.",
)
@click.option(
    "--executor",
    metavar="NAME",
    default="threads",
    help="threads, dask (processes of this machine), dask:tcp://HOST:PORT (a cluster) or "
    "slurm (a job array); default threads.",
)
@click.option("--shard", metavar="i/n", help="Only every n-th run, beginning with the i-th.")
@set_option
@click.option("--dry-run", is_flag=True, help="Only say what would be run.")
@click.option("--no-report", is_flag=True, help="Write the tables, do not draw the report.")
@python_option
@memory_option
@json_option
def run(
    file: Path,
    out: Path | None,
    workers: int | None,
    executor: str,
    shard: str | None,
    settings: tuple[str, ...],
    dry_run: bool,
    no_report: bool,
    allow_python: bool,
    ignore_memory: bool,
    as_json: bool,
) -> int:
    """Execute a campaign."""
    chosen = Executor.parse(executor)
    part = parse_shard(shard)
    overrides = parse_overrides(settings)
    plan = make_plan(file, overrides)
    folder = out or campaign.default_folder(plan)
    runs = plan.shard(part)
    store = Store(folder)
    missing = [one for one in runs if one.run_id not in store]
    left = len(missing)
    threads = min(workers or core_count(), max(left, 1))
    if dry_run:
        work = cost.total(plan, threads, missing)
        _print_plan(plan, runs, work, folder, as_json)
        for line in cost.statement(work, folder):
            output.say(line)
        if chosen.kind == "slurm" and missing:
            from backlane.campaign import on_slurm, units

            count = len(units.divide(plan, missing, threads, on_slurm.MOST_UNITS))
            output.say(on_slurm.script(folder, count, threads))
        return EXIT_OK
    if left:
        classes.authorize(plan.classes(), file, allow_python, output.error)
    output.say(
        f"{plan.name}: {len(plan.cells)} cells, {len(runs)} runs, {left} to do "
        f"on {threads} {chosen.workers_noun} -> {folder}"
    )
    afford(plan, file, folder, ignore_memory, threads, missing)
    with output.progress(plan.name, len(runs), "runs") as bar:
        result = campaign.run_plan(plan, folder, workers, part, overrides, bar, chosen)
    return _finish(result, as_json, no_report)


@command.command(
    "work",
    cls=Verb,
    example="backlane campaign work results/grid --unit 3",
    help="Execute one unit of a job array; for the script that --executor slurm writes.",
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--unit", type=click.IntRange(0), required=True, help="Its number.")
@json_option
def work(folder: Path, unit: int, as_json: bool) -> int:
    """Execute a unit."""
    from backlane.campaign import on_slurm

    ended = on_slurm.work(folder, unit)
    if as_json:
        output.emit({"finished": ended.finished, "failed": ended.failed, "stored": ended.stored})
    else:
        output.tell(
            f"{len(ended.finished)} runs finished, {len(ended.failed)} failed, "
            f"{len(ended.stored)} were stored"
        )
    return EXIT_PROBLEM if ended.failed else EXIT_OK


@command.command(
    "status",
    cls=Verb,
    example="backlane campaign status results/grid",
    help="Show how far a campaign is.",
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@json_option
def status(folder: Path, as_json: bool) -> int:
    """Count the finished runs."""
    found = campaign.status(folder)
    code = EXIT_PROBLEM if found["failed"] else EXIT_OK
    if as_json:
        output.emit(found)
        return code
    output.print_table(
        f"{found['name']}: {found['finished']} of {found['planned']} runs finished"
        + (f", {found['failed']} failed" if found["failed"] else "")
        + (", running now" if found["running"] else ""),
        ["cell", "finished", "failed", "planned"],
        [
            [_label(row["parameters"]), *(str(row[k]) for k in ("finished", "failed", "planned"))]
            for row in found["cells"]
        ],
    )
    _say_failures(found["failures"])
    return code


@command.command(
    "merge",
    cls=Verb,
    example="backlane campaign merge results/grid results/grid-1 results/grid-2",
    help="Unite the parts of a campaign, DIR..., in the folder OUT.",
)
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT")
@click.argument(
    "folders", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="DIR..."
)
@click.option("--no-report", is_flag=True, help="Write the tables, do not draw the report.")
@json_option
def merge(out: Path, folders: tuple[Path, ...], no_report: bool, as_json: bool) -> int:
    """Join shards."""
    result = campaign.merge(out, folders)
    return _finish(result, as_json, no_report)


def _finish(result: CampaignResult, as_json: bool, no_report: bool) -> int:
    manifest, outcome = result.manifest, result.outcome
    report_path: Path | None = None
    judged: dict[str, Any] = {}
    if manifest["runs_finished"] and not outcome.interrupted and not no_report:
        from backlane import report
        from backlane.cli.report import show

        with output.progress("report", report.figure_count([result.folder]), "figures") as bar:
            summary = report.write([result.folder], None, bar)
        report_path = summary.path
        judged = summary.as_dict()
        if not as_json:
            show(summary)
        # Where no swept key is a choice, loads are compared, and none is to be recommended.
        chosen = any(network.has_choice for network in summary.networks)
        if chosen and any(verdict.undecided for verdict in summary.verdicts):
            output.say("`backlane recommend FILE` adds seeds until the best is settled")
    left = manifest["runs_planned"] - manifest["runs_finished"] - len(manifest["failed"])
    output.say(
        f"{manifest['runs_finished']} of {manifest['runs_planned']} runs finished "
        f"({len(outcome.finished)} now, {outcome.reused} before), "
        f"{len(manifest['failed'])} failed, {left} left"
    )
    _say_failures(manifest["failed"])
    if outcome.interrupted:
        output.error("interrupted; start the same command again to go on")
    if as_json:
        output.emit(
            {
                "ok": not manifest["failed"] and not outcome.interrupted,
                "folder": str(result.folder),
                "report": None if report_path is None else str(report_path),
                "finished_now": len(outcome.finished),
                "reused": outcome.reused,
                "left": left,
                **{k: manifest[k] for k in (
                    "name", "scenario_hash", "model_version", "runs_planned", "runs_finished",
                    "complete", "failed", "digest", "events", "cpu_s")},
                **judged,
            }
        )  # fmt: skip
    else:
        output.tell(str(report_path or result.folder))
    if outcome.interrupted:
        return EXIT_INTERRUPTED
    return EXIT_PROBLEM if manifest["failed"] else EXIT_OK


def _say_failures(failures: list[dict[str, Any]]) -> None:
    for failure in failures[:10]:
        output.error(
            f"error[{failure['code']}]: run {failure['run_id']} failed: {failure['message']}\n"
            f"   = {_label(failure['parameters'])}, seed {failure['seed']}"
        )
    if len(failures) > 10:
        output.say(f"and {len(failures) - 10} more; `backlane campaign status DIR` lists them")


def _label(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in parameters.items()) or "all"


def _print_plan(plan: Any, runs: Any, work: cost.Total, folder: Path, as_json: bool) -> None:
    if as_json:
        output.emit({"folder": str(folder), "to_do": work.runs, **work.as_dict(), **plan.as_dict()})
        return
    counts = [0] * len(plan.cells)
    for one in runs:
        counts[one.cell] += 1
    output.print_table(
        f"{plan.name}: {len(plan.cells)} cells, {len(runs)} runs, {work.runs} to do",
        ["cell", "runs"],
        [
            [_label(cell.parameters), str(count)]
            for cell, count in zip(plan.cells, counts, strict=True)
        ],
    )
