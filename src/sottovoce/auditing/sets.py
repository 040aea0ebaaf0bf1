"""Audit of a mechanism for sets: every outcome of its miniatures, and its device run by run at the deployed size.

Sets cannot be listed. A run plays given draws to the device, through the survey if there is one, and compares what it
asks for and sends with a second implementation of the mechanism's law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

import numpy as np

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.empirical import Certificate, affordable, certify
from sottovoce.auditing.primitives import wrong_draw
from sottovoce.auditing.result import INDEPENDENT_RUNS, UNIFORM_BYTES, AuditResult, fault_in_words, fault_size
from sottovoce.auditing.subject import Subject, failure
from sottovoce.auditing.system import MOST_WATCHED
from sottovoce.core.errors import MechanismError, ReportError
from sottovoce.mechanisms.one_option import OneOption
from sottovoce.mechanisms.reference import index_rows
from sottovoce.mechanisms.set_selection import SetSelection
from sottovoce.mechanisms.sets import Row, SetMechanism, padded
from sottovoce.mechanisms.wheel import Wheel
from sottovoce.randomness import ONE, epsilon_of, within_epsilon
from sottovoce.randomness.philox import WHEEL_BINS, words
from sottovoce.randomness.scripts import Request, ScriptedSource, row_of, unpredictable
from sottovoce.workloads.naming import value_at

__all__ = ["audit_sets", "wrong_miniature_of_sets"]

DEFAULT_SAMPLES: Final = 2_000
LEAST_RUNS: Final = 20_000
"""Random runs that are made if time allows."""

_MOST_REQUESTS: Final = 200
"""Different requests of one device whose draws are checked word by word."""

Expected = Callable[[Any, Row, list[int]], bytes]


def audit_sets(subject: Subject[SetMechanism], samples: int | None, alpha: float, budget: Budget) -> AuditResult:
    """Audit one mechanism for sets, or the survey around it.

    Examples
    --------
    >>> result = audit_sets(Subject(Wheel.best(100, 3, 1.0, 1000)), 100, 1e-9, Budget(0.5))
    >>> result.verdict, round(result.exact_epsilon, 6)
    ('sampled', 1.0)
    """
    m = subject.mechanism
    known = next((law for kind, law in LAWS.items() if isinstance(m, kind)), None)
    if known is None:
        raise MechanismError(f"{m.name} cannot be audited: it has no audit")
    requests, expected = known[0](m), known[1]
    rng, done, certificate = unpredictable(), 0, Certificate(0.0, alpha, (0, 1), "nothing", 0)
    try:
        wrong = wrong_miniature_of_sets(type(m), m.epsilon)
        if not wrong and not within_epsilon(m.privacy_ratio(), m.epsilon):
            wrong = "the stated ratio of two sets is above e^epsilon"
        few = list(dict.fromkeys(requests))
        wrong = wrong or wrong_draw(few[: _MOST_REQUESTS // 2] + few[-_MOST_REQUESTS // 2 :])
        for members in _sets_to_run(m, rng):
            if wrong or done >= LEAST_RUNS or not budget.left:
                break
            wrong = _wrong_run(subject, members, _draws(requests, done, rng), requests, expected)
            budget.spend(1)
            done += 1
        wrong = wrong or _wrong_entropy(subject, rng)
        certificate = _certificate(subject, samples, alpha)
    except Exception as error:
        wrong = failure(error)
    if not wrong and certificate.lower_bound > m.epsilon:
        wrong = f"{certificate.words}: epsilon is above {certificate.lower_bound:.4g}"
    size = 0.0 if wrong else fault_size(done)
    method, assumptions = "the device does not do what it states", tuple[str, ...]()
    if not wrong:
        seen = fault_in_words(size, through_survey=subject.survey is not None)
        method = (
            f"every outcome of every draw for small sets of few options; {done:,} random sets with random draws; {seen}"
        )
        assumptions = (UNIFORM_BYTES, INDEPENDENT_RUNS, "sets that were not run do as those that were")
    return AuditResult(
        mechanism=m.name,
        epsilon=m.epsilon,
        delta=0.0,
        domain_size=m.options,
        exact_epsilon=math.inf if wrong else epsilon_of(m.privacy_ratio()),
        certified_lower_bound=certificate.lower_bound,
        alpha=alpha,
        verdict="broken" if wrong else "sampled",
        method=method,
        witness=wrong or certificate.words,
        fault_size=size,
        assumptions=assumptions,
        survey="" if subject.survey is None else subject.survey.id,
    )


def wrong_miniature_of_sets(kind: type[SetMechanism], epsilon: float) -> str:
    """A miniature whose device, run on every outcome for every set, has not exactly the stated channel."""
    for small in kind.miniatures(epsilon):
        rows = {row: row_of(lambda source, r=row, m=small: m.encode(m.randomize(r, source))) for row in small.rows()}  # type: ignore[misc]
        place = f"sets of up to {small.most} out of {small.options} options {small.parameters() or ''}"
        reports = list(small.outputs())
        for row, found in rows.items():
            stated = {small.encode(report): small.probability(report, row) for report in reports}
            if found != {report: p for report, p in stated.items() if p}:
                return f"{place}: the device's reports for {row} have not their stated probabilities"
        for report in map(small.encode, reports):
            column = [row.get(report, 0) for row in rows.values()]
            if not min(column) or max(column) / min(column) > small.privacy_ratio():
                return f"{place}: the report {report.hex()} tells two sets apart better than stated"
        if not within_epsilon(small.privacy_ratio(), epsilon):
            return f"{place}: the stated ratio of two sets is above e^epsilon"
    return ""


def _sets_to_run(m: SetMechanism, rng: np.random.Generator) -> Iterator[list[int]]:
    """The empty set, full ones at both ends, and then random ones of every size."""
    yield from ([], [0], [m.options - 1], list(range(m.most)), list(range(m.options - m.most, m.options)))
    while True:
        size = int(rng.integers(0, m.most + 1))
        yield rng.choice(m.options, size=size, replace=False).tolist()


def _draws(requests: list[Request], number: int, rng: np.random.Generator) -> list[int]:
    """Outcomes of all draws; coins all down, by their law, or at random."""
    integers = rng.integers(0, [max(1, request) for request in requests])
    up = (0.0, None, 0.5)[number % 3]
    chances = [(-request / ONE if up is None else up) if request <= 0 else 0.0 for request in requests]
    coins = rng.random(len(requests)) < chances
    return [int(coins[i]) if request <= 0 else int(integers[i]) for i, request in enumerate(requests)]


def _wrong_run(
    subject: Subject[SetMechanism], members: list[int], draws: list[int], requests: list[Request], expected: Expected
) -> str:
    """What is wrong with the requests or the bytes of one run; the set is named, for it is no person's."""
    m = subject.mechanism
    row = padded(tuple(sorted(members)), m.options, m.most)
    value, source = _held(subject, members), ScriptedSource(draws)
    if tuple(np.asarray(subject.input(value)).tolist()) != row:
        return f"the set {sorted(members)[:8]} becomes another input of the mechanism"
    sent = subject.send(value, source)
    if source.asked != requests:
        return f"the set {sorted(members)[:8]}: the device asks for other draws than stated"
    right = expected(m, row, draws)
    if sent != right:
        shown = sent.hex()[:48], right.hex()[:48]
        return f"the set {sorted(members)[:8]}: the device sends {shown[0]}, where its law gives {shown[1]}"
    return ""


def _held(subject: Subject[SetMechanism], members: list[int]) -> Any:
    """The set as a person has it, or the mechanism's own input."""
    if subject.survey is None:
        return padded(tuple(sorted(members)), subject.mechanism.options, subject.mechanism.most)
    return [value_at(subject.survey.question.options, member) for member in members]


def _wrong_entropy(subject: Subject[SetMechanism], rng: np.random.Generator) -> str:
    sets = (members for members, _ in zip(_sets_to_run(subject.mechanism, rng), range(MOST_WATCHED), strict=False))
    return subject.wrong_entropy((f"the set {sorted(one)[:8]}", _held(subject, one)) for one in sets)


def _certificate(subject: Subject[SetMechanism], samples: int | None, alpha: float) -> Certificate:
    """What whole reports of the empty set and of two full ones prove."""
    m = subject.mechanism
    sets = [[], list(range(m.most)), list(range(m.options - m.most, m.options))]
    held = [_held(subject, one) for one in sets]
    rows = [padded(tuple(one), m.options, m.most) for one in sets]

    def device(number: int) -> bytes:
        return subject.draw(held[number])

    def stated(report: bytes, number: int) -> float:
        try:
            return m.log_prob(m.decode(subject.payload(report)), rows[number])
        except ReportError:
            return 0.0

    drawn = affordable(device, DEFAULT_SAMPLES, 4) if samples is None else samples
    return certify(device, [(0, 1), (1, 2)], samples=drawn, alpha=alpha, stated=stated)


# --- the laws, a second time ------------------------------------------------------------------


def _requests_of_selection(m: SetSelection) -> list[Request]:
    numbers = m.options + m.most
    asked = [request for place, t in enumerate(m.thresholds) for request in (-t, numbers - place)]
    return asked + [m.options - place for place in range(m.subset_size)]


def _selection(m: SetSelection, row: Row, draws: list[int]) -> bytes:
    coins, later, drawn = draws[: 2 * m.most : 2], draws[1 : 2 * m.most : 2], draws[2 * m.most :]
    first = coins.index(1) if 1 in coins else m.most
    members, left = [], m.subset_size
    for place in range(first, m.most):
        if place == first or later[place] < left:
            members.append(row[place])
            left -= 1
    others = sorted(set(range(m.options + m.most)) - set(row))
    for place, at in enumerate(drawn):
        others[place], others[place + at] = others[place + at], others[place]
    return m.codec.encode(tuple(sorted(members + others[:left])))


def _requests_of_wheel(m: Wheel) -> list[Request]:
    return [m.seeds, -m.levels.threshold, m.most, *(m.bins - taken for taken in range(m.most + 1))]


def _wheel(m: Wheel, row: Row, draws: list[int]) -> bytes:
    seed, inside, place, *ranks = draws
    stream = words(m.key, m.options, layers=1, rotation=seed, purpose=WHEEL_BINS)[0].astype(object)
    own = sorted({int(stream[member]) * m.bins // 2**32 for member in row if member < m.options})
    reported = [b for b in range(m.bins) if b not in set(own)][ranks[len(own)]]
    if inside and place < len(own):
        reported = own[place]
    return index_rows(np.array([seed * m.bins + reported]), m.seeds * m.bins).tobytes()


def _requests_of_one_option(m: OneOption) -> list[Request]:
    half = -m.support.own * ONE
    return [m.options, int(half)]


def _one_option(m: OneOption, row: Row, draws: list[int]) -> bytes:
    option, truthful = draws
    yes = (option in row) if truthful else (option not in row)
    return index_rows(np.array([2 * option + yes]), 2 * m.options).tobytes()


LAWS: Final[dict[type[SetMechanism], tuple[Callable[[Any], list[Request]], Expected]]] = {
    SetSelection: (_requests_of_selection, cast(Expected, _selection)),
    Wheel: (_requests_of_wheel, cast(Expected, _wheel)),
    OneOption: (_requests_of_one_option, cast(Expected, _one_option)),
}
"""What each device must ask for, and what it must send after given draws."""
