"""The script of a report: modules of the folder ``web`` as one text, and its data.

The page has both inside, refers to nothing, and allows no other script: its content security policy
names the hash of this one (CSP Level 3 §2.3.1) and has neither ``unsafe-eval`` nor
``unsafe-inline`` for scripts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

MODULES = ("dom.js", "tables.js", "charts.js", "map.js", "report.js")
"""In the order of what they need; the names that they declare are different."""


def _web(name: str) -> str:
    return (files("backlane.report") / "web" / name).read_text(encoding="utf-8")


@cache
def script() -> str:
    """The whole script: uPlot, and the modules without their imports and exports."""
    parts = []
    for name in MODULES:
        text = re.sub(r"^import [^\n]*;\n", "", _web(name), flags=re.MULTILINE)
        parts.append(re.sub(r"^export (?=function|const|class)", "", text, flags=re.MULTILINE))
    body = "\n".join(parts)
    return f"{_web('uplot.js')}\n(() => {{\n'use strict';\n{body}}})();\n"


@cache
def style() -> str:
    """The styles of charts and maps."""
    return _web("uplot.css") + _web("map.css")


def policy() -> str:
    """The content security policy of a page with this script."""
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def json_text(value: Any) -> str:
    """JSON that can stand in a script element: no character ends it or begins a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
