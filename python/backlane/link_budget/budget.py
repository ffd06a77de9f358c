"""The budget of one link: levels, steps, rates and availability of both directions.

Level = power + gains - free-space loss - gases - other losses. A step is available while the fade
is smaller than the margin to the level at which the radio leaves it. Fades are those of rain and,
if the climate has a gradient of refractivity, multipath; their shares of the year are added, since
rain and the still air of multipath seldom coincide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backlane.errors import BacklaneError
from backlane.link_budget import free_space, gases, multipath, rain_path
from backlane.link_budget.radios import GENERIC, Ladder, Step, ladder
from backlane.link_budget.rain import TILT_DEG

if TYPE_CHECKING:
    from pathlib import Path

LENGTHS_KM = (0.001, 1000.0)
"""Lengths of a link; below a metre there is no far field."""
FREQUENCIES_GHZ = (1.0, 1000.0)
"""What ITU-R P.676 and P.838 cover."""
BANDWIDTHS_MHZ = (0.1, 20_000.0)
"""Channels of a link."""
POWERS_DBM = (-60.0, 80.0)
"""Transmit powers."""
GAINS_DBI = (-20.0, 80.0)
"""Gains of antennas."""
LOSSES_DB = (0.0, 100.0)
"""Losses of feeders, radomes and alignment; also noise figures."""
RAIN_RATES_MM_H = (0.0, 300.0)
"""Rain rates exceeded for 0.01 % of the year; the largest of ITU-R P.837-7 are below 200."""


@dataclass(frozen=True)
class Climate:
    """Where a link is.

    Attributes:
        rain_rate_mm_h: exceeded for 0.01 % of the year (ITU-R P.837); None: no rain is computed.
        gradient_n_km: dN1 of ITU-R P.453; None: no multipath is computed.
        roughness_m: of the terrain, for the detailed method of multipath.
        air: along the path.
    """

    rain_rate_mm_h: float | None = None
    gradient_n_km: float | None = None
    roughness_m: float | None = None
    air: gases.Atmosphere = gases.STANDARD


@dataclass(frozen=True)
class RadioLink:
    """A link with what its budget needs; the direction from `a` to `b` comes first.

    Attributes:
        a: name of one end.
        b: name of the other end.
        length_km: of the path.
        frequencies_ghz: of each direction.
        bandwidth_mhz: of the channel.
        gains_dbi: of the antennas at `a` and `b`.
        powers_dbm: of the transmitters at `a` and `b`.
        polarization: a key of `TILT_DEG`.
        radio: one of `radios.names()`.
        losses_db: other than free space and gases, both ends together.
        noise_figure_db: where the radio's thresholds follow from it; None for its default.
        latitude_deg: for the conversion of multipath from worst month to year.
        heights_m: of the antennas above sea level, if known.
        assumed: what the caller assumed about the link.
        place: for errors.
    """

    a: str
    b: str
    length_km: float
    frequencies_ghz: tuple[float, float]
    bandwidth_mhz: float
    gains_dbi: tuple[float, float]
    powers_dbm: tuple[float, float]
    polarization: str = "V"
    radio: str = GENERIC
    losses_db: float = 0.0
    noise_figure_db: float | None = None
    latitude_deg: float | None = None
    heights_m: tuple[float, float] = (0.0, 0.0)
    assumed: tuple[str, ...] = ()
    place: str | Path | None = None

    def check(self) -> None:
        """Refuse values that no link has.

        Raises:
            BacklaneError: R060 with the value.
        """
        for what, values, unit, (least, most) in (
            ("length", (self.length_km,), "km", LENGTHS_KM),
            ("frequency", self.frequencies_ghz, "GHz", FREQUENCIES_GHZ),
            ("bandwidth", (self.bandwidth_mhz,), "MHz", BANDWIDTHS_MHZ),
            ("antenna gain", self.gains_dbi, "dBi", GAINS_DBI),
            ("transmit power", self.powers_dbm, "dBm", POWERS_DBM),
            ("loss", (self.losses_db,), "dB", LOSSES_DB),
            ("noise figure", (self.noise_figure_db or 0.0,), "dB", LOSSES_DB),
        ):
            for value in values:
                self._refuse(what, value, unit, least, most)
        if self.polarization not in TILT_DEG:
            raise BacklaneError(
                "R060",
                f'there is no polarization "{self.polarization[:60]}"',
                self.place,
                f"write one of {', '.join(TILT_DEG)}",
            )

    def _refuse(self, what: str, value: float, unit: str, least: float, most: float) -> None:
        if not least <= value <= most:
            text = f"{value:g} {unit}" if math.isfinite(value) else "no number"
            raise BacklaneError(
                "R060",
                f"the {what} of {self.a}–{self.b} is {text}",
                self.place,
                f"write a value from {least:g} to {most:g} {unit}",
            )


@dataclass(frozen=True)
class StepBudget:
    """A step of the ladder over the year.

    Attributes:
        step: of the ladder.
        margin_db: to the level at which the radio leaves it.
        rain_percent: of the year in which rain takes the margin; None without a rain rate.
        multipath_percent: of the year in which multipath does; None without a gradient.
    """

    step: Step
    margin_db: float
    rain_percent: float | None
    multipath_percent: float | None

    @property
    def availability_percent(self) -> float | None:
        """Of the year in which the step holds; None if no fading is computed."""
        if self.rain_percent is None and self.multipath_percent is None:
            return None
        return max(0.0, 100 - (self.rain_percent or 0.0) - (self.multipath_percent or 0.0))


@dataclass(frozen=True)
class Direction:
    """One direction of a link.

    Attributes:
        source: name of the transmitting end.
        sink: name of the receiving end.
        frequency_ghz: of the carrier.
        free_space_db: the loss.
        gases_db: the loss.
        level_dbm: received in clear air, with the full transmit power.
        at: the index of the step at that level; None if no step holds.
        steps: all steps over the year, the slowest first.
        rain_001_db: attenuation by rain exceeded for 0.01 % of the year.
    """

    source: str
    sink: str
    frequency_ghz: float
    free_space_db: float
    gases_db: float
    level_dbm: float
    at: int | None
    steps: tuple[StepBudget, ...]
    rain_001_db: float | None

    @property
    def rate_bps(self) -> float:
        """In clear air; 0 if no step holds."""
        return 0.0 if self.at is None else self.steps[self.at].step.rate_bps


@dataclass(frozen=True)
class Budget:
    """Both directions of a link.

    Attributes:
        link: as given.
        ladder: of its radio.
        directions: from `a` to `b`, and back.
        notes: what was assumed, and where a model is beyond its range.
    """

    link: RadioLink
    ladder: Ladder
    directions: tuple[Direction, Direction]
    notes: tuple[str, ...] = field(default=())

    @property
    def worse(self) -> Direction:
        """The direction with the smaller rate, then the lower level."""
        return min(self.directions, key=lambda one: (one.rate_bps, one.level_dbm))


def compute(link: RadioLink, climate: Climate | None = None) -> Budget:
    """The budget of a link.

    Args:
        link: with its antennas and radio.
        climate: None for clear air alone.

    Raises:
        BacklaneError: R060 for a value that no link has, R061 for a radio that does not fit.
    """
    climate = Climate() if climate is None else climate
    link.check()
    if climate.rain_rate_mm_h is not None:
        link._refuse("rain rate", climate.rain_rate_mm_h, "mm/h", *RAIN_RATES_MM_H)
    if climate.gradient_n_km is not None:
        link._refuse("gradient of refractivity", climate.gradient_n_km, "N/km", -2000.0, 500.0)
    rungs = ladder(
        link.radio,
        link.frequencies_ghz[0],
        link.bandwidth_mhz,
        link.noise_figure_db,
        link.place,
    )
    there, back = (_direction(link, climate, rungs, end) for end in (0, 1))
    return Budget(link, rungs, (there, back), (*link.assumed, *_notes(link, climate, rungs)))


def _direction(link: RadioLink, climate: Climate, rungs: Ladder, end: int) -> Direction:
    frequency, power = link.frequencies_ghz[end], link.powers_dbm[end]
    loss = free_space.loss_db(frequency, link.length_km)
    air = gases.specific_attenuation_db_km(frequency, climate.air) * link.length_km
    level = power + sum(link.gains_dbi) - loss - air - link.losses_db
    rain = None
    if climate.rain_rate_mm_h is not None:
        rain = rain_path.attenuation_001_db(
            link.length_km, climate.rain_rate_mm_h, frequency, TILT_DEG[link.polarization]
        )
    occurrence = conversion = None
    if climate.gradient_n_km is not None:
        heights = link.heights_m
        occurrence = multipath.occurrence_percent(
            link.length_km, frequency, climate.gradient_n_km, heights, climate.roughness_m
        )
        # Without a latitude the worst month stands for the year.
        conversion = (
            0.0
            if link.latitude_deg is None
            else multipath.conversion_db(link.length_km, link.latitude_deg, heights)
        )
    steps = []
    for step in rungs.steps:
        margin = level - step.backoff_db(power) - step.leaves_dbm
        fades = None
        if occurrence is not None and conversion is not None:
            fades = 100.0 if margin <= 0 else multipath.year_percent(margin, occurrence, conversion)
        rainy = None if rain is None else rain_path.exceeded_percent(margin, rain, frequency)
        steps.append(StepBudget(step, margin, rainy, fades))
    ends = (link.a, link.b) if end == 0 else (link.b, link.a)
    at = rungs.at(level, power)
    return Direction(*ends, frequency, loss, air, level, at, tuple(steps), rain)


def _notes(link: RadioLink, climate: Climate, rungs: Ladder) -> list[str]:
    notes = []
    if rungs.radio == GENERIC:
        notes.append(f"a generic radio: {rungs.source}")
    elif rungs.band_ghz is not None and not 0.9 < link.frequencies_ghz[0] / rungs.band_ghz < 1.1:
        notes.append(
            f"{rungs.radio}: the levels of {rungs.band_ghz:g} GHz, of its bands the nearest"
        )
    if rungs.half_duplex:
        notes.append(f"{rungs.radio}: half of the PHY rate each way, without MAC overhead")
    beyond = (
        link.length_km > rain_path.MOST_LENGTH_KM
        or max(link.frequencies_ghz) > rain_path.MOST_FREQUENCY_GHZ
    )
    if beyond and climate.rain_rate_mm_h is not None:
        notes.append("rain: beyond the 60 km and 100 GHz of ITU-R P.530-17")
    if climate.gradient_n_km is not None and link.latitude_deg is None:
        notes.append("multipath: no latitude, the worst month is taken for the year")
    return notes
