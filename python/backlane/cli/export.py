"""`backlane export`: a scenario as a program of another simulator."""

from __future__ import annotations

from pathlib import Path

import click

from backlane.campaign.plan import make_plan, parse_overrides
from backlane.cli import output
from backlane.cli.app import Verb, set_option
from backlane.errors import BacklaneError


@click.command(
    cls=Verb,
    example="backlane export ns3 bell.toml\nbacklane export ns3 bell.toml -o bell.cc --seed 3",
    help="Write a wired scenario as a C++ program for ns-3 3.37, to check Backlane on a case of "
    "your own.",
)
@click.argument("simulator", type=click.Choice(["ns3"]))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="The program; default FILE with .cc."
)
@click.option("--cell", type=click.IntRange(min=0), help="The cell of a sweep, from 0.")
@click.option("--seed", type=click.IntRange(min=0), help="In place of the file's.")
@set_option
def command(
    simulator: str,
    file: Path,
    out: Path | None,
    cell: int | None,
    seed: int | None,
    settings: tuple[str, ...],
) -> None:
    """Run once here, and write the program with the results beside."""
    from backlane.export import ns3

    plan = make_plan(file, parse_overrides(settings), seed=seed)
    if len(plan.cells) > 1 and cell is None:
        raise BacklaneError(
            "R083",
            f"{file} has a sweep of {len(plan.cells)} cells",
            mend="choose one with --cell, or replace the sweep with --set",
        )
    number = cell or 0
    if number >= len(plan.cells):
        raise BacklaneError("R083", f"there are {len(plan.cells)} cells, from 0")
    text = ns3.program(plan.cells[number].resolved, plan.seeds[0])
    target = out or file.with_suffix(".cc")
    ns3.write(target, text)
    libraries = " ".join(f"-lns3-{library}" for library in ns3.LIBRARIES)
    output.tell(str(target))
    output.say(f"g++ -O2 -std=c++17 {target} -o {target.with_suffix('')} {libraries}")
