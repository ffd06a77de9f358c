"""Unwritable folders and full disks: a coded error, and nothing half-written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Cli, finish, start

import backlane
from backlane.campaign.store import Store
from backlane.errors import BacklaneError
from backlane.files import TEMPORARY_PREFIX, replacing, write_text


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)],
            check=False,
            capture_output=True,
        ).returncode
    )
    if not mounted:
        pytest.skip("a small file system can only be mounted by root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_file_where_a_folder_is_needed_is_told(single: Path, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "file").write_text("")
    for words in (["run"], ["campaign", "run"]):
        result = cli(*words, single, "--out", tmp_path / "file" / "r")
        assert result.code == 2
        assert "R001" in result.err
        assert str(tmp_path / "file") in result.err


def test_a_read_only_folder_is_told_before_the_run(single: Path, tmp_path: Path, cli: Cli) -> None:
    if os.geteuid() == 0:
        folder = Path("/proc/backlane-results")
    else:
        tmp_path.chmod(0o500)
        folder = tmp_path / "r"
    result = cli("run", single, "--out", folder)
    assert result.code == 2
    assert "R001" in result.err or "R017" in result.err


def test_a_full_disk_is_called_a_full_disk(
    sweep: Path, single: Path, small_disk: Path, cli: Cli
) -> None:
    (small_disk / "ballast").write_bytes(b"x" * 200_000)
    result = cli("campaign", "run", sweep, "--out", small_disk / "r", "--no-report")
    assert result.code == 2
    assert "R002" in result.err, result.err
    store = Store(small_disk / "r")
    plan = backlane.plan(sweep)
    kept = [run.run_id for run in plan.runs if run.run_id in store]
    for run_id in kept:
        for name in ("flows", "links", "nodes"):
            table = store.files(run_id).table(name)
            assert table is not None
            assert table.height > 0
    assert not list(small_disk.rglob(f"{TEMPORARY_PREFIX}*"))
    assert not (small_disk / "r" / "manifest.json").exists()
    (small_disk / "ballast").unlink()
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    again = cli("campaign", "run", sweep, "--out", small_disk / "r", "--no-report", "--json")
    assert again.code == 0, again.err
    assert again.json["reused"] == len(kept)


def test_a_full_disk_in_a_single_run(single: Path, small_disk: Path, cli: Cli) -> None:
    (small_disk / "ballast").write_bytes(b"x" * 250_000)
    result = cli("run", single, "--out", small_disk / "r")
    assert result.code == 2
    assert "R002" in result.err
    assert not (small_disk / "r" / "manifest.json").exists()


def test_standard_output_on_a_full_disk_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        result = finish(start("schema", stdout=full))
    assert result.code == 2
    assert "R002" in result.err


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(BacklaneError, match="disk full"), replacing(path) as temporary:
        temporary.write_text("half of the ne")
        raise OSError(28, "No space left on device")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
