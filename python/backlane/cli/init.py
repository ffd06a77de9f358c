"""`backlane init`: a scenario to start from."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from backlane import native
from backlane.cli import output
from backlane.cli.app import Verb, json_option
from backlane.errors import BacklaneError
from backlane.files import make_folder, write_bytes, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from click.shell_completion import CompletionItem

SCHEMA_NAME = "scenario.schema.json"
_SCHEMA_LINE = re.compile(rb"#:schema (\S+)")
"""The first line of a scenario that names its schema."""


def complete_template(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """The templates that begin with `begun`, with what they describe."""
    from click.shell_completion import CompletionItem

    known = native.module().template_names()
    return [CompletionItem(name, help=about) for name, about in known if name.startswith(begun)]


def complete_copy(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """The examples and studies that begin with `begun`."""
    from click.shell_completion import CompletionItem

    from backlane import shipped

    return [CompletionItem(name) for name in shipped.names() if name.startswith(begun)]


@click.command(
    cls=Verb,
    example="backlane init grid grid.toml\nbacklane init --list\n"
    "backlane init --copy examples/storm",
    help="Write a commented scenario file, the files that it names, and the schema for editors. "
    "TEMPLATE is a name from --list; default grid. With --copy, write an example or a study of the "
    "documentation instead.",
)
@click.argument("template", default="grid", shell_complete=complete_template)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--copy",
    "name",
    metavar="NAME",
    shell_complete=complete_copy,
    help="Write a file or folder of the documentation, as examples/storm or studies/bp_mr_mesh, "
    "under the same name below the current folder; --list has the names.",
)
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
@click.option(
    "--schema/--no-schema", default=True, help=f"Whether {SCHEMA_NAME} is written, beside FILE."
)
@click.option(
    "--list", "list_them", is_flag=True, help="List the templates, and what --copy takes."
)
@json_option
def command(
    template: str,
    file: Path | None,
    name: str | None,
    force: bool,
    schema: bool,
    list_them: bool,
    as_json: bool,
) -> None:
    """Write a template, or a copy."""
    simulator = native.module()
    known = dict(simulator.template_names())
    if list_them:
        _list(known, as_json)
        return
    if name is not None:
        given = click.get_current_context().get_parameter_source("template")
        if given is not ParameterSource.DEFAULT:
            raise click.UsageError("--copy takes no template; it writes below the current folder")
        _copy(name, force, schema, as_json)
        return
    if template not in known:
        from difflib import get_close_matches

        near = get_close_matches(template, known, 1)
        raise BacklaneError(
            "R015",
            f'there is no template "{template}"',
            "init TEMPLATE",
            f'did you mean "{near[0]}"?' if near else f"there are: {', '.join(known)}",
        )
    file = file or Path(f"{template}.toml")
    text, more = simulator.template(template)
    texts = {file: text, **{file.parent / name: content for name, content in more}}
    _refuse_existing(texts, force)
    if schema:
        texts[file.parent / SCHEMA_NAME] = str(simulator.schema()).rstrip("\n") + "\n"
    for path, content in texts.items():
        write_text(path, content)
    written = [str(path) for path in texts]
    if as_json:
        output.emit({"ok": True, "template": template, "written": written})
    else:
        output.tell("\n".join(written))
        run = "campaign run" if "\n[sweep]" in text else "run"
        output.say(f"next: backlane check {file}, then backlane {run} {file}")


def _refuse_existing(paths: Iterable[Path], force: bool) -> None:
    """Fail before anything is written.

    Raises:
        BacklaneError: R011 if a file exists and may not be replaced.
    """
    for path in paths:
        if path.exists() and not force:
            raise BacklaneError(
                "R011", "the file exists already", path, "give --force to overwrite it"
            )


def _copy(name: str, force: bool, schema: bool, as_json: bool) -> None:
    """Write examples or studies of the package below the current folder.

    Raises:
        BacklaneError: R015 without one of that name, R011 if a file exists.
    """
    from backlane import shipped

    chosen = {Path(known): path.read_bytes() for known, path in shipped.select(name).items()}
    if not chosen:
        from difflib import get_close_matches

        known = shipped.names()
        near = get_close_matches(name, known, 1)
        raise BacklaneError(
            "R015",
            f'there is no example or study "{name}"',
            "init --copy NAME",
            f'did you mean "{near[0]}"?' if near else "`backlane init --list` has the names",
        )
    _refuse_existing(chosen, force)
    if schema:
        text = str(native.module().schema()).rstrip("\n") + "\n"
        named = {
            Path(os.path.normpath(path.parent / found[1].decode()))
            for path, content in chosen.items()
            if (found := _SCHEMA_LINE.match(content))
        }
        chosen |= {path: text.encode() for path in sorted(named)}
    for path, content in chosen.items():
        make_folder(path.parent)
        write_bytes(path, content)
    written = [path.as_posix() for path in chosen]
    if as_json:
        output.emit({"ok": True, "copied": name, "written": written})
    else:
        output.tell("\n".join(written))


def _list(known: dict[str, str], as_json: bool) -> None:
    from backlane import shipped

    if as_json:
        output.emit({"templates": list(known), "about": known, "copies": shipped.names()})
        return
    width = max(map(len, known))
    output.tell("\n".join(f"{name:{width}}  {about}" for name, about in known.items()))
    output.tell("\nwith --copy:\n" + "\n".join(shipped.names()))
