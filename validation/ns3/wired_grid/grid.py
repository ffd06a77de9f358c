"""Downloads over a grid of wires in ns-3 and here: `truth/wired_grid.csv` and a table."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t as student

import backlane
from validation.ns3.truth import HERE, TRUTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.ns3.peer import Peer

FILE = TRUTH / "wired_grid.csv"

#: Phases of the starts, by the number of downloads; 100 take ns-3 80 s of CPU time.
PHASES = {25: 8, 100: 4}

#: Keys of the profile, with Linux's values.
KEYS = {
    "tcp.cubic.reduces_window": "false",
    "tcp.sacked_retransmissions": '"arrived"',
    "tcp.rate_reduction": '"rfc9937"',
    "tcp.next_recovery": '"losses"',
    "tcp.without_new_data": '"nothing"',
    "tcp.timeout_cuts_again": "false",
}

#: How far the mean finish time may be from that of ns-3.
WITHIN = 0.10


@dataclass(frozen=True)
class Grid:
    """One run.

    Attributes:
        flows: downloads.
        phase: of their starts.
        finish_mean_s: the mean of their finish times in seconds.
        finish_max_s: the last one.
        drops: packets that a full queue dropped.
        recoveries: fast recoveries of all senders.
        timeouts: that began a state of loss.
    """

    flows: int
    phase: int
    finish_mean_s: float
    finish_max_s: float
    drops: int
    recoveries: int
    timeouts: int


def record(programs: Peer) -> None:
    """Run ns-3 and write the file.

    Raises:
        subprocess.CalledProcessError: when the program fails.
    """
    with FILE.open("w", newline="", encoding="utf-8") as target:
        table = csv.writer(target, lineterminator="\n")
        table.writerow([field.name for field in fields(Grid)])
        for flows, phase in _works():
            found = programs.run("wired_grid", f"--flows={flows}", f"--phase={phase}")
            if found["unfinished"]:
                raise RuntimeError(f"{flows} downloads, phase {phase}: some have no end")
            row = [flows, phase, *(found[field.name] for field in fields(Grid)[2:])]
            table.writerow(row)
            target.flush()


def recorded() -> list[Grid]:
    """The recorded runs.

    Raises:
        OSError: when there are none.
    """
    with FILE.open(newline="", encoding="utf-8") as source:
        return [
            Grid(
                flows=int(row["flows"]),
                phase=int(row["phase"]),
                finish_mean_s=float(row["finish_mean_s"]),
                finish_max_s=float(row["finish_max_s"]),
                drops=int(row["drops"]),
                recoveries=int(row["recoveries"]),
                timeouts=int(row["timeouts"]),
            )
            for row in csv.DictReader(source)
        ]


def measured() -> list[Grid]:
    """The same runs here."""
    return [run(flows, phase) for flows, phase in _works()]


def holds(theirs: Sequence[Grid], mine: Sequence[Grid], flows: int) -> bool:
    """Whether the mean finish time of `flows` downloads is that of ns-3."""
    return abs(_mean(mine, flows) / _mean(theirs, flows) - 1) <= WITHIN


def table(theirs: Sequence[Grid], mine: Sequence[Grid]) -> str:
    """Both as a table; each cell is ns-3 / Backlane."""
    lines = [
        "| downloads | phases | mean finish (s) | difference | drops | recoveries | timeouts |",
        "|---|---|---|---|---|---|---|",
    ]
    for flows, phases in PHASES.items():
        both = [[run for run in runs if run.flows == flows] for runs in (theirs, mine)]
        finish = " / ".join(_interval([run.finish_mean_s for run in runs]) for runs in both)
        counts = [
            " / ".join(f"{np.mean([getattr(run, name) for run in runs]):.0f}" for runs in both)
            for name in ("drops", "recoveries", "timeouts")
        ]
        off = _mean(mine, flows) / _mean(theirs, flows) - 1
        mark = "" if holds(theirs, mine, flows) else "**"
        cells = [str(flows), str(phases), finish, f"{mark}{off:+.1%}{mark}", *counts]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines).replace("%", " %")


def keys_table() -> str:
    """What each key of the profile does to the mean finish time of 25 downloads."""
    lines = ["| | mean finish (s) | drops |", "|---|---|---|"]
    for key, value in (("", ""), *KEYS.items()):
        overrides = ((key, value),) if key else ()
        runs = [run(25, phase, overrides) for phase in range(PHASES[25])]
        finish = _interval([run.finish_mean_s for run in runs])
        name = f"`{key.removeprefix('tcp.')} = {value}`" if key else '`profile = "ns3"`'
        drops = np.mean([run.drops for run in runs])
        lines.append(f"| {name} | {finish} | {drops:.0f} |")
    return "\n".join(lines)


def _works() -> list[tuple[int, int]]:
    return [(flows, phase) for flows, phases in PHASES.items() for phase in range(phases)]


def run(flows: int, phase: int, overrides: Sequence[tuple[str, str]] = ()) -> Grid:
    """One run here, with keys of the scenario changed."""
    done = backlane.run(
        HERE / "wired_grid" / "grid.toml",
        overrides=(("flow", _downloads(flows, phase)), *overrides),
    )
    found = done.table("flows")
    return Grid(
        flows=flows,
        phase=phase,
        finish_mean_s=float(found["finish_time_s"].to_numpy().mean()),
        finish_max_s=float(found["finish_time_s"].to_numpy().max()),
        drops=int(done.table("links")["drops"].to_numpy().sum()),
        recoveries=int(found["fast_retransmits"].to_numpy().sum()),
        timeouts=int(found["rtos"].to_numpy().sum()),
    )


def _downloads(flows: int, phase: int) -> str:
    """The flows of a run, with the starts of programs/wired_grid.cc."""
    flow = []
    for i in range(flows):
        start_us = 1_000_000 + 4_000_000 * (i // 25) + 50_000 * (i % 25)
        start_us += 100 * ((37 * i + 61 * phase) % 100)
        flow.append(
            f'{{ kind = "transfer", from = "server", to = "enb{i % 25 + 1}", size = "10 MB", '
            f'start = "{start_us} us" }}'
        )
    return f"[{', '.join(flow)}]"


def _mean(runs: Sequence[Grid], flows: int) -> float:
    return float(np.mean([run.finish_mean_s for run in runs if run.flows == flows]))


def _interval(values: Sequence[float]) -> str:
    """Mean and half the width of its 95 % interval."""
    half = student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return f"{np.mean(values):.2f} ± {half:.2f}"
