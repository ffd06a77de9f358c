"""The one writer: a network as a scenario of kind "graph", with every assumption marked.

Nothing of the file reaches the scenario as syntax: ids become slugs, names are comments without
control characters.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backlane import __version__
from backlane.imports import capacities
from backlane.imports.model import count, shown
from backlane.imports.places import flat
from backlane.imports.radio import DERIVED

if TYPE_CHECKING:
    from backlane.imports.model import Link, Network, Site

LIGHT_M_S = {"air": 299_702_547.0, "fibre": 299_792_458.0 / 1.468}
"""Air at a refractive index of 1.0003, as in the core; glass of ITU-T G.652 fibre at 1550 nm."""
QUEUE_S = 0.010
"""An assumed queue holds what its link carries in this time; 500 kB at 500 Mbit/s are 8 ms."""
LEAST_QUEUE_BYTES = 60_000
"""Forty full packets: what a window of ten segments each of four flows needs."""
_LANDMARKS = 1000
LEAST_DELAY_S = 1e-6
"""For links of length zero: 300 m of air, or a cable within a building."""
MEAN_DEMAND_BYTES = 1_000_000
"""The mean of the transfers that stand for demands: the size of an assumed download."""
MOST_DEMAND_BYTES = 500_000_000
"""All of them together."""
LEAST_DEMAND_BYTES = 1_000
"""The smallest of them."""
RESERVED = re.compile(r"ues|ue\d+|epc\d*|server\d*", re.IGNORECASE)


@dataclass(frozen=True)
class Assumed:
    """What fills the gaps of a file.

    Attributes:
        rate_bps: of links without a rate.
        delay_s: of links without delay and length.
        rate_given: whether the user named the rate.
        delay_given: whether the user named the delay.
    """

    rate_bps: float = 100e6
    delay_s: float = 1e-3
    rate_given: bool = False
    delay_given: bool = False


@dataclass
class Written:
    """The texts of an import: scenario, its record, and files beside them."""

    scenario: str
    record: dict[str, Any]
    beside: dict[str, str]


def slugs(sites: list[Site]) -> dict[str, str]:
    """A unique id of letters, digits, ``-``, ``_`` and ``.`` for each site."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    times: dict[str, int] = {}
    plain = re.compile(r"[A-Za-z0-9._-]{1,64}")
    # Ids that are fit stay as they are, and others make way for them.
    for site in sites:
        if plain.fullmatch(site.id) and not RESERVED.fullmatch(site.id):
            found[site.id] = site.id
            taken.add(site.id)
    for site in sites:
        if site.id in found:
            continue
        base = re.sub(r"[^A-Za-z0-9._-]+", "-", _ascii(site.id)).strip("-.")[:58] or "site"
        if RESERVED.fullmatch(base):
            base = f"site-{base}"
        name = base
        while name in taken:
            times[base] = times.get(base, 1) + 1
            name = f"{base}-{times[base]}"
        found[site.id] = name
        taken.add(name)
    return found


def _ascii(text: str) -> str:
    import unicodedata

    text = text.replace("ß", "ss").replace("ø", "o").replace("Ø", "O").replace("ł", "l")
    parts = unicodedata.normalize("NFKD", text)
    return "".join(part for part in parts if not unicodedata.combining(part))


def rate_text(rate_bps: float) -> str:
    """A rate as the scenario writes it, to the bit per second."""
    whole = max(1, round(rate_bps))
    for size, unit in ((10**9, "Gbit/s"), (10**6, "Mbit/s"), (10**3, "kbit/s")):
        if whole % size == 0 or (whole > size and whole % (size // 1000) == 0):
            return f"{whole / size:.3f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{whole} bit/s"


def time_text(seconds: float) -> str:
    """A time as the scenario writes it, to the nanosecond."""
    ns = max(0, round(seconds * 1e9))
    if ns % 1_000_000 == 0:
        return f"{ns // 1_000_000} ms"
    if ns >= 1_000_000:
        return f"{ns / 1e6:.6f}".rstrip("0").rstrip(".") + " ms"
    return f"{ns / 1e3:.3f}".rstrip("0").rstrip(".") + " us"


def size_text(size_bytes: float) -> str:
    """A size in kB."""
    return f"{max(1, round(size_bytes / 1000))} kB"


def quoted(text: str) -> str:
    """A text of TOML."""
    return json.dumps(text)


def _comment(text: str) -> str:
    return " ".join(shown_long(text).split())


def shown_long(text: str) -> str:
    """A text without control characters and of bounded length."""
    kept = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return kept if len(kept) <= 600 else f"{kept[:597]}..."


def delay_of(link: Link, network: Network, assumed: Assumed) -> tuple[float, str]:
    """The delay of a link, and what was assumed for it."""
    if link.delay_s is not None:
        return link.delay_s, ""
    if link.length_m is not None:
        delay = link.length_m / LIGHT_M_S[network.medium]
        if delay < LEAST_DELAY_S / 1000:
            return LEAST_DELAY_S, "delay of a link of length zero"
        return delay, ""
    return assumed.delay_s, "" if assumed.delay_given else "delay"


def _node_lines(network: Network, ids: dict[str, str]) -> list[str]:
    sites = [*network.sites.values()]
    places = flat(sites)
    if network.positions == "metres":
        places |= {s.id: (s.x_m, s.y_m) for s in sites if s.x_m is not None and s.y_m is not None}
    lines = []
    for site in sites:
        parts = [f"id = {quoted(ids[site.id])}"]
        if site.forwards_only:
            parts.append('kind = "router"')
        if site.id in places:
            x, y = places[site.id]
            parts.append(f'x = "{x:.1f} m", y = "{y:.1f} m"')
        if site.position is not None:
            parts.append(f"latitude = {site.latitude:.6f}, longitude = {site.longitude:.6f}")
        notes = []
        if site.id != ids[site.id]:
            notes.append(f"id {shown(site.id)}")
        if site.name and site.name not in (site.id, ids[site.id]):
            notes.append(shown(site.name))
        if site.height_m is not None:
            notes.append(f"height {site.height_m:g} m")
        tail = f" # {'; '.join(notes)}" if notes else ""
        lines.append(f"  {{ {', '.join(parts)} }},{tail}")
    return lines


def _link_line(
    link: Link, network: Network, ids: dict[str, str], assumed: Assumed, files: dict[str, str]
) -> tuple[str, list[str]]:
    """The line of a link and what was assumed for it; `files` are those of its capacities."""
    filled = []
    rate = link.rate_bps
    notes = []
    if rate is None:
        rate = assumed.rate_bps
        filled.append("rate given with --rate" if assumed.rate_given else "rate")
    elif link.rate_back_bps is not None and link.rate_back_bps != rate:
        notes.append(f"{rate_text(rate)} and {rate_text(link.rate_back_bps)} back: the smaller")
        rate = min(rate, link.rate_back_bps)
    if link.rate_note:
        notes.append(f"rate: {link.rate_note}")
        if link.rate_note.startswith("assumed"):
            filled.append("the rate")
        elif link.rate_note.startswith(DERIVED):
            filled.append("rate (derived)")
    delay, unsure = delay_of(link, network, assumed)
    if unsure:
        filled.append(unsure)
    filled.append("queue")
    queue = max(LEAST_QUEUE_BYTES, rate * QUEUE_S / 8)
    parts = [
        f"a = {quoted(ids[link.a])}",
        f"b = {quoted(ids[link.b])}",
        f'rate = "{rate_text(rate)}"',
        f'delay = "{time_text(delay)}"',
        f'queue = "{size_text(queue)}"',
    ]
    for key, file in files.items():
        gap = f'max_gap = "{link.capacity.length_s:g} s"' if link.capacity else ""
        parts.append(f"{key} = {{ file = {quoted(file)}, {gap} }}")
    if link.loss:
        parts.append(f"loss = {link.loss!r}")
    if link.length_m is not None:
        notes.insert(0, f"{link.length_m / 1000:.3f} km")
    if link.count > 1:
        notes.append(f"{link.count} parallel links")
    for key in ("frequency", "frequency_back", "bandwidth", "polarization"):
        if key in link.more:
            notes.append(f"{key.replace('_', ' ')} {shown(link.more[key])}")
    marks = f"assumed: {', '.join(filled)}"
    if link.added:
        marks = f"assumed: this link ({link.added}), {', '.join(filled)}"
    line = f"  {{ {', '.join(parts)} }}, # {'; '.join([marks, *notes])}"
    return line, filled


def _capacity_files(
    link: Link, name: str, ids: dict[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The files of a link's capacities by their keys, and their texts; parallel links add up."""
    if link.capacity is None:
        return {}, {}
    traced = capacities.scaled(link.capacity, link.count)
    a, b = ids[link.a], ids[link.b]
    files = {"capacity": f"{name}.capacities/{a}_{b}.csv"}
    texts = {files["capacity"]: traced.there}
    if traced.back is not None:
        files["capacity_back"] = f"{name}.capacities/{b}_{a}.csv"
        texts[files["capacity_back"]] = traced.back
    return files, texts


def gateways_of(network: Network, wanted: tuple[str, ...]) -> tuple[list[str], bool]:
    """The sites that lead to the core network, and whether that is assumed: the most central."""
    if wanted:
        return [*wanted], False
    marked = [name for name, site in network.sites.items() if site.gateway]
    if marked:
        return marked, False
    return [central(network)], True


def central(network: Network) -> str:
    """The site with the fewest hops to all others; the first of equals."""
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import shortest_path

    names = [*network.sites]
    at = {name: index for index, name in enumerate(names)}
    first = np.array([at[link.a] for link in network.links], dtype=int)
    second = np.array([at[link.b] for link in network.links], dtype=int)
    total = len(names)
    graph = coo_matrix((np.ones(len(first)), (first, second)), shape=(total, total)).tocsr()
    sites = [i for i, site in enumerate(network.sites.values()) if not site.forwards_only]
    sites = sites or [*range(total)]
    # Of a large network the hops to sites at equal steps in its list stand for those to all.
    some = range(0, total, max(1, total // _LANDMARKS))
    hops = shortest_path(graph, directed=False, unweighted=True, indices=[*some]).sum(axis=0)
    return names[min(sites, key=lambda index: float(hops[index]))]


def header(network: Network, licence: str | None) -> list[str]:
    """Where everything comes from, and what the import did."""
    lines = [f"# Made by `backlane import` {__version__} from:"]
    for source in network.sources:
        lines.append(f"#   {_comment(source.path.rpartition('/')[2])} ({source.format})")
        lines.append(f"#     SHA-256 {source.sha256}, {source.size} bytes")
    lines.append(f"# Licence of the data: {_comment(licence) if licence else 'not stated'}")
    for note in network.notes:
        lines.append(f"# {note.kind}: {_comment(note.text)}")
    lines += ["# A value marked `assumed` is not in these files: check it, or give your own.", ""]
    return lines


def scenario(
    network: Network,
    name: str,
    licence: str | None,
    assumed: Assumed,
    wanted_gateways: tuple[str, ...] = (),
) -> Written:
    """The scenario of a network and its record."""
    sites = [*network.sites.values()]
    ids = slugs(sites)
    gates, guessed = gateways_of(network, wanted_gateways)
    node_lines = _node_lines(network, ids)
    link_lines = []
    beside: dict[str, str] = {}
    filled_rates = filled_delays = 0
    for link in network.links:
        files, texts = _capacity_files(link, name, ids)
        beside |= texts
        line, filled = _link_line(link, network, ids, assumed, files)
        link_lines.append(line)
        filled_rates += "rate" in filled
        filled_delays += any(word.startswith("delay") for word in filled)
    total = count(network.links, "link")
    if filled_rates:
        network.note(
            "assumed",
            f"{rate_text(assumed.rate_bps)} for {filled_rates} of {total} without a rate of their "
            "own (--rate)",
        )
    if filled_delays:
        network.note(
            "assumed",
            f"{time_text(assumed.delay_s)} for the delay of {filled_delays} of {total} without a "
            "length (--delay)",
        )
    measured = sum(link.delay_s is None and link.length_m is not None for link in network.links)
    if measured:
        glass = "fibre (refractive index 1.468)"
        network.note(
            "assumed",
            f"the speed of light in {'air' if network.medium == 'air' else glass} for the delay of "
            f"{count(measured, 'link')} from the length (--medium)",
        )
    if network.links:
        network.note("assumed", f"queues of {QUEUE_S * 1e3:.0f} ms, at least 60 kB")
    if guessed:
        network.note(
            "assumed",
            f"the gateway at {shown(gates[0])}, the site with the fewest hops to all others "
            "(--gateway)",
        )
    lengths = [link.capacity.length_s for link in network.links if link.capacity]
    duration_s = max(lengths, default=60)
    why = "of the capacities" if lengths else "assumed; a run ends when its transfers have finished"
    traffic = _traffic(network, ids)
    lines = header(network, licence)
    lines += [
        f"name = {quoted(name)}",
        f'duration = "{duration_s:g} s" # {why}',
        "",
        "[topology]",
        'kind = "graph"',
        "node = [",
        *node_lines,
        "]",
    ]
    if link_lines:
        lines += ["link = [", *link_lines, "]"]
    attach = ", ".join(quoted(ids[gate]) for gate in gates)
    mark = " # assumed: the most central site" if guessed else ""
    lines += [
        "",
        "[[gateway]]",
        'node = "epc"',
        f"attach = [{attach}]{mark}",
        'link = { rate = "10 Gbit/s", delay = "0.5 ms", queue = "12500 kB" } # assumed',
        "",
        "[[server]]",
        'node = "server"',
        'attach = "epc"',
        'link = { rate = "10 Gbit/s", delay = "5 ms", queue = "12500 kB" } # assumed',
        "",
        *traffic,
    ]
    record = _record(network, name, licence, ids, assumed)
    return Written("\n".join(lines) + "\n", record, beside)


def _traffic(network: Network, ids: dict[str, str]) -> list[str]:
    lines = ["[routing]", 'protocol = "shortest-path" # assumed', ""]
    if demands := _demands(network, ids):
        return lines + demands
    served = [site for site in network.sites.values() if not site.forwards_only]
    known = {site.id: site.users for site in served if site.users}
    lines += ["[access]", 'kind = "ideal" # assumed: 350 Mbit/s and 10 ms a site']
    if known:
        users = ", ".join(f"{quoted(ids[name])} = {number}" for name, number in known.items())
        lines.append(f"per_enodeb = {{ {users} }}")
    elif served:
        lines.append(f"ues = {len(served)} # assumed: one a site")
    if served:
        lines += [
            "",
            "[[flow]]",
            'kind = "download"',
            'size = "1 MB" # assumed',
            'start = "uniform 0 s 500 ms" # assumed',
        ]
    return lines


def _demands(network: Network, ids: dict[str, str]) -> list[str]:
    """A transfer for each demand, its size in proportion: the mean is `MEAN_DEMAND_BYTES`."""
    demands = [d for d in network.demands if d.value > 0 and d.a != d.b]
    if not demands:
        return []
    total = min(MEAN_DEMAND_BYTES * len(demands), MOST_DEMAND_BYTES)
    scale = total / sum(demand.value for demand in demands)
    network.note(
        "assumed",
        f"{count(demands, 'demand')} as transfers of sizes in proportion, {total / 1e6:g} MB "
        "together; the values stand beside the scenario",
    )
    lines = []
    for demand in demands:
        size = max(LEAST_DEMAND_BYTES, round(demand.value * scale))
        lines += [
            "[[flow]]",
            'kind = "transfer"',
            f"from = {quoted(ids[demand.a])}",
            f"to = {quoted(ids[demand.b])}",
            f'size = "{size} B" # assumed: in proportion to the demand of {demand.value:g}',
            'start = "uniform 0 s 500 ms" # assumed',
            "",
        ]
    return lines


def _record(
    network: Network, name: str, licence: str | None, ids: dict[str, str], assumed: Assumed
) -> dict[str, Any]:
    """What the scenario has no key for, for a later link budget."""
    return {
        "import": 1,
        "name": name,
        "backlane": __version__,
        "licence": licence,
        "sources": [
            {
                "file": source.path.rpartition("/")[2],
                "format": source.format,
                "sha256": source.sha256,
                "bytes": source.size,
            }
            for source in network.sources
        ],
        "positions": network.positions,
        "medium": network.medium,
        "notes": [{"kind": note.kind, "text": note.text} for note in network.notes],
        "sites": [
            {
                "id": ids[site.id],
                "id_in_file": site.id,
                "name": site.name,
                "latitude_deg": site.latitude,
                "longitude_deg": site.longitude,
                "height_m": site.height_m,
                "gateway": site.gateway,
                "more": site.more,
            }
            for site in network.sites.values()
        ],
        "links": [
            {
                "a": ids[link.a],
                "b": ids[link.b],
                "rate_bps": link.rate_bps,
                "rate_back_bps": link.rate_back_bps,
                "rate_note": link.rate_note,
                "delay_s": link.delay_s,
                "length_m": link.length_m,
                "parallel": link.count,
                "added": link.added,
                "levels": network.levels.get(link.more.get("link", "")),
                "more": link.more,
            }
            for link in network.links
        ],
        "demands": [
            {"from": ids[d.a], "to": ids[d.b], "value": d.value, "unit_bps": d.unit_bps}
            for d in network.demands
        ],
        "assumed": {"rate_bps": assumed.rate_bps, "delay_s": assumed.delay_s},
    }
