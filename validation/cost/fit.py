"""The CPU time and the events of one of each part that come nearest to the measured runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from validation.cost.__main__ import Row

FITTED_GROUPS = ("example", "study", "made")
LEAST_CPU_S = 0.003
"""Shorter runs are noise."""
INERTIA = 0.3
"""How much a factor of e in one part weighs against one in the time of a run."""


def fit(rows: list[Row]) -> dict[str, tuple[float, float]]:
    """For each part its present and its best cost, in nanoseconds of CPU time.

    The sum over runs of the squared logarithm of estimated over measured time is made smallest,
    softened where it is large, so that a run that the estimate does not understand counts little.
    A part that no run tells much about keeps its cost.
    """
    import numpy as np
    from scipy.optimize import least_squares

    rows = [row for row in rows if row.group in FITTED_GROUPS and row.cpu_s > LEAST_CPU_S]
    present: dict[str, float] = {}
    for row in rows:
        for part in row.estimate.parts:
            if part.cpu_s > 0 and part.count > 0:
                present[part.name] = part.cpu_s / part.count
    # The time for memory that is far apart depends on the scenario; it stays as it is.
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
