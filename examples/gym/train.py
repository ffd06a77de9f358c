"""Train the policy by an evolution strategy (Salimans et al. 2017, arXiv:1703.03864) in numpy.

Each generation perturbs the weights in antithetic pairs, plays every variant on the same seeds,
and follows the rank-weighted sum of the perturbations by Adam. The run has a fixed seed, so that it
gives the same weights again; it takes some minutes on one core.

    python examples/gym/train.py
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from agent import HIDDEN, SIZE, TRAINED, WEIGHTS, Policy, play

SEED = 1
PAIRS = 16
EPISODES = 2
"""Episodes of each variant."""
DURATION = "6 s"
SIGMA = (0.15, 0.03)
"""Standard deviation of the perturbations in the first and in the last generation."""
STEP = (0.05, 0.005)
"""Step of Adam, likewise."""


def fitness(weights: np.ndarray, seeds: list[int]) -> float:
    policy = Policy(weights)
    return float(np.mean([play(TRAINED, policy, seed, DURATION).utility for seed in seeds]))


def ranks(values: np.ndarray) -> np.ndarray:
    """From -0.5 for the least to 0.5 for the largest."""
    return np.argsort(np.argsort(values)) / (len(values) - 1) - 0.5


def train(generations: int) -> np.ndarray:
    draws = np.random.default_rng(SEED)
    weights = draws.normal(0.0, 0.5, SIZE)
    # At first all actions are 0: a random policy would let the window grow without end.
    weights[-HIDDEN - 1 :] = 0.0
    mean, square = np.zeros(SIZE), np.zeros(SIZE)
    began = time.perf_counter()
    for generation in range(1, generations + 1):
        left = (generations - generation) / max(generations - 1, 1)
        sigma, step = (last + (first - last) * left for first, last in (SIGMA, STEP))
        seeds = draws.integers(0, 10_000, EPISODES).tolist()
        noise = draws.normal(0.0, 1.0, (PAIRS, SIZE))
        variants = np.concatenate([noise, -noise])
        found = np.array([fitness(weights + sigma * one, seeds) for one in variants])
        gradient = ranks(found) @ variants / (len(variants) * sigma)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        corrected = mean / (1 - 0.9**generation), square / (1 - 0.999**generation)
        weights = weights + step * corrected[0] / (np.sqrt(corrected[1]) + 1e-8)
        if generation % 10 == 0 or generation == 1:
            took_s = time.perf_counter() - began
            print(
                f"generation {generation:3}: mean utility {found.mean():6.3f}, "
                f"best {found.max():6.3f}, {took_s:.0f} s",
                flush=True,
            )
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generations", type=int, default=120)
    generations = parser.parse_args().generations
    # Rounded, so that the file is short; the policy that is evaluated is that of the file.
    weights = np.round(train(generations), 4)
    WEIGHTS.write_text(
        json.dumps({"generations": generations, "seed": SEED, "weights": weights.tolist()}) + "\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
