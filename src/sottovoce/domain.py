"""What one person's value can be: labels, an integer range, or a record of named attributes.

A domain numbers its values 0 .. size-1. Products are never listed: a record's number is
computed from its attributes, so a domain of 2**63 records costs nothing.
"""

from __future__ import annotations

import abc
import json
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from math import prod
from numbers import Integral
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.entries import as_integer, as_integers, entries_of
from sottovoce.errors import DomainError, ValueOutsideDomainError
from sottovoce.limits import MAX_PRODUCT_SIZE, check_domain_size

__all__ = ["Domain", "LabelDomain", "ProductDomain", "RangeDomain"]

Indices: TypeAlias = NDArray[np.int64]

_EXACT_IN_JSON: Final = 2**53 - 1
_MARKS: Final = (",", "=", '"')


class Domain(abc.ABC):
    """The set of values a survey asks about. Make one with `Domain.of` or `Domain.product`.

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

    @staticmethod
    def of(values: object) -> Domain:
        """A domain from labels, an integer size, a range, a mapping of named attributes, or a domain."""
        if isinstance(values, Domain):
            return values
        if isinstance(values, range):
            length = (values[-1] - values.start) // values.step + 1 if values else 0
            return RangeDomain(values.start, values.step, length)
        if isinstance(values, Mapping):
            return ProductDomain(tuple((name, Domain.of(inner)) for name, inner in values.items()))
        if isinstance(values, (int, float, Integral)):
            return RangeDomain(0, 1, check_domain_size(values))
        if isinstance(values, (str, bytes, bytearray, Set)) or not hasattr(values, "__iter__"):
            # A set too is refused: its order, and so the numbering, changes from one run to the next.
            raise DomainError(
                f"a domain cannot be made from {type(values).__name__}: give a list of labels, an integer size, "
                "a range, or a mapping of attribute names to such domains"
            )
        listed = [v.item() if isinstance(v, np.generic) else v for v in values]
        return LabelDomain(tuple(listed))

    @staticmethod
    def product(**attributes: object) -> Domain:
        """Records of named attributes, each with a domain of its own."""
        return Domain.of(attributes)

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """How many values there are."""

    @abc.abstractmethod
    def indices(self, values: Any) -> Indices:
        """The numbers of many values, one a person."""

    @abc.abstractmethod
    def _find(self, value: object) -> int:
        """The number of a value, -1 when it is not in the domain."""

    @abc.abstractmethod
    def _find_integers(self, integers: Indices) -> Indices:
        """`_find` for many integers at once; numbers beyond the size mean the same as -1."""

    @abc.abstractmethod
    def _label(self, index: int) -> str:
        """The value with that number, which is known to exist."""

    @abc.abstractmethod
    def to_statement(self) -> dict[str, Any]:
        """The domain as it stands in a survey's JSON."""

    @property
    @abc.abstractmethod
    def _allowed(self) -> str:
        """What may be given as a value, for error messages."""

    @final
    def index(self, value: object) -> int:
        """The number of a value; raises `ValueOutsideDomainError` without naming it."""
        found = self._find(value)
        if found < 0:
            raise self._outside()
        return found

    @final
    def _find_all(self, values: Any) -> Indices:
        """`index` of every entry of a list, array or column."""
        entries = entries_of(values)
        integers = as_integers(entries)
        if integers is not None:
            found = self._find_integers(integers)
        else:
            found = np.fromiter((self._find(v) for v in entries), dtype=np.int64, count=len(entries))
        outside = (found < 0) | (found >= self.size)
        if outside.any():
            raise self._outside(int(np.argmax(outside)))
        return found

    @final
    def label(self, index: int) -> str:
        """The value with that number, as people read it."""
        number = as_integer(index)
        if number is None or not 0 <= number < self.size:
            raise ValueOutsideDomainError(f"there is no value of that number; give an index from 0 to {self.size - 1}")
        return self._label(number)

    @final
    def labels(self) -> list[str]:
        """All values as people read them."""
        return [self._label(i) for i in range(self.size)]

    @final
    def _outside(self, position: int | None = None) -> ValueOutsideDomainError:
        where = "the value is" if position is None else f"value number {position} of those given is"
        return ValueOutsideDomainError(f"{where} not in the domain; allowed: {self._allowed}")


@final
@dataclass(frozen=True, repr=False)
class LabelDomain(Domain):
    """A list of labels: all strings, or all integers.

    Strings may also be given by their index, unless one of them reads like a number.
    """

    names: tuple[str, ...] | tuple[int, ...]

    def __post_init__(self) -> None:
        kinds = {type(name) for name in self.names}
        if not kinds <= {str} and not kinds <= {int}:
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise DomainError(f"labels have types {found}: they must be all strings or all integers")
        check_domain_size(len(self.names))
        twice = [name for name, times in Counter(self.names).items() if times > 1]
        if twice:
            raise DomainError(f"label {twice[0]!r} is given more than once: labels must be distinct")
        for name in self.names:
            if isinstance(name, int) and abs(name) > _EXACT_IN_JSON:
                raise DomainError(f"integer labels must lie within +-{_EXACT_IN_JSON}; use strings for larger ones")
            if isinstance(name, str) and not _is_text(name):
                raise DomainError("a label is not valid Unicode text: remove the lone surrogate it holds")

    def __repr__(self) -> str:
        shown = ", ".join(repr(name) for name in self.names[:3])
        return f"Domain.of([{shown}{', ...' if self.size > 3 else ''}])  # {self.size} labels"

    @property
    def size(self) -> int:
        """How many labels there are."""
        return len(self.names)

    @cached_property
    def _number(self) -> dict[object, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def _by_index(self) -> bool:
        # Among labels such as "1", "2" the integer 1 could be meant either way, so it is refused.
        return not any(isinstance(name, int) or name.strip().lstrip("+-").isdecimal() for name in self.names)

    def indices(self, values: Any) -> Indices:
        """Positions of many labels, or an array of positions for string labels."""
        return self._find_all(values)

    def _find(self, value: object) -> int:
        if isinstance(value, str):
            return self._number.get(value, -1)
        integer = as_integer(value)
        if integer is None:
            return -1
        if self._by_index:
            return integer if 0 <= integer < self.size else -1
        return self._number.get(integer, -1)

    def _find_integers(self, integers: Indices) -> Indices:
        if self._by_index:
            return integers
        if isinstance(self.names[0], str):
            return np.full(len(integers), -1, dtype=np.int64)
        table = np.asarray(self.names, dtype=np.int64)
        order = np.argsort(table)
        found = order[np.searchsorted(table, integers, sorter=order).clip(max=self.size - 1)]
        return np.where(table[found] == integers, found, -1)

    def _label(self, index: int) -> str:
        return str(self.names[index])

    @property
    def _allowed(self) -> str:
        return f"one of the survey's {self.size} labels" + (
            f", or an index from 0 to {self.size - 1}" if self._by_index else ""
        )

    def to_statement(self) -> dict[str, Any]:
        """The labels in order."""
        return {"labels": list(self.names)}


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@final
@dataclass(frozen=True, repr=False)
class RangeDomain(Domain):
    """The integers start, start + step, .., `size` of them."""

    start: int
    step: int
    length: int

    def __post_init__(self) -> None:
        if type(self.start) is not int or type(self.step) is not int or self.step == 0:
            raise DomainError("a range's start and step must be integers, and the step must not be 0")
        check_domain_size(self.length, _EXACT_IN_JSON)
        if max(abs(self.start), abs(self._last)) > _EXACT_IN_JSON:
            raise DomainError(f"a range's integers must lie within +-{_EXACT_IN_JSON}")

    def __repr__(self) -> str:
        return f"Domain.of({range(self.start, self.start + self.step * self.length, self.step)!r})"

    @property
    def _last(self) -> int:
        return self.start + self.step * (self.length - 1)

    @property
    def size(self) -> int:
        """How many integers there are."""
        return self.length

    def indices(self, values: Any) -> Indices:
        """Steps from the start, for a list or array of integers."""
        return self._find_all(values)

    def _find(self, value: object) -> int:
        integer = as_integer(value)
        if integer is None:
            return -1
        index, between = divmod(integer - self.start, self.step)
        return index if not between and 0 <= index < self.length else -1

    def _find_integers(self, integers: Indices) -> Indices:
        if self.start == 0 and self.step == 1:
            return integers
        # Compare before subtracting: a hostile value near the ends of int64 must not wrap around.
        low, high = sorted((self.start, self._last))
        inside = (integers >= low) & (integers <= high)
        steps, between = np.divmod(np.where(inside, integers, low) - self.start, self.step)
        return np.where(inside & (between == 0), steps, -1)

    def _label(self, index: int) -> str:
        return str(self.start + self.step * index)

    @property
    def _allowed(self) -> str:
        return f"integers from {self.start} to {self._last}" + (f" in steps of {self.step}" if self.step != 1 else "")

    def to_statement(self) -> dict[str, Any]:
        """Start, step and size."""
        return {"start": self.start, "step": self.step, "size": self.length}


@final
@dataclass(frozen=True, repr=False)
class ProductDomain(Domain):
    """Records: one value for each named attribute. The last attribute varies fastest in the numbering."""

    attributes: tuple[tuple[str, Domain], ...]

    def __post_init__(self) -> None:
        if not self.attributes:
            raise DomainError("a product needs at least one named attribute, for example age=range(100)")
        for name, domain in self.attributes:
            if not isinstance(name, str) or not name.isidentifier():
                raise DomainError(f"attribute name {name!r} must be a plain identifier such as 'age'")
            if isinstance(domain, ProductDomain):
                raise DomainError(f"attribute {name!r} is itself a product; give its attributes directly")
        if len({name for name, _ in self.attributes}) < len(self.attributes):
            raise DomainError("two attributes have the same name: every attribute needs its own")
        check_domain_size(self.size, MAX_PRODUCT_SIZE)

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}: {domain.size}" for name, domain in self.attributes)
        return f"Domain.product({inner})  # {self.size} records"

    @property
    def size(self) -> int:
        """The product of the attributes' sizes."""
        return prod(domain.size for _, domain in self.attributes)

    def indices(self, values: Any) -> Indices:
        """Numbers of many records: a mapping of columns, a DataFrame, a list of records, or an array of numbers."""
        if isinstance(values, Mapping) or hasattr(values, "columns"):
            return self._from_columns(values)
        return self._find_all(values)

    def _find(self, value: object) -> int:
        if isinstance(value, Mapping):
            if set(value) != {name for name, _ in self.attributes}:
                return -1
            parts = [value[name] for name, _ in self.attributes]
        elif isinstance(value, tuple) and len(value) == len(self.attributes):
            parts = list(value)
        else:
            integer = as_integer(value)
            return integer if integer is not None and 0 <= integer < self.size else -1
        index = 0
        for (_, domain), part in zip(self.attributes, parts, strict=True):
            found = domain._find(part)
            if found < 0:
                return -1
            index = index * domain.size + found
        return index

    def _find_integers(self, integers: Indices) -> Indices:
        return integers

    def _from_columns(self, columns: Any) -> Indices:
        names = [name for name, _ in self.attributes]
        if set(columns) != set(names):
            raise ValueOutsideDomainError(f"the columns do not match the domain; give exactly {', '.join(names)}")
        parts = [domain.indices(columns[name]) for name, domain in self.attributes]
        if len({len(part) for part in parts}) != 1:
            raise ValueOutsideDomainError("the columns have different lengths; give one entry a person in each")
        index = np.zeros(len(parts[0]), dtype=np.int64)
        for (_, domain), part in zip(self.attributes, parts, strict=True):
            index = index * domain.size + part
        return index

    def _label(self, index: int) -> str:
        parts = []
        for name, domain in reversed(self.attributes):
            index, part = divmod(index, domain.size)
            text = domain._label(part)
            # Quoted where it could be read as another attribute, so that no two records share a label.
            quoted = json.dumps(text, ensure_ascii=False) if any(mark in text for mark in _MARKS) else text
            parts.append(f"{name}={quoted}")
        return ", ".join(reversed(parts))

    @property
    def _allowed(self) -> str:
        inner = "; ".join(f"{name}: {domain._allowed}" for name, domain in self.attributes)
        return f"records with exactly these attributes ({inner})"

    def to_statement(self) -> dict[str, Any]:
        """Names and domains in order."""
        return {"attributes": [{"name": name, "domain": domain.to_statement()} for name, domain in self.attributes]}


def domain_from_statement(statement: object) -> Domain:
    """The domain that `to_statement` wrote; anything else raises `DomainError`."""
    match statement:
        case {"labels": list(names), **rest} if not rest:
            return LabelDomain(tuple(names))
        case {"start": int(start), "step": int(step), "size": int(size), **rest} if not rest:
            return RangeDomain(start, step, size)
        case {"attributes": list(attributes), **rest} if not rest:
            return ProductDomain(tuple(_attribute(a) for a in attributes))
        case _:
            raise DomainError("the survey's domain must hold labels, or start, step and size, or attributes")


def _attribute(statement: object) -> tuple[str, Domain]:
    match statement:
        case {"name": str(name), "domain": dict(domain), **rest} if not rest:
            if "attributes" in domain:  # before descending: nesting without end must not exhaust the stack
                raise DomainError(f"attribute {name!r} is itself a product; state its attributes directly")
            return name, domain_from_statement(domain)
        case _:
            raise DomainError("every attribute of the survey's domain must hold exactly a name and a domain")
