"""Routers in Python: arguments, effects and errors of a class."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import BASE, Cli, finish, start
from test_wifi import MESH

import backlane
from backlane import classes, native
from backlane.results import Results
from backlane.routing import BASE as ROUTER

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/python_router"

GRID = """\
name = "grid"
duration = "10 s"

[topology]
kind = "grid"
rows = 3
columns = 4
link = { rate = "20 Mbit/s", delay = "2 ms", queue = "30 packets" }

[routing]
protocol = "python"
router = "own.py:Own"

[[flow]]
kind = "transfer"
from = "enb1"
to = "enb12"
size = "2 MB"

[[flow]]
kind = "transfer"
from = "enb4"
to = "enb9"
size = "2 MB"

[[failure]]
link = "enb2-enb3"
at = "200 ms"
until = "400 ms"
"""

LINE = """\
name = "line"
duration = "2 s"

[topology]
kind = "graph"
node = [{ id = "a" }, { id = "b" }, { id = "c" }]
link = [
  { a = "a", b = "b", rate = "1 Mbit/s", delay = "20 ms", queue = "30 packets" },
  { a = "b", b = "c", rate = "2 Mbit/s", delay = "5 ms", queue = "30 packets" },
]

[routing]
protocol = "python"
router = "own.py:Own"

[[flow]]
kind = "udp"
from = "a"
to = "c"
rate = "100 kbit/s"
packet_size = "1000 B"
"""


def own(next_hop: str = "return None", more: str = "") -> str:
    """A class `Own` with these bodies."""
    return (
        "import math\nfrom backlane import Router\n\n"
        "class Own(Router):\n"
        f"    def next_hop(self, context, packet):\n        {next_hop}\n"
        + "".join(f"    {line}\n" for line in more.splitlines())
    )


ON_LINE = "return packet.exit if packet.exit in context.neighbours else 'b'"
"""The body of a `next_hop` on the line."""


def write(folder: Path, source: str, scenario: str = LINE) -> Path:
    (folder / "own.py").write_text(source)
    path = folder / "scenario.toml"
    path.write_text(scenario)
    return path


def example(folder: Path, name: str, scenario: str) -> Path:
    """A scenario with the router of an example as its `Own`."""
    file, _, found = name.partition(":")
    source = (EXAMPLES / file).read_text(encoding="utf-8")
    return write(folder, f"{source}\n\nOwn = {found}\n", scenario)


def outcome(path: Path, *overrides: tuple[str, str], **more: Any) -> tuple[str, pl.DataFrame]:
    results = backlane.run(path, overrides=overrides, **more)
    return results.runs["digest"][0], results.flows.drop("run_id")


def drops(results: Results, cause: str) -> int:
    return int(json.loads(results.runs["dropped_by_cause"][0])[cause])


def with_python(scenario: str) -> str:
    """The scenario with the class `Own` in place of its protocol."""
    return scenario.replace(
        'protocol = "shortest-path"', 'protocol = "python"\nrouter = "own.py:Own"'
    )


@pytest.mark.parametrize(
    "scenario",
    [
        GRID,
        with_python(BASE).replace('"200 kB"', '"2 MB"'),
        MESH + '[routing]\nprotocol = "python"\nrouter = "own.py:Own"\n',
    ],
    ids=["wires", "cells", "radios"],
)
def test_shortest_path_in_python_gives_the_run_of_shortest_path(
    scenario: str, tmp_path: Path
) -> None:
    path = example(tmp_path, "hot_potato.py:ShortestPath", scenario)
    digest, flows = outcome(path, ("routing", "{ protocol = 'shortest-path' }"))
    assert all(flows["delivered_bytes"])
    again, same = outcome(path)
    assert again == digest
    assert same.equals(flows)


def test_distance_vectors_find_the_shortest_paths_and_the_way_around_a_failure(
    tmp_path: Path,
) -> None:
    scenario = GRID.replace("2 MB", "endless").replace('until = "400 ms"', "")
    settled = [("routing.warm_up", "5 s"), ("routing.parameters.period_s", "0.2")]
    path = example(tmp_path, "distance_vector.py:DistanceVector", scenario)
    flows = backlane.run(path, overrides=settled).flows
    # Five links from corner to corner; the failed one is avoided.
    assert flows["hops_mean"].to_list() == pytest.approx([5, 5], abs=0.01)
    assert min(flows["delivered_bytes"].to_list()) > 8e6


def test_a_hot_potato_uses_several_paths(tmp_path: Path) -> None:
    path = example(tmp_path, "hot_potato.py:HotPotato", GRID.replace("2 MB", "10 MB"))
    flows = backlane.run(path).flows
    shortest = backlane.run(path, overrides=[("routing", "{ protocol = 'shortest-path' }")]).flows
    assert sum(flows["path_changes"].to_list()) > 100
    assert max(flows["finish_time_s"].to_list()) < max(shortest["finish_time_s"].to_list())


SWEEP = """
[sweep]
"routing.parameters.hop_s" = [0.001, 0.1]
seeds = 2
"""


def test_a_campaign_gives_with_two_threads_what_it_gives_with_one(tmp_path: Path) -> None:
    path = example(tmp_path, "hot_potato.py:HotPotato", GRID + SWEEP)
    results = {}
    for workers in (1, 2):
        backlane.campaign.run(path, tmp_path / str(workers), workers=workers)
        results[workers] = backlane.load(tmp_path / str(workers))
    assert results[1].flows.equals(results[2].flows)
    assert results[1].runs["digest"].to_list() == results[2].runs["digest"].to_list()
    assert results[1].runs["digest"].n_unique() > 1


def test_each_node_draws_numbers_of_its_own_and_the_same_in_every_run(tmp_path: Path) -> None:
    start = (
        "def start(self, context):\n"
        "    Own.drawn = [*getattr(Own, 'drawn', []), self.random.random()]\n"
        "    assert len(set(Own.drawn)) == len(Own.drawn)\n"
        "    context.set_timer(self.drawn[-1])\n"
        "def on_timer(self, context, name):\n"
        "    pass"
    )
    path = write(tmp_path, own(ON_LINE, start))
    once, again, other = outcome(path)[0], outcome(path)[0], outcome(path, seed=2)[0]
    assert once == again != other


def test_a_message_takes_the_time_of_a_datagram_of_its_size(tmp_path: Path) -> None:
    more = (
        "def start(self, context):\n"
        "    if context.node == 'b':\n"
        "        context.send('a', b'1' * 97)\n"
        "        context.broadcast(b'2' * 72)\n"
        "def on_message(self, context, neighbour, message):\n"
        "    assert neighbour == 'b'\n"
        "    expected = {('a', 97): 0.021, ('a', 72): 0.0218, ('c', 72): 0.0054}\n"
        "    assert abs(context.now_s - expected[context.node, len(message)]) < 1e-9\n"
        "    assert message == (b'1' if len(message) == 97 else b'2') * len(message)\n"
        "    context.set_timer(0.5)\n"
        "def on_timer(self, context, name):\n"
        "    raise RuntimeError(f'done at {context.node}')"
    )
    path = write(tmp_path, own(ON_LINE, more))
    with pytest.raises(native.module().RunError, match="done at c"):
        backlane.run(path)


def test_timers_fire_once_at_their_time_and_can_be_moved_and_stopped(tmp_path: Path) -> None:
    more = (
        "def start(self, context):\n"
        "    self.fired = []\n"
        "    for after_s, name in ((0.1, 'x'), (0.2, 'y'), (0.3, 'z'), (0.4, 'end')):\n"
        "        context.set_timer(after_s, name)\n"
        "    context.set_timer(0.25, 'x')\n"
        "    context.cancel_timer('z')\n"
        "    context.cancel_timer('never set')\n"
        "def on_timer(self, context, name):\n"
        "    self.fired.append((name, context.now_s))\n"
        "    if name == 'end':\n"
        "        assert self.fired == [('y', 0.2), ('x', 0.25), ('end', 0.4)], self.fired\n"
        "        raise RuntimeError('as expected')"
    )
    with pytest.raises(native.module().RunError, match="as expected"):
        backlane.run(write(tmp_path, own(ON_LINE, more)))


def test_a_hook_sees_its_node_its_neighbours_and_the_packet(tmp_path: Path) -> None:
    body = (
        "self.seen = getattr(self, 'seen', 0) + 1\n"
        "        if context.node == 'b':\n"
        "            a, c = context.neighbours.values()\n"
        "            assert [*context.neighbours] == ['a', 'c'] == [a.name, c.name]\n"
        "            assert (a.rate_bps, c.rate_bps) == (10**6, 2 * 10**6)\n"
        "            assert (a.delay_s, c.delay_s) == (0.02, 0.005)\n"
        "            assert a.has_carrier and c.has_carrier and a.backlog_pkts == 0\n"
        "            assert context.map.nodes == ('a', 'b', 'c')\n"
        "            links = [(link.neighbour, link.rate_bps) for link in context.map.links('b')]\n"
        "            assert links == [('a', 10**6), ('c', 2 * 10**6)]\n"
        "            assert (packet.source, packet.entry, packet.previous) == ('a', 'a', 'a')\n"
        "            assert (packet.destination, packet.exit) == ('c', 'c')\n"
        "            assert (packet.flow, packet.reverse, packet.sequence) == (0, False, "
        "self.seen - 1)\n"
        "            assert (packet.size_bytes, packet.hops, packet.ttl) == (1028, 2, 62)\n"
        f"        {ON_LINE}"
    )
    digest, flows = outcome(write(tmp_path, own(body)))
    assert flows["delivered_bytes"][0] > 20_000
    shortest = ("routing", "{ protocol = 'shortest-path' }")
    assert digest == outcome(tmp_path / "scenario.toml", shortest)[0]


def test_the_backlog_is_that_of_the_queue(tmp_path: Path) -> None:
    # 4 Mbit/s into 1 Mbit/s: the queue of 30 packets stays full.
    body = (
        "if context.node == 'a' and context.now_s > 1:\n"
        "            assert 28 <= context.neighbours['b'].backlog_pkts <= 30\n"
        f"        {ON_LINE}"
    )
    path = write(tmp_path, own(body), LINE.replace("100 kbit/s", "4 Mbit/s"))
    assert drops(backlane.run(path), "queue") > 100


def test_a_packet_without_next_hop_is_dropped_as_one_without_route(tmp_path: Path) -> None:
    results = backlane.run(write(tmp_path, own("return None")))
    assert drops(results, "no_route") > 20
    assert results.runs["packets_delivered"][0] == 0


def test_the_carrier_of_a_wire_shows_its_failure(tmp_path: Path) -> None:
    body = (
        "if context.node == 'b':\n"
        "            up = context.neighbours['c'].has_carrier\n"
        "            assert up == (not 0.5 <= context.now_s < 1.0), context.now_s\n"
        f"        {ON_LINE}"
    )
    failure = '[[failure]]\nlink = "b-c"\nat = "500 ms"\nuntil = "1 s"\n'
    assert backlane.run(write(tmp_path, own(body), LINE + failure)).flows.height == 1


def test_a_packet_that_a_radio_gave_up_can_be_sent_elsewhere(tmp_path: Path) -> None:
    scenario = MESH.replace(
        '{ id = "c"',
        '{ id = "d", kind = "router", x = "100 m", y = "10 m", channels = [1, 6] },\n  { id = "c"',
    ).replace(
        '{ a = "b", b = "c", medium = "wifi" },',
        '{ a = "b", b = "c", medium = "wifi" },\n  { a = "a", b = "d", medium = "wifi" },\n'
        '  { a = "d", b = "c", medium = "wifi" },',
    )
    scenario = scenario.replace('"transfer"', '"udp"').replace(
        'size = "endless"', 'rate = "200 kbit/s"'
    )
    scenario += '[routing]\nprotocol = "python"\nrouter = "own.py:Own"\n'
    scenario += '[[failure]]\nlink = "a-b"\nat = "2 s"\n'
    body = "return packet.exit if packet.exit in context.neighbours else 'b'"
    more = "def on_tx_failed(self, context, neighbour, packet):\n    return 'd'"
    without = backlane.run(write(tmp_path, own(body), scenario))
    sent_on = backlane.run(write(tmp_path, own(body, more), scenario))
    # The link fails after a fifth of the run.
    delivered = [found.flows["delivered_bytes"][0] for found in (without, sent_on)]
    assert 4 * delivered[0] < delivered[1] <= 5 * delivered[0]
    assert drops(without, "radio") > 0
    assert drops(sent_on, "radio") == 0


def test_a_check_warns_of_radios_out_of_range(tmp_path: Path, cli: Cli) -> None:
    scenario = MESH.replace("200 m", "9 km")
    scenario += '[routing]\nprotocol = "python"\nrouter = "own.py:Own"\n'
    done = cli("check", write(tmp_path, own(), scenario))
    assert done.code == 0
    assert "the radio link b-c is out of range" in done.err


WRONG = {
    "raised": ("1 / 0", "ZeroDivisionError: division by zero"),
    "exit": ("raise SystemExit(0)", "SystemExit: 0"),
    "no neighbour": (
        "return 'c' if context.node == 'a' else None",
        'ValueError: next_hop returned "c", which is no neighbour of a: its neighbours are b',
    ),
    "number": ("return 5", "TypeError: next_hop returned 5: return the name of a neighbour"),
    "object": ("return context.neighbours['b']", "TypeError: next_hop returned Neighbour(b, "),
    "sent to no neighbour": ("context.send('z', b'')", 'ValueError: send to "z", which is no'),
    "sent a text": ("context.send('b', 'text')", "TypeError"),
    "sent too much": (
        "context.broadcast(bytes(1473))",
        "ValueError: the message has 1473 bytes, and one datagram holds 1472",
    ),
    "timer at once": ("context.set_timer(0)", "ValueError: set_timer with 0 s: write a time"),
    "timer in the past": ("context.set_timer(-1)", "set_timer with -1 s"),
    "timer never": ("context.set_timer(math.inf)", "set_timer with inf s"),
    "frozen": ("packet.ttl = 3", "AttributeError"),
    "read-only": ("context.neighbours['z'] = 1", "TypeError"),
    "no router": ("context.map.links('z')", 'ValueError: there is no router "z"'),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_class_that_errs_ends_its_run_with_class_node_time_and_traceback(
    wrong: str, tmp_path: Path, cli: Cli
) -> None:
    body, message = WRONG[wrong]
    scenario = LINE.replace('size = "1000 B"', 'size = "1000 B"\nstart = "250 ms"')
    failed = cli("run", write(tmp_path, own(body), scenario), "--out", tmp_path / "out")
    assert failed.code == 1
    assert (
        'error[R103]: the router "own.py:Own" of node "a" failed at 0.25 s of simulated time'
    ) in failed.err
    assert message in failed.err
    if "returned" not in message:
        assert re.search(r'File "own.py", line 6, in next_hop\n +' + re.escape(body), failed.err)
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("def start(self, context):\n    return 1", "start returned 1, which has no meaning"),
        ("def start(self, context):\n    1 / 0", "failed at 0 s of simulated time"),
        (
            "def start(self, context):\n    context.set_timer(1)\n"
            "def on_timer(self, context, name):\n    return name",
            "on_timer returned '', which has no meaning",
        ),
        (
            "def start(self, context):\n    context.broadcast(b'')\n"
            "def on_message(self, context, neighbour, message):\n    1 / 0",
            "in on_message",
        ),
        (
            "def start(self, context):\n    Own.first = getattr(Own, 'first', context)\n"
            "    Own.first.broadcast(b'')",
            'of node "b" failed at 0 s of simulated time',
        ),
        # Before the run an object is made with the seed 0, and no node has that.
        (
            "def __init__(self, seed):\n    super().__init__(seed)\n    assert seed == 0",
            'the router "own.py:Own" of node "a" failed while it was made',
        ),
    ],
)
def test_errors_of_other_hooks_end_the_run_too(
    more: str, message: str, tmp_path: Path, cli: Cli
) -> None:
    failed = cli("run", write(tmp_path, own(more=more)))
    assert failed.code == 1
    assert "error[R103]" in failed.err
    assert message in failed.err


BAD_FILES = {
    "no Python": ("class Own(:\n", "this is not Python", "own.py:1"),
    "no class": (own().replace("Own", "Owm"), "there is no class Own", "did you mean Owm?"),
    "no router": ("class Own:\n    pass\n", "Own is no router", "class Own(Router), imported from"),
    "other kind": (
        "from backlane import CongestionControl\nclass Own(CongestionControl):\n"
        "    def on_ack(self, now_s, ack, window): pass\n"
        "    def ssthresh(self, now_s, window, in_flight_pkts): return 2\n",
        "Own is no router", "derive it",
    ),
    "missing hook": (
        own().replace("def next_hop", "def next_node"),
        "Own has no next_hop",
        "write def next_hop(self, context, packet)",
    ),
    "misspelled hook": (
        own(more="def on_mesage(self, context, neighbour, message):\n    pass"),
        "Own.on_mesage is not a hook",
        "did you mean on_message?",
    ),
    "other arguments": (
        own().replace("context, packet", "packet"),
        "Own.next_hop cannot be called",
        "write def next_hop(self, context, packet)",
    ),
    "import": ("import no_such_module_anywhere\n", "No module named", "own.py:1"),
    "constructor": (
        own(more="def __init__(self):\n    pass"), "Own.__init__ cannot be called", "takes a seed",
    ),
    "nothing": ("", "there is no class Own", "write class Own(Router)"),
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


PARAMETERS = "gain = 1.0\nmode = 'fast'\ncount = 3\nquiet = False"


@pytest.mark.parametrize(
    ("parameters", "message", "mend"),
    [
        ("{ gian = 2.0 }", "Own has no parameter gian", "did you mean gain?"),
        ("{ next_hop = 2.0 }", "Own has no parameter next_hop", "gain, mode, count, quiet"),
        ("{ random = 2.0 }", "Own has no parameter random", "its parameters are gain"),
        ("{ gain = 'x' }", "Own.gain is of type float, and the scenario gives 'x'", "float"),
        ("{ count = 1.5 }", "Own.count is of type int, and the scenario gives 1.5", "int"),
        ("{ count = true }", "Own.count is of type int, and the scenario gives True", "int"),
        ("{ mode = 1 }", "Own.mode is of type str, and the scenario gives 1", "str"),
    ],
)
def test_a_parameter_that_the_class_does_not_have_is_refused(
    parameters: str, message: str, mend: str, tmp_path: Path, cli: Cli
) -> None:
    path = write(tmp_path, own(more=PARAMETERS))
    refused = cli("run", path, "--set", f"routing.parameters={parameters}")
    assert refused.code == 2
    assert f"error[R020]: {message}" in refused.err
    assert mend in refused.err


def test_a_check_finds_a_parameter_that_the_class_does_not_have(tmp_path: Path, cli: Cli) -> None:
    path = write(tmp_path, own(more=PARAMETERS))
    assert cli("check", path, "--set", "routing.parameters={ gain = 2 }").code == 0
    refused = cli("check", path, "--set", "routing.parameters={ gian = 2 }")
    assert refused.code == 2
    assert "error[R020]: Own has no parameter gian" in refused.err


def test_parameters_are_those_of_the_scenario_in_one_run_only(tmp_path: Path) -> None:
    check = (
        "assert (self.gain, self.mode, self.count, self.quiet) == {}, vars(Own)\n        " + ON_LINE
    )
    expected = "(2.0, 'slow', 4, True) if self.count == 4 else (1.0, 'fast', 3, False)"
    path = write(tmp_path, own(check.format(expected), PARAMETERS))
    given = "{ gain = 2, mode = 'slow', count = 4, quiet = true }"
    for overrides in ([("routing.parameters", given)], []):
        assert backlane.run(path, overrides=overrides).flows.height == 1


def test_an_edited_class_runs_again_and_the_others_do_not(tmp_path: Path) -> None:
    sweep = (
        "\n[sweep]\nrouting = [{ protocol = 'shortest-path' }, { router = 'own.py:Own' }]\n"
        "seeds = 2\n"
    )
    path = write(tmp_path, own(ON_LINE), LINE + sweep)
    assert len(backlane.campaign.run(path, tmp_path / "out").outcome.finished) == 4
    assert backlane.campaign.run(path, tmp_path / "out").outcome.reused == 4
    (tmp_path / "own.py").write_text(own(ON_LINE) + "# edited\n")
    edited = backlane.campaign.run(path, tmp_path / "out")
    assert (edited.outcome.reused, len(edited.outcome.finished)) == (2, 2)


def test_a_class_that_errs_does_not_keep_the_other_runs_from_their_end(
    tmp_path: Path, cli: Cli
) -> None:
    body = f"assert self.limit_s > context.now_s, 'too late'\n        {ON_LINE}"
    sweep = '\n[sweep]\n"routing.parameters.limit_s" = [1.0, 10.0]\nseeds = 2\n'
    path = write(tmp_path, own(body, "limit_s = 5.0"), LINE + sweep)
    result = cli("campaign", "run", path, "--out", tmp_path / "out", "--no-report", "--json")
    assert result.code == 1
    found = json.loads(result.out)
    assert found["runs_finished"] == 2
    assert [entry["code"] for entry in found["failed"]] == ["R103", "R103"]
    for entry in found["failed"]:
        assert entry["parameters"] == {"routing.parameters.limit_s": 1.0}
        assert "AssertionError: too late" in entry["message"]
        assert "failed at 1." in entry["message"]


def test_a_resolved_scenario_runs_without_the_file_and_with_consent(
    tmp_path: Path, cli: Cli
) -> None:
    path = write(tmp_path, own(ON_LINE, "gain = 1.0"))
    overrides = [("routing.parameters.gain", "2.5")]
    results = backlane.run(path, overrides=overrides, out=tmp_path / "out")
    (tmp_path / "own.py").unlink()
    resolved = tmp_path / "out" / "scenario.resolved.toml"
    refused = cli("run", resolved)
    assert refused.code == 2
    assert "error[R025]: the Python of own.py stands in the scenario itself" in refused.err
    again = backlane.run(resolved, allow_python=True)
    assert again.runs["run_id"].equals(results.runs["run_id"])
    assert again.runs["digest"].equals(results.runs["digest"])


def test_a_hook_that_loops_for_ever_can_be_interrupted(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    path = write(tmp_path, own(f"open({str(begun)!r}, 'w').close()\n        while True: pass"))
    ended: list[BaseException] = []

    def work() -> None:
        try:
            backlane.run(path)
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while not begun.exists() and thread.is_alive():
        time.sleep(0.01)
    while thread.is_alive():
        classes.interrupt(thread.ident or 0)
        thread.join(0.1)
    assert [type(error) for error in ended] == [classes.Interrupted]


@pytest.mark.parametrize("verb", [["run"], ["campaign", "run", "--no-report"]], ids=" ".join)
def test_ctrl_c_ends_a_hook_that_loops_for_ever(verb: list[str], tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    source = own(f"open({str(begun)!r}, 'w').close()\n        while True: pass")
    process = start(*verb, write(tmp_path, source), "--out", tmp_path / "out")
    while not begun.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    done = finish(process)
    assert done.code == 130, done.err
    assert "Traceback" not in done.err


def test_timers_that_never_let_time_pass_can_be_interrupted(tmp_path: Path) -> None:
    more = (
        "def start(self, context):\n    context.set_timer(1e-12)\n"
        "def on_timer(self, context, name):\n    context.set_timer(1e-12)"
    )
    process = start("run", write(tmp_path, own(more=more)), "--out", tmp_path / "out")
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    assert finish(process).code == 130


def test_the_type_stubs_list_what_hooks_can_use() -> None:
    stubs = ast.parse((ROOT / "python/backlane/_native.pyi").read_text())
    for name in ("RouterContext", "Neighbour", "NetworkMap", "Link", "Packet"):
        (stub,) = (one for one in stubs.body if isinstance(one, ast.ClassDef) and one.name == name)
        written = {one.name for one in stub.body if isinstance(one, ast.FunctionDef)}
        compiled = {one for one in dir(getattr(native.module(), name)) if not one.startswith("_")}
        assert written == compiled, name
        assert getattr(backlane, name) is getattr(native.module(), name)


def test_the_native_module_calls_every_hook() -> None:
    source = (ROOT / "crates/python/src/routing/router.rs").read_text()
    assert set(re.findall(r'hook\("(\w+)"\)\?', source)) == set(ROUTER.hooks)


GUIDE = ROOT / "docs/guides/python_router.md"


def blocks(page: str) -> dict[str, str]:
    """The files of the guide."""
    found = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return dict(found)


def test_the_files_of_the_guide_are_those_of_the_examples() -> None:
    files = blocks(GUIDE.read_text(encoding="utf-8"))
    assert set(files) == {path.name for path in EXAMPLES.iterdir() if path.is_file()}
    for name, text in files.items():
        example = (EXAMPLES / name).read_text(encoding="utf-8")
        assert example.endswith(text), name
        assert example.count("\n") <= 60, name


def test_the_guide_shows_what_its_commands_print(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cli: Cli,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = GUIDE.read_text(encoding="utf-8")
    for name, text in blocks(page).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^backlane (.*)$", page, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        done = cli(*command.split())
        assert done.code == 0, done.err
    (snippet,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    capsys.readouterr()
    exec(compile(snippet, str(GUIDE), "exec"), {})
    printed = capsys.readouterr().out
    ((begin, shown, end),) = re.findall(r"(^```text\n)(.*?)(^```$)", page, re.DOTALL | re.MULTILINE)
    if os.environ.get("UPDATE_GOLDEN") and printed != shown:
        GUIDE.write_text(page.replace(begin + shown + end, begin + printed + end), encoding="utf-8")
    else:
        assert shown == printed, "UPDATE_GOLDEN=1 writes the page"
    (sweep,) = re.findall(r"^\[sweep\]\n\"routing.*?(?=^```$)", page, re.DOTALL | re.MULTILINE)
    scenario = (tmp_path / "grid.toml").read_text().partition("[sweep]")[0]
    (tmp_path / "grid.toml").write_text(scenario + sweep)
    assert backlane.plan("grid.toml").parameters == ["routing.parameters.period_s"]
