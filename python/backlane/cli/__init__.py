"""The command line: one module per verb, data on stdout, messages on stderr.

Exit codes: 0 success, 1 a run or a check found a problem, 2 bad usage, bad file or I/O,
101 a defect of Backlane, 130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
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

    from backlane._native import RunError


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
    if any(thread.daemon for thread in threading.enumerate()):
        # A hook that does not end even when it is interrupted. The interpreter would wait for its
        # thread, or be aborted by it.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def execute(words: list[str]) -> int:
    """Execute a command line and return its exit code."""
    import click

    from backlane.cli import output
    from backlane.cli.app import app

    output.prepare(words)
    for word in words:
        if not _is_utf8(word):
            return _known(BacklaneError("R012", "this is not UTF-8", word, "rename the file"))
    try:
        result = app.main(args=words, prog_name="backlane", standalone_mode=False)
        return result if isinstance(result, int) else EXIT_OK
    except click.exceptions.Exit as error:
        return int(error.exit_code)
    except click.ClickException as error:
        return _usage(error)
    except (KeyboardInterrupt, click.exceptions.Abort):
        output.error("interrupted")
        return EXIT_INTERRUPTED
    except BacklaneError as error:
        return _known(error)
    except BrokenPipeError:
        _silence_stdout()
        return EXIT_OK
    except SystemExit as error:
        return _exit_of_click(error)
    except MemoryError:
        mend = "use fewer --workers or record fewer series"
        return _known(BacklaneError("R018", "out of memory", _file_in(words), mend))
    except OSError as error:
        return _write_failed(error)
    except BaseException as error:
        return _simulator_error(error)


def _is_utf8(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def _file_in(words: list[str]) -> str | None:
    """The file that a command line is about, if it names one."""
    return next((word for word in words if Path(word).is_file()), None)


def _exit_of_click(error: SystemExit) -> int:
    """The exit code of click's own `SystemExit`; any other is a defect."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or not str(last.tb_frame.f_globals.get("__name__")).startswith("click."):
        return _internal(error)
    if "completion" in last.tb_frame.f_code.co_name:
        return error.code if isinstance(error.code, int) else EXIT_OK
    # The reader has closed the pipe (`| head`).
    _silence_stdout()
    return EXIT_OK


def _write_failed(error: OSError) -> int:
    from backlane.errors import write_error

    return _known(write_error(error, error.filename or "standard output"))


def _known(error: BacklaneError) -> int:
    return _report(error.rendered, [error.as_dict()], EXIT_USAGE)


def _simulator_error(error: BaseException) -> int:
    try:
        from backlane._native import RunError, ScenarioError
    except ImportError:
        return _internal(error)
    if isinstance(error, ScenarioError):
        return _report(error.rendered.rstrip("\n"), error.diagnostics, EXIT_USAGE)
    if isinstance(error, RunError):
        return _run_error(error)
    return _internal(error)


def _run_error(error: RunError) -> int:
    """A run that ended early; what follows the first line of its message is a traceback."""
    code = str(getattr(error, "code", "") or "run")
    place = getattr(error, "place", None)
    known = BacklaneError(code, str(error), place)
    if code == "R103":
        known.mend = "mend the hook; see `backlane explain R103`"
    first, *traceback = known.rendered.split("\n")
    if place is not None:
        # The place is below the first line, where readers look for it.
        at = traceback.index(f"  --> {place}")
        traceback.insert(0, traceback.pop(at))
    return _report("\n".join([first, *traceback]), [known.as_dict()], EXIT_PROBLEM)


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


def _internal(error: BaseException) -> int:
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
                "w", prefix="backlane-", suffix=".txt", delete=False, errors="backslashreplace"
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
