"""Record what ns-3's LENA gives: `python -m validation.ns3 --record`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from validation.ns3 import peer, truth

BUILT = Path("results") / "ns3"


def main() -> int:
    """Do what the arguments say; 1 when ns-3 is missing."""
    parser = argparse.ArgumentParser(prog="python -m validation.ns3", description=__doc__)
    parser.add_argument("--record", action="store_true", required=True, help="run ns-3 anew")
    parser.parse_args()
    try:
        programs = peer.build(BUILT)
    except peer.Missing as missing:
        print(missing, file=sys.stderr)
        return 1
    truth.record(programs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
