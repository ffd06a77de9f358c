"""`backlane run`: one scenario, one seed, one results folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backlane import classes, cost, single
from backlane.campaign.plan import make_plan, parse_overrides
from backlane.cli import output
from backlane.cli.app import (
    Verb,
    afford,
    json_option,
    memory_option,
    python_option,
    set_option,
)  # fmt: skip
from backlane.machine import core_count
from backlane.measures import FlowMeasures, by_control, measure
from backlane.text import number, rate, seconds, slug

if TYPE_CHECKING:
    from backlane.campaign.plan import Plan
    from backlane.results import Results


@click.command(
    cls=Verb,
    example="backlane run grid.toml\nbacklane run grid.toml --seed 3 --set access.ues=50",
    help="Run one scenario and write its results folder.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="Results folder; default results/<name>-<run id>.",
)
@set_option
@click.option(
    "-j",
    "--threads",
    type=click.IntRange(1, 1024),
    help="Threads of the run; default up to all cores. The results are the same with any number.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="In place of the seed in the file.")
@click.option("--dry-run", is_flag=True, help="Only say what the run would cost.")
@python_option
@memory_option
@json_option
def command(
    file: Path,
    out: Path | None,
    settings: tuple[str, ...],
    threads: int | None,
    seed: int | None,
    dry_run: bool,
    allow_python: bool,
    ignore_memory: bool,
    as_json: bool,
) -> None:
    """Run and show a table."""
    overrides = parse_overrides(settings)
    plan = make_plan(file, overrides, seed)
    work = single.only_run(plan, file)
    folder = out or Path("results") / f"{slug(plan.name)}-{work.run.run_id[:8]}"
    if dry_run:
        _say_cost(plan, folder, as_json)
        return
    classes.authorize(plan.classes(), file, allow_python, output.error)
    for remark in single.remarks(work, file):
        output.error(remark["rendered"])
    afford(plan, file, folder, ignore_memory)
    if threads is not None and threads > core_count():
        output.say(f"{threads} threads share {core_count()} cores: fewer would be faster")
    if single.replaces(folder, work):
        output.say(f"{folder}: replacing the results of another run")
    with output.progress(plan.name, 100.0, "%") as bar:
        results = single.carry_out(
            work,
            folder,
            overrides,
            lambda at, end, _events: _show(bar, at, end),
            threads,
            bar.say,
        )
    by_kind = measures_by_kind(results)
    if as_json:
        output.emit(_summary(results, by_kind, folder))
    else:
        _print(results, by_kind, folder)


def _say_cost(plan: Plan, folder: Path, as_json: bool) -> None:
    """What the run would cost, and where its results would go."""
    all_runs = cost.total(plan)
    if as_json:
        output.emit({"ok": True, "name": plan.name, "folder": str(folder), **all_runs.as_dict()})
        return
    for line in cost.statement(all_runs, folder):
        output.tell(line)
    output.tell(f"results would be in {folder}")


def _show(bar: output.Bar, at_s: float, end_s: float) -> None:
    bar.update(
        min(at_s / end_s, 1.0) * 100 if end_s else 0.0, f"{at_s:.1f} of {end_s:.0f} simulated s"
    )


def measures_by_kind(results: Results) -> dict[str, FlowMeasures]:
    """Statistics over the flows of each kind, in order of appearance.

    Where the flows of a kind have several congestion controls, each of these has its own.
    """
    traffic_s = float(results.runs["traffic_s"][0])
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in results.flows.iter_rows(named=True):
        groups.setdefault(str(row["kind"]), []).append(row)
    found = {}
    for kind, rows in groups.items():
        found[kind] = measure(rows, traffic_s)
        for control, of_control in by_control(rows).items():
            found[f"{kind}, {control}"] = measure(of_control, traffic_s)
    return found


def _summary(results: Results, by_kind: dict[str, FlowMeasures], folder: Path) -> dict[str, Any]:
    from dataclasses import asdict

    row = results.runs.row(0, named=True)
    return {
        "ok": True,
        "folder": str(folder),
        "name": results.name,
        **{key: value for key, value in row.items() if key != "dropped_by_cause"},
        "flows": {kind: asdict(measures) for kind, measures in by_kind.items()},
    }


def _print(results: Results, by_kind: dict[str, FlowMeasures], folder: Path) -> None:
    rows = []
    for kind, m in by_kind.items():
        finish = m.finish_time_s
        rows.append(
            [
                kind,
                str(m.flows),
                f"{m.finite - len(m.unfinished)} of {m.finite}" if m.finite else "–",
                *(seconds(v) for v in (finish.mean, finish.p20, finish.p80, finish.maximum)),
                rate(m.goodput_bps),
                seconds(m.rtt_s.mean),
                str(m.retransmits),
                number(m.jain),
            ]
        )
    row = results.runs.row(0, named=True)
    if results.has("slotted"):
        from backlane.report import slots

        output.print_table(
            f"{results.name}, seed {row['seed']}",
            slots.HEADER[1:],
            [found[1:] for found in slots.rows(results)],
        )
        output.say(
            f"{row['events']} slots in {seconds(row['wall_s'])}; "
            f"{row['packets_dropped']} packets dropped; digest {row['digest']}"
        )
        output.tell(str(folder))
        return
    output.print_table(
        f"{results.name}, seed {row['seed']}",
        ["flows", "count", "finished", "finish time", "P20", "P80", "max", "goodput", "RTT",
         "retransmits", "Jain"],
        rows,
    )  # fmt: skip
    for kind, m in by_kind.items():
        if m.unfinished:
            shown = ", ".join(m.unfinished[:5]) + (" …" if len(m.unfinished) > 5 else "")
            output.say(f"unfinished {kind}: {len(m.unfinished)} of {m.finite} ({shown})")
    output.say(
        f"{row['ended']} at {seconds(row['simulated_s'])}; {row['events']} events in "
        f"{seconds(row['wall_s'])}; {row['packets_dropped']} packets dropped; "
        f"digest {row['digest']}"
    )
    output.say("the means are over flows of one seed; `backlane campaign run` gives intervals")
    output.tell(str(folder))
