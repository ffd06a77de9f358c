"""Environments of gymnasium, in which an agent sets what congestion controls and routing set.

`CongestionControl` gives the windows of TCP flows to the agent, `RoutingWeights` the costs of
links. `episode` is a run that pauses for the agent; both use it. Importing this package registers
the environments as ``backlane/CongestionControl-v0`` and ``backlane/RoutingWeights-v0``.

Example:
    >>> import backlane.gym
    >>> env = backlane.gym.CongestionControl()
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step([0.5])
    >>> info["window_pkts"].tolist()
    [14]
    >>> env.close()
"""

from __future__ import annotations

from backlane.errors import BacklaneError

try:
    import gymnasium
except ImportError as error:
    raise BacklaneError(
        "R090", "the package gymnasium is not installed", None, "pip install 'backlane[gym]'"
    ) from error

from backlane.gym.congestion import OBSERVATIONS, PATH, CongestionControl, Objective
from backlane.gym.routing import NETWORK, RoutingWeights

__all__ = ["NETWORK", "OBSERVATIONS", "PATH", "CongestionControl", "Objective", "RoutingWeights"]

gymnasium.register("backlane/CongestionControl-v0", "backlane.gym:CongestionControl")
gymnasium.register("backlane/RoutingWeights-v0", "backlane.gym:RoutingWeights")
