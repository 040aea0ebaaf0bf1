"""Audit of a mechanism whose inputs have no numbers: miniatures on every outcome, and its device run by run.

Sets, records, words and vectors cannot be listed. A run plays given draws to the device, through the survey if there is
one, and the mechanism's reference judges what it asks for and sends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice, repeat
from typing import Any, Final

import numpy as np

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.channel import wrong_miniature
from sottovoce.auditing.empirical import Certificate, affordable, certify
from sottovoce.auditing.fresh import compare_fresh
from sottovoce.auditing.primitives import wrong_draw
from sottovoce.auditing.result import (
    BY_NUMBERS,
    FRESH_PROCESS,
    REMEMBERED,
    STATED_LAW,
    STATED_PROBABILITIES,
    UNIFORM_BYTES,
    AuditResult,
    DeviceFault,
    fault_in_words,
    fault_size,
    first_fault,
)
from sottovoce.auditing.runs import TURNS
from sottovoce.auditing.subject import FramingError, Subject, failure
from sottovoce.core.errors import ReportError
from sottovoce.core.words import plural
from sottovoce.domain.trials import Trial
from sottovoce.mechanisms.reference import MOST_SWEPT, DeviceRun, SampledReference, Script
from sottovoce.randomness.scripts import ScriptedSource, unpredictable

__all__ = ["audit_sampled", "first_wrong_run"]

_REPEATED: Final = 16
"""Pairs of values that are run in turn."""

_MOST_REQUESTS: Final = 1_000
"""Different requests of one device whose draws are checked word by word."""

_IMPOSSIBLE: Final = -1e9
"""The logarithm of 0, for scores that are subtracted."""


def audit_sampled(
    subject: Subject, reference: SampledReference, samples: int | None, alpha: float, budget: Budget
) -> AuditResult:
    """Audit one mechanism, or the survey around it; without `samples`, as many as are affordable.

    Examples
    --------
    >>> from sottovoce.mechanisms.wheel import Wheel
    >>> wheel = Wheel.best(100, 3, 1.0, 1000)
    >>> result = audit_sampled(Subject(wheel), wheel.audit_reference(), 100, 1e-9, Budget(0.5))
    >>> result.verdict, result.size, round(result.exact_epsilon, 6)
    ('sampled', 'for 100 options', 1.0)
    """
    m, runs = subject.mechanism, _SampledRuns(subject, reference, budget)
    certificate = Certificate(0.0, alpha, (0, 1), "nothing", 0)
    fault, fresh = DeviceFault(), False
    try:
        fault = first_fault(runs.first_checks())
        if not fault:
            fresh, words = compare_fresh(subject, budget)
            fault = DeviceFault("fresh process", words) if words else first_fault(runs.long_checks())
        if not fault:
            certificate = runs.certificate(samples, alpha)
            fault = first_fault([DeviceFault("reports", certificate.excess(m.epsilon))])
    except Exception as error:
        fault = DeviceFault(runs.check, failure(error))
    epsilon, _ = reference.guarantee()
    proved = runs.proved and not fault
    size = 0.0 if fault or proved else fault_size(runs.independent)
    method, assumptions = "the device does not do what it states", tuple[str, ...]()
    if not fault:
        remembered = FRESH_PROCESS if fresh else REMEMBERED
        method, assumptions = runs.method(), (UNIFORM_BYTES, remembered)
        if not proved:
            assumptions += reference.assumptions(runs.done)
        if not reference.independent:
            method, assumptions = f"{method}; {STATED_LAW}", (*assumptions, STATED_PROBABILITIES)
    return AuditResult(
        mechanism=m.name,
        epsilon=m.epsilon,
        delta=m.delta,
        domain_size=reference.size,
        exact_epsilon=math.inf if fault and fault.check not in BY_NUMBERS else epsilon,
        certified_lower_bound=certificate.lower_bound,
        alpha=alpha,
        verdict="broken" if fault else "proved" if proved else "sampled",
        method=method,
        witness=fault.words or certificate.words,
        fault_size=size,
        assumptions=assumptions,
        survey="" if subject.survey is None else subject.survey.id,
        size=f"for {plural(reference.size, reference.unit)}",
        check=fault.check,
    )


def first_wrong_run(subject: Subject, reference: SampledReference, budget: Budget) -> str:
    """What a device does otherwise than its reference, in words; empty if nothing was seen in that time."""
    runs = _SampledRuns(subject, reference, budget)
    return first_fault(chain(runs.first_runs(), runs.long_checks())).words


class _SampledRuns:
    """Runs of one device, and how many there were."""

    def __init__(self, subject: Subject, reference: SampledReference, budget: Budget) -> None:
        self.subject, self.reference, self.budget, self.rng = subject, reference, budget, unpredictable()
        self.done = self.independent = 0
        """Lists of scripts that random values were run with, and runs of these."""
        self.listed = self.swept = 0
        """Listed values, and scripts of the sweep, that were run."""
        self.proved = False
        self.check = "edges"
        """The check that is under way."""
        self._asked: set[int] = set()

    def first_runs(self) -> Iterator[DeviceFault]:
        """The runs that are made in any case."""
        yield self._checked("edges", lambda: self._judged(self._rare()) or self._judged(self._edges()))
        yield self._checked("repeats", lambda: self._judged(self._turns()))

    def first_checks(self) -> Iterator[DeviceFault]:
        """What takes little time and reaches everything once."""
        yield from self.first_runs()
        yield self._checked("law", self.reference.wrong_law)
        yield self._checked("ratio", lambda: self.reference.guarantee()[1])
        yield self._checked("draws", lambda: wrong_draw(self._requests()))
        yield self._checked("miniatures", self._wrong_miniature)
        yield self._checked("entropy", self.subject.wrong_entropy)

    def long_checks(self) -> Iterator[DeviceFault]:
        """Runs for as long as there is time, which begins now."""
        self.budget = self.budget.part()
        yield self._checked("every value", self._every_value)
        yield self._checked("listed values", self._listed)
        yield self._checked("every outcome", self._sweep)
        yield self._checked("random runs", self._random)
        yield self._checked("ratio", lambda: self.reference.guarantee()[1])

    def _checked(self, check: str, find: Callable[[], str]) -> DeviceFault:
        self.check = check
        return DeviceFault(check, find())

    def _requests(self) -> list[int]:
        """What the device asked for; of very many, those at both ends."""
        asked = sorted(self._asked)
        return asked if len(asked) <= _MOST_REQUESTS else asked[: _MOST_REQUESTS // 2] + asked[-_MOST_REQUESTS // 2 :]

    def _wrong_miniature(self) -> str:
        miniature = wrong_miniature(self.subject.mechanism, attained=self.reference.attained)
        return "" if miniature is None else miniature.words

    def _rare(self) -> Iterator[DeviceRun]:
        for script in self.reference.rare_scripts(self.rng):
            yield self._run(self.subject.trials.random(self.rng), script)
            if not self.budget.left:
                return

    def _edges(self) -> Iterator[DeviceRun]:
        """Values where faults are likely; for a survey, the mechanism's own inputs without it too."""
        alone = self.subject.survey is None
        own = () if alone else self.reference.trials.edges()
        for trial, inner in chain(zip(self.subject.trials.edges(), repeat(alone)), zip(own, repeat(True))):
            for number, script in enumerate(self.reference.edge_scripts(self.rng)):
                if number >= self.reference.sure_scripts and not self.budget.left:
                    break
                yield self._run(trial, script, alone=inner)

    def _turns(self) -> Iterator[DeviceRun]:
        """Two values in turn, each also twice at once, with two scripts in turn: what a device may remember."""
        for _ in range(_REPEATED):
            trials = [self.subject.trials.random(self.rng) for _ in range(2)]
            scripts = [next(iter(self.reference.scripts(self.rng)))[0], self.reference.sides(self.rng)[-1]]
            for value, script in TURNS:
                yield self._run(trials[value], scripts[script])
            if not self.budget.left:
                return

    def _listed(self) -> str:
        """The listed values in random order, each with both sides of coins, until a third of the time is over."""
        trials = self.subject.trials
        scripts = iter(partial(self.reference.sides, self.rng), None)
        for number, sides in zip(self.rng.permutation(trials.listed).tolist(), scripts, strict=False):
            trial = trials.numbered(number)
            if wrong := self.reference.first_wrong([self._run(trial, script) for script in sides]):
                return wrong
            self.listed += 1
            if self.budget.used > 1 / 3:
                break
        return ""

    def _sweep(self) -> str:
        """Every outcome of every draw, for random values, until two thirds of the time are over."""
        sweep = self.reference.sweep(self.rng) if self.reference.swept() else iter(())
        while scripts := list(islice(sweep, max(2, self.reference.batch))):
            if wrong := self.reference.first_wrong([self._run(self._any(), script) for script in scripts]):
                return wrong
            self.swept += len(scripts)
            if self.budget.used > 2 / 3:
                break
        return ""

    def _any(self) -> Trial:
        return self.subject.trials.random(self.rng)

    def _random(self) -> str:
        waiting: list[DeviceRun] = []
        for scripts in self.reference.scripts(self.rng):
            trial = self._any()
            waiting += [self._run(trial, script) for script in scripts]
            self.done += 1
            over = not self.budget.wants(self.done, self.reference.least)
            if len(waiting) >= self.reference.batch or over:
                if wrong := self.reference.first_wrong(waiting):
                    return wrong
                self.independent += len(waiting)
                waiting = []
            if over:
                break
        return ""

    def _every_value(self) -> str:
        """Every value of a survey with every outcome, where there are few."""
        size, outcomes = self.subject.size, self.reference.outcomes
        if self.subject.survey is None or not outcomes or size is None or size > MOST_SWEPT // 2:
            return ""
        for number in range(size):
            trial = self.subject.trials.numbered(number)
            wrong = self.reference.first_wrong([self._run(trial, script) for script in outcomes])
            if wrong or not self.budget.left:
                return wrong
        self.proved = True
        return ""

    def method(self) -> str:
        """What was run, in words, and the fault that it would have shown."""
        if self.proved:
            return f"device run on every outcome of its draws, for every one of its {self.subject.size or 0:,} values"
        trials = self.subject.trials
        said = ["every outcome of every draw on miniatures"] if self.subject.mechanism.own_miniatures() else []
        if self.listed:
            said.append(_swept(self.listed, trials.listed, trials.listed_name))
        if self.swept:
            said.append(_swept(self.swept // 2, self.reference.swept() // 2, "outcome of every draw"))
        said.append(self.reference.method(self.done))
        size = fault_size(self.independent)
        said.append(fault_in_words(size, through_survey=self.subject.survey is not None))
        return "; ".join(said)

    def _judged(self, runs: Iterator[DeviceRun]) -> str:
        verdicts = (self.reference.first_wrong([run]) for run in runs)
        return next(filter(None, verdicts), "")

    def _run(self, trial: Trial, script: Script, *, alone: bool = False) -> DeviceRun:
        """One run through all of the survey, or of the mechanism `alone`, on its own input."""
        given = trial.value if alone else self._input(trial)
        source = ScriptedSource(script, self.rng)
        try:
            sent = (self.subject.randomize if alone else self.subject.send)(trial.value, source)
        except FramingError as error:
            raise FramingError(f"{trial.name}: {error}") from error
        self.budget.spend(1)
        self._asked.update(source.asked)
        return DeviceRun(trial.name, given, source.asked, source.played, sent)

    def _input(self, trial: Trial) -> Any:
        """The mechanism's input for a value, which must be the known one."""
        given = self.subject.input(trial.value)
        if trial.input is not None and not np.array_equal(given, trial.input):
            raise FramingError(f"{trial.name} becomes another input of the mechanism")
        return given

    def certificate(self, samples: int | None, alpha: float) -> Certificate:
        """What whole reports prove of the first of some values and each of the others."""
        m, trials = self.subject.mechanism, self.subject.trials.apart(self.rng)
        inputs = [self.subject.input(trial.value) for trial in trials]

        def device(number: int) -> bytes:
            return self.subject.draw(trials[number].value)

        def stated(report: bytes, number: int) -> float:
            try:
                return max(m.log_prob(m.decode(self.subject.payload(report)), inputs[number]), _IMPOSSIBLE)
            except ReportError:
                return 0.0

        pairs = [(0, other) for other in range(1, len(trials))]
        drawn = (
            affordable(
                lambda number: stated(device(number), number),
                self.reference.samples,
                2 * len(pairs),
                self.budget.seconds,
            )
            if samples is None
            else samples
        )
        certificate = certify(device, pairs, samples=drawn, delta=m.delta, alpha=alpha, stated=stated)
        first, second = (trials[index].name for index in certificate.pair)
        return replace(certificate, names=(first, second))


def _swept(done: int, of: int, what: str) -> str:
    return f"every {what}" if done >= of else f"{done:,} of {of:,}, of every {what}"
