"""An agent that sets the costs of links, from which static routes follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from backlane.errors import BacklaneError
from backlane.gym.episode import SEEDS, Episodes, checked_action, positive

if TYPE_CHECKING:
    import polars as pl

    from backlane._native import Stepper
    from backlane.scenario import Overrides, Scenario

Numbers = NDArray[np.floating[Any]]

NETWORK = {
    "name": "ring",
    "duration": "20 s",
    "topology": {
        "kind": "graph",
        "node": [
            {"id": "a", "kind": "router", "x": "0 m", "y": "0 m"},
            {"id": "b", "kind": "router", "x": "100 m", "y": "0 m"},
            {"id": "c", "kind": "router", "x": "200 m", "y": "0 m"},
            {"id": "d", "kind": "router", "x": "150 m", "y": "100 m"},
            {"id": "e", "kind": "router", "x": "50 m", "y": "100 m"},
        ],
        "link": [
            {"a": a, "b": b, "rate": "10 Mbit/s", "delay": "5 ms", "queue": "1 bdp"}
            for a, b in ("ab", "bc", "cd", "de", "ea")
        ],
    },
    "routing": {"protocol": "shortest-path"},
    "flow": [
        {"kind": "transfer", "from": "a", "to": "c", "size": "endless"},
        {"kind": "transfer", "from": "b", "to": "c", "size": "endless"},
    ],
}
"""The network of an environment without one: a ring of five, where two flows share the link b-c as
long as its cost is that of the others."""

UNIT = 1000
"""The cost of a link by the action 0; 1 is ten times, and -1 a tenth of it."""
PER_LINK = 4
"""Numbers that an agent observes of a link: two for each direction."""


class RoutingWeights(gymnasium.Env[Numbers, Numbers]):
    """The costs of the links between routers, set at intervals.

    An action has a number from -1 to 1 for each link, in the order of `links`: its cost becomes
    ``1000 * 10 ** action``, in both directions. From then on every router forwards along the
    shortest paths by these costs, and takes the neighbour that the scenario lists first among equal
    ones; packets in a queue keep their link. The action of zeros is routing by hops. The costs take
    effect everywhere at once: no protocol floods them.

    Observations are from 0 to 1, four for each link: for the direction in which `links` names it,
    then the other, the share of the rate that was sent in the last interval, and ``q / (q + i)`` of
    the time q to empty the queue and the interval i. The reward is the payload delivered to all
    flows in the interval, in Mbit, so that the return of an episode by its length is the goodput in
    Mbit/s. Payload of TCP counts when it is complete in order. An episode is a run, as for
    `CongestionControl`.

    `info` has `time_s`, the end of the interval after the warm-up; for each flow `delivered_bytes`
    so far; after a reset also `seed`, and the names of the `flows`.

    Args:
        scenario: as for `backlane.run`, with the routing protocol shortest-path; default `NETWORK`.
        interval: seconds between two actions.
        overrides: as for `backlane.run`.
        allow_python: as for `backlane.run`.

    Raises:
        ScenarioError: when the scenario is wrong.
        BacklaneError: R093 when the scenario has another protocol or less than two links between
            routers, R094 for a parameter out of range; as for `backlane.run`.
    """

    def __init__(
        self,
        scenario: Scenario | None = None,
        *,
        interval: float = 1.0,
        overrides: Overrides = (),
        allow_python: bool = False,
    ) -> None:
        self.metadata = {"render_modes": []}
        self._interval_s = positive("interval", interval)
        scenario = NETWORK if scenario is None else scenario
        self._episodes = Episodes(scenario, overrides, allow_python)
        run = self._episodes.start(0, [])
        if run.protocol != "shortest-path":
            raise BacklaneError(
                "R093", f"the routing protocol is {run.protocol!r}", self._episodes.name,
                'write `routing = { protocol = "shortest-path" }`',
            )  # fmt: skip
        names, self._wires = run.links, run.wires
        if len(self._wires) < 2:
            raise BacklaneError(
                "R093",
                f"there are {len(self._wires)} links between routers, and no choice of paths",
                self._episodes.name,
            )
        self.links: list[tuple[str, str]] = [names[there] for there, _ in self._wires]
        """The ends of each link between routers, in the order of actions and observations."""
        self._directions = [number for wire in self._wires for number in wire]
        self._sent: list[int] = []
        self._delivered_bytes = 0
        self._episodes.close()
        self.action_space = Box(-1.0, 1.0, (len(self._wires),), np.float32)
        self.observation_space = Box(0.0, 1.0, (PER_LINK * len(self._wires),), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begin a run, and go on through its warm-up.

        Args:
            seed: of the run; None draws one.
            options: without meaning.

        Raises:
            RunError: when the run failed.
        """
        super().reset(seed=seed)
        run_seed = int(self.np_random.integers(SEEDS)) if seed is None else seed
        run = self._episodes.start(run_seed, [])
        self._sent = [0] * len(self._directions)
        self._episodes.advance(run.warm_up_s)
        observation = self._observe(run, run.warm_up_s)
        info = self._info(run)
        self._delivered_bytes = int(info["delivered_bytes"].sum())
        return observation, info | {"seed": run_seed, "flows": run.flows}

    def step(self, action: Any) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Set the costs, and go on for an interval.

        Args:
            action: a number from -1 to 1 for each link.

        Raises:
            BacklaneError: R091 for an action out of range, R092 without an episode or after its
                end.
            RunError: when the run failed.
        """
        run = self._episodes.running()
        values = checked_action(action, len(self._wires))
        run.set_costs(np.rint(UNIT * 10.0**values).astype(int).tolist())
        began_s = run.now_s
        ended = self._episodes.advance(began_s + self._interval_s)
        observation, info = self._observe(run, run.now_s - began_s), self._info(run)
        delivered_bytes = int(info["delivered_bytes"].sum())
        reward = (delivered_bytes - self._delivered_bytes) * 8 / 1e6
        self._delivered_bytes = delivered_bytes
        finished = ended == "flows finished"
        return observation, reward, finished, ended is not None and not finished, info

    def _observe(self, run: Stepper, span_s: float) -> Numbers:
        observed = []
        for turn, number in enumerate(self._directions):
            link = run.link(number)
            sent = link.sent_bytes - self._sent[turn]
            self._sent[turn] = link.sent_bytes
            could = link.rate_bps * span_s / 8
            drain_s = link.queue_bytes * 8 / link.rate_bps if link.rate_bps else 0.0
            observed += [
                min(sent / could, 1.0) if could else 0.0,
                drain_s / (drain_s + self._interval_s),
            ]
        return np.array(observed, dtype=np.float32)

    def _info(self, run: Stepper) -> dict[str, Any]:
        flows = range(len(run.flows))
        return {
            "time_s": run.now_s - run.warm_up_s,
            "delivered_bytes": np.array([run.flow(flow).delivered_bytes for flow in flows]),
        }

    def digest(self) -> str:
        """The digest of the events so far: equal for equal runs, as in `runs.digest`.

        Raises:
            BacklaneError: R092 without an episode.
        """
        return self._episodes.digest()

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables of the episode that has ended, by name.

        Raises:
            BacklaneError: R092 before the end.
        """
        return self._episodes.tables()

    def close(self) -> None:
        """End the episode."""
        self._episodes.close()
