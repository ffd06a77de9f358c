"""A campaign on Dask: worker processes of this machine, or a cluster by its scheduler's address."""

from __future__ import annotations

import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backlane.campaign import units
from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from backlane.campaign.plan import Plan, Run
    from backlane.campaign.pool import Outcome
    from backlane.campaign.record import Build
    from backlane.progress import Progress

AHEAD = 3
"""Units in flight for each worker; the others wait here, so that the scheduler holds few."""

POLL_S = 0.2
"""Time between two looks at the units in flight, in seconds."""

LOOPBACK = "127.0.0.1"

ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Variables by which libraries in a worker keep to one thread, as Dask has it."""


def run_units(
    plan: Plan,
    folder: Path,
    runs: Sequence[Run],
    address: str | None,
    workers: int,
    progress: Progress | None,
    outcome: Outcome,
) -> None:
    """Execute runs on Dask's workers, which write them into the store of the folder.

    Args:
        plan: the plan, which the folder holds.
        folder: the campaign folder.
        runs: those to be executed.
        address: of a scheduler, such as ``tcp://host:8786``; None starts workers here.
        workers: processes, if they are started here.
        progress: receives the number of finished runs.
        outcome: receives the ids of the runs.

    Raises:
        BacklaneError: R049 without Dask, R111, R112 or R115 when a worker cannot take part, R113
            when the scheduler is lost or a unit ends its workers.
    """
    path, build = str(folder.resolve()), units.here()
    with _connected(address, workers) as client:
        token = units.make_token(folder)
        try:
            client.run(units.require_store, path, build, token, on_error="raise")
        finally:
            (folder / token).unlink(missing_ok=True)
        count = len(client.scheduler_info(n_workers=-1)["workers"])
        waiting = deque(units.divide(plan, runs, max(count, 1)))
        try:
            _drain(client, waiting, path, build, AHEAD * max(count, 1), progress, outcome)
        except KeyboardInterrupt:
            outcome.interrupted = True


def _drain(
    client: Any,
    waiting: deque[list[str]],
    path: str,
    build: Build,
    most: int,
    progress: Progress | None,
    outcome: Outcome,
) -> None:
    flying: set[Any] = set()
    before = outcome.reused
    while waiting or flying:
        while waiting and len(flying) < most:
            flying.add(client.submit(units.execute, path, waiting.popleft(), build, pure=False))
        time.sleep(POLL_S)
        _require(client)
        for future in [future for future in flying if future.done()]:
            flying.remove(future)
            _take(future, outcome)
        if progress is not None:
            ended = len(outcome.finished) + len(outcome.failed)
            failed = f"{len(outcome.failed)} failed" if outcome.failed else ""
            progress.update(before + ended, failed)


def _take(future: Any, outcome: Outcome) -> None:
    """Note the runs of a unit that has ended."""
    if future.status == "finished":
        ended: units.Ended = future.result()
        outcome.finished += ended.finished + ended.stored
        outcome.failed += ended.failed
        return
    if future.status == "error":
        error = future.exception()
        if isinstance(error, BacklaneError):
            raise error
        raise _lost(f"a unit ended with {type(error).__name__}: {error}") from error
    raise _lost(f"a unit is {future.status}")


def _require(client: Any) -> None:
    if client.status != "running":
        raise _lost(f"the connection is {client.status}")


def _lost(why: str) -> BacklaneError:
    return BacklaneError(
        "R113",
        f"Dask does not go on: {why}",
        None,
        "finished runs are stored; start the same command again",
    )


@contextmanager
def _connected(address: str | None, workers: int) -> Iterator[Any]:
    """A client of a scheduler; workers of this machine listen on the loopback address alone.

    Raises:
        BacklaneError: R049, R113.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise BacklaneError(
            "R049", "the package distributed is not installed", None, "pip install 'backlane[dask]'"
        ) from error
    quiet = {
        "distributed.client.preload": [],
        "distributed.comm.retry.count": 0,
        "distributed.comm.timeouts.connect": "10s",
        # Units last for seconds: what watches tasks of milliseconds would take time from them.
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "500ms",
        "distributed.admin.system-monitor.interval": "2s",
        # Dask's own choice has malloc return memory at once, which costs a run a tenth of its time.
        "distributed.nanny.pre-spawn-environ": dict.fromkeys(ONE_THREAD, 1),
    }
    with dask.config.set(quiet):
        if address is None:
            cluster = LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host=LOOPBACK,
                dashboard_address=None,
                silence_logs=50,
            )
            with cluster, Client(cluster, set_as_default=False) as client:  # type: ignore[no-untyped-call]
                yield client
            return
        try:
            client = Client(address, set_as_default=False, timeout="10s")  # type: ignore[no-untyped-call]
        except OSError as error:
            raise _lost(f"there is no scheduler at {address}") from error
        with client:
            if not client.scheduler_info(n_workers=-1)["workers"]:
                raise _lost(f"the scheduler at {address} has no workers")
            yield client
