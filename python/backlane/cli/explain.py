"""`backlane explain`: the long text of an error code, or a key of scenario files."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from backlane import errors, native
from backlane.cli import output
from backlane.cli.app import Verb, json_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

CODE = re.compile(r"[a-z]\d+", re.IGNORECASE)


def _text(code: str) -> str | None:
    if code in errors.CODES:
        return errors.explain(code)
    found = native.module().explain(code)
    return None if found is None else str(found)


def complete_code(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """The codes that begin with `begun`, with their titles."""
    from click.shell_completion import CompletionItem

    found = [code for code in _known() if code.startswith(begun.upper())]
    titles = {code: (_text(code) or "").partition("\n")[0].partition(": ")[2] for code in found}
    return [CompletionItem(code, help=title) for code, title in titles.items()]


@click.command(
    cls=Verb,
    example="backlane explain S014\nbacklane explain routing.hello_interval\nbacklane explain",
    help="Explain an error code or a key of scenario files; without one, list all codes.",
)
@click.argument("word", metavar="[CODE|KEY]", required=False, shell_complete=complete_code)
@json_option
def command(word: str | None, as_json: bool) -> None:
    """Explain a code or a key, or list the codes."""
    if word is None:
        _list(as_json)
    elif CODE.fullmatch(word):
        _code(f"{word[0].upper()}{word[1:].zfill(3)}", as_json)
    else:
        _key(word, as_json)


def _known() -> list[str]:
    return [*native.module().codes(), *errors.CODES]


def _list(as_json: bool) -> None:
    texts = {name: _text(name) or "" for name in _known()}
    if as_json:
        output.emit({"codes": texts})
        return
    for name, long in texts.items():
        title = long.splitlines()[0] if long else ""
        output.tell(f"{name}  {title.removeprefix(f'{name}: ')}")


def _code(code: str, as_json: bool) -> None:
    text = _text(code)
    if text is None:
        near = get_close_matches(code, _known(), 1)
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


def _key(path: str, as_json: bool) -> None:
    text = native.module().explain_key(path)
    if text is None:
        near = native.module().nearest_key(path)
        raise errors.BacklaneError(
            "R014",
            f'there is no key "{path}"',
            "explain KEY",
            f"did you mean {near}?" if near else "the reference of the scenario file lists all",
        )
    if as_json:
        output.emit({"key": path, "explanation": text})
    else:
        output.tell(text)
