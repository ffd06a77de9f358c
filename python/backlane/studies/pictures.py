"""Small pictures: what a page keeps of a figure, whose numbers are beside it as CSV."""

from __future__ import annotations

import io

DPI = 120
"""Resolution of a picture."""
COLORS = 128
"""Colours of its palette; maximum coverage keeps those of thin lines apart."""


def small(png: bytes) -> bytes:
    """A picture at `DPI` with a palette of `COLORS`; a picture with a palette is small already."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as picture:
        if picture.mode == "P":
            return png
        share = DPI / picture.info.get("dpi", (DPI, DPI))[0]
        size = (round(picture.width * share), round(picture.height * share))
        reduced = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    method = Image.Quantize.MAXCOVERAGE
    palette = reduced.quantize(COLORS, method=method, dither=Image.Dither.NONE)
    target = io.BytesIO()
    palette.save(target, "PNG", optimize=True, dpi=(DPI, DPI))
    return target.getvalue()
