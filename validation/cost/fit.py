"""The CPU time and the number of events per unit of each part that best fit the measured runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from validation.cost.__main__ import Row

FITTED_GROUPS = ("example", "study", "made")
LEAST_CPU_S = 0.003
"""Shorter runs are noise."""
INERTIA = 0.3
"""The weight of a factor of e in one part relative to one in the time of a run."""


def fit(rows: list[Row]) -> dict[str, tuple[float, float]]:
    """For each part its current and its best cost, in nanoseconds of CPU time.

    Minimises the sum over runs of the squared logarithm of estimated over measured time, with a
    robust loss, so that a run outside the estimate's model has little weight. A part without
    information in the runs keeps its cost.
    """
    import numpy as np
    from scipy.optimize import least_squares

    rows = [row for row in rows if row.group in FITTED_GROUPS and row.cpu_s > LEAST_CPU_S]
    present: dict[str, float] = {}
    for row in rows:
        for part in row.estimate.parts:
            if part.cpu_s > 0 and part.count > 0:
                present[part.name] = part.cpu_s / part.count
    # The time of scattered memory accesses depends on the scenario; it is not fitted.
    fixed = {name for name in present if name == "memory apart"}
    names = sorted(set(present) - fixed)
    place = {name: index for index, name in enumerate(names)}
    counts = np.zeros((len(rows), len(names)))
    rest = np.zeros(len(rows))
    for number, row in enumerate(rows):
        for part in row.estimate.parts:
            if part.name in place:
                counts[number, place[part.name]] += part.count
            else:
                rest[number] += part.cpu_s
    measured = np.array([row.cpu_s for row in rows])
    before = np.array([present[name] for name in names])

    def residuals(logs: np.ndarray) -> np.ndarray:
        ratio = np.log((counts @ (before * np.exp(logs)) + rest) / measured)
        soft = np.sign(ratio) * np.sqrt(2 * (np.sqrt(1 + ratio**2) - 1))
        return np.concatenate([soft, INERTIA * logs])

    best = before * np.exp(least_squares(residuals, np.zeros(len(names))).x)
    return {
        name: (1e9 * float(old), 1e9 * float(new))
        for name, old, new in zip(names, before, best, strict=True)
    }
