"""CPU time and memory of examples in WebAssembly (Node) and natively, paired; prints a table.

`python playground/tests/measure.py FOLDER`, where FOLDER is the built playground.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from backlane import _native

ROOT = Path(__file__).parents[2]
EXAMPLES = (
    "examples/chain.toml",
    "examples/demo/grid.toml",
    "examples/granularity.toml",
    "examples/lte_cell.toml",
    "examples/lte_backhaul.toml",
    "examples/wifi_cells.toml",
    "examples/multipath_mesh/scenario.toml",
    "examples/tcp_profiles.toml",
)
REPEATS = 3


def main(folder: Path) -> None:
    """Prints the rows."""
    script = ROOT / "playground" / "tests" / "measure.mjs"
    print("| example, first cell, seed 1 | events | native, s | WebAssembly, s | ratio | first run, s | MiB |")
    print("|---|---|---|---|---|---|---|")
    for name in EXAMPLES:
        plan = json.loads(_native.plan((ROOT / name).read_text(), str(ROOT / name)))
        resolved = plan["cells"][0]["resolved"]
        native = []
        node: list[dict[str, float]] = []
        for _ in range(REPEATS):
            begun = time.process_time()
            result = _native.run(resolved, 1)
            native.append(time.process_time() - begun)
            command = ["node", str(script), str(folder / "engine.wasm")]
            ran = subprocess.run(command, input=resolved, capture_output=True, text=True, check=True)
            node.append(json.loads(ran.stdout))
            assert node[-1]["digest"] == result.summary["digest"], name
        ours, theirs = min(native), min(one["best_s"] for one in node)
        first = min(one["first_s"] for one in node)
        events = f"{result.summary['events'] / 1e6:.2f} M"
        memory = node[0]["memory_bytes"] / 2**20
        print(f"| `{name}` | {events} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.2f} | {first:.2f} | {memory:.0f} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
