"""A capacity trace as a scenario: a server, a router, and a UE behind the recorded link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.imports.write import Written, header, quoted

if TYPE_CHECKING:
    from backlane.imports.model import Network, Trace


def trace_scenario(network: Network, name: str, licence: str | None) -> Written:
    """The scenario of one trace, or of one for each direction.

    Raises:
        BacklaneError: R046 for more than two traces, or two of one direction.
    """
    traces = network.traces
    ups = [trace for trace in traces if trace.uplink is True]
    downs = [trace for trace in traces if trace.uplink is not True]
    if len(traces) > 2 or len(ups) > 1 or len(downs) > 1:
        raise BacklaneError(
            "R046",
            f"{len(traces)} traces, of which {len(ups)} are uplinks",
            network.sources[-1].path,
            "import one trace for each direction; their names end in .down and .up",
        )
    down, up = (downs or ups)[0], (ups or downs)[0]
    beside = {}
    names = {}
    for trace, tail in ((down, "down"), (up, "up")):
        if id(trace) in names:
            continue
        tail = "up" if trace.uplink else tail
        suffix = tail if trace.stamps_ms else f"{tail}.csv"
        names[id(trace)] = f"{name}.{suffix}"
        beside[f"{name}.{suffix}"] = _text(trace)
    note = "" if len(traces) == 2 else " # assumed: the recording of the other direction"
    if note:
        network.note("assumed", f"{down.source} for both directions: one trace was given")
    gap = max(down.longest_gap_s, up.longest_gap_s)
    marks = ("", note) if downs else (note, "")
    lines = header(network, licence)
    lines += [
        f"name = {quoted(name)}",
        'duration = "60 s" # assumed',
        "",
        "[topology]",
        'kind = "graph"',
        'node = [{ id = "mast" }]',
        "",
        "[[gateway]]",
        'node = "epc"',
        'attach = ["mast"]',
        'link = { rate = "10 Gbit/s", delay = "0.5 ms", queue = "12500 kB" } # assumed',
        "",
        "[[server]]",
        'node = "server"',
        'attach = "epc"',
        'link = { rate = "10 Gbit/s", delay = "5 ms", queue = "12500 kB" } # assumed',
        "",
        "[access]",
        'kind = "trace"',
        f"downlink = {quoted(names[id(down)])}{marks[0]}",
        f"uplink = {quoted(names[id(up)])}{marks[1]}",
        'at_end = "repeat"' + (" # as mahimahi does" if down.stamps_ms else " # assumed"),
    ]
    if not down.stamps_ms and gap > 10:
        lines.append(f'max_gap = "{gap + 1:.0f} s" # the recording has steps of {gap:.1f} s')
    lines += [
        "ues = 1 # assumed",
        "",
        "[routing]",
        'protocol = "shortest-path" # assumed',
        "",
        "[[flow]]",
        'kind = "download"',
        'size = "5 MB" # assumed',
        "",
    ]
    record = {
        "import": 1,
        "name": name,
        "licence": licence,
        "sources": [
            {
                "file": source.path.rpartition("/")[2],
                "format": source.format,
                "sha256": source.sha256,
                "bytes": source.size,
            }
            for source in network.sources
        ],
        "notes": [{"kind": n.kind, "text": n.text} for n in network.notes],
    }
    return Written("\n".join(lines), record, beside)


def _text(trace: Trace) -> str:
    if trace.stamps_ms:
        return "".join(f"{stamp}\n" for stamp in trace.stamps_ms)
    rows = [f"{time:.6f},{rate:.0f}\n" for time, rate in trace.points]
    return "time_s,rate_bps\n" + "".join(rows)
