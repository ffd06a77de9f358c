"""Emulations with real programs: echo requests, iperf3, and what remains of a killed one.

They need root and /dev/net/tun, and are skipped without. Times are never compared closely: a
virtual machine may stall for 100 ms. Where a time or a rate is compared, the simulation and the
programs have priority over the other work of the machine, which may stop ordinary ones for seconds.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli, finish, start

import backlane
from backlane.emulate import namespaces, rights, sockets, state

MISSING = rights.missing()
if MISSING is not None:
    warnings.warn(f"emulations are not tested: {MISSING}", stacklevel=1)
needs_rights = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
needs_iperf3 = pytest.mark.skipif(shutil.which("iperf3") is None, reason="no iperf3")

PRIORITY = ["chrt", "-f", "5"] if shutil.which("chrt") else []
"""The command that gives a program priority."""
RATE_BPS = 10e6
DELAY_S = 0.020
SCENARIO = """\
name = "two hosts"
duration = "60 s"

[topology]
kind = "chain"
nodes = 3
link = { rate = "10 Mbit/s", delay = "10 ms", queue = "100 packets" }

[[flow]]
kind = "transfer"
from = "enb1"
to = "enb3"
size = "endless"
stack = "external"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two hosts.toml"
    path.write_text(SCENARIO)
    return path


def interfaces() -> list[str]:
    """The interfaces, addresses, routes and namespaces of this machine."""
    found = []
    for words in (("-o", "link"), ("-o", "address"), ("route", "show", "table", "all")):
        text = subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout
        # Lifetimes of addresses run down.
        found += [re.sub(r"(valid_lft|preferred_lft|expires) \S+", "", line)
                  for line in text.splitlines()]  # fmt: skip
    names = Path("/run/netns")
    return sorted(found) + sorted(path.name for path in names.glob("*"))


@pytest.fixture
def unchanged() -> Iterator[None]:
    """Nothing of this machine's network differs after the test, and no state is left."""
    before, files = interfaces(), sorted(Path("/etc/netns").glob("*"))
    yield
    assert interfaces() == before
    assert sorted(Path("/etc/netns").glob("*")) == files
    assert [one for one in state.found() if not one.goes_on()] == []


class Live:
    """An emulation in a process of its own, whose clock runs.

    Args:
        words: of the command line.
        answers: its network has carried an echo.
    """

    def __init__(self, *words: object, answers: bool = True, **more: Any) -> None:
        self.process = start("emulate", *words, **more)
        deadline = time.monotonic() + 60
        while not (found := [one for one in state.found() if self._is_up(one)]):
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.emulation = found[0]
        self.hosts = {host.name: host for host in self.emulation.hosts}
        # The hosts are there before the clock runs, and Ctrl-C before that has no results.
        while answers and self.run("enb1", *echo("enb3", 1)).returncode:
            assert time.monotonic() < deadline

    def _is_up(self, one: state.Emulation) -> bool:
        if one.pid != self.process.pid:
            return False
        words = ["ip", "-n", one.hosts[-1].namespace, "route", "show", namespaces.NETWORK]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.stdout != ""

    def run(self, host: str, *words: object) -> subprocess.CompletedProcess[str]:
        """Execute a command as a program of a host."""
        line = namespaces.inside(self.hosts[host], [str(word) for word in words])
        return subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)

    def end(self, number: int = signal.SIGINT) -> Any:
        self.process.send_signal(number)
        return finish(self.process)


def echo(address: str, count: int) -> list[object]:
    """The command that sends echo requests; not every machine has `ping`."""
    return [sys.executable, Path(__file__).parent / "echo.py", address, count]


def round_trips_s(text: str) -> list[float]:
    return [float(line.split()[0]) for line in text.splitlines()]


@needs_rights
@pytest.mark.usefixtures("unchanged")
def test_an_echo_takes_the_time_and_the_hops_of_the_simulated_path(
    file: Path, tmp_path: Path
) -> None:
    live = Live(file, "--realtime", "-o", tmp_path / "out")
    ping = live.run("enb1", *PRIORITY, *echo("enb3", 5))
    done = live.end()
    assert ping.returncode == 0, ping.stdout + ping.stderr
    times = round_trips_s(ping.stdout)
    assert len(times) == 5
    assert min(times) >= 2 * DELAY_S
    # A path of half or twice the delay is out of range; the median bears a stall or two.
    assert sorted(times)[2] < 3 * DELAY_S
    # The packet leaves its router, passes one, and reaches another: a router's own packets pass
    # through that router, and so lose two of their 64 hops.
    assert {line.split()[1] for line in ping.stdout.splitlines()} == {"62"}
    assert done.code == 0, done.err


@needs_rights
@needs_iperf3
@pytest.mark.usefixtures("unchanged")
def test_a_transfer_of_real_tcp_gets_what_the_simulated_links_carry(
    file: Path, tmp_path: Path, cli: Cli
) -> None:
    script, measured_at = tmp_path / "transfer.sh", tmp_path / "iperf3.json"
    priority = " ".join(PRIORITY)
    client = f"{priority} iperf3 -c enb3 -t 6 -C cubic -J"
    script.write_text(
        "set -e\n"
        f'backlane() {{ {sys.executable} -m backlane "$@"; }}\n'
        f"backlane emulate exec enb3 -- {priority} timeout 120 iperf3 -s -1 > /dev/null & \n"
        # Until the server listens.
        f"until backlane emulate exec enb1 -- {client} > {measured_at}; do sleep 1; done\n"
        "wait || true\n"
    )
    # The script ends it; on a busy machine the programs may take long to start.
    words = ("--realtime", "--for", "10 min", "-o", tmp_path / "out", "--json", "--", "sh", script)
    done = cli("emulate", file, *words)
    assert done.code == 0, done.err
    measured = json.loads(measured_at.read_text())
    goodput_bps = measured["end"]["sum_received"]["bits_per_second"]
    ceiling_bps = RATE_BPS * 1448 / 1500
    assert 0.6 * ceiling_bps < goodput_bps < 1.05 * ceiling_bps
    assert measured["end"]["streams"][0]["sender"]["min_rtt"] >= 2 * DELAY_S * 1e6

    results = backlane.load(tmp_path / "out")
    flow = results.flows.row(0, named=True)
    sent = measured["end"]["sum_received"]["bytes"]
    assert sent <= flow["delivered_bytes"] <= 1.1 * sent + 1e5
    # iperf3 asks the kernel when its time is over, before the queue has emptied; the flow also has
    # the connection by which its two ends agree.
    again = measured["end"]["sum_sent"]["retransmits"]
    assert again <= flow["retransmits"] <= again + 20
    emulation = done.json["emulation"]
    assert emulation == results.manifest["emulation"]
    assert emulation["hosts"] == {"enb1": "10.0.0.0", "enb3": "10.0.0.2"}
    assert emulation["delivered_pkts"] > 3000
    assert 0 < emulation["lateness"]["p50_s"] <= emulation["lateness"]["worst_s"]


@needs_rights
@pytest.mark.usefixtures("unchanged")
def test_an_emulation_ends_by_itself_and_by_ctrl_c_with_results(file: Path, tmp_path: Path) -> None:
    alone = finish(start("emulate", file, "--for", "1s", "-o", tmp_path / "alone", "--json"))
    assert alone.code == 0, alone.err
    assert alone.json["traffic_s"] == 1.0
    assert alone.json["ended"] == "time limit"
    live = Live(file, "-o", tmp_path / "stopped", "--json")
    stopped = live.end()
    assert stopped.code == 0, stopped.err
    assert stopped.json["traffic_s"] < 30
    assert stopped.json["ended"] == "stopped"
    assert backlane.load(tmp_path / "stopped").flows.height == 1


@needs_rights
@pytest.mark.usefixtures("unchanged")
def test_what_a_killed_emulation_leaves_is_removed(file: Path, tmp_path: Path, cli: Cli) -> None:
    live = Live(file, "-o", tmp_path / "out")
    other = Live(file, "-o", tmp_path / "other")
    live.process.kill()
    live.process.wait()
    left = [host.namespace for host in live.hosts.values()]
    assert all(namespaces.exists(name) for name in left)
    cleaned = cli("emulate", "--clean")
    assert cleaned.code == 0
    assert cleaned.out == f"removed what two hosts ({live.emulation.run}) had left: 2 hosts\n"
    assert not any(namespaces.exists(name) for name in left)
    # The other one goes on, and its network works.
    assert other.run("enb1", *echo("enb3", 1)).returncode == 0
    assert other.end().code == 0
    assert cli("emulate", "--clean").out == "nothing to remove\n"


@needs_rights
@pytest.mark.usefixtures("unchanged")
def test_the_next_start_removes_what_a_killed_one_has_left(file: Path, tmp_path: Path) -> None:
    live = Live(file, "-o", tmp_path / "out")
    live.process.kill()
    live.process.wait()
    done = finish(start("emulate", file, "--for", "1s", "-o", tmp_path / "out"))
    assert done.code == 0, done.err
    assert f"removed what two hosts ({live.emulation.run}) had left" in done.err


@needs_rights
@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(("words", "code"), [(("true",), 0), (("sh", "-c", "exit 7"), 1)])
def test_a_command_ends_the_emulation_and_its_failure_is_one(
    words: tuple[str, ...], code: int, file: Path, tmp_path: Path, cli: Cli
) -> None:
    done = cli("emulate", file, "-o", tmp_path / "out", "--", *words)
    assert done.code == code
    assert ("the command sh ended with 7" in done.err) == (code == 1)
    assert backlane.load(tmp_path / "out").runs["ended"].to_list() == ["stopped"]


@needs_rights
@pytest.mark.usefixtures("unchanged")
def test_realtime_is_the_policy_of_the_simulations_thread_alone(file: Path, tmp_path: Path) -> None:
    policies = []
    for words in ((), ("--realtime",)):
        live = Live(file, "-o", tmp_path / "out", *words)
        assert live.run("enb1", *echo("enb3", 1)).returncode == 0
        threads = Path(f"/proc/{live.process.pid}/task").iterdir()
        found = [os.sched_getscheduler(int(thread.name)) for thread in threads]
        policies.append((found.count(os.SCHED_FIFO), os.sched_getscheduler(live.process.pid)))
        assert live.end().code == 0
    assert policies == [(0, os.SCHED_OTHER), (1, os.SCHED_OTHER)]


@needs_rights
@pytest.mark.usefixtures("unchanged")
def test_what_a_command_has_started_ends_with_the_emulation(file: Path, tmp_path: Path) -> None:
    inside = f"{sys.executable} -m backlane emulate exec enb1 -- sleep 98765"
    words = ("--for", "3s", "-o", tmp_path / "out", "--", "sh", "-c", f"{inside} & wait")
    done = finish(start("emulate", file, *words, stdin=subprocess.DEVNULL))
    assert done.code == 1
    assert "still runs" not in done.err
    found = [Path(path).read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    assert not any(line == b"sleep\x0098765\x00" for line in found)


@needs_rights
@pytest.mark.usefixtures("unchanged")
def test_a_command_that_does_not_exist_leaves_nothing(file: Path, tmp_path: Path, cli: Cli) -> None:
    done = cli("emulate", file, "-o", tmp_path / "out", "--", tmp_path / "missing")
    assert done.code == 2
    assert done.err.count("error[R003]") == 1
    assert not (tmp_path / "out" / "manifest.json").exists()


@needs_rights
@pytest.mark.usefixtures("unchanged")
def test_exec_asks_which_of_several_emulations(file: Path, tmp_path: Path, cli: Cli) -> None:
    lives = [Live(file, "-o", tmp_path / name) for name in ("a", "b")]
    refused = cli("emulate", "exec", "enb1", "--", "true")
    assert refused.code == 2
    assert "several emulations have a host 'enb1'" in refused.err
    for live in lives:
        # `exec` becomes its command, and so takes a process of its own.
        run = live.emulation.run
        words = ("emulate", "exec", "--run", run, "enb3", "--", "ip", "-o", "netns", "identify")
        assert finish(start(*words)).out.strip() == live.hosts["enb3"].namespace
    wrong = cli("emulate", "exec", "--run", lives[0].emulation.run, "enb2", "--", "true")
    assert "there is no host 'enb2'" in wrong.err
    assert "the hosts are enb1, enb3" in wrong.err
    assert [live.end().code for live in lives] == [0, 0]


@needs_rights
@pytest.mark.usefixtures("unchanged")
def test_packets_for_no_host_are_counted_and_go_nowhere(file: Path, tmp_path: Path) -> None:
    live = Live(file, "-o", tmp_path / "out", "--json", answers=False)
    # 10.0.0.1 is a router of the scenario that is no host, 10.9.9.9 no node at all.
    for address in ("10.0.0.1", "10.9.9.9"):
        assert live.run("enb1", *echo(address, 2)).returncode == 1
    # There is no other way out of the namespace.
    assert "unreachable" in live.run("enb1", *echo("8.8.8.8", 1)).stderr
    emulation = live.end().json["emulation"]
    assert emulation["received_pkts"] == emulation["rejected_pkts"] == 4
    assert emulation["delivered_pkts"] == 0


@needs_rights
@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare")
def test_a_route_of_the_machine_into_the_same_network_is_neither_used_nor_changed(
    file: Path, tmp_path: Path
) -> None:
    """A machine with the network 10.0.0.0/8 of its own, as a namespace."""
    script = tmp_path / "machine.sh"
    command = " ".join(str(word) for word in echo("enb3", 2))
    script.write_text(
        "set -e\n"
        "ip tuntap add mine mode tun\n"
        "ip address add 10.0.0.2/8 dev mine && ip link set mine up\n"
        "ip -o address show mine > before; ip route > routes\n"
        f"$PYTHON -m backlane emulate '{file}' -o out -- "
        f"sh -c 'sleep 1; $PYTHON -m backlane emulate exec enb1 -- {command} > ping' 2> said\n"
        "ip -o address show mine > after; ip route > routes_after\n"
    )
    words = ["unshare", "--net", "--mount", "sh", str(script)]
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHON": sys.executable},
    )  # fmt: skip
    said = (tmp_path / "said").read_text() if (tmp_path / "said").exists() else ""
    assert done.returncode == 0, done.stderr + said
    assert "this machine has routes into 10.0.0.0/8 (10.0.0.0/8)" in said
    assert min(round_trips_s((tmp_path / "ping").read_text())) >= 2 * DELAY_S
    for name in ("before", "routes"):
        after = {"before": "after", "routes": "routes_after"}[name]
        assert (tmp_path / name).read_text() == (tmp_path / after).read_text()


@needs_rights
def test_a_scenario_without_an_external_flow_has_no_host(file: Path, cli: Cli) -> None:
    file.write_text(SCENARIO.replace('stack = "external"\n', ""))
    refused = cli("emulate", file)
    assert refused.code == 2
    assert refused.err.startswith("error[R121]: no flow of the scenario is external")


SS = (
    "0      0      10.0.0.0:57008  10.0.0.2:5201  ts sack cubic wscale:10,10 rto:280 "
    "rtt:77.97/1.14 ato:40 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:324 ssthresh:244 "
    "bytes_sent:131109 bytes_acked:131110 segs_out:8 retrans:0/35 rcv_space:14480 "
    "rcv_ssthresh:64088 minrtt:40.1"
)


def test_a_socket_is_read_from_a_line_of_ss() -> None:
    assert sockets.parsed(SS) == sockets.Socket(
        "10.0.0.0:57008", "10.0.0.2:5201", "cubic", 324, 244, 0.07797, 131110, 35
    )
    fresh = sockets.parsed(SS.replace("ssthresh:244 ", "").replace("retrans:0/35 ", ""))
    assert fresh is not None
    assert (fresh.ssthresh_pkts, fresh.retransmits) == (None, 0)
    assert sockets.parsed("0 0 [fe80::1]:22 [fe80::2]:9") is None


@pytest.mark.parametrize(
    ("words", "message"),
    [((), "Missing argument 'FILE'"), (("exec", "enb1"), "exec takes a HOST"),
     (("--clean", "x.toml"), "--clean takes no FILE"), (("x.toml", "--for", "soon"), "is no time")],
)  # fmt: skip
def test_a_wrong_use_is_a_usage_error(words: tuple[str, ...], message: str, cli: Cli) -> None:
    refused = cli("emulate", *words)
    assert refused.code == 2
    assert message in refused.err


def test_the_environment_names_the_emulation_to_exec(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "BACKLANE_RUN", "ffffff")
    assert "no emulation ffffff goes on" in cli("emulate", "exec", "enb1", "--", "true").err
