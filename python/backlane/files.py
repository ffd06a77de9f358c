"""Atomic writing of files.

A file gets its name only after its bytes have reached the disk: write to a temporary name,
``fsync``, rename, ``fsync`` the folder. A reader, or a process started after ``kill -9``, never
finds a partial file.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
import stat
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from backlane import machine
from backlane.errors import BacklaneError, read_error, write_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEMPORARY_PREFIX = ".tmp-"
"""Names with this prefix are leftovers of a killed process."""
_LOCK_ATTEMPTS = 10


def make_folder(path: Path) -> None:
    """Create a folder and its parents.

    Raises:
        BacklaneError: R001, R002 or R017.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(error, path) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder.

    The lock is the kernel's (`flock`) and ends with its process.

    Raises:
        BacklaneError: R005 when another process works here, R001, R002 or R017 when the folder
            is not writable.
    """
    make_folder(folder)
    path = folder / ".lock"
    try:
        lock = path.open("a+")
    except OSError as error:
        raise write_error(error, path) from error
    with lock:
        for attempt in range(_LOCK_ATTEMPTS, 0, -1):
            try:
                machine.lock(lock)
                break
            except BlockingIOError as error:
                if attempt == 1:
                    raise BacklaneError(
                        "R005",
                        "another process writes to this folder",
                        folder,
                        "wait for it, or use another folder with --out DIR",
                    ) from error
                # `is_locked` holds the lock for an instant.
                time.sleep(0.02)
            except OSError as error:
                raise write_error(error, path) from error
        yield


def is_locked(folder: Path) -> bool:
    """Whether a process holds the lock of a folder at this moment."""
    try:
        with (folder / ".lock").open("r") as lock:
            machine.lock(lock, shared=True)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def remove(path: Path) -> None:
    """Remove a file or a folder with its contents, if it exists.

    Raises:
        BacklaneError: R001 or R017.
    """
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise write_error(error, path) from error


def sweep(folder: Path) -> None:
    """Remove the leftovers of killed processes; only called while the lock is held."""
    for leftover in folder.glob(f"{TEMPORARY_PREFIX}*"):
        with suppress(BacklaneError):
            remove(leftover)


def copy(source: Path, target: Path) -> None:
    """Copy a file; the folders above `target` are made.

    Raises:
        BacklaneError: R001, R002 or R017.
    """
    make_folder(target.parent)
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise write_error(error, target) from error


def checksum(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            found.update(chunk)
    return found.hexdigest()


def sync_folder(path: Path) -> None:
    """Make renames inside `path` durable; Windows has nothing for that."""
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Flush a file to the disk."""
    # Windows flushes what is open for writing.
    descriptor = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path; on success it becomes `path`, on failure it is removed.

    Raises:
        BacklaneError: R001, R002 or R017.
    """
    temporary = path.parent / f"{TEMPORARY_PREFIX}{secrets.token_hex(6)}-{path.name}"
    try:
        yield temporary
        sync_file(temporary)
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise write_error(error, path) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a whole file atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Write a whole UTF-8 file atomically."""
    write_bytes(path, text.encode())


def write_json(path: Path, value: Any) -> None:
    """Write JSON atomically, keys in the given order."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object that we wrote.

    Raises:
        BacklaneError: R003 when it cannot be read, R010 when it is damaged.
    """
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise read_error(error, path) from error
    except (ValueError, RecursionError) as error:
        raise BacklaneError("R010", f"damaged: {error}", path, "remove it and run again") from error
    if not isinstance(value, dict):
        raise BacklaneError("R010", "damaged: not an object", path, "remove it and run again")
    return value


MOST_SCENARIO_BYTES = 64 << 20
"""The size limit of a scenario."""


def read_scenario(path: Path) -> str:
    """Read a scenario file as text.

    Raises:
        BacklaneError: R003 when it cannot be read, is no regular file or too large, R004 when it is
            not UTF-8.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise BacklaneError(
            "R003", "cannot read: the name is not UTF-8", path, "rename the file"
        ) from error
    try:
        # Opening a pipe without a writer would block.
        descriptor = os.open(path, machine.READ_AT_ONCE)
        with os.fdopen(descriptor, "rb") as file:
            data = _read_regular(file, path)
    except ValueError as error:
        raise BacklaneError("R003", f"cannot read: {error}", path, "check the name") from error
    except OSError as error:
        raise read_error(error, path) from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise BacklaneError(
            "R004",
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            f"{path}:{line}:{column}",
            "save the file as UTF-8",
        ) from error


def _read_regular(file: BinaryIO, path: Path) -> bytes:
    status = os.fstat(file.fileno())
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise BacklaneError(
            "R003", "cannot read: this is no regular file", path, "write the scenario to a file"
        )
    # The file may grow while it is read.
    data = b"" if status.st_size > MOST_SCENARIO_BYTES else file.read(MOST_SCENARIO_BYTES + 1)
    if max(status.st_size, len(data)) > MOST_SCENARIO_BYTES:
        raise BacklaneError(
            "R003",
            f"cannot read: more than {MOST_SCENARIO_BYTES >> 20} MiB are no scenario",
            path,
            "check the name",
        )
    return data
