"""Import of networks that other programs describe.

`pipeline.run` reads files into one `model.Network` and writes a scenario. `formats` has the table
of formats and recognises them by content; each has a module of its own, and tables share one
declaration of column names (`columns`). `reading` bounds what is read, `places` checks positions
and measures lengths, `merge` joins directions and parallel links, `pieces` adds links by a rule or
between pieces, `radio` makes link budgets of links that have antennas and powers, `write` is the
only writer. What is understood, left out, added or assumed is a
note, which the command prints and the scenario keeps.
"""

from __future__ import annotations

from backlane.imports.formats import FORMATS
from backlane.imports.model import Network
from backlane.imports.pipeline import Imported, Options, read, run

__all__ = ["FORMATS", "Imported", "Network", "Options", "read", "run"]
