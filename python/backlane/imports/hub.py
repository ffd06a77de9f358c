"""Topologies of the package topohub by name, such as ``topohub:topozoo/Nsfnet``."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

from backlane.errors import BacklaneError
from backlane.imports.model import shown

PREFIX = "topohub:"


def path_of(path: Path) -> Path:
    """The file of a topology in the package; other paths stay as they are.

    Raises:
        BacklaneError: R049 without the package, R003 when it has no such topology.
    """
    text = str(path)
    if not text.startswith(PREFIX):
        return path
    key = text[len(PREFIX) :]
    try:
        import topohub
    except ImportError as error:
        raise BacklaneError(
            "R049",
            "the package topohub is not installed",
            text,
            "pip install 'backlane[import]', or give a file",
        ) from error
    data = Path(topohub.__file__).parent / "data"
    found = data / f"{key}.json"
    if re.fullmatch(r"[\w-]+(/[\w.-]+){1,2}", key) and ".." not in key and found.is_file():
        return found
    names = [p.relative_to(data).with_suffix("").as_posix() for p in data.glob("*/*.json")]
    near = get_close_matches(key, names, 1, 0.5)
    raise BacklaneError(
        "R003",
        f'topohub has no topology "{shown(key)}"',
        text,
        f'did you mean "{PREFIX}{near[0]}"?' if near else "such as topohub:topozoo/Nsfnet",
    )
