"""A results folder: its contents, and the replacement of old results by new ones.

New results are written to a staging folder inside the results folder. Only when they are complete
does `publish` remove the earlier results and move the new files into place. The manifest is removed
first and written last: a folder without it holds no results. Files that
Backlane did not write are never touched.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backlane import tables
from backlane.errors import BacklaneError, write_error
from backlane.files import (
    TEMPORARY_PREFIX,
    checksum,
    make_folder,
    read_json,
    remove,
    sync_file,
    sync_folder,
    write_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FORMAT = 2
"""Version of the layout of results folders and of stored runs."""
MANIFEST = "manifest.json"
CAMPAIGN = "campaign.json"
"""The plan of a campaign."""
RESOLVED = "scenario.resolved.toml"
"""The scenario of a single run, every default filled in."""

_RESULTS = (RESOLVED, "series/*.parquet", "capture/*.pcapng", "capture/*/*.pcapng")
_DRAWN = ("report.html", *(f"figures/*.{kind}" for kind in ("png", "svg", "pdf", "csv")))
_DECIDES = ("kind", "scenario_hash", "model_version", "digest", "runs_finished", "cells")
"""Entries of a manifest that determine the report of the results."""


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """A folder for incomplete results, which is removed at the end, also after an error."""
    path = folder / f"{TEMPORARY_PREFIX}{secrets.token_hex(6)}"
    make_folder(path)
    try:
        yield path
    finally:
        remove(path)


def publish(folder: Path, staged: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    """Replace the results in `folder` by complete new ones.

    Args:
        folder: the results folder.
        staged: holds the new files under the names that they get.
        manifest: of the new results.

    Returns:
        The manifest with size and SHA-256 of every file.

    Raises:
        BacklaneError: R001, R002 or R017.
    """
    files = sorted(path for path in staged.rglob("*") if path.is_file())
    names = [path.relative_to(staged).as_posix() for path in files]
    try:
        sums = {
            name: {"bytes": path.stat().st_size, "sha256": checksum(path)}
            for name, path in zip(names, files, strict=True)
        }
        manifest = manifest | {"files": sums}
        unpublish(folder, keep_drawn=_draws_the_same(folder, manifest))
        for name, path in zip(names, files, strict=True):
            target = folder / name
            make_folder(target.parent)
            sync_file(path)
            if target.is_dir():
                remove(target)
            path.replace(target)
            sync_folder(target.parent)
    except OSError as error:
        raise write_error(error, folder) from error
    write_json(folder / MANIFEST, manifest)
    return manifest


def unpublish(folder: Path, keep_drawn: bool = False) -> None:
    """Remove the results in a folder, the manifest first.

    Raises:
        BacklaneError: R001 or R017.
    """
    remove(folder / MANIFEST)
    patterns = [*(f"{name}.parquet" for name in tables.names()), *_RESULTS]
    for pattern in patterns if keep_drawn else (*patterns, *_DRAWN):
        for path in folder.glob(pattern):
            remove(path)
    for name in ("series", "capture", "console", "figures"):
        below = folder / name
        for inner in (*below.glob("*/"), below) if below.is_dir() else ():
            if inner.is_dir() and not any(inner.iterdir()):
                remove(inner)


def _draws_the_same(folder: Path, manifest: Mapping[str, Any]) -> bool:
    """Whether the reports of the old and the new results are equal."""
    try:
        old = read_json(folder / MANIFEST)
    except BacklaneError:
        return False
    return all(old.get(key) == manifest.get(key) for key in _DECIDES)


def require_format(value: dict[str, Any], path: Path) -> None:
    """Refuse a plan or a manifest that a newer version wrote.

    Raises:
        BacklaneError: R027.
    """
    found = value.get("format", 1)
    if not isinstance(found, int) or found > FORMAT:
        raise BacklaneError(
            "R027",
            f"the folder has format {found!r:.20}, this version reads up to {FORMAT}",
            path,
            "use the version of Backlane that wrote it, or another folder with --out DIR",
        )
