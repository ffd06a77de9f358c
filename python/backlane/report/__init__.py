"""Reports: the answer, the figures, and the method."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backlane.errors import BacklaneError
from backlane.files import make_folder, write_bytes, write_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backlane.progress import Progress
    from backlane.report.bounds import Share
    from backlane.report.data import Network
    from backlane.report.figures import Drawn
    from backlane.report.judge import Verdict
    from backlane.results import Results

__all__ = ["Summary", "figure_count", "write"]


@dataclass
class Summary:
    """The content of a report.

    Attributes:
        path: the page.
        networks: the data behind it.
        verdicts: a ranking per network and condition.
        sentences: the answer, one per network.
        slotted: the table of slotted models.
        shares: each contender as a share of what any routing could reach.
        remarks: about the results, such as that an older model version made them.
    """

    path: Path
    networks: list[Network]
    verdicts: list[Verdict]
    sentences: list[str]
    slotted: list[list[str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "answer": self.sentences,
            "remarks": self.remarks,
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "shares": [share.as_dict() for share in self.shares],
        }


def write(
    folders: Sequence[str | Path],
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Judge and draw one or more results folders.

    Args:
        folders: of runs or campaigns; each is a network.
        out: the page; default ``report.html`` in the first folder. Figures go to ``figures/``
            next to it.
        progress: receives the number of figures drawn.

    Raises:
        BacklaneError: when results are missing or damaged, or the page cannot be written.
    """
    from backlane.report import bounds, data, judge, slots
    from backlane.report.page import build
    from backlane.results import Results

    paths = [Path(folder) for folder in folders]
    path = Path(out) if out is not None else paths[0] / "report.html"
    opened = [Results.open(folder) for folder in paths]
    remarks = [results.remark for results in opened if results.remark is not None]
    if any(slots.is_slotted(results) for results in opened):
        return _write_slotted(opened, path, remarks, progress)
    networks = data.load(paths)
    verdicts = {network.name: judge.judge(network) for network in networks}
    sentences = [judge.sentence(network, verdicts[network.name]) for network in networks]
    every = [verdict for network in networks for verdict in verdicts[network.name]]
    make_folder(path.parent)
    shares = {network.name: bounds.shares_of(network) for network in networks}
    page, drawn = build(networks, every, sentences, shares, progress)
    write_text(path, page)
    _write_figures(path.parent / "figures", drawn)
    listed = [share for found in shares.values() for share in found.shares]
    return Summary(path, networks, every, sentences, remarks=remarks, shares=listed)


def _write_slotted(
    opened: Sequence[Results], path: Path, remarks: list[str], progress: Progress | None
) -> Summary:
    from backlane.report import slots

    networks = [results for results in opened if not slots.is_slotted(results)]
    if networks:
        raise BacklaneError(
            "R024", f"{networks[0].name} is no slotted model, others are", networks[0].folder,
            "make a report of each kind",
        )  # fmt: skip
    page, drawn, sentences = slots.build(opened, progress)
    make_folder(path.parent)
    write_text(path, page)
    _write_figures(path.parent / "figures", drawn)
    slotted = [row for results in opened for row in slots.rows(results)]
    return Summary(path, [], [], sentences, slotted, remarks)


def figure_count(folders: Sequence[str | Path]) -> int:
    """How many figures a report over these folders has, for a progress bar.

    Of more contenders than a figure shows, some figures are in parts, which are not counted.
    """
    from backlane.report import series, slots
    from backlane.report.contenders import choices
    from backlane.results import Results

    count = 0
    for folder in folders:
        results = Results.open(Path(folder))
        if slots.is_slotted(results):
            count += slots.path_count(results)
            continue
        keys = choices(results.parameters, results.compared_keys)
        contenders = {tuple(cell[key] for key in keys) for cell in results.cells}
        # A map, and one of the channels of a mesh.
        maps = 1 + results.has("wifi")
        conditions = len(results.cells) // max(len(contenders), 1)
        # The round-trip time and fairness; the finish time if flows have a size.
        means = 2 + results.flows.get_column("size_bytes").is_not_null().any()
        count += means + conditions + len(contenders) * maps
        count += series.count(results, len(contenders))
    return count


def _write_figures(folder: Path, drawn: Sequence[Drawn]) -> None:
    make_folder(folder)
    for one in drawn:
        write_bytes(folder / f"{one.key}.png", one.png)
        write_text(folder / f"{one.key}.svg", '<?xml version="1.0" encoding="utf-8"?>\n' + one.svg)
        write_text(folder / f"{one.key}.csv", one.csv)
        if one.pdf:
            write_bytes(folder / f"{one.key}.pdf", one.pdf)
