"""Environments of gymnasium: a run that an agent steps."""

from __future__ import annotations

import ast
import doctest
import importlib
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import backlane
import backlane.gym
from backlane import Ack, Arrival, BacklaneError, Window, native
from backlane.gym import NETWORK, PATH, CongestionControl, RoutingWeights

ROOT = Path(__file__).parents[2]
SHORT: dict[str, Any] = PATH | {"duration": "2 s"}
RING: dict[str, Any] = NETWORK | {"duration": "3 s"}
UDP = {"kind": "udp", "from": "enb1", "to": "enb2", "rate": "1 Mbit/s"}

Env = CongestionControl | RoutingWeights


def episode(env: Env, action: Any, seed: int = 1) -> list[tuple[Any, ...]]:
    """All that an episode with one action returns."""
    env.reset(seed=seed)
    found: list[tuple[Any, ...]] = []
    while not found or not (found[-1][2] or found[-1][3]):
        found.append(env.step(action))
    return found


def code_of(call: Any) -> str:
    with pytest.raises((BacklaneError, backlane.RunError)) as error:
        call()
    return str(getattr(error.value, "code", ""))


@pytest.mark.parametrize("name", ["CongestionControl", "RoutingWeights"])
def test_the_checker_of_gymnasium_finds_nothing(name: str) -> None:
    scenario = SHORT if name == "CongestionControl" else RING
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(f"backlane/{name}-v0").unwrapped)
        two = gymnasium.make_vec(
            f"backlane/{name}-v0", 2, vectorization_mode="sync", scenario=scenario
        )
        observed, _ = two.reset(seed=1)
        after, *_ = two.step(two.action_space.sample())
    assert two.observation_space.contains(observed)
    assert two.observation_space.contains(after)
    two.close()


def test_the_same_seed_gives_the_same_trajectory_and_another_one_another() -> None:
    env, other = CongestionControl(SHORT), CongestionControl(SHORT)
    first = episode(env, [0.2], seed=5)
    again = episode(other, [0.2], seed=5)
    assert env.digest() == other.digest()
    for (observed, reward, *_), (observed_again, reward_again, *_) in zip(
        first, again, strict=True
    ):
        assert (observed == observed_again).all()
        assert reward == reward_again
    before = env.digest()
    episode(env, [0.2], seed=6)
    assert env.digest() != before


def test_a_reset_without_a_seed_draws_from_that_of_the_first_reset() -> None:
    env = CongestionControl(SHORT)
    drawn = []
    for _ in range(2):
        env.reset(seed=5)
        drawn.append([env.reset()[1]["seed"] for _ in range(3)])
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 3


def test_a_run_that_is_only_watched_is_that_of_the_command() -> None:
    for interval in (None, 0.003, 0.4):
        env = CongestionControl(SHORT, controlled=False, interval=interval)
        episode(env, [1.0], seed=3)
        plain = backlane.run(SHORT, seed=3)
        assert env.digest() == plain.table("runs")["digest"][0]
        assert env.tables()["flows"].equals(plain.flows.drop("run_id"))


class Initial(backlane.CongestionControl):
    """The initial window, through all losses."""

    owns_window = True

    def on_arrival(self, now_s: float, arrival: Arrival, window: Window) -> None:
        window.cwnd_pkts = 10

    def on_ack(self, now_s: float, ack: Ack, window: Window) -> None:
        window.cwnd_pkts = 10

    def ssthresh(self, now_s: float, window: Window, in_flight_pkts: int) -> int:
        return window.cwnd_pkts


def test_an_agent_that_keeps_its_window_gives_the_run_of_a_class_that_does() -> None:
    env = CongestionControl(SHORT)
    steps = episode(env, [0.0], seed=3)
    assert all(info["window_pkts"] == 10 for *_, info in steps)
    plain = backlane.run(SHORT | {"tcp": {"congestion_control": Initial}}, seed=3)
    assert env.digest() == plain.table("runs")["digest"][0]


def test_an_action_multiplies_the_window_and_the_reward_is_the_utility() -> None:
    env = CongestionControl(SHORT, octaves=0.5, interval=0.5, most_pkts=30)
    _, info = env.reset(seed=1)
    assert info["window_pkts"] == 10
    windows = [int(env.step([action])[4]["window_pkts"][0]) for action in (1.0, 1.0, 1.0)]
    assert windows == [14, 20, 28]
    *_, info = env.step([1.0])
    assert info["window_pkts"] == 30
    env = CongestionControl(
        SHORT, interval=0.5, objective=backlane.gym.Objective(delay=2.0, loss=3.0)
    )
    env.reset(seed=1)
    for _ in range(3):
        _, reward, _, _, info = env.step([0.5])
        (state,) = env.flow_states()
        utility = (
            np.log2(info["rate_bps"][0] / 1e6)
            - 2.0 * np.log2(info["rtt_s"][0] / state.min_rtt_s)
            - 3.0 * info["loss"][0]
        )
        assert reward == pytest.approx(0.5 * utility)


def test_each_flow_has_an_action_of_its_own() -> None:
    flow = {"kind": "transfer", "from": "enb1", "to": "enb2", "size": "endless"}
    late = flow | {"start": "1 s"}
    env = CongestionControl(SHORT | {"flow": [flow, late, UDP]})
    assert env.action_space.shape == (2,)
    observed, info = env.reset(seed=1)
    _, second = info["flows"]
    assert not observed[6:].any()
    while info["time_s"] < 0.4:
        observed, *_, info = env.step([0.05, 1.0])
    # The second has not started: what the agent wants of it has no effect.
    assert info["window_pkts"][0] > 10
    assert info["window_pkts"][1] == 0
    while info["time_s"] < 1.5:
        observed, *_, info = env.step([0.0, 0.0])
    assert info["window_pkts"][1] == 10
    assert observed[6:].any()
    one = CongestionControl(SHORT | {"flow": [flow, late]}, flows=[second])
    assert one.action_space.shape == (1,)
    assert one.reset(seed=1)[1]["time_s"] > 1.0


def test_an_episode_is_terminated_when_all_flows_have_finished() -> None:
    flow = {"kind": "transfer", "from": "enb1", "to": "enb2", "size": "100 kB"}
    *_, last = episode(CongestionControl(SHORT | {"flow": [flow]}), [0.5])
    assert last[2:4] == (True, False)
    assert last[4]["delivered_bytes"] == 100_000
    *_, last = episode(CongestionControl(SHORT), [0.5])
    assert last[2:4] == (False, True)
    assert last[4]["time_s"] == 2.0


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ([1.5], "action[0] is 1.5, and must be from -1 to 1"),
        ([-1.0001], "action[0] is -1.0001, and must be from -1 to 1"),
        ([np.nan], "action[0] is nan"),
        ([np.inf], "action[0] is inf"),
        ([0.0, 0.0], "is not an array of shape (1,)"),
        ([[0.0]], "is not an array of shape (1,)"),
        (0.0, "is not an array of shape (1,)"),
        (None, "is not an array of shape (1,)"),
        ("up", "is not an array of shape (1,)"),
        ([1j], "is not an array of shape (1,)"),
    ],
)
def test_an_action_out_of_range_is_refused_and_the_episode_goes_on(action: Any, said: str) -> None:
    env = CongestionControl(SHORT)
    env.reset(seed=1)
    env.step([0.5])
    before = env.digest()
    with pytest.raises(BacklaneError) as error:
        env.step(action)
    assert error.value.code == "R091"
    assert said in error.value.message
    assert error.value.mend
    assert env.digest() == before
    env.step(np.array([1.0], np.float32))


def test_the_number_out_of_range_is_named_among_those_of_all_links() -> None:
    env = RoutingWeights(RING)
    env.reset(seed=1)
    with pytest.raises(BacklaneError, match=r"action\[3\] is -2") as error:
        env.step([0.0, 1.0, -1.0, -2.0, 9.0])
    assert error.value.code == "R091"


@pytest.mark.parametrize("env", [CongestionControl(SHORT), RoutingWeights(RING)])
def test_without_an_episode_there_is_no_step(env: Env) -> None:
    action = env.action_space.sample()
    assert code_of(lambda: env.step(action)) == "R092"
    assert code_of(env.digest) == "R092"
    env.reset(seed=1)
    assert code_of(env.tables) == "R092"
    env.close()
    env.close()
    assert code_of(lambda: env.step(action)) == "R092"
    episode(env, np.zeros_like(action))
    assert code_of(lambda: env.step(action)) == "R092"
    assert env.tables() is env.tables()
    assert code_of(lambda: env.step(action)) == "R092"
    env.reset()
    env.step(action)
    env.reset(seed=2)
    env.step(action)


SLOTTED = (ROOT / "examples" / "slotted_downlink.toml").read_text("utf-8").split("[sweep]")[0]


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: CongestionControl(SHORT | {"flow": [UDP]}), "R093"),
        (lambda: CongestionControl(SHORT, flows=["enb7"]), "R093"),
        (lambda: CongestionControl(SHORT | {"flow": [UDP]}, flows=["enb1-enb2"]), "R093"),
        (lambda: CongestionControl(SLOTTED), "R093"),
        (lambda: RoutingWeights(SHORT), "R093"),
        (lambda: RoutingWeights(RING | {"routing": {"protocol": "olsr"}}), "R093"),
        (lambda: CongestionControl(SHORT | {"sweep": {"seeds": 2}}), "R006"),
        (lambda: CongestionControl(SHORT, interval=0.0), "R094"),
        (lambda: CongestionControl(SHORT, octaves=float("nan")), "R094"),
        (lambda: CongestionControl(SHORT, most_pkts=-1), "R094"),
        (lambda: RoutingWeights(RING, interval=float("inf")), "R094"),
        (lambda: RoutingWeights(RING, interval=True), "R094"),
    ],
)
def test_what_does_not_fit_has_a_code(make: Any, code: str) -> None:
    assert code_of(make) == code


def test_a_wrong_scenario_is_refused_as_everywhere() -> None:
    with pytest.raises(backlane.ScenarioError):
        CongestionControl(SHORT | {"duration": "2 apples"})


def test_costs_lead_flows_around_a_busy_link_and_equal_ones_change_nothing() -> None:
    env = RoutingWeights(RING)
    goodput = {}
    for action in (0.0, 1.0):
        steps = episode(env, [action, 0.0, 0.0, 0.0, 0.0])
        goodput[action] = sum(reward for _, reward, *_ in steps) / 3.0
        table = env.tables()["flows"]
        assert goodput[action] == pytest.approx(float(table["goodput_bps"].sum()) / 1e6, rel=1e-9)
        if action == 0.0:
            assert env.digest() == backlane.run(RING, seed=1).table("runs")["digest"][0]
            # Both flows share b-c, which is full in the direction of the data.
            assert steps[-1][0][4] > 0.95
    assert env.links[0] == ("a", "b")
    # Two links of 10 Mbit/s carry more than one; the first second is slow start.
    assert goodput[0.0] < 10.0
    assert goodput[1.0] > 14.0


@settings(max_examples=15)
@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=40), st.integers(0, 99))
def test_observations_of_any_actions_are_within_their_space(
    actions: list[float], seed: int
) -> None:
    env = CongestionControl(SHORT)
    observed, _ = env.reset(seed=seed)
    for action in actions:
        assert env.observation_space.contains(observed)
        observed, reward, terminated, truncated, _ = env.step([action])
        assert np.isfinite(reward)
        if terminated or truncated:
            break


def test_environments_share_nothing() -> None:
    one, two = CongestionControl(SHORT), CongestionControl(SHORT)
    episode(one, [0.3], seed=4)
    alone = one.digest()
    one.reset(seed=4)
    two.reset(seed=8)
    done = False
    while not done:
        two.step([0.1])
        *_, truncated, _ = one.step([0.3])
        done = truncated
    assert one.digest() == alone


def test_ctrl_c_ends_a_long_step_and_closes_the_episode() -> None:
    long = SHORT | {"duration": "1000000 s"}
    env = CongestionControl(long, interval=900_000.0)
    env.reset(seed=1)
    # A shell without job control ignores the signal for what it starts in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            env.step([1.0])
    finally:
        signal.signal(signal.SIGINT, before)
    timer.join()
    assert code_of(lambda: env.step([0.0])) == "R092"
    env.reset(seed=1)


class Stuck(backlane.Router):
    """A router that fails for the packets of data."""

    def next_hop(self, context: backlane.RouterContext, packet: backlane.Packet) -> str | None:
        if packet.size_bytes > 1000:
            raise ValueError("no way")
        return packet.exit


def test_an_error_of_a_hook_ends_the_episode_with_its_code() -> None:
    env = CongestionControl(SHORT | {"routing": Stuck})
    assert code_of(lambda: episode(env, [0.0])) == "R103"
    assert code_of(lambda: env.step([0.0])) == "R092"


@pytest.fixture
def without_gymnasium(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    kept = {name: module for name, module in sys.modules.items() if name.startswith("backlane.gym")}
    for name in kept:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    yield
    sys.modules.update(kept)
    backlane.gym = kept["backlane.gym"]


@pytest.mark.usefixtures("without_gymnasium")
def test_a_missing_package_is_named_with_the_command_that_installs_it() -> None:
    with pytest.raises(BacklaneError) as error:
        importlib.import_module("backlane.gym")
    assert error.value.code == "R090"
    assert error.value.mend == "pip install 'backlane[gym]'"


@pytest.fixture(scope="module")
def agent() -> Iterator[Any]:
    sys.path.insert(0, str(ROOT / "examples" / "gym"))
    try:
        yield importlib.import_module("agent")
    finally:
        sys.path.pop(0)
        sys.modules.pop("agent", None)


def test_the_trained_policy_beats_cubic_on_its_path(agent: Any) -> None:
    policy = agent.Policy.stored()
    for seed in agent.TEST_SEEDS[:3]:
        mine = agent.play(agent.TRAINED, policy, seed)
        cubic = agent.play(agent.TRAINED, "cubic", seed)
        # Measured: 2.5 ± 0.06 over ten seeds.
        assert mine.utility > cubic.utility + 2.0
        assert mine.goodput_mbps > 4 * cubic.goodput_mbps


def test_the_path_of_the_training_is_that_of_the_environment(agent: Any) -> None:
    same = ("duration", "topology", "flow")
    trained = agent.TRAINED.scenario()
    # "20.0 ms" and "20 ms" are one delay.
    trained["topology"]["link"]["delay"] = "20 ms"
    assert agent.TRAINED.rtt_ms == 40.0
    assert [trained[key] for key in same] == [PATH[key] for key in same]


def test_the_training_follows_a_better_policy(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    train = importlib.import_module("train")
    target = np.linspace(-1.0, 1.0, agent.SIZE)
    monkeypatch.setattr(
        train, "fitness", lambda weights, _seeds: -float(((weights - target) ** 2).sum())
    )
    begun, trained = train.train(0), train.train(150)
    sys.modules.pop("train")
    assert abs(trained - target).max() < 0.3 < abs(begun - target).max()


def test_the_example_of_the_package_runs() -> None:
    found = doctest.testmod(backlane.gym)
    assert found.failed == 0
    assert found.attempted >= 5


def test_the_type_stubs_list_what_an_episode_can_use() -> None:
    stubs = ast.parse((ROOT / "python/backlane/_native.pyi").read_text())
    for name in ("Stepper", "FlowState", "LinkState"):
        (stub,) = (one for one in stubs.body if isinstance(one, ast.ClassDef) and one.name == name)
        written = {one.name for one in stub.body if isinstance(one, ast.FunctionDef)}
        compiled = {one for one in dir(getattr(native.module(), name)) if not one.startswith("_")}
        assert written - {"__new__"} == compiled, name
