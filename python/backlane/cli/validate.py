"""`backlane validate`: the comparisons with other programs, from the sources."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from backlane import linux
from backlane.cli import output
from backlane.cli.app import Verb
from backlane.errors import EXIT_OK, EXIT_PROBLEM, BacklaneError


@dataclass(frozen=True)
class Comparison:
    """A comparison that can be run.

    Attributes:
        module: the Python module that runs it.
        about: one line.
        page: where its result is written.
        records: whether the other program can be run again before.
    """

    module: str
    about: str
    page: str
    records: bool = False


COMPARISONS = {
    "linux": Comparison(
        "validation.linux", "TCP against recordings of Linux 6.1.", "validation/linux/README.md"
    ),
    "kernel": Comparison(
        "validation.kernel",
        "A real kernel over simulated links against the same recordings, and TCP against it.",
        "validation/kernel/README.md",
        records=True,
    ),
    "ns3": Comparison(
        "validation.ns3",
        "LTE, 802.11, TCP over a dumbbell and over a wired grid, three paths, against ns-3 3.37.",
        "validation/ns3/README.md",
        records=True,
    ),
    "bp-mr-authors": Comparison(
        "validation.bp_mr_authors",
        "BP-MR and OLSR against the simulator of BP-MR's authors.",
        "validation/bp_mr_authors/README.md",
    ),
    "cost": Comparison(
        "validation.cost", "Estimates of cost against measured runs.", "docs/concepts/cost.md"
    ),
}
"""The comparisons by name."""

HEADER = Path("/usr/include/ns3/core-module.h")
"""A file of Debian's libns3-dev."""


def root() -> Path:
    """The folder of the sources: that of an editable install, or the current one.

    Raises:
        BacklaneError: R080 if neither has the comparisons.
    """
    for folder in (Path(__file__).resolve().parents[3], Path.cwd()):
        if (folder / "validation" / "__init__.py").is_file():
            return folder
    raise BacklaneError(
        "R080",
        "the comparisons are part of the sources, which this installation does not have",
        mend="clone the repository, and run `backlane validate` in its folder",
    )


def need_ns3() -> None:
    """Fail if ns-3 cannot be compiled against.

    Raises:
        BacklaneError: R081 with what to install.
    """
    missing = [] if shutil.which("g++") else ["g++"]
    if not HEADER.is_file():
        missing.append("libns3-dev")
    if missing:
        raise BacklaneError(
            "R081",
            f"--record needs {' and '.join(missing)}",
            mend=f"on Debian: apt-get install {' '.join(missing)}",
        )


@click.command(
    cls=Verb,
    example="backlane validate\nbacklane validate linux --check\nbacklane validate ns3 --only wifi",
    help="Compare the models with Linux and other programs; without NAME, list what there is.",
)
@click.argument("name", required=False, type=click.Choice(list(COMPARISONS)))
@click.option("--check", is_flag=True, help="Compare only; pages and figures stay as they are.")
@click.option(
    "--record", is_flag=True, help="Run ns-3, or kernels without a recording, before (ns3, kernel)."
)
@click.option("--only", metavar="PART", help="One part: lte, wifi, … (ns3), clean, … (kernel).")
def command(name: str | None, check: bool, record: bool, only: str | None) -> int:
    """Run one comparison, or list them."""
    if name is None:
        for known, one in COMPARISONS.items():
            output.tell(f"{known:14} {one.about} {one.page}")
        return EXIT_OK
    comparison = COMPARISONS[name]
    if (record or only) and not comparison.records:
        raise click.UsageError(f"--record and --only are options of ns3 and kernel, not of {name}")
    if name == "ns3" and only == "dumbbell" and not record:
        raise click.UsageError(
            "the dumbbell is compared by `cargo test -p backlane-tcp --test ns3`; "
            "--record runs ns-3 again"
        )
    folder = root()
    if name == "ns3" and record:
        need_ns3()
    # What kernels did in most parts is recorded.
    needs_kernel = name == "kernel" and (record or only in (None, "clean"))
    if needs_kernel and "6.1" not in linux.kernels():
        raise linux.missing("6.1")
    # The comparison of costs changes nothing but its page, and has no such option.
    options = ["--check"] if check and name != "cost" else []
    options += ["--record"] if record else []
    options += ["--only", only] if only else []
    command_line = [sys.executable, "-m", comparison.module, *options]
    done = subprocess.run(command_line, cwd=folder, check=False)
    if done.returncode == 0 and not check:
        output.tell(f"written: {comparison.page}")
    return EXIT_PROBLEM if done.returncode else EXIT_OK
