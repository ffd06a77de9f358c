"""The command line: one module per verb, data on stdout, messages on stderr.

Exit codes: 0 fine, 1 a run or a check found a problem, 2 bad usage, bad file or I/O,
101 a defect of Backlane, 130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from backlane.cli.signals import as_interrupts
from backlane.errors import (
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_PROBLEM,
    EXIT_USAGE,
    BacklaneError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the console script; ends the process with an exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with as_interrupts() as signals:
        code = execute(words)
    if signals and code == EXIT_INTERRUPTED:
        code = 128 + signals[0]
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
    except OSError as error:
        _silence_stdout()
        code = _write_failed(error)
    sys.exit(code)


def execute(words: list[str]) -> int:
    """Carry out a command line and return its exit code."""
    import click

    from backlane.cli import output
    from backlane.cli.app import app

    output.prepare(words)
    try:
        result = app.main(args=words, prog_name="backlane", standalone_mode=False)
        return result if isinstance(result, int) else EXIT_OK
    except click.exceptions.Exit as error:
        return int(error.exit_code)
    except click.ClickException as error:
        return _usage(error)
    except (KeyboardInterrupt, click.exceptions.Abort):
        output.say("interrupted")
        return EXIT_INTERRUPTED
    except BacklaneError as error:
        return _report(error.rendered, [error.as_dict()], EXIT_USAGE)
    except (BrokenPipeError, SystemExit):
        # The reader has gone (`| head`), which click turns into `SystemExit`: nobody is left
        # to tell.
        _silence_stdout()
        return EXIT_OK
    except MemoryError:
        full = BacklaneError(
            "R018", "out of memory", None, "use fewer --workers or record fewer series"
        )
        return _report(full.rendered, [full.as_dict()], EXIT_USAGE)
    except OSError as error:
        return _write_failed(error)
    except Exception as error:
        return _simulator_error(error)


def _write_failed(error: OSError) -> int:
    from backlane.errors import write_error

    known = write_error(error, error.filename or "standard output")
    return _report(known.rendered, [known.as_dict()], EXIT_USAGE)


def _simulator_error(error: Exception) -> int:
    try:
        from backlane._native import RunError, ScenarioError
    except ImportError:
        return _internal(error)
    if isinstance(error, ScenarioError):
        return _report(error.rendered.rstrip("\n"), error.diagnostics, EXIT_USAGE)
    if isinstance(error, RunError):
        code = str(getattr(error, "code", "") or "run")
        return _report(
            f"error[{code}]: {error}",
            [{"code": code, "severity": "error", "message": str(error)}],
            EXIT_PROBLEM,
        )
    return _internal(error)


def _usage(error: Any) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "backlane"
    text = f"error: {error.format_message()}\n   = see `{path} --help`"
    return _report(text, [{"code": "usage", "message": error.format_message()}], EXIT_USAGE)


def _report(text: str, diagnostics: list[dict[str, Any]], code: int) -> int:
    from backlane.cli import output

    output.error(text)
    if output.state.json:
        output.emit({"ok": False, "exit_code": code, "errors": diagnostics})
    return code


def _internal(error: Exception) -> int:
    import tempfile
    import traceback

    from backlane import __version__
    from backlane.cli import output

    detail = "".join(traceback.format_exception(error))
    text = (
        f"internal error: {type(error).__name__}: {error}\n"
        "   = this is a defect of Backlane, not of your scenario; please report it"
    )
    if output.state.debug:
        text += f"\n{detail.rstrip()}"
    else:
        try:
            with tempfile.NamedTemporaryFile(
                "w", prefix="backlane-", suffix=".txt", delete=False
            ) as file:
                file.write(f"backlane {__version__}\n{sys.argv}\n\n{detail}")
            text += f"\n   = with the details in {file.name} (or run it again with --debug)"
        except OSError:
            text += "\n   = run it again with --debug for the details"
    return _report(
        text,
        [{"code": "internal", "message": f"{type(error).__name__}: {error}"}],
        EXIT_INTERNAL,
    )


def _silence_stdout() -> None:
    """Keep the interpreter from complaining about a closed pipe at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
