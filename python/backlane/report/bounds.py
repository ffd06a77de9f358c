"""Each contender as a share of what any routing could have reached."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane.campaign.assemble import cell_path
from backlane.errors import BacklaneError
from backlane.folder import RESOLVED
from backlane.stats import UNIT, Interval, mean_interval
from backlane.text import number, rate, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backlane.bound import Bound
    from backlane.bound.program import Program
    from backlane.measures import FlowMeasures
    from backlane.report.data import CellData, Network

MOST_VARIABLES = 10_000
"""Of a linear program that a report solves; `backlane bound` solves larger ones."""
MOST_PROGRAMS = 60
"""Different ones that a report solves for a network: of more, the first ones."""
LIMIT_S = 60.0
MOST_TIGHT = 4
"""Resources that a report names for a condition."""

HEADER = ("network", "condition", "choice", "measure", "bound", "share of the bound")
WHY = (
    "The bound holds for any routing, over all paths at once; what makes it one is left out of it: "
    "queues, losses, slow start, acknowledgments, and of 802.11 and LTE all that air costs beyond "
    "the frames. A share of 100 % may be out of reach. See `backlane bound`."
)


@dataclass(frozen=True)
class Share:
    """A contender beside the bound of its measure.

    Attributes:
        network: name of the network.
        condition: name of the condition; may be empty.
        contender: name of the contender.
        measure: "mean finish time", "total goodput" or "least goodput".
        bound: mean over seeds, in seconds or bit/s.
        share: bound over value of a time, value over bound of a rate; mean over seeds.
        is_upper: whether flows did not finish, so that the share is less than this.
    """

    network: str
    condition: str
    contender: str
    measure: str
    bound: float
    share: Interval
    is_upper: bool

    def row(self) -> list[str]:
        """For tables."""
        is_time = self.measure == "mean finish time"
        bound = f"≥ {seconds(self.bound)}" if is_time else f"≤ {rate(self.bound)}"
        return [
            self.network, self.condition or "–", self.contender, self.measure, bound, self.text,
        ]  # fmt: skip

    @property
    def text(self) -> str:
        """The share with its interval, in percent."""
        sign = "≤ " if self.is_upper else ""
        mean = f"{sign}{number(100 * self.share.mean, 2)} %"
        if not self.share.known:
            return mean
        low, high = (number(100 * end, 2) for end in (self.share.low, self.share.high))
        return f"{mean} [{low}, {high}]"

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "network": self.network,
            "condition": self.condition,
            "name": self.contender,
            "measure": self.measure,
            "unit": "s" if self.measure == "mean finish time" else "bit/s",
            "bound": self.bound,
            "share": self.share.mean,
            "low": self.share.low if self.share.known else None,
            "high": self.share.high if self.share.known else None,
            "upper_bound": self.is_upper,
        }


@dataclass(frozen=True)
class Shares:
    """The contenders of a network beside the bounds.

    Attributes:
        shares: of each contender and measure.
        tight: for each condition a sentence about what limits it.
        missing: why there are none; None if there are.
    """

    shares: list[Share]
    tight: list[str]
    missing: str | None = None


def shares_of(network: Network) -> Shares:
    """Compute the bounds of the runs of a network; those of equal networks and flows once."""
    folder = network.results.folder
    assert folder is not None
    bounds = Bounds(folder, network.name)
    shares: list[Share] = []
    tight: list[str] = []
    for condition in network.conditions:
        first: Bound | None = None
        for cell in network.at(condition):
            try:
                pairs = [
                    (bounds.of(cell.index, seed), measures)
                    for seed, measures in cell.by_seed.items()
                ]
            except BacklaneError as error:
                return Shares([], [], error.message)
            known = [(bound, measures) for bound, measures in pairs if bound is not None]
            if not known:
                continue
            first = first or known[0][0]
            shares += _shares(network, cell, known)
        if first is not None and first.tight:
            tight.append(_limits(condition, first))
    if not shares:
        return Shares([], [], "the flows of its runs have none")
    return Shares(shares, tight)


class Bounds:
    """The bounds of the runs of a results folder; those of equal networks and flows once."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._texts: dict[int, dict[str, Any]] = {}
        self._known: dict[str, Bound] = {}

    def of(self, cell: int, seed: int) -> Bound | None:
        """The bound of a run; None beyond `MOST_PROGRAMS`.

        Raises:
            BacklaneError: R050 to R052.
        """
        from backlane.bound.bounds import identity, of_program
        from backlane.bound.network import program_of

        program = program_of(self._scenario(cell), seed, self._name)
        _require_small(program)
        key = identity(program)
        if key not in self._known:
            if len(self._known) >= MOST_PROGRAMS:
                return None
            self._known[key] = of_program(program, self._name, seed, limit_s=LIMIT_S)
        return self._known[key]

    def _scenario(self, cell: int) -> dict[str, Any]:
        from backlane.bound.bounds import parsed

        if cell not in self._texts:
            path = cell_path(self._folder, cell)
            path = path if path.is_file() else self._folder / RESOLVED
            try:
                self._texts[cell] = parsed(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise BacklaneError(
                    "R051", f"{path.name} cannot be read", path, "run the scenario again"
                ) from error
        return self._texts[cell]


def _require_small(program: Program) -> None:
    if program.variables > MOST_VARIABLES:
        raise BacklaneError(
            "R052",
            "the network is too large for a report; `backlane bound` answers",
            None,
            None,
        )


def _shares(
    network: Network, cell: CellData, pairs: Sequence[tuple[Bound, FlowMeasures]]
) -> list[Share]:
    found = []
    for measure in ("mean finish time", "total goodput", "least goodput"):
        values = [share_of(measure, bound, measures) for bound, measures in pairs]
        known = [value for value in values if value is not None]
        if not known:
            continue
        bounds = [bound for bound, _ in known]
        found.append(
            Share(
                network=network.name,
                condition=cell.condition,
                contender=cell.contender,
                measure=measure,
                bound=math.fsum(bounds) / len(bounds),
                share=mean_interval([share for _, share in known], UNIT),
                is_upper=measure == "mean finish time" and bool(cell.unfinished),
            )
        )
    return found


def share_of(measure: str, bound: Bound, measures: FlowMeasures) -> tuple[float, float] | None:
    """A bound and the share of it that a run reached; None where they cannot be compared."""
    if measure == "mean finish time":
        finish = bound.finish
        if finish is None or len(finish.flows) != measures.finite or measures.ranking_s <= 0:
            return None
        share = finish.mean_s / measures.ranking_s
        return (finish.mean_s, share) if math.isfinite(share) else None
    if not bound.is_endless or measures.flows != len(bound.flows):
        return None
    if measure == "total goodput":
        return bound.total_mbps * 1e6, measures.delivered_bps / (bound.total_mbps * 1e6)
    return bound.least_mbps * 1e6, measures.least_goodput_bps / (bound.least_mbps * 1e6)


def _limits(condition: str, bound: Bound) -> str:
    """What limits the flows of a condition, and what more of it would add."""
    priced = [row for row in bound.tight if row.least_price > 0]
    rows = sorted(priced, key=lambda row: -row.least_price)
    named = [
        f"{row.resource} ({row.gain(row.least_price)} to each flow for {row.step} more)"
        for row in rows[:MOST_TIGHT]
    ]
    more = f" and {len(rows) - MOST_TIGHT} more" if len(rows) > MOST_TIGHT else ""
    where = f"At {condition}: " if condition else ""
    if not named:
        return f"{where}the flows are limited by their sources alone."
    return f"{where}tight for all flows at the same time are {', '.join(named)}{more}."
