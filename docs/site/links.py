"""Links that open a scenario in the playground: its model version and text in the fragment."""

from __future__ import annotations

import base64
import json
import re
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "playground"))

import build  # noqa: E402

PLAYGROUND = "playground/index.html"
"""Where the site has it."""

MOST_CHARACTERS = 16000
"""The longest fragment, as in `share.js`."""

_FILE = re.compile(r'"python:|"[^"\n]*\.(?:csv|parquet|py|down|up|trace|txt|json)"')
"""What a scenario contains that needs a file beside it."""


def model_version() -> str:
    """The version of the models that the sources have."""
    text = (ROOT / "crates" / "scenario" / "src" / "lib.rs").read_text("utf-8")
    found = re.search(r'MODEL_VERSION: &str = "([^"]*)"', text)
    assert found, "crates/scenario has no MODEL_VERSION"
    return found[1]


def fragment(text: str, files: dict[str, str] | None = None) -> str:
    """The fragment of the address of a scenario with its files, as `share.js` reads it."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = json.dumps({"text": text, "files": files or {}}).encode()
    packed = base64.urlsafe_b64encode(compressor.compress(content) + compressor.flush())
    return f"#v={model_version()}&s={packed.decode().rstrip('=')}"


def is_complete(text: str) -> bool:
    """Whether a text is a scenario that needs no file."""
    return is_scenario(text) and not _FILE.search(text)


def is_scenario(text: str) -> bool:
    """Whether a text describes a network or a slotted model."""
    return re.search(r"^(?:\[?topology\b|\[?slotted\b)", text, re.MULTILINE) is not None


def address(path: Path) -> str | None:
    """The address of a scenario file relative to the site, if a link can carry it."""
    name = path.relative_to(ROOT).as_posix()
    if name in dict(build.EXAMPLES):
        return f"{PLAYGROUND}#example={name}"
    text = path.read_text("utf-8")
    if not is_scenario(text) or '"python:' in text:
        return None
    found = fragment(text, build.files_of(path))
    return f"{PLAYGROUND}{found}" if len(found) <= MOST_CHARACTERS else None


def examples() -> list[tuple[str, str]]:
    """Path and title of the examples of the playground."""
    return list(build.EXAMPLES)
