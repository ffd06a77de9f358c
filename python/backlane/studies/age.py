"""The notices at the top of a study's page: an older model version made it, or its files changed.

A page that `backlane reproduce` writes needs none. When the model version rises or a file of a
study changes, `python -m backlane.studies.age` writes the notices into every page below
``studies/``; a test requires them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from backlane import native
from backlane.files import write_text
from backlane.studies import changes, claims
from backlane.studies.study import Study, load

_MADE = re.compile(r"^Made on .*?, model versions? ([\d, ]+), sources at commit", re.MULTILINE)
_NOTICE = re.compile(r"> \*\*(?:Older model|Changed study)\.\*\* .*\n\n")


def without_notice(page: str) -> str:
    """The text of a page as it was made."""
    return _NOTICE.sub("", page)


def with_notice(page: str, here: str, *, changed: bool = False) -> str:
    """The text of a page, with a notice below its title if it is out of date.

    Args:
        page: the text, with or without notices.
        here: the model version of this program.
        changed: whether the files of the study have changed since.

    Raises:
        ValueError: when the page does not name its model version.
    """
    page = without_notice(page)
    made = _MADE.search(page)
    if made is None:
        raise ValueError("the page does not name its model version")
    notices = []
    if made[1] != here:
        notices.append(
            f"> **Older model.** Model version {made[1]} made this page; this version of "
            f"Backlane has {here}. The [changelog](../../../CHANGELOG.md) lists the changes.\n\n"
        )
    if changed:
        notices.append(
            "> **Changed study.** The files of this study have changed since this page was made: "
            "its text, verdicts and numbers are those of the files before.\n\n"
        )
    if not notices:
        return page
    title, _, rest = page.partition("\n\n")
    return f"{title}\n\n{''.join(notices)}{rest}"


def missing(study: Study, page: str) -> list[str]:
    """The words of a study's files that are not on its page."""
    page = without_notice(page)
    words = [
        f"# {study.title}\n\n{study.about.strip()}\n\n",
        f"by `backlane reproduce {study.name}`",
    ]
    known = claims.load(study)
    before = changes.load(study.folder, {claim.id for claim in known})
    if before is not None:
        words += [changes.row_start(one.id, before) for one in known]
        words += changes.not_shown(before, page)
    for one in known:
        words.append(f"| {one.id} | {one.source} | {one.statement} | ")
        if f"- **{one.id}**: " in page:
            words.append(f"- **{one.id}**: {one.cause or 'cause not found.'}\n")
        if one.former is not None:
            words += [f"| {one.id} | {one.former.statement} | ", f" | {one.former.reason} |\n"]
    words += [f"### {spec.id}: {spec.title}\n" for spec in study.figures]
    for table in study.sensitivity:
        reading = f"{table.reading}\n\n" if table.reading else ""
        words.append(f"### {table.title}\n\n{reading}")
    words += [
        f"| {row.parameter} | {row.value} | {row.reason} | {row.matters} |\n"
        for row in study.assumptions
    ]
    for experiment in study.experiments.values():
        link = os.path.relpath(experiment.file, study.folder)
        words.append(f"| [{experiment.name}]({link}) | {experiment.shows} | ")
    words += [f"- **{other.name}**: " for other in study.alternatives]
    return [word for word in words if word not in page]


def current(path: Path) -> str:
    """The text that a page is to have."""
    page = path.read_text(encoding="utf-8")
    changed = bool(missing(load(path.parent), page))
    return with_notice(page, native.module().model_version(), changed=changed)


def pages(studies: Path) -> list[Path]:
    """The pages of all studies below a folder."""
    return sorted(path.parent / "README.md" for path in studies.glob("**/study.toml"))


if __name__ == "__main__":
    for path in pages(Path("studies")):
        write_text(path, current(path))
