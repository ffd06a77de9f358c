"""Access to the compiled simulator.

It is loaded on first use, so that ``import backlane`` is quick and a missing module is a
coded error instead of a traceback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from types import ModuleType


def module() -> ModuleType:
    """The module `backlane._native`.

    Raises:
        BacklaneError: R013 when it is missing or not for this interpreter.
    """
    try:
        from backlane import _native
    except ImportError as error:
        raise BacklaneError(
            "R013",
            f"the compiled module cannot be loaded: {error}",
            __file__,
            "install the package again: pip install --force-reinstall backlane",
        ) from error
    return _native
