"""Scenarios as files, texts and dicts; overrides with values of Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import BASE, SWEEP, Cli

import backlane
from backlane import BacklaneError, ScenarioError, scenario

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXAMPLES = Path(__file__).parents[2] / "examples"


def content() -> dict[str, Any]:
    """The scenario of `single` as a dict."""
    return tomllib.loads(BASE)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_a_dict_has_the_plan_of_its_file(path: Path) -> None:
    assert backlane.plan(tomllib.loads(path.read_text())) == backlane.plan(path)


def test_a_file_a_text_and_a_dict_give_the_same_run(single: Path) -> None:
    of_file, of_name, of_text, of_dict = (
        backlane.run(one, seed=2) for one in (single, str(single), BASE, content())
    )
    for other in (of_name, of_text, of_dict):
        assert other.runs["digest"].to_list() == of_file.runs["digest"].to_list()
        assert other.flows.equals(of_file.flows)


def test_files_that_a_dict_names_are_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = EXAMPLES / "trace_access"
    monkeypatch.chdir(folder)
    (path,) = folder.glob("*.toml")
    assert backlane.plan(tomllib.loads(path.read_text())) == backlane.plan(path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match="cannot be read"):
        backlane.plan(tomllib.loads(path.read_text()))


def test_an_error_in_a_dict_has_the_code_of_the_file_and_a_path() -> None:
    wrong = content()
    wrong["flow"].append({"kind": "download", "siez": "3 MB"})
    wrong["topology"]["link"]["rate"] = 100
    with pytest.raises(ScenarioError) as refused:
        backlane.check(wrong)
    found = {one["path"]: one for one in refused.value.diagnostics}
    assert found["flow[1].siez"]["code"] == "S010"
    assert found["flow[1].siez"]["line"] is None
    assert found["flow[1]"]["code"] == "S011"
    assert found["topology.link.rate"]["code"] == "S014"
    assert refused.value.rendered == str(refused.value)
    assert (
        "error[S010]: `siez` is not a key in flow with kind = \"download\"\n"
        "  --> flow[1].siez\n   = did you mean `size`?"
    ) in str(refused.value)  # fmt: skip
    codes = sorted(one["code"] for one in refused.value.diagnostics)
    with pytest.raises(ScenarioError) as of_text:
        backlane.check(scenario.read(wrong).text)
    assert sorted(one["code"] for one in of_text.value.diagnostics) == codes
    assert all(one["line"] > 1 for one in of_text.value.diagnostics)


def test_a_section_that_is_missing_is_no_fault_of_the_first_entry() -> None:
    with pytest.raises(ScenarioError, match="topology is missing\n  --> <dict>\n"):
        backlane.check({"name": "x", "duration": "1 s"})


def test_an_error_in_an_override_names_its_key(single: Path) -> None:
    with pytest.raises(ScenarioError, match=r"  --> overrides\['access.uez'\]"):
        backlane.check(single, {"access.uez": 5})
    with pytest.raises(ScenarioError, match=r"  --> overrides\['duration'\]") as refused:
        backlane.run(content(), overrides={"duration": 5})
    assert [one["code"] for one in refused.value.diagnostics] == ["S014"]
    # Pairs are shown as on the command line.
    with pytest.raises(ScenarioError, match="--> --set:1:1"):
        backlane.check(single, [("access.uez", "5")])


def test_warnings_about_a_dict_have_paths_too() -> None:
    parts = content()
    parts["server"][0]["attach"] = "enb1"
    parts["gateway"] = []
    of_dict, of_text = backlane.check(parts), backlane.check(scenario.read(parts).text)
    assert [one["code"] for one in of_dict] == [one["code"] for one in of_text]
    for one in of_dict:
        assert "path" in one or one["line"] is None


@pytest.mark.parametrize(
    ("values", "pairs"),
    [
        ({"access.ues": 2}, [("access.ues", "2")]),
        ({"access.ues": 2}, [("access.ues", 2)]),
        ({"duration": "50 s"}, [("duration", '"50 s"')]),
        ({"duration": "50 s"}, [("duration", "50 s")]),
        ({"tcp": {"sack": False}}, [("tcp", "{ sack = false }")]),
        ({"record.series": ["cwnd"]}, [("record.series", '["cwnd"]')]),
        ({"flow.0.size": "100 kB", "seed": 7}, [("flow.0.size", "100 kB"), ("seed", "7")]),
    ],
    ids=str,
)
def test_a_mapping_of_overrides_says_what_pairs_of_texts_say(
    values: dict[str, Any], pairs: list[tuple[str, Any]], single: Path
) -> None:
    changed = backlane.plan(single, values)
    assert changed == backlane.plan(single, pairs)
    assert changed != backlane.plan(single)


@pytest.mark.parametrize("wrong", [["duration"], [("a", 1, 2)], [(1, 2)], {1: 2}], ids=repr)
def test_what_is_no_override_is_refused(wrong: Any, single: Path) -> None:
    with pytest.raises(BacklaneError) as refused:
        backlane.plan(single, wrong)
    assert refused.value.code == "R029"


def test_what_is_no_scenario_is_refused() -> None:
    with pytest.raises(BacklaneError, match="a int is no scenario") as refused:
        backlane.check(3)  # type: ignore[arg-type]
    assert refused.value.code == "R029"
    with pytest.raises(BacklaneError, match="No such file") as refused:
        backlane.check("name = 1")
    assert refused.value.code == "R003"


def test_a_campaign_and_a_bound_take_dicts(tmp_path: Path) -> None:
    whole = tomllib.loads(BASE + SWEEP)
    made = backlane.campaign.run(
        whole, tmp_path / "r", overrides={"sweep.seeds": 1, "sweep.access.ues": [2]}
    )
    assert made.manifest["runs_finished"] == 2
    assert made.manifest["overrides"] == ["sweep.seeds=1", "sweep.access.ues=[2]"]
    (of_dict,) = backlane.bound.of(content())
    (of_text,) = backlane.bound.of(BASE)
    assert of_dict.total_mbps == of_text.total_mbps > 0
    with pytest.raises(BacklaneError, match=r"campaign of 16 runs") as refused:
        backlane.run(whole)
    assert refused.value.code == "R006"
    assert refused.value.mend is not None
    assert "backlane.sweep" in refused.value.mend


def test_a_sweep_in_memory_has_the_tables_of_one_in_a_folder(tmp_path: Path) -> None:
    over = {"routing.protocol": ["shortest-path", "olsr"], "access.ues": [1, 2]}
    memory = backlane.sweep(content(), over, seeds=2)
    stored = backlane.sweep(BASE, over, seeds=[1, 2], out=tmp_path / "r")
    assert memory.folder is None
    assert memory.parameters == ["routing.protocol", "access.ues"]
    assert memory.runs.height == 8
    timed = ["wall_s", "cpu_s"]
    assert memory.runs.drop(timed).equals(stored.runs.drop(timed))
    assert memory.tables() == stored.tables()
    for name in set(memory.tables()) - {"runs"}:
        assert memory.table(name).equals(stored.table(name)), name
    assert backlane.load(tmp_path / "r").manifest == stored.manifest


def test_the_sweep_of_the_scenario_holds_unless_another_is_given(sweep: Path) -> None:
    found = backlane.sweep(sweep, {"access.ues": [1]}, seeds=1)
    assert [cell["access.ues"] for cell in found.cells] == [1, 1]
    assert found.runs.height == 2


def test_a_failed_run_of_a_sweep_is_an_error(tmp_path: Path) -> None:
    class Broken(backlane.CongestionControl):
        def on_ack(self, now_s: float, ack: Any, window: Any) -> None:
            raise ValueError("broken")

        def ssthresh(self, now_s: float, window: Any, in_flight_pkts: int) -> int:
            return 2

    over = {"tcp.congestion_control": ["reno", Broken]}
    with pytest.raises(backlane.RunError, match=r"Broken, seed 1 \(2 of 4 runs") as failed:
        backlane.sweep(content(), over, seeds=2, out=tmp_path / "r")
    assert failed.value.code == "R103"
    assert backlane.load(tmp_path / "r").manifest["runs_finished"] == 2


def test_the_command_line_takes_no_text_for_a_file(cli: Cli) -> None:
    refused = cli("check", "name = 'x'\nduration = '1 s'")
    assert refused.code == 2
    assert "error[R003]" in refused.err


def test_every_public_name_is_listed_before_it_is_loaded() -> None:
    import subprocess

    code = (
        "import backlane, sys; names = dir(backlane);"
        "assert 'polars' not in sys.modules and 'backlane.campaign' not in sys.modules;"
        "assert set(backlane.__all__) <= set(names), names;"
        "[getattr(backlane, name) for name in names]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_functions_and_classes_are_described() -> None:
    import inspect
    import pydoc

    for name in backlane.__all__:
        value = getattr(backlane, name)
        if inspect.isfunction(value) or inspect.ismodule(value) or inspect.isclass(value):
            assert inspect.getdoc(value), name
        if inspect.isfunction(value):
            parameters = inspect.signature(value).parameters.values()
            assert all(one.annotation is not one.empty for one in parameters), name
            assert all(f"    {one.name}: " in (value.__doc__ or "") for one in parameters), name
    page = pydoc.plain(pydoc.render_doc(backlane))
    for name in ("check", "load", "plan", "run", "sweep"):
        assert f"    {name}(" in page
