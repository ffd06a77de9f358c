"""The figure: goodput and collisions over the number of saturated stations, ns-3's and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib import pyplot as plt
from matplotlib.ticker import NullLocator

from validation.linux.figures import STYLE, save

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from validation.ns3.wifi.page import Pair
    from validation.ns3.wifi.truth import Measured

NS3: dict[str, Any] = {"linestyle": "none", "markersize": 6.0, "fillstyle": "none"}
OURS: dict[str, Any] = {"linewidth": 1.2}
#: Access, colour and marker.
ACCESS = ((False, "basic", "#0072B2", "o"), (True, "RTS", "#D55E00", "s"))


def draw_saturation(pairs: Sequence[Pair], file: Path) -> None:
    """Goodput above and the share unanswered below, a column for each standard and rate.

    Raises:
        OSError: when the file cannot be written.
    """
    rows: tuple[tuple[str, Callable[[Measured], float]], ...] = (
        ("goodput (Mbit/s)", lambda found: found.goodput_bps / 1e6),
        ("unanswered", lambda found: found.unanswered),
    )
    kinds = list(dict.fromkeys((pair.work.standard, pair.work.rate) for pair in pairs))
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            2, len(kinds), figsize=(10.0, 4.6), dpi=120, layout="constrained", sharex=True
        )
        for column, (standard, rate) in enumerate(kinds):
            for line, (label, value) in enumerate(rows):
                axes = panels[line, column]
                for rts, name, colour, marker in ACCESS:
                    shown = [
                        pair
                        for pair in pairs
                        if (pair.work.standard, pair.work.rate, pair.work.rts)
                        == (standard, rate, rts)
                    ]
                    counts = [pair.work.stations for pair in shown]
                    axes.plot(
                        counts,
                        [value(pair.ns3) for pair in shown],
                        marker=marker,
                        color=colour,
                        label=f"ns-3.37, {name}",
                        **NS3,
                    )
                    axes.plot(
                        counts,
                        [value(pair.ours) for pair in shown],
                        color=colour,
                        label=f"Backlane, {name}",
                        **OURS,
                    )
                axes.set_xscale("log")
                axes.set_xticks(counts, [str(count) for count in counts])
                axes.xaxis.set_minor_locator(NullLocator())
                axes.set_ylim(0, 1.1 * axes.dataLim.y1)
                if column == 0:
                    axes.set_ylabel(label)
            title = f"802.11{standard} at {rate:g} Mbit/s"
            panels[0, column].set_title(title, fontsize=9, loc="left")
            panels[1, column].set_xlabel("stations")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, ncols=4, loc="outside lower center", frameon=False)
        save(figure, file)
        plt.close(figure)
