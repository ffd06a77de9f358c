"""Columns of a run as typed tables.

polars is imported inside the functions: commands that write no table do not pay for it.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from backlane._native import RunResult

ALWAYS = ("flows", "links", "nodes")
"""Tables that every run has."""
OF_RADIO = ("radio", "mcs")
"""Tables of runs whose UEs are behind a radio access network."""
FURTHER = ("wifi", "routing", "coding", "reordering", "assignment", "slotted", "region")
"""Tables that only some runs have: of 802.11 radios, of routing protocols, of coded flows,
of how far packets are out of order, of the channels and flow rates that links were given, and of
flows of slotted models."""

NAMES = ("runs", *ALWAYS, *OF_RADIO, *FURTHER)
"""Every table of a results folder that is no series."""

_TEXT = {
    "run_id", "flow", "kind", "source", "destination", "congestion_control", "from", "to",
    "id", "attach", "entity", "digest", "ended", "dropped_by_cause", "slow_start_exit",
    "ue", "serving", "direction", "node",
}  # fmt: skip
_INTEGER = {
    "seed", "cell", "events", "size_bytes", "delivered_bytes", "segments_sent", "retransmits",
    "fast_retransmits", "rtos", "spurious_retransmits", "path_changes", "bursts", "bytes",
    "undos", "spurious_rtos", "reordering_pkts", "reordering_max_pkts",
    "packets", "drops", "marks", "packets_injected", "packets_delivered", "packets_dropped",
    "packets_in_flight", "duplicate_acks", "slow_start_segments", "packets_sent",
    "cqi", "granted_bytes", "used_bytes", "transport_blocks", "ttis", "harq_retransmissions",
    "lost_blocks", "handovers", "radio_link_failures", "rlc_drops", "rlc_losses",
    "rlc_retransmissions", "uplink_granted_bytes", "uplink_used_bytes", "uplink_transport_blocks",
    "uplink_harq_retransmissions", "uplink_lost_blocks", "uplink_rlc_drops",
    "channel", "frames_sent", "attempts", "failures", "given_up", "broadcasts", "received",
    "duplicates", "undecoded", "messages", "message_bytes", "overflow_at_source",
    "overflow_in_transit", "route_discoveries", "route_repairs", "link_failures",
    "generations", "originals", "coded_packets", "repairs", "probes", "requests",
    "coded_received", "non_innovative", "masked_losses", "edge_drops", "edge_drops_answered",
    "edge_drops_open",
    "repair_drops", "needless_retransmits", "duplicate_acks_given", "bytes_compared",
    "bytes_unequal", "packets_received", "drops_at_source", "drops_in_transit",
}  # fmt: skip
_FLOAT_SUFFIXES = (
    "_s", "_bps", "_m", "_ratio", "_mean", "_dbm", "_db", "_pkts", "_mean_bytes", "bler_first",
    "_share",
)  # fmt: skip
_FLOAT = {"utilisation", "scale", "queue_max_bytes", "mcs", "utility", "density", "occupancy"}


def of_run(result: RunResult) -> dict[str, dict[str, list[Any]]]:
    """The tables of a run that are not series, by name."""
    always = {"flows": result.flows, "links": result.links, "nodes": result.nodes}
    of_radio = {"radio": result.radio, "mcs": result.mcs}
    return always | {name: columns for name, columns in of_radio.items() if columns} | result.more


def frame(columns: Mapping[str, list[Any]]) -> pl.DataFrame:
    """A table from plain columns.

    Known columns get a fixed type, so that a run without a single finished flow has the same
    schema as any other and the two can be joined.
    """
    import polars as pl

    types: dict[str, Any] = {}
    for name in columns:
        if name in _TEXT:
            types[name] = pl.String
        elif name in _INTEGER:
            types[name] = pl.Int64
        elif name.endswith(_FLOAT_SUFFIXES) or name in _FLOAT:
            types[name] = pl.Float64
    return pl.DataFrame(dict(columns), schema_overrides=types, strict=False)


def with_run_id(table: pl.DataFrame, run_id: str) -> pl.DataFrame:
    """The same table with `run_id` as its first column."""
    import polars as pl

    if not table.width:
        # Nothing was there to have rows; a literal alone would be one.
        return pl.DataFrame(schema={"run_id": pl.String})
    return table.select(pl.lit(run_id, dtype=pl.String).alias("run_id"), pl.all())


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What Polars raises while it writes `path`, as an `OSError`.

    Polars reports failures of the system as errors of its own. A full disk is called a full disk,
    also where Polars says only that the last bytes were not taken.
    """
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise OSError(_errno(str(error).lower(), path), _first_line(error)) from error


def _errno(text: str, path: Path) -> int:
    """The number of a system error that Polars gives as text."""
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EACCES, errno.EROFS):
        if f"os error {number})" in text or os.strerror(number).lower() in text:
            return number
    full = "transport error" in text and shutil.disk_usage(path.parent).free < NO_ROOM
    return errno.ENOSPC if full else errno.EIO


NO_ROOM = 1 << 16
"""A disk with fewer free bytes, after a write that failed, was full."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """What Polars raises while it reads `path`, as a coded error.

    Raises:
        BacklaneError: R010.
    """
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BacklaneError(
            "R010",
            f"damaged: {_first_line(error)}",
            path,
            "remove it and run again; see `backlane explain R010`",
        ) from error


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def write(path: Path, table: pl.DataFrame) -> None:
    """Write Parquet atomically; the same table always gives the same bytes.

    Raises:
        BacklaneError: R001, R002 or R017.
    """
    with replacing(path) as temporary:
        write_plain(temporary, table)


def write_plain(path: Path, table: pl.DataFrame) -> None:
    """Write Parquet to a name that is private to the caller.

    Raises:
        OSError: when the system refuses.
    """
    with writing(path):
        table.write_parquet(path, compression="zstd", statistics=False)


def join(path: Path, parts: Sequence[pl.LazyFrame]) -> None:
    """Write the rows of several tables to one file, in order, without holding them in memory.

    Raises:
        BacklaneError: R001, R002 or R017.
    """
    import polars as pl

    with replacing(path) as temporary, writing(temporary):
        # Statistics let a reader that wants one run skip the others.
        pl.concat(parts, how="diagonal_relaxed").sink_parquet(temporary)


def read(path: Path) -> pl.DataFrame:
    """Read a Parquet file that we wrote.

    Raises:
        BacklaneError: R008 when it is missing, R010 when it is damaged.
    """
    import polars as pl

    if not path.is_file():
        raise BacklaneError(
            "R008", f"{path.name} is missing", path.parent, "run the scenario again"
        )
    with reading(path):
        return pl.read_parquet(path, use_statistics=False)
