"""Recommendations in changed networks: single failures, and candidate upgrades."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

from backlane import recommend as room
from backlane.bound.bounds import parsed
from backlane.campaign.plan import make_plan
from backlane.errors import BacklaneError
from backlane.objectives import OBJECTIVES
from backlane.recommend import failures, upgrades
from backlane.recommend.options import Budget
from backlane.recommend.upgrades import Gain, Upgrade
from backlane.recommend.variants import Left, plan_of
from backlane.stats import Interval

# Two ways from a to d: over b with 10 Mbit/s, and over c with 8 Mbit/s.
RING = """
name = "ring"
duration = "20 s"
[topology]
kind = "graph"
node = [{ id = "a" }, { id = "b" }, { id = "c" }, { id = "d" }, { id = "up-town" }]
link = [
  { a = "a", b = "b", rate = "10 Mbit/s", delay = "1 ms" },
  { a = "b", b = "d", rate = "10 Mbit/s", delay = "1 ms" },
  { a = "a", b = "c", rate = "8 Mbit/s", delay = "1 ms" },
  { a = "c", b = "d", rate = "8 Mbit/s", delay = "1 ms" },
  { a = "a", b = "up-town", rate = "10 Mbit/s", delay = "1 ms" },
]
[[flow]]
kind = "transfer"
from = "a"
to = "d"
size = "2 MB"
start = "uniform 0 s 100 ms"
[routing]
protocol = "olsr"
warm_up = "20 s"
[sweep]
"tcp.congestion_control" = ["cubic", "reno"]
"""
UPGRADES = """upgrade,link,rate,delay,cost
b,a-b,20 Mbit/s,,3
b, d-b ,20 Mbit/s,,4
c,a-c,20 Mbit/s,,5
direct,a-d,40 Mbit/s,1 ms,20
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("ring")
    (folder / "ring.toml").write_text(RING)
    (folder / "up.csv").write_text(UPGRADES)
    made = room.of(
        folder / "ring.toml", folder / "r", first=3, budget="1000 runs", equal_within=0.05,
        n_minus_1=True, candidates=upgrades.read(folder / "up.csv"),
    )  # fmt: skip
    return {"made": made, "folder": folder}


def resolved() -> str:
    return make_plan(RING).cells[0].resolved


def test_every_link_and_node_fails_once() -> None:
    names = [one.name for one in failures.variants(resolved(), parsed(resolved()))]
    links = ["link a-b", "link b-d", "link a-c", "link c-d", "link a-up-town"]
    nodes = ["node a", "node b", "node c", "node d", "node up-town"]
    assert names == ["as it is", *links, *nodes]


def test_failures_cost_what_the_way_around_is_slower(found: dict[str, Any]) -> None:
    by_name = {one.name: one for one in found["made"].failures}
    # Without an end, the flow cannot finish.
    for name in ("node a", "node d"):
        assert by_name[name].unfinished == 1
        assert math.isnan(by_name[name].rest_s)
    assert found["made"].failures[1].name in ("node a", "node d")
    # What the flow does not use costs nothing.
    for name in ("link a-c", "node c", "link a-up-town"):
        assert by_name[name].unfinished == 0
        assert by_name[name].ratio == pytest.approx(0.0, abs=0.02)
    # 2 MB over 8 instead of 10 Mbit/s take a quarter longer, after OLSR has noticed: three
    # intervals of HELLO messages of 2 s, more than three times the 1.7 s of the flow.
    for name in ("link a-b", "node b"):
        assert by_name[name].unfinished == 0
        assert by_name[name].ratio > 2.0
    text = "\n".join(found["made"].sentences())
    assert "N − 1: 10 single failures over 3 seeds" in text
    assert "no flow finishes" in text


def test_upgrades_gain_what_the_faster_links_carry(found: dict[str, Any]) -> None:
    gains = {one.upgrade.name: one for one in found["made"].gains}
    assert [one.upgrade.name for one in found["made"].gains] == ["b", "direct", "c"]
    # Both links of the way twice as fast: the transfer takes half as long but for slow start.
    assert gains["b"].outcome == "better"
    assert 0.35 < gains["b"].gain.mean < 0.5
    assert gains["b"].upgrade.cost == 7
    # The change in seconds is that of the same runs.
    assert gains["b"].change.low < gains["b"].change.mean < gains["b"].change.high < 0
    assert gains["c"].change.low <= 0 <= gains["c"].change.high
    assert gains["b"].cost_per_percent == pytest.approx(7 / (100 * gains["b"].gain.mean))
    # Over the direct link, which is new, at 40 instead of 10 Mbit/s: a quarter of the time, and
    # half of the round trips of slow start.
    assert 0.7 < gains["direct"].gain.mean < 0.8
    # One link of the way around: nothing changes.
    assert gains["c"].outcome == "equal"
    assert math.isinf(gains["c"].cost_per_percent)
    assert gains["c"].is_dominated is (gains["c"].upgrade.cost >= 7)


def test_the_changed_networks_are_campaigns_with_the_runs_of_the_contest(
    found: dict[str, Any], cli: Cli
) -> None:
    folder = found["folder"] / "r"
    for name, cells in (("n-minus-1", 11), ("upgrades", 4)):
        status = cli("campaign", "status", folder / name, "--json").json
        assert (status["planned"], status["finished"]) == (3 * cells, 3 * cells)
        shared = {path.name for path in (folder / "store").iterdir()}
        own = {path.name for path in (folder / name / "store").iterdir()}
        assert len(own & shared) == 3
    result = cli(
        "recommend", found["folder"] / "ring.toml", "--out", folder, "--first", 3, "--equal-within",
        "5 %", "--n-minus-1", "--upgrades", found["folder"] / "up.csv", "--budget", "1000 runs",
        "--json",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert result.json["runs"] == found["made"].runs
    assert [one["upgrade"] for one in result.json["upgrades"]] == ["b", "direct", "c"]
    assert len(result.json["failures"]) == 11


def test_a_budget_that_is_spent_leaves_the_failures_out(found: dict[str, Any]) -> None:
    made = room.of(
        found["folder"] / "ring.toml", found["folder"] / "r", first=3, budget="12 runs",
        equal_within=0.05, n_minus_1=True,
    )  # fmt: skip
    assert made.best is not None
    assert made.failures == []
    assert "n-minus-1: the budget does not pay for one seed of 11 networks." in made.sentences()


def test_the_budget_pays_for_whole_seeds() -> None:
    text = resolved()
    plan = plan_of("down", "n", failures.variants(text, parsed(text)), [1, 2, 3])
    assert len(plan.runs) == 33
    assert Left(Budget(runs=40), 6, 0.0).seeds(plan, 3) == 3
    assert Left(Budget(runs=40), 8, 0.0).seeds(plan, 3) == 2
    assert Left(Budget(runs=40), 30, 0.0).seeds(plan, 3) == 0


def test_an_upgrade_is_dominated_only_by_one_that_is_certainly_better() -> None:
    def gain(cost: float, low: float, high: float) -> Gain:
        mean = (low + high) / 2
        around = Interval(mean, low, high, 5, "t")
        return Gain(Upgrade("u", cost, []), around, around, "better")

    assert upgrades._dominates(gain(1, 0.2, 0.3), gain(2, 0.1, 0.15))
    assert not upgrades._dominates(gain(1, 0.2, 0.3), gain(2, 0.1, 0.25))
    assert not upgrades._dominates(gain(3, 0.2, 0.3), gain(2, 0.1, 0.15))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("upgrade,link,rate\nx,a-b,1 Mbit/s\n", "`cost` is missing"),
        ("upgrade,link,cost,colour\nx,a-b,1,red\n", "`colour` is not known"),
        ("upgrade,link,cost,rate\n", "no rows"),
        ("upgrade,link,cost,rate\nx,a-b,cheap,1 Mbit/s\n", '"cheap" is no cost'),
        ("upgrade,link,cost,rate\nx,a-b,-1,1 Mbit/s\n", '"-1" is no cost'),
        ("upgrade,link,cost,rate\nx,a-b,nan,1 Mbit/s\n", '"nan" is no cost'),
        ("upgrade,link,cost,rate\nx,a,1,1 Mbit/s\n", "is no link"),
        ("upgrade,link,cost,rate\nx,a-b,1,\n", "changes nothing"),
        ("upgrade,link,cost,rate\n,a-b,1,1 Mbit/s\n", "no name of its own"),
        ("upgrade,link,cost,rate\nx,a-z,1,1 Mbit/s\n", 'no two nodes "a-z"'),
        ("upgrade,link,cost,rate\nx,b-c,1,1 Mbit/s\n", "is new and has no delay"),
        ("upgrade,link,cost,loss\nx,a-b,1,much\n", "is no loss"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_with_its_place(
    text: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "up.csv"
    path.write_text(text)
    with pytest.raises(BacklaneError) as refused:
        upgrades.variants(resolved(), parsed(resolved()), upgrades.read(path))
    assert refused.value.code == "R036"
    assert why in refused.value.message
    assert str(path) in str(refused.value.place)


def test_names_of_nodes_may_have_hyphens(tmp_path: Path) -> None:
    path = tmp_path / "up.csv"
    path.write_text("upgrade,link,cost,rate\nx,a-up-town,1,5 Mbit/s\ny,up-town-a,1,6 Mbit/s\n")
    base, *both = upgrades.variants(resolved(), parsed(resolved()), upgrades.read(path))
    rates = []
    for one in both:
        plan = make_plan(one.text, list(one.overrides))
        rates.append(parsed(plan.cells[0].resolved)["topology"]["link"][4]["rate"])
    assert rates == ["5 Mbit/s", "6 Mbit/s"]
    assert base.text == resolved()


def test_the_sign_of_a_failure_follows_the_objective() -> None:
    whole = failures.Failure("as it is", 0.0, 0.0, 1.0)
    bad = failures.Failure("link a-b", 0.0, 1.0, 1.0)
    for word, shown in (("finish", "+100 %"), ("goodput", "-50 %")):
        assert failures.sentences([whole, bad], OBJECTIVES[word], 5)[1].endswith(shown)
