"""`Domain`: the possible values of one person, numbered 0 .. size-1, and their JSON."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any, Final, Self, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.calls import with_clear_calls
from sottovoce.core.entries import as_integer, as_integers, as_wholes, entries_of
from sottovoce.core.errors import DomainError, ValueOutsideDomainError
from sottovoce.domain.typed import missing_label, parse_integer

__all__ = ["AllTexts", "Domain", "Indices", "ValueNumbers"]

Indices: TypeAlias = NDArray[np.int64]

_WHOLE: Final = "; a float counts if it is whole, such as 3.0"
_POSITIONS: Final = "; positions are given as sottovoce.domain.ValueNumbers"


@final
@dataclass(frozen=True)
class AllTexts:
    """The arguments of `Domain.text`."""

    alphabet: str
    max_length: int


@final
@dataclass(frozen=True)
class ValueNumbers:
    """People's values, given by their numbers in the domain: 0 for the first label, and so on.

    Examples
    --------
    >>> Domain.of(["red", "green", "blue"]).indices(ValueNumbers([2, 0]))
    array([2, 0])
    """

    numbers: ArrayLike


class Domain(abc.ABC):
    """The set of values a survey asks about. Make one with `Domain.of`, `Domain.product` or `Domain.text`.

    Examples
    --------
    >>> Domain.of(["red", "green", "blue"]).index("blue")
    2
    >>> Domain.of(range(10, 20)).index(12)
    2
    >>> people = Domain.product(age=range(100), country=["DE", "FR"])
    >>> people.size, people.index({"age": 30, "country": "FR"}), people.label(61)
    (200, 61, 'age=30, country=FR')
    """

    missing: str | int | None = None
    """The value that None, NaN and absent fields count as; without one they are refused."""

    @final
    @staticmethod
    @with_clear_calls('Domain.of(["tea", "coffee"])', error=DomainError)
    def of(values: object) -> Domain:
        """A domain from labels, an integer size, a range, a mapping of named attributes, or a domain."""
        if isinstance(values, Domain):
            return values
        for kind in _KINDS:
            made = kind._from_values(values)
            if made is not None:
                return made
        raise DomainError(
            f"a domain cannot be made from {type(values).__name__}: give a list of labels, an integer size, "
            "a range, or a mapping of attribute names to such domains"
        ).at("values")

    @final
    @staticmethod
    def product(**attributes: object) -> Domain:
        """Records of named attributes, each with a domain of its own."""
        return Domain.of(attributes)

    @final
    @staticmethod
    def text(max_length: int, alphabet: str = "abcdefghijklmnopqrstuvwxyz") -> Domain:
        """All texts of at most `max_length` characters of `alphabet`: a `TextDomain`.

        Examples
        --------
        >>> Domain.text(8).size, Domain.text(8).index("hello")
        (217180147159, 59898074366)
        """
        return Domain.of(AllTexts(alphabet, max_length))

    @final
    @staticmethod
    def attributes_of(domain: Domain) -> tuple[tuple[str, Domain], ...]:
        """Names and domains of a product's attributes; any other domain is a single attribute, "value".

        Examples
        --------
        >>> Domain.attributes_of(Domain.of(100))
        (('value', Domain.of(range(0, 100))),)
        """
        return domain._attributes or (("value", domain),)

    def __init_subclass__(cls) -> None:
        # Importing any module of this package loads all kinds, so `of` never misses one.
        super().__init_subclass__()
        _KINDS.append(cls)

    @classmethod
    @abc.abstractmethod
    def _from_values(cls, values: object) -> Self | None:
        """The domain of this kind for the argument of `Domain.of`; None if `values` is not of this kind."""

    @property
    @abc.abstractmethod
    def _attributes(self) -> tuple[tuple[str, Domain], ...]:
        """Names and domains of the attributes of a record; empty if values are not records."""

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """The number of values."""

    @abc.abstractmethod
    def _indices(self, values: Any) -> Indices:
        """The numbers of many values, one per person."""

    @abc.abstractmethod
    def _find(self, value: object) -> int:
        """The number of a value, or -1 if it is not in the domain."""

    @abc.abstractmethod
    def _find_integers(self, integers: Indices) -> Indices:
        """`_find` for many integers; any result outside 0 .. size-1 means "not in the domain"."""

    @abc.abstractmethod
    def _label(self, index: int) -> str:
        """The label of a number that is in range."""

    @abc.abstractmethod
    def to_statement(self) -> dict[str, Any]:
        """The domain's part of a survey's JSON."""

    @property
    @abc.abstractmethod
    def _allowed(self) -> str:
        """The allowed values, for error messages."""

    @property
    def _holds_integers(self) -> bool:
        """Whether values are integers."""
        return False

    @final
    def with_missing(self, policy: str) -> Domain:
        """The domain in which None, NaN and absent fields count "as <label>"; with "refuse" they are not values.

        Examples
        --------
        >>> Domain.of(["tea", "coffee"]).with_missing("as no answer").index(None)
        2
        >>> Domain.of(range(1, 6)).with_missing("as 3").index(None)
        2
        """
        label = missing_label(policy)
        return self if label is None else self._with_missing(label)

    def _with_missing(self, label: str) -> Domain:
        """The domain in which missing values count as the value that is written like this."""
        raise DomainError('missing can be "as <label>" only where values are labels or integers; leave it out').at(
            "missing"
        )

    @property
    def field_names(self) -> tuple[str, ...]:
        """The names of a record's attributes; empty if values are not records."""
        return ()

    def parse(self, text: str) -> object:
        """The value that typed text stands for; text that stands for none is returned as it is."""
        return None if self._is_blank(text) else parse_integer(text)

    @final
    def _is_blank(self, text: str) -> bool:
        """Whether typed text stands for a missing value."""
        return self.missing is not None and not text.strip()

    @final
    def index(self, value: object) -> int:
        """The number of a value; raises `ValueOutsideDomainError`, whose message does not contain the value."""
        index = self._find(value)
        if index < 0:
            raise self._outside().at("value")
        return index

    @final
    def indices(self, values: Any) -> Indices:
        """The numbers of many values: a list, an array or a column with one per person; or `ValueNumbers`."""
        return self._numbers(values.numbers) if isinstance(values, ValueNumbers) else self._indices(values)

    @final
    def _find_all(self, values: Any) -> Indices:
        """`index` of every entry of a list, array or column."""
        entries = entries_of(values)
        integers = as_wholes(self._filled(entries))
        if integers is not None:
            indices = self._find_integers(integers)
        else:
            indices = np.fromiter((self._find(v) for v in entries), dtype=np.int64, count=len(entries))
        return self._inside(indices)

    @final
    def _filled(self, entries: Any) -> Any:
        """An array of floats with integers for missing values; anything else as it is."""
        if not isinstance(self.missing, int) or not isinstance(entries, np.ndarray) or entries.dtype.kind != "f":
            return entries
        return np.where(np.isnan(entries), np.float64(self.missing), entries)

    @final
    def _inside(self, indices: Indices) -> Indices:
        """Return `indices` if all of them are in the domain."""
        outside = (indices < 0) | (indices >= self.size)
        if outside.any():
            raise self._outside(int(np.argmax(outside))).at("values")
        return indices

    @final
    def columns(self, values: Any) -> dict[str, Indices]:
        """The numbers of many people's attributes, keyed by attribute name; accepts what `indices` accepts.

        Examples
        --------
        >>> Domain.product(age=range(18, 100), country=["DE", "FR"]).columns([{"age": 30, "country": "FR"}])
        {'age': array([12]), 'country': array([1])}
        """
        return self.split(self.indices(values))

    @final
    def split(self, indices: ArrayLike) -> dict[str, Indices]:
        """Like `columns`, for values given by their numbers.

        Examples
        --------
        >>> Domain.product(age=range(100), country=["DE", "FR"]).split([61, 0])
        {'age': array([30,  0]), 'country': array([1, 0])}
        """
        rest = self._numbers(indices)
        first, *others = Domain.attributes_of(self)
        parts = {}
        for name, domain in reversed(others):
            rest, parts[name] = np.divmod(rest, domain.size)
        parts[first[0]] = rest
        return dict(reversed(parts.items()))

    @final
    def _numbers(self, indices: ArrayLike) -> Indices:
        """Return `indices` as an int64 array if all are in range."""
        numbers = as_integers(entries_of(indices))
        if numbers is None or (numbers.size and not 0 <= numbers.min() <= numbers.max() < self.size):
            raise ValueOutsideDomainError(f"indices must be a list of integers from 0 to {self.size - 1}")
        return numbers

    @final
    def label(self, index: int) -> str:
        """The label of the value with that number."""
        number = as_integer(index)
        if number is None or not 0 <= number < self.size:
            raise ValueOutsideDomainError(f"index must be an integer from 0 to {self.size - 1}").at("index")
        return self._label(number)

    @final
    def labels(self) -> list[str]:
        """The labels of all values."""
        return [self._label(i) for i in range(self.size)]

    @final
    def _outside(self, position: int | None = None) -> ValueOutsideDomainError:
        where = "the value is" if position is None else f"the value at position {position} is"
        remedy = _WHOLE if self._holds_integers else _POSITIONS
        return ValueOutsideDomainError(f"{where} not in the domain; allowed: {self._allowed}{remedy}")


_KINDS: Final[list[type[Domain]]] = []
"""All kinds of domains. At most one of them accepts given values, so their order does not matter."""
