"""The measured part of README.md, and all numbers as CSV; the rest is written by hand."""

from __future__ import annotations

import csv
import platform
import subprocess
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import numpy as np

import backlane
from backlane import native, stats
from validation.linux.bounds import CRITERIA, DIFFERENCE, MEASURES, Measure, criterion, missed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from validation.linux.bounds import Bound
    from validation.linux.measures import Comparison
    from validation.linux.samples import Algorithm

    Comparisons = Mapping[tuple[str, Algorithm], Comparison]

BEGIN = "<!-- measured: written by python -m validation.linux -->"
END = "<!-- end of measured -->"

#: The measures of the table; the others are only in the CSV.
SHOWN = MEASURES[:6]


def measured(comparisons: Comparisons, root: Path) -> str:
    """The table, in Markdown; `root` is the repository that the commit is taken from."""
    lines = [_origin(root), ""]
    lines.append(
        "| path | congestion control | " + " | ".join(m.heading for m in SHOWN) + " | verdict |"
    )
    lines.append("|---|---|" + "---|" * len(SHOWN) + "---|")
    for path in CRITERIA:
        bounds = [str(CRITERIA[path].get(measure.key, "–")) for measure in SHOWN]
        lines.append(f"| {path} | *may differ by* | " + " | ".join(bounds) + " | |")
        for (of, algorithm), comparison in comparisons.items():
            if of != path:
                continue
            cells = [
                _cell(measure, comparison, criterion(algorithm, path, measure)) for measure in SHOWN
            ]
            verdict = "differs" if missed(algorithm, path, comparison) else "holds"
            lines.append(f"| {path} | {algorithm.title} | " + " | ".join(cells) + f" | {verdict} |")
    lines.append("")
    short = {
        f"{algorithm.title} on `{path}`": titles
        for (path, algorithm), comparison in comparisons.items()
        if (titles := missed(algorithm, path, comparison))
    }
    lines.append(f"{len(comparisons) - len(short)} of {len(comparisons)} hold.")
    if short:
        found = "; ".join(f"{name} ({', '.join(titles)})" for name, titles in short.items())
        lines[-1] += f" Short of a criterion: {found}."
    return "\n".join(lines)


def _cell(measure: Measure, comparison: Comparison, bound: Bound | None) -> str:
    """Linux / ours with its interval, and the difference; bold where a criterion does not hold."""
    linux, ours = measure.value(comparison.linux), measure.value(comparison.ours)
    values = [measure.value(run) for run in comparison.runs]
    differ = min(values) < max(values)
    digits = max(measure.digits, 1) if differ else measure.digits
    text = f"{linux:.{measure.digits}f} / {ours:.{digits}f}"
    if differ:
        interval = stats.mean_interval(values)
        text += f" ({interval.low:.{digits}f} to {interval.high:.{digits}f})"
    if bound and not bound.holds(linux, ours):
        text = f"**{text}**"
    if ours == linux:
        return text
    apart = f"{100 * (ours / linux - 1):+.2f} %" if measure.relative else f"{ours - linux:+g}"
    return f"{text}<br>{apart}"


def write_details(comparisons: Comparisons, path: Path) -> None:
    """Every measure of every comparison, a row each.

    Raises:
        OSError: when the file cannot be written.
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(
            (
                "path",
                "algorithm",
                "measure",
                "linux",
                "ours",
                "runs",
                "least",
                "most",
                "bound",
                "holds",
            )
        )
        for (of, algorithm), comparison in comparisons.items():
            for measure in MEASURES:
                linux, ours = measure.value(comparison.linux), measure.value(comparison.ours)
                values = np.array([measure.value(run) for run in comparison.runs])
                bound = criterion(algorithm, of, measure)
                numbers = [f"{v:.7g}" for v in (linux, ours)]
                spread = [f"{v:.7g}" for v in (values.min(), values.max())]
                verdict = ("yes" if bound.holds(linux, ours) else "no") if bound else ""
                rows.writerow(
                    (
                        of,
                        algorithm.name,
                        measure.key,
                        *numbers,
                        values.size,
                        *spread,
                        bound or "",
                        verdict,
                    )
                )
            for key, linux, ours in (
                (DIFFERENCE, 0, comparison.difference),
                ("equal_samples", 1, comparison.equal),
            ):
                rows.writerow((of, algorithm.name, key, linux, f"{ours:.7g}", 1, *4 * [""]))


def replace(path: Path, text: str) -> None:
    """Put `text` between the two marks of a page.

    Raises:
        ValueError: when a mark is missing.
        OSError: when the page cannot be read or written.
    """
    page = path.read_text(encoding="utf-8")
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path}: the marks of the measured part are missing")
    path.write_text(f"{head}{begin}\n\n{text}\n\n{end}{tail}", encoding="utf-8")


def _origin(root: Path) -> str:
    today = datetime.now(timezone.utc).date().isoformat()
    return (
        f"Measured on {today} with Backlane {backlane.__version__} "
        f"(model version {native.module().model_version()}, sources at commit {commit(root)}) "
        f"on {platform.machine()}."
    )


def commit(root: Path) -> str:
    """The commit of the sources, or "unknown" outside a repository."""
    command = ["git", "-C", str(root), "rev-parse", "--short=10", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
