"""What no routing could beat: bounds of a scenario, computed without a packet.

`network` reads a resolved scenario, `flows` and `streams` its flows as the run with a seed draws
them, `wifi`, `lte` and `traces` its radios; together they make a `program`: arcs that take of
resources, and demands. `linear` solves it with HiGHS, `columns` approximates what is too large
for that, `paths` turns prices into proofs, and `finish` bounds finish times. The equations are in
``docs/concepts/bound.md``.

Example:
    >>> import backlane
    >>> for bound in backlane.bound.of("grid.toml"):  # doctest: +SKIP
    ...     print(bound.total_mbps, bound.least_mbps)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Bound", "Finish", "Tight", "of", "of_resolved"]

if TYPE_CHECKING:
    from backlane.bound.bounds import Bound, Tight, of, of_resolved
    from backlane.bound.finish import Finish


def __getattr__(name: str) -> Any:
    """Load numpy, SciPy and the solver at the first use."""
    from importlib import import_module

    if name in ("Bound", "Tight", "of", "of_resolved"):
        return getattr(import_module("backlane.bound.bounds"), name)
    if name == "Finish":
        return import_module("backlane.bound.finish").Finish
    raise AttributeError(f"module 'backlane.bound' has no attribute {name!r}")
