"""Equally spaced integers within int64; never listed."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Final, Self, final

import numpy as np

from sottovoce.core.entries import as_integer
from sottovoce.core.errors import DomainError
from sottovoce.core.limits import MAX_RANGE_SIZE, check_domain_size
from sottovoce.domain.base import Domain, Indices
from sottovoce.domain.integers import integer_to_json

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

    def __post_init__(self) -> None:
        if type(self.start) is not int or type(self.step) is not int or self.step == 0:
            raise DomainError("a range's start and step must be integers, and the step must not be 0")
        check_domain_size(self.length, MAX_RANGE_SIZE)
        if not all(_SMALLEST <= end <= _LARGEST for end in (self.start, self._last)):
            raise DomainError(f"a range's integers must lie between {_SMALLEST} and {_LARGEST}, the ends of int64")

    def __repr__(self) -> str:
        return f"Domain.of({range(self.start, self.start + self.step * self.length, self.step)!r})"

    @classmethod
    def _from_values(cls, values: object) -> Self | None:
        if isinstance(values, range):
            # Not len(values), which fails beyond the machine's integers.
            length = (values[-1] - values.start) // values.step + 1 if values else 0
            return cls(values.start, values.step, length)
        if isinstance(values, (int, float, Integral)):
            return cls(0, 1, check_domain_size(values, MAX_RANGE_SIZE))
        return None

    @property
    def _attributes(self) -> tuple[tuple[str, Domain], ...]:
        return ()

    @property
    def _last(self) -> int:
        return self.start + self.step * (self.length - 1)

    @property
    def size(self) -> int:
        return self.length

    def indices(self, values: Any) -> Indices:
        """Steps from the start, for a list or array of integers."""
        return self._find_all(values)

    def _find(self, value: object) -> int:
        integer = as_integer(value)
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
        found = steps.astype(np.int64) if self.step > 0 else self.length - 1 - steps.astype(np.int64)
        return np.where(inside & (between == 0), found, -1)

    def _label(self, index: int) -> str:
        return str(self.start + self.step * index)

    @property
    def _allowed(self) -> str:
        return f"integers from {self.start} to {self._last}" + (f" in steps of {self.step}" if self.step != 1 else "")

    def to_statement(self) -> dict[str, Any]:
        return {
            "start": integer_to_json(self.start),
            "step": integer_to_json(self.step),
            "size": integer_to_json(self.length),
        }
