"""Chapters in the words of others' forms: OpenDP's registry of deployments, and NIST SP 800-226 (March 2025).

The fields of the registry follow `schemas/deployments-schema.yaml` of opendp/deployments-registry-data at the commit in
`SOURCE`, in its order; nothing of it is left out. The parts of "Guidelines for Evaluating Differential Privacy
Guarantees" are those of its pyramid, from the top, which states the guarantee, to the bottom, on which it stands;
hazards that the text names under a part have a line of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from sottovoce.core.errors import SottovoceError
from sottovoce.core.version import __version__
from sottovoce.core.words import figure, plural
from sottovoce.disclosure.asked import domain_of
from sottovoce.disclosure.brief import Brief
from sottovoce.disclosure.claim import Chapter, Claim, not_claimed, unstated
from sottovoce.disclosure.guarantee import level_of

__all__ = ["FIELDS", "PARTS", "SOURCE", "nist_chapter", "registry_chapter", "registry_entry"]


SOURCE: Final = "opendp/deployments-registry-data, commit 057e5d81cf60150dd3307e0cf4504b957802fb3b"

_LISTED: Final = {
    "": ("url_slug",),
    "deployment/basic": (
        *("name", "data_curators", "description", "intended_use", "data_product_type", "data_product_region"),
        *("data_product_sector", "publication_date"),
    ),
    "deployment/dp_variant": ("variant_name", "data_domain", "unprotected_quantities"),
    "deployment/privacy_loss": (
        *("privacy_unit", "privacy_unit_details", "number_of_privacy_units", "privacy_parameters/epsilon"),
        *("privacy_parameters/delta", "privacy_parameters/rho", "privacy_parameters_details"),
    ),
    "deployment/deployment_model": (
        *("model_name", "model_name_details", "trust_assumptions", "actors", "release_type", "release_type_details"),
        *("data_source_type", "data_source_type_details", "access_type", "access_type_details"),
    ),
    "deployment/implementation": (
        *("preprocessing_and_hyperparameter_tuning", "mechanisms", "composition", "post_processing", "justification"),
        *("utility", "additional_information"),
    ),
    "deployment/administrative": ("evidence_sources", "status", "registry_authors", "tier"),
}

FIELDS: Final = tuple(f"{group}/{name}".lstrip("/") for group, names in _LISTED.items() for name in names)
"""Every field, by its path."""

_REGISTRYS: Final = "the registry's to give"
_POST: Final = (
    "Reports are added up, and the counts turned into unbiased estimates; a second estimate is projected (on: {on}). "
    "Nothing of it looks at values again, so that it costs no privacy."
)
_COMPOSITION: Final = (
    "Basic composition on the device: epsilons and deltas of all surveys that it answers add up in its ledger, which "
    "stops at its owner's budget."
)


def registry_chapter(brief: Brief, guarantee: Chapter, mechanism: Chapter, observers: Chapter) -> Chapter:
    """Every field of the registry, in its order."""
    said = {
        **_basic(brief),
        **_variant(brief, guarantee),
        **_loss(brief, guarantee),
        **_model(brief, guarantee, observers),
        **_implementation(brief, guarantee, mechanism),
    }
    claims = (_field(path, said.get(path.rpartition("/")[2])) for path in FIELDS)
    note = f"Every field of {SOURCE}; what nobody has said is not claimed."
    return Chapter.of("registry", "OpenDP's registry of deployments", claims, note)


def registry_entry(chapter: Chapter, brief: Brief) -> dict[str, Any]:
    """What is stated, nested as the registry's own files are; the rest is left out and must be written by hand."""
    entry: dict[str, Any] = {}
    about = brief.about
    lists: dict[str, Any] = {
        "data_curators": [{"data_curator_name": about.curator, "data_curator_type": about.curator_type}],
        "registry_authors": list(about.authors),
        "evidence_sources": {f"link_{number}": {"misc": {"url": link}} for number, link in enumerate(about.links, 1)},
    }
    for claim in chapter.claims:
        if claim.state != "stated":
            continue
        *groups, name = claim.name.split("/")
        target = entry
        for group in groups:
            target = target.setdefault(group, {})
        target[name] = lists.get(name, claim.text if claim.value is None else claim.value)
    return entry


def _field(path: str, said: Claim | str | None) -> Claim:
    label = path.rpartition("/")[2].replace("_", " ")
    if said is None or said == "":
        return not_claimed(path, label)
    return Claim(path, label, said) if isinstance(said, str) else replace(said, name=path, label=label)


def _value(text: str, value: bool | int | float | str) -> Claim:
    return Claim("", "", text, value)


def _basic(brief: Brief) -> dict[str, Claim | str]:
    about = brief.about
    kind = f" ({about.curator_type})" if about.curator_type else ""
    return {
        "url_slug": not_claimed("", "", _REGISTRYS),
        "name": brief.survey.title,
        "data_curators": f"{about.curator}{kind}" if about.curator else "",
        "description": about.description,
        "intended_use": about.purpose,
        "data_product_type": "Summary statistics",
        "data_product_region": about.region,
        "data_product_sector": about.sector,
        "publication_date": about.publication_date,
    }


def _variant(brief: Brief, guarantee: Chapter) -> dict[str, Claim | str]:
    variant = guarantee["variant"]
    names = {"pure": "Pure DP", "approximate": "Approximate DP"}
    stated = variant.state == "stated"
    data = f"For each person: {domain_of(brief)}." if brief.known is not None else ""
    return {
        "variant_name": _value(full_name := names[str(variant.value)], full_name) if stated else variant,
        "data_domain": data or unstated("", "", brief.unknown),
        "unprotected_quantities": brief.about.unprotected,
    }


def _loss(brief: Brief, guarantee: Chapter) -> dict[str, Claim | str]:
    unit, people = guarantee["unit"], brief.about.people
    details = [guarantee[name] for name in ("exact_epsilon", "central_epsilon", "survey_loss")]
    said = [f"{claim.label}: {claim.text}" for claim in details if claim.state == "stated"]
    return {
        "privacy_unit": unit if brief.known is None else level_of(brief.known),
        "privacy_unit_details": replace(unit, text=f"{unit.text} {guarantee['neighbours'].text}".strip())
        if unit.state == "stated"
        else unit,
        "number_of_privacy_units": "" if people is None else _value(f"about {people:,}", people),
        "epsilon": guarantee["local_epsilon"],
        "delta": guarantee["delta"],
        "rho": not_claimed("", "", "the guarantee is not stated as zero-concentrated"),
        "privacy_parameters_details": " ".join(said) if said else unstated("", "", brief.doubt or brief.unknown),
    }


def _model(brief: Brief, guarantee: Chapter, observers: Chapter) -> dict[str, Claim | str]:
    model, trust = guarantee["model"], guarantee["trust"]
    names = {"local": "Local", "shuffle": "Shuffle"}
    stated = model.state == "stated"
    actors = " ".join(f"{claim.label}: {claim.text}" for claim in observers.claims if claim.state == "stated")
    loss = (
        "Estimates may be read as often as anybody likes: what a person loses was spent on the device, with the report."
    )
    tracked, rounds = brief.calendar is not None, brief.panel is not None
    many = tracked or rounds
    unknown = brief.known is None
    said: dict[str, Claim | str] = {
        "model_name": _value(full_name := names[str(model.value)], full_name) if stated else model,
        "model_name_details": model,
        "trust_assumptions": trust,
        "actors": actors,
        "release_type": "Many releases" if many else "One release",
        "release_type_details": f"{guarantee['survey_loss'].text} {loss}",
        "data_source_type": "Dynamic" if tracked else "Static",
        "data_source_type_details": "Values may change from period to period."
        if tracked
        else "Everybody has one value.",
        "access_type": "Interactive" if rounds else "Non-interactive",
        "access_type_details": "Questions depend on the answers before them; each is answered by other people."
        if rounds
        else "The question is stated before anybody answers, and cannot be changed.",
    }
    asked = ("release_type", "release_type_details", "data_source_type", "data_source_type_details")
    if unknown:
        said |= {name: unstated("", "", brief.unknown) for name in (*asked, "access_type", "access_type_details")}
    return said


def _implementation(brief: Brief, guarantee: Chapter, mechanism: Chapter) -> dict[str, Claim | str]:
    name = mechanism["name"]
    asked, about = brief.asked, brief.about
    described = (claim for claim in mechanism.claims if claim.name in ("name", "parameters", "design", "arithmetic"))
    said = [f"{claim.label}: {claim.text.rstrip('.')}." for claim in described if claim.state == "stated"]
    made = f"Made by Sottovoce {__version__}."
    return {
        "preprocessing_and_hyperparameter_tuning": about.tuning,
        "mechanisms": unstated("", "", brief.doubt)
        if brief.doubt
        else replace(name, text=" ".join([*said, made]), value=None)
        if name.state == "stated"
        else name,
        "composition": f"{_COMPOSITION} {guarantee['lifetime_loss'].text}",
        "post_processing": unstated("", "", brief.unknown)
        if asked is None
        else _POST.format(on=asked.question.projected_on),
        "justification": about.justification,
        "utility": _utility(brief),
        "additional_information": f"Contact: {about.contact}" if about.contact else "",
        "evidence_sources": " ".join(about.links),
        "status": "Draft",
        "registry_authors": ", ".join(about.authors),
        "tier": not_claimed("", "", _REGISTRYS),
    }


def _utility(brief: Brief) -> Claim | str:
    """The margin of one answer, for as many people as are expected."""
    asked, people = brief.asked, brief.about.people
    if asked is None or people is None:
        return not_claimed("", "", "it is stated for a number of people (people of --about)")
    if brief.calendar is not None or brief.panel is not None:
        return not_claimed("", "", "it depends on how many answer in one period or round; 'sottovoce plan' tells")
    try:
        margin = float(asked.design.margin(people))
    except SottovoceError as error:
        return not_claimed("", "", str(error))
    unit = f" {asked.question.unit}" if asked.question.unit else ""
    return _value(f"Margin of one answer (95 %) with {plural(people, 'report')}: {figure(margin)}{unit}.", margin)


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
    said = {claim.name: claim for claim in written}
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
        evidence="docs/contributors/theory/projection.md",
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
    names = {claim.name: claim for claim in mechanism.claims}
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
        evidence="docs/disclosure.md#a-privacy-statement",
    )
    yield unstated("collection", "", brief.doubt) if brief.doubt else collection
