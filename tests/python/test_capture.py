"""Captures: read by a small parser, and by tshark if it is installed."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import backlane
from backlane import native

WIRES = """
duration = "7 s"
[topology]
kind = "graph"
node = [{ id = "A" }, { id = "B" }, { id = "C" }, { id = "D" }]
link = [
  { a = "A", b = "B", rate = "10 Mbit/s", delay = "2 ms" },
  { a = "B", b = "C", rate = "10 Mbit/s", delay = "2 ms" },
  { a = "C", b = "D", rate = "10 Mbit/s", delay = "2 ms" },
]
[routing]
protocol = "PROTOCOL"
[[flow]]
kind = "udp"
rate = "100 kbit/s"
from = "A"
to = "D"
start = "1 s"
stop = "5 s"
[[flow]]
kind = "transfer"
size = "20 kB"
from = "A"
to = "C"
start = "6.5 s"
[[failure]]
link = "C-D"
at = "3 s"
[record]
capture = ["B"]
"""

RADIO = """
duration = "20 s"
[topology]
kind = "graph"
node = [{ id = "A", x = "0 m", y = "0 m" }, { id = "B", x = "200 m", y = "0 m" },
        { id = "C", x = "400 m", y = "0 m" }]
link = [{ a = "A", b = "B", medium = "wifi" }, { a = "B", b = "C", medium = "wifi" }]
[wifi]
profile = "ns2"
rate = "2 Mbit/s"
[routing]
protocol = "PROTOCOL"
[[flow]]
kind = "transfer"
size = "50 kB"
from = "A"
to = "C"
start = "10 s"
[record]
capture = ["B", "C"]
"""

SCENARIOS = {
    "aodv over wires": WIRES.replace("PROTOCOL", "aodv"),
    "olsr over wires": WIRES.replace("PROTOCOL", "olsr"),
    "aodv over 802.11": RADIO.replace("PROTOCOL", "aodv"),
    "olsr over 802.11": RADIO.replace("PROTOCOL", "olsr"),
    "tcp-aware-bp over 802.11": RADIO.replace("PROTOCOL", "tcp-aware-bp"),
}

RAW, DOT11 = 101, 105


@dataclass
class Block:
    """A packet of a capture."""

    link: int
    interface: str
    nanoseconds: int
    sent: bool
    kept: bytes
    size: int


def options(body: bytes) -> dict[int, bytes]:
    """The options at the end of a block, by code."""
    found = {}
    while body:
        code, length = struct.unpack_from("<HH", body)
        if code == 0:
            break
        found[code] = body[4 : 4 + length]
        body = body[4 + (length + 3) // 4 * 4 :]
    return found


def blocks(capture: bytes) -> Iterator[Block]:
    """The packets of a pcapng file of one section."""
    interfaces: list[tuple[int, str]] = []
    at = 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        assert length % 4 == 0
        assert struct.unpack_from("<I", capture, at + length - 4) == (length,)
        body = capture[at + 8 : at + length - 4]
        if at == 0:
            assert kind == 0x0A0D0D0A
            assert struct.unpack_from("<I", body) == (0x1A2B3C4D,)
        elif kind == 1:
            link = struct.unpack_from("<H", body)[0]
            found = options(body[8:])
            assert found[9] == b"\x09", "nanoseconds"
            interfaces.append((link, found[2].decode()))
        elif kind == 6:
            number, high, low, kept, size = struct.unpack_from("<IIIII", body)
            rest = body[20 + (kept + 3) // 4 * 4 :]
            direction = struct.unpack("<I", options(rest)[2])[0]
            link, name = interfaces[number]
            yield Block(link, name, high << 32 | low, direction == 2, body[20 : 20 + kept], size)
        else:
            assert kind == 4, "names of addresses"
        at += length


def ip_of(block: Block) -> bytes | None:
    """The IP packet of a block; None for frames without one."""
    if block.link == RAW:
        return block.kept
    if block.kept[0] != 0x08 or len(block.kept) < 32:
        return None
    assert block.kept[24:32] == bytes([0xAA, 0xAA, 3, 0, 0, 0, 8, 0])
    return block.kept[32:]


def checksum(data: bytes) -> int:
    """RFC 1071; zero over data that contains its own sum."""
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data[: len(data) // 2 * 2]))
    total += data[-1] << 8 if len(data) % 2 else 0
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def captured(tmp_path: Path, text: str) -> dict[str, bytes]:
    """Run a scenario and read the captures that it wrote."""
    (tmp_path / "s.toml").write_text(text)
    results = backlane.run(tmp_path / "s.toml", out=tmp_path / "out")
    files = {path.stem: path.read_bytes() for path in (tmp_path / "out/capture").iterdir()}
    assert files == results.captures
    return files


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_packet_has_the_headers_of_its_protocols(name: str, tmp_path: Path) -> None:
    files = captured(tmp_path, SCENARIOS[name])
    assert set(files) == ({"B"} if "wires" in name else {"B", "C"})
    port = {"aodv": 654, "olsr": 698}.get(name.split()[0], 49151)
    for capture in files.values():
        times, protocols = [], set()
        for block in blocks(capture):
            assert block.link == (RAW if "wires" in name else DOT11)
            assert len(block.kept) <= block.size
            times.append(block.nanoseconds)
            ip = ip_of(block)
            if ip is None:
                continue
            assert ip[0] == 0x45
            assert checksum(ip[:20]) == 0
            length = struct.unpack_from(">H", ip, 2)[0]
            assert ip[12] == 10
            protocol, transport = ip[9], ip[20:]
            pseudo = ip[12:20] + bytes([0, protocol]) + struct.pack(">H", length - 20)
            # What is left out is zeros.
            assert checksum(pseudo + transport[: length - 20]) == 0
            if protocol == 17 and transport[:4] == struct.pack(">HH", port, port):
                protocols.add("message")
                assert len(ip) == length, "a message is kept whole"
            elif protocol == 6:
                protocols.add("tcp")
                assert len(transport) >= (transport[12] >> 4) * 4
        assert times == sorted(times)
        assert {"message", "tcp"} <= protocols


def test_what_aodv_says_has_the_formats_of_the_rfc(tmp_path: Path) -> None:
    [capture] = captured(tmp_path, SCENARIOS["aodv over wires"]).values()
    kinds = []
    for block in blocks(capture):
        ip = ip_of(block)
        assert ip is not None
        if ip[9] != 17 or ip[20:22] != struct.pack(">H", 654):
            continue
        message = ip[28:]
        kinds.append(message[0])
        # RFC 3561 §5: RREQ, RREP, RERR with its destinations.
        sizes = {1: 24, 2: 20, 3: 4 + 8 * message[3]}
        assert len(message) == sizes[message[0]]
    assert set(kinds) == {1, 2, 3}


def test_a_capture_changes_nothing(tmp_path: Path) -> None:
    for name, text in SCENARIOS.items():
        (tmp_path / "with.toml").write_text(text)
        (tmp_path / "without.toml").write_text(text[: text.index("[record]")])
        digests = {
            backlane.run(tmp_path / f"{file}.toml").table("runs")["digest"][0]
            for file in ("with", "without")
        }
        assert len(digests) == 1, name


def test_what_one_end_sends_the_other_receives(tmp_path: Path) -> None:
    files = captured(tmp_path, SCENARIOS["aodv over 802.11"])
    data = {
        (node, sent): [
            ip[12:]
            for block in blocks(files[node])
            if block.sent == sent and (ip := ip_of(block)) is not None and ip[9] == 6
        ]
        for node in "BC"
        for sent in (True, False)
    }
    # C decodes what B sends to it, and nothing of what goes to A; a retransmission twice.
    to_c = [ip for ip in data["B", True] if ip[4:8] == bytes([10, 0, 0, 2])]
    assert set(data["C", False]) >= set(to_c)
    assert len(data["C", True]) >= 10


def test_a_campaign_keeps_the_captures_of_each_run(tmp_path: Path) -> None:
    text = SCENARIOS["olsr over wires"] + "[sweep]\nseeds = 2\n"
    (tmp_path / "s.toml").write_text(text)
    backlane.campaign.run(tmp_path / "s.toml", tmp_path / "c")
    found = sorted((tmp_path / "c/capture").glob("*/B.pcapng"))
    assert len(found) == 2
    assert all(len(list(blocks(path.read_bytes()))) > 20 for path in found)


def test_a_node_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENARIOS["olsr over wires"].replace('["B"]', '["E"]'))
    with pytest.raises(native.module().ScenarioError, match="S058"):
        backlane.check(tmp_path / "s.toml")


FIELDS = [
    "frame.time_epoch", "frame.interface_name", "ip.ttl", "aodv.type", "aodv.flags",
    "aodv.hopcount", "aodv.rreq_id", "aodv.dest_ip", "aodv.dest_seqno", "aodv.orig_ip",
    "aodv.orig_seqno", "aodv.lifetime", "aodv.unreach_dest_ip",
]  # fmt: skip


def tshark(capture: Path, *arguments: str) -> str:
    """The output of tshark for a capture."""
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed")
    checks = [f"{protocol}.check_checksum:TRUE" for protocol in ("ip", "tcp", "udp")]
    options = [word for check in checks for word in ("-o", check)]
    return subprocess.run(
        [program, "-r", str(capture), *options, *arguments],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_tshark_reads_every_packet(name: str, tmp_path: Path) -> None:
    for node, capture in captured(tmp_path, SCENARIOS[name]).items():
        path = tmp_path / "out/capture" / f"{node}.pcapng"
        count = len(list(blocks(capture)))
        protocols = tshark(path, "-T", "fields", "-e", "frame.protocols").splitlines()
        assert len(protocols) == count
        wanted = {"aodv": ":aodv", "olsr": ":olsr"}.get(name.split()[0], ":udp:data")
        assert any(line.endswith(wanted) for line in protocols)
        assert any(line.endswith(":tcp") for line in protocols)
        text = tshark(path, "-V")
        for word in ("Malformed", "[Checksum Status: Bad]", "Header checksum status: Bad"):
            assert word not in text


def test_tshark_dissects_a_discovery_and_a_loss_as_recorded(tmp_path: Path) -> None:
    captured(tmp_path, SCENARIOS["aodv over wires"])
    wanted = [word for field in FIELDS for word in ("-e", field)]
    path = tmp_path / "out/capture/B.pcapng"
    found = tshark(path, "-Y", "aodv", "-T", "fields", *wanted)
    golden = Path(__file__).parents[1] / "golden/capture/aodv.txt"
    assert found == golden.read_text()
