"""A results folder as tables.

A row of `runs` is a run, of `flows` a flow in a run, of `links` a link direction in a run, of
`nodes` a node in a run. ``docs/reference/tables.md`` describes all tables and columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backlane import native, tables
from backlane.errors import BacklaneError
from backlane.files import checksum, read_json
from backlane.folder import CAMPAIGN, MANIFEST, require_format

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas
    import polars as pl

    from backlane.campaign.plan import Label
    from backlane.report.figures import Drawn


@dataclass(repr=False)
class Results:
    """The tables of one run or campaign; read from disk when first used.

    Attributes:
        manifest: of the results: version, scenario, cells, seeds, files.
        folder: of the results, or None if they are in memory only.
    """

    manifest: dict[str, Any]
    folder: Path | None = None
    _tables: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False)
    _captures: dict[str, bytes] = field(default_factory=dict, repr=False)
    _compared: set[str] = field(default_factory=set, repr=False)

    @classmethod
    def open(cls, folder: Path) -> Results:
        """Open a folder.

        Raises:
            BacklaneError: R008 when there is no manifest, R010 when it is damaged.
        """
        path = folder / MANIFEST
        if not path.is_file():
            unfinished = (folder / CAMPAIGN).is_file()
            raise BacklaneError(
                "R008",
                "the campaign in this folder was stopped before its tables were written"
                if unfinished
                else "no results here (manifest.json is missing)",
                folder,
                "start `backlane campaign run` again with the same folder"
                if unfinished
                else "give a folder written by `backlane run` or `backlane campaign run`",
            )
        manifest = read_json(path)
        require_format(manifest, path)
        _require_sound(manifest, path)
        return cls(manifest, folder)

    def _require_unchanged(self, name: str) -> Path:
        """The file of a table, compared with the manifest.

        Raises:
            BacklaneError: R008 when it is missing, R010 when it was changed.
        """
        assert self.folder is not None
        path = self.folder / name
        if not path.is_file():
            raise BacklaneError(
                "R008", f"{path.name} is missing", path.parent, "run the scenario again"
            )
        known = self.manifest.get("files", {}).get(name)
        if known is not None and name not in self._compared:
            if path.stat().st_size != known["bytes"] or checksum(path) != known["sha256"]:
                raise BacklaneError(
                    "R010",
                    "damaged: it was changed after it was written",
                    path,
                    "run again; see `backlane explain R010`",
                )
            self._compared.add(name)
        return path

    @property
    def remark(self) -> str | None:
        """A warning if another model version made the results."""
        made, here = self.manifest["model_version"], native.module().model_version()
        if made == here:
            return None
        return (
            f"warning: {self.folder or self.name} was made by model version {made}, this version "
            f"has {here}\n   = run it again before you compare it with newer results"
        )

    def table(self, name: str) -> pl.DataFrame:
        """A table by its file name without ending, such as ``flows`` or ``series/cwnd``.

        Raises:
            BacklaneError: R008 when it is missing, R010 when it is damaged.
        """
        if name not in self._tables:
            if self.folder is None:
                raise BacklaneError("R008", f"{name} was not recorded", None, None)
            self._tables[name] = tables.read(self._require_unchanged(f"{name}.parquet"))
        return self._tables[name]

    def scan(self, name: str) -> pl.LazyFrame:
        """A table of which only a part is read; for series, which can be large.

        Raises:
            BacklaneError: R008 when it is missing, R010 when it is damaged.
        """
        if name in self._tables or self.folder is None:
            return self.table(name).lazy()
        import polars as pl

        return pl.scan_parquet(self._require_unchanged(f"{name}.parquet"))

    def tables(self) -> list[str]:
        """The names of all tables, for `table` and `joined`; series begin with ``series/``."""
        from backlane.tables import names

        plain = [name for name in names() if self.has(name)]
        return plain + [f"series/{probe}" for probe in self.series]

    def joined(self, name: str = "flows") -> pl.DataFrame:
        """A table with the cell, the seed and the swept values of each row's run in front.

        Cells that share a run each have its rows.

        Args:
            name: of the table, as `tables` lists them.

        Raises:
            BacklaneError: R008 when it is missing, R010 when it is damaged.
        """
        from backlane import frames

        return frames.joined(self, name)

    def to_pandas(self, name: str = "flows") -> pandas.DataFrame:
        """The same for pandas.

        Raises:
            BacklaneError: R049 when pandas is not installed; as for `joined`.
        """
        from backlane import frames

        return frames.to_pandas(self.joined(name))

    def in_memory(self) -> Results:
        """The same results without their folder."""
        if self.folder is None:
            return self
        every = {name: self.table(name) for name in self.tables()}
        return Results(self.manifest, _tables=every, _captures=self.captures)

    def figure(self, metric: str = "finish-time", part: int = 1) -> Drawn:
        """A figure of the report: PNG and SVG, and the numbers in it as CSV.

        A notebook shows it; ``.png`` are the bytes of the picture.

        Args:
            metric: "finish-time", "rtt", "goodput" (candlesticks over flows, and the 95 % interval
                of the mean over seeds) or "fairness".
            part: a figure with many candlesticks is divided; which part.

        Raises:
            BacklaneError: R030 for another metric or part, or a slotted model, R019 when no run
                has finished.
        """
        from backlane import frames

        return frames.figure(self, metric, part)

    def __repr__(self) -> str:
        made = self.manifest
        where = "in memory" if self.folder is None else repr(str(self.folder))
        return (
            f"<Results of {self.name!r}: {made['runs_finished']} of {made['runs_planned']} runs, "
            f"{len(self.cells)} cells, {where}>"
        )

    def _repr_html_(self) -> str:
        from backlane import frames

        return frames.html(self)

    @property
    def name(self) -> str:
        """The name in the scenario file."""
        return str(self.manifest["name"])

    @property
    def parameters(self) -> list[str]:
        """The swept keys."""
        return list(self.manifest["parameters"])

    @property
    def compared(self) -> dict[str, Any]:
        """The section `[compare]` of the scenario; empty where there is none."""
        return dict(self.manifest.get("compare") or {})

    @property
    def compared_keys(self) -> list[str]:
        """The swept keys that the scenario compares; empty where it names none."""
        return list(self.compared.get("keys", ()))

    @property
    def cells(self) -> list[dict[str, Label]]:
        """The swept values of each cell, by cell index."""
        return [dict(cell["parameters"]) for cell in self.manifest["cells"]]

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run."""
        return self.table("runs")

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow and run."""
        return self.table("flows")

    @property
    def links(self) -> pl.DataFrame:
        """One row per link direction and run."""
        return self.table("links")

    @property
    def nodes(self) -> pl.DataFrame:
        """One row per node and run."""
        return self.table("nodes")

    def has(self, name: str) -> bool:
        """Whether there is a table of this name."""
        in_folder = self.folder is not None and (self.folder / f"{name}.parquet").is_file()
        return in_folder or name in self._tables

    @property
    def radio(self) -> pl.DataFrame:
        """One row per UE of a radio access network and run."""
        return self.table("radio")

    @property
    def mcs(self) -> pl.DataFrame:
        """One row per such UE, direction, MCS and run."""
        return self.table("mcs")

    @property
    def wifi(self) -> pl.DataFrame:
        """One row per 802.11 radio and run; empty where there is none."""
        return self._optional("wifi")

    @property
    def routing(self) -> pl.DataFrame:
        """One row per router and run; empty where protocols send and count nothing."""
        return self._optional("routing")

    @property
    def divisions(self) -> pl.DataFrame:
        """One row per link over which a router divides flows by a hash, and run; empty without."""
        return self._optional("divisions")

    @property
    def assignment(self) -> pl.DataFrame:
        """One row per direction of a link that was assigned to, and run; empty where none was."""
        return self._optional("assignment")

    def _optional(self, name: str) -> pl.DataFrame:
        """A table that only some runs have."""
        import polars as pl

        return self.table(name) if self.has(name) else pl.DataFrame()

    @property
    def captures(self) -> dict[str, bytes]:
        """The captures of a single run, as pcapng files by the node's name."""
        if self.folder is None:
            return self._captures
        found = sorted((self.folder / "capture").glob("*.pcapng"))
        return {path.stem: path.read_bytes() for path in found}

    @property
    def series(self) -> list[str]:
        """The probes that were recorded over time."""
        if self.folder is not None and (self.folder / "series").is_dir():
            return sorted(path.stem for path in (self.folder / "series").glob("*.parquet"))
        return sorted(
            name.removeprefix("series/") for name in self._tables if name.startswith("series/")
        )


_ENTRIES: dict[str, type[Any]] = {
    "name": str, "scenario_hash": str, "model_version": str, "parameters": list, "cells": list,
    "seeds": list, "runs_planned": int, "runs_finished": int, "digest": str,
}  # fmt: skip
"""Required entries of a manifest."""


def _require_sound(manifest: dict[str, Any], path: Path) -> None:
    """Make sure that a manifest has the required entries in the right types.

    Raises:
        BacklaneError: R010.
    """

    def damaged(what: str) -> BacklaneError:
        return BacklaneError("R010", f"damaged: {what}", path, "run again")

    for key, kind in _ENTRIES.items():
        if key not in manifest:
            raise damaged(f"{key} is missing")
        if not isinstance(manifest[key], kind):
            raise damaged(f"{key} is no {kind.__name__}")
    keys = manifest["parameters"]
    if not all(isinstance(key, str) for key in keys):
        raise damaged("parameters are no texts")
    for cell in manifest["cells"]:
        parameters = cell.get("parameters") if isinstance(cell, dict) else None
        if not isinstance(parameters, dict) or set(parameters) != set(keys):
            raise damaged("a cell does not have the parameters")
        if not all(isinstance(value, str | int | float | bool) for value in parameters.values()):
            raise damaged("a parameter is no value")
    files = manifest.get("files", {})
    if not isinstance(files, dict) or not all(
        isinstance(entry, dict) and entry.keys() >= {"bytes", "sha256"} for entry in files.values()
    ):
        raise damaged("files has no checksums")
    failed = manifest.get("failed", [])
    _require_compare(manifest.get("compare", {}), set(keys), damaged)
    if not isinstance(failed, list):
        raise damaged("failed is no list")
    for failure in failed:
        wanted = {"run_id", "seed", "code", "message", "parameters"}
        if not isinstance(failure, dict) or not failure.keys() >= wanted:
            raise damaged("a failure is not complete")


def _require_compare(
    compared: Any, swept: set[str], damaged: Callable[[str], BacklaneError]
) -> None:
    from backlane.objectives import OBJECTIVES

    if not isinstance(compared, dict) or not isinstance(compared.get("keys", []), list):
        raise damaged("compare is no table")
    if any(not isinstance(key, str) or key not in swept for key in compared.get("keys", [])):
        raise damaged("compare names a key that was not swept")
    if compared.get("measure") not in (None, *OBJECTIVES):
        raise damaged("compare names no measure")
    if not isinstance(compared.get("equal_within"), float | None):
        raise damaged("equal_within is no number")
