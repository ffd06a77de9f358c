"""Makes `scenario.toml` and its capacities from the recording of the backhaul.

Run it with the levels of pycomlink's example data, which are too large for this folder:

    python build.py levels.csv.gz

`../real_backhaul/README.md` says where they come from. The recorded links have the rates that a
radio has at their recorded levels. The links that a rule adds, to make one network of the pieces,
have no recording: a synthetic cell of rain crosses them at the time of the recorded storm.
"""

from __future__ import annotations

import csv
import math
import re
import shutil
import sys
from pathlib import Path
from statistics import median

import matplotlib.pyplot as plt
import numpy as np

from backlane.imports import Network, Options, run, write
from backlane.imports.capacities import Traced, Wanted
from backlane.imports.places import flat
from backlane.link_budget import radios
from backlane.link_budget.rain import specific_attenuation_db_km
from backlane.link_budget.rain_cell import RainCell
from backlane.link_budget.series import rate_from_levels

HERE = Path(__file__).parent
BACKHAUL = HERE.parent / "real_backhaul"
WINDOW_S = (75_600.0, 93_600.0)
"""Five hours from 21 h after the first level; most links fade in the third of them."""
FASTER = 450.0
RADIO, CHANNEL_MHZ = "generic", 28.0
PEAK_MM_H, SPEED_M_S, HEADING_DEG = 60.0, 10.0, 60.0
"""The cell of rain: heavy rain, a common speed, and from the south-west (assumed)."""
STEP_S = 60.0
"""Between rain rates, as between recorded levels."""
GATEWAYS = ("s49", "s67", "s85")
DURATION = 'duration = "90 s" # the capacities take 40 s; the last downloads end after them'
TAIL = """
[[gateway]]
node = "epc"
attach = ["s49", "s67", "s85"]
link = { rate = "1 Gbit/s", delay = "0.5 ms", queue = "125 kB" }

[[server]]
node = "server"
attach = "epc"
link = { rate = "10 Gbit/s", delay = "5 ms" }

[access]
kind = "ideal"
rate = "350 Mbit/s"
delay = "10 ms"
ues = 96

[routing]
protocol = "olsr"
warm_up = "40 s" # topology messages cross many hops

[tcp]
congestion_control = "cubic"

# Every user downloads 1 MB, again and again, with pauses.
[[flow]]
kind = "download"
size = "1 MB"
start = "uniform 0 s 5 s"
count = 10
gap = "exponential 3 s"

# For the replay of the report.
[record]
series = ["queue"]
interval = "500 ms"

[sweep]
"routing" = [
  { protocol = "olsr", label = "OLSR" },
  { protocol = "bp-mr", granularity = "flow", label = "per flow" },
  { protocol = "bp-mr", granularity = "burst", burst = "flowlet", label = "flowlets" },
]
"tcp.congestion_control" = ["cubic", "bbr"]
seeds = 10
"""


def storm(levels: Path) -> None:
    """Write the example."""
    network = Network()
    files = [BACKHAUL / "sites.csv", BACKHAUL / "links.csv", levels]
    wanted = Wanted(RADIO, CHANNEL_MHZ, WINDOW_S, FASTER)
    licence = "BSD-3-Clause (LICENSE.pycomlink)"
    options = Options(
        name="storm", licence=licence, rule="mesh", gateways=GATEWAYS, capacities=wanted
    )
    run([*files], options, network)
    # The rates that the import assumes for added links are replaced.
    network.notes = [note for note in network.notes if "(--rate)" not in note.text]
    rain(network)
    picture(network)
    done = write.scenario(network, "storm", licence, write.Assumed(), GATEWAYS)
    for name, text in done.beside.items():
        path = HERE / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    head = done.scenario[: done.scenario.index("\n[[gateway]]")]
    head = re.sub(r"^duration = .*$", DURATION, head, count=1, flags=re.MULTILINE)
    (HERE / "scenario.toml").write_text(f"#:schema ../scenario.schema.json\n{head}{TAIL}")


def picture(network: Network) -> None:
    """Draw the level of the link with the deepest fade of these hours, and what it then carries."""
    first = min(samples[0][0] for samples in network.level_series.values()) + WINDOW_S[0]
    length_s = WINDOW_S[1] - WINDOW_S[0]
    within = {
        key: [(at - first, level) for at, level in samples if 0 <= at - first <= length_s]
        for key, samples in network.level_series.items()
    }

    def lowest(key: tuple[str, str]) -> float:
        return min((level for _, level in within[key] if not math.isnan(level)), default=math.inf)

    key = min(within, key=lowest)
    times, levels = (np.array(values) for values in zip(*within[key], strict=True))
    rows = csv.DictReader((BACKHAUL / "links.csv").open())
    column = "frequency_ab_ghz" if key[1] == "near-far" else "frequency_ba_ghz"
    ghz = next(float(row[column]) for row in rows if row["link"] == key[0])
    series = rate_from_levels(times, levels, radios.ladder(RADIO, ghz, CHANNEL_MHZ))
    figure, (above, below) = plt.subplots(
        2, 1, sharex=True, figsize=(7.0, 4.4), layout="constrained"
    )
    hours = times / 3600
    above.plot(hours, levels, color="#0072b2", linewidth=0.9)
    above.set_ylabel("level in dBm")
    above.set_title(f"Link {key[0]}, {ghz:g} GHz: recorded level, and rate of a {RADIO} radio with "
                    f"{CHANNEL_MHZ:g} MHz", loc="left", fontsize=9)  # fmt: skip
    below.step(hours, series.rate_bps / 1e6, where="post", color="#d55e00", linewidth=0.9)
    below.set_ylabel("rate in Mbit/s")
    below.set_xlabel("hours of the window")
    below.set_ylim(bottom=0)
    for axes in (above, below):
        axes.grid(color="#c8ccd1", linewidth=0.5)
    figure.savefig(HERE / "fade.png", dpi=120, metadata={"Software": None})


def rain(network: Network) -> None:
    """Give the links that were added the rates that they have while the cell crosses them."""
    places = flat([*network.sites.values()])
    middle_x, middle_y = (median(place[axis] for place in places.values()) for axis in (0, 1))
    length_s = WINDOW_S[1] - WINDOW_S[0]
    # The cell is in the middle of the network in the middle of the window.
    way = SPEED_M_S * length_s / 2
    heading = math.radians(HEADING_DEG)
    cell = RainCell(
        PEAK_MM_H,
        middle_x - way * math.sin(heading),
        middle_y - way * math.cos(heading),
        SPEED_M_S,
        HEADING_DEG,
    )
    times = np.arange(0, length_s + STEP_S, STEP_S)
    clear_dbm = median(
        median(level for _, level in samples if not math.isnan(level))
        for samples in network.level_series.values()
    )
    recorded = [link for link in network.links if link.capacity is not None]
    for link in network.links:
        if link.capacity is not None:
            continue
        assert link.length_m is not None
        km = link.length_m / 1000
        # The carrier of the recorded link whose length is nearest.
        like = min(recorded, key=lambda one: abs((one.length_m or 0) - km * 1000))
        ghz = float(like.more["frequency"].split()[0])
        falling = cell.along(times, places[link.a], places[link.b])
        lost_db = specific_attenuation_db_km(falling, ghz, 90.0).mean(axis=1) * km
        ladder = radios.ladder(RADIO, ghz, CHANNEL_MHZ)
        series = rate_from_levels(times, clear_dbm - lost_db, ladder)
        keep = [0, *(np.flatnonzero(np.diff(series.rate_bps)) + 1), len(times) - 1]
        rows = [(times[at] / FASTER, series.rate_bps[at]) for at in dict.fromkeys(keep)]
        text = "time_s,rate_bps\n" + "".join(f"{at:.3f},{bps:.0f}\n" for at, bps in rows)
        link.capacity = Traced(text, None, float(series.rate_bps.max()), length_s / FASTER)
        link.rate_bps = link.capacity.clear_bps
        link.rate_note = (
            f"assumed: a level of {clear_dbm:.1f} dBm in clear air, {ghz:g} GHz as on the recorded "
            "link of the nearest length, and a synthetic cell of rain"
        )
    network.note(
        "assumed",
        f"a synthetic cell of rain with a peak of {PEAK_MM_H:g} mm/h and {SPEED_M_S:g} m/s crosses "
        "the links without a recording; it is in the middle of the network in the middle of the run",
    )


if __name__ == "__main__":
    shutil.rmtree(HERE / "storm.capacities", ignore_errors=True)
    storm(Path(sys.argv[1]))
