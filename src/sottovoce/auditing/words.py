"""Audit of hashed prefixes: every outcome of the miniatures, and the device run by run at the deployed size.

Words cannot be listed. A run plays given draws to the device, through the survey if there is one, and compares what it
asks for and sends with a second implementation of the hash and of the mechanism's law.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, islice
from typing import Any, Final

import numpy as np

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.empirical import Certificate, affordable, certify
from sottovoce.auditing.primitives import wrong_draw
from sottovoce.auditing.result import INDEPENDENT_RUNS, UNIFORM_BYTES, AuditResult, fault_in_words, fault_size
from sottovoce.auditing.subject import Subject, failure
from sottovoce.auditing.system import MOST_WATCHED
from sottovoce.auditing.word_values import Held, random_word, words_to_run
from sottovoce.core.errors import ReportError
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.mechanisms.reference import in_hex, index_rows
from sottovoce.randomness import epsilon_of, within_epsilon
from sottovoce.randomness.philox import PREFIX_HASHES, words
from sottovoce.randomness.scripts import Request, ScriptedSource, random_below, row_of, unpredictable

__all__ = ["audit_words", "wrong_miniature_of_words"]

DEFAULT_SAMPLES: Final = 5_000
LEAST_RUNS: Final = 20_000
"""Runs that are made if time allows."""

_CHUNK: Final = 128


def audit_words(subject: Subject[HashedPrefixes], samples: int | None, alpha: float, budget: Budget) -> AuditResult:
    """Audit hashed prefixes, or the survey around them.

    Examples
    --------
    >>> result = audit_words(Subject(HashedPrefixes.typical(40, 1.0)), 100, 1e-9, Budget(0.5))
    >>> result.verdict, round(result.exact_epsilon, 6)
    ('sampled', 1.0)
    """
    m, cases = subject.mechanism, _WordRuns(subject)
    runs, fault, certificate = 0, "", Certificate(0.0, alpha, (0, 1), "nothing", 0)
    try:
        fault = wrong_miniature_of_words(m.epsilon) or cases.wrong_law()
        people = cases.held()
        while not fault and runs < LEAST_RUNS and (runs == 0 or budget.left):
            fault = cases.wrong_run(list(islice(people, _CHUNK)))
            budget.spend(_CHUNK)
            runs += _CHUNK
        if not fault:
            fault = subject.wrong_entropy((held.name, held.value) for held in islice(people, MOST_WATCHED))
        certificate = cases.certificate(samples, alpha)
    except Exception as error:
        fault = fault or failure(error)
    if not fault and certificate.lower_bound > m.epsilon:
        fault = f"{certificate.words}: epsilon is above {certificate.lower_bound:.4g}"
    seen = fault_in_words(fault_size(runs), through_survey=subject.survey is not None)
    return AuditResult(
        mechanism=m.name,
        epsilon=m.epsilon,
        delta=0.0,
        domain_size=m.bits,
        exact_epsilon=math.inf if fault else epsilon_of(m.privacy_ratio()),
        certified_lower_bound=certificate.lower_bound,
        alpha=alpha,
        verdict="broken" if fault else "sampled",
        method="the device does not do what it states"
        if fault
        else f"every outcome of every draw for short codes; {runs:,} random and extreme words with random draws, "
        f"compared with the stated law byte by byte; {seen}",
        witness=fault or certificate.words,
        fault_size=0.0 if fault else fault_size(runs),
        assumptions=() if fault else (UNIFORM_BYTES, INDEPENDENT_RUNS, "words that were not run do as those that were"),
        survey="" if subject.survey is None else subject.survey.id,
    )


def wrong_miniature_of_words(epsilon: float) -> str:
    """A miniature whose device, run on every outcome for every code, has not exactly the stated channel."""
    for small in HashedPrefixes.miniatures(epsilon):
        place = f"codes of {small.bits} bits {small.parameters()}"
        rows = []
        reports = list(small.outputs())
        for code in small.codes():
            found = row_of(lambda source, c=code, m=small: m.encode(m.randomize(c, source)))  # type: ignore[misc]
            stated = {small.encode(report): small.probability(report, code) for report in reports}
            if found != {report: p for report, p in stated.items() if p}:
                return f"{place}: the device's reports for {in_hex(code.tobytes())} have not their stated probabilities"
            rows.append(found)
        for report in map(small.encode, reports):
            column = [row.get(report, Fraction()) for row in rows]
            if not min(column) or max(column) / min(column) > small.privacy_ratio():
                return f"{place}: the report {in_hex(report)} tells two codes apart better than stated"
        if not within_epsilon(small.privacy_ratio(), epsilon):
            return f"{place}: the stated ratio of two codes is above e^epsilon"
    return ""


class _WordRuns:
    """Words on which a device is run, and what it must ask for and send."""

    def __init__(self, subject: Subject[HashedPrefixes]) -> None:
        self.subject, self.m, self.rng = subject, subject.mechanism, unpredictable()
        self.code = None if subject.survey is None else subject.survey.question.code
        self.inner = self.m.inner.audit_reference()
        self.requests: list[Request] = [sum(self.m.rows), *self.inner.requests(0)]

    def held(self) -> Iterator[Held]:
        """What people may have: words of the survey and what is none; or codes, for a mechanism alone."""
        if self.code is not None:
            return words_to_run(self.code, self.rng)
        return self._codes()

    def _codes(self) -> Iterator[Held]:
        size, bits = (self.m.bits + 7) // 8, self.m.bits
        numbers = [0, 1, (1 << bits) - 1, 1 << bits - 1]
        while True:
            number = numbers.pop() if numbers else random_below(1 << bits, self.rng)
            code = (number << 8 * size - bits).to_bytes(size, "big")
            yield Held(f"the code {in_hex(code)}", np.frombuffer(code, dtype=np.uint8), number)

    def wrong_law(self) -> str:
        """What is wrong with the stated ratio, the field of the points, or the draws from the system's bytes."""
        ratio = self.m.privacy_ratio()
        if not within_epsilon(ratio, self.m.epsilon) or ratio != self.inner.ratio():
            return f"two words' probabilities of a report are in the ratio {float(ratio):.9g}"
        return self.inner.wrong_law() or wrong_draw(self.requests)

    def wrong_run(self, people: list[Held]) -> str:
        """What is wrong with the inputs, the requests or the bytes of some runs; these words are no person's."""
        size, bits = (self.m.bits + 7) // 8, self.m.bits
        played, sent = [], []
        for held in people:
            if np.asarray(self.subject.input(held.value)).tobytes() != (held.number << 8 * size - bits).to_bytes(
                size, "big"
            ):
                return f"{held.name} becomes another input of the mechanism"
            draws = [random_below(n, self.rng) if n > 0 else int(self.rng.integers(2)) for n in self.requests]
            source = ScriptedSource(draws)
            sent.append(self.subject.send(held.value, source))
            played.append(draws)
            if source.asked != self.requests:
                return f"{held.name}, with the draws {draws}: the device asks for other draws than stated"
        for held, draws, found, right in zip(people, played, sent, self._expected(people, played), strict=True):
            if found != right:
                return f"{held.name}, with the draws {draws}: the device sends {in_hex(found)}, not {in_hex(right)}"
        return ""

    def _expected(self, people: list[Held], played: list[list[int]]) -> list[bytes]:
        """The bytes that must be sent, from the description alone."""
        draws, points = np.array(played, dtype=np.int64), self.m.buckets
        buckets = [
            self._hash(held.number, row) * points // 2**32 for held, (row, *_) in zip(people, played, strict=True)
        ]
        payloads = self.inner.payloads(np.array(buckets), draws[:, 1:])
        numbers = [int.from_bytes(payload.tobytes(), "little") for payload in payloads]
        reports = index_rows(draws[:, 0] * points + np.array(numbers), sum(self.m.rows) * points)
        return [report.tobytes() for report in reports]

    def _hash(self, number: int, row: int) -> int:
        """The XOR of the words of the bits that are set, of those that the row's level reads."""
        level = bisect(list(accumulate(self.m.rows)), row)
        stream = words(self.m.key, self.m.bits, layers=1, rotation=row, purpose=PREFIX_HASHES)[0].tolist()
        hashed = 0
        for place in range(self.m.ends[level]):
            if number >> self.m.bits - 1 - place & 1:
                hashed ^= stream[place]
        return hashed

    def certificate(self, samples: int | None, alpha: float) -> Certificate:
        """What whole reports prove of two words that differ at once, of two that differ at the end, and of "other"."""
        held = self._to_tell_apart()
        inputs = [self.subject.input(one) for one in held]

        def device(number: int) -> bytes:
            return self.subject.draw(held[number])

        def stated(report: bytes, number: int) -> float:
            try:
                chance: Fraction = self.m.probability(self.m.decode(self.subject.payload(report)), inputs[number])
            except ReportError:
                return 0.0
            return math.log(chance.numerator) - math.log(chance.denominator) if chance else -1e9

        pairs = [(0, 1), (0, 2), (0, 3)]
        many = affordable(device, DEFAULT_SAMPLES, 2 * len(pairs)) if samples is None else samples
        return certify(device, pairs, samples=many, alpha=alpha, stated=stated)

    def _to_tell_apart(self) -> list[Any]:
        """A word, one that begins otherwise, one that ends otherwise, and what is none."""
        if self.code is None:
            size, bits = (self.m.bits + 7) // 8, self.m.bits
            numbers = [(1 << bits) - 1, (1 << bits - 1) - 1, (1 << bits) - 2, 0]
            codes = [(number << 8 * size - bits).to_bytes(size, "big") for number in numbers]
            return [np.frombuffer(code, dtype=np.uint8) for code in codes]
        first, second, third = (random_word(self.code, self.rng, full=True) for _ in range(3))
        for _ in range(200):
            last = first ^ 1 + random_below(min(2, (1 << self.code.unit_bits) - 1), self.rng)
            if self.code.value(last) is not None:
                third = last
                break
        return [*(self.code.value(number) for number in (first, second, third)), None]
