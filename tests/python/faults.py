"""Lets every write, rename, fsync, flock and mkdir of a command fail once; run by `test_faults`.

Usage: faults.py FOLDER WORD..., with `faults.c` preloaded; `{out}` among the words is the results
folder. Prints a JSON object: the violations, and the number of calls.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import json
import shutil
import sys
from pathlib import Path

from test_damage import content

from backlane.cli import execute
from backlane.files import TEMPORARY_PREFIX

KINDS = {"write": errno.ENOSPC, "rename": errno.EIO, "fsync": errno.EIO, "flock": errno.EIO,
         "mkdir": errno.EACCES}  # fmt: skip
CODES = {errno.ENOSPC: "R002", errno.EIO: "R017", errno.EACCES: "R001"}


def carry_out(words: list[str], out: Path) -> tuple[int, str]:
    """The exit code and the messages of a command."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = execute([word.replace("{out}", str(out)) for word in words])
    return code, said.getvalue()


def main(root: Path, words: list[str]) -> None:
    """Let each call fail in turn, check the remaining files, and start again."""
    shim = ctypes.CDLL(None)
    whole = root / "whole"
    shim.faults_watch(str(whole).encode())
    shim.faults_arm(-1, 0, 0)
    code, said = carry_out(words, whole)
    assert code == 0, said
    counts = {kind: int(shim.faults_seen(index)) for index, kind in enumerate(KINDS)}
    expected = content(whole)
    wrong = []
    for index, (kind, number) in enumerate(KINDS.items()):
        for at in range(1, counts[kind] + 1):
            folder = root / "faulty"
            shim.faults_watch(str(folder).encode())
            shim.faults_arm(index, at, number)
            code, said = carry_out(words, folder)
            happened = shim.faults_seen(index) >= at
            shim.faults_arm(-1, 0, 0)
            # Polars reports some failed writes without their number.
            coded = CODES[number] in said or "transport error" in said
            reported = code == 2 and coded and str(folder) in said
            # Optional steps may fail without a message, if the results are complete.
            if not happened or not (reported or (code == 0 and content(folder) == expected)):
                wrong.append(f"{kind} {at}: exit {code}, {said!r}")
            if list(folder.rglob(f"{TEMPORARY_PREFIX}*")):
                wrong.append(f"{kind} {at}: leftovers")
            code, said = carry_out(words, folder)
            if code != 0 or "damaged" in said or content(folder) != expected:
                wrong.append(f"{kind} {at}, again: exit {code}, {said!r}")
            shutil.rmtree(folder)
    print(json.dumps({"wrong": wrong, "counts": counts}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
