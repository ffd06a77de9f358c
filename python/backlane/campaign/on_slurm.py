"""A campaign as an array of Slurm jobs."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from backlane.campaign import units
from backlane.campaign.record import Build
from backlane.campaign.store import Store
from backlane.errors import BacklaneError
from backlane.files import make_folder, read_json, write_json, write_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backlane.campaign.plan import Plan, Run
    from backlane.campaign.pool import Outcome
    from backlane.progress import Progress

FOLDER = "slurm"
"""The folder of the campaign with the units, the script and the logs."""

MOST_UNITS = 1000
"""The largest array: Slurm's default limit is 1001 (``MaxArraySize``)."""

POLL_S = 2.0
"""Time between two looks at the store, in seconds."""


def script(folder: Path, count: int, workers: int) -> str:
    """The job script of an array.

    Args:
        folder: the campaign folder.
        count: number of units.
        workers: jobs that run at the same time.
    """
    work = [sys.executable, "-m", "backlane", "campaign", "work", str(folder.resolve())]
    log = folder.resolve() / FOLDER / "%a.log"
    # `#SBATCH` lines take no quotes inside of words; the log is given on the command line.
    return (
        "#!/bin/sh\n"
        "#SBATCH --job-name=backlane\n"
        f"#SBATCH --array=0-{count - 1}%{workers}\n"
        "#SBATCH --cpus-per-task=1\n"
        f"# sbatch --wait --output={shlex.quote(str(log))} SCRIPT\n"
        f'exec {shlex.join(work)} --unit "$SLURM_ARRAY_TASK_ID"\n'
    )


def prepare(plan: Plan, folder: Path, runs: Sequence[Run], workers: int) -> Path:
    """Write the units and the script; the path of the script."""
    divided = units.divide(plan, runs, workers, MOST_UNITS)
    make_folder(folder / FOLDER)
    build = units.here()
    write_json(
        folder / FOLDER / "units.json",
        {"build": [build.version, build.commit, build.sources], "units": divided},
    )
    path = folder / FOLDER / "array.sh"
    write_text(path, script(folder, len(divided), workers))
    return path


def work(folder: Path, unit: int) -> units.Ended:
    """Execute one unit of an array.

    Raises:
        BacklaneError: R114 when there is no such unit; as `units.execute`.
    """
    path = folder / FOLDER / "units.json"
    value = read_json(path)
    if not 0 <= unit < len(value["units"]):
        raise BacklaneError(
            "R114", f"there is no unit {unit}", path, f"units are 0 to {len(value['units']) - 1}"
        )
    return units.execute(str(folder.resolve()), value["units"][unit], Build(*value["build"]))


def run_units(
    plan: Plan,
    folder: Path,
    runs: Sequence[Run],
    workers: int,
    progress: Progress | None,
    outcome: Outcome,
) -> None:
    """Submit an array, and wait for it.

    Ctrl-C cancels the array, whose finished runs stay.

    Raises:
        BacklaneError: R110 without ``sbatch``, R114 when it fails and runs have no result.
    """
    sbatch = shutil.which("sbatch")
    if sbatch is None:
        raise BacklaneError(
            "R110", "sbatch is not here", None, "run this on a machine that submits jobs to Slurm"
        )
    units.probe_rename(folder)
    path = prepare(plan, folder, runs, workers)
    log = folder.resolve() / FOLDER / "%a.log"
    command = [sbatch, "--wait", "--parsable", f"--output={log}", str(path.resolve())]
    store, left = Store(folder), list(runs)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL
    )
    next_look = 0.0
    try:
        while process.poll() is None:
            time.sleep(0.05)
            if time.monotonic() >= next_look:
                left = _look(store, left, progress, outcome)
                next_look = time.monotonic() + POLL_S
    except KeyboardInterrupt:
        outcome.interrupted = True
        _cancel(process)
    said, why = process.communicate()
    left = _look(store, left, progress, outcome)
    without = []
    for run in left:
        if store.failure(run) is not None:
            outcome.failed.append(run.run_id)
        else:
            without.append(run)
    if without and not outcome.interrupted:
        reason = (why.strip() or said.strip()).splitlines()[-1:] or ["no message"]
        raise BacklaneError(
            "R114",
            f"{len(without)} runs have no result; sbatch ended with status {process.returncode} "
            f"({reason[0]})",
            folder / FOLDER,
            "the logs are in that folder; start the same command again",
        )


def _look(store: Store, left: list[Run], progress: Progress | None, outcome: Outcome) -> list[Run]:
    """The runs that are not stored yet."""
    still = []
    for run in left:
        if run.run_id in store:
            outcome.finished.append(run.run_id)
        else:
            still.append(run)
    if progress is not None:
        progress.update(outcome.reused + len(outcome.finished), "")
    return still


def _cancel(process: subprocess.Popen[str]) -> None:
    """Cancel the array by the name of its submission, and end the wait."""
    process.terminate()
    scancel = shutil.which("scancel")
    job = process.stdout.readline().strip() if process.stdout else ""
    if scancel and job:
        subprocess.run([scancel, job.split(";")[0]], check=False, capture_output=True)
