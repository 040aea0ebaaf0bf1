"""What a survey of words finds among simulated people: common words, words that nobody has, and errors of shares."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np

from sottovoce.estimates.words.estimate import WordEstimate
from sottovoce.lab.simulation.repeats import check_people, check_repeats, mean_and_error, seeds_of
from sottovoce.questions.invented_words import WordPeople
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.survey import Survey

__all__ = ["MeasuredWords", "SearchedOnce", "measure_words"]

_AT_ONCE: Final = 1 << 18
_ASKED: Final = 20
"""Words whose share is asked for without looking whether they were found: the most common ones."""

_TOP: Final = 10


@dataclass(frozen=True)
class SearchedOnce:
    """One search, beside the truth.

    Attributes
    ----------
    found, certain
        The words found, and how many of them are certain.
    false, false_certain
        How many of each nobody has.
    top
        How many of the ten most common words were found, as a share.
    largest_error
        The error of the raw shares of the most common words.
    covered
        The share of these whose 95 % interval contains the truth.
    """

    found: float
    certain: float
    false: float
    false_certain: float
    top: float
    largest_error: float
    covered: float


@dataclass(frozen=True)
class MeasuredWords:
    """What was measured over the repeats, and the last estimate beside the population's shares."""

    people: int
    epsilon: float
    delta: float
    mechanism: str
    distribution: str
    repeats: int
    seed: int
    mean: SearchedOnce
    standard_error: SearchedOnce | None
    margin: float
    report_bits: int
    report_bytes: int
    seconds: float
    estimate: WordEstimate = field(repr=False)
    crowd: WordPeople = field(repr=False)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything as plain values; every word of the last list with its true share."""
        flat = {name: value for name, value in vars(self).items() if name not in ("estimate", "crowd", "mean")}
        spread = flat.pop("standard_error")
        estimated = self.estimate.to_dict(level)
        answers = [{**answer, "truth": self.crowd.shares.get(answer["label"], 0.0)} for answer in estimated["answers"]]
        return {
            "question": "words",
            **flat,
            **asdict(self.mean),
            "standard_errors": None if spread is None else asdict(spread),
            "answers": answers,
        }


def measure_words(
    survey: Survey,
    crowd: WordPeople,
    name: str,
    people: int | None = None,
    *,
    repeats: int = 1,
    seed: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> MeasuredWords:
    """Let people of a population answer, search, and compare with the population's own shares.

    Without `people`, exactly the people who were counted answer; otherwise that many are drawn from them.
    """
    n, times = check_people(crowd.lines if people is None else people), check_repeats(repeats)
    fixed = secrets.randbits(32) if seed is None else seed
    seeds, runs, began = seeds_of(fixed, 2 * times), [], time.perf_counter()
    estimates: list[Any] = []
    for people_seed, report_seed in zip(seeds[::2], seeds[1::2], strict=True):
        drawn = crowd.everybody() if people is None else None
        estimates.append(survey.estimate(_counted(survey, crowd, n, drawn, people_seed, report_seed, progress)))
        runs.append(_compared(estimates[-1], crowd))
    columns = {key: [getattr(run, key) for run in runs] for key in SearchedOnce.__dataclass_fields__}
    spread = {key: mean_and_error(values)[1] for key, values in columns.items()} if times > 1 else None
    return MeasuredWords(
        people=n,
        epsilon=survey.epsilon,
        delta=survey.delta,
        mechanism=survey.mechanism.name,
        distribution=name,
        repeats=times,
        seed=fixed,
        mean=SearchedOnce(**{key: float(np.mean(values)) for key, values in columns.items()}),
        standard_error=None if spread is None else SearchedOnce(**spread),
        margin=survey.design.margin(n),
        report_bits=survey.mechanism.report_bits,
        report_bytes=survey.mechanism.report_bytes,
        seconds=(time.perf_counter() - began) / times,
        estimate=estimates[-1],
        crowd=crowd,
    )


def _counted(
    survey: Survey,
    people: WordPeople,
    n: int,
    drawn: list[Any] | None,
    people_seed: int,
    report_seed: int,
    progress: Callable[[int], object] | None,
) -> Aggregate:
    rng, total = np.random.default_rng(people_seed), survey.aggregate()
    for start, seed in zip(range(0, n, _AT_ONCE), seeds_of(report_seed, -(-n // _AT_ONCE)), strict=True):
        stop = min(start + _AT_ONCE, n)
        values = people.draw(stop - start, rng) if drawn is None else drawn[start:stop]
        total += survey.simulate_aggregate(values, seed=seed, progress=progress)
    return total


def _compared(estimate: WordEstimate, people: WordPeople) -> SearchedOnce:
    labels, certain, shares = estimate.labels(), estimate.certain, people.shares
    false = np.array([label not in shares for label in labels], dtype=bool)
    common = people.labels
    asked = list(estimate.of_many([people.code.typed(label) for label in common[:_ASKED]]))
    truth = people.answers[: len(asked)]
    errors = [abs(answer.raw - share) for answer, share in zip(asked, truth, strict=True)]
    inside = [answer.low <= share <= answer.high for answer, share in zip(asked, truth, strict=True)]
    return SearchedOnce(
        found=len(labels),
        certain=int(certain.sum()),
        false=int(false.sum()),
        false_certain=int((false & certain).sum()),
        top=float(np.mean([label in set(labels) for label in common[:_TOP]])),
        largest_error=float(max(errors)),
        covered=float(np.mean(inside)),
    )
