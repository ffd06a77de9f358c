"""`backlane doctor`: check the installation."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

from backlane import __version__, machine, native, shipped
from backlane.cli import output
from backlane.cli.app import Verb, json_option
from backlane.errors import EXIT_OK, EXIT_PROBLEM, BacklaneError
from backlane.machine import core_count


def _python() -> tuple[bool, str]:
    return sys.version_info >= (3, 10), f"{platform.python_version()} ({sys.executable})"


def _native() -> tuple[bool, str]:
    try:
        return True, f"model version {native.module().model_version()}"
    except BacklaneError as error:
        return False, error.message


def _package(name: str) -> tuple[bool, str]:
    try:
        found = version(name)
        import_module(name)
    except PackageNotFoundError:
        return False, f"not installed; pip install {name}"
    except Exception as error:
        return False, f"cannot be imported: {error}"
    return True, found


def _shipped() -> tuple[bool, str]:
    count = len(shipped.files())
    return count > 0, f"{count} files" if count else "not part of this installation"


def _writable() -> tuple[bool, str]:
    try:
        with tempfile.TemporaryFile(dir=Path.cwd()) as file:
            file.write(b"x")
            file.flush()
        free = shutil.disk_usage(Path.cwd()).free
    except OSError as error:
        return False, f"{Path.cwd()}: {error.strerror}"
    return free > 100e6, f"{Path.cwd()}: {free / 1e9:.1f} GB free"


def _memory() -> tuple[bool, str]:
    total = machine.total_memory()
    return total is None or total > 500e6, "unknown" if total is None else f"{total / 1e9:.1f} GB"


def _fonts() -> tuple[bool, str]:
    try:
        from matplotlib.font_manager import findfont

        return True, Path(findfont("DejaVu Sans", fallback_to_default=False)).name
    except Exception as error:
        return False, f"DejaVu Sans, which comes with matplotlib, was not found: {error}"


@click.command(
    cls=Verb,
    example="backlane doctor",
    help="Check this installation; exits 1 when something is missing.",
)
@json_option
def command(as_json: bool) -> int:
    """Check everything, then print the findings."""
    checks: list[tuple[str, tuple[bool, str]]] = [
        ("Python", _python()),
        ("compiled module", _native()),
        *((name, _package(name))
          for name in ("click", "rich", "numpy", "scipy", "polars", "matplotlib")),
        ("fonts", _fonts()),
        ("studies and examples", _shipped()),
        ("this folder", _writable()),
        ("cores", (core_count() >= 1, str(core_count()))),
        ("memory", _memory()),
    ]  # fmt: skip
    fine = all(good for _, (good, _) in checks)
    if as_json:
        found: dict[str, Any] = {name: {"ok": good, "found": text} for name, (good, text) in checks}
        output.emit({"ok": fine, "version": __version__, "checks": found})
    else:
        output.tell(f"backlane {__version__}")
        for name, (good, text) in checks:
            output.tell(f"  {'ok     ' if good else 'MISSING'} {name}: {text}")
    return EXIT_OK if fine else EXIT_PROBLEM
