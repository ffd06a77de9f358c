"""The figure: reorder densities of UDP, and TCP's goodput with its intervals, ns-3's and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import pyplot as plt

from validation.linux.figures import STYLE, save

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from validation.ns3.multipath.page import Pair

NS3: dict[str, Any] = {"color": "#E69F00"}
OURS: dict[str, Any] = {"color": "#0072B2"}
#: Displacements that a panel shows; very few packets are beyond them.
SHOWN_PKTS = 8


def draw(udp: Sequence[Pair], tcp: Sequence[Pair], file: Path) -> None:
    """A panel for each density, and one for the goodput of all TCP below.

    Raises:
        OSError: when the file cannot be written.
    """
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(10.0, 5.4), dpi=120, layout="constrained")
        grid = figure.add_gridspec(2, len(udp), height_ratios=(1, 1.1))
        first = None
        for column, pair in enumerate(udp):
            axes = figure.add_subplot(grid[0, column], sharey=first)
            first = first or axes
            _density(axes, pair)
            if column == 0:
                axes.set_ylabel("share of packets (%)")
        _goodput(figure.add_subplot(grid[1, :]), tcp)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, ncols=2, loc="outside lower center", frameon=False)
        save(figure, file)
        plt.close(figure)


def _density(axes: Axes, pair: Pair) -> None:
    shown = np.arange(-SHOWN_PKTS, SHOWN_PKTS + 1)
    for shares, style, label, shift in (
        (pair.ns3.density, NS3, "ns-3.37", -0.2),
        (pair.ours.density, OURS, "Backlane", 0.2),
    ):
        heights = [100 * shares.get(int(displacement), 0.0) for displacement in shown]
        axes.bar(shown + shift, heights, width=0.4, label=label, **style)
    axes.set_xlabel("displacement (packets)")
    axes.set_title(pair.work.name, fontsize=8, loc="left")


def _goodput(axes: Axes, pairs: Sequence[Pair]) -> None:
    places = np.arange(len(pairs))
    for side, style, shift in ((0, NS3, -0.17), (1, OURS, 0.17)):
        means = [pair.means("goodput_bps")[side] for pair in pairs]
        below = [(mean.mean - mean.low) / 1e6 for mean in means]
        above = [(mean.high - mean.mean) / 1e6 for mean in means]
        heights = [mean.mean / 1e6 for mean in means]
        axes.bar(places + shift, heights, width=0.32, yerr=[below, above], capsize=3, **style)
    axes.set_xticks(places, [pair.work.name.replace(", ", "\n") for pair in pairs])
    axes.set_ylabel("goodput of all flows (Mbit/s)")
    axes.grid(visible=False, axis="x")
