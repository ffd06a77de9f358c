"""The causes of the differences: the same runs with one change.

Each change concerns something that the recording leaves open (the phase of the kernel's
millisecond clock) or that the model cannot copy exactly (the end of the growth of the receive
window, which in the kernel depends on the memory of packets). A difference that such a change
moves is no difference of the window law.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.linux.measures import compare
from validation.linux.samples import ALGORITHMS, PATHS, recorded, simulated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from validation.linux.samples import Algorithm

    Changes = tuple[tuple[str, str], ...]

#: Each cell: the runs whose smallest and largest numbers it has, each by its changes.
VARIANTS: dict[str, tuple[Changes, ...]] = {
    "as it is": ((),),
    "starts within 1 ms": tuple(
        (("flow.start", f"{start} us"),) for start in (0, 100, 250, 400, 500, 700, 900)
    ),
    "receive buffer not tuned, 4 to 6 MiB": tuple(
        (("tcp.receive_autotuning_max", "off"), ("tcp.receive_buffer", f"{size} MiB"))
        for size in (4, 4.5, 5, 5.5, 6)
    ),
    "duplicate ACKs not merged": ((("tcp.sack_compression", "false"),),),
}


def tables() -> Iterator[str]:
    """A Markdown table for each path, without controls that use random numbers."""
    for path in PATHS:
        yield f"`{path}`: mean absolute difference of the window, 10–60 s; retransmissions"
        yield ""
        yield "| | Linux | " + " | ".join(VARIANTS) + " |"
        yield "|---|---|" + "---|" * len(VARIANTS)
        for algorithm in ALGORITHMS:
            if algorithm.draws:
                continue
            yield f"| {algorithm.title} | " + " | ".join(_cells(algorithm, path)) + " |"
        yield ""


def _range(values: list[float], digits: int) -> str:
    """The smallest and the largest value, or the only one."""
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"


def _cells(algorithm: Algorithm, path: str) -> Iterator[str]:
    linux = recorded(algorithm, path)
    yield f"–, {compare(linux, [linux]).linux.retransmits:.0f}"
    for variant in VARIANTS.values():
        runs = [simulated(algorithm, path, linux.time_s, changes=changes) for changes in variant]
        found = [compare(linux, [run]) for run in runs]
        apart = _range([100 * c.difference for c in found], 3)
        yield f"{apart} %, {_range([c.ours.retransmits for c in found], 0)}"
