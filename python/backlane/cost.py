"""The estimated cost of runs: CPU time, memory, disk.

The estimate itself is the compiled module's (``docs/concepts/cost.md``); this module sums it
over a campaign, compares it with the resources of the machine, and describes it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backlane import machine, native
from backlane.errors import BacklaneError
from backlane.text import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backlane.campaign.plan import Cell, Plan, Run

PROCESS_BYTES = 150_000_000
"""Memory of the process beside its runs: the interpreter, Polars, the plan."""
MOST_CELLS = 200
"""Largest number of cells that are estimated; of more cells, an even selection is."""
SAID_CPU_S = 10.0
"""Work below this CPU time starts without a message, unless memory or disk need one."""
SAID_BYTES = 500_000_000
"""The same for memory and disk."""
REFUSED_DISK = 4.0
"""A campaign is refused when its results exceed the free disk space by this factor."""
THREAD_GAIN = 0.6
"""Speed that each further thread of a run adds, measured with two."""
MEMORY_OF_THREADS = 0.8
"""Share of the free memory that the threads of one run may fill; each holds the network."""
UNLIMITED = 1 << 60
"""A limit above this counts as none."""


@dataclass(frozen=True)
class Part:
    """A share of a cost."""

    name: str
    """Its name, such as "flows" or "capture at epc"."""
    count: float
    """How many of them."""
    cpu_s: float
    memory_bytes: int
    disk_bytes: int


@dataclass(frozen=True)
class Estimate:
    """The cost of one run."""

    cpu_s: float
    """CPU time, on the machine of the calibration."""
    memory_bytes: int
    """Largest memory of the run, beyond what the process held before."""
    disk_bytes: int
    """Size of its results."""
    events: int
    simulated_s: float
    """Simulated time of the end."""
    divides: bool
    """Whether the run may use several threads, if the delays and the load allow it."""
    parts: tuple[Part, ...]

    def largest(self, of: str = "memory_bytes") -> Part:
        """The part with the largest share of a resource."""
        return max(self.parts, key=lambda part: float(getattr(part, of)))


@dataclass(frozen=True)
class Total:
    """The cost of a campaign."""

    runs: int
    """Number of runs to be executed."""
    cpu_s: float
    """Of all runs."""
    disk_bytes: int
    """Of all runs."""
    wall_s: float
    """With the workers in parallel."""
    largest: Estimate
    """The run with the largest memory."""
    workers: int
    is_sampled: bool
    """Whether only some of the cells were estimated."""

    @property
    def memory_bytes(self) -> int:
        """Memory of the process if every worker has the largest run."""
        return PROCESS_BYTES + self.workers * self.largest.memory_bytes

    def as_dict(self) -> dict[str, Any]:
        """The cost for ``--json``."""
        return {
            "cpu_s": self.cpu_s,
            "wall_s": self.wall_s,
            "workers": self.workers,
            "memory_bytes": self.memory_bytes if self.runs else 0,
            "disk_bytes": self.disk_bytes,
            "sampled": self.is_sampled,
        }


@lru_cache(maxsize=4096)
def of(resolved: str) -> Estimate:
    """Estimate a run of a resolved scenario.

    Raises:
        ScenarioError: when the text is no resolved scenario.
    """
    found = native.module().estimate(resolved)
    parts = tuple(Part(**part) for part in found.pop("parts"))
    return Estimate(**found, parts=parts)


def _chosen(cells: Sequence[Cell]) -> list[Cell]:
    """All cells, or evenly chosen ones with the first and the last."""
    if len(cells) <= MOST_CELLS:
        return list(cells)
    last = len(cells) - 1
    return [cells[index * last // (MOST_CELLS - 1)] for index in range(MOST_CELLS)]


def total(plan: Plan, workers: int = 1, runs: Sequence[Run] | None = None) -> Total:
    """Estimate the runs of a plan.

    Args:
        plan: the plan.
        workers: number of runs in parallel.
        runs: those that are to be carried out, such as those of a shard that are not stored yet;
            None is all.
    """
    runs = plan.runs if runs is None else runs
    counts: dict[int, int] = {}
    for run in runs:
        counts[run.cell] = counts.get(run.cell, 0) + 1
    cells = [plan.cells[index] for index in sorted(counts)]
    chosen = _chosen(cells)
    nothing = Estimate(0.0, 0, 0, 0, 0.0, False, ())
    estimates = [(of(cell.resolved), counts[cell.index]) for cell in chosen]
    looked_at = sum(count for _, count in estimates)
    scale = len(runs) / looked_at if looked_at else 0.0
    cpu_s = scale * sum(estimate.cpu_s * count for estimate, count in estimates)
    disk_bytes = scale * sum(estimate.disk_bytes * count for estimate, count in estimates)
    offered = max(1, workers)
    workers = min(offered, max(1, len(runs)))
    # The last run begins when a worker is free; runs that are fewer than the cores share them.
    shared = 1 + THREAD_GAIN * (offered // workers - 1)
    longest_s = max((e.cpu_s / (shared if e.divides else 1) for e, _ in estimates), default=0.0)
    return Total(
        runs=len(runs),
        cpu_s=cpu_s,
        disk_bytes=int(disk_bytes),
        wall_s=max(cpu_s / offered, longest_s),
        largest=max(
            (estimate for estimate, _ in estimates), key=lambda e: e.memory_bytes, default=nothing
        ),
        workers=workers,
        is_sampled=len(chosen) < len(cells),
    )


def joined(totals: Sequence[Total]) -> Total:
    """The cost of campaigns that are carried out one after the other."""
    nothing = Estimate(0.0, 0, 0, 0, 0.0, False, ())
    return Total(
        runs=sum(one.runs for one in totals),
        cpu_s=sum(one.cpu_s for one in totals),
        disk_bytes=sum(one.disk_bytes for one in totals),
        wall_s=sum(one.wall_s for one in totals),
        largest=max((one.largest for one in totals), key=lambda e: e.memory_bytes, default=nothing),
        workers=max((one.workers for one in totals), default=1),
        is_sampled=any(one.is_sampled for one in totals),
    )


def size(count: float) -> str:
    """A number of bytes as text."""
    for scale, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count:.0f} B"


def time(seconds: float) -> str:
    """A time as text, up to days."""
    if seconds < 3600 * 72:
        return span(seconds)
    return f"{seconds / 86400:.0f} days"


def _number_in(path: Path) -> int | None:
    """The number that a file of the kernel holds; None where there is none or no limit."""
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _group_folders(root: Path, groups: str) -> list[tuple[Path, str, str]]:
    """The folders of this process's control groups for memory, and of those above them.

    Args:
        root: where the control groups are mounted.
        groups: the text of /proc/self/cgroup.
    """
    found = []
    for line in groups.splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            base, limit, used = root, "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            base, limit, used = (
                root / "memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
            )
        else:
            continue
        inner = base / path.lstrip("/")
        # In a container the path may be that of the host; the folder itself is then the group.
        for folder in (inner, *inner.parents):
            if folder == base or base in folder.parents:
                found.append((folder, limit, used))
    return found


def _left_in_groups(root: Path, groups: str) -> list[int]:
    """Memory that each control group still allows."""
    left = []
    for folder, limit, used in _group_folders(root, groups):
        most = _number_in(folder / limit)
        if most is not None and most < UNLIMITED:
            left.append(max(most - (_number_in(folder / used) or 0), 0))
    return left


def _physical_bytes() -> int | None:
    """Memory that the kernel can give without swapping."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return machine.total_memory()
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _held_bytes() -> tuple[int, int]:
    """Address space and memory of this process."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()
        return int(pages[0]) * machine.page_bytes(), int(pages[1]) * machine.page_bytes()
    except (OSError, ValueError, IndexError):
        return 0, 0


def available_memory() -> int:
    """Bytes that this process may hold in total.

    The minimum of the machine's free memory, of what its control groups (cgroup v1 and v2) still
    allow, and of what RLIMIT_AS leaves, each plus the present memory of the process.
    """
    space, held = _held_bytes()
    limits = [UNLIMITED]
    physical = _physical_bytes()
    if physical is not None:
        limits.append(physical + held)
    try:
        groups = Path("/proc/self/cgroup").read_text(encoding="ascii")
    except OSError:
        groups = ""
    limits += [left + held for left in _left_in_groups(Path("/sys/fs/cgroup"), groups)]
    limit = machine.address_space()
    if limit is not None:
        limits.append(max(limit - space, 0) + held)
    return min(limits)


def threads(resolved: str, cores: int) -> int:
    """Threads for a run of a resolved scenario: at most `cores`, and as the memory allows."""
    if cores < 2:
        return 1
    each = max(of(resolved).memory_bytes, 1)
    return max(1, min(cores, int(available_memory() * MEMORY_OF_THREADS) // each))


def free_disk(folder: str | Path) -> int:
    """Free bytes on the disk of a folder, which may not exist yet."""
    path = Path(folder).absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return shutil.disk_usage(path).free


def remark(
    plan: Plan,
    workers: int = 1,
    runs: Sequence[Run] | None = None,
    folder: str | Path | None = None,
) -> list[str]:
    """The cost of the work in one or two lines; none if it is small.

    Args:
        plan: what is to be run.
        workers: number of runs in parallel.
        runs: those to be executed; None for all.
        folder: where the results go, to be compared with what is free there.
    """
    all_runs = total(plan, workers, runs)
    return [] if is_little(all_runs) else statement(all_runs, folder)


def is_little(all_runs: Total) -> bool:
    """Whether work starts without a message."""
    return (
        all_runs.cpu_s <= SAID_CPU_S
        and all_runs.workers * all_runs.largest.memory_bytes <= SAID_BYTES
        and all_runs.disk_bytes <= SAID_BYTES
    )


def statement(all_runs: Total, folder: str | Path | None = None) -> list[str]:
    """The cost of work in one or two lines; none without runs.

    Args:
        all_runs: the work.
        folder: where the results go, to be compared with what is free there.
    """
    if all_runs.runs == 0:
        return []
    what = "this run" if all_runs.runs == 1 else f"these {all_runs.runs} runs"
    parts = [f"about {time(all_runs.cpu_s)} of CPU time"]
    if all_runs.workers > 1:
        parts.append(f"{time(all_runs.wall_s)} with {all_runs.workers} workers")
    each = "" if all_runs.workers == 1 else f" ({size(all_runs.largest.memory_bytes)} a run)"
    parts.append(f"{size(all_runs.memory_bytes)} of memory{each}")
    parts.append(f"{size(all_runs.disk_bytes)} on disk")
    lines = [f"{what} will take {', '.join(parts)}"]
    if all_runs.is_sampled:
        lines.append(f"  (estimated from {MOST_CELLS} of the cells)")
    if folder is not None:
        free = free_disk(folder)
        if all_runs.disk_bytes > free:
            lines.append(
                f"  the disk of {folder} has {size(free)} free; record less, or use --out DIR"
            )
    return lines


def refuse(
    plan: Plan,
    workers: int = 1,
    runs: Sequence[Run] | None = None,
    folder: str | Path | None = None,
    file: str | Path | None = None,
    available_bytes: int | None = None,
) -> None:
    """Refuse work that exceeds the resources of the machine.

    Not called with ``--ignore-memory``.

    Args:
        plan: what is to be run.
        workers: number of runs in parallel.
        runs: those to be executed; None for all.
        folder: where the results go.
        file: the scenario, for the message.
        available_bytes: the available memory; None reads it from the system.

    Raises:
        BacklaneError: R026.
    """
    all_runs = total(plan, workers, runs)
    if all_runs.runs == 0:
        return
    _refuse_memory(all_runs, file, available_bytes)
    # For a small result, a full disk is reported when it is written.
    if folder is not None and all_runs.disk_bytes > SAID_BYTES:
        free = free_disk(folder)
        if all_runs.disk_bytes > REFUSED_DISK * free:
            raise BacklaneError(
                "R026",
                f"the results will take about {size(all_runs.disk_bytes)}, and the disk has "
                f"{size(free)} free",
                folder,
                "record less, split the campaign with --shard, or use --out DIR on another disk",
            )


def _refuse_memory(all_runs: Total, file: str | Path | None, available_bytes: int | None) -> None:
    available = available_memory() if available_bytes is None else available_bytes
    if all_runs.memory_bytes <= available:
        return
    largest = all_runs.largest.largest()
    each = all_runs.largest.memory_bytes
    fitting = max(available - PROCESS_BYTES, 0) // max(each, 1)
    if all_runs.workers > 1:
        what = f"{all_runs.workers} runs at a time will take about {size(all_runs.memory_bytes)}"
    else:
        what = f"the run will take about {size(all_runs.memory_bytes)} of memory"
    most = f"most of it for {largest.name} ({size(largest.memory_bytes)} a run)"
    if fitting >= 1:
        mend = f"use --workers {fitting}"
    else:
        mend = f"make the scenario smaller, above all {largest.name}"
    raise BacklaneError(
        "R026",
        f"{what}, and there are {size(available)}; {most}",
        file,
        f"{mend}, or give --ignore-memory to try all the same",
    )
