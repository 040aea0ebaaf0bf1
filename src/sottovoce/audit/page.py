"""The soundness of every mechanism at several epsilons, on one page of HTML that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

from sottovoce.audit import AuditResult

__all__ = ["PUBLISHED_PREFIX", "render"]

PUBLISHED_PREFIX = "published_"
"""Begins the names of the paper's printed algorithms."""


def render(results: Sequence[AuditResult]) -> str:
    """The page as text; every figure is of `results`.

    Examples
    --------
    >>> from sottovoce.audit import audit
    >>> "randomized_response" in render([audit("randomized_response", 1.0, samples=1000)])
    True
    """
    from sottovoce import __version__

    epsilons = sorted({one.epsilon for one in results})
    ours = [one for one in results if not one.mechanism.startswith(PUBLISHED_PREFIX)]
    printed = [one for one in results if one.mechanism.startswith(PUBLISHED_PREFIX)]
    heads = "".join(f"<th>epsilon {epsilon:g}</th>" for epsilon in epsilons)
    template = Template(files("sottovoce.audit").joinpath("page.html.template").read_text(encoding="utf-8"))
    return template.substitute(
        verdict=_verdict(ours),
        alpha=f"{max((one.alpha for one in results), default=0.0):g}",
        heads=heads,
        deployable=_rows(ours, epsilons),
        published=_published(_rows(printed, epsilons), heads),
        details="\n".join(map(_detail, results)),
        version=escape(__version__),
    )


def _verdict(ours: Sequence[AuditResult]) -> str:
    unsound = [one for one in ours if not one.sound]
    names = len({one.mechanism for one in ours})
    if not unsound:
        whose = "The one mechanism here is" if names == 1 else f"All {names} mechanisms are"
        return f'<b class="yes">{whose} sound</b> at every epsilon on this page.'
    told = ", ".join(f"{escape(one.mechanism)} at {one.epsilon:g}" for one in unsound)
    return f'<b class="no">{len(unsound)} of {len(ours)} audits failed:</b> {told}.'


def _published(rows: str, heads: str) -> str:
    if not rows:
        return ""
    head = f"<thead><tr><th>algorithm</th>{heads}</tr></thead>"
    return (
        "<h2>What the paper prints</h2>\n<p>These algorithms are kept to be measured. No survey can name them.</p>\n"
        f'<div class="scroll"><table>{head}<tbody>\n{rows}\n</tbody></table></div>'
    )


def _rows(results: Sequence[AuditResult], epsilons: Sequence[float]) -> str:
    found = {(one.mechanism, one.epsilon): one for one in results}
    names = dict.fromkeys(one.mechanism for one in results)
    return "\n".join(
        f"<tr><th>{escape(name)}</th>{''.join(_cell(found.get((name, epsilon))) for epsilon in epsilons)}</tr>"
        for name in names
    )


def _number(epsilon: float) -> str:
    return "∞" if math.isinf(epsilon) else f"{epsilon:.4f}"


def _cell(one: AuditResult | None) -> str:
    if one is None:
        return "<td></td>"
    certified = 100 * min(1.0, one.certified_lower_bound / one.epsilon)
    exact = 100 * min(1.0, one.exact_epsilon / one.epsilon)
    bar = (
        '<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect width="100" height="8" fill="var(--card)"/>'
        f'<rect width="{certified:.1f}" height="8" fill="var(--fill)"/>'
        f'<rect x="{max(0.0, exact - 1):.1f}" width="1" height="8" fill="var(--ink)"/></svg>'
    )
    word = '<span class="yes">sound</span>' if one.sound else '<span class="no">NOT sound</span>'
    return (
        f"<td>{bar}{_number(one.exact_epsilon)} exact<br>{_number(one.certified_lower_bound)} certified<br>{word}</td>"
    )


def _detail(one: AuditResult) -> str:
    how = one.method if one.sound or not one.witness else f"{one.method}; {one.witness}"
    cells = (
        f"{one.epsilon:g}",
        _number(one.exact_epsilon),
        _number(one.certified_lower_bound),
        f"{one.domain_size:,}",
        how,
    )
    return f"<tr><th>{escape(one.mechanism)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
