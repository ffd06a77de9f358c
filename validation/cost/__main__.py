"""Estimated and measured cost: `python -m validation.cost`.

Without options the measured figures of `measured.csv` are compared with the current estimates,
and the table of docs/concepts/cost.md is written. `--measure` executes every run again (half an
hour on one idle core; a release build); `--fit` prints the best-fitting costs.
"""

from __future__ import annotations

import argparse
import csv
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backlane import cost
from validation.cost import fit, measure, scenes

if TYPE_CHECKING:
    from collections.abc import Iterator

MEASURED = Path(__file__).with_name("measured.csv")
PAGE = scenes.ROOT / "docs" / "concepts" / "cost.md"
BEGIN, END = "<!-- begin: validation.cost -->", "<!-- end: validation.cost -->"
FIELDS = ("cpu_s", "memory_bytes", "disk_bytes", "events", "simulated_s")
GROUPS = {
    "example": "examples and templates",
    "study": "experiments of studies, one cell of each",
    "unseen": "experiments of studies, another cell of each",
    "made": "made for one part",
}
GOALS = {"cpu_s": 3.0, "memory_bytes": 2.0, "disk_bytes": 2.0, "events": 3.0}
"""The factor within which an estimate should be."""
WORDS = {"cpu_s": "CPU time", "memory_bytes": "memory", "disk_bytes": "disk", "events": "events"}


@dataclass(frozen=True)
class Row:
    """A run, as measured and as estimated."""

    group: str
    name: str
    cpu_s: float
    memory_bytes: float
    disk_bytes: float
    events: float
    estimate: cost.Estimate

    def ratio(self, field: str) -> float:
        """Ratio of estimate to measurement."""
        measured: float = getattr(self, field)
        estimated: float = getattr(self.estimate, field)
        return max(estimated, 1e-6) / max(measured, 1e-6)


def every_scene(folder: Path) -> Iterator[scenes.Scene]:
    """All scenes; files that some of them need are written to `folder`."""
    yield from scenes.repository()
    yield from scenes.synthetic(folder)


def measure_all() -> None:
    """Execute every run and write `measured.csv`."""
    with tempfile.TemporaryDirectory() as folder, MEASURED.open("w", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("group", "name", *FIELDS))
        for scene in every_scene(Path(folder)):
            found = measure.apart(scene)
            if found is None:
                print(f"{scene.name}: takes more than {measure.MOST_CPU_S:.0f} CPU-s, left out")
                continue
            print(f"{scene.name}: {found['cpu_s']:.3f} CPU-s, {found['memory_bytes'] / 1e6:.0f} MB")
            values = (f"{found[field]:.6g}" for field in FIELDS)
            writer.writerow((scene.group, scene.name, *values))
            file.flush()


def compared() -> list[Row]:
    """The measured runs with the current estimates."""
    with tempfile.TemporaryDirectory() as folder:
        known = {(scene.group, scene.name): scene for scene in every_scene(Path(folder))}
    rows = []
    with MEASURED.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            scene = known.get((row["group"], row["name"]))
            if scene is not None:
                measured = {field: float(row[field]) for field in GOALS}
                estimate = cost.of(scene.resolved)
                rows.append(Row(row["group"], row["name"], **measured, estimate=estimate))
    return rows


def _quantile(values: list[float], part: float) -> float:
    values = sorted(values)
    return values[round(part * (len(values) - 1))]


def table(rows: list[Row]) -> str:
    """The errors of the estimates, by group and by resource, as Markdown."""
    lines = [
        "| runs | | within | of them | 5 % | median | 95 % |",
        "|---|---|---|---|---|---|---|",
    ]
    for group, words in GROUPS.items():
        of_group = [row for row in rows if row.group == group]
        if not of_group:
            continue
        for number, (field, goal) in enumerate(GOALS.items()):
            ratios = [row.ratio(field) for row in of_group]
            inside = sum(1 / goal <= ratio <= goal for ratio in ratios)
            low, middle, high = (_quantile(ratios, part) for part in (0.05, 0.5, 0.95))
            first = f"{len(of_group)} {words}" if number == 0 else ""
            lines.append(
                f"| {first} | {WORDS[field]} | {goal:.0f}× | {inside / len(ratios):.0%} "
                f"| {low:.2f} | {middle:.2f} | {high:.2f} |"
            )
    return "\n".join(lines)


def outside(rows: list[Row]) -> str:
    """The runs of the repository beyond the goals of CPU time and memory, worst first."""
    found = []
    for row in rows:
        for field in ("cpu_s", "memory_bytes"):
            ratio = row.ratio(field)
            if row.group != "made" and not 1 / GOALS[field] <= ratio <= GOALS[field]:
                found.append((abs(math.log(ratio)), f"`{row.name}` ({WORDS[field]} {ratio:.2f})"))
    if not found:
        return "No run of an example or a study is beyond these factors."
    listed = ", ".join(text for _, text in sorted(found, reverse=True))
    return f"Beyond these factors, of examples and studies: {listed}."


def main() -> None:
    """Compare, and write the page's table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="carry out every run again")
    parser.add_argument("--fit", action="store_true", help="print the costs that fit best")
    parser.add_argument("--each", action="store_true", help="print the ratios of each run")
    options = parser.parse_args()
    if options.measure:
        measure_all()
    rows = compared()
    if options.each:
        for row in rows:
            ratios = "  ".join(f"{WORDS[field]} {row.ratio(field):7.2f}" for field in GOALS)
            print(f"{row.name[:44]:44} {row.cpu_s:8.3f} CPU-s   {ratios}")
    if options.fit:
        for name, (old, new) in fit.fit(rows).items():
            print(f"{name:32} {old:10.4g} ns -> {new:10.4g} ns")
    text = f"{table(rows)}\n\n{outside(rows)}"
    print(text)
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
