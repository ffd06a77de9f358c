"""The data behind the map of a report: where nodes are, loads of links, and samples of a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from backlane.report.map import loads, places

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backlane.report.data import CellData, Network
    from backlane.report.map import LinkLoad, Place

MOST_MAPS = 24
"""Cells of a network with a map in the page."""
MOST_UES = 2_000
"""UEs of a map."""
MOST_VALUES = 700_000
"""Samples of all replays of a network."""
MOST_FRAMES, LEAST_FRAMES = 120, 20
"""Instants of a replay."""


def explored(network: Network) -> dict[str, Any]:
    """The network for the script of the page.

    Returns:
        ``contenders`` and ``conditions`` by name; ``layouts`` with nodes, links and UEs; ``maps``,
        one for each cell: the numbers of contender, condition and layout, ``loads`` with four
        shares in thousandths for each link, and ``replay``, of the last condition alone, or null.
    """
    layouts: list[dict[str, Any]] = []
    maps = []
    cells = [cell for cell in network.cells if cell.run_ids][:MOST_MAPS]
    replayed = [cell for cell in cells if cell.condition == network.conditions[-1]]
    for cell in cells:
        where = places(cell)
        links = loads(cell, set(where))
        if not links:
            continue
        layout = _layout(cell, where, links)
        if layout not in layouts:
            layouts.append(layout)
        maps.append(
            {
                "contender": network.contenders.index(cell.contender),
                "condition": network.conditions.index(cell.condition),
                "layout": layouts.index(layout),
                "loads": [_thousandths(one) for one in links],
                "replay": _replay(cell, links, len(replayed)) if cell in replayed else None,
            }
        )
    return {
        "name": network.name,
        "contenders": network.contenders,
        "conditions": network.conditions,
        "layouts": layouts,
        "maps": maps,
    }


def _thousandths(one: LinkLoad) -> list[int | None]:
    shares = (one.forth, one.back, one.busiest_forth, one.busiest_back)
    return [None if math.isnan(share) else round(1000 * share) for share in shares]


def _layout(
    cell: CellData, where: Mapping[str, Place], links: Sequence[LinkLoad]
) -> dict[str, Any]:
    import polars as pl

    first = next(iter(cell.run_ids.values()))
    ues = cell.results.nodes.filter((pl.col("run_id") == first) & (pl.col("kind") == "ue"))
    attached = dict(ues.group_by("attach").len().rows())
    placed = ues.select("x_m", "y_m").drop_nulls().rows()[:MOST_UES]
    numbers = {name: number for number, name in enumerate(where)}
    nodes = []
    for name, place in where.items():
        latitude, longitude = place.degrees or (None, None)
        nodes.append(
            {
                "id": name, "kind": place.kind, "x": round(place.x_m, 1), "y": round(place.y_m, 1),
                "isApart": place.is_apart, "latitude": latitude, "longitude": longitude,
                "ues": attached.get(name, 0),
            }
        )  # fmt: skip
    return {
        "nodes": nodes,
        "links": [
            {
                "a": numbers[one.a], "b": numbers[one.b], "channel": one.channel,
                "rateMbps": None if math.isnan(one.rate_bps) else one.rate_bps / 1e6,
            }
            for one in links
        ],
        "ues": [[round(x, 1), round(y, 1)] for x, y in placed],
    }  # fmt: skip


def _replay(cell: CellData, links: Sequence[LinkLoad], cells: int) -> dict[str, Any] | None:
    """The samples of the queues of a cell's first seed; None without, or if they are too many.

    Parallel links, whose samples have one name, are one: their bytes, queues and capacities are
    added, and stand with the last of them, which is drawn above the others.
    """
    import polars as pl

    results = cell.results
    if "queue" not in results.series:
        return None
    scan = results.scan("series/queue")
    if "sent_bytes" not in scan.collect_schema().names():
        return None
    seed = min(cell.run_ids)
    table = scan.filter(pl.col("run_id") == cell.run_ids[seed]).collect()
    directions = {
        f"{start}-{end}": 2 * number + back
        for number, one in enumerate(links)
        for back, (start, end) in enumerate(((one.a, one.b), (one.b, one.a)))
    }
    rates_bps: dict[int, float] = {}
    for one in links:
        for start, end in ((one.a, one.b), (one.b, one.a)):
            direction = directions[f"{start}-{end}"]
            rates_bps[direction] = rates_bps.get(direction, 0.0) + one.rate_bps
    table = (
        table.filter(pl.col("entity").is_in(list(directions)))
        .group_by("entity", "time_s", maintain_order=True)
        .agg(pl.col("queue_pkts", "sent_bytes", "capacity_bps").sum())
    )
    instants = sorted(table.get_column("time_s").unique().to_list())
    entities = table.get_column("entity").n_unique()
    if not instants:
        return None
    frames = min(MOST_FRAMES, MOST_VALUES // (3 * max(entities, 1) * max(cells, 1)))
    if frames < LEAST_FRAMES and len(instants) > frames:
        return None
    stride = -(-len(instants) // frames)
    frame_of = {instant: number // stride for number, instant in enumerate(instants)}
    times = [
        part[-1] for part in (instants[i : i + stride] for i in range(0, len(instants), stride))
    ]
    framed = (
        table.with_columns(
            pl.col("time_s").replace_strict(frame_of, return_dtype=pl.Int64).alias("frame"),
            (pl.col("time_s") - pl.col("time_s").shift(1).over("entity")).alias("step_s"),
            (pl.col("sent_bytes") - pl.col("sent_bytes").shift(1).over("entity")).alias("sent"),
        )
        .group_by("entity", "frame", maintain_order=True)
        .agg(
            pl.col("queue_pkts").max(),
            pl.col("sent").sum(),
            (pl.col("capacity_bps") * pl.col("step_s")).sum().alias("bits"),
            pl.col("capacity_bps").mean(),
        )
    )
    kept = []
    for (entity,), part in framed.group_by(["entity"], maintain_order=True):
        columns = part.sort("frame").select("queue_pkts", "sent", "bits", "capacity_bps")
        if part.height == len(times):
            kept.append((directions[str(entity)], columns.to_dict(as_series=False)))
    kept.sort(key=lambda one: one[0])
    return {
        "seed": seed,
        "times": [round(time, 3) for time in times],
        "directions": [direction for direction, _ in kept],
        "use": [_use(found) for _, found in kept],
        "queue": [[round(value) for value in found["queue_pkts"]] for _, found in kept],
        "capacity": [_capacity(found, rates_bps[direction]) for direction, found in kept],
        "active": _active(cell, seed, times),
    }


def _use(found: dict[str, list[float]]) -> list[int]:
    """What was sent as a share of what could be sent, in percent."""
    return [
        min(round(800 * sent / bits), 100) if bits else 0
        for sent, bits in zip(found["sent"], found["bits"], strict=True)
    ]


def _capacity(found: dict[str, list[float]], rate_bps: float) -> list[int] | None:
    """The capacity in percent of the rate; None where it is the rate all the time."""
    if math.isnan(rate_bps) or not rate_bps:
        return None
    shares = [min(round(100 * value / rate_bps), 100) for value in found["capacity_bps"]]
    return None if all(share == 100 for share in shares) else shares


def _active(cell: CellData, seed: int, times: Sequence[float]) -> list[int]:
    """The flows that have begun and have not ended, at each time."""
    import polars as pl

    flows = cell.results.flows.filter(pl.col("run_id") == cell.run_ids[seed])
    spans = [
        (start, math.inf if finish is None else finish)
        for start, finish in flows.select("start_s", "finish_s").rows()
        if start is not None
    ]
    return [sum(start <= time < finish for start, finish in spans) for time in times]
