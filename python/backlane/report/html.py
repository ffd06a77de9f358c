"""A self-contained page: no network access, no other file, readable on a phone.

Everything can be read without scripts; `script` adds what needs them.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

from backlane.report import figures, script
from backlane.report.colors import PALETTE, TINTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backlane.report.figures import Drawn

_DARK = {
    figures.INK: "#e4e6e9",
    figures.FAINT: "#3a3f46",
    figures.PAPER: "#16181b",
    **dict(
        zip(
            PALETTE,
            ("#4aa3dc", "#f0803c", "#2fc79b", "#dd94bc", "#edb63f", "#8fd0f5", "#a897d6"),
            strict=True,
        )
    ),
    **dict(
        zip(
            TINTS,
            ("#2c5f80", "#8a4a24", "#1d7059", "#80566d", "#876825", "#52788e", "#60567b"),
            strict=True,
        )
    ),
    "#c3c9d1": "#464d57",
    "#eebb4d": "#8d5c8f",
    "#ee8432": "#d8577b",
    "#cc3f3a": "#f79256",
    "#7c1650": "#fde48a",
}
"""Each colour of the figures on a dark background."""

MOST_EMBEDDED_BYTES = 4_000_000
"""Of the files of figures in a page; the files of further ones are only beside it."""

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
.map-view p{max-width:none}
.figures{margin:0 0 16px;display:grid;gap:16px;
grid-template-columns:repeat(auto-fill,minmax(min(100%,380px),1fr))}
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
@media print{body{background:none}figure,.scroll{break-inside:avoid}
nav,.bar,.explorer{display:none}}
nav.contents{font-size:.92rem;margin:12px 0}
nav.contents ul{list-style:none;margin:.3em 0;padding:0;columns:auto 22em}
nav.contents li{padding:3px 0;break-inside:avoid}
th button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;
text-align:inherit}
th[aria-sort=ascending] button::after{content:" ▲"}
th[aria-sort=descending] button::after{content:" ▼"}
button,select{font:inherit;color:var(--fg);background:var(--bg);border:1px solid var(--line);
border-radius:6px;padding:4px 10px;max-width:100%}
:focus-visible{outline:2px solid var(--mark);outline-offset:2px}
.bar{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:6px 0}
.bar input[type=range]{flex:1;min-width:8rem;accent-color:var(--mark)}
.explorer{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:12px;
margin:12px 0}
.explorer:empty,.filter:empty,.hidden{display:none}
[data-contender]{transition:opacity .12s}
.faded,.faint{opacity:.18}
.live [data-tip]{cursor:crosshair}
.uplot,.uplot .u-legend{color:var(--fg);font-family:inherit}
.uplot .u-legend{font-size:.8rem;text-align:left}
caption{text-align:left;padding:6px 10px;color:var(--mute)}
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
        caption: what the table shows, for screen readers too.
        network: number of the network that rows are about.
        about: the numbers of the condition and the contender of each row.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    text_columns: int = 1
    wide_columns: Sequence[int] = ()
    marked: Sequence[int] = ()
    caption: str = ""
    network: int | None = None
    about: Sequence[tuple[int, int]] = ()

    def html(self) -> str:
        """As HTML, scrolling inside its own box."""

        def kind(index: int) -> str:
            if index in self.wide_columns:
                return ' class="w"'
            return ' class="t"' if index < self.text_columns else ""

        head = "".join(
            '<th scope="col"' + (' class="t"' if kind(i) else "") + f">{escape(name)}</th>"
            for i, name in enumerate(self.header)
        )
        body = "".join(
            f"<tr{self._row(number)}>"
            + "".join(f"<td{kind(i)}>{escape(cell)}</td>" for i, cell in enumerate(row))
            + "</tr>\n"
            for number, row in enumerate(self.rows)
        )
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        return (
            f'<div class="scroll" tabindex="0"><table>{caption}<thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{body}</tbody></table></div>\n"
        )

    def _row(self, number: int) -> str:
        """The attributes of a row."""
        text = ' class="best"' if number in self.marked else ""
        if self.about:
            condition, contender = self.about[number]
            text += _attributes(self.network, condition, contender)
        return text


def _attributes(network: int | None, condition: int, contender: int) -> str:
    """By which the script finds what is about a contender or a condition."""
    return f' data-network="{network}" data-condition="{condition}" data-contender="{contender}"'


@dataclass
class Page:
    """The parts of the page, in order.

    Attributes:
        title: of the page.
        parts: HTML.
        data: for the script, beside the lines of figures.
    """

    title: str
    parts: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    _contents: list[tuple[str, str]] = field(default_factory=list)
    _lines: dict[str, Any] = field(default_factory=dict)
    _number: int = 0
    _embedded_bytes: int = 0
    _times: Counter[str] = field(default_factory=Counter)

    def heading(self, text: str) -> None:
        """A section, which the table of contents lists."""
        key = f"section-{len(self._contents) + 1}"
        self._contents.append((key, text))
        self.parts.append(f'<h2 id="{key}">{escape(text)}</h2>\n')

    def details(self, summary: str, inner: str) -> None:
        """HTML that is shown on demand."""
        self.parts.append(f"<details><summary>{_words(summary)}</summary>\n{inner}</details>\n")

    def filter(self, network: int) -> None:
        """Where the script puts the filter by condition of a network."""
        self.parts.append(f'<div class="filter bar" data-network="{network}"></div>\n')

    def explorer(self, network: int) -> None:
        """Where the script puts the map of a network."""
        self.parts.append(
            f'<div class="explorer" data-network="{network}"></div>\n'
            "<noscript><p>The map with its replay needs scripts; the figures below do not."
            "</p></noscript>\n"
        )

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

    def figures(
        self, drawn: Sequence[Drawn], network: Marked | None = None, summary: str = ""
    ) -> list[Drawn]:
        """Figures side by side, as many as fit.

        Args:
            drawn: the figures.
            network: the numbers of the contenders and conditions that their marks name.
            summary: what they are, if they are shown on demand.

        Returns:
            The figures under the keys that they have on this page: names that map to the same key
            get different ones.
        """
        keyed = [self._keyed(one) for one in drawn]
        if keyed:
            inner = "".join(self._figure(one, network) for one in keyed)
            grid = f'<div class="figures">\n{inner}</div>\n'
            if summary:
                self.details(summary, grid)
            else:
                self.parts.append(grid)
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

    def _figure(self, one: Drawn, network: Marked | None) -> str:
        self._number += 1
        if one.lines:
            self._lines[one.key] = {
                "unit": one.unit,
                "group": None if network is None else f"network-{network.number}",
                "lines": [
                    {"name": name, "times": _rounded(times), "values": _rounded(values)}
                    for name, (times, values) in one.lines.items()
                ],
            }
        over_time = " data-lines" if one.lines else ""
        files = [
            (ending, mime, data)
            for ending, mime, data in (
                ("png", "image/png", one.png),
                ("svg", "image/svg+xml", one.svg.encode()),
                ("pdf", "application/pdf", one.pdf),
                ("csv", "text/csv", one.csv.encode()),
            )
            if data
        ]
        self._embedded_bytes += sum(len(data) for *_, data in files) * 4 // 3
        if self._embedded_bytes <= MOST_EMBEDDED_BYTES:
            links = " ".join(
                f'<a download="{one.key}.{ending}" href="data:{mime};base64,'
                f'{base64.b64encode(data).decode()}">{ending.upper()}</a>'
                for ending, mime, data in files
            )
        else:
            endings = ", ".join(ending for ending, *_ in files)
            links = f"figures/{one.key}: {endings}"
        return (
            f'<figure id="{one.key}"{over_time}><h3>{escape(one.title)}</h3>'
            f"<p>{_words(one.reading)}</p>\n{_inline(one, self._number, network)}"
            f'<p class="links">{links}</p></figure>\n'
        )

    def html(self) -> str:
        """The whole page."""
        style = _STYLE.replace("LIGHT", _variables(dark=False)).replace(
            "DARK", _variables(dark=True)
        )
        live = ""
        if self.data:
            found = script.json_text(self.data | {"lines": self._lines})
            live = (
                f'<script type="application/json" id="data">{found}</script>\n'
                f"<script>{script.script()}</script>\n"
            )
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{script.policy()}">\n'
            '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
            f"<title>{escape(self.title)}</title>\n<style>{style}{script.style()}</style></head>\n<body><main>\n"
            f"<h1>{escape(self.title)}</h1>\n{self._page()}</main>\n{live}</body></html>\n"
        )

    def _page(self) -> str:
        """The parts, with the table of contents before the first section."""
        if len(self._contents) < 2:
            return "".join(self.parts)
        items = "".join(
            f'<li><a href="#{key}">{escape(text)}</a></li>' for key, text in self._contents
        )
        listed = f'<nav class="contents" aria-label="Contents"><ul>{items}</ul></nav>\n'
        first = next(i for i, part in enumerate(self.parts) if part.startswith("<h2"))
        return "".join([*self.parts[:first], listed, *self.parts[first:]])


@dataclass(frozen=True)
class Marked:
    """By which numbers the page knows what a network compares.

    Attributes:
        number: of the network.
        conditions: their names, in order.
        contenders: their names, in order.
    """

    number: int
    conditions: Sequence[str]
    contenders: Sequence[str]

    def attributes(self, mark: figures.Mark) -> str:
        """Those of the group of a mark; nothing for one about something else."""
        if mark.contender not in self.contenders or mark.condition not in self.conditions:
            return ""
        return _attributes(
            self.number,
            self.conditions.index(mark.condition),
            self.contenders.index(mark.contender),
        )


def _rounded(values: Sequence[float]) -> list[float]:
    """Numbers with six digits, as many as a chart can show."""
    return [float(f"{value:.6g}") for value in values]


def _words(text: str) -> str:
    """Escaped text in which a number keeps its unit on its line."""
    return re.sub(r"(?<=\d) (?=%|[A-Za-z])", "\u00a0", escape(text))


def _variable(color: str) -> str:
    return f"--f{color.removeprefix('#')}"


def _variables(dark: bool) -> str:
    return ";".join(
        f"{_variable(light)}:{shade if dark else light}" for light, shade in _DARK.items()
    )


def _inline(one: Drawn, number: int, network: Marked | None) -> str:
    """The SVG with ids of its own, colours that follow the scheme of the page, and its marks."""
    prefix = f"f{number}-"

    def named(found: re.Match[str]) -> str:
        mark = one.marks.get(figures.mark_of(found[1]))
        about = "" if mark is None else f' data-tip="{escape(mark.text)}"'
        if mark is not None and network is not None:
            about += network.attributes(mark)
        return f'id="{prefix}{found[1]}"{about}'

    svg = re.sub(r'\bid="([^"]*)"', named, one.svg)
    svg = svg.replace("url(#", f"url(#{prefix}").replace('href="#', f'href="#{prefix}')
    for color in _DARK:
        svg = svg.replace(color, f"var({_variable(color)})")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(one.reading)}" ', 1)
