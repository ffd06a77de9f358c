"""`backlane init`: a scenario to start from."""

from __future__ import annotations

from pathlib import Path

import click

from backlane import native
from backlane.cli import output
from backlane.cli.app import Verb, json_option
from backlane.errors import BacklaneError
from backlane.files import write_text

SCHEMA_NAME = "scenario.schema.json"


@click.command(
    cls=Verb,
    example="backlane init grid grid.toml",
    help="Write a commented scenario file. TEMPLATE is a name from --list; default grid.",
)
@click.argument("template", default="grid")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@click.option("--schema", is_flag=True, help=f"Write {SCHEMA_NAME} next to it, for editors.")
@click.option("--list", "list_them", is_flag=True, help="List the templates.")
@json_option
def command(
    template: str, file: Path | None, force: bool, schema: bool, list_them: bool, as_json: bool
) -> None:
    """Write a template."""
    simulator = native.module()
    names = list(simulator.template_names())
    if list_them:
        if as_json:
            output.emit({"templates": names})
        else:
            output.tell("\n".join(names))
        return
    if template not in names:
        from difflib import get_close_matches

        near = get_close_matches(template, names, 1)
        raise BacklaneError(
            "R015",
            f'there is no template "{template}"',
            "init TEMPLATE",
            f'did you mean "{near[0]}"?' if near else f"there are: {', '.join(names)}",
        )
    file = file or Path(f"{template}.toml")
    if file.exists() and not force:
        raise BacklaneError("R011", "the file exists already", file, "give --force to overwrite it")
    text = str(simulator.template(template))
    if not text.lstrip().startswith("#:schema"):
        text = f"#:schema ./{SCHEMA_NAME}\n{text}"
    write_text(file, text)
    written = [str(file)]
    if schema:
        path = file.parent / SCHEMA_NAME
        write_text(path, str(simulator.schema()).rstrip("\n") + "\n")
        written.append(str(path))
    if as_json:
        output.emit({"ok": True, "template": template, "written": written})
    else:
        output.tell("\n".join(written))
        run = "campaign run" if "\n[sweep]" in text else "run"
        output.say(f"next: backlane check {file}, then backlane {run} {file}")
