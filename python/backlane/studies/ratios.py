"""A figure of one contender over another, and of where it begins to pay.

``ratio`` draws the ratio of a metric between the two values ``of`` of the swept key ``over``, seed
by seed, along the numbers of the key ``x``: a line per value of ``by`` with 95 % intervals, and a
line at 1. Where the ratio comes to stay above 1 is read off between the two numbers around it, on
a logarithmic axis, with an interval from resampled seeds (percentiles of a bootstrap).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane.report.figures import INK, draw, legend
from backlane.stats import LEVEL, RESAMPLES, mean_interval
from backlane.studies import metrics
from backlane.studies.painting import (
    WIDE_IN,
    chosen,
    colors,
    contenders_of,
    markers,
    where_of,
    whole_ticks,
)
from backlane.studies.terms import leading_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.report.figures import Drawn
    from backlane.stats import Interval
    from backlane.studies.painting import Runs
    from backlane.studies.study import FigureSpec
    from backlane.studies.terms import BySeed

_SEED = 20170601


@dataclass(frozen=True)
class Crossing:
    """Where a ratio comes to stay above 1.

    Attributes:
        at: number of the axis; −∞ when it is above 1 from the first on, ∞ when it ends below.
        low: lower end of the 95 % interval; NaN with one seed.
        high: upper end.
    """

    at: float
    low: float
    high: float

    def text(self, first: float, last: float) -> str:
        """In words, for an axis from `first` to `last`."""
        if self.at == -math.inf:
            where = f"above 1 from {first:g} on"
        elif self.at == math.inf:
            where = f"not above 1 up to {last:g}"
        else:
            where = f"above 1 from {self.at:.1f} on"
        if math.isnan(self.low) or self.low == self.high:
            return where
        ends = [
            f"below {first:g}" if end == -math.inf
            else f"above {last:g}" if end == math.inf else f"{end:.1f}"
            for end in (self.low, self.high)
        ]  # fmt: skip
        return f"{where} (95 %: {ends[0]} to {ends[1]})"


def crossing(points: Mapping[float, BySeed]) -> Crossing:
    """Where the mean ratio comes to stay above 1, with an interval over seeds.

    Args:
        points: by the number of the axis, the ratio of each seed; only seeds that all have count.
    """
    import numpy as np

    ats = sorted(points)
    seeds = sorted(set.intersection(*(set(points[at]) for at in ats)))
    ratios = np.array([[points[at][seed] for seed in seeds] for at in ats])
    found = _stays(ats, ratios.mean(axis=1).tolist())
    if len(seeds) < 2:
        return Crossing(found, math.nan, math.nan)
    draws = np.random.default_rng(_SEED).integers(0, len(seeds), (RESAMPLES, len(seeds)))
    again = sorted(_stays(ats, ratios[:, drawn].mean(axis=1).tolist()) for drawn in draws)
    # Infinite ends are ends as well: no interpolation between order statistics.
    tail = round((1 - LEVEL) / 2 * (RESAMPLES - 1))
    return Crossing(found, again[tail], again[-1 - tail])


def _stays(ats: Sequence[float], means: Sequence[float]) -> float:
    """From where on all that follows is above 1."""
    if means[-1] <= 1:
        return math.inf
    below = [index for index, mean in enumerate(means) if mean <= 1]
    if not below:
        return -math.inf
    last = below[-1]
    (a, b), (low, high) = ats[last : last + 2], means[last : last + 2]
    share = (1 - low) / (high - low)
    return math.exp(math.log(a) + share * math.log(b / a))


def ratio(spec: FigureSpec, runs: Runs) -> list[Drawn]:
    """A picture for each metric: the ratio of two contenders over a swept number."""
    return [_ratio(spec, runs, metric) for metric in chosen(spec, "system_throughput")]


def _ratio(spec: FigureSpec, runs: Runs, metric: str) -> Drawn:
    where, x, by = where_of(spec), spec.options["x"], spec.options["by"]
    over, (above, below) = spec.options["over"], spec.options["of"]
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
                {view.seed: known.of(view) for view in runs.at(at | {over: name})}
                for name in (above, below)
            )
            points[leading_number(level)] = {
                seed: tops[seed] / bottoms[seed]
                for seed in sorted(tops.keys() & bottoms.keys())
                if bottoms[seed] > 0 and not math.isnan(tops[seed])
            }
        line = [(at, mean_interval(list(points[at].values()))) for at in sorted(points)]
        lines.append((contender, line))
        rows += [[contender, at, i.count, i.mean, i.low, i.high] for at, i in line]
        where_it_stays = crossing(points)
        rows.append([contender, "stays above 1 from", "", where_it_stays.at, where_it_stays.low,
                     where_it_stays.high])  # fmt: skip
        notes.append(f"{contender}: {where_it_stays.text(line[0][0], line[-1][0])}")

    def paint(figure: Figure, axes: Axes) -> None:
        handles = []
        for contender, line in lines:
            ats = [at for at, _ in line]
            color = shade[contender]
            handles.append(
                axes.plot(ats, [i.mean for _, i in line], color=color, marker=marker[contender],
                          markersize=4.5, linewidth=1.3)[0]
            )  # fmt: skip
            if all(i.known for _, i in line):
                axes.fill_between(ats, [i.low for _, i in line], [i.high for _, i in line],
                                  color=color, alpha=0.18, linewidth=0)  # fmt: skip
        axes.axhline(1.0, color=INK, linewidth=1.0, linestyle="--", zorder=1)
        axes.set_xscale("log", base=2)
        whole_ticks(axes, sorted({at for _, line in lines for at, _ in line}))
        axes.set_xlabel(str(spec.options.get("labels", [x])[0]))
        axes.set_ylabel(f"{known.words},\n{above} over {below}")
        legend(figure, handles, [str(contender) for contender, _ in lines])

    note = f"{above} over {below}; bands are 95 % intervals. {'; '.join(notes)}."
    suffix = "" if isinstance(spec.options.get("metric", metric), str) else f"-{metric}"
    return draw(f"{spec.id}{suffix}", spec.title, note, rows, paint, width_in=WIDE_IN)


FORMS: dict[str, Callable[[FigureSpec, Runs], list[Drawn]]] = {"ratio": ratio}
"""The forms of this module."""
