"""What one person's value can be: labels, an integer range, or a record of named attributes.

A domain numbers its values 0 .. size-1. Products are never listed: a record's number is
computed from its attributes, so a domain of 2**63 records costs nothing.
"""

from __future__ import annotations

import abc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from numbers import Integral
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import DomainError, ValueOutsideDomainError
from sottovoce.limits import MAX_PRODUCT_SIZE, check_domain_size

__all__ = ["Domain", "LabelDomain", "ProductDomain", "RangeDomain"]

Indices: TypeAlias = NDArray[np.int64]

_EXACT_IN_JSON: Final = 2**53 - 1


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
            return RangeDomain(values.start, values.step, len(values))
        if isinstance(values, Mapping):
            return Domain.product(**values)
        if isinstance(values, (int, float, Integral)):
            return RangeDomain(0, 1, check_domain_size(values))
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise DomainError(
                f"a domain cannot be made from {type(values).__name__}: give a list of labels, an integer size, "
                "a range, or a mapping of attribute names to such domains"
            )
        listed = [v.item() if isinstance(v, np.generic) else v for v in values]
        return LabelDomain(tuple(listed))

    @staticmethod
    def product(**attributes: object) -> Domain:
        """Records of named attributes, each with a domain of its own."""
        return ProductDomain(tuple((name, Domain.of(values)) for name, values in attributes.items()))

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """How many values there are."""

    @abc.abstractmethod
    def index(self, value: object) -> int:
        """The number of a value; raises `ValueOutsideDomainError` without naming it."""

    @abc.abstractmethod
    def indices(self, values: Any) -> Indices:
        """The numbers of many values at once."""

    @abc.abstractmethod
    def label(self, index: int) -> str:
        """The value with that number, as people read it."""

    @abc.abstractmethod
    def to_statement(self) -> dict[str, Any]:
        """The domain as it stands in a survey's JSON."""

    @property
    @abc.abstractmethod
    def _allowed(self) -> str:
        """What may be given as a value, for error messages."""

    @final
    def labels(self) -> list[str]:
        """All values as people read them."""
        return [self.label(i) for i in range(self.size)]

    @final
    def _outside(self, position: int | None = None) -> ValueOutsideDomainError:
        where = "the value is" if position is None else f"value number {position} of those given is"
        return ValueOutsideDomainError(f"{where} not in the domain; allowed: {self._allowed}")


def _as_integer(value: object) -> int | None:
    """An int for integers that are no truth values, None for everything else."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        return None
    return int(value)


def _as_integers(values: Any) -> Indices | None:
    """An int64 array for one-dimensional integer input, None for everything else."""
    try:
        array = np.asarray(values)
    except ValueError:  # ragged
        return None
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array.dtype == np.uint64 and (array >> 63).any()):
        return None
    return array.astype(np.int64, copy=False)


@final
@dataclass(frozen=True, repr=False)
class LabelDomain(Domain):
    """A list of labels: all strings, or all integers. String labels may also be given by index."""

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
            if isinstance(name, str) and any("\ud800" <= c <= "\udfff" for c in name):
                raise DomainError("a label is not valid Unicode text (it holds a lone surrogate)")

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
        return isinstance(self.names[0], str)

    def index(self, value: object) -> int:
        """The label's position."""
        number: int | None = None
        if isinstance(value, str):
            number = self._number.get(value)
        else:
            integer = _as_integer(value)
            if integer is not None and self._by_index:
                number = integer if 0 <= integer < self.size else None
            elif integer is not None:
                number = self._number.get(integer)
        if number is None:
            raise self._outside()
        return number

    def indices(self, values: Any) -> Indices:
        """Positions of many labels, or an array of positions for string labels."""
        integers = None if len(values) and isinstance(values[0], str) else _as_integers(values)
        if integers is not None and self._by_index:
            found = integers
        elif integers is not None:
            found = _lookup(np.asarray(self.names, dtype=np.int64), integers)
        else:
            found = np.fromiter((self._find(v) for v in values), dtype=np.int64, count=len(values))
        return _refuse_outside(self, found)

    def _find(self, value: object) -> int:
        return self._number.get(value, -1) if isinstance(value, str) else -1

    def label(self, index: int) -> str:
        """The label at a position."""
        return str(self.names[index])

    @property
    def _allowed(self) -> str:
        return f"one of the survey's {self.size} labels" + (
            f", or an index from 0 to {self.size - 1}" if self._by_index else ""
        )

    def to_statement(self) -> dict[str, Any]:
        """The labels in order."""
        return {"labels": list(self.names)}


def _lookup(table: NDArray[np.int64], wanted: NDArray[np.int64]) -> Indices:
    """Position of every wanted integer in `table`, or -1."""
    order = np.argsort(table)
    found = order[np.searchsorted(table, wanted, sorter=order).clip(max=len(table) - 1)]
    return np.where(table[found] == wanted, found, -1)


def _refuse_outside(domain: Domain, found: Indices) -> Indices:
    bad = (found < 0) | (found >= domain.size)
    if bad.any():
        raise domain._outside(int(np.argmax(bad)))
    return found


@final
@dataclass(frozen=True, repr=False)
class RangeDomain(Domain):
    """The integers start, start + step, .., `size` of them."""

    start: int
    step: int
    length: int

    def __post_init__(self) -> None:
        if self.step == 0:
            raise DomainError("a range's step must not be 0")
        check_domain_size(self.length, _EXACT_IN_JSON)
        if max(abs(self.start), abs(self.start + self.step * self.length)) > _EXACT_IN_JSON:
            raise DomainError(f"a range's integers must lie within +-{_EXACT_IN_JSON}")

    def __repr__(self) -> str:
        return f"Domain.of({range(self.start, self.start + self.step * self.length, self.step)!r})"

    @property
    def size(self) -> int:
        """How many integers there are."""
        return self.length

    def index(self, value: object) -> int:
        """How many steps from the start."""
        integer = _as_integer(value)
        if integer is None:
            raise self._outside()
        index, between = divmod(integer - self.start, self.step)
        if between or not 0 <= index < self.length:
            raise self._outside()
        return index

    def indices(self, values: Any) -> Indices:
        """Steps from the start, for an array or list of integers."""
        integers = _as_integers(values)
        if integers is None:
            raise self._outside()
        if self.start == 0 and self.step == 1:
            return _refuse_outside(self, integers)
        # Compare before subtracting: a hostile value near the ends of int64 must not wrap around.
        ends = sorted((self.start, self.start + self.step * (self.length - 1)))
        inside = (integers >= ends[0]) & (integers <= ends[1])
        steps, between = np.divmod(np.where(inside, integers, ends[0]) - self.start, self.step)
        return _refuse_outside(self, np.where(inside & (between == 0), steps, -1))

    def label(self, index: int) -> str:
        """The integer itself."""
        return str(self.start + self.step * index)

    @property
    def _allowed(self) -> str:
        last = self.start + self.step * (self.length - 1)
        return f"integers from {self.start} to {last}" + (f" in steps of {self.step}" if self.step != 1 else "")

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
            if not name.isidentifier():
                raise DomainError(f"attribute name {name!r} must be a plain identifier such as 'age'")
            if isinstance(domain, ProductDomain):
                raise DomainError(f"attribute {name!r} is itself a product; give its attributes directly")
        check_domain_size(self.size, MAX_PRODUCT_SIZE)

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}: {domain.size}" for name, domain in self.attributes)
        return f"Domain.product({inner})  # {self.size} records"

    @property
    def size(self) -> int:
        """The product of the attributes' sizes."""
        return prod(domain.size for _, domain in self.attributes)

    def index(self, value: object) -> int:
        """The record's number in mixed radix."""
        if isinstance(value, Mapping):
            if set(value) != {name for name, _ in self.attributes}:
                raise self._outside()
            parts = [value[name] for name, _ in self.attributes]
        elif isinstance(value, tuple) and len(value) == len(self.attributes):
            parts = list(value)
        else:
            integer = _as_integer(value)
            if integer is None or not 0 <= integer < self.size:
                raise self._outside()
            return integer
        index = 0
        for (_, domain), part in zip(self.attributes, parts, strict=True):
            index = index * domain.size + domain.index(part)
        return index

    def indices(self, values: Any) -> Indices:
        """Numbers of many records: a mapping of columns, a list of records, or an array of numbers."""
        if isinstance(values, Mapping) or hasattr(values, "columns"):
            return self._from_columns(values)
        integers = _as_integers(values) if not _holds_records(values) else None
        if integers is not None:
            return _refuse_outside(self, integers)
        return np.fromiter((self.index(v) for v in values), dtype=np.int64, count=len(values))

    def _from_columns(self, columns: Any) -> Indices:
        names = [name for name, _ in self.attributes]
        if set(columns) != set(names):
            raise ValueOutsideDomainError(f"the columns do not match the domain; give exactly {', '.join(names)}")
        parts = [domain.indices(np.asarray(columns[name])) for name, domain in self.attributes]
        if len({len(part) for part in parts}) != 1:
            raise ValueOutsideDomainError("the columns have different lengths; give one entry a person in each")
        index = np.zeros(len(parts[0]), dtype=np.int64)
        for (_, domain), part in zip(self.attributes, parts, strict=True):
            index = index * domain.size + part
        return index

    def _split(self, index: int) -> Iterator[tuple[str, str]]:
        parts = []
        for name, domain in reversed(self.attributes):
            index, part = divmod(index, domain.size)
            parts.append((name, domain.label(part)))
        return reversed(parts)

    def label(self, index: int) -> str:
        """The record, attribute by attribute."""
        return ", ".join(f"{name}={value}" for name, value in self._split(index))

    @property
    def _allowed(self) -> str:
        inner = "; ".join(f"{name}: {domain._allowed}" for name, domain in self.attributes)
        return f"records with exactly these attributes ({inner})"

    def to_statement(self) -> dict[str, Any]:
        """Names and domains in order."""
        return {"attributes": [{"name": name, "domain": domain.to_statement()} for name, domain in self.attributes]}


def _holds_records(values: Any) -> bool:
    return isinstance(values, Sequence) and len(values) > 0 and isinstance(values[0], (Mapping, tuple))


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
            return name, domain_from_statement(domain)
        case _:
            raise DomainError("every attribute of the survey's domain must hold exactly a name and a domain")
