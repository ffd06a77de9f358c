"""The contract of the command line: streams, JSON, exit codes, help."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from conftest import BASE, Cli, finish, start

import backlane
from backlane import errors, native
from backlane.cli.app import VERBS
from backlane.cli.output import Bar

COMMANDS = [
    [],
    *([verb] for verb in VERBS),
    ["campaign", "run"],
    ["campaign", "status"],
    ["campaign", "merge"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_begins_with_an_example(words: list[str], cli: Cli) -> None:
    result = cli(*words, "--help")
    assert result.code == 0
    first, second = result.out.splitlines()[:2]
    assert first == "Example:"
    assert second.startswith("  backlane " + " ".join(words[:1]))


def test_run_writes_every_table_of_the_contract(single: Path, tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "out"
    result = cli("run", single, "--out", folder)
    assert result.code == 0, result.err
    assert result.out.splitlines()[-1] == str(folder)
    for name in ("manifest.json", "scenario.resolved.toml", "runs.parquet", "flows.parquet"):
        assert (folder / name).is_file()
    results = backlane.load(folder)
    assert results.flows.columns[0] == "run_id"
    assert set(results.flows["run_id"]) == set(results.runs["run_id"])
    assert {"flow", "kind", "finish_time_s", "goodput_bps", "rtt_mean_s"} <= set(
        results.flows.columns
    )
    assert {"from", "to", "utilisation", "queue_max_bytes"} <= set(results.links.columns)


def test_a_run_without_flows_has_an_empty_table_of_them(
    single: Path, tmp_path: Path, cli: Cli
) -> None:
    text = single.read_text()
    single.write_text(text[: text.index("[[flow]]")])
    result = cli("run", single, "--out", tmp_path / "out", "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)["flows"] == {}
    assert backlane.load(tmp_path / "out").flows.height == 0


def test_reordering_is_in_the_results_when_asked(sweep: Path, tmp_path: Path, cli: Cli) -> None:
    assert cli("campaign", "run", sweep, "--out", tmp_path / "off").code == 0
    assert not (tmp_path / "off" / "reordering.parquet").exists()
    sweep.write_text(sweep.read_text() + "\n[record]\nreordering = true\n")
    done = cli("campaign", "run", sweep, "--out", tmp_path / "on")
    assert done.code == 0, done.err
    off, on = (backlane.load(tmp_path / name) for name in ("off", "on"))
    new = on.flows.drop(off.flows.columns)
    assert "n_reordered_3_ratio" in new.columns
    assert set(new.dtypes) == {pl.Float64}
    assert on.flows["digest"].to_list() == off.flows["digest"].to_list()
    table = pl.read_parquet(tmp_path / "on" / "reordering.parquet")
    assert table.columns == ["run_id", "flow", "displacement_pkts", "density", "occupancy"]
    sums = table.group_by("run_id", "flow").agg(pl.col("density", "occupancy").sum())
    assert sums.height == on.flows.height
    assert sums["density"].to_list() == pytest.approx([1.0] * sums.height)
    assert sums["occupancy"].to_list() == pytest.approx([1.0] * sums.height)


def test_json_is_one_object_and_nothing_else(single: Path, tmp_path: Path, cli: Cli) -> None:
    result = cli("run", single, "--out", tmp_path / "out", "--json")
    assert result.json["ok"] is True
    assert result.json["folder"] == str(tmp_path / "out")
    assert result.json["flows"]["download"]["finite"] == 4
    assert result.json["packets_injected"] + result.json["packets_duplicated"] == (
        result.json["packets_delivered"]
        + result.json["packets_dropped"]
        + result.json["packets_in_flight"]
    )


def test_the_same_seed_gives_the_same_tables_and_another_seed_does_not(
    single: Path, tmp_path: Path, cli: Cli
) -> None:
    def digest(*more: object) -> object:
        return cli("run", single, "--out", tmp_path / "out", "--json", *more).json["digest"]

    assert digest() == digest()
    assert digest() == digest("--seed", 1)
    assert digest() != digest("--seed", 2)


def test_set_reaches_the_scenario(single: Path, tmp_path: Path, cli: Cli) -> None:
    result = cli("run", single, "--out", tmp_path / "o", "--json", "--set", "access.ues=2")
    assert result.json["flows"]["download"]["flows"] == 2
    assert backlane.load(tmp_path / "o").manifest["overrides"] == ["access.ues=2"]


def test_a_campaign_given_to_run_is_sent_to_the_right_verb(sweep: Path, cli: Cli) -> None:
    result = cli("run", sweep)
    assert result.code == 2
    assert "R006" in result.err
    assert "campaign run" in result.err


def test_a_wrong_scenario_is_shown_as_the_simulator_renders_it(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text("nmae = 'x'\n" + BASE)
    result = cli("check", file)
    assert result.code == 2
    assert result.err.startswith("error[S")
    assert f"--> {file}:" in result.err
    assert result.out == ""
    found = cli("check", file, "--json")
    assert found.code == 2
    assert found.json["errors"][0]["code"].startswith("S")


def test_check_counts_the_runs(sweep: Path, cli: Cli) -> None:
    assert cli("check", sweep, "--json").json["runs"] == 16
    assert "4 cells, 16 runs" in cli("check", sweep).out


def test_a_dry_run_leaves_no_trace(sweep: Path, tmp_path: Path, cli: Cli) -> None:
    result = cli("campaign", "run", sweep, "--out", tmp_path / "r", "--dry-run", "--json")
    assert result.json["to_do"] == 16
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["rnu"], 'did you mean "run"?'),
        (["run"], "Missing argument"),
        (["run", "x.toml", "--no-such"], "No such option"),
        (["campaign", "run", "x.toml", "--shard", "3/2"], "R012"),
        (["run", "x.toml", "--set", "nonsense"], "R012"),
        (["run", "x.toml"], "R003"),
        (["report", "nowhere"], "R008"),
        (["campaign", "status", "nowhere"], "R008"),
        (["explain", "S9999"], "R014"),
        (["explain", "routing.helo_interval"], "did you mean routing.hello_interval?"),
        (["init", "gird"], 'did you mean "grid"?'),
    ],
)
def test_wrong_usage_exits_2_and_says_how_to_mend_it(
    words: list[str], hint: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = cli(*words)
    assert result.code == 2
    assert hint in result.err
    assert result.out == ""
    assert "Traceback" not in result.err
    assert json.loads(cli(*words, "--json").out)["ok"] is False


def test_a_file_that_is_not_utf8_is_told_with_line_and_column(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "latin.toml"
    file.write_bytes(b'name = "x"\nduration = "1\xe9 s"\n')
    result = cli("check", file)
    assert result.code == 2
    assert f"{file}:2:14" in result.err
    assert "0xe9" in result.err


def test_a_defect_exits_101_and_keeps_the_details(
    single: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(native.module(), "plan", lambda *_: 1 / 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = cli("run", single)
    assert result.code == 101
    assert "please report it" in result.err
    assert "Traceback" not in result.err
    assert "ZeroDivisionError" in next(tmp_path.glob("backlane-*.txt")).read_text()
    assert "Traceback" in cli("run", single, "--debug").err


def test_a_missing_compiled_module_is_told(
    single: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "backlane._native", None)
    monkeypatch.delattr(backlane, "_native", raising=False)
    result = cli("run", single)
    assert result.code == 2
    assert "R013" in result.err
    doctor = cli("doctor", "--json")
    assert doctor.code == 1
    assert doctor.json["checks"]["compiled module"]["ok"] is False


def test_a_run_that_cannot_be_carried_out_exits_1(
    single: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator = native.module()

    def fail(*_: object, **_threads: object) -> None:
        raise simulator.RunError("conservation violated")

    monkeypatch.setattr(simulator, "run", fail)
    result = cli("run", single, "--out", tmp_path / "o")
    assert result.code == 1
    assert "conservation violated" in result.err
    assert not (tmp_path / "o" / "manifest.json").exists()


def test_ctrl_c_in_a_single_run_exits_130(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text(
        BASE.replace('"60 s"', '"3000 s"')
        .replace("ues = 4", "ues = 60")
        .replace("200 kB", "900 MB")
    )
    process = start("run", file, "--out", tmp_path / "o", env={"FAKE_SLEEP": "20"})
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    result = finish(process)
    assert result.code == 130, result.err
    assert result.err.splitlines()[-1] == "interrupted"
    assert not (tmp_path / "o" / "manifest.json").exists()


def test_a_closed_pipe_is_no_error() -> None:
    process = start("explain")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.wait(60) == 0
    assert process.stderr.read() == ""


def test_color_is_for_terminals_unless_it_is_asked_for(tmp_path: Path) -> None:
    words = ["run", tmp_path / "none.toml"]
    assert "\033[" not in finish(start(*words)).err
    assert "\033[" in finish(start(*words, "--color", "always")).err
    assert "\033[" not in finish(start(*words, "--color", "never")).err


def test_no_color_is_respected_on_a_terminal(tmp_path: Path) -> None:
    def on_terminal(**env: str) -> bytes:
        leader, follower = os.openpty()
        clean = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        subprocess.run(
            [sys.executable, "-m", "backlane", "run", str(tmp_path / "none.toml")],
            stderr=follower,
            env=clean | {"TERM": "xterm"} | env,
            check=False,
        )
        os.close(follower)
        return os.read(leader, 10_000)

    assert b"\033[" in on_terminal()
    assert b"\033[" not in on_terminal(NO_COLOR="1")


def test_progress_without_a_terminal_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    bar = Bar("grid", 40, "runs")
    for step in range(41):
        now = 100.0 + step
        bar.update(float(step))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "grid: 10 of 40 runs, about 30 s left"
    assert len(lines) == 4


def test_init_does_not_overwrite(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "a.toml"
    assert cli("init", "sites", file).code == 0
    assert file.read_text().startswith("#:schema ./scenario.schema.json\n")
    schema = tmp_path / "scenario.schema.json"
    assert schema.read_text() == cli("schema").out
    result = cli("init", "sites", file)
    assert result.code == 2
    assert "R011" in result.err
    file.unlink()
    result = cli("init", "sites", file)
    assert "sites.csv" in result.err  # the table is not overwritten either
    assert not file.exists()
    schema.unlink()
    assert cli("init", "sites", file, "--force", "--no-schema").code == 0
    assert not schema.exists()


TEMPLATES = dict(native.module().template_names())


def test_templates_are_listed_with_what_they_describe(cli: Cli) -> None:
    assert cli("init", "--list", "--json").json["templates"] == list(TEMPLATES)
    lines = cli("init", "--list").out.split("\n\nwith --copy:\n")[0].splitlines()
    assert [line.split("  ")[0] for line in lines] == list(TEMPLATES)
    assert all(about in line for line, about in zip(lines, TEMPLATES.values(), strict=True))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_passes_the_check_and_runs(name: str, tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "own.toml"
    made = cli("init", name, file)
    assert made.code == 0
    assert all((tmp_path / Path(line).name).is_file() for line in made.out.splitlines())
    checked = cli("check", file)
    assert checked.code == 0, checked.err
    assert "warning" not in checked.err
    text, is_campaign = file.read_text(), "campaign run" in made.err
    assert is_campaign == ("\n[sweep]" in text)
    if is_campaign:
        # The first of its cells.
        file.write_text(text[: text.index("\n[sweep]") + 1])
    ran = cli("run", file, "-o", tmp_path / "results", "--json")
    assert ran.code == 0, ran.err
    # A few seconds on any machine.
    assert ran.json["events"] < 20_000_000
    assert ran.json["digest"]


def test_every_code_is_explained(cli: Cli) -> None:
    codes = cli("explain", "--json").json["codes"]
    assert set(errors.CODES) <= set(codes)
    for code, text in codes.items():
        assert len(text) > 40 or not code.startswith("R"), code
    assert "disk" in cli("explain", "r002").out


def test_a_key_is_explained_by_its_path(cli: Cli) -> None:
    text = cli("explain", "routing.hello_interval").out
    assert 'routing.hello_interval with protocol = "olsr": a time such as "4 ms"' in text
    assert 'default "2 s"' in text and "RFC 3626" in text
    assert "Its keys: protocol, warm_up" in cli("explain", "routing").out
    assert '"olsr": Optimized link state routing' in cli("explain", "routing.protocol").out


def test_no_code_is_named_that_has_no_explanation() -> None:
    import re

    source = "".join(path.read_text() for path in Path(backlane.__file__).parent.rglob("*.py"))
    assert set(re.findall(r'"(R\d{3})"', source)) == set(errors.CODES)


def test_the_schema_is_json(cli: Cli) -> None:
    assert cli("schema").json["type"] == "object"


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, backlane, backlane.cli, backlane.cli.app;"
        "print([m for m in ('polars','numpy','scipy','matplotlib','rich') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_a_run_loads_neither_matplotlib_nor_scipy(single: Path, tmp_path: Path) -> None:
    code = (
        "import sys, backlane.cli;"
        f"backlane.cli.execute(['run', {str(single)!r}, '--out', {str(tmp_path / 'o')!r}]);"
        "print([m for m in ('scipy','matplotlib','pyarrow') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"
