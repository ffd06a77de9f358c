"""Recommendations: the selection, the budget, and the verb."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import BASE, SWEEP, Cli

import backlane
from backlane import recommend as room
from backlane.campaign.pool import Outcome, run_all
from backlane.errors import BacklaneError
from backlane.recommend import contest
from backlane.recommend.options import Budget, read_share, read_time
from backlane.recommend.samples import Samples
from backlane.recommend.selection import constant, race


def test_the_constant_is_that_of_kim_and_nelson() -> None:
    # 2 · ½ [(0.1 / (K − 1))^(−2/9) − 1] · 9
    for count, expected in ((2, 6.01), (5, 11.43), (10, 15.46)):
        assert constant(count, 10) == pytest.approx(expected, abs=0.005)


def test_a_contender_is_eliminated_when_its_sum_leaves_the_region() -> None:
    # h² = 99 of two contenders and two first seeds; S² of the differences 1 and 3 is 2.
    assert constant(2, 2) == pytest.approx(99.0)
    values = {"a": [0.0] * 9, "b": [1.0, 3.0, *[3.0] * 7]}
    # Zone 5: the region is 2.5 · (99 · 2 / 25 − r), at r = 2, 3, 4: 14.8, 12.3, 9.8.
    found = race(values, 2, 5.0)
    assert found.is_settled
    assert found.alive == ["a"]
    assert (found.eliminated["b"].seeds, found.eliminated["b"].by) == (4, "a")
    # Zone 10: it is empty at r = 1.98.
    assert race(values, 2, 10.0).eliminated["b"].seeds == 2
    part = race({"a": [0.0] * 3, "b": [1.0, 3.0, 3.0]}, 2, 5.0)
    assert not part.is_settled
    assert (part.alive, part.seeds, part.most) == (["a", "b"], 3, 8)


def test_equal_values_end_the_race_and_too_few_begin_none() -> None:
    found = race({"a": [1.0] * 4, "b": [1.0] * 4}, 4, 0.05)
    assert found.is_settled
    assert found.alive == ["a", "b"]
    assert race({"a": [1.0] * 3, "b": [1.0] * 4}, 4, 0.05).most == 4


@pytest.mark.parametrize("common", [0.0, 0.8])
def test_the_right_one_is_selected_when_it_leads_by_the_zone(common: float) -> None:
    random = np.random.default_rng(11)
    right, seeds, rounds, count = 0, 0, 150, 120
    for _ in range(rounds):
        shared = random.normal(0, np.sqrt(common), count)
        own = random.normal(0, np.sqrt(1 - common), (3, count))
        means = (0.0, 0.5, 0.5)
        values = {str(i): list(means[i] + shared + own[i]) for i in range(3)}
        found = race(values, 10, 0.5)
        assert found.is_settled
        right += found.alive == ["0"]
        seeds += found.seeds + sum(one.seeds for one in found.eliminated.values())
    # 95 % of 150 are 142.5, with a standard deviation of 2.7.
    assert right >= 135
    # Common random numbers save seeds; ten of each are the least.
    assert seeds / rounds < (40 if common else 100)


def test_the_result_does_not_depend_on_how_many_seeds_were_run_at_a_time() -> None:
    random = np.random.default_rng(2)
    values = {str(i): list(random.normal(0.02 * i, 0.1, 200)) for i in range(4)}
    whole = race(values, 10, 0.05)
    assert whole.is_settled
    for count in range(whole.seeds, 200, 7):
        part = race({name: of[:count] for name, of in values.items()}, 10, 0.05)
        assert (part.alive, part.eliminated) == (whole.alive, whole.eliminated)


def test_a_budget_is_runs_or_time() -> None:
    assert Budget.parse("200 runs").runs == 200
    assert Budget.parse("1.5 h").cpu_s == 5400
    assert str(Budget.parse("30 min")) == "30 min of CPU time"
    for text in ("0 runs", "0 min", "0.0 s", "five", "5", "-1 s", "1 day", ""):
        with pytest.raises(BacklaneError) as refused:
            Budget.parse(text)
        assert refused.value.code == "R031"
    assert read_time("80 ms") == pytest.approx(0.08)
    assert read_share("2.5 %") == 0.025
    for wrong in ("0 ms", "5", "5 Mbit/s", "x"):
        with pytest.raises(BacklaneError):
            read_time(wrong)


@pytest.fixture(scope="module")
def choice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("choice") / "choice.toml"
    path.write_text(BASE + SWEEP)
    return path


@pytest.fixture(scope="module")
def stored(choice: Path) -> Path:
    """A folder with the runs of a recommendation."""
    room.of(choice, choice.parent / "r", first=4, budget="40 runs")
    return choice.parent / "r"


def test_the_verb_names_the_best_and_why_and_runs_nothing_twice(
    choice: Path, stored: Path, cli: Cli
) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in (stored / "store").iterdir()}
    result = cli(
        "recommend", choice, "--out", stored, "--first", 4, "--budget", "40 runs", "--json"
    )
    assert result.code == 0, result.err
    found = result.json
    assert {path.name: path.stat().st_mtime_ns for path in (stored / "store").iterdir()} == before
    assert found["conditions"] == ["3 UEs", "5 UEs"]
    assert found["runs"] == len(before)
    first, second = found["contenders"]
    assert first["name"] == found["best"]
    assert first["outcome"] == "best"
    assert second["ratio"]["mean"] >= 0
    assert any("busiest links" in reason for reason in found["reasons"])
    text = cli("recommend", choice, "--out", stored, "--first", 4, "--budget", "40 runs").out
    assert found["best"] in text
    assert text.splitlines()[-1] == str(stored)
    # The tables are those of a campaign.
    assert backlane.load(stored).runs.height == len(before)


def test_the_budget_ends_a_contest_that_is_not_settled(choice: Path, tmp_path: Path) -> None:
    found = room.of(choice, tmp_path / "r", first=4, budget="8 runs", equal_within=0.0001)
    assert (found.runs, found.is_settled) == (8, False)
    assert [row.seeds for row in found.rows] == [2, 2]
    assert found.sentences()[0].startswith("undecided: ")
    with pytest.raises(BacklaneError) as refused:
        room.of(choice, tmp_path / "r", first=4, budget="7 runs")
    assert refused.value.code == "R032"


def test_a_budget_of_time_counts_what_the_runs_took(
    choice: Path, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The estimate of the first four seeds is far less than the 10 s that each of 16 runs "took".
    monkeypatch.setattr(Samples, "cpu_s", lambda _samples, runs: 10.0 * len(runs))
    zone = 0.0001
    found = room.of(choice, stored, first=4, budget="160 s", equal_within=zone)
    assert (found.cpu_s, found.is_settled) == (160.0, False)
    found = room.of(choice, stored, first=4, budget="200 s", equal_within=zone)
    assert (found.cpu_s, found.is_settled) == (200.0, False)
    assert {row.seeds for row in found.rows} == {5}


def test_an_interrupted_recommendation_keeps_its_runs(
    choice: Path, stored: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*words: object) -> Outcome:
        plan, runs, store, workers, progress = words
        outcome = run_all(plan, runs[:5], store, workers, progress)  # type: ignore[index, arg-type]
        outcome.interrupted = True
        return outcome

    words = ["recommend", choice, "--out", tmp_path / "r", "--first", 4, "--budget", "40 runs"]
    with monkeypatch.context() as patch:
        patch.setattr(contest, "run_all", stopped)
        result = cli(*words)
    assert result.code == 130
    assert "start the same command again" in result.err
    assert "interrupted before each contender had its first seeds." in result.out
    assert "no contender keeps" not in result.out
    assert len(list((tmp_path / "r" / "store").iterdir())) == 5
    again = cli(*words, "--json").json
    whole = cli("recommend", choice, "--out", stored, *words[4:], "--json").json
    for answer in (again, whole):
        assert not answer["interrupted"]
        for key in ("folder", "cpu_s"):
            del answer[key]
    assert again == whole


def test_contenders_below_the_floor_or_above_the_ceiling_are_refused(
    choice: Path, stored: Path, cli: Cli
) -> None:
    words = ["recommend", choice, "--out", stored, "--first", 4, "--budget", "40 runs"]
    result = cli(*words, "--latency-ceiling", "1 ms")
    assert result.code == 1
    assert "no contender keeps to the limits" in result.out
    assert "is above 1.00 ms" in result.out
    result = cli(*words, "--fairness-floor", "0.1", "--json")
    assert [one["outcome"] for one in result.json["contenders"]].count("refused") == 0
    assert cli(*words, "--budget", "0 min").code == 2
    assert "R031" in cli(*words, "--budget", "0 min").err


def test_one_contender_is_no_choice(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "one.toml"
    path.write_text(BASE)
    result = cli("recommend", path, "--out", tmp_path / "r")
    assert result.code == 2
    assert "R034" in result.err
