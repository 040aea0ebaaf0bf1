"""The code of byte strings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.domain.word_code import ENDED, REFUSED, WordCode, check_longest, joined_units, units_of

__all__ = ["ByteCode"]

_HEXADECIMAL: Final = re.compile(r"0x((?:[0-9A-Fa-f]{2})+)")


@final
@dataclass(frozen=True)
class ByteCode(WordCode):
    """Byte strings of at most `longest` bytes; a unit is a byte plus one.

    Examples
    --------
    >>> code = ByteCode(2)
    >>> code.bits, code.value((0x41 + 1) << 9), code.shown(b"A"), code.typed("0x41")
    (18, b'A', '0x41', b'A')
    """

    longest: int

    kind: ClassVar[str] = "bytes"

    def __post_init__(self) -> None:
        check_longest(self)

    @property
    def unit_bits(self) -> int:
        return 9

    @property
    def units(self) -> int:
        return self.longest

    @property
    def ends_anywhere(self) -> bool:
        return True

    def step(self, state: int) -> NDArray[np.int64]:
        table = np.full(512, REFUSED, dtype=np.int64)
        table[0], table[1:257] = ENDED, 0
        return table

    def _number(self, value: object) -> int:
        if not isinstance(value, bytes | bytearray) or len(value) > self.longest:
            return 0
        return joined_units([byte + 1 for byte in value], self)

    def _value(self, number: int) -> bytes | None:
        units = units_of(number, self)
        return bytes(unit - 1 for unit in units) if all(1 <= unit <= 256 for unit in units) else None

    def shown(self, value: bytes) -> str:
        return "0x" + value.hex()

    def typed(self, text: str) -> bytes | None:
        read = _HEXADECIMAL.fullmatch(text.strip(" "))
        return bytes.fromhex(read[1]) if read else None

    @property
    def allowed(self) -> str:
        return f"byte strings of 1 to {self.longest} bytes, typed as 0x and two hexadecimal digits for every byte"

    def to_statement(self) -> dict[str, Any]:
        return {"code": self.kind, "longest": self.longest}
