"""Tables of a run as frames, and their files.

polars is imported inside the functions, so that other commands start quickly.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backlane import native
from backlane.errors import BacklaneError
from backlane.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from backlane._native import Table

ALWAYS = ("flows", "links", "nodes")
"""Tables that every run has."""


def names() -> tuple[str, ...]:
    """Every declared table that is no series; `runs` is the first."""
    return tuple(name for name in native.module().tables() if not name.startswith("series/"))


def frame(table: Table) -> pl.DataFrame:
    """A table of a run, in the types that the simulator declares."""
    import polars as pl

    return pl.DataFrame(table)


def frame_of_runs(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The table `runs`: declared columns in their types, swept parameters in those of their values.

    Args:
        rows: at least one, all with the same keys.
    """
    import polars as pl

    kinds = {"text": pl.String, "integer": pl.Int64, "float": pl.Float64}
    declared = native.module().tables()["runs"]
    types = {name: kinds[kind] for name, kind in declared.items() if name in rows[0]}
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return pl.DataFrame(columns, schema_overrides=types, strict=False)


def with_run_id(table: pl.DataFrame, run_id: str) -> pl.DataFrame:
    """The same table with `run_id` as its first column."""
    import polars as pl

    if not table.width:
        # Earlier versions stored tables without rows as tables without columns.
        return pl.DataFrame(schema={"run_id": pl.String})
    return table.select(pl.lit(run_id, dtype=pl.String).alias("run_id"), pl.all())


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert exceptions of Polars while it writes `path` to `OSError`.

    Polars reports system errors as exceptions of its own. A full disk is recognised also where
    Polars reports only that the last bytes were not written.
    """
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise OSError(_errno(str(error).lower(), path), _first_line(error)) from error


def _errno(text: str, path: Path) -> int:
    """The number of a system error that Polars gives as text."""
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EACCES, errno.EROFS):
        if f"os error {number})" in text or os.strerror(number).lower() in text:
            return number
    full = "transport error" in text and shutil.disk_usage(path.parent).free < NO_ROOM
    return errno.ENOSPC if full else errno.EIO


NO_ROOM = 1 << 16
"""After a failed write, a disk with fewer free bytes counts as full."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Convert exceptions of Polars while it reads `path` to a coded error.

    Raises:
        BacklaneError: R010.
    """
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BacklaneError(
            "R010",
            f"damaged: {_first_line(error)}",
            path,
            "remove it and run again; see `backlane explain R010`",
        ) from error


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def write(path: Path, table: pl.DataFrame) -> None:
    """Write Parquet atomically; the same table always gives the same bytes.

    Raises:
        BacklaneError: R001, R002 or R017.
    """
    with replacing(path) as temporary:
        write_plain(temporary, table)


def write_plain(path: Path, table: pl.DataFrame) -> None:
    """Write Parquet to a name that is private to the caller.

    Raises:
        OSError: when the system refuses.
    """
    with writing(path):
        table.write_parquet(path, compression="zstd", statistics=False)


def join(path: Path, parts: Sequence[pl.LazyFrame]) -> None:
    """Write the rows of several tables to one file, in order, without holding them in memory.

    Raises:
        BacklaneError: R001, R002 or R017.
    """
    import polars as pl

    with replacing(path) as temporary, writing(temporary):
        # Statistics let a reader that wants one run skip the others.
        pl.concat(parts, how="diagonal_relaxed").sink_parquet(temporary)


FRAMES_AT_ONCE = 500
"""Frames that are held before they are joined: a small one takes as much memory as hundreds of
rows."""
BYTES_AT_ONCE = 64 << 20
"""Estimated size of what is held before it is written."""
FRAMES_IN_A_PART = 10_000
"""Frames that are held before they are written: joined ones keep memory of each, about 6 kB, that
the estimate does not count."""


class Growing:
    """A table of many small frames, written in order without holding all of them.

    A table that is small enough is written at once, as `write` does; of a larger one, parts are
    written beside it, and joined by `finish`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._frames: list[pl.DataFrame] = []
        self._joined: list[pl.DataFrame] = []
        self._bytes = 0
        self._held = 0
        self._parts: list[Path] = []

    def add(self, frame: pl.DataFrame) -> None:
        """Append rows; columns that other frames lack are null there.

        Raises:
            BacklaneError: R001, R002 or R017.
        """
        self._frames.append(frame)
        self._bytes += int(frame.estimated_size())
        self._held += 1
        is_large = self._bytes >= BYTES_AT_ONCE or self._held == FRAMES_IN_A_PART
        if is_large or len(self._frames) == FRAMES_AT_ONCE:
            self._join()
        if is_large:
            self._write_part()

    def _join(self) -> None:
        import polars as pl

        self._joined.append(pl.concat(self._frames, how="diagonal_relaxed", rechunk=True))
        self._frames.clear()

    def _write_part(self) -> None:
        import polars as pl

        part = self._path.with_name(f"{self._path.stem}-{len(self._parts):06}.part")
        write(part, pl.concat(self._joined, how="diagonal_relaxed"))
        self._parts.append(part)
        self._joined.clear()
        self._bytes = self._held = 0

    def finish(self) -> None:
        """Write the table; without any frame there is none.

        Raises:
            BacklaneError: R001, R002 or R017.
        """
        import polars as pl

        if self._frames:
            self._join()
        if not self._parts:
            if self._joined:
                write(self._path, pl.concat(self._joined, how="diagonal_relaxed"))
            return
        if self._joined:
            self._write_part()
        join(self._path, [pl.scan_parquet(part) for part in self._parts])
        for part in self._parts:
            part.unlink()


def read(path: Path) -> pl.DataFrame:
    """Read a Parquet file of results.

    Raises:
        BacklaneError: R008 when it is missing, R010 when it is damaged.
    """
    import polars as pl

    if not path.is_file():
        raise BacklaneError(
            "R008", f"{path.name} is missing", path.parent, "run the scenario again"
        )
    with reading(path):
        return pl.read_parquet(path, use_statistics=False)
