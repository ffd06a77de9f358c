"""Figures: the window of the run over that of Linux."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from validation.linux.samples import Samples

# Okabe and Ito's orange and blue: told apart by colour-blind readers and in grey.
LINUX = {"color": "#E69F00", "linewidth": 4.0, "label": "Linux 6.1"}
OURS = {"color": "#0072B2", "linewidth": 1.1, "label": "Backlane"}
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
}


def draw(title: str, linux: Samples, ours: Samples, path: Path) -> None:
    """Draw the whole run, the difference, and the first two seconds into a PNG, 7 inches wide.

    Raises:
        OSError: when the file cannot be written.
    """
    with plt.rc_context(STYLE):
        figure, (whole, apart, zoom) = plt.subplots(
            3, 1, figsize=(7.0, 6.8), height_ratios=(3, 1.3, 3), layout="constrained"
        )
        figure.suptitle(f"{title}: one flow, 50 Mbit/s, 40 ms, queue of 173 packets", fontsize=11)
        for axes in (whole, zoom):
            axes.plot(linux.time_s, linux.cwnd_pkts, **LINUX)
            axes.plot(ours.time_s, ours.cwnd_pkts, **OURS)
            axes.set_ylabel("congestion window\n(packets)")
            axes.set_ylim(bottom=0)
        whole.legend(ncols=2, loc="lower right", bbox_to_anchor=(1, 0.98), frameon=False)
        _difference(apart, linux, ours)
        for axes in (whole, apart):
            axes.set_xlim(0, 60)
        whole.tick_params(labelbottom=False)
        zoom.set_xlim(0, 2)
        zoom.set_title("The first two seconds", fontsize=10, loc="left")
        zoom.set_xlabel("time (s)")
        figure.savefig(path, dpi=200, metadata={"Software": None})
        plt.close(figure)


def _difference(axes: Axes, linux: Samples, ours: Samples) -> None:
    apart_pkts = ours.cwnd_pkts - linux.cwnd_pkts
    axes.axhline(0, color="#888888", linewidth=0.6)
    axes.plot(linux.time_s, apart_pkts, color=OURS["color"], linewidth=1.1)
    reach = max(5.0, 1.15 * float(abs(apart_pkts).max()))
    axes.set_ylim(-reach, reach)
    axes.set_ylabel("difference\n(packets)")
    axes.set_xlabel("time (s)")
    axes.set_title("Backlane less Linux", fontsize=10, loc="left")
