"""SIGTERM and SIGHUP end the work as Ctrl-C does; only the exit code differs.

Batch systems and closing shells send them. Finished work is kept, tables are written, temporary
files are removed.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from backlane.machine import END_SIGNALS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@contextmanager
def as_interrupts() -> Iterator[list[int]]:
    """Within this context, the signals raise `KeyboardInterrupt` in the main thread.

    A signal that is ignored (`nohup`) stays ignored. Outside of the main thread nothing changes.

    Yields:
        The numbers of the signals received.
    """
    came: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    before = {}
    with suppress(ValueError):
        for one in END_SIGNALS:
            if signal.getsignal(one) is signal.SIG_DFL:
                before[one] = signal.signal(one, interrupt)
    try:
        yield came
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
