"""Finished runs, addressed by their run id.

``DIR/store/<run_id>/`` appears by one rename when the run is complete, so a run is either
there or not. The id is a hash of resolved scenario, seed and model version: a run that is
there never needs to be carried out again, and cannot be counted twice.
"""

from __future__ import annotations

import fcntl
import json
import secrets
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from backlane import tables
from backlane.errors import BacklaneError, write_error
from backlane.files import (
    TEMPORARY_PREFIX,
    make_folder,
    read_json,
    sync_file,
    sync_folder,
    write_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from backlane._native import RunResult
    from backlane.campaign.plan import Run


class Store:
    """The finished and the failed runs of a campaign folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "store"
        self.failures = folder / "failed"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes off this folder; sweep what a killed one left behind.

        The lock is the kernel's (`flock`) and dies with its process, however that ends.

        Raises:
            BacklaneError: R005 when another process works here.
        """
        make_folder(self.runs)
        path = self.folder / ".lock"
        try:
            lock = path.open("a+")
        except OSError as error:
            raise write_error(error, path) from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise BacklaneError(
                    "R005",
                    "another process is running a campaign in this folder",
                    self.folder,
                    "wait for it, or use another folder with --out DIR",
                ) from error
            except OSError as error:
                raise write_error(error, path) from error
            self._sweep()
            yield

    @property
    def in_use(self) -> bool:
        """Whether a process holds the lock at this moment."""
        try:
            with (self.folder / ".lock").open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def _sweep(self) -> None:
        """Remove temporary files; only called while the lock is held."""
        for folder in (self.folder, self.runs, self.failures, self.folder / "series"):
            if not folder.is_dir():
                continue
            for leftover in folder.glob(f"{TEMPORARY_PREFIX}*"):
                if leftover.is_dir():
                    shutil.rmtree(leftover, ignore_errors=True)
                else:
                    with suppress(OSError):
                        leftover.unlink()

    def __contains__(self, run_id: str) -> bool:
        return (self.runs / run_id / "run.json").is_file()

    def add(self, run: Run, result: RunResult) -> None:
        """Keep a finished run.

        Raises:
            BacklaneError: R001, R002 or R017; the run is then not in the store.
        """
        from polars.exceptions import ComputeError

        temporary = self.runs / f"{TEMPORARY_PREFIX}{run.run_id}-{secrets.token_hex(4)}"
        try:
            temporary.mkdir()
            parts = tables.of_run(result)
            parts |= {f"series-{probe}": columns for probe, columns in result.series.items()}
            for name, columns in parts.items():
                path = temporary / f"{name}.parquet"
                tables.write_plain(path, tables.frame(columns), ComputeError)
                sync_file(path)
            for node, capture in result.captures.items():
                path = temporary / f"capture-{node}.pcapng"
                path.write_bytes(capture)
                sync_file(path)
            record = {"run_id": run.run_id, "seed": run.seed, "summary": result.summary}
            path = temporary / "run.json"
            path.write_text(json.dumps(record, indent=1))
            sync_file(path)
            sync_folder(temporary)
            self._publish(temporary, run.run_id)
            with suppress(OSError):
                (self.failures / f"{run.run_id}.json").unlink(missing_ok=True)
        except OSError as error:
            raise write_error(error, self.runs / run.run_id) from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def _publish(self, temporary: Path, run_id: str) -> None:
        """Give a complete folder its final name."""
        final = self.runs / run_id
        if final.is_dir() and run_id not in self:
            shutil.rmtree(final)
        if not final.exists():
            temporary.rename(final)
            sync_folder(self.runs)

    def adopt(self, source: Store, run_id: str) -> bool:
        """Copy a run from another store; False when it was here already.

        Raises:
            BacklaneError: R016 when both have it with different digests.
        """
        if run_id in self:
            if self.digest(run_id) != source.digest(run_id):
                raise BacklaneError(
                    "R016",
                    f"run {run_id} has another digest here than in {self.folder}",
                    source.runs / run_id,
                    "remove the folder that is wrong and run it again",
                )
            return False
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

    def fail(self, run: Run, code: str, message: str) -> None:
        """Record that a run could not be carried out; it is tried again on the next start."""
        make_folder(self.failures)
        write_json(
            self.failures / f"{run.run_id}.json",
            {"run_id": run.run_id, "seed": run.seed, "code": code, "message": message},
        )

    def failure(self, run_id: str) -> dict[str, Any] | None:
        """Why a run failed, or None."""
        path = self.failures / f"{run_id}.json"
        return read_json(path) if path.is_file() and run_id not in self else None

    def summary(self, run_id: str) -> dict[str, Any]:
        """Counters and digest of a finished run."""
        summary = read_json(self.runs / run_id / "run.json").get("summary")
        if not isinstance(summary, dict):
            raise BacklaneError(
                "R010", "damaged: no summary", self.runs / run_id, "remove it and run again"
            )
        return summary

    def digest(self, run_id: str) -> str:
        """The digest of everything that happened in a run."""
        return str(self.summary(run_id).get("digest"))

    def table(self, run_id: str, name: str) -> pl.DataFrame:
        """One table of a finished run: flows, links, nodes, radio, mcs or ``series-<probe>``."""
        return tables.read(self.runs / run_id / f"{name}.parquet")

    def has_table(self, run_id: str, name: str) -> bool:
        """Whether a finished run has a table."""
        return (self.runs / run_id / f"{name}.parquet").is_file()

    def captures(self, run_id: str) -> dict[str, Path]:
        """The captures of a finished run, by the node's name."""
        found = (self.runs / run_id).glob("capture-*.pcapng")
        return {path.stem.removeprefix("capture-"): path for path in sorted(found)}

    def series_names(self, run_id: str) -> list[str]:
        """The probes that were recorded."""
        found = (self.runs / run_id).glob("series-*.parquet")
        return sorted(path.stem.removeprefix("series-") for path in found)
