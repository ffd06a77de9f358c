"""What the differences hang on: the same runs with one thing changed.

Each change is something that the recording leaves open (the phase of the kernel's millisecond
clock) or that the scenario cannot copy exactly. A difference that such a change moves is no
difference of the window law.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.linux.measures import compare
from validation.linux.samples import ALGORITHMS, PATHS, recorded, simulated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from validation.linux.samples import Algorithm, Samples

#: Phases of the clock: the transfer starts so long after a tick of the millisecond clock.
STARTS = tuple(("flow.start", f"{start} us") for start in (0, 100, 250, 400, 500, 700, 900))
CHANGES = (
    ("receive buffer 6 MiB", ("tcp.receive_buffer", "6 MiB")),
    ("duplicate ACKs not merged", ("tcp.sack_compression", "false")),
)


def tables() -> Iterator[str]:
    """A Markdown table for each path, without what draws random numbers."""
    for path in PATHS:
        yield f"`{path}`: mean absolute difference of the window, 10–60 s; retransmissions"
        yield ""
        titles = ["Linux", "as it is", "starts within 1 ms", *(title for title, _ in CHANGES)]
        yield "| | " + " | ".join(titles) + " |"
        yield "|---|" + "---|" * len(titles)
        for algorithm in ALGORITHMS:
            if algorithm.draws:
                continue
            yield f"| {algorithm.title} | " + " | ".join(_cells(algorithm, path)) + " |"
        yield ""


def _range(values: list[float], digits: int) -> str:
    """The least and the largest value, or the only one."""
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"


def _cells(algorithm: Algorithm, path: str) -> Iterator[str]:
    linux = recorded(algorithm, path)

    def cell(runs: list[Samples]) -> str:
        found = [compare(linux, [run]) for run in runs]
        return ", ".join(
            (
                _range([100 * c.difference for c in found], 3) + " %",
                _range([c.ours.retransmits for c in found], 0),
            )
        )

    trace = compare(linux, [linux]).linux
    yield f"–, {trace.retransmits:.0f}"
    starts = [simulated(algorithm, path, linux.time_s, changes=[start]) for start in STARTS]
    yield cell(starts[:1])
    yield cell(starts)
    for _, change in CHANGES:
        yield cell([simulated(algorithm, path, linux.time_s, changes=[change])])
