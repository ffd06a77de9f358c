"""A wired scenario as a C++ program for ns-3 3.37.

The program has the nodes, wires, routes and flows of one run. What ns-3 has no counterpart for is
refused with the key's name: a program that simulates something else would prove nothing.
"""

from __future__ import annotations

import json
import math
import re
import sys
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from backlane import __version__, _native
from backlane.errors import BacklaneError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CONTROLS = {
    "reno": "TcpNewReno",
    "cubic": "TcpCubic",
    "highspeed": "TcpHighSpeed",
    "hybla": "TcpHybla",
    "illinois": "TcpIllinois",
    "scalable": "TcpScalable",
    "vegas": "TcpVegas",
    "veno": "TcpVeno",
    "htcp": "TcpHtcp",
    "yeah": "TcpYeah",
    "westwood": "TcpWestwoodPlus",
    "bbr": "TcpBbr",
    "ledbat": "TcpLedbat",
    "lp": "TcpLp",
}
"""ns-3's class of each congestion control that both have."""
LIBRARIES = ("core", "network", "internet", "applications", "point-to-point", "olsr",
             "traffic-control")  # fmt: skip
"""ns-3's libraries that a program needs."""
_SIZES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}


def refused(key: str, value: object, why: str) -> BacklaneError:
    """The error of a key without a counterpart."""
    return BacklaneError("R082", f"`{key}` = {value!r} has no counterpart in the program: {why}")


def number(text: str, units: Mapping[str, float]) -> float:
    """A quantity of the normal form, such as "75 kB"."""
    value, _, unit = text.partition(" ")
    return float(value.replace("_", "")) * units[unit]


def program(resolved: str, seed: int) -> str:
    """The program of a run.

    Args:
        resolved: the scenario in its normal form, as a plan has it.
        seed: of the run; its drawn starts are written into the program.

    Raises:
        BacklaneError: R082, naming a key that ns-3 has no counterpart for.
    """
    scenario = tomllib.loads(resolved)
    check(scenario)
    result = _native.run(resolved, seed)
    import polars as pl

    flows = pl.DataFrame(result.tables["flows"]).to_dicts()
    links = pl.DataFrame(result.tables["links"]).to_dicts()
    names = [node["id"] for node in scenario["topology"]["node"]]
    warm_up = number(scenario["routing"]["warm_up"], _TIMES)
    tcp = scenario["tcp"]
    segment = int(number(tcp["mss"], _SIZES))
    filled = {
        "TITLE": line(scenario["name"]),
        "VERSION": __version__,
        "LIBRARIES": " ".join(f"-lns3-{library}" for library in LIBRARIES),
        "NODES": ", ".join(quoted(name) for name in names),
        "WIRES": rows(wires(scenario, links, names, segment)),
        "FLOWS": rows(transfers(flows, names, warm_up)),
        "END": repr(warm_up + number(scenario["duration"], _TIMES)),
        "SEGMENT": str(segment),
        "WINDOW": str(tcp["initial_window_pkts"]),
        "SEND": str(buffer(tcp["send_buffer"])),
        "RECEIVE": str(buffer(tcp["receive_buffer"])),
        "OLSR": "true" if scenario["routing"]["protocol"] == "olsr" else "false",
        "OLSR_KEYS": olsr_keys(scenario["routing"]),
        "FINITE": "true" if all(flow["size_bytes"] for flow in flows) else "false",
    }
    template = files("backlane.export").joinpath("ns3.cc.in").read_text(encoding="utf-8")
    return re.sub(r"@([A-Z_]+)@", lambda found: filled[found[1]], template)


EXPORTED = {
    "tcp": {
        "profile", "congestion_control", "mss", "initial_window_pkts", "receive_buffer",
        "send_buffer",
    },
    "routing": {"protocol", "warm_up", "hello_interval", "tc_interval"},
}  # fmt: skip
"""The keys of a section that a program has; all others have to be the defaults."""
UNUSED = (("stop", "end"), ("stack", "model"))
"""Keys of flows with the values that need nothing in the program."""

FLOW_KEYS = {"kind", "count", "start", "gap", "from", "to", "drawn", "size", "congestion_control"}
"""The keys of a flow that a program has: starts and ends are those of the run."""
WIRE_KEYS = {"a", "b", "rate", "delay", "queue"}
"""The keys of a wire that a program has."""


def only_exported(scenario: Mapping[str, Any]) -> None:
    """Refuse each key that the program does not have and that is not the default.

    Raises:
        BacklaneError: R082 with the key.
    """
    tcp, routing = scenario["tcp"], scenario["routing"]
    plain = (
        'duration = "1 s"\n'
        'topology = { kind = "chain", nodes = 2, link = { rate = "1 Mbit/s", delay = "1 ms" } }\n'
        'flow = [{ kind = "transfer", from = "enb1", to = "enb2", size = "1 kB" }]\n'
    )
    settings = [("tcp.profile", tcp["profile"])]
    settings.append(("tcp.congestion_control", tcp["congestion_control"]))
    settings.append(("routing.protocol", routing["protocol"]))
    plan = json.loads(_native.plan(plain, "plain.toml", settings))
    defaults = tomllib.loads(plan["cells"][0]["resolved"])
    for section, exported in EXPORTED.items():
        for key, value in scenario[section].items():
            if key in exported or value == defaults[section].get(key):
                continue
            # The window that a receiver offers first is its whole buffer in ns-3.
            if key == "initial_receive_window" and value == tcp["receive_buffer"]:
                continue
            raise refused(f"{section}.{key}", value, "only its default is in the program")
    for flow in scenario["flow"]:
        for key, value in flow.items():
            if key not in FLOW_KEYS and (key, value) not in UNUSED:
                raise refused(f"flow.{key}", value, "it is not in the program")
    for wire in scenario["topology"]["link"]:
        for key, value in wire.items():
            if key not in WIRE_KEYS and value:
                raise refused(f"topology.link.{key}", value, "it is not in the program")


def check(scenario: Mapping[str, Any]) -> None:
    """Refuse what the program cannot have.

    Raises:
        BacklaneError: R082 with the key.
    """
    if "slotted" in scenario:
        raise refused("slotted", "…", "it is a model without packets")
    if scenario["access"]["kind"] != "none":
        raise refused("access.kind", scenario["access"]["kind"], "flows run between nodes")
    if "wifi" in scenario:
        raise refused("wifi", "…", "links are wires")
    routing = scenario["routing"]
    if routing["protocol"] not in ("shortest-path", "olsr"):
        raise refused("routing.protocol", routing["protocol"], "ns-3 has static routes and OLSR")
    if routing.get("spray"):
        raise refused("routing.spray", routing["spray"], "routes have one next hop")
    if routing.get("explicit_paths"):
        raise refused("routing.explicit_paths", "…", "routes are the shortest")
    if routing.get("metric", "hops") != "hops":
        raise refused("routing.metric", routing["metric"], "routes are those of fewest hops")
    if scenario.get("failure"):
        raise refused("failure", "…", "wires stay up")
    if "coding" in scenario:
        raise refused("coding", "…", "ns-3 has no such layer")
    profile = scenario["tcp"]["profile"]
    if profile != "ns3":
        raise BacklaneError(
            "R082",
            f"`tcp.profile` = {profile!r} is not what ns-3's TCP does",
            mend='set tcp.profile = "ns3", so that both sides have the same rules',
        )
    for wire in scenario["topology"]["link"]:
        if wire.get("loss"):
            raise refused("topology.link.loss", wire["loss"], "wires lose nothing")
        for key in ("impairments", "impairments_back", "loss_back", "capacity", "capacity_back"):
            if wire.get(key):
                raise refused(f"topology.link.{key}", "…", "wires are constant")
        if not isinstance(wire["queue"], str):
            raise refused("topology.link.queue", "…", "queues are drop-tail")
    if routing["protocol"] == "olsr":
        hello, tc, warm_up = (
            number(routing[key], _TIMES) for key in ("hello_interval", "tc_interval", "warm_up")
        )
        # ns-3 refuses to connect without a route, and does not try again.
        if warm_up < 3 * (hello + tc):
            raise BacklaneError(
                "R082",
                f"`routing.warm_up` = {routing['warm_up']!r} is too short for OLSR in ns-3, whose "
                "flows do not connect without a route",
                mend=f'set routing.warm_up to "{math.ceil(3 * (hello + tc))} s" or more',
            )
    for flow in scenario["flow"]:
        if flow["kind"] not in ("transfer", "download", "upload"):
            raise refused("flow.kind", flow["kind"], "flows are TCP transfers")
        control = flow.get("congestion_control", scenario["tcp"]["congestion_control"])
        for one in [control] if isinstance(control, str) else control:
            if one not in CONTROLS:
                raise refused("congestion_control", one, "ns-3 3.37 does not have it")
    only_exported(scenario)


def wires(
    scenario: Mapping[str, Any],
    links: list[dict[str, Any]],
    names: list[str],
    segment: int,
) -> list[str]:
    """The members of each wire; a link has both ways the same."""
    numbers = {(link["from"], link["to"]): link for link in links}
    # PPP adds two bytes to each packet in a queue of bytes.
    ppp = (segment + 54) / (segment + 52)
    found = []
    for wire in scenario["topology"]["link"]:
        link = numbers[wire["a"], wire["b"]]
        size, _, unit = wire["queue"].partition(" ")
        if unit == "packets":
            queue = f"{int(float(size))}p"
        else:
            queue = f"{int(number(wire['queue'], _SIZES) * ppp)}B"
        ends = f"{names.index(wire['a'])}, {names.index(wire['b'])}"
        found.append(f'{{{ends}, {link["rate_bps"]!r}, {link["delay_s"]!r}, "{queue}"}}')
    return found


def transfers(flows: list[dict[str, Any]], names: list[str], warm_up: float) -> list[str]:
    """The members of each flow, with its result here."""
    found = []
    for flow in flows:
        ends = f"{names.index(flow['source'])}, {names.index(flow['destination'])}"
        control = quoted(f"ns3::{CONTROLS[flow['congestion_control']]}")
        start = repr(warm_up + flow["start_s"])
        here = f"{real(flow['finish_time_s'])}, {real(flow['goodput_bps'])}"
        bytes_ = flow["size_bytes"] or 0
        # The program prints the name as a quoted field of CSV.
        name = quoted(flow["flow"].replace('"', '""'))
        found.append(f"{{{name}, {ends}, {control}, {start}, {bytes_}u, {here}}}")
    return found


def olsr_keys(routing: Mapping[str, Any]) -> str:
    """OLSR's intervals as ns-3's defaults."""
    if routing["protocol"] != "olsr":
        return ""
    lines = []
    for key, name in (("hello_interval", "HelloInterval"), ("tc_interval", "TcInterval")):
        if key in routing:
            value = number(routing[key], _TIMES)
            lines.append(
                f'    Config::SetDefault("ns3::olsr::RoutingProtocol::{name}", '
                f"TimeValue(Seconds({value!r})));"
            )
    return "\n".join(lines)


def buffer(text: str) -> int:
    """Bytes of a buffer; "unlimited" is a gibibyte."""
    return 2**30 if text == "unlimited" else int(number(text, _SIZES))


def real(value: float | None) -> str:
    """A number in C++."""
    return "NAN" if value is None or math.isnan(value) else repr(value)


def quoted(text: str) -> str:
    """A C++ string with any text in it."""
    bytes_ = text.encode("utf-8")
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in bytes_
    )
    return f'"{plain}"'


def line(text: str) -> str:
    """A text in a comment of one line; no trigraph or backslash continues it."""
    return "".join(char if char.isprintable() and char != "\\" else " " for char in text)[:200]


def rows(members: list[str]) -> str:
    """A list over several lines."""
    return "\n    " + ",\n    ".join(members) + ",\n"


def write(file: Path, text: str) -> None:
    """Writes the program; an existing file of another origin is kept.

    Raises:
        BacklaneError: R083 if the file exists and `export` did not write it.
    """
    if file.exists() and "backlane export ns3" not in file.read_text("utf-8", errors="replace"):
        raise BacklaneError(
            "R083", f"{file} exists and is no exported program", mend="choose another"
        )
    file.write_text(text, encoding="utf-8")
