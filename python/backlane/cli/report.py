"""`backlane report`: the report of existing results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from backlane.cli import output
from backlane.cli.app import Verb, json_option

if TYPE_CHECKING:
    from backlane.report import Summary


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
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="The page; default report.html in the first DIR.",
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
    show(summary)
    output.tell(str(summary.path))


def show(summary: Summary) -> None:
    """Print the answer and the table of the best to stdout."""
    from backlane.report.page import BEST_HEADER, best_rows, best_title

    for remark in summary.remarks:
        output.error(remark)
    for sentence in summary.sentences:
        output.tell(sentence)
    output.tell("")
    if summary.slotted:
        from backlane.report.slots import HEADER

        output.print_table(
            "Means over seeds with 95 % intervals", HEADER, summary.slotted, text_columns=2
        )
        return
    title = f"{best_title(summary.networks)}, mean over seeds with 95 % interval"
    output.print_table(title, BEST_HEADER, best_rows(summary.verdicts), text_columns=3)
    if summary.shares:
        from backlane.report.bounds import HEADER as SHARES_HEADER

        output.print_table(
            "Share of what any routing could reach (`backlane bound`)",
            SHARES_HEADER,
            [share.row() for share in summary.shares],
            text_columns=4,
        )
