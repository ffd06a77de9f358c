"""The network namespaces of the hosts of an emulation.

A namespace ``backlane-RUN-HOST`` has the loopback interface and a TUN interface with the address of
the host's node, 10.0.0.0 + n, as in captures; 10.0.0.0/8 is routed into it. Only names of this form
are ever removed. The names of all hosts are in a file that `ip netns exec` puts in place of
/etc/hosts (ip-netns(8)).
"""

from __future__ import annotations

import ipaddress
import json
import re
import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERFACE = "backlane"
NETWORK = "10.0.0.0/8"
_FOLDER = Path("/run/netns")
_FILES = Path("/etc/netns")
_NAME = re.compile(r"backlane-[0-9a-f]{6}-[A-Za-z0-9_.-]+")
_TUNSETIFF = 0x400454CA
_IFF_TUN = 0x0001
_IFF_NO_PI = 0x1000
_QUEUE_PKTS = 10_000
"""Of the interface, before the simulation: a stall of the process must not lose packets there."""


@dataclass(frozen=True)
class Host:
    """A host of an emulation.

    Attributes:
        name: of the node in the scenario.
        namespace: its network namespace.
        address: its IPv4 address.
    """

    name: str
    namespace: str
    address: str

    @property
    def path(self) -> Path:
        """The file by which the namespace is entered."""
        return _FOLDER / self.namespace


def hosts(run: str, nodes: Sequence[tuple[str, str]]) -> list[Host]:
    """The hosts of an emulation.

    Args:
        run: six hexadecimal digits that name the emulation.
        nodes: the name and the address of each node.

    Raises:
        BacklaneError: R122 when two of them would have one namespace, R123 when there is a
            namespace of that name already.
    """
    found: dict[str, Host] = {}
    for name, address in nodes:
        namespace = f"backlane-{run}-{re.sub(r'[^A-Za-z0-9_.-]', '-', name)}"
        host = Host(name, namespace, address)
        if namespace in found:
            raise BacklaneError(
                "R122", f"the hosts {found[namespace].name!r} and {name!r} have one namespace",
                namespace, "rename one of the nodes",
            )  # fmt: skip
        if host.path.exists() or (_FILES / namespace).exists():
            raise BacklaneError(
                "R123", "there is a network namespace of this name", namespace,
                "start again: the name is drawn again",
            )  # fmt: skip
        found[namespace] = host
    return list(found.values())


def create(host: Host, names: Sequence[Host]) -> None:
    """Make the namespace of a host, with the names of all hosts.

    Raises:
        BacklaneError: R123 when the system refuses.
    """
    _ip("netns", "add", host.namespace)
    files = _FILES / host.namespace
    try:
        files.mkdir(parents=True)
        lines = [f"{one.address}\t{one.name}\n" for one in names]
        (files / "hosts").write_text("127.0.0.1\tlocalhost\n" + "".join(lines))
    except OSError as error:
        raise _refused(f"{files}: {error.strerror}") from error


def configure(host: Host, device: int) -> None:
    """Make the interface of a host.

    Args:
        host: the host.
        device: a descriptor of /dev/net/tun that was opened in its namespace.

    Raises:
        BacklaneError: R123 when the system refuses.
    """
    if sys.platform != "linux":
        raise _refused("TUN interfaces are Linux's")
    import fcntl

    flags = _IFF_TUN | _IFF_NO_PI
    try:
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", INTERFACE.encode(), flags))
    except OSError as error:
        raise _refused(f"TUNSETIFF: {error.strerror}") from error
    inside = ("-n", host.namespace)
    _ip(*inside, "link", "set", "lo", "up")
    # No link-local address of IPv6, which the simulation does not carry.
    _ip(*inside, "link", "set", INTERFACE, "addrgenmode", "none")
    _ip(*inside, "link", "set", INTERFACE, "mtu", "1500", "txqueuelen", str(_QUEUE_PKTS), "up")
    # A prefix of 32 bits: with a shorter one, the first and last address are broadcasts.
    _ip(*inside, "address", "add", f"{host.address}/32", "dev", INTERFACE)
    _ip(*inside, "route", "add", NETWORK, "dev", INTERFACE, "src", host.address)


def remove(namespace: str) -> bool:
    """Remove a namespace and its file of names, if they exist; false if the name is not ours."""
    if not _NAME.fullmatch(namespace):
        return False
    if (_FOLDER / namespace).exists():
        with suppress(BacklaneError):
            _ip("netns", "delete", namespace)
    files = _FILES / namespace
    with suppress(OSError):
        (files / "hosts").unlink(missing_ok=True)
        files.rmdir()
    return True


def exists(namespace: str) -> bool:
    """Whether there is anything of a namespace."""
    return (_FOLDER / namespace).exists() or (_FILES / namespace).exists()


def processes(namespace: str) -> list[tuple[int, str]]:
    """The processes in a namespace: number and name."""
    try:
        found = [int(word) for word in _ip("netns", "pids", namespace).split()]
    except BacklaneError:
        return []
    named = []
    for pid in found:
        with suppress(OSError):
            named.append((pid, Path(f"/proc/{pid}/comm").read_text().strip()))
    return named


def dropped_pkts(host: Host) -> int:
    """Packets that the interface of a host dropped before the simulation could read them."""
    try:
        text = _ip("-n", host.namespace, "-json", "-stats", "link", "show", "dev", INTERFACE)
        return int(json.loads(text)[0]["stats64"]["tx"]["dropped"])
    except (BacklaneError, ValueError, LookupError, TypeError):
        return 0


def inside(host: Host, command: Sequence[str]) -> list[str]:
    """The command line that executes a command as a program of a host."""
    return ["ip", "netns", "exec", host.namespace, *command]


def overlapping_routes() -> list[str]:
    """The routes of this machine into the network of the hosts; default routes do not count.

    The hosts' interfaces are in namespaces of their own, so that no packet takes another way.
    """
    try:
        lines = _ip("-4", "route", "show", "table", "all", "type", "unicast").splitlines()
    except BacklaneError:
        return []
    network = ipaddress.ip_network(NETWORK)
    found = []
    for line in lines:
        with suppress(ValueError, IndexError):
            route = ipaddress.IPv4Network(line.split()[0])
            if route.prefixlen and route.overlaps(network):
                found.append(str(route))
    return found


def _ip(*words: str) -> str:
    """Call `ip`.

    Raises:
        BacklaneError: R123 with its message.
    """
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise _refused(f"ip {' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def _refused(what: str) -> BacklaneError:
    return BacklaneError(
        "R123", f"the system refuses a namespace or an interface: {what}", None,
        "see `backlane explain R123`",
    )  # fmt: skip
