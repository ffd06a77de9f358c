"""Ladders of modulations: the rate of each step and the levels at which a radio holds it.

`data/radios.csv` has published radios. A radio with adaptive modulation leaves a step some dB above
its threshold and enters it some dB higher. Cambium publishes both levels for the PTP 800; their
medians stand for radios whose manufacturer does not. "generic" is a radio of any frequency and
channel: the net spectral efficiencies and signal-to-noise ratios of the RAy17 in 28 MHz, with a
noise figure of 8 dB. That is above the 2 to 7.5 dB which the QPSK thresholds of the CFIP imply with
these ratios, so that a generic level is cautious. No E-band radio is in the table, for lack of a
published data sheet with levels; "generic" covers it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.link_budget import data_files
from backlane.link_budget.receiver import threshold_dbm

if TYPE_CHECKING:
    from pathlib import Path

GENERIC = "generic"
"""The radio of any frequency and channel."""
LEAVES_DB = 4.6
"""Above the threshold, a step is left: the median of the levels that the PTP 800 states."""
ENTERS_DB = 1.3
"""Above the level at which it is left, a step is entered: the median likewise."""
NOISE_FIGURE_DB = 8.0
"""Of a radio whose thresholds are not published."""
_MODEL = ("RAy17", 28.0)
"""The ladder that "generic" scales."""
_BAND_RATIO = 1.35
"""A ladder serves frequencies within this ratio of its band: 17 GHz also 23, not 38."""


@dataclass(frozen=True)
class Step:
    """A modulation.

    Attributes:
        mode: its name.
        rate_bps: of user data, each way.
        threshold_dbm: for a bit error ratio of 1e-6, or the least level; None if not published.
        leaves_dbm: below this level the radio takes the step below.
        enters_dbm: from this level on the radio takes this step.
        most_power_dbm: the highest transmit power; None for any.
    """

    mode: str
    rate_bps: float
    threshold_dbm: float | None
    leaves_dbm: float
    enters_dbm: float
    most_power_dbm: float | None = None

    def backoff_db(self, power_dbm: float | None) -> float:
        """What the transmitter reduces its power by in this step."""
        if power_dbm is None or self.most_power_dbm is None:
            return 0.0
        return max(0.0, power_dbm - self.most_power_dbm)


@dataclass(frozen=True)
class Ladder:
    """The steps of a radio in a channel, the slowest first.

    Attributes:
        radio: its name.
        band_ghz: of the published values; None for any.
        channel_mhz: of the channel.
        steps: the slowest first.
        source: of the values.
        half_duplex: whether both directions share the channel; rates are half of its rate.
    """

    radio: str
    band_ghz: float | None
    channel_mhz: float
    steps: tuple[Step, ...]
    source: str
    half_duplex: bool = False

    def at(self, level_dbm: float, power_dbm: float | None = None) -> int | None:
        """The step that a radio takes at a steady level; None below the slowest.

        Args:
            level_dbm: received with the full transmit power.
            power_dbm: that power, which a step may not allow.
        """
        return self.follow(level_dbm, None, power_dbm)

    def follow(
        self, level_dbm: float, step: int | None, power_dbm: float | None = None
    ) -> int | None:
        """The step after a new level, from the step before."""
        at = -1 if step is None else step
        while at >= 0 and level_dbm - self.steps[at].backoff_db(power_dbm) < (
            self.steps[at].leaves_dbm
        ):
            at -= 1
        while at + 1 < len(self.steps) and level_dbm - self.steps[at + 1].backoff_db(power_dbm) >= (
            self.steps[at + 1].enters_dbm
        ):
            at += 1
        return None if at < 0 else at


@cache
def _rows() -> tuple[dict[str, str], ...]:
    return tuple(data_files.rows("radios.csv"))


def names() -> list[str]:
    """The radios, in the order of the table, and "generic"."""
    return [*dict.fromkeys(row["radio"] for row in _rows()), GENERIC]


def known(name: str) -> str | None:
    """The radio of a name, compared without case and punctuation."""
    wanted = _plain(name)
    return next((radio for radio in names() if _plain(radio) == wanted), None)


def ladders() -> list[Ladder]:
    """Every ladder of the table."""
    keys = dict.fromkeys((row["radio"], row["band_ghz"], row["channel_mhz"]) for row in _rows())
    return [
        ladder(radio, float(band_ghz), float(channel_mhz)) for radio, band_ghz, channel_mhz in keys
    ]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def ladder(
    radio: str,
    frequency_ghz: float,
    bandwidth_mhz: float,
    noise_figure_db: float | None = None,
    place: str | Path | None = None,
) -> Ladder:
    """The ladder of a radio.

    Args:
        radio: one of `names()`.
        frequency_ghz: of the carrier.
        bandwidth_mhz: of the channel.
        noise_figure_db: where thresholds follow from it; None for `NOISE_FIGURE_DB`.
        place: for errors.

    Raises:
        BacklaneError: R061 for an unknown radio, or a channel or band that it does not have.
    """
    found = known(radio)
    if found is None:
        near = get_close_matches(radio.lower(), [name.lower() for name in names()], 1, 0.6)
        hint = f'did you mean "{known(near[0])}"? ' if near else ""
        raise BacklaneError(
            "R061",
            f'there is no radio "{radio[:60]}"',
            place,
            f"{hint}`backlane budget --radios` lists them; {GENERIC} fits any channel",
        )
    figure = NOISE_FIGURE_DB if noise_figure_db is None else noise_figure_db
    if found == GENERIC:
        return _generic(bandwidth_mhz, figure)
    rows = [row for row in _rows() if row["radio"] == found]
    bands = sorted({float(row["band_ghz"]) for row in rows})
    near_bands = [band for band in bands if 1 / _BAND_RATIO <= frequency_ghz / band <= _BAND_RATIO]
    if not near_bands:
        raise BacklaneError(
            "R061",
            f"{found} is a radio of {_listed(bands)} GHz, not of {frequency_ghz:g} GHz",
            place,
            f"name another radio; {GENERIC} fits any frequency",
        )
    fits = [
        row
        for row in rows
        if float(row["band_ghz"]) in near_bands
        and math.isclose(float(row["channel_mhz"]), bandwidth_mhz, rel_tol=1e-6)
    ]
    if not fits:
        channels = sorted(
            {float(row["channel_mhz"]) for row in rows if float(row["band_ghz"]) in near_bands}
        )
        raise BacklaneError(
            "R061",
            f"{found} has channels of {_listed(channels)} MHz, not of {bandwidth_mhz:g} MHz",
            place,
            f"correct the bandwidth; {GENERIC} fits any channel",
        )
    band = min(
        {float(row["band_ghz"]) for row in fits}, key=lambda one: abs(math.log(frequency_ghz / one))
    )
    return _published([row for row in fits if float(row["band_ghz"]) == band], figure)


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _published(rows: list[dict[str, str]], noise_figure_db: float) -> Ladder:
    first = rows[0]
    half = first["duplex"] == "half"
    channel_mhz = float(first["channel_mhz"])
    steps: list[Step] = []
    for row in sorted(rows, key=lambda one: float(one["capacity_mbps"])):
        least = _number(row["threshold_dbm"])
        if least is None and row["snr_db"]:
            least = threshold_dbm(channel_mhz * 1e6, float(row["snr_db"]), noise_figure_db)
        leaves, enters = _number(row["acm_out_dbm"]), _number(row["acm_in_dbm"])
        if leaves is None:
            assert least is not None
            adaptive = bool(steps) and row["kind"] == "ber"
            leaves = least + (LEAVES_DB if adaptive else 0.0)
        if enters is None:
            enters = leaves + (ENTERS_DB if steps else 0.0)
        rate = float(row["capacity_mbps"]) * 1e6 / (2 if half else 1)
        steps.append(Step(row["mode"], rate, least, leaves, enters, _number(row["max_tx_dbm"])))
    band = float(first["band_ghz"])
    return Ladder(first["radio"], band, channel_mhz, tuple(steps), first["source"], half)


def _number(text: str) -> float | None:
    return float(text) if text else None


def _generic(bandwidth_mhz: float, noise_figure_db: float) -> Ladder:
    name, channel_mhz = _MODEL
    rows = [
        row
        | {
            "radio": GENERIC,
            "channel_mhz": repr(bandwidth_mhz),
            "capacity_mbps": repr(float(row["capacity_mbps"]) * bandwidth_mhz / channel_mhz),
            "threshold_dbm": "",
        }
        for row in _rows()
        if row["radio"] == name and float(row["channel_mhz"]) == channel_mhz
    ]
    found = _published(rows, noise_figure_db)
    source = f"{rows[0]['source']}, scaled; noise figure {noise_figure_db:g} dB"
    return Ladder(GENERIC, None, bandwidth_mhz, found.steps, source)
