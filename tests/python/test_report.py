"""The report: is self-contained, says what the seeds decide, shows unfinished flows."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import math
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from conftest import BASE, SWEEP, Cli

import backlane
from backlane import report
from backlane.files import checksum
from backlane.objectives import OBJECTIVES, seconds_interval
from backlane.report import colors, script
from backlane.report.contenders import choices
from backlane.report.explore import explored
from backlane.report.html import Page, Table
from backlane.report.judge import judge, sentence
from backlane.report.series import thin
from backlane.stats import Interval
from backlane.text import listed

SVG = "'http://www.w3.org/2000/svg'"
"""The name space of elements that the script draws."""
NAMESPACE = re.compile(r'xmlns(?::\w+)?="https?://[^"]*"')


@pytest.fixture(scope="module")
def summary(done: Path, tmp_path_factory: pytest.TempPathFactory) -> report.Summary:
    return report.write([done], tmp_path_factory.mktemp("report") / "report.html")


def test_the_page_refers_to_nothing_outside(summary: report.Summary) -> None:
    text = NAMESPACE.sub("", summary.path.read_text()).replace(SVG, "")
    text = re.sub(r"/\*!.*?\*/", "", text)
    assert "http://" not in text
    assert "https://" not in text
    assert not re.search(r"<(link|iframe|img)\b", text)
    assert "@import" not in text
    assert "import " not in text.partition("<script>")[2]


def test_the_page_allows_its_own_script_and_no_other(summary: report.Summary) -> None:
    text = summary.path.read_text()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    (data, code) = re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert "unsafe-eval" not in policy
    assert not re.search(r" on[a-z]+=", text.partition("<script")[0])
    found = json.loads(data)
    assert [network["name"] for network in found["networks"]] == ["small"]


def test_names_cannot_end_the_data_of_the_script() -> None:
    text = script.json_text({"name": "</script><!--<script>&\u2028"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"name": "</script><!--<script>&\u2028"}


def test_modules_of_the_script_declare_different_names() -> None:
    declared = re.findall(r"^(?:async )?(?:const|let|function|class) (\w+)", script.script(), re.M)
    assert len(declared) > 20
    assert len(set(declared)) == len(declared)


def test_the_measure_that_ranks_has_its_figure(summary: report.Summary) -> None:
    for number, verdict in enumerate(summary.verdicts):
        file = summary.path.parent / "figures" / f"small-ranking-{number + 1}.csv"
        rows = list(csv.DictReader(file.open()))
        assert [row["contender"] for row in rows] == [one.name for one in verdict.standings]
        assert [float(row["mean_s"]) for row in rows] == [
            one.value.mean for one in verdict.standings
        ]


def test_a_figure_for_print_names_its_source(summary: report.Summary) -> None:
    folder = summary.path.parent / "figures"
    files = sorted(folder.glob("*.pdf"))
    assert len(files) == len(list(folder.glob("*.png")))
    found = str(summary.networks[0].results.manifest["scenario_hash"])[:16]
    for file in files:
        assert b"n = 4 seeds" in file.read_bytes()
        assert found.encode() in file.read_bytes()


def test_a_replay_has_the_load_and_the_failure_of_each_link(tmp_path: Path, cli: Cli) -> None:
    """A link of 10 Mbit/s is full, then down, then full; a sample every 250 ms."""
    file = tmp_path / "down.toml"
    file.write_text(
        'name = "down"\nduration = "2 s"\nflow = [{ kind = "udp", from = "enb1", to = "enb2", '
        'rate = "12 Mbit/s", packet_size = "1000 B" }]\n'
        'failure = [{ link = "enb1-enb2", at = "500 ms", until = "1500 ms" }]\n'
        'record = { series = ["queue"], interval = "250 ms" }\n'
        '[topology]\nkind = "chain"\nnodes = 2\nlink = { rate = "10 Mbit/s", delay = "1 ms", '
        'queue = "20 kB" }\n'
    )
    assert cli("run", file, "--out", tmp_path / "r").code == 0
    (network,) = report.write([tmp_path / "r"]).networks
    (one,) = explored(network)["maps"]
    replay = one["replay"]
    forth = replay["directions"].index(0)
    assert replay["times"] == [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75]
    assert replay["capacity"][forth] == [100, 0, 0, 0, 0, 100, 100]
    assert replay["use"][forth][2:5] == [0, 0, 0]
    assert replay["use"][forth][6] == 100
    mean, _, busiest, _ = one["loads"][0]
    assert 480 <= mean <= 520
    assert mean <= busiest <= 1000


def test_a_replay_adds_parallel_links(tmp_path: Path, cli: Cli) -> None:
    """One of two radio links between two nodes carries 1 Mbit/s, at 6 Mbit/s, with headers."""
    file = tmp_path / "parallel.toml"
    file.write_text(
        'name = "parallel"\nduration = "3 s"\n'
        'flow = [{ kind = "udp", from = "a", to = "b", rate = "1 Mbit/s" }]\n'
        'record = { series = ["queue"], interval = "100 ms" }\n'
        'wifi = { standard = "802.11a", rate = "6 Mbit/s", channels = [36, 40] }\n'
        '[topology]\nkind = "graph"\n'
        'node = [{ id = "a", x = "0 m", y = "0 m" }, { id = "b", x = "20 m", y = "0 m" }]\n'
        'link = [{ a = "a", b = "b", medium = "wifi", channel = 36 }, '
        '{ a = "a", b = "b", medium = "wifi", channel = 40 }]\n'
    )
    assert cli("run", file, "--out", tmp_path / "r").code == 0
    (network,) = report.write([tmp_path / "r"]).networks
    (one,) = explored(network)["maps"]
    replay = one["replay"]
    assert replay["directions"] == [2, 3]
    forth, back = replay["use"]
    # 12 or 13 packets of 1028 B in 100 ms, of the 12 Mbit/s of both links: 8.2 or 8.9 %.
    assert set(forth[1:]) == {8, 9}
    assert not any(back)
    assert replay["capacity"] == [None, None]


def test_colours_belong_to_protocols() -> None:
    first = colors.assigned(["OLSR, cubic", "OLSR, bbr", "bp-mr/flow, cubic", "something"])
    second = colors.assigned(["per flow", "olsr"])
    assert first["OLSR, cubic"] == second["olsr"]
    assert first["bp-mr/flow, cubic"] == second["per flow"]
    assert len(set(first.values())) == 4


def test_downloads_in_the_page_are_the_files_next_to_it(summary: report.Summary) -> None:
    text = summary.path.read_text()
    links = re.findall(r'download="([^"]+)" href="data:([^;]+);base64,([^"]+)"', text)
    figures = summary.path.parent / "figures"
    assert {name for name, _, _ in links} == {path.name for path in figures.iterdir()}
    for name, mime, data in links:
        stored = (figures / name).read_bytes()
        if mime == "image/svg+xml":
            stored = stored.split(b"\n", 1)[1]
            ElementTree.fromstring(stored)
        assert base64.b64decode(data) == stored
    assert len([name for name, _, _ in links if name.endswith(".png")]) >= 5


def test_ids_in_the_page_are_unique(summary: report.Summary) -> None:
    ids = re.findall(r'\bid="([^"]+)"', summary.path.read_text())
    assert len(ids) == len(set(ids))


def test_the_same_results_give_the_same_page(done: Path, tmp_path: Path) -> None:
    first = report.write([done], tmp_path / "a.html").path.read_bytes()
    assert report.write([done], tmp_path / "b.html").path.read_bytes() == first


def test_every_figure_has_an_axis_with_a_unit_and_a_sentence(summary: report.Summary) -> None:
    figures = re.findall(r"<figure .*?</figure>", summary.path.read_text(), re.DOTALL)
    assert figures
    for figure in figures:
        assert re.search(r"<h3>.+</h3><p>.+\.</p>", figure)


def test_few_seeds_are_called_few(summary: report.Summary) -> None:
    assert all(verdict.few_seeds for verdict in summary.verdicts)
    assert "few seeds" in summary.path.read_text().lower()


def changed(done: Path, folder: Path, routing: str, factor: pl.Expr) -> Path:
    """A copy of the results with one routing's finish times changed."""
    shutil.copytree(done, folder)
    runs = pl.read_parquet(folder / "runs.parquet").filter(pl.col("routing") == routing)
    flows = pl.read_parquet(folder / "flows.parquet")
    touched = pl.col("run_id").is_in(runs["run_id"].to_list())
    replace_flows(
        folder,
        flows.with_columns(
            pl.when(touched).then(factor).otherwise(pl.col("finish_time_s")).alias("finish_time_s")
        ),
    )
    return folder


def replace_flows(folder: Path, flows: pl.DataFrame) -> None:
    """Put another table of flows into results, with its checksum."""
    path = folder / "flows.parquet"
    flows.write_parquet(path)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][path.name] = {"bytes": path.stat().st_size, "sha256": checksum(path)}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def routings(done: Path) -> list[str]:
    values = pl.read_parquet(done / "runs.parquet")["routing"].unique(maintain_order=True)
    return [str(value) for value in values]


def test_a_routing_that_is_clearly_slower_is_worse(done: Path, tmp_path: Path) -> None:
    fast, slow = routings(done)
    folder = changed(done, tmp_path / "r", slow, pl.col("finish_time_s") * 0 + 50.0)
    found = report.write([folder])
    assert [v.not_worse for v in found.verdicts] == [[fast], [fast]]
    assert all("best" in verdict.outcome for verdict in found.verdicts)


def test_routings_with_the_same_times_are_equal_and_the_answer_says_so(
    done: Path, tmp_path: Path
) -> None:
    shutil.copytree(done, tmp_path / "r")
    flows = pl.read_parquet(tmp_path / "r" / "flows.parquet")
    replace_flows(tmp_path / "r", flows.with_columns(finish_time_s=pl.lit(2.0)))
    found = report.write([tmp_path / "r"])
    for verdict in found.verdicts:
        assert sorted([verdict.best.name, *verdict.equal]) == sorted(routings(done))
        assert verdict.outcome.startswith("equal within 5 %: ")
    assert "are equal within 5 % in mean finish time" in found.sentences[0]


def test_unfinished_flows_are_counted_and_named(done: Path, tmp_path: Path) -> None:
    victim = routings(done)[1]
    never = pl.when(pl.col("flow") == pl.col("flow").first()).then(None)
    folder = changed(done, tmp_path / "r", victim, never.otherwise(pl.col("finish_time_s")))
    name = pl.read_parquet(folder / "flows.parquet")["flow"][0]
    found = report.write([folder])
    assert f"8 flows of {victim}" in found.sentences[0]
    page = found.path.read_text()
    assert f"{name} (seed 1)" in page
    assert "did not finish" in page
    assert all(verdict.unfinished[victim] == 4 for verdict in found.verdicts)


def test_two_folders_are_two_networks(done: Path, tmp_path: Path, cli: Cli) -> None:
    shutil.copytree(done, tmp_path / "other")
    out = tmp_path / "both.html"
    result = cli("report", done, tmp_path / "other", "--out", out)
    assert result.code == 0, result.err
    assert result.out.splitlines()[-1] == str(out)
    assert "small (results)" in result.out
    assert "small (other)" in result.out
    found = cli("report", done, tmp_path / "other", "--out", out, "--json").json
    assert len(found["answer"]) == 2
    assert len(found["verdicts"]) == 4


def test_a_single_run_has_a_report_that_claims_nothing(
    single: Path, tmp_path: Path, cli: Cli
) -> None:
    assert cli("run", single, "--out", tmp_path / "r").code == 0
    result = cli("report", tmp_path / "r", "--json")
    assert result.code == 0, result.err
    assert result.json["verdicts"][0]["equal"] == []
    assert "lowest" not in result.json["answer"][0]


def test_text_of_a_scenario_cannot_become_markup() -> None:
    page = Page("<script>alert(1)</script>")
    page.text("<b>")
    page.table(Table(["<i>"], [["<u>"]]))
    page.facts([("<a>", "<img>")])
    text = page.html()
    for tag in ("<script", "<b>", "<i>", "<u>", "<a>", "<img"):
        assert tag not in text


def test_thinning_keeps_the_extremes() -> None:
    times = [float(i) for i in range(10_000)]
    values = [float(i % 97) for i in range(10_000)]
    values[4321], values[8765] = 500.0, -500.0
    few_times, few = thin(times, values)
    assert len(few) <= 702
    assert (4321.0, 500.0) in zip(few_times, few, strict=True)
    assert (8765.0, -500.0) in zip(few_times, few, strict=True)
    assert few_times == sorted(few_times)


def test_judging_needs_no_files(summary: report.Summary) -> None:
    network = summary.networks[0]
    assert sentence(network, judge(network)) == summary.sentences[0]


def test_a_sweep_without_a_choice_compares_all_that_is_swept(tmp_path: Path) -> None:
    file = tmp_path / "loads.toml"
    file.write_text(BASE + '[sweep]\n"access.ues" = [2, 6]\nseeds = 2\n')
    folder = backlane.campaign.run(file, tmp_path / "r").folder
    found = report.write([folder])
    (verdict,) = found.verdicts
    assert verdict.condition == ""
    assert [standing.name for standing in verdict.standings] == ["2 UEs", "6 UEs"]
    assert "nothing to compare" not in found.path.read_text()


@pytest.mark.parametrize(
    ("swept", "named", "found"),
    [
        (["access.ues", "routing"], [], ["routing"]),
        (["access.ues", "access.mobility.speed"], [], ["access.ues", "access.mobility.speed"]),
        (["topology.link.rate", "topology.link.loss"], [], ["topology.link.rate"]),
        (["topology.link.impairments.jitter", "topology.link.3.capacity",
          "topology.link.0.delay"], [], ["topology.link.0.delay"]),
        (["topology.link.3.queue", "flow.size"], [], ["topology.link.3.queue"]),
        (["access.rlc_buffer", "flow.start"], [], ["access.rlc_buffer"]),
        (["flow.0.congestion_control", "tcp.cubic.beta", "duration"], [],
         ["flow.0.congestion_control", "tcp.cubic.beta"]),
        (["topology.nodes", "assignment.radios"], [], ["assignment.radios"]),
        (["routing", "topology.nodes"], ["topology.nodes"], ["topology.nodes"]),
        (["topology.\"link\".rate", "routing"], ["topology.link.rate"],
         ["topology.\"link\".rate"]),
    ],
)  # fmt: skip
def test_contenders_are_the_choices_of_a_designer(
    swept: list[str], named: list[str], found: list[str]
) -> None:
    assert choices(swept, named) == found


def test_a_sentence_names_six_at_most() -> None:
    assert [listed("abc"[:count]) for count in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert listed("abcdef") == "a, b, c, d, e and f"
    assert listed("abcdefgh") == "a, b, c, d, e and 3 more"


def test_more_seeds_are_offered_for_choices_and_not_for_loads(tmp_path: Path, cli: Cli) -> None:
    offer = "`backlane recommend FILE` adds seeds"
    queues = '"topology.link.queue" = ["40 kB", "1 bdp"]'
    for swept, offered in (('"access.ues" = [2, 3]', False), (queues, True)):
        file = tmp_path / "s.toml"
        file.write_text(f"{BASE}[sweep]\n{swept}\nseeds = 1\n")
        done = cli("campaign", "run", file, "--out", tmp_path / f"{offered}")
        assert done.code == 0, done.err
        assert (offer in done.err) is offered


def test_the_scenario_names_keys_measure_and_margin(tmp_path: Path) -> None:
    file = tmp_path / "named.toml"
    compare = '[compare]\nkeys = ["access.ues"]\nmeasure = "fairness"\nequal_within = "2 %"\n'
    file.write_text(BASE + SWEEP.replace("seeds = 4", "seeds = 2"))
    plain = backlane.campaign.run(file, tmp_path / "r")
    file.write_text(BASE + SWEEP.replace("seeds = 4", "seeds = 2") + compare)
    compared = backlane.campaign.run(file, tmp_path / "r")
    assert compared.outcome.reused == 8
    assert compared.outcome.finished == []
    assert compared.manifest["digest"] == plain.manifest["digest"]
    found = report.write([tmp_path / "r"])
    assert [v.condition for v in found.verdicts] == ["shortest-path", "bp-mr/flow"]
    for verdict in found.verdicts:
        assert {standing.name for standing in verdict.standings} == {"3 UEs", "5 UEs"}
        assert verdict.objective is OBJECTIVES["fairness"]
        assert verdict.equal_within == 0.02
    assert "Jain's index of goodput" in found.sentences[0]


def test_flows_of_different_controls_in_one_run_are_compared(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "mixed.toml"
    second = BASE[BASE.index("[[flow]]") :] + 'congestion_control = "reno"\n'
    file.write_text(BASE + second)
    assert cli("run", file, "--out", tmp_path / "r").code == 0
    table = cli("run", file, "--out", tmp_path / "r").out
    assert "download, cubic" in table
    assert "download, reno" in table
    file.write_text(BASE + second + "[sweep]\nseeds = 3\n")
    folder = backlane.campaign.run(file, tmp_path / "c").folder
    found = report.write([folder])
    (verdict,) = found.verdicts
    assert {standing.name for standing in verdict.standings} == {"cubic", "reno"}
    assert "as configured: flows of reno" in found.path.read_text()


def test_ends_of_an_interval_have_the_decimals_of_its_mean() -> None:
    assert seconds_interval(Interval(1.0, 0.99, 1.0249, 10, "t")) == "1.00 s [0.99, 1.02]"
    assert seconds_interval(Interval(0.05, 0.049, 0.051, 10, "t")) == "50.0 ms [49.0, 51.0]"
    assert seconds_interval(Interval(2.0, math.nan, math.nan, 1, "none")) == "2.00 s"
