"""`backlane optimum`: the bound's own solution as explicit paths that routers follow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backlane.campaign.plan import parse_overrides
from backlane.cli import output
from backlane.cli.app import Verb, json_option, set_option
from backlane.files import write_text

if TYPE_CHECKING:
    from backlane.optimum import Optimum

MOST_PATHS = 30
"""Rows of the table; --json has all."""


@click.command(
    cls=Verb,
    example=(
        "backlane optimum grid.toml\n"
        "backlane optimum grid.toml -o optimum.toml && backlane run optimum.toml"
    ),
    help="Solve for the optimum of `backlane bound`, and write a scenario whose routers divide "
    "traffic among its paths by weights: what if the network ran the optimum?",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="Write the scenario with tables [[routing.explicit_paths]].",
)
@click.option("--seed", type=int, help="The run whose draws count; default: that of the file.")
@click.option(
    "--objective",
    type=click.Choice(["fair", "concurrent"]),
    default="fair",
    show_default=True,
    help="Max-min fair rates, or the largest rate that all flows get at the same time.",
)
@click.option(
    "--spread",
    type=click.Choice(["hash", "round-robin"]),
    default="hash",
    show_default=True,
    help="Divide flows among the paths of a pair by a hash, or packets in turns.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "exact", "approximate"]),
    default="auto",
    show_default=True,
    help="Linear programs over arcs, or paths as they are needed, which give all flows the same "
    "rate; auto: by the size.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0.1),
    default=300.0,
    show_default=True,
    help="Seconds for each linear program, or for the approximation.",
)
@set_option
@json_option
def command(
    file: Path,
    out: Path | None,
    seed: int | None,
    objective: str,
    spread: str,
    method: str,
    time_limit: float,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Solve and print."""
    from backlane import optimum

    overrides = parse_overrides(settings)
    found = optimum.of(file, overrides, seed, objective, spread, time_limit, method)
    if out is not None:
        write_text(out, found.toml())
    if as_json:
        output.emit({"ok": True, "file": str(file), **as_dict(found)})
        return
    show(found)
    if out is not None:
        output.tell(str(out))
    elif len(found.paths) <= MOST_PATHS:
        output.tell(f"routing = {found.inline()}")


def as_dict(found: Optimum) -> dict[str, Any]:
    """An optimum for ``--json``."""
    return {
        "name": found.name,
        "seed": found.seed,
        "objective": found.objective,
        "least_bps": found.least_mbps * 1e6,
        "total_bps": found.total_mbps * 1e6,
        "flows_bps": {name: rate * 1e6 for name, rate in found.rates_mbps.items()},
        "paths": found.rows(),
        "loads_bps": {f"{a}-{b}": load * 1e6 for (a, b), load in found.loads_mbps.items()},
        "left_out": found.notes,
    }


def show(found: Optimum) -> None:
    """Print what the optimum gives, and its paths."""
    kind = "max-min fair rates" if found.objective == "fair" else "the same rate for all flows"
    output.print_table(
        f"{found.name}: {kind}",
        ["", "optimum"],
        [
            ["least flow", f"{found.least_mbps:.2f} Mbit/s"],
            ["all flows", f"{found.total_mbps:.1f} Mbit/s"],
            ["pairs of routers", str(found.pairs)],
            ["paths", str(len(found.paths))],
        ],
    )
    output.print_table(
        "paths",
        ["path", "Mbit/s", "of its pair"],
        [
            [" ".join(path.nodes), f"{path.mbps:.1f}", f"{100 * path.share:.1f} %"]
            for path in found.paths[:MOST_PATHS]
        ],
    )
    if len(found.paths) > MOST_PATHS:
        output.tell(f"{len(found.paths) - MOST_PATHS} more paths: --json lists them")
    for note in found.notes:
        output.tell(note)
