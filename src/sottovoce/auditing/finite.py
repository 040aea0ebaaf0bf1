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
from sottovoce.auditing.fresh import compare_fresh
from sottovoce.auditing.primitives import wrong_draw
from sottovoce.auditing.result import (
    FRESH_PROCESS,
    REMEMBERED,
    STATED_LAW,
    STATED_PROBABILITIES,
    UNIFORM_BYTES,
    AuditResult,
    DeviceFault,
    fault_in_words,
    fault_size,
)
from sottovoce.auditing.runs import LEAST_RUNS, DeviceRuns, Runs
from sottovoce.auditing.subject import Subject, failure
from sottovoce.core.errors import ReportError
from sottovoce.core.words import plural
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.reference import ChannelReference
from sottovoce.randomness import Source, epsilon_of, within_epsilon
from sottovoce.randomness.scripts import row_of

__all__ = ["audit_finite"]

DEFAULT_SAMPLES: Final = 20_000

MOST_RUNS: Final = 100_000
"""Runs up to which a device is run on every outcome, for every value."""

_IMPOSSIBLE: Final = -1e9
"""The logarithm of 0, for scores that are subtracted."""

MOST_DRAWS: Final = 1_000
"""Different requests of one device whose draws are checked word by word; the first and the last of more."""


@dataclass(frozen=True)
class _ShownFault:
    """A fault, the worst ratio that is known (None: infinite), and the value that shows it, if any."""

    fault: DeviceFault
    ratio: Fraction | None = None
    value: int | None = None


def audit_finite(
    subject: Subject, reference: ChannelReference, samples: int | None, alpha: float, budget: Budget
) -> AuditResult:
    """Audit one mechanism, or the survey around it; without `samples`, as many as are affordable."""
    m = cast(ChannelMechanism, subject.mechanism)
    enumerable = (subject.size or 0) * _outcomes(reference) <= MOST_RUNS
    if enumerable:  # every outcome is run in any case: more runs of the same would show nothing
        budget = budget.of_runs(LEAST_RUNS)
    device = DeviceRuns(subject, reference, budget)
    certificate, fresh = Certificate(0.0, alpha, (0, 0), "nothing", 0), False
    shown: _ShownFault | None = None
    try:
        shown = _shown_by_runs(m, reference, device.first()) or _law_fault(m, reference)
        if shown is None and (words := subject.wrong_entropy()):
            shown = _ShownFault(DeviceFault("entropy", words))
        if shown is None:
            fresh, words = compare_fresh(subject, budget)
            shown = _ShownFault(DeviceFault("fresh process", words)) if words else None
        if shown is None and enumerable and (pair := _wrong_pair(subject)) is not None:
            shown = _ShownFault(DeviceFault("every outcome for every value", str(pair)), pair.ratio, pair.likely)
        if shown is None:
            shown = _shown_by_runs(m, reference, device.rest())
        if shown is None:
            certificate = _certificate(subject, samples, alpha, budget.seconds)
            words = certificate.excess(m.epsilon)
            shown = _ShownFault(DeviceFault("reports", words)) if words else None
    except Exception as error:
        shown = _ShownFault(DeviceFault(device.runs.check, failure(error)))
    runs = device.runs
    assumptions: tuple[str, ...] = (UNIFORM_BYTES, FRESH_PROCESS if fresh else REMEMBERED)
    if shown is not None:
        method, assumptions = "the device does not do what it states", ()
    elif enumerable:
        method = f"device run on every outcome of its draws, for every one of its {subject.size:,} values"
    else:
        method = _method(subject, reference, runs)
        assumptions += _assumptions(subject, reference, runs)
    if shown is None and not reference.independent:
        method = f"{method}; {STATED_LAW}"
    fault, ratio = (DeviceFault(), m.privacy_ratio()) if shown is None else (shown.fault, shown.ratio)
    return AuditResult(
        mechanism=m.name,
        epsilon=m.epsilon,
        delta=0.0,
        domain_size=m.domain_size,
        exact_epsilon=math.inf if ratio is None else epsilon_of(ratio),
        certified_lower_bound=certificate.lower_bound,
        alpha=alpha,
        verdict="broken" if fault else "proved" if enumerable else "sampled",
        method=method,
        witness=fault.words or certificate.words,
        fault_size=0.0 if enumerable or fault else fault_size(runs.independent),
        assumptions=assumptions,
        survey="" if subject.survey is None else subject.survey.id,
        size=f"for {plural(m.domain_size, 'value')}",
        check=fault.check,
    )


def _shown_by_runs(m: ChannelMechanism, reference: ChannelReference, runs: Runs) -> _ShownFault | None:
    """The first wrong run, with the report that tells its value from others where its reports can be counted out."""
    wrong = runs.wrong
    if wrong is None:
        return None
    shown = _ShownFault(DeviceFault(runs.check, wrong.words), None, wrong.value)
    if wrong.value is None:
        return shown
    last = reference.values - 1
    others = sorted({0, 1, last // 2, last} - {wrong.value})[:3]
    if _outcomes(reference) * (1 + len(others)) > MOST_RUNS:
        return shown
    pair = _pair_among(m, [wrong.value, *others])
    if pair.ratio is not None and pair.ratio <= m.privacy_ratio():
        return shown
    return _ShownFault(DeviceFault(runs.check, f"{wrong.words}; {pair}"), pair.ratio, wrong.value)


def _law_fault(m: ChannelMechanism, reference: ChannelReference) -> _ShownFault | None:
    """What is wrong with the stated law, the tables behind it, the draws from the system's bytes, or on a miniature."""
    ratio = m.privacy_ratio()
    if not within_epsilon(ratio, m.epsilon) or ratio != reference.ratio():
        worst = max(ratio, reference.ratio())
        words = f"two values' probabilities of a report are in the ratio {float(worst):.9g}"
        return _ShownFault(DeviceFault("ratio", words), worst)
    requests = list(dict.fromkeys(reference.requests(0) + reference.requests(reference.values - 1)))
    if words := reference.wrong_law():
        return _ShownFault(DeviceFault("law", words))
    if words := wrong_draw(requests[: MOST_DRAWS // 2] + requests[-MOST_DRAWS // 2 :]):
        return _ShownFault(DeviceFault("draws", words))
    miniature = wrong_miniature(m, attained=True)
    return None if miniature is None else _ShownFault(DeviceFault("miniatures", miniature.words), miniature.pair.ratio)


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


def _certificate(subject: Subject, samples: int | None, alpha: float, seconds: float) -> Certificate:
    """What whole reports of three pairs prove."""
    m, last = cast(ChannelMechanism, subject.mechanism), (subject.size or 1) - 1
    pairs = {(0, last), (0, min(1, last)), (last // 2, last)}
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
        samples = affordable(lambda number: stated(device(number), number), DEFAULT_SAMPLES, 2 * len(pairs), seconds)
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
