"""An emulation: its namespaces, the simulation between them, and what it measures.

The simulation runs in a thread of its own without the interpreter's lock, so that a view or a
command of the main thread does not make deliveries late.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from backlane import native, single
from backlane.emulate import namespaces, state
from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import TracebackType

    from backlane._native import EmulationView, RunResult
    from backlane.emulate.namespaces import Host
    from backlane.results import Results
    from backlane.run_files import RunFiles
    from backlane.single import Work

RUN = "BACKLANE_RUN"
"""The variable that names the emulation to a command."""
PRIORITY = 10
"""Of the simulation's thread with `realtime`, of 1 to 99."""
_LOOK_EVERY_S = 0.1
_PATIENCE_S = 5.0
_KILL = 9
"""SIGKILL, which the module has not on Windows."""


class Session:
    """The hosts of an emulation, from `with` on.

    Args:
        work: the run.
        realtime: gives the simulation's thread priority over all ordinary programs of the machine.

    Raises:
        BacklaneError: R121 when the scenario has no external flow, R122, R123.
        RunError: when the network cannot be built.
    """

    def __init__(self, work: Work, realtime: bool = False) -> None:
        self._work = work
        self._realtime = realtime
        self._emulator = native.module().Emulator(work.cell.resolved, work.run.seed)
        if not self._emulator.hosts:
            raise BacklaneError(
                "R121", "no flow of the scenario is external", None,
                'give a TCP flow stack = "external" and size = "endless"',
            )  # fmt: skip
        self.run = secrets.token_hex(3)
        self.hosts: list[Host] = []
        self.links: list[tuple[str, str]] = self._emulator.links
        self.warm_up_s: float = self._emulator.warm_up_s
        self.end_s: float = self._emulator.end_s
        self._emulation: state.Emulation | None = None

    def __enter__(self) -> Session:
        hosts = namespaces.hosts(self.run, self._emulator.hosts)
        self._emulation = state.note(self.run, self._work.plan.name, hosts, os.getpid())
        try:
            for number, host in enumerate(hosts):
                namespaces.create(host, hosts)
                try:
                    device = self._emulator.open(number, str(host.path))
                except OSError as error:
                    raise BacklaneError(
                        "R123", f"the system refuses the device of {host.name!r}: {error}", None,
                        "see `backlane explain R123`",
                    ) from error  # fmt: skip
                namespaces.configure(host, device)
        except BaseException:
            state.clear(self._emulation)
            raise
        self.hosts = hosts
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._emulator.close()
        if self._emulation is not None:
            state.clear(self._emulation)

    def carry_out(
        self,
        folder: Path,
        overrides: Sequence[tuple[str, str]],
        words: Sequence[str],
        look: Callable[[EmulationView], None],
        stdout: int | None = None,
    ) -> tuple[Results, int | None]:
        """Let the clock run, and write a results folder at the end.

        The end is that of the scenario's duration, of the command, or Ctrl-C.

        Args:
            folder: the results folder.
            overrides: (key, value) pairs that replaced values of the file.
            words: a command that is executed on this machine meanwhile.
            look: called ten times a second.
            stdout: a descriptor for the output of the command, in place of this process's.

        Returns:
            The results, and the exit code of the command, if it has ended.

        Raises:
            RunError: when a model failed.
            BacklaneError: as for `single.write`; R003 when the command cannot be executed.
        """
        codes: list[int | None] = [None]

        def execute(files: RunFiles) -> tuple[RunResult, dict[str, Any]]:
            result, codes[0] = self._pass_time(files, words, look, stdout)
            return result, {"emulation": self._summary()}

        results = single.write(self._work, folder, execute, overrides)
        return results, codes[0]

    def _pass_time(
        self,
        files: RunFiles,
        words: Sequence[str],
        look: Callable[[EmulationView], None],
        stdout: int | None,
    ) -> tuple[RunResult, int | None]:
        emulator = self._emulator
        done: list[RunResult] = []
        failed: list[BaseException] = []

        # An interrupted `Thread.join` with a limit counts the thread as ended (until Python 3.13).
        over = threading.Event()

        def work() -> None:
            try:
                if self._realtime:
                    _take_priority()
                done.append(emulator.run(files))
            except BaseException as error:
                failed.append(error)
            finally:
                over.set()

        thread = threading.Thread(target=work, name="emulation")
        process: _Command | None = None
        thread.start()
        try:
            if words:
                process = _Command(words, self.run, stdout)
            while not over.wait(_LOOK_EVERY_S):
                if process is not None and process.code() is not None:
                    emulator.stop()
                look(emulator.view())
        except KeyboardInterrupt:
            # The usual end of an emulation: what it has measured is kept.
            pass
        finally:
            emulator.stop()
            over.wait()
            if process is not None:
                process.end()
        if failed:
            raise failed[0]
        return done[0], None if process is None else process.code()

    def _summary(self) -> dict[str, Any]:
        """What the emulation measured of itself, for the manifest."""
        found: dict[str, Any] = self._emulator.summary()
        return {
            "run": self.run,
            "hosts": {host.name: host.address for host in self.hosts},
            "dropped_before_pkts": sum(map(namespaces.dropped_pkts, self.hosts)),
        } | found

    def left_over(self) -> list[tuple[Host, int, str]]:
        """Processes that are in the namespaces: host, number, name."""
        return [
            (host, pid, name)
            for host in self.hosts
            for pid, name in namespaces.processes(host.namespace)
        ]


def _take_priority() -> None:
    """Schedule the calling thread before all ordinary ones (sched(7)).

    Raises:
        BacklaneError: R120 when the system refuses.
    """
    if sys.platform != "linux":
        return
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError as error:
        raise BacklaneError(
            "R120", f"the system refuses --realtime: {error.strerror}", None,
            "it takes CAP_SYS_NICE; emulate without it",
        ) from error  # fmt: skip


class _Command:
    """A command that is executed on this machine beside the simulation.

    Without a terminal it has a session of its own, so that what it has started ends with it. On a
    terminal it needs the one of its user, and Ctrl-C reaches all of it.

    Raises:
        BacklaneError: R003 when it cannot be executed.
    """

    def __init__(self, words: Sequence[str], run: str, stdout: int | None) -> None:
        self._is_session = not os.isatty(0)
        try:
            self._process = subprocess.Popen(
                list(words),
                stdout=stdout,
                env={**os.environ, RUN: run},
                start_new_session=self._is_session,
            )
        except OSError as error:
            raise BacklaneError(
                "R003", f"the command cannot be executed: {error.strerror}", words[0],
                "give the path of a program",
            ) from error  # fmt: skip

    def code(self) -> int | None:
        """Its exit code; None while it goes on."""
        return self._process.poll()

    def end(self) -> None:
        """End it, and what it has started: first by SIGTERM."""
        for number in (signal.SIGTERM, _KILL):
            self._signal(number)
            deadline = time.monotonic() + _PATIENCE_S
            while self._goes_on() and time.monotonic() < deadline:
                time.sleep(_LOOK_EVERY_S / 10)
            if not self._goes_on():
                return

    def _goes_on(self) -> bool:
        """Whether it, or what it has started, goes on."""
        is_alive = self._process.poll() is None
        return is_alive or (self._is_session and state.has_session(self._process.pid))

    def _signal(self, number: int) -> None:
        with suppress(OSError):
            if self._is_session and sys.platform != "win32":
                # The processes of the session keep its number after the first of them has ended.
                os.killpg(self._process.pid, number)
            elif self._process.poll() is None:
                self._process.send_signal(number)
