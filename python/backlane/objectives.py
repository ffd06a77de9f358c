"""Measures by which contenders are compared, under the words of ``[compare] measure``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane.stats import Interval
from backlane.text import number, rate, seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from backlane.measures import FlowMeasures


@dataclass(frozen=True)
class Objective:
    """One number of a run, of which less or more is better.

    Attributes:
        word: its name in a scenario and on the command line.
        metric: its name in results, such as "finish time".
        title: what is compared, such as "mean finish time".
        unit: "s", "bit/s" or "" for an index.
        lowest: whether the lowest is best.
        of: its value in a run; NaN where it has none.
    """

    word: str
    metric: str
    title: str
    unit: str
    lowest: bool
    of: Callable[[FlowMeasures], float]

    @property
    def best(self) -> str:
        """The word for the best value: "lowest" or "highest"."""
        return "lowest" if self.lowest else "highest"

    @property
    def axis(self) -> tuple[str, float]:
        """The unit of an axis, and the factor to it."""
        return ("Mbit/s", 1e-6) if self.unit == "bit/s" else (self.unit, 1.0)

    @property
    def counts_unfinished(self) -> bool:
        """Whether a flow that did not finish enters with a lower bound."""
        return self.word in ("finish", "p95_finish")

    def cost(self, measures: FlowMeasures) -> float:
        """The value with its sign such that the lowest is best."""
        value = self.of(measures)
        return value if self.lowest else -value

    def shown(self, value: float) -> str:
        """A value with its unit."""
        if self.unit == "s":
            return seconds(value)
        return rate(value) if self.unit else number(value)

    def interval(self, cost: Interval) -> str:
        """The mean of `cost` with its interval: ``3.21 s [3.10, 3.33]``."""
        found = cost if self.lowest else Interval(
            -cost.mean, -cost.high, -cost.low, cost.count, cost.method
        )  # fmt: skip
        if self.unit == "s":
            return seconds_interval(found)
        ends = f" [{self.shown(found.low)}, {self.shown(found.high)}]" if found.known else ""
        return self.shown(found.mean) + ends

    def change(self, difference: Interval) -> str:
        """A difference of values with its interval: ``−194 ms [−307, −81]``."""
        ends = [difference.mean, difference.low, difference.high]
        if self.unit == "s":
            scale, unit = (1.0, " s") if abs(difference.mean) >= 1 else (1e3, " ms")
        elif self.unit:
            scale, unit = 1e-6, " Mbit/s"
        else:
            scale, unit = 1.0, ""
        mean, low, high = (_signed(end * scale, difference.mean * scale) for end in ends)
        return f"{mean}{unit}" + (f" [{low}, {high}]" if difference.known else "")


def _signed(value: float, like: float) -> str:
    """A number with its sign, in the digits of another."""
    return ("−" if value < 0 else "+") + number(abs(value), like=abs(like))


def seconds_interval(value: Interval) -> str:
    """A mean in seconds or milliseconds with its interval in the same unit."""
    if not value.known:
        return seconds(value.mean)
    scale, unit = (1.0, "s") if abs(value.mean) >= 1 else (1e3, "ms")
    mean, low, high = (one * scale for one in (value.mean, value.low, value.high))
    return f"{number(mean)} {unit} [{number(low, like=mean)}, {number(high, like=mean)}]"


OBJECTIVES = {
    one.word: one
    for one in (
        Objective("finish", "finish time", "mean finish time", "s", True,
                  lambda m: m.ranking_s),
        Objective("p95_finish", "95th percentile of finish time",
                  "95th percentile of finish time", "s", True, lambda m: m.ranking_p95_s),
        Objective("goodput", "goodput", "mean goodput", "bit/s", False,
                  lambda m: m.goodput_bps),
        Objective("least_goodput", "smallest goodput", "smallest goodput of a flow", "bit/s", False,
                  lambda m: m.least_goodput_bps),
        Objective("delivered", "total goodput", "total goodput", "bit/s", False,
                  lambda m: m.delivered_bps),
        Objective("rtt", "RTT", "mean RTT", "s", True, lambda m: m.rtt_s.mean),
        Objective("fairness", "fairness", "Jain's index of goodput", "", False, lambda m: m.jain),
    )
}  # fmt: skip
"""Every objective by its word."""


def default(finite: bool) -> Objective:
    """The objective of a scenario that names none: of flows with a size their finish time."""
    return OBJECTIVES["finish" if finite else "goodput"]
