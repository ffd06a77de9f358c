"""The plan of a scenario file: cells, seeds and runs."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from backlane import native
from backlane.errors import BacklaneError
from backlane.folder import FORMAT
from backlane.scenario import Overrides, Scenario, Source, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backlane.classes import Named

Label = str | int | float | bool
"""The value of a swept parameter, ready to print."""


@dataclass(frozen=True)
class Cell:
    """One combination of the swept parameters."""

    index: int
    parameters: dict[str, Label]
    resolved: str
    """The complete scenario, every default filled in, as TOML."""
    hash: str


@dataclass(frozen=True)
class Run:
    """One resolved scenario with one seed.

    Attributes:
        run_id: a hash of resolved scenario, seed and model version.
        cell: the first cell with this scenario.
        seed: of the run.
    """

    run_id: str
    cell: int
    seed: int


@dataclass(frozen=True)
class Plan:
    """All runs of a scenario file, in the order in which tables list them.

    Each run is listed once. Cells that resolve to the same scenario share their runs: `rows` lists
    every cell with every seed, and the run that serves it.
    """

    name: str
    scenario_hash: str
    model_version: str
    parameters: list[str]
    cells: list[Cell]
    seeds: list[int]
    runs: list[Run]
    compare: dict[str, Any] | None = None
    """The section `[compare]`: ``keys``, ``measure``, ``equal_within``; None if there is none."""
    custom_controls: list[dict[str, Any]] = field(default_factory=list, repr=False)
    """The congestion controls that the scenario brings; only of a plan that was just made."""
    python_routers: list[dict[str, Any]] = field(default_factory=list, repr=False)
    """The Python classes of its routers, with their parameters; likewise."""

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Plan:
        """Read the JSON form.

        Raises:
            KeyError: when an entry is missing.
            TypeError, ValueError: when one has another form.
        """
        cells = [
            Cell(
                _of(c["index"], int), _of(c["parameters"], dict), _of(c["resolved"], str),
                _of(c["hash"], str),
            )
            for c in value["cells"]
        ]  # fmt: skip
        if [cell.index for cell in cells] != list(range(len(cells))):
            raise ValueError("the cells are not numbered")
        runs = [Run(_run_id(r["run_id"]), _of(r["cell"], int), _of(r["seed"], int))
                for r in value["runs"]]  # fmt: skip
        if any(not 0 <= run.cell < len(cells) for run in runs):
            raise ValueError("a run belongs to no cell")
        plan = cls(
            name=_of(value["name"], str),
            scenario_hash=_of(value["scenario_hash"], str),
            model_version=_of(value["model_version"], str),
            parameters=[_of(key, str) for key in value["parameters"]],
            cells=cells,
            seeds=[_of(seed, int) for seed in value["seeds"]],
            runs=runs,
            compare=_compare(value.get("compare"), value["parameters"]),
            custom_controls=list(value.get("custom_controls", ())),
            python_routers=list(value.get("python_routers", ())),
        )
        _ = list(plan.rows())
        return plan

    @cached_property
    def _by_scenario(self) -> dict[tuple[str, int], Run]:
        return {(self.cells[run.cell].hash, run.seed): run for run in self.runs}

    def rows(self) -> Iterator[tuple[Cell, Run]]:
        """Every cell with every seed, as the run that serves it, in the order of tables."""
        for cell in self.cells:
            for seed in self.seeds:
                yield cell, self._by_scenario[cell.hash, seed]

    def classes(self) -> list[Named]:
        """The Python classes that the scenario names."""
        if not self.custom_controls and not self.python_routers:
            return []
        from backlane import congestion, routing

        return congestion.named(self.custom_controls) + routing.named(self.python_routers)

    def shard(self, part: tuple[int, int] | None) -> list[Run]:
        """Every n-th run, beginning with the i-th (from 1); all runs for None."""
        if part is None:
            return list(self.runs)
        index, count = part
        return self.runs[index - 1 :: count]

    def as_dict(self) -> dict[str, Any]:
        """The plan without the resolved texts, which are kept as files of their own."""
        return {
            "format": FORMAT,
            "name": self.name,
            "scenario_hash": self.scenario_hash,
            "model_version": self.model_version,
            "parameters": self.parameters,
            "cells": [
                {
                    "index": c.index,
                    "parameters": c.parameters,
                    "hash": c.hash,
                    "sha256": hashlib.sha256(c.resolved.encode()).hexdigest(),
                }
                for c in self.cells
            ],
            "seeds": self.seeds,
            "runs": [{"run_id": r.run_id, "cell": r.cell, "seed": r.seed} for r in self.runs],
            **({} if self.compare is None else {"compare": self.compare}),
        }


def _of(value: Any, kind: type[Any]) -> Any:
    """The value, if it is of a type; a boolean is no integer.

    Raises:
        TypeError: otherwise.
    """
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{value!r:.40} is no {kind.__name__}")
    return value


def _compare(value: Any, swept: Sequence[str]) -> dict[str, Any] | None:
    """What is compared, if it has its form.

    Raises:
        KeyError, TypeError, ValueError: otherwise.
    """
    if value is None:
        return None
    if not set(_of(value["keys"], list)) <= set(swept):
        raise ValueError("a compared key is not swept")
    if value["measure"] is not None:
        _of(value["measure"], str)
    if value["equal_within"] is not None:
        _of(value["equal_within"], float)
    return dict(value)


def _run_id(value: Any) -> str:
    """A run id, which names a folder.

    Raises:
        ValueError: when it is none.
    """
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{16}", value):
        raise ValueError(f"{value!r:.40} is no run id")
    return value


def parse_overrides(settings: Sequence[str]) -> list[tuple[str, str]]:
    """Split KEY=VALUE.

    Raises:
        BacklaneError: R012.
    """
    pairs = []
    for setting in settings:
        key, sign, value = setting.partition("=")
        if not sign or not key.strip():
            raise BacklaneError(
                "R012",
                f'"{setting}" is not KEY=VALUE',
                "--set",
                'write for example --set access.ues=50 or --set duration="60 s"',
            )
        pairs.append((key.strip(), value.strip()))
    return pairs


def parse_shard(text: str | None) -> tuple[int, int] | None:
    """Read ``i/n``.

    Raises:
        BacklaneError: R012.
    """
    if text is None:
        return None
    # `int` also accepts digits of other scripts.
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    index, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= index <= count:
        raise BacklaneError(
            "R012", f'"{text}" is not a shard', "--shard", "write i/n with 1 ≤ i ≤ n, such as 1/4"
        )
    return index, count


def make_plan(
    scenario: Scenario | Source, overrides: Overrides = (), seed: int | None = None
) -> Plan:
    """Read and check a scenario and list its runs.

    Raises:
        BacklaneError: when the scenario cannot be read, or names a Python class that cannot be
            used.
        ScenarioError: when the scenario is wrong.
    """
    source = read(scenario, overrides)
    with source.located():
        found = native.module().plan(source.text, source.name, source.overrides, seed)
    plan = Plan.from_dict(json.loads(found))
    if plan.custom_controls or plan.python_routers:
        from backlane import outline

        outline.verify(plan.classes(), source.name)
    return plan
