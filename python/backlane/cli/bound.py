"""`backlane bound`: what no routing could beat, without a packet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backlane.campaign.plan import parse_overrides
from backlane.cli import output
from backlane.cli.app import Verb, json_option, set_option
from backlane.text import span

if TYPE_CHECKING:
    from backlane.bound import Bound, Tight

MOST_TIGHT = 12
"""Rows of the table of tight resources; --json has all."""
WHY = (
    "A bound, not a promise: a fluid over all paths at once, without queues, losses, slow start "
    "and acknowledgments. No routing exceeds it; whether one comes near is for runs to show."
)


@click.command(
    cls=Verb,
    example="backlane bound grid.toml\nbacklane bound grid.toml --set access.ues=50 --json",
    help="Compute what no routing could beat: goodput, fair rates and finish times.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--seed", type=int, help="The run whose draws count; default: that of the file.")
@click.option(
    "--method",
    type=click.Choice(["auto", "exact", "approximate"]),
    default="auto",
    help="Linear programs, or an approximation with a proven gap; auto: by the size.",
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
    seed: int | None,
    method: str,
    time_limit: float,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compute and print."""
    from backlane import bound

    found = bound.of(file, parse_overrides(settings), seed, method, time_limit)
    if as_json:
        output.emit({"ok": True, "file": str(file), "why": WHY, "bounds": [*map(as_dict, found)]})
        return
    for one in found:
        show(one)
    output.tell(WHY)


def as_dict(bound: Bound) -> dict[str, Any]:
    """A bound for ``--json``."""
    finish = bound.finish
    fair = bound.fair_mbps
    return {
        "name": bound.name,
        "parameters": bound.parameters,
        "seed": bound.seed,
        "nodes": bound.nodes,
        "arcs": bound.arcs,
        "method": bound.method,
        "variables": bound.variables,
        "total_bps": bound.total_mbps * 1e6,
        "least_bps": bound.least_mbps * 1e6,
        "gap": bound.gap,
        "fair_bps": None
        if fair is None
        else {name: rate * 1e6 for name, rate in zip(bound.flows, fair, strict=True)},
        "finish": None
        if finish is None
        else {
            "mean_s": finish.mean_s,
            "last_s": finish.last_s,
            "each_s": {
                bound.flows[at]: float(each)
                for at, each in zip(finish.flows, finish.each_s, strict=True)
            },
        },
        "tight": [
            {
                "resource": row.resource,
                "kind": row.kind,
                "capacity": row.capacity,
                "total_price": row.total_price,
                "least_price": row.least_price,
            }
            for row in bound.tight
        ],
        "left_out": bound.notes,
        "seconds": bound.seconds,
    }


def show(bound: Bound) -> None:
    """Print the tables of a bound."""
    values = ", ".join(f"{key} = {value}" for key, value in bound.parameters.items())
    title = bound.name + (f" ({values})" if values else "")
    output.print_table(title, ["no routing exceeds", "bound"], _rows(bound))
    if bound.tight:
        output.print_table(
            "tight: what more of it adds",
            ["", "more", "to the total", "to each flow"],
            [
                [
                    row.resource,
                    row.step,
                    _price(row, row.total_price),
                    _price(row, row.least_price),
                ]
                for row in bound.tight[:MOST_TIGHT]
            ],
        )
        if len(bound.tight) > MOST_TIGHT:
            output.tell(f"and {len(bound.tight) - MOST_TIGHT} more; --json lists all\n")
    for note in bound.notes:
        output.tell(f"note: {note}")
    if bound.method == "approximate":
        output.tell(
            f"note: approximated; the rate of the least flow is within {bound.gap:.1%} of the best"
        )


def _rows(bound: Bound) -> list[list[str]]:
    rows = [
        ["total goodput", f"{_rate(bound.total_mbps)} Mbit/s"],
        [f"each of {len(bound.flows)} flows at the same time", f"{_rate(bound.least_mbps)} Mbit/s"],
    ]
    fair = sorted(bound.fair_mbps or ())
    if fair and fair[-1] > fair[0] * (1 + 1e-6):
        middle = fair[len(fair) // 2]
        rows.append(
            [
                "max-min fair rates: least, median, most",
                f"{_rate(fair[0])}, {_rate(middle)}, {_rate(fair[-1])} Mbit/s",
            ]
        )
    if bound.finish is not None:
        each = bound.finish.each_s
        rows += [
            ["mean finish time, at least", span_of(bound.finish.mean_s)],
            ["last flow ends, not before", span_of(bound.finish.last_s)],
            [
                "finish time of one alone, at least",
                f"{span_of(min(each))} to {span_of(max(each))}"
                if max(each) > min(each) * (1 + 1e-6)
                else span_of(min(each)),
            ],
        ]
    return rows


def span_of(seconds: float) -> str:
    """A time with three digits."""
    if seconds < 100:
        return f"{seconds:.3g} s"
    return f"{seconds:.0f} s" if seconds < 1000 else span(seconds)


def _rate(mbps: float) -> str:
    return f"{mbps:.4g}" if mbps < 1e4 else f"{mbps:.0f}"


def _price(row: Tight, price: float) -> str:
    return "–" if price <= 0 else row.gain(price)
