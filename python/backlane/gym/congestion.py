"""An agent as the congestion control of TCP flows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from backlane.errors import BacklaneError
from backlane.gym.episode import SEEDS, Episodes, checked_action, positive

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from backlane._native import FlowState, Stepper
    from backlane.scenario import Overrides, Scenario

Numbers = NDArray[np.floating[Any]]

PATH = {
    "name": "lossy path",
    "duration": "20 s",
    "topology": {
        "kind": "chain",
        "nodes": 2,
        "link": {"rate": "30 Mbit/s", "delay": "20 ms", "queue": "1 bdp", "loss": 0.005},
    },
    "tcp": {"congestion_control": "cubic"},
    "flow": [{"kind": "transfer", "from": "enb1", "to": "enb2", "size": "endless"}],
}
"""The scenario of an environment without one: a path of 40 ms that loses 0.5 % of the packets."""

OBSERVATIONS = ("rate", "delay", "loss", "window", "trend", "action")
"""What an agent observes of each flow, in this order. All numbers are from -1 to 1.

rate: packets delivered in the last interval, as a share of the most in an interval so far.
delay: 1 - smallest RTT so far / mean RTT of the interval; 0 with empty queues.
loss: ten times the share of retransmissions among the segments sent, at most 1.
window: w / (w + b), of the window w and b, the largest rate times the smallest RTT so far; 0.5
    where they are equal, 0 before the first delivery.
trend: the change of the RTT since the interval before, in smallest RTTs, from -1 to 1.
action: the last action.
"""

FIRST_LOOK_S = 0.01
"""Time between two looks whether a flow has its first RTT; the interval of flows without one."""
LEAST_INTERVAL_S = 0.001
LEAST_PKTS = 2
FLOOR_BPS = 10_000.0
"""Rates below this have the utility of this."""


@dataclass(frozen=True)
class Objective:
    """The utility of what a flow got in an interval; rewards are utility times seconds.

    `log2(rate / 1 Mbit/s) - delay * log2(RTT / smallest RTT so far) - loss * share lost`: with
    `delay` = 1, twice the rate is worth twice the RTT. Log rate - delay * log RTT is an objective
    of Winstein and Balakrishnan, "TCP ex Machina" (SIGCOMM 2013).

    Attributes:
        delay: weight of the delay.
        loss: weight of the share of retransmissions among segments sent.
    """

    delay: float = 1.0
    loss: float = 1.0

    def utility(self, rate_bps: float, rtt_ratio: float, loss: float) -> float:
        """The utility.

        Args:
            rate_bps: payload delivered; below `FLOOR_BPS` it counts as that.
            rtt_ratio: mean RTT by smallest RTT.
            loss: share of retransmissions.
        """
        return (
            math.log2(max(rate_bps, FLOOR_BPS) / 1e6)
            - self.delay * math.log2(max(rtt_ratio, 1.0))
            - self.loss * loss
        )


class _Watched:
    """A flow between two pauses."""

    __slots__ = (
        "action", "base_rtt_s", "before", "loss", "most_rate", "number", "rate_bps", "rate_pkts",
        "rtt_s", "trend", "window",
    )  # fmt: skip

    def __init__(self, number: int, now: FlowState) -> None:
        self.number = number
        self.before = now
        self.window = 0.0
        """The commanded window with its fraction; 0 before the first command."""
        self.action = self.rate_pkts = self.rate_bps = self.most_rate = self.loss = self.trend = 0.0
        self.rtt_s = self.base_rtt_s = 0.0

    def note(self, now: FlowState, span_s: float) -> None:
        """An interval is over."""
        before = self.before
        self.before = now
        if not now.rtt_samples:
            return
        self.rate_pkts = (now.delivered_pkts - before.delivered_pkts) / span_s
        self.rate_bps = self.rate_pkts * now.mss_bytes * 8
        self.most_rate = max(self.most_rate, self.rate_pkts)
        sent = now.segments_sent - before.segments_sent
        self.loss = min((now.retransmits - before.retransmits) / sent, 1.0) if sent else 0.0
        self.base_rtt_s = now.min_rtt_s
        samples = now.rtt_samples - before.rtt_samples
        if samples:
            rtt_s = (now.rtt_sum_s - before.rtt_sum_s) / samples
            self.trend = (rtt_s - self.rtt_s) / self.base_rtt_s if self.rtt_s else 0.0
            self.rtt_s = rtt_s
        else:
            self.trend = 0.0

    def observed(self) -> tuple[float, ...]:
        if not self.rtt_s:
            return (0.0,) * len(OBSERVATIONS)
        window = self.window or self.before.cwnd_pkts
        pipe = self.most_rate * self.base_rtt_s
        return (
            self.rate_pkts / self.most_rate if self.most_rate else 0.0,
            max(1.0 - self.base_rtt_s / self.rtt_s, 0.0),
            min(10.0 * self.loss, 1.0),
            window / (window + pipe) if pipe else 0.0,
            min(max(self.trend, -1.0), 1.0),
            self.action,
        )


class CongestionControl(gymnasium.Env[Numbers, Numbers]):
    """The windows of TCP flows, set at intervals.

    An action has a number from -1 to 1 for each flow: its window is multiplied by
    ``2 ** (octaves * action)`` and holds from the next acknowledgment on, through losses and
    timeouts, until the next action. A flow begins with the initial window of the scenario. Loss
    detection and retransmission are those of TCP, and segments are not paced.

    Observations are those of `OBSERVATIONS`, for each flow in turn. The reward is the mean utility
    of the flows in the interval (`Objective`) times its length in seconds, so that the return of an
    episode by its length is the mean utility. An episode is a run: *truncated* at the scenario's
    duration, *terminated* when all flows have finished. `reset(seed=s)` gives the run of seed `s`;
    without a seed, the next is drawn.

    `info` has `time_s`, the end of the interval after the warm-up; for each flow `window_pkts`,
    `rate_bps`, `rtt_s` and `loss` of the interval, and `delivered_bytes` so far; after a reset also
    `seed` and the names of the `flows`.

    Args:
        scenario: as for `backlane.run`; default `PATH`.
        flows: names of the flows that the agent controls, as in results; default: all TCP flows.
        interval: seconds between two actions; default: the largest smoothed RTT of the flows.
        octaves: doublings of the window by the action 1.
        most_pkts: the largest window.
        objective: the utility.
        controlled: if false, the scenario's own congestion controls go on and actions have no
            effect, so that they can be measured by the same reward.
        overrides: as for `backlane.run`.
        allow_python: as for `backlane.run`.

    Raises:
        ScenarioError: when the scenario is wrong.
        BacklaneError: R093 when the scenario has no such flow, R094 for a parameter out of range;
            as for `backlane.run`.
    """

    def __init__(
        self,
        scenario: Scenario | None = None,
        *,
        flows: Sequence[str] | None = None,
        interval: float | None = None,
        octaves: float = 1.0,
        most_pkts: int = 1 << 20,
        objective: Objective | None = None,
        controlled: bool = True,
        overrides: Overrides = (),
        allow_python: bool = False,
    ) -> None:
        self.metadata = {"render_modes": []}
        self.objective = objective or Objective()
        self.controlled = controlled
        self._interval_s = None if interval is None else positive("interval", interval)
        self._octaves = positive("octaves", octaves)
        self._most_pkts = positive("most_pkts", most_pkts)
        self._names = None if flows is None else list(flows)
        self._episodes = Episodes(PATH if scenario is None else scenario, overrides, allow_python)
        self._watched: list[_Watched] = []
        # The names of the flows are those of a run.
        self._numbers = self._of(self._episodes.start(0, self._names))
        self._episodes.close()
        count = len(self._numbers)
        self.action_space = Box(-1.0, 1.0, (count,), np.float32)
        low = np.tile(np.array([0, 0, 0, 0, -1, -1], np.float32), count)
        self.observation_space = Box(low, np.ones_like(low), dtype=np.float32)

    def _of(self, run: Stepper) -> list[int]:
        """The numbers of the flows that the agent controls."""
        names = run.flows
        for name in self._names or ():
            if name not in names:
                raise BacklaneError(
                    "R093", f"the scenario has no flow {name!r}", self._episodes.name,
                    f"its flows are {', '.join(names[:10])}",
                )  # fmt: skip
        found = run.commanded
        missing = set(self._names or ()) - {names[number] for number in found}
        if missing or not found:
            what = f"{min(missing)!r} is no TCP flow" if missing else "there is no TCP flow"
            raise BacklaneError(
                "R093", what, self._episodes.name, "UDP has no window; choose flows of TCP"
            )
        return found

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begin a run, and go on until a flow has its first RTT.

        Args:
            seed: of the run; None draws one.
            options: without meaning.

        Raises:
            RunError: when the run failed.
        """
        super().reset(seed=seed)
        run_seed = int(self.np_random.integers(SEEDS)) if seed is None else seed
        run = self._episodes.start(run_seed, self._names if self.controlled else [])
        now_s = run.warm_up_s
        self._episodes.advance(now_s)
        self._watched = [_Watched(number, run.flow(number)) for number in self._numbers]
        while run.ended is None and not any(run.flow(one).rtt_samples for one in self._numbers):
            now_s += FIRST_LOOK_S
            self._episodes.advance(now_s)
        for one in self._watched:
            one.note(run.flow(one.number), FIRST_LOOK_S)
        names = run.flows
        info = {"seed": run_seed, "flows": [names[number] for number in self._numbers]}
        return self._observation(), self._info(run) | info

    def step(self, action: Any) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Set the windows, and go on for an interval.

        Args:
            action: a number from -1 to 1 for each flow.

        Raises:
            BacklaneError: R091 for an action out of range, R092 without an episode or after its
                end.
            RunError: when the run failed.
        """
        run = self._episodes.running()
        values = checked_action(action, len(self._numbers))
        if self.controlled:
            for one, value in zip(self._watched, values.tolist(), strict=True):
                self._command(run, one, value)
        began_s = run.now_s
        ended = self._episodes.advance(began_s + self._interval())
        span_s = run.now_s - began_s
        utilities = []
        for one in self._watched:
            was_done = one.before.has_ended
            one.note(run.flow(one.number), max(span_s, LEAST_INTERVAL_S))
            if one.rtt_s and not was_done:
                ratio = one.rtt_s / one.base_rtt_s
                utilities.append(self.objective.utility(one.rate_bps, ratio, one.loss))
        reward = span_s * sum(utilities) / len(utilities) if utilities else 0.0
        finished = ended == "flows finished"
        return (
            self._observation(), reward, finished, ended is not None and not finished,
            self._info(run),
        )  # fmt: skip

    def _command(self, run: Stepper, flow: _Watched, action: float) -> None:
        flow.action = action
        if not flow.before.rtt_samples or flow.before.has_ended:
            return
        window = (flow.window or flow.before.cwnd_pkts) * 2.0 ** (self._octaves * action)
        flow.window = min(max(window, LEAST_PKTS), self._most_pkts)
        run.set_window(flow.number, round(flow.window))

    def _interval(self) -> float:
        if self._interval_s is not None:
            return self._interval_s
        active = [one.before.srtt_s for one in self._watched if not one.before.has_ended]
        return max(max(active, default=0.0) or FIRST_LOOK_S, LEAST_INTERVAL_S)

    def _observation(self) -> Numbers:
        return np.array([x for one in self._watched for x in one.observed()], dtype=np.float32)

    def _info(self, run: Stepper) -> dict[str, Any]:
        flows = self._watched
        return {
            "time_s": run.now_s - run.warm_up_s,
            "window_pkts": np.array([round(one.window) or one.before.cwnd_pkts for one in flows]),
            "rate_bps": np.array([one.rate_bps for one in flows]),
            "rtt_s": np.array([one.rtt_s for one in flows]),
            "loss": np.array([one.loss for one in flows]),
            "delivered_bytes": np.array([one.before.delivered_bytes for one in flows]),
        }

    def flow_states(self) -> list[FlowState]:
        """The state of each flow at the end of the interval; counts are totals since its start."""
        return [one.before for one in self._watched]

    def digest(self) -> str:
        """The digest of the events so far: equal for equal runs, as in `runs.digest`.

        Raises:
            BacklaneError: R092 without an episode.
        """
        return self._episodes.digest()

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables of the episode that has ended, by name ([columns](../reference/tables.md)).

        Raises:
            BacklaneError: R092 before the end.
        """
        return self._episodes.tables()

    def close(self) -> None:
        """End the episode."""
        self._episodes.close()
