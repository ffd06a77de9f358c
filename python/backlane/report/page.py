"""The content of the page of a report."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from backlane.objectives import seconds_interval
from backlane.report import bounds, figures
from backlane.report.explore import explored
from backlane.report.html import Marked, Page, Table
from backlane.report.map import maps
from backlane.report.mesh import graphs
from backlane.report.series import goodputs, queues, windows
from backlane.stats import ENOUGH_SEEDS, RESAMPLES, UNIT, mean_candlestick, mean_interval
from backlane.text import number, rate, seconds, span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from backlane.measures import FlowMeasures
    from backlane.progress import Progress
    from backlane.report.bounds import Shares
    from backlane.report.data import CellData, Network
    from backlane.report.figures import Drawn
    from backlane.report.judge import Verdict
    from backlane.stats import Interval

BEST_HEADER = ("network", "condition", "best", "mean", "next that is worse", "verdict")
"""Columns of the table of the best."""

_BOX_NOTE = (
    "Box: 20th to 80th percentile of the flows; whiskers: minimum and maximum; line: mean "
    "with its 95 % interval over seeds. Each is taken per run, then averaged over seeds. "
    "Jain's index of goodput is 1 when all flows get the same and 1/n when one gets all."
)

_GRAPH_NOTE = (
    "A line for each direction of a link, on the right of whoever goes that way, as wide as what "
    "it carried, and in the colour of its channel, whose number stands on it."
)


class Steps:
    """Passes the number of figures drawn to a progress bar."""

    def __init__(self, progress: Progress | None, done: int) -> None:
        self._progress = progress
        self._done = done

    def take(self, drawn: list[Drawn]) -> list[Drawn]:
        """Count figures and hand them on."""
        self._done += len(drawn)
        if self._progress is not None:
            self._progress.update(float(self._done), "")
        return drawn


def best_title(networks: Sequence[Network]) -> str:
    """The heading of that table."""
    sections = {key.split(".", 1)[0] for network in networks for key in network.choices}
    return f"Best {'routing' if sections == {'routing'} else 'choice'} per network"


def best_rows(verdicts: Sequence[Verdict]) -> list[list[str]]:
    """A row per network and condition."""
    return [
        [v.network, v.condition or "–", v.best.name, v.value(v.best), v.behind, v.outcome]
        for v in verdicts
    ]


def build(
    networks: Sequence[Network],
    verdicts: Sequence[Verdict],
    sentences: Sequence[str],
    shares: Mapping[str, Shares],
    progress: Progress | None = None,
) -> tuple[str, list[Drawn]]:
    """The page and its figures."""
    page = Page(f"Backlane report: {', '.join(network.name for network in networks)}")
    page.answer(sentences)
    page.heading(best_title(networks))
    if verdicts:
        page.text(_how_judged(verdicts[0]), mute=True)
    page.table(Table(BEST_HEADER, best_rows(verdicts), text_columns=3, wide_columns=(5,)))
    frozen = sum(_frozen(cell) for network in networks for cell in network.cells)
    if frozen:
        page.text(
            f"In {frozen} of {sum(len(n.cells) for n in networks)} cells all seeds gave "
            "the same result: nothing that depends on the seed acts there, and an interval of "
            "width zero says no more than that.",
            mute=True,
        )
    _bounds(page, shares)
    drawn: list[Drawn] = []
    for index, network in enumerate(networks):
        mine = [v for v in verdicts if v.network == network.name]
        marked = Marked(index, network.conditions, network.contenders)
        drawn += _network(page, network, mine, marked, Steps(progress, len(drawn)))
    page.data = {"networks": [explored(network) for network in networks]}
    _how(page, networks)
    return page.html(), drawn


def _how_judged(verdict: Verdict) -> str:
    """What the table of the best compares, and how."""
    objective = verdict.objective
    per_run = " (per run the mean over flows)" if objective.title.startswith("mean ") else ""
    return (
        f"Best is the {objective.best} {objective.title}{per_run}, averaged over the seeds, with "
        "its 95 % interval in brackets. Contenders are compared seed by seed. Worse: a paired t "
        "test after Holm's correction. Equal: two one-sided tests put the difference within "
        f"{verdict.margin} of the best. Undecided: more seeds are needed."
    )


def _bounds(page: Page, shares: Mapping[str, Shares]) -> None:
    """The contenders as shares of what any routing could reach, and what limits that."""
    page.heading("Share of what any routing could reach")
    page.text(bounds.WHY, mute=True)
    rows = [share.row() for found in shares.values() for share in found.shares]
    if rows:
        page.table(Table(bounds.HEADER, rows, text_columns=4))
    for name, found in shares.items():
        if found.missing is not None:
            page.text(f"{name} has no bound here: {found.missing}.", mute=True)
        for sentence in found.tight:
            page.text(f"{name}: {sentence[0].lower()}{sentence[1:]}", mute=True)


def _network(
    page: Page,
    network: Network,
    verdicts: Sequence[Verdict],
    marked: Marked,
    steps: Steps,
) -> list[Drawn]:
    heaviest = network.conditions[-1]
    at = f" at {heaviest}" if heaviest else ""
    finite = any(cell.finite_flows for cell in network.cells)
    times = [
        *(steps.take(figures.candlesticks(network, figures.FINISH_TIME)) if finite else []),
        *steps.take(figures.candlesticks(network, figures.RTT)),
        *steps.take(figures.fairness(network)),
    ]
    title = "Finish time, round-trip time, fairness" if finite else "Round-trip time, fairness"
    sections = [
        (title, _BOX_NOTE, times),
        (f"Channels and load{at}", _GRAPH_NOTE, steps.take(graphs(network, heaviest))),
        (
            f"Over time{at}",
            "",
            [
                *steps.take(windows(network, heaviest)),
                *steps.take(goodputs(network, heaviest)),
                *steps.take(queues(network, heaviest)),
            ],
        ),
    ]
    page.heading(f"{network.name}: all cells")
    page.filter(marked.number)
    drawn = page.figures(steps.take(figures.ranked(network, verdicts)), marked)
    page.table(_cells_table(network, verdicts, marked))
    _unfinished(page, network)
    drawn_maps = steps.take(maps(network, heaviest))
    if drawn_maps:
        page.heading(f"{network.name}: map")
        page.explorer(marked.number)
        drawn += page.figures(drawn_maps, marked, f"Link utilisation{at} as figures")
    for title, note, found in sections:
        if found:
            page.heading(f"{network.name}: {title[0].lower()}{title[1:]}")
            if note:
                page.text(note, mute=True)
            drawn += page.figures(found, marked)
    page.heading(f"{network.name}: retransmissions and reordering")
    page.text("Totals over the flows of a run, mean over seeds.", mute=True)
    page.table(_retransmit_table(network, marked))
    if network.results.has("radio"):
        page.heading(f"{network.name}: radio")
        page.text(
            "The downlink: means over UEs and seeds, the delay of PDCP's packets up to the 95th "
            "percentile of each UE, and totals of a run.",
            mute=True,
        )
        page.table(_radio_table(network))
    if network.results.has("wifi"):
        page.heading(f"{network.name}: air")
        page.text(
            "802.11 by channel, means over seeds. Busy: the share of time in which a radio sends "
            "or senses frames. Attempts without an answer were lost or collided; a frame is given "
            "up after the last one.",
            mute=True,
        )
        page.table(_air_table(network))
    return drawn


def _frozen(cell: CellData) -> bool:
    """Whether several seeds have the same ranking value."""
    values = {measures.ranking_s for measures in cell.by_seed.values()}
    return len(cell.by_seed) > 1 and len(values) == 1 and not math.isnan(values.pop())


def _over_seeds(cell: CellData, value: Callable[[FlowMeasures], float]) -> list[float]:
    found = (value(measures) for measures in cell.by_seed.values())
    return [one for one in found if not math.isnan(one)]


def _cells_table(network: Network, verdicts: Sequence[Verdict], numbers: Marked) -> Table:
    rows: list[list[str]] = []
    about: list[tuple[int, int]] = []
    marked: list[int] = []
    best = {(v.condition, name) for v in verdicts for name in v.not_worse}
    for condition in network.conditions:
        for cell in network.at(condition):
            about += [_about(numbers, cell)] * (1 + len(cell.by_control))
            if (condition, cell.contender) in best and len(network.contenders) > 1:
                marked.append(len(rows))
            rows.append([condition or "–", cell.contender, *_cell_row(list(cell.by_seed.values()))])
            for control, by_seed in cell.by_control.items():
                name = f"{cell.contender}: flows of {control}"
                if (condition, control) in best:
                    marked.append(len(rows))
                rows.append([condition or "–", name, *_cell_row(list(by_seed.values()))])
    return Table(
        ["condition", "choice", "finish time", "P20 – P80", "max", "RTT", "goodput of a flow",
         "Jain", "unfinished", "seeds"],
        rows,
        text_columns=2,
        marked=marked,
        caption="Means over seeds with 95 % intervals; the best, and those not worse, are marked.",
        network=numbers.number,
        about=about,
    )  # fmt: skip


def _about(numbers: Marked, cell: CellData) -> tuple[int, int]:
    """The numbers of a cell's condition and contender."""
    return numbers.conditions.index(cell.condition), numbers.contenders.index(cell.contender)


def _cell_row(runs: Sequence[FlowMeasures]) -> list[str]:
    """The measures of flows over seeds."""

    def around(value: Callable[[FlowMeasures], float]) -> Interval:
        return mean_interval([one for one in map(value, runs) if not math.isnan(one)])

    finish = mean_candlestick([m.finish_time_s for m in runs])
    jain = mean_interval([m.jain for m in runs if not math.isnan(m.jain)], UNIT)
    unfinished, finite = sum(len(m.unfinished) for m in runs), sum(m.finite for m in runs)
    return [
        seconds_interval(around(lambda m: m.finish_time_s.mean)),
        f"{seconds(finish.p20)} – {seconds(finish.p80)}",
        seconds(finish.maximum),
        seconds_interval(around(lambda m: m.rtt_s.mean)),
        rate(around(lambda m: m.goodput_bps).mean),
        f"{jain.mean:.3f} [{jain.low:.3f}, {jain.high:.3f}]" if jain.known else number(jain.mean),
        f"{unfinished} of {finite}" if finite else "–",
        str(len(runs)),
    ]


def _unfinished(page: Page, network: Network) -> None:
    lacking = [cell for cell in network.cells if cell.unfinished]
    if not lacking:
        return
    page.text(
        "Flows that did not finish are not in the finish times above; the ranking counts each "
        "with the time until the run ended, the least its finish time can be (marked ≥). "
        f"They are in {len(lacking)} of {len(network.cells)} cells.",
        mute=True,
    )
    lines = []
    for cell in lacking:
        names = cell.unfinished
        listed = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        where = f" at {cell.condition}" if cell.condition else ""
        lines.append(f"{cell.contender}{where}, {len(names)} of {cell.finite_flows}: {listed}.")
    page.details("Which flows", "".join(f'<p class="mute">{escape(line)}</p>\n' for line in lines))


def _retransmit_table(network: Network, numbers: Marked) -> Table:
    rows = []
    about = []
    for condition in network.conditions:
        for cell in network.at(condition):
            about.append(_about(numbers, cell))

            def mean(value: Callable[[FlowMeasures], float], cell: CellData = cell) -> float:
                return mean_interval(_over_seeds(cell, value)).mean

            sent = mean(lambda m: m.segments_sent)
            again = mean(lambda m: m.retransmits)
            rows.append(
                [
                    condition or "–",
                    cell.contender,
                    f"{sent:.0f}",
                    f"{again:.1f}",
                    f"{again / sent * 100:.3f} %" if sent else "–",
                    f"{mean(lambda m: m.fast_retransmits):.1f}",
                    f"{mean(lambda m: m.rtos):.1f}",
                    f"{mean(lambda m: m.spurious_retransmits):.1f}",
                    f"{number(mean(lambda m: m.reordered_ratio) * 100)} %",
                    f"{mean(lambda m: m.path_changes):.1f}",
                    number(mean(lambda m: m.hops_mean)),
                ]
            )
    return Table(
        ["condition", "choice", "segments", "retransmitted", "share", "fast retransmits", "RTOs",
         "spurious", "reordered", "path changes", "hops"],
        rows,
        text_columns=2,
        network=numbers.number,
        about=about,
    )  # fmt: skip


_RADIO_MEANS = [
    ("sinr_mean_db", 1), ("cqi_mean", 1), ("mcs_mean", 1), ("bler_first", 100),
    ("pdcp_delay_mean_s", 1000), ("pdcp_delay_p95_s", 1000),
]  # fmt: skip
"""Columns of the table of radio with the factor to the unit shown."""
_RADIO_TOTALS = ["rlc_drops", "lost_blocks", "handovers", "radio_link_failures"]


def _radio_table(network: Network) -> Table:
    import polars as pl

    radio = network.results.radio
    rows = []
    for condition in network.conditions:
        for cell in network.at(condition):
            ues = radio.filter(pl.col("run_id").is_in(list(cell.run_ids.values())))
            if ues.is_empty():
                continue
            means = ues.select(pl.col(name).mean() * scale for name, scale in _RADIO_MEANS).row(0)
            totals = ues.group_by("run_id").agg(pl.col(_RADIO_TOTALS).sum())
            rows.append(
                [
                    condition or "–",
                    cell.contender,
                    *("–" if mean is None else number(mean) for mean in means),
                    *(
                        f"{total:.1f}"
                        for total in totals.select(pl.col(_RADIO_TOTALS).mean()).row(0)
                    ),
                ]
            )
    return Table(
        ["condition", "choice", "SINR, dB", "CQI", "MCS", "first BLER, %", "delay, ms",
         "delay p95, ms", "RLC drops", "blocks lost", "handovers", "link failures"],
        rows,
        text_columns=2,
    )  # fmt: skip


def _air_table(network: Network) -> Table:
    import polars as pl

    wifi = network.results.wifi
    counts = ["attempts", "failures", "given_up", "drops", "received"]
    rows = []
    for condition in network.conditions:
        for cell in network.at(condition):
            radios = wifi.filter(pl.col("run_id").is_in(list(cell.run_ids.values())))
            by_run = radios.group_by("run_id", "channel", maintain_order=True).agg(
                pl.len(),
                pl.col("busy_share").mean().alias("busy"),
                pl.col("busy_share").max().alias("busiest"),
                *(pl.col(name).sum() for name in counts),
            )
            unanswered = pl.col("failures") / pl.col("attempts")
            means = (
                by_run.with_columns(
                    pl.when(pl.col("attempts") > 0).then(unanswered).alias("unanswered")
                )
                .group_by("channel")
                .agg(pl.all().exclude("run_id").mean())
                .sort("channel")
            )
            for row in means.iter_rows(named=True):
                shares = (row[name] for name in ("busy", "busiest", "unanswered"))
                rows.append(
                    [
                        condition or "–",
                        cell.contender,
                        str(row["channel"]),
                        f"{row['len']:.0f}",
                        *("–" if share is None else number(100 * share) for share in shares),
                        *(f"{row[name]:.1f}" for name in ("received", "given_up", "drops")),
                    ]
                )
    return Table(
        ["condition", "choice", "channel", "radios", "busy, %", "busiest radio, %",
         "attempts without answer, %", "frames received", "given up", "dropped by queues"],
        rows,
        text_columns=2,
    )  # fmt: skip


def _how(page: Page, networks: Sequence[Network]) -> None:
    page.heading("How this was made")
    page.text(
        f"Intervals: Student's t below {ENOUGH_SEEDS} seeds, from there on a BCa bootstrap of the "
        f"mean with {RESAMPLES} resamples and a fixed random stream. The same scenario, seed and "
        "model version give the same digest on any machine.",
        mute=True,
    )
    for network in networks:
        manifest = network.results.manifest
        page.subheading(network.name)
        page.facts(_facts(manifest, network))


def _facts(manifest: dict[str, Any], network: Network) -> list[tuple[str, str]]:
    seeds = manifest["seeds"]
    listed = (
        f"{seeds[0]} … {seeds[-1]} ({len(seeds)})" if len(seeds) > 6 else ", ".join(map(str, seeds))
    )
    host = manifest.get("host", {})
    failed = manifest.get("failed") or []
    facts = [
        ("command", str(manifest.get("command", "–"))),
        ("scenario hash", str(manifest.get("scenario_hash"))),
        ("version", f"{manifest.get('version')}, model {manifest.get('model_version')}, "
                    f"commit {str(manifest.get('commit', 'unknown'))[:12]}"),
        ("seeds", listed),
        ("runs", f"{manifest.get('runs_finished')} of {manifest.get('runs_planned')} finished"
                 + (f", {len(failed)} failed" if failed else "")),
        ("digest of all runs", str(manifest.get("digest"))),
        ("events", f"{manifest.get('events', 0):,}".replace(",", " ")),
        ("computing time", f"{span(float(manifest.get('cpu_s') or 0))} on one core"),
        ("host", f"{host.get('system')} {host.get('machine')}, Python {host.get('python')}"),
        ("settings", ", ".join(manifest.get("overrides") or []) or "as in the file"),
        ("folder", str(network.results.folder)),
    ]  # fmt: skip
    facts += [
        ("failed run", f"{one['run_id']}, seed {one['seed']}: {one['message']}")
        for one in failed[:20]
    ]
    return facts
