"""Studies: reproduce a paper, figure by figure and claim by claim.

`study` and `claims` read the folder, `view` opens the runs, `metrics` and `timed` measure them,
`terms` and `rules` are what claims are judged by, `figures` and `curves` draw in the paper's form,
`page` writes the verdict. Runs are campaigns in a store: what is
there already is not run again, and an interrupted study goes on where it stopped.

Example:
    >>> import backlane
    >>> backlane.studies.reproduce("tcp_aware_bp/paper", quick=True)  # doctest: +SKIP
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from backlane import campaign, congestion
from backlane.campaign.plan import make_plan
from backlane.errors import BacklaneError
from backlane.report.figures import slug
from backlane.results import Results
from backlane.stats import mean_interval, paired_difference
from backlane.studies import catalogue, figures, metrics, page
from backlane.studies import claims as judging
from backlane.studies import study as reading
from backlane.studies.figures import HingeRow
from backlane.studies.painting import Runs
from backlane.studies.terms import Data
from backlane.studies.view import views

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from backlane.campaign.plan import Label, Plan
    from backlane.campaign.pool import Progress
    from backlane.report.figures import Drawn
    from backlane.studies.claims import Claim, Verdict
    from backlane.studies.study import (
        Alternative,
        Experiment,
        FigureSpec,
        Hinge,
        Settings,
        Study,
    )

__all__ = ["Reproduction", "reproduce"]

STEP_SEEDS = 10
"""The sequential rule adds so many seeds at a time."""


class Tell(Protocol):
    """Who is told what is going on."""

    def __call__(self, what: str, total: int) -> AbstractContextManager[Progress]:
        """Opens a progress display for so many runs."""


@dataclass
class Reproduction:
    """What `reproduce` found.

    Attributes:
        study: what was asked for.
        verdicts: one per claim that could be judged from the runs asked for.
        page: the page that was written.
        reduced: whether the set of runs was reduced.
        interrupted: whether Ctrl-C ended it early; nothing was judged then.
    """

    study: Study
    verdicts: list[Verdict]
    page: Path | None
    reduced: bool
    interrupted: bool = False

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "study": self.study.name,
            "page": None if self.page is None else str(self.page),
            "reduced": self.reduced,
            "claims": [
                {
                    "id": v.claim.id, "weight": v.claim.weight, "outcome": v.outcome,
                    "measured": v.measured, "tie": v.tie, "says": v.claim.says,
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
    tell: Tell | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> Reproduction:
    """Run what is missing, draw, judge and write the page.

    Args:
        name: of the study, or its folder.
        figure: only this figure, with the claims of its experiment.
        quick: a reduced set of runs, which settles nothing but shows everything.
        store: where runs are kept; default ``results/studies/<name>``.
        workers: threads; default all cores.
        tell: opens a progress display.
        say: takes messages.

    Raises:
        BacklaneError: on problems with files, before the first run where possible.
        ScenarioError: when a scenario of the study is wrong.
    """
    study = reading.load(catalogue.find(name))
    claims = judging.load(study)
    specs = _chosen(study, figure)
    wanted = [name for name in study.experiments if figure is None
              or any(spec.experiment == name for spec in specs)]  # fmt: skip
    claims = [c for c in claims if all(e in wanted for e in c.experiments)]
    if figure is not None:
        claims = [c for c in claims if c.experiments]
    root = (store or Path("results/studies") / study.name) / ("quick" if quick else "full")
    plans = {name: _plan(study.experiments[name], quick) for name in wanted}
    if not quick:
        judging.check_cells(claims, plans, study.claims)
    for spec in specs:
        figures.check(spec, [cell.parameters for cell in plans[spec.experiment].cells])
    for table in study.hinges:
        if not quick and table.experiment in plans:
            cells = [cell.parameters for cell in plans[table.experiment].cells]
            for column in table.columns:
                judging.require_cells(
                    cells, table.where | {table.by: column}, table.experiment,
                    f"{study.folder / 'study.toml'}: hinge {table.title}",
                )  # fmt: skip
    runs: dict[str, Runs] = {}
    data = Data()
    for experiment in wanted:
        found = _run(study.experiments[experiment], quick, 0, root, workers, tell, say)
        if found is None:
            return Reproduction(study, [], None, quick, interrupted=True)
        runs[experiment] = found
        data.add(experiment, found.cells, found.views)
    verdicts = judging.judge(claims, data)
    while not quick and (open_ := _unsettled(verdicts, runs, study)):
        for experiment in open_:
            most = study.experiments[experiment].most_seeds
            seeds = min(_seed_count(runs[experiment]) + STEP_SEEDS, most)
            say(f"{experiment}: {seeds} seeds, to settle {_names(verdicts, experiment)}")
            found = _run(study.experiments[experiment], quick, seeds, root, workers, tell, say)
            if found is None:
                return Reproduction(study, [], None, quick, interrupted=True)
            runs[experiment] = found
            data.add(experiment, found.cells, found.views)
        verdicts = judging.judge(claims, data)
    # Only the whole study, in full, may replace its record.
    whole = figure is None and not quick
    others = []
    for alternative in study.alternatives if whole else []:
        again = _judge_alternative(alternative, study, claims, root, workers, tell, say)
        if again is None:
            return Reproduction(study, [], None, quick, interrupted=True)
        others.append((alternative, again))
    target = study.folder if whole else root / (figure or "all")
    drawn = [(spec, figures.figure(spec, runs[spec.experiment])) for spec in specs]
    hinges = [
        (table, rows, _hinge_figure(index, table, rows, runs[table.experiment]))
        for index, table in enumerate(study.hinges)
        if table.experiment in runs and (rows := hinge_rows(table, runs[table.experiment]))
    ]
    path = page.write(study, target, verdicts, others, drawn, hinges, runs, quick=quick)
    return Reproduction(study, verdicts, path, quick)


def _hinge_figure(index: int, table: Hinge, rows: list[HingeRow], runs: Runs) -> Drawn:
    return figures.hinge(f"hinge-{index + 1}", table, rows, runs.levels(table.by, table.where))


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


def _overrides(experiment: Experiment, quick: bool, seeds: int) -> Settings:
    found = [*experiment.settings, *(experiment.quick if quick else [])]
    return [*found, ("sweep.seeds", str(seeds))] if seeds else found


def _judge_alternative(
    alternative: Alternative, study: Study, claims: Sequence[Claim], root: Path,
    workers: int | None, tell: Tell | None, say: Callable[[str], None],
) -> list[Verdict] | None:  # fmt: skip
    """The claims on the experiments that an alternative runs again; None after Ctrl-C."""
    data = Data()
    for name in alternative.experiments:
        folder = root / f"{name}@{slug(alternative.name)}"
        found = _carry_out(
            study.experiments[name].file,
            [*study.experiments[name].settings, *alternative.overrides], folder,
            f"{name}, {alternative.name}", workers, tell, say,
        )  # fmt: skip
        if found is None:
            return None
        data.add(name, found.cells, found.views)
    mine = [c for c in claims if c.experiments and set(c.experiments) <= set(data.cells)]
    return judging.judge(mine, data)


def _plan(experiment: Experiment, quick: bool, seeds: int = 0) -> Plan:
    return make_plan(experiment.file, _overrides(experiment, quick, seeds))


def _run(
    experiment: Experiment, quick: bool, seeds: int, root: Path, workers: int | None,
    tell: Tell | None, say: Callable[[str], None],
) -> Runs | None:  # fmt: skip
    """The finished runs of an experiment; None when Ctrl-C ended it.

    Raises:
        BacklaneError: R023 when a run failed.
    """
    return _carry_out(
        experiment.file, _overrides(experiment, quick, seeds), root / experiment.name,
        experiment.name, workers, tell, say,
    )  # fmt: skip


def _carry_out(
    file: Path, overrides: Settings, folder: Path, what: str,
    workers: int | None, tell: Tell | None, say: Callable[[str], None],
) -> Runs | None:  # fmt: skip
    plan = make_plan(file, overrides)
    congestion.authorize(plan.custom_controls, file, say=say)
    if tell is None:
        result = campaign.run_plan(plan, folder, workers, None, overrides)
    else:
        with tell(what, len(plan.runs)) as progress:
            result = campaign.run_plan(plan, folder, workers, None, overrides, progress)
    if result.outcome.interrupted:
        return None
    failed = result.manifest["failed"]
    if failed:
        raise BacklaneError(
            "R023", f"{len(failed)} runs failed, the first: {failed[0]['message']}", folder,
            f"see `backlane campaign status {folder}`",
        )  # fmt: skip
    results = Results.open(folder)
    return Runs(results, results.cells, views(results))


def _seed_count(runs: Runs) -> int:
    return len({view.seed for view in runs.views})


def _unsettled(
    verdicts: Sequence[Verdict], runs: dict[str, Runs], study: Study
) -> dict[str, list[str]]:
    """Experiments in which more seeds could decide a claim, and have seeds left."""
    found: dict[str, list[str]] = {}
    for verdict in verdicts:
        # C rows are reported and gate nothing: no run is spent on them.
        if verdict.claim.weight == "C":
            continue
        for experiment in sorted(verdict.unsettled):
            if _seed_count(runs[experiment]) < study.experiments[experiment].most_seeds:
                found.setdefault(experiment, []).append(verdict.claim.id)
    return found


def _names(verdicts: Sequence[Verdict], experiment: str) -> str:
    return ", ".join(v.claim.id for v in verdicts if experiment in v.unsettled)


def hinge_rows(table: Hinge, runs: Runs) -> list[HingeRow]:
    """One row per combination of the other swept keys."""
    others = [
        key for key in (runs.cells[0] if runs.cells else {})
        if key != table.by and key not in table.where
    ]  # fmt: skip
    of = metrics.get(table.metric).of
    rows = []
    for values in product(*(runs.levels(key, table.where) for key in others)):
        where = table.where | dict(zip(others, values, strict=True))
        cells = []
        for column in table.columns:
            chosen = runs.at(where | {table.by: column})
            if chosen:
                cells.append((column, mean_interval([of(view) for view in chosen])))
        if cells:
            name = ", ".join(map(_named, others, values)) or "all"
            rows.append(HingeRow(name, cells, _ascending(table, runs, where)))
    return rows


def _named(key: str, value: Label) -> str:
    """A swept value in a row of its own: a section's label speaks for itself, a number does not."""
    section, _, last = key.rpartition(".")
    return f"{last.replace('_', ' ')} {value}" if section else str(value)


def _ascending(table: Hinge, runs: Runs, where: dict[str, Any]) -> str:
    """Whether the columns come out in the order of the table: "yes", "tie" or "no"."""
    of = metrics.get(table.metric).of
    by_seed = [
        {view.seed: of(view) for view in runs.at(where | {table.by: column})}
        for column in table.columns
    ]
    gaps = [paired_difference(after, before) for before, after in pairwise(by_seed)]
    if any(not gap.known for gap in gaps):
        return "unknown"
    if all(gap.low > 0 for gap in gaps):
        return "yes"
    return "tie" if all(gap.low > 0 or gap.has_zero for gap in gaps) else "no"
