"""Untrusted Python: when it is executed, and what it cannot do to the program."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import Cli, finish, start
from test_custom_congestion_control import LINK, own, write

import backlane
from backlane import classes
from backlane.errors import BacklaneError

TOUCHES = "open({path!r}, 'w').close()\n"


def embedded(source: str) -> str:
    """The scenario with the text of its control in it."""
    return f'{LINK}\n[[python]]\nfile = "own.py"\nsource = """\n{source}"""\n'


def sweep(scenario: str) -> str:
    return f"{scenario}\n[sweep]\nseeds = 2\n"


@pytest.mark.parametrize("words", [["check"], ["campaign", "run", "--dry-run"]], ids=" ".join)
@pytest.mark.parametrize("is_embedded", [False, True], ids=["beside", "embedded"])
def test_a_check_and_a_plan_execute_nothing(
    words: list[str], is_embedded: bool, tmp_path: Path, cli: Cli
) -> None:
    touched = tmp_path / "touched"
    source = TOUCHES.format(path=str(touched)) + own()
    path = write(tmp_path, source, embedded(source) if is_embedded else LINK)
    done = cli(*words, path)
    assert done.code == 0, done.err
    backlane.plan(path)
    assert not touched.exists()
    assert backlane.run(path, allow_python=True).flows.height == 1
    assert touched.exists(), "and a run executes it"


@pytest.mark.parametrize("verb", [["run"], ["campaign", "run", "--no-report"]], ids=" ".join)
def test_python_that_the_scenario_brings_is_executed_with_consent_only(
    verb: list[str], tmp_path: Path, cli: Cli
) -> None:
    touched = tmp_path / "touched"
    source = TOUCHES.format(path=str(touched)) + own()
    path = write(tmp_path, source, embedded(source))
    refused = cli(*verb, path, "--out", tmp_path / "out")
    assert refused.code == 2
    assert "error[R025]: the Python of own.py stands in the scenario itself" in refused.err
    assert f"--> {path}" in refused.err
    assert not touched.exists()
    done = cli(*verb, path, "--out", tmp_path / "out", "--allow-python")
    assert done.code == 0, done.err
    assert f"executing the Python of own.py, as {path} brings it, (class Own)" in done.err
    assert touched.exists()


@pytest.mark.parametrize("by", ["path", "link"])
def test_python_outside_of_the_folder_of_the_scenario_is_executed_with_consent_only(
    by: str, tmp_path: Path, cli: Cli
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "far.py").write_text(own())
    if by == "link":
        (inner / "far.py").symlink_to(tmp_path / "far.py")
    file = "far.py" if by == "link" else "../far.py"
    path = write(inner, "", LINK.replace("own.py", file))
    assert cli("check", path).code == 0
    refused = cli("run", path, "--out", tmp_path / "out")
    assert refused.code == 2
    assert "error[R025]" in refused.err
    assert "lies outside of the folder of the scenario" in refused.err
    with pytest.raises(BacklaneError, match="without your consent"):
        backlane.run(path)
    done = cli("run", path, "--out", tmp_path / "out", "--allow-python")
    assert done.code == 0, done.err
    assert f"executing the Python of {inner / file} (class Own)" in done.err


def test_what_is_about_to_be_executed_is_said_before(tmp_path: Path, cli: Cli) -> None:
    other = '\n[[flow]]\nkind = "transfer"\nfrom = "a"\nto = "b"\nsize = "10 kB"\n'
    other += 'congestion_control = "python:sub/two.py:Own"\n'
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "two.py").write_text("raise ValueError('stop')\nclass Own: pass\n" + own())
    path = write(tmp_path, own(), LINK + other)
    done = cli("run", path, "--out", tmp_path / "out")
    assert done.code == 2
    lines = done.err.splitlines()
    assert lines[:2] == [
        f"executing the Python of {tmp_path / 'own.py'} (class Own)",
        f"executing the Python of {tmp_path / 'sub/two.py'} (class Own)",
    ]
    assert "error[R020]: the file cannot be loaded: ValueError: stop" in lines[2]
    assert lines[3] == f"  --> {tmp_path / 'sub/two.py'}:1"


def test_a_finished_campaign_executes_nothing_again(tmp_path: Path, cli: Cli) -> None:
    path = write(tmp_path, "", sweep(embedded(own())))
    words = ("campaign", "run", path, "--out", tmp_path / "out", "--no-report")
    assert cli(*words, "--allow-python").code == 0
    again = cli(*words)
    assert again.code == 0
    assert "executing" not in again.err


ENDS = {
    "exit": "import sys\nsys.exit()",
    "exit 0": "raise SystemExit(0)",
    "generator": "raise GeneratorExit",
    "own": "class Odd(BaseException): pass\nraise Odd('odd')",
    "no text": (
        "class Mute(BaseException):\n    def __str__(self): raise SystemExit\n\nraise Mute"
    ),
    "click": "import click\nraise click.exceptions.Exit(0)",
    "end of file": "raise EOFError",
    "pipe": "raise BrokenPipeError",
    "memory": "raise MemoryError",
}


@pytest.mark.parametrize("verb", [["run"], ["campaign", "run"]], ids=" ".join)
@pytest.mark.parametrize("ends", ENDS)
def test_a_file_that_would_end_the_program_is_refused(
    ends: str, verb: list[str], tmp_path: Path, cli: Cli
) -> None:
    path = write(tmp_path, ENDS[ends] + "\n" + own())
    assert cli("check", path).code == 0, "only execution can tell"
    refused = cli(*verb, path, "--out", tmp_path / "out")
    assert refused.code == 2
    assert "error[R020]: the file cannot be loaded" in refused.err
    assert f"--> {tmp_path / 'own.py'}:" in refused.err
    assert "Traceback" not in refused.err


@pytest.mark.parametrize("where", ["init", "descriptor", "metaclass"])
def test_an_object_that_would_end_the_program_when_it_is_made_is_refused(
    where: str, tmp_path: Path, cli: Cli
) -> None:
    source = own(more="def __init__(self, seed):\n    raise SystemExit(0)")
    if where != "init":
        ending = "    def __get__(self, *_):\n        raise SystemExit(0)\n"
        source = f"class Ending:\n{ending}\n" + own(more="owns_window = Ending()")
    if where == "metaclass":
        source = source.replace("class Own(CongestionControl)", "class Own(CongestionControl, M())")
        source = "class M:\n    def __mro_entries__(self, bases):\n        return ()\n" + source
    refused = cli("run", write(tmp_path, source), "--out", tmp_path / "out")
    assert refused.code == 2
    assert "error[R020]" in refused.err
    assert "SystemExit: 0" in refused.err


@pytest.mark.parametrize("ends", ENDS)
def test_a_hook_that_would_end_the_program_ends_its_run(
    ends: str, tmp_path: Path, cli: Cli
) -> None:
    lines = ("\n        ").join(line for line in ENDS[ends].splitlines())
    failed = cli("run", write(tmp_path, own(lines)), "--out", tmp_path / "out")
    assert failed.code == 1
    error = failed.err[failed.err.index("error[") :].splitlines()
    assert error[0].startswith("error[R103]: the congestion control")
    assert error[0].endswith("s of simulated time")
    assert error[1].startswith("  --> own.py:")
    assert error[-1].startswith("   = mend the hook")


@pytest.mark.parametrize(
    "deep", ["a" + ".a" * 100_000, "-" * 100_000 + "1", "(" * 1000 + ")" * 1000, "[" * 50_000]
)
def test_an_expression_that_is_too_deep_is_refused_by_the_check(
    deep: str, tmp_path: Path, cli: Cli
) -> None:
    refused = cli("check", write(tmp_path, f"{own()}\nx = {deep}\n"))
    assert refused.code == 2
    assert "error[R020]" in refused.err
    assert len(refused.err) < 5000


def test_a_text_of_megabytes_that_an_error_brings_is_cut(tmp_path: Path, cli: Cli) -> None:
    for length in ("'x' * 10_000_000", r"'line\n' * 1_000_000"):
        path = write(tmp_path, own(f"raise ValueError('first ' + {length} + ' last')"), sweep(LINK))
        failed = cli("campaign", "run", path, "--out", tmp_path / "out", "--no-report", "--json")
        assert failed.code == 1
        for text in (failed.err, failed.out):
            assert len(text) < 20_000
            assert "ValueError: first" in text
            assert " last" in text
            assert "left out" in text
        stored = sum(file.stat().st_size for file in (tmp_path / "out").rglob("*.json"))
        assert stored < 100_000
    refused = cli("run", write(tmp_path, "raise ValueError('x' * 10_000_000)\n" + own()))
    assert refused.code == 2
    assert len(refused.err) < 5000


def in_hook(source: str, folder: Path) -> tuple[threading.Thread, list[BaseException]]:
    """A run in a separate thread that has reached its first hook."""
    begun = folder / "begun"
    path = write(folder, own(f"open({str(begun)!r}, 'w').close()\n        {source}"))
    ended: list[BaseException] = []

    def work() -> None:
        try:
            backlane.run(path)
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while not begun.exists() and thread.is_alive():
        time.sleep(0.01)
    return thread, ended


@pytest.mark.parametrize(
    "loop",
    ["while True: pass", "while True:\n            try: 1 / 0\n            except Exception: pass"],
    ids=["plain", "catching"],
)
def test_a_hook_that_loops_for_ever_can_be_interrupted(loop: str, tmp_path: Path) -> None:
    thread, ended = in_hook(loop, tmp_path)
    assert thread.ident is not None
    # The first one may come before the loop.
    while thread.is_alive():
        classes.interrupt(thread.ident)
        thread.join(0.1)
    assert [type(error) for error in ended] == [classes.Interrupted]
    assert isinstance(ended[0], KeyboardInterrupt)


def test_a_thread_outside_of_hooks_is_left_alone() -> None:
    ready, leave = threading.Event(), threading.Event()

    def wait() -> None:
        ready.set()
        leave.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    ready.wait()
    assert thread.ident is not None
    assert not classes.interrupt(thread.ident)
    assert not classes.interrupt(ctypes.c_ulong(-1).value), "there is no such thread"
    leave.set()
    thread.join()


@pytest.mark.parametrize(
    "loop", ["while True: pass", "import time; time.sleep(1000)"], ids=["loops", "sleeps"]
)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_campaign_whose_hooks_do_not_end(
    loop: str, number: signal.Signals, code: int, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    source = own(f"open({str(begun)!r}, 'w').close()\n        {loop}")
    path = write(tmp_path, source, sweep(LINK))
    process = start("campaign", "run", path, "--out", tmp_path / "r")
    while not begun.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    done = finish(process)
    assert done.code == code, done.err
    assert "Traceback" not in done.err


STUCK = """
import sys, threading, time
import backlane, backlane.cli

def work():
    backlane.run(sys.argv[1])

threading.Thread(target=work, daemon=True).start()
while not __import__("pathlib").Path(sys.argv[2]).exists():
    time.sleep(0.01)
backlane.cli.main(["explain", "R103"])
"""


@pytest.mark.parametrize("stuck", ["while True: pass", "import time; time.sleep(1000)"])
def test_a_hook_that_nothing_ends_does_not_hold_or_abort_the_program(
    stuck: str, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    path = write(tmp_path, own(f"open({str(begun)!r}, 'w').close()\n        {stuck}"))
    words = [sys.executable, "-c", STUCK, str(path), str(begun)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("R103: ")


def test_an_exit_that_nobody_asked_for_is_a_defect(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(*_: object) -> None:
        raise SystemExit(0)

    monkeypatch.setattr(backlane, "check", leave)
    done = cli("check", "--debug", write(tmp_path, own()))
    assert done.code == 101
    assert "internal error: SystemExit: 0" in done.err


def test_completion_by_the_shell_still_works() -> None:
    done = finish(start(env={"_BACKLANE_COMPLETE": "bash_source"}))
    assert done.code == 0
    assert "_backlane_completion" in done.out
