"""What an emulation needs of the machine: Linux, `/dev/net/tun`, the program ``ip``, two rights."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from backlane.errors import BacklaneError

DEVICE = Path("/dev/net/tun")
_STATUS = Path("/proc/self/status")
_CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}
"""The bits of linux/capability.h: TUN devices and addresses; namespaces and their mounts."""


def missing() -> str | None:
    """What is missing for an emulation, in a clause; None if nothing is."""
    if sys.platform != "linux":
        return "TUN devices in network namespaces are Linux's"
    held = _held()
    lacking = [name for name, bit in _CAPABILITIES.items() if not held >> bit & 1]
    if lacking:
        return f"this process has no {' and no '.join(lacking)}"
    if shutil.which("ip") is None:
        return "the program ip (iproute2) is not installed"
    if not DEVICE.exists():
        return f"there is no {DEVICE}"
    try:
        os.close(os.open(DEVICE, os.O_RDWR))
    except OSError as error:
        return f"{DEVICE} cannot be opened: {error.strerror}"
    return None


def require() -> None:
    """Make sure that nothing is missing.

    Raises:
        BacklaneError: R120.
    """
    clause = missing()
    if clause is not None:
        raise BacklaneError(
            "R120", f"this machine cannot emulate: {clause}", None,
            "run it as root, for instance with sudo; see `backlane explain R120`",
        )  # fmt: skip


def _held() -> int:
    """The effective capabilities of this process, as the kernel prints them."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return 0
    found = (line.split()[1] for line in lines if line.startswith("CapEff:"))
    return int(next(found, "0"), 16)
