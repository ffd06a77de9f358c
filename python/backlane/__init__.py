"""Backlane: which backhaul routing, with which TCP congestion control, serves a network best.

The functions of the command line:

* `check` a scenario, `plan` its runs,
* `run` a single scenario and get its tables,
* `sweep` a scenario over values and seeds and get the tables of all runs,
* `campaign.run` a campaign in a folder, which can be interrupted and continued,
* `recommend.of` a scenario the best contender, with as few runs as suffice,
* `load` a results folder,
* `bound.of` a scenario: what no routing could beat.

A scenario is a path, a text in TOML, or a dict with the content of a file. `CongestionControl` and
`Router` are the base classes of congestion controls and routers in Python; a scenario in a dict
takes the class itself.

Example:
    >>> import backlane
    >>> result = backlane.run(
    ...     {
    ...         "name": "two nodes",
    ...         "duration": "2 s",
    ...         "topology": {
    ...             "kind": "chain",
    ...             "nodes": 2,
    ...             "link": {"rate": "10 Mbit/s", "delay": "5 ms"},
    ...         },
    ...         "flow": [{"kind": "transfer", "from": "enb1", "to": "enb2", "size": "1 MB"}],
    ...     },
    ...     seed=3,
    ... )
    >>> result.flows["finish_time_s"].round(2).to_list()
    [0.85]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "Ack", "Arrival", "BacklaneError", "CongestionControl", "CongestionState", "Link", "Neighbour",
    "NetworkMap", "Overrides", "Packet", "Plan", "RateSample", "Results", "Router",
    "RouterContext", "RttSample", "RunError", "Scenario", "ScenarioError", "Window", "bound",
    "campaign", "check", "load", "plan", "recommend", "report", "run", "studies", "sweep",
]  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backlane import bound, campaign, recommend, report, studies
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
        RunError,
        ScenarioError,
        Window,
    )
    from backlane.campaign.plan import Plan
    from backlane.congestion import CongestionControl, CongestionState
    from backlane.errors import BacklaneError
    from backlane.progress import Progress
    from backlane.results import Results
    from backlane.routing import Router
    from backlane.scenario import Overrides, Scenario

_HOMES = {
    "BacklaneError": "errors", "CongestionControl": "congestion", "CongestionState": "congestion",
    "Overrides": "scenario", "Plan": "campaign.plan", "Results": "results", "Router": "routing",
    "Scenario": "scenario",
}  # fmt: skip
"""The modules of names that are loaded at their first use."""
_NATIVE = (
    "Ack", "Arrival", "Link", "Neighbour", "NetworkMap", "Packet", "RateSample", "RouterContext",
    "RttSample", "RunError", "ScenarioError", "Window",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load the larger parts at the first use."""
    from importlib import import_module

    if name in ("bound", "campaign", "recommend", "report", "studies"):
        return import_module(f"backlane.{name}")
    if name in _HOMES:
        return getattr(import_module(f"backlane.{_HOMES[name]}"), name)
    if name in _NATIVE:
        return getattr(import_module("backlane.native").module(), name)
    raise AttributeError(f"module 'backlane' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, those included that are not loaded yet."""
    return sorted([*__all__, "__version__", "__doc__"])


def check(file: Scenario, overrides: Overrides = ()) -> list[dict[str, Any]]:
    """Check a scenario.

    Args:
        file: the scenario: a path, a text in TOML (of more than one line), or a dict with the
            content of a file.
        overrides: values put in place before the check: a dict, such as ``{"access.ues": 50}``, or
            pairs of key and TOML, such as ``("duration", "60 s")``.

    Returns:
        The warnings, each with code, message, line and help; of a dict with the path of the entry
        in place of the line. Those about the range of radios hold for the first run.

    Raises:
        ScenarioError: when it cannot be run as written; `.diagnostics` lists the problems.
        BacklaneError: when it cannot be read, or names a Python class that cannot be used.
    """
    from backlane import native
    from backlane.campaign.plan import make_plan
    from backlane.scenario import read
    from backlane.single import Work, may_have_radios, remarks

    source = read(file, overrides)
    with source.located():
        warnings = source.relocated(
            native.module().check(source.text, source.name, source.overrides)
        )
    whole = source.text + str(source.overrides)
    if "python" in whole:
        make_plan(source)
    if may_have_radios(whole):
        first = make_plan(source)
        work = Work(first, first.cells[0], first.runs[0])
        warnings += remarks(work, source.name)
    return warnings


def plan(file: Scenario, overrides: Overrides = (), seed: int | None = None) -> Plan:
    """List the cells, seeds and runs of a scenario without carrying them out.

    Args:
        file: the scenario, as for `check`.
        overrides: as for `check`.
        seed: in place of the seeds of the scenario.

    Raises:
        ScenarioError: when the scenario is wrong.
        BacklaneError: when it cannot be read.
    """
    from backlane.campaign.plan import make_plan

    return make_plan(file, overrides, seed)


def run(
    file: Scenario,
    *,
    seed: int | None = None,
    overrides: Overrides = (),
    out: str | Path | None = None,
    allow_python: bool = False,
    ignore_memory: bool = False,
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Results:
    """Carry out a single scenario.

    Args:
        file: the scenario, as for `check`, without [sweep].
        seed: in place of the seed in the scenario.
        overrides: as for `check`.
        out: write a results folder here; default: keep the tables in memory only.
        allow_python: execute Python that is in the scenario itself or outside of its folder.
            Classes that are passed as objects need no permission.
        ignore_memory: run even if the estimate exceeds the free memory or disk space.
        threads: threads of the run; None is up to all cores, where that pays. The results do not
            depend on it.
        progress: True shows a bar, None shows one in notebooks; or a receiver.

    Raises:
        ScenarioError: when the scenario is wrong.
        RunError: when the run could not be carried out.
        BacklaneError: when a file cannot be read or written, the scenario is a campaign (R006),
            Python that it brings may not be executed (R025), or the machine does not have the
            memory (R026).
    """
    from pathlib import Path

    from backlane import classes, cost, single
    from backlane.campaign.plan import make_plan
    from backlane.progress import shown
    from backlane.scenario import read

    source = read(file, overrides)
    work = single.only_run(make_plan(source, seed=seed), source.name)
    classes.authorize(work.plan.classes(), source.name, allow_python, own=source.own)
    if not ignore_memory:
        cost.refuse(work.plan, folder=out, file=source.name)
    with shown(progress, work.plan.name, 100.0, "%") as bar:
        report = None if bar is None else single.percent(bar)
        if out is not None:
            return single.carry_out(work, Path(out), source.overrides, report, threads)
        return single.simulate(work, report, threads)


def sweep(
    file: Scenario,
    over: Mapping[str, Any] | None = None,
    *,
    seeds: int | Sequence[int] | None = None,
    overrides: Overrides = (),
    out: str | Path | None = None,
    workers: int | None = None,
    allow_python: bool = False,
    ignore_memory: bool = False,
    progress: Progress | bool | None = None,
) -> Results:
    """Carry out a scenario for every combination of values and every seed.

    Args:
        file: the scenario, as for `check`. Its own [sweep] holds where `over` and `seeds` say
            nothing else.
        over: lists of values by key, such as ``{"routing.protocol": ["olsr", "bp-mr"]}``.
        seeds: their number, or a list.
        overrides: as for `check`.
        out: the campaign folder: finished runs in it are not repeated. Default: keep the tables in
            memory only.
        workers: threads; default all cores this process may use.
        allow_python: as for `run`.
        ignore_memory: as for `run`.
        progress: as for `run`.

    Returns:
        The tables of all runs; `Results.joined` has the swept values beside each row.

    Raises:
        ScenarioError: when the scenario is wrong.
        RunError: when a run failed and the tables are kept in memory.
        BacklaneError: as for `campaign.run`.
    """
    from backlane.campaign import swept

    return swept.run(
        file, over, seeds, overrides, out, workers=workers, allow_python=allow_python,
        ignore_memory=ignore_memory, progress=progress,
    )  # fmt: skip


def load(folder: str | Path) -> Results:
    """Open a results folder, of a run or of a campaign.

    Args:
        folder: written by `run`, `sweep`, `campaign.run` or the command line.

    Raises:
        BacklaneError: R008 when it holds no complete results.
    """
    from pathlib import Path

    from backlane.results import Results

    return Results.open(Path(folder))
