"""Backlane: which backhaul routing, with which TCP congestion control, serves a network best.

The functions of the command line:

* `check` a scenario file, `plan` its runs,
* `run` a single scenario and get its tables,
* `campaign.run` a sweep over parameters and seeds,
* `load` a results folder,
* `bound.of` a scenario file: what no routing could beat.

`CongestionControl` and `Router` are the base classes of congestion controls and routers in Python.

Example:
    >>> import backlane
    >>> result = backlane.run("grid.toml", seed=3)  # doctest: +SKIP
    >>> result.flows.select("flow", "finish_time_s")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "Ack", "Arrival", "BacklaneError", "CongestionControl", "CongestionState", "Link", "Neighbour",
    "NetworkMap", "Packet", "RateSample", "Router", "RouterContext", "RttSample", "Window",
    "bound", "campaign", "check", "load", "plan", "report", "run", "studies",
]  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backlane import bound, campaign, report, studies
    from backlane._native import (
        Ack,
        Arrival,
        Link,
        Neighbour,
        NetworkMap,
        Packet,
        RateSample,
        RouterContext,
        RttSample,
        Window,
    )
    from backlane.campaign.plan import Plan
    from backlane.congestion import CongestionControl, CongestionState
    from backlane.errors import BacklaneError
    from backlane.results import Results
    from backlane.routing import Router

_NATIVE = (
    "Ack", "Arrival", "Link", "Neighbour", "NetworkMap", "Packet", "RateSample", "RouterContext",
    "RttSample", "Window",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load the larger parts at the first use."""
    from importlib import import_module

    if name in ("bound", "campaign", "report", "studies"):
        return import_module(f"backlane.{name}")
    if name == "BacklaneError":
        return import_module("backlane.errors").BacklaneError
    if name in ("CongestionControl", "CongestionState"):
        return getattr(import_module("backlane.congestion"), name)
    if name == "Router":
        return import_module("backlane.routing").Router
    if name in _NATIVE:
        return getattr(import_module("backlane.native").module(), name)
    raise AttributeError(f"module 'backlane' has no attribute {name!r}")


def check(file: str | Path, overrides: Sequence[tuple[str, str]] = ()) -> list[dict[str, Any]]:
    """Check a scenario file.

    Args:
        file: the scenario.
        overrides: (key, value) pairs put in place before the check.

    Returns:
        The warnings, each with code, message, line and help. Those about the range of radios hold
        for the first run.

    Raises:
        ScenarioError: when it cannot be run as written; `.diagnostics` lists the problems.
        BacklaneError: when it cannot be read, or names a Python class that cannot be used.
    """
    from pathlib import Path

    from backlane import native
    from backlane.campaign.plan import make_plan
    from backlane.files import read_scenario
    from backlane.single import Work, may_have_radios, remarks

    text = read_scenario(Path(file))
    warnings: list[dict[str, Any]] = native.module().check(text, str(file), list(overrides))
    if "python" in text + str(overrides):
        make_plan(Path(file), overrides)
    if may_have_radios(text + str(overrides)):
        first = make_plan(Path(file), overrides)
        work = Work(first, first.cells[0], first.runs[0])
        warnings += remarks(work, file)
    return warnings


def plan(
    file: str | Path, overrides: Sequence[tuple[str, str]] = (), seed: int | None = None
) -> Plan:
    """List the cells, seeds and runs of a scenario file without carrying them out.

    Raises:
        ScenarioError: when the scenario is wrong.
        BacklaneError: when it cannot be read.
    """
    from pathlib import Path

    from backlane.campaign.plan import make_plan

    return make_plan(Path(file), overrides, seed)


def run(
    file: str | Path,
    *,
    seed: int | None = None,
    overrides: Sequence[tuple[str, str]] = (),
    out: str | Path | None = None,
    allow_python: bool = False,
    ignore_memory: bool = False,
    threads: int | None = None,
) -> Results:
    """Carry out a single scenario.

    Args:
        file: the scenario, without [sweep].
        seed: in place of the seed in the file.
        overrides: (key, value) pairs put in place before the run.
        out: write a results folder here; default: keep the tables in memory only.
        allow_python: execute Python that is in the scenario itself or outside of its folder.
        ignore_memory: run even if the estimate exceeds the free memory or disk space.
        threads: threads of the run; None is up to all cores, where that pays. The results do not
            depend on it.

    Raises:
        ScenarioError: when the scenario is wrong.
        RunError: when the run could not be carried out.
        BacklaneError: when a file cannot be read or written, the file is a campaign (R006),
            Python that it brings may not be executed (R025), or the machine does not have the
            memory (R026).
    """
    from pathlib import Path

    from backlane import classes, cost, single
    from backlane.campaign.plan import make_plan

    work = single.only_run(make_plan(Path(file), overrides, seed), file)
    classes.authorize(work.plan.classes(), file, allow_python)
    if not ignore_memory:
        cost.refuse(work.plan, folder=out, file=file)
    if out is not None:
        return single.carry_out(work, Path(out), overrides, threads=threads)
    return single.simulate(work, threads=threads)


def load(folder: str | Path) -> Results:
    """Open a results folder, of a run or of a campaign.

    Raises:
        BacklaneError: R008 when it holds no complete results.
    """
    from pathlib import Path

    from backlane.results import Results

    return Results.open(Path(folder))
