"""`backlane validate`: its exit codes, with a comparison of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from backlane.cli import execute, validate
from backlane.errors import EXIT_OK, EXIT_PROBLEM, EXIT_USAGE


@pytest.mark.parametrize(("status", "code"), [(0, EXIT_OK), (1, EXIT_PROBLEM), (2, EXIT_PROBLEM)])
def test_the_exit_code_says_whether_the_comparison_held(
    status: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stub.py").write_text(f"raise SystemExit({status})\n")
    stub = validate.Comparison("stub", "A stub.", "stub.md")
    monkeypatch.setitem(validate.COMPARISONS, "linux", stub)
    monkeypatch.setattr(validate, "root", lambda: tmp_path)
    assert execute(["validate", "linux", "--check"]) == code


def test_what_another_command_compares_is_not_said_to_hold() -> None:
    assert execute(["validate", "ns3", "--only", "dumbbell"]) == EXIT_USAGE


def test_without_the_sources_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(validate, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    assert execute(["validate", "linux"]) == EXIT_USAGE
    printed = capsys.readouterr().err
    assert "R080" in printed and "= clone the repository" in printed
