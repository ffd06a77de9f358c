"""Progress of long work that is called from Python: in notebooks, terminals and logs.

The command line has its own bar (`backlane.cli.output`).
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from backlane.text import brief_line, span

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_S = 1.0
"""Work that takes longer than this shows its progress."""
STEP_S = 0.2
"""Time between two changes of a bar."""
LINE_EVERY_S = 10.0
"""Time between two lines where there is neither a notebook nor a terminal."""


class Progress(Protocol):
    """A receiver of progress."""

    def update(self, done: float, message: str) -> None:
        """This part of the total is done."""

    def say(self, text: str) -> None:
        """A message that the user must see before the work continues."""


def in_notebook() -> bool:
    """Whether the caller is a notebook, which shows HTML."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class Bar:
    """A bar that is removed at the end.

    Args:
        what: the work.
        total: where it ends.
        unit: what is counted.
    """

    def __init__(self, what: str, total: float, unit: str) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._started_s = self._shown_s = time.monotonic()
        self._first: float | None = None
        self._handle: Any = None
        self._width = 0

    def update(self, done: float, message: str = "") -> None:
        """`done` of the total has been reached."""
        now_s = time.monotonic()
        self._first = done if self._first is None else self._first
        notebook = in_notebook()
        every_s = STEP_S if notebook or sys.stderr.isatty() else LINE_EVERY_S
        if now_s - self._started_s < PATIENCE_S or now_s - self._shown_s < every_s:
            return
        self._shown_s = now_s
        line = self.line(done, message, now_s - self._started_s)
        if notebook:
            self._show_html(self.html(done, line))
        elif sys.stderr.isatty():
            # The next line covers this one; so does `close`.
            sys.stderr.write(f"\r{line:{self._width}}")
            sys.stderr.flush()
            self._width = max(self._width, len(line))
        else:
            print(line, file=sys.stderr, flush=True)

    def line(self, done: float, message: str, passed_s: float) -> str:
        """The state in words."""
        gained = done - (self._first or 0.0)
        text = f"{self._what}: {done:.0f} of {self._total:.0f} {self._unit}"
        if gained > 0:
            left_s = passed_s / gained * max(self._total - done, 0.0)
            text += f", about {span(left_s)} left"
        text = f"{text}, {message}" if message else text
        return brief_line("".join(one if one.isprintable() else "?" for one in text))

    def html(self, done: float, line: str) -> str:
        """The state as HTML."""
        share = min(max(done / self._total, 0.0), 1.0) if self._total else 1.0
        return f'<progress max="1" value="{share:.3f}"></progress> {escape(line)}'

    def say(self, text: str) -> None:
        """Write a message."""
        print(text, file=sys.stderr, flush=True)

    def _show_html(self, text: str) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(text), display_id=True)
        elif self._handle is not None:
            self._handle.update(HTML(text))

    def close(self) -> None:
        """Remove the bar."""
        if self._handle is not None:
            self._show_html("")
            self._handle = None
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0


@contextmanager
def shown(
    progress: Progress | bool | None, what: str, total: float, unit: str
) -> Iterator[Progress | None]:
    """The receiver of progress that an argument `progress` asks for.

    Args:
        progress: a receiver; True for a bar, None for a bar in notebooks, False for none.
        what: the work.
        total: where it ends.
        unit: what is counted.
    """
    if progress is None:
        progress = in_notebook()
    if not isinstance(progress, bool):
        yield progress
        return
    if not progress:
        yield None
        return
    bar = Bar(what, total, unit)
    try:
        yield bar
    finally:
        bar.close()
