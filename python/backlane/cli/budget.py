"""`backlane budget`: what the radio links of a table carry, and how often."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backlane.cli import output
from backlane.cli.app import Verb, json_option
from backlane.errors import BacklaneError
from backlane.imports.model import KINDS, shown
from backlane.link_budget.series import DOWN
from backlane.text import span

if TYPE_CHECKING:
    from backlane.imports import Network
    from backlane.imports.radio import Recorded
    from backlane.link_budget import Budget, Direction
    from backlane.link_budget.budget import StepBudget


def _list_radios(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        from backlane.link_budget import radios

        for ladder in radios.ladders():
            rates = [step.rate_bps / 1e6 for step in ladder.steps]
            output.tell(
                f"{ladder.radio}: {ladder.band_ghz:g} GHz, {ladder.channel_mhz:g} MHz, "
                f"{len(rates)} steps, {rates[0]:g} to {rates[-1]:g} Mbit/s ({ladder.source})"
            )
        output.tell(f"{radios.GENERIC}: any frequency and channel")
        context.exit()


@click.command(
    cls=Verb,
    example=(
        "backlane budget sites.csv links.csv --rain-rate 35\n"
        "backlane budget links.csv --radio RAy17 --json"
    ),
    help="Compute the link budgets of a table of radio links: level, step and rate, fade margin, "
    "rain attenuation and availability. FILES are read as by `backlane import`: sites with "
    "latitude and longitude, links with frequency, bandwidth, antenna gain or diameter, and power; "
    "recorded levels give the rates that a link had.",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--rain-rate",
    type=click.FloatRange(0, 300),
    metavar="MM/H",
    help="Exceeded for 0.01 % of the year (ITU-R P.837); without it no rain is computed.",
)
@click.option(
    "--gradient",
    type=click.FloatRange(-2000, 500),
    metavar="N/KM",
    help="Of refractivity, dN1 of ITU-R P.453; without it no multipath is computed.",
)
@click.option("--radio", metavar="NAME", help="Of all links, instead of the column.")
@click.option(
    "--losses",
    type=click.FloatRange(0, 100),
    default=0.0,
    metavar="DB",
    help="Other losses of links without a column for them, both ends together.",
)
@click.option(
    "--noise-figure",
    type=click.FloatRange(0, 100),
    metavar="DB",
    help="Of radios whose thresholds are not published; default 8.",
)
@click.option(
    "--radios",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_radios,
    help="List the radios.",
)
@json_option
def command(
    files: tuple[Path, ...],
    rain_rate: float | None,
    gradient: float | None,
    radio: str | None,
    losses: float,
    noise_figure: float | None,
    as_json: bool,
) -> None:
    """Compute and print."""
    from backlane import imports
    from backlane.imports.places import Ruler
    from backlane.imports.radio import Defaults, budget_of, radio_links, recorded

    network = imports.Network()
    try:
        imports.read([*files], imports.Options(), network)
    except BacklaneError:
        _say(network)
        raise
    if not network.links:
        raise BacklaneError("R046", "the files list no link", files[0], "give a table of links")
    links = radio_links(network)
    if not as_json:
        _say(network)
    defaults = Defaults(radio, losses, noise_figure, rain_rate, gradient)
    ruler = Ruler()
    found = [budget_of(link, network, defaults, ruler) for link in links]
    records = [recorded(link, network, one) for link, one in zip(links, found, strict=True)]
    if as_json:
        rows = [
            as_dict(one) | {"recorded": [_recorded(each, one) for each in record]}
            for one, record in zip(found, records, strict=True)
        ]
        notes = [{"kind": note.kind, "text": note.text} for note in network.notes]
        output.emit({"ok": True, "links": rows, "notes": notes})
        return
    show(found)
    for one, record in zip(found, records, strict=True):
        for each in record:
            output.tell(_record_line(each, one))


def _say(network: Network) -> None:
    for kind in KINDS:
        for note in network.texts(kind):
            if "beside the scenario" not in note:
                output.say(f"{kind}: {note}")


def show(budgets: list[Budget]) -> None:
    """Print a row for each link, in its worse direction, and what was assumed."""
    output.print_table(
        "",
        ["link", "step", "km", "free space dB", "level dBm", "Mbit/s", "margin dB",
         "rain 0.01 % dB", "at this rate %", "link up %"],
        [_row(one) for one in budgets],
        text_columns=2,
    )  # fmt: skip
    notes: dict[str, None] = {}
    for one in budgets:
        notes |= dict.fromkeys(one.notes)
    for note in notes:
        output.tell(f"assumed: {note}")


def _row(budget: Budget) -> list[str]:
    link, worse = budget.link, budget.worse
    chosen = None if worse.at is None else worse.steps[worse.at]
    return [
        f"{shown(worse.source)}–{shown(worse.sink)}",
        f"{budget.ladder.radio} {chosen.step.mode}" if chosen else "none holds",
        f"{link.length_km:.3f}",
        f"{worse.free_space_db:.1f}",
        f"{worse.level_dbm:.1f}",
        f"{worse.rate_bps / 1e6:.4g}",
        f"{chosen.margin_db:.1f}" if chosen else "–",
        "–" if worse.rain_001_db is None else f"{worse.rain_001_db:.1f}",
        availability_text(chosen) if chosen else "0",
        availability_text(worse.steps[0]),
    ]


def availability_text(one: StepBudget) -> str:
    """The share of the year, with a sign where the model has a bound alone."""
    from backlane.link_budget.rain_path import SHARES_PERCENT

    share = one.availability_percent
    if one.margin_db <= 0:
        return "0"
    if share is None:
        return "–"
    least, most = SHARES_PERCENT
    sign = {least: "≥ ", most: "≤ "}.get(one.rain_percent or 0.0, "")
    return f"{sign}{share:.4f}".rstrip("0").rstrip(".")


def _modes(each: Recorded, budget: Budget) -> dict[str, float]:
    """The share of the known time in each step, the fastest first."""
    return {
        "down" if step == DOWN else budget.ladder.steps[step].mode: share
        for step, share in sorted(each.series.shares.items(), reverse=True)
    }


def _record_line(each: Recorded, budget: Budget) -> str:
    link, series = budget.link, each.series
    name = f"{shown(link.a)}–{shown(link.b)}{f' {shown(each.direction)}' if each.direction else ''}"
    if not series.known_share:
        return f"recorded: {name}: no two levels that follow each other"
    shares = ", ".join(f"{mode} {share:.2%}" for mode, share in _modes(each, budget).items())
    return (
        f"recorded: {name}: median {each.median_dbm:.1f} dBm, mean {series.mean_bps / 1e6:.4g} "
        f"Mbit/s over {span(float(series.time_s[-1] - series.time_s[0]))}, known "
        f"{series.known_share:.1%} of them: {shares}"
    )


def _recorded(each: Recorded, budget: Budget) -> dict[str, Any]:
    return {
        "direction": each.direction,
        "median_dbm": each.median_dbm,
        "mean_bps": each.series.mean_bps,
        "known_share": each.series.known_share,
        "shares": _modes(each, budget) if each.series.known_share else {},
    }


def as_dict(budget: Budget) -> dict[str, Any]:
    """A budget for ``--json``."""
    link = budget.link
    return {
        "a": link.a,
        "b": link.b,
        "length_km": link.length_km,
        "bandwidth_mhz": link.bandwidth_mhz,
        "gains_dbi": [*link.gains_dbi],
        "powers_dbm": [*link.powers_dbm],
        "polarization": link.polarization,
        "losses_db": link.losses_db,
        "radio": budget.ladder.radio,
        "radio_source": budget.ladder.source,
        "rate_bps": budget.worse.rate_bps,
        "directions": [_direction(one) for one in budget.directions],
        "assumed": [*budget.notes],
    }


def _direction(one: Direction) -> dict[str, Any]:
    return {
        "from": one.source,
        "to": one.sink,
        "frequency_ghz": one.frequency_ghz,
        "free_space_db": one.free_space_db,
        "gases_db": one.gases_db,
        "level_dbm": one.level_dbm,
        "mode": None if one.at is None else one.steps[one.at].step.mode,
        "rate_bps": one.rate_bps,
        "rain_001_db": one.rain_001_db,
        "steps": [
            {
                "mode": step.step.mode,
                "rate_bps": step.step.rate_bps,
                "threshold_dbm": step.step.threshold_dbm,
                "leaves_dbm": step.step.leaves_dbm,
                "margin_db": step.margin_db,
                "rain_percent": step.rain_percent,
                "multipath_percent": step.multipath_percent,
                "availability_percent": step.availability_percent,
            }
            for step in one.steps
        ],
    }
