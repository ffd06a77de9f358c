"""Configuration of the documentation site; `make site` builds it.

The source folder is the repository itself, so that pages stay where they are and their relative
links work on a code host as well as in the site. `extension.py` has what Sphinx lacks for that.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "Backlane"
author = _PROJECT["authors"][0]["name"]
version = release = _PROJECT["version"]
html_title = f"Backlane {version}"

extensions = [
    "myst_parser",
    "autoapi.extension",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "extension",
]

root_doc = "docs/site/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "docs/site/api/**.rst",
    "studies/**/README.md",
    "validation/**/README.md",
    "examples/**/README.md",
    "crates/lte/data/README.md",
    "fuzz/README.md",
]
# Folders that are not searched for pages; some are large.
exclude_patterns = [
    ".*", "**/.*", "target", "fuzz/target", "fuzz/corpus", "results", "tests", "python",
    "**/__pycache__", "**/node_modules",
]  # fmt: skip

# Markdown. Anchors are those of a code host.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 6
smartquotes = False  # keys and values are copied from pages

# The Python API, read from the source without an import.
autoapi_dirs = [str(ROOT / "python" / "backlane")]
autoapi_root = "docs/site/api"
autoapi_add_toctree_entry = False
autoapi_keep_files = False
autoapi_member_order = "groupwise"
autoapi_options = ["members", "undoc-members", "show-inheritance", "imported-members"]
autoapi_python_class_content = "both"
add_module_names = False
python_use_unqualified_type_names = True
default_role = "code"  # docstrings have code between single back-quotes
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

# The output: every font, style and script is a local file.
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["root"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
