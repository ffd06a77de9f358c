"""`backlane import`: a scenario from files of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from backlane.cli import output
from backlane.cli.app import Verb, json_option
from backlane.errors import BacklaneError
from backlane.files import make_folder, write_json, write_text
from backlane.imports.model import KINDS

if TYPE_CHECKING:
    from backlane.imports import Imported, Network
    from backlane.imports.capacities import Wanted


def _list_formats(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        from backlane import plugins
        from backlane.imports import FORMATS

        width = max(map(len, FORMATS))
        for name, text in FORMATS.items():
            output.tell(f"{name:{width}}  {text}")
        for name in plugins.names(plugins.IMPORTERS):
            output.tell(f"{name:{width}}  an importer of another package")
        context.exit()


def _list_columns(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        from backlane.imports.columns import TABLES

        for title, fields in TABLES.items():
            output.tell(f"{title}:")
            for name, field in fields.items():
                unit = f" [{field.unit}]" if field.unit else ""
                output.tell(f"  {name}{unit}: {', '.join(field.names)}")
        context.exit()


@click.command(
    "import",
    cls=Verb,
    example=(
        "backlane import sites.csv links.csv --out town.toml\n"
        "backlane check town.toml\n"
        "backlane run town.toml"
    ),
    help="Make a scenario of files of other programs: tables, GeoJSON, KML, GraphML, NetJSON, "
    "OLSR, meshviewer, SNDlib, traces. The format is recognised by content. FILES are read "
    "together: sites, links, levels. What was understood, dropped, added and assumed is printed.",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="The scenario; default NAME.toml."
)
@click.option("--name", help="Name of the scenario; default: the file's.")
@click.option("--licence", metavar="TEXT", help="Licence of the data, kept with the scenario.")
@click.option("--rate", metavar="RATE", help='Rate of links without one, as "200 Mbit/s".')
@click.option("--delay", metavar="TIME", help="Delay of links without one and without a length.")
@click.option(
    "--unit", default="", metavar="UNIT", help="Unit of rates that have none: Mbit/s, kbps, …"
)
@click.option(
    "--pieces",
    type=click.Choice(["join", "largest", "refuse"]),
    default="join",
    show_default=True,
    help="A network in pieces: add the shortest links, keep the largest piece, or refuse it.",
)
@click.option(
    "--rule",
    type=click.Choice(["mst", "mesh", "gabriel"]),
    help="Draw links between sites by a rule, beside those of the files.",
)
@click.option("--gateway", "gateways", multiple=True, metavar="SITE", help="A site with a gateway.")
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN=VALUE,…",
    help="Take only sites and links with one of the values, as status=active.",
)
@click.option("--swap", is_flag=True, help="Exchange latitude and longitude.")
@click.option(
    "--crs", metavar="SYSTEM", help="Of projected coordinates: EPSG:CODE, metres, feet, drawing."
)
@click.option(
    "--medium",
    type=click.Choice(["air", "fibre"]),
    help="What links lead through, for the delay of a length; default by the format.",
)
@click.option(
    "--unknown",
    type=click.Choice(["error", "drop", "create"]),
    help="A link to a site that is not listed: refuse, leave it out, or add the site.",
)
@click.option(
    "--capacities",
    metavar="RADIO:MHZ",
    help="Make recorded levels the capacities of links over time, with this radio: generic:28.",
)
@click.option(
    "--window", metavar="FROM:TO", help="Of the recording, in seconds from its first level."
)
@click.option(
    "--faster",
    type=click.FloatRange(1, 1_000_000),
    default=1.0,
    metavar="N",
    help="Play the recording this many times as fast.",
)
@click.option("--no-assume", is_flag=True, help="Refuse what lacks rates, delays or links.")
@click.option("--format", "kind", metavar="FORMAT", help="Refuse files of another format.")
@click.option(
    "--formats",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_formats,
    help="List the formats.",
)
@click.option(
    "--columns",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_columns,
    help="List the column names of tables, and the units that are assumed.",
)
@click.option("--force", is_flag=True, help="Overwrite the scenario.")
@json_option
def command(
    files: tuple[Path, ...],
    out: Path | None,
    name: str | None,
    licence: str | None,
    rate: str | None,
    delay: str | None,
    unit: str,
    pieces: str,
    rule: str | None,
    gateways: tuple[str, ...],
    keep: tuple[str, ...],
    swap: bool,
    crs: str | None,
    medium: Literal["air", "fibre"] | None,
    unknown: Literal["error", "drop", "create"] | None,
    capacities: str | None,
    window: str | None,
    faster: float,
    no_assume: bool,
    kind: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Import files and write the scenario."""
    from backlane import imports, plugins

    if kind is not None and kind not in imports.FORMATS:
        convert = plugins.importer(kind)
        if convert is None:
            raise BacklaneError(
                "R040",
                f'there is no format "{kind}"',
                "--format",
                "see `backlane import --formats`",
            )
        if len(files) != 1:
            raise BacklaneError("R012", "an importer of a package takes one file", "--format")
        text = convert(files[0])
        target = out or Path(f"{files[0].stem}.toml")
        _refuse(target, force)
        write_text(target, text)
        output.emit({"ok": True, "written": [str(target)]}) if as_json else output.tell(str(target))
        return
    options = imports.Options(
        format=kind,
        name=name or (out.stem if out is not None else None),
        licence=licence,
        rate=rate,
        delay=delay,
        unit=unit,
        pieces=pieces,
        rule=rule,
        gateways=gateways,
        keep=keep,
        swap=swap,
        crs=crs,
        medium=medium,
        unknown=unknown,
        capacities=_capacities(capacities, window, faster),
        assume=not no_assume,
    )
    network = imports.Network()
    try:
        found = imports.run([*files], options, network)
    except BacklaneError:
        _say(network)
        raise
    target = out or Path(f"{found.name}.toml")
    _refuse(target, force)
    written = _write(found, target)
    if as_json:
        output.emit(_as_json(found, written))
        return
    _say(network)
    output.tell("\n".join(written))
    output.say(f"next: backlane check {target}, then backlane run {target}")


def _capacities(radio: str | None, window: str | None, faster: float) -> Wanted | None:
    from backlane.imports.capacities import Wanted

    if radio is not None:
        return Wanted.of(radio, window, faster)
    if window is not None or faster != 1:
        raise BacklaneError(
            "R070", "a window without capacities", "--window", "add --capacities RADIO:MHZ"
        )
    return None


def _say(network: Network) -> None:
    for kind in KINDS:
        for note in network.texts(kind):
            output.say(f"{kind}: {note}")


def _refuse(target: Path, force: bool) -> None:
    if target.exists() and not force:
        raise BacklaneError(
            "R011", "the file exists already", target, "give --force to overwrite it"
        )


def _write(found: Imported, target: Path) -> list[str]:
    """Write the scenario, its record and its traces; the scenario last."""
    written = []
    make_folder(target.parent)
    for name, text in found.written.beside.items():
        path = target.parent / name
        make_folder(path.parent)
        write_text(path, text)
        written.append(str(path))
    record = target.with_suffix(".import.json")
    write_json(record, found.written.record)
    write_text(target, found.written.scenario)
    return [str(target), str(record), *written]


def _as_json(found: Imported, written: list[str]) -> dict[str, Any]:
    network = found.network
    return {
        "ok": True,
        "name": found.name,
        "written": written,
        "formats": {source.path: source.format for source in network.sources},
        "understood": found.understood,
        "scenario": {"sites": len(network.sites), "links": len(network.links)},
        "added": [
            {"a": link.a, "b": link.b, "length_m": link.length_m, "why": link.added}
            for link in network.links
            if link.added
        ],
        "notes": [{"kind": note.kind, "text": note.text} for note in network.notes],
    }
