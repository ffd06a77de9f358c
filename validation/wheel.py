"""A wheel that is compiled with a profile of itself: `python -m validation.wheel`.

1. The module is built twice: as from source, and with counters.
2. The one with counters runs scenes of `examples` and of `crates/bench`.
3. The counts, merged by `llvm-profdata`, guide the compiler in the build of the wheel.
4. The module in the wheel and the one as from source run the same scenes: the digests of all runs
   must be equal.

Nothing is downloaded. Everything but the wheel is below `target/pgo`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOT = Path(__file__).parents[1]
WORK = ROOT / "target" / "pgo"
WHEELS = ROOT / "target" / "wheels"
TARGETS = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
SCENES = WORK / "scenes"
COUNTS = WORK / "counts"
PROFILE = WORK / "merged.profdata"

ONE_SEED = ("sweep.seeds", "1")
ENDLESS = (("flow.count", "10"), ("flow.size", "endless"), ONE_SEED)
SMALL_COUNTRY = (("topology.nodes", "10000"), ("access.ues", "100"))
EXAMPLES: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("chain.toml", ()),
    ("graph.toml", ()),
    ("tcp_profiles.toml", ENDLESS),
    ("grid.toml", (ONE_SEED,)),
    ("real_backhaul/scenario.toml", ()),
    ("country.toml", SMALL_COUNTRY),
    ("trace_access/scenario.toml", (ONE_SEED,)),
    ("lte_cell.toml", (ONE_SEED,)),
    ("lte_backhaul.toml", ()),
    ("wifi_cells.toml", (ONE_SEED,)),
    ("wifi_mesh/scenario.toml", (ONE_SEED,)),
    ("multipath_mesh/scenario.toml", (ONE_SEED,)),
    ("slotted_downlink.toml", ()),
)
"""Scenario files below `examples`, with their overrides; every cell is run."""

TOOL = """\
no llvm-profdata reads the counts of this compiler ({rustc}):
{tried}
Install that of the compiler, `rustup component add llvm-tools`, or one of LLVM {llvm} from your
distribution, and name it in LLVM_PROFDATA."""


def output(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def compiler() -> dict[str, str]:
    """The lines of `rustc -vV`."""
    lines = output("rustc", "-vV").splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def tools() -> Iterator[str]:
    """The places where `llvm-profdata` may be, the one that fits best first."""
    if named := os.environ.get("LLVM_PROFDATA"):
        yield named
        return
    rustc = compiler()
    library = Path(output("rustc", "--print", "target-libdir").strip())
    yield str(library.with_name("bin") / "llvm-profdata")
    major = rustc["LLVM version"].split(".")[0]
    yield f"llvm-profdata-{major}"
    yield "llvm-profdata"


def merge(counts: Path, profile: Path) -> None:
    """Merge the counts of all processes by the first tool that reads them.

    Raises:
        SystemExit: no tool does; the message says what to install.
    """
    tried = []
    for tool in tools():
        if not shutil.which(tool):
            tried.append(f"  {tool}: not found")
            continue
        command = [tool, "merge", "-o", str(profile), str(counts)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return
        tried.append(f"  {tool}: {done.stderr.strip().splitlines()[0]}")
    rustc = compiler()
    major = rustc["LLVM version"].split(".")[0]
    sys.exit(TOOL.format(rustc=rustc["release"], tried="\n".join(tried), llvm=major))


def check_tool() -> None:
    """Merge the counts of a small program, so that a missing tool is known before the builds."""
    folder = WORK / "tool"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = folder / "small"
    source = program.with_suffix(".rs")
    source.write_text("fn main() {}\n", encoding="utf-8")
    command = ["rustc", f"-Cprofile-generate={folder / 'counts'}", "-o", str(program), str(source)]
    subprocess.run(command, check=True)
    subprocess.run([program], check=True)
    merge(folder / "counts", folder / "small.profdata")


def build(target: Path, flags: str, *more: str) -> Path:
    """Build the module below `target` with additional flags of the compiler; its path."""
    host = compiler()["host"]
    command = ["cargo", "build", "--release", "--quiet", "-p", "backlane-python", *more]
    command += ["--target", host, "--target-dir", str(target)]
    subprocess.run(command, check=True, cwd=ROOT, env=environment(flags))
    return target / host / "release" / "lib_native.so"


def environment(flags: str) -> dict[str, str]:
    """The environment of a build with additional flags of the compiler."""
    return os.environ | {"RUSTFLAGS": f"{os.environ.get('RUSTFLAGS', '')} {flags}".strip()}


def load(library: Path) -> ModuleType:
    """The module `backlane._native` in a file."""
    name = "backlane._native"
    loader = ExtensionFileLoader(name, str(library))
    spec = spec_from_file_location(name, library, loader=loader)
    if spec is None:
        sys.exit(f"{library} is no Python module")
    module = module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def digests(library: Path) -> dict[str, str]:
    """The digest of each run of the scenes, executed by the module in a file."""
    native = load(library)
    files = [(ROOT / "examples" / name, overrides) for name, overrides in EXAMPLES]
    files += [(file, ()) for file in sorted(SCENES.glob("*.toml"))]
    found = {}
    for file, overrides in files:
        text = file.read_text(encoding="utf-8")
        plan = json.loads(native.plan(text, str(file), overrides))
        for run in plan["runs"]:
            result = native.run(plan["cells"][run["cell"]]["resolved"], run["seed"])
            summary = result.summary
            name = f"{file.relative_to(ROOT)} {run['cell']} {run['seed']}"
            found[name] = f"{summary['digest']} {summary['events']}"
    return found


def digests_of(library: Path) -> dict[str, str]:
    """As `digests`, in a process of its own; a process has one module of a name."""
    command = [sys.executable, "-m", "validation.wheel", str(library)]
    paths = [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
    python_path = os.pathsep.join(filter(None, paths))
    done = subprocess.run(
        command,
        check=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": python_path},
        stdout=subprocess.PIPE,
        text=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def wheel() -> Path:
    """Build the wheel with the profile; its path."""
    command = [sys.executable, "-m", "maturin", "build", "--release", "--quiet"]
    command += ["--out", str(WHEELS)]
    command += ["--target", compiler()["host"], "--target-dir", str(WORK / "guided")]
    for old in WHEELS.glob("*.whl"):
        old.unlink()
    subprocess.run(command, check=True, cwd=ROOT, env=environment(f"-Cprofile-use={PROFILE}"))
    return next(WHEELS.glob("*.whl"))


def module_in(wheel: Path) -> Path:
    """Unpack the module of a wheel; its path."""
    with zipfile.ZipFile(wheel) as archive:
        member = next(name for name in archive.namelist() if name.endswith(".so"))
        return Path(archive.extract(member, WORK / "unpacked"))


def differences(plain: dict[str, str], guided: dict[str, str]) -> list[str]:
    """The runs whose digests are not equal."""
    return sorted(run for run in plain | guided if plain.get(run) != guided.get(run))


def main() -> None:
    """Build the wheel and compare it with a build from source."""
    check_tool()
    shutil.rmtree(COUNTS, ignore_errors=True)
    COUNTS.mkdir(parents=True)
    plain = build(TARGETS, "", "-p", "backlane-bench")
    bench = plain.with_name("backlane-bench")
    subprocess.run([bench, "--write", SCENES], check=True)
    counting = build(WORK / "counting", f"-Cprofile-generate={COUNTS}")
    print(f"{len(digests_of(counting))} runs counted", file=sys.stderr)
    merge(COUNTS, PROFILE)
    built = wheel()
    expected = digests_of(plain)
    if wrong := differences(expected, digests_of(module_in(built))):
        sys.exit("the wheel has other results than a build from source:\n" + "\n".join(wrong))
    print(f"{len(expected)} runs have equal digests", file=sys.stderr)
    print(built)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        json.dump(digests(Path(sys.argv[1])), sys.stdout)
    else:
        main()
