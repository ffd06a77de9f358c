"""Campaigns: the runs of a sweep, executed once each, also after interruptions.

`plan` lists the runs, `executors` names what executes them: the threads of `pool`, or on other
processes and machines `on_dask` and `on_slurm` by the work units of `units`. `store` keeps the
runs, `assemble` joins them into tables, `merge` joins the parts of a campaign that was split over
machines.

Example:
    >>> import backlane
    >>> outcome = backlane.campaign.run("grid.toml", out="results/grid")  # doctest: +SKIP
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backlane import classes, cost, linux, native
from backlane.campaign.assemble import assemble, cell_path, write_cells
from backlane.campaign.executors import Executor
from backlane.campaign.plan import Plan, make_plan
from backlane.campaign.pool import Outcome
from backlane.campaign.store import Store
from backlane.errors import BacklaneError, read_error
from backlane.files import make_folder, read_json, write_json
from backlane.folder import CAMPAIGN, MANIFEST, require_format, unpublish
from backlane.machine import core_count
from backlane.progress import Progress, shown
from backlane.scenario import Overrides, Scenario, Source, read
from backlane.text import slug

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CampaignResult", "Outcome", "merge", "run", "status"]


@dataclass
class CampaignResult:
    """The result of a call of `run` or `merge`."""

    folder: Path
    outcome: Outcome
    manifest: dict[str, Any]


def run(
    file: Scenario | Source,
    out: str | Path | None = None,
    *,
    workers: int | None = None,
    shard: tuple[int, int] | None = None,
    overrides: Overrides = (),
    progress: Progress | bool | None = None,
    allow_python: bool = False,
    ignore_memory: bool = False,
    executor: str = "threads",
) -> CampaignResult:
    """Execute all runs of a scenario that are not finished yet, then write the tables.

    Args:
        file: the scenario: a path, a text in TOML, or a dict with the content of a file.
        out: the campaign folder; default ``results/<name>``.
        workers: threads, processes or jobs; default the cores this process may use.
        shard: (i, n): only every n-th run, beginning with the i-th.
        overrides: values put in place before the sweep: a dict, such as ``{"access.ues": 50}``, or
            pairs of key and TOML.
        progress: receives the progress; True shows a bar, None shows one in notebooks.
        allow_python: execute Python that is in the scenario itself or outside of its folder.
        ignore_memory: run even if the estimate exceeds the free memory or disk space.
        executor: ``threads``, ``dask``, ``dask:ADDRESS`` or ``slurm``.

    Raises:
        BacklaneError: on problems with files; finished runs stay usable; R025 when Python
            from elsewhere was not allowed, R026 when the memory does not suffice.
        ScenarioError: when the scenario is wrong.
    """
    chosen = Executor.parse(executor)
    source = read(file, overrides)
    plan = make_plan(source)
    classes.authorize(plan.classes(), source.name, allow_python, own=source.own)
    folder = Path(out) if out is not None else default_folder(plan)
    if not ignore_memory:
        store = Store(folder)
        missing = [one for one in plan.shard(shard) if one.run_id not in store]
        cost.refuse(plan, workers or core_count(), missing, folder, source.name)
    with shown(progress, plan.name, len(plan.shard(shard)), "runs") as bar:
        return run_plan(plan, folder, workers, shard, source.overrides, bar, chosen)


def default_folder(plan: Plan) -> Path:
    """The default folder of a campaign."""
    return Path("results") / slug(plan.name)


def run_plan(
    plan: Plan,
    folder: Path,
    workers: int | None = None,
    shard: tuple[int, int] | None = None,
    overrides: Sequence[tuple[str, str]] = (),
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> CampaignResult:
    """`run`, for a plan that was already made."""
    native.module()
    linux.require(plan.cells)
    make_folder(folder)
    store = Store(folder)
    with store.locked():
        claim(folder, plan)
        outcome = (executor or Executor()).run_all(
            plan, folder, plan.shard(shard), store, workers or core_count(), progress
        )
        manifest = assemble(folder, plan, store, shard, overrides)
    return CampaignResult(folder, outcome, manifest)


def claim(folder: Path, plan: Plan) -> None:
    """Write the plan into the folder.

    A folder may be used again when the campaign of that name has changed (more seeds, another
    value in the sweep): runs that are part of both keep their ids and are not repeated. The tables
    of the earlier plan are removed.

    Raises:
        BacklaneError: R007 when the folder belongs to something else, R027 when a newer version
            wrote it.
    """
    path = folder / CAMPAIGN
    if path.is_file():
        earlier = read_json(path)
        require_format(earlier, path)
        name = earlier.get("name")
        if name != plan.name:
            raise BacklaneError(
                "R007",
                f'the folder holds the campaign "{name}", not "{plan.name}"',
                folder,
                "choose another folder with --out DIR",
            )
        if earlier != plan.as_dict():
            unpublish(folder)
    elif _is_single(folder):
        raise BacklaneError(
            "R007",
            "the folder holds the results of a single run",
            folder,
            "choose another folder with --out DIR",
        )
    write_json(path, plan.as_dict())
    write_cells(folder, plan)


def _is_single(folder: Path) -> bool:
    """Whether a folder holds the results of a single run."""
    if not (folder / MANIFEST).is_file():
        return False
    return read_json(folder / MANIFEST).get("kind") != "campaign"


def open_plan(folder: Path) -> Plan:
    """The plan of a campaign folder, with the resolved scenarios.

    Raises:
        BacklaneError: R008 when the folder holds no campaign, R010 when its plan is damaged, R027
            when a newer version wrote it.
    """
    path = folder / CAMPAIGN
    if not path.is_file():
        raise BacklaneError(
            "R008",
            "this folder holds no campaign",
            folder,
            "start one with `backlane campaign run FILE --out DIR`",
        )
    value = read_json(path)
    require_format(value, path)
    try:
        for cell in value["cells"]:
            cell["resolved"] = _resolved(cell_path(folder, int(cell["index"])), cell["sha256"])
        return Plan.from_dict(value)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise BacklaneError(
            "R010", f"damaged: {reason}", path, "start the campaign again"
        ) from error


def _resolved(path: Path, sha256: str) -> str:
    """The resolved scenario of a cell.

    Raises:
        BacklaneError: R003, R010.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise read_error(error, path) from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise BacklaneError("R010", "damaged: it was changed", path, "start the campaign again")
    return data.decode()


def status(folder: str | Path) -> dict[str, Any]:
    """The progress of a campaign, in total and per cell."""
    folder = Path(folder)
    plan = open_plan(folder)
    store = Store(folder)
    cells = [
        {"cell": c.index, "parameters": c.parameters, "planned": 0, "finished": 0, "failed": 0}
        for c in plan.cells
    ]
    for cell, one in plan.rows():
        row: dict[str, Any] = cells[cell.index]
        row["planned"] += 1
        row["finished"] += one.run_id in store
        row["failed"] += store.failure(one) is not None
    failures = [
        failure | {"parameters": plan.cells[one.cell].parameters}
        for one in plan.runs
        if (failure := store.failure(one)) is not None
    ]
    planned, finished = len(plan.runs), sum(one.run_id in store for one in plan.runs)
    return {
        "name": plan.name,
        "folder": str(folder),
        "running": store.in_use,
        "planned": planned,
        "finished": finished,
        "failed": len(failures),
        "left": planned - finished - len(failures),
        "cells": cells,
        "failures": failures,
    }


def merge(out: str | Path, parts: Sequence[str | Path]) -> CampaignResult:
    """Join the runs of several campaign folders in `out`.

    Raises:
        BacklaneError: R009 when the parts come from different scenarios or model versions,
            R016 when two parts hold a run with different digests.
    """
    folders = [Path(part) for part in parts]
    plans = [open_plan(folder) for folder in folders]
    first = plans[0]
    for folder, other in zip(folders, plans, strict=True):
        _require_same(first, other, folder)
    folder = Path(out)
    make_folder(folder)
    store = Store(folder)
    outcome = Outcome()
    with store.locked():
        if (folder / CAMPAIGN).is_file():
            _require_same(first, open_plan(folder), folder)
        claim(folder, first)
        for part in folders:
            source = Store(part)
            if part.resolve() == folder.resolve():
                continue
            for one in first.runs:
                if one.run_id in source:
                    new = store.adopt(source, one.run_id)
                    outcome.reused += not new
                    if new:
                        outcome.finished.append(one.run_id)
                elif (why := source.failure(one)) is not None and one.run_id not in store:
                    store.fail(one, str(why.get("code")), str(why.get("message")))
        manifest = assemble(folder, first, store)
    return CampaignResult(folder, outcome, manifest)


def _require_same(first: Plan, other: Plan, place: Path) -> None:
    for what, mine, theirs in (
        ("scenario", first.scenario_hash, other.scenario_hash),
        ("model version", first.model_version, other.model_version),
        ("list of runs", _runs_digest(first), _runs_digest(other)),
    ):
        if mine != theirs:
            raise BacklaneError(
                "R009",
                f"the {what} differs: {theirs[:16]} here, {mine[:16]} in the first folder",
                place,
                "merge parts of one campaign only; `backlane report DIR1 DIR2` compares several",
            )


def _runs_digest(plan: Plan) -> str:
    return hashlib.sha256("\n".join(run.run_id for run in plan.runs).encode()).hexdigest()
