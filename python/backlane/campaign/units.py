"""Work units of a campaign for other processes and machines.

A unit is a list of run ids. Whoever executes it reads the plan from the campaign folder and writes
finished runs into the store of that folder, so that only ids and states leave a worker. A unit may
be executed again at any time: runs that are stored are left out.
"""

from __future__ import annotations

import itertools
import math
import secrets
import socket
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from backlane import cost, native
from backlane.campaign.pool import simulate_into
from backlane.campaign.record import Build
from backlane.campaign.store import Store
from backlane.errors import BacklaneError
from backlane.files import TEMPORARY_PREFIX, remove

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backlane.campaign.plan import Plan, Run

UNIT_S = 20.0
"""The CPU time that a unit should take, in seconds: long beside what a scheduler needs for a task,
short beside what a killed worker loses."""


@dataclass
class Ended:
    """The runs of a unit that was executed.

    Attributes:
        finished: ids of runs that were executed.
        failed: ids of runs that ended with an error; the store has the reason.
        stored: ids of runs that were stored before.
    """

    finished: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)


def divide(
    plan: Plan, runs: Sequence[Run], workers: int, most: int | None = None
) -> list[list[str]]:
    """Divide runs into units of about `UNIT_S`, and into four for each worker at least.

    Args:
        plan: the plan of the runs.
        runs: those to be executed.
        workers: processes that will execute them.
        most: the largest number of units; None is any.

    Returns:
        Ids of runs, in the order of the plan.
    """
    if not runs:
        return []
    count = max(math.ceil(cost.total(plan, 1, runs).cpu_s / UNIT_S), 4 * workers)
    count = min(count, len(runs), most or len(runs))
    ids = [run.run_id for run in runs]
    starts = [unit * len(ids) // count for unit in range(count + 1)]
    return [ids[start:end] for start, end in itertools.pairwise(starts)]


def execute(folder: str, run_ids: Sequence[str], build: Build) -> Ended:
    """Execute a unit in this process.

    Args:
        folder: the campaign folder, by a path that this machine has too.
        run_ids: the unit.
        build: the build that the runs must be executed by.

    Raises:
        BacklaneError: R111 when this is another build, R112 when the folder is not here; and when
            results cannot be written.
    """
    _require_build(build)
    plan = _plan(folder)
    store = Store(Path(folder))
    by_id = {run.run_id: run for run in plan.runs} if len(run_ids) > 1 else None
    ended = Ended()
    for run_id in run_ids:
        if run_id in store:
            ended.stored.append(run_id)
            continue
        run = by_id[run_id] if by_id else next(one for one in plan.runs if one.run_id == run_id)
        if simulate_into(plan, run, store):
            ended.finished.append(run_id)
        else:
            ended.failed.append(run_id)
    return ended


@lru_cache(maxsize=1)
def _plan(folder: str) -> Plan:
    from backlane.campaign import open_plan

    return open_plan(Path(folder))


def require_store(folder: str, build: Build, token: str) -> None:
    """Check that this process may execute units: its build, the folder, and renames there.

    Args:
        folder: the campaign folder.
        build: as for `execute`.
        token: the name of a file in the folder that whoever began the campaign has made.

    Raises:
        BacklaneError: R111, R112 or R115.
    """
    _require_build(build)
    if not (Path(folder) / token).is_file():
        raise BacklaneError(
            "R112",
            f"the worker on {socket.gethostname()} does not have this folder",
            folder,
            "put it with --out on a file system that all workers have at the same path",
        )
    probe_rename(Path(folder))


def make_token(folder: Path) -> str:
    """A file in the folder by which a worker recognizes it; its name."""
    name = f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    (folder / name).touch()
    return name


def probe_rename(folder: Path) -> None:
    """Rename a folder as the store does.

    Raises:
        BacklaneError: R115 when the file system refuses it.
    """
    name = f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    before, after = folder / f"{name}-a", folder / f"{name}-b"
    try:
        before.mkdir()
        (before / "file").write_bytes(b"1")
        before.rename(after)
        complete = (after / "file").read_bytes() == b"1" and not before.exists()
    except OSError as error:
        raise _no_rename(folder, error.strerror or str(error)) from error
    finally:
        remove(before)
        remove(after)
    if not complete:
        raise _no_rename(folder, "the folder is not there afterwards")


def _no_rename(folder: Path, why: str) -> BacklaneError:
    return BacklaneError(
        "R115",
        f"the file system cannot rename a folder: {why}",
        folder,
        "choose a folder on a local disk, NFS or a parallel file system with --out",
    )


def _require_build(build: Build) -> None:
    here = Build.here()
    if (here.version, here.sources) != (build.version, build.sources):
        raise BacklaneError(
            "R111",
            f"the worker on {socket.gethostname()} has backlane {here.version} of commit "
            f"{here.commit[:12]}, the campaign {build.version} of {build.commit[:12]}",
            None,
            "install the same version on all workers",
        )


def here() -> Build:
    """The build of this process."""
    native.module()
    return Build.here()
