"""Studies: rules on numbers computed by hand, and a small study from start to end."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import BASE, Cli
from PIL import Image, ImageColor

from backlane import cost
from backlane.errors import BacklaneError
from backlane.report.colors import PALETTE
from backlane.report.figures import PAPER
from backlane.studies import age, catalogue, figures, metrics, pictures, rules, runs, terms
from backlane.studies import claims as judging
from backlane.studies import study as reading

ROOT = Path(__file__).resolve().parents[2]


class Fixed(runs.Data):
    """Numbers by (metric, contender): a list over the seeds from 1."""

    def __init__(self, numbers: dict[tuple[str, str], list[float]]) -> None:
        super().__init__()
        names = list(dict.fromkeys(name for _, name in numbers))
        self.names = names
        self.numbers = numbers

    def cells(self, experiment: str) -> list[dict[str, Any]]:
        return [{"routing": name, "load": 1} for name in self.names]

    def values(self, experiment: str, metric: str, where: Any) -> dict[int, float]:
        found = self.numbers.get((metric, where.get("routing")), [])
        return dict(enumerate(found, 1))


def claim(**part: Any) -> judging.Claim:
    rule = part.pop("rule")
    options = {"along": "routing", "metric": "finish_mean"} | part
    return judging.Claim("X", "", "", "A", "", [terms.Part("e", rule, options)])


def outcome(data: runs.Data, **part: Any) -> judging.Verdict:
    return judging.judge([claim(**part)], data)[0]


DATA = Fixed(
    {
        ("finish_mean", "a"): [1.0, 1.1, 0.9],
        ("finish_mean", "b"): [2.0, 2.1, 1.9],
        # above b on average, below in one seed
        ("finish_mean", "c"): [2.2, 1.9, 2.3],
    }
)


def test_a_strict_order_needs_intervals_above_zero_and_a_weak_one_only_means() -> None:
    assert outcome(DATA, rule="order", strict=True, terms=["a", "b"]).outcome == "reproduced"
    tie = outcome(DATA, rule="order", strict=True, terms=["b", "c"])
    assert tie.outcome == "differs"
    assert tie.tie
    assert tie.unsettled == {"e"}
    assert outcome(DATA, rule="order", terms=["b", "c"]).outcome == "reproduced"
    wrong = outcome(DATA, rule="order", strict=True, terms=["b", "a"])
    assert wrong.outcome == "differs"
    assert not wrong.tie
    assert not wrong.unsettled


def test_terms_that_are_equal_or_ascend_are_in_a_weak_order() -> None:
    data = Fixed(
        {
            ("finish_mean", "a"): [1.0, 1.1, 0.9],
            ("finish_mean", "same"): [1.0, 1.1, 0.9],
            ("finish_mean", "less by chance"): [1.1, 0.8, 1.0],
            ("finish_mean", "less"): [0.5, 0.6, 0.4],
        }
    )
    for last, expected in [
        ("same", "reproduced"), ("less by chance", "reproduced"), ("less", "differs"),
    ]:  # fmt: skip
        found = outcome(data, rule="order", weak=True, terms=["a", last])
        assert found.outcome == expected, last
    assert outcome(data, rule="order", terms=["a", "same"]).outcome == "differs"


def test_bands_spreads_and_equality_look_at_means() -> None:
    assert outcome(DATA, rule="band", low=0.9, high=1.1, terms=["a"]).outcome == "reproduced"
    assert outcome(DATA, rule="band", low=1.1, high=1.2, terms=["a"]).outcome == "differs"
    assert outcome(DATA, rule="equal", within=0.5, terms=["a", "b"]).outcome == "reproduced"
    assert outcome(DATA, rule="equal", within=0.49, terms=["a", "b"]).outcome == "differs"
    # (2 − 1) / 1.5
    assert outcome(DATA, rule="spread", within=0.67, terms=["a", "b"]).outcome == "reproduced"
    assert outcome(DATA, rule="spread", within=0.66, terms=["a", "b"]).outcome == "differs"
    assert outcome(DATA, rule="span", within=1.0, terms=["a", "b"]).outcome == "reproduced"
    assert outcome(DATA, rule="rank", largest=1, terms=["b", "a"]).outcome == "reproduced"
    assert outcome(DATA, rule="rank", largest=1, terms=["a", "b"]).outcome == "differs"


def test_terms_combine_cells_seed_by_seed() -> None:
    ratio = {"ratio": ["b", "a"]}
    # 2/1, 2.1/1.1, 1.9/0.9: mean 2.0067, not 2
    assert outcome(DATA, rule="band", low=2.006, high=2.007, terms=[ratio]).outcome == "reproduced"
    assert outcome(DATA, rule="order", terms=[{"max": ["a", "b"]}, "c"]).outcome == "reproduced"


def test_a_share_counts_seeds_and_cases_may_be_allowed_to_fail() -> None:
    assert outcome(DATA, rule="share", within=0.66, terms=["b", "c"]).outcome == "reproduced"
    assert outcome(DATA, rule="share", within=0.67, terms=["b", "c"]).outcome == "differs"
    cases = {"for_each": {"other": [1, 2, 3]}, "terms": ["b", "a"], "rule": "order"}
    assert outcome(DATA, **cases, at_least=0).outcome == "reproduced"
    assert outcome(DATA, **cases, at_least=1).outcome == "differs"


def test_what_was_not_run_is_unknown() -> None:
    assert outcome(DATA, rule="order", terms=["a", "nobody"]).outcome == "unknown"


def test_eta_squared_of_a_two_by_two_layout_is_that_worked_out_by_hand() -> None:
    # mean 3; total (2² + 1² + 1² + 2²) = 10; rows 1.5 and 4.5: 2·2·1.5² = 9; columns: 2·2·0.5² = 1
    shares = rules.eta_squared([("x", "u", 1), ("x", "v", 2), ("y", "u", 4), ("y", "v", 5)])
    assert list(shares) == pytest.approx([0.9, 0.1])


def test_holm_compares_the_smallest_with_the_whole_family() -> None:
    verdicts = [
        judging.Verdict(claim(rule="order", terms=[]), "reproduced", "", p_values=[p])
        for p in (0.02, 0.02, 0.02)
    ]
    for index, verdict in enumerate(verdicts):
        object.__setattr__(verdict.claim, "id", str(index))
    # 0.02 > 0.05 / 3
    judging._holm(verdicts)
    assert not any(verdict.survives for verdict in verdicts)
    verdicts[0].p_values = [0.01]
    verdicts[1].p_values = [0.02]
    verdicts[2].p_values = [0.9]
    judging._holm(verdicts)
    # 0.01 < 0.05/3, 0.02 < 0.05/2, 0.9 > 0.05
    assert [verdict.survives for verdict in verdicts] == [True, True, False]


def test_peaks_are_the_windows_before_each_cut() -> None:
    assert metrics.peaks([10, 20, 30, 15, 16, 40, 39, 20]) == [30, 40]
    assert metrics.peaks([10, 11, 12]) == []


STUDY = """\
title = "A small study"
about = "Four UEs."
[[experiment]]
name = "small"
shows = "everything"
most_seeds = 3
quick = { "sweep.seeds" = 2 }
[[figure]]
id = "fig1"
title = "Finish time"
kind = "candlesticks"
experiment = "small"
by = "tcp.congestion_control"
[[sensitivity]]
title = "Finish time by size"
experiment = "small"
metric = "finish_mean"
by = "tcp.congestion_control"
columns = ["reno", "cubic"]
"""
CLAIMS = """\
[[claim]]
id = "T-1"
source = "here"
statement = "larger files take longer"
weight = "A"
experiment = "small"
rule = "order"
strict = true
metric = "finish_mean"
along = "flow.0.size"
terms = ["50 kB", "200 kB"]
[claim.former]
statement = "larger files take an hour longer"
reason = "the paper has no number"
rule = "band"
low = 3600
high = 7200
metric = "finish_mean"
terms = [{}]
[[claim]]
id = "T-2"
source = "here"
statement = "files take an hour"
weight = "B"
cause = "they are small"
experiment = "small"
rule = "band"
low = 3600
high = 7200
metric = "finish_mean"
terms = [{}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "small-study"
    path.mkdir()
    sweep = '[sweep]\n"flow.0.size" = ["50 kB", "200 kB"]\n'
    sweep += '"tcp.congestion_control" = ["reno", "cubic"]\nseeds = 3\n'
    (path / "small.toml").write_text(BASE + sweep)
    (path / "study.toml").write_text(STUDY)
    (path / "claims.toml").write_text(CLAIMS)
    return path


def is_small(picture: Path) -> bool:
    with Image.open(picture) as image:
        return image.mode == "P" and round(image.info["dpi"][0]) == pictures.DPI


def test_figures_of_studies_are_small_pictures_beside_their_numbers() -> None:
    found = sorted(ROOT.glob("studies/**/figures/*"))
    assert {path.suffix for path in found} == {".png", ".csv"}
    for picture in found:
        if picture.suffix == ".png":
            assert is_small(picture), picture
            assert picture.with_suffix(".csv").is_file(), picture


def test_lines_keep_their_colours_in_a_small_picture() -> None:
    """Seven lines of one pixel, each less than a hundredth of the picture."""
    image = Image.new("RGB", (200, 200), PAPER)
    for index, color in enumerate(PALETTE):
        for x in range(180):
            image.putpixel((x, 20 * index + 10), ImageColor.getrgb(color))
    target = io.BytesIO()
    image.save(target, "PNG", dpi=(pictures.DPI, pictures.DPI))
    reduced = Image.open(io.BytesIO(pictures.small(target.getvalue()))).convert("RGB")
    for index, color in enumerate(PALETTE):
        assert reduced.getpixel((90, 20 * index + 10)) == ImageColor.getrgb(color)


def test_a_long_study_says_what_it_costs_before_it_starts(
    folder: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["reproduce", folder, "--store", tmp_path / "store", "--workers", 2]
    assert "will take about" not in cli(*words).err
    monkeypatch.setattr(cost, "SAID_CPU_S", 0.0)
    (folder / "small.toml").write_text(
        (folder / "small.toml").read_text().replace("seeds = 3", "seeds = 5")
    )
    # 2 · 2 cells; three of the five seeds are stored.
    assert cli(*words).err.startswith("these 8 runs will take about")


def test_a_study_runs_draws_judges_and_writes_its_page(
    folder: Path, tmp_path: Path, cli: Cli
) -> None:
    store = tmp_path / "store"
    done = cli("reproduce", str(folder), "--store", str(store), "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert {row["id"]: row["outcome"] for row in found["claims"]} == {
        "T-1": "reproduced",
        "T-2": "differs",
    }
    page = (folder / "README.md").read_text()
    assert "they are small" in page
    assert "| T-1 | here | larger files take longer | reproduced |" in page
    corrected = "| T-1 | larger files take an hour longer | **differs** | larger files take longer "
    assert f"{corrected}| reproduced | the paper has no number |" in page
    assert {row["id"]: row.get("former") for row in found["claims"]} == {
        "T-1": "differs", "T-2": None,
    }  # fmt: skip
    assert sorted(path.name for path in (folder / "figures").iterdir()) == [
        "fig1-finish.csv", "fig1-finish.png", "sensitivity-1.csv", "sensitivity-1.png",
    ]  # fmt: skip
    assert is_small(folder / "figures" / "fig1-finish.png")
    assert "### Finish time by size" in page
    # Stored runs are not repeated.
    before = {path: path.stat().st_mtime_ns for path in store.rglob("run.json")}
    assert len(before) == 12
    again = cli("reproduce", str(folder), "--store", str(store))
    assert again.code == 0
    assert {path: path.stat().st_mtime_ns for path in store.rglob("run.json")} == before


BEFORE = """\
model_version = 4
commit = "25a7fcfcb8"
[verdict]
reproduced = ["T-2"]
differs = ["T-1"]
[[change]]
by = "reading"
claims = ["T-2"]
what = "files are smaller"
"""


def test_a_page_shows_what_moved_each_verdict_since_it_was_published(
    folder: Path, tmp_path: Path, cli: Cli
) -> None:
    (folder / "verdicts_before.toml").write_text(BEFORE)
    store = tmp_path / "store"
    done = cli("reproduce", str(folder), "--store", str(store), "--json")
    assert done.code == 0, done.err
    assert {row["id"]: row["before"] for row in json.loads(done.out)["claims"]} == {
        "T-1": "differs", "T-2": "reproduced",
    }  # fmt: skip
    path = folder / "README.md"
    page = path.read_text()
    assert "commit 25a7fcfcb8: A 0 of 1, B 1 of 1 reproduced. Now: A 1 of 1, B 0 of 1." in page
    # The rule before still fails on the runs of today: the rule moved it, not the reading.
    ruled = (
        "| T-1 | **differs** | **differs** | reproduced | rule | rule: the paper has no number |"
    )
    moved = "| T-2 | reproduced | – | **differs** | reading | files are smaller |"
    assert ruled in page
    assert moved in page
    assert age.missing(reading.load(folder), page) == []
    # A reading may have had a part beside the rule.
    (folder / "verdicts_before.toml").write_text(BEFORE.replace('["T-2"]\nwhat', '["T-1"]\nwhat'))
    assert cli("reproduce", str(folder), "--store", str(store)).code == 0
    both = "| reading, rule | files are smaller; rule: the paper has no number |"
    assert both in path.read_text()
    # Other words for a verdict that moved, or another verdict, make the page an old one.
    (folder / "verdicts_before.toml").write_text(BEFORE.replace("smaller", "larger"))
    assert age.missing(reading.load(folder), page) == ["files are larger"]
    # Without a change that names it, the page says that none was found.
    (folder / "verdicts_before.toml").write_text(BEFORE.replace('claims = ["T-2"]', "claims = []"))
    assert cli("reproduce", str(folder), "--store", str(store)).code == 0
    assert "| T-2 | reproduced | – | **differs** | **not found** | – |" in path.read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"reading"', '"luck"', '"luck" is no kind of change'),
        ('differs = ["T-1"]', 'differs = ["T-9"]', 'there is no claim "T-9"'),
        ('differs = ["T-1"]', 'differs = ["T-2"]', "T-2 has two verdicts"),
        ('claims = ["T-2"]', 'claims = ["T-8"]', 'there is no claim "T-8"'),
        ("model_version = 4\n", "", "`model_version` is missing"),
    ],
)
def test_wrong_verdicts_before_are_refused_before_the_first_run(
    folder: Path, tmp_path: Path, cli: Cli, old: str, new: str, message: str
) -> None:
    assert old in BEFORE
    (folder / "verdicts_before.toml").write_text(BEFORE.replace(old, new))
    store = tmp_path / "store"
    done = cli("reproduce", str(folder), "--store", str(store))
    assert done.code == 2
    assert "error[R022]" in done.err
    assert message in done.err
    assert not store.exists()


def test_a_quick_look_or_a_single_figure_does_not_replace_the_record(
    folder: Path, tmp_path: Path, cli: Cli
) -> None:
    store = tmp_path / "store"
    quick = cli("reproduce", str(folder), "--quick", "--store", str(store))
    assert quick.code == 0, quick.err
    assert "reduced set" in quick.err
    assert "reduced set" in (store / "quick" / "all" / "README.md").read_text()
    one = cli("reproduce", f"{folder}/fig1", "--store", str(store))
    assert one.code == 0, one.err
    assert (store / "full" / "fig1" / "README.md").is_file()
    assert not (folder / "README.md").exists()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("claims.toml", '"finish_mean"', '"finish_meen"', 'there is no metric "finish_meen"'),
        ("claims.toml", '"50 kB"', '"51 kB"', "flow.0.size = '51 kB' (swept: '50 kB', '200 kB')"),
        ("claims.toml", '"flow.0.size"', '"flow.0.sise"', "flow.0.sise = '50 kB' (not swept)"),
        ("claims.toml", 'rule = "order"', 'rule = "ordre"', '"ordre" is not a rule'),
        ("claims.toml", "strict", "strickt", "`strickt` is not known"),
        ("claims.toml", 'experiment = "small"', 'experiment = "large"', 'no experiment "large"'),
        ("claims.toml", 'id = "T-2"', 'id = "T-1"', "T-1 stands twice"),
        ("study.toml", '"candlesticks"', '"sticks"', '"sticks" is not a form'),
        ("study.toml", 'by = "tcp.cong', 'by = "tcp.kong', "`tcp.kongestion_control` is not swept"),
        ("study.toml", 'by = "tcp', 'metric = "ftt"\nby = "tcp', 'there is no metric "ftt"'),
        ("study.toml", '"finish_mean"', '"finish_meen"', 'there is no metric "finish_meen"'),
        ("study.toml", 'columns = ["reno"', 'columns = ["rino"', "= 'rino' (swept"),
        ("study.toml", 'title = "A', 'titel = "A', "`titel` is not known"),
    ],
)
def test_a_wrong_study_is_refused_before_the_first_run(
    folder: Path, tmp_path: Path, cli: Cli, file: str, old: str, new: str, message: str
) -> None:
    path = folder / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    store = tmp_path / "store"
    done = cli("reproduce", str(folder), "--store", str(store))
    assert done.code == 2
    assert "error[R022]" in done.err
    assert message in done.err
    assert not store.exists()


def test_a_study_judges_the_claims_of_another_with_causes_of_its_own(folder: Path) -> None:
    other = folder.parent / "other"
    other.mkdir()
    (other / "small.toml").write_text((folder / "small.toml").read_text())
    borrowed = '[claims]\nof = "small-study"\ncauses = { "T-2" = "for a reason found here" }\n'
    (other / "study.toml").write_text(STUDY + borrowed)
    found = judging.load(reading.load(other))
    assert [(claim.id, claim.cause) for claim in found] == [
        ("T-1", ""),
        ("T-2", "for a reason found here"),
    ]
    (other / "study.toml").write_text((STUDY + borrowed).replace("T-2", "T-3"))
    with pytest.raises(BacklaneError, match="T-3"):
        judging.load(reading.load(other))


def test_an_unknown_study_or_figure_is_named_with_what_there_is(folder: Path, cli: Cli) -> None:
    done = cli("reproduce", "p9")
    assert done.code == 2
    assert "choose one of bp_mr_mesh/extensions, bp_mr_mesh/paper" in done.err
    done = cli("reproduce", f"{folder}/fig9")
    assert done.code == 2
    assert "choose one of fig1" in done.err


STUDIES = sorted(path.parent for path in ROOT.glob("studies/**/study.toml"))


@pytest.mark.parametrize("folder", STUDIES, ids=reading.name_of)
def test_every_study_of_the_project_names_cells_that_are_run(folder: Path) -> None:
    from backlane.campaign.plan import make_plan

    study = reading.load(folder)
    found = judging.load(study)
    plans = {key: make_plan(one.file, one.settings) for key, one in study.experiments.items()}
    judging.check_cells(found, plans, study.folder / "claims.toml")
    for one in study.experiments.values():
        assert make_plan(one.file, [*one.settings, *one.quick]).runs
    for spec in study.figures:
        figures.check(spec, [cell.parameters for cell in plans[spec.experiment].cells])
    for other in study.alternatives:
        for key in other.experiments:
            one = study.experiments[key]
            assert make_plan(one.file, [*one.settings, *other.overrides]).runs


@pytest.mark.parametrize("folder", STUDIES, ids=reading.name_of)
def test_the_page_of_a_study_has_the_words_of_its_files_or_says_that_they_changed(
    folder: Path,
) -> None:
    """A sentence that changes in `study.toml` or `claims.toml` changes on the page too."""
    page = (folder / "README.md").read_text()
    changed = "> **Changed study.** " in page
    assert changed == bool(age.missing(reading.load(folder), page))


def test_the_words_of_a_study_that_its_page_lacks_are_named(
    folder: Path, tmp_path: Path, cli: Cli
) -> None:
    assert cli("reproduce", str(folder), "--store", str(tmp_path / "store")).code == 0
    page = (folder / "README.md").read_text()
    assert age.missing(reading.load(folder), page) == []
    for file, before, after in [
        ("claims.toml", "larger files take longer", "smaller files take longer"),
        ("claims.toml", "they are small", "they are short"),
        ("study.toml", 'shows = "everything"', 'shows = "nothing"'),
        ("study.toml", 'title = "Finish time"', 'title = "Time"'),
    ]:
        text = (folder / file).read_text()
        (folder / file).write_text(text.replace(before, after))
        [missing] = age.missing(reading.load(folder), page)
        assert after.split('"')[-2 if '"' in after else 0] in missing
        (folder / file).write_text(text)


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("p1", "bp_mr_mesh/paper"),
        ("p1_beyond", "bp_mr_mesh/extensions"),
        ("p2", "tcp_aware_bp/paper"),
        ("p2_beyond", "tcp_aware_bp/extensions"),
        ("p3", "tcp_over_lte/paper"),
        ("p4", "mesh_reordering/paper"),
        ("p4_beyond", "mesh_reordering/extensions"),
    ],
)
def test_a_study_is_found_by_its_name_and_by_its_alias(alias: str, name: str) -> None:
    assert (
        catalogue.find(alias).resolve() == catalogue.find(name).resolve() == ROOT / "studies" / name
    )
    assert reading.load(catalogue.find(alias)).name == name


def test_reproduce_without_a_name_lists_every_study(cli: Cli) -> None:
    done = cli("reproduce", "--json")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["studies"]
    assert [row["name"] for row in rows] == [reading.name_of(folder) for folder in STUDIES]
    assert all(row["alias"] and row["title"] for row in rows)
    shown = cli("reproduce")
    assert "tcp_over_lte/paper" in shown.out + shown.err


def test_a_figure_of_a_study_below_studies_is_named_with_a_slash(cli: Cli) -> None:
    done = cli("reproduce", "p2/fig99")
    assert done.code == 2
    assert 'the study tcp_aware_bp/paper has no figure "fig99"' in done.err


def test_an_experiment_sets_and_sweeps_keys_of_a_shared_scenario(folder: Path) -> None:
    """Half of the cells of the file, written as an experiment on it."""
    from backlane.campaign.plan import make_plan

    (folder / "base.toml").write_text(BASE)
    derived = """
[[experiment]]
name = "derived"
file = "base.toml"
shows = "one size"
set = { name = "small", "flow.0.size" = "200 kB" }
sweep = { "tcp.congestion_control" = ["reno", "cubic"], seeds = 3 }
"""
    path = folder / "study.toml"
    path.write_text(STUDY.replace("[[experiment]]", derived + "[[experiment]]", 1))
    study = reading.load(folder)
    one = study.experiments["derived"]
    assert one.settings == [
        ("name", "small"),
        ("flow.0.size", "200 kB"),
        ("sweep.tcp.congestion_control", '["reno", "cubic"]'),
        ("sweep.seeds", "3"),
    ]
    plan = make_plan(one.file, one.settings)
    whole = make_plan(study.experiments["small"].file)
    assert [cell.parameters for cell in plan.cells] == [
        {"tcp.congestion_control": "reno"}, {"tcp.congestion_control": "cubic"},
    ]  # fmt: skip
    large = [cell for cell in whole.cells if cell.parameters["flow.0.size"] == "200 kB"]
    name = f'name = "{whole.name}"'
    assert [cell.resolved for cell in plan.cells] == [
        cell.resolved.replace(name, 'name = "small"') for cell in large
    ]
    assert plan.seeds == whole.seeds


def test_a_bad_toml_file_says_where(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("title = ")
    with pytest.raises(BacklaneError, match="cannot be read"):
        reading.load(tmp_path)
