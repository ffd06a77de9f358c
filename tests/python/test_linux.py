"""Kernels in simulated time: what fails without one, and what a real one does."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import backlane
from backlane import linux
from backlane.errors import BacklaneError
from backlane.linux import build

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels run on Linux")

BELL = """
name = "bell"
duration = "3 s"
[topology]
kind = "chain"
nodes = 2
link = { rate = "20 Mbit/s", delay = "10 ms", queue = "40 packets" }
[[flow]]
kind = "transfer"
from = "enb1"
to = "enb2"
size = "2 MB"
stack = "linux"
"""


def real() -> bool:
    """Whether the machine has a kernel of its own."""
    return "6.1" in linux.kernels()


needs_kernel = pytest.mark.skipif(not real(), reason="no kernel is built: backlane linux build 6.1")


def pretend(folder: Path, program: str, interpreter: str = "/bin/sh") -> None:
    """A program in the place of a kernel."""
    place = folder / f"6.1-{linux.fingerprint()}"
    place.mkdir(parents=True)
    (place / "kernel.json").write_text(json.dumps({"name": "6.1", "release": "pretended"}))
    (place / "linux").write_text(f"#!{interpreter}\n{textwrap.dedent(program)}")
    (place / "linux").chmod(0o755)
    shutil.copy("/bin/true", place / "agent")
    (place / "shim.so").write_bytes(b"")


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of kernels."""
    folder = tmp_path / "kernels"
    monkeypatch.setenv("BACKLANE_KERNELS", str(folder))
    return folder


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line."""
    command = [sys.executable, "-m", "backlane", *words]
    return subprocess.run(
        command, text=True, capture_output=True, env={**os.environ, **environment}, check=False
    )


def test_without_a_kernel_the_run_says_how_to_build_one(kernels: Path, tmp_path: Path) -> None:
    file = tmp_path / "bell.toml"
    file.write_text(BELL)
    done = run("run", str(file), "-o", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "R096" in done.stderr and "backlane linux build 6.1" in done.stderr
    with pytest.raises(BacklaneError, match=r"kernel 6\.1 is not built") as caught:
        backlane.sweep(file, out=tmp_path / "swept")
    assert caught.value.code == "R096"


def test_without_the_sources_a_build_names_the_package(
    kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "PACKAGES", tmp_path)
    monkeypatch.setattr(build, "TOOLS", {"sh": "dash"})
    with pytest.raises(BacklaneError) as caught:
        build.build("6.1")
    assert caught.value.code == "R097"
    assert caught.value.mend is not None and "apt-get install linux-source-6.1" in caught.value.mend
    monkeypatch.setattr(build, "TOOLS", {"no-such-compiler": "gcc"})
    with pytest.raises(BacklaneError, match="a build needs gcc"):
        build.build("6.1")
    with pytest.raises(BacklaneError, match="no name of a kernel"):
        build.build("../6.1")


def test_a_tree_that_is_not_linux_is_refused(
    kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "TOOLS", {})
    (tmp_path / "tree").mkdir()
    with pytest.raises(BacklaneError, match="no sources of Linux"):
        build.build("own", tmp_path / "tree")
    assert not linux.kernels()


def test_a_kernel_that_ends_at_its_start_leaves_its_last_words(kernels: Path) -> None:
    pretend(kernels, "echo 'Kernel panic: no memory'; exit 3")
    with pytest.raises(backlane.RunError) as caught:
        backlane.run(BELL)
    assert caught.value.code == "R104"
    text = str(caught.value)
    assert "the kernel of enb" in text and "exit status: 3" in text
    assert "Kernel panic: no memory" in text


SPEAKER = """
import os, re, socket, struct, sys
words = " ".join(sys.argv)
number, path = re.search(r"time-travel=ext:(\\d+):(\\S+)", words).groups()
calendar = socket.socket(socket.AF_UNIX)
calendar.connect(path)
calendar.sendall(struct.pack("=IIQ", 1, 1, int(number)))
calendar.recv(16)
print("booted as", number, flush=True)
{rest}
"""


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("sys.exit(9)", "has ended"),
        ("calendar.sendall(b'x' * 16); calendar.recv(16)", "has ended|lost its connection"),
        ("calendar.close(); import time; time.sleep(60)", "lost its connection"),
    ],
    ids=["ends", "nonsense", "closes"],
)
def test_a_kernel_that_does_not_follow_the_protocol_ends_the_run(
    kernels: Path, rest: str, said: str
) -> None:
    pretend(kernels, SPEAKER.format(rest=rest), sys.executable)
    begun = time.monotonic()
    with pytest.raises(backlane.RunError, match=said) as caught:
        backlane.run(BELL)
    assert caught.value.code == "R104"
    assert "booted as 0" in str(caught.value)
    assert time.monotonic() - begun < 20


def test_a_kernel_that_hangs_ends_the_run_with_its_last_words(kernels: Path) -> None:
    """It connects and asks for nothing; 30 s of wall time are allowed."""
    hangs = "print('soft lockup', flush=True); import time; time.sleep(120)"
    pretend(kernels, SPEAKER.format(rest=hangs), sys.executable)
    with pytest.raises(backlane.RunError, match="30 s") as caught:
        backlane.run(BELL)
    assert caught.value.code == "R104"
    assert "soft lockup" in str(caught.value)


def test_a_program_that_is_no_kernel_cannot_be_started(kernels: Path) -> None:
    pretend(kernels, "")
    place = next(kernels.iterdir()) / "linux"
    place.write_bytes(struct.pack("<I", 0))
    with pytest.raises(backlane.RunError, match="cannot start the kernel of enb1"):
        backlane.run(BELL)


def test_external_flows_are_for_emulation() -> None:
    text = BELL.replace('"linux"', '"external"').replace('"2 MB"', '"endless"')
    with pytest.raises(backlane.RunError, match="backlane emulate"):
        backlane.run(text)


@needs_kernel
def test_two_runs_are_equal_and_a_control_that_draws_differs_by_seed() -> None:
    change = {"tcp.congestion_control": "cdg", "flow.0.size": "4 MB"}
    runs = [backlane.run(BELL, seed=seed, overrides=change).runs for seed in (1, 1, 2)]
    digests = [one["digest"][0] for one in runs]
    assert digests[0] == digests[1] != digests[2]


@needs_kernel
def test_a_kernel_delivers_what_the_flow_asks_for_at_the_rate_of_the_link() -> None:
    flow = backlane.run(BELL).flows.to_dicts()[0]
    assert flow["delivered_bytes"] == 2_000_000
    # 20 Mbit/s for packets of 1500 B with 1448 B of payload, and some round trips to start.
    bound_s = 2_000_000 / 1448 * 1500 * 8 / 20e6
    assert bound_s < flow["finish_time_s"] < bound_s + 0.3
    assert flow["rtt_min_s"] == pytest.approx(0.02 + 1500 * 8 / 20e6, abs=0.001)
    assert flow["retransmits"] < 100


@needs_kernel
def test_marks_of_a_queue_reach_the_kernel() -> None:
    """DCTCP, which asks for marks, keeps the queue short; Reno does not, and it overflows."""
    changes = {
        "duration": "4 s",
        "flow.0.size": "endless",
        "topology.link.queue": {
            "discipline": "drop-tail", "limit": "200 packets", "mark_above": "10 packets",
        },
    }  # fmt: skip
    marked, deaf = (
        backlane.run(
            BELL, overrides={**changes, "tcp.congestion_control": control}
        ).flows.to_dicts()[0]
        for control in ("dctcp", "reno")
    )
    assert marked["retransmits"] == 0 < deaf["retransmits"]
    assert marked["rtt_p95_s"] < 0.04


@needs_kernel
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tcp.congestion_control": "ledbat"}, "congestion control ledbat"),
        ({"linux.sysctl": ["net.ipv4.no_such_thing=1"]}, "setting net/ipv4/no_such_thing"),
    ],
)
def test_what_a_kernel_lacks_is_named(change: dict[str, object], said: str) -> None:
    with pytest.raises(backlane.RunError, match=said) as caught:
        backlane.run(BELL, overrides=change)
    assert caught.value.code == "R104"


CLIENT = """
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static char data[300000];
int main(int count, char **words)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(777) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    long done = 0, got;
    if (count < 2) {
        bind(fd, (void *)&to, sizeof to);
        listen(fd, 1);
        fd = accept(fd, 0, 0);
        while ((got = read(fd, data, sizeof data)) > 0)
            done += got;
        printf("got %ld\\n", done);
        return 0;
    }
    inet_pton(AF_INET, words[1], &to.sin_addr);
    if (connect(fd, (void *)&to, sizeof to))
        return 1;
    while (done < sizeof data)
        done += write(fd, data, sizeof data - done);
    printf("sent to %s\\n", words[1]);
    return 0;
}
"""


@needs_kernel
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_kernels_run_static_programs_and_keep_what_they_print(tmp_path: Path) -> None:
    (tmp_path / "tool.c").write_text(CLIENT)
    for name, options in (("static", ["-static"]), ("dynamic", [])):
        command = ["gcc", *options, "-o", str(tmp_path / name), str(tmp_path / "tool.c")]
        subprocess.run(command, check=True)

    def changes(name: str) -> dict[str, object]:
        program = str(tmp_path / name)
        own = {"size": "endless", "client": [program, "{to}"], "server": [program]}
        return {f"flow.0.{key}": value for key, value in own.items()}

    result = backlane.run(BELL, overrides=changes("static"), out=tmp_path / "out")
    assert result.flows["delivered_bytes"][0] == 300_000
    consoles = {path.stem: path.read_text() for path in (tmp_path / "out/console").iterdir()}
    assert consoles == {"enb1": "sent to 10.0.0.1\n", "enb2": "got 300000\n"}
    with pytest.raises(backlane.RunError, match="not static"):
        backlane.run(BELL, overrides=changes("dynamic"))


@needs_kernel
def test_a_killed_run_leaves_no_kernel(tmp_path: Path) -> None:
    file = tmp_path / "bell.toml"
    file.write_text(BELL.replace('"2 MB"', '"endless"').replace('"3 s"', '"600 s"'))
    command = [sys.executable, "-m", "backlane", "run", str(file), "-o", str(tmp_path / "out")]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob("backlane-kernels-*/device-1")):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        time.sleep(1)
        process.send_signal(signal.SIGKILL)
    mark = str(tmp_path)
    deadline = time.monotonic() + 10
    while left := [pid for pid in _processes(mark) if pid != os.getpid()]:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def _processes(mark: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
