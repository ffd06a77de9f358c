"""`backlane completions`: verbs, options and files on the Tab key."""

from __future__ import annotations

import click

from backlane.cli.app import Verb, app

SHELLS = ("bash", "zsh", "fish", "powershell")


@click.command(
    cls=Verb,
    example="backlane completions bash > ~/.local/share/bash-completion/completions/backlane\n"
    "backlane completions fish > ~/.config/fish/completions/backlane.fish\n"
    'eval "$(backlane completions zsh)"   # in ~/.zshrc',
    help="Print a script that teaches a shell to complete verbs, options and names of files.",
)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(
            f"this version of click has no completions for {shell}: pip install -U click"
        )
    click.echo(found(app, {}, "backlane", "_BACKLANE_COMPLETE").source())
