"""A self-contained page: no network access, no other file, readable on a phone."""

from __future__ import annotations

import base64
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING

from backlane.report import figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backlane.report.figures import Drawn

_DARK = {
    figures.INK: "#e4e6e9",
    figures.FAINT: "#3a3f46",
    figures.PAPER: "#16181b",
    "#0072b2": "#4aa3dc",
    "#d55e00": "#f0803c",
    "#009e73": "#2fc79b",
    "#cc79a7": "#dd94bc",
    "#e69f00": "#edb63f",
    "#56b4e9": "#8fd0f5",
    "#7f6bb0": "#a897d6",
    "#c3c9d1": "#464d57",
    "#eebb4d": "#8d5c8f",
    "#ee8432": "#d8577b",
    "#cc3f3a": "#f79256",
    "#7c1650": "#fde48a",
}
"""Each colour of the figures on a dark background."""

_STYLE = """
:root{color-scheme:light dark;--fg:#1c1e21;--mute:#5b626b;--bg:#f4f5f6;--card:#fefefd;
--line:#d8dbdf;--mark:#0b63a5;--soft:#e8f1f8;LIGHT}
@media (prefers-color-scheme:dark){:root{--fg:#e4e6e9;--mute:#a0a7b0;--bg:#0e1012;
--card:#16181b;--line:#2f343a;--mark:#6db8ee;--soft:#14283a;DARK}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1360px;margin:0 auto;padding:20px 16px 48px}
h1{font-size:1.6rem;line-height:1.25;margin:.2em 0 .1em}
h2{font-size:1.25rem;margin:2em 0 .5em}
h3{font-size:1rem;margin:0 0 .2em;line-height:1.35}
p{margin:.3em 0 .8em;max-width:80ch}
.mute{color:var(--mute);font-size:.92rem}
.answer{background:var(--soft);border-left:4px solid var(--mark);padding:12px 16px;
margin:16px 0;border-radius:0 6px 6px 0}
.answer p{margin:.25em 0;font-size:1.08rem;max-width:none}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:6px}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{padding:6px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--mute);white-space:normal;vertical-align:bottom}
tr:last-child td{border-bottom:0}
td.t,th.t{text-align:left}
td.w{text-align:left;white-space:normal;min-width:12em}
tr.best td{background:var(--soft)}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,380px),1fr));gap:16px}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:6px;
padding:14px 14px 10px;display:flex;flex-direction:column;min-width:0}
figure p{font-size:.92rem;margin:.1em 0 .6em}
figure svg{width:100%;height:auto;max-width:470px;display:block;margin:auto auto 0}
.links{margin:8px 0 0;font-size:.85rem}
a{color:var(--mark)}
.links a{display:inline-block;padding:6px 14px 6px 0}
dl{display:grid;grid-template-columns:minmax(8em,max-content) 1fr;gap:4px 16px;margin:0}
dt{color:var(--mute)}dd{margin:0;overflow-wrap:anywhere}
code{font:.9em ui-monospace,"DejaVu Sans Mono",monospace}
details{margin:12px 0}summary{cursor:pointer;padding:4px 0}
@media (max-width:560px){main{padding:12px 10px 40px}dl{grid-template-columns:1fr}
dt{margin-top:6px}figure{padding:10px 8px 6px}table{font-size:.86rem}th,td{padding:6px 7px}}
@media print{body{background:none}figure,.scroll{break-inside:avoid}}
"""


@dataclass
class Table:
    """A table of the page.

    Attributes:
        header: column names.
        rows: the cells.
        text_columns: how many columns, from the left, hold words.
        wide_columns: indices of columns whose words may wrap.
        marked: indices of rows to emphasise.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    text_columns: int = 1
    wide_columns: Sequence[int] = ()
    marked: Sequence[int] = ()

    def html(self) -> str:
        """As HTML, scrolling inside its own box."""

        def kind(index: int) -> str:
            if index in self.wide_columns:
                return ' class="w"'
            return ' class="t"' if index < self.text_columns else ""

        head = "".join(
            "<th" + (' class="t"' if kind(i) else "") + f">{escape(name)}</th>"
            for i, name in enumerate(self.header)
        )
        body = "".join(
            ('<tr class="best">' if number in self.marked else "<tr>")
            + "".join(f"<td{kind(i)}>{escape(cell)}</td>" for i, cell in enumerate(row))
            + "</tr>\n"
            for number, row in enumerate(self.rows)
        )
        return (
            f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{body}</tbody></table></div>\n"
        )


@dataclass
class Page:
    """The parts of the page, in order."""

    title: str
    parts: list[str] = field(default_factory=list)
    _number: int = 0
    _times: Counter[str] = field(default_factory=Counter)

    def heading(self, text: str) -> None:
        """A section."""
        self.parts.append(f"<h2>{escape(text)}</h2>\n")

    def subheading(self, text: str) -> None:
        """A part of a section."""
        self.parts.append(f"<h3>{escape(text)}</h3>\n")

    def text(self, text: str, mute: bool = False) -> None:
        """A paragraph."""
        opening = '<p class="mute">' if mute else "<p>"
        self.parts.append(f"{opening}{_words(text)}</p>\n")

    def answer(self, sentences: Sequence[str]) -> None:
        """The answer, emphasised."""
        inner = "".join(f"<p>{_words(sentence)}</p>" for sentence in sentences)
        self.parts.append(f'<div class="answer">{inner}</div>\n')

    def table(self, table: Table) -> None:
        """A table."""
        self.parts.append(table.html())

    def figures(self, drawn: Sequence[Drawn]) -> list[Drawn]:
        """Figures side by side, as many as fit.

        Returns:
            The figures under the keys that they have on this page: names that map to the same key
            get different ones.
        """
        keyed = [self._keyed(one) for one in drawn]
        if keyed:
            inner = "".join(self._figure(one) for one in keyed)
            self.parts.append(f'<div class="figures">\n{inner}</div>\n')
        return keyed

    def _keyed(self, one: Drawn) -> Drawn:
        self._times[one.key] += 1
        times = self._times[one.key]
        return one if times == 1 else replace(one, key=f"{one.key}-again-{times}")

    def facts(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Names and values."""
        inner = "".join(
            f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>\n" for name, value in pairs
        )
        self.parts.append(f"<dl>\n{inner}</dl>\n")

    def _figure(self, one: Drawn) -> str:
        self._number += 1
        links = " ".join(
            f'<a download="{one.key}.{ending}" href="data:{mime};base64,'
            f'{base64.b64encode(data).decode()}">{ending.upper()}</a>'
            for ending, mime, data in (
                ("png", "image/png", one.png),
                ("svg", "image/svg+xml", one.svg.encode()),
                ("csv", "text/csv", one.csv.encode()),
            )
        )
        return (
            f'<figure id="{one.key}"><h3>{escape(one.title)}</h3><p>{_words(one.reading)}</p>\n'
            f'{_inline(one, self._number)}<p class="links">{links}</p></figure>\n'
        )

    def html(self) -> str:
        """The whole page."""
        style = _STYLE.replace("LIGHT", _variables(dark=False)).replace(
            "DARK", _variables(dark=True)
        )
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
            f"<title>{escape(self.title)}</title>\n<style>{style}</style></head>\n<body><main>\n"
            f"<h1>{escape(self.title)}</h1>\n{''.join(self.parts)}</main></body></html>\n"
        )


def _words(text: str) -> str:
    """Escaped text in which a number keeps its unit on its line."""
    return re.sub(r"(?<=\d) (?=%|[A-Za-z])", "\u00a0", escape(text))


def _variable(color: str) -> str:
    return f"--f{color.removeprefix('#')}"


def _variables(dark: bool) -> str:
    return ";".join(
        f"{_variable(light)}:{shade if dark else light}" for light, shade in _DARK.items()
    )


def _inline(one: Drawn, number: int) -> str:
    """The SVG with ids of its own and colours that follow the scheme of the page."""
    prefix = f"f{number}-"
    svg = re.sub(r'\bid="', f'id="{prefix}', one.svg)
    svg = svg.replace("url(#", f"url(#{prefix}").replace('href="#', f'href="#{prefix}')
    for color in _DARK:
        svg = svg.replace(color, f"var({_variable(color)})")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(one.reading)}" ', 1)
