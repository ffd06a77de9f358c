"""Compare the trained policy with CUBIC and BBR, on the path of the training and on others.

    python examples/gym/evaluate.py            # the table
    python examples/gym/evaluate.py --picture docs/images/gym_policy.png
"""

from __future__ import annotations

import argparse

import numpy as np
from agent import SCENES, TEST_SEEDS, WEIGHTS, Played, Policy, Scene, play

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=len(TEST_SEEDS))
    arguments = parser.parse_args()
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
