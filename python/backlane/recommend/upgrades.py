"""Candidate upgrades of links, and what they cost for what they gain.

A table in CSV has the columns `upgrade`, `link`, `cost` and any of `rate`, `delay`, `queue` and
`loss`, with values as in a scenario. Rows of one name are one upgrade, whose costs are added. A
link is named "a-b"; one that is not there yet is built, and needs `rate` and `delay`.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from backlane import toml
from backlane.errors import BacklaneError, read_error
from backlane.ranking import EQUAL, UNDECIDED, WORSE, Paired, holm
from backlane.recommend.variants import AS_IT_IS, Variant
from backlane.stats import LEVEL, Interval, mean_interval
from backlane.text import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backlane.objectives import Objective
    from backlane.recommend.variants import Outcomes

KEY = "upgrade"
"""The swept key of the campaign of upgrades."""
CHANGES = ("rate", "delay", "queue", "loss")
"""Columns that change a link."""
HEADER = ("upgrade", "cost", "gain", "change", "outcome", "cost per % of gain")
"""Columns of the table of upgrades."""
BETTER = "better"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Change:
    """A row: one link of an upgrade.

    Attributes:
        link: its two ends.
        values: of `CHANGES`, as in a scenario.
        place: in the file.
    """

    link: tuple[str, str]
    values: Mapping[str, str]
    place: str


@dataclass
class Upgrade:
    """An upgrade.

    Attributes:
        name: of it.
        cost: of all its rows, in the unit of the table.
        changes: of links.
    """

    name: str
    cost: float
    changes: list[Change]


@dataclass(frozen=True)
class Gain:
    """What an upgrade gains.

    Attributes:
        upgrade: what is built.
        gain: the reduction of the cost function, as a share; with its 95 % interval.
        change: of the measure, in its unit; mean over seeds with its 95 % interval.
        outcome: "better", "worse", "equal" or "undecided" against the network as it is.
        is_dominated: whether another upgrade costs no more, and its whole interval lies above.
    """

    upgrade: Upgrade
    gain: Interval
    change: Interval
    outcome: str
    is_dominated: bool = False

    @property
    def cost_per_percent(self) -> float:
        """Cost for each percent of gain; infinite without a gain."""
        return self.upgrade.cost / (100 * self.gain.mean) if self.gain.mean > 0 else math.inf


def read(path: Path) -> list[Upgrade]:
    """The upgrades of a file, in its order.

    Raises:
        BacklaneError: R003 when it cannot be read, R036 when it is no table of upgrades.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise read_error(error, path) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _bad("it is not UTF-8", path) from None
    if len(data) > _MOST_BYTES:
        raise _bad("it is larger than 1 MiB", path)
    reader = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
    header = [(name or "").strip() for name in reader.fieldnames or ()]
    reader.fieldnames = header
    for needed in ("upgrade", "link", "cost"):
        if needed not in header:
            raise _bad(f"the column `{needed}` is missing", f"{path}:1")
    for name in header:
        if name not in ("upgrade", "link", "cost", *CHANGES):
            raise _bad(f"the column `{name}` is not known", f"{path}:1")
    found: dict[str, Upgrade] = {}
    try:
        for row in reader:
            _add(found, {k: (v or "").strip() for k, v in row.items() if k},
                 f"{path}:{reader.line_num}")  # fmt: skip
    except csv.Error as error:
        raise _bad(str(error), f"{path}:{reader.line_num}") from error
    if not found:
        raise _bad("it has no rows", path)
    return list(found.values())


def _add(found: dict[str, Upgrade], row: dict[str, str], place: str) -> None:
    name, ends = row["upgrade"], [end.strip() for end in row["link"].split("-")]
    if not name or name == AS_IT_IS:
        raise _bad("the upgrade has no name of its own", place)
    if len(ends) < 2 or not row["link"]:
        raise _bad(f'"{row["link"]}" is no link "a-b"', place)
    try:
        cost = float(row["cost"] or 0)
    except ValueError:
        cost = math.nan
    if not 0 <= cost < math.inf:
        raise _bad(f'"{row["cost"]}" is no cost of zero or more', place)
    values = {key: row[key] for key in CHANGES if row.get(key)}
    if not values:
        raise _bad("the row changes nothing", place)
    upgrade = found.setdefault(name, Upgrade(name, 0.0, []))
    upgrade.cost += cost
    upgrade.changes.append(
        Change((ends[0], row["link"][len(ends[0]) + 1 :].strip()), values, place)
    )


def _bad(message: str, place: str | Path) -> BacklaneError:
    return BacklaneError(
        "R036", message, place,
        'write the columns upgrade, link ("a-b"), cost and any of rate, delay, queue, loss',
    )  # fmt: skip


def variants(resolved: str, scenario: dict[str, Any], upgrades: Sequence[Upgrade]) -> list[Variant]:
    """The scenario as it is, and with each upgrade.

    Raises:
        BacklaneError: R036 for a link of nodes that are not there, or a new one without a rate.
    """
    nodes = {node["id"] for node in scenario["topology"]["node"]}
    links = {
        frozenset((link["a"], link["b"])): index
        for index, link in enumerate(scenario["topology"].get("link", ()))
    }
    found = [Variant(AS_IT_IS, resolved)]
    for upgrade in upgrades:
        text, overrides = resolved, []
        for change in upgrade.changes:
            ends = _ends(change, nodes)
            index = links.get(frozenset(ends))
            if index is None:
                text = _with_link(text, ends, change)
                continue
            overrides += [
                (f"topology.link.{index}.{key}", _value(key, value, change))
                for key, value in change.values.items()
            ]
        found.append(Variant(upgrade.name, text, tuple(overrides)))
    return found


def _ends(change: Change, nodes: set[str]) -> tuple[str, str]:
    """The two ends; names may have hyphens themselves."""
    whole = "-".join(change.link)
    for at, letter in enumerate(whole):
        if letter == "-" and whole[:at].strip() in nodes and whole[at + 1 :].strip() in nodes:
            return whole[:at].strip(), whole[at + 1 :].strip()
    raise BacklaneError(
        "R036", f'the network has no two nodes "{whole}"', change.place,
        f"its nodes are {', '.join(sorted(nodes)[:20])}",
    )  # fmt: skip


def _value(key: str, value: str, change: Change) -> str:
    if key != "loss":
        return toml.value_text(value, key)
    try:
        return toml.value_text(float(value), key)
    except ValueError:
        raise _bad(f'"{value}" is no loss', change.place) from None


def _with_link(text: str, ends: tuple[str, str], change: Change) -> str:
    """A resolved scenario with one more link, before the others."""
    for needed in ("rate", "delay"):
        if needed not in change.values:
            raise BacklaneError(
                "R036", f'the link "{"-".join(ends)}" is new and has no {needed}', change.place,
                "give its rate and its delay, or name a link that is there",
            )  # fmt: skip
    values = {"a": ends[0], "b": ends[1]}
    pairs = [f"{key} = {toml.value_text(value, key)}" for key, value in values.items()]
    given = {"queue": "1 bdp", **change.values}
    pairs += [f"{key} = {_value(key, value, change)}" for key, value in given.items()]
    head, opened, rest = text.partition("\nlink = [\n")
    # Behind the others, so that their places stay.
    inner, closed, tail = rest.partition("\n]\n")
    return f"{head}{opened}{inner}\n  {{ {', '.join(pairs)} }},{closed}{tail}"


def judge(
    upgrades: Sequence[Upgrade], outcomes: Outcomes, objective: Objective, zone: float
) -> list[Gain]:
    """What each upgrade gains, the cheapest gain first.

    Each is compared with the network as it is by paired t tests of the logarithms, with Holm's
    correction over the upgrades; equal is within ± `zone`.
    """
    base = outcomes.costs(0, objective)
    gaps = [
        [mine - other for mine, other in zip(outcomes.costs(i, objective), base, strict=True)]
        for i in range(1, len(upgrades) + 1)
    ]
    known = [all(math.isfinite(gap) for gap in of) for of in gaps]
    paired = [Paired.of(of) if ok else Paired.of([]) for of, ok in zip(gaps, known, strict=True)]
    differs, equal = holm([p.differs for p in paired]), holm([p.within(zone) for p in paired])
    found = []
    for index, (upgrade, of, ok, one, p, q) in enumerate(
        zip(upgrades, gaps, known, paired, differs, equal, strict=True), start=1
    ):
        outcome = UNDECIDED
        if q <= 1 - LEVEL:
            outcome = EQUAL
        elif p <= 1 - LEVEL:
            outcome = WORSE if one.mean > 0 else BETTER
        change = _change(outcomes.costs(index, objective) if ok else [], base, objective.lowest)
        found.append(Gain(upgrade, _gain(of if ok else []), change, outcome))
    marked = [
        replace(one, is_dominated=any(_dominates(two, one) for two in found)) for one in found
    ]
    return sorted(marked, key=lambda one: (one.cost_per_percent, -one.gain.mean))


def _gain(gaps: Sequence[float]) -> Interval:
    """1 − cost / cost as it is, from differences of logarithms."""
    around = mean_interval(gaps)
    return Interval(
        -math.expm1(around.mean), -math.expm1(around.high), -math.expm1(around.low), around.count,
        around.method,
    )  # fmt: skip


def _change(costs: Sequence[float], base: Sequence[float], is_lowest: bool) -> Interval:
    """The difference of the measure by seed, from logarithms of its cost."""
    sign = 1 if is_lowest else -1
    pairs = zip(costs, base, strict=False)
    return mean_interval([math.exp(sign * mine) - math.exp(sign * other) for mine, other in pairs])


def _dominates(two: Gain, one: Gain) -> bool:
    return two.upgrade.cost <= one.upgrade.cost and two.gain.low > one.gain.high


def table(gains: Sequence[Gain], objective: Objective) -> list[list[str]]:
    """Rows under `HEADER`."""
    rows = []
    for one in gains:
        mean, low, high = (
            f"{100 * end:+.1f}" for end in (one.gain.mean, one.gain.low, one.gain.high)
        )
        each = "–" if one.outcome != BETTER else number(one.cost_per_percent)
        dominated = ", dominated" if one.is_dominated else ""
        rows.append([one.upgrade.name, f"{one.upgrade.cost:g}", f"{mean} % [{low}, {high}]",
                     objective.change(one.change), one.outcome + dominated, each])  # fmt: skip
    return rows


def as_dicts(gains: Sequence[Gain]) -> list[dict[str, Any]]:
    """For ``--json``."""
    return [
        {
            "upgrade": one.upgrade.name,
            "cost": one.upgrade.cost,
            "gain": {"mean": one.gain.mean, "low": one.gain.low, "high": one.gain.high},
            "change": {"mean": one.change.mean, "low": one.change.low, "high": one.change.high},
            "outcome": one.outcome,
            "dominated": one.is_dominated,
            "cost_per_percent": one.cost_per_percent,
        }
        for one in gains
    ]
