"""Kernels in simulated time, and the model beside them: `python -m validation.kernel`.

The part `clean` compares kernels over Backlane's links with recordings of one over netem, and
needs a kernel. The other parts run scenarios with the model of TCP and compare them with what
kernels did in the same scenarios, which is recorded in `recorded/`; `--record` runs kernels for
what has no recording.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from backlane import linux
from validation.kernel import clean, recordings, section
from validation.kernel.scenes import KERNEL, PARTS, RELEASE
from validation.kernel.verdicts import HOLDS

PAGE = Path(__file__).parent / "README.md"

CLEAN, RECORDED = "clean", "recorded"


def run_clean(*, check: bool) -> list[str]:
    """The part `clean`; what is further from its recording than before."""
    rows = clean.compare_all(KERNEL)
    text = clean.table(rows, linux.kernels()[KERNEL].release)
    print(text)
    if not check:
        section.replace(PAGE, CLEAN, text)
    return [f"windows of {title} are further apart than before" for title in clean.further(rows)]


def run_part(part: str, *, check: bool) -> list[str]:
    """A recorded part; the rows that held before and do not now."""
    before = section.verdicts_of(part, recordings.read(part)) if check else {}
    rows = recordings.compare(part)
    text = section.table(part, rows)
    print(text, end="\n\n")
    if not check:
        recordings.write(part, rows)
        section.replace(PAGE, part, text)
    return [
        f"{name}, flow {flow}: {verdict}, and held before"
        for (name, flow), verdict in section.verdicts_of(part, rows).items()
        if before.get((name, flow)) == HOLDS != verdict
    ]


def main() -> int:
    """Run, print and write the page; 1 if something is further apart than before."""
    parser = argparse.ArgumentParser(prog="python -m validation.kernel", description=__doc__)
    parser.add_argument("--check", action="store_true", help="leave page and recordings alone")
    parser.add_argument("--record", action="store_true", help="run kernels for what is missing")
    names = [CLEAN, RECORDED, *PARTS]
    parser.add_argument(
        "--only", choices=names, help="one part; `recorded` for all but `clean`, without a kernel"
    )
    arguments = parser.parse_args()
    parts = list(PARTS) if arguments.only in (None, RECORDED) else [arguments.only]
    with_clean = arguments.only in (None, CLEAN)
    if with_clean or arguments.record:
        built = linux.kernels()
        if KERNEL not in built:
            print(linux.missing(KERNEL).rendered, file=sys.stderr)
            return 2
        if arguments.record and built[KERNEL].release != RELEASE:
            print(
                f"the recordings are of Linux {RELEASE}; for {built[KERNEL].release} change "
                "RELEASE in scenes.py and remove them",
                file=sys.stderr,
            )
            return 2
    further = run_clean(check=arguments.check) if with_clean else []
    for part in (one for one in parts if one != CLEAN):
        if arguments.record:
            recordings.record(part, print)
        further += run_part(part, check=arguments.check)
    for line in further:
        print(line, file=sys.stderr)
    return int(bool(further))


if __name__ == "__main__":
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    sys.exit(main())
