"""Compare the trained policy with CUBIC and BBR, on the path of the training and on others.

python examples/gym/evaluate.py            # the table
python examples/gym/evaluate.py --picture docs/images/gym_policy.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from agent import SCENES, SHALLOW, TEST_SEEDS, TRAINED, WEIGHTS, Played, Policy, Scene, play

from backlane.stats import mean_interval

CONTROLS = ("cubic", "bbr")


def interval(values: list[float]) -> str:
    found = mean_interval(values)
    half = (found.high - found.low) / 2
    return f"{found.mean:6.2f} ± {half:.2f}"


def row(scene: Scene, name: str, played: list[Played], cubic: list[Played]) -> str:
    utility = [one.utility for one in played]
    beyond = [one.utility - other.utility for one, other in zip(played, cubic, strict=True)]
    goodput = np.mean([one.goodput_mbps for one in played])
    ratio = np.mean([one.rtt_ratio for one in played])
    difference = "" if name == "cubic" else interval(beyond)
    text = f"{scene.name:17} {name:7} {interval(utility):16} {difference:16}"
    text += f" {goodput:8.2f} {ratio:6.2f}"
    if scene.neighbour:
        text += f"   and {np.mean([one.others_mbps for one in played]):.2f} for CUBIC"
    return text


def traced(scene: Scene, control: Policy | str, seed: int) -> dict[str, pl.DataFrame]:
    """Window and queue every 20 ms."""
    record = {"series": ["cwnd", "queue"], "interval": "20 ms"}
    return play(scene, control, seed, record=record).tables


def picture(path: Path, seed: int = TEST_SEEDS[0]) -> None:
    """Window and queue of both, on the path of the training and on one where CUBIC is better."""
    import matplotlib.pyplot as plt

    scenes = [TRAINED, SHALLOW]
    figure, axes = plt.subplots(2, len(scenes), figsize=(9, 5), layout="constrained")
    for column, scene in enumerate(scenes):
        window, queue = axes[:, column]
        for name, control, colour in (
            ("CUBIC", "cubic", "tab:orange"),
            ("trained policy", Policy.stored(), "tab:blue"),
        ):
            series = traced(scene, control, seed)
            cwnd = series["series/cwnd"]
            window.plot(cwnd["time_s"], cwnd["cwnd_pkts"], label=name, color=colour, lw=1)
            there = series["series/queue"].filter(pl.col("entity") == "enb1-enb2")
            queue.plot(there["time_s"], there["queue_pkts"], color=colour, lw=1)
        window.set_title(f"{scene.title}, seed {seed}", fontsize=10)
        window.set_ylim(bottom=0)
        queue.set_ylim(bottom=0)
        queue.set_xlim(10, 14)
        queue.set_xlabel("time [s]")
    axes[0, 0].set_ylabel("congestion window [packets]")
    axes[1, 0].set_ylabel("queue of the link [packets]")
    axes[0, 0].legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=len(TEST_SEEDS))
    parser.add_argument("--picture", type=Path, metavar="FILE.png")
    arguments = parser.parse_args()
    if arguments.picture:
        picture(arguments.picture)
        return
    seeds = TEST_SEEDS[: arguments.seeds]
    contenders: dict[str, Policy | str] = {name: name for name in CONTROLS}
    if WEIGHTS.exists():
        contenders["policy"] = Policy.stored()
    print(f"{'path':17} {'control':7} {'utility':16} {'beyond CUBIC':16} {'Mbit/s':>8} {'RTT':>6}")
    for scene in SCENES:
        played = {
            name: [play(scene, control, seed) for seed in seeds]
            for name, control in contenders.items()
        }
        for name, one in played.items():
            print(row(scene, name, one, played["cubic"]), flush=True)


if __name__ == "__main__":
    main()
