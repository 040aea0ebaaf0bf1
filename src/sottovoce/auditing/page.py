"""The soundness of every mechanism at several epsilons, on one page of HTML that needs nothing else."""

from __future__ import annotations

import math
import platform
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from string import Template

from sottovoce.auditing.result import AuditResult

__all__ = ["build_facts", "build_line", "method_in_words", "render"]


def render(results: Sequence[AuditResult]) -> str:
    """The page as text; every figure is of `results`.

    Examples
    --------
    >>> from sottovoce.auditing import audit
    >>> "randomized_response" in render([audit("randomized_response", epsilon=1.0, domain_size=3, samples=1000)])
    True
    """
    epsilons = sorted({result.epsilon for result in results})
    heads = "".join(f"<th>epsilon {epsilon:g}</th>" for epsilon in epsilons)
    template = Template(files("sottovoce.auditing").joinpath("page.html.template").read_text(encoding="utf-8"))
    return template.substitute(
        verdict=_verdict(results),
        alpha=f"{max((result.alpha for result in results), default=0.0):g}",
        approximate=_approximate(results),
        heads=heads,
        deployable=_rows(results, epsilons),
        details=_details(results),
        assumptions=_assumptions(results),
        made=escape(build_line("sottovoce audit --html", build_facts())),
    )


def method_in_words(result: AuditResult) -> str:
    """How an audit came to its figures; where it failed, also on what.

    Examples
    --------
    >>> from sottovoce.auditing import audit
    >>> method_in_words(audit("gaussian", epsilon=1.0, domain_size=2, samples=100, seconds=0.1)).partition(":")[0]
    'at delta 1e-06'
    """
    allowed = f"at delta {result.delta:g}: " if result.delta else ""
    return allowed + (result.method if result.sound or not result.witness else f"{result.method}; {result.witness}")


def _verdict(ours: Sequence[AuditResult]) -> str:
    unsound = [result for result in ours if not result.sound]
    names = len({result.mechanism for result in ours})
    if not unsound:
        whose = "The one mechanism here is" if names == 1 else f"All {names} mechanisms are"
        proved = sum(result.verdict == "proved" for result in ours)
        shares = f"{proved} of {len(ours)} audits are proved for every value, the others sampled, at the sizes below."
        return f'<b class="yes">{whose} sound</b> at every epsilon on this page. {shares}'
    failed = ", ".join(f"{escape(result.mechanism)} at {result.epsilon:g}" for result in unsound)
    return f'<b class="no">{len(unsound)} of {len(ours)} audits failed:</b> {failed}.'


def _approximate(ours: Sequence[AuditResult]) -> str:
    """A remark on mechanisms with a delta: their exact epsilon is not known, only an upper bound."""
    if not any(result.delta for result in ours):
        return ""
    return (
        " A mechanism with a delta keeps its epsilon but for an event of that probability; its epsilon is <b>at "
        "most</b> the one here, and the exact one may be smaller."
    )


def _rows(results: Sequence[AuditResult], epsilons: Sequence[float]) -> str:
    cells = {(result.mechanism, result.epsilon): result for result in results}
    deltas = {result.mechanism: result.delta for result in results}
    return "\n".join(
        f"<tr><th>{escape(name)}{f'<small>delta {delta:g}</small>' if delta else ''}</th>"
        f"{''.join(_cell(cells.get((name, epsilon)), epsilon) for epsilon in epsilons)}</tr>"
        for name, delta in deltas.items()
    )


def _number(epsilon: float) -> str:
    return "∞" if math.isinf(epsilon) else f"{epsilon:.4f}"


def _cell(result: AuditResult | None, epsilon: float) -> str:
    head = f'<td data-head="epsilon {epsilon:g}">'
    if result is None:
        return f"{head}</td>"
    certified = 100 * min(1.0, result.certified_lower_bound / result.epsilon)
    exact = 100 * min(1.0, result.exact_epsilon / result.epsilon)
    bar = (
        '<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect width="100" height="8" fill="var(--card)"/>'
        f'<rect width="{certified:.1f}" height="8" fill="var({"--fill" if result.sound else "--bad"})"/>'
        f'<rect x="{max(0.0, exact - 1):.1f}" width="1" height="8" fill="var(--ink)"/></svg>'
    )
    known = "at most" if result.delta else "exact"
    proof = (
        f"{_number(result.certified_lower_bound)} certified" if result.certified_lower_bound > 0 else "none certified"
    )
    word = f'<span class="yes">{result.verdict}</span>' if result.sound else '<span class="no">BROKEN</span>'
    return f"{head}{bar}{known} {_number(result.exact_epsilon)}<br>{proof}<br>{word}</td>"


def _details(results: Sequence[AuditResult]) -> str:
    """A row for all epsilons of a mechanism that were audited in the same words."""
    alike: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for result in results:
        alike[result.mechanism, result.size.removeprefix("for "), method_in_words(result)].append(result.epsilon)
    order = list(dict.fromkeys(result.mechanism for result in results))
    return "\n".join(
        f"<tr><th>{escape(name)}</th>"
        f'<td data-head="stated epsilon">{", ".join(f"{epsilon:g}" for epsilon in epsilons)}</td>'
        f'<td data-head="size">{escape(size)}</td><td>{escape(how)}</td></tr>'
        for (name, size, how), epsilons in sorted(alike.items(), key=lambda item: order.index(item[0][0]))
    )


def _assumptions(results: Sequence[AuditResult]) -> str:
    """Every assumption once, with the mechanisms that rely on it."""
    relying: defaultdict[str, list[str]] = defaultdict(list)
    for result in results:
        for assumption in result.assumptions:
            if result.mechanism not in relying[assumption]:
                relying[assumption].append(result.mechanism)
    return "\n".join(
        f"<li>{escape(assumption)} <small>{escape(', '.join(names))}</small></li>"
        for assumption, names in relying.items()
    )


def build_facts() -> dict[str, str]:
    """Versions, system and time: measurements are evidence about one build.

    Examples
    --------
    >>> list(build_facts())
    ['Sottovoce', 'Python', 'NumPy', 'system', 'made']
    """
    import numpy

    from sottovoce.core.version import __version__

    return {
        "Sottovoce": __version__,
        "Python": platform.python_version(),
        "NumPy": numpy.__version__,
        "system": f"{platform.system()} on {platform.machine()}",
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    }


def build_line(command: str, build: Mapping[str, str]) -> str:
    """What made the page, in a sentence for its foot."""
    versions = ", ".join(f"{name} {build[name]}" for name in ("Sottovoce", "Python", "NumPy"))
    return f"Made by {command}: {versions}, {build['system']}, {build['made']}."
