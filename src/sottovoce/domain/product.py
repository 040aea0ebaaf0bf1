"""Records of named attributes. A record's number is computed from its attributes, so records are never listed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Final, Self, final

import numpy as np

from sottovoce.core.entries import as_record, entries_of
from sottovoce.core.errors import DomainError, ValueOutsideDomainError
from sottovoce.core.limits import MAX_PRODUCT_SIZE, check_domain_size
from sottovoce.domain.base import Domain, Indices
from sottovoce.domain.typed import parse_record

__all__ = ["ProductDomain"]

_MARKS: Final = (",", "=", '"')


@final
@dataclass(frozen=True, repr=False)
class ProductDomain(Domain):
    """Records: one value for each named attribute. The last attribute varies fastest in the numbering."""

    attributes: tuple[tuple[str, Domain], ...]

    def __post_init__(self) -> None:
        if not self.attributes:
            raise DomainError("a product needs at least one named attribute, for example age=range(100)").at("values")
        for name, domain in self.attributes:
            if not isinstance(name, str) or not name.isidentifier():
                raise DomainError(f"attribute name {name!r} must be a plain identifier such as 'age'").at("values")
            if isinstance(domain, ProductDomain):
                raise DomainError(f"attribute {name!r} is itself a product; give its attributes directly").at("values")
        if len({name for name, _ in self.attributes}) < len(self.attributes):
            raise DomainError("two attributes have the same name: every attribute needs its own").at("values")
        check_domain_size(self.size, MAX_PRODUCT_SIZE, "values")

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}: {domain.size}" for name, domain in self.attributes)
        return f"Domain.product({inner})  # {self.size} records"

    @classmethod
    def _from_values(cls, values: object) -> Self | None:
        if not isinstance(values, Mapping):
            return None
        return cls(tuple((name, Domain.of(inner)) for name, inner in values.items()))

    def _with_missing(self, label: str) -> Domain:
        raise DomainError(
            "a record has no policy for missing values besides those of its attributes: give missing to these, such as "
            '{"plan": sv.shares(["free", "pro"], missing="as unknown")}'
        ).at("missing")

    @property
    def _attributes(self) -> tuple[tuple[str, Domain], ...]:
        return self.attributes

    @property
    def size(self) -> int:
        return prod(domain.size for _, domain in self.attributes)

    def _indices(self, values: Any) -> Indices:
        """Numbers of many records: a mapping of columns, a DataFrame, or a list of records."""
        if isinstance(values, Mapping) or hasattr(values, "columns"):
            return self._from_columns(values)
        entries = entries_of(values)
        names = {name for name, _ in self.attributes}
        if len(entries) > 1 and all(isinstance(entry, Mapping) and set(entry) == names for entry in entries):
            # Column by column, which is fast; `_find_all` says which record is not in the domain.
            with contextlib.suppress(ValueOutsideDomainError):
                return self._from_columns({name: [entry[name] for entry in entries] for name in names})
        return self._find_all(entries)

    def _find(self, value: object) -> int:
        value = as_record(value)
        if isinstance(value, Mapping):
            if not set(value) <= {name for name, _ in self.attributes}:
                return -1
            # An absent attribute is missing, which a domain may have a label for.
            parts = [value.get(name) for name, _ in self.attributes]
        elif isinstance(value, (list, tuple)) and len(value) == len(self.attributes):
            parts = list(value)
        else:
            return -1
        # All attributes are looked up, also after one that is not found: timing must not reveal which it was.
        numbers = [domain._find(part) for (_, domain), part in zip(self.attributes, parts, strict=True)]
        index = 0
        for (_, domain), number in zip(self.attributes, numbers, strict=True):
            index = index * domain.size + number
        return index if min(numbers) >= 0 else -1

    @property
    def field_names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.attributes)

    def parse(self, text: str) -> object:
        return parse_record(self.attributes, text)

    def _find_integers(self, integers: Indices) -> Indices:
        return np.full(len(integers), -1, dtype=np.int64)

    def _from_columns(self, columns: Any) -> Indices:
        names = [name for name, _ in self.attributes]
        if set(columns) != set(names):
            raise ValueOutsideDomainError(f"the columns do not match the domain; give exactly {', '.join(names)}").at(
                "values"
            )
        parts = [domain.indices(columns[name]) for name, domain in self.attributes]
        if len({len(part) for part in parts}) != 1:
            raise ValueOutsideDomainError("the columns have different lengths; give one entry per person in each").at(
                "values"
            )
        index = np.zeros(len(parts[0]), dtype=np.int64)
        for (_, domain), part in zip(self.attributes, parts, strict=True):
            index = index * domain.size + part
        return index

    def _label(self, index: int) -> str:
        parts = []
        for name, domain in reversed(self.attributes):
            index, part = divmod(index, domain.size)
            text = domain._label(part)
            # Quoted if it could be read as another attribute, so that no two records have the same label.
            quoted = json.dumps(text, ensure_ascii=False) if any(mark in text for mark in _MARKS) else text
            parts.append(f"{name}={quoted}")
        return ", ".join(reversed(parts))

    @property
    def _allowed(self) -> str:
        inner = "; ".join(f"{name}: {domain._allowed}" for name, domain in self.attributes)
        return f"records with exactly these attributes ({inner})"

    def to_statement(self) -> dict[str, Any]:
        return {"attributes": [{"name": name, "domain": domain.to_statement()} for name, domain in self.attributes]}
