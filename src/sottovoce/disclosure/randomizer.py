"""The chapters on the mechanism, with its parameters, and on its audit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from sottovoce.auditing import AuditResult
from sottovoce.core.text import one_line
from sottovoce.core.words import plural, rounded_down, rounded_up
from sottovoce.disclosure.brief import Brief, UnreadSurvey
from sottovoce.disclosure.claim import Chapter, Claim, not_claimed, unstated

__all__ = ["DOCUMENTS", "audit_chapter", "mechanism_chapter"]

_CHOICES: Final = ("set_selection", "wheel", "one_option")
_SUPPORT: Final = ("randomized_response", "subset_selection", "unary_optimized", "unary_symmetric")
_THEORY: Final = "docs/contributors/theory"
_WIRE: Final = "docs/contributors/wire_format"
_STRUCTURED: Final = ("hierarchical", "haar", "fourier")
DOCUMENTS: Final = {
    **{name: f"{_THEORY}/{name}.md" for name in ("hadamard", "hadamard_blocks", "projective_geometry", "codebook")},
    **{name: f"{_THEORY}/{name}.md" for name in ("gaussian", "rejection", "sphere", "binary", "matrix_channel")},
    **dict.fromkeys(_SUPPORT, f"{_THEORY}/support.md"),
    **dict.fromkeys(_STRUCTURED, f"{_THEORY}/structured_strategies.md"),
    **dict.fromkeys(_CHOICES, f"{_THEORY}/choices.md"),
    "rounded_channel": f"{_THEORY}/numbers.md",
    "tables": f"{_THEORY}/tables.md",
    "products": f"{_THEORY}/relations.md",
    "hashed_prefixes": f"{_THEORY}/words.md",
}
"""The page on which each mechanism is derived and proved."""

_LONGEST: Final = 600
_AUDIT: Final = "docs/audit.md"
_NOT_HERE: Final = "not audited here; run 'sottovoce audit --survey FILE', or disclose it with an audit"
_MEANING: Final = {
    "proved": "the device was run on every outcome of its draws, for every value",
    "sampled": "the device was run on some outcomes, which the method names",
    "broken": "the device does not do what it states",
}


def mechanism_chapter(brief: Brief) -> Chapter:
    """What randomizes, and with which numbers."""
    return Chapter.of("mechanism", "The mechanism", _mechanism(brief))


def _mechanism(brief: Brief) -> Iterator[Claim]:
    names = {"name": "Mechanism", "parameters": "Its parameters", "design": "Strategy", "report": "One report"}
    m, asked = brief.mechanism, brief.asked
    if m is None or asked is None:
        if isinstance(brief.survey, UnreadSurvey):
            yield unstated("name", names["name"], f"it names {brief.survey.mechanism_name}; {brief.unknown}")
            del names["name"]
        yield from (unstated(name, label, brief.unknown) for name, label in names.items())
        return
    document = DOCUMENTS.get(m.name, "") if not brief.foreign else "docs/contributors/adding_a_mechanism.md"
    yield Claim("name", names["name"], f"{m.name}: {m.summary}.", m.name, document)
    module = type(m).__module__.partition(".")[0]
    origin = f"A mechanism of another package: {module}." if brief.foreign else "A mechanism of Sottovoce."
    yield Claim("origin", "Where it comes from", origin, module)
    stated = json.dumps(m.parameters(), sort_keys=True) if m.parameters() else "none of its own"
    yield Claim(
        "parameters",
        names["parameters"],
        one_line(stated, _LONGEST),
        evidence=f"{_WIRE}/designs.md",
    )
    design = asked.design
    summary = f"{design.name}: {design.summary}."
    yield Claim("design", names["design"], summary, design.name, "docs/queries.md#strategies")
    size = f"{plural(m.report_bytes, 'byte')}, the same for every value and every draw."
    yield Claim("report", names["report"], size, m.report_bytes, f"{_WIRE}/report.md")
    rounding = "Probabilities are whole multiples of 2^-64, rounded so that epsilon is never above the stated one."
    if asked.delta:
        rounding = "Noise is drawn in integers by an exact sampler; no floating point decides a probability."
    if brief.doubt:
        yield unstated("arithmetic", "Arithmetic", brief.doubt)
        return
    if brief.foreign:
        rounding = "As its own package states them; the audit compares what it draws with what it states."
    yield Claim("arithmetic", "Arithmetic", rounding, evidence=f"{_THEORY}/rounding.md")
    yield Claim("citation", "From", one_line(m.citation(), _LONGEST), evidence=document)


def audit_chapter(brief: Brief) -> Chapter:
    """The verdict of the real audit, and what it is worth."""
    note = "Run on the very survey: from a person's value to the bytes that leave the device."
    return Chapter.of("audit", "The audit", _audit(brief), note)


def _audit(brief: Brief) -> Iterator[Claim]:
    result = brief.audit.result
    if result is None:
        label = "Verdict"
        if brief.unknown:
            yield unstated("verdict", label, brief.unknown, _AUDIT)
        elif brief.doubt:
            yield unstated("verdict", label, brief.doubt, _AUDIT)
        else:
            yield not_claimed("verdict", label, _NOT_HERE, _AUDIT)
        return
    verdict = f"{result.verdict.upper() if not result.sound else result.verdict}: {_MEANING[result.verdict]}."
    yield Claim("verdict", "Verdict", verdict, result.verdict, f"{_AUDIT}#three-verdicts")
    yield Claim("method", "What was run", _sentence(one_line(result.method, _LONGEST)), evidence=_AUDIT)
    if not result.sound:
        yield Claim("witness", "What shows it", one_line(result.witness, _LONGEST), evidence=_AUDIT)
    yield from _figures(result)
    if result.assumptions:
        yield Claim(
            "assumptions", "What the verdict relies on", _sentence("; ".join(result.assumptions)), evidence=_AUDIT
        )
    made = brief.audit.made
    when = "not recorded" if made is None else f"{made:%Y-%m-%d %H:%M} UTC"
    yield Claim("when", "When it ran", when, None if made is None else f"{made:%Y-%m-%dT%H:%M:%SZ}")
    yield Claim("budget", "Its budget", f"{brief.audit.budget}.")
    of = "of the survey itself" if result.survey == brief.survey.id else "of the first period; all have one design"
    yield Claim("subject", "What was audited", f"{result.survey} ({of})", result.survey)


def _figures(result: AuditResult) -> Iterator[Claim]:
    lower = result.certified_lower_bound
    bound = f"epsilon is at least {rounded_down(lower, 4)}" if lower > 0 else "nothing"
    words = f"Sampled reports alone prove: {bound} (wrong with probability {result.alpha:g} at most)."
    yield Claim("lower_bound", "Certified from reports alone", words, lower, f"{_AUDIT}#the-empirical-audit")
    if result.fault_size:
        words = f"A fault in more than {rounded_up(result.fault_size)} of all reports would have been seen."
        yield Claim("fault_size", "What could have been missed", words, result.fault_size, _AUDIT)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
