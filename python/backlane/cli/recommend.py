"""`backlane recommend`: which contender to choose, with as few runs as suffice."""

from __future__ import annotations

from pathlib import Path

import click

from backlane import classes, cost
from backlane import recommend as room
from backlane.campaign.plan import make_plan, parse_overrides
from backlane.cli import output
from backlane.cli.app import Verb, json_option, memory_option, python_option, set_option
from backlane.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_PROBLEM
from backlane.machine import core_count
from backlane.objectives import OBJECTIVES
from backlane.recommend import upgrades


@click.command(
    cls=Verb,
    example="backlane recommend town.toml --budget '200 runs'\n"
    "backlane recommend town.toml --objective p95_finish --fairness-floor 0.8",
    help="Add seeds to the contenders of a sweep until the best is settled or the budget ends; "
    "then say which to choose and why. Finished runs are kept: the same command goes on.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="Campaign folder; default results/<name>."
)
@click.option(
    "--objective",
    type=click.Choice(list(OBJECTIVES)),
    help="What is compared; default that of [compare], else finish or goodput.",
)
@click.option(
    "--fairness-floor",
    type=click.FloatRange(0, 1),
    help="Refuse contenders whose mean of Jain's index is below.",
)
@click.option(
    "--latency-ceiling",
    metavar="TIME",
    help='Refuse contenders whose mean RTT is above, such as "80 ms".',
)
@click.option(
    "--budget",
    metavar="LIMIT",
    default="1 h",
    show_default=True,
    help='Runs or CPU time, such as "200 runs" or "30 min".',
)
@click.option(
    "--equal-within",
    metavar="SHARE",
    help='Contenders this near to the best are as good; default that of [compare], else "5 %".',
)
@click.option(
    "--first", type=click.IntRange(2, 1000), default=10, show_default=True,
    help="Seeds of each contender before any is eliminated.",
)  # fmt: skip
@click.option(
    "--n-minus-1",
    is_flag=True,
    help="Then run the best with each link and node down in turn, and name the worst failures.",
)
@click.option(
    "--upgrades", "table", type=click.Path(path_type=Path),
    help="Then run the best with each upgrade of a table: gain, and cost for it.",
)  # fmt: skip
@click.option("-j", "--workers", type=click.IntRange(1, 4096), help="Threads; default all cores.")
@set_option
@python_option
@memory_option
@json_option
def command(
    file: Path,
    out: Path | None,
    objective: str | None,
    fairness_floor: float | None,
    latency_ceiling: str | None,
    budget: str,
    equal_within: str | None,
    first: int,
    n_minus_1: bool,
    table: Path | None,
    workers: int | None,
    settings: tuple[str, ...],
    allow_python: bool,
    ignore_memory: bool,
    as_json: bool,
) -> int:
    """Recommend a contender."""
    limits = room.Limits(
        fairness_floor or 0.0,
        *(() if latency_ceiling is None else (room.read_time(latency_ceiling),)),
    )
    overrides = parse_overrides(settings)
    allowed = room.Budget.parse(budget)
    candidates = [] if table is None else room.read_upgrades(table)
    plan = make_plan(file, overrides)
    classes.authorize(plan.classes(), file, allow_python, output.error)
    first_runs = make_plan(file, [*overrides, ("sweep.seeds", str(first))])
    for line in cost.remark(first_runs, workers or core_count()):
        output.say(f"the first {first} seeds: {line}")
    found = room.of(
        file,
        out,
        objective=objective,
        limits=limits,
        budget=allowed,
        equal_within=None if equal_within is None else room.read_share(equal_within),
        first=first,
        workers=workers,
        overrides=overrides,
        progress=lambda step, total: output.progress(step, total, "runs"),
        allow_python=True,
        ignore_memory=ignore_memory,
        n_minus_1=n_minus_1,
        candidates=candidates,
    )
    if found.interrupted:
        output.error("interrupted; start the same command again to go on")
    if as_json:
        output.emit({"ok": found.best is not None and not found.interrupted, **found.as_dict()})
    else:
        show(found)
    if found.interrupted:
        return EXIT_INTERRUPTED
    return EXIT_OK if found.best is not None else EXIT_PROBLEM


def show(found: room.Recommendation) -> None:
    """Print the table and the answer."""
    header = [*room.HEADER]
    header[2] = found.objective.metric
    if found.rows:
        output.print_table(found.name, header, found.table(), text_columns=1)
    if found.gains:
        title = f"upgrades of {found.name}, by {found.objective.title}"
        output.print_table(title, upgrades.HEADER, upgrades.table(found.gains, found.objective))
    for sentence in found.sentences():
        output.tell(sentence)
    output.say(f"the runs took {cost.time(found.cpu_s)} of CPU time")
    output.tell(str(found.folder))
