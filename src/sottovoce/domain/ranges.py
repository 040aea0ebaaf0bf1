"""Equally spaced integers within int64; never listed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from numbers import Integral
from typing import Any, Final, Self, final

import numpy as np

from sottovoce.core.entries import as_whole, is_missing
from sottovoce.core.errors import DomainError
from sottovoce.core.limits import MAX_RANGE_SIZE, check_domain_size
from sottovoce.domain.base import Domain, Indices
from sottovoce.domain.integers import integer_to_json
from sottovoce.domain.typed import parse_integer

__all__ = ["RangeDomain"]

_SMALLEST: Final = -(2**63)
_LARGEST: Final = 2**63 - 1


@final
@dataclass(frozen=True, repr=False)
class RangeDomain(Domain):
    """The integers start, start + step, .., `size` of them."""

    start: int
    step: int
    length: int
    missing: int | None = None

    def __post_init__(self) -> None:
        if type(self.start) is not int or type(self.step) is not int or self.step == 0:
            raise DomainError("a range's start and step must be integers, and the step must not be 0").at("values")
        check_domain_size(self.length, MAX_RANGE_SIZE, "values")
        if not all(_SMALLEST <= end <= _LARGEST for end in (self.start, self._last)):
            raise DomainError(f"a range's integers must lie between {_SMALLEST} and {_LARGEST}, the ends of int64").at(
                "values"
            )
        if self.missing is not None and (type(self.missing) is not int or self._find(self.missing) < 0):
            raise DomainError(f"missing must be one of the values: {self._allowed}").at("missing")

    def __repr__(self) -> str:
        return f"Domain.of({range(self.start, self.start + self.step * self.length, self.step)!r})"

    @classmethod
    def _from_values(cls, values: object) -> Self | None:
        if isinstance(values, range):
            # Not len(values), which fails beyond the machine's integers.
            length = (values[-1] - values.start) // values.step + 1 if values else 0
            return cls(values.start, values.step, length)
        if isinstance(values, (int, float, Integral)):
            return cls(0, 1, check_domain_size(values, MAX_RANGE_SIZE, "values"))
        return None

    def _with_missing(self, label: str) -> Domain:
        missing: Any = parse_integer(label)
        return replace(self, missing=missing)

    @property
    def _attributes(self) -> tuple[tuple[str, Domain], ...]:
        return ()

    @property
    def _last(self) -> int:
        return self.start + self.step * (self.length - 1)

    @property
    def size(self) -> int:
        return self.length

    def _indices(self, values: Any) -> Indices:
        """Steps from the start, for a list or array of integers."""
        return self._find_all(values)

    def _find(self, value: object) -> int:
        value = value.value if isinstance(value, Enum) else value
        integer = as_whole(self.missing if is_missing(value) else value)
        index, between = divmod((0 if integer is None else integer) - self.start, self.step)
        return index if integer is not None and not between and 0 <= index < self.length else -1

    def _find_integers(self, integers: Indices) -> Indices:
        if self.start == 0 and self.step == 1:
            return integers
        low, high = sorted((self.start, self._last))
        inside = (integers >= low) & (integers <= high)
        # The difference of two int64 may overflow int64, but never uint64.
        distance = np.where(inside, integers, low).astype(np.uint64) - np.uint64(low % 2**64)
        steps, between = np.divmod(distance, np.uint64(abs(self.step)))
        indices = steps.astype(np.int64) if self.step > 0 else self.length - 1 - steps.astype(np.int64)
        return np.where(inside & (between == 0), indices, -1)

    def _label(self, index: int) -> str:
        return str(self.start + self.step * index)

    @property
    def _allowed(self) -> str:
        return f"integers from {self.start} to {self._last}" + (f" in steps of {self.step}" if self.step != 1 else "")

    @property
    def _holds_integers(self) -> bool:
        return True

    def to_statement(self) -> dict[str, Any]:
        return {
            "start": integer_to_json(self.start),
            "step": integer_to_json(self.step),
            "size": integer_to_json(self.length),
        } | ({} if self.missing is None else {"missing": integer_to_json(self.missing)})
