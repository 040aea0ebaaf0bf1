"""The conjunction that most people satisfy, one condition per attribute, by coordinate ascent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple, final

import numpy as np

from sottovoce.adaptive.answer import ChoiceAnswer, mechanism_of_choices
from sottovoce.adaptive.session import Session
from sottovoce.adaptive.strategy import AdaptiveStrategy, attribute_of, check_share
from sottovoce.core.errors import DomainError, SurveyError
from sottovoce.core.limits import check_integer
from sottovoce.domain import Domain, LabelDomain, RangeDomain
from sottovoce.expressions import Query
from sottovoce.expressions.tree import integer_node
from sottovoce.theory.adaptive_bounds import MAX_ROUNDS
from sottovoce.theory.bounds import Bound

__all__ = ["Coordinate", "Maximize", "MaximizeResult"]

_MOST_ALTERNATIVES: Final = 2**12


class Coordinate(NamedTuple):
    """One attribute's alternatives: their conditions as text, and the expression for a person's alternative."""

    name: str
    conditions: tuple[str, ...]
    number: Any

    @classmethod
    def of(cls, name: str, values: Domain, bins: int) -> Coordinate:
        """All labels; all integers of a range, or at most `bins` bins of it."""
        attribute = ["attribute", name]
        if isinstance(values, LabelDomain) and values.size <= _MOST_ALTERNATIVES:
            conditions = tuple(f"{name} == {label!r}" for label in values.names)
            return cls(name, conditions, ["find", attribute, list(values.names)])
        if not isinstance(values, RangeDomain):
            raise DomainError(
                f"attribute {name!r} has no short list of alternatives: give labels (at most {_MOST_ALTERNATIVES}) "
                "or a range of integers; HeavyHitters finds common texts"
            ).at("attributes")
        step, last = abs(values.step), values.start + values.step * (values.size - 1)
        low, high = sorted((values.start, last))
        width = -(-values.size // min(bins, values.size)) * step
        ends = [(start, min(high, start + width - step)) for start in range(low, high + 1, width)]
        conditions = tuple(f"{name} == {a}" if a == b else f"{a} <= {name} <= {b}" for a, b in ends)
        return cls(name, conditions, ["//", ["-", attribute, integer_node(low)], integer_node(width)])


@final
@dataclass(frozen=True)
class MaximizeResult:
    """The conjunction found.

    Attributes
    ----------
    conditions
        One per attribute.
    frequency, low, high
        The share of people who satisfy all of them, with an interval that holds simultaneously for all alternatives of
        the last round; None, 0 and 1 if nobody answered it.
    settled
        Whether no change of a single condition was an improvement.
    rounds, empty_rounds
        Number of questions asked, and of those that nobody answered.
    """

    conditions: tuple[str, ...]
    frequency: float | None
    low: float
    high: float
    confidence: float
    settled: bool
    rounds: int
    empty_rounds: int

    @property
    def query(self) -> str:
        """The conjunction as a query."""
        return " and ".join(self.conditions)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {**asdict(self), "conditions": list(self.conditions), "query": self.query}


@final
@dataclass(frozen=True)
class Maximize(AdaptiveStrategy):
    """Search for the most common combination of values of several attributes.

    A round asks how people who satisfy the other attributes' conditions are distributed over one attribute's
    alternatives, and takes the best. Attributes without a turn so far have no condition. The result is a combination
    that no change of one condition improves by more than the noise, which need not be the best of all.

    Parameters
    ----------
    attributes
        Names, in the order of their turns.
    cycles
        Maximum number of turns of each attribute.
    bins
        Maximum number of parts of equal width into which a range of integers is divided.

    Examples
    --------
    >>> import sottovoce as sv
    >>> people = {"age": [23] * 60_000 + [71] * 40_000, "city": ["Rome"] * 70_000 + ["Oslo"] * 30_000}
    >>> search = Maximize(["age", "city"], bins=4)
    >>> panel = search.panel({"age": range(100), "city": ["Oslo", "Rome"]}, epsilon=2.0, people=100_000)
    >>> search.run(sv.Session.simulated(panel, people, seed=7)).query
    "0 <= age <= 24 and city == 'Rome'"
    """

    attributes: Sequence[str]
    cycles: int = 3
    bins: int = 16

    def __post_init__(self) -> None:
        listed = () if isinstance(self.attributes, str) else tuple(self.attributes)
        if not listed or not all(isinstance(name, str) for name in listed) or len(set(listed)) < len(listed):
            raise SurveyError("attributes must be a list of distinct names, at least one").at("attributes")
        object.__setattr__(self, "attributes", listed)
        object.__setattr__(self, "cycles", check_integer("cycles", self.cycles, 1, MAX_ROUNDS // len(listed)))
        object.__setattr__(self, "bins", check_integer("bins", self.bins, 2, _MOST_ALTERNATIVES))

    def coordinates(self, domain: Domain) -> list[Coordinate]:
        """The alternatives of each attribute."""
        return [Coordinate.of(name, attribute_of(domain, name), self.bins) for name in self.attributes]

    @property
    def _most_rounds(self) -> int:
        # With a single attribute nothing else can change.
        return self.cycles * len(self.attributes) if len(self.attributes) > 1 else 1

    def _forecast(self, domain: Domain, epsilon: float, people: int) -> tuple[int, Bound]:
        # The best alternative is fixed before its noise is drawn, so the choice falls short by no more than the
        # largest of all noises, which are sub-Gaussian.
        shortfalls = [
            math.sqrt(2 * mechanism_of_choices(size + 1, epsilon).proxy * math.log(size) * self._most_rounds / people)
            for size in {len(coordinate.conditions) for coordinate in self.coordinates(domain)}
        ]
        words = "the most by which a round's choice is expected to be less common than the best one"
        return self._most_rounds, Bound(max(shortfalls), words)

    def _trivial_error(self, domain: Domain) -> Bound:
        most = max(len(coordinate.conditions) for coordinate in self.coordinates(domain))
        return Bound(1 / most, f"the best of {most} alternatives may be no more common than {1 / most:.3g}")

    def run(self, session: Session, confidence: float = 0.95) -> MaximizeResult:
        """Search until no condition changes or no round is left; an empty round changes nothing."""
        panel, certainty = session.panel, check_share("confidence", confidence)
        coordinates = self.coordinates(panel.domain)
        self._check_rounds(session, len(coordinates))
        chosen: dict[int, int] = {}
        answers: list[ChoiceAnswer] = []
        unchanged = 0
        while len(answers) < self._most_rounds and session.remaining and unchanged < len(coordinates):
            turn = len(answers) % len(coordinates)
            answer = session.choose(*_question(coordinates, chosen, turn))
            answers.append(answer)
            before = chosen.get(turn)
            if answer.estimate is None:
                chosen.setdefault(turn, 0)
            else:
                chosen[turn] = int(np.argmax(answer.estimate.raw[: len(coordinates[turn].conditions)]))
            unchanged = unchanged + 1 if chosen[turn] == before else 1
        frequency, low, high = None, 0.0, 1.0
        if (last := answers[-1].estimate) is not None:
            ends = last.interval(certainty, simultaneous=True)
            best = chosen[turn]
            frequency, low, high = (float(column[best]) for column in (ends.nearest(last.raw), *ends))
        conditions = tuple(coordinate.conditions[chosen[i]] for i, coordinate in enumerate(coordinates))
        empty = sum(answer.empty for answer in answers)
        settled = unchanged >= len(coordinates) and not empty
        return MaximizeResult(conditions, frequency, low, high, certainty, settled, len(answers), empty)


def _question(coordinates: list[Coordinate], chosen: dict[int, int], turn: int) -> tuple[Query, int]:
    """The number of a person's alternative; the last choice for those who do not satisfy the other conditions."""
    asked, size = coordinates[turn], len(coordinates[turn].conditions)
    met = [["==", coordinates[i].number, best] for i, best in chosen.items() if i != turn]
    if not met:
        return Query.from_tree(asked.number), max(2, size)
    all_met = met[0] if len(met) == 1 else ["and", *met]
    return Query.from_tree(["if", all_met, asked.number, size]), size + 1
