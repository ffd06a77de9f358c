"""Figures: runs over the trace of Linux, a panel for each congestion control."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt
from PIL import Image

from validation.linux.samples import PATHS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

    from validation.linux.samples import Algorithm, Floats, Samples

    #: The trace and the runs of each congestion control.
    Runs = Mapping[Algorithm, tuple[Samples, Sequence[Samples]]]

# Okabe and Ito's orange and blue: distinct for colour-blind readers and in grey.
LINUX: dict[str, Any] = {"color": "#E69F00", "linewidth": 3.0, "label": "Linux 6.1"}
OURS: dict[str, Any] = {"color": "#0072B2", "linewidth": 0.9, "label": "Backlane"}
OTHERS: dict[str, Any] = {
    "color": "#0072B2",
    "linewidth": 0.5,
    "alpha": 0.25,
    "label": "Backlane, other runs",
}
STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
}
COLUMNS = 3
#: The end of the figures of slow start.
START_S = 2.0


def draw(path: str, runs: Runs, file: Path) -> None:
    """Draw windows and smoothed RTTs of a path, and the learned reordering of `paths3`, as PNG.

    Raises:
        OSError: when the file cannot be written.
    """
    rows = [("window (packets)", _cwnd, 2.0), ("RTT (ms)", _srtt, 1.2)]
    if path == "paths3":
        rows.append(("reordering\n(packets)", _reordering, 1.0))
    _panels(PATHS[path].title, runs, rows, 60.0, file)


def draw_start(path: str, runs: Runs, file: Path) -> None:
    """Draw the windows of the first two seconds.

    Raises:
        OSError: when the file cannot be written.
    """
    title = f"The first {START_S:g} s: {PATHS[path].title}"
    _panels(title, runs, [("window (packets)", _cwnd, 2.0)], START_S, file)


def _cwnd(samples: Samples) -> Floats:
    return samples.cwnd_pkts


def _srtt(samples: Samples) -> Floats:
    return samples.srtt_s * 1e3


def _reordering(samples: Samples) -> Floats:
    return samples.reordering_pkts


def _panels(title: str, runs: Runs, rows: list[Any], end_s: float, file: Path) -> None:
    lines = -(-len(runs) // COLUMNS)
    height = lines * (0.45 + 0.7 * sum(share for *_, share in rows)) + 0.5
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(10.5, height), dpi=120, layout="constrained")
        figure.suptitle(f"{title[0].upper()}{title[1:]}; time in s", fontsize=10)
        places = iter(figure.add_gridspec(lines, COLUMNS))
        axes: list[Axes] = []
        for place, (algorithm, (linux, ours)) in zip(places, runs.items(), strict=False):
            axes += _panel(figure, place, algorithm, linux, ours, rows, end_s)
        handles: dict[str, Any] = {}
        for panel in axes:
            for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        figure.legend(
            handles.values(), handles, ncols=len(handles), loc="outside lower center", frameon=False
        )
        save(figure, file)
        plt.close(figure)


def save(figure: Figure, file: Path) -> None:
    """Save with 64 colours, which is enough for lines on white."""
    full = BytesIO()
    figure.savefig(full)
    image = Image.open(full).convert("RGB")
    image.quantize(64, dither=Image.Dither.NONE).save(file, format="PNG", optimize=True)


def _panel(
    figure: Figure,
    place: SubplotSpec,
    algorithm: Algorithm,
    linux: Samples,
    ours: Sequence[Samples],
    rows: list[Any],
    end_s: float,
) -> list[Axes]:
    inner = place.subgridspec(len(rows), 1, height_ratios=[share for *_, share in rows], hspace=0.0)
    panel = [figure.add_subplot(inner[row]) for row in range(len(rows))]
    shown = linux.time_s <= end_s + 1e-6
    for axes, (label, value, _) in zip(panel, rows, strict=True):
        axes.plot(linux.time_s[shown], value(linux)[shown], **LINUX)
        for other in ours[1:]:
            axes.plot(other.time_s[shown], value(other)[shown], **OTHERS)
        axes.plot(ours[0].time_s[shown], value(ours[0])[shown], **OURS)
        top = max(float(np.max(value(samples)[shown])) for samples in (linux, *ours))
        axes.set_xlim(0, end_s)
        axes.set_ylim(0, 1.08 * top)
        if place.colspan.start == 0:
            axes.set_ylabel(label)
        axes.tick_params(labelbottom=axes is panel[-1])
    panel[0].set_title(algorithm.title, fontsize=9, loc="left", fontweight="bold")
    return panel
