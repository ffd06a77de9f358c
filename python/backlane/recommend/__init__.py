"""Recommendations: which contender of a scenario to choose, with as few runs as suffice.

`contest` adds seeds until `selection` has settled on the best or the budget of `options` ends;
`samples` are the runs and their measures, kept in the store of a campaign folder. `answer` is the
final table, with Holm's correction by `ranking`; `why` compares the winner with the next one.
`changed` then runs the winner in changed networks, which are `variants` of its scenario: `failures`
and `upgrades`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from backlane import classes, cost, objectives
from backlane.campaign import claim, default_folder
from backlane.campaign.assemble import assemble
from backlane.campaign.plan import make_plan
from backlane.campaign.store import Store
from backlane.errors import BacklaneError
from backlane.files import make_folder
from backlane.machine import core_count
from backlane.ranking import EQUAL_WITHIN
from backlane.recommend.answer import HEADER, Recommendation, Row, answer
from backlane.recommend.changed import Changed
from backlane.recommend.contest import Contestants, Limits, OpenProgress
from backlane.recommend.options import Budget, read_share, read_time
from backlane.recommend.samples import Samples
from backlane.recommend.upgrades import read as read_upgrades
from backlane.scenario import Scenario, Source, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backlane.campaign.plan import Plan
    from backlane.recommend.upgrades import Upgrade

__all__ = [
    "HEADER", "Budget", "Limits", "Recommendation", "Row", "of", "read_share", "read_time",
    "read_upgrades",
]  # fmt: skip

FIRST = 10
"""Seeds of the first stage."""


def of(
    file: Scenario | Source,
    out: str | Path | None = None,
    *,
    objective: str | None = None,
    limits: Limits | None = None,
    budget: Budget | str = "1 h",
    equal_within: float | None = None,
    first: int = FIRST,
    workers: int | None = None,
    overrides: Sequence[tuple[str, str]] = (),
    progress: OpenProgress | None = None,
    allow_python: bool = False,
    ignore_memory: bool = False,
    n_minus_1: bool = False,
    candidates: Sequence[Upgrade] = (),
) -> Recommendation:
    """Add seeds to the contenders of a scenario until the best is settled.

    Args:
        file: the scenario, as for `campaign.run`; its number of seeds is not used.
        out: the campaign folder, whose stored runs are used; default ``results/<name>``.
        objective: a word of `objectives.OBJECTIVES`; default that of ``[compare]``.
        limits: what contenders must keep to.
        budget: runs or CPU time, such as "200 runs" or "30 min".
        equal_within: contenders nearer to the best than this share of it are as good; default that
            of ``[compare]``.
        first: seeds of the first stage, two or more.
        workers: threads; default all cores.
        overrides: as for `campaign.run`.
        progress: opens a progress display.
        allow_python: as for `campaign.run`.
        ignore_memory: as for `campaign.run`.
        n_minus_1: run the best with each link and node down in turn, under the last condition.
        candidates: upgrades to run the best with, likewise; `read_upgrades` reads them.

    Raises:
        BacklaneError: R031 for a budget that is none, R032 for one that is too small, R033 when a
            run failed, R034 when there is nothing to choose from; as `campaign.run`.
        ScenarioError: when the scenario is wrong.
    """
    allowed = Budget.parse(budget) if isinstance(budget, str) else budget
    source = read(file, overrides)

    def plan_of(seeds: int) -> Plan:
        more = Source(
            source.text, source.name, [*source.overrides, ("sweep.seeds", str(seeds))],
            source.written, source.own, source.keys,
        )  # fmt: skip
        return make_plan(more)

    plan = plan_of(first)
    classes.authorize(plan.classes(), source.name, allow_python, own=source.own)
    folder = Path(out) if out is not None else default_folder(plan)
    make_folder(folder)
    store = Store(folder)
    samples = Samples(plan, store)
    if len(samples.cells) < 2 or "\n[slotted" in plan.cells[0].resolved:
        raise BacklaneError(
            "R034", "there is nothing to choose from: the scenario has one contender"
            if len(samples.cells) < 2 else "a slotted model has no flows to judge", source.name,
            'sweep what can be chosen, such as "routing", or name it in [compare]',
        )  # fmt: skip
    cores = workers or core_count()
    if not ignore_memory:
        cost.refuse(plan, cores, None, folder, source.name)
    compared = plan.compare or {}
    zone = equal_within or compared.get("equal_within") or EQUAL_WITHIN
    with store.locked():
        claim(folder, plan)
        word = objective or compared.get("measure")
        contestants = Contestants(
            samples, limits or Limits(), math.log1p(zone), first, allowed, cores, plan_of,
            progress, None if word is None else objectives.OBJECTIVES[word],
        )  # fmt: skip
        found = contestants.hold()
        used = max((len(of) for of in found.values.values()), default=0)
        final = plan_of(max(used, 1))
        claim(folder, final)
        assemble(folder, final, store, None, source.overrides)
    made = answer(contestants, found, folder, zone)
    if made.best is not None and not made.interrupted and (n_minus_1 or candidates):
        after = Changed(contestants, made)
        if n_minus_1:
            after.fail()
        if candidates and not made.interrupted:
            after.upgrade(candidates)
    return made
