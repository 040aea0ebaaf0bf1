"""Is it private? The device's code, run at the size that is deployed, and what its reports alone prove."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from sottovoce.auditing.result import AuditResult, Verdict
from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import SurveyError

if TYPE_CHECKING:
    from sottovoce.auditing.budget import Budget
    from sottovoce.auditing.subject import AuditedSurvey, Subject
    from sottovoce.mechanisms.base import Mechanism

__all__ = ["DEFAULT_DELTA", "AuditResult", "Verdict", "audit", "auditable", "has_delta"]

DEFAULT_EPSILON = 1.0
DEFAULT_DELTA = 1e-6
DEFAULT_SECONDS = 120.0
SECONDS_BY_NAME = 3.0
MAX_SECONDS = 1_000_000
_SMALL = 16


def auditable() -> dict[str, type[Mechanism]]:
    """Every mechanism that a survey may use, those of other packages last."""
    from sottovoce.mechanisms.registry import MECHANISMS, REGISTRY

    return {**{name: kind for name, kind in MECHANISMS.items() if kind.deployable}, **REGISTRY.others()}


@with_clear_calls('sv.audit(survey), or sv.audit("hadamard", epsilon=1.0)')
def audit(
    subject: str | Mechanism | AuditedSurvey,
    *,
    epsilon: float | None = None,
    domain_size: int | None = None,
    delta: float | None = None,
    samples: int | None = None,
    alpha: float = 1e-9,
    seconds: float | None = None,
    progress: Callable[[int], object] | None = None,
) -> AuditResult:
    """Audit a survey, a mechanism, or a mechanism by its registry name.

    Parameters
    ----------
    subject
        A survey, which is audited at its own size and with all that a device runs: from a person's value to the bytes.
        Or a mechanism. Or a registry name.
    epsilon, domain_size, delta
        The instance of a registry name: epsilon 1 and a size that is usual in surveys unless given (256 values). For a
        vector mechanism `domain_size` is the dimension (16), for one of sets the number of options (60), for one of
        words the bits of a code (64). `delta` is only for mechanisms that have one, such as `gaussian`.
    samples
        Real device reports drawn for each value of each pair in the empirical part, and random runs of the device at
        least; unless given 20,000 (2,000 reports for vectors), or fewer where they take long.
    alpha
        Chance that the certified lower bound is wrong.
    seconds
        Processor seconds for running the device. All that are given are used, unless every outcome for every value
        is run before. Unless given, 120 at most (3 for a mechanism by its name), and fewer once every value, every
        outcome of every draw and `samples` random runs were made. Where they do not suffice the verdict says how many
        were run.
    progress
        Called with the number of runs made since the last call.

    Examples
    --------
    >>> result = audit("hadamard", epsilon=1.0, domain_size=16, samples=2000)
    >>> result.verdict, result.size, round(result.exact_epsilon, 6)
    ('proved', 'for 16 values', 1.0)
    """
    from sottovoce.auditing.budget import Budget
    from sottovoce.auditing.runs import LEAST_RUNS
    from sottovoce.auditing.subject import Subject
    from sottovoce.core.limits import check_integer
    from sottovoce.core.progress import advancing
    from sottovoce.mechanisms.base import Mechanism

    if samples is not None:
        check_integer("samples", samples, 100, 10**9)
    enough = None if seconds is not None else max(LEAST_RUNS, samples or 0)
    if seconds is None:
        seconds = SECONDS_BY_NAME if isinstance(subject, str) else DEFAULT_SECONDS
    check_seconds(seconds)
    if isinstance(subject, str):
        audited = Subject(_named(subject, epsilon, domain_size, delta))
    elif not hasattr(subject, "mechanism") and not isinstance(subject, Mechanism):
        raise SurveyError(
            f"subject has type {type(subject).__name__}: it must be a survey, a mechanism, or the name of one; a "
            'right call: sv.audit(survey), or sv.audit("hadamard", epsilon=1.0)'
        ).at("subject")
    else:
        _refuse_instance(epsilon=epsilon, domain_size=domain_size, delta=delta)
        audited = Subject(subject) if isinstance(subject, Mechanism) else _surveyed(subject)
    with advancing(progress, "auditing", unit="runs of the device") as advance:
        return _audited(audited, samples, alpha, Budget(seconds, advance, runs=enough))


def _surveyed(survey: AuditedSurvey) -> Subject:
    """A survey as devices run it: of one with groups that of a group."""
    from sottovoce.auditing.subject import Subject

    answered: AuditedSurvey = getattr(survey, "answered", survey)
    return Subject(answered.mechanism, answered)


def _audited(subject: Subject, samples: int | None, alpha: float, whole: Budget) -> AuditResult:
    """The first result that is broken by any reference of the mechanism, else the last one, which says whose they are.

    For a mechanism of another package the last one is by its stated law, where its family has one.
    """
    from sottovoce.auditing.finite import audit_finite
    from sottovoce.auditing.result import NO_REFERENCE, OWN_REFERENCE
    from sottovoce.auditing.sampled import audit_sampled
    from sottovoce.auditing.subject import references_of
    from sottovoce.mechanisms.reference import ChannelReference
    from sottovoce.mechanisms.registry import REGISTRY

    references = references_of(subject.mechanism)
    for reference in references:
        budget = whole.part(len(references))
        if isinstance(reference, ChannelReference):
            result = audit_finite(subject, reference, samples, alpha, budget)
        else:
            result = audit_sampled(subject, reference, samples, alpha, budget)
        if not result.sound:
            return result
    if not REGISTRY.is_foreign(type(subject.mechanism)):
        return result
    whose = NO_REFERENCE if subject.mechanism.audit_reference() is None else OWN_REFERENCE
    return replace(result, method=f"{result.method}; {whose}")


def check_seconds(seconds: float) -> float:
    """Return `seconds` if an audit may run so long.

    Examples
    --------
    >>> check_seconds(0)
    Traceback (most recent call last):
    sottovoce.core.errors.MechanismError: seconds is 0: it must be a number above 0, up to 1,000,000
    """
    from sottovoce.core.errors import MechanismError

    if not 0 < seconds <= MAX_SECONDS:
        raise MechanismError(f"seconds is {seconds:g}: it must be a number above 0, up to {MAX_SECONDS:,}")
    return seconds


def _refuse_instance(**given: float | None) -> None:
    """A survey and a mechanism have their own epsilon and size, so that nothing would read another one."""
    from sottovoce.core.errors import MechanismError

    for name, value in given.items():
        if value is not None:
            raise MechanismError(f"{name} is for mechanisms by name; a survey or a mechanism has its own").at(name)


def has_delta(name: str) -> bool:
    """Whether the mechanism of that name gives (epsilon, delta) privacy, so that an audit needs a delta.

    Examples
    --------
    >>> has_delta("gaussian"), has_delta("hadamard")
    (True, False)
    """
    return _kind(name).typical(_SMALL, 1.0, DEFAULT_DELTA).delta > 0


def _named(name: str, epsilon: float | None, size: int | None, delta: float | None) -> Mechanism:
    """The instance of a mechanism that is audited by its name."""
    from sottovoce.core.errors import MechanismError

    kind = _kind(name)
    if delta is not None and not has_delta(name):
        raise MechanismError(f"mechanism {name!r} has no delta: its epsilon holds without one; leave delta out").at(
            "delta"
        )
    return kind.typical(
        kind.deployed_size if size is None else size,
        DEFAULT_EPSILON if epsilon is None else epsilon,
        DEFAULT_DELTA if delta is None else delta,
    )


def _kind(name: str) -> type[Mechanism]:
    from sottovoce.core.errors import MechanismError

    kind = auditable().get(name)
    if kind is None:
        raise MechanismError(f"mechanism {name!r} cannot be audited; choose among {', '.join(auditable())}")
    return kind
