"""Choices: which options do people tick, each up to a few of them?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, islice
from typing import Any, ClassVar, NoReturn, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.entries import as_record, entries_of, is_missing
from sottovoce.core.errors import DomainError, SimulationError, ValueOutsideDomainError
from sottovoce.core.limits import MAX_DIMENSION
from sottovoce.core.words import plural
from sottovoce.domain import Domain, domain_from_statement
from sottovoce.domain.typed import listed_texts
from sottovoce.mechanisms.sets import SetTrials
from sottovoce.questions.base import Question
from sottovoce.questions.invented import SetPeople
from sottovoce.questions.parameter import Parameter, clear_question, missing_parameter
from sottovoce.questions.people import People
from sottovoce.workloads.naming import find_label, is_text_labelled, value_at
from sottovoce.workloads.sets import Sets

__all__ = ["Choices", "choices"]

Rows = NDArray[np.int64]


@clear_question('sv.choices(["bus", "tram"], most=2)')
def choices(options: object, most: int | None = None, *, missing: str = "refuse") -> Choices:
    """The question which options people tick; a person's value is a set of options.

    Parameters
    ----------
    options
        Labels, a number of options, or a range of integers.
    most
        How many options a person may tick; all by default. The error grows with it.
    missing
        "refuse" None and NaN, or count them "as <option>", such as "as prefer not to say": the set of that option
        alone, which is added to the options if it is not one of them. An empty set is a value: nothing was ticked.

    Examples
    --------
    >>> choices(["bus", "tram", "bike", "car"], most=2).most
    2
    """
    return Choices.of(options=options, most=most, missing=missing)


@final
@dataclass(frozen=True, repr=False)
class Choices(Question):
    """The share of people who ticked each option, where everybody ticks at most `most`, or nothing.

    Examples
    --------
    >>> question = Choices(["bus", "tram", "bike", "car"], most=2)
    >>> question.n_answers, question.label(2), question.find("car")
    (4, 'bike', 3)
    >>> question.private_input({"car", "bus"})
    array([0, 3])
    >>> question.private_input([])
    array([4, 5])
    """

    options: Domain
    most: int

    kind: ClassVar[str] = "choices"
    called: ClassVar[str] = "Tick all that apply"
    summary: ClassVar[str] = "the share of people who ticked each option"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("options", "labels", "the options' names", "bus,tram,bike,car"),
        Parameter(
            "most",
            "integer",
            "how many options a person may tick; all by default",
            "3",
            optional=True,
            low=1,
            high=MAX_DIMENSION,
        ),
        missing_parameter(),
    )
    strategies: ClassVar[tuple[str, ...]] = ("sets",)
    projected_on: ClassVar[str] = "shares of sets"
    held: ClassVar[str] = "the whole set of options that a person ticks, all of them together"

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "options", Domain.of(self.options))
        except DomainError as error:
            raise DomainError(f"options: {error}").at("options") from None
        object.__setattr__(self, "most", self.workload.most)

    @classmethod
    def _of(cls, **given: Any) -> Self:
        question = cls(given["options"], 1)
        options = question.options.with_missing(given["missing"])
        return replace(question, options=options, most=given.get("most", options.size))

    @classmethod
    def _fields(cls) -> tuple[str, ...]:
        return ("domain", "most")

    @classmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        return cls(domain_from_statement(statement["domain"]), statement["most"])

    def _statement(self) -> dict[str, Any]:
        return {"domain": self.options.to_statement(), "most": self.most}

    @cached_property
    def workload(self) -> Sets:
        return Sets(self.options, self.most)

    @property
    def domain(self) -> None:
        return None

    def private_input(self, value: object) -> Rows:
        """The numbers of a person's options in increasing order, then dummies up to `most`.

        As many options are looked up for every set.
        """
        members = self._members(value)
        size, first = len(members), value_at(self.options, 0)
        indices = [self.options._find(member) for member in [*members, *[first] * self.most][: self.most]]
        numbers = [
            index if position < size else self.options.size + position - size for position, index in enumerate(indices)
        ]
        if size > self.most or min(numbers) < 0 or len(set(numbers)) < self.most:
            raise self._refusal()
        return np.sort(np.array(numbers, dtype=np.int64))

    def settled(self, value: object) -> object:
        return self._members(value) if isinstance(value, Iterator) else value

    def admits_missing(self, field: str = "") -> bool:
        return self.options.missing is not None

    def parse(self, text: str) -> object:
        """Options between commas, each perhaps quoted as in JSON; an empty text has none."""
        return [self.options.parse(option) for option in listed_texts(text)]

    def _members(self, value: object) -> list[Any]:
        if is_missing(value):
            return [self.options.missing]
        # Names with values are not a list of options, be it a mapping, a table or a row of ticks.
        value = as_record(value)
        is_named = isinstance(value, Mapping) or hasattr(value, "columns") or hasattr(value, "to_dict")
        is_bytes = isinstance(value, str | bytes | bytearray | memoryview)
        if is_named or is_bytes or getattr(value, "ndim", 1) != 1 or not isinstance(value, Iterable):
            raise self._refusal()
        # One more than is allowed is enough to refuse what may have no end.
        return list(islice(value, self.most + 1))

    def _is_set(self, value: object) -> bool:
        try:
            self.private_input(value)
        except ValueOutsideDomainError:
            return False
        return True

    def _refusal(self, position: int | None = None) -> ValueOutsideDomainError:
        where = "the value" if position is None else f"the value at position {position}"
        return ValueOutsideDomainError(
            f"{where} is not a set of options; allowed: a list or set of at most {self.most} different ones out of "
            f"{self.options.size:,}, or an empty one"
        )

    def people(self, values: Any) -> People:
        """From one set per person, or from ticks: a table or DataFrame of zeros and ones with a column per option.

        A row without any entry is a missing value; the option that it counts as needs no column.
        """
        rows = self._ticks(values) if _is_table(values) else self._listed(values)
        return People(len(rows), lambda start, stop: rows[start:stop].copy())

    def _listed(self, values: Any) -> Rows:
        entries = entries_of(values)
        # Checked one by one only where they are of other types, or one is wrong: there may be millions.
        plain = set(map(type, entries)) <= {list, tuple, set, frozenset}
        try:
            sets = entries if plain else [self._members(value) for value in entries]
            sizes = np.fromiter(map(len, sets), dtype=np.int64, count=len(sets))
            flat = list(chain.from_iterable(sets))
            members = self.options.indices(flat) if flat else np.empty(0, dtype=np.int64)
        except ValueOutsideDomainError:
            raise self._refusal(
                next(position for position, value in enumerate(entries) if not self._is_set(value))
            ) from None
        people = np.repeat(np.arange(len(sets)), sizes)
        order = np.lexsort((members, people))
        return self._rows(members[order], sizes)

    def _ticks(self, table: Any) -> Rows:
        size, missing = self.options.size, self.options._find(None)
        indices = list(range(size))
        if hasattr(table, "columns"):
            indices = [self.options._find(name) for name in table.columns]
            is_whole = sorted({*indices, missing} - {-1}) == list(range(size))
            if not is_whole or -1 in indices or len(set(indices)) < len(indices):
                raise ValueOutsideDomainError(
                    f"the columns do not match the survey; give one for each of its {size:,} options"
                ).at("values")
        # What is masked is None in a list, and an array would show what the mask hides.
        ticks = np.array(table.tolist(), dtype=object) if isinstance(table, np.ma.MaskedArray) else np.asarray(table)
        if missing >= 0 and ticks.dtype.kind in "fO" and len(indices) == ticks.shape[1]:
            empty = np.array([all(map(is_missing, row)) for row in ticks.tolist()], dtype=bool)
            added = [empty] if missing not in indices else []
            ticks = np.column_stack([np.where(empty[:, None], np.array(indices) == missing, ticks), *added])
            indices += [missing] * len(added)
        names = np.array(indices, dtype=np.int64)
        if ticks.shape[1:] != names.shape or not np.isin(ticks, (0, 1)).all():
            raise ValueOutsideDomainError(
                f"ticks must be zeros and ones in {self.options.size:,} columns, one per option"
            )
        people, columns = np.nonzero(ticks)
        members = names[columns]
        order = np.lexsort((members, people))
        return self._rows(members[order], np.count_nonzero(ticks, axis=1))

    def _rows(self, members: Rows, sizes: Rows) -> Rows:
        """Rows of people's options, sorted for each person, with dummies behind them."""
        starts = np.cumsum(sizes) - sizes
        places = np.arange(len(members)) - np.repeat(starts, sizes)
        people = np.repeat(np.arange(len(sizes)), sizes)
        repeated = np.flatnonzero((np.diff(members) == 0) & (np.diff(people) == 0))
        wrong = np.concatenate([np.flatnonzero(sizes > self.most), people[repeated]])
        if len(wrong):
            raise self._refusal(int(wrong.min()))
        rows = self.options.size + np.arange(self.most) - sizes[:, None]
        rows[people, places] = members
        return rows

    def people_of_histogram(self, histogram: ArrayLike) -> NoReturn:
        """Always refused: sets cannot be listed, so there is no number of people with each."""
        raise SimulationError("sets cannot be counted by value; give values, one set per person").at("histogram")

    def audit_trials(self) -> SetTrials:
        return SetTrials(self.options.size, self.most, partial(value_at, self.options))

    @property
    def answers_are_shares(self) -> bool:
        return True

    @property
    def listed_by_size(self) -> bool:
        return True

    def invented_people(self) -> SetPeople:
        return SetPeople(self.options, self.most)

    @property
    def values_text(self) -> str:
        return f"a set of at most {self.most:,} of {plural(self.options.size, 'option')}"

    def _find(self, name: object) -> int:
        index = find_label(self.options, name) if isinstance(name, str) else -1
        index = index if index >= 0 else self.options._find(name)
        return index if index >= 0 or not is_text_labelled(self.options) else super()._find(name)

    def label(self, index: int) -> str:
        return self.options.label(index)


def _is_table(values: Any) -> bool:
    return getattr(values, "ndim", 1) == 2
