"""How the documentation is built: Sphinx, Markdown through MyST, the furo theme; nothing is fetched."""

from __future__ import annotations

import re
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
# Types in signatures, many of them of other packages. Pages link in Markdown, and there everything is checked.
nitpick_ignore_regex = [(r"py:.*", r".*")]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
highlight_language = "none"  # indented blocks are formulas; code says which language it is

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {
    name: name for name in ("ArrayLike", "Batch", "Channel", "Counts", "Floats", "Indices", "Report", "Seed")
}
python_use_unqualified_type_names = True
napoleon_google_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "Sottovoce"
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"


def _mathml(node: nodes.Element, as_block: bool) -> str:
    # The converter does not know the starred form, whose limits stand below in a display anyway.
    formula = node.astext().replace(r"\operatorname*", r"\operatorname")
    return str(tex2mathml(formula, as_block=as_block))


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _keep(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    if what == "property":
        _kept[name] = list(lines)


def _restore(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    if what == "property":
        lines[:] = _kept[name]


_kept: dict[str, list[str]] = {}


def _plain_aliases(app: Sphinx, what: str, name: str, obj: object, options: object, *signature: str | None) -> Any:
    """Sphinx writes an alias that stands in a union as TypeAliasForwardRef('Name'); Name is meant."""
    return tuple(part and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", part) for part in signature)


def setup(app: Sphinx) -> None:
    """Formulas become MathML, which browsers draw by themselves: the default fetches a script.

    Docstrings of properties bypass napoleon (priority 500), which takes words before a colon for a type.
    """
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("autodoc-process-docstring", _keep, priority=400)
    app.connect("autodoc-process-docstring", _restore, priority=600)
    app.connect("autodoc-process-signature", _plain_aliases)
