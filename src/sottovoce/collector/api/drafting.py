"""From a form to a survey: every field checked by itself, so that a refusal names the one that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sottovoce.collector.api.page_structs import Draft, IntegerRange
from sottovoce.collector.failures import Refused
from sottovoce.domain import Domain
from sottovoce.errors import CapacityError, DomainError, PlanError, SurveyError, WorkloadError
from sottovoce.limits import (
    DEFAULT_USERS,
    MAX_DIMENSION,
    MAX_PRODUCT_SIZE,
    MAX_REPORT_BYTES,
    check_dimension,
    check_epsilon,
    check_radius,
)
from sottovoce.mechanisms import MECHANISMS
from sottovoce.mechanisms.vector_registry import VECTOR_MECHANISMS
from sottovoce.protocols.adaptive import AdaptiveSurvey
from sottovoce.statement import check_title
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.registry import SEARCHED_VALUES, STRATEGIES
from sottovoce.survey import Survey
from sottovoce.theory.adaptive_bounds import check_rounds
from sottovoce.theory.offers import QueryOffers, priced
from sottovoce.workloads import Workload
from sottovoce.workloads.parse import parse_workload

__all__ = ["MOST_VALUES", "compared_in_full", "drafted", "wrong"]

MOST_VALUES: Final = 2**16
"""Most queries, and most values, of a workload that strategies are compared for while somebody waits."""

_FEW_QUERIES: Final = 2**10

_MOST_ATTRIBUTES: Final = MAX_PRODUCT_SIZE.bit_length() - 1
"""Attributes of two values or more whose records are no more than there may be."""

_WAYS: Final = ("labels", "range", "attributes")

_OWN: Final = {
    "distribution": {*_WAYS, "mechanism"},
    "queries": {"workload", "mechanism"},
    "mean": {"dimension", "radius", "mechanism"},
    "adaptive": {*_WAYS, "rounds", "radius"},
}
"""What a survey of each kind has besides title and epsilon."""


@contextmanager
def wrong(field: str | None) -> Iterator[None]:
    """What is refused inside is refused because of that field."""
    try:
        yield
    except (SurveyError, PlanError, CapacityError) as error:
        raise Refused(422, "invalid_draft", str(error), field=field) from None


def drafted(draft: Draft) -> Survey | AdaptiveSurvey:
    """The survey of a form, or a refusal that names the field, what is allowed, and what to do."""
    _only_its_own(draft)
    with wrong("title"):
        check_title(draft.title)
    with wrong("epsilon"):
        check_epsilon(draft.epsilon)
    with wrong("radius"):
        radius = check_radius(1.0 if draft.radius is None else draft.radius)
    match draft.kind:
        case "distribution":
            return _distribution(draft)
        case "queries":
            return _queries(draft)
        case "mean":
            return _mean(draft, radius)
        case "adaptive":
            return _adaptive(draft, radius)


def _only_its_own(draft: Draft) -> None:
    own = _OWN[draft.kind]
    for field in ("labels", "range", "attributes", "mechanism", "workload", "rounds", "dimension", "radius"):
        if field not in own and getattr(draft, field) is not None:
            message = f"{field} is nothing that a survey of kind {draft.kind} has; leave it out"
            raise Refused(422, "invalid_draft", message, field=field)


def _distribution(draft: Draft) -> Survey:
    field, domain = _domain(draft)
    mechanism = draft.mechanism or "auto"
    known = ", ".join(MECHANISMS)
    with wrong("mechanism"):
        if mechanism not in MECHANISMS and mechanism != "auto":
            raise SurveyError(f"there is no such mechanism for distributions; choose among {known}, or auto")
    with wrong(field if mechanism == "auto" else "mechanism"):
        return Survey.distribution(domain, draft.epsilon, mechanism, title=draft.title)


def _queries(draft: Draft) -> Survey:
    if draft.workload is None:
        raise _missing("workload", "write the queries like prefix:1024")
    with wrong("workload"):
        workload = _sized(parse_workload(draft.workload, files=False, most=MOST_VALUES))
    with wrong("mechanism"):
        mechanism, strategy = _strategy(draft.mechanism or "auto", workload, draft.epsilon)
        return Survey.queries(workload, draft.epsilon, 0.0, mechanism, strategy=strategy, title=draft.title)


def _strategy(named: str, workload: Workload, epsilon: float) -> tuple[str, str]:
    """A mechanism and a strategy from a name of either; only what is found while somebody waits."""
    deployable = [name for name, kind in VECTOR_MECHANISMS.items() if kind.deployable]
    if named in deployable:
        return named, Direct.name
    if named != "auto" and named not in STRATEGIES:
        known = ", ".join([*STRATEGIES, *deployable])
        raise SurveyError(f"there is no such strategy or mechanism for queries; choose among {known}, or auto")
    if compared_in_full(workload):
        return "auto", named
    offers = QueryOffers(workload, MAX_REPORT_BYTES)
    if named in offers.left_out():
        raise SurveyError(f"{named} takes too long to find for these queries in a form: make the survey in Python")
    if named != "auto":
        return "auto", named
    best = [one.name for one in priced(offers.at(epsilon, DEFAULT_USERS), DEFAULT_USERS) if one.fits]
    if not best:
        raise SurveyError("no strategy can serve these queries at this epsilon; use a larger one, or fewer queries")
    return "auto", best[0]


def compared_in_full(workload: Workload) -> bool:
    """Whether a workload is so small that every strategy is searched for and compared on the spot."""
    return workload.domain.size <= SEARCHED_VALUES and workload.n_queries <= _FEW_QUERIES


def _mean(draft: Draft, radius: float) -> Survey:
    if draft.dimension is None:
        raise _missing("dimension", f"say of how many numbers a person's vector consists, from 1 to {MAX_DIMENSION:,}")
    with wrong("dimension"):
        check_dimension(draft.dimension)
    with wrong("mechanism"):
        mechanism = draft.mechanism or "auto"
        return Survey.mean(draft.dimension, radius, draft.epsilon, 0.0, mechanism, title=draft.title)


def _adaptive(draft: Draft, radius: float) -> AdaptiveSurvey:
    if draft.rounds is None:
        raise _missing("rounds", "say how many questions may be asked")
    with wrong("rounds"):
        check_rounds(draft.rounds)
    field, domain = _domain(draft)
    with wrong(field):
        return Survey.adaptive(domain, draft.rounds, draft.epsilon, radius=radius, title=draft.title)


def _domain(draft: Draft) -> tuple[str, Domain]:
    """The values people can have, and the field that says so."""
    given = [way for way in _WAYS if getattr(draft, way) is not None]
    if len(given) != 1:
        message = "give the values in exactly one way: labels, a range of integers, or attributes"
        raise Refused(422, "invalid_draft", message, field=given[1] if given else "labels")
    with wrong(given[0]):
        if draft.attributes is not None:
            if len(draft.attributes) > _MOST_ATTRIBUTES:
                # Said before any is looked at: their number of records would be one of very many digits.
                raise DomainError(
                    f"there are {len(draft.attributes):,} attributes; a record has at most {_MOST_ATTRIBUTES}, each of "
                    "2 values or more: leave some out"
                )
            return "attributes", Domain.of(
                {name: _values(values, f"attribute {name!r}: ") for name, values in draft.attributes.items()}
            )
        return given[0], _values(draft.labels if draft.range is None else draft.range, "")


def _values(values: list[str] | IntegerRange | None, whose: str) -> Domain:
    try:
        if isinstance(values, IntegerRange):
            return _integers(values)
        blank = next((place for place, label in enumerate(values or (), 1) if not label.strip()), 0)
        if blank:
            raise DomainError(f"label number {blank} is empty; give it a name, or leave it out")
        return Domain.of(values or [])
    except DomainError as error:
        raise DomainError(f"{whose}{error}") from None


def _integers(values: IntegerRange) -> Domain:
    if values.stop <= values.start:
        raise DomainError("a range goes from start to stop, both included; stop must be larger than start")
    return Domain.of(range(values.start, values.stop + 1))


def _sized(workload: Workload) -> Workload:
    """The workload, if strategies can be compared for it while somebody waits."""
    if workload.domain.size > MOST_VALUES:
        raise WorkloadError(
            f"this workload is about {workload.domain.size:,} values; a form takes up to {MOST_VALUES:,}: use a "
            "smaller one here, or the command line"
        )
    return workload


def _missing(field: str, remedy: str) -> Refused:
    return Refused(422, "invalid_draft", f"{field} is missing: {remedy}", field=field)
