"""Verdicts that a study published before, beside those of today, and what moved each.

A study that was published under an older model has ``verdicts_before.toml``: the version, the
commit, the verdicts, and the changes that moved some of them since. A change is a *reading* of the
paper, or the *model*; *seeds* are other random draws of one and the same. What a corrected *rule*
moved is not written there, since both rules judge the same runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.studies.study import read_toml, refuse_unknown, take

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from backlane.studies.claims import Verdict

FILE = "verdicts_before.toml"
OUTCOMES = ("reproduced", "differs", "unknown")
KINDS = ("reading", "model", "seeds")
_WEIGHTS = ("MECH", "A", "B", "C")


@dataclass(frozen=True)
class Change:
    """A change that moved verdicts.

    Attributes:
        by: its kind, one of `KINDS`.
        what: what changed and why this moved them, found by a run.
        claims: those that it moved.
    """

    by: str
    what: str
    claims: list[str]


@dataclass(frozen=True)
class Before:
    """What a study published before.

    Attributes:
        model_version: of the model then.
        commit: of the sources then.
        outcomes: by claim id.
        changes: those since.
    """

    model_version: int
    commit: str
    outcomes: dict[str, str]
    changes: list[Change]

    def moved_by(self, verdict: Verdict) -> list[Change]:
        """The changes that had a part in moving a verdict; none if it is the published one."""
        name = verdict.claim.id
        found = {verdict.former or verdict.outcome, verdict.outcome}
        if name not in self.outcomes or found == {self.outcomes[name]}:
            return []
        return [change for change in self.changes if name in change.claims]


def load(folder: Path, ids: Collection[str]) -> Before | None:
    """Read what the study in a folder published before; None if it has no such file.

    Args:
        folder: of the study.
        ids: of its claims.

    Raises:
        BacklaneError: R003 or R022.
    """
    path = folder / FILE
    if not path.exists():
        return None
    value, place = read_toml(path), str(path)
    refuse_unknown(value, {"model_version", "commit", "verdict", "change"}, place)
    verdicts = take(value, "verdict", dict, place)
    refuse_unknown(verdicts, set(OUTCOMES), f"{place}: verdict")
    outcomes: dict[str, str] = {}
    for outcome in OUTCOMES:
        for name in take(verdicts, outcome, list, f"{place}: verdict", []):
            if name in outcomes:
                raise BacklaneError("R022", f"{name} has two verdicts", place, "keep one")
            outcomes[name] = outcome
    changes = []
    for table in take(value, "change", list, place, []):
        refuse_unknown(table, {"by", "what", "claims"}, f"{place}: change")
        by = take(table, "by", str, f"{place}: change")
        if by not in KINDS:
            raise BacklaneError(
                "R022", f'"{by}" is no kind of change', place, f"one of {', '.join(KINDS)}"
            )
        changes.append(
            Change(
                by,
                take(table, "what", str, f"{place}: change"),
                take(table, "claims", list, f"{place}: change"),
            )
        )
    for name in [*outcomes, *(name for change in changes for name in change.claims)]:
        if name not in ids:
            raise BacklaneError("R022", f'there is no claim "{name}"', place, "name a claim")
    return Before(
        take(value, "model_version", int, place), take(value, "commit", str, place),
        outcomes, changes,
    )  # fmt: skip


def row_start(name: str, before: Before) -> str:
    """How the row of a claim begins in the table."""
    return f"| {name} | {_word(before.outcomes.get(name, 'new'))} | "


def not_shown(before: Before, page: str) -> list[str]:
    """The words of changes that a page gives in another wording for a verdict that moved."""
    found = []
    for change in before.changes:
        rows = [
            line
            for line in page.splitlines()
            if line.startswith(tuple(row_start(name, before) for name in change.claims))
        ]
        moved = [row for row in rows if change.by in row.split(" | ")[4]]
        found += [change.what for row in moved if change.what not in row]
    return found


def section(verdicts: Sequence[Verdict], before: Before | None) -> str:
    """The table of all claims: published before, by the rule before, and today."""
    if before is None or not verdicts:
        return ""
    old = [
        (verdict.claim.weight, before.outcomes[verdict.claim.id])
        for verdict in verdicts
        if verdict.claim.id in before.outcomes
    ]
    now = [(verdict.claim.weight, verdict.outcome) for verdict in verdicts]
    lines = [
        "## Verdicts before and after\n",
        f"Before: model version {before.model_version}, sources at commit {before.commit}: "
        f"{_counts(old)} reproduced. Now: {_counts(now)}. Where a rule was corrected, the rule "
        "before judges the runs of today too. A verdict may have moved by the *rule* that judges "
        "it, by the *reading* of the paper that the study runs, by the *model*, or by other random "
        "draws (*seeds*).\n",
        "| id | before | rule before, runs now | now | moved by | what moved it |",
        "|---|---|---|---|---|---|",
    ]
    for verdict in verdicts:
        name = verdict.claim.id
        former = _word(verdict.former) if verdict.former else "–"
        by, what = _moved(verdict, before)
        lines.append(
            f"{row_start(name, before)}{former} | {_word(verdict.outcome)} | {by} | {what} |"
        )
    return "\n".join(lines) + "\n"


def _moved(verdict: Verdict, before: Before) -> tuple[str, str]:
    old = before.outcomes.get(verdict.claim.id)
    if old is None:
        return "–", "–"
    found = [(change.by, change.what) for change in before.moved_by(verdict)]
    if old != (verdict.former or verdict.outcome) and not found:
        found = [("**not found**", "")]
    if verdict.former and verdict.claim.former and verdict.former != verdict.outcome:
        found.append(("rule", f"rule: {verdict.claim.former.reason}"))
    if not found:
        return "–", "–"
    kinds = list(dict.fromkeys(by for by, _ in found))
    return ", ".join(kinds), "; ".join(what for _, what in found if what) or "–"


def _counts(outcomes: Sequence[tuple[str, str]]) -> str:
    parts = []
    for weight in _WEIGHTS:
        mine = [outcome for one, outcome in outcomes if one == weight]
        if mine:
            parts.append(f"{weight} {mine.count('reproduced')} of {len(mine)}")
    return ", ".join(parts)


def _word(outcome: str) -> str:
    return "**differs**" if outcome == "differs" else outcome
