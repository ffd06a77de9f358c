"""User-defined congestion controls: arguments, effects and errors of a Python class."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import BASE, Cli

import backlane
from backlane import congestion, native

HOOKS, FLAGS = congestion.BASE.hooks, congestion.BASE.flags

RENO = '''\
"""Reno, from RFC 5681."""

from backlane import Ack, CongestionControl, Window


class Reno(CongestionControl):
    def on_ack(self, now_s: float, ack: Ack, window: Window) -> None:
        if not ack.is_cwnd_limited:
            return
        left = window.slow_start(ack.acked_pkts) if window.in_slow_start else ack.acked_pkts
        if left > 0:
            window.increase_additively(window.cwnd_pkts, left)

    def ssthresh(self, now_s: float, window: Window, in_flight_pkts: int) -> int:
        return max(window.cwnd_pkts // 2, 2)
'''

LINK = """\
name = "link"
duration = "20 s"

[topology]
kind = "graph"
node = [{ id = "a" }, { id = "b" }]

[[topology.link]]
a = "a"
b = "b"
rate = "10 Mbit/s"
delay = "20 ms"
queue = "30 packets"
loss = 0.001

[tcp]
congestion_control = "python:own.py:Own"

[[flow]]
kind = "transfer"
from = "a"
to = "b"
size = "endless"
"""


def own(on_ack: str = "pass", ssthresh: str = "return 10", more: str = "") -> str:
    """A class `Own` with these bodies."""
    return (
        "import math\nfrom backlane import CongestionControl\n\n"
        "class Own(CongestionControl):\n"
        f"    def on_ack(self, now_s, ack, window):\n        {on_ack}\n"
        f"    def ssthresh(self, now_s, window, in_flight_pkts):\n        {ssthresh}\n"
        + "".join(f"    {line}\n" for line in more.splitlines())
    )


def write(folder: Path, source: str, scenario: str = LINK) -> Path:
    (folder / "own.py").write_text(source)
    path = folder / "link.toml"
    path.write_text(scenario)
    return path


def flows_of(path: Path, control: str, **more: Any) -> pl.DataFrame:
    overrides = [("tcp.congestion_control", control)]
    results = backlane.run(path, overrides=overrides, **more)
    return results.flows.drop("run_id", "congestion_control").with_columns(
        digest_of_run=pl.lit(results.runs["digest"][0])
    )


@pytest.mark.parametrize(
    "scenario",
    [
        LINK,
        LINK.replace("loss = 0.001", "loss = 0.03"),
        BASE.replace('"200 kB"', '"5 MB"'),
        # Packets overtake each other: recoveries that are undone.
        BASE.replace('"200 kB"', '"5 MB"').replace(
            '"shortest-path"', '"bp-mr"\ngranularity = "packet"'
        ),
    ],
    ids=["drops", "losses", "cells", "reordering"],
)
def test_reno_in_python_gives_the_run_of_reno(scenario: str, tmp_path: Path) -> None:
    path = write(tmp_path, RENO, scenario)
    built_in = flows_of(path, "reno")
    assert built_in["retransmits"].sum() > 10, "there is loss to react to"
    assert flows_of(path, "python:own.py:Reno").equals(built_in)


def test_hooks_that_do_what_the_endpoint_does_without_them_change_nothing(tmp_path: Path) -> None:
    usual = (
        RENO
        + """
    def on_established(self, now_s, srtt_us, mss_bytes, window):
        assert mss_bytes == 1448 and window.cwnd_pkts == 10 and 0 <= srtt_us < 1e6

    def on_rtt_sample(self, now_s, sample, window):
        assert 40_000 < sample.rtt_us and sample.snd_una <= sample.snd_nxt

    def on_arrival(self, now_s, arrival, window):
        assert arrival.mss_bytes == 1448

    def on_loss(self, now_s, window):
        assert window.ssthresh_pkts >= 2

    def undo_cwnd(self, window, prior_cwnd_pkts):
        return max(window.cwnd_pkts, prior_cwnd_pkts)

    def take_reduction(self):
        return False

    def pacing_rate(self):
        return None

    def on_state_change(self, now_s, state, snd_nxt):
        assert state in ("open", "disorder", "cwr", "recovery", "loss")

    def on_packet_lost(self, now_s, lost, window):
        raise AssertionError("never asks for rate samples")

    def on_timeout(self, now_s, lost_pkts):
        assert lost_pkts > 0

    def on_recovery_exit(self, now_s, window):
        assert window.cwnd_pkts <= window.ssthresh_pkts

    def on_idle_restart(self, now_s, snd_nxt, window):
        raise AssertionError("never idle")

    def on_transmit_start(self, now_s, idle_s, snd_nxt):
        assert idle_s >= 0.0

    def on_restart(self, now_s, window):
        raise AssertionError("never asks for rate samples")

    def holds_back(self):
        raise AssertionError("never asks for rate samples")
"""
    )
    assert all(f"def {hook}(" in usual for hook in HOOKS)
    path = write(tmp_path, usual)
    assert flows_of(path, "python:own.py:Reno").equals(flows_of(path, "reno"))


def test_a_window_that_stands_still_carries_itself_once_in_a_round_trip(tmp_path: Path) -> None:
    source = own("window.cwnd_pkts = 10", more="owns_window = True")
    path = write(tmp_path, source, LINK.replace("loss = 0.001", ""))
    flows = backlane.run(path).flows
    # 40 ms and the transmission time of a packet.
    rtt_s = 0.04 + 1500 * 8 / 10e6
    assert flows["goodput_bps"][0] == pytest.approx(10 * 1448 * 8 / rtt_s, rel=0.02)
    assert flows["retransmits"][0] == 0


def test_the_pacing_rate_is_kept(tmp_path: Path) -> None:
    source = own("window.cwnd_pkts = 100", more="def pacing_rate(self):\n    return 4e6")
    path = write(tmp_path, source, LINK.replace("loss = 0.001", ""))
    # The rate is that of the payload.
    assert backlane.run(path).flows["goodput_bps"][0] == pytest.approx(4e6, rel=0.01)


def test_rate_samples_come_to_those_who_need_them(tmp_path: Path) -> None:
    more = "needs_rate_samples = {}\nseen = 0"
    on_ack = (
        "self.seen = max(self.seen, ack.rate.interval_us and ack.rate.delivered_pkts)\n"
        "        if now_s > 10: assert self.seen {}"
    )
    backlane.run(write(tmp_path, own(on_ack.format("> 0"), more=more.format("True"))))
    backlane.run(write(tmp_path, own(on_ack.format("== 0"), more=more.format("False"))))


def test_lost_packets_come_to_those_who_need_rate_samples(tmp_path: Path) -> None:
    more = (
        "needs_rate_samples = True\nlost_pkts = 0\n"
        "def on_packet_lost(self, now_s, lost, window):\n"
        "    self.lost_pkts += 1\n"
        "    assert 1 <= lost.lost_since_sent_pkts <= self.lost_pkts\n"
        "    assert 1 <= lost.tx_in_flight_pkts and not lost.is_app_limited"
    )
    on_ack = "assert ack.lost_pkts == self.lost_pkts; assert now_s < 10 or self.lost_pkts > 0"
    backlane.run(write(tmp_path, own(on_ack, more=more)))


def test_each_connection_draws_numbers_of_its_own_and_the_same_in_every_run(
    tmp_path: Path,
) -> None:
    drawing = "def on_established(self, now_s, srtt_us, mss_bytes, window):\n"
    drawing += "    self.pkts = self.random.randint(5, 500)"
    scenario = LINK.replace("loss = 0.001", "").replace("10 Mbit/s", "1 Gbit/s")
    scenario += scenario[scenario.index("[[flow]]") :]
    path = write(tmp_path, own("window.cwnd_pkts = self.pkts", more=drawing), scenario)
    once, again = flows_of(path, "python:own.py:Own"), flows_of(path, "python:own.py:Own")
    assert once.equals(again)
    assert once["goodput_bps"].n_unique() == 2
    other = flows_of(path, "python:own.py:Own", seed=2)
    assert pl.concat([once, other])["goodput_bps"].n_unique() == 4


def test_runs_of_one_file_share_nothing(tmp_path: Path) -> None:
    counting = own("Own.count += 1; window.cwnd_pkts = 5 + Own.count % 7", more="count = 0")
    path = write(tmp_path, counting)
    assert flows_of(path, "python:own.py:Own").equals(flows_of(path, "python:own.py:Own"))


def test_a_class_may_be_that_of_a_single_flow(tmp_path: Path) -> None:
    scenario = LINK.replace('"python:own.py:Own"', '"reno"') + LINK[LINK.index("[[flow]]") :]
    path = write(tmp_path, own("window.cwnd_pkts = 1"), scenario)
    overrides = [("flow.1.congestion_control", "python:own.py:Own")]
    flows = backlane.run(path, overrides=overrides).flows
    assert flows["congestion_control"].to_list() == ["reno", "python:own.py:Own"]
    assert flows["goodput_bps"][1] < flows["goodput_bps"][0] / 5


@pytest.mark.parametrize(
    ("set_to", "becomes"),
    [("0", 1), ("1", 1), ("7", 7), ("10**30", 2**30), ("True", 1)],
)
def test_the_window_is_at_least_one_packet_and_bounded(
    set_to: str, becomes: int, tmp_path: Path
) -> None:
    source = own(f"window.cwnd_pkts = {set_to}; assert window.cwnd_pkts == {becomes}, window")
    flows = backlane.run(write(tmp_path, source)).flows
    assert flows["delivered_bytes"][0] > 0


WRONG = {
    "nan": ("window.cwnd_pkts = math.nan", "TypeError: cwnd_pkts is nan: write a whole number"),
    "fraction": ("window.cwnd_pkts += 0.5", "TypeError: cwnd_pkts is 10.5: write a whole number"),
    "text": ("window.cwnd_pkts = 'ten'", "TypeError: cwnd_pkts is 'ten': write a whole number"),
    "negative": ("window.cwnd_pkts = -3", "ValueError: cwnd_pkts is -3: a number of packets is"),
    "far": ("window.ssthresh_pkts = -10**30", "is not negative"),
    "credit": ("window.increase_additively(1, -1)", "acked_pkts is -1"),
    "returned": ("return 10", "TypeError: on_ack returned 10, which has no meaning"),
    "raised": ("1 / 0", "ZeroDivisionError: division by zero"),
    "exit": ("raise SystemExit(0)", "SystemExit: 0"),
    "frozen": ("ack.acked_pkts = 3", "AttributeError"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_class_that_errs_ends_its_run_with_the_traceback_and_the_time(
    wrong: str, tmp_path: Path, cli: Cli
) -> None:
    body, message = WRONG[wrong]
    path = write(tmp_path, own(body))
    failed = cli("run", path, "--out", tmp_path / "out")
    assert failed.code == 1
    assert "error[R103]" in failed.err
    assert message in failed.err
    if wrong != "returned":
        assert re.search(r'File "own.py", line 6, in on_ack\n +' + re.escape(body), failed.err)
    # The first data is acknowledged after two round trips.
    at_s = re.search(r"failed at ([0-9.]+) s of simulated time", failed.err)
    assert at_s
    assert 0.08 < float(at_s[1]) < 0.1
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("ssthresh", "more", "message"),
    [
        ("return None", "", "what ssthresh returned is None: write a whole number"),
        ("return 5.0", "", "what ssthresh returned is 5.0"),
        ("window.cwnd_pkts = 3", "", "the window can only be changed in the hook that got it"),
        ("return 5", "def pacing_rate(self):\n    return 'fast'", "pacing_rate returned 'fast'"),
        ("return 5", "def pacing_rate(self):\n    return math.inf", "pacing_rate returned inf"),
        ("return 5", "def pacing_rate(self):\n    return -1", "pacing_rate returned -1"),
        ("return 5", "def take_reduction(self):\n    return 'no'", "take_reduction returned 'no'"),
    ],
)
def test_what_a_hook_returns_is_looked_at(
    ssthresh: str, more: str, message: str, tmp_path: Path, cli: Cli
) -> None:
    failed = cli("run", write(tmp_path, own("window.cwnd_pkts += 1", ssthresh, more)))
    assert failed.code == 1
    assert message in failed.err


def test_a_window_that_was_kept_cannot_be_changed_later(tmp_path: Path, cli: Cli) -> None:
    keeping = own("self.kept = getattr(self, 'kept', window); self.kept.cwnd_pkts = 5")
    failed = cli("run", write(tmp_path, keeping))
    assert failed.code == 1
    assert "the window can only be changed in the hook that got it" in failed.err


def test_an_object_that_cannot_be_made_fails_its_run(tmp_path: Path, cli: Cli) -> None:
    # Before the run an object is made with the seed 0, and no connection has that.
    more = "def __init__(self, seed):\n    super().__init__(seed)\n    assert seed == 0"
    failed = cli("run", write(tmp_path, own(more=more)))
    assert failed.code == 1
    assert "failed while a connection was made" in failed.err
    assert "AssertionError" in failed.err


BAD_FILES = {
    "no Python": ("class Own(:\n", "this is not Python", "own.py:1"),
    "no class": (own().replace("Own", "Owm"), "there is no class Own", "did you mean Owm?"),
    "no control": ("class Own:\n    pass\n", "Own is no congestion control", "imported from"),
    "missing hook": (
        own().replace("def ssthresh", "def threshold"),
        "Own has no ssthresh",
        "write def ssthresh(self, now_s, window, in_flight_pkts)",
    ),
    "misspelled hook": (
        own(more="def on_state_changed(self, now_s, state, snd_nxt):\n    pass"),
        "Own.on_state_changed is not a hook",
        "did you mean on_state_change?",
    ),
    "other arguments": (
        own().replace("now_s, ack, window", "ack, window"),
        "Own.on_ack cannot be called",
        "write def on_ack(self, now_s, ack, window)",
    ),
    "flag": (own(more="owns_window = 'yes'"), "Own.owns_window is no bool", "own.py"),
    "import": ("import no_such_module_anywhere\n", "No module named", "own.py:1"),
    "constructor": (
        own(more="def __init__(self):\n    pass"), "Own.__init__ cannot be called", "takes a seed",
    ),
    "nothing": ("", "there is no class Own", "write class Own(CongestionControl)"),
}  # fmt: skip


@pytest.mark.parametrize("verb", [["check"], ["run"], ["campaign", "run"]], ids=" ".join)
@pytest.mark.parametrize("bad", BAD_FILES)
def test_a_file_that_cannot_be_used_is_refused_before_anything_runs(
    bad: str, verb: list[str], tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, message, mend = BAD_FILES[bad]
    monkeypatch.setattr(native.module(), "run", lambda *_: pytest.fail("something ran"))
    refused = cli(*verb, write(tmp_path, source))
    assert refused.code == 2
    assert "error[R020]" in refused.err
    assert message in refused.err
    assert mend in refused.err


def test_a_file_that_is_not_there_is_a_problem_of_the_scenario(tmp_path: Path, cli: Cli) -> None:
    path = write(tmp_path, own())
    (tmp_path / "own.py").unlink()
    refused = cli("check", path)
    assert refused.code == 2
    assert "error[S002]" in refused.err
    assert f"{path}:17:22" in refused.err


def test_a_control_of_a_rust_program_is_unknown(tmp_path: Path, cli: Cli) -> None:
    path = write(tmp_path, own(), LINK.replace("python:own.py:Own", "aimd"))
    refused = cli("check", path)
    assert refused.code == 2
    assert '"aimd" is not a known tcp congestion_control' in refused.err


SWEEP = """
[sweep]
"tcp.congestion_control" = ["reno", "python:own.py:Own", "python:own.py:Other"]
seeds = 3
"""
OTHER = "\n\nclass Other(Own):\n    def ssthresh(self, now_s, window, in_flight_pkts):\n"


def test_a_campaign_gives_with_two_threads_what_it_gives_with_one(tmp_path: Path) -> None:
    path = write(tmp_path, RENO.replace("Reno", "Own") + OTHER + "        return 4\n", LINK + SWEEP)
    results = {}
    for workers in (1, 2):
        backlane.campaign.run(path, tmp_path / str(workers), workers=workers)
        results[workers] = backlane.load(tmp_path / str(workers))
    assert results[1].flows.equals(results[2].flows)
    digests = results[2].runs.group_by("cell", maintain_order=True).agg("digest")["digest"]
    reno, same, other = digests.to_list()
    assert reno == same
    assert not set(reno) & set(other)


def test_an_edited_class_runs_again_and_the_others_do_not(tmp_path: Path) -> None:
    path = write(tmp_path, RENO.replace("Reno", "Own") + OTHER + "        return 4\n", LINK + SWEEP)
    first = backlane.campaign.run(path, tmp_path / "out")
    assert len(first.outcome.finished) == 9
    assert backlane.campaign.run(path, tmp_path / "out").outcome.reused == 9
    source = (tmp_path / "own.py").read_text()
    (tmp_path / "own.py").write_text(source.replace("return 4", "return 5"))
    edited = backlane.campaign.run(path, tmp_path / "out")
    assert (edited.outcome.reused, len(edited.outcome.finished)) == (3, 6)


def test_a_class_that_errs_does_not_keep_the_other_runs_from_their_end(
    tmp_path: Path, cli: Cli
) -> None:
    other = OTHER + "        raise RuntimeError('no threshold')\n"
    path = write(tmp_path, RENO.replace("Reno", "Own") + other, LINK + SWEEP)
    result = cli("campaign", "run", path, "--out", tmp_path / "out", "--no-report", "--json")
    assert result.code == 1
    found = json.loads(result.out)
    assert found["runs_finished"] == 6
    assert {entry["code"] for entry in found["failed"]} == {"R103"}
    assert len(found["failed"]) == 3
    for entry in found["failed"]:
        assert entry["parameters"] == {"tcp.congestion_control": "python:own.py:Other"}
        assert 'File "own.py", line ' in entry["message"]
        assert "RuntimeError: no threshold" in entry["message"]
        assert " s of simulated time" in entry["message"]
    assert "error[R103]" in result.err


def test_a_resolved_scenario_runs_without_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, RENO.replace("Reno", "Own"))
    results = backlane.run(path, out=tmp_path / "out")
    (tmp_path / "own.py").unlink()
    again = backlane.run(tmp_path / "out" / "scenario.resolved.toml", allow_python=True)
    assert again.runs["run_id"].equals(results.runs["run_id"])
    assert again.runs["digest"].equals(results.runs["digest"])


def test_python_has_every_hook_of_the_trait() -> None:
    source = (Path(__file__).parents[2] / "crates/tcp/src/congestion/control.rs").read_text()
    trait = source[source.index("pub trait CongestionControl") :]
    hooks = re.findall(r"^    fn (\w+)\(", trait[: trait.index("\n}\n")], re.MULTILINE)
    assert len(hooks) > 10
    here = "add it to python/backlane/congestion.py and crates/python/src/congestion/control.rs"
    # Where thresholds follow from the flight, a class in Python gets it through `ssthresh`.
    defaults = {"readings", "reduces_window", "ssthresh_of_flight"}
    assert set(hooks) - defaults == set(HOOKS) | set(FLAGS), here


GUIDE = Path(__file__).parents[2] / "docs/guides/custom_congestion_control.md"


def test_what_the_guide_says_can_be_done_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    page = GUIDE.read_text(encoding="utf-8")
    for name, text in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^backlane (.*)$", page, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        done = cli(*command.split())
        assert done.code == 0, done.err
    (sweep,) = re.findall(r"^\[sweep\]\n.*?(?=^```$)", page, re.DOTALL | re.MULTILINE)
    with (tmp_path / "race.toml").open("a") as file:
        file.write("\n" + sweep)
    assert backlane.plan("race.toml").parameters == ["flow.0.congestion_control"]
    race, smooth = (backlane.load(f"results/{name}").flows for name in ("race", "smooth"))
    for flows, own in ((race, "Aimd"), (smooth, "Smooth")):
        assert flows["congestion_control"].to_list() == [f"python:aimd.py:{own}", "cubic"]
        assert sum(flows["goodput_bps"].to_list()) > 40e6, "they fill the link together"


def test_the_program_of_the_guide_is_that_of_the_example() -> None:
    page = GUIDE.read_text(encoding="utf-8")
    example = GUIDE.parents[2] / "examples/custom_congestion_control/src/main.rs"
    excerpts = re.findall(r"^```rust\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(excerpts) == 2
    for excerpt in excerpts:
        assert excerpt in example.read_text(encoding="utf-8")
