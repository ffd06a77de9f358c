"""The measured part of README.md; the rest is written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.bp_mr_authors.compare import MEASURES, by_run, order, waits
from validation.bp_mr_authors.runs import CASES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from validation.bp_mr_authors.compare import Pair
    from validation.bp_mr_authors.runs import Flow

BEGIN = "<!-- measured: written by python -m validation.bp_mr_authors -->"
END = "<!-- end of measured -->"


def measured(pairs: Sequence[Pair], ours: Sequence[Flow], theirs: Sequence[Flow]) -> str:
    """The tables, in Markdown."""
    runs = by_run(ours)
    seeds = len({seed for _, seed in runs})
    named = {(pair.case, pair.name): pair for pair in pairs}
    lines = [
        f"Means of {seeds} seeds, with half the width of their 95 % intervals; the record is one "
        "run. **Bold** is further away than asked.",
        "",
        "| | | " + " | ".join(measure.title for measure in MEASURES.values()) + " |",
        "|---|---|" + "---|" * len(MEASURES),
        "| *may differ by* | | " + " | ".join(m.within or "–" for m in MEASURES.values()) + " |",
    ]
    for case, (_, title, _) in CASES.items():
        lines.append(f"| {title} | authors | " + " | ".join(
            f"{named[case, name].theirs:.{measure.digits}f}" for name, measure in MEASURES.items()
        ) + " |")  # fmt: skip
        lines.append("| | Backlane | " + " | ".join(_ours(named[case, n]) for n in MEASURES) + " |")
    asked = [pair for pair in pairs if MEASURES[pair.name].within]
    lines += ["", f"{sum(pair.holds for pair in asked)} of {len(asked)} hold.", ""]
    finish = [pair for pair in pairs if pair.name == "finish"]
    means = [{pair.case: pair.theirs for pair in finish}, {p.case: p.ours.mean for p in finish}]
    both = [" < ".join(CASES[case][1] for case in order(of)) for of in means]
    lines.append(f"Order by mean finish time: {both[0]} in the record, {both[1]} here.")
    lines += ["", "UEs by when OLSR has a route for their SYN, sent at the start, 3 and 9 s later:"]
    lines += ["", "| | at once | 3 s | 9 s |", "|---|---|---|---|"]
    record = waits([flow for flow in theirs if flow.run == "olsr"])
    lines.append("| authors | " + " | ".join(map(_names, record.values())) + " |")
    for (case, seed), flows in sorted(runs.items()):
        if case == "olsr":
            found = waits(flows).values()
            lines.append(f"| seed {seed} | " + " | ".join(map(_names, found)) + " |")
    return "\n".join(lines)


def _ours(pair: Pair) -> str:
    digits = MEASURES[pair.name].digits
    text = f"{pair.ours.mean:.{digits}f}"
    if pair.ours.known:
        text += f" ± {(pair.ours.high - pair.ours.low) / 2:.{digits}f}"
    return text if pair.holds else f"**{text}**"


def _names(ues: Sequence[int]) -> str:
    return f"{len(ues)} others" if len(ues) > 12 else ", ".join(map(str, ues)) or "–"


def replace(path: Path, text: str) -> None:
    """Put the measured part into a page."""
    page = path.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
