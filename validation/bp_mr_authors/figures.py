"""The finish time of each flow beside that of the record."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from validation.bp_mr_authors.compare import by_run
from validation.bp_mr_authors.runs import CASES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from validation.bp_mr_authors.runs import Flow


def draw(ours: Sequence[Flow], theirs: Sequence[Flow], target: Path) -> None:
    """A panel for each case: the range and the mean of our runs, and the recorded run."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    record, runs = by_run(theirs), by_run(ours)
    figure, panels = plt.subplots(len(CASES), 1, figsize=(7.2, 8.4), sharex=True)
    for panel, (case, (_, title, _)) in zip(panels, CASES.items(), strict=True):
        seeds = [flows for (name, _), flows in runs.items() if name == case]
        ues = [flow.ue for flow in seeds[0]]
        times = [[f.finish_s for f in (flows[ue - 1] for flows in seeds)] for ue in ues]
        times = [[time_s for time_s in some if math.isfinite(time_s)] for some in times]
        panel.vlines(ues, [min(t) for t in times], [max(t) for t in times], color="#0072b2")
        means = [math.fsum(t) / len(t) for t in times]
        panel.plot(ues, means, "_", color="#0072b2", markersize=9, label="Backlane, mean and range")
        recorded = sorted(record[case, 0], key=lambda flow: flow.ue)
        panel.plot(
            ues, [flow.finish_s for flow in recorded], "D", color="#d55e00", markersize=4,
            markerfacecolor="none", label="authors' simulator",
        )  # fmt: skip
        for first in (6, 16):
            panel.axvspan(first - 0.5, first + 4.5, color="#eceff3", zorder=0)
        panel.set_title(title, loc="left", fontsize=10)
        panel.set_ylabel("finish time in s")
        panel.set_ylim(bottom=0)
    panels[0].legend(frameon=False, fontsize=9)
    panels[-1].set_xlabel("UE, numbered by rows of the grid; rows 2 and 4 are shaded")
    panels[-1].set_xticks(range(1, 26, 4))
    figure.tight_layout()
    figure.savefig(target, dpi=110, metadata={"Software": None})
    plt.close(figure)
