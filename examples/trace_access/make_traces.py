"""Generates the traces of this folder: a synthetic drive, in the format of mahimahi and as a table.

The logarithm of the rate is a Gauss-Markov process with a time constant of one second; its
standard deviation is one octave. From 12.0 s to 12.6 s there is no signal. Nothing was measured:
the traces show the formats and have variations of a plausible size.
"""

import math
import random
from pathlib import Path

FOLDER = Path(__file__).parent
SECONDS = 20
STEP_S = 0.1
OPPORTUNITY_BITS = 12_000
OUTAGE_S = (12.0, 12.6)


def rates(seed: int, median_bps: float) -> list[int]:
    """A rate for each tenth of a second."""
    draw = random.Random(seed)
    keep = math.exp(-STEP_S / 1.0)
    octaves = draw.gauss(0.0, 1.0)
    found = []
    for step in range(round(SECONDS / STEP_S)):
        octaves = keep * octaves + math.sqrt(1.0 - keep * keep) * draw.gauss(0.0, 1.0)
        is_out = OUTAGE_S[0] <= step * STEP_S < OUTAGE_S[1]
        found.append(0 if is_out else round(median_bps * 2.0**octaves))
    return found


def opportunities(of: list[int]) -> list[int]:
    """The milliseconds at which 1500 bytes are full."""
    lines = []
    bits = 0.0
    for ms in range(1, SECONDS * 1000 + 1):
        bits += of[min(int((ms - 1) / 1000 / STEP_S), len(of) - 1)] / 1000
        while bits >= OPPORTUNITY_BITS:
            bits -= OPPORTUNITY_BITS
            lines.append(ms)
    if lines[-1] < SECONDS * 1000:
        # The last line is the length of the trace.
        lines.append(SECONDS * 1000)
    return lines


def main() -> None:
    """Write the three files."""
    down = rates(1, 8e6)
    up = rates(2, 3e6)
    for name, of in (("drive.down", down), ("drive.up", up)):
        text = "".join(f"{ms}\n" for ms in opportunities(of))
        (FOLDER / name).write_text(text)
    rows = [f"{step * STEP_S:.1f},{rate}" for step, rate in enumerate(down)]
    (FOLDER / "drive.csv").write_text("\n".join(["time_s,rate_bps", *rows]) + "\n")


if __name__ == "__main__":
    main()
