"""The recorded runs of the authors' simulator, and the same runs here."""

from __future__ import annotations

import csv
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import backlane
from backlane import stats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

HERE = Path(__file__).parent
SCENARIO = HERE / "grid.toml"
OURS = HERE / "ours.csv"
REFERENCE = HERE / "reference" / "flows.csv"
SEEDS = 5
SIZE_BITS = 8e7

_BP_MR = '{{ protocol = "bp-mr", granularity = "{}", queue_info = "oracle" }}'
CASES: dict[str, tuple[str, str, tuple[tuple[str, str], ...]]] = {
    "per flow": ("c25_pf_1", "BP-MR per flow", (("routing", _BP_MR.format("flow")),)),
    "olsr": ("c25_olsr_1", "OLSR", ()),
    "per packet": ("c25_pp_1", "BP-MR per packet", (("routing", _BP_MR.format("packet")),)),
    "olsr warm": ("c25_olsr_warm30", "OLSR, starts 30 s later", (("routing.warm_up", "30 s"),)),
}
"""By name: the recorded run, its title, and what the scenario changes."""


@dataclass(frozen=True)
class Flow:
    """One download.

    Attributes:
        run: its case.
        seed: of the run; 0 for the record.
        ue: its number, 1 to 25, which is also that of its eNodeB.
        first_byte_s: from the start of the flow.
        finish_s: from its start to the last byte; infinite if it never came.
        rtt_s: mean RTT.
        sent: segments sent.
        retransmitted: segments sent again.
        fast_recoveries: entries into fast recovery.
        rtos: retransmission timeouts.
        reordered: segments that arrived after one sent later.
    """

    run: str
    seed: int
    ue: int
    first_byte_s: float
    finish_s: float
    rtt_s: float
    sent: int
    retransmitted: int
    fast_recoveries: int
    rtos: int
    reordered: int

    @property
    def between_gateways(self) -> bool:
        """Whether its eNodeB is in row 2 or 4, equally far from two gateways."""
        return (self.ue - 1) // 5 % 2 == 1


def recorded() -> list[Flow]:
    """The flows of the authors' simulator."""
    names = {run: case for case, (run, _, _) in CASES.items()}
    with REFERENCE.open(encoding="utf-8") as file:
        return [
            Flow(
                run=names[row["run"]],
                seed=0,
                ue=int(row["ue"]),
                first_byte_s=float(row["first_byte_s"]),
                finish_s=float(row["finish_s"]),
                rtt_s=float(row["rtt_mean_ms"]) / 1e3,
                sent=int(row["segments_sent"]),
                retransmitted=int(row["retransmitted"]),
                fast_recoveries=int(row["fast_recoveries"]),
                rtos=int(row["rto"]),
                reordered=int(row["reordered"]),
            )
            for row in csv.DictReader(file)
        ]


def run(case: str, seed: int, changes: Iterable[tuple[str, str]] = ()) -> list[Flow]:
    """The flows of one run here, in the order of the UEs."""
    _, _, of_case = CASES[case]
    overrides = (*of_case, *changes, ("seed", str(seed)))
    table = backlane.run(SCENARIO, overrides=overrides).table("flows")
    found = []
    for row in table.iter_rows(named=True):
        found.append(
            Flow(
                run=case,
                seed=seed,
                ue=int(row["destination"].removeprefix("ue")),
                first_byte_s=row["first_byte_time_s"],
                finish_s=math.inf if row["finish_time_s"] is None else row["finish_time_s"],
                rtt_s=row["rtt_in_order_mean_s"],
                sent=row["segments_sent"],
                retransmitted=row["retransmits"],
                fast_recoveries=row["fast_retransmits"],
                rtos=row["rtos"],
                reordered=round(row["reordered_ratio"] * row["packets_received"]),
            )
        )
    return sorted(found, key=lambda flow: flow.ue)


def run_all(seeds: int = SEEDS, changes: Iterable[tuple[str, str]] = ()) -> list[Flow]:
    """The flows of every case with each seed."""
    places = [(case, seed, tuple(changes)) for case in CASES for seed in range(1, seeds + 1)]
    with ThreadPoolExecutor() as pool:
        return [flow for flows in pool.map(lambda place: run(*place), places) for flow in flows]


def write(flows: Iterable[Flow], path: Path) -> None:
    """Write flows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Flow.__dataclass_fields__)
        for flow in flows:
            row = [getattr(flow, name) for name in Flow.__dataclass_fields__]
            writer.writerow([f"{x:.6f}" if isinstance(x, float) else x for x in row])


def read(path: Path) -> list[Flow]:
    """Read what `write` wrote."""
    kinds: Mapping[str, Callable[[str], str | int | float]] = {
        name: {"str": str, "int": int, "float": float}[str(field.type)]
        for name, field in Flow.__dataclass_fields__.items()
    }
    with path.open(encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return [Flow(**{n: kinds[n](x) for n, x in row.items()}) for row in rows]  # type: ignore[arg-type]


def jain(flows: Iterable[Flow]) -> float:
    """Jain's index of size over finish time."""
    return stats.jain([SIZE_BITS / flow.finish_s for flow in flows])
