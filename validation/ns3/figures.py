"""Figures: goodput and MCS over distance, and a TCP transfer over time, ns-3's and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import pyplot as plt

from validation.linux.figures import STYLE, save
from validation.ns3.ours import SAMPLED_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from validation.ns3.truth import Floats, Stream

    Pairs = Mapping[str, tuple[Sequence[Stream], Sequence[Stream]]]
    Transfers = Mapping[str, tuple[Mapping[str, Floats], Mapping[str, Floats]]]

LENA: dict[str, Any] = {"color": "#E69F00", "linewidth": 3.0, "label": "ns-3.37, LENA"}
OURS: dict[str, Any] = {"color": "#0072B2", "linewidth": 1.1, "label": "Backlane"}
SCHEDULERS = {"pf": "proportional fair", "rr": "round robin"}
CONTROLS = {"cubic": "CUBIC", "newreno": "TcpNewReno", "linuxreno": "TcpLinuxReno"}


def draw_streams(pairs: Pairs, file: Path) -> None:
    """Goodput and mean MCS over distance, a column for each scheduler.

    Raises:
        OSError: when the file cannot be written.
    """
    rows: tuple[tuple[str, Callable[[Stream], float]], ...] = (
        ("goodput (Mbit/s)", lambda stream: stream.goodput_bps / 1e6),
        ("mean MCS", lambda stream: stream.mcs_mean),
    )
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            2, len(pairs), figsize=(9.0, 4.6), dpi=120, layout="constrained", sharex=True
        )
        for column, (scheduler, both) in enumerate(pairs.items()):
            for line, (label, value) in enumerate(rows):
                axes = panels[line, column]
                for streams, style in zip(both, (LENA, OURS), strict=True):
                    axes.plot([s.distance_m for s in streams], [value(s) for s in streams], **style)
                axes.set_ylim(bottom=0)
                if column == 0:
                    axes.set_ylabel(label)
            panels[0, column].set_title(SCHEDULERS[scheduler], fontsize=9, loc="left")
            panels[1, column].set_xlabel("distance (m)")
        _legend(figure, panels[0, 0])
        figure.suptitle("One UE under a full-buffer stream: RLC UM, 100 resource blocks, 30 dBm")
        save(figure, file)
        plt.close(figure)


def draw_transfers(transfers: Transfers, file: Path) -> None:
    """Goodput over half seconds, window and queue of RLC over time; a column for each control.

    Raises:
        OSError: when the file cannot be written.
    """
    rows: tuple[tuple[str, Callable[[Mapping[str, Floats]], Floats]], ...] = (
        ("goodput\n(Mbit/s)", _goodput),
        ("window (kB)", lambda samples: samples["cwnd_bytes"] / 1e3),
        ("RLC's queue (kB)", lambda samples: samples["queue_bytes"] / 1e3),
    )
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(
            len(rows), len(transfers), figsize=(10.0, 6.0), dpi=120, layout="constrained"
        )
        for column, (control, both) in enumerate(transfers.items()):
            for line, (label, value) in enumerate(rows):
                axes = panels[line, column]
                for samples, style in zip(both, (LENA, OURS), strict=True):
                    axes.plot(samples["time_s"], value(samples), **style)
                axes.set_ylim(bottom=0)
                axes.set_xlim(left=0)
                if column == 0:
                    axes.set_ylabel(label)
            panels[0, column].set_title(CONTROLS[control], fontsize=9, loc="left")
            panels[-1, column].set_xlabel("time (s)")
        _legend(figure, panels[0, 0])
        figure.suptitle(
            "One TCP transfer at 700 m: RLC AM, 750 packets of buffer, 40 ms to the server"
        )
        save(figure, file)
        plt.close(figure)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, ncols=2, loc="outside lower center", frameon=False)


def _goodput(samples: Mapping[str, Floats]) -> Floats:
    """Of the last half second, in Mbit/s."""
    lag = round(0.5 / SAMPLED_S)
    delivered = samples["delivered_bytes"]
    earlier = np.concatenate([np.zeros(lag), delivered[:-lag]])
    rate: Floats = (delivered - earlier) * 8 / 0.5 / 1e6
    return rate
