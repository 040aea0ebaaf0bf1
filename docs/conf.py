"""How the documentation is built: Sphinx, Markdown through MyST, the furo theme; nothing is fetched."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

from sottovoce import __version__

project = "Sottovoce"
author = "the Sottovoce contributors"
copyright = "the Sottovoce contributors; Apache License 2.0"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
nitpicky = True
nitpick_ignore_regex = [
    # Types of other packages, and aliases that only the signatures name.
    (r"py:.*", r"(numpy|np|collections\.abc|fractions|matplotlib|typing|abc|Self|optional|callable)\b.*"),
    (r"py:class", r"(NDArray|ArrayLike|Floats|Counts|Batch|Report|Reports|Seed|Any|Source|Codec|Indices|Payloads|Score)"),
    (r"py:class", r"(NDArray|ndarray|Fraction|Iterator|Iterable|Callable|Sequence)\b.*"),
]

myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "separated"
python_use_unqualified_type_names = True
napoleon_google_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "Sottovoce"
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Formulas become MathML, which browsers draw by themselves; the default fetches a script."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
