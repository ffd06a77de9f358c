"""Output on the terminal: data on stdout, everything else on stderr.

Names come from files of any origin: all text passes `clean`, and none of it is markup.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane.text import brief_line, span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


@dataclass
class _State:
    color: str = "auto"
    json: bool = False
    debug: bool = False
    quiet: bool = False
    verbose: bool = False


state = _State()
"""Options of the command line that hold for all verbs."""

PATIENCE_S = 2.0
"""Work that takes longer than this shows its progress."""
LINE_EVERY_S = 10.0
"""Without a terminal, a line of progress this often."""


def prepare(words: Sequence[str]) -> None:
    """Reset the state; read the options that also hold for a wrong command line."""
    state.color = "auto"
    state.json = "--json" in words
    state.debug = "--debug" in words
    state.quiet = state.verbose = False


def colored(stream: Any) -> bool:
    """Whether output on `stream` is coloured.

    ``--color`` comes first, then NO_COLOR, FORCE_COLOR or CLICOLOR_FORCE, and CLICOLOR=0; otherwise
    a terminal has colours.
    """
    if state.color != "auto":
        return state.color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return os.environ.get("CLICOLOR") != "0" and bool(stream.isatty())


# Control characters but tab and newline, those that turn the direction of writing around, other
# ends of lines, and bytes of file names that are not UTF-8.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def clean(text: str) -> str:
    r"""Text without control sequences: a control character becomes ``\x1b``.

    Very long lines are cut.
    """
    shown = _UNSAFE.sub(_escaped, text)
    return "\n".join(map(brief_line, shown.split("\n")))


def clean_line(text: str) -> str:
    """`clean` for a part of a line."""
    return clean(text).replace("\n", "\\n").replace("\t", "\\t")


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:
        # Python's representation of a byte that is not UTF-8.
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def say(text: str) -> None:
    """A message on stderr, unless the user wants quiet."""
    if not state.quiet:
        _write(clean(text))


def tell(text: str) -> None:
    """An answer on stdout."""
    print(clean(text))


def _write(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def error(text: str) -> None:
    """An error on stderr, coloured if enabled."""
    text = clean(text)
    if colored(sys.stderr):
        text = re.sub(r"(?m)^(error|internal error)(\[\w+\])?:", "\033[1;31m\\g<0>\033[0m", text)
        text = re.sub(r"(?m)^(warning)(\[\w+\])?:", "\033[1;33m\\g<0>\033[0m", text)
        text = re.sub(r"(?m)^( +)(-->|=)", "\\1\033[1;34m\\2\033[0m", text)
    _write(text)


def emit(value: Any) -> None:
    """One JSON object on stdout; NaN and infinities become null."""
    text = json.dumps(_plain(value), ensure_ascii=False, indent=2)
    print(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def print_table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1
) -> None:
    """A table on stdout; the first `text_columns` columns are text, the others numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    class Output(Console):
        def on_broken_pipe(self) -> None:
            """End quietly; what this overrides ends the process with code 1."""
            raise BrokenPipeError

    table = Table(
        title=clean_line(title) or None,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    for index, name in enumerate(header):
        table.add_column(
            clean_line(name),
            justify="left" if index < text_columns else "right",
            no_wrap=index >= text_columns,
        )
    for row in rows:
        table.add_row(*map(clean_line, row))
    terminal = sys.stdout.isatty()
    console = Output(
        file=sys.stdout,
        # Without this, rich itself would follow FORCE_COLOR.
        force_terminal=colored(sys.stdout) or terminal,
        no_color=not colored(sys.stdout),
        width=None if terminal else 200,
        highlight=False,
        markup=False,
        emoji=False,
    )
    console.print(table)


class Bar:
    """Progress of long work: a bar on a terminal, else a line every `LINE_EVERY_S`.

    Nothing is shown, and nothing imported, before `PATIENCE_S` have passed.
    """

    def __init__(self, what: str, total: float, unit: str) -> None:
        self._what = what
        self._total = total
        self._unit = unit
        self._started_s = time.monotonic()
        self._line_s = self._started_s
        self._first: float | None = None
        self._rich: tuple[RichProgress, TaskID] | None = None

    def update(self, done: float, message: str = "") -> None:
        """`done` of the total has been reached; more than the total raises it."""
        self._total = max(self._total, done)
        now_s = time.monotonic()
        if self._first is None:
            self._first = done
        patience_s, every_s = (0.0, 1.0) if state.verbose else (PATIENCE_S, LINE_EVERY_S)
        if state.quiet or now_s - self._started_s < patience_s:
            return
        if sys.stderr.isatty():
            self._show(done, message)
        elif now_s - self._line_s >= every_s:
            self._line_s = now_s
            say(self._line(done, message, now_s))

    def say(self, text: str) -> None:
        """Write a message before the work continues."""
        error(text)

    def _line(self, done: float, message: str, now_s: float) -> str:
        gained = done - (self._first or 0.0)
        text = f"{self._what}: {done:.0f} of {self._total:.0f} {self._unit}"
        if gained > 0:
            left_s = (now_s - self._started_s) / gained * (self._total - done)
            text += f", about {span(left_s)} left"
        return f"{text}, {message}" if message else text

    def _show(self, done: float, message: str) -> None:
        if self._rich is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
            from rich.progress import TimeRemainingColumn as Remaining

            bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=None),
                MofNCompleteColumn(),
                TextColumn(f"{self._unit}, left", markup=False),
                Remaining(),
                TextColumn("{task.fields[message]}", markup=False),
                console=Console(stderr=True, no_color=not colored(sys.stderr)),
                transient=True,
                speed_estimate_period=120,
            )
            task = bar.add_task(
                clean_line(self._what), total=self._total, message="", completed=int(done)
            )
            bar.start()
            self._rich = (bar, task)
        bar, task = self._rich
        bar.update(task, completed=round(done, 2), total=self._total, message=message)

    def close(self) -> None:
        """Remove the bar."""
        if self._rich is not None:
            self._rich[0].stop()
            self._rich = None


@contextmanager
def progress(what: str, total: float, unit: str) -> Iterator[Bar]:
    """A `Bar` that is removed at the end, also after an error."""
    bar = Bar(what, total, unit)
    try:
        yield bar
    finally:
        bar.close()
