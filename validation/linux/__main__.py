"""Compare TCP with Linux 6.1: `python -m validation.linux`."""

from __future__ import annotations

import argparse
import sys

from validation.linux import page, sensitivity
from validation.linux.bounds import broken
from validation.linux.figures import draw
from validation.linux.measures import compare
from validation.linux.samples import HERE, VARIANTS, recorded, simulated


def main() -> int:
    """Run, draw and write the page; 1 when something is out of bounds."""
    parser = argparse.ArgumentParser(prog="python -m validation.linux", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="only compare; leave figures and page as they are"
    )
    parser.add_argument(
        "--sensitivity",
        action="store_true",
        help="only print what the differences become with one thing changed",
    )
    arguments = parser.parse_args()
    if arguments.sensitivity:
        for line in sensitivity.table():
            print(line)
        return 0
    comparisons = {}
    for variant in VARIANTS:
        linux = recorded(variant)
        ours = simulated(variant, linux.time_s)
        comparisons[variant] = compare(linux, ours)
        if not arguments.check:
            draw(variant.title, linux, ours, HERE / f"{variant.name}.png")
    text = page.measured(comparisons, HERE)
    print(text)
    if not arguments.check:
        page.replace(HERE / "README.md", text)
    return int(any(any(broken(comparison)) for comparison in comparisons.values()))


if __name__ == "__main__":
    sys.exit(main())
