"""The owners of simulated devices: invented people, handed out in random order, nobody twice.

The order matters: a round that is closed early, or an estimate on its way, must come from a fair sample.
Beside them, what a perfect estimate would say about them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.errors import SimulationError
from sottovoce.core.limits import check_integer
from sottovoce.domain import Domain
from sottovoce.estimates.asked import AskedSurvey
from sottovoce.lab.populations.distributions import frequencies
from sottovoce.lab.populations.words import ZIPF, read_lines
from sottovoce.questions.base import Question
from sottovoce.questions.invented import InventedPeople
from sottovoce.questions.people import People, check_histogram
from sottovoce.surveys.panel import Panel, Seat
from sottovoce.surveys.simulation import histogram_of
from sottovoce.surveys.survey import Survey
from sottovoce.workloads.base import Workload
from sottovoce.workloads.naming import value_at

__all__ = [
    "MOST_PEOPLE",
    "REPORTS",
    "Respondents",
    "Unlisted",
    "Urn",
    "respondents_for",
    "seed_of",
    "true_answers",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_PEOPLE: Final = 10**9
"""Most values among which NumPy draws without replacement."""

_VALUES, _ORDER, REPORTS = 0, 1, 3
"""What a fleet's seed is spawned for."""

_AT_ONCE: Final = 1 << 20
"""Records whose answers are added up together."""


def seed_of(seed: int, *key: int) -> int:
    """An independent seed for each key, always the same one for a seed."""
    return int.from_bytes(np.random.SeedSequence(seed, spawn_key=key).generate_state(4).tobytes(), "little")


class Respondents(Protocol):
    """People who have not answered yet."""

    @property
    def left(self) -> int:
        """How many they are."""

    def take(self, survey: Survey, n: int) -> People:
        """n of them, as people who answer this survey in a batch."""

    def values(self, n: int) -> list[object]:
        """The values of n of them, who answer by themselves."""


@final
class Urn:
    """A given number of people with each value, drawn without replacement.

    Examples
    --------
    >>> urn = Urn(Domain.of(["tea", "coffee"]), np.array([2, 1]), np.random.default_rng(7))
    >>> sorted(urn.values(3)), urn.left
    (['coffee', 'tea', 'tea'], 0)
    """

    def __init__(self, domain: Domain, histogram: Integers, rng: np.random.Generator) -> None:
        self._domain, self._histogram, self._rng = domain, histogram.copy(), rng

    @property
    def left(self) -> int:
        """How many they are."""
        return int(self._histogram.sum())

    def take(self, survey: Survey, n: int) -> People:
        """n of them, as people who answer this survey."""
        return survey.people_of_histogram(self._draw(n))

    def values(self, n: int) -> list[object]:
        """The values of n of them."""
        drawn = self._draw(n)
        order = self._rng.permutation(np.repeat(np.arange(len(drawn)), drawn))
        return [value_at(self._domain, int(index)) for index in order]

    def seats(self, rounds: int) -> Iterator[Urn]:
        """Everybody's seat: round after round, those whose round it is.

        Everybody draws a round uniformly and independently. Of those without a seat in rounds 1 .. j-1, each has one
        in round j with probability 1/(rounds - j + 1): the same law, in memory that does not grow with the people.
        """
        for after in range(rounds, 0, -1):
            seated = self._rng.binomial(self._histogram, 1 / after)
            self._histogram -= seated
            yield Urn(self._domain, seated, self._rng)

    def _draw(self, n: int) -> Integers:
        drawn: Integers = self._rng.multivariate_hypergeometric(self._histogram, n, method="marginals")
        self._histogram -= drawn
        return drawn


@final
class Unlisted:
    """People whose values cannot be listed, drawn from a population that the question invents."""

    def __init__(self, population: InventedPeople, n: int, rng: np.random.Generator) -> None:
        self._population, self.left, self._rng = population, n, rng

    @property
    def shares(self) -> list[tuple[str, float]] | None:
        """The true share of every answer, where the survey does not list them; None where it does."""
        shares = self._population.shares
        return None if shares is None else [*shares.items()]

    def take(self, survey: Survey, n: int) -> People:
        """n of them, as people who answer this survey."""
        self.left -= n
        return survey.question.people(self._population.draw(n, self._rng))

    def values(self, n: int) -> list[object]:
        """The values of n of them."""
        self.left -= n
        return self._population.values(n, self._rng)


def respondents_for(
    survey: Survey | Panel, people: int, distribution: str | ArrayLike, seed: int
) -> tuple[Urn | Unlisted, Floats | None]:
    """Simulated people for a survey, and the distribution they were drawn from; None where values are not listed.

    `distribution` is a name or file of `lab.populations.distributions`, shares of every value that sum to one,
    or integers: the exact number of people with each value.
    """
    n = check_integer("people", people, 1, MOST_PEOPLE)
    rng = np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=(_ORDER,))))
    if isinstance(survey, Survey) and survey.seat is None:
        question, population = survey.question, survey.question.invented_people()
        if question.is_searched and isinstance(distribution, str) and distribution != ZIPF:
            population = question.people_of_lines(read_lines(distribution, "population"))
        if population is not None:
            return Unlisted(population, n, rng), None
    domain = domain_of(survey)
    if isinstance(distribution, str):
        shares = frequencies(distribution, domain.size)
    elif np.asarray(distribution).dtype.kind in "iu":
        histogram = check_histogram(distribution, domain.size)
        if int(histogram.sum()) != n:
            raise SimulationError(
                f"the histogram holds {int(histogram.sum()):,} people and people is {n:,}; they differ"
            )
        return Urn(domain, histogram, rng), histogram / n
    else:
        shares = np.asarray(distribution, dtype=np.float64)
        if shares.shape != (domain.size,):
            raise SimulationError(f"the distribution must hold {domain.size:,} shares, one for each value")
    return Urn(domain, histogram_of(shares, n, seed_of(seed, _VALUES)), rng), shares


def domain_of(survey: Survey | Panel) -> Domain:
    """What a person's value can be."""
    domain = survey.domain
    assert isinstance(domain, Domain)
    return domain


def true_answers(survey: AskedSurvey | Panel, shares: Floats | None) -> Floats:
    """Every answer of a survey for a population with these shares of every value; none for a panel.

    Where values cannot be listed, the population is the one that the question invents.

    Examples
    --------
    >>> import sottovoce as sv
    >>> panel = sv.Panel({"age": range(4)}, rounds=2, epsilon=1.0)
    >>> true_answers(sv.adaptive.round_of(panel, 1, "age < 3"), np.full(4, 0.25))
    array([0.75])
    """
    if isinstance(survey, Panel):
        return np.empty(0)
    if survey.seat is not None:
        return np.empty(0) if shares is None else _round(survey, shares)
    question: Question = survey.question
    population = question.invented_people()
    if population is not None:
        return population.answers
    workload = question.workload
    return np.empty(0) if shares is None or not isinstance(workload, Workload) else workload.matvec(shares)


def _round(asked: AskedSurvey, shares: Floats) -> Floats:
    """A round's answers, by going through all records."""
    answers = np.zeros(asked.n_answers)
    assert isinstance(asked.seat, Seat)
    for start in range(0, len(shares), _AT_ONCE):
        part = shares[start : start + _AT_ONCE]
        columns = asked.seat.panel.domain.split(np.arange(start, start + len(part)))
        inputs = asked.seat.inputs(asked.question, columns)
        if inputs.ndim == 1:
            answers += np.bincount(inputs, weights=part, minlength=len(answers))
        else:
            answers += part @ inputs
    return answers
