"""Audit of a mechanism for records: its law, its miniatures on every outcome, its device run by run at its own size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, cast

import numpy as np

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.channel import Channel, worst_pair
from sottovoce.auditing.empirical import Certificate, affordable, certify
from sottovoce.auditing.primitives import wrong_draw
from sottovoce.auditing.result import INDEPENDENT_RUNS, UNIFORM_BYTES, AuditResult, fault_in_words, fault_size
from sottovoce.auditing.subject import Subject, failure
from sottovoce.auditing.system import MOST_WATCHED
from sottovoce.core.errors import ReportError
from sottovoce.domain.number import NumberGrid
from sottovoce.mechanisms.reference import ChannelReference, in_hex, index_rows
from sottovoce.mechanisms.tables import Tables
from sottovoce.randomness import epsilon_of, within_epsilon
from sottovoce.randomness.scripts import Request, ScriptedSource, random_below, row_of, unpredictable
from sottovoce.workloads.naming import value_at

__all__ = ["audit_records"]

DEFAULT_SAMPLES: Final = 20_000
LEAST_RUNS: Final = 20_000
"""Random runs that are made if there is time."""

MOST_RUNS: Final = 400_000
_CHUNK: Final = 256


def audit_records(subject: Subject[Tables], samples: int | None, alpha: float, budget: Budget) -> AuditResult:
    """Audit one mechanism for records, or the survey around it; without `samples`, as many as are affordable."""
    m = subject.mechanism
    cases = _Cases(subject)
    certificate = Certificate(0.0, alpha, (0, 0), "nothing", 0)
    runs, fault = 0, ""
    try:
        fault = _wrong_law(m) or _wrong_miniature(m)
        while not fault and runs < MOST_RUNS and (runs == 0 or budget.left):
            fault = cases.run(edges=runs == 0)
            runs += _CHUNK
            budget.spend(_CHUNK)
        if not fault and subject.survey is not None:
            people = ((f"record {number}", cases.random()) for number in range(MOST_WATCHED))
            fault = subject.wrong_entropy(people)
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
        domain_size=sum(m.inputs),
        exact_epsilon=math.inf if fault else epsilon_of(m.privacy_ratio()),
        certified_lower_bound=certificate.lower_bound,
        alpha=alpha,
        verdict="broken" if fault else "sampled",
        method="the device does not do what it states"
        if fault
        else f"{runs:,} random and extreme records, each with "
        f"random draws, compared with the stated law byte by byte; miniatures on every outcome; {seen}",
        witness=fault or certificate.words,
        fault_size=0.0 if fault else fault_size(runs),
        assumptions=()
        if fault
        else (
            UNIFORM_BYTES,
            INDEPENDENT_RUNS,
            "records that were not run do as those that were",
            "the closed form of the worst ratio holds at this size as on every miniature",
        ),
        survey="" if subject.survey is None else subject.survey.id,
    )


def _wrong_law(m: Tables) -> str:
    """What is wrong with the stated ratio, a table's own law, or the draws from the system's bytes."""
    references = [cast(ChannelReference, table.mechanism.audit_reference()) for table in m.tables]
    ratio = m.privacy_ratio()
    if not within_epsilon(ratio, m.epsilon) or ratio != max(one.ratio() for one in references):
        return f"two records' probabilities of a report are in the ratio {float(ratio):.9g}"
    for one in references:
        words = one.wrong_law()
        if words:
            return words
    steps = [step for step in m.steps if step > 1]
    some = {request for one in references for request in one.requests(0)[:8]}
    return wrong_draw([sum(table.weight for table in m.tables), *steps, *sorted(some)])


def _wrong_miniature(m: Tables) -> str:
    """The first miniature whose device, run on every outcome, has not exactly the stated channel."""
    for small in type(m).miniatures(m.epsilon):
        channel: Channel = {}
        for number, record in enumerate(small.records()):
            channel[number] = row_of(_running(small, record))
            stated = {small.encode(report): small.probability(report, record) for report in small.outputs()}
            if channel[number] != {report: chance for report, chance in stated.items() if chance}:
                return f"{small.sizes} {small.steps}: the reports of record {number} have other than the stated chances"
        pair = worst_pair(channel)
        if pair.ratio != small.privacy_ratio():
            return f"{small.sizes} {small.steps}: {pair}"
    return ""


def _running(small: Tables, record: tuple[int, ...]) -> Callable[[Any], bytes]:
    return lambda source: small.encode(small.randomize(record, source))


class _Cases:
    """Records on which a device is run, and what it must ask for and send."""

    def __init__(self, subject: Subject[Tables]) -> None:
        self.subject, self.m, self.rng = subject, subject.mechanism, unpredictable()
        self.references = [cast(ChannelReference, table.mechanism.audit_reference()) for table in self.m.tables]
        question = None if subject.survey is None else subject.survey.question
        self.fields: Any = getattr(question, "attributes", None)
        self.domain = None if subject.survey is None else subject.survey.domain

    def random(self, edge: str = "") -> Any:
        """A person's record: at random, or with the first or last value of every attribute."""
        if self.domain is not None:
            size = self.domain.size
            number = {"first": 0, "last": size - 1}.get(edge, random_below(size, self.rng))
            return value_at(self.domain, number)
        if self.fields is None:
            return [{"first": 0, "last": n - 1}.get(edge, random_below(n, self.rng)) for n in self.m.inputs]
        return {name: self._value(field, edge) for name, field in self.fields}

    def _value(self, field: Any, edge: str) -> Any:
        if not isinstance(field, NumberGrid):
            return value_at(field, {"first": 0, "last": field.size - 1}.get(edge, random_below(field.size, self.rng)))
        # Numbers beyond the ends too, which are clipped.
        part = {"first": -0.5, "last": 1.5}.get(edge, float(self.rng.uniform(-0.1, 1.1)))
        return field.low + part * (field.high - field.low)

    def run(self, *, edges: bool) -> str:
        """Run some records; the first that goes wrong in words."""
        kinds = ["first", "last"] * (_CHUNK // 8) if edges else []
        for edge in [*kinds, *[""] * (_CHUNK - len(kinds))]:
            held = self.random(edge)
            record = [int(one) for one in self.subject.input(held)]
            if len(record) != len(self.m.inputs) or any(
                not 0 <= one < most for one, most in zip(record, self.m.inputs, strict=True)
            ):
                return f"the record {held} becomes an input outside the mechanism's"
            requests, draws, right = self._expected(record)
            source = ScriptedSource(draws)
            sent = self.subject.send(held, source)
            if source.asked != requests:
                return f"the record {record}, with the draws {draws[:12]}, asks for other draws than the stated law"
            if sent != right:
                return f"the record {record}, with the draws {draws[:12]}, sends {in_hex(sent)}, not {in_hex(right)}"
        return ""

    def _expected(self, record: Sequence[int]) -> tuple[list[Request], list[int], bytes]:
        """Requests, outcomes for them, and the bytes that must be sent, from the description alone."""
        m = self.m
        weights = [table.weight for table in m.tables]
        drawn = random_below(sum(weights), self.rng)
        table = next(t for t in range(len(weights)) if drawn < sum(weights[: t + 1]))
        requests, draws, cells = [sum(weights)], [drawn], []
        for value, steps in zip(record, m.steps, strict=True):
            up = 0
            if steps > 1:
                requests.append(steps)
                up = random_below(steps, self.rng)
                draws.append(up)
            cells.append(value // steps + (value % steps + up >= steps))
        number = 0
        for place in m.tables[table].attributes:
            number = number * m.sizes[place] + cells[place]
        reference = self.references[table]
        inner = reference.requests(number)
        outcomes = [random_below(one, self.rng) if one > 0 else int(self.rng.integers(2)) for one in inner]
        payload = reference.payloads(np.array([number]), np.array([outcomes], dtype=np.int64))[0].tobytes()
        head = index_rows(np.array([table]), len(weights)).tobytes()
        return [*requests, *inner], [*draws, *outcomes], (head + payload).ljust(m.report_bytes, b"\0")

    def certificate(self, samples: int | None, alpha: float) -> Certificate:
        """What whole reports of two records prove that differ in every attribute."""
        held = [self.random("first"), self.random("last")]
        inputs = [self.subject.input(one) for one in held]

        def device(number: int) -> bytes:
            return self.subject.draw(held[number])

        def stated(report: bytes, number: int) -> float:
            try:
                chance: Fraction = self.m.probability(self.m.decode(self.subject.payload(report)), inputs[number])
            except ReportError:
                return 0.0
            return math.log(chance.numerator) - math.log(chance.denominator) if chance else -1e9

        many = affordable(device, DEFAULT_SAMPLES, 2) if samples is None else samples
        return certify(device, [(0, 1)], samples=many, alpha=alpha, stated=stated)
