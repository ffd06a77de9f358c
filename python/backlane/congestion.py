"""Congestion controls in Python: the class to derive from, and how a file with one is loaded.

A scenario names a class as ``"python:FILE:CLASS"``. `verify` reads the text of the file without
executing it, for ``backlane check`` and every plan. Before runs are carried out, `admit` says
whether the text may be executed, and `rehearse` executes it once, so that what is wrong with it is
found before the first run. `prepare` gives what makes the hooks of one connection; `crates/python`
calls it for every run, and calls the hooks. `interrupt` ends a hook that does not end by itself.
"""

from __future__ import annotations

import inspect
import itertools
import linecache
import random
import sys
import traceback
import warnings
from abc import ABC, abstractmethod
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from backlane.errors import BacklaneError
from backlane.text import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import CodeType

    from backlane._native import Ack, Arrival, LostPacket, RttSample, Window

CongestionState = Literal["open", "disorder", "cwr", "recovery", "loss"]
"""The state of loss recovery, as Linux divides it."""


class CongestionControl(ABC):
    """The law by which the window of one TCP connection grows and shrinks.

    The endpoint owns the window and lends it to the hooks; it finds the lost packets and sends
    them again itself. Windows are counted in packets. Only the hooks that a class defines are
    called. For one acknowledgment they come in this order: `on_rtt_sample`, `on_arrival`, then
    the `on_state_change` and `ssthresh` that loss detection brings, then `on_ack` unless the
    state is "cwr" or "recovery", where the endpoint itself shrinks the window to the threshold.

    The same scenario and seed give the same run as long as a class decides by nothing but what
    its hooks are told, its own attributes and `self.random`. Clocks, files, other sources of
    randomness and the order of a set of texts differ between two executions.

    Each end of a connection has an object of its own; only that of the sender gets
    acknowledgments of data.

    Args:
        seed: the connection's, drawn from the seed of the run.
    """

    needs_rate_samples: ClassVar[bool] = False
    """Whether `Ack.rate` shall be measured."""
    owns_window: ClassVar[bool] = False
    """Whether `on_ack` is called in every state, and nothing else shrinks the window."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        """Random numbers of this connection alone."""

    def on_established(self, now_s: float, srtt_us: int, mss_bytes: int, window: Window) -> None:
        """The handshake is done and the window is the initial one.

        Args:
            now_s: simulated time.
            srtt_us: the RTT of the handshake; 0 if it could not be measured.
            mss_bytes: payload of a full segment.
            window: may be changed.
        """

    def on_rtt_sample(self, now_s: float, sample: RttSample, window: Window) -> None:
        """An RTT was measured; losses have not yet been looked for.

        Args:
            now_s: simulated time.
            sample: the RTT, and what its acknowledgment covers.
            window: may be changed; its threshold too.
        """

    def on_arrival(self, now_s: float, arrival: Arrival, window: Window) -> None:
        """An acknowledgment that is not older than the last one arrived.

        Args:
            now_s: simulated time.
            arrival: what it says; losses have not yet been looked for.
            window: may be changed.
        """

    @abstractmethod
    def on_ack(self, now_s: float, ack: Ack, window: Window) -> None:
        """Data was acknowledged in state "open", "disorder" or "loss": the window may grow.

        Args:
            now_s: simulated time.
            ack: what the acknowledgment brought; everything but the window has been updated.
            window: to be changed.
        """

    @abstractmethod
    def ssthresh(self, now_s: float, window: Window, in_flight_pkts: int) -> int:
        """The threshold for a loss seen now, in packets; below 2 it counts as 2.

        Called once on entry to "recovery" or "loss", before the state changes.

        Args:
            now_s: simulated time.
            window: still untouched, and not to be changed here.
            in_flight_pkts: packets in flight.
        """

    def on_loss(self, now_s: float, window: Window) -> None:
        """The state "recovery" or "loss" begins for a loss.

        Args:
            now_s: simulated time.
            window: its threshold follows from `ssthresh`, unless a reduction or a recovery was
                under way, and may be changed.
        """

    def undo_cwnd(self, window: Window, prior_cwnd_pkts: int) -> int:
        """The window after a recovery or timeout proved needless, in packets.

        Args:
            window: as it is now, and not to be changed here.
            prior_cwnd_pkts: what it was before the recovery.
        """
        return max(window.cwnd_pkts, prior_cwnd_pkts)

    def take_reduction(self) -> bool:
        """Whether the window shall be reduced to `ssthresh`; asked once after each `on_ack`."""
        return False

    def pacing_rate(self) -> float | None:
        """The rate at which segments may leave, in bits per second.

        None: as fast as the window allows. Asked for every segment.
        """
        return None

    def on_state_change(self, now_s: float, state: CongestionState, snd_nxt: int) -> None:
        """The state of loss recovery is about to become `state`.

        Args:
            now_s: simulated time.
            state: the new one; entering "loss", the window has not yet been cut.
            snd_nxt: the next sequence number to be sent.
        """

    def on_packet_lost(self, now_s: float, lost: LostPacket, window: Window) -> None:
        """A packet was marked lost, by an acknowledgment or a timer.

        Only called with `needs_rate_samples`; before `on_ack` and `on_timeout`.

        Args:
            now_s: simulated time.
            lost: what was in flight when it was sent, and lost since.
            window: not to be changed here.
        """

    def on_timeout(self, now_s: float, lost_pkts: int) -> None:
        """The retransmission timer expired, and what was outstanding is marked lost.

        Called after `ssthresh` and before the change of state, if the timeout brings them, and
        before the window is cut.

        Args:
            now_s: simulated time.
            lost_pkts: packets ever marked lost.
        """

    def on_recovery_exit(self, now_s: float, window: Window) -> None:
        """Recovery is over; the state is still "recovery".

        Args:
            now_s: simulated time.
            window: stands at the threshold, and may be changed.
        """

    def on_idle_restart(self, now_s: float, snd_nxt: int, window: Window) -> None:
        """The sender was idle for longer than the timeout.

        Args:
            now_s: simulated time.
            snd_nxt: the next sequence number to be sent.
            window: about to be shrunk, and not to be changed here.
        """

    def on_transmit_start(self, now_s: float, idle_s: float, snd_nxt: int) -> None:
        """Transmission starts with nothing in flight.

        Args:
            now_s: simulated time.
            idle_s: time since the last segment was sent.
            snd_nxt: the next sequence number to be sent.
        """

    def on_restart(self, now_s: float, window: Window) -> None:
        """Transmission starts with nothing in flight, after the application had nothing to send.

        Only called with `needs_rate_samples`.

        Args:
            now_s: simulated time.
            window: may be changed.
        """

    def holds_back(self) -> bool:
        """Whether the class itself keeps the flow below what the path may carry.

        Samples of what is sent then count as limited by the application. Asked after each
        `on_ack`, with `needs_rate_samples`.
        """
        return False


HOOKS = tuple(
    name
    for name, value in vars(CongestionControl).items()
    if inspect.isfunction(value) and not name.startswith("_")
)
"""Every hook."""
FLAGS = ("needs_rate_samples", "owns_window")
STANDS_ALONE = "the file stands alone: it may import installed packages, but no file beside it"
TAKES_A_SEED = "its __init__ takes a seed, an int, and passes it to super().__init__(seed)"

_MODULE_PREFIX = "_backlane_control_"
_numbers = itertools.count(1)


class Interrupted(KeyboardInterrupt):
    """Raised by `interrupt` inside a hook."""


def prepare(file: str, name: str, source: str) -> Callable[[int], dict[str, Any]]:
    """Load a class.

    Args:
        file: where it is from, for messages.
        name: the class.
        source: the text of the file, which is executed.

    Returns:
        A function that makes an object for a seed and gives the hooks that its class defines,
        bound to it, and its flags.

    Raises:
        BacklaneError: R020 when the file or the class cannot be used.
    """
    module = _execute(file, source)
    try:
        found = _class_in(module, file, name)
        _check(found, file)
        hooks = [
            hook for hook in HOOKS if getattr(found, hook) is not getattr(CongestionControl, hook)
        ]
        flags = {flag: getattr(found, flag) for flag in FLAGS}
    except (BacklaneError, KeyboardInterrupt):
        raise
    except BaseException as error:
        # Metaclasses and descriptors execute when they are looked at.
        raise refused(
            f"{name} cannot be looked at: {_shown(error)}", place_of(file, error)
        ) from error

    def make(seed: int) -> dict[str, Any]:
        control = found(seed)
        return flags | {hook: getattr(control, hook) for hook in hooks}

    return make


def verify(controls: Sequence[Mapping[str, Any]], scenario: str | Path) -> None:
    """Read the classes that a scenario names; nothing of them is executed.

    Args:
        controls: the `custom_controls` of a plan.
        scenario: the file that names them.

    Raises:
        BacklaneError: R020 for the first that certainly cannot be used.
    """
    from backlane import outline

    for control in controls:
        python = control["python"]
        if python is None:
            raise BacklaneError(
                "R020",
                f'the congestion control "custom:{control["name"]}" comes with a Rust program',
                scenario,
                'run the scenario with that program, or name a Python class: "python:FILE:CLASS"',
            )
        outline.check(_shown_file(python, scenario), python["class"], python["source"])


def admit(
    controls: Sequence[Mapping[str, Any]], scenario: str | Path, allow: bool = False
) -> list[str]:
    """Decide whether the Python of a scenario may be executed.

    A file in the folder of the scenario, or below, is taken to be of whoever runs it. Text that the
    scenario itself brings, and a file elsewhere, may be anybody's.

    Args:
        controls: the `custom_controls` of a plan.
        scenario: the file that names them.
        allow: execute it wherever it is from.

    Returns:
        A line for each file that will be executed, to be said before it is.

    Raises:
        BacklaneError: R025 when one may not be executed without `allow`.
    """
    classes: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for control in controls:
        python = control["python"]
        if python is None:
            continue
        file = python["file"]
        path = python["path"]
        if python["embedded"]:
            why, words[file] = "stands in the scenario itself", f"{file}, as {scenario} brings it,"
        else:
            inside = Path(path).resolve().is_relative_to(Path(scenario).parent.resolve())
            why = "" if inside else "lies outside of the folder of the scenario"
            words[file] = path
        if why and not allow:
            raise BacklaneError(
                "R025",
                f"the Python of {file} {why}, and is not executed without your consent",
                scenario if python["embedded"] else path,
                "read it; to execute it give --allow-python (in Python, allow_python=True)",
            )
        classes.setdefault(file, []).append(python["class"])
    return [
        f"executing the Python of {words[file]} "
        f"({'class' if len(names) == 1 else 'classes'} {', '.join(names)})"
        for file, names in classes.items()
    ]


def authorize(
    controls: Sequence[Mapping[str, Any]],
    scenario: str | Path,
    allow: bool = False,
    say: Callable[[str], None] | None = None,
) -> None:
    """Do what comes before the first run: `admit`, say what will be executed, `rehearse`.

    Args:
        controls: the `custom_controls` of a plan.
        scenario: the file that names them.
        allow: execute Python wherever it is from.
        say: is told which file is about to be executed.

    Raises:
        BacklaneError: R025 when one may not be executed, R020 when one cannot be used.
    """
    for line in admit(controls, scenario, allow):
        if say is not None:
            say(line)
    rehearse(controls, scenario)


def rehearse(controls: Sequence[Mapping[str, Any]], scenario: str | Path) -> None:
    """Execute the Python of a scenario, and make an object of each class.

    Args:
        controls: the `custom_controls` of a plan, admitted.
        scenario: the file that names them.

    Raises:
        BacklaneError: R020 for the first that cannot be used.
    """
    for control in controls:
        python = control["python"]
        if python is None:
            continue
        file = _shown_file(python, scenario)
        make = prepare(file, python["class"], python["source"])
        try:
            make(0)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise refused(
                f"{python['class']}(seed) raises {_shown(error)}", place_of(file, error),
                TAKES_A_SEED,
            ) from error  # fmt: skip


def interrupt(thread_id: int) -> bool:
    """Raise `Interrupted` in a thread, if it is executing the Python of a scenario.

    The hook ends unless it catches `BaseException`, as soon as it executes Python again: not
    while it waits in a system call. Its run ends with `Interrupted`. A thread that is elsewhere
    is left alone.

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


def told(control: str, error: BaseException) -> tuple[str, str]:
    """An error of a hook for people: its traceback, cut if it is long, and its place.

    `crates/python` calls it.

    Args:
        control: as the scenario names it, "python:FILE:CLASS".
        error: what the hook raised, or what was wrong with its answer.
    """
    file = control.removeprefix("python:").rpartition(":")[0] or control
    text = "".join(traceback.format_exception(error))
    return brief(text.rstrip()), place_of(file, error)


def compiled(file: str, source: str) -> CodeType:
    """The code of a text.

    Raises:
        BacklaneError: R020 when it is no Python.
    """
    try:
        # What Python warns of is said when nobody has asked, and twice.
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


def _shown_file(python: Mapping[str, Any], scenario: str | Path) -> str:
    """What a file is called in messages: by its path where it is there."""
    beside = Path(scenario).parent / python["file"]
    return str(beside) if beside.is_file() else str(python["file"])


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


def _class_in(module: ModuleType, file: str, name: str) -> type[CongestionControl]:
    found = vars(module).get(name)
    if found is None:
        controls = [
            known
            for known, value in vars(module).items()
            if isinstance(value, type)
            and issubclass(value, CongestionControl)
            and value is not CongestionControl
        ]
        raise refused(f"there is no class {name}", file, nearest_control(name, controls))
    if not (isinstance(found, type) and issubclass(found, CongestionControl)):
        raise refused(
            f"{name} is no congestion control", file,
            f"derive it: class {name}(CongestionControl), imported from backlane",
        )  # fmt: skip
    return found


def _check(found: type[CongestionControl], file: str) -> None:
    """Find what is wrong with a class without calling it."""
    name = found.__name__
    for missing in sorted(getattr(found, "__abstractmethods__", ())):
        meant = parameters_of(missing)
        raise refused(f"{name} has no {missing}", file, f"write def {missing}{meant}")
    for written in dir(found):
        # A hook that is never called would be missed by nobody.
        if written.startswith("on_") and written not in HOOKS:
            raise not_a_hook(name, written, file)
    for hook in HOOKS:
        parameters = inspect.signature(getattr(CongestionControl, hook)).parameters
        try:
            inspect.signature(getattr(found, hook)).bind(*parameters)
        except (TypeError, ValueError) as error:
            raise refused(
                f"{name}.{hook} cannot be called: {error}", file,
                f"write def {hook}{parameters_of(hook)}",
            ) from error  # fmt: skip
    for flag in FLAGS:
        if not isinstance(getattr(found, flag), bool):
            raise refused(f"{name}.{flag} is no bool", file, "write True or False")


def parameters_of(hook: str) -> str:
    """The parameters of a hook without their types, as they are written."""
    return f"({', '.join(inspect.signature(getattr(CongestionControl, hook)).parameters)})"


def nearest_control(name: str, controls: Sequence[str]) -> str:
    """The mend for a class that is not there."""
    near = get_close_matches(name, controls, 1, 0.5) or controls
    return f"did you mean {near[0]}?" if near else f"write class {name}(CongestionControl)"


def not_a_hook(name: str, written: str, place: str) -> BacklaneError:
    """R020 for a method that would never be called."""
    near = get_close_matches(written, HOOKS, 1, 0.6)
    return refused(
        f"{name}.{written} is not a hook", place,
        f"did you mean {near[0]}?" if near else f"call it _{written}; the hooks are "
        + ", ".join(HOOKS),
    )  # fmt: skip


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
