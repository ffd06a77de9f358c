"""The bounds as linear programs, solved by HiGHS (Huangfu and Hall 2018).

Variables are the flow of each commodity on each arc and the rate of each demand. Commodities have
a common source or destination, so that a download of a hundred UEs from one server needs one set
of arc flows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from backlane.bound.program import Floats, Program

FROZEN = 1e-7
"""A demand whose row has a larger price cannot get more."""


@dataclass(frozen=True)
class Solution:
    """An optimum."""

    value: float
    rates_mbps: Floats
    """Of each demand, all its flows together."""
    prices: Floats
    """Of each resource: what one more unit of its capacity adds to the value."""
    floor_prices: Floats
    """Of each demand: what its claim to the common rate costs the value."""


def highs() -> Any:
    """The module `highspy`.

    Raises:
        BacklaneError: R052 when it is not installed.
    """
    try:
        import highspy
    except ImportError as error:
        raise BacklaneError(
            "R052",
            f"the solver cannot be loaded: {error}",
            "highspy",
            "install it: pip install highspy",
        ) from error
    return highspy


class LinearProgram:
    """The polytope of arc flows and rates, with an objective that can change.

    Columns: the arc flows of each commodity, then a rate for each demand, then the common rate.
    """

    def __init__(self, program: Program, limit_s: float, threads: int = 1) -> None:
        self.program = program
        self._highspy = highs()
        self._deadline = time.monotonic() + limit_s
        self._limit_s = limit_s
        arcs, demands = len(program.arcs), len(program.demands)
        self._rates = arcs * len(program.commodities)
        self._common = self._rates + demands
        self._columns = self._common + 1
        matrix, equalities = self._matrix()
        self._resources = equalities
        self._floors = equalities + len(program.resources)
        lp = self._highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self._columns, matrix.shape[0]
        lp.col_cost_ = np.zeros(self._columns)
        lp.col_lower_ = np.zeros(self._columns)
        upper = np.full(self._columns, np.inf)
        for index, demand in enumerate(program.demands):
            upper[self._rates + index] = demand.cap_mbps * len(demand.flows)
        lp.col_upper_ = upper
        lower_rows = np.full(matrix.shape[0], 0.0)
        upper_rows = np.full(matrix.shape[0], 0.0)
        lower_rows[self._resources : self._floors] = -np.inf
        upper_rows[self._resources : self._floors] = program.capacities
        upper_rows[self._floors :] = np.inf
        lp.row_lower_, lp.row_upper_ = lower_rows, upper_rows
        columns = matrix.tocsc()
        lp.a_matrix_.format_ = self._highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = columns.indptr
        lp.a_matrix_.index_ = columns.indices
        lp.a_matrix_.value_ = columns.data
        lp.sense_ = self._highspy.ObjSense.kMaximize
        # The public class announces itself on standard output; its base does not.
        self._solver = self._highspy.Highs.__bases__[0]()
        self._solver.setOptionValue("output_flag", False)
        self._solver.setOptionValue("threads", threads)
        self._solver.setOptionValue("random_seed", 0)
        self._solver.passModel(lp)
        self._upper = upper

    def _matrix(self) -> tuple[sparse.csr_array, int]:
        """The rows: conservation at each node, resources, floors of the rates."""
        program = self.program
        nodes, arcs, demands = len(program.nodes), len(program.arcs), len(program.demands)
        of_arcs = np.arange(arcs)
        incidence = sparse.csr_array(
            (
                np.r_[np.ones(arcs), -np.ones(arcs)],
                (np.r_[program.heads, program.tails], np.r_[of_arcs, of_arcs]),
            ),
            shape=(nodes, arcs),
        )
        count = len(program.commodities)
        blocks: list[list[Any]] = []
        for place, commodity in enumerate(program.commodities):
            # Into a destination flows what its demands get; out of the common source, anything.
            kept = np.flatnonzero(np.arange(nodes) != commodity.end)
            sign = 1.0 if commodity.from_source else -1.0
            far = [
                program.demands[d].destination if commodity.from_source
                else program.demands[d].source
                for d in commodity.demands
            ]  # fmt: skip
            outflow = sparse.csr_array(
                (-np.ones(len(far)), (far, list(commodity.demands))), shape=(nodes, demands)
            )
            row: list[Any] = [None] * count + [outflow[kept], sparse.csr_array((len(kept), 1))]
            row[place] = sign * incidence[kept]
            blocks.append(row)
        used = [program.use[commodity.class_] for commodity in program.commodities]
        blocks.append([*used, None, None])
        weights = np.array([[-demand.weight] for demand in program.demands])
        blocks.append([None] * count + [sparse.eye_array(demands), sparse.csr_array(weights)])
        matrix = sparse.csr_array(sparse.block_array(blocks, format="csr"))
        return matrix, matrix.shape[0] - len(program.resources) - demands

    def maximise(self, total: bool = False) -> Solution:
        """Maximise the sum of all rates, or the common rate.

        Raises:
            BacklaneError: R052.
        """
        program = self.program
        costs = np.zeros(self._columns)
        if total:
            costs[self._rates : self._common] = 1.0
        else:
            costs[self._common] = 1.0
        every = np.arange(self._columns, dtype=np.int32)
        self._solver.changeColsCost(self._columns, every, costs)
        # Without a common rate the floors are zero.
        self._solver.changeColBounds(self._common, 0.0, 0.0 if total else np.inf)
        return self._solve(program)

    def freeze(self, demand: int, rate_mbps: float) -> None:
        """Hold a demand at the common rate per unit of weight that it has reached."""
        whole = rate_mbps * self.program.demands[demand].weight
        least = whole * (1 - 1e-9)
        self._solver.changeColBounds(
            self._rates + demand, min(least, self._upper[self._rates + demand]), whole
        )
        self._solver.changeRowBounds(self._floors + demand, -np.inf, np.inf)

    def least_load(self, rates_mbps: Floats) -> tuple[Floats, Floats]:
        """The rates that are reached, at most these, with the least load on all arcs together.

        Args:
            rates_mbps: of each demand, all its flows together, as an optimum of this program has
                them; the solver may reach a billionth less.

        Returns:
            The rate of each demand, and by commodity and arc the flow; both payload in Mbit/s.

        Raises:
            BacklaneError: R052.
        """
        program = self.program
        rates = np.minimum(rates_mbps, self._upper[self._rates : self._common])
        columns = np.arange(self._columns, dtype=np.int32)
        costs = np.zeros(self._columns)
        costs[: self._rates] = -1.0
        self._solver.changeColsCost(self._columns, columns, costs)
        self._solver.changeColBounds(self._common, 0.0, 0.0)
        for index, rate in enumerate(rates):
            self._solver.changeColBounds(self._rates + index, rate * (1 - 1e-9), rate)
            self._solver.changeRowBounds(self._floors + index, -np.inf, np.inf)
        self._solve(program)
        values = np.maximum(np.array(self._solver.getSolution().col_value), 0.0)
        flows = values[: self._rates].reshape(len(program.commodities), len(program.arcs))
        return values[self._rates : self._common], flows

    def _solve(self, program: Program) -> Solution:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._too_large()
        self._solver.setOptionValue("time_limit", self._solver.getRunTime() + left)
        self._solver.run()
        status = self._solver.getModelStatus()
        if status == self._highspy.HighsModelStatus.kTimeLimit:
            raise self._too_large()
        if status != self._highspy.HighsModelStatus.kOptimal:
            raise BacklaneError(
                "R052",
                f"the solver ended with: {self._solver.modelStatusToString(status)}",
                f"{self._columns} variables",
                "give --method approximate",
            )
        solution = self._solver.getSolution()
        duals = np.abs(np.array(solution.row_dual))
        values = np.array(solution.col_value)
        return Solution(
            value=self._solver.getInfo().objective_function_value,
            rates_mbps=values[self._rates : self._common],
            prices=duals[self._resources : self._floors],
            floor_prices=duals[self._floors :],
        )

    def _too_large(self) -> BacklaneError:
        return BacklaneError(
            "R052",
            f"the linear program of {self._columns} variables took longer than {self._limit_s:g} s",
            f"{len(self.program.nodes)} nodes, {len(self.program.commodities)} commodities",
            "give --method approximate, or a longer --time-limit",
        )


def max_min(program: Program, linear: LinearProgram) -> tuple[Floats, list[Solution]]:
    """Max-min fair rates of each demand, per unit of weight, and the optimum of each level.

    Raise the common rate; hold the demands that cannot get more; repeat with the others.
    """
    rates = np.full(len(program.demands), np.nan)
    levels = []
    while np.isnan(rates).any():
        level = linear.maximise()
        levels.append(level)
        held = np.flatnonzero(np.isnan(rates) & (level.floor_prices > FROZEN))
        if len(held) == 0:
            # Only by rounding: the level is reached all the same.
            held = np.flatnonzero(np.isnan(rates))
        for demand in held:
            rates[demand] = level.value
            linear.freeze(int(demand), level.value)
    return rates, levels
