"""A study folder: experiments, figures, assumptions and claims as files.

``study.toml`` lists the experiments, the figures drawn from them, and the assumptions where the
paper leaves something open. An experiment is a scenario file with the keys that the
experiment ``set``s and ``sweep``s, so that experiments on one network share its file.
``claims.toml`` lists the paper's claims and the rule that tests each. Everything is checked before
the first run.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError, read_error
from backlane.studies import metrics
from backlane.text import slug

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_WORDS: dict[type, str] = {
    str: "text", int: "whole number", list: "list", dict: "table", object: "value",
}  # fmt: skip

Settings = list[tuple[str, str]]
"""Keys of a scenario with their values, as ``--set KEY=VALUE`` takes them."""


@dataclass(frozen=True)
class Experiment:
    """One campaign of a study.

    Attributes:
        name: in claims and figures.
        file: the scenario.
        settings: (key, value) pairs that the experiment sets and sweeps in it.
        quick: (key, value) pairs that make it small for ``--quick``.
        most_seeds: the limit of the sequential rule.
        shows: its purpose, one sentence.
    """

    name: str
    file: Path
    settings: Settings
    quick: Settings
    most_seeds: int
    shows: str


@dataclass(frozen=True)
class FigureSpec:
    """One figure of a study.

    Attributes:
        id: such as "fig2"; what `backlane reproduce STUDY/fig2` names.
        title: what it shows.
        kind: its form, one of `backlane.studies.figures.FORMS`.
        experiment: where its numbers come from.
        options: what the form needs: metrics, axes, a selection of cells.
    """

    id: str
    title: str
    kind: str
    experiment: str
    options: dict[str, Any]


@dataclass(frozen=True)
class Assumption:
    """An assumption where the paper leaves something open.

    Attributes:
        parameter: its name.
        value: the assumption.
        reason: why.
        matters: its effect in sensitivity runs, one sentence; "not varied" without such runs.
    """

    parameter: str
    value: str
    reason: str
    matters: str


@dataclass(frozen=True)
class Alternative:
    """Another assumption, under which claims are tested again.

    Attributes:
        name: such as "cells of 75 Mbit/s".
        experiments: those that are repeated; claims on these alone are tested.
        overrides: (key, value) pairs that differ.
    """

    name: str
    experiments: list[str]
    overrides: Settings


@dataclass(frozen=True)
class SensitivityTable:
    """A table of one number over assumptions: one row per combination.

    Attributes:
        title: what it shows.
        experiment: the source of its numbers.
        metric: the number in the cells.
        by: the swept key of the columns, compared with each other.
        columns: its values, in the order that the paper states.
        where: fixed values of other swept keys.
        reading: a sentence on the page.
    """

    title: str
    experiment: str
    metric: str
    by: str
    columns: list[str]
    where: dict[str, Any]
    reading: str


@dataclass(frozen=True)
class Study:
    """A study folder, read and checked.

    Attributes:
        name: the folder below ``studies``, as "tcp_over_lte/paper"; elsewhere its last part.
        alias: a short name for the command line; empty when it has none.
        folder: its path.
        title: in one line.
        about: what it is about.
        experiments: by name.
        figures: what is drawn.
        assumptions: where the paper leaves something open.
        claims: the file of claims.
        causes: reasons of differences by claim id, if the claims are those of another study; None
            if they are the study's own.
        sensitivity: tables of a number over assumptions.
        alternatives: other assumptions.
    """

    name: str
    alias: str
    folder: Path
    title: str
    about: str
    experiments: dict[str, Experiment]
    figures: list[FigureSpec]
    assumptions: list[Assumption]
    claims: Path
    causes: dict[str, str] | None
    sensitivity: list[SensitivityTable] = field(default_factory=list)
    alternatives: list[Alternative] = field(default_factory=list)


def name_of(folder: Path) -> str:
    """The name of a study: its folder below ``studies``; elsewhere the last part alone."""
    parts = folder.resolve().parts
    above = [index for index, part in enumerate(parts[:-1]) if part == "studies"]
    return "/".join(parts[above[-1] + 1 :] if above else parts[-1:])


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        BacklaneError: R003 when it cannot be read, R022 when it is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise read_error(error, path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BacklaneError("R022", f"cannot be read: {error}", path, "fix the file") from error


def take(table: Mapping[str, Any], key: str, kind: type, place: str, default: Any = None) -> Any:
    """A value of a known type.

    Raises:
        BacklaneError: R022 when it is missing and has no default, or is of another type.
    """
    value = table.get(key, default)
    if value is None:
        raise BacklaneError("R022", f"`{key}` is missing", place, f"write {key} = …")
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BacklaneError("R022", f"`{key}` is not a {_WORDS[kind]}", place, "fix the value")
    return value


def take_name(table: Mapping[str, Any], key: str, place: str) -> str:
    """A name that is used for files.

    Raises:
        BacklaneError: R022 when it is missing, or cannot be the name of a file.
    """
    name: str = take(table, key, str, place)
    if name != slug(name):
        raise BacklaneError(
            "R022", f"`{key}` cannot be the name of a file", place, f'write {key} = "{slug(name)}"'
        )
    return name


def refuse_unknown(table: Mapping[str, Any], known: set[str], place: str) -> None:
    """Raise R022 for a key that is not known, and name the nearest."""
    from difflib import get_close_matches

    for key in table:
        if key not in known:
            near = get_close_matches(key, known, 1, 0.5)
            fix = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(sorted(known))}"
            raise BacklaneError("R022", f"`{key}` is not known", place, fix)


def load(folder: Path) -> Study:
    """Read ``study.toml``.

    Raises:
        BacklaneError: R003 or R022.
    """
    path = folder / "study.toml"
    value = read_toml(path)
    refuse_unknown(
        value,
        {
            "title",
            "alias",
            "about",
            "experiment",
            "figure",
            "assumption",
            "sensitivity",
            "alternative",
            "claims",
        },
        str(path),
    )
    experiments = {}
    for table in take(value, "experiment", list, str(path), []):
        found = _experiment(table, folder)
        experiments[found.name] = found
    claims = folder / "claims.toml"
    causes = None
    if "claims" in value:
        place = f"{path}: claims"
        table = take(value, "claims", dict, str(path))
        refuse_unknown(table, {"of", "causes"}, place)
        claims = folder.parent / take(table, "of", str, place) / "claims.toml"
        causes = {
            name: take(table["causes"], name, str, place)
            for name in take(table, "causes", dict, place, {})
        }
    study = Study(
        name=name_of(folder),
        alias=take(value, "alias", str, str(path), ""),
        folder=folder,
        title=take(value, "title", str, str(path)),
        about=take(value, "about", str, str(path)),
        experiments=experiments,
        figures=[_figure(table, path) for table in value.get("figure", [])],
        assumptions=[
            Assumption(
                **{key: take(table, key, str, f"{path}: assumption")
                   for key in ("parameter", "value", "reason", "matters")}
            )
            for table in value.get("assumption", [])
        ],
        claims=claims,
        causes=causes,
        sensitivity=[_sensitivity(table, path) for table in value.get("sensitivity", [])],
        alternatives=[_alternative(table, path) for table in value.get("alternative", [])],
    )  # fmt: skip
    for place, experiment in [
        *((f"figure {figure.id}", figure.experiment) for figure in study.figures),
        *((f"sensitivity {table.title}", table.experiment) for table in study.sensitivity),
        *((f"alternative {a.name}", name) for a in study.alternatives for name in a.experiments),
    ]:
        require_experiment(study, experiment, f"{path}: {place}")
    return study


def require_experiment(study: Study, name: str, place: str) -> Experiment:
    """The experiment of that name.

    Raises:
        BacklaneError: R022 when the study has none.
    """
    if name not in study.experiments:
        raise BacklaneError(
            "R022", f'there is no experiment "{name}"', place,
            f"known: {', '.join(study.experiments)}",
        )  # fmt: skip
    return study.experiments[name]


def _experiment(table: Mapping[str, Any], folder: Path) -> Experiment:
    name = take_name(table, "name", f"{folder / 'study.toml'}: experiment")
    place = f"{folder / 'study.toml'}: experiment {name}"
    known = {"name", "file", "set", "sweep", "quick", "most_seeds", "shows"}
    refuse_unknown(table, known, place)
    sweep = take(table, "sweep", dict, place, {})
    swept = {f"sweep.{key}": values for key, values in sweep.items()}
    return Experiment(
        name=name,
        file=folder / take(table, "file", str, place, f"{name}.toml"),
        settings=_settings(take(table, "set", dict, place, {}) | swept),
        quick=_settings(take(table, "quick", dict, place, {})),
        most_seeds=take(table, "most_seeds", int, place, 30),
        shows=take(table, "shows", str, place),
    )


def _figure(table: Mapping[str, Any], path: Path) -> FigureSpec:
    place = f"{path}: figure {table.get('id', '')}"
    options = {
        key: value
        for key, value in table.items()
        if key not in {"id", "title", "kind", "experiment"}
    }
    refuse_unknown(
        options,
        {
            "metric", "x", "by", "where", "flow", "labels", "only", "boundary", "over", "of",
            "span", "times", "published",
        },
        place,
    )  # fmt: skip
    return FigureSpec(
        id=take_name(table, "id", place),
        title=take(table, "title", str, place),
        kind=take(table, "kind", str, place),
        experiment=take(table, "experiment", str, place),
        options=options,
    )


def _sensitivity(table: Mapping[str, Any], path: Path) -> SensitivityTable:
    place = f"{path}: sensitivity {table.get('title', '')}"
    refuse_unknown(
        table, {"title", "experiment", "metric", "by", "columns", "where", "reading"}, place
    )
    metric = take(table, "metric", str, place)
    metrics.require(metric, place)
    return SensitivityTable(
        title=take(table, "title", str, place),
        experiment=take(table, "experiment", str, place),
        metric=metric,
        by=take(table, "by", str, place),
        columns=[str(name) for name in take(table, "columns", list, place)],
        where=take(table, "where", dict, place, {}),
        reading=take(table, "reading", str, place, ""),
    )


def _alternative(table: Mapping[str, Any], path: Path) -> Alternative:
    place = f"{path}: alternative {table.get('name', '')}"
    refuse_unknown(table, {"name", "experiments", "set"}, place)
    return Alternative(
        name=take(table, "name", str, place),
        experiments=[str(name) for name in take(table, "experiments", list, place)],
        overrides=_settings(take(table, "set", dict, place)),
    )


def _settings(table: Mapping[str, Any]) -> Settings:
    """Keys with their values as ``--set`` takes them: TOML, texts without their quotes."""
    return [
        (key, value if isinstance(value, str) else _inline(value)) for key, value in table.items()
    ]


def _inline(value: Any) -> str:
    """A value as TOML on one line."""
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {_inline(one)}" for key, one in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    return json.dumps(value, ensure_ascii=False)
