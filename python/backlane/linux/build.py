"""Building a kernel: `backlane linux build`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.linux import GUEST, Kernel, cache, fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PACKAGES = Path("/usr/src")
"""Where Debian's packages linux-source-* put their archives."""

TOOLS = {
    "make": "make",
    "gcc": "gcc",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
    "xz": "xz-utils",
    "strip": "binutils",
}
"""The programs that a build needs, and their packages in Debian."""

UNUSED = (
    "Documentation", "sound", "samples", "tools/testing", "tools/perf", "drivers/gpu",
    "drivers/media", "drivers/staging", "drivers/infiniband", "drivers/scsi", "drivers/iio",
    "drivers/net/ethernet", "drivers/net/wireless", "drivers/usb", "drivers/video", "drivers/clk",
    "drivers/pinctrl", "drivers/crypto", "drivers/soc", "drivers/hwmon", "drivers/mtd",
    "drivers/input", "fs/xfs", "fs/btrfs", "fs/ext4", "fs/nfs", "fs/ocfs2",
)  # fmt: skip
"""Folders of which only the makefiles and Kconfig files are unpacked: 0.5 in place of 1.5 GB."""

OTHER_PROCESSORS = (
    "alpha", "arc", "arm", "arm64", "csky", "hexagon", "ia64", "loongarch", "m68k", "microblaze",
    "mips", "nios2", "openrisc", "parisc", "powerpc", "riscv", "s390", "sh", "sparc", "xtensa",
)  # fmt: skip

HZ = 1000
"""Ticks per second, for timers of a millisecond; the default of arch/um is 100."""


def archive(name: str) -> Path:
    """The archive of a version's sources.

    Raises:
        BacklaneError: R097 with the package to install.
    """
    path = PACKAGES / f"linux-source-{name}.tar.xz"
    if not path.is_file():
        raise BacklaneError(
            "R097",
            f"there are no sources of Linux {name}: {path} does not exist",
            mend=f"on Debian: apt-get install linux-source-{name}; or give --source TREE",
        )
    return path


def require_tools() -> None:
    """Fail if a program is missing.

    Raises:
        BacklaneError: R097 with the packages to install.
    """
    lacking = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if lacking:
        raise BacklaneError(
            "R097",
            f"a build needs {', '.join(lacking)}",
            mend=f"on Debian: apt-get install {' '.join(lacking)}",
        )


def build(
    name: str,
    source: Path | None = None,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _text: None,
) -> Kernel:
    """Build a kernel, its program and its library into the cache.

    Args:
        name: how scenarios name it; without `source` the version of Debian's package.
        source: a tree or an archive of sources, in place of the package.
        jobs: processes of the compiler.
        say: gets what is done.

    Raises:
        BacklaneError: R097 when something is missing or does not compile.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", name):
        raise BacklaneError("R097", f"{name!r} is no name of a kernel", mend='such as "6.1"')
    require_tools()
    origin = source.resolve() if source is not None else archive(name)
    if not origin.exists():
        raise BacklaneError("R097", "there is no such source", str(origin))
    target = cache() / f"{name}-{fingerprint()}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=target.parent) as scratch:
        work, made = Path(scratch) / "source", Path(scratch) / "made"
        made.mkdir()
        say(f"unpacking {origin.name}")
        tree = _tree(origin, work)
        release = _compile(tree, made / "linux", jobs, say)
        _programs(made)
        about = {"name": name, "release": release, "source": origin.name}
        (made / "kernel.json").write_text(json.dumps(about) + "\n", encoding="utf-8")
        if target.exists():
            shutil.rmtree(target)
        made.rename(target)
    return Kernel(name, release, target)


def _tree(origin: Path, work: Path) -> Path:
    """The sources in a folder of their own: the makefiles change them."""
    work.mkdir()
    if origin.is_dir():
        ignore = shutil.ignore_patterns(".git", "*.o", "*.cmd")
        shutil.copytree(origin, work / "tree", symlinks=True, ignore=ignore)
        return work / "tree"
    left_out = [f"*/{folder}/*.{kind}" for folder in UNUSED for kind in ("[chS]", "rst", "json")]
    left_out += [
        f"*/arch/{name}/*.{kind}" for name in OTHER_PROCESSORS for kind in ("[chS]", "dts", "dtsi")
    ]
    _run(["tar", "xf", str(origin), *(f"--exclude={pattern}" for pattern in left_out)], work)
    [tree] = [path for path in work.iterdir() if path.is_dir()]
    return tree


def _compile(tree: Path, kernel: Path, jobs: int, say: Callable[[str], None]) -> str:
    """Configure and compile; the release of the kernel."""
    options = tree / "arch/um/Kconfig"
    if not options.is_file():
        raise BacklaneError("R097", "these are no sources of Linux", str(tree))
    text = options.read_text(encoding="utf-8")
    changed = re.sub(r"(config HZ\n(?:\t.*\n)*?\tdefault )\d+", rf"\g<1>{HZ}", text)
    options.write_text(changed, encoding="utf-8")
    make = ["make", "-s", "ARCH=um"]
    _run([*make, f"KCONFIG_ALLCONFIG={GUEST / 'kernel.config'}", "allnoconfig"], tree)
    say("compiling the kernel: some minutes")
    _run([*make, f"-j{jobs}", "linux"], tree)
    _run(["strip", "-o", str(kernel), "linux"], tree)
    return _run([*make, "kernelrelease"], tree).strip()


def _programs(made: Path) -> None:
    compiler = ["gcc", "-O2"]
    agent = [str(GUEST / "agent.c"), "-o", str(made / "agent")]
    shim = [str(GUEST / "shim.c"), "-o", str(made / "shim.so")]
    _run([*compiler, "-static", *agent], made)
    _run([*compiler, "-shared", "-fPIC", *shim], made)


def _run(command: Sequence[str], folder: Path) -> str:
    """What a program prints.

    Raises:
        BacklaneError: R097 with the end of its messages.
    """
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, errors="replace", capture_output=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        words = "\n".join((done.stderr or done.stdout).strip().splitlines()[-12:])
        raise BacklaneError("R097", f"`{Path(command[0]).name}` failed:\n{words}", str(folder))
    return done.stdout
