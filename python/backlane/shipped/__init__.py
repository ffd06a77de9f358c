"""The studies and examples that come with the package.

In the source tree `studies` and `examples` beside this file are links to the folders of the
repository; a wheel has the files themselves, those of `PATTERNS`. Their names are those of the
documentation, as ``examples/storm/scenario.toml``.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent

PATTERNS = (
    "studies/*/*.toml",
    "studies/*/*/*.toml",
    "studies/*/traces/*.csv",
    "examples/*.toml",
    "examples/custom_metric/*",
    "examples/demo/*",
    "examples/gym/*.json",
    "examples/gym/*.py",
    "examples/multipath_mesh/*",
    "examples/notebooks/*",
    "examples/python_router/*",
    "examples/real_backhaul/*",
    "examples/storm/*",
    "examples/storm/storm.capacities/*",
    "examples/trace_access/*",
    "examples/wifi_mesh/*",
)
"""The files, also named in ``pyproject.toml``: no results of studies, and no programs in Rust,
which need the crates of the repository."""


def folder(kind: str) -> Path:
    """The folder ``studies`` or ``examples``, without links in its path.

    Args:
        kind: one of the two names.
    """
    path = _HERE / kind
    # A checkout without symbolic links has small files in their place.
    return path.resolve() if path.is_dir() else _HERE.parents[2] / kind


def files() -> dict[str, Path]:
    """The path of each file by its name, in the order of the names."""
    found = {}
    for pattern in PATTERNS:
        kind, _, rest = pattern.partition("/")
        for path in folder(kind).glob(rest):
            if path.is_file():
                found[f"{kind}/{path.relative_to(folder(kind)).as_posix()}"] = path
    return dict(sorted(found.items()))


def select(name: str) -> dict[str, Path]:
    """The files below a name, or the one of that name; empty if there is none.

    Args:
        name: as ``examples/chain.toml``, ``examples/storm`` or ``studies``.
    """
    name = name.rstrip("/")
    return {
        known: path
        for known, path in files().items()
        if known == name or known.startswith(f"{name}/")
    }


def names() -> list[str]:
    """What a user may copy as a unit: files, and folders with a slash at the end."""
    units = []
    for known in files():
        kind, first, *below = known.split("/")
        units.append(f"{kind}/{first}/" if below else f"{kind}/{first}")
    return list(dict.fromkeys(units))


def unit_of(name: str) -> str | None:
    """What `names` has for a file; None if the package does not have it."""
    unit = "/".join(name.split("/")[:2])
    return unit if name in select(unit) else None


def holds(path: Path) -> bool:
    """Whether a path is inside an installed package, where nothing is written."""
    return path.resolve().is_relative_to(_HERE)
