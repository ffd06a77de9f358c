"""`backlane report`: the answer, from results that are there."""

from __future__ import annotations

from pathlib import Path

import click

from backlane.cli import output
from backlane.cli.app import Verb, json_option


@click.command(
    cls=Verb,
    example="backlane report results/grid\n"
    "backlane report results/grid results/city --out results/report.html",
    help="Judge and draw the results in one or more folders DIR...",
)
@click.argument(
    "folders", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="DIR..."
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="The page; default report.html in the first DIR."
)
@json_option
def command(folders: tuple[Path, ...], out: Path | None, as_json: bool) -> None:
    """Write the page and show the table."""
    from backlane import report

    with output.progress("report", report.figure_count(folders), "figures") as bar:
        summary = report.write(folders, out, bar)
    if as_json:
        output.emit({"ok": True, "report": str(summary.path), **summary.as_dict()})
        return
    report.show(summary)
    output.tell(str(summary.path))
