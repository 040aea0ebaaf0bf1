"""The chapter on the guarantee: unit, model, local and central epsilon, and what a person can lose in all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sottovoce.core.limits import (
    DEFAULT_BUDGET,
    DEFAULT_CAP,
    DEFAULT_DELTA_BUDGET,
    DEFAULT_DELTA_CAP,
    DEFAULT_MAX_ANSWERS,
)
from sottovoce.core.words import SHUFFLER, exactly, plural, rounded_down, rounded_up
from sottovoce.disclosure.brief import Brief, UnreadSurvey
from sottovoce.disclosure.claim import Chapter, Claim, not_claimed, unstated
from sottovoce.surveys.amplified import Amplified
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["guarantee_chapter", "level_of"]


_RECORD: Final = "all fields of a person's record together, over all {rounds:,} rounds: a device answers in one of them"


def _unit_of(survey: Survey | Tracking | Panel) -> str:
    """The unit of privacy in one sentence.

    Examples
    --------
    >>> import sottovoce as sv
    >>> _unit_of(Survey(sv.shares(["yes", "no"]), epsilon=1.0))
    'One person: the one value that a person answers.'
    """
    if isinstance(survey, Panel):
        return f"One person: {_RECORD.format(rounds=survey.rounds)}."
    if isinstance(survey, Survey) and survey.seat is not None:
        return f"One person: {_RECORD.format(rounds=survey.seat.panel.rounds)}."
    held, tracked = survey.question.held, survey if isinstance(survey, Tracking) else survey.tracked
    if tracked is None:
        return f"One person: {held}."
    calendar = tracked.calendar
    span = calendar.spans(calendar.window)
    if calendar.windows == 1:
        return f"One person: their whole history over all {span}; one period is answered ({held})."
    return f"One person in one window: their history within {span}; one period is answered ({held})."


def level_of(survey: Survey | Tracking | Panel) -> str:
    """The unit of privacy in two or three words, as registries have it."""
    tracked = survey if isinstance(survey, Tracking) else survey.tracked if isinstance(survey, Survey) else None
    if tracked is None or tracked.calendar.windows == 1:
        return "Person-level"
    return f"Person-window-level: {tracked.calendar.spans(tracked.calendar.window)}"


def _neighbours_of(survey: Survey | Tracking | Panel) -> str:
    """The difference between two worlds that epsilon compares."""
    what = "history of values" if "history" in _unit_of(survey) else "value"
    return (
        f"Any {what} of one person, replaced by any other; everybody else's stay as they are. That the person takes "
        "part is the same in both worlds, and so is not hidden."
    )


_CONCEPTS = "docs/concepts.md#what-epsilon-means"
_SHUFFLING = "docs/shuffling.md"
_NO_RELAY = "the survey states no relay, so no shuffling is relied on"
_DIGITS = 12
_ADDS_UP = "it adds up from window to window without an end"


def guarantee_chapter(brief: Brief) -> Chapter:
    """What is promised to whom, and what the promise rests on."""
    claims = [*_unit(brief), *_model(brief), *_local(brief), *_central(brief), *_lifetime(brief)]
    return Chapter.of("guarantee", "The guarantee", claims)


def _unit(brief: Brief) -> Iterator[Claim]:
    names = (("unit", "Unit of privacy"), ("neighbours", "What may differ"))
    if brief.known is None:
        yield from (unstated(name, label, brief.unknown, _CONCEPTS) for name, label in names)
        return
    for (name, label), text in zip(names, (_unit_of(brief.known), _neighbours_of(brief.known)), strict=True):
        yield Claim(name, label, text, evidence=_CONCEPTS)


def _model(brief: Brief) -> Iterator[Claim]:
    if isinstance(brief.survey, UnreadSurvey):
        yield unstated("model", "Model", brief.unknown)
        yield unstated("trust", "Who must be trusted", brief.unknown)
        return
    evidence = "docs/threat-model.md#a-relay" if brief.relay else "docs/threat-model.md"
    device = (
        "For the local epsilon nobody but the person's own device: it randomizes before anything is sent, and nothing "
        "on any other side is part of the argument."
    )
    shuffled = f"Local differential privacy, and a shuffler: {brief.relay}."
    model = ("Local differential privacy.", "local") if brief.relay is None else (shuffled, "shuffle")
    yield Claim("model", "Model", *model, evidence)
    if brief.doubt:
        yield unstated("trust", "Who must be trusted", brief.doubt, evidence)
        return
    if brief.relay is None:
        yield Claim("trust", "Who must be trusted", device, evidence=evidence)
        return
    colluding = (
        f"{device} For the central epsilon the relay at {brief.relay.url} and the collector must not collude, and "
        "devices must have the collector's key from elsewhere, and not from the relay; otherwise the local epsilon is "
        "left."
    )
    yield Claim("trust", "Who must be trusted", colluding, evidence=evidence)


def _local(brief: Brief) -> Iterator[Claim]:
    stated = ("local_epsilon", "Local epsilon, as stated", "delta", "Delta")
    exact = "exact_epsilon", "Local epsilon of the bytes sent"
    variant = "variant", "Definition"
    survey = brief.survey
    if brief.doubt or isinstance(survey, UnreadSurvey):
        why = brief.doubt
        stated_epsilon = survey.number("epsilon") if isinstance(survey, UnreadSurvey) else survey.epsilon
        says = "" if stated_epsilon is None else f"the survey says {exactly(stated_epsilon)}, but "
        yield unstated(*variant, why)
        yield unstated(*stated[:2], f"{says}{why}")
        yield unstated(*exact, why)
        yield unstated(*stated[2:], why)
        return
    epsilon, delta = survey.epsilon, survey.delta
    pure = "Pure epsilon-local differential privacy: (epsilon, 0)."
    text = "Approximate (epsilon, delta)-local differential privacy." if delta else pure
    yield Claim(*variant, text, "approximate" if delta else "pure", _CONCEPTS)
    shown = exactly(epsilon)
    says = f"epsilon {shown}: a report is at most e^{shown} times likelier under one value than under another"
    slack = f", but for an event of probability {exactly(delta)}" if delta else ""
    yield Claim(*stated[:2], f"{says}{slack}.", epsilon, _CONCEPTS)
    yield _exact(brief, *exact)
    none = "0: the guarantee has no exceptions."
    yield Claim(*stated[2:], exactly(delta) if delta else none, delta, _CONCEPTS)


def _exact(brief: Brief, name: str, label: str) -> Claim:
    """The audit's figure; without an audit the mechanism's own, where it has one."""
    evidence = "docs/audit.md#the-exact-audit"
    if brief.mechanism is None:
        return unstated(name, label, brief.unknown, evidence)
    result = brief.audit.result
    epsilon = getattr(brief.mechanism, "exact_epsilon", None) if result is None else result.exact_epsilon
    if epsilon is None:
        return not_claimed(name, label, "it was not audited here, and the audit computes it", evidence)
    most = "at most " if brief.mechanism_delta else ""
    by = "by the mechanism's own formula, not audited here" if result is None else "by the audit below"
    how = "computed exactly from the rounded probabilities that devices really use, over all pairs of values"
    words = f"{most}{rounded_up(epsilon, _DIGITS)}, {how}, {by}."
    return Claim(name, label, words, float(epsilon), evidence)


def _central(brief: Brief) -> Iterator[Claim]:
    names = (("central_epsilon", "Central epsilon"), ("central_delta", "Central delta"))
    batch, rests = (
        ("central_batch", "Honest answers in a batch"),
        ("central_assumption", "What the central one rests on"),
    )
    central = brief.central
    if isinstance(central, Amplified):
        lower = f" No epsilon below {rounded_down(central.lower)} can be proved at this delta." if central.lower else ""
        words = f"{rounded_up(central.epsilon)}, {SHUFFLER}; proved by {_method(central)}.{lower}"
        yield Claim(*names[0], words, central.epsilon, _SHUFFLING)
        yield Claim(*names[1], exactly(central.delta), central.delta, _SHUFFLING)
        waits = f"{central.n:,} or more: the relay waits for as many messages, and nobody may have invented any of them"
        yield Claim(*batch, waits, central.n, _SHUFFLING)
        yield Claim(*rests, central.assumption, evidence="docs/threat-model.md#a-relay")
        return
    asked = brief.survey.states_relay if isinstance(brief.survey, UnreadSurvey) else brief.relay is not None
    for name in (*names, batch, rests):
        yield unstated(*name, central, _SHUFFLING) if asked else not_claimed(*name, _NO_RELAY, _SHUFFLING)


def _method(certificate: Amplified) -> str:
    words = {
        "blanket": "the mechanism's own channel",
        "clones": "a bound for every mechanism of this local epsilon",
        "local": "the local one, to which shuffling so few adds nothing",
    }
    return words[certificate.method]


def _lifetime(brief: Brief) -> Iterator[Claim]:
    here, central = ("survey_loss", "What this survey can cost a person"), ("central_survey_loss", "The same, shuffled")
    if brief.doubt or isinstance(brief.survey, UnreadSurvey):
        yield unstated(*here, brief.doubt)
    elif brief.calendar is not None:
        promise = brief.calendar.promise(brief.survey.epsilon, brief.survey.delta)
        windows = brief.calendar.windows
        total = None if windows is None else windows * brief.survey.epsilon
        yield Claim(*here, f"{promise[0].upper()}{promise[1:]}.", total, "docs/tracking.md")
    else:
        once = "A device answers once: asked again, it sends the same bytes."
        if brief.panel is not None:
            once = f"A device answers in one of {plural(brief.panel.rounds, 'round')}, which it draws once for life."
        delta = f", delta {exactly(brief.survey.delta)}" if brief.survey.delta else ""
        yield Claim(*here, f"epsilon {exactly(brief.survey.epsilon)}{delta}. {once}", brief.survey.epsilon)
    if brief.composed is not None:
        text = f"{brief.composed}. {brief.composed.assumption}"
        yield Claim(*central, f"{text[0].upper()}{text[1:]}", brief.composed.epsilon, _SHUFFLING)
    elif isinstance(brief.central, Amplified):
        endless = brief.calendar is not None and brief.calendar.windows is None
        same = f"{rounded_up(brief.central.epsilon)}, the central epsilon above"
        yield (
            not_claimed(*central, f"{_ADDS_UP}; above is that of one window", _SHUFFLING)
            if endless
            else Claim(*central, f"{same}: a person has one report in it.", brief.central.epsilon, _SHUFFLING)
        )
    yield Claim(
        "lifetime_loss",
        "What all surveys together can cost a person",
        f"A device adds up what it spends in its ledger, and by default answers nothing above epsilon {DEFAULT_CAP:g} "
        f"and delta {DEFAULT_DELTA_CAP:g} in one survey, epsilon {DEFAULT_BUDGET:g} and delta "
        f"{DEFAULT_DELTA_BUDGET:g} for life, and {DEFAULT_MAX_ANSWERS:,} answers in all. Its owner may set other "
        "limits.",
        DEFAULT_BUDGET,
        "docs/device.md",
    )
    yield from _refused(brief)


def _refused(brief: Brief) -> Iterator[Claim]:
    """Whether devices as shipped answer at all."""
    if brief.known is None or brief.known.epsilon <= DEFAULT_CAP:
        return
    yield Claim(
        "above_cap",
        "Above the default cap",
        f"Epsilon {exactly(brief.known.epsilon)} is above {DEFAULT_CAP:g}: devices answer this survey only if their "
        "owners have raised the cap.",
        True,
        "docs/device.md",
    )
