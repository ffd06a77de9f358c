"""A ring of six nodes with batman-adv in one Linux kernel, in simulated time.

The program is the init of a User Mode Linux kernel (see README.md). It takes its orders from the
kernel's command line: `LAB_ALGORITHM` (BATMAN_V or BATMAN_IV), `LAB_CUT` (silent, carrier or none),
`LAB_SEED`, and `LAB_OUT`, the file to write.
"""

from __future__ import annotations

import ctypes
import os
import random
import socket
import struct
import subprocess
import time
from pathlib import Path

NODES = 6
DELAY = "5ms limit 10000"
WARM_S = 100.0
EVERY_S = 0.01
NEW_NETWORK = 0x40000000
ETH_P_ALL = 3


def sh(command: str) -> None:
    """Run a command of the shell; it must not fail."""
    subprocess.run(command, shell=True, check=True)


def in_node(name: str, kind: int, what: int, protocol: int = 0) -> socket.socket:
    """A socket in a node's namespace, while this process stays in its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{name}", os.O_RDONLY)
    libc.setns(there, NEW_NETWORK)
    made = socket.socket(kind, what, protocol)
    libc.setns(own, NEW_NETWORK)
    os.close(own)
    os.close(there)
    made.setblocking(False)
    return made


def ring(algorithm: str, over_bridges: bool, draws: random.Random) -> None:
    """Six namespaces; wire i joins port a of node i and port b of the next, with 5 ms each way."""
    Path("/sys/module/batman_adv/parameters/routing_algo").write_text(algorithm)
    no_ipv6 = "sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1"
    for node in range(NODES):
        sh(f"ip netns add n{node} && ip -n n{node} link set lo up")
        sh(f"ip netns exec n{node} {no_ipv6}")
    for wire in range(NODES):
        ends = ("a", wire, 1), ("b", (wire + 1) % NODES, 2)
        names = [
            f"{port}{node} address 02:00:00:00:{node:02x}:{number:02x} mtu 1532 netns n{node}"
            for port, node, number in ends
        ]
        if not over_bridges:
            sh(f"ip link add {names[0]} type veth peer name {names[1]}")
            continue
        # The carrier of a port falls with the end of its wire at the bridge.
        sh(f"ip link add wire{wire} type bridge mcast_snooping 0 && ip link set wire{wire} up")
        for (port, node, _), name in zip(ends, names, strict=True):
            far = f"p{port}{node}"
            sh(f"ip link add {name} type veth peer name {far} mtu 1532")
            sh(f"ip link set {far} master wire{wire} && ip link set {far} up")
    for node in range(NODES):
        for port in "ab":
            sh(f"ip -n n{node} link set {port}{node} up")
            sh(f"tc -n n{node} qdisc add dev {port}{node} root netem delay {DELAY}")
    for node in range(NODES):
        # Nodes start at different times.
        time.sleep(draws.uniform(0, 1))
        mesh = f"ip -n n{node}"
        sh(f"{mesh} link add bat0 address 02:00:00:00:{node:02x}:ff type batadv")
        sh(f"{mesh} link set a{node} master bat0 && {mesh} link set b{node} master bat0")
        sh(f"{mesh} addr add 10.0.0.{node + 1}/24 dev bat0 && {mesh} link set bat0 up")
    for node in range(NODES):
        for other in set(range(NODES)) - {node}:
            address = f"10.0.0.{other + 1} lladdr 02:00:00:00:{other:02x}:ff"
            sh(f"ip -n n{node} neigh replace {address} dev bat0 nud permanent")


def cut(kind: str) -> None:
    """Cut the wire between the nodes 0 and 1."""
    if kind == "carrier":
        sh("ip link set pa0 down && ip link set pb1 down")
    else:
        for node, port in ((0, "a0"), (1, "b1")):
            sh(f"tc -n n{node} qdisc replace dev {port} root netem loss 100%")


def received(sink: socket.socket) -> list[bytes]:
    """What has arrived."""
    found: list[bytes] = []
    while True:
        try:
            found.append(sink.recv(2000))
        except BlockingIOError:
            return found


def outage(kind: str, draws: random.Random) -> str:
    """Seconds without a packet from node 0 to node 1 after the cut."""
    sink = in_node("n1", socket.AF_INET, socket.SOCK_DGRAM)
    sink.bind(("10.0.0.2", 9000))
    source = in_node("n0", socket.AF_INET, socket.SOCK_DGRAM)
    begin = time.monotonic()
    moment = WARM_S + draws.uniform(0, 1)
    is_cut, last, longest, due = False, begin, 0.0, begin
    while (now := time.monotonic() - begin) < moment + 30.0:
        if not is_cut and now >= moment:
            cut(kind)
            is_cut = True
        if now >= WARM_S - 20.0:
            source.sendto(struct.pack("!d", now) + bytes(92), ("10.0.0.2", 9000))
        due += EVERY_S
        time.sleep(max(0.0, due - time.monotonic()))
        if received(sink):
            here = time.monotonic()
            if is_cut:
                longest = max(longest, here - last)
            last = here
    return f"{longest:.2f}\n"


def frames() -> str:
    """What node 1 sends in 120 s on both ports: time, port, and the frame in hexadecimal."""
    ports = {}
    for port in ("a1", "b1"):
        ports[port] = in_node("n1", socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        ports[port].bind((port, ETH_P_ALL))
    lines, begin = [], time.monotonic()
    while (now := time.monotonic() - begin) < 120.0:
        time.sleep(0.001)
        for port, sink in ports.items():
            for frame in received(sink):
                if frame[6:11] == b"\x02\0\0\0\x01":
                    lines.append(f"{now:.3f},{port},{frame.hex()}\n")
    return "".join(lines)


def main() -> None:
    """Mount what the tools need, run the orders, and switch the kernel off."""
    for kind, place in (("proc", "proc"), ("sysfs", "sys"), ("tmpfs", "run"), ("tmpfs", "tmp")):
        sh(f"mount -t {kind} {kind} /{place}")
    words = Path("/proc/cmdline").read_text().split()
    orders = dict(word.split("=", 1) for word in words if word.startswith("LAB_"))
    draws = random.Random(int(orders["LAB_SEED"]))
    kind = orders["LAB_CUT"]
    try:
        ring(orders["LAB_ALGORITHM"], kind == "carrier", draws)
        result = frames() if kind == "none" else outage(kind, draws)
        Path(orders["LAB_OUT"]).write_text(result)
    finally:
        Path("/proc/sysrq-trigger").write_text("o")
        time.sleep(5)


if __name__ == "__main__":
    main()
