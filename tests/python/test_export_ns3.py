"""Programs for ns-3: their text, what they refuse, and one of them run."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from backlane import BacklaneError, _native
from backlane.export import ns3

ROOT = Path(__file__).parents[2]
BELL = (ROOT / "examples" / "dumbbell.toml").read_text(encoding="utf-8")
HEADER = Path("/usr/include/ns3/core-module.h")


def program(text: str, *overrides: tuple[str, str]) -> str:
    """The program of a scenario's first cell."""
    plan = json.loads(_native.plan(text, "bell.toml", list(overrides)))
    return ns3.program(plan["cells"][0]["resolved"], 1)


def test_nodes_wires_and_flows_stand_in_the_program() -> None:
    text = program(BELL)
    assert "NODES{\n" not in text
    assert '"sender", "left", "right", "receiver"' in text
    assert "{1, 2, 20000000.0, 0.01, " in text
    assert "ns3::TcpCubic" in text
    assert "@" not in text.replace("{@", "")


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("tcp.profile", "linux", "tcp.profile"),
        ("tcp.congestion_control", "cdg", "congestion_control"),
        ("topology.link.1.loss", "0.1", "topology.link.loss"),
        ("routing.protocol", "bp-mr", "routing.protocol"),
        ("topology.link.1.queue", '{ discipline = "codel" }', "topology.link.queue"),
        ("flow.0.kind", "udp", "flow.kind"),
        ("tcp.sack", "false", "tcp.sack"),
        ("tcp.min_rto", "2 s", "tcp.min_rto"),
        ("tcp.window_validation", "true", "tcp.window_validation"),
        ("tcp.cubic.reduces_window", "false", "tcp.cubic"),
        ("routing.protocol", "olsr", "routing.warm_up"),
    ],
)
def test_what_ns3_does_not_have_is_refused_by_its_key(key: str, value: str, named: str) -> None:
    overrides = [(key, value)]
    if key == "flow.0.kind":
        overrides = [
            ("flow", '[{ kind = "udp", from = "sender", to = "left", rate = "1 Mbit/s" }]')
        ]
    with pytest.raises(BacklaneError) as caught:
        program(BELL, *overrides)
    assert caught.value.code == "R082"
    assert named in str(caught.value)


def test_names_are_data() -> None:
    hostile = '"; system("true"); //\\\n??/'
    assert ns3.quoted(hostile) == '"\\042; system(\\042true\\042); //\\134\\012\\077\\077/"'
    assert "\n" not in ns3.line(hostile) and "\\" not in ns3.line(hostile)


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    kept = tmp_path / "kept.cc"
    kept.write_text("int main() {}\n")
    with pytest.raises(BacklaneError):
        ns3.write(kept, "x")
    assert kept.read_text() == "int main() {}\n"


@pytest.mark.skipif(not (HEADER.is_file() and shutil.which("g++")), reason="ns-3 is not installed")
@pytest.mark.parametrize(
    "overrides",
    [[], [("routing.protocol", "olsr"), ("routing.warm_up", "21 s")]],
    ids=["static", "olsr"],
)
def test_one_transfer_ends_within_a_packet_of_ns3(
    overrides: list[tuple[str, str]], tmp_path: Path
) -> None:
    source = tmp_path / "bell.cc"
    source.write_text(program(BELL, *overrides), encoding="utf-8")
    libraries = [f"-lns3-{library}" for library in ns3.LIBRARIES]
    binary = tmp_path / "bell"
    subprocess.run(["g++", "-O1", "-std=c++17", source, "-o", binary, *libraries], check=True)
    printed = subprocess.run([binary], check=True, capture_output=True, text=True).stdout
    [row] = csv.DictReader(io.StringIO(printed))
    theirs, ours = float(row["ns3_finish_s"]), float(row["backlane_finish_s"])
    # A packet takes 0.6 ms at the bottleneck; the programs print six digits.
    assert ours == pytest.approx(theirs, abs=2e-3)
