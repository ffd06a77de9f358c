"""What the text of a Python file says of a congestion control, told without executing it.

`check` finds what certainly cannot work: text that is no Python, a class that is missing or derives
from something else, hooks that are missing, misspelled or take other arguments. What only execution
can tell, such as a base class from another package, passes.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING

from backlane.congestion import (
    FLAGS,
    HOOKS,
    STANDS_ALONE,
    TAKES_A_SEED,
    CongestionControl,
    compiled,
    nearest_control,
    not_a_hook,
    parameters_of,
    refused,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = CongestionControl.__name__
_HOMES = ("backlane", "backlane.congestion")
"""The modules that have it."""
_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.Match)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def check(file: str, name: str, source: str) -> None:
    """Look for what is wrong with a class.

    Args:
        file: where it is from, for messages.
        name: the class.
        source: the text of the file.

    Raises:
        BacklaneError: R020 when the class certainly cannot be used.
    """
    compiled(file, source)
    try:
        tree = ast.parse(source, file)
    except (RecursionError, MemoryError):
        # It compiles, but is too deep to be looked at.
        return
    names = _Names(tree, file)
    found = names.class_of(name)
    if found is not None:
        _check_class(found, names, file)


class _Names:
    """What the names at the top of a module are bound to."""

    def __init__(self, tree: ast.Module, file: str) -> None:
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
                # Whatever it does, these names may be bound by it.
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
        controls = [other for other in self.classes if self.lineage(self.classes[other])[1]]
        raise refused(f"there is no class {name}", self.file, nearest_control(name, controls))

    def lineage(self, of: ast.ClassDef) -> tuple[list[ast.ClassDef], bool, bool]:
        """The class with its bases in this file, whether it is a control, whether that is all."""
        classes: list[ast.ClassDef] = []
        is_control, is_all = False, True
        pending = [of]
        while pending:
            node = pending.pop(0)
            if node in classes:
                continue
            classes.append(node)
            is_all &= not node.decorator_list and not node.keywords
            for base in node.bases:
                if self._is_root(base):
                    is_control = True
                elif (
                    isinstance(base, ast.Name)
                    and base.id in self.classes
                    and base.id not in self.others
                ):
                    pending.append(self.classes[base.id])
                else:
                    is_all &= isinstance(base, ast.Name) and base.id == "object"
                    self._require_bound(base)
        return classes, is_control, is_all

    def _is_root(self, base: ast.expr) -> bool:
        parts = []
        while isinstance(base, ast.Attribute):
            parts.append(base.attr)
            base = base.value
        if not isinstance(base, ast.Name):
            return False
        first = self.imported.get(base.id, "")
        return ".".join([first, *reversed(parts)]) in [f"{home}.{_ROOT}" for home in _HOMES]

    def _require_bound(self, base: ast.expr) -> None:
        if not isinstance(base, ast.Name) or self.is_open:
            return
        name = base.id
        bound = name in self.others or name in self.imported or name in self.classes
        if not bound and not hasattr(builtins, name):
            raise refused(
                f"name {name!r} is not defined",
                f"{self.file}:{base.lineno}",
                f"from backlane import {_ROOT}" if name == _ROOT else None,
            )


def _check_class(found: ast.ClassDef, names: _Names, file: str) -> None:
    classes, is_control, is_all = names.lineage(found)
    place = f"{file}:{found.lineno}"
    name = found.name
    if not is_control and is_all:
        raise refused(
            f"{name} is no congestion control", place,
            f"derive it: class {name}({_ROOT}), imported from backlane",
        )  # fmt: skip
    members: dict[str, ast.stmt | None] = {}
    for one in classes:
        members = _members(one) | members
    for missing in sorted(CongestionControl.__abstractmethods__):
        if is_all and missing not in members:
            meant = parameters_of(missing)
            raise refused(f"{name} has no {missing}", place, f"write def {missing}{meant}")
    for written, node in members.items():
        line = place if node is None else f"{file}:{node.lineno}"
        if written.startswith("on_") and written not in HOOKS:
            raise not_a_hook(name, written, line)
        if isinstance(node, _Function):
            _check_arguments(name, node, line)
        elif written in FLAGS and _is_no_bool(node):
            raise refused(f"{name}.{written} is no bool", line, "write True or False")


def _check_arguments(name: str, node: _Function, place: str) -> None:
    if node.name == "__init__":
        meant, mend = ["self", "seed"], TAKES_A_SEED
    elif node.name in HOOKS:
        meant = list(inspect.signature(getattr(CongestionControl, node.name)).parameters)
        mend = f"write def {node.name}{parameters_of(node.name)}"
    else:
        return
    try:
        _signature(node.args).bind(*meant)
    except TypeError as error:
        raise refused(f"{name}.{node.name} cannot be called: {error}", place, mend) from error


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
