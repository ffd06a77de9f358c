"""Compare the authors' grid with their simulator: `python -m validation.bp_mr_authors`."""

from __future__ import annotations

import argparse

from validation.bp_mr_authors import figures, page, runs
from validation.bp_mr_authors.compare import pairs


def main() -> int:
    """Run, draw and write the page; 1 if `--check` finds other numbers than those kept."""
    parser = argparse.ArgumentParser(prog="python -m validation.bp_mr_authors", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="only run, and compare with the numbers kept"
    )
    parser.add_argument("--seeds", type=int, default=runs.SEEDS, help="seeds of each case")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE",
        help="change a key of the scenario, print the comparison, and write nothing",
    )  # fmt: skip
    arguments = parser.parse_args()
    changes = [tuple(one.split("=", 1)) for one in arguments.set]
    theirs, ours = runs.recorded(), runs.run_all(arguments.seeds, changes)
    compared = pairs(ours, theirs)
    print(page.measured(compared, ours, theirs))
    if changes:
        return 0
    if arguments.check:
        kept = {(flow.run, flow.seed, flow.ue): flow for flow in runs.read(runs.OURS)}
        return int(any(_differs(flow, kept[flow.run, flow.seed, flow.ue]) for flow in ours))
    runs.write(ours, runs.OURS)
    figures.draw(ours, theirs, runs.HERE / "finish.png")
    page.replace(runs.HERE / "README.md", page.measured(compared, ours, theirs))
    return 0


def _differs(flow: runs.Flow, kept: runs.Flow) -> bool:
    return abs(flow.finish_s - kept.finish_s) > 1e-5 or flow.sent != kept.sent


if __name__ == "__main__":
    raise SystemExit(main())
