"""Wheels for Linux by cross-compilation: `python -m validation.wheels [TARGET...]`.

Zig, from the package `ziglang`, links against the C library that a tag promises, whichever the
machine has: glibc 2.28 for `manylinux_2_28`, musl 1.2 for `musllinux_1_2`. Each wheel is then
examined: its tag, the libraries and the symbol versions that its module needs, and its files.
`--sdist` builds the source distribution as well, and compiles its copy of the module.

macOS and Windows are built on their own systems by `.github/workflows/wheels.yml`. Nothing is
downloaded but a missing standard library of Rust, by `rustup`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from backlane import shipped

ROOT = Path(__file__).parents[1]
WHEELS = ROOT / "target" / "wheels"
GLIBC = (2, 28)


@dataclass(frozen=True)
class Target:
    """A kind of machine for which a wheel is built.

    Attributes:
        triple: the compiler's name of it.
        tag: of the wheel, without the processor.
        machine: the processor, as in the tag.
        libraries: the shared libraries that the module may need.
    """

    triple: str
    tag: str
    machine: str
    libraries: frozenset[str]


def _target(machine: str, libc: str) -> Target:
    glibc = libc == "gnu"
    loader = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}[machine]
    needed = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", loader}
    return Target(
        f"{machine}-unknown-linux-{libc}",
        "manylinux_{}_{}".format(*GLIBC) if glibc else "musllinux_1_2",
        machine,
        frozenset(needed if glibc else {"libc.so"}),
    )


TARGETS = {
    f"{machine}-{libc}": _target(machine, libc)
    for machine in ("x86_64", "aarch64")
    for libc in ("gnu", "musl")
}
"""The targets by the names that the command takes."""


def needed(dynamic: str) -> set[str]:
    """The libraries that a module needs, from the output of `readelf --dynamic`."""
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic))


def newest_glibc(versions: str) -> tuple[int, ...]:
    """The newest version of glibc's symbols in the output of `readelf --version-info`."""
    found = re.findall(r"\bGLIBC_([0-9.]+)", versions)
    return max((tuple(map(int, one.split("."))) for one in found), default=())


def problems(target: Target, name: str, members: set[str], elf: dict[str, str]) -> list[str]:
    """The defects of a wheel; empty if there is none.

    Args:
        target: what it was built for.
        name: of the file.
        members: the names in the archive.
        elf: the output of `readelf` on its module, by option.
    """
    found = []
    if not re.fullmatch(rf"backlane-[\d.]+-cp310-abi3-{target.tag}_{target.machine}\.whl", name):
        found.append(f"{name} is not tagged cp310-abi3-{target.tag}_{target.machine}")
    processor = {"x86_64": "X86-64", "aarch64": "AArch64"}[target.machine]
    if processor not in elf["--file-header"]:
        found.append(f"its module is not for {processor}")
    if more := needed(elf["--dynamic"]) - target.libraries:
        found.append(f"its module needs {', '.join(sorted(more))}")
    newest = newest_glibc(elf["--version-info"])
    if newest > (GLIBC if "gnu" in target.triple else ()):
        found.append(f"its module needs glibc {'.'.join(map(str, newest))}")
    if "PyInit__native" not in elf["--dyn-syms"]:
        found.append("its module does not export PyInit__native")
    wanted = {f"backlane/shipped/{one}" for one in shipped.files()}
    wanted |= {"backlane/py.typed", "backlane/_native.pyi"}
    if missing := wanted - members:
        found.append(f"it lacks {len(missing)} files, as {min(missing)}")
    if extra := {one for one in members if one.startswith("backlane/shipped/")} - wanted:
        extra.discard("backlane/shipped/__init__.py")
        found += [f"it has {one}" for one in sorted(extra)]
    return found


def examine(wheel: Path, target: Target) -> list[str]:
    """The defects of a wheel file; `problems` lists what is checked."""
    with zipfile.ZipFile(wheel) as archive, TemporaryDirectory() as folder:
        members = set(archive.namelist())
        modules = [one for one in members if one.endswith("/_native.abi3.so")]
        if not modules:
            return ["it has no compiled module"]
        module = archive.extract(modules[0], folder)
        options = ("--file-header", "--dynamic", "--version-info", "--dyn-syms")
        elf = {
            option: subprocess.run(
                ["readelf", "--wide", option, module],
                check=True, capture_output=True, text=True,
                env=os.environ | {"LC_ALL": "C"},
            ).stdout
            for option in options
        }  # fmt: skip
    return problems(target, wheel.name, members, elf)


def maturin(*words: str) -> None:
    """Run maturin of this environment in the source tree."""
    # It looks for Zig by the first Python of the path.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    command = [sys.executable, "-m", "maturin", *words]
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | {"PATH": path})


def add_rust(target: Target) -> None:
    """Install Rust's standard library for a target, unless it is there."""
    query = ["rustc", "--print", "target-libdir", "--target", target.triple]
    found = subprocess.run(query, check=True, capture_output=True, text=True).stdout.strip()
    if not Path(found).is_dir():
        subprocess.run(["rustup", "target", "add", target.triple], check=True)


def build(target: Target, profile: str, out: Path) -> Path:
    """Build the wheel of a target; its path."""
    add_rust(target)
    with TemporaryDirectory(dir=out) as folder:
        maturin(
            "build", "--quiet", "--zig", "--profile", profile, "--target", target.triple,
            "--compatibility", target.tag, "--out", folder,
        )  # fmt: skip
        built = next(Path(folder).glob("*.whl"))
        return built.replace(out / built.name)


def build_sdist(out: Path) -> Path:
    """Build the source distribution and compile the module in a copy of it; its path."""
    with TemporaryDirectory() as folder:
        maturin("sdist", "--out", folder)
        built = next(Path(folder).glob("*.tar.gz"))
        with tarfile.open(built) as archive:
            archive.extractall(folder, filter="data")
        copy = Path(folder) / built.name.removesuffix(".tar.gz")
        command = ["cargo", "check", "--quiet", "--locked", "-p", "backlane-python"]
        subprocess.run(
            command, check=True, cwd=copy, env=os.environ | {"PYO3_PYTHON": sys.executable}
        )
        lacking = [
            name for name in shipped.files()
            if not (copy / "python" / "backlane" / "shipped" / name).is_file()
        ]  # fmt: skip
        if lacking:
            sys.exit(f"{built.name} lacks {', '.join(lacking)}")
        return Path(shutil.move(built, out / built.name))


def main() -> None:
    """Build and examine the wheels."""
    parser = argparse.ArgumentParser(prog="python -m validation.wheels")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--profile", choices=("release", "source"), default="release")
    parser.add_argument("--out", type=Path, default=WHEELS)
    parser.add_argument("--sdist", action="store_true", help="the source distribution as well")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    if find_spec("ziglang") is None:
        sys.exit("the package ziglang is missing: pip install ziglang")
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if options.sdist:
        print(build_sdist(out))
    for name in options.targets or TARGETS:
        wheel = build(TARGETS[name], options.profile, out)
        if found := examine(wheel, TARGETS[name]):
            wheel.unlink()
            sys.exit("\n".join([f"{wheel.name} is not fit for others:", *found]))
        print(f"{wheel}  {wheel.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
