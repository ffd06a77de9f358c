"""Reproducing a study: run what is missing, draw, test the claims and write the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backlane import shipped
from backlane.errors import BacklaneError
from backlane.studies import catalogue, changes, claims, figures, page, sensitivity
from backlane.studies.execution import Execution, Interrupted
from backlane.studies.runs import Data
from backlane.studies.study import load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backlane.campaign.plan import Plan
    from backlane.studies.changes import Before
    from backlane.studies.claims import Claim, Verdict
    from backlane.studies.execution import OpenProgress
    from backlane.studies.page import Sensitivity
    from backlane.studies.study import Alternative, FigureSpec, Study

STEP_SEEDS = 10
"""Seeds that the sequential rule adds at a time."""


@dataclass
class Reproduction:
    """The outcome of `reproduce`.

    Attributes:
        study: the study.
        verdicts: one per claim that the runs could decide.
        page: the page that was written.
        reduced: whether the set of runs was reduced.
        interrupted: whether Ctrl-C ended it early; no claim was tested then.
        before: the verdicts that the study published before, if any.
    """

    study: Study
    verdicts: list[Verdict]
    page: Path | None
    reduced: bool
    interrupted: bool = False
    before: Before | None = None

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        published = self.before.outcomes if self.before else {}
        return {
            "study": self.study.name,
            "page": None if self.page is None else str(self.page),
            "reduced": self.reduced,
            "claims": [
                {
                    "id": v.claim.id, "weight": v.claim.weight, "outcome": v.outcome,
                    "measured": v.measured, "tie": v.tie, "statement": v.claim.statement,
                    **({"former": v.former} if v.former else {}),
                    **({"before": before} if (before := published.get(v.claim.id)) else {}),
                }
                for v in self.verdicts
            ],
        }  # fmt: skip


def reproduce(
    name: str,
    figure: str | None = None,
    *,
    quick: bool = False,
    store: Path | None = None,
    workers: int | None = None,
    progress: OpenProgress | None = None,
    log: Callable[[str], None] = lambda _text: None,
) -> Reproduction:
    """Run what is missing, draw, test the claims and write the page.

    The page of a whole study is written into its folder; a reduced or partial one, and that of a
    study inside an installed package, into the folder of its runs.

    Args:
        name: of the study, its alias or its folder.
        figure: only this figure, with the claims of its experiment.
        quick: a reduced set of runs, which decides nothing but shows everything.
        store: where runs are kept; default ``results/studies/<name>``.
        workers: threads; default all cores.
        progress: opens a progress display.
        log: takes messages.

    Raises:
        BacklaneError: on problems with files, before the first run where possible.
        ScenarioError: when a scenario of the study is wrong.
    """
    study = load(catalogue.find(name))
    specs = _chosen(study, figure)
    drawn = {spec.experiment for spec in specs}
    wanted = [one for one in study.experiments if figure is None or one in drawn]
    known = claims.load(study)
    before = changes.load(study.folder, {claim.id for claim in known})
    tested = [c for c in known if all(e in wanted for e in c.experiments)]
    if figure is not None:
        tested = [c for c in tested if c.experiments]
    root = (store or Path("results/studies") / study.name) / ("quick" if quick else "full")
    execution = Execution(root, quick, workers, progress, log)
    plans = {one: execution.plan(study.experiments[one]) for one in wanted}
    _check(study, specs, tested, plans, quick=quick)
    for line in execution.cost(study.experiments[one] for one in wanted):
        log(line)
    # Only the whole study, in full, may replace its record.
    whole = figure is None and not quick
    own = whole and not shipped.holds(study.folder)
    data = Data()
    try:
        for one in wanted:
            data.runs[one] = execution.run(study.experiments[one])
        verdicts = claims.judge(tested, data)
        while not quick and (pending := _unsettled(verdicts, data, study)):
            _add_seeds(pending, verdicts, data, study, execution)
            verdicts = claims.judge(tested, data)
        others = [
            (alternative, _judge_alternative(alternative, study, tested, execution))
            for alternative in (study.alternatives if whole else [])
        ]
    except Interrupted:
        return Reproduction(study, [], None, quick, interrupted=True)
    path = page.write(
        study,
        study.folder if own else root / (figure or "all"),
        page.Findings(
            verdicts=verdicts,
            others=others,
            drawn=[(spec, figures.figure(spec, data.runs[spec.experiment])) for spec in specs],
            sensitivity=_sensitivity(study, data),
            runs=data.runs,
            before=before,
        ),
        quick=quick,
    )
    return Reproduction(study, verdicts, path, quick, before=before)


def _chosen(study: Study, figure: str | None) -> list[FigureSpec]:
    if figure is None:
        return study.figures
    chosen = [spec for spec in study.figures if spec.id == figure]
    if not chosen:
        raise BacklaneError(
            "R021", f'the study {study.name} has no figure "{figure}"',
            study.folder / "study.toml",
            f"choose one of {', '.join(spec.id for spec in study.figures)}",
        )  # fmt: skip
    return chosen


def _check(
    study: Study, specs: Sequence[FigureSpec], tested: Sequence[Claim], plans: dict[str, Plan],
    *, quick: bool,
) -> None:  # fmt: skip
    """Find wrong metrics, keys and cells before the first run."""
    for spec in specs:
        cells = [cell.parameters for cell in plans[spec.experiment].cells]
        figures.check(spec, cells, quick=quick)
    if quick:
        return
    claims.check_cells(tested, plans, study.claims)
    for table in study.sensitivity:
        if table.experiment in plans:
            cells = [cell.parameters for cell in plans[table.experiment].cells]
            place = f"{study.folder / 'study.toml'}: sensitivity {table.title}"
            for column in table.columns:
                where = table.where | {table.by: column}
                claims.require_cells(cells, where, table.experiment, place)


def _unsettled(verdicts: Sequence[Verdict], data: Data, study: Study) -> list[str]:
    """Experiments in which more seeds could decide a claim, and have seeds left."""
    # Fragile claims are reported and gate nothing: no run is spent on them.
    pending = {e for v in verdicts if v.claim.weight != "C" for e in v.unsettled}
    return [
        name
        for name, experiment in study.experiments.items()
        if name in pending and data.runs[name].seed_count < experiment.most_seeds
    ]


def _add_seeds(
    pending: Sequence[str], verdicts: Sequence[Verdict], data: Data, study: Study,
    execution: Execution,
) -> None:  # fmt: skip
    for name in pending:
        experiment = study.experiments[name]
        seeds = min(data.runs[name].seed_count + STEP_SEEDS, experiment.most_seeds)
        ids = ", ".join(v.claim.id for v in verdicts if name in v.unsettled)
        execution.log(f"{name}: {seeds} seeds, to decide {ids}")
        data.runs[name] = execution.run(experiment, seeds)


def _judge_alternative(
    alternative: Alternative, study: Study, tested: Sequence[Claim], execution: Execution
) -> list[Verdict]:
    """The claims on the experiments that an alternative runs again."""
    data = Data()
    for name in alternative.experiments:
        data.runs[name] = execution.run_alternative(study.experiments[name], alternative)
    own = [c for c in tested if c.experiments and set(c.experiments) <= set(data.runs)]
    return claims.judge(own, data)


def _sensitivity(study: Study, data: Data) -> list[Sensitivity]:
    found = []
    for index, table in enumerate(study.sensitivity, 1):
        runs = data.runs.get(table.experiment)
        rows = sensitivity.rows_of(table, runs) if runs else []
        if runs and rows:
            names = runs.levels(table.by, table.where)
            found.append(
                (table, rows, sensitivity.figure(f"sensitivity-{index}", table, rows, names))
            )
    return found
