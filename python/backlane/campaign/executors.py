"""What executes the runs of a campaign: threads of this process, Dask, or Slurm.

All of them execute the same runs and write them into the same store, so that a campaign may go on
with another executor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane.campaign.pool import Outcome, find_missing, run_all
from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backlane.campaign.plan import Plan, Run
    from backlane.campaign.store import Store
    from backlane.progress import Progress

KINDS = ("threads", "dask", "slurm")


@dataclass(frozen=True)
class Executor:
    """An executor by name.

    Attributes:
        kind: one of `KINDS`.
        address: of Dask's scheduler; None starts workers on this machine.
    """

    kind: str = "threads"
    address: str | None = None

    @property
    def workers_noun(self) -> str:
        """What its workers are."""
        return {"threads": "threads", "dask": "processes", "slurm": "jobs"}[self.kind]

    @classmethod
    def parse(cls, text: str) -> Executor:
        """Read ``threads``, ``dask``, ``dask:ADDRESS`` or ``slurm``.

        Raises:
            BacklaneError: R110.
        """
        kind, colon, address = text.partition(":")
        if kind not in KINDS or (colon and (kind != "dask" or "://" not in address)):
            raise BacklaneError(
                "R110",
                f'there is no executor "{text}"',
                "--executor",
                "write threads, dask, dask:tcp://HOST:PORT or slurm",
            )
        return cls(kind, address or None)

    def run_all(
        self,
        plan: Plan,
        folder: Path,
        runs: Sequence[Run],
        store: Store,
        workers: int,
        progress: Progress | None,
    ) -> Outcome:
        """Execute every run that is not in the store, or damaged there.

        Args:
            plan: the plan, which the folder holds.
            folder: the campaign folder.
            runs: those of this part of the campaign.
            store: of the folder.
            workers: threads, processes or jobs at the same time.
            progress: receives the progress.

        Raises:
            BacklaneError: as the executor; finished runs stay.
        """
        if self.kind == "threads":
            return run_all(plan, runs, store, workers, progress)
        outcome, missing = find_missing(runs, store, progress)
        if not missing:
            return outcome
        if self.kind == "dask":
            from backlane.campaign import on_dask

            on_dask.run_units(plan, folder, missing, self.address, workers, progress, outcome)
        else:
            from backlane.campaign import on_slurm

            on_slurm.run_units(plan, folder, missing, workers, progress, outcome)
        return outcome
