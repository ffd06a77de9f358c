"""The link budget of a point-to-point radio link, without a packet.

`budget` puts the models together for one link: `free_space` (ITU-R P.525), `antenna`, `gases`
(P.676-12), `rain` (P.838-3), `rain_path` and `multipath` (P.530-17), `receiver` (noise and
threshold), and `radios` (ladders of modulations of published radios, in `data/`). `series` gives
the rate over time from levels or rain rates, `rain_cell` a synthetic cell of rain that moves over
the map. The models are functions of numbers and arrays of numpy; they read no file but the tables
in `data/`. `imports.radio` takes links from tables of sites and links.
"""

from __future__ import annotations

from backlane.link_budget.budget import Budget, Climate, Direction, RadioLink, compute
from backlane.link_budget.radios import Ladder, Step, ladder, names
from backlane.link_budget.rain_cell import RainCell
from backlane.link_budget.series import rate_from_levels, rate_from_rain

__all__ = [
    "Budget",
    "Climate",
    "Direction",
    "Ladder",
    "RadioLink",
    "RainCell",
    "Step",
    "compute",
    "ladder",
    "names",
    "rate_from_levels",
    "rate_from_rain",
]
