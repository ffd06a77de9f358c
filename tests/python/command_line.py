"""The page `docs/reference/command_line.md`, written from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

import backlane.cli
from backlane.cli.app import Verb, Verbs, app, common_options

OPENING = """\
# Command line

Written from the commands; `UPDATE_GOLDEN=1 pytest tests/python/test_site.py` renews it. \
`backlane VERB --help` prints the same in a terminal.

Every verb also takes `--help` and these options:

"""


def page() -> str:
    """The whole page."""
    context = click.Context(app, info_name="backlane")
    exits = re.search(r"Exit codes: (.*)\.\n", backlane.cli.__doc__ or "", re.DOTALL)
    assert exits
    common = table(common_options(), context)
    lines = [OPENING + common, "## Exit codes", f"{' '.join(exits[1].split())}."]
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command
        lines += verb(command, click.Context(command, context, name), 2)
    return "\n\n".join(lines) + "\n"


def verb(command: click.Command, context: click.Context, level: int) -> Iterator[str]:
    """The sections of a verb and of the verbs below it."""
    assert isinstance(command, Verb | Verbs)
    yield f"{'#' * level} {context.command_path}"
    yield paragraph(command.help or "")
    pieces = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{context.command_path} {pieces}\n```"
    yield f"```sh\n{command.example}\n```"
    shared = {option.name for option in common_options()}
    own = [p for p in command.params if isinstance(p, click.Option) and p.name not in shared]
    if own:
        yield table(own, context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below
            yield from verb(below, click.Context(below, context, name), level + 1)


def table(options: list[click.Parameter] | list[click.Option], context: click.Context) -> str:
    """A table of options."""
    rows = ["| option | |", "|---|---|"]
    for option in options:
        record = option.get_help_record(context)
        if record:
            names, text = (part.replace("|", r"\|") for part in record)
            rows.append(f"| `{names}` | {paragraph(text)} |")
    return "\n".join(rows)


def paragraph(text: str) -> str:
    """A text on one line, with what Markdown would read as tags and links as code."""
    return re.sub(r"[\w/-]*<[^>]+>(?:-<[^>]+>)*|\[[^]]*\]", r"`\g<0>`", " ".join(text.split()))
