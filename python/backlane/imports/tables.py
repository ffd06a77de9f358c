"""Tables as people save them: CSV with any delimiter, and Parquet."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.imports import columns
from backlane.imports.model import count, shown, some
from backlane.imports.quantities import plain

if TYPE_CHECKING:
    from backlane.imports.reading import File

MOST_ROWS = 2_000_000
"""Rows of a table."""
MOST_COLUMNS = 500
"""Columns of a table."""
_TITLE_ROWS = 30
"""The header is one of the first rows."""
DELIMITERS = ",;\t|"


@dataclass
class Table:
    """Rows of texts.

    Attributes:
        file: where it is from.
        header: the titles; empty if the table has none.
        rows: the line and the cells of each row.
        sheet: its name in a workbook.
        above: rows of titles that were skipped.
    """

    file: File
    header: list[str]
    rows: list[tuple[int, list[str]]]
    sheet: str = ""
    above: int = 0
    delimiter: str = ","
    notes: list[str] = field(default_factory=list)

    def at(self, line: int) -> str:
        """The place of a row."""
        return self.file.at(f"{self.sheet} row {line}" if self.sheet else line)


def split(file: File) -> list[tuple[int, list[str]]]:
    """The rows of a file of delimited text, empty ones left out.

    Raises:
        BacklaneError: R041 for a quote that is not closed or too many fields, R042 for too many
            rows.
    """
    text = file.text
    start = 0
    declared = re.match(r'"?sep=(.)"?\r?\n', text)
    if declared:
        text = text[declared.end() :]
        start = 1
    delimiter = declared[1] if declared else delimiter_of(text)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    rows: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for cells in reader:
            if len(cells) > MOST_COLUMNS:
                raise file.bad(f"{len(cells)} fields in a row", start + line)
            stripped = [cell.strip() for cell in cells]
            if any(stripped) and not stripped[0].startswith("#"):
                if len(rows) >= MOST_ROWS:
                    raise BacklaneError(
                        "R042",
                        f"more than {MOST_ROWS} rows",
                        file.at(line),
                        "import a part of it: cut the file",
                    )
                rows.append((start + line, stripped))
            line = reader.line_num + 1
    except csv.Error as error:
        raise file.bad(f"this is no CSV: {error}", start + line) from error
    return rows


def delimiter_of(text: str) -> str:
    """The character that divides the first lines most often, and equally often in each."""
    lines = [line for line in text[: 1 << 16].splitlines() if line.strip()][:10]
    best, most = ",", 0.0
    for delimiter in DELIMITERS:
        counts = [re.sub(r'"[^"]*"', "", line).count(delimiter) for line in lines]
        if not counts or not max(counts):
            continue
        usual = max(set(counts), key=counts.count)
        alike = counts.count(usual) / len(counts)
        score = (usual or max(counts) / 2) * alike**2
        if score > most:
            best, most = delimiter, score
    return best


def from_csv(file: File) -> Table:
    """The table of a file of delimited text."""
    rows = split(file)
    if not rows:
        raise file.bad("the table has no rows")
    table = headed(file, rows)
    table.delimiter = delimiter_of(file.text)
    return table


def headed(file: File, rows: list[tuple[int, list[str]]], sheet: str = "") -> Table:
    """Find the header: of the first rows the one with the most names that are known."""

    def known(cells: list[str]) -> int:
        names = [columns.SITE, columns.LINK, columns.ENDS, columns.LEVEL, columns.TRACE]
        return max(len(columns.find(cells, table)) for table in names)

    best, most = 0, 1
    for index, (_, cells) in enumerate(rows[:_TITLE_ROWS]):
        if len(cells) > 1 and (found := known(cells)) > most:
            best, most = index, found
    header = rows[best][1]
    if sum(plain(cell) is not None for cell in header) > len(header) / 2:
        return Table(file, [], rows, sheet)
    return Table(file, header, rows[best + 1 :], sheet, above=best)


def cell_text(value: Any) -> str:
    """A cell as text; whole numbers without a fraction."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip()


def from_parquet(file: File) -> Table:
    """The table of a Parquet file.

    Raises:
        BacklaneError: R041 when it cannot be read, R042 when it has too many rows.
    """
    import polars as pl
    from polars.exceptions import PolarsError

    try:
        frame = pl.scan_parquet(io.BytesIO(file.data))
        names = frame.collect_schema().names()
        height = frame.select(pl.len()).collect().item()
        if height > MOST_ROWS or len(names) > MOST_COLUMNS:
            raise BacklaneError(
                "R042",
                f"{height} rows of {len(names)} columns are more than an import takes",
                file.path,
                "import a part of it: cut the file",
            )
        found = frame.collect()
    except BacklaneError:
        raise
    except (PolarsError, OSError, ValueError, pl.exceptions.PanicException) as error:
        reason = next(iter(str(error).splitlines()), "unknown reason")
        raise file.bad(f"this is no Parquet file: {reason}") from error
    rows = [
        (line, ["" if cell is None else cell_text(cell) for cell in row])
        for line, row in enumerate(found.iter_rows(), start=1)
    ]
    return Table(file, names, rows, sheet="table")


def unused(table: Table, used: set[int]) -> str:
    """A sentence about the columns that stand for nothing known; empty if there are none."""
    names = [
        shown(title)
        for index, title in enumerate(table.header)
        if index not in used and title.strip()
    ]
    return f"{count(names, 'column')} not used: {some(names)}" if names else ""
