"""Claims: the statements of a paper, the rules that test them, and the verdicts.

A claim has one or more *parts*; it is reproduced when every part holds. A part names a metric and
*terms*: each term is a selection of cells, averaged if it matches several, with one value per
seed. ``for_each`` repeats a part over values of swept keys; ``at_least`` is the number of these
cases in which it must hold.

The rules are those of `backlane.studies.rules`, and ``claims``, which holds if the claims named in
``all_of`` are reproduced.

A rule that was corrected stands below its claim as ``[claim.former]``, with the ``reason`` and, if
it differs, the ``statement`` that it tested. It is tested too, and the page shows both verdicts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.studies import metrics
from backlane.studies.rules import NEEDS, decide
from backlane.studies.runs import matching
from backlane.studies.study import read_toml, refuse_unknown, require_experiment, take
from backlane.studies.terms import Part, leaves, selections, terms
from backlane.studies.timed import DISTRIBUTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backlane.campaign.plan import Plan
    from backlane.studies.runs import Data
    from backlane.studies.study import Study

WEIGHTS = ("A", "B", "C", "MECH")
_PART_KEYS = {
    "experiment", "rule", "metric", "where", "for_each", "at_least", "along", "terms", "strict",
    "within", "low", "high", "rank", "factors", "levels", "largest", "against", "seeds",
    "distribution", "all_of", "least", "sign", "level", "weak",
}  # fmt: skip
_CLAIM_KEYS = {"id", "source", "statement", "weight", "cause", "part", "former"}
_FORMER_KEYS = {"statement", "reason", "part"}


@dataclass(frozen=True)
class Former:
    """A rule of a claim before it was corrected.

    Attributes:
        statement: what it tested, in the words of the claim then.
        reason: why it was corrected.
        parts: its rules.
    """

    statement: str
    reason: str
    parts: list[Part]


@dataclass(frozen=True)
class Claim:
    """A statement of a paper.

    Attributes:
        id: such as "P1-04".
        source: section and figure of the paper.
        statement: the claim, reworded.
        weight: "A" headline, "B" supporting, "C" fragile, "MECH" mechanism that must hold.
        cause: the reason for a difference, found by a run; shown only if the claim differs.
        parts: its rules.
        former: the rules that these replaced, if they were corrected.
    """

    id: str
    source: str
    statement: str
    weight: str
    cause: str
    parts: list[Part]
    former: Former | None = None

    @property
    def all_parts(self) -> list[Part]:
        """Its rules, and those that they replaced."""
        return [*self.parts, *(self.former.parts if self.former else [])]

    @property
    def experiments(self) -> list[str]:
        """The experiments that it needs."""
        return list(dict.fromkeys(name for part in self.all_parts for name in part.experiments))


@dataclass
class Verdict:
    """The outcome of a claim.

    Attributes:
        claim: the claim.
        outcome: "reproduced", "differs" or "unknown".
        measured: the numbers, in words.
        tie: whether it differs only in that an interval contains zero.
        unsettled: experiments in which more seeds could change the outcome.
        p_values: of every strict comparison, paired t, two-sided.
        survives: whether all of these stay below 5 % after Holm's correction over the study.
        former: the outcome by the rules that were corrected; empty if there are none.
    """

    claim: Claim
    outcome: str
    measured: str
    tie: bool = False
    unsettled: set[str] = field(default_factory=set)
    p_values: list[float] = field(default_factory=list)
    survives: bool = True
    former: str = ""


def load(study: Study) -> list[Claim]:
    """Read the claims of a study; without a file of claims there are none.

    Of the claims of another study, those on experiments of this study are used, with the causes of
    this study.

    Raises:
        BacklaneError: R003 or R022.
    """
    path, causes = study.claims, study.causes
    if causes is None and not path.exists():
        return []
    claims = [_claim(table, path) for table in take(read_toml(path), "claim", list, str(path))]
    if causes is not None:
        claims = [
            replace(claim, cause=causes.get(claim.id, ""))
            for claim in claims
            if claim.experiments and set(claim.experiments) <= set(study.experiments)
        ]
    ids = [claim.id for claim in claims]
    for name in causes or {}:
        if name not in ids:
            raise BacklaneError(
                "R022", f'there is no claim "{name}" here', str(study.folder / "study.toml"),
                "name a claim on experiments of this study",
            )  # fmt: skip
    for claim in claims:
        if ids.count(claim.id) > 1:
            raise BacklaneError("R022", f"{claim.id} stands twice", path, "use each id once")
        for part in claim.all_parts:
            if part.rule != "claims":
                for name in part.experiments or [""]:
                    require_experiment(study, name, f"{path}: {claim.id}")
            for other in part.options.get("all_of", []):
                if other not in ids:
                    raise BacklaneError(
                        "R022", f'there is no claim "{other}"', f"{path}: {claim.id}", "fix all_of"
                    )
    return claims


def check_cells(claims: Sequence[Claim], plans: Mapping[str, Plan], path: Path) -> None:
    """Check before the first run that every selection matches a cell that will be run.

    Raises:
        BacklaneError: R022 with the claim and the selection.
    """
    for claim in claims:
        for part in claim.all_parts:
            place = f"{path}: {claim.id}"
            for case in part.cases():
                for experiment, where in selections(part, case):
                    if experiment in plans:
                        cells = [cell.parameters for cell in plans[experiment].cells]
                        require_cells(cells, where, experiment, place)


def require_cells(
    cells: Sequence[Mapping[str, Any]], where: Mapping[str, Any], name: str, place: str
) -> None:
    """Raise R022 when no cell has these swept values."""
    if matching(cells, where):
        return
    swept = {key: list(dict.fromkeys(cell[key] for cell in cells)) for key in cells[0]}
    wrong = []
    for key, value in where.items():
        if key not in swept:
            wrong.append(f"{key} = {value!r} (not swept)")
        elif value not in swept[key]:
            wrong.append(f"{key} = {value!r} (swept: {', '.join(map(repr, swept[key]))})")
    raise BacklaneError(
        "R022", f'no cell of "{name}" has {"; ".join(wrong) or where}', place,
        "name a cell of the sweep, or add it to the sweep",
    )  # fmt: skip


def _claim(table: Mapping[str, Any], path: Path) -> Claim:
    name = take(table, "id", str, str(path))
    place = f"{path}: {name}"
    refuse_unknown(table, _CLAIM_KEYS | _PART_KEYS, place)
    weight = take(table, "weight", str, place)
    if weight not in WEIGHTS:
        raise BacklaneError("R022", f'weight "{weight}"', place, f"one of {', '.join(WEIGHTS)}")
    statement = take(table, "statement", str, place)
    return Claim(
        id=name,
        source=take(table, "source", str, place),
        statement=statement,
        weight=weight,
        cause=take(table, "cause", str, place, ""),
        parts=_parts(table, place),
        former=_former(table, statement, place),
    )


def _former(table: Mapping[str, Any], statement: str, place: str) -> Former | None:
    if "former" not in table:
        return None
    former = take(table, "former", dict, place)
    refuse_unknown(former, _FORMER_KEYS | _PART_KEYS, place)
    return Former(
        statement=take(former, "statement", str, place, statement),
        reason=take(former, "reason", str, place),
        parts=_parts({"experiment": table.get("experiment", "")} | former, place),
    )


def _parts(table: Mapping[str, Any], place: str) -> list[Part]:
    shared = {key: value for key, value in table.items() if key in _PART_KEYS}
    return [_part(shared | part, place) for part in table.get("part", [{}])]


def _part(table: Mapping[str, Any], place: str) -> Part:
    refuse_unknown(table, _PART_KEYS, place)
    rule = take(table, "rule", str, place)
    if rule not in NEEDS:
        raise BacklaneError("R022", f'"{rule}" is not a rule', place, f"known: {', '.join(NEEDS)}")
    options = {k: v for k, v in table.items() if k not in ("rule", "experiment")}
    for key in NEEDS[rule]:
        take(options, key, object, place)
    if rule == "rank" and "against" not in options:
        take(options, "largest", int, place)
    part = Part(str(table.get("experiment", "")), rule, options)
    if rule == "distance":
        _check_distribution(str(options["distribution"]), place)
    elif rule != "claims":
        for case in part.cases():
            for term in terms(part, case):
                for leaf in leaves(term):
                    metrics.require(str(leaf["metric"]), place)
    return part


def _check_distribution(name: str, place: str) -> None:
    if (
        not re.fullmatch(r"\w+(@[0-9.]+-[0-9.]+)?", name)
        or name.partition("@")[0] not in DISTRIBUTIONS
    ):
        known = f"known: {', '.join(DISTRIBUTIONS)}, each optionally with a time, as in @0-20"
        raise BacklaneError("R022", f'there is no distribution "{name}"', place, known)


def judge(claims: Sequence[Claim], data: Data) -> list[Verdict]:
    """Test every claim; those that name other claims are tested last."""
    found: dict[str, Verdict] = {}
    for claim in sorted(claims, key=lambda c: any(p.rule == "claims" for p in c.parts)):
        verdict = found[claim.id] = _judge(claim, data, found)
        if claim.former is not None:
            before = replace(claim, parts=claim.former.parts, former=None)
            verdict.former = _judge(before, data, found).outcome
    _holm(list(found.values()))
    return [found[claim.id] for claim in claims]


def _judge(claim: Claim, data: Data, known: Mapping[str, Verdict]) -> Verdict:
    texts: list[str] = []
    outcomes: list[bool | None] = []
    verdict = Verdict(claim, "unknown", "")
    ties = True
    for part in claim.parts:
        if part.rule == "claims":
            names = part.options["all_of"]
            missed = [n for n in names if known[n].outcome != "reproduced"]
            outcomes.append(not missed)
            ties = ties and not missed
            texts.append("all reproduced" if not missed else f"not: {', '.join(missed)}")
            continue
        cases = part.cases()
        results = [decide(part, case, data) for case in cases]
        if any(result.holds is None for result in results):
            outcomes.append(None)
        else:
            enough = part.options.get("at_least", len(results))
            outcomes.append(sum(bool(result.holds) for result in results) >= enough)
        if not outcomes[-1]:
            ties = ties and all(r.holds or r.tie for r in results)
        for case, result in zip(cases, results, strict=True):
            label = ", ".join(str(value) for value in case.values())
            mark = "" if result.holds or len(results) == 1 else "✗ "
            texts.append(f"{mark}{label + ': ' if label else ''}{result.text}")
            verdict.p_values += result.p_values
            if result.unsettled:
                verdict.unsettled.update(part.experiments)
    verdict.measured = "; ".join(texts)
    if None not in outcomes:
        verdict.outcome = "reproduced" if all(outcomes) else "differs"
    verdict.tie = verdict.outcome == "differs" and ties
    return verdict


def _holm(verdicts: Sequence[Verdict]) -> None:
    """Holm (1979): the k-th smallest of m p-values is compared with 5 % / (m − k + 1)."""
    ordered = sorted((p, verdict.claim.id) for verdict in verdicts for p in verdict.p_values)
    fails: set[str] = set()
    failed = False
    for rank, (p, name) in enumerate(ordered):
        failed = failed or p > 0.05 / (len(ordered) - rank)
        if failed:
            fails.add(name)
    for verdict in verdicts:
        verdict.survives = verdict.claim.id not in fails
