"""The measured parts of README.md and all numbers as CSV; the rest is written by hand."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import backlane
from backlane import native
from validation.linux.page import commit
from validation.ns3 import motion
from validation.ns3.compare import GOODPUT, MCS, pairs, step_db, summary
from validation.ns3.figures import CONTROLS, SCHEDULERS
from validation.ns3.truth import today

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from validation.ns3.compare import Pair, Summary
    from validation.ns3.figures import Pairs, Transfers
    from validation.ns3.speed import Timing

BEGIN = "<!-- {part}: written by python -m validation.ns3 -->"
END = "<!-- end of {part} -->"

#: Distances that the page's table shows.
SHOWN_M = (50, 200, 350, 400, 500, 600, 700, 800, 1000, 1200, 1400, 1600, 1800, 2000, 2500)


def measured_by(root: Path) -> str:
    """Date and version of our runs; `root` is the repository of the commit."""
    return (
        f"Our side measured on {today()} with Backlane {backlane.__version__} "
        f"(model version {native.module().model_version()}, sources at commit {commit(root)})."
    )


def streams(both: Pairs, root: Path) -> str:
    """The table of the streams, in Markdown; `root` is the repository of the commit."""
    lines = [
        measured_by(root),
        "",
        "| scheduler | distance (m) | SINR (dB) | mean MCS | goodput (Mbit/s) | difference |",
        "|---|---|---|---|---|---|",
    ]
    found = {scheduler: pairs(*sides) for scheduler, sides in both.items()}
    for scheduler, compared in found.items():
        for pair in compared:
            if pair.lena.distance_m in SHOWN_M:
                lines.append(f"| {SCHEDULERS[scheduler]} {_row(pair)}")
    lines.append("")
    every = [pair for compared in found.values() for pair in compared]
    holding = sum(pair.holds for pair in every)
    lines.append(
        f"{holding} of {len(every)} streams differ by no more than {100 * GOODPUT:g} % in goodput "
        f"and {MCS:g} in mean MCS."
    )
    apart = [pair for pair in every if not pair.holds]
    if apart:
        listed = ", ".join(
            f"{pair.lena.distance_m:g} m {SCHEDULERS[pair.lena.scheduler]}" for pair in apart
        )
        lines[-1] += f" The others: {listed}."
    return "\n".join(lines)


def _row(pair: Pair) -> str:
    lena, ours = pair.lena, pair.ours
    mark = "" if pair.holds else "**"
    return (
        f"| {lena.distance_m:g} | {lena.sinr_db:.2f} / {ours.sinr_db:.2f} "
        f"| {lena.mcs_mean:.2f} / {ours.mcs_mean:.2f} "
        f"| {lena.goodput_bps / 1e6:.2f} / {ours.goodput_bps / 1e6:.2f} "
        f"| {mark}{100 * pair.goodput:+.1f} %, {pair.mcs:+.2g}{mark} |"
    )


def walk(lena: Mapping[int, float], ours: Mapping[int, float]) -> str:
    """Where the MCS falls as the UE walks away, in both, in Markdown."""
    lines = [
        "| MCS falls to | LENA at (m) | Backlane at (m) | SINR asked for beyond LENA's (dB) |",
        "|---|---|---|---|",
    ]
    for mcs, distance_m in sorted(lena.items(), reverse=True):
        if mcs in ours:
            found = f"{ours[mcs]:.0f} | {step_db(distance_m, ours[mcs]):+.2f}"
        else:
            found = "– | –"
        lines.append(f"| {mcs} | {distance_m:.0f} | {found} |")
    return "\n".join(lines)


#: A number of a summary: its heading, its value, digits.
MEASURES: tuple[tuple[str, Callable[[Summary], float], int], ...] = (
    ("goodput (Mbit/s)", lambda s: s.goodput_bps / 1e6, 2),
    ("mean window (kB)", lambda s: s.cwnd_mean_bytes / 1e3, 0),
    ("mean queue (kB)", lambda s: s.queue_mean_bytes / 1e3, 0),
    ("longest queue (kB)", lambda s: s.queue_max_bytes / 1e3, 0),
    ("drops", lambda s: s.drops, 0),
    ("sent again", lambda s: s.retransmits, 0),
)


def transfers(both: Transfers) -> str:
    """The table of the transfers, in Markdown."""
    lines = [
        "| control | " + " | ".join(heading for heading, *_ in MEASURES) + " |",
        "|---|" + "---|" * len(MEASURES),
    ]
    for control, sides in both.items():
        lena, ours = (summary(samples) for samples in sides)
        cells = [
            f"{value(lena):.{digits}f} / {value(ours):.{digits}f}" for _, value, digits in MEASURES
        ]
        lines.append(f"| {CONTROLS[control]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def timings(rows: Sequence[Timing]) -> str:
    """The table of the cost of both, in Markdown."""
    lines = [
        "| work | CPU-s | simulated s per CPU-s | times as fast | delivered (MB) | pairs | load |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row.work}, {row.seconds:g} s | {row.lena_s:.3g} / {row.ours_s:.2g} "
            f"| {row.seconds / row.lena_s:.2g} / {row.seconds / row.ours_s:.3g} "
            f"| {row.lena_s / row.ours_s:.0f} "
            f"| {row.lena_bytes / 1e6:.0f} / {row.ours_bytes / 1e6:.0f} "
            f"| {row.pairs} | {row.load:.0f} |"
        )
    return "\n".join(lines)


def write_details(
    both: Pairs,
    transferred: Transfers,
    moving: tuple[dict[str, motion.Result], dict[str, motion.Result]],
    file: Path,
) -> None:
    """Every stream, every run in motion and every number of a transfer, a row each.

    Raises:
        OSError: when the file cannot be written.
    """
    with file.open("w", newline="", encoding="utf-8") as target:
        rows = csv.writer(target, lineterminator="\n")
        rows.writerow(("work", "measure", "lena", "ours", "holds"))
        for compared in (pairs(*sides) for sides in both.values()):
            for pair in compared:
                holds = "yes" if pair.holds else "no"
                for name in ("goodput_bps", "mcs_mean", "sinr_db", "retransmitted"):
                    lena, ours = getattr(pair.lena, name), getattr(pair.ours, name)
                    rows.writerow((pair.name, name, f"{lena:.7g}", f"{ours:.7g}", holds))
        for work, theirs in moving[0].items():
            here = moving[1][work]
            holds = "yes" if motion.holds(theirs, here) else "no"
            for name in ("goodput_bps", "mcs_mean"):
                lena, ours = getattr(theirs, name), getattr(here, name)
                rows.writerow((work, name, f"{lena:.7g}", f"{ours:.7g}", holds))
        for control, sides in transferred.items():
            lena_summary, ours_summary = (summary(samples) for samples in sides)
            for name, lena in vars(lena_summary).items():
                ours = getattr(ours_summary, name)
                rows.writerow((control, name, f"{lena:.7g}", f"{ours:.7g}", ""))


def reached(file: Path) -> set[str]:
    """The streams that agreed in the last full comparison.

    Raises:
        OSError: when `file` cannot be read.
    """
    with file.open(newline="", encoding="utf-8") as source:
        return {row["work"] for row in csv.DictReader(source) if row["holds"] == "yes"}


def replace(file: Path, parts: Mapping[str, str]) -> None:
    """Put each text between the two marks of its part.

    Raises:
        ValueError: when a mark is missing.
        OSError: when the page cannot be read or written.
    """
    text = file.read_text(encoding="utf-8")
    for part, new in parts.items():
        begin, end = BEGIN.format(part=part), END.format(part=part)
        head, found, rest = text.partition(begin)
        _, closed, tail = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"{file}: the marks of {part} are missing")
        text = f"{head}{begin}\n\n{new}\n\n{end}{tail}"
    file.write_text(text, encoding="utf-8")
