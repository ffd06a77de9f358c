"""Python classes that a scenario names: their files, and the permission to execute them.

A scenario names a class and its file; the text of the file is part of the resolved scenario.
Before runs are carried out, `admit` decides whether the text may be executed, and `rehearse`
executes it once, so that errors in it are found before the first run. `prepare` returns a function
that makes an object and its hooks; `crates/python` calls it for every run, and calls the hooks.
`interrupt` ends a hook that does not end by itself. `backlane.outline` checks the text of a file
without executing it.

What a class derives from is a `Base`: `backlane.congestion.BASE`, `backlane.routing.BASE`.
"""

from __future__ import annotations

import inspect
import itertools
import linecache
import re
import sys
import traceback
import warnings
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.text import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from types import CodeType

STANDS_ALONE = "the file stands alone: it may import installed packages, but no file beside it"
TAKES_A_SEED = "its __init__ takes a seed, an int, and passes it to super().__init__(seed)"

_MODULE_PREFIX = "_backlane_class_"
_numbers = itertools.count(1)


class Interrupted(KeyboardInterrupt):
    """Raised by `interrupt` inside a hook."""


@dataclass(frozen=True)
class Base:
    """What classes of one kind derive from."""

    root: type
    noun: str
    flags: tuple[str, ...] = ()
    """Class attributes that are True or False."""

    @property
    def name(self) -> str:
        """The name of the root, which `backlane` exports."""
        return self.root.__name__

    @property
    def hooks(self) -> tuple[str, ...]:
        """Every hook."""
        return tuple(
            name
            for name, value in vars(self.root).items()
            if inspect.isfunction(value) and not name.startswith("_")
        )

    @property
    def required(self) -> list[str]:
        """The hooks that a class must define."""
        return sorted(getattr(self.root, "__abstractmethods__", ()))

    def parameters_of(self, hook: str) -> list[str]:
        """The names of the parameters of a hook."""
        return list(inspect.signature(getattr(self.root, hook)).parameters)

    def written(self, hook: str) -> str:
        """How the definition of a hook begins, without types."""
        return f"write def {hook}({', '.join(self.parameters_of(hook))})"

    def nearest(self, name: str, known: Sequence[str]) -> str:
        """The fix for a class that does not exist."""
        near = get_close_matches(name, known, 1, 0.5) or known
        return f"did you mean {near[0]}?" if near else f"write class {name}({self.name})"

    def no_class(self, name: str, place: str, known: Sequence[str]) -> BacklaneError:
        """R020 for a class that does not exist."""
        return refused(f"there is no class {name}", place, self.nearest(name, known))

    def other_class(self, name: str, place: str) -> BacklaneError:
        """R020 for a class that derives from something else."""
        return refused(
            f"{name} is no {self.noun}", place,
            f"derive it: class {name}({self.name}), imported from backlane",
        )  # fmt: skip

    def no_hook(self, name: str, hook: str, place: str) -> BacklaneError:
        """R020 for a hook that must be defined."""
        return refused(f"{name} has no {hook}", place, self.written(hook))

    def not_a_hook(self, name: str, written: str, place: str) -> BacklaneError:
        """R020 for a method that would never be called."""
        near = get_close_matches(written, self.hooks, 1, 0.6)
        return refused(
            f"{name}.{written} is not a hook", place,
            f"did you mean {near[0]}?" if near else f"call it _{written}; the hooks are "
            + ", ".join(self.hooks),
        )  # fmt: skip

    def not_callable(self, name: str, hook: str, error: Exception, place: str) -> BacklaneError:
        """R020 for a hook with other parameters."""
        return refused(f"{name}.{hook} cannot be called: {error}", place, self.written(hook))


@dataclass(frozen=True)
class Named:
    """A class that a scenario names."""

    base: Base
    file: str
    name: str
    source: str
    path: str | None
    """The file that the text was read from; None if the scenario itself contains it."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The values that the scenario gives to attributes of the class."""

    @classmethod
    def of(
        cls, base: Base, python: Mapping[str, Any], parameters: Mapping[str, Any] | None = None
    ) -> Named:
        """Read an entry of a plan."""
        return cls(
            base, python["file"], python["class"], python["source"], python["path"],
            parameters or {},
        )  # fmt: skip

    def shown_file(self, scenario: str | Path) -> str:
        """The file in messages: its path where it exists."""
        beside = Path(scenario).parent / self.file
        return str(beside) if beside.is_file() else self.file


def prepare(
    base: Base, file: str, name: str, source: str, parameters: Mapping[str, Any] | None = None
) -> Callable[[int], dict[str, Any]]:
    """Load a class.

    Args:
        base: what it derives from.
        file: where it is from, for messages.
        name: the class.
        source: the text of the file, which is executed.
        parameters: values for attributes of the class.

    Returns:
        A function that makes an object for a seed and gives the hooks that its class defines,
        bound to it, and its flags.

    Raises:
        BacklaneError: R020 when the file or the class cannot be used.
    """
    module = _execute(file, source)
    try:
        found = _class_in(module, base, file, name)
        _check(found, base, file)
        _set_parameters(found, base, parameters or {}, file)
        hooks = [
            hook for hook in base.hooks if getattr(found, hook) is not getattr(base.root, hook)
        ]
        flags = {flag: getattr(found, flag) for flag in base.flags}
    except (BacklaneError, KeyboardInterrupt):
        raise
    except BaseException as error:
        # Metaclasses and descriptors execute when they are looked at.
        raise refused(
            f"{name} cannot be looked at: {_shown(error)}", place_of(file, error)
        ) from error

    def make(seed: int) -> dict[str, Any]:
        made = found(seed)
        return flags | {hook: getattr(made, hook) for hook in hooks}

    return make


def variant(base: Base, found: type, parameters: Mapping[str, Any]) -> type:
    """A class with other values of its parameters, as `with_parameters` returns it.

    The values are part of its name, so that results tell the variants apart.

    Raises:
        BacklaneError: R020 for a parameter that the class does not have, or a value of another
            type.
    """
    named = "".join(f"_{key}_{value}" for key, value in parameters.items())
    name = found.__name__ + re.sub(r"\W", "_", named.replace("-", "minus_"))
    made = type(
        found.__name__, (found,), {"__module__": found.__module__, "__doc__": found.__doc__}
    )
    _set_parameters(made, base, parameters, f"<{found.__name__}>")
    made.__name__ = made.__qualname__ = name
    return made


def admit(
    classes: Sequence[Named],
    scenario: str | Path,
    allow: bool = False,
    own: Collection[str] = (),
) -> list[str]:
    """Decide whether the Python of a scenario may be executed.

    A file in the folder of the scenario, or below, is trusted. Text in the scenario itself and a
    file elsewhere may come from another person.

    Args:
        classes: those that the scenario names.
        scenario: the file that names them.
        allow: execute it wherever it is from.
        own: texts of classes that the caller passed as objects.

    Returns:
        A line for each file that will be executed, to be shown before.

    Raises:
        BacklaneError: R025 when one may not be executed without `allow`.
    """
    names: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for one in classes:
        file = one.file
        if one.source in own:
            continue
        if one.path is None:
            why, words[file] = "stands in the scenario itself", f"{file}, as {scenario} brings it,"
        else:
            inside = Path(one.path).resolve().is_relative_to(Path(scenario).parent.resolve())
            why = "" if inside else "lies outside of the folder of the scenario"
            words[file] = one.path
        if why and not allow:
            raise BacklaneError(
                "R025",
                f"the Python of {file} {why}, and is not executed without your consent",
                scenario if one.path is None else one.path,
                "read it; to execute it give --allow-python (in Python, allow_python=True)",
            )
        known = names.setdefault(file, [])
        if one.name not in known:
            known.append(one.name)
    return [
        f"executing the Python of {words[file]} "
        f"({'class' if len(found) == 1 else 'classes'} {', '.join(found)})"
        for file, found in names.items()
    ]


def authorize(
    classes: Sequence[Named],
    scenario: str | Path,
    allow: bool = False,
    say: Callable[[str], None] | None = None,
    own: Collection[str] = (),
) -> None:
    """Do what comes before the first run: `admit`, say what will be executed, `rehearse`.

    Args:
        classes: those that the scenario names.
        scenario: the file that names them.
        allow: execute Python wherever it is from.
        say: shows a line for each file that is about to be executed.
        own: as for `admit`.

    Raises:
        BacklaneError: R025 when one may not be executed, R020 when one cannot be used.
    """
    for line in admit(classes, scenario, allow, own):
        if say is not None:
            say(line)
    rehearse(classes, scenario)


def rehearse(classes: Sequence[Named], scenario: str | Path) -> None:
    """Execute the Python of a scenario, and make an object of each class.

    Args:
        classes: those that the scenario names, admitted.
        scenario: the file that names them.

    Raises:
        BacklaneError: R020 for the first that cannot be used.
    """
    for one in classes:
        file = one.shown_file(scenario)
        make = prepare(one.base, file, one.name, one.source, one.parameters)
        try:
            make(0)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise refused(
                f"{one.name}(seed) raises {_shown(error)}", place_of(file, error), TAKES_A_SEED
            ) from error


def interrupt(thread_id: int) -> bool:
    """Raise `Interrupted` in a thread, if it is executing the Python of a scenario.

    The hook ends unless it catches `BaseException`, as soon as it executes Python again: not
    while it waits in a system call. Its run ends with `Interrupted`. A thread that executes
    anything else is not changed.

    Args:
        thread_id: `threading.Thread.ident`.

    Returns:
        Whether the thread was there.
    """
    import ctypes

    frame = sys._current_frames().get(thread_id)
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith(_MODULE_PREFIX):
            set_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
            set_exception(ctypes.c_ulong(thread_id), ctypes.py_object(Interrupted))
            return True
        frame = frame.f_back
    return False


def described(file: str, error: BaseException) -> tuple[str, str]:
    """An error of a hook: its traceback, cut if it is long, and its place.

    `crates/python` calls it.

    Args:
        file: of the class, as the scenario names it.
        error: what the hook raised, or what was wrong with its answer.
    """
    text = "".join(traceback.format_exception(error))
    return brief(text.rstrip()), place_of(file, error)


def compiled(file: str, source: str) -> CodeType:
    """The code of a text.

    Raises:
        BacklaneError: R020 when it is no Python.
    """
    try:
        # Python's warnings would come unasked, and twice.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(source, file, "exec")
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        place = file if line is None else f"{file}:{line}"
        raise refused(f"this is not Python: {_shown(error)}", place) from error
    except (RecursionError, MemoryError, OverflowError) as error:
        raise refused(
            f"an expression is nested too deeply: {_shown(error)}", file, "write it in steps"
        ) from error


def _execute(file: str, source: str) -> ModuleType:
    """The module of a text. It is new each time, so that runs share nothing."""
    # Tracebacks show lines by this table; without a time, an entry is not looked up on disk.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = ModuleType(f"{_MODULE_PREFIX}{next(_numbers)}")
    module.__file__ = file
    code = compiled(file, source)
    # Dataclasses look their module up while they are made.
    sys.modules[module.__name__] = module
    try:
        exec(code, module.__dict__)
    except KeyboardInterrupt:
        raise
    except ImportError as error:
        raise refused(
            f"the file cannot be loaded: {_shown(error)}", place_of(file, error), STANDS_ALONE
        ) from error
    except BaseException as error:
        raise refused(
            f"the file cannot be loaded: {_shown(error)}", place_of(file, error)
        ) from error
    finally:
        del sys.modules[module.__name__]
    return module


def _class_in(module: ModuleType, base: Base, file: str, name: str) -> type:
    def fits(value: object) -> bool:
        return isinstance(value, type) and issubclass(value, base.root)

    found = vars(module).get(name)
    if found is None:
        known = [
            other for other, value in vars(module).items() if fits(value) and value is not base.root
        ]
        raise base.no_class(name, file, known)
    if not (isinstance(found, type) and fits(found)):
        raise base.other_class(name, file)
    return found


def _check(found: type, base: Base, file: str) -> None:
    """Find what is wrong with a class without calling it."""
    name = found.__name__
    for missing in sorted(getattr(found, "__abstractmethods__", ())):
        raise base.no_hook(name, missing, file)
    for written in dir(found):
        # Without this, a misspelled hook would have no effect.
        if written.startswith("on_") and written not in base.hooks:
            raise base.not_a_hook(name, written, file)
    for hook in base.hooks:
        parameters = inspect.signature(getattr(base.root, hook)).parameters
        try:
            inspect.signature(getattr(found, hook)).bind(*parameters)
        except (TypeError, ValueError) as error:
            raise base.not_callable(name, hook, error, file) from error
    for flag in base.flags:
        if not isinstance(getattr(found, flag), bool):
            raise refused(f"{name}.{flag} is no bool", file, "write True or False")


def _set_parameters(found: type, base: Base, parameters: Mapping[str, Any], file: str) -> None:
    """Set attributes of a class to the values that the scenario gives."""
    known = {
        name: value
        for one in reversed(found.__mro__[: found.__mro__.index(base.root)])
        for name, value in vars(one).items()
        if is_parameter(name) and isinstance(value, bool | int | float | str)
    }
    for name, value in parameters.items():
        if name not in known:
            raise no_parameter(found.__name__, name, list(known), file)
        usual = type(known[name])
        if usual is float and type(value) is int:
            value = float(value)
        if type(value) is not usual:
            raise refused(
                f"{found.__name__}.{name} is of type {usual.__name__}, and the scenario gives "
                f"{value!r}", file, f"write a value of type {usual.__name__} in the scenario",
            )  # fmt: skip
        setattr(found, name, value)


def is_parameter(name: str) -> bool:
    """Whether an attribute of this name may be set by the scenario."""
    return not name.startswith("_")


def no_parameter(of: str, name: str, known: Sequence[str], place: str) -> BacklaneError:
    """R020 for a parameter that the class does not have."""
    near = get_close_matches(name, known, 1, 0.6)
    mend = f"its parameters are {', '.join(known)}" if known else f"write {name} = … in the class"
    return refused(
        f"{of} has no parameter {name}", place, f"did you mean {near[0]}?" if near else mend
    )


def _shown(error: BaseException) -> str:
    return brief("".join(traceback.format_exception_only(error)).strip().splitlines()[-1])


def place_of(file: str, error: BaseException) -> str:
    """The last line of the file that an error went through."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == file and frame.lineno is not None
    ]
    return f"{file}:{lines[-1]}" if lines else file


def refused(message: str, place: str, mend: str | None = None) -> BacklaneError:
    """R020."""
    return BacklaneError("R020", message, place, mend or "mend the file")
