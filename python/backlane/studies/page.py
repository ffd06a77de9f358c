"""The page of a study: verdicts, figures, assumptions, and its origin."""

from __future__ import annotations

import datetime
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane.files import make_folder, write_bytes, write_text
from backlane.report.figures import to_csv
from backlane.studies import changes, metrics
from backlane.studies.claims import WEIGHTS
from backlane.studies.pictures import small

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backlane.report.figures import Drawn
    from backlane.studies.changes import Before
    from backlane.studies.claims import Verdict
    from backlane.studies.runs import Runs
    from backlane.studies.sensitivity import Row
    from backlane.studies.study import Alternative, FigureSpec, SensitivityTable, Study

    Sensitivity = tuple[SensitivityTable, list[Row], Drawn]
    """A table over assumptions, its rows and its figure."""

_WORDS = {
    "A": "headline",
    "B": "supporting",
    "C": "fragile",
    "MECH": "mechanism",
}
_EXPLAINED = ("assignment", "displacements", "ratio", "threshold")
"""Forms with a sentence below the figure; it says what the title does not."""
_GATES = {"MECH": 1.0, "A": 0.9, "B": 0.7}
"""Shares of the claims that must be reproduced for the paper to count as reproduced."""


@dataclass(frozen=True)
class Findings:
    """The contents of a page.

    Attributes:
        verdicts: one per claim.
        others: the claims again, under each alternative.
        drawn: the figures.
        sensitivity: the tables over assumptions.
        runs: by experiment.
        before: the verdicts that the study published before, if any.
    """

    verdicts: Sequence[Verdict]
    others: Sequence[tuple[Alternative, list[Verdict]]]
    drawn: Sequence[tuple[FigureSpec, list[Drawn]]]
    sensitivity: Sequence[Sensitivity]
    runs: Mapping[str, Runs]
    before: Before | None = None


def write(study: Study, folder: Path, findings: Findings, *, quick: bool) -> Path:
    """Write ``README.md`` and ``figures/`` into a folder; return the page.

    Raises:
        BacklaneError: when a file cannot be written.
    """
    make_folder(folder / "figures")
    drawn, others, verdicts = findings.drawn, findings.others, findings.verdicts
    tables = [one for _, _, one in findings.sensitivity]
    for one in [*(d for _, many in drawn for d in many), *tables]:
        write_bytes(folder / "figures" / f"{one.key}.png", small(one.png))
        write_text(folder / "figures" / f"{one.key}.csv", one.csv)
    if others:
        write_text(folder / "figures" / "alternatives.csv", to_csv(_alternative_rows(others)))
    parts = [f"# {study.title}\n\n{study.about.strip()}\n"]
    if quick:
        parts.append(
            "**This is a reduced set of runs**, made with `--quick`: fewer seeds and fewer cells. "
            "It shows how things look and decides nothing.\n"
        )
    parts += [
        _made(study, findings.runs, apart=bool(others)),
        _summary(verdicts),
        changes.section(verdicts, findings.before),
        _former(verdicts),
        _sensitivity(findings.sensitivity),
        _others(verdicts, others),
        _claims(verdicts),
        _figures(drawn),
        _assumptions(study),
        _experiments(study, findings.runs, folder),
    ]
    path = folder / "README.md"
    write_text(path, "\n".join(part for part in parts if part))
    return path


def _made(study: Study, runs: Mapping[str, Runs], *, apart: bool) -> str:
    manifests = [found.results.manifest for found in runs.values()]
    if not manifests:
        return ""
    commits = sorted({str(m.get("commit"))[:10] for m in manifests})
    models = sorted({str(m.get("model_version")) for m in manifests})
    cpu_s = sum(float(m.get("cpu_s") or 0) for m in manifests)
    count = sum(int(m.get("runs_finished") or 0) for m in manifests)
    host = manifests[0].get("host", {})
    today = datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()
    return (
        f"Made on {today} by `backlane reproduce {study.name}` with Backlane "
        f"{manifests[0].get('version')}, model version {', '.join(models)}, sources at commit "
        f"{', '.join(commits)}: {count} runs, {cpu_s:.0f} CPU-seconds on "
        f"{host.get('cores')} cores ({host.get('machine')})"
        f"{', the runs under other assumptions apart' if apart else ''}. The digest of each "
        "experiment is at the end; the same commit gives the same digests on any machine.\n"
    )


def _summary(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return ""
    lines = [
        "## Verdict\n",
        "| claims | reproduced | differs | unknown | share | needed |",
        "|---|---|---|---|---|---|",
    ]
    for weight in ("MECH", "A", "B", "C"):
        mine = [verdict for verdict in verdicts if verdict.claim.weight == weight]
        if not mine:
            continue
        counts = [sum(v.outcome == word for v in mine)
                  for word in ("reproduced", "differs", "unknown")]  # fmt: skip
        gate = f"{_GATES[weight]:.0%}" if weight in _GATES else "–"
        lines.append(
            f"| {_WORDS[weight]} ({weight}) | {' | '.join(map(str, counts))} "
            f"| {counts[0] / len(mine):.0%} | {gate} |"
        )
    fragile = [v.claim.id for v in verdicts if v.outcome == "reproduced" and not v.survives]
    if fragile:
        lines.append(
            "\nReproduced by its own interval, but not after Holm's correction over all strict "
            f"comparisons of the study: {', '.join(fragile)}."
        )
    return "\n".join(lines) + "\n"


def _former(verdicts: Sequence[Verdict]) -> str:
    """Every claim whose rule was corrected, with the verdicts of both rules."""
    lines = [
        f"| {verdict.claim.id} | {former.statement} | {_word(verdict.former)} "
        f"| {verdict.claim.statement} | {_word(verdict.outcome)} | {former.reason} |"
        for verdict in verdicts
        if (former := verdict.claim.former) is not None
    ]
    if not lines:
        return ""
    return "\n".join([
        "## Rules that were corrected\n",
        "Rules that required more than the paper states, or something else. The verdicts are those "
        "of the same runs.\n",
        "| id | rule before | verdict | rule now | verdict | why |",
        "|---|---|---|---|---|---|",
        *lines,
        "",
    ])  # fmt: skip


def _sensitivity(tables: Sequence[Sensitivity]) -> str:
    if not tables:
        return ""
    lines = ["## Sensitivity to assumptions\n"]
    for table, rows, drawn in tables:
        known = metrics.get(table.metric)
        order = " < ".join(table.columns)
        lines += [
            f"### {table.title}\n",
            f"{table.reading}\n" if table.reading else "",
            f"| {known.words} | {' | '.join(table.columns)} | {order}? |",
            "|---" * (len(table.columns) + 2) + "|",
        ]
        for row in rows:
            cells = dict(row.cells)
            values = [
                known.text(cells[name].mean) if name in cells else "–" for name in table.columns
            ]
            lines.append(f"| {row.name} | {' | '.join(values)} | {row.ascending} |")
        lines.append(f"\n![{table.title}](figures/{drawn.key}.png)\n")
    lines.append(
        '"yes": every adjacent difference, paired by seed, has a 95 % interval above zero; "tie": '
        'an interval contains zero and none lies below; "no": one lies below.\n'
    )
    return "\n".join(lines)


def _others(
    verdicts: Sequence[Verdict], others: Sequence[tuple[Alternative, list[Verdict]]]
) -> str:
    """Every claim that was judged again under another assumption, side by side."""
    if not others:
        return ""
    as_stated = {verdict.claim.id: verdict for verdict in verdicts}
    by_id = [{verdict.claim.id: verdict for verdict in again} for _, again in others]
    judged = [name for name in as_stated if any(name in again for again in by_id)]
    lines = ["## The same claims under other assumptions\n"]
    for alternative, _ in others:
        changes = ", ".join(f"`{key} = {value}`" for key, value in alternative.overrides)
        lines.append(
            f"- **{alternative.name}**: {', '.join(alternative.experiments)} again with {changes}."
        )
    lines += [
        "",
        f"| id | claim | as stated | {' | '.join(a.name for a, _ in others)} |",
        "|---" * (len(others) + 3) + "|",
    ]
    columns = [as_stated, *by_id]
    for name in judged:
        claim = as_stated[name].claim
        words = [_outcome(column[name]) if name in column else "–" for column in columns]
        lines.append(f"| {name} ({claim.weight}) | {claim.statement} | {' | '.join(words)} |")
    counts = [
        sum(column[name].outcome == "reproduced" for name in judged if name in column)
        for column in columns
    ]
    lines.append(f"| reproduced | of {len(judged)} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines) + "\n\nWhat was measured is in `figures/alternatives.csv`.\n"


def _alternative_rows(others: Sequence[tuple[Alternative, list[Verdict]]]) -> list[list[str]]:
    rows = [["claim", "assumption", "verdict", "measured"]]
    for alternative, again in others:
        rows += [[v.claim.id, alternative.name, v.outcome, v.measured] for v in again]
    return rows


def _claims(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return ""
    lines = ["## Claims\n"]
    for weight in WEIGHTS:
        mine = [verdict for verdict in verdicts if verdict.claim.weight == weight]
        if not mine:
            continue
        lines += [
            f"### {_WORDS[weight].capitalize()} ({weight})\n",
            "| id | in the paper | claim | verdict | measured |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {v.claim.id} | {v.claim.source} | {v.claim.statement} | {_outcome(v)} "
            f"| {v.measured.replace('|', '/')} |"
            for v in mine
        ]
        lines.append("")
    causes = [v for v in verdicts if v.outcome == "differs"]
    if causes:
        lines.append("## Why claims differ\n")
        lines += [f"- **{v.claim.id}**: {v.claim.cause or 'cause not found.'}" for v in causes]
        lines.append("")
    return "\n".join(lines)


def _outcome(verdict: Verdict) -> str:
    return _word(verdict.outcome) + (" (a tie)" if verdict.tie else "")


def _word(outcome: str) -> str:
    return "**differs**" if outcome == "differs" else outcome


def _figures(drawn: Sequence[tuple[FigureSpec, list[Drawn]]]) -> str:
    lines = ["## Figures\n"]
    for spec, many in drawn:
        lines.append(f"### {spec.id}: {spec.title}\n")
        for one in many:
            lines.append(f"![{one.title}: {one.reading}](figures/{one.key}.png)")
            if spec.kind in _EXPLAINED:
                lines.append(f"\n{one.reading}\n")
        lines.append("")
    lines.append(
        "Candlesticks as in the paper: box from the 20th to the 80th percentile over the flows, "
        "whiskers at the extremes, each averaged over the seeds; the line is the mean, the thick "
        "bar its 95 % interval. The numbers of every figure are in `figures/`, as CSV.\n"
    )
    return "\n".join(lines)


def _assumptions(study: Study) -> str:
    if not study.assumptions:
        return ""
    lines = [
        "## What the paper leaves open\n",
        "| parameter | taken here | because | does it matter? |",
        "|---|---|---|---|",
    ]
    lines += [f"| {a.parameter} | {a.value} | {a.reason} | {a.matters} |"
              for a in study.assumptions]  # fmt: skip
    return "\n".join(lines) + "\n"


def _link(file: Path, folder: Path) -> str:
    return os.path.relpath(file, folder).replace(os.sep, "/")


def _experiments(study: Study, runs: Mapping[str, Runs], folder: Path) -> str:
    lines = [
        "## Experiments\n",
        "| experiment | shows | cells | seeds | CPU-s | digest |",
        "|---|---|---|---|---|---|",
    ]
    for name, found in runs.items():
        manifest = found.results.manifest
        one = study.experiments[name]
        lines.append(
            f"| [{name}]({_link(one.file, folder)}) | {one.shows} | {len(found.cells)} "
            f"| {found.seed_count} | {float(manifest.get('cpu_s') or 0):.0f} "
            f"| `{manifest.get('digest')}` |"
        )
    return "\n".join(lines) + "\n"
