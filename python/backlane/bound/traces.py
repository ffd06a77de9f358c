"""Links whose capacity is a recorded trace.

A wire whose capacity is the mean of the trace, from the first start of a flow to the end of the run
if all flows are endless, and the largest capacity of the trace if a run may end earlier.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from backlane.bound.quantities import number

if TYPE_CHECKING:
    from backlane.bound.network import Builder

OPPORTUNITY_MBIT = 1500 * 8e-6


def add_links(builder: Builder, served: dict[str, str]) -> None:
    """Add the links of the UEs."""
    access = builder.scenario["access"]
    sources = _sources(builder)
    is_shared = access["per"] == "enodeb"
    delay_s = number(access["delay"])
    enodebs = builder.enodebs()
    for ue_number, (ue, enodeb) in enumerate(served.items()):
        link = f"{enodeb}:ues" if is_shared else ue
        turn = enodebs.index(enodeb) if is_shared else ue_number
        if link not in builder.index:
            at = builder.index[enodeb]
            below, above = builder.node(link), builder.node(f"{link} up")
            down, up = (
                _capacity_mbps(builder, *_steps(sources[_of(access[way], turn)]), access["at_end"])
                for way in ("downlink", "uplink")
            )
            there = builder.resource(f"{enodeb}-{link}", "cell", down)
            back = builder.resource(f"{link}-{enodeb}", "cell", up)
            builder.arc(at, below, delay_s, (there, "bits"))
            builder.arc(above, at, delay_s, (back, "bits"))
        builder.leaves[ue] = builder.index[link]
        builder.enters[ue] = builder.index[f"{link} up"]


def wire_mbps(builder: Builder, link: dict[str, Any], is_back: bool) -> float:
    """The capacity of a direction of a wire: its rate, or that of its trace."""
    table = link.get("capacity")
    if is_back and "capacity_back" in link:
        table = link["capacity_back"]
    if table and "file" in table:
        steps, period_s = _steps(_sources(builder)[table["file"]])
    elif table and "steps" in table:
        steps = [
            (number(step["at"]), 0.0 if step["rate"] == "none" else number(step["rate"]) / 1e6)
            for step in table["steps"]
        ]
        last = steps[-1][0] - steps[-2][0] if len(steps) > 1 else 1.0
        period_s = steps[-1][0] + last
    else:
        return number(link["rate"]) / 1e6
    return _capacity_mbps(builder, steps, period_s, table.get("at_end", "hold"))


def _sources(builder: Builder) -> dict[str, str]:
    return {
        trace["file"]: trace["source"]
        for trace in builder.scenario.get("trace", ())
        if trace["of"] == "capacity"
    }


def _of(files: str | list[str], turn: int) -> str:
    return files if isinstance(files, str) else files[turn % len(files)]


def _capacity_mbps(
    builder: Builder, steps: list[tuple[float, float]], period_s: float, at_end: str
) -> float:
    """The largest mean rate over the time in which flows may run."""
    duration_s = number(builder.scenario["duration"])
    is_endless = all(flow["size"] == "endless" for flow in builder.scenario["flow"])
    if not is_endless:
        return max(rate for _, rate in steps)
    mbit = _mbit(steps, period_s, duration_s, at_end)
    return mbit / duration_s


def _steps(source: str) -> tuple[list[tuple[float, float]], float]:
    """Times and Mbit/s from then on, and the length of the trace."""
    lines = source.strip().splitlines()
    if lines and lines[0].strip().isdigit():
        at = [int(line) for line in lines if line.strip()]
        counts: dict[int, int] = {}
        for ms in at:
            counts[ms] = counts.get(ms, 0) + 1
        rates = [(ms, counts.get(ms, 0) * OPPORTUNITY_MBIT * 1e3) for ms in range(at[-1] + 1)]
        return [(ms / 1e3, rate) for ms, rate in rates], max(at[-1], 1) / 1e3
    rows = [
        (float(row["time_s"]), float(row["rate_bps"]) / 1e6)
        for row in csv.DictReader(io.StringIO(source))
    ]
    last = rows[-1][0] - rows[-2][0] if len(rows) > 1 else 1.0
    begin = rows[0][0]
    return [(time_s - begin, rate) for time_s, rate in rows], rows[-1][0] - begin + last


def _mbit(steps: list[tuple[float, float]], period_s: float, until_s: float, at_end: str) -> float:
    """What a trace carries from its beginning on."""
    ends = [time_s for time_s, _ in steps[1:]] + [period_s]
    whole = sum((end - at) * rate for (at, rate), end in zip(steps, ends, strict=True))
    periods, rest_s = divmod(until_s, period_s)
    if at_end != "repeat" and until_s > period_s:
        held = steps[-1][1] * (until_s - period_s) if at_end == "hold" else 0.0
        return whole + held
    part = sum(
        max(min(end, rest_s) - at, 0.0) * rate for (at, rate), end in zip(steps, ends, strict=True)
    )
    return periods * whole + part
