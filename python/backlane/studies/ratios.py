"""A figure of the ratio of two contenders, and of where it crosses 1.

``ratio`` draws the ratio of a metric between the two values ``of`` of the swept key ``over``, seed
by seed, along the numbers of the key ``x``: a line per value of ``by`` with 95 % intervals, and a
line at 1. The crossings of 1 are interpolated between two numbers on a logarithmic axis, with an
interval from resampled seeds (percentiles of a bootstrap).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane.report.figures import INK, draw
from backlane.stats import LEVEL, RESAMPLES, mean_interval
from backlane.studies import metrics, published
from backlane.studies.runs import by_seed
from backlane.studies.style import (
    WIDE_IN,
    chosen,
    colors,
    contenders_of,
    markers,
    paint_curves,
    position_of,
    where_of,
    whole_ticks,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.report.figures import Drawn
    from backlane.stats import Interval
    from backlane.studies.runs import BySeed, Runs
    from backlane.studies.study import FigureSpec

_SEED = 20170601


@dataclass(frozen=True)
class Crossing:
    """A number of the axis where a ratio crosses 1, with its interval.

    Attributes:
        at: −∞ where it crosses before the first number, or ∞ after the last.
        low: lower end of the 95 % interval; NaN with one seed.
        high: upper end.
    """

    at: float
    low: float
    high: float

    def text(self, first: float, last: float) -> str:
        """In words, for an axis from `first` to `last`."""
        if math.isnan(self.low):
            return _end(self.at, first, last)
        ends = [_end(end, first, last) for end in (self.low, self.high)]
        return f"{_end(self.at, first, last)} (95 %: {ends[0]} to {ends[1]})"


@dataclass(frozen=True)
class Above:
    """Where a ratio is above 1.

    Attributes:
        until: where it first falls to 1; −∞ if it begins there, ∞ if it never does.
        since: the last crossing from below; −∞ if it is always above, ∞ if it ends below.
    """

    until: Crossing
    since: Crossing

    def text(self, first: float, last: float) -> str:
        """In words, for an axis from `first` to `last`."""
        if self.until.at == math.inf:
            return f"above 1 from {first:g} to {last:g}"
        parts = []
        if self.until.at != -math.inf:
            parts.append(f"up to {self.until.text(first, last)}")
        if self.since.at != math.inf:
            parts.append(f"from {self.since.text(first, last)} on")
        if not parts:
            return f"nowhere above 1 for good from {first:g} to {last:g}"
        return f"above 1 {' and '.join(parts)}"


def _end(at: float, first: float, last: float) -> str:
    if math.isinf(at):
        return f"below {first:g}" if at < 0 else f"above {last:g}"
    return f"{at:.1f}"


def above(points: Mapping[float, BySeed]) -> Above:
    """Where the mean ratio is above 1, with intervals over seeds.

    Args:
        points: by the number of the axis, the ratio of each seed; only seeds at all numbers count,
            and there is at least one.
    """
    import numpy as np

    ats = sorted(points)
    seeds = sorted(set.intersection(*(set(points[at]) for at in ats)))
    ratios = np.array([[points[at][seed] for seed in seeds] for at in ats])
    drawn = np.random.default_rng(_SEED).integers(0, len(seeds), (RESAMPLES, len(seeds)))
    again = [ratios[:, draw].mean(axis=1).tolist() for draw in drawn] if len(seeds) > 1 else []
    means = ratios.mean(axis=1).tolist()
    return Above(_crossing(_until, ats, means, again), _crossing(_since, ats, means, again))


def _crossing(
    of: Callable[[Sequence[float], Sequence[float]], float],
    ats: Sequence[float], means: Sequence[float], again: Sequence[Sequence[float]],
) -> Crossing:  # fmt: skip
    if not again:
        return Crossing(of(ats, means), math.nan, math.nan)
    found = sorted(of(ats, resampled) for resampled in again)
    # Ends may be infinite: no interpolation between order statistics.
    tail = round((1 - LEVEL) / 2 * (RESAMPLES - 1))
    return Crossing(of(ats, means), found[tail], found[-1 - tail])


def _until(ats: Sequence[float], means: Sequence[float]) -> float:
    """Where it first falls to 1."""
    down = next((index for index, mean in enumerate(means) if mean <= 1), None)
    if down is None:
        return math.inf
    return _between(ats, means, down - 1) if down else -math.inf


def _since(ats: Sequence[float], means: Sequence[float]) -> float:
    """The last crossing from below."""
    below = [index for index, mean in enumerate(means) if mean <= 1]
    if not below:
        return -math.inf
    return math.inf if below[-1] == len(means) - 1 else _between(ats, means, below[-1])


def _between(ats: Sequence[float], means: Sequence[float], index: int) -> float:
    """The crossing of 1 after a point, linear over the logarithm of the axis."""
    share = (1 - means[index]) / (means[index + 1] - means[index])
    return float(ats[index] * (ats[index + 1] / ats[index]) ** share)


def ratio(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """A picture for each metric: the ratio of two contenders over a swept number."""
    return [_ratio(spec, runs, metric) for metric in chosen(spec, "system_throughput")]


def _ratio(spec: FigureSpec, runs: Runs, metric: str) -> Drawn:
    where, x, by = where_of(spec), spec.options["x"], spec.options["by"]
    over, (top, bottom) = spec.options["over"], spec.options["of"]
    known = metrics.get(metric)
    contenders = contenders_of(spec, runs)
    levels = runs.levels(by, where)
    shade, marker = colors(levels), markers(levels)
    rows: list[list[Any]] = [[by, x, "seeds", "ratio", "low", "high"]]
    lines: list[tuple[Any, list[tuple[float, Interval]]]] = []
    notes = []
    for contender in contenders:
        points: dict[float, BySeed] = {}
        for level in runs.levels(x, where | {by: contender}):
            at = where | {by: contender, x: level}
            tops, bottoms = (
                by_seed(runs.at(at | {over: name}), known.of) for name in (top, bottom)
            )
            points[position_of(spec, level)] = {
                seed: tops[seed] / bottoms[seed]
                for seed in sorted(tops.keys() & bottoms.keys())
                if bottoms[seed] > 0
            }
        points = {at: found for at, found in points.items() if found}
        if not points:
            continue
        line = [(at, mean_interval(list(points[at].values()))) for at in sorted(points)]
        lines.append((contender, line))
        rows += [[contender, at, i.count, i.mean, i.low, i.high] for at, i in line]
        if not set.intersection(*(set(found) for found in points.values())):
            notes.append(f"{contender}: no seed has a ratio everywhere")
            continue
        found = above(points)
        rows += [
            [contender, name, "", crossing.at, crossing.low, crossing.high]
            for name, crossing in (("above 1 until", found.until), ("above 1 since", found.since))
        ]
        notes.append(f"{contender}: {found.text(line[0][0], line[-1][0])}")
    marks = published.marks(spec, metric)
    rows += [mark.row() for mark in marks]

    def paint(figure: Figure, axes: Axes) -> None:
        handles = paint_curves(axes, lines, shade, marker)
        axes.axhline(1.0, color=INK, linewidth=1.0, linestyle="--", zorder=1)
        axes.set_xscale("log", base=2)
        whole_ticks(axes, sorted({at for _, line in lines for at, _ in line}))
        axes.set_xlabel(str(spec.options.get("labels", [x])[0]))
        axes.set_ylabel(f"{known.words},\n{top} over {bottom}")
        published.paint_points(axes, marks, spec, shade)
        published.key(figure, handles, [str(contender) for contender, _ in lines], marks)

    note = f"{top} over {bottom}; bands are 95 % intervals. {'; '.join(notes)}."
    note += published.note(marks)
    suffix = "" if isinstance(spec.options.get("metric", metric), str) else f"-{metric}"
    return draw(f"{spec.id}{suffix}", spec.title, note, rows, paint, width_in=WIDE_IN)


FORMS: dict[str, Callable[[FigureSpec, Runs], list[Drawn]]] = {"ratio": ratio}
"""The forms of this module."""
