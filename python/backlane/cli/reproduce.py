"""`backlane reproduce`: a published study, figure by figure and claim by claim."""

from __future__ import annotations

from pathlib import Path

import click

from backlane.cli import output
from backlane.cli.app import Verb, json_option
from backlane.errors import EXIT_INTERRUPTED, EXIT_OK


@click.command(
    cls=Verb,
    example="backlane reproduce tcp_aware_bp/paper --quick\n"
    "backlane reproduce tcp_aware_bp/paper/fig8\nbacklane reproduce tcp_aware_bp/paper",
    help="Run what is missing of a study, draw its figures and judge its claims. Without a name, "
    "list the studies.",
)
@click.argument("what", metavar="[STUDY[/FIGURE]]", required=False)
@click.option("--quick", is_flag=True, help="A reduced set of runs, for a look in two minutes.")
@click.option(
    "--store", type=click.Path(path_type=Path), help="Where runs are kept; default results/studies."
)
@click.option("-j", "--workers", type=click.IntRange(1, 4096), help="Threads; default all cores.")
@json_option
def command(
    what: str | None, quick: bool, store: Path | None, workers: int | None, as_json: bool
) -> int:
    """Reproduce a study."""
    from backlane import studies

    if what is None:
        return _list(as_json)
    name, figure = _split(what)
    found = studies.reproduce(
        name,
        figure,
        quick=quick,
        store=store,
        workers=workers,
        progress=lambda step, total: output.progress(step, total, "runs"),
        log=output.say,
    )
    if found.interrupted:
        output.error("interrupted; start the same command again to go on")
        return EXIT_INTERRUPTED
    if as_json:
        output.emit({"ok": True, **found.as_dict()})
        return EXIT_OK
    judged = [v for v in found.verdicts if v.outcome != "unknown" or not quick]
    if judged:
        output.print_table(
            found.study.title,
            ["claim", "verdict", "statement", "measured"],
            [
                [f"{v.claim.id} ({v.claim.weight})",
                 v.outcome + (" (a tie)" if v.tie else ""), v.claim.statement, v.measured]
                for v in judged
            ],
            text_columns=4,
        )  # fmt: skip
    if quick:
        output.say(
            "a reduced set of runs: it shows how things look and decides nothing; "
            f"{len(found.verdicts) - len(judged)} claims need runs that it leaves out"
        )
    output.tell(str(found.page))
    return EXIT_OK


def _list(as_json: bool) -> int:
    """Print the studies of the project."""
    from backlane.studies import catalogue

    found = catalogue.entries()
    if as_json:
        listed = [{"name": one.name, "alias": one.alias, "title": one.title} for one in found]
        output.emit({"ok": True, "studies": listed})
    elif found:
        rows = [[one.name, one.alias, one.title] for one in found]
        output.print_table("studies", ["study", "alias", "subject"], rows, text_columns=3)
    else:
        output.say("there is no study here; give the path of a study folder")
    return EXIT_OK


def _split(what: str) -> tuple[str, str | None]:
    """Study and figure; the name of a study may hold slashes itself."""
    from backlane.studies import catalogue

    if catalogue.locate(what) is not None:
        return what, None
    name, slash, figure = what.rpartition("/")
    return (name, figure) if slash and catalogue.locate(name) is not None else (what, None)
