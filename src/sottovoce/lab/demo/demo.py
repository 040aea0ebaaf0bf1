"""The demonstration's first question: a million people, one randomized report each. Nothing is printed here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.domain import Domain
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.intervals import Interval
from sottovoce.lab.demo.instruments import INSTRUMENTS, QUESTION, STYLES, answer_text, true_frequencies
from sottovoce.lab.simulation.repeats import check_people, seeds_of
from sottovoce.lab.simulation.survey_error import Errors
from sottovoce.questions.shares import Shares
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.simulation import histogram_of
from sottovoce.surveys.survey import Survey
from sottovoce.theory.bounds import theorem_4_2

__all__ = [
    "CrowdErrors",
    "EstimatedShare",
    "MusicResult",
    "SampleReport",
    "assemble",
    "crowd_sizes",
    "gather",
    "percent",
    "sample_reports",
    "smaller_crowds",
    "state_survey",
]

Floats = NDArray[np.float64]
Progress = Callable[[int], object]

EPSILON: Final = 1.0
REPORT_BYTES: Final = 8
"""Reports are short enough to read; "auto" chooses among the mechanisms that fit."""

LEVEL: Final = 0.95

PEOPLE: Final = (
    ("Papageno", ("flute", "classical"), ("drums", "metal")),
    ("Carmen", ("guitar", "flamenco"), ("violin", "classical")),
    ("Orpheus", ("harp", "folk"), ("guitar", "rock")),
)
"""People from operas, each with an answer, and another answer to compare it with."""


@dataclass(frozen=True)
class SampleReport:
    """One person's answer and report, and what the report reveals.

    Attributes
    ----------
    ratio
        How many times likelier the report was from this answer than from `other_answer`.
    largest_ratio
        The largest such ratio between any two answers.
    """

    person: str
    answer: str
    report: bytes
    other_answer: str
    ratio: float
    largest_ratio: float

    @property
    def compared(self) -> str:
        """How likely the same report is from the other answer."""
        if math.isclose(self.ratio, 1):
            return "just as likely"
        return f"{max(self.ratio, 1 / self.ratio):.2f} times {'less likely' if self.ratio > 1 else 'likelier'}"


@dataclass(frozen=True)
class EstimatedShare:
    """The true share of one answer and its estimate."""

    answer: str
    truth: float
    value: float
    raw: float
    low: float
    high: float

    @property
    def hit(self) -> bool:
        """Whether the interval contains the truth."""
        return self.low <= self.truth <= self.high


@dataclass(frozen=True)
class CrowdErrors:
    """Mean errors with that many people, and the bounds on the projected one."""

    people: int
    repeats: int
    l2_raw: float
    l2_projected: float
    l2_bound: float
    l2_bound_paper: float


@dataclass(frozen=True, eq=False)
class MusicResult:
    """What was measured with the first survey."""

    survey: Survey
    seed: int
    sample_reports: tuple[SampleReport, ...]
    truth: Floats
    aggregate: Aggregate
    estimate: Estimate
    crowds: tuple[CrowdErrors, ...]

    @property
    def people(self) -> int:
        """How many people answered."""
        return self.aggregate.n_reports

    @cached_property
    def errors(self) -> Errors:
        """Distances of this estimate from the truth."""
        return Errors.of(self.estimate, self.truth)

    @cached_property
    def interval(self) -> Interval:
        """Every answer's 95 % interval."""
        return self.estimate.interval(LEVEL)

    @cached_property
    def covered(self) -> int:
        """How many of the intervals contain the truth."""
        low, high = self.interval
        return int(((low <= self.truth) & (self.truth <= high)).sum())

    @property
    def l2_bound_paper(self) -> float:
        """Theorem 4.2 for as many people."""
        return theorem_4_2(self.survey.n_answers, self.survey.epsilon, self.people).value

    def top(self, k: int) -> list[EstimatedShare]:
        """The k answers most people give by the estimate, the most frequent first."""
        largest = np.argsort(-self.estimate.values, kind="stable")[:k].tolist()
        low, high = self.interval
        columns = (self.truth, self.estimate.shown(), self.estimate.raw, low, high)
        return [EstimatedShare(answer_text(i), *(float(column[i]) for column in columns)) for i in largest]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        mechanism: Any = self.survey.mechanism
        return {
            "question": QUESTION,
            "people": self.people,
            "epsilon": self.survey.epsilon,
            "exact_epsilon": mechanism.exact_epsilon,
            "domain_size": self.survey.n_answers,
            "mechanism": mechanism.name,
            "report_bits": mechanism.report_bits,
            "survey": self.survey.id,
            "seed": self.seed,
            **asdict(self.errors),
            "l2_bound": self.estimate.bound.value,
            "l2_bound_paper": self.l2_bound_paper,
            "level": LEVEL,
            "intervals": self.survey.n_answers,
            "intervals_that_hold": self.covered,
            "coverage": self.covered / self.survey.n_answers,
            "top": [{**asdict(row), "hit": row.hit} for row in self.top(12)],
            "sample_reports": [{**asdict(w), "report": w.report.hex()} for w in self.sample_reports],
            "crowds": [asdict(crowd) for crowd in self.crowds],
        }


def percent(share: float, digits: int = 2) -> str:
    """A share in per cent, with the narrow space that keeps number and sign together.

    Examples
    --------
    >>> percent(0.0589).replace(chr(0x202F), " ")
    '5.89 %'
    """
    return f"{100 * share:.{digits}f}\N{NARROW NO-BREAK SPACE}%"


def state_survey() -> Survey:
    """The survey: 300 possible answers, epsilon 1, the best mechanism with a short report."""
    domain = Domain.product(instrument=list(INSTRUMENTS), style=list(STYLES))
    return Survey(Shares(domain), epsilon=EPSILON, title=QUESTION, max_report_bytes=REPORT_BYTES)


def sample_reports(
    survey: Survey, draw: Callable[[str, tuple[str, str]], bytes] | None = None
) -> tuple[SampleReport, ...]:
    """The reports of three people, drawn from the system's entropy.

    `draw` returns a person's report for a name and an answer; without it the survey draws it here.
    """
    reports = []
    for person, answer, other in PEOPLE:
        report = survey.randomize(answer) if draw is None else draw(person, answer)
        reports.append(_sample_report(survey, person, answer, other, report))
    return tuple(reports)


def _sample_report(
    survey: Survey, person: str, answer: tuple[str, str], other: tuple[str, str], report: bytes
) -> SampleReport:
    mechanism: Any = survey.mechanism
    received = mechanism.decode(report[len(survey.tag) :])
    log_probs = np.array([mechanism.log_prob(received, value) for value in range(survey.n_answers)])
    own, others = survey.answer_index(answer), survey.answer_index(other)
    return SampleReport(
        person,
        answer_text(own),
        report,
        answer_text(others),
        float(np.exp(log_probs[own] - log_probs[others])),
        float(np.exp(log_probs.max() - log_probs.min())),
    )


def gather(survey: Survey, people: int, seed: int, progress: Progress | None = None) -> Aggregate:
    """The counted reports of people drawn from the true distribution."""
    people_seed, report_seed = seeds_of(seed, 2)
    crowd = histogram_of(true_frequencies(), check_people(people), people_seed)
    return survey.simulate_aggregate(histogram=crowd, seed=report_seed, progress=progress)


def crowd_sizes(people: int) -> list[tuple[int, int]]:
    """Smaller numbers of people, down to a thousandth in half decades, and how often each is simulated.

    Up to ten times, as long as all simulations of one size together have no more than an eighth of the people.

    Examples
    --------
    >>> crowd_sizes(1_000_000)[:3]
    [(1000, 10), (3162, 10), (10000, 10)]
    """
    sizes = [round(people / 10 ** (half_decades / 2)) for half_decades in range(6, 0, -1)]
    return [(size, max(1, min(10, people // (8 * size)))) for size in sizes if size >= 10]


def smaller_crowds(survey: Survey, people: int, seed: int, progress: Progress | None = None) -> tuple[CrowdErrors, ...]:
    """Errors with fewer people."""
    truth = true_frequencies()
    measured = []
    for size, repeats in crowd_sizes(people):
        seeds = seeds_of(seed + size, repeats)
        estimates = [survey.estimate(gather(survey, size, own_seed, progress)) for own_seed in seeds]
        measured.append(_crowd(estimates, truth))
    return tuple(measured)


def _crowd(estimates: list[Estimate], truth: Floats) -> CrowdErrors:
    """Mean errors of estimates from equally many people."""
    errors = [Errors.of(estimate, truth) for estimate in estimates]
    first = estimates[0]
    return CrowdErrors(
        people=first.n_reports,
        repeats=len(estimates),
        l2_raw=float(np.mean([e.l2_raw for e in errors])),
        l2_projected=float(np.mean([e.l2_projected for e in errors])),
        l2_bound=first.bound.value,
        l2_bound_paper=theorem_4_2(len(truth), first.epsilon, first.n_reports).value,
    )


def assemble(
    survey: Survey, seed: int, samples: tuple[SampleReport, ...], aggregate: Aggregate, smaller: tuple[CrowdErrors, ...]
) -> MusicResult:
    """The result of the first survey, with its estimate."""
    truth, estimate = true_frequencies(), survey.estimate(aggregate)
    return MusicResult(survey, seed, samples, truth, aggregate, estimate, (*smaller, _crowd([estimate], truth)))
