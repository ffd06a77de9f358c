"""Untrusted names and texts are data: in paths, pictures, tables and on the terminal."""

from __future__ import annotations

import csv
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import BASE, Cli, finish, start

import backlane
from backlane.cli import output
from backlane.errors import BacklaneError
from backlane.report.figures import draw, slug, to_csv
from backlane.report.html import Page
from backlane.text import brief
from backlane.text import slug as folder_slug

ODD_LABELS = ("$\\frac$", "$5 to $10", '=HYPERLINK("http://x")', "+cmd|' /C calc'!A0", "[/bold]")


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a campaign with odd names."""
    folder = tmp_path_factory.mktemp("odd")
    axis = ", ".join(
        f"{{ label = {json.dumps(label)}, protocol = {protocol} }}"
        for label, protocol in zip(
            ODD_LABELS,
            (
                '"shortest-path"',
                '"bp-mr"',
                '"bp-mr", granularity = "packet"',
                '"olsr"',
                '"bp-mr", v = 7',
            ),
            strict=True,
        )
    )
    scenario = BASE.replace('"small"', json.dumps("$\\sqrt{$ [/red] <b>"))
    path = folder / "odd.toml"
    path.write_text(f"{scenario}\n[sweep]\nrouting = [{axis}]\nseeds = 2\n")
    backlane.campaign.run(path, folder / "out")
    return folder / "out"


def test_a_report_over_odd_names_is_drawn(odd: Path, cli: Cli) -> None:
    done = cli("report", odd)
    assert done.code == 0, done.err
    assert "$\\sqrt{$ [/red] <b>" in done.out
    assert (odd / "report.html").is_file()
    rows = [
        cell
        for path in (odd / "figures").glob("*.csv")
        for row in csv.reader(path.open())
        for cell in row
    ]
    assert "'" + ODD_LABELS[2] in rows
    assert "'" + ODD_LABELS[3] in rows
    for cell in rows:
        if cell.startswith(("=", "+", "@", "-")):
            float(cell)


def test_text_is_no_formula_and_powers_on_a_logarithmic_axis_are_plain() -> None:
    painted = []

    def paint(_figure: Any, axes: Any) -> None:
        axes.set_title("$5 to $10 or $\\frac$")
        axes.plot([1, 2], [0.01, 10_000])
        axes.set_yscale("log")
        painted.append(axes)

    draw("key", "title", "reading", [], paint)
    assert not painted[0].title.get_parse_math()
    labels = [text.get_text() for text in painted[0].get_yticklabels()]
    assert {"10⁻²", "10⁰", "10⁴"} <= set(labels)
    assert not any("$" in text.get_text() for text in painted[0].get_yticklabels(which="both"))


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@x", "'@x"), ("\tx", "'\tx"),
        ("＝1", "'＝1"), (-1.5, "-1.5"), (-1, "-1"), ("a=b", "a=b"), ("–", "–"),
        (float("nan"), '""'),
    ],
)  # fmt: skip
def test_a_text_is_no_formula_of_a_spreadsheet_and_a_number_stays_one(
    cell: Any, written: str
) -> None:
    assert to_csv([[cell]]) == f"{written}\n"


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("grid", "grid"), ("P1_v2.3-x", "P1_v2.3-x"), ("../../evil", "evil"), ("/etc/x", "etc-x"),
        ("..", "unnamed"), (".", "unnamed"), ("", "unnamed"), (".hidden", "hidden"),
        ("a b", "a-b"), ("a/../b", "a-..-b"), ("-rf", "rf"), ("a\x00\x1bb\n", "a-b"),
        ("Zürich", "Zürich"), ("\\\\host\\x", "host-x"), ("C:x", "C-x"), ("\udcff", "unnamed"),
    ],
)  # fmt: skip
def test_a_name_stays_in_its_folder(name: str, folder: str) -> None:
    assert folder_slug(name) == folder


def test_a_long_name_fits_a_file_system(tmp_path: Path) -> None:
    for letter in ("x", "ü", "語", "𝒳"):
        (tmp_path / f"{folder_slug(letter * 5000)}-0123456789abcdef.parquet.tmp").touch()
        (tmp_path / f"{slug(letter * 5000)}-map-{slug(letter * 5000)}-12.svg").touch()


@pytest.mark.parametrize("name", ["../../evil", "/tmp/evil", "..", ".x"])
def test_a_run_without_out_stays_below_results(
    name: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "a" / "b"
    here.mkdir(parents=True)
    (here / "s.toml").write_text(BASE.replace('"small"', json.dumps(name)))
    monkeypatch.chdir(here)
    done = cli("run", "s.toml")
    assert done.code == 0, done.err
    (folder,) = (here / "results").iterdir()
    assert folder.name.startswith(folder_slug(name))
    assert done.out.splitlines()[-1] == f"results/{folder.name}"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert {path.name for path in here.iterdir()} == {"s.toml", "results"}


def test_figures_whose_names_differ_only_in_odd_letters_are_all_kept(tmp_path: Path) -> None:
    from backlane.report import _write_figures

    def one(text: str) -> Any:
        return draw(slug(text), text, "", [[text]], lambda _figure, _axes: None)

    page = Page("figures")
    _write_figures(tmp_path, page.figures([one("ä"), one("x")]) + page.figures([one("ö")]))
    found = {path.stem: path.read_text().strip() for path in tmp_path.glob("*.csv")}
    assert sorted(found.values()) == ["x", "ä", "ö"]
    assert all(page.html().count(f'<figure id="{key}">') == 1 for key in found)


def test_the_progress_bar_takes_no_name_for_markup(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "PATIENCE_S", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    output.prepare([])
    with output.progress("[/bold]x [v2]\x1b[31m", 10, "runs") as bar:
        bar.update(1, "[/red]1 failed")
        bar.update(2, "[/red]1 failed")
    shown = capsys.readouterr().err
    assert "[/bold]x [v2]\\x1b[31m" in shown
    assert "[/red]1 failed" in shown


SHOWN = {
    "\x1b[31m": "\\x1b[31m",
    "\x9b31m": "\\x9b31m",
    "\x07": "\\x07",
    "a\rb": "a\\x0db",
    "\u202etxt.exe": "\\u202etxt.exe",
    os.fsdecode(b"\xffo"): "\\xffo",
    "\ud800": "\\ud800",
    "a\tb": "a\tb",
    "Zürich – 語": "Zürich – 語",
}


@pytest.mark.parametrize("text", SHOWN)
def test_a_terminal_shows_names_and_does_not_obey_them(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output.prepare([])
    output.say(text)
    output.tell(text)
    output.error(f"error[R000]: {text}")
    captured = capsys.readouterr()
    assert captured.out == f"{SHOWN[text]}\n"
    assert captured.err == f"{SHOWN[text]}\nerror[R000]: {SHOWN[text]}\n"
    output.print_table(text, ["h" + text], [[f"{text}\nnext"]])
    table = capsys.readouterr().out
    assert SHOWN[text].replace("\t", "\\t") + "\\nnext" in table
    output.emit({text: text})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {text: text}
    assert not set(shown) & {"\x1b", "\x9b", "\r", "\u202e", "\udcff"}


@pytest.mark.parametrize(
    "words", [("explain", "\x1b[31m"), ("check", "\x1b[31m.toml"), ("\x1b[31m",)], ids=repr
)
def test_escapes_in_arguments_are_shown(words: tuple[str, ...], cli: Cli) -> None:
    done = cli(*words)
    assert done.code == 2
    assert "\x1b" not in done.err
    assert "\\x1b[31m" in done.err.lower()


def test_escapes_in_keys_are_shown_and_long_ones_cut(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f'"\\u001b[31mred" = 1\n{BASE}')
    refused = cli("check", path)
    assert refused.code == 2
    assert "\x1b" not in refused.err
    assert "\\u{1b}[31mred" in refused.err
    path.write_text(f"{'k' * 1_000_000} = 1\n{BASE}")
    refused = cli("check", path)
    assert refused.code == 2
    assert len(refused.err) < 50_000


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    lines = brief("\n".join(map(str, range(1000)))).splitlines()
    assert lines[:2] == ["0", "1"]
    assert lines[-2:] == ["998", "999"]
    assert len(lines) == 41
    assert "960 lines left out" in lines[20]
    assert brief("a\nb") == "a\nb"


NOT_UTF8 = os.fsdecode(b"\xff.toml")


@pytest.mark.parametrize(
    "words",
    [
        ("check", NOT_UTF8), ("run", NOT_UTF8), ("campaign", "run", NOT_UTF8),
        ("run", "single.toml", "--out", NOT_UTF8), ("run", "single.toml", "--set", NOT_UTF8),
        ("report", NOT_UTF8), ("explain", NOT_UTF8), ("init", "grid", NOT_UTF8), (NOT_UTF8,),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_not_utf8_on_the_command_line_is_refused(
    words: tuple[str, ...], single: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(single.parent)
    Path(NOT_UTF8).write_text(BASE)
    refused = cli(*words)
    assert refused.code == 2
    assert "error[R012]: this is not UTF-8\n  --> \\xff.toml" in refused.err
    assert len(list(single.parent.iterdir())) == 2


def test_a_process_says_so_too(tmp_path: Path) -> None:
    done = finish(start("check", NOT_UTF8, "--json", cwd=tmp_path))
    assert done.code == 2
    assert done.json["errors"][0]["code"] == "R012"


def test_a_scenario_whose_name_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NOT_UTF8
    path.write_text(BASE)
    with pytest.raises(BacklaneError, match="the name is not UTF-8") as refused:
        backlane.check(path)
    assert refused.value.code == "R003"
    with pytest.raises(BacklaneError, match="cannot read: embedded null byte") as refused:
        backlane.check(tmp_path / "a\0b")
    assert refused.value.code == "R003"


@pytest.mark.parametrize("kind", ["pipe", "device", "large", "folder"])
def test_what_is_no_file_of_text_is_refused_at_once(kind: str, tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "s.toml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(2 << 30)
    refused = cli("check", path)
    assert refused.code == 2
    assert "error[R003]: cannot read" in refused.err


@pytest.mark.parametrize("text", ["１/２", "1/２", "1_0/20", " 1/2", "+1/2", f"{10**20}/{10**20}"])
def test_a_shard_is_written_in_plain_digits(text: str, sweep: Path, cli: Cli) -> None:
    refused = cli("campaign", "run", sweep, "--shard", text, "--dry-run")
    assert refused.code == 2
    assert "error[R012]" in refused.err


def test_out_of_memory_names_the_scenario(
    single: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(backlane.single, "carry_out", full)
    failed = cli("run", single, "--out", single.parent / "out")
    assert failed.code == 2
    assert f"error[R018]: out of memory\n  --> {single}" in failed.err


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("explain", "S9999"), "explain CODE"),
        (("init", "nothing"), "init TEMPLATE"),
        (("reproduce", "nothing"), "reproduce STUDY"),
    ],
)
def test_errors_about_arguments_have_a_place(words: tuple[str, ...], place: str, cli: Cli) -> None:
    refused = cli(*words)
    assert refused.code == 2
    assert f"\n  --> {place}" in refused.err


@pytest.mark.parametrize("what", ["id", "name"])
def test_a_study_does_not_choose_where_its_figures_go(what: str, tmp_path: Path, cli: Cli) -> None:
    name, figure = ("../../x", "fig1") if what == "name" else ("small", "../../x")
    (tmp_path / "study.toml").write_text(
        f"""title = "t"\nabout = "a"
[[experiment]]
name = "{name}"
shows = "s"
[[figure]]
id = "{figure}"
title = "t"
kind = "candlesticks"
experiment = "{name}"
"""
    )
    refused = cli("reproduce", tmp_path)
    assert refused.code == 2
    assert f"error[R022]: `{what}` cannot be the name of a file" in refused.err
