"""The measures of all runs as CSV, a file for each part, in `recorded/`."""

from __future__ import annotations

import csv
import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from validation.kernel import runs
from validation.kernel.runs import NUMBERS, Measured
from validation.kernel.scenes import HERE, PARTS, mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from validation.kernel.scenes import Scene

FOLDER = HERE / "recorded"
COLUMNS = tuple(one.name for one in dataclasses.fields(Measured))
NUMBERED = ("draw", "flow")

RUNS_AT_ONCE = 2
"""Runs with kernels at once; each takes a core."""


def file_of(part: str) -> Path:
    """The recordings of a part."""
    return FOLDER / f"{part}.csv"


def read(part: str) -> list[Measured]:
    """The recordings of a part, of both stacks; none if there is no file."""
    if not file_of(part).is_file():
        return []
    with file_of(part).open(newline="", encoding="utf-8") as file:
        return [_of(row) for row in csv.DictReader(file)]


def _of(row: dict[str, str]) -> Measured:
    numbers = {name: float(row[name]) for name in NUMBERS}
    return Measured(
        row["scene"], int(row["draw"]), int(row["flow"]), row["stack"], row["scenario"], **numbers
    )


def write(part: str, rows: Iterable[Measured]) -> None:
    """Write the recordings of a part, in the order of its scenes.

    Raises:
        OSError: when the file cannot be written.
    """
    order = {scene.name: place for place, scene in enumerate(PARTS[part].scenes)}
    ordered = sorted(rows, key=lambda one: (order[one.scene], one.draw, one.flow, one.stack))
    FOLDER.mkdir(exist_ok=True)
    draft = file_of(part).with_suffix(".new")
    with draft.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for one in ordered:
            values = (getattr(one, name) for name in COLUMNS)
            table.writerow([f"{v:.7g}" if isinstance(v, float) else v for v in values])
    draft.replace(file_of(part))


def present(part: str, stack: str) -> list[Measured]:
    """The recordings of a part with one stack whose scenarios are those of `scenes`."""
    marks = {
        (scene.name, draw): mark(scene, draw)
        for scene in PARTS[part].scenes
        for draw in scene.draws
    }
    return [
        one
        for one in read(part)
        if one.stack == stack and marks.get((one.scene, one.draw)) == one.scenario
    ]


def missing(part: str) -> list[tuple[Scene, int]]:
    """The runs with kernels that have no recording of their present scenario."""
    done = {(one.scene, one.draw) for one in present(part, "linux")}
    return [
        (scene, draw)
        for scene in PARTS[part].scenes
        for draw in scene.draws
        if (scene.name, draw) not in done
    ]


def record(part: str, say: Callable[[str], None]) -> None:
    """Run kernels for what is missing; each run is written when it has ended."""
    kept = present(part, "linux")
    lock = threading.Lock()

    def one(run: tuple[Scene, int]) -> None:
        scene, draw = run
        found = runs.linux(scene, draw)
        with lock:
            kept.extend(found)
            write(part, kept)
            say(f"{part}: {scene.name}, {draw}")

    with ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
        list(pool.map(one, missing(part)))


def compare(part: str) -> list[Measured]:
    """The recordings of a part with kernels, and new runs of the model."""
    theirs = present(part, "linux")
    pairs = [(scene, draw) for scene in PARTS[part].scenes for draw in scene.draws]
    return [*theirs, *(row for scene, draw in pairs for row in runs.model(scene, draw))]
