"""Excel workbooks: .xlsx by its XML, .xls by the package xlrd."""

from __future__ import annotations

import io
import os
import re
import zipfile
import zlib
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.imports.reading import MOST_BYTES, File, zip_bomb
from backlane.imports.tables import MOST_COLUMNS, MOST_ROWS, Table, cell_text, headed

if TYPE_CHECKING:
    from backlane.imports.reading import Element


def sheets(file: File) -> list[Table]:
    """The sheets that hold anything.

    Raises:
        BacklaneError: R041 when the workbook is damaged or empty, R042 when it is too large, R049
            without the package for .xls.
    """
    read = _xlsx(file) if file.data.startswith(b"PK") else _xls(file)
    tables = []
    for name, rows in read:
        filled = [(line, row) for line, row in rows if any(row)]
        if filled:
            tables.append(headed(file, filled, name))
    if not tables:
        raise file.bad("the workbook is empty")
    return tables


def _xls(file: File) -> list[tuple[str, list[tuple[int, list[str]]]]]:
    try:
        import xlrd
    except ImportError as error:
        raise BacklaneError(
            "R049",
            "workbooks of the old format .xls need the package xlrd",
            file.path,
            "pip install 'backlane[import]', or save the workbook as .xlsx",
        ) from error
    found = []
    try:
        with open(os.devnull, "w") as silent:  # noqa: PTH123
            book = xlrd.open_workbook(file_contents=file.data, logfile=silent)
        for sheet in book.sheets():
            rows = [
                (line + 1, [cell_text(cell) for cell in sheet.row_values(line, 0, MOST_COLUMNS)])
                for line in range(sheet.nrows)
            ]
            found.append((sheet.name, rows))
    except Exception as error:
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise file.bad(f"this workbook cannot be read: {reason[:200]}") from error
    return found


def _xlsx(file: File) -> list[tuple[str, list[tuple[int, list[str]]]]]:
    zip_bomb(file)
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            names = {*archive.namelist()}

            def tree(name: str) -> Element | None:
                if name not in names:
                    return None
                with archive.open(name) as member:
                    return File(file.path, member.read(MOST_BYTES + 1)).xml()

            shared = tree("xl/sharedStrings.xml")
            texts = [
                "".join(part.text for part in item.all("t"))
                for item in (shared.children_named("si") if shared else [])
            ]
            book, links = tree("xl/workbook.xml"), tree("xl/_rels/workbook.xml.rels")
            if book is None:
                raise file.bad("the workbook lacks xl/workbook.xml")
            targets = {
                link.get("Id"): (link.get("Target") or "").removeprefix("/xl/")
                for link in (links.children if links else [])
            }
            found = []
            for index, sheet in enumerate(book.all("sheet"), start=1):
                target = targets.get(sheet.get("id")) or f"worksheets/sheet{index}.xml"
                content = tree(f"xl/{target}")
                if content is not None:
                    name = sheet.get("name") or f"sheet {index}"
                    found.append((name, _rows(file, content, texts)))
            return found
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, KeyError) as error:
        raise file.bad(f"damaged workbook: {error}", fix="save it again") from error
    except (NotImplementedError, RuntimeError, ValueError) as error:
        raise file.bad(f"this workbook cannot be read: {error}") from error


def _rows(file: File, sheet: Element, texts: list[str]) -> list[tuple[int, list[str]]]:
    found = []
    for number, row in enumerate(sheet.all("row"), start=1):
        cells: list[str] = []
        for cell in row.children_named("c"):
            column = _column(cell.get("r") or "", len(cells))
            if column >= MOST_COLUMNS:
                break
            cells += [""] * (column + 1 - len(cells))
            cells[column] = _value(file, cell, texts)
        if number > MOST_ROWS:
            raise BacklaneError(
                "R042", f"more than {MOST_ROWS} rows", file.path, "import a part of it"
            )
        line = row.get("r") or ""
        found.append((int(line) if re.fullmatch(r"\d{1,8}", line) else number, cells))
    return found


def _column(reference: str, default: int) -> int:
    """The index of a column: A is 0, AA is 26."""
    letters = re.match(r"[A-Z]{1,3}", reference)
    if letters is None:
        return default
    index = 0
    for letter in letters[0]:
        index = index * 26 + ord(letter) - 64
    return index - 1


def _value(file: File, cell: Element, texts: list[str]) -> str:
    kind = cell.get("t")
    if kind == "inlineStr":
        return "".join(part.text for part in cell.all("t"))
    value = cell.text_of("v") or ""
    if kind == "s":
        if not re.fullmatch(r"\d{1,8}", value) or int(value) >= len(texts):
            raise file.bad(f'a cell refers to the text "{value[:20]}", which does not exist')
        return texts[int(value)].strip()
    return value
