"""The page on trust quotes other pages: what it quotes stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from backlane.cli.validate import COMPARISONS

PAGE = Path(__file__).parents[2] / "docs" / "trust.md"
ROW = re.compile(r"^\|(?!---)(.+)\|$", re.MULTILINE)


def quotes() -> list[tuple[str, Path]]:
    """Each quotation of a row, with the last page that the row links to."""
    found = []
    for row in ROW.findall(PAGE.read_text(encoding="utf-8")):
        links = re.findall(r"\]\(([^)#]+\.md)", row)
        prose = re.sub(r"`[^`]*`", lambda code: code[0].replace('"', ""), row)
        for text in re.findall(r'"([^"]{12,})"', prose):
            assert links, f"a row quotes without a page: {row}"
            found.append((text, (PAGE.parent / links[-1]).resolve()))
    return found


def plain(text: str) -> str:
    """Without the marks of Markdown and breaks of lines."""
    return re.sub(r"\s+", " ", text.replace("*", ""))


@pytest.mark.parametrize(("text", "page"), quotes(), ids=[text[:30] for text, _ in quotes()])
def test_a_quotation_stands_on_its_page(text: str, page: Path) -> None:
    assert plain(text) in plain(page.read_text(encoding="utf-8"))


def test_the_page_quotes_every_comparison_with_other_programs() -> None:
    assert len(quotes()) >= 15
    text = PAGE.read_text(encoding="utf-8")
    for name in COMPARISONS:
        if name != "cost":
            assert f"backlane validate {name}" in text, name
