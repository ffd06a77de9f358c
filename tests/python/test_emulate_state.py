"""What emulations leave, and what is removed of it; the rights that they need.

Nothing here makes a namespace: `test_emulate.py` does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Cli

from backlane.cli.emulate_view import View
from backlane.emulate import namespaces, rights, state
from backlane.emulate.namespaces import Host
from backlane.errors import BacklaneError


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of this test in place of those of the machine."""
    monkeypatch.setattr(state, "FOLDER", tmp_path / "backlane")
    monkeypatch.setattr(namespaces, "_FOLDER", tmp_path / "netns")
    monkeypatch.setattr(namespaces, "_FILES", tmp_path / "etc")


def host(name: str = "server", run: str = "0a1b2c") -> Host:
    return namespaces.hosts(run, [(name, "10.0.0.3")])[0]


def test_a_namespace_bears_the_run_and_the_host() -> None:
    first, second = namespaces.hosts("0a1b2c", [("enb1", "10.0.0.0"), ("Müll/x", "10.0.0.1")])
    assert first.namespace == "backlane-0a1b2c-enb1"
    assert second.namespace == "backlane-0a1b2c-M-ll-x"
    assert second.name == "Müll/x"


def test_two_hosts_never_share_a_namespace() -> None:
    with pytest.raises(BacklaneError) as raised:
        namespaces.hosts("0a1b2c", [("a b", "10.0.0.0"), ("a/b", "10.0.0.1")])
    assert raised.value.code == "R122"
    assert "'a b'" in raised.value.message
    assert "'a/b'" in raised.value.message


def test_a_namespace_that_exists_is_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / "netns").mkdir()
    (tmp_path / "netns" / "backlane-0a1b2c-server").touch()
    with pytest.raises(BacklaneError) as raised:
        host()
    assert raised.value.code == "R123"


@pytest.mark.parametrize(
    "name",
    ["default", "backlane", "backlane-x", "backlane-0a1b2c-", "backlane-0a1b2c-../x",
     "mine-0a1b2c-a", "backlane-0a1b2c-a b", "backlane-0A1B2C-a"],
)  # fmt: skip
def test_a_name_of_another_form_is_never_removed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[object] = []
    monkeypatch.setattr(namespaces, "_ip", lambda *words: called.append(words))
    assert not namespaces.remove(name)
    assert called == []


def test_an_emulation_goes_on_while_its_process_does() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        emulation = state.note("0a1b2c", "mine", [host()], process.pid)
        assert state.found() == [emulation]
        assert emulation.goes_on()
        assert state.clean() == ([], [])
        process.kill()
        # A zombie has ended, although it has a number until its parent waits for it.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not emulation.goes_on()
    assert state.clean() == ([emulation], [])
    assert state.found() == []


def test_a_process_with_the_same_number_is_not_the_emulation() -> None:
    own = state.note("0a1b2c", "mine", [host()], os.getpid())
    assert own.goes_on()
    later = state.Emulation(own.run, own.name, own.pid, own.began - 1, own.boot, own.hosts)
    assert not later.goes_on()
    before_the_boot = state.Emulation(own.run, own.name, own.pid, own.began, "x", own.hosts)
    assert not before_the_boot.goes_on()


def test_what_cannot_be_removed_keeps_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    emulation = state.note("0a1b2c", "mine", [host()], 2**22 + 1)
    (tmp_path / "netns").mkdir()
    (tmp_path / "netns" / emulation.hosts[0].namespace).touch()
    monkeypatch.setattr(namespaces, "_ip", lambda *_words: "")
    gone, kept = state.clean()
    assert gone == []
    assert kept == ["the namespace backlane-0a1b2c-server cannot be removed"]
    assert state.found() == [emulation]


@pytest.mark.parametrize("text", ["{}", "[]", "{", '{"run": "x", "hosts": [{"name": 1}]}'])
def test_a_damaged_file_is_an_error_with_its_place(text: str, tmp_path: Path) -> None:
    folder = tmp_path / "backlane"
    folder.mkdir()
    (folder / "0a1b2c.json").write_text(text)
    with pytest.raises(BacklaneError) as raised:
        state.found()
    assert raised.value.code == "R010"
    assert raised.value.place == str(folder / "0a1b2c.json")


def test_a_missing_right_is_one_coded_line(
    single: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    monkeypatch.setattr(rights, "_held", lambda: 1 << 12)
    refused = cli("emulate", single)
    assert refused.code == 2
    assert refused.out == ""
    first, *_ = refused.err.splitlines()
    assert first == ("error[R120]: this machine cannot emulate: this process has no CAP_SYS_ADMIN")
    monkeypatch.setattr(rights, "_held", lambda: 0)
    assert "no CAP_NET_ADMIN and no CAP_SYS_ADMIN" in cli("emulate", single).err


def test_a_missing_device_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rights, "_held", lambda: ~0)
    monkeypatch.setattr(rights, "DEVICE", tmp_path / "tun")
    monkeypatch.setattr("shutil.which", lambda _name: "/sbin/ip")
    assert rights.missing() == f"there is no {tmp_path / 'tun'}"
    monkeypatch.setattr("shutil.which", lambda _name: None)
    assert rights.missing() == "the program ip (iproute2) is not installed"


def test_exec_without_an_emulation_is_a_coded_error(cli: Cli) -> None:
    refused = cli("emulate", "exec", "server", "--", "true")
    assert refused.code == 2
    assert refused.err.startswith("error[R124]: no emulation goes on")


def test_clean_without_leftovers_says_so(cli: Cli) -> None:
    done = cli("emulate", "--clean")
    assert (done.code, done.out) == (0, "nothing to remove\n")


def view_at(now_s: float, links: list[tuple[int, int, int, int]], **more: float) -> Any:
    found = {"received_pkts": 5, "delivered_pkts": 4, "late_p99_s": 0.002, "behind_periods": 0}
    return SimpleNamespace(now_s=now_s, links=links, **(found | more))


def a_view() -> View:
    links = [("enb1", "enb2"), ("enb2", "enb1"), ("enb2", "ue1")]
    session = SimpleNamespace(links=links, hosts=[], warm_up_s=20.0, end_s=80.0)
    return View(session)  # type: ignore[arg-type]


def test_the_live_view_has_the_links_that_carried_most() -> None:
    rate = 10_000_000
    before = view_at(21.0, [(1000, 0, 0, rate), (5000, 0, 0, rate), (7000, 0, 0, rate)])
    now = view_at(23.0, [(251_000, 3000, 0, rate), (5000, 0, 0, rate), (1_007_000, 0, 4, rate)])
    # 1 MB and 250 kB in 2 s; what carried nothing has no row.
    assert a_view().busiest(before, now) == [
        ("enb2 → ue1", ("4.00 Mbit/s", "10.0 Mbit/s", "0.0 kB", "4")),
        ("enb1 → enb2", ("1.00 Mbit/s", "10.0 Mbit/s", "3.0 kB", "0")),
    ]


def test_a_line_counts_from_the_end_of_the_warm_up() -> None:
    line = a_view().line(view_at(23.0, []))
    assert line == "3 of 60 s: 5 packets from hosts, 4 to hosts; lateness 2.00 ms p99"


def test_a_model_that_does_not_keep_up_is_a_warning_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    view = a_view()
    for periods in (0, 1, 1, 2):
        view.show(view_at(23.0, [], behind_periods=periods))
    assert capsys.readouterr().err.count("warning: the model does not keep up") == 2
