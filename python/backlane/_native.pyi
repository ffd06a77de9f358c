"""Types of the compiled simulator (crates/python)."""

from collections.abc import Callable, Sequence
from typing import Any

class ScenarioError(Exception):
    """A scenario that cannot be run as written."""

    diagnostics: list[dict[str, Any]]
    rendered: str

class RunError(Exception):
    """A run that could not be carried out."""

    code: str

class RunResult:
    """What one run measured, as plain columns."""

    summary: dict[str, Any]
    flows: dict[str, list[Any]]
    links: dict[str, list[Any]]
    nodes: dict[str, list[Any]]
    series: dict[str, dict[str, list[Any]]]

def model_version() -> str: ...
def commit() -> str: ...
def check(
    text: str, path: str, overrides: Sequence[tuple[str, str]] = ...
) -> list[dict[str, Any]]: ...
def plan(
    text: str,
    path: str,
    overrides: Sequence[tuple[str, str]] = ...,
    seed: int | None = None,
) -> str: ...
def run(
    resolved: str,
    seed: int,
    progress: Callable[[float, float, int], None] | None = None,
) -> RunResult: ...
def schema() -> str: ...
def explain(code: str) -> str | None: ...
def codes() -> list[str]: ...
def template(name: str) -> str: ...
def template_names() -> list[str]: ...
