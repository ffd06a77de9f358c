"""Finished runs, addressed by their run id.

``DIR/store/<run_id>/`` appears by one rename when the run is complete, so there is no partial run.
The id is a hash of resolved scenario, seed and model version: a stored run is never executed again,
and cannot be counted twice. Its record (`backlane.campaign.record`) has a checksum of every file; a
damaged run is removed and executed again.
"""

from __future__ import annotations

import secrets
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from backlane import files
from backlane.campaign import record
from backlane.campaign.record import DamagedError
from backlane.errors import BacklaneError, write_error
from backlane.files import (
    TEMPORARY_PREFIX,
    make_folder,
    read_json,
    remove,
    sync_file,
    sync_folder,
    write_json,
)
from backlane.run_files import RunFiles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backlane._native import RunResult
    from backlane.campaign.plan import Run
    from backlane.campaign.record import Record


class Draft:
    """The folder of a run that is not complete yet."""

    def __init__(self, folder: Path, run: Run) -> None:
        self._folder = folder
        self._run = run
        self.files = RunFiles(folder)
        self.complete = False

    def finish(self, result: RunResult) -> None:
        """Write tables and record; the run is then complete."""
        self.files.write_tables(result)
        record.write(self._folder, self._run, result.summary)
        for path in self._folder.iterdir():
            sync_file(path)
        sync_folder(self._folder)
        self.complete = True


class Store:
    """The finished and the failed runs of a campaign folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "store"
        self.failures = folder / "failed"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock this folder; remove the leftovers of killed processes.

        Raises:
            BacklaneError: R005 when another process works here.
        """
        make_folder(self.runs)
        with files.locked(self.folder):
            for name in (".", "store", "failed", "cells", "figures"):
                files.sweep(self.folder / name)
            yield

    @property
    def in_use(self) -> bool:
        """Whether a process holds the lock at this moment."""
        return files.is_locked(self.folder)

    def __contains__(self, run_id: str) -> bool:
        """Whether there is a run of this name; `verify` checks that it is undamaged."""
        return (self.runs / run_id / record.NAME).is_file()

    @contextmanager
    def draft(self, run: Run) -> Iterator[Draft]:
        """A place for the results of a run, which becomes its folder once they are complete.

        Raises:
            BacklaneError: R001, R002 or R017; the run is then not in the store.
        """
        temporary = self.runs / f"{TEMPORARY_PREFIX}{run.run_id}-{secrets.token_hex(4)}"
        try:
            temporary.mkdir()
            draft = Draft(temporary, run)
            yield draft
            if draft.complete:
                self._publish(temporary, run.run_id)
                with suppress(OSError):
                    (self.failures / f"{run.run_id}.json").unlink(missing_ok=True)
        except OSError as error:
            raise write_error(error, self.runs / run.run_id) from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def _publish(self, temporary: Path, run_id: str) -> None:
        """Give a complete folder its final name; anything else of that name is removed."""
        final = self.runs / run_id
        if run_id not in self:
            remove(final)
            temporary.rename(final)
            sync_folder(self.runs)

    def adopt(self, source: Store, run_id: str) -> bool:
        """Copy a run from another store; False when it was here already.

        Raises:
            BacklaneError: R010 when the run in `source` is damaged, R016 when both have it with
                different digests.
        """
        try:
            theirs = source.verify(run_id)
        except DamagedError as error:
            raise BacklaneError(
                "R010", f"damaged: {error}", source.runs / run_id,
                "remove it, and run that part of the campaign again",
            ) from error  # fmt: skip
        if run_id in self:
            try:
                ours = self.verify(run_id)
            except DamagedError:
                self.discard(run_id)
            else:
                if ours.digest == theirs.digest:
                    return False
                raise BacklaneError(
                    "R016",
                    f"run {run_id} has another digest here than in {self.folder}",
                    source.runs / run_id,
                    "remove the folder that is wrong and run it again",
                )
        temporary = self.runs / f"{TEMPORARY_PREFIX}{run_id}-{secrets.token_hex(4)}"
        try:
            shutil.copytree(source.runs / run_id, temporary)
            for path in temporary.iterdir():
                sync_file(path)
            sync_folder(temporary)
            self._publish(temporary, run_id)
        except OSError as error:
            raise write_error(error, self.runs / run_id) from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return True

    def verify(self, run_id: str) -> Record:
        """The record of a run, after every file of it was compared.

        Raises:
            DamagedError: when the run was changed.
        """
        return record.verify(self.runs / run_id)

    def discard(self, run_id: str) -> None:
        """Remove a run, or anything else of its name.

        Raises:
            BacklaneError: R001 or R017.
        """
        remove(self.runs / run_id)

    def fail(self, run: Run, code: str, message: str) -> None:
        """Record that a run failed; it is tried again on the next start."""
        make_folder(self.failures)
        write_json(
            self.failures / f"{run.run_id}.json",
            {"run_id": run.run_id, "seed": run.seed, "code": code, "message": message},
        )

    def failure(self, run: Run) -> dict[str, Any] | None:
        """Why a run failed, or None."""
        path = self.failures / f"{run.run_id}.json"
        if run.run_id in self or not path.is_file():
            return None
        try:
            value = read_json(path)
        except BacklaneError as error:
            value = {"code": error.code, "message": error.message}
        return {
            "run_id": run.run_id,
            "seed": run.seed,
            "code": str(value.get("code")),
            "message": str(value.get("message")),
        }

    def record(self, run_id: str) -> Record:
        """The record of a finished run.

        Raises:
            BacklaneError: R010 when it is damaged.
        """
        try:
            return record.read(self.runs / run_id)
        except DamagedError as error:
            raise BacklaneError(
                "R010", f"damaged: {error}", self.runs / run_id, "remove it and run again"
            ) from error

    def files(self, run_id: str) -> RunFiles:
        """The files of a finished run."""
        return RunFiles(self.runs / run_id)
