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
from validation.linux.bounds import (
    CRITERIA,
    DIFFERENCE,
    MEASURES,
    PEAK,
    Measure,
    criterion,
    holds,
    missed,
)
from validation.linux.samples import PATHS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from validation.linux.bounds import Bound
    from validation.linux.measures import Comparison
    from validation.linux.samples import Algorithm

    Comparisons = Mapping[tuple[str, Algorithm], Comparison]

BEGIN = "<!-- measured: written by python -m validation.linux -->"
END = "<!-- end of measured -->"

#: The numbers of the first run alone.
FIRST_RUN = (DIFFERENCE, "equal_samples")

#: The measures of the table; the others are only in the CSV.
SHOWN = MEASURES[:6]


def measured(comparisons: Comparisons, root: Path) -> str:
    """The table, in Markdown; `root` is the repository that the commit is taken from."""
    lines = [origin(root), ""]
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


def shares(comparisons: Comparisons) -> str:
    """A table in Markdown: the samples within a packet of Linux, by control and path."""
    lines = [
        "Samples of the window that differ from Linux's by at most one packet, 0.05 to 60 s; "
        "in brackets the mean difference of the first run, 10 to 60 s, as part of Linux's mean.",
        "",
        "| congestion control | " + " | ".join(PATHS) + " |",
        "|---|" + "---|" * len(PATHS),
    ]
    for algorithm in dict.fromkeys(algorithm for _, algorithm in comparisons):
        cells = []
        for path in PATHS:
            found = comparisons[path, algorithm]
            cells.append(f"{100 * found.within_one:.1f} % ({100 * found.difference:.3f} %)")
        lines.append(f"| {algorithm.title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _modes(linux_pkts: float, comparison: Comparison) -> str:
    """Linux's peak of slow start, and ours by mode."""
    found = []
    for mode in comparison.modes:
        least, most = f"{mode.least_pkts:.0f}", f"{mode.most_pkts:.0f}"
        pkts = least if least == most else f"{least} to {most}"
        found.append(f"by {mode.cause} {pkts} in {100 * mode.share:.0f} %")
    return f"{linux_pkts:.0f} / " + ", ".join(found)


def _cell(measure: Measure, comparison: Comparison, bound: Bound | None) -> str:
    """Linux / ours with its interval, and the difference; bold where a criterion does not hold."""
    linux, ours = measure.value(comparison.linux), measure.value(comparison.ours)
    if measure.key == PEAK and comparison.modes:
        text = _modes(linux, comparison)
        return text if not bound or holds(measure, bound, comparison) else f"**{text}**"
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
                verdict = ("yes" if holds(measure, bound, comparison) else "no") if bound else ""
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
            for key, ideal, part in (
                (DIFFERENCE, "0", comparison.difference),
                ("equal_samples", "1", comparison.equal),
                ("samples_within_one", "1", comparison.within_one),
                *((f"peak_by_{mode.cause}", "", mode.share) for mode in comparison.modes),
            ):
                runs = len(comparison.runs) if key not in FIRST_RUN else 1
                rows.writerow((of, algorithm.name, key, ideal, f"{part:.7g}", runs, *4 * [""]))


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


def origin(root: Path) -> str:
    """When and with what the numbers were measured; `root` is in the repository."""
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
