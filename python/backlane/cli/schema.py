"""`backlane schema`: the JSON Schema of the scenario file."""

from __future__ import annotations

import click

from backlane import native
from backlane.cli.app import Verb


@click.command(
    cls=Verb,
    example="backlane schema > scenario.schema.json",
    help="Print the JSON Schema of the scenario file, for editors.",
)
@click.option("--json", "as_json", is_flag=True, help="The schema is JSON; accepted for symmetry.")
def command(as_json: bool) -> None:
    """Print the schema."""
    del as_json
    print(str(native.module().schema()).rstrip("\n"))
