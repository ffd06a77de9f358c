"""Habits of other command lines: short options, help, completions, colours, quiet."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.shell_completion import get_completion_class
from conftest import BASE, Cli

from backlane.cli import app, output
from backlane.cli.completions import SHELLS


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (("help",), ("--help",)),
        (("help", "run"), ("run", "--help")),
        (("help", "campaign", "merge"), ("campaign", "merge", "--help")),
        (("-V",), ("--version",)),
        (("explain", "S14"), ("explain", "S014")),
        (("explain", "s014"), ("explain", "S014")),
        (("explain", "r6"), ("explain", "R006")),
    ],
    ids=str,
)
def test_a_short_way_prints_what_the_long_one_prints(
    words: tuple[str, ...], same: tuple[str, ...], cli: Cli
) -> None:
    short, long = cli(*words), cli(*same)
    assert short.code == 0
    assert short.err == ""
    assert short.out == long.out
    assert len(short.out) > 10


@pytest.mark.parametrize("words", [(), ("campaign",)], ids=str)
def test_a_bare_call_shows_the_help_on_stderr_and_exits_2_as_uv_does(
    words: tuple[str, ...], cli: Cli
) -> None:
    bare = cli(*words)
    assert bare.code == 2
    assert bare.out == ""
    assert bare.err == cli(*words, "--help").out


@pytest.mark.parametrize(
    ("words", "message"),
    [(("help", "rum"), 'did you mean "run"?'), (("help", "run", "x"), "run has no verb"),
     (("explain", "S14x"), 'there is no key "S14x"')],
    ids=str,
)  # fmt: skip
def test_what_no_help_exists_for_is_a_usage_error(
    words: tuple[str, ...], message: str, cli: Cli
) -> None:
    refused = cli(*words)
    assert refused.code == 2
    assert message in refused.err


def test_short_options_are_the_long_ones(single: Path, sweep: Path, cli: Cli) -> None:
    folder = single.parent
    short = cli("run", single, "-o", folder / "a", "-s", "access.ues=2", "-j", 1, "--json")
    long = cli(
        "run", single, "--out", folder / "b", "--set", "access.ues=2", "--threads", 1, "--json"
    )
    assert short.json["digest"] == long.json["digest"]
    assert short.json["flows"]["download"]["flows"] == 2
    words = ("-s", "sweep.seeds=1", "-s", "sweep.access.ues=[1]", "-j", 2, "--no-report")
    made = cli("campaign", "run", sweep, "-o", folder / "c", *words)
    assert made.code == 0, made.err
    page = cli("report", folder / "c", "-o", folder / "page.html")
    assert page.code == 0, page.err
    assert (folder / "page.html").is_file()


def test_no_letter_has_two_meanings() -> None:
    import click

    def verbs(command: click.Command) -> list[click.Command]:
        if not isinstance(command, click.Group):
            return [command]
        context = click.Context(command)
        names = command.list_commands(context)
        inner = [command.get_command(context, name) for name in names]
        return [command, *(one for found in inner if found for one in verbs(found))]

    meanings: dict[str, set[str]] = {}
    for verb in verbs(app.app):
        for option in verb.params:
            long = next((name for name in option.opts if name.startswith("--")), "")
            for letter in (name for name in option.opts if len(name) == 2):
                meanings.setdefault(letter, set()).add(long)
    meanings["-j"] -= {"--threads"}
    assert {letter: len(found) for letter, found in meanings.items()} == dict.fromkeys(
        ["-V", "-q", "-v", "-o", "-s", "-j"], 1
    )


@pytest.mark.parametrize("place", ["before", "after"])
def test_quiet_leaves_errors_and_answers(place: str, single: Path, cli: Cli) -> None:
    def words(*rest: object) -> list[object]:
        return ["-q", *rest] if place == "before" else [*rest, "--quiet"]

    loud = cli("run", single, "-o", single.parent / "a")
    quiet = cli(*words("run", single, "-o", single.parent / "a"))
    assert loud.err != ""
    assert quiet.err == ""
    assert quiet.out == loud.out
    refused = cli(*words("check", single, "-s", "access.uez=1"))
    assert refused.code == 2
    assert "error[" in refused.err
    # The next command line is not quiet.
    assert cli("run", single, "-o", single.parent / "a").err != ""


def test_progress_is_shown_at_once_if_verbose_and_never_if_quiet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_s = 0.0
    monkeypatch.setattr("backlane.cli.output.time.monotonic", lambda: at_s)
    shown = {}
    for name in ("quiet", "verbose", "debug"):
        output.prepare([])
        setattr(output.state, name, True)
        at_s = 0.0
        with output.progress("work", 10, "runs") as bar:
            for step in range(13):
                at_s = float(step)
                bar.update(step)
        shown[name] = capsys.readouterr().err.splitlines()
    output.prepare([])
    assert shown["quiet"] == []
    assert len(shown["verbose"]) == 12
    # More steps than were announced raise their number, and leave no negative time.
    assert shown["verbose"][-1] == "work: 12 of 12 runs, about 0 s left"
    assert len(shown["debug"]) == 1


@pytest.mark.parametrize(
    ("environment", "words", "is_colored"),
    [
        ({}, (), False),
        ({"FORCE_COLOR": "1"}, (), True),
        ({"FORCE_COLOR": "0"}, (), False),
        ({"FORCE_COLOR": ""}, (), False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, (), False),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), False),
        ({"NO_COLOR": "1"}, ("--color", "always"), True),
        ({"CLICOLOR_FORCE": "1"}, (), True),
        ({"CLICOLOR_FORCE": "0"}, (), False),
        ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, (), False),
        ({"CLICOLOR_FORCE": "1", "CLICOLOR": "0"}, (), True),
        ({"CLICOLOR": "1"}, (), False),
    ],
    ids=str,
)
def test_colours_follow_the_environment_unless_an_option_says_otherwise(
    environment: dict[str, str],
    words: tuple[str, ...],
    is_colored: bool,
    single: Path,
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    refused = cli("check", single.parent / "nothing.toml", *words)
    assert ("\x1b[1;31merror" in refused.err) == is_colored
    table = cli("run", single, "-o", single.parent / "r", *words)
    assert ("\x1b[" in table.out) == is_colored


@pytest.mark.parametrize(
    ("environment", "is_colored"),
    [({}, True), ({"CLICOLOR": "1"}, True), ({"CLICOLOR": "0"}, False), ({"NO_COLOR": "1"}, False)],
    ids=str,
)
def test_a_terminal_has_colours_unless_the_environment_says_otherwise(
    environment: dict[str, str], is_colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    for name in ("FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    output.prepare([])
    assert output.colored(Terminal()) == is_colored


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_of_completions_calls_the_program(shell: str, cli: Cli) -> None:
    made = cli("completions", shell)
    if get_completion_class(shell) is None:  # an older click has no PowerShell
        assert made.code == 2
        assert "pip install -U click" in made.err
        return
    assert made.code == 0, made.err
    assert "_BACKLANE_COMPLETE" in made.out
    assert f"{shell}_complete" in made.out


def completed(*words: str, **more: Any) -> list[str]:
    """What bash would offer for the last word."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'backlane'; import backlane.cli as c;"
         "c.main()"],
        capture_output=True, text=True, check=False,
        env=os.environ | {"_BACKLANE_COMPLETE": "bash_complete",
             "COMP_WORDS": " ".join(["backlane", *words]), "COMP_CWORD": str(len(words))},
        **more,
    )  # fmt: skip
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_verbs_and_options_complete() -> None:
    assert completed("ca") == ["campaign"]
    assert completed("campaign", "m") == ["merge"]
    assert {"--seed", "--set"} <= set(completed("run", "--se"))
    assert completed("completions", "f") == ["fish"]
    assert completed("init", "wifi") == ["wifi", "wifi-mesh"]
    assert completed("explain", "s01") == [f"S01{digit}" for digit in range(10)]


def test_a_dry_run_states_cpu_time_and_disk(single: Path, sweep: Path, cli: Cli) -> None:
    folder = single.parent / "none"
    for words in (
        ("run", single, "-o", folder, "--dry-run"),
        ("campaign", "run", sweep, "-o", folder, "--dry-run"),
        ("plan", sweep, "-o", folder),
    ):
        said = cli(*words)
        assert said.code == 0, said.err
        assert "of CPU time" in said.out + said.err
        assert "on disk" in said.out + said.err
        found = cli(*words, "--json").json
        assert found["cpu_s"] > 0
        assert found["disk_bytes"] > 0
        assert found["memory_bytes"] > 0
        assert not folder.exists()
    # The plan and the dry run of a campaign agree.
    plan = cli("plan", sweep, "-o", folder, "--json").json
    dry = cli("campaign", "run", sweep, "-o", folder, "--dry-run", "--json").json
    same = ("cpu_s", "disk_bytes", "to_do", "workers", "memory_bytes")
    assert {key: plan[key] for key in same} == {key: dry[key] for key in same}


@pytest.mark.parametrize("template", ["chain", "lte", "multipath", "trace", "slotted"])
def test_the_count_of_figures_is_that_of_the_report(
    template: str, tmp_path: Path, cli: Cli
) -> None:
    from backlane import report

    class Progress:
        steps: ClassVar[list[float]] = []

        def update(self, done: float, message: str) -> None:
            self.steps.append(done)

        def say(self, text: str) -> None:
            raise AssertionError(text)

    file, folder = tmp_path / "own.toml", tmp_path / "r"
    assert cli("init", template, file).code == 0
    words: tuple[object, ...]
    if "[sweep]" in file.read_text():
        words = ("campaign", "run", file, "-o", folder, "-s", "sweep.seeds=1", "--no-report")
    else:
        words = ("run", file, "-o", folder)
    made = cli(*words)
    assert made.code == 0, made.err
    count = report.figure_count([folder])
    report.write([folder], None, Progress())
    assert len(list((folder / "figures").glob("*.svg"))) == count
    assert Progress.steps[-1] == count


def test_json_is_complete_without_a_note(single: Path, cli: Cli) -> None:
    made = cli("-q", "check", single, "--json")
    assert json.loads(made.out)["name"] == "small"
    assert BASE.startswith('name = "small"')


def test_a_reader_that_closes_the_pipe_ends_a_table_quietly(tmp_path: Path) -> None:
    """`backlane optimum FILE | head -1`: rich would end with code 1."""
    file = tmp_path / "chain.toml"
    file.write_text(BASE)
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "backlane", "optimum", str(file)]
    try:
        done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)
    assert done.returncode == 0
    assert "error" not in done.stderr
