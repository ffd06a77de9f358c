"""One run of a study, opened for measuring: its rows in each table, and its series."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backlane.measures import FlowMeasures, measure
from backlane.tables import ALWAYS

if TYPE_CHECKING:
    import polars as pl

    from backlane.bound import Bound
    from backlane.report.bounds import Bounds
    from backlane.results import Results

Samples = tuple[Sequence[float], Sequence[float]]
"""Times in s, and values; packed arrays, since a study opens a thousand runs."""


class Recorded:
    """The series of a results folder, split by run at the first access."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._probes: dict[str, dict[str, pl.DataFrame]] = {}
        self._bounds: Bounds | None = None

    def bound(self, cell: int, seed: int) -> Bound | None:
        """What no routing could beat in the network and with the flows of a run, if known.

        Raises:
            BacklaneError: R050 to R052.
        """
        if self._bounds is None:
            from backlane.report.bounds import Bounds

            folder = self._results.folder
            if folder is None:
                return None
            self._bounds = Bounds(folder, str(self._results.manifest["name"]))
        return self._bounds.of(cell, seed)

    def of(self, probe: str, run_id: str) -> pl.DataFrame | None:
        """The samples of one run; None when the probe was not recorded."""
        if probe not in self._probes:
            parts = {}
            if probe in self._results.series:
                table = self._results.table(f"series/{probe}")
                parts = table.partition_by("run_id", maintain_order=True, as_dict=True)
            self._probes[probe] = {str(key[0]): part for key, part in parts.items()}
        return self._probes[probe].get(run_id)


@dataclass
class RunView:
    """One run with its tables and series.

    Attributes:
        run_id: of the run.
        cell: its index in the plan.
        seed: its seed.
        run: its row of ``runs``.
        everything: all flows, in the order of the run.
        flows: the TCP flows.
        udp: the UDP flows.
        links: all link directions.
        routing: the counters of routers, by node.
        coding: the counters of coded flows.
        slotted: the measures of a slotted model, by flow and in total.
        backhaul: names of eNodeBs and gateways.
        measures: the statistics over the TCP flows.
        assignment: the channel and rates of each direction of a link over radios.
        displacements: the share of packets at each displacement (RFC 5236), if measured.
        recorded: the series of all runs of the folder.
    """

    run_id: str
    cell: int
    seed: int
    run: dict[str, Any]
    everything: list[dict[str, Any]]
    flows: list[dict[str, Any]]
    udp: list[dict[str, Any]]
    links: list[dict[str, Any]]
    routing: list[dict[str, Any]]
    coding: list[dict[str, Any]]
    slotted: list[dict[str, Any]]
    backhaul: set[str]
    measures: FlowMeasures
    recorded: Recorded
    assignment: list[dict[str, Any]] = field(default_factory=list)
    displacements: dict[int, float] = field(default_factory=dict)
    _samples: dict[tuple[str, str, str], Samples] = field(default_factory=dict, repr=False)

    def entities(self, probe: str) -> list[str]:
        """The entities that a probe recorded, in the order of the run."""
        table = self.recorded.of(probe, self.run_id)
        if table is None:
            return []
        return [str(name) for name in table.get_column("entity").unique(maintain_order=True)]

    def samples(self, probe: str, entity: str, column: str) -> Samples:
        """The samples of one entity, without nulls."""
        key = (probe, entity, column)
        if key not in self._samples:
            self._samples[key] = self._read(probe, entity, column)
        return self._samples[key]

    def _read(self, probe: str, entity: str, column: str) -> Samples:
        import polars as pl

        table = self.recorded.of(probe, self.run_id)
        if table is None or column not in table.columns:
            return [], []
        own = table.filter(pl.col("entity") == entity, pl.col(column).is_not_null()).select(
            pl.col("time_s").cast(pl.Float64), pl.col(column).cast(pl.Float64)
        )
        times, values = (own.get_column(name).to_list() for name in ("time_s", column))
        return array("d", times), array("d", values)

    @property
    def windows(self) -> dict[str, Samples]:
        """The congestion window of each recorded flow, in packets."""
        return {flow: self.samples("cwnd", flow, "cwnd_pkts") for flow in self.entities("cwnd")}

    @property
    def watched(self) -> list[dict[str, Any]]:
        """The TCP flows whose window was recorded; all when none was."""
        names = set(self.entities("cwnd"))
        return [flow for flow in self.flows if flow["flow"] in names] or self.flows

    @property
    def watched_ues(self) -> list[str]:
        """The UEs at an end of these flows whose radio was recorded."""
        ends = {str(flow[end]) for flow in self.watched for end in ("source", "destination")}
        return [ue for ue in self.entities("radio") if ue in ends]


def views(results: Results) -> list[RunView]:
    """Open every run of a results folder."""
    flows = _by_run(results, "flows")
    links = _by_run(results, "links")
    nodes = _by_run(results, "nodes")
    routing = _by_run(results, "routing")
    coding = _by_run(results, "coding")
    slotted = _by_run(results, "slotted")
    assignment = _by_run(results, "assignment")
    displacements = _displacements(results)
    recorded = Recorded(results)
    found = []
    for row in results.runs.iter_rows(named=True):
        run_id = row["run_id"]
        tcp = [flow for flow in flows.get(run_id, []) if flow["congestion_control"] is not None]
        udp = [flow for flow in flows.get(run_id, []) if flow["congestion_control"] is None]
        found.append(
            RunView(
                run_id=run_id,
                cell=int(row["cell"]),
                seed=int(row["seed"]),
                run=row,
                everything=flows.get(run_id, []),
                flows=tcp,
                udp=udp,
                links=links.get(run_id, []),
                routing=routing.get(run_id, []),
                coding=coding.get(run_id, []),
                slotted=slotted.get(run_id, []),
                backhaul={
                    node["id"]
                    for node in nodes.get(run_id, [])
                    if node["kind"] in ("enodeb", "epc")
                },
                measures=measure(tcp, float(row["traffic_s"])),
                recorded=recorded,
                assignment=assignment.get(run_id, []),
                displacements=displacements.get(run_id, {}),
            )
        )
    return found


def _displacements(results: Results) -> dict[str, dict[int, float]]:
    """The reorder density of each run: that of its flows, weighted by their packets."""
    import polars as pl

    if not results.has("reordering"):
        return {}
    weights = results.table("flows").select(
        "run_id",
        "flow",
        (pl.col("packets_received") - pl.col("reorder_discarded_pkts")).alias("weight"),
    )
    pooled = (
        results.table("reordering")
        .join(weights, on=["run_id", "flow"])
        .group_by("run_id", "displacement_pkts", maintain_order=True)
        .agg((pl.col("density") * pl.col("weight")).sum().alias("packets"))
        .sort("run_id", "displacement_pkts")
    )
    found: dict[str, dict[int, float]] = {}
    for run_id, displacement, packets in pooled.iter_rows():
        found.setdefault(run_id, {})[int(displacement)] = packets
    for run_id, counted in found.items():
        total = math.fsum(counted.values())
        found[run_id] = {k: packets / total for k, packets in counted.items() if packets}
    return found


def _by_run(results: Results, table: str) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    if table not in ALWAYS and not results.has(table):
        return groups
    for row in results.table(table).iter_rows(named=True):
        groups.setdefault(row["run_id"], []).append(row)
    return groups
