"""The tables of `data/`: CSV whose comments name the source."""

from __future__ import annotations

import csv
from pathlib import Path

FOLDER = Path(__file__).parent / "data"
"""The tables of this package."""


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a table by the names of its columns."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [*csv.DictReader(lines)]
