"""The notice at the top of a study's page that an older model version made.

A page that `backlane reproduce` writes needs none. When the model version rises,
`python -m backlane.studies.age` writes the notice into every page below ``studies/``; a test
requires it.
"""

from __future__ import annotations

import re
from pathlib import Path

from backlane import native
from backlane.files import write_text

_MADE = re.compile(r"^Made on .*?, model versions? ([\d, ]+), sources at commit", re.MULTILINE)
_NOTICE = re.compile(r"> \*\*Older model\.\*\* .*\n\n")


def without_notice(page: str) -> str:
    """The text of a page as it was made."""
    return _NOTICE.sub("", page)


def with_notice(page: str, here: str) -> str:
    """The text of a page, with a notice below its title if another model version made it.

    Args:
        page: the text, with or without a notice.
        here: the model version of this program.

    Raises:
        ValueError: when the page does not name its model version.
    """
    page = without_notice(page)
    made = _MADE.search(page)
    if made is None:
        raise ValueError("the page does not name its model version")
    if made[1] == here:
        return page
    title, _, rest = page.partition("\n\n")
    return (
        f"{title}\n\n> **Older model.** Model version {made[1]} made this page; this version of "
        f"Backlane has {here}. The [changelog](../../../CHANGELOG.md) lists the changes.\n\n{rest}"
    )


def pages(studies: Path) -> list[Path]:
    """The pages of all studies below a folder."""
    return sorted(path.parent / "README.md" for path in studies.glob("**/study.toml"))


if __name__ == "__main__":
    for path in pages(Path("studies")):
        write_text(path, with_notice(path.read_text(), native.module().model_version()))
