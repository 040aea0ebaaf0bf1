"""Audit of a finite mechanism at its own size: its law, its draws, its device run by run, and what reports prove."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, cast

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.channel import Channel, Pair, device_row, worst_pair, wrong_miniature
from sottovoce.auditing.empirical import Certificate, affordable, certify
from sottovoce.auditing.primitives import wrong_draw
from sottovoce.auditing.result import (
    INDEPENDENT_RUNS,
    STATED_LAW,
    STATED_PROBABILITIES,
    UNIFORM_BYTES,
    AuditResult,
    fault_in_words,
    fault_size,
)
from sottovoce.auditing.runs import Runs, run_device
from sottovoce.auditing.subject import Subject, failure
from sottovoce.auditing.system import MOST_WATCHED
from sottovoce.core.errors import ReportError
from sottovoce.core.words import plural
from sottovoce.domain.trials import edge_values
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.reference import ChannelReference
from sottovoce.randomness import Source, epsilon_of, within_epsilon
from sottovoce.randomness.scripts import row_of, unpredictable

__all__ = ["audit_finite"]

DEFAULT_SAMPLES: Final = 20_000

MOST_RUNS: Final = 100_000
"""Runs up to which a device is run on every outcome, for every value."""

_IMPOSSIBLE: Final = -1e9
"""The logarithm of 0, for scores that are subtracted."""

MOST_DRAWS: Final = 1_000
"""Different requests of one device whose draws are checked word by word; the first and the last of more."""


@dataclass(frozen=True)
class _Fault:
    """What is wrong: in words, the worst ratio that is known (None: infinite), and the value that shows it, if any."""

    words: str
    ratio: Fraction | None
    value: int | None = None


def audit_finite(
    subject: Subject, reference: ChannelReference, samples: int | None, alpha: float, budget: Budget
) -> AuditResult:
    """Audit one mechanism, or the survey around it; without `samples`, as many as are affordable."""
    m = cast(ChannelMechanism, subject.mechanism)
    runs = run_device(subject, reference, budget)
    enumerable = (subject.size or 0) * _outcomes(reference) <= MOST_RUNS
    certificate = Certificate(0.0, alpha, (0, 0), "nothing", 0)
    fault = None if runs.wrong is None else _Fault(runs.wrong.words, None, runs.wrong.value)
    try:
        fault = _shown_by_a_pair(m, reference, fault) or _law_fault(m, reference)
        if fault is None and enumerable and (pair := _wrong_pair(subject)) is not None:
            fault = _Fault(str(pair), pair.ratio, pair.likely)
        if fault is None and (words := _wrong_entropy(subject)):
            fault = _Fault(words, None)
        certificate = _certificate(subject, samples, alpha, None if fault is None else fault.value)
    except Exception as error:
        fault = fault or _Fault(failure(error), None)
    if fault is None and certificate.lower_bound > m.epsilon:
        fault = _Fault(f"{certificate.words}: epsilon is above {certificate.lower_bound:.4g}", None)
    ratio = m.privacy_ratio() if fault is None else fault.ratio
    assumptions: tuple[str, ...] = (UNIFORM_BYTES, INDEPENDENT_RUNS)
    if fault is not None:
        method, assumptions = "the device does not do what it states", ()
    elif enumerable:
        method = f"device run on every outcome of its draws, for every one of its {subject.size:,} values"
    else:
        method = _method(subject, reference, runs)
        assumptions += _assumptions(subject, reference, runs)
    if fault is None and not reference.independent:
        method = f"{method}; {STATED_LAW}"
    return AuditResult(
        mechanism=m.name,
        epsilon=m.epsilon,
        delta=0.0,
        domain_size=m.domain_size,
        exact_epsilon=math.inf if ratio is None else epsilon_of(ratio),
        certified_lower_bound=certificate.lower_bound,
        alpha=alpha,
        verdict="broken" if fault is not None else "proved" if enumerable else "sampled",
        method=method,
        witness=certificate.words if fault is None else fault.words,
        fault_size=0.0 if enumerable or fault is not None else fault_size(runs.independent),
        assumptions=assumptions,
        survey="" if subject.survey is None else subject.survey.id,
    )


def _shown_by_a_pair(m: ChannelMechanism, reference: ChannelReference, fault: _Fault | None) -> _Fault | None:
    """The fault at a value with the report that tells it from others, where its reports can be counted out."""
    if fault is None or fault.value is None:
        return fault
    last = reference.values - 1
    others = sorted({0, 1, last // 2, last} - {fault.value})[:3]
    if _outcomes(reference) * (1 + len(others)) > MOST_RUNS:
        return fault
    pair = _pair_among(m, [fault.value, *others])
    shown = pair.ratio is None or pair.ratio > m.privacy_ratio()
    return _Fault(f"{fault.words}; {pair}", pair.ratio, fault.value) if shown else fault


def _law_fault(m: ChannelMechanism, reference: ChannelReference) -> _Fault | None:
    """What is wrong with the stated law, the tables behind it, the draws from the system's bytes, or on a miniature."""
    ratio = m.privacy_ratio()
    if not within_epsilon(ratio, m.epsilon) or ratio != reference.ratio():
        worst = max(ratio, reference.ratio())
        return _Fault(f"two values' probabilities of a report are in the ratio {float(worst):.9g}", worst)
    requests = list(dict.fromkeys(reference.requests(0) + reference.requests(reference.values - 1)))
    words = reference.wrong_law() or wrong_draw(requests[: MOST_DRAWS // 2] + requests[-MOST_DRAWS // 2 :])
    if words:
        return _Fault(words, None)
    miniature = wrong_miniature(m, attained=True)
    return None if miniature is None else _Fault(miniature.words, miniature.pair.ratio)


def _method(subject: Subject, reference: ChannelReference, runs: Runs) -> str:
    """What was run instead of every outcome, and the fault that it would have shown."""
    some = f"{runs.values:,} of {reference.values:,} values"
    values = f"every value {plural(runs.passes, 'time')}" if runs.passes else some
    ways = "every outcome of every draw" if runs.outcomes else "first, last and random outcomes of every draw"
    path = ""
    if subject.survey is not None:
        some = f"{runs.held:,} of {subject.size:,} values"
        held = f"every value {plural(runs.held_passes, 'time')}" if runs.held_passes else some
        path = f"; {held} through the survey"
    seen = fault_in_words(fault_size(runs.independent), through_survey=subject.survey is not None)
    return f"too many outcomes to run all: {values}, with {ways}, not every pair of them{path}; {seen}"


def _assumptions(subject: Subject, reference: ChannelReference, runs: Runs) -> tuple[str, ...]:
    assumptions = ["a value and a draw that were not run together do as they did with others"]
    if runs.values < reference.values or (subject.survey is not None and not runs.held_passes):
        assumptions.append("values that were not run do as those that were")
    if not reference.independent:
        assumptions.append(STATED_PROBABILITIES)
    return (*assumptions, "the closed form of the worst ratio holds at this size as on every miniature")


def _wrong_entropy(subject: Subject) -> str:
    """A survey's report that is not drawn from the system's random bytes, for random values and those at edges."""
    size = subject.size or 0
    numbers = [*unpredictable().integers(0, size, size=MOST_WATCHED).tolist(), *edge_values(size)]
    return subject.wrong_entropy((f"value number {number}", subject.value(number)) for number in numbers)


def _certificate(subject: Subject, samples: int | None, alpha: float, suspect: int | None) -> Certificate:
    """What whole reports of three pairs prove; of the suspect value and some others, if there is one."""
    m, last = cast(ChannelMechanism, subject.mechanism), (subject.size or 1) - 1
    pairs = {(0, last), (0, min(1, last)), (last // 2, last)}
    if suspect is not None and suspect <= last:
        pairs = {(suspect, other) for other in (0, 1, last) if other != suspect and other <= last} or pairs
    held = {number: subject.value(number) for number in {0}.union(*pairs)}
    inputs = {number: subject.input(value) for number, value in held.items()}

    def device(number: int) -> bytes:
        return subject.draw(held[number])

    def stated(report: bytes, number: int) -> float:
        try:
            return max(m.log_prob(m.decode(subject.payload(report)), inputs[number]), _IMPOSSIBLE)
        except ReportError:
            return 0.0

    if samples is None:
        samples = affordable(device, DEFAULT_SAMPLES, 2 * len(pairs))
    return certify(device, sorted(pairs), samples=samples, alpha=alpha, stated=stated)


def _outcomes(reference: ChannelReference) -> int:
    """How many sequences of draws one value has."""
    return math.prod(request if request > 0 else 2 for request in reference.requests(0))


def _wrong_pair(subject: Subject) -> Pair | None:
    """The worst pair of a device that is run on every outcome for every value; None if it does what it states.

    Every report must have its stated probability exactly, and no ratio may be above the stated one.
    """
    channel: Channel = {}
    as_stated = True
    for number in range(subject.size or 0):
        value = subject.value(number)
        channel[number] = row_of(_running(subject.report, value))
        as_stated &= channel[number] == _stated_row(subject, subject.input(value), channel[number])
    pair = worst_pair(channel)
    ratio = cast(ChannelMechanism, subject.mechanism).privacy_ratio()
    right = as_stated and pair.ratio is not None and pair.ratio <= ratio
    return None if right else pair


def _pair_among(mechanism: ChannelMechanism, values: list[int]) -> Pair:
    """The two of these inputs of the mechanism that a report distinguishes best, and that report."""
    return worst_pair({value: device_row(mechanism, value) for value in values})


def _running(run: Callable[[Any, Source], bytes], value: Any) -> Callable[[Source], bytes]:
    return lambda source: run(value, source)


def _stated_row(subject: Subject, value: int, row: dict[bytes, Fraction]) -> dict[bytes, Fraction]:
    """The stated probabilities of these reports; empty if some are missing, or one is not a report at all."""
    m = cast(ChannelMechanism, subject.mechanism)
    try:
        stated = {report: m.probability(m.decode(subject.payload(report)), value) for report in row}
    except ReportError:
        return {}
    return stated if sum(stated.values()) == 1 else {}
