"""The static check of the text of a Python class that a scenario names.

`check` finds what certainly cannot work: text that is no Python, a class that is missing or derives
from something else, hooks that are missing, misspelled or take other arguments. What only execution
can show, such as a base class from another package, passes.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING

from backlane.classes import (
    STANDS_ALONE,
    TAKES_A_SEED,
    Base,
    compiled,
    is_parameter,
    no_parameter,
    refused,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from backlane.classes import Named

_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.Match)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def verify(classes: Sequence[Named], scenario: str | Path) -> None:
    """Check the classes that a scenario names; nothing is executed.

    Args:
        classes: those that the scenario names.
        scenario: the file that names them.

    Raises:
        BacklaneError: R020 for the first that certainly cannot be used.
    """
    for one in classes:
        check(one.base, one.shown_file(scenario), one.name, one.source, one.parameters)


def check(base: Base, file: str, name: str, source: str, parameters: Iterable[str] = ()) -> None:
    """Look for what is wrong with a class.

    Args:
        base: what it derives from.
        file: where it is from, for messages.
        name: the class.
        source: the text of the file.
        parameters: the attributes that the scenario sets.

    Raises:
        BacklaneError: R020 when the class certainly cannot be used.
    """
    compiled(file, source)
    try:
        tree = ast.parse(source, file)
    except (RecursionError, MemoryError):
        # It compiles, but is too deep to be looked at.
        return
    names = _Names(tree, base, file)
    found = names.class_of(name)
    if found is not None:
        _check_class(found, names, parameters)


class _Names:
    """What the names at the top of a module are bound to."""

    def __init__(self, tree: ast.Module, base: Base, file: str) -> None:
        self.base = base
        self.file = file
        self.classes: dict[str, ast.ClassDef] = {}
        self.imported: dict[str, str] = {}
        self.others: set[str] = set()
        self.is_open = False
        for statement in tree.body:
            self._take(statement, sure=True)

    def _take(self, statement: ast.stmt, *, sure: bool) -> None:
        match statement:
            case ast.ClassDef(name=name) if sure and name not in self.classes:
                self.classes[name] = statement
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                if sure:
                    self._require(statement)
                origin = _origin(statement)
                for alias in names:
                    self.is_open |= alias.name == "*"
                    here = alias.asname or alias.name.split(".")[0]
                    whole = alias.asname is not None or isinstance(statement, ast.ImportFrom)
                    self.imported[here] = origin + alias.name if whole else here
            case _:
                # These names may be bound by it.
                self.others |= _bound_in(statement)
                if isinstance(statement, _BLOCKS):
                    for inner in _inside(statement):
                        self._take(inner, sure=False)

    def _require(self, statement: ast.Import | ast.ImportFrom) -> None:
        """Refuse an import at the top of something that is not installed."""
        level = statement.level if isinstance(statement, ast.ImportFrom) else 0
        names = (
            [statement.module or ""]
            if isinstance(statement, ast.ImportFrom)
            else [alias.name for alias in statement.names]
        )
        for name in names:
            top = name.split(".")[0]
            try:
                # Only the first part: to look for another one would import the first.
                there = level == 0 and find_spec(top) is not None
            except (ImportError, ValueError):
                there = True
            if not there:
                what = f"No module named {top!r}" if level == 0 else "a relative import"
                raise refused(
                    f"the file cannot be loaded: {what}",
                    f"{self.file}:{statement.lineno}",
                    STANDS_ALONE,
                )

    def class_of(self, name: str) -> ast.ClassDef | None:
        """The class of that name; None when only execution can tell.

        Raises:
            BacklaneError: R020 when there is none.
        """
        known = name in self.others or name in self.imported or self.is_open
        if name in self.classes:
            return None if known else self.classes[name]
        if known:
            return None
        fitting = [other for other in self.classes if self.lineage(self.classes[other])[1]]
        raise self.base.no_class(name, self.file, fitting)

    def lineage(self, of: ast.ClassDef) -> tuple[list[ast.ClassDef], bool, bool]:
        """The class with its bases in this file, whether it derives from the root, and only so."""
        classes: list[ast.ClassDef] = []
        is_derived, is_all = False, True
        pending = [of]
        while pending:
            node = pending.pop(0)
            if node in classes:
                continue
            classes.append(node)
            is_all &= not node.decorator_list and not node.keywords
            for base in node.bases:
                if self._is_root(base):
                    is_derived = True
                elif self._origin_of(base).startswith("backlane."):
                    # The root of another kind of class; its hooks are other ones.
                    pass
                elif (
                    isinstance(base, ast.Name)
                    and base.id in self.classes
                    and base.id not in self.others
                ):
                    pending.append(self.classes[base.id])
                else:
                    is_all &= isinstance(base, ast.Name) and base.id == "object"
                    self._require_bound(base)
        return classes, is_derived, is_all

    def _is_root(self, base: ast.expr) -> bool:
        homes = ("backlane", self.base.root.__module__)
        return self._origin_of(base) in [f"{home}.{self.base.name}" for home in homes]

    def _origin_of(self, base: ast.expr) -> str:
        """The name of an imported class with its module; empty for others."""
        parts = []
        while isinstance(base, ast.Attribute):
            parts.append(base.attr)
            base = base.value
        if not isinstance(base, ast.Name):
            return ""
        return ".".join([self.imported.get(base.id, ""), *reversed(parts)])

    def _require_bound(self, base: ast.expr) -> None:
        if not isinstance(base, ast.Name) or self.is_open:
            return
        name = base.id
        bound = name in self.others or name in self.imported or name in self.classes
        if not bound and not hasattr(builtins, name):
            raise refused(
                f"name {name!r} is not defined",
                f"{self.file}:{base.lineno}",
                f"from backlane import {name}" if name == self.base.name else None,
            )


def _check_class(found: ast.ClassDef, names: _Names, parameters: Iterable[str]) -> None:
    base, file = names.base, names.file
    classes, is_derived, is_all = names.lineage(found)
    place = f"{file}:{found.lineno}"
    name = found.name
    if not is_derived and is_all:
        raise base.other_class(name, place)
    members: dict[str, ast.stmt | None] = {}
    for one in classes:
        members = _members(one) | members
    for missing in base.required:
        if is_all and missing not in members:
            raise base.no_hook(name, missing, place)
    for written, node in members.items():
        line = place if node is None else f"{file}:{node.lineno}"
        if written.startswith("on_") and written not in base.hooks:
            raise base.not_a_hook(name, written, line)
        if isinstance(node, _Function):
            _check_arguments(name, node, base, line)
        elif written in base.flags and _is_no_bool(node):
            raise refused(f"{name}.{written} is no bool", line, "write True or False")
    known = [
        member
        for member, node in members.items()
        if is_parameter(member) and not isinstance(node, _Function)
    ]
    for parameter in parameters:
        if is_all and parameter not in known:
            raise no_parameter(name, parameter, known, place)


def _check_arguments(name: str, node: _Function, base: Base, place: str) -> None:
    is_constructor = node.name == "__init__"
    if not is_constructor and node.name not in base.hooks:
        return
    meant = ["self", "seed"] if is_constructor else base.parameters_of(node.name)
    try:
        _signature(node.args).bind(*meant)
    except TypeError as error:
        if is_constructor:
            message = f"{name}.__init__ cannot be called: {error}"
            raise refused(message, place, TAKES_A_SEED) from error
        raise base.not_callable(name, node.name, error, place) from error


def _signature(arguments: ast.arguments) -> inspect.Signature:
    """The parameters of a function as `inspect` would give them."""
    kind = inspect.Parameter
    by_place = [*arguments.posonlyargs, *arguments.args]
    required = len(by_place) - len(arguments.defaults)
    found = [
        kind(
            argument.arg,
            kind.POSITIONAL_ONLY if argument in arguments.posonlyargs
            else kind.POSITIONAL_OR_KEYWORD,
            default=kind.empty if index < required else None,
        )
        for index, argument in enumerate(by_place)
    ]  # fmt: skip
    if arguments.vararg is not None:
        found.append(kind(arguments.vararg.arg, kind.VAR_POSITIONAL))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        value = kind.empty if default is None else None
        found.append(kind(argument.arg, kind.KEYWORD_ONLY, default=value))
    if arguments.kwarg is not None:
        found.append(kind(arguments.kwarg.arg, kind.VAR_KEYWORD))
    return inspect.Signature(found)


def _members(found: ast.ClassDef) -> dict[str, ast.stmt | None]:
    """What the names in the body of a class stand for; None where only execution can tell."""
    members: dict[str, ast.stmt | None] = {}
    for statement in found.body:
        if isinstance(statement, _Function):
            members[statement.name] = None if statement.decorator_list else statement
        else:
            members |= dict.fromkeys(
                _bound_in(statement),
                statement if isinstance(statement, ast.Assign | ast.AnnAssign) else None,
            )
    return members


def _is_no_bool(node: ast.stmt | None) -> bool:
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    return isinstance(value, ast.Constant) and not isinstance(value.value, bool)


def _origin(statement: ast.Import | ast.ImportFrom) -> str:
    return f"{statement.module}." if isinstance(statement, ast.ImportFrom) else ""


def _inside(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements in the blocks of a statement."""
    for _, value in ast.iter_fields(statement):
        for one in value if isinstance(value, list) else []:
            if isinstance(one, ast.stmt):
                yield one
            elif isinstance(one, ast.ExceptHandler | ast.match_case):
                yield from one.body


def _bound_in(statement: ast.stmt) -> set[str]:
    """The names that a statement may bind, its blocks included."""
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return set()
    if isinstance(statement, _Function | ast.ClassDef):
        return {statement.name}
    bound = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    blocks = _inside(statement) if isinstance(statement, _BLOCKS) else iter(())
    return bound.union(chain.from_iterable(_bound_in(inner) for inner in blocks))
