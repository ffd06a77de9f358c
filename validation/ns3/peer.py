"""Our programs over ns-3's public interface, built against the installed package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"

LIBRARIES = (
    "core",
    "lte",
    "applications",
    "internet",
    "traffic-control",
    "point-to-point",
    "mobility",
    "wifi",
    "aodv",
    "olsr",
    "propagation",
    "network",
    "spectrum",
)
FLAGS = ("-O2", "-std=c++17")

#: Keeps glibc from returning memory and requesting it again, which costs ns-3 up to as much
#: system time as its computation.
MALLOC = {
    "MALLOC_TRIM_THRESHOLD_": "1000000000",
    "MALLOC_MMAP_THRESHOLD_": "1000000000",
}

NEEDED = "ns-3 with LENA and a compiler: on Debian, apt-get install g++ libns3-dev"


class Missing(RuntimeError):
    """ns-3 cannot be used here; the message says what to install."""


@dataclass(frozen=True)
class Peer:
    """The built programs.

    Attributes:
        folder: where they are.
    """

    folder: Path

    def run(self, program: str, *options: str) -> dict[str, float]:
        """Run a program that prints one JSON object; the object.

        Raises:
            subprocess.CalledProcessError: when it failed.
        """
        found: dict[str, float] = json.loads(self.printed(program, *options))
        return found

    def printed(self, program: str, *options: str) -> str:
        """Run a program at low priority and return its output.

        Raises:
            subprocess.CalledProcessError: when it failed.
        """
        done = subprocess.run(
            ["nice", str(self.folder / program), *options],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **MALLOC},
        )
        return done.stdout


def build(folder: Path) -> Peer:
    """Compile the programs into `folder`.

    Raises:
        Missing: when the compiler or ns-3 is not installed.
        subprocess.CalledProcessError: when a program does not compile.
    """
    compiler = shutil.which("g++")
    if not compiler:
        raise Missing(f"g++ is missing. What this needs is {NEEDED}")
    header = "#include <ns3/lte-module.h>\n"
    known = subprocess.run(
        [compiler, *FLAGS, "-E", "-x", "c++", "-"],
        input=header,
        capture_output=True,
        text=True,
        check=False,
    )
    if known.returncode:
        raise Missing(f"ns3/lte-module.h is missing. What this needs is {NEEDED}")
    folder.mkdir(parents=True, exist_ok=True)
    for program in (
        "cell",
        "grid",
        "blocks",
        "wifi",
        "aodv",
        "multipath",
        "dumbbell",
        "wired_grid",
    ):
        source, output = PROGRAMS / f"{program}.cc", folder / program
        newest = max(file.stat().st_mtime for file in PROGRAMS.iterdir())
        if not output.exists() or output.stat().st_mtime < newest:
            subprocess.run([compiler, *compilation(source, output)], check=True)
    return Peer(folder)


def compilation(source: Path, output: Path) -> list[str]:
    """The compiler's arguments."""
    return [*FLAGS, str(source), "-o", str(output), *(f"-lns3-{name}" for name in LIBRARIES)]


def version() -> str:
    """The version of ns-3's package, or "unknown"."""
    command = ["dpkg-query", "--show", "--showformat=${Version}", "libns3-dev"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"Debian's libns3-dev {done.stdout.strip()}"
