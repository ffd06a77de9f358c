"""`backlane weights`: costs of links for OSPF that suit the demands."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backlane.campaign.plan import parse_overrides
from backlane.cli import output
from backlane.cli.app import Verb, json_option, set_option
from backlane.files import write_text

if TYPE_CHECKING:
    from backlane.weights import Weights


@click.command(
    cls=Verb,
    example=(
        "backlane weights grid.toml\n"
        "backlane weights grid.toml -o costs.toml && cat costs.toml >> grid.toml"
    ),
    help="Look for costs of links with which OSPF divides the traffic of a scenario well, by the "
    "measure of Fortz and Thorup. Each flow asks for its max-min fair rate of `backlane bound`.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help='Write tables [[routing.costs]] for a scenario with protocol = "ospf".',
)
@click.option("--seed", type=int, help="Of the flows' draws and the search; default: the file's.")
@click.option(
    "--evaluations",
    type=click.IntRange(2, 10_000_000),
    default=2000,
    show_default=True,
    help="Sets of costs that are rated.",
)
@set_option
@json_option
def command(
    file: Path,
    out: Path | None,
    seed: int | None,
    evaluations: int,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Search and print."""
    from backlane import weights

    with output.progress("costs", evaluations, "sets") as bar:
        found = weights.of(file, parse_overrides(settings), seed, evaluations, bar.update)
    if out is not None:
        write_text(out, found.toml())
    if as_json:
        output.emit({"ok": True, "file": str(file), **as_dict(found)})
        return
    show(found)
    if out is None:
        output.tell(f"costs = {found.inline()}")
    else:
        output.tell(str(out))


def as_dict(found: Weights) -> dict[str, Any]:
    """Costs for ``--json``."""
    rated = [
        asdict(one) | {"congestion": None if math.isnan(one.congestion) else one.congestion}
        for one in found.rated
    ]
    return {
        "name": found.name,
        "demands": found.demands,
        "offered_mbps": found.offered_mbps,
        "evaluations": found.evaluations,
        "rated": rated,
        "costs": found.rows(),
    }


def show(found: Weights) -> None:
    """Print what links carry under each kind of costs."""
    rows = [
        [
            one.name,
            f"{100 * one.utilisation:.0f} %",
            f"{100 / one.utilisation:.0f} %" if one.utilisation > 0 else "–",
            "–" if math.isnan(one.congestion) else f"{one.congestion:.2f}",
        ]
        for one in found.rated
    ]
    output.print_table(
        f"{found.name}: {found.demands} destinations, {found.offered_mbps:.0f} Mbit/s at max-min "
        f"fair rates, {found.evaluations} sets of costs",
        ["shortest paths", "largest load", "of the rates fit", "congestion / least"],
        rows,
    )
