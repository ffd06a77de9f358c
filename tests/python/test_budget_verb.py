"""The verb `budget`, and rates that an import derives from link budgets."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path

import pytest
from conftest import Cli
from hypothesis import given, settings
from hypothesis import strategies as st

from backlane import link_budget
from backlane.errors import BacklaneError
from backlane.imports import Network, Options, read, run
from backlane.imports.places import Ruler
from backlane.imports.radio import Defaults, budget_of, radio_links

SITES = "id,latitude,longitude\na,44.0,10.0\nb,44.02,10.0\nc,44.02,10.05\n"
HEADER = "from,to,frequency_ghz,bandwidth_mhz,gain_a,gain_b,power_a,power_b,polarization,radio\n"
LINK = "a,b,18,56,32.458,32.458,10,10,V,RAy17\n"


def files(folder: Path, links: str, sites: str = SITES) -> list[Path]:
    paths = [folder / "sites.csv", folder / "links.csv"]
    for path, text in zip(paths, (sites, links), strict=True):
        path.write_text(text)
    return paths


def budget(cli: Cli, folder: Path, links: str, *options: str) -> dict[str, object]:
    done = cli("budget", *files(folder, links), "--json", *options)
    assert done.code == 0, done.err
    (found,) = done.json["links"]
    assert isinstance(found, dict)
    return found


def test_the_verb_prints_the_budget_of_the_library(tmp_path: Path, cli: Cli) -> None:
    found = budget(cli, tmp_path, HEADER + LINK, "--rain-rate", "35.2", "--losses", "1")
    # A meridian arc from 44.00° to 44.02°: 111 109.8 m a degree by the series of WGS 84.
    assert found["length_km"] == pytest.approx(2.2222, abs=1e-4)
    length = float(str(found["length_km"]))
    link = link_budget.RadioLink(
        "a", "b", length, (18, 18), 56, (32.458, 32.458), (10, 10), radio="RAy17", losses_db=1
    )
    expected = link_budget.compute(link, link_budget.Climate(35.2)).directions[0]
    there = json.loads(json.dumps(found["directions"]))[0]
    assert (there["from"], there["to"], there["mode"]) == ("a", "b", "256QAM")
    assert there["level_dbm"] == pytest.approx(expected.level_dbm)
    assert there["rain_001_db"] == pytest.approx(expected.rain_001_db)
    for mine, theirs in zip(there["steps"], expected.steps, strict=True):
        assert mine["margin_db"] == pytest.approx(theirs.margin_db)
        assert mine["availability_percent"] == pytest.approx(theirs.availability_percent)
    assert found["assumed"] == []
    assert found["rate_bps"] == 337.7e6


def test_the_table_has_a_row_for_each_link_and_messages_go_to_stderr(
    tmp_path: Path, cli: Cli
) -> None:
    links = HEADER + LINK + "b,c,74,500,43,43,12,12,H,\nc,a,74,500,20,20,-20,-20,H,\n"
    done = cli("budget", *files(tmp_path, links), "--rain-rate", "42")
    assert done.code == 0
    assert "read: 3 sites of sites.csv" in done.err
    rows = [line.split() for line in done.out.splitlines() if "–" in line]
    assert [row[0] for row in rows] == ["a–b", "b–c", "c–a"]
    assert rows[0][1:3] == ["RAy17", "256QAM"]
    # -20 dBm and 20 dBi at 74 GHz over 4.6 km: no step, no rate, no availability.
    assert "none holds" in done.out
    assert rows[2][-1] == "0"
    assert "assumed: a generic radio" in done.out


def test_without_a_rain_rate_there_is_no_availability(tmp_path: Path, cli: Cli) -> None:
    there = json.loads(json.dumps(budget(cli, tmp_path, HEADER + LINK)["directions"]))[0]
    assert there["rain_001_db"] is None
    assert there["steps"][0]["availability_percent"] is None
    column = HEADER.replace("radio", "radio,rain_rate_mm_h") + LINK.replace("RAy17", "RAy17,35.2")
    there = json.loads(json.dumps(budget(cli, tmp_path, column)["directions"]))[0]
    assert there["rain_001_db"] > 3


def test_each_direction_has_its_antenna_power_and_carrier(tmp_path: Path, cli: Cli) -> None:
    header = "tx_site,rx_site,frequency_ghz,bandwidth_mhz,gain_a,power_a\n"
    found = budget(cli, tmp_path, header + "a,b,18,28,32,10\nb,a,19,28,38,4\n")
    there, back = json.loads(json.dumps(found["directions"]))
    assert (there["frequency_ghz"], back["frequency_ghz"]) == (18, 19)
    # Both antennas count both ways; 6 dB of power, 0.470 dB of carrier and the gases differ.
    gases = there["gases_db"] - back["gases_db"]
    assert there["level_dbm"] - back["level_dbm"] == pytest.approx(6 + 0.4696 - gases, abs=1e-3)
    assert found["gains_dbi"] == [32, 38]


def test_diameters_and_eirp_stand_for_gains_and_powers(tmp_path: Path, cli: Cli) -> None:
    header = "from,to,frequency_ghz,bandwidth_mhz,diameter_m,eirp_dbm\n"
    found = budget(cli, tmp_path, header + "a,b,18,28,0.3,42.458\n")
    # 32.458 dBi by the aperture, so that the power is 10 dBm.
    assert found["gains_dbi"] == pytest.approx([32.458, 32.458], abs=1e-3)
    assert found["powers_dbm"] == pytest.approx([10, 10], abs=1e-3)
    notes = " ".join(map(str, json.loads(json.dumps(found["assumed"]))))
    assert "efficiency of 0.55" in notes
    assert "vertical polarization" in notes


@pytest.mark.parametrize(
    ("links", "code", "text"),
    [
        (HEADER + LINK.replace(",56,", ",-56,"), "R060", "the bandwidth of a–b is -56 MHz"),
        (HEADER + LINK.replace(",56,", ",nan,"), "R060", "no bandwidth"),
        (HEADER + LINK.replace(",18,", ",,"), "R060", "no frequency"),
        (HEADER + LINK.replace("32.458", ""), "R060", "no antenna gain or diameter"),
        (HEADER + LINK.replace("32.458", "high"), "R060", 'gain a "high" cannot be used'),
        (HEADER + LINK.replace(",10,10,", ",,,"), "R060", "no transmit power or EIRP"),
        (HEADER + LINK.replace(",V,", ",X7,"), "R060", 'polarization "X7" is not known'),
        (HEADER + LINK.replace("RAy17", "RAy71"), "R061", 'there is no radio "RAy71"'),
        (HEADER + LINK.replace(",56,", ",30,"), "R061", "not of 30 MHz"),
        (HEADER + LINK.replace(",18,", ",38,"), "R061", "not of 38 GHz"),
        (
            HEADER.replace("radio", "radio,rain_rate") + LINK.replace("RAy17", "RAy17,-4"),
            "R060",
            'rain rate "-4"',
        ),
        (
            "from,to,frequency_ghz,bandwidth_mhz,diameter,power\na,b,1e308,28,0.3,9\n",
            "R060",
            "cannot be used",
        ),
        (
            "from,to,frequency_ghz,bandwidth_mhz,diameter,power\na,b,-18,28,0.3,9\n",
            "R060",
            "the frequency of a–b is -18 GHz",
        ),
        (
            "from,to,frequency_ghz,bandwidth_mhz,diameter,power\na,b,18,28,-0.3,9\n",
            "R060",
            "an antenna of -0.3 m",
        ),
        ("from,to,frequency_ghz\na,b,18\n", "R060", "no bandwidth, no antenna gain or diameter"),
    ],
)
def test_a_link_that_has_no_budget_is_named_with_its_line(
    links: str, code: str, text: str, tmp_path: Path, cli: Cli
) -> None:
    done = cli("budget", *files(tmp_path, links), "--json")
    assert done.code == 2
    (error,) = done.json["errors"]
    assert error["code"] == code
    assert text in error["message"]
    assert error["file"].endswith("links.csv:2")
    assert error["help"]


def test_links_of_no_length_and_files_without_links_are_refused(tmp_path: Path, cli: Cli) -> None:
    same = SITES.replace("44.02,10.0\n", "44.0,10.0\n")
    done = cli("budget", *files(tmp_path, HEADER + LINK, same))
    assert (done.code, "R060" in done.err, "is 0 km" in done.err) == (2, True, True)
    alone = cli("budget", files(tmp_path, HEADER + LINK)[0])
    assert (alone.code, "R046" in alone.err) == (2, True)
    nowhere = cli("budget", *files(tmp_path, HEADER + LINK, "id,name\na,A\nb,B\nc,C\n"))
    assert nowhere.code == 2
    assert "R0" in nowhere.err


def test_recorded_levels_give_the_rates_that_a_link_had(tmp_path: Path, cli: Cli) -> None:
    links = files(tmp_path, "link," + HEADER + "l1," + LINK + "l2,b,c,18,56,32,32,10,10,V,RAy17\n")
    levels = tmp_path / "levels.csv"
    # Of the RAy17 in 56 MHz, 256QAM is left below -61.4 dBm and entered from -60.1; 128QAM is left
    # below -64.4. Out of order, with a row twice, a missing level and a gap.
    levels.write_text(
        "link,time_unix_s,rx_dbm\nl1,60,-62\nl1,0,-50\nl1,120,-61\nl1,180,\nl1,240,-60\n"
        "l1,300,-95\nl1,300,-88\nl1,1200,-50\nl1,1260,-50\nl3,0,-50\n"
    )
    done = cli("budget", *links, levels, "--json")
    assert done.code == 0, done.err
    first, second = (one["recorded"] for one in done.json["links"])
    assert second == []
    (one,) = first
    assert one["median_dbm"] == -60
    # 60 s at 256QAM, 120 at 128QAM, 60 unknown, 60 at 256QAM, 300 down, 600 unknown, 60 at 256QAM.
    assert one["known_share"] == pytest.approx(600 / 1260)
    assert one["shares"] == pytest.approx({"256QAM": 0.3, "128QAM": 0.2, "down": 0.5})
    assert list(one["shares"]) == ["256QAM", "128QAM", "down"]
    assert one["mean_bps"] == pytest.approx(0.3 * 337.7e6 + 0.2 * 303.7e6)
    text = cli("budget", *links, levels).out
    assert (
        "recorded: a–b: median -60.0 dBm, mean 162.1 Mbit/s over 21 min, known 47.6% of them: "
        "256QAM 30.00%, 128QAM 20.00%, down 50.00%"
    ) in text
    levels.write_text("link,time_unix_s,rx_dbm\nl1,60,-62\nl2,0,\n")
    assert "recorded: a–b: no two levels" in cli("budget", *links, levels).out


def test_links_that_are_no_radio_links_are_left_out_and_counted(tmp_path: Path, cli: Cli) -> None:
    done = cli("budget", *files(tmp_path, HEADER + LINK + "b,c,,,,,,,,\n"), "--json")
    assert [(one["a"], one["b"]) for one in done.json["links"]] == [("a", "b")]
    assert {
        "kind": "dropped", "text": "1 link without a frequency, an antenna and a power",
    } in done.json["notes"]  # fmt: skip
    none = cli("budget", *files(tmp_path, "from,to,rate_mbps\na,b,100\n"))
    assert (none.code, "error[R060]: none of 1 link has a frequency" in none.err) == (2, True)


ODD = st.sampled_from(
    ["", "nan", "inf", "-1", "0", "1e-300", "1e308", "1e400", "18", "18 GHz", "5800 MHz", "x", "V",
     "dual", "RAy17", "0.3", "60 dBm", "1,5", "\u221220", "999999999999999999999"]
)  # fmt: skip
FINE = ["18", "28", "32", "0.3", "10", "", "V", "RAy17", "1", "", "35", "19"]
"""A link that has a budget; a test changes up to three of its values."""


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 11), ODD), max_size=3).map(
            lambda changes: [dict(changes).get(at, value) for at, value in enumerate(FINE)]
        ),
        min_size=1,
        max_size=3,
    )
)
def test_no_value_of_a_table_breaks_a_budget_or_an_import(rows: list[list[str]]) -> None:
    header = (
        "from,to,frequency_ghz,bandwidth_mhz,gain_a,diameter_b,power_a,eirp,polarization,radio,"
        "losses,noise_figure,rain_rate,frequency_b\n"
    )
    lines = "".join("a,b," + ",".join(f'"{value}"' for value in row) + "\n" for row in rows)
    with tempfile.TemporaryDirectory() as folder:
        paths = files(Path(folder), header + lines)
        network = Network()
        try:
            read(paths, Options(), network)
            ruler = Ruler()
            for link in radio_links(network):
                found = budget_of(link, network, Defaults(), ruler)
                assert math.isfinite(found.worse.level_dbm)
        except BacklaneError as error:
            assert error.code in ("R060", "R061")
        assert "[[flow]]" in run(paths, Options()).written.scenario


def test_the_radios_are_listed(cli: Cli) -> None:
    listed = cli("budget", "--radios").out
    for name in link_budget.names():
        assert f"{name}: " in listed
    assert "PTP800: 13 GHz, 7 MHz, 6 steps, 10 to 34.4 Mbit/s (Cambium" in listed


def test_an_import_takes_the_rate_of_the_budget_and_marks_it(tmp_path: Path) -> None:
    links = HEADER.replace("radio", "radio,rate_mbps") + (
        "a,b,18,56,32.458,32.458,10,10,V,RAy17,\nb,c,74,500,43,43,12,12,V,NoSuch 80,\n"
        "a,c,18,56,32,32,10,10,V,RAy17,99\n"
    )
    found = run(files(tmp_path, links), Options())
    first, second, third = (
        line for line in found.written.scenario.splitlines() if line.startswith("  { a = ")
    )
    assert 'rate = "337.7 Mbit/s"' in first
    assert "# assumed: rate (derived), queue;" in first
    assert "rate: by its link budget, RAy17 256QAM at -49.7 dBm" in first
    # 170.7 Mbit/s in 28 MHz, scaled to 500 MHz.
    assert 'rate = "3048.2 Mbit/s"' in second
    assert 'rate = "99 Mbit/s"' in third
    assert "derived" not in third
    assumed = " ".join(found.network.texts("assumed"))
    assert "the rate of 2 links from the link budget in clear air: a–b 337.7 Mbit/s" in assumed
    assert 'there is no radio "NoSuch 80"' in assumed
    assert "without a rate of their own" not in assumed
    # They are not counted as rates of the file.
    assert found.understood["rates"] == 1
    assert found.written.record["links"][0]["rate_note"].startswith("by its link budget")


def test_a_given_rate_comes_before_the_budget_and_no_assume_refuses_it(tmp_path: Path) -> None:
    paths = files(tmp_path, HEADER + LINK + "b,c,18,56,32,32,10,10,V,RAy17\n")
    text = run(paths, Options(rate="40 Mbit/s")).written.scenario
    assert text.count('rate = "40 Mbit/s"') == 2
    with pytest.raises(BacklaneError, match="2 links have no rate"):
        run(paths, Options(assume=False))


def test_an_import_goes_on_without_the_budget_of_a_link_that_has_none(tmp_path: Path) -> None:
    links = HEADER + (
        "a,b,18,-56,32,32,10,10,V,\nb,c,18,56,,,10,10,V,\na,c,74,500,0,0,-40,-40,V,\n"
    )
    found = run(files(tmp_path, links), Options())
    assert found.written.scenario.count('rate = "100 Mbit/s"') == 3
    (warning,) = (text for text in found.network.texts("warning") if "link budget" in text)
    assert "no rate from a link budget for 3 links" in warning
    assert "the bandwidth of a–b is -56 MHz" in warning
    assert "b–c: no antenna gain or diameter" in warning
    assert "a–c: no step holds at" in warning


def test_a_frequency_alone_is_no_link_budget(tmp_path: Path) -> None:
    paths = files(tmp_path, "from,to,frequency_ghz\na,b,18\nb,c,18\n")
    found = run(paths, Options())
    assert not any("link budget" in text for text in found.network.texts("warning"))
    assert found.written.scenario.count('rate = "100 Mbit/s"') == 2


def test_other_rates_each_way_give_the_smaller(tmp_path: Path) -> None:
    # 19 dB less power from b: -68.7 dBm; 32QAM is entered at -76 + 5.9 and 64QAM at -73 + 5.9.
    paths = files(
        tmp_path, HEADER + LINK.replace(",10,10,", ",10,-9,") + "b,c,18,56,32,32,9,9,V,\n"
    )
    found = run(paths, Options())
    link = found.network.links[0]
    assert link.rate_bps == 337.7e6
    assert link.rate_back_bps == 202.7e6
    line = next(one for one in found.written.scenario.splitlines() if 'b = "b"' in one)
    assert 'rate = "202.7 Mbit/s"' in line
