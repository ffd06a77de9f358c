"""`backlane linux`: the kernels of hosts with `stack = "linux"`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backlane import linux
from backlane.cli import output
from backlane.cli.app import Verb, Verbs, json_option
from backlane.errors import EXIT_OK
from backlane.machine import core_count

command = Verbs(
    "linux",
    example="backlane linux build 6.1\nbacklane linux list",
    help='Build the kernels that hosts of flows with stack = "linux" run.',
)


@command.command(
    "build",
    cls=Verb,
    example="backlane linux build 6.1\nbacklane linux build bbr3 --source ~/src/bbr",
    help="Build a kernel: of Debian's package linux-source-VERSION, or of a tree of sources.",
)
@click.argument("name", default="6.1")
@click.option("--source", type=click.Path(path_type=Path), help="A tree or an archive of sources.")
@click.option("-j", "--workers", type=click.IntRange(1, 4096), help="Processes; default all cores.")
@click.option("--again", is_flag=True, help="Build it even if it is there.")
def build(name: str, source: Path | None, workers: int | None, again: bool) -> int:
    """Build into the cache."""
    from backlane.linux.build import build as make

    kernel = linux.kernels().get(name)
    if kernel is None or again:
        kernel = make(name, source, workers or core_count(), output.say)
    output.tell(f"{kernel.name}: Linux {kernel.release}, {kernel.folder}")
    return EXIT_OK


@command.command(
    "list", cls=Verb, example="backlane linux list", help="List the kernels that are built."
)
@json_option
def list_(as_json: bool) -> int:
    """List the cache."""
    found = linux.kernels().values()
    if as_json:
        rows: list[dict[str, Any]] = [
            {"name": one.name, "release": one.release, "folder": str(one.folder)} for one in found
        ]
        output.emit({"kernels": rows})
        return EXIT_OK
    for one in found:
        output.tell(f"{one.name}: Linux {one.release}, {one.folder}")
    if not found:
        output.say(f"no kernel is built in {linux.cache()}: backlane linux build 6.1")
    return EXIT_OK
