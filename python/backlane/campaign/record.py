"""The record of a stored run: the run, the build, and a checksum of every file.

``run.json`` names the run, the seed, the build that executed it, and size and SHA-256 of each file
beside it; its last entry, the seal, is a SHA-256 over all of this. A run counts as stored only if
all of it matches.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from backlane import __version__, native
from backlane.errors import BacklaneError
from backlane.files import checksum, read_json
from backlane.folder import FORMAT

if TYPE_CHECKING:
    from pathlib import Path

    from backlane.campaign.plan import Run

NAME = "run.json"


@dataclass(frozen=True)
class Build:
    """The build that executed a run.

    Attributes:
        version: of the package.
        commit: of the source tree, or "unknown".
        sources: a hash of the sources of the models.
    """

    version: str
    commit: str
    sources: str

    @classmethod
    def here(cls) -> Build:
        """The build that is installed."""
        module = native.module()
        return cls(__version__, module.commit(), module.sources())


@dataclass(frozen=True)
class Record:
    """A stored run.

    Attributes:
        run_id: the name of its folder.
        seed: of the run.
        build: that executed it.
        files: size in bytes and SHA-256 of each file, by name.
        summary: counters and digest.
    """

    run_id: str
    seed: int
    build: Build
    files: dict[str, tuple[int, str]]
    summary: dict[str, Any]

    @property
    def digest(self) -> str:
        """The digest of all events of the run."""
        return str(self.summary["digest"])


class DamagedError(ValueError):
    """A stored run was changed; the text describes how."""


def write(folder: Path, run: Run, summary: dict[str, Any]) -> None:
    """Write the record of the files that `folder` holds; it is the last file of a run."""
    files = {
        path.name: {"bytes": path.stat().st_size, "sha256": checksum(path)}
        for path in sorted(folder.iterdir())
    }
    value = {
        "format": FORMAT,
        "run_id": run.run_id,
        "seed": run.seed,
        "build": asdict(Build.here()),
        "files": files,
        "summary": summary,
    }
    (folder / NAME).write_text(json.dumps(value | {"seal": seal(value)}, indent=1))


def read(folder: Path) -> Record:
    """The record of a stored run; the seal is compared, the files are not.

    Raises:
        DamagedError: when the record is not what was written for this folder.
    """
    try:
        value = read_json(folder / NAME)
    except BacklaneError as error:
        raise DamagedError(error.message) from error
    if value.get("format") != FORMAT:
        raise DamagedError(f"written in format {value.get('format')}, this version has {FORMAT}")
    found = value.pop("seal", None)
    if found != seal(value):
        raise DamagedError(f"{NAME} was changed")
    # The seal matches, so the entries have the types that `write` gave them.
    record = Record(
        value["run_id"],
        value["seed"],
        Build(**value["build"]),
        {name: (entry["bytes"], entry["sha256"]) for name, entry in value["files"].items()},
        value["summary"],
    )
    if record.run_id != folder.name:
        raise DamagedError(f"it holds run {record.run_id}")
    return record


def verify(folder: Path) -> Record:
    """The record of a stored run, with every file compared.

    Raises:
        DamagedError: when a file is missing, was changed, or was added.
    """
    record = read(folder)
    present = {path.name for path in folder.iterdir()} - {NAME}
    for name in sorted(present ^ record.files.keys()):
        raise DamagedError(f"{name} is {'not of this run' if name in present else 'missing'}")
    for name, (size, sha256) in record.files.items():
        path = folder / name
        try:
            unchanged = path.stat().st_size == size and checksum(path) == sha256
        except OSError as error:
            raise DamagedError(f"{name} cannot be read: {error.strerror}") from error
        if not unchanged:
            raise DamagedError(f"{name} was changed")
    return record


def seal(value: dict[str, Any]) -> str:
    """A SHA-256 over the entries of a record."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
