"""A run that pauses for an agent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from backlane import classes, native, single, tables
from backlane.campaign.plan import make_plan
from backlane.errors import BacklaneError
from backlane.scenario import read

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from backlane._native import Stepper
    from backlane.scenario import Overrides, Scenario

SEEDS = 2**31
"""Seeds of runs are drawn below this number, if a reset has none."""


class Episodes:
    """A scenario, and the run of it that goes on.

    Args:
        scenario: as for `backlane.run`.
        overrides: as for `backlane.run`.
        allow_python: as for `backlane.run`.

    Raises:
        ScenarioError: when the scenario is wrong.
        BacklaneError: when it cannot be read, is a campaign (R006), or brings Python that may not
            be executed (R025).
    """

    def __init__(self, scenario: Scenario, overrides: Overrides, allow_python: bool) -> None:
        source = read(scenario, overrides)
        work = single.only_run(make_plan(source), source.name)
        classes.authorize(work.plan.classes(), source.name, allow_python, own=source.own)
        self.name = source.name
        self._resolved = work.cell.resolved
        self._run: Stepper | None = None
        self._has_ended = False
        self._digest = ""
        self._tables: dict[str, pl.DataFrame] | None = None

    def start(self, seed: int, commanded: list[str] | None) -> Stepper:
        """Begin a run, in place of the one that went on.

        Args:
            seed: of the run.
            commanded: names of the TCP flows whose windows are set; None: all.

        Raises:
            RunError: when the network cannot be built, or is a slotted model (R093).
        """
        self.close()
        self._run = native.module().Stepper(self._resolved, seed, commanded)
        return self._run

    def running(self) -> Stepper:
        """The run, which has not ended.

        Raises:
            BacklaneError: R092.
        """
        if self._run is None:
            raise BacklaneError(
                "R092", "there is no episode: the environment is new or closed", None,
                "call reset() first",
            )  # fmt: skip
        if self._has_ended:
            raise BacklaneError(
                "R092", "the episode has ended", None, "call reset() to begin the next one"
            )
        return self._run

    def advance(self, until_s: float) -> str | None:
        """Go on until a time of the simulation.

        Returns:
            How the run ended, as in the column `ended`, if it did.

        Raises:
            BacklaneError: R092.
            RunError: when the run failed. It is closed then.
        """
        run = self.running()
        try:
            run.advance(until_s)
        except BaseException:
            self.close()
            raise
        ended = run.ended
        self._has_ended = ended is not None
        self._digest = run.digest if ended else ""
        return ended

    def digest(self) -> str:
        """The digest of all events of the run so far, as in the column `digest`.

        Raises:
            BacklaneError: R092 without a run.
        """
        return self._digest or self.running().digest

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables of the run that has ended, by name, without the column `run_id`.

        Raises:
            BacklaneError: R092 before the end.
        """
        if self._tables is None:
            if self._run is None or not self._has_ended:
                raise BacklaneError(
                    "R092", "tables are those of an episode that has ended", None,
                    "call step() until terminated or truncated is true",
                )  # fmt: skip
            result = self._run.finish()
            series = {f"series/{probe}": table for probe, table in result.series.items()}
            found = (result.tables | series).items()
            self._tables = {name: tables.frame(table) for name, table in found}
        return self._tables

    def close(self) -> None:
        """End the run; nothing happens if there is none."""
        if self._run is not None:
            self._run.close()
        self._run, self._has_ended, self._tables, self._digest = None, False, None, ""


def checked_action(action: Any, size: int) -> NDArray[np.float64]:
    """An action of numbers from -1 to 1.

    Args:
        action: of the agent.
        size: how many numbers it must have.

    Raises:
        BacklaneError: R091, which names the number and its bound.
    """
    try:
        values = np.asarray(action, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (size,):
        raise BacklaneError(
            "R091", f"the action {action!r} is not an array of shape ({size},)", None,
            "take it from env.action_space",
        )  # fmt: skip
    inside = np.abs(values) <= 1.0
    if not inside.all():
        at = int(np.argmin(inside))
        raise BacklaneError(
            "R091", f"action[{at}] is {values[at]:g}, and must be from -1 to 1", None,
            "clip it: np.clip(action, -1, 1)",
        )  # fmt: skip
    return values


def positive(name: str, value: float) -> float:
    """A parameter of an environment that is above zero and finite.

    Raises:
        BacklaneError: R094.
    """
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not is_number or not 0.0 < value < math.inf:
        raise BacklaneError("R094", f"{name} is {value!r}, and must be a number above 0")
    return float(value)
