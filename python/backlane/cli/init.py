"""`backlane init`: a scenario to start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from backlane import native
from backlane.cli import output
from backlane.cli.app import Verb, json_option
from backlane.errors import BacklaneError
from backlane.files import write_text

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SCHEMA_NAME = "scenario.schema.json"


def complete_template(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """The templates that begin with `begun`, with what they describe."""
    from click.shell_completion import CompletionItem

    known = native.module().template_names()
    return [CompletionItem(name, help=about) for name, about in known if name.startswith(begun)]


@click.command(
    cls=Verb,
    example="backlane init grid grid.toml\nbacklane init --list",
    help="Write a commented scenario file, the files that it names, and the schema for editors. "
    "TEMPLATE is a name from --list; default grid.",
)
@click.argument("template", default="grid", shell_complete=complete_template)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE and the files that it names.")
@click.option(
    "--schema/--no-schema", default=True, help=f"Whether {SCHEMA_NAME} is written beside FILE."
)
@click.option("--list", "list_them", is_flag=True, help="List the templates.")
@json_option
def command(
    template: str, file: Path | None, force: bool, schema: bool, list_them: bool, as_json: bool
) -> None:
    """Write a template."""
    simulator = native.module()
    known = dict(simulator.template_names())
    if list_them:
        _list(known, as_json)
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
    for path in texts:
        if path.exists() and not force:
            mend = "give --force to overwrite it"
            raise BacklaneError("R011", "the file exists already", path, mend)
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


def _list(known: dict[str, str], as_json: bool) -> None:
    if as_json:
        output.emit({"templates": list(known), "about": known})
        return
    width = max(map(len, known))
    output.tell("\n".join(f"{name:{width}}  {about}" for name, about in known.items()))
