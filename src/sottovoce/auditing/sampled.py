"""Audit of a mechanism whose inputs have no numbers: miniatures on every outcome, and its device run by run.

Sets, records, words and vectors cannot be listed. A run plays given draws to the device, through the survey if there is
one, and the mechanism's reference judges what it asks for and sends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, repeat
from typing import Any, Final

import numpy as np

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.channel import wrong_miniature
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
from sottovoce.auditing.subject import FramingError, Subject, failure
from sottovoce.auditing.system import MOST_WATCHED
from sottovoce.core.errors import ReportError
from sottovoce.domain.trials import Trial
from sottovoce.mechanisms.reference import DeviceRun, SampledReference, Script
from sottovoce.randomness.scripts import ScriptedSource, unpredictable

__all__ = ["audit_sampled", "first_wrong_run"]

_MOST_VALUES: Final = 2**21
"""Values of a survey up to which each is run with every outcome, where these are few."""

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
    >>> result.verdict, round(result.exact_epsilon, 6)
    ('sampled', 1.0)
    """
    m, runs = subject.mechanism, _SampledRuns(subject, reference, budget)
    certificate = Certificate(0.0, alpha, (0, 1), "nothing", 0)
    wrong = bad_draw = ""
    try:
        wrong = runs.first_wrong() or reference.wrong_law()
        large = reference.guarantee()[1]
        if not wrong and not large and (miniature := wrong_miniature(m, attained=reference.attained)) is not None:
            wrong = miniature.words
        bad_draw = wrong_draw(runs.requests())
        if not bad_draw:  # a sampler may never end with draws that are not as they should be
            wrong = wrong or runs.wrong_entropy()
            certificate = runs.certificate(samples, alpha)
    except Exception as error:
        wrong = wrong or failure(error)
    epsilon, too_large = reference.guarantee()
    certified = f"{certificate.words}: epsilon is above {certificate.lower_bound:.4g}"
    fault = wrong or bad_draw or too_large or (certified if certificate.lower_bound > m.epsilon else "")
    size = 0.0 if fault or runs.proved else fault_size(runs.independent)
    method, assumptions = "the device does not do what it states", tuple[str, ...]()
    if not fault:
        seen = [fault_in_words(size, through_survey=subject.survey is not None)] if size else []
        said = f"device run on every outcome of its draws, for every one of its {subject.size or 0:,} values"
        small = ["every outcome of every draw on miniatures"] if m.own_miniatures() else []
        method = said if runs.proved else "; ".join([*small, reference.method(runs.done), *seen])
        assumptions = (UNIFORM_BYTES, INDEPENDENT_RUNS, *(() if runs.proved else reference.assumptions(runs.done)))
        if not reference.independent:
            method, assumptions = f"{method}; {STATED_LAW}", (*assumptions, STATED_PROBABILITIES)
    return AuditResult(
        mechanism=m.name,
        epsilon=m.epsilon,
        delta=m.delta,
        domain_size=reference.size,
        exact_epsilon=math.inf if wrong or bad_draw else epsilon,
        certified_lower_bound=certificate.lower_bound,
        alpha=alpha,
        verdict="broken" if fault else "proved" if runs.proved else "sampled",
        method=method,
        witness=fault or certificate.words,
        fault_size=size,
        assumptions=assumptions,
        survey="" if subject.survey is None else subject.survey.id,
    )


def first_wrong_run(subject: Subject, reference: SampledReference, budget: Budget) -> str:
    """What a device does otherwise than its reference, in words; empty if nothing was seen in that time."""
    return _SampledRuns(subject, reference, budget).first_wrong()


class _SampledRuns:
    """Runs of one device, and how many there were."""

    def __init__(self, subject: Subject, reference: SampledReference, budget: Budget) -> None:
        self.subject, self.reference, self.budget, self.rng = subject, reference, budget, unpredictable()
        self.done = self.independent = 0
        """Lists of scripts that random values were run with, and runs of these."""
        self.proved = False
        self._asked: set[int] = set()

    def first_wrong(self) -> str:
        """Run the device until everything was run, something went wrong, or the time is over; edges in any case."""
        return self._judged(self._rare()) or self._judged(self._edges()) or self._random() or self._every_value()

    def requests(self) -> list[int]:
        """What the device asked for; of very many, those at both ends."""
        asked = sorted(self._asked)
        return asked if len(asked) <= _MOST_REQUESTS else asked[: _MOST_REQUESTS // 2] + asked[-_MOST_REQUESTS // 2 :]

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

    def _random(self) -> str:
        waiting: list[DeviceRun] = []
        wrong = ""
        for scripts in self.reference.scripts(self.rng):
            trial = self.subject.trials.random(self.rng)
            waiting += [self._run(trial, script) for script in scripts]
            self.done += 1
            if len(waiting) >= self.reference.batch or not self.budget.left:
                wrong = self.reference.first_wrong(waiting)
                self.independent += len(waiting)
                waiting = []
            if wrong or not self.budget.left:
                return wrong
        self.independent += len(waiting)
        return self.reference.first_wrong(waiting) if waiting else ""

    def _every_value(self) -> str:
        """Every value of a survey with every outcome, where there are few."""
        size, outcomes = self.subject.size, self.reference.outcomes
        if self.subject.survey is None or not outcomes or size is None or size > _MOST_VALUES:
            return ""
        for number in range(size):
            trial = Trial(f"value number {number}", self.subject.trials.value(number))
            wrong = self.reference.first_wrong([self._run(trial, script) for script in outcomes])
            if wrong or not self.budget.left:
                return wrong
        self.proved = True
        return ""

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

    def wrong_entropy(self) -> str:
        """A survey's report that is not drawn from the system's random bytes, for random values and those at edges."""
        trials = self.subject.trials
        people = chain((trials.random(self.rng) for _ in range(MOST_WATCHED)), trials.edges())
        return self.subject.wrong_entropy((trial.name, trial.value) for trial in people)

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
        drawn = affordable(device, self.reference.samples, 2 * len(pairs)) if samples is None else samples
        certificate = certify(device, pairs, samples=drawn, delta=m.delta, alpha=alpha, stated=stated)
        first, second = (trials[index].name for index in certificate.pair)
        return replace(certificate, names=(first, second))
