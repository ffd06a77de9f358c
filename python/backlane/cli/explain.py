"""`backlane explain`: the long text of an error code."""

from __future__ import annotations

import click

from backlane import errors, native
from backlane.cli import output
from backlane.cli.app import Verb, json_option


def _text(code: str) -> str | None:
    if code in errors.CODES:
        return errors.explain(code)
    found = native.module().explain(code)
    return None if found is None else str(found)


@click.command(
    cls=Verb,
    example="backlane explain S014\nbacklane explain",
    help="Explain an error code; without one, list all.",
)
@click.argument("code", required=False)
@json_option
def command(code: str | None, as_json: bool) -> None:
    """Explain a code or list them."""
    known = [*native.module().codes(), *errors.CODES]
    if code is None:
        texts = {name: _text(name) or "" for name in known}
        if as_json:
            output.emit({"codes": texts})
            return
        for name, long in texts.items():
            title = long.splitlines()[0] if long else ""
            output.tell(f"{name}  {title.removeprefix(f'{name}: ')}")
        return
    code = code.upper()
    text = _text(code)
    if text is None:
        from difflib import get_close_matches

        near = get_close_matches(code, known, 1)
        raise errors.BacklaneError(
            "R014",
            f'there is no code "{code}"',
            "explain CODE",
            f"did you mean {near[0]}?" if near else "`backlane explain` lists all",
        )
    if as_json:
        output.emit({"code": code, "explanation": text})
    else:
        output.tell(text)
