"""TCP's keys, from the file and the command line to the results."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from conftest import Cli

CHAIN = """duration = "5 s"
[topology]
kind = "chain"
nodes = 2
link = { rate = "20 Mbit/s", delay = "10 ms" }
[[flow]]
kind = "transfer"
from = "enb1"
to = "enb2"
size = "3 MB"
"""


def written(tmp_path: Path, more: str = "") -> Path:
    file = tmp_path / "tcp.toml"
    file.write_text(CHAIN + more)
    return file


@pytest.mark.parametrize(
    ("more", "words", "hint"),
    [
        ('[tcp]\ncongestion_control = "wetswood"\n', [], 'did you mean "westwood"?'),
        ('congestion_control = "higspeed"\n', [], 'did you mean "highspeed"?'),
        ('[sweep]\n"tcp.congestion_control" = ["scalabel"]\n', [], 'did you mean "scalable"?'),
        ('[sweep]\n"flow.congestion_control" = ["ilinois"]\n', [], 'did you mean "illinois"?'),
        ("", ["--set", "tcp.congestion_control=vegsa"], 'did you mean "vegas"?'),
        ("", ["--set", "tcp.cubik.beta=0.8"], "did you mean `cubic`?"),
        ("", ["--set", "tcp.cubic.betta=0.8"], "did you mean `beta`?"),
        ("", ["--set", "tcp.cubic.beta=1.8"], "write a number from 0.1 to 0.95"),
        ("", ["--set", "tcp.profile=ns-3"], 'did you mean "ns3"?'),
    ],
)
def test_a_wrong_name_or_value_is_told_with_what_was_meant(
    more: str, words: list[str], hint: str, tmp_path: Path, cli: Cli
) -> None:
    result = cli("run", written(tmp_path, more), "--out", tmp_path / "r", *words)
    assert result.code == 2
    assert hint in result.err
    assert not (tmp_path / "r").exists()


def test_a_parameter_set_on_the_command_line_reaches_the_run(tmp_path: Path, cli: Cli) -> None:
    digests = set()
    for beta in ("0.7", "0.5"):
        out = tmp_path / beta
        result = cli(
            "run", written(tmp_path), "--out", out, "--set", f"tcp.cubic.beta={beta}", "--json"
        )
        assert result.code == 0, result.err
        resolved = (out / "scenario.resolved.toml").read_text()
        assert f"beta = {beta}" in resolved
        digests.add(json.loads((out / "manifest.json").read_text())["digest"])
    assert len(digests) == 2


def test_profile_reordering_and_parameters_are_columns_of_a_sweep(tmp_path: Path, cli: Cli) -> None:
    sweep = (
        '[sweep]\n"tcp.profile" = ["linux", "ns3"]\n"tcp.reordering" = ["rack", "fixed"]\n'
        '"tcp.cubic.beta" = [0.5, 0.8]\n'
    )
    out = tmp_path / "results"
    result = cli("campaign", "run", written(tmp_path, sweep), "--out", out)
    assert result.code == 0, result.err
    runs = pl.read_parquet(out / "runs.parquet")
    columns = ["tcp.profile", "tcp.reordering", "tcp.cubic.beta"]
    assert runs.select(columns).n_unique() == 8
    assert set(runs["tcp.cubic.beta"]) == {0.5, 0.8}
