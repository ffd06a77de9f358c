"""Recorded traces in Parquet, as the text that the compiled core reads.

The core calls `csv_of` when a scenario names a file whose name ends in ``.parquet``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("run_id", "entity", "time_s", "rate_bps", "sinr_db", "cqi")
"""The columns of a trace; others are ignored."""

MOST_ROWS = 20_000_000
"""The limit of the core for CSV: a small file may unpack to many more."""


def csv_of(path: str | Path) -> str:
    """The trace columns of a Parquet file as CSV.

    Args:
        path: the file.

    Returns:
        A header and a line for each row, in the order of the file; missing values are empty.

    Raises:
        ValueError: when the file cannot be read as Parquet, has none of the columns, or has more
            than `MOST_ROWS` rows.
    """
    import polars as pl
    from polars.exceptions import PolarsError

    try:
        table = pl.scan_parquet(path)
        names = [name for name in table.collect_schema().names() if name.lower() in COLUMNS]
        rows = table.select(pl.len()).collect().item()
        text = "" if rows > MOST_ROWS else table.select(names).collect().write_csv()
    except (OSError, PolarsError) as error:
        reason = next(iter(str(error).splitlines()), "unknown reason")
        raise ValueError(f"it is no Parquet file ({reason})") from error
    if not names:
        raise ValueError(f"it has none of the columns {', '.join(COLUMNS)}")
    if rows > MOST_ROWS:
        raise ValueError(f"it has {rows} rows, and a table may have {MOST_ROWS}")
    return text
