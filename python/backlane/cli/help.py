"""`backlane help`: the help of a verb."""

from __future__ import annotations

import click

from backlane.cli.app import Verb, app


@click.command(
    cls=Verb,
    example="backlane help campaign run",
    help="Show the help of a verb; without one, that of the program.",
)
@click.argument("words", nargs=-1, metavar="[VERB...]")
@click.pass_context
def command(context: click.Context, words: tuple[str, ...]) -> None:
    """Print the help of a verb."""
    found: click.Command = app
    parent = context.find_root()
    for word in words:
        if not isinstance(found, click.Group):
            raise click.UsageError(f'{parent.command_path} has no verb "{word}"', parent)
        _, inner, _ = found.resolve_command(parent, [word])
        assert inner is not None
        found, parent = inner, click.Context(inner, info_name=word, parent=parent)
    click.echo(found.get_help(parent))
