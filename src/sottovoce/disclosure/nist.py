"""A mapping to NIST SP 800-226, "Guidelines for Evaluating Differential Privacy Guarantees" (March 2025).

The parts are those of its differential privacy pyramid, from the top, which states the guarantee, to the bottom, on
which it stands; hazards that the text names under a part have a line of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from sottovoce.disclosure.brief import Brief
from sottovoce.disclosure.claim import Chapter, Claim, not_claimed, unstated

__all__ = ["PARTS", "nist_chapter"]

PARTS: Final = {
    "epsilon": "Top: privacy parameter epsilon",
    "delta": "Top: delta, and the variant",
    "unit": "Top: unit of privacy",
    "other_releases": "Top: other releases of the same data",
    "auditing": "Top: privacy auditing",
    "algorithms": "Middle: algorithms and correctness",
    "utility": "Middle: utility",
    "bias": "Middle: bias",
    "query_model": "Bottom: query model",
    "trust_model": "Bottom: trust model",
    "floating_point": "Bottom: side channels: floating point",
    "timing": "Bottom: side channels: timing",
    "backend": "Bottom: side channels: the system below",
    "tuning": "Bottom: side channels: tuned parameters",
    "security": "Bottom: data security",
    "access": "Bottom: access control",
    "collection": "Bottom: data collection exposure",
}
"""Every part, with its place in the pyramid."""


def nist_chapter(brief: Brief, guarantee: Chapter, mechanism: Chapter, audit: Chapter, registry: Chapter) -> Chapter:
    """Our statement on each part, and where the evidence is."""
    written = [
        *_top(guarantee, audit),
        *_middle(brief, mechanism, registry),
        *_bottom(brief, guarantee, mechanism),
    ]
    said = {one.name: one for one in written}
    claims = (replace(said[name], label=label) for name, label in PARTS.items())
    note = "The parts of its differential privacy pyramid. A part is a statement of this page, not of NIST."
    return Chapter.of("nist", "NIST SP 800-226", claims, note)


def _top(guarantee: Chapter, audit: Chapter) -> Iterator[Claim]:
    yield replace(guarantee["local_epsilon"], name="epsilon")
    delta, variant = guarantee["delta"], guarantee["variant"]
    yield replace(delta, text=f"{variant.text} Delta {delta.text}") if delta.state == "stated" else delta
    yield replace(guarantee["unit"], name="unit")
    yield not_claimed(
        "other_releases",
        "",
        "whether the same data are published elsewhere, with or without noise, is for who asks to say; a device "
        "counts only what it answers itself",
        "docs/threat-model.md#a-hostile-analyst",
    )
    verdict = audit["verdict"]
    proof = " It supplements the proof of the mechanism, and does not replace it."
    yield replace(verdict, name="auditing", text=verdict.text + (proof if verdict.state == "stated" else ""))


def _middle(brief: Brief, mechanism: Chapter, registry: Chapter) -> Iterator[Claim]:
    name = mechanism["name"]
    proof = "Nothing but its audit vouches for it." if brief.foreign else "Its proof is in the document named here."
    stated = replace(name, name="algorithms", text=f"{name.text} {proof}" if name.state == "stated" else name.text)
    yield unstated("algorithms", "", brief.doubt) if brief.doubt else stated
    utility = registry["deployment/implementation/utility"]
    yield replace(utility, name="utility", evidence="docs/choosing.md")
    if brief.asked is None:
        yield unstated("bias", "", brief.unknown)
        return
    if brief.asked.question.is_searched:
        yield not_claimed("bias", "", "words are listed because their shares seem large", "docs/words.md")
        return
    biased = brief.asked.design.answer_bias
    raw = "Raw estimates have a bias that their error bound includes." if biased else "Raw estimates are unbiased."
    yield Claim(
        "bias",
        "",
        f"{raw} Projected ones, without negative shares, are not. Noise does not shrink with a group, and so is "
        "larger in proportion for small ones. Who does not take part is not counted.",
        evidence="docs/theory/projection.md",
    )


def _bottom(brief: Brief, guarantee: Chapter, mechanism: Chapter) -> Iterator[Claim]:
    if brief.known is None:
        yield unstated("query_model", "", brief.unknown)
    else:
        fixed = "Fixed: the question is stated, signed and hashed before anybody answers."
        adaptive = "Interactive: questions follow on answers, and each round is answered by other people, once."
        page = "docs/adaptive.md" if brief.panel is not None else "docs/questions.md"
        yield Claim("query_model", "", adaptive if brief.panel is not None else fixed, evidence=page)
    trust = guarantee["trust"]
    yield replace(trust, name="trust_model")
    names = {one.name: one for one in mechanism.claims}
    arithmetic = names.get("arithmetic")
    why = brief.unknown
    yield unstated("floating_point", "", why) if arithmetic is None else replace(arithmetic, name="floating_point")
    yield from _channels(brief)
    yield from _data(brief)


def _channels(brief: Brief) -> Iterator[Claim]:
    page = "docs/threat-model.md#side-channels"
    ours = Claim(
        "timing",
        "",
        "The number and kind of random draws, the look-up of a value and the length of a report do not depend on the "
        "value. Constant time is not claimed.",
        evidence=page,
    )
    theirs = "what code of another package does with its time is not known here"
    yield not_claimed("timing", "", theirs, page) if brief.foreign or brief.known is None else ours
    yield Claim(
        "backend",
        "",
        "Error messages name no value, and nothing on the collector ever holds one.",
        evidence=page,
    )
    tuning = brief.about.tuning
    by_survey = "the mechanism's own parameters follow from the survey alone; whether others were tuned is not said"
    yield Claim("tuning", "", tuning) if tuning else not_claimed("tuning", "", by_survey)


def _data(brief: Brief) -> Iterator[Claim]:
    security = Claim(
        "security",
        "",
        "The collector has no original data: a stolen database holds reports, which tell what the local "
        "epsilon allows. Surveys are signed; connections use TLS, unless a device's owner allows plain http.",
        evidence="docs/threat-model.md#a-stolen-database",
    )
    yield unstated("security", "", brief.doubt) if brief.doubt else security
    yield Claim(
        "access",
        "",
        "Tokens with the scopes read, ask, publish and admin. No guarantee to a device rests on them.",
        evidence="docs/operations.md",
    )
    collection = Claim(
        "collection",
        "",
        "The value never leaves the device; what does is one report of a fixed size. Addresses and participation show, "
        "and servers that hold values have seen them, as said under what is not covered.",
        evidence="docs/privacy_statement.md",
    )
    yield unstated("collection", "", brief.doubt) if brief.doubt else collection
