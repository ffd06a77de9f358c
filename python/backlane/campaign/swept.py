"""A sweep that is stated in Python, with its tables in memory or in a folder."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from backlane import campaign, native
from backlane.results import Results
from backlane.scenario import read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backlane.progress import Progress
    from backlane.scenario import Overrides, Scenario


def run(
    scenario: Scenario,
    over: Mapping[str, Any] | None,
    seeds: int | Sequence[int] | None,
    overrides: Overrides,
    out: str | Path | None,
    *,
    workers: int | None,
    allow_python: bool,
    ignore_memory: bool,
    progress: Progress | bool | None,
) -> Results:
    """Carry out a sweep; `backlane.sweep` describes the arguments.

    Raises:
        RunError: when a run failed; finished ones stay in `out`.
        ScenarioError: when the scenario is wrong.
        BacklaneError: as for `campaign.run`.
        KeyboardInterrupt: when it was interrupted; finished runs stay in `out`.
    """
    axes: dict[str, Any] = {f"sweep.{key}": list(values) for key, values in (over or {}).items()}
    if seeds is not None:
        axes["sweep.seeds"] = seeds if isinstance(seeds, int) else list(seeds)
    source = read(scenario, overrides, axes)

    def carried_out(folder: Path) -> Results:
        made = campaign.run(
            source, folder, workers=workers, progress=progress, allow_python=allow_python,
            ignore_memory=ignore_memory,
        )  # fmt: skip
        if made.outcome.interrupted:
            raise KeyboardInterrupt
        failed = made.manifest["failed"]
        if failed:
            raise _run_error(failed, len(made.manifest["seeds"]) * len(made.manifest["cells"]))
        return Results.open(folder)

    if out is not None:
        return carried_out(Path(out))
    with TemporaryDirectory(prefix="backlane-") as name:
        return carried_out(Path(name) / "sweep").in_memory()


def _run_error(failed: Sequence[Mapping[str, Any]], of: int) -> Exception:
    """The first failure, as the error of a single run."""
    first = failed[0]
    where = ", ".join(f"{key} = {value}" for key, value in first["parameters"].items())
    where = f"{where}, seed {first['seed']}" if where else f"seed {first['seed']}"
    more = f" ({len(failed)} of {of} runs failed)" if len(failed) > 1 else ""
    error: Exception = native.module().RunError(f"{where}{more}: {first['message']}")
    error.code = first["code"]  # type: ignore[attr-defined]
    return error
