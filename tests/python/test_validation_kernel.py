"""The model beside recorded kernels: the recordings, the verdicts, and cheap runs of the model."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from validation.kernel import recordings, runs, section, verdicts
from validation.kernel.__main__ import PAGE
from validation.kernel.runs import Measured
from validation.kernel.scenes import PARTS, Scene, mark, scenario
from validation.kernel.verdicts import DIFFERS, HOLDS, UNDECIDED, finding
from validation.linux.bounds import Bound

import backlane
from backlane.cli import execute, validate
from backlane.errors import EXIT_USAGE

SCENES = [(part, scene) for part, about in PARTS.items() for scene in about.scenes]
ONE_RUN = [(part, scene) for part, scene in SCENES if len(scene.draws) == 1]


def of(scene: str) -> Scene:
    return next(one for _, one in SCENES if one.name == scene)


@pytest.mark.parametrize("part", PARTS)
def test_every_scene_has_recordings_of_its_present_scenario(part: str) -> None:
    assert recordings.missing(part) == []
    for stack in ("linux", "model"):
        found = {(one.scene, one.draw, one.flow) for one in recordings.present(part, stack)}
        assert found == {
            (scene.name, draw, flow)
            for scene in PARTS[part].scenes
            for draw in scene.draws
            for flow in range(1, len(scene.controls) + 1)
        }


def test_a_changed_scenario_needs_a_new_recording() -> None:
    scene = of("outage-reno-2000")
    longer = dataclasses.replace(scene, end_s=scene.end_s + 1)
    assert mark(scene, 1) == mark(dataclasses.replace(scene, title="other words"), 1)
    assert mark(scene, 1) != mark(longer, 1)
    assert mark(scene, 1) != mark(scene, 2)


def test_both_stacks_run_the_same_scenario() -> None:
    """They differ in the stack of the flows and in the settings of the kernels alone."""
    for _, scene in SCENES:
        model, linux = (scenario(scene, scene.draws[-1], stack) for stack in ("model", "linux"))
        del linux["linux"]
        for flow in (*model["flow"], *linux["flow"]):
            del flow["stack"]
        assert model == linux
    assert not backlane.check(scenario(of("cubic-vegas"), 3, "linux"))


@pytest.mark.parametrize("part", PARTS)
def test_the_page_has_the_tables_of_the_recordings(part: str) -> None:
    assert section.table(part, recordings.read(part)) in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("part", "scene"), ONE_RUN, ids=[scene.name for _, scene in ONE_RUN])
def test_the_model_agrees_with_the_recorded_kernel_as_before(part: str, scene: Scene) -> None:
    """Scenes of one run: each measure that held a criterion still does."""
    theirs = [one for one in recordings.present(part, "linux") if one.scene == scene.name]
    before = [one for one in recordings.present(part, "model") if one.scene == scene.name]
    now = runs.model(scene, 1)
    bounds = verdicts.CRITERIA[part]
    for flow in range(1, len(scene.controls) + 1):
        old, new = (
            verdicts.findings([*theirs, *ours], scene, flow, bounds, ()) for ours in (before, now)
        )
        held = [name for name, one in old.items() if one.verdict == HOLDS]
        assert [name for name in held if new[name].verdict != HOLDS] == []


@pytest.mark.parametrize("part", ["random", "marks"])
def test_the_model_agrees_in_the_mean_over_seeds_as_before(part: str) -> None:
    recorded = recordings.read(part)
    before = section.verdicts_of(part, recorded)
    now = section.verdicts_of(part, recordings.compare(part))
    assert [place for place in before if before[place] == HOLDS != now[place]] == []
    assert HOLDS in before.values()


def test_one_run_holds_within_its_bound_and_differs_beyond_it() -> None:
    bound = Bound(relative=0.01)
    assert finding({1: 100.0}, {1: 101.0}, bound).verdict == HOLDS
    assert finding({1: 100.0}, {1: 101.1}, bound).verdict == DIFFERS
    assert finding({1: 100.0}, {1: 150.0}, None).verdict is None


def test_several_runs_differ_only_beyond_their_interval_and_a_wide_one_decides_nothing() -> None:
    bound = Bound(relative=0.01)
    theirs = {seed: 100.0 + seed for seed in range(1, 6)}

    def verdict(*apart: float) -> str | None:
        ours = {seed: theirs[seed] + of for seed, of in enumerate(apart, 1)}
        return finding(theirs, ours, bound).verdict

    assert verdict(3, 3.1, 2.9, 3, 3) == DIFFERS
    assert verdict(0.5, 0.6, 0.5, 0.4, 0.5) == HOLDS
    assert verdict(1, -1, 0.5, -0.5, 0) == HOLDS
    assert verdict(20, -20, 15, -15, 0) == UNDECIDED
    assert verdict(0.5, 0.5, 60, -60, 3) == UNDECIDED


def test_the_worst_measure_is_the_verdict_of_a_row() -> None:
    assert verdicts.verdict([HOLDS, None, UNDECIDED]) == UNDECIDED
    assert verdicts.verdict([HOLDS, DIFFERS, UNDECIDED]) == DIFFERS
    assert verdicts.verdict([None, HOLDS]) == HOLDS


def test_fishers_exact_test_gives_the_published_number() -> None:
    """The lady tasting tea, 3 of 4 and 1 of 4: 34/70 for both sides."""
    assert verdicts.chance(3, 1, 4) == pytest.approx(34 / 70)
    assert verdicts.chance(5, 5, 20) == pytest.approx(1)
    assert verdicts.chance(0, 20, 20) < 1e-10


NETSTAT = "TcpExt: A TCPTimeouts TCPLossUndo\nTcpExt: {} {} {}\nIpExt: B\nIpExt: 4\n"


def test_the_last_counters_of_a_console_count() -> None:
    text = NETSTAT.format(0, 0, 0) + "words\n" + NETSTAT.format(1, 7, 2)
    assert runs.counters(text) == {"A": 1, "TCPTimeouts": 7, "TCPLossUndo": 2}
    with pytest.raises(ValueError, match="no counters"):
        runs.counters("nothing\n")


def test_recordings_are_read_as_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[Measured] = recordings.read("pairs")
    assert rows
    monkeypatch.setattr(recordings, "FOLDER", tmp_path)
    assert recordings.read("pairs") == []
    recordings.write("pairs", reversed(rows))
    assert recordings.read("pairs") == rows


def test_recorded_parts_need_no_kernel_and_the_others_say_what_to_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BACKLANE_KERNELS", str(tmp_path))
    (tmp_path / "stub.py").write_text("import sys\nprint(sys.argv[1:], file=open('words', 'w'))\n")
    stub = validate.Comparison("stub", "A stub.", "stub.md", records=True)
    monkeypatch.setitem(validate.COMPARISONS, "kernel", stub)
    monkeypatch.setattr(validate, "root", lambda: tmp_path)
    assert execute(["validate", "kernel", "--only", "short", "--check"]) == 0
    assert (tmp_path / "words").read_text() == "['--check', '--only', 'short']\n"
    (tmp_path / "words").unlink()
    for words in ([], ["--only", "clean"], ["--only", "short", "--record"]):
        assert execute(["validate", "kernel", *words]) == EXIT_USAGE
        assert "backlane linux build 6.1" in capsys.readouterr().err
    assert not (tmp_path / "words").exists()
