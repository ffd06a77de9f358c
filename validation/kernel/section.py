"""The tables of the page: one for each part, between marks of its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.kernel import verdicts
from validation.kernel.scenes import PARTS, SPREADS_US
from validation.kernel.verdicts import DIFFERS, HOLDS, UNDECIDED, Finding
from validation.linux.bounds import Bound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from validation.kernel.runs import Measured


@dataclass(frozen=True)
class Column:
    """A measure for readers.

    Attributes:
        title: with the unit.
        digits: after the point.
        relative: differences are shown in percent of the kernel's mean.
    """

    title: str
    digits: int
    relative: bool = False


COLUMNS: Mapping[str, Column] = {
    "goodput_mbps": Column("goodput (Mbit/s)", 3, relative=True),
    "cwnd_mean_pkts": Column("mean window (packets)", 1, relative=True),
    "srtt_mean_ms": Column("mean smoothed RTT (ms)", 2, relative=True),
    "retransmits": Column("retransmissions", 0, relative=True),
    "episodes": Column("loss episodes", 0),
    "recoveries": Column("recoveries", 0),
    "rtos": Column("timeouts", 0),
    "spurious_rtos": Column("found spurious by F-RTO", 0),
    "undos": Column("reductions undone", 0),
    "dsacks": Column("duplicates reported", 0),
    "reordering_pkts": Column("reordering learned (packets)", 0),
    "marks": Column("marks", 0, relative=True),
    "silence_s": Column("longest silence (s)", 3, relative=True),
}

SHOWN: Mapping[str, tuple[str, ...]] = {
    "random": (
        "goodput_mbps", "cwnd_mean_pkts", "srtt_mean_ms", "retransmits", "rtos", "recoveries",
        "undos", "dsacks",
    ),
    "outage": (
        "goodput_mbps", "cwnd_mean_pkts", "srtt_mean_ms", "silence_s", "rtos", "spurious_rtos",
        "undos", "episodes", "retransmits",
    ),
    "controls": ("goodput_mbps", "cwnd_mean_pkts", "srtt_mean_ms", "episodes", "retransmits"),
    "pairs": ("goodput_mbps", "cwnd_mean_pkts", "srtt_mean_ms", "episodes", "retransmits"),
    "marks": ("goodput_mbps", "cwnd_mean_pkts", "srtt_mean_ms", "episodes", "retransmits", "marks"),
    "paths3": (
        "goodput_mbps", "cwnd_mean_pkts", "srtt_mean_ms", "retransmits", "rtos", "undos", "dsacks",
        "reordering_pkts",
    ),
    "short": ("goodput_mbps", "cwnd_mean_pkts", "srtt_mean_ms", "episodes", "retransmits"),
}  # fmt: skip
"""The columns of each part's table."""


def rows_of(part: str, rows: Sequence[Measured]) -> dict[tuple[str, int], dict[str, Finding]]:
    """The findings of each scene and flow of a part."""
    return {
        (scene.name, flow): verdicts.findings(
            rows, scene, flow, verdicts.CRITERIA[part], SHOWN[part]
        )
        for scene in PARTS[part].scenes
        for flow in range(1, len(scene.controls) + 1)
    }


def verdicts_of(part: str, rows: Sequence[Measured]) -> dict[tuple[str, int], str]:
    """The verdict of each scene and flow of a part."""
    return {
        place: verdicts.verdict(one.verdict for one in found.values())
        for place, found in rows_of(part, rows).items()
    }


def table(part: str, rows: Sequence[Measured]) -> str:
    """The section of a part, in Markdown."""
    about, shown, bounds = PARTS[part], SHOWN[part], verdicts.CRITERIA[part]
    found = rows_of(part, rows)
    lines = [about.about, ""]
    lines.append("| | " + " | ".join(COLUMNS[name].title for name in shown) + " | verdict |")
    lines.append("|---|" + "---|" * len(shown) + "---|")
    allowed = [_bound(bounds[name]) if name in bounds else "–" for name in shown]
    lines.append("| *may differ by* | " + " | ".join(allowed) + " | |")
    for scene in about.scenes:
        for flow, control in enumerate(scene.controls, 1):
            own = found[scene.name, flow]
            title = scene.title
            if len(scene.controls) > 1:
                title += f": flow {flow}, {control}"
            cells = [_cell(own[name], COLUMNS[name]) for name in shown]
            lines.append(f"| {title} | {' | '.join(cells)} | {_verdict(own)} |")
    counts = list(verdicts_of(part, rows).values())
    lines += ["", _sum(counts)]
    lines += _collapses(part, rows) if part == "random" else []
    lines += _lengths(rows) if part == "paths3" else []
    return "\n".join(lines)


def _bound(bound: Bound) -> str:
    return "0" if bound == Bound(absolute=0) else str(bound)


def _verdict(found: Mapping[str, Finding]) -> str:
    """The verdict with the measures that it is due to."""
    result = verdicts.verdict(one.verdict for one in found.values())
    due = [
        COLUMNS[name].title.split(" (")[0] for name, one in found.items() if one.verdict == result
    ]
    return result if result == HOLDS else f"{result}: {', '.join(due)}"


def _sum(counts: Sequence[str]) -> str:
    words = {HOLDS: ("holds", "hold"), DIFFERS: ("differs", "differ")}
    words[UNDECIDED] = ("is undecided", "are undecided")
    found = []
    for verdict, (one, several) in words.items():
        number = counts.count(verdict)
        if number or verdict == HOLDS:
            of = f" of {len(counts)}" if verdict == HOLDS else ""
            found.append(f"{number}{of} {one if number == 1 else several}")
    return ", ".join(found) + "."


def _cell(found: Finding, column: Column) -> str:
    """Kernel / model, and the difference with its interval; bold where it differs."""
    digits = column.digits
    whole = float(found.linux).is_integer() and float(found.model).is_integer()
    if not whole and digits == 0:
        digits = 1
    text = f"{found.linux:.{digits}f} / {found.model:.{digits}f}"
    if found.verdict == DIFFERS:
        text = f"**{text}**"
    apart = found.apart
    if found.linux == found.model and (not apart.known or apart.low == apart.high):
        return text
    if column.relative and found.linux:
        scale, unit, after = 100 / abs(found.linux), " %", 2 if not apart.known else 1
    else:
        scale, unit, after = 1.0, "", digits
    text += f"<br>{scale * apart.mean:+.{after}f}{unit}"
    if apart.known:
        text += f" ({scale * apart.low:+.{after}f} to {scale * apart.high:+.{after}f})"
    return text


def _collapses(part: str, rows: Sequence[Measured]) -> list[str]:
    """The runs below half of the rate."""
    lines = [
        "",
        "Runs that reach less than half of the rate, kernel and model, and the probability of "
        "counts as far apart by chance (Fisher's exact test):",
        "",
    ]
    for scene in PARTS[part].scenes:
        if "reordered" not in scene.title:
            continue
        theirs, ours = (verdicts.collapsed(rows, scene, stack) for stack in ("linux", "model"))
        chance = verdicts.chance(theirs, ours, len(scene.draws))
        lines.append(f"- {scene.title}: {theirs} and {ours} of {len(scene.draws)}; {chance:.2g}")
    return lines


def _lengths(rows: Sequence[Measured]) -> list[str]:
    """Each length by itself."""
    scenes = PARTS["paths3"].scenes
    bounds = verdicts.EACH_LENGTH
    by = {(one.scene, one.draw, one.stack): one for one in rows}
    lines = [
        "",
        "Each length, kernel / model; bold beyond 10 % of goodput or a factor of 2 of the "
        "reordering learned:",
        "",
    ]
    titles = [scene.title.split(",")[0] for scene in scenes]
    lines.append(
        "| longest − shortest (ms) | "
        + " | ".join(f"{one}: goodput (Mbit/s) | {one}: reordering learned" for one in titles)
        + " |"
    )
    lines.append("|---|" + "---|---|" * len(scenes))
    near = 0
    for draw, spread_us in enumerate(SPREADS_US, 1):
        cells = []
        for scene in scenes:
            theirs, ours = (by[scene.name, draw, stack] for stack in ("linux", "model"))
            own = []
            for name, bound in bounds.items():
                pair = (float(getattr(theirs, name)), float(getattr(ours, name)))
                text = " / ".join(
                    f"{value:.{2 if name == 'goodput_mbps' else 0}f}" for value in pair
                )
                own.append(bound.holds(*pair))
                cells.append(text if own[-1] else f"**{text}**")
            near += all(own)
        lines.append(f"| {spread_us / 1000:.3f} | {' | '.join(cells)} |")
    lines += ["", f"{near} of {len(SPREADS_US) * len(scenes)} lengths are within these bounds."]
    return lines


def replace(page: Path, part: str, text: str) -> None:
    """Put `text` between the marks of a part.

    Raises:
        ValueError: when a mark is missing.
        OSError: when the page cannot be read or written.
    """
    begin, end = f"<!-- {part}: written by backlane validate kernel -->", f"<!-- end of {part} -->"
    head, first, rest = page.read_text(encoding="utf-8").partition(begin)
    _, last, tail = rest.partition(end)
    if not first or not last:
        raise ValueError(f"{page}: the marks of {part} are missing")
    page.write_text(f"{head}{begin}\n\n{text}\n\n{end}{tail}", encoding="utf-8")
