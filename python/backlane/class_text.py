"""The text of a class that is passed as an object, in place of the name of its file.

The text of a class is part of its run: run ids cover it, and a resolved scenario needs no file. So
a class becomes a text that stands alone: its own source with that of the classes, functions and
constants of the same program that it uses, and imports of what is installed. It is executed again
in each run, as a file is.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import symtable
import sys
import textwrap
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from backlane import congestion, routing
from backlane.classes import Base, refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backlane.errors import BacklaneError

_LITERALS = (bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, type(None))


@dataclass(frozen=True)
class ClassText:
    """A class as a text.

    Attributes:
        base: what it derives from.
        name: of the class.
        file: the name of the text, such as ``<Aimd>``.
        source: the text.
    """

    base: Base
    name: str
    file: str
    source: str

    def row(self) -> dict[str, str]:
        """The entry of the scenario under ``[[python]]``."""
        return {"file": self.file, "source": self.source}

    def numbered(self, number: int) -> ClassText:
        """The same under another name, for classes of the same name."""
        return replace(self, file=f"<{self.name} {number}>")

    def value_at(self, key: str) -> str | dict[str, str]:
        """What a scenario says in place of the class.

        Args:
            key: where it stands, such as ``routing.router``.

        Raises:
            BacklaneError: R020 for a router that stands elsewhere.
        """
        named = f"{self.file}:{self.name}"
        if self.base is congestion.BASE:
            return f"python:{named}"
        section, _, last = key.rpartition(".")
        if last == "router":
            return named
        if last != "routing":
            raise refused(
                f"{self.name} is a router and cannot stand under `{key}`", self.file,
                "give it as the value of `routing` or `routing.router`",
            )  # fmt: skip
        table = {"protocol": "python", "router": named}
        return {"label": self.name, **table} if section == "sweep" else table


def of(found: type) -> ClassText:
    """The text of a class.

    Raises:
        BacklaneError: R020 when it derives from something else, has no source, or uses what a text
            cannot hold.
    """
    for base in (congestion.BASE, routing.BASE):
        if issubclass(found, base.root) and found is not base.root:
            collected = _Collected(found.__name__)
            collected.add(found.__name__, found)
            return ClassText(base, found.__name__, f"<{found.__name__}>", collected.text())
    raise refused(
        f"{found.__name__} is neither a congestion control nor a router", f"<{found.__name__}>",
        "derive it from backlane.CongestionControl or backlane.Router",
    )  # fmt: skip


class _Collected:
    """A class with what it uses, in the order in which a module defines it."""

    def __init__(self, of: str) -> None:
        self._of = of
        self._known: dict[str, Any] = {}
        self._imports: list[str] = []
        self._parts: list[str] = []

    def text(self) -> str:
        # Annotations name types that only editors need.
        head = ["from __future__ import annotations", "", *sorted(self._imports)]
        return "\n".join(head) + "\n\n\n" + "\n\n".join(self._parts)

    def add(self, name: str, value: Any) -> None:
        """Define a name.

        Raises:
            BacklaneError: R020.
        """
        if name in self._known:
            if self._known[name] is not value:
                raise self._refused(
                    f"two things are called {name}", "give one of them another name"
                )
            return
        self._known[name] = value
        line = _import_of(name, value)
        if line is not None:
            self._imports.append(line)
        elif isinstance(value, type) and not _functions(value):
            self._add_plain_class(name, value)
        elif isinstance(value, type | FunctionType):
            self._add_source(name, value)
        elif _is_literal(value):
            self._parts.append(f"{name} = {value!r}\n")
        elif isinstance(value, ModuleType):
            raise self._refused(
                f"the module {name} is not installed", "import the names that are used, one by one"
            )
        else:
            raise self._refused(
                f"{name} is a {type(value).__name__}, which has no text",
                "make it in a method, or use numbers, texts, lists and dicts",
            )

    def _add_plain_class(self, name: str, value: type) -> None:
        """A class without methods: its attributes are its text."""
        bases = [base for base in value.__bases__ if base is not object]
        for base in bases:
            self.add(base.__name__, base)
        lines = []
        for key, item in vars(value).items():
            if key.startswith("__") or key == "_abc_impl":
                continue
            if not _is_literal(item):
                raise self._refused(
                    f"{name}.{key} has no text", "use numbers, texts, lists and dicts"
                )
            lines.append(f"    {key} = {item!r}\n")
        header = f"class {name}({', '.join(base.__name__ for base in bases)}):\n"
        self._parts.append(header + ("".join(lines) or "    pass\n"))

    def _add_source(self, name: str, value: type | FunctionType) -> None:
        functions = _functions(value) if isinstance(value, type) else [value]
        for function in functions:
            free = [one for one in function.__code__.co_freevars if one != "__class__"]
            if free:
                raise self._refused(
                    f"{function.__qualname__} uses {free[0]} of the function around it",
                    "make it an attribute of the class",
                )
        source = _source(value.__name__, functions[0])
        if source is None:
            raise self._refused(
                f"the source of {name} is not found", "write the class to a file and name it"
            )
        if name != value.__name__:
            source += f"\n\n{name} = {value.__name__}\n"
        for used in _globals_in(source):
            if used in functions[0].__globals__ and used != value.__name__:
                self.add(used, functions[0].__globals__[used])
        self._parts.append(source)

    def _refused(self, message: str, mend: str) -> BacklaneError:
        return refused(f"{self._of} cannot be passed as a class: {message}", f"<{self._of}>", mend)


def _functions(found: type) -> list[FunctionType]:
    """The functions that a class itself defines."""
    inner = (getattr(value, "__func__", value) for value in vars(found).values())
    inner = (value.fget if isinstance(value, property) else value for value in inner)
    plain = (inspect.unwrap(value) for value in inner if isinstance(value, FunctionType))
    return [one for one in plain if one.__qualname__.startswith(f"{found.__qualname__}.")]


def _source(name: str, function: FunctionType) -> str | None:
    """The source of the class or function `name` that `function` is part of."""
    file, line = function.__code__.co_filename, function.__code__.co_firstlineno
    lines = linecache.getlines(file, function.__globals__)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name != name:
            continue
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        last = node.end_lineno or first
        if first <= line <= last:
            return textwrap.dedent("".join(lines[first - 1 : last])).rstrip() + "\n"
    return None


class _Unannotated(ast.NodeTransformer):
    """Removes annotations, which are not evaluated."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(value=None)
        return self.generic_visit(node)


def _globals_in(source: str) -> list[str]:
    """The names that a text takes from its module, without those of Python."""
    plain = ast.unparse(ast.fix_missing_locations(_Unannotated().visit(ast.parse(source))))
    top = symtable.symtable(plain, "<class>", "exec")
    found = {
        symbol.get_name()
        for scope in _scopes(top)
        for symbol in scope.get_symbols()
        if symbol.is_referenced()
        and (not symbol.is_assigned() if scope is top else symbol.is_global())
    }
    return sorted(name for name in found if not hasattr(builtins, name))


def _scopes(scope: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield scope
    for inner in scope.get_children():
        yield from _scopes(inner)


def _import_of(name: str, value: Any) -> str | None:
    """The statement that imports a value from an installed package; None where there is none."""
    alias = f" as {name}"
    if isinstance(value, ModuleType):
        whole = value.__name__
        return f"import {whole}" + alias * (whole != name) if _is_installed(whole) else None
    module = getattr(value, "__module__", None)
    own = getattr(value, "__qualname__", name)
    # Types of the compiled module are exported by the package.
    for home in ("backlane", module):
        if isinstance(home, str) and isinstance(own, str) and _is_installed(home):
            loaded = sys.modules.get(home)
            try:
                there = getattr(loaded, own, None) is value
            except Exception:
                there = False
            if there:
                return f"from {home} import {own}" + alias * (own != name)
    return None


def _is_installed(module: str) -> bool:
    """Whether a module is part of Python, of this package, or of an installed one."""
    top = module.split(".")[0]
    if top == "__main__":
        return False
    if top == "backlane" or top in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(top), "__file__", None)
    if file and {"site-packages", "dist-packages"} & set(Path(file).parts):
        return True
    return top in _packages()


@cache
def _packages() -> frozenset[str]:
    """The packages at the top of all installed distributions."""
    from importlib.metadata import packages_distributions

    return frozenset(packages_distributions())


def _is_literal(value: Any) -> bool:
    """Whether the text of a value gives the value back."""
    if type(value) not in _LITERALS:
        return False
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
