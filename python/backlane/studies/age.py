"""The pages of studies say by themselves when an older model made them.

`python -m backlane.studies.age` puts the notice into every page below ``studies/``, or takes it
out; a test holds the pages to it. A page that `backlane reproduce` writes needs none.
"""

from __future__ import annotations

import re
from pathlib import Path

from backlane import native
from backlane.files import write_text

_MADE = re.compile(r"^Made on .*?, model versions? ([\d, ]+), sources at commit", re.MULTILINE)
_NOTICE = re.compile(r"> \*\*Older model\.\*\* .*\n\n")


def with_notice(page: str, here: str) -> str:
    """The text of a page with the notice that its age asks for.

    Args:
        page: the text, with or without a notice.
        here: the model version of this program.

    Raises:
        ValueError: when the page does not say which model version made it.
    """
    page = _NOTICE.sub("", page)
    made = _MADE.search(page)
    if made is None:
        raise ValueError("the page does not say which model version made it")
    if made[1] == here:
        return page
    notice = (
        f"> **Older model.** Model version {made[1]} made this page; this version of Backlane has "
        f"{here}. The [changelog](../../../CHANGELOG.md) says what moved.\n\n"
    )
    return page[: made.start()] + notice + page[made.start() :]


def pages(studies: Path) -> list[Path]:
    """The pages of all studies in a folder."""
    return sorted(path.parent / "README.md" for path in studies.glob("**/study.toml"))


if __name__ == "__main__":
    for path in pages(Path("studies")):
        write_text(path, with_notice(path.read_text(), native.module().model_version()))
