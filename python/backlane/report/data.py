"""Results folders arranged for judging: networks, conditions, contenders.

`contenders` describes which swept keys make a contender and which make a condition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.measures import FlowMeasures, by_control, measure
from backlane.report import contenders
from backlane.results import Results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backlane.campaign.plan import Label

_WORDS = {
    "access.ues": "UEs",
    "tcp.congestion_control": "congestion control",
}


@dataclass
class CellData:
    """One contender under one condition.

    Attributes:
        contender: name, such as ``bp-mr/flow``.
        condition: name, such as ``100 UEs``; empty when no other key was swept.
        by_seed: the measures of each run.
        run_ids: the run of each seed.
        index: of the cell in the plan.
        by_control: the measures of the flows of each congestion control, by its name and seed;
            empty unless the runs have several.
        results: where the tables are.
    """

    contender: str
    condition: str
    results: Results
    by_seed: dict[int, FlowMeasures] = field(default_factory=dict)
    run_ids: dict[int, str] = field(default_factory=dict)
    index: int = 0
    by_control: dict[str, dict[int, FlowMeasures]] = field(default_factory=dict)

    @property
    def unfinished(self) -> list[str]:
        """Flows that did not finish, with their seed."""
        return [
            f"{flow} (seed {seed})"
            for seed, measures in self.by_seed.items()
            for flow in measures.unfinished
        ]

    @property
    def finite_flows(self) -> int:
        """Flows with a size, over all seeds."""
        return sum(measures.finite for measures in self.by_seed.values())


@dataclass
class Network:
    """All cells of one scenario.

    Attributes:
        name: of the scenario; with the folder when two folders have the same name.
        choices: the swept keys that make a contender.
        givens: the swept keys that make a condition.
        cells: in the order of the plan.
        results: the folder.
    """

    name: str
    choices: list[str]
    givens: list[str]
    cells: list[CellData]
    results: Results

    @property
    def contenders(self) -> list[str]:
        """Names in the order of the plan."""
        return list(dict.fromkeys(cell.contender for cell in self.cells))

    @property
    def conditions(self) -> list[str]:
        """Names in the order of the plan."""
        return list(dict.fromkeys(cell.condition for cell in self.cells))

    @property
    def has_choice(self) -> bool:
        """Whether the contenders are choices, and not all that was swept for lack of one."""
        named = self.results.compared_keys
        return bool(named) or any(contenders.is_choice(key) for key in self.choices)

    @property
    def seed_count(self) -> int:
        """The smallest number of seeds of a cell."""
        return min((len(cell.by_seed) for cell in self.cells), default=0)

    def at(self, condition: str) -> list[CellData]:
        """The cells under one condition."""
        return [cell for cell in self.cells if cell.condition == condition]


def value_text(key: str, value: Label) -> str:
    """A swept value as words."""
    word = _WORDS.get(key)
    if word == "UEs":
        return f"{value} UEs"
    if isinstance(value, str):
        # A class that was passed as an object.
        value = re.sub(r"^python:<(.+)>:\w+$", r"\1", value)
    if contenders.words(key)[0] in contenders.SECTIONS and isinstance(value, str):
        return value
    return f"{word or key} = {value}"


def load(folders: Sequence[Path]) -> list[Network]:
    """Open results folders.

    Raises:
        BacklaneError: R008, R010 for folders that cannot be read, R019 when one holds no
            finished run.
    """
    opened = [Results.open(folder) for folder in folders]
    names = [results.name for results in opened]
    return [
        network_of(
            results,
            results.name if names.count(results.name) == 1 else f"{results.name} ({folder.name})",
        )
        for results, folder in zip(opened, folders, strict=True)
    ]


def network_of(results: Results, name: str) -> Network:
    """The cells of results, with the measures of each run.

    Raises:
        BacklaneError: R019 when no run has finished.
    """
    if not results.manifest.get("runs_finished"):
        raise BacklaneError(
            "R019", "no run has finished here", results.folder, "see `backlane campaign status`"
        )
    choices = contenders.choices(results.parameters, results.compared_keys)
    givens = [key for key in results.parameters if key not in choices]
    cells = [
        CellData(label(choices, parameters) or "as configured", label(givens, parameters),
                 results, index=index)
        for index, parameters in enumerate(results.cells)
    ]  # fmt: skip
    flows = _flows_by_run(results)
    runs = results.runs.select("run_id", "cell", "seed", "traffic_s")
    for run_id, cell, seed, traffic_s in runs.rows():
        rows = flows.get(run_id, [])
        cells[cell].by_seed[seed] = measure(rows, float(traffic_s))
        for control, of_control in by_control(rows).items():
            measures = measure(of_control, float(traffic_s))
            cells[cell].by_control.setdefault(control, {})[seed] = measures
        cells[cell].run_ids[seed] = run_id
    finished = [cell for cell in cells if cell.by_seed]
    return Network(name, choices, givens, finished, results)


def label(keys: Sequence[str], parameters: Mapping[str, Label]) -> str:
    """The values of some swept keys as a name; empty for no keys."""
    return ", ".join(value_text(key, parameters[key]) for key in keys)


def _flows_by_run(results: Results) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in results.flows.iter_rows(named=True):
        groups.setdefault(row["run_id"], []).append(row)
    return groups
