"""The tutorial, followed from a wheel: `python -m validation.tutorial_from_wheel WHEEL`.

In an empty folder with nothing but the wheel, one shell executes every command block of
`docs/tutorial.md` as it is written, after the page's files are written. What a command prints is
compared with the page. Then the studies and examples of the wheel are used, and sizes and times are
printed; the package index is asked for the dependencies, as `pip` is configured.

`--installed` uses an environment that has the package already, as in a container.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorial.md"
REPETITIONS = 15

FURTHER = (
    "backlane reproduce",
    "backlane reproduce tcp_aware_bp/paper/fig8 --quick",
    "backlane init --copy examples/wifi_mesh",
    "backlane check examples/wifi_mesh/scenario.toml",
    "backlane init --copy studies/bp_mr_mesh",
    "backlane check studies/bp_mr_mesh/grid.toml",
)
"""Commands after the tutorial: a study and an example of the wheel."""


def steps(page: str) -> list[tuple[str, str | None]]:
    """The command lines of a page, each with what the page shows of its output, if anything."""
    found: list[tuple[str, str | None]] = []
    for block, shown in re.findall(
        r"^```sh\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", page, re.DOTALL | re.MULTILINE
    ):
        lines = block.splitlines()
        found += [(line, None) for line in lines[:-1]]
        found.append((lines[-1], shown or None))
    return found


def files(page: str) -> dict[str, str]:
    """The files that a page asks its reader to write."""
    pattern = r"^```\w+ (\S+)\n(.*?)^```$"
    return dict(re.findall(pattern, page, re.DOTALL | re.MULTILINE))


def agrees(shown: str, printed: str) -> bool:
    """Whether an output is the one that a page shows; a last line of `…` stands for the rest."""
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    wanted = [line.rstrip() for line in shown.splitlines()]
    if wanted and wanted[-1] == "…":
        return lines[: len(wanted) - 1] == wanted[:-1]
    return lines == wanted


def script(commands: list[str]) -> str:
    """A shell script that executes commands one after the other and notes their times.

    The output of command N is in `output.N`, its start and end in `times`.
    """
    parts = ["set -e"]
    for index, command in enumerate(commands):
        parts += [
            f"date +%s.%N >>$NOTES/times; {command} >$NOTES/output.{index}",
            "date +%s.%N >>$NOTES/times",
        ]
    return "\n".join(parts) + "\n"


def follow(commands: list[str], folder: Path, notes: Path) -> list[tuple[float, str]]:
    """Execute commands in one shell; the elapsed time in seconds and the output of each.

    Raises:
        SystemExit: a command failed.
    """
    notes.mkdir()
    # Nothing of this environment: no module path, no packages of the user.
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "LANG") if name in os.environ}
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    environment = {
        **kept, **pip, "NOTES": str(notes), "NO_COLOR": "1", "PYTHONNOUSERSITE": "1",
        "PYTHONIOENCODING": "utf-8",
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-c", script(commands)], cwd=folder, env=environment, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    times = [float(line) for line in (notes / "times").read_text().split()]
    if done.returncode:
        failed = commands[(len(times) - 1) // 2]
        sys.exit(f"exit status {done.returncode} of: {failed}")
    return [
        (times[2 * index + 1] - times[2 * index], (notes / f"output.{index}").read_text("utf-8"))
        for index in range(len(commands))
    ]


def size(folder: Path) -> int:
    """Bytes on disk of the files below a folder."""
    found = (path.lstat() for path in folder.rglob("*"))
    return sum(one.st_blocks * 512 for one in found)


def elapsed(*command: str) -> tuple[float, float]:
    """The shortest and the median elapsed time in seconds of a command."""
    seconds = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    return min(seconds), statistics.median(seconds)


def packages(environment: Path) -> list[tuple[str, int]]:
    """The largest entries of an environment's packages, with their bytes on disk."""
    entries = next(environment.glob("lib/python*/site-packages")).iterdir()
    sizes = [(entry.name, size(entry)) for entry in entries if entry.is_dir()]
    return sorted(sizes, key=lambda one: -one[1])


def measure(environment: Path) -> dict[str, tuple[float, float]]:
    """The shortest and the median time in seconds of starting things in an environment."""
    python, backlane = (str(environment / "bin" / name) for name in ("python", "backlane"))
    commands = {
        "python -c pass": (python, "-c", "pass"),
        "import backlane": (python, "-c", "import backlane"),
        "backlane -V": (backlane, "-V"),
        "backlane --help": (backlane, "--help"),
    }
    return {name: elapsed(*command) for name, command in commands.items()}


def main() -> None:
    """Follow the tutorial and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m validation.tutorial_from_wheel")
    parser.add_argument("wheel", type=Path, nargs="?", help="the wheel to install")
    parser.add_argument("--installed", action="store_true", help="leave out the installation")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    if (options.wheel is None) != options.installed:
        parser.error("give a wheel, or --installed")
    page = TUTORIAL.read_text("utf-8")
    todo = steps(page)
    if options.installed:
        todo = todo[[command for command, _ in todo].index("backlane doctor") :]
    with TemporaryDirectory() as parent:
        folder = Path(parent) / "empty"
        folder.mkdir()
        if options.wheel:
            shutil.copy(options.wheel, folder)
        for name, text in files(page).items():
            (folder / name).write_text(text, encoding="utf-8")
        commands = [command for command, _ in todo] + list(FURTHER)
        results = follow(commands, folder, Path(parent) / "notes")
        for (command, shown), (_, printed) in zip(todo, results, strict=False):
            if shown is not None and not agrees(shown, printed):
                sys.exit(f"{command} does not print what the page shows:\n{printed}")
        report: dict[str, object] = {
            "seconds": {
                command: round(seconds, 2)
                for command, (seconds, _) in zip(commands, results, strict=True)
            }
        }
        if options.wheel:
            environment = folder / ".venv"
            report |= {
                "wheel MB": round(options.wheel.stat().st_size / 1e6, 2),
                "environment MB": round(size(environment) / 1e6, 1),
                "packages MB": {
                    name: round(bytes_ / 1e6, 1)
                    for name, bytes_ in packages(environment)
                    if bytes_ > 1e6
                },
                "start ms, shortest and median": {
                    name: [round(1e3 * one, 1) for one in times]
                    for name, times in measure(environment).items()
                },
            }
    if options.json:
        print(json.dumps(report, indent=1))
        return
    for title, values in report.items():
        if isinstance(values, dict):
            print(title)
            for name, value in values.items():
                shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
                print(f"  {shown:>14}  {name}")
        else:
            print(f"{title}: {values}")


if __name__ == "__main__":
    main()
