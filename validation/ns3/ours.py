"""The same work here, with `profile = "lena"`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import backlane
from validation.ns3.truth import (
    DISTANCES_M,
    HERE,
    SCHEDULERS,
    STREAM_S,
    TRANSFER_S,
    WALK_M,
    WALK_M_PER_S,
    WALK_S,
    Stream,
)

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from validation.ns3.truth import Floats

#: When the transfers start, and the time from one sample to the next.
START_S, SAMPLED_S = 0.5, 0.1
RULES = {"pf": "proportional-fair", "rr": "round-robin"}
CONTROLS = {"cubic": "cubic", "newreno": "reno", "linuxreno": "reno"}
#: What a control of ns-3 has beside the profile: `TcpLinuxReno` is Linux's law.
KEYS: dict[str, tuple[tuple[str, str], ...]] = {
    "cubic": (),
    "newreno": (),
    "linuxreno": (
        ("tcp.growth", "packets"),
        ("tcp.threshold_from", "window"),
        ("tcp.window_validation", "true"),
    ),
}


def streams() -> list[Stream]:
    """All streams of the record, in its order."""
    return [stream(scheduler, float(d)) for scheduler in SCHEDULERS for d in DISTANCES_M]


def stream(scheduler: str, distance_m: float) -> Stream:
    """One full-buffer stream; its means begin when the warm-up ends."""
    end_s, begin_s = STREAM_S
    place = (
        ("access.scheduler.rule", RULES[scheduler]),
        ("access.ue", f'[{{ near = "enb1", distance = "{distance_m:g} m" }}]'),
    )
    # A run is the beginning of a longer one, so that a difference is the count of the interval.
    long, short = (
        backlane.run(HERE / "cell.toml", overrides=(*place, ("duration", f"{seconds:g} s")))
        for seconds in (end_s, begin_s)
    )
    delivered = [_sum(run.table("flows"), "delivered_bytes") for run in (long, short)]
    radio = long.table("series/radio")
    steady = radio.filter((radio["time_s"] > begin_s) & (radio["granted_bytes"] > 0))
    return Stream(
        scheduler=scheduler,
        distance_m=distance_m,
        goodput_bps=8 * (delivered[0] - delivered[1]) / (end_s - begin_s),
        mcs_mean=float(np.mean(steady["mcs"].to_numpy())),
        sinr_db=float(np.mean(steady["sinr_db"].to_numpy())),
        retransmitted=_sum(steady, "harq_retransmissions") / (1000 * (end_s - begin_s)),
    )


def _sum(table: pl.DataFrame, column: str) -> float:
    return float(table[column].sum())


def walk(scheduler: str) -> dict[int, float]:
    """The distance of the UE, in m, at each fall of its MCS, sampled each 10 ms."""
    overrides = (
        ("access.scheduler.rule", RULES[scheduler]),
        (
            "access.ue",
            f'[{{ near = "enb1", distance = "{WALK_M} m", speed = "{WALK_M_PER_S} m/s", '
            'heading = "outward" }]',
        ),
        ("duration", f"{WALK_S:g} s"),
    )
    series = backlane.run(HERE / "cell.toml", overrides=overrides).table("series/radio")
    time_s, mcs = (series[name].to_numpy() for name in ("time_s", "mcs"))
    sent = mcs > 0
    time_s, mcs = time_s[sent], np.rint(mcs[sent]).astype(int)
    found: dict[int, float] = {}
    for at in np.flatnonzero(np.diff(mcs) < 0) + 1:
        found.setdefault(int(mcs[at]), WALK_M + WALK_M_PER_S * float(time_s[at]))
    return found


def transfer(control: str) -> dict[str, Floats]:
    """The samples of a transfer, by the record's columns."""
    overrides = (
        ("tcp.congestion_control", CONTROLS[control]),
        *KEYS[control],
        ("duration", f"{TRANSFER_S[0]:g} s"),
    )
    run = backlane.run(HERE / "transfer.toml", overrides=overrides)
    # The record's first sample is one step after the transfer's start.
    window, radio = (
        table.filter(table["time_s"] > START_S + SAMPLED_S / 2)
        for table in (run.table("series/cwnd"), run.table("series/radio"))
    )

    def column(table: pl.DataFrame, name: str) -> Floats:
        return table[name].to_numpy().astype(np.float64)

    return {
        "time_s": column(window, "time_s"),
        "cwnd_bytes": column(window, "cwnd_pkts") * 1448,
        "delivered_bytes": column(window, "delivered_bytes"),
        "retransmits": column(window, "retransmits"),
        "queue_bytes": column(radio, "queue_bytes"),
        "drops": np.cumsum(column(radio, "drops")),
    }


def timed_cell(profile: str, seconds: float) -> tuple[float, float]:
    """CPU seconds of one UE's transfer at 100 m, and the bytes delivered."""
    return _timed(
        HERE / "transfer.toml",
        profile,
        seconds,
        ("access.ue", '[{ near = "enb1", distance = "100 m" }]'),
        ("record.series", "[]"),
    )


def timed_grid(profile: str, seconds: float) -> tuple[float, float]:
    """CPU seconds of the grid, and the bytes delivered."""
    return _timed(HERE / "grid.toml", profile, seconds)


def _timed(
    file: Path, profile: str, seconds: float, *overrides: tuple[str, str]
) -> tuple[float, float]:
    chosen = [("access.profile", f'"{profile}"'), ("duration", f"{seconds:g} s"), *overrides]
    run = backlane.run(file, overrides=chosen)
    return float(run.table("runs")["cpu_s"][0]), _sum(run.table("flows"), "delivered_bytes")
