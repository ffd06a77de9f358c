"""The emulations of this machine: what each has made, and the removal of it.

An emulation writes its file before it makes its first namespace and removes it after the last is
gone, so that what a killed one leaves is always known. A process is the one of the file only if it
began when the file says: numbers of processes are used again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from backlane.emulate import namespaces
from backlane.emulate.namespaces import Host
from backlane.errors import BacklaneError
from backlane.files import make_folder, read_json, remove, write_json

FOLDER = Path("/run/backlane")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_STATE, _SESSION, _START = 3, 6, 22
"""Numbers of fields of /proc/PID/stat (proc(5))."""


@dataclass(frozen=True)
class Emulation:
    """An emulation, as its file describes it.

    Attributes:
        run: six hexadecimal digits.
        name: of the scenario.
        pid: its process.
        began: when that began, in ticks since the boot.
        boot: the boot.
        hosts: its hosts.
    """

    run: str
    name: str
    pid: int
    began: int
    boot: str
    hosts: tuple[Host, ...]

    @property
    def file(self) -> Path:
        """The file that describes it."""
        return FOLDER / f"{self.run}.json"

    def goes_on(self) -> bool:
        """Whether its process is alive."""
        return self.boot == _boot() and self.began == _began(self.pid)


def note(run: str, name: str, hosts: list[Host], pid: int) -> Emulation:
    """Write the file of an emulation, before anything is made.

    Raises:
        BacklaneError: R001, R002 or R017.
    """
    began = _began(pid)
    emulation = Emulation(run, name, pid, -1 if began is None else began, _boot(), tuple(hosts))
    make_folder(FOLDER)
    write_json(emulation.file, asdict(emulation))
    return emulation


def found() -> list[Emulation]:
    """The emulations that have a file, in the order of their names.

    Raises:
        BacklaneError: R003 or R010 when a file cannot be read.
    """
    return [_read(path) for path in sorted(FOLDER.glob("*.json"))]


def host(name: str, run: str | None) -> Host:
    """A host of an emulation that goes on.

    Args:
        name: of the host.
        run: of the emulation; None: of the only one that has such a host.

    Raises:
        BacklaneError: R124 when there is none, or several.
    """
    live = [one for one in found() if one.goes_on() and run in (None, one.run)]
    if not live:
        which = "no emulation goes on" if run is None else f"no emulation {run} goes on"
        raise BacklaneError("R124", which, None, "start one: backlane emulate FILE")
    matches = [(one, host) for one in live for host in one.hosts if host.name == name]
    if not matches:
        names = ", ".join(sorted({host.name for one in live for host in one.hosts}))
        raise BacklaneError("R124", f"there is no host {name!r}", None, f"the hosts are {names}")
    if len(matches) > 1:
        runs = ", ".join(one.run for one, _ in matches)
        raise BacklaneError(
            "R124", f"several emulations have a host {name!r}", None, f"choose with --run: {runs}"
        )
    return matches[0][1]


def clear(emulation: Emulation) -> list[str]:
    """Remove what an emulation has made, and its file.

    Returns:
        What cannot be removed, in sentences. The file stays then.
    """
    kept = []
    for host in emulation.hosts:
        namespaces.remove(host.namespace)
        if namespaces.exists(host.namespace):
            kept.append(f"the namespace {host.namespace} cannot be removed")
    if not kept:
        remove(emulation.file)
    return kept


def clean() -> tuple[list[Emulation], list[str]]:
    """Remove what killed emulations have left.

    Returns:
        The emulations whose leftovers are gone, and what cannot be removed, in sentences.

    Raises:
        BacklaneError: R003 or R010 when a file cannot be read.
    """
    gone, kept = [], []
    for emulation in found():
        if not emulation.goes_on():
            left = clear(emulation)
            kept += left
            gone += [] if left else [emulation]
    return gone, kept


def _read(path: Path) -> Emulation:
    value = read_json(path)
    try:
        hosts = tuple(Host(**host) for host in value.pop("hosts"))
        return Emulation(**_typed(value), hosts=hosts)
    except (KeyError, TypeError, ValueError) as error:
        raise BacklaneError(
            "R010", f"damaged: {error}", path, "remove it and its namespaces by hand"
        ) from error


def _typed(value: dict[str, Any]) -> dict[str, Any]:
    kinds = {"run": str, "name": str, "pid": int, "began": int, "boot": str}
    if value.keys() != kinds.keys():
        raise ValueError(f"its keys are {', '.join(value)}")
    return {key: kind(value[key]) for key, kind in kinds.items()}


def has_session(number: int) -> bool:
    """Whether a process of a session goes on; one that has ended and is not waited for does not."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        fields = _fields(path)
        if fields and fields[0] not in "ZX" and int(fields[_SESSION - _STATE]) == number:
            return True
    return False


def _boot() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""


def _began(pid: int) -> int | None:
    """When a process began, in ticks since the boot; None if there is none, or it has ended."""
    fields = _fields(Path(f"/proc/{pid}/stat"))
    return None if not fields or fields[0] in "ZX" else int(fields[_START - _STATE])


def _fields(path: Path) -> list[str]:
    """The fields of /proc/PID/stat from the state on; none if the process is gone."""
    try:
        text = path.read_text()
    except OSError:
        return []
    # The name of the program before them is in parentheses, and may have spaces and parentheses.
    return text.rpartition(")")[2].split()
