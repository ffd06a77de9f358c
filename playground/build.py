"""Builds the playground: `python playground/build.py FOLDER`.

The folder gets the page, the simulator as WebAssembly, and the examples that a browser can run. It
needs the Rust target wasm32-unknown-unknown, and fetches nothing by itself.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = "wasm32-unknown-unknown"

#: Words of an opening comment that the page shows.
MOST_WORDS = 70

#: The examples of the page: file, title.
EXAMPLES = (
    ("examples/demo/grid.toml", "Small cells: which routing, with 25 and 100 users?"),
    ("examples/reordering.toml", "Per packet, with and without today's TCP"),
    ("examples/granularity.toml", "How often to decide: per packet, burst or flow?"),
    ("examples/lte_cell.toml", "An LTE cell at a walk: which scheduler?"),
    ("examples/lte_speed.toml", "An LTE cell at a walk and at 200 km/h: which TCP?"),
    ("examples/wifi_cells.toml", "802.11 stations"),
    ("examples/wifi_mesh/scenario.toml", "A wireless mesh: which routing?"),
    ("examples/multipath_mesh/scenario.toml", "Multi-path forwarding in a mesh"),
    ("examples/demo/backhaul.toml", "A real backhaul of 96 sites"),
    ("examples/storm/scenario.toml", "The same in a recorded storm: OLSR or BP-MR, CUBIC or BBR?"),
    ("examples/trace_access/scenario.toml", "A recorded drive as access"),
    ("examples/tcp_profiles.toml", "Profiles of TCP: Linux, ns-3, RFC"),
    ("examples/slotted_downlink.toml", "The slotted model"),
    ("examples/chain.toml", "A chain of three nodes"),
)


def built_engine() -> Path:
    """The WebAssembly module, compiled if its sources are newer."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "playground"
    command = ["cargo", "build", "--release", "--quiet", "--locked", "--target", TARGET]
    # Settings for native builds do not fit: the profile of the engine holds.
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith("CARGO_PROFILE")
    }
    environment = {**clean, "CARGO_TARGET_DIR": str(target)}
    subprocess.run(command, cwd=HERE / "engine", check=True, env=environment)
    return target / TARGET / "release" / "backlane_playground_engine.wasm"


def files_of(scenario: Path) -> dict[str, str]:
    """The texts of the files that a scenario names, by the names that it gives them."""
    found: dict[str, str] = {}

    def visit(value: object) -> None:
        if isinstance(value, dict):
            for inner in value.values():
                visit(inner)
        elif isinstance(value, list):
            for inner in value:
                visit(inner)
        elif isinstance(value, str) and len(value) < 200 and "\n" not in value:
            path = scenario.parent / value
            if path.suffix and path.is_file():
                found[value] = path.read_text(encoding="utf-8")

    visit(tomllib.loads(scenario.read_text(encoding="utf-8")))
    return found


def about(text: str) -> str:
    """The opening comment of a scenario."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    words = " ".join(lines).split()
    return " ".join(words[:MOST_WORDS]) + (" …" if len(words) > MOST_WORDS else "")


def examples() -> list[dict[str, object]]:
    """The examples of the page."""
    listed = []
    for name, title in EXAMPLES:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        # The line that names the schema is for editors on a disk.
        text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#:"))
        files = files_of(path)
        listed.append(
            {"name": name, "title": title, "about": about(text), "text": text, "files": files}
        )
    return listed


def build(folder: Path) -> None:
    """Fills a folder with the playground."""
    engine = built_engine()
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((HERE / "page").iterdir()):
        shutil.copyfile(path, folder / path.name)
    shutil.copyfile(HERE / "editor" / "codemirror.js", folder / "codemirror.js")
    shutil.copyfile(HERE / "editor" / "LICENSE", folder / "codemirror.LICENSE")
    web = ROOT / "python" / "backlane" / "report" / "web"
    script = (web / "uplot.js").read_text(encoding="utf-8")
    (folder / "uplot.js").write_text(f"{script}\nexport default uPlot;\n", encoding="utf-8")
    for name in ("charts.js", "dom.js", "map.js", "map.css", "tables.js", "uplot.css"):
        shutil.copyfile(web / name, folder / name)
    shutil.copyfile(web / "uplot.LICENSE", folder / "uplot.LICENSE")
    shutil.copyfile(engine, folder / "engine.wasm")
    (folder / "examples.json").write_text(json.dumps(examples()), encoding="utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]))
