"""Compare TCP with Linux 6.1: `python -m validation.linux`."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor

from validation.linux import page, sensitivity
from validation.linux.bounds import lost, reached
from validation.linux.figures import draw, draw_start
from validation.linux.measures import compare
from validation.linux.samples import ALGORITHMS, HERE, PATHS, Algorithm, Samples, recorded, runs

DETAILS = HERE / "details.csv"
#: The page of all tests of TCP, which shows the table of shares too.
TESTS_PAGE = HERE.parents[1] / "docs" / "validation" / "tcp.md"


def main() -> int:
    """Run, draw and write the page; 1 if a measure deviates further from Linux than before."""
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
        for line in sensitivity.tables():
            print(line)
        return 0
    places = [(path, algorithm) for path in PATHS for algorithm in ALGORITHMS]
    with ThreadPoolExecutor() as pool:
        samples = dict(zip(places, pool.map(_samples, places), strict=True))
    comparisons = {
        (path, algorithm): compare(linux, ours, has_modes=algorithm.has_modes)
        for (path, algorithm), (linux, ours) in samples.items()
    }
    text = page.measured(comparisons, HERE)
    shares = page.shares(comparisons)
    print(text, shares, sep="\n\n")
    before = reached(DETAILS)
    further = [
        f"{algorithm.title} on {path}: {what}"
        for (path, algorithm), comparison in comparisons.items()
        for what in lost(algorithm, path, comparison, before)
    ]
    for line in further:
        print(f"further from Linux than before: {line}", file=sys.stderr)
    if not arguments.check:
        page.write_details(comparisons, DETAILS)
        page.replace(HERE / "README.md", f"{text}\n\n{shares}")
        page.replace(TESTS_PAGE, f"{page.origin(HERE)}\n\n{shares}")
        for path in PATHS:
            of_path = {algorithm: samples[path, algorithm] for algorithm in ALGORITHMS}
            draw(path, of_path, HERE / f"{path}.png")
            draw_start(path, of_path, HERE / f"{path}_start.png")
    return int(bool(further))


def _samples(place: tuple[str, Algorithm]) -> tuple[Samples, list[Samples]]:
    path, algorithm = place
    linux = recorded(algorithm, path)
    return linux, runs(algorithm, path, linux.time_s)


if __name__ == "__main__":
    sys.exit(main())
