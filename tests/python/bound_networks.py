"""Random scenarios for the bounds: wires, cells and 802.11, and flows of all kinds."""

from __future__ import annotations

import itertools
import math
import random

RATES: dict[str, list[float]] = {
    "802.11a": [6, 12, 24, 54],
    "802.11b": [1, 2, 5.5, 11],
    "802.11g": [6, 11, 24, 54],
    "802.11-dsss": [1, 2, 11],
}
RECEPTIONS = [
    '{ model = "threshold", sensitivity = "-82 dBm" }',
    '{ model = "threshold", sensitivity = "-82 dBm", capture = "10 dB" }',
    '{ model = "pairwise", sensitivity = "-82 dBm" }',
]


def any_network(seed: int) -> str:
    """A connected network with random rates, delays, losses, TCP and flows."""
    draw = random.Random(seed)
    nodes = draw.randrange(3, 8)
    return "\n".join(
        [
            'duration = "5 s"',
            *_topology(draw, nodes),
            "[access]",
            'kind = "ideal"',
            f'rate = "{draw.choice([4, 10, 50])} Mbit/s"',
            'delay = "2 ms"',
            f"ues = {draw.randrange(1, 6)}",
            f'placement = "{draw.choice(["random", "round-robin"])}"',
            "[tcp]",
            f'mss = "{draw.choice([536, 1000, 1448])} B"',
            f"timestamps = {draw.choice(['true', 'false'])}",
            f'congestion_control = "{draw.choice(["cubic", "bbr", "reno"])}"',
            *_flows(draw, nodes),
        ]
    )


def _topology(draw: random.Random, nodes: int) -> list[str]:
    pairs = [(draw.randrange(after), after) for after in range(1, nodes)]
    others = [pair for pair in itertools.combinations(range(nodes), 2) if pair not in pairs]
    pairs += draw.sample(others, min(len(others), draw.randrange(5)))
    kinds = ["enodeb", *(draw.choice(["router", "enodeb"]) for _ in range(1, nodes))]
    ids = [f'{{ id = "r{node}", kind = "{kind}" }}' for node, kind in enumerate(kinds)]
    links = [_link(draw, f"r{a}", f"r{b}") for a, b in pairs]
    rate = draw.choice([5, 100])
    links.append(
        f'{{ a = "srv", b = "r{draw.randrange(nodes)}", rate = "{rate} Mbit/s", delay = "1 ms" }}'
    )
    ids.append('{ id = "srv", kind = "server" }')
    return [
        "[topology]",
        'kind = "graph"',
        f"node = [{', '.join(ids)}]",
        f"link = [{', '.join(links)}]",
    ]


def _link(draw: random.Random, a: str, b: str) -> str:
    rate, delay = draw.choice([1, 2, 3, 5, 8, 20]), draw.choice([0.1, 1, 3, 10])
    loss = f", loss = {draw.choice([0.01, 0.1])}" if draw.random() < 0.15 else ""
    return (
        f'{{ a = "{a}", b = "{b}", rate = "{rate} Mbit/s", delay = "{delay} ms", '
        f'queue = "{draw.choice([10, 30, 100])} packets"{loss} }}'
    )


def _flows(draw: random.Random, nodes: int) -> list[str]:
    has_sizes = draw.random() < 0.5
    lines = []
    for _ in range(draw.randrange(1, 4)):
        kind = draw.choice(["download", "upload", "transfer", "udp"])
        sizes = ["100 kB", "300 kB", "uniform 50 kB 500 kB", "exponential 200 kB"]
        if kind == "udp":
            sizes = ["200 kB"]
        start = draw.choice(["0 s", "uniform 0 s 1 s", "every 100 ms from 0 s"])
        lines += [
            "[[flow]]",
            f'kind = "{kind}"',
            f'size = "{draw.choice(sizes) if has_sizes else "endless"}"',
            f'start = "{start}"',
        ]
        if kind in ("transfer", "udp"):
            source, destination = draw.sample(range(nodes), 2)
            lines += [f'from = "r{source}"', f'to = "r{destination}"']
        if kind == "udp":
            rate, packet = draw.choice([1, 3, 30]), draw.choice([100, 1000])
            lines += [f'rate = "{rate} Mbit/s"', f'packet_size = "{packet} B"']
    return lines


def any_mesh(seed: int) -> str:
    """Routers with 802.11 radios at random places, linked by a list or by range."""
    draw = random.Random(seed)
    nodes = draw.randrange(2, 9)
    side_m = draw.choice([30, 80, 150]) * math.sqrt(nodes)
    has_loss = draw.random() < 0.4
    is_listed = has_loss or draw.random() < 0.5
    places = [(draw.uniform(0, side_m), draw.uniform(0, side_m)) for _ in range(nodes)]
    ids = ", ".join(
        f'{{ id = "r{node}", kind = "router", x = "{x:.1f} m", y = "{y:.1f} m" }}'
        for node, (x, y) in enumerate(places)
    )
    standard = draw.choice(sorted(RATES))
    rates = RATES[standard]
    channels = draw.choice([[1], [1], [1, 6]])
    pairs = [(draw.randrange(after), after) for after in range(1, nodes)] if is_listed else []
    links = [
        f'{{ a = "r{a}", b = "r{b}", medium = "wifi", channel = {draw.choice(channels)}, '
        f'rate = "{draw.choice(rates)} Mbit/s" }}'
        for a, b in pairs
    ]
    lines = ['duration = "3 s"', "[topology]", 'kind = "graph"', f"node = [{ids}]"]
    lines += [f"link = [{', '.join(links)}]"] if links else []
    lines += [
        "[wifi]",
        f'standard = "{standard}"',
        f'rate = "{draw.choice(rates)} Mbit/s"',
        f"channels = {channels}",
        f'neighbours = "{"listed" if is_listed else "in-range"}"',
        f'rts_threshold = "{draw.choice(["off", "0 B"])}"',
    ]
    if has_loss:
        lines += [
            f"loss = {draw.choice([0.0, 0.2, 0.5])}",
            f"lossy_share = {draw.choice([1.0, 0.5])}",
            f'loss_law = "{draw.choice(["same", "uniform"])}"',
        ]
    if draw.random() < 0.3:
        lines.append(f"reception = {draw.choice(RECEPTIONS)}")
    if draw.random() < 0.2:
        lines.append('fading = "rayleigh"')
    has_sizes = draw.random() < 0.4
    for _ in range(draw.randrange(1, 4)):
        source, destination = draw.sample(range(nodes), 2)
        size = draw.choice(["60 kB", "200 kB"]) if has_sizes else "endless"
        lines += ["[[flow]]", f'from = "r{source}"', f'to = "r{destination}"', f'size = "{size}"']
        if draw.random() < 0.5:
            lines.append('kind = "transfer"')
        else:
            rate, packet = draw.choice([1, 10, 60]), draw.choice([200, 1472])
            lines += ['kind = "udp"', f'rate = "{rate} Mbit/s"', f'packet_size = "{packet} B"']
    return "\n".join(lines)
