"""The wheel that is compiled with a profile: its check, and what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from validation import wheel


def test_a_run_with_another_digest_or_missing_is_a_difference() -> None:
    plain = {"grid 0 1": "7 100", "cell 0 1": "8 200"}
    assert wheel.differences(plain, dict(plain)) == []
    assert wheel.differences(plain, plain | {"cell 0 1": "9 200"}) == ["cell 0 1"]
    assert wheel.differences(plain, {"grid 0 1": "7 100"}) == ["cell 0 1"]


def test_without_a_tool_that_fits_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLVM_PROFDATA", str(tmp_path / "llvm-profdata"))
    with pytest.raises(SystemExit, match=r"not found\n.*rustup component add llvm-tools"):
        wheel.merge(tmp_path, tmp_path / "merged.profdata")


def test_the_scenes_are_files_of_the_repository() -> None:
    for name, _ in wheel.EXAMPLES:
        assert (wheel.ROOT / "examples" / name).is_file(), name
