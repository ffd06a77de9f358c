"""Linux kernels for the hosts of flows with ``stack = "linux"``.

A kernel is a User Mode Linux binary, built once for each version by `build` from the source
package of a distribution or from a source tree, and kept in a cache of the user. The compiled
module boots one for each host of a run, in simulated time.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backlane.campaign.plan import Cell

GUEST = Path(__file__).parent / "guest"
"""The configuration of the kernels, the program that runs in them, and the library before them."""

SOURCES = ("agent.c", "shim.c", "kernel.config")
"""The files of `GUEST` on which a build depends."""

NEEDS_KERNEL = 'stack = "linux"'
"""The text by which a resolved scenario asks for kernels."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that is built.

    Attributes:
        name: as `[linux] kernel` names it.
        release: its own version, such as "6.1.192-backlane".
        folder: where its files are.
    """

    name: str
    release: str
    folder: Path

    @property
    def files(self) -> tuple[str, str, str]:
        """The kernel, the library before it, and the program in it."""
        return (
            str(self.folder / "linux"),
            str(self.folder / "shim.so"),
            str(self.folder / "agent"),
        )


def cache() -> Path:
    """The folder of the kernels: ``$BACKLANE_KERNELS``, or one in the user's cache."""
    if own := os.environ.get("BACKLANE_KERNELS"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "backlane" / "kernels"


def fingerprint() -> str:
    """A hash of what every build depends on, beside the sources of Linux."""
    digest = sha256()
    for name in SOURCES:
        digest.update((GUEST / name).read_bytes())
    return digest.hexdigest()[:12]


def kernels() -> dict[str, Kernel]:
    """The kernels that are built with the present configuration, by name."""
    found: dict[str, Kernel] = {}
    folder = cache()
    if not folder.is_dir():
        return found
    for path in sorted(folder.glob(f"*-{fingerprint()}/kernel.json")):
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            kernel = Kernel(str(about["name"]), str(about["release"]), path.parent)
        except (OSError, ValueError, KeyError, TypeError):
            continue
        found[kernel.name] = kernel
    return found


def files(resolved: str) -> dict[str, tuple[str, str, str]]:
    """The files of all kernels by name, if a resolved scenario asks for any; else nothing."""
    if NEEDS_KERNEL not in resolved:
        return {}
    return {name: kernel.files for name, kernel in kernels().items()}


def require(cells: Iterable[Cell]) -> None:
    """Fail before the first run if a kernel is missing.

    Raises:
        BacklaneError: R096 with the command that builds it.
    """
    built: dict[str, Kernel] | None = None
    for cell in cells:
        if NEEDS_KERNEL not in cell.resolved:
            continue
        built = kernels() if built is None else built
        name = _kernel(cell.resolved)
        if name not in built:
            raise missing(name)


def missing(name: str) -> BacklaneError:
    """The error of a kernel that is not built."""
    if sys.platform != "linux":
        return BacklaneError("R096", 'flows with stack = "linux" run on Linux only')
    return BacklaneError(
        "R096",
        f"kernel {name} is not built",
        mend=f"build it once, in a few minutes: backlane linux build {name}",
    )


def _kernel(resolved: str) -> str:
    """The kernel that a resolved scenario asks for; such a text has all its keys, one on a line."""
    found = re.search(r'^\[linux\]\n(?:[a-z_]+ = .*\n)*?kernel = "([^"]*)"', resolved, re.MULTILINE)
    return found[1] if found else "6.1"
