"""The execution of a campaign's runs on all cores.

Threads are enough: the compiled module releases the interpreter lock while it simulates, and runs
share no state. Where fewer runs than cores are left, a run may use several.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backlane import cost, linux, native
from backlane.campaign.record import DamagedError
from backlane.classes import interrupt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backlane.campaign.plan import Plan, Run
    from backlane.campaign.store import Store
    from backlane.progress import Progress


PATIENCE_S = 5.0
"""After this time, workers whose Python cannot be interrupted are abandoned."""


class Stopped(Exception):
    """Raised inside a run to end it early."""


@dataclass
class Outcome:
    """The outcome of the runs of this call.

    Attributes:
        finished: runs that were executed.
        failed: runs that ended with an error.
        damaged: why stored runs were removed, by run id.
        other_sources: number of stored runs from other sources of the models than this build's, by
            commit.
        reused: number of runs that were stored before.
        interrupted: whether Ctrl-C or a signal ended the work.
    """

    finished: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)
    other_sources: dict[str, int] = field(default_factory=dict)
    reused: int = 0
    interrupted: bool = False


class _Work:
    """State shared by the workers; every access holds the lock."""

    def __init__(self, runs: Sequence[Run], outcome: Outcome, cores: int) -> None:
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.waiting = deque(runs)
        self.free_cores = cores
        self.fractions: dict[str, float] = {}
        self.stop = threading.Event()
        self.error: BaseException | None = None
        self.alive = 0
        self.outcome = outcome

    def next(self) -> tuple[Run, int] | None:
        """The next run to execute and the cores that it may use, or None.

        Many runs side by side use the cores best; fewer runs than cores share them.
        """
        with self.lock:
            if self.stop.is_set() or not self.waiting:
                return None
            cores = max(1, self.free_cores // len(self.waiting))
            self.free_cores -= cores
            run = self.waiting.popleft()
            self.fractions[run.run_id] = 0.0
            return run, cores

    def leave(self, run: Run, cores: int, result: list[str] | None) -> None:
        """A run has ended; `result` is the list it belongs to."""
        with self.changed:
            self.free_cores += cores
            self.fractions.pop(run.run_id, None)
            if result is not None:
                result.append(run.run_id)
            self.changed.notify()

    def done(self) -> float:
        """Finished runs, with the fractions of those in flight."""
        with self.lock:
            ended = len(self.outcome.finished) + len(self.outcome.failed)
            return ended + sum(self.fractions.values())


def _worker(work: _Work, plan: Plan, store: Store) -> None:
    try:
        while (found := work.next()) is not None:
            run, cores = found
            _carry_out(work, plan, store, run, cores)
    except KeyboardInterrupt:
        # Polars handles Ctrl-C itself while it writes a table, in any thread; a hook that hangs
        # is interrupted.
        work.outcome.interrupted = True
        work.stop.set()
    except BaseException as error:
        with work.lock:
            work.error = work.error or error
        work.stop.set()
    finally:
        with work.changed:
            work.alive -= 1
            work.changed.notify()


def _carry_out(work: _Work, plan: Plan, store: Store, run: Run, cores: int) -> None:
    def on_progress(simulated_s: float, duration_s: float, _events: int) -> None:
        if work.stop.is_set():
            raise Stopped
        work.fractions[run.run_id] = min(simulated_s / duration_s, 1.0) if duration_s else 0.0

    from backlane._native import RunError
    from backlane._native import run as simulate

    ended: list[str] | None = None
    try:
        with store.draft(run) as draft:
            resolved = plan.cells[run.cell].resolved
            threads = cost.threads(resolved, cores)
            files = draft.files
            kernels = linux.files(resolved)
            draft.finish(
                simulate(
                    resolved, run.seed, on_progress, files, threads, at_most=True, kernels=kernels
                )
            )
        ended = work.outcome.finished
    except RunError as error:
        if not work.stop.is_set():
            store.fail(run, str(getattr(error, "code", "")), str(error))
            ended = work.outcome.failed
    except Exception:
        # A stopped run may surface as any exception the module wraps `Stopped` in.
        if not work.stop.is_set():
            raise
    finally:
        work.leave(run, cores, ended)


def _is_usable(run: Run, store: Store, outcome: Outcome) -> bool:
    """Whether a run is in the store, undamaged; a damaged one is removed."""
    if run.run_id not in store:
        return False
    try:
        build = store.verify(run.run_id).build
    except DamagedError as error:
        outcome.damaged[run.run_id] = str(error)
        store.discard(run.run_id)
        return False
    if build.sources != native.module().sources():
        outcome.other_sources[build.commit] = outcome.other_sources.get(build.commit, 0) + 1
    return True


def remarks(outcome: Outcome) -> list[str]:
    """A message about the runs that were stored before."""
    lines = [
        f"warning: stored run {run_id} is damaged ({why}) and is carried out again"
        for run_id, why in outcome.damaged.items()
    ]
    here = native.module().commit()
    lines += [
        f"warning: {count} stored runs come from commit {commit[:12]}, whose models differ from "
        f"those of this build (commit {here[:12]})\n"
        "   = the model version is the same; to compute them anew, use another folder with --out"
        for commit, count in outcome.other_sources.items()
    ]
    return lines


def find_missing(
    runs: Sequence[Run], store: Store, progress: Progress | None
) -> tuple[Outcome, list[Run]]:
    """What was stored before, and the runs that are not, or are damaged there."""
    found = Outcome()
    missing = [run for run in runs if not _is_usable(run, store, found)]
    found.reused = len(runs) - len(missing)
    if progress is not None:
        for line in remarks(found):
            progress.say(line)
    return found, missing


def simulate_into(plan: Plan, run: Run, store: Store) -> bool:
    """Execute a run on one core and store it; False if it failed, which the store records.

    Raises:
        BacklaneError: when results cannot be written.
    """
    from backlane._native import RunError
    from backlane._native import run as simulate

    try:
        with store.draft(run) as draft:
            resolved = plan.cells[run.cell].resolved
            kernels = linux.files(resolved)
            draft.finish(
                simulate(resolved, run.seed, None, draft.files, 1, at_most=True, kernels=kernels)
            )
    except RunError as error:
        store.fail(run, str(getattr(error, "code", "")), str(error))
        return False
    return True


def run_all(
    plan: Plan, runs: Sequence[Run], store: Store, workers: int, progress: Progress | None
) -> Outcome:
    """Execute every run that is not in the store, or damaged there.

    Ctrl-C stops the runs in flight, keeps the finished ones and returns with `interrupted`.

    Raises:
        BacklaneError: when results cannot be written; finished runs stay.
    """
    found, missing = find_missing(runs, store, progress)
    work = _Work(missing, found, max(1, workers))
    count = max(1, min(workers, len(missing)))
    work.alive = count
    threads = [
        threading.Thread(target=_worker, args=(work, plan, store), daemon=True, name=f"run-{i}")
        for i in range(count)
    ]
    try:
        for thread in threads:
            thread.start()
        while True:
            with work.changed:
                if work.alive == 0:
                    break
                work.changed.wait(0.2)
            if progress is not None:
                progress.update(work.outcome.reused + work.done(), _message(work))
    except KeyboardInterrupt:
        work.outcome.interrupted = True
        work.stop.set()
    finally:
        work.stop.set()
        _join([thread for thread in threads if thread.ident is not None])
    if work.error is not None:
        raise work.error
    return work.outcome


def _join(threads: Sequence[threading.Thread]) -> None:
    """Wait for workers that are stopping.

    A hook of a congestion control that continues is interrupted. One that waits in the system
    cannot be interrupted and is abandoned after `PATIENCE_S`: its run has no result.
    """
    until_s = time.monotonic() + PATIENCE_S
    left = list(threads)
    while left:
        for thread in left:
            thread.join(0.1)
        left = [thread for thread in left if thread.is_alive()]
        stuck = [thread for thread in left if interrupt(thread.ident or 0)]
        if stuck and len(stuck) == len(left) and time.monotonic() > until_s:
            return


def _message(work: _Work) -> str:
    failed = len(work.outcome.failed)
    return f"{failed} failed" if failed else ""
