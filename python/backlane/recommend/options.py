"""What a recommendation may spend, and other values of its options."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from backlane import cost
from backlane.bound.quantities import number
from backlane.errors import BacklaneError

_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Budget:
    """A limit of runs or of CPU time.

    Stored runs count with the CPU time that they took, so that a command that is started again
    with the same folder ends at the same place.

    Attributes:
        runs: the largest number of runs; infinite where CPU time is limited.
        cpu_s: the CPU time; infinite where runs are limited.
    """

    runs: float = math.inf
    cpu_s: float = math.inf

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read "30 min", "2 h", "90 s" or "200 runs".

        Raises:
            BacklaneError: R031 for another form, or a budget of zero.
        """
        found = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(runs?|s|min|h)\s*", text)
        if found is None:
            raise BacklaneError(
                "R031", f'"{text}" is no budget', "--budget",
                'write a number of runs or a CPU time, such as "200 runs" or "30 min"',
            )  # fmt: skip
        amount = float(found[1])
        if amount == 0:
            raise BacklaneError(
                "R031", "a budget of zero pays for no run", "--budget",
                'write a number of runs or a CPU time, such as "200 runs" or "30 min"; '
                "`backlane plan FILE` says what a run costs",
            )  # fmt: skip
        if found[2] in ("run", "runs"):
            return cls(runs=math.floor(amount))
        return cls(cpu_s=amount * _SECONDS[found[2]])

    def affords(self, runs: int, cpu_s: float) -> bool:
        """Whether this much in total is within the budget."""
        return runs <= self.runs and cpu_s <= self.cpu_s

    def __str__(self) -> str:
        if math.isfinite(self.runs):
            return f"{self.runs:.0f} runs"
        return f"{cost.time(self.cpu_s)} of CPU time"


def read_time(text: str) -> float:
    """Seconds of a time such as "80 ms".

    Raises:
        BacklaneError: R035.
    """
    try:
        if not re.search(r"[0-9]\s*(ps|ns|us|µs|ms|s|min|h)\s*$", text):
            raise ValueError
        found = number(text)
    except ValueError:
        found = 0.0
    if not 0 < found < math.inf:
        raise BacklaneError(
            "R035", f'"{text}" is no time above zero', None, 'write for example "80 ms"'
        )
    return found


def read_share(text: str) -> float:
    """A percentage such as "5 %" as a share.

    Raises:
        BacklaneError: R035.
    """
    found = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%\s*", text)
    share = float(found[1]) / 100 if found else 0.0
    if not 0 < share < 1:
        raise BacklaneError(
            "R035", f'"{text}" is no share of the best', None,
            'write a percentage above 0 % and below 100 %, such as "5 %"',
        )  # fmt: skip
    return share
