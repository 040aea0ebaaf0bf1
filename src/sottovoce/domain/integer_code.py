"""The code of integers below a limit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.entries import as_integer
from sottovoce.core.limits import check_integer
from sottovoce.domain.integers import integer_to_json
from sottovoce.domain.word_code import WordCode

__all__ = ["IntegerCode"]

_DECIMAL: Final = re.compile(r"0*([0-9]{1,20})")


@final
@dataclass(frozen=True)
class IntegerCode(WordCode):
    """Integers from 0 to below a limit; the code is the integer plus one, a unit is a bit.

    Examples
    --------
    >>> IntegerCode(2**60).bits, IntegerCode(10).row(9).tolist(), IntegerCode(10).typed("9")
    (61, [160], 9)
    """

    below: int

    kind: ClassVar[str] = "integers"

    def __post_init__(self) -> None:
        object.__setattr__(self, "below", check_integer("below", self.below, 2, 2**64))

    @property
    def unit_bits(self) -> int:
        return 1

    @property
    def units(self) -> int:
        return self.below.bit_length()

    @property
    def ends_anywhere(self) -> bool:
        return False

    def step(self, state: int) -> NDArray[np.int64]:
        return np.zeros(2, dtype=np.int64)

    def _number(self, value: object) -> int:
        integer = as_integer(value)
        return integer + 1 if integer is not None and 0 <= integer < self.below else 0

    def _value(self, number: int) -> int | None:
        return number - 1

    def shown(self, value: int) -> str:
        return str(value)

    def typed(self, text: str) -> int | None:
        read = _DECIMAL.fullmatch(text.strip(" "))
        return int(read[1]) if read else None

    @property
    def allowed(self) -> str:
        return f"integers from 0 to {self.below - 1}"

    def to_statement(self) -> dict[str, Any]:
        return {"code": self.kind, "below": integer_to_json(self.below)}
