"""The figures of a report: drawn once, narrow enough for a phone.

Every figure is a `Drawn`: SVG, PNG, PDF and the numbers as CSV. The colours of text, lines and
series are taken from a small set, so that the page can exchange them for its dark scheme; those of
contenders are of `colors`.
"""

from __future__ import annotations

import csv
import io
import math
import re
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from backlane.report.colors import PALETTE, TINTS, assigned
from backlane.stats import UNIT, mean_candlestick, mean_interval, paired_difference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from backlane.measures import FlowMeasures
    from backlane.report.data import CellData, Network
    from backlane.report.judge import Verdict
    from backlane.stats import Candlestick

INK = "#1c1e21"
"""Text and axes."""
FAINT = "#c8ccd1"
"""Grid lines."""
PAPER = "#fefefd"
"""Background, and the rim around markers."""
LEVELS = ("#c3c9d1", "#eebb4d", "#ee8432", "#cc3f3a", "#7c1650")
"""Link utilisation in five steps: lightness falls, so that it also reads in grey."""

WIDTH_IN = 4.3
HEIGHT_IN = 3.3
_CANDLES_PER_FIGURE = 18
_LINES_PER_FIGURE = 7
_FORMULAE = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""First characters of cells that spreadsheets execute (OWASP, "CSV Injection")."""


Line: TypeAlias = "tuple[Sequence[float], Sequence[float]]"
"""Times and values."""


@dataclass(frozen=True)
class Mark:
    """What a group of a figure shows.

    Attributes:
        contender: its name.
        condition: its name; empty without conditions.
        text: the numbers, for readers who point at it.
    """

    contender: str
    condition: str
    text: str


@dataclass(frozen=True)
class Drawn:
    """A finished figure.

    Attributes:
        key: name of its files.
        title: what it shows.
        reading: one sentence on what it shows.
        svg: without XML declaration and metadata.
        png: at 200 dots per inch.
        pdf: with the title above the drawing and the source of the numbers below; empty for a
            figure without a source.
        csv: the numbers in it.
        marks: for groups of the SVG, by id, what they show.
        lines: times in seconds and values of each line of a figure over time.
        unit: of these values.
    """

    key: str
    title: str
    reading: str
    svg: str = field(repr=False)
    png: bytes = field(repr=False)
    pdf: bytes = field(repr=False)
    csv: str = field(repr=False)
    marks: Mapping[str, Mark] = field(default_factory=dict, repr=False)
    lines: Mapping[str, Line] = field(default_factory=dict, repr=False)
    unit: str = ""

    def _repr_png_(self) -> bytes:
        """The picture in a notebook."""
        return self.png


def _settings() -> dict[str, Any]:
    return {
        "font.family": "DejaVu Sans",
        "font.size": 9.5,
        "axes.labelsize": 9.5,
        "xtick.labelsize": 9,
        "ytick.labelsize": 9,
        "legend.fontsize": 9,
        "legend.frameon": False,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "grid.color": FAINT,
        "grid.linewidth": 0.6,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "figure.facecolor": PAPER,
        "axes.facecolor": "none",
        "savefig.facecolor": PAPER,
        # Labels and names are arbitrary text, and no formulae.
        "text.parse_math": False,
        "svg.fonttype": "path",
        "svg.hashsalt": "backlane",
        # Text that can be searched and set in another font.
        "pdf.fonttype": 42,
        "path.simplify": True,
    }


def draw(
    key: str,
    title: str,
    reading: str,
    rows: Sequence[Sequence[Any]],
    paint: Callable[[Figure, Axes], None],
    height_in: float = HEIGHT_IN,
    width_in: float = WIDTH_IN,
    source: str = "",
    marks: Mapping[str, Mark] | None = None,
) -> Drawn:
    """Paint a figure and export it; the same numbers always give the same bytes.

    Args:
        key: name of its files.
        title: what it shows.
        reading: one sentence.
        rows: header and rows of the CSV.
        paint: draws on a figure with one pair of axes.
        height_in: height in inches.
        width_in: width in inches.
        source: of the numbers; without one there is no PDF.
        marks: what the groups of the figure show, by the id that their artists have.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(rc=_settings()):  # type: ignore[arg-type]
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        paint(figure, axes)
        _plain_powers(figure)
        png, svg, pdf = io.BytesIO(), io.StringIO(), io.BytesIO()
        # No date and no program version: the bytes depend on the numbers only.
        figure.savefig(png, format="png", dpi=200, metadata={"Software": None})
        figure.set_layout_engine("none")
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        if source:
            _for_print(figure, title, source)
            about = {"Title": title, "Subject": source, "CreationDate": None, "Creator": None,
                     "Producer": None}  # fmt: skip
            figure.savefig(pdf, format="pdf", bbox_inches="tight", metadata=about)
    return Drawn(
        key, title, reading, _clean(svg.getvalue(), title), png.getvalue(), pdf.getvalue(),
        to_csv(rows), marks or {},
    )  # fmt: skip


def _for_print(figure: Figure, title: str, source: str) -> None:
    """The title above the drawing, and below it where the numbers are from."""
    height_in = figure.get_size_inches()[1]
    for above in figure.legends:
        # By itself it would go along with the edge of the larger page.
        above.set_bbox_to_anchor((0, 0, 1, 1), transform=figure.transFigure)
    figure.text(0.01, 1 + 0.06 / height_in, textwrap.fill(title, 60), va="bottom", fontsize=10)
    figure.text(0.01, -0.06 / height_in, textwrap.fill(source, 84), va="top",
                fontsize=6.5)  # fmt: skip


def _plain_powers(figure: Figure) -> None:
    """Write the numbers of logarithmic axes without formulae: 10², not $10^{2}$."""
    from matplotlib.ticker import LogFormatterSciNotation

    superscripts = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

    class Powers(LogFormatterSciNotation):
        def __call__(self, x: float, pos: int | None = None) -> str:
            text = super().__call__(x, pos).replace(r"\times", " × ").replace("\u2212", "-")
            text = re.sub(r"\$\\mathdefault\{(.*)\}\$", r"\1", text)
            return re.sub(r"\^\{(.*?)\}", lambda power: power[1].translate(superscripts), text)

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            known = axis.get_major_formatter()
            if isinstance(known, LogFormatterSciNotation):
                base = float(axis.get_transform().base)  # type: ignore[attr-defined]
                axis.set_major_formatter(Powers(base))
                axis.set_minor_formatter(Powers(base, labelOnlyBase=base != 10.0))


def _clean(svg: str, title: str) -> str:
    """Drop what a page does not need: XML declaration, document type, metadata."""
    from html import escape

    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    head_end = svg.index(">") + 1
    head = re.sub(r'\s(width|height)="[^"]*pt"', "", svg[:head_end])
    return f"{head}\n <title>{escape(title)}</title>{svg[head_end:]}".rstrip() + "\n"


def to_csv(rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV text; numbers in full precision.

    A text that a spreadsheet would read as a formula gets a leading quotation mark.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow(["" if _is_nan(value) else _no_formula(value) for value in row])
    return text.getvalue()


def _no_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAE) else value


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def slug(text: str) -> str:
    """A name that fits any file system."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:80].strip("-") or "x"


def color_of(network: Network, contender: str) -> str:
    """The colour of a contender, the same in every figure.

    When there are more contenders than colours, those with the same first choice, such as the
    routing, share one; the axis then distinguishes them.
    """
    names = network.contenders
    if len(names) > len(PALETTE) + len(TINTS):
        names = list(dict.fromkeys(name.split(", ", 1)[0] for name in names))
        contender = contender.split(", ", 1)[0]
    return assigned(names)[contender]


def source_of(network: Network) -> str:
    """Where the numbers of a figure are from: seeds, scenario and version."""
    manifest = network.results.manifest
    return (
        f"{network.name}; n = {network.seed_count} seeds; scenario "
        f"{str(manifest.get('scenario_hash'))[:16]}; Backlane {manifest.get('version')}, model "
        f"{manifest.get('model_version')}"
    )


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], least: int = 2) -> None:
    """A legend above the axes, in as many columns as fit; none for fewer than `least` entries."""
    if len(labels) < least:
        return
    longest = max(map(len, labels), default=1)
    figure.legend(
        handles,
        labels,
        loc="outside upper left",
        ncols=max(1, min(len(labels), int(52 / (longest + 5)))),
        handlelength=1.0,
        handletextpad=0.5,
        columnspacing=1.2,
        borderaxespad=0.1,
    )


@dataclass(frozen=True)
class Metric:
    """A statistic shown as candlesticks.

    Attributes:
        key: part of the file name.
        title: of the figure.
        axis: label of the value axis, with the unit.
        scale: from SI to the unit of the axis.
        unit: of the axis.
        stick: takes it from a run.
    """

    key: str
    title: str
    axis: str
    scale: float
    unit: str
    stick: Callable[[FlowMeasures], Candlestick]

    @property
    def words(self) -> str:
        """The unit as it is written."""
        return self.unit.replace("mbps", "Mbit/s")


FINISH_TIME = Metric(
    "finish-time", "Finish time", "finish time in s", 1.0, "s", lambda m: m.finish_time_s
)
RTT = Metric("rtt", "Round-trip time", "mean RTT of a flow in ms", 1e3, "ms", lambda m: m.rtt_s)
GOODPUT = Metric(
    "goodput", "Goodput", "goodput of a flow in Mbit/s", 1e-6, "mbps", lambda m: m.each_goodput_bps
)


def positions(network: Network) -> list[tuple[str, list[str]]]:
    """How cells are laid out: groups along the x axis, and the contenders in each.

    With several conditions the groups are conditions. With a single one, each contender is a
    group of its own.
    """
    if len(network.conditions) > 1:
        return [(condition, network.contenders) for condition in network.conditions]
    only = network.conditions[0]
    return [(only, [contender]) for contender in network.contenders]


def chunks(network: Network) -> list[list[tuple[str, list[str]]]]:
    """`positions`, split so that each figure remains readable."""
    groups: list[tuple[str, list[str]]] = []
    for condition, names in positions(network):
        step = _LINES_PER_FIGURE if len(names) > _LINES_PER_FIGURE else len(names)
        groups += [(condition, names[i : i + step]) for i in range(0, len(names), step)]
    parts: list[list[tuple[str, list[str]]]] = [[]]
    for group in groups:
        size = sum(len(names) for _, names in parts[-1])
        if parts[-1] and size + len(group[1]) > _CANDLES_PER_FIGURE:
            parts.append([])
        parts[-1].append(group)
    return parts


def candlesticks(network: Network, metric: Metric) -> list[Drawn]:
    """Box P20 to P80, whiskers minimum to maximum, line mean, dot and bar the 95 % interval."""
    parts = chunks(network)
    return [
        _candlestick_part(network, metric, part, index, len(parts))
        for index, part in enumerate(parts)
    ]


def _cell(network: Network, condition: str, contender: str) -> CellData | None:
    found = (c for c in network.at(condition) if c.contender == contender)
    return next(found, None)


def stick_numbers(runs: Sequence[Candlestick]) -> list[float]:
    """Minimum, P20, mean, P80, maximum and the 95 % interval of the mean, over runs."""
    s = mean_candlestick(runs)
    around = mean_interval([run.mean for run in runs if not math.isnan(run.mean)])
    return [s.minimum, s.p20, s.mean, s.p80, s.maximum, around.low, around.high]


def paint_sticks(axes: Axes, sticks: Sequence[tuple[float, str, Sequence[float]]]) -> None:
    """Draw candlesticks: place, colour and the seven `stick_numbers` of each.

    The artists of each have ids from `mark_id`.
    """
    for index, (at, color, (low, p20, mean, p80, high, mean_low, mean_high)) in enumerate(sticks):
        artists = [
            axes.vlines(at, low, high, color=color, linewidth=1.3),
            *axes.bar(at, p80 - p20, 0.72, bottom=p20, color=color, alpha=0.35, linewidth=0),
            *axes.bar(at, p80 - p20, 0.72, bottom=p20, fill=False, edgecolor=color, linewidth=1.1),
            axes.hlines(mean, at - 0.36, at + 0.36, color=INK, linewidth=1.8),
        ]
        if not math.isnan(mean_low):
            artists.append(axes.vlines(at, mean_low, mean_high, color=INK, linewidth=2.0))
        set_marks(index, artists)


def set_marks(index: int, artists: Iterable[Artist]) -> None:
    """Give the artists of a mark ids that `mark_of` maps to its number."""
    for part, artist in enumerate(artists):
        artist.set_gid(f"mark-{index}-{part}")


def mark_of(gid: str) -> str:
    """The key in `Drawn.marks` of an id of the SVG."""
    return gid.rpartition("-")[0]


def _candlestick_part(
    network: Network, metric: Metric, part: list[tuple[str, list[str]]], index: int, count: int
) -> Drawn:
    rows: list[list[Any]] = [
        ["condition", "contender", "seeds", *(f"{name}_{metric.unit}" for name in (
            "minimum", "p20", "mean", "p80", "maximum", "mean_low", "mean_high")), "unfinished"]
    ]  # fmt: skip
    sticks: list[tuple[float, str, list[float]]] = []
    marks: dict[str, Mark] = {}
    place, ticks, labels = 0.0, [], []
    for condition, names in part:
        first = place
        for name in names:
            cell = _cell(network, condition, name)
            if cell is not None:
                runs = [metric.stick(m) for m in cell.by_seed.values()]
                means = [run.mean for run in runs if not math.isnan(run.mean)]
                numbers = [value * metric.scale for value in stick_numbers(runs)]
                rows.append([condition, name, len(means), *numbers, len(cell.unfinished)])
                if means:
                    text = f"{metric.title} of {_named(name, condition)}: {_numbers(numbers)}"
                    mark = Mark(name, condition, f"{text} {metric.words}")
                    marks[f"mark-{len(sticks)}"] = mark
                    sticks.append((place, color_of(network, name), numbers))
            place += 1
        ticks.append((first + place - 1) / 2)
        labels.append(condition if len(network.conditions) > 1 else names[0])
        place += 0.7

    shown = list(dict.fromkeys(name for _, names in part for name in names))
    grouped = len(network.conditions) > 1

    def paint(figure: Figure, axes: Axes) -> None:
        paint_sticks(axes, sticks)
        axes.set_ylim(bottom=0)
        axes.set_ylabel(metric.axis)
        x_axis(axes, ticks, labels, grouped)
        if grouped:
            legend(figure, _patches([color_of(network, name) for name in shown]), shown)

    which = f" ({index + 1} of {count})" if count > 1 else ""
    return draw(
        f"{slug(network.name)}-{metric.key}" + (f"-{index + 1}" if count > 1 else ""),
        f"{metric.title}, {network.name}{which}",
        _candlestick_reading(rows, metric),
        rows,
        paint,
        source=source_of(network),
        marks=marks,
    )


def _named(contender: str, condition: str) -> str:
    return f"{contender} at {condition}" if condition else contender


def _numbers(stick: Sequence[float]) -> str:
    """A candlestick in words, without its unit."""
    from backlane.text import number

    low, p20, mean, p80, high, mean_low, mean_high = stick
    around = "" if math.isnan(mean_low) else (
        f" [{number(mean_low, like=mean)}, {number(mean_high, like=mean)}]"
    )  # fmt: skip
    return (
        f"mean {number(mean)}{around}, P20 {number(p20)}, P80 {number(p80)}, "
        f"{number(low)} to {number(high)}"
    )


def x_axis(axes: Axes, ticks: Sequence[float], labels: Sequence[str], grouped: bool) -> None:
    """Name the groups; a unit that all share goes to the axis label, long names slant."""
    labels = [re.sub(r"\b\w+\.(?=[\w.]+ = )", "", label) for label in labels]
    words = [label.split(" ", 1) for label in labels]
    units = {word[1] if len(word) == 2 else "" for word in words}
    prefixes = {
        label.rsplit(" = ", 1)[0] for label in labels if " = " in label and "," not in label
    }
    if grouped and len(units) == 1 and units != {""} and all(w[0].isdigit() for w in words):
        axes.set_xlabel(units.pop())
        labels = [word[0] for word in words]
    elif grouped and len(prefixes) == 1 and not any("," in label for label in labels):
        axes.set_xlabel(prefixes.pop())
        labels = [label.rsplit(" = ", 1)[1] for label in labels]
    slant = sum(len(label) + 1 for label in labels) > 48
    axes.set_xticks(list(ticks), list(labels))
    if slant:
        for text in axes.get_xticklabels():
            text.set_rotation(35)
            text.set_horizontalalignment("right")
            text.set_rotation_mode("anchor")
    axes.tick_params(axis="x", length=0)


def _patches(colors: Sequence[str]) -> list[Any]:
    from matplotlib.patches import Patch

    return [Patch(facecolor=color, edgecolor=color, alpha=0.7) for color in colors]


def _candlestick_reading(rows: Sequence[Sequence[Any]], metric: Metric) -> str:
    from backlane.text import number

    known = [row for row in rows[1:] if not math.isnan(row[5])]
    if not known:
        return "No flow has this measure."
    last = [row for row in known if row[0] == known[-1][0]]
    low, high = min(last, key=lambda row: row[5]), max(last, key=lambda row: row[5])
    where = f"At {last[0][0]} the" if last[0][0] else "The"
    name, unit = metric.title.lower(), metric.words
    if low is high:
        text = f"{where} mean {name} is {number(low[5])} {unit}."
    else:
        text = (
            f"{where} mean {name} lies between {number(low[5])} {unit} ({low[1]}) and "
            f"{number(high[5])} {unit} ({high[1]})."
        )
    unfinished = sum(row[-1] for row in known) if metric is FINISH_TIME else 0
    if unfinished:
        text += f" {unfinished} flows did not finish and are not in the boxes."
    return text


def ranked(network: Network, verdicts: Sequence[Verdict]) -> list[Drawn]:
    """The measure that ranks the contenders: mean and interval, and a small dot for each seed."""
    drawn = []
    for index, verdict in enumerate(one for one in verdicts if one.network == network.name):
        drawn.append(_ranked_part(network, verdict, index))
    return drawn


def _ranked_part(network: Network, verdict: Verdict, index: int) -> Drawn:
    objective = verdict.objective
    sign = 1 if objective.lowest else -1
    unit, scale = objective.axis
    names = [standing.name for standing in verdict.standings]
    shades = assigned(network.contenders if set(names) <= set(network.contenders) else names)
    ending = f"_{unit.replace('Mbit/s', 'mbps')}" if unit else ""
    rows: list[list[Any]] = [["condition", "contender", "verdict", *(
        f"{name}{ending}" for name in ("mean", "low", "high"))]]  # fmt: skip
    marks = {}
    for place, standing in enumerate(verdict.standings):
        value = standing.value
        ends = sorted((sign * value.low * scale, sign * value.high * scale))
        rows.append(
            [verdict.condition, standing.name, standing.verdict or "best",
             sign * value.mean * scale, *ends]
        )  # fmt: skip
        marks[f"mark-{place}"] = Mark(
            standing.name, verdict.condition,
            f"{objective.title} of {_named(standing.name, verdict.condition)}: "
            f"{verdict.value(standing)}",
        )  # fmt: skip

    def paint(figure: Figure, axes: Axes) -> None:
        for place, row in enumerate(rows[1:]):
            name, (mean, low, high) = row[1], row[3:]
            artists: list[Artist] = []
            if not math.isnan(low):
                artists.append(
                    axes.hlines(place, low, high, color=shades[name], linewidth=5, alpha=0.45)
                )
            artists += axes.plot([mean], [place], "o", color=shades[name], markersize=6)
            set_marks(place, artists)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.set_xlabel(f"{objective.title} in {unit}" if unit else objective.title)
        axes.grid(axis="x")
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)

    at = f", {verdict.condition}" if verdict.condition else ""
    return draw(
        f"{slug(network.name)}-ranking-{index + 1}",
        f"{objective.title[0].upper()}{objective.title[1:]}, {network.name}{at}",
        _ranked_reading(verdict),
        rows,
        paint,
        height_in=1.0 + 0.3 * len(names),
        source=source_of(network),
        marks=marks,
    )


def _ranked_reading(verdict: Verdict) -> str:
    value = verdict.value(verdict.best)
    around = " (mean over seeds with its 95 % interval)" if verdict.seeds > 1 else ""
    first = "Best first: " if len(verdict.standings) > 1 else ""
    return f"{first}{verdict.best.name} has {value}{around}."


def fairness(network: Network) -> list[Drawn]:
    """Jain's index of goodput with intervals, a line per contender."""
    grouped = len(network.conditions) > 1
    names = network.contenders
    step = _LINES_PER_FIGURE if grouped else _CANDLES_PER_FIGURE
    parts = [names[i : i + step] for i in range(0, len(names), step)]
    return [
        _fairness_part(network, part, grouped, index, len(parts))
        for index, part in enumerate(parts)
    ]


def _fairness_part(
    network: Network, names: list[str], grouped: bool, index: int, count: int
) -> Drawn:
    rows: list[list[Any]] = [["condition", "contender", "seeds", "jain", "low", "high"]]
    for name in names:
        for condition in network.conditions:
            cell = _cell(network, condition, name)
            values = [] if cell is None else [
                m.jain for m in cell.by_seed.values() if not math.isnan(m.jain)
            ]  # fmt: skip
            around = mean_interval(values, UNIT)
            rows.append([condition, name, len(values), around.mean, around.low, around.high])

    # A line between points implies values between them.
    joined = grouped and len(network.givens) == 1
    marks = {
        f"mark-{index}": Mark(row[1], row[0], f"Jain's index of {_named(row[1], row[0])}: "
                              f"{row[3]:.3f}" + ("" if math.isnan(row[4]) else
                                                 f" [{row[4]:.3f}, {row[5]:.3f}]"))
        for index, row in enumerate(rows[1:])
        if not math.isnan(row[3])
    }  # fmt: skip

    def paint(figure: Figure, axes: Axes) -> None:
        handles = []
        for order, name in enumerate(names):
            mine = [row for row in rows[1:] if row[1] == name]
            shift = (order - (len(names) - 1) / 2) * 0.09 if grouped else 0.0
            at = [i + shift if grouped else float(order) for i in range(len(mine))]
            means = [row[3] for row in mine]
            errors = [
                [0.0 if math.isnan(row[4]) else row[3] - row[4] for row in mine],
                [0.0 if math.isnan(row[5]) else row[5] - row[3] for row in mine],
            ]
            color = color_of(network, name)
            if joined:
                axes.plot(at, means, color=color, linewidth=1.4)
            for place, mean, below, above, row in zip(at, means, *errors, mine, strict=True):
                (dot, caps, bars) = axes.errorbar(
                    [place], [mean], yerr=[[below], [above]], color=color, fmt="o", markersize=5,
                    elinewidth=1.4, capsize=3,
                )  # fmt: skip
                set_marks(rows.index(row) - 1, [dot, *caps, *bars])
            handles.append(axes.plot([], [], "o-" if joined else "o", color=color)[0])
        lowest = min((row[4] if row[4] == row[4] else row[3] for row in rows[1:]), default=0.0)
        axes.set_ylim(
            math.floor(max(lowest - 0.02, 0.0) * 10) / 10 if lowest == lowest else 0, 1.01
        )
        axes.set_ylabel("Jain's index of goodput")
        if grouped:
            x_axis(axes, range(len(network.conditions)), network.conditions, True)
            legend(figure, handles, names)
        else:
            axes.set_xlim(-0.6, len(names) - 0.4)
            x_axis(axes, range(len(names)), names, False)

    which = f" ({index + 1} of {count})" if count > 1 else ""
    return draw(
        f"{slug(network.name)}-fairness" + (f"-{index + 1}" if count > 1 else ""),
        f"Fairness, {network.name}{which}",
        _fairness_reading(network, names, rows),
        rows,
        paint,
        source=source_of(network),
        marks=marks,
    )


def _fairness_reading(network: Network, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    known = [row for row in rows[1:] if not math.isnan(row[3])]
    if not known:
        return "No goodput was measured."
    condition = known[-1][0]
    last = [row for row in known if row[0] == condition]
    high, low = max(last, key=lambda row: row[3]), min(last, key=lambda row: row[3])
    where = f"At {condition} goodput" if condition else "Goodput"
    if high is low:
        return f"{where} has a Jain's index of {high[3]:.2f}."
    by_seed = {
        name: {seed: m.jain for seed, m in cell.by_seed.items() if not math.isnan(m.jain)}
        for name in names
        if (cell := _cell(network, condition, name)) is not None
    }
    if paired_difference(by_seed[high[1]], by_seed[low[1]]).has_zero:
        return (
            f"{where} is shared alike: the indices, {low[3]:.3f} to {high[3]:.3f}, "
            "cannot be told apart."
        )
    return (
        f"{where} is shared most evenly by {high[1]} ({high[3]:.3f}) "
        f"and least evenly by {low[1]} ({low[3]:.3f})."
    )
