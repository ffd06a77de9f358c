"""BP-MR beside its authors' simulator: the measures, the record, and our runs as kept."""

from __future__ import annotations

import csv
import math

import pytest
from validation.bp_mr_authors import page, runs
from validation.bp_mr_authors.compare import MEASURES, by_run, order, pairs, waits

RECORD = runs.recorded()
OURS = runs.read(runs.OURS)
CASES = tuple(runs.CASES)
PAIRS = {(pair.case, pair.name): pair for pair in pairs(OURS, RECORD)}


def test_our_measures_of_the_record_are_the_authors_own() -> None:
    with (runs.HERE / "reference" / "runs.csv").open(encoding="utf-8") as file:
        summaries = {row["run"]: row for row in csv.DictReader(file)}
    flows = by_run(RECORD)
    columns = {
        "finish": "finish_mean_s", "jain": "jain", "rtt": "rtt_mean_of_flows_ms",
        "reordered": "reordered", "retransmitted": "retransmitted",
        "fast_recoveries": "fast_recoveries", "rtos": "rto",
    }  # fmt: skip
    for case, (run, _, _) in runs.CASES.items():
        assert len(flows[case, 0]) == 25
        for name, column in columns.items():
            theirs = float(summaries[run][column])
            assert MEASURES[name].of(flows[case, 0]) == pytest.approx(theirs, rel=2e-3), name
        waited = MEASURES["finish"].of(flows[case, 0]) - MEASURES["first_byte"].of(flows[case, 0])
        assert waited == pytest.approx(float(summaries[run]["from_first_byte_mean_s"]), rel=1e-3)


def test_flows_are_grouped_by_row_and_by_the_attempt_that_got_through() -> None:
    between = {flow.ue for flow in RECORD if flow.between_gateways}
    assert between == {6, 7, 8, 9, 10, 16, 17, 18, 19, 20}
    found = waits([flow for flow in RECORD if flow.run == "olsr"])
    assert (found["at once"], found["3 s"], len(found["9 s"])) == ([5, 20, 25], [10, 15], 20)


def test_the_kept_runs_have_every_case_seed_and_ue() -> None:
    places = {(flow.run, flow.seed, flow.ue) for flow in OURS}
    wanted = {
        (case, seed, ue)
        for case in runs.CASES for seed in range(1, runs.SEEDS + 1) for ue in range(1, 26)
    }  # fmt: skip
    assert places == wanted and len(OURS) == len(wanted)


def test_olsr_keeps_flows_waiting_as_in_the_record() -> None:
    ours = PAIRS["olsr", "first_byte"]
    assert ours.ours.mean == pytest.approx(ours.theirs, rel=0.03)
    for flows in (flows for (case, _), flows in by_run(OURS).items() if case == "olsr"):
        found = waits(flows)
        # A start within the 25 ms in which the MIDs of a round spread may fall on either side.
        assert {5, 25} <= set(found["at once"]) <= {5, 20, 25}
        assert {10, 15} <= set(found["3 s"]) <= {10, 15, 20}


def test_the_order_and_the_two_groups_of_per_packet_are_those_of_the_record() -> None:
    finish = {case: PAIRS[case, "finish"] for case in runs.CASES}
    theirs = {case: pair.theirs for case, pair in finish.items()}
    assert order({case: pair.ours.mean for case, pair in finish.items()}) == order(theirs)
    for ours in (False, True):
        rows = {
            (case, name): PAIRS[case, name].ours.mean if ours else PAIRS[case, name].theirs
            for case in runs.CASES for name in ("gateway_rows", "between_rows")
        }  # fmt: skip
        assert rows["per packet", "between_rows"] > 8 * rows["per packet", "gateway_rows"]
        for case in ("per flow", "olsr", "olsr warm"):
            assert rows[case, "between_rows"] < 2 * rows[case, "gateway_rows"]


def test_per_packet_is_that_of_the_record() -> None:
    for name in ("finish", "jain", "reordered"):
        assert PAIRS["per packet", name].holds, name
    recoveries = PAIRS["per packet", "fast_recoveries"]
    assert recoveries.ours.mean == pytest.approx(recoveries.theirs, rel=0.2)


def test_what_stays_are_timeouts() -> None:
    """Flows without a timeout take as long here as in the record, where most have several."""
    for case in ("per flow", "olsr"):
        times = {
            len(seeds): [f.finish_s - f.first_byte_s for f in flows if f.run == case and not f.rtos]
            for flows, seeds in ((RECORD, [0]), (OURS, range(runs.SEEDS)))
        }
        theirs, ours = (math.fsum(some) / len(some) for some in times.values())
        assert ours == pytest.approx(theirs, rel=0.2)
    assert all(PAIRS[case, "rtos"].ours.mean < 0.5 * PAIRS[case, "rtos"].theirs for case in CASES)


def test_the_page_has_the_numbers_kept() -> None:
    text = (runs.HERE / "README.md").read_text(encoding="utf-8")
    assert page.measured(list(PAIRS.values()), OURS, RECORD) in text


@pytest.mark.parametrize("case", ["per flow", "olsr"])
def test_a_run_gives_the_numbers_kept(case: str) -> None:
    kept = [flow for flow in OURS if (flow.run, flow.seed) == (case, 1)]
    for ours, before in zip(runs.run(case, 1), kept, strict=True):
        assert ours.finish_s == pytest.approx(before.finish_s, abs=1e-5)
        assert (ours.sent, ours.rtos, ours.reordered) == (
            before.sent,
            before.rtos,
            before.reordered,
        )
        assert math.isfinite(ours.rtt_s)
