"""A policy for backlane.gym.CongestionControl, the paths and the measure, for both programs.

The paths and the measure were fixed, and CUBIC and BBR measured on them, before the first training.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import backlane.gym

WEIGHTS = Path(__file__).with_name("weights.json")
HIDDEN = 8
INPUTS = len(backlane.gym.OBSERVATIONS)
SIZE = HIDDEN * (INPUTS + 1) + HIDDEN + 1


class Policy:
    """One hidden layer of eight: observation -> action from -1 to 1."""

    def __init__(self, weights: np.ndarray) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        end = HIDDEN * INPUTS
        self.first = self.weights[:end].reshape(HIDDEN, INPUTS)
        self.bias = self.weights[end : end + HIDDEN]
        self.second = self.weights[end + HIDDEN : -1]
        self.offset = self.weights[-1]

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        hidden = np.tanh(self.first @ observation + self.bias)
        return np.tanh([self.second @ hidden + self.offset])

    @classmethod
    def stored(cls) -> Policy:
        return cls(np.array(json.loads(WEIGHTS.read_text("utf-8"))["weights"]))


@dataclass(frozen=True)
class Scene:
    """One path."""

    name: str
    rate: str = "30 Mbit/s"
    rtt_ms: float = 40.0
    queue: str = "1 bdp"
    loss: float = 0.005
    neighbour: bool = False
    """A CUBIC flow beside, which begins within the first second."""

    @property
    def title(self) -> str:
        return f"{self.rate}, {self.rtt_ms:g} ms, queue {self.queue}, loss {100 * self.loss:g} %"

    def scenario(self, duration: str = "20 s") -> dict[str, Any]:
        flow = {"kind": "transfer", "from": "enb1", "to": "enb2", "size": "endless"}
        beside = flow | {"congestion_control": "cubic", "start": "uniform 0 s 1 s"}
        link = {"rate": self.rate, "delay": f"{self.rtt_ms / 2} ms", "queue": self.queue}
        return {
            "name": self.name,
            "duration": duration,
            "topology": {"kind": "chain", "nodes": 2, "link": link | {"loss": self.loss}},
            "flow": [flow, beside] if self.neighbour else [flow],
        }


TRAINED = Scene("trained on")
SHALLOW = Scene("queue of 0.1 bdp", queue="0.1 bdp", loss=0.0)
SCENES = (
    TRAINED,
    Scene("no loss", loss=0.0),
    Scene("loss of 2 %", loss=0.02),
    Scene("queue of 8 bdp", queue="8 bdp", loss=0.0),
    SHALLOW,
    Scene("2 Mbit/s", rate="2 Mbit/s"),
    Scene("200 Mbit/s", rate="200 Mbit/s"),
    Scene("RTT of 4 ms", rtt_ms=4.0),
    Scene("RTT of 300 ms", rtt_ms=300.0),
    Scene("beside CUBIC", loss=0.0, neighbour=True),
)
TEST_SEEDS = range(10_001, 10_011)
"""Training uses seeds below 10 000."""


@dataclass
class Played:
    """An episode."""

    utility: float
    """The return by the length of the episode."""
    goodput_mbps: float
    rtt_ratio: float
    """Mean RTT by the smallest."""
    others_mbps: float = 0.0
    """Goodput of the flow beside."""
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)


def play(
    scene: Scene,
    control: Policy | str,
    seed: int,
    duration: str = "20 s",
    record: dict[str, Any] | None = None,
) -> Played:
    """An episode of a policy, or of a built-in congestion control by the same reward."""
    scenario = scene.scenario(duration) | {"record": record or {}}
    own = isinstance(control, Policy)
    if isinstance(control, str):
        scenario["flow"][0]["congestion_control"] = control
    # Both flows lead from enb1 to enb2; the results number the second.
    env = backlane.gym.CongestionControl(scenario, flows=["enb1-enb2"], controlled=own)
    observation, info = env.reset(seed=seed)
    began_s, total = info["time_s"], 0.0
    done = False
    while not done:
        action = control(observation) if isinstance(control, Policy) else [0.0]
        observation, reward, terminated, truncated, info = env.step(action)
        total += reward
        done = terminated or truncated
    state = env.flow_states()[0]
    tables = env.tables()
    goodput = (tables["flows"]["goodput_bps"] / 1e6).to_list()
    return Played(
        utility=total / (info["time_s"] - began_s),
        goodput_mbps=goodput[0],
        rtt_ratio=state.rtt_sum_s / state.rtt_samples / state.min_rtt_s,
        others_mbps=goodput[1] if scene.neighbour else 0.0,
        tables=tables,
    )
