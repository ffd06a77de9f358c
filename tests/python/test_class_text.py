"""Classes that are passed as objects: their texts, variants and runs."""

from __future__ import annotations

import importlib.util
import linecache
import math as m
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from test_custom_congestion_control import LINK, RENO
from test_python_router import LINE, ON_LINE
from test_python_router import own as own_router

import backlane
from backlane import (
    Ack,
    BacklaneError,
    CongestionControl,
    Packet,
    Router,
    RouterContext,
    Window,
    class_text,
    scenario,
)

STEPS = (1, 2)
TABLE = {"half": 0.5}


def reduced(pkts: float) -> int:
    """A function beside the class."""
    return max(m.floor(pkts), STEPS[1])


class Aimd(CongestionControl):
    """AIMD, with a function, a module and constants of this file."""

    a = 1.0
    b = TABLE["half"]

    def on_ack(self, now_s: float, ack: Ack, window: Window) -> None:
        if ack.is_cwnd_limited:
            window.increase_additively(max(int(window.cwnd_pkts / self.a), 1), ack.acked_pkts)

    def ssthresh(self, now_s: float, window: Window, in_flight_pkts: int) -> int:
        return reduced(window.cwnd_pkts * (1 - self.b))


class Smooth(Aimd):
    b = 0.125


class Direct(Router):
    ttl_least = 1

    def next_hop(self, context: RouterContext, packet: Packet) -> str | None:
        return packet.exit if packet.exit in context.neighbours else "b"


def loaded(folder: Path, name: str, source: str) -> ModuleType:
    """A module from a file that is not installed."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def digest(text: str, overrides: Any, **more: Any) -> str:
    return str(backlane.run(text, overrides=overrides, **more).runs["digest"][0])


def test_a_class_gives_the_run_of_its_file(tmp_path: Path) -> None:
    module = loaded(tmp_path, "reno_of_a_file", RENO)
    key = "tcp.congestion_control"
    assert digest(LINK, {key: module.Reno}) == digest(LINK, {key: "reno"})
    (tmp_path / "line.toml").write_text(LINE)
    (tmp_path / "own.py").write_text(own_router(ON_LINE))
    of_file = backlane.run(tmp_path / "line.toml").runs["digest"][0]
    for overrides in ({"routing": Direct}, {"routing.router": Direct}):
        assert digest(LINE, overrides) == of_file


def test_a_text_brings_what_the_class_uses_and_nothing_else() -> None:
    found = class_text.of(Smooth)
    names: dict[str, Any] = {"__name__": "alone"}
    exec(compile(found.source, "alone", "exec"), names)
    assert issubclass(names["Smooth"], CongestionControl)
    assert names["Smooth"].b == 0.125
    assert names["reduced"](0.5) == 2
    assert "Direct" not in names
    assert "RENO" not in names
    assert found.source == class_text.of(Smooth).source
    assert "import math as m\n" in found.source


def test_a_class_of_a_notebook_cell_is_found(tmp_path: Path) -> None:
    first = "from backlane import CongestionControl\nfactor = 2\n"
    second = RENO.replace("window.cwnd_pkts // 2", "window.cwnd_pkts // factor")
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate((first, second)):
        name = f"<cell {number}>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
        exec(compile(cell, name, "exec"), names)
    text = class_text.of(names["Reno"]).source
    assert "factor = 2\n" in text
    key = "tcp.congestion_control"
    assert digest(LINK, {key: names["Reno"]}) == digest(LINK, {key: "reno"})


def test_variants_differ_in_their_parameters_and_can_be_swept() -> None:
    variants: list[type] = [
        Aimd,
        Aimd.with_parameters(b=0.125),
        Aimd.with_parameters(a=2, b=0.5),
        Smooth,
    ]
    assert [one.__name__ for one in variants] == [
        "Aimd",
        "Aimd_b_0_125",
        "Aimd_a_2_b_0_5",
        "Smooth",
    ]
    assert isinstance(vars(variants[2])["a"], float)
    found = backlane.sweep(LINK, {"tcp.congestion_control": variants}, seeds=1)
    plain, flat, fast, smooth = found.runs["digest"].to_list()
    assert flat == smooth
    assert len({plain, flat, fast}) == 3
    assert found.cells[1] == {"tcp.congestion_control": "python:<Aimd_b_0_125>:Aimd_b_0_125"}
    assert ",Aimd_b_0_125," in found.figure("goodput").csv


def test_a_router_can_be_swept_and_has_its_name_as_label() -> None:
    found = backlane.sweep(
        LINE.replace('protocol = "python"\nrouter = "own.py:Own"', ""),
        {"routing": [{"protocol": "shortest-path"}, Direct, Direct.with_parameters(ttl_least=2)]},
        seeds=1,
    )
    assert found.runs["routing"].to_list() == ["shortest-path", "Direct", "Direct_ttl_least_2"]


def test_another_value_is_another_run_and_the_same_is_found_again(tmp_path: Path) -> None:
    def finished(*classes: type) -> tuple[int, int]:
        source = scenario.read(LINK, axes={"sweep.tcp.congestion_control": list(classes)})
        outcome = backlane.campaign.run(source, tmp_path).outcome
        return len(outcome.finished), outcome.reused

    assert finished(Aimd, Smooth) == (2, 0)
    assert finished(Aimd, Smooth, Aimd.with_parameters(b=0.25)) == (1, 2)


def test_classes_of_one_name_are_kept_apart() -> None:
    def made(share: float) -> type[CongestionControl]:
        return type("Own", (Aimd,), {"b": share})

    over = {"tcp.congestion_control": [made(0.5), made(0.125), Aimd, Smooth]}
    digests = backlane.sweep(LINK, over, seeds=1).runs["digest"].to_list()
    assert digests[:2] == digests[2:]
    assert digests[0] != digests[1]


def test_only_the_callers_own_classes_need_no_permission() -> None:
    plan = backlane.plan(LINK, {"tcp.congestion_control": Aimd})
    with pytest.raises(BacklaneError) as refused:
        backlane.run(plan.cells[0].resolved)
    assert refused.value.code == "R025"
    stored = backlane.run(plan.cells[0].resolved, allow_python=True).runs["digest"][0]
    assert stored == digest(LINK, {"tcp.congestion_control": Aimd})


def test_an_error_in_a_hook_shows_its_line() -> None:
    class Broken(Aimd):
        def ssthresh(self, now_s: float, window: Window, in_flight_pkts: int) -> int:
            return window.nothing  # type: ignore[attr-defined, no-any-return]

    with pytest.raises(backlane.RunError, match=r"return window\.nothing") as failed:
        backlane.run(LINK, overrides={"tcp.congestion_control": Broken})
    assert failed.value.code == "R103"


OPEN = Path(__file__).open()  # noqa: SIM115
OPEN.close()


def refusal(found: type) -> BacklaneError:
    with pytest.raises(BacklaneError) as refused:
        class_text.of(found)
    assert refused.value.code == "R020"
    return refused.value


def test_what_has_no_text_is_refused(tmp_path: Path) -> None:
    share = 0.5

    class Closed(Aimd):
        def ssthresh(self, now_s: float, window: Window, in_flight_pkts: int) -> int:
            return int(window.cwnd_pkts * share)

    assert "uses share of the function around it" in refusal(Closed).message

    class Reads(Aimd):
        def ssthresh(self, now_s: float, window: Window, in_flight_pkts: int) -> int:
            return len(OPEN.name)

    assert "OPEN is a TextIOWrapper, which has no text" in refusal(Reads).message
    module = loaded(tmp_path, "beside", "x = 2\n")
    source = f"import beside\n{RENO}".replace("cwnd_pkts // 2", "cwnd_pkts // beside.x")
    user = loaded(tmp_path, "user_of_beside", source)
    assert user.beside is module
    assert "the module beside is not installed" in refusal(user.Reno).message
    names: dict[str, Any] = {"__name__": "typed"}
    exec(RENO, names)
    assert "the source of Reno is not found" in refusal(names["Reno"]).message
    assert "neither a congestion control nor a router" in refusal(int).message
    assert "neither a congestion control nor a router" in refusal(Router).message


def test_a_function_of_a_file_beside_is_copied(tmp_path: Path) -> None:
    loaded(tmp_path, "halves", "LEAST = 2\n\ndef half(x):\n    return max(x // 2, LEAST)\n")
    source = f"from halves import half as cut\n{RENO}".replace(
        "max(window.cwnd_pkts // 2, 2)", "cut(window.cwnd_pkts)"
    )
    found = loaded(tmp_path, "user_of_halves", source).Reno
    key = "tcp.congestion_control"
    assert digest(LINK, {key: found}) == digest(LINK, {key: "reno"})
    text = class_text.of(found).source
    assert "import halves" not in text
    assert "LEAST = 2" in text


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"c": 1.0}, "Aimd has no parameter c"),
        ({"a": "1"}, "Aimd.a is of type float, and the scenario gives '1'"),
        ({"on_ack": 1}, "Aimd has no parameter on_ack"),
    ],
)
def test_a_parameter_that_does_not_exist_is_refused(values: Any, message: str) -> None:
    with pytest.raises(BacklaneError, match=message) as refused:
        Aimd.with_parameters(**values)
    assert refused.value.code == "R020"


def test_a_router_stands_under_routing_alone() -> None:
    with pytest.raises(BacklaneError, match="cannot stand under `tcp"):
        backlane.plan(LINK, {"tcp.congestion_control": Direct})
