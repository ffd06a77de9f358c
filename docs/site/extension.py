"""What Sphinx lacks for pages that are also read on a code host.

* A block that starts with a file name (```` ```toml grid.toml ````) has that name as its caption.
* A link to a folder leads to the list of its files on `folders.md`.
* Below a block that is a complete scenario, after a link to a scenario file, and in the list of the
  directive `questions`, is a link that opens it in the playground.
* The directive `gallery` shows every figure of a folder of pages, each linking to its section.
* The pages of the Python package have the modules of its interface only.
* A page that would load anything from the network fails the build.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any

import links
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

PAGES = "README.md"
FOLDERS = "docs/site/folders"

_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?$", re.MULTILINE)
_SCENARIO = re.compile(r"^```toml (\S+\.toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PLAIN = {"csv"}
"""Languages that Pygments does not know."""
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING_OR_IMAGE = re.compile(
    r"^#+ +(?P<title>.*)$|!\[(?P<alt>[^]]*)\]\((?P<path>[^)\s]+)\)", re.M
)


def name_blocks(_app: Sphinx, _docname: str, content: list[str]) -> None:
    """Give blocks that are whole files their names as captions, and unknown languages none."""

    def block(found: re.Match[str]) -> str:
        language = "text" if found[1] in _PLAIN else found[1]
        if not found[2] or "." not in found[2]:
            return f"```{language}"
        return f"```{{code-block}} {language}\n:caption: {found[2]}\n"

    content[0] = _BLOCK.sub(block, content[0])


def link_scenarios(_app: Sphinx, docname: str, content: list[str]) -> None:
    """Add a link to the playground below every block that is a complete scenario."""
    up = "../" * docname.count("/")

    def block(found: re.Match[str]) -> str:
        if not links.is_complete(found[2]):
            return found[0]
        address = html.escape(f"{up}{links.PLAYGROUND}{links.fragment(found[2])}")
        return f"{found[0]}\n\n{raw_link(address, f'Run {found[1]} in your browser')}"

    content[0] = _SCENARIO.sub(block, content[0])


def raw_link(address: str, text: str) -> str:
    """A link to what the build adds to the site later, which Sphinx cannot look up."""
    return f'```{{raw}} html\n<p class="run"><a href="{address}">{html.escape(text)}</a></p>\n```\n'


def set_dashes(_app: Sphinx, document: nodes.document) -> None:
    """Set the dash between a parameter and its text, which Sphinx leaves to smart quotes."""
    for text in list(document.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" \N{EN DASH} "))


def slug(title: str) -> str:
    """The anchor of a heading, as a code host makes it."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def figures_of(page: Path) -> tuple[str, list[tuple[str, str, str]]]:
    """The title of a page, and anchor, description and path of each of its figures."""
    title, anchor = "", ""
    figures = []
    for found in _HEADING_OR_IMAGE.finditer(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        if found["title"] is not None:
            title = title or found["title"]
            anchor = slug(found["title"])
        else:
            figures.append((anchor, found["alt"], found["path"]))
    return title, figures


class Gallery(SphinxDirective):
    """The figures of all pages in a folder of the repository."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        here = Path(self.env.doc2path(self.env.docname)).parent
        sections: list[nodes.Node] = []
        for page in sorted((root / self.arguments[0]).rglob(PAGES)):
            self.env.note_dependency(str(page))
            title, figures = figures_of(page)
            if not figures:
                continue
            link = Path(os.path.relpath(page, here)).as_posix()
            section = nodes.section(ids=[nodes.make_id(str(page.parent.relative_to(root)))])
            section += nodes.title(title, title)
            section += self.parse_text_to_nodes(f"From [{title}]({link}).")
            grid = nodes.container(classes=["gallery"])
            for anchor, alt, path in figures:
                image = (Path(link).parent / path).as_posix()
                item = nodes.container(classes=["gallery-item"])
                item += self.parse_text_to_nodes(f"[![{alt}]({image})]({link}#{anchor})\n\n{alt}")
                grid += item
            section += grid
            sections.append(section)
        if not sections:
            raise self.error(f"no page in {self.arguments[0]} has a figure")
        return sections


class Questions(SphinxDirective):
    """The examples of the playground, each with its file and a link that opens it there."""

    def run(self) -> list[nodes.Node]:
        up = "../" * self.env.docname.count("/")
        rows = []
        for path, title in links.examples():
            address = html.escape(f"{up}{links.PLAYGROUND}#example={path}")
            run = f'<a href="{address}">{html.escape(title)}</a>'
            rows.append(f"<li>{run} <code>{html.escape(path)}</code></li>")
        return [nodes.raw("", f"<ul>{''.join(rows)}</ul>", format="html")]


class Folder(SphinxDirective):
    """The files of a folder of the repository, each a link."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        here = Path(self.env.doc2path(self.env.docname)).parent
        folder = root / self.arguments[0]
        files = sorted(
            path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
        )
        if not files:
            raise self.error(f"there is no file in {self.arguments[0]}")
        section = nodes.section(ids=[nodes.make_id(self.arguments[0])])
        section += nodes.title(self.arguments[0], self.arguments[0])
        up = Path(os.path.relpath(folder, here)).as_posix()
        names = (path.relative_to(folder).as_posix() for path in files)
        section += self.parse_text_to_nodes("\n".join(f"- [{n}]({up}/{n})" for n in names))
        return [section]


class FolderLinks(SphinxPostTransform):
    """Resolve links to folders that `folders.md` lists; MyST warns of all others."""

    default_priority = 8  # before MyST's, which is 9

    def run(self, **_more: object) -> None:
        page = self.env.docname
        listed = re.findall(
            r"^```\{folder\} (\S+)$", Path(self.env.doc2path(FOLDERS)).read_text("utf-8"), re.M
        )
        for node in list(self.document.findall(addnodes.pending_xref)):
            path = (Path(self.env.doc2path(page)).parent / node["reftarget"]).resolve()
            if node["reftype"] != "myst" or not path.is_dir():
                continue
            name = path.relative_to(self.env.srcdir).as_posix()
            if name in listed:
                uri = self.app.builder.get_relative_uri(page, FOLDERS)
                link = nodes.reference("", "", internal=True, refuri=f"{uri}#{nodes.make_id(name)}")
                link += node.children
                node.replace_self(link)


class ScenarioLinks(SphinxPostTransform):
    """After a link to a scenario file, add one that opens it in the playground."""

    default_priority = 500  # after links are resolved

    def run(self, **_more: object) -> None:
        here = Path(self.env.doc2path(self.env.docname)).parent
        up = "../" * self.env.docname.count("/")
        for node in list(self.document.findall(addnodes.download_reference)):
            path = (here / node["reftarget"]).resolve()
            if not path.is_file():
                path = (Path(self.env.srcdir) / node["reftarget"].lstrip("/")).resolve()
            if path.suffix != ".toml" or not path.is_file():
                continue
            found = links.address(path)
            if found:
                to = html.escape(f"{up}{found}")
                title = html.escape(f"Run {path.name} in your browser")
                link = f' <a class="run" href="{to}" title="{title}" aria-label="{title}">▶</a>'
                node.parent.insert(node.parent.index(node) + 1, nodes.raw("", link, format="html"))


MODULES = {
    "backlane", "backlane._native", "backlane.bound", "backlane.campaign", "backlane.congestion",
    "backlane.cost", "backlane.errors", "backlane.measures", "backlane.objectives",
    "backlane.plugins", "backlane.ranking", "backlane.recommend", "backlane.report",
    "backlane.results", "backlane.routing", "backlane.stats", "backlane.studies",
    "backlane.studies.metrics",
}  # fmt: skip
"""The modules of the interface; the rest of the package is read for what these export."""


def skip(
    _app: Sphinx, kind: str, name: str, found: Any, skipped: bool, _options: object
) -> bool | None:
    """Whether a member is left out of the pages of the Python package; None keeps the default."""
    if kind in ("module", "package"):
        return name not in MODULES
    module, _, _ = name.rpartition(".")
    if module == "backlane._native":
        # What programs see of it; its functions are behind those of the package.
        return kind not in ("class", "exception")
    if found.imported:
        return module not in ("backlane.bound", "backlane.studies")
    return skipped


_FETCHED = re.compile(
    r"<(?:script|img|iframe|source|audio|video)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^\s>]*"
    r"|<link\b[^>]*\bhref=[\"']?(?:https?:)?//[^\s>]*"
    r"|(?:@import\s+|url\()[\"']?(?:https?:)?//[^\s)]*"
)


def fetched(text: str) -> list[str]:
    """What a browser would load from elsewhere for a page or a style sheet."""
    return _FETCHED.findall(text)


def refuse_hosts(app: Sphinx, failure: Exception | None) -> None:
    """Fail if a page of the site needs the network."""
    if failure:
        return
    for path in sorted(Path(app.outdir).rglob("*")):
        if path.suffix in (".html", ".css") and (found := fetched(path.read_text("utf-8"))):
            raise ExtensionError(f"{path} loads {found[0]}")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("gallery", Gallery)
    app.add_directive("folder", Folder)
    app.add_directive("questions", Questions)
    app.connect("source-read", link_scenarios)
    app.connect("source-read", name_blocks)
    app.add_post_transform(FolderLinks)
    app.add_post_transform(ScenarioLinks)
    app.connect("doctree-read", set_dashes)
    app.connect("build-finished", refuse_hosts)
    app.connect("autoapi-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
