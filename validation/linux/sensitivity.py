"""What the remaining differences hang on: the same comparison with one thing changed.

These are the things that the recording leaves open (the phase of the kernel's millisecond clock,
the receiver's window once the kernel has tuned its buffer) or that the scenario cannot copy
exactly. A difference that such a change moves is no difference of the window law.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from validation.linux.measures import compare
from validation.linux.samples import VARIANTS, recorded, simulated

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Phases of the clock: the transfer starts so long after a tick of the millisecond clock.
STARTS = ("0 us", "100 us", "250 us", "400 us", "500 us", "700 us", "900 us")
CHANGES = (
    *((f"start at {start}", ("flow.start", start)) for start in STARTS),
    ("receive buffer 3 MiB", ("tcp.receive_buffer", "3 MiB")),
    ("receive buffer 6 MiB", ("tcp.receive_buffer", "6 MiB")),
    ("duplicate ACKs not merged", ("tcp.sack_compression", "false")),
)


def table() -> Iterator[str]:
    """Lines of a Markdown table: mean absolute difference and retransmissions."""
    titles = [variant.title for variant in VARIANTS]
    yield "| changed | " + " | ".join(titles) + " |"
    yield "|---|" + "---|" * len(titles)
    for title, change in CHANGES:
        cells = []
        for variant in VARIANTS:
            linux = recorded(variant)
            changed = replace(variant, overrides=(*variant.overrides, change))
            found = compare(linux, simulated(changed, linux.time_s))
            cells.append(f"{100 * found.difference:.3f} %, {found.ours.retransmits}")
        yield f"| {title} | " + " | ".join(cells) + " |"
