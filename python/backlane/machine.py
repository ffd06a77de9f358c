"""What differs between operating systems: cores, memory, locks of files, signals that end work.

On Linux everything is known. macOS has no list of a process's cores, Windows no limit of the
address space; what a system does not tell counts as unlimited.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import IO

END_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals with which batch systems and closing shells end a process."""


READ_AT_ONCE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags with which a pipe without a writer opens at once."""


def core_count() -> int:
    """Cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def total_memory() -> int | None:
    """Bytes of the machine's memory; None if it is not known."""
    if sys.platform == "win32":
        return None
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def page_bytes() -> int:
    """Bytes of a page of memory."""
    if sys.platform == "win32":
        return 4096
    return os.sysconf("SC_PAGE_SIZE")


def address_space() -> int | None:
    """The limit of this process's address space in bytes; None without one."""
    if sys.platform == "win32":
        return None
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def lock(file: IO[str], shared: bool = False) -> None:
    """Lock an open file until it is closed, without waiting.

    Args:
        file: open for writing, or for reading if `shared`.
        shared: whether other shared locks may stand beside this one; Windows has none.

    Raises:
        BlockingIOError: when another process holds the lock.
        OSError: when the file system has no locks.
    """
    if sys.platform == "win32":
        import msvcrt

        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(error.errno, error.strerror) from error
        if shared:
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
