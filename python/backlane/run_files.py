"""The files of one run, as they are written during the run and kept in the store of a campaign.

A table is ``<table>.parquet``, without the column `run_id`. A series is a file for each batch of
rows, ``series-<probe>-<number>.parquet``, a capture one file that grows, ``capture-<node>.pcapng``.
`collect` joins the files of runs into a results folder.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backlane import tables
from backlane.files import copy, make_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from backlane._native import RunResult, Table

_PART = re.compile(r"series-(?P<probe>.+)-\d{6}\.parquet")


class RunFiles:
    """The files of one run in a folder.

    It is the sink of a run: series and captures are written as they arrive.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._parts: dict[str, int] = {}

    def series(self, probe: str, table: Table) -> None:
        """Write the next samples of a probe."""
        part = self._parts.get(probe, 0)
        self._parts[probe] = part + 1
        path = self.folder / f"series-{probe}-{part:06}.parquet"
        tables.write_plain(path, tables.frame(table))

    def capture(self, node: str, data: bytes) -> None:
        """Write the next bytes of the capture of a node."""
        with (self.folder / f"capture-{node}.pcapng").open("ab") as file:
            file.write(data)

    def write_tables(self, result: RunResult) -> None:
        """Write the tables of the finished run."""
        for name, table in result.tables.items():
            tables.write_plain(self.folder / f"{name}.parquet", tables.frame(table))

    def table(self, name: str) -> pl.DataFrame | None:
        """A table, or None if the run has none of this name.

        Raises:
            BacklaneError: R008 when a table that every run has is missing, R010 when one is
                damaged.
        """
        path = self.folder / f"{name}.parquet"
        if name not in tables.ALWAYS and not path.is_file():
            return None
        return tables.read(path)

    def parts(self) -> dict[str, list[Path]]:
        """The files of each probe, in order."""
        found: dict[str, list[Path]] = {}
        for path in sorted(self.folder.glob("series-*.parquet")):
            if match := _PART.fullmatch(path.name):
                found.setdefault(match["probe"], []).append(path)
        return found

    def captures(self) -> dict[str, Path]:
        """The captures by the node's name."""
        found = sorted(self.folder.glob("capture-*.pcapng"))
        return {path.stem.removeprefix("capture-"): path for path in found}


def collect(
    staged: Path, run_ids: Sequence[str], files_of: Callable[[str], RunFiles], of_one_run: bool
) -> None:
    """Write the tables, series and captures of a results folder; `runs.parquet` is not among them.

    Args:
        staged: where the files are written.
        run_ids: the runs, in their order.
        files_of: the files of a run; of many runs they are not held together.
        of_one_run: captures move to ``capture/`` then, else they are copied to
            ``capture/<run id>/``.

    Raises:
        BacklaneError: R001, R002, R008, R010 or R017.
    """
    for name in tables.names()[1:]:
        joined = tables.Growing(staged / f"{name}.parquet")
        for run_id in run_ids:
            if (table := files_of(run_id).table(name)) is not None:
                joined.add(tables.with_run_id(table, run_id))
        joined.finish()
    parts = ((run_id, files_of(run_id).parts()) for run_id in run_ids)
    _join_series(staged, {run_id: of_run for run_id, of_run in parts if of_run})
    for run_id in run_ids:
        for node, path in files_of(run_id).captures().items():
            if of_one_run:
                make_folder(staged / "capture")
                path.replace(staged / "capture" / f"{node}.pcapng")
            else:
                copy(path, staged / "capture" / run_id / f"{node}.pcapng")


def _join_series(staged: Path, runs: Mapping[str, Mapping[str, Sequence[Path]]]) -> None:
    """Join the samples of all runs, streaming: they may be larger than the memory."""
    import polars as pl

    for probe in dict.fromkeys(probe for parts in runs.values() for probe in parts):
        make_folder(staged / "series")
        scans = [
            pl.scan_parquet(path).select(pl.lit(run_id, dtype=pl.String).alias("run_id"), pl.all())
            for run_id, parts in runs.items()
            for path in parts.get(probe, ())
        ]
        tables.join(staged / "series" / f"{probe}.parquet", scans)
