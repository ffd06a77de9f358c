"""The measured part of README.md; the rest of the page is written by hand."""

from __future__ import annotations

import platform
import subprocess
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import backlane
from backlane import native
from validation.linux.bounds import DIFFERENCE, ROWS, broken

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from validation.linux.measures import Comparison
    from validation.linux.samples import Variant

BEGIN = "<!-- measured: written by python -m validation.linux -->"
END = "<!-- end of measured -->"


def measured(comparisons: Mapping[Variant, Comparison], root: Path) -> str:
    """The table, in Markdown; `root` is the repository that the commit is taken from."""
    lines = [_origin(root), ""]
    titles = [variant.title for variant in comparisons]
    lines.append("| Linux / Backlane | " + " | ".join(titles) + " | may differ by |")
    lines.append("|---|" + "---|" * (len(titles) + 1))
    for row in ROWS:
        cells = [
            f"{row.value(c.linux):.{row.digits}f} / {row.value(c.ours):.{row.digits}f}"
            for c in comparisons.values()
        ]
        lines.append(f"| {row.title} | " + " | ".join(cells) + f" | {row.bound()} |")
    cells = [f"{100 * c.difference:.3f} %" for c in comparisons.values()]
    lines.append(
        "| mean absolute difference of the window over its mean, 10–60 s | "
        + " | ".join(cells)
        + f" | {100 * DIFFERENCE:g} % |"
    )
    cells = [f"{100 * c.equal:.1f} %" for c in comparisons.values()]
    lines.append("| samples with the same window, 0–60 s | " + " | ".join(cells) + " | – |")
    lines.append("")
    out = {v.title: titles for v, c in comparisons.items() if (titles := list(broken(c)))}
    if out:
        lines += [f"**Out of bounds**, {name}: {'; '.join(found)}." for name, found in out.items()]
    else:
        lines.append("Everything is within its bounds.")
    for variant in comparisons:
        lines += ["", f"![{variant.title} over Linux]({variant.name}.png)"]
    return "\n".join(lines)


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
        f"(model version {native.module().model_version()}, sources at commit {_commit(root)}) "
        f"on {platform.machine()}. Each cell is Linux / Backlane."
    )


def _commit(root: Path) -> str:
    """The commit of the sources, or "unknown" outside a repository."""
    command = ["git", "-C", str(root), "rev-parse", "--short=10", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()
