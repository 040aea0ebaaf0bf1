"""A code of values nobody listed: a value is a row of bits that is read from the left.

A code is a chain of *units* of equally many bits. An automaton reads them: from a state and a unit follows the next
state, so that all ways to go on from a prefix can be listed without knowing any word. Zeros follow the end of a word.
The code of nothing but zeros is that of "other": of everything that is no word of this code.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import DomainError
from sottovoce.core.limits import check_integer
from sottovoce.domain.spelling import CASES
from sottovoce.domain.word_rows import AsciiUnits, text_rows

__all__ = ["ENDED", "LONGEST", "REFUSED", "Extensions", "Rows", "WordCode", "check_case", "check_longest"]
__all__ += ["joined_units", "units_of"]

Rows = NDArray[np.uint8]
"""Codes, one per row: eight bits to a byte, the first bit the highest, zeros after the last."""

LONGEST: Final = 64
"""Most characters or bytes of a word."""

ENDED: Final = -1
"""The state after the end of a word; only zeros follow."""
REFUSED: Final = -2
"""No word goes on like this."""


class Extensions(NamedTuple):
    """All ways in which a prefix can go on for some units: their bits as a number, and the state after each."""

    bits: NDArray[np.int64]
    states: NDArray[np.int64]


@dataclass(frozen=True)
class WordCode(abc.ABC):
    """A code of words. Abstract or final.

    A code as a number has its first bit as the highest of `bits`.
    """

    kind: ClassVar[str]
    """Name in a survey's JSON."""

    @property
    @abc.abstractmethod
    def unit_bits(self) -> int:
        """Bits of one unit."""

    @property
    @abc.abstractmethod
    def units(self) -> int:
        """Units of a whole code."""

    @property
    @abc.abstractmethod
    def ends_anywhere(self) -> bool:
        """Whether a word may end before its last unit, by a unit of zeros."""

    @abc.abstractmethod
    def step(self, state: int) -> NDArray[np.int64]:
        """The state after every unit in a state, or that there is none. State 0 is the first."""

    @abc.abstractmethod
    def _number(self, value: object) -> int:
        """The code of a value as a number; 0 for what is no word of this code."""

    @abc.abstractmethod
    def _value(self, number: int) -> Any:
        """A value whose code this number may be; None if there is none. Never called with 0."""

    def _counted(self, value: Any) -> Any:
        """A word as it is counted: normalised."""
        return value

    @property
    def _ascii_units(self) -> AsciiUnits | None:
        """How texts of ASCII characters are written; None where values are no texts."""
        return None

    @abc.abstractmethod
    def shown(self, value: Any) -> str:
        """A value as people read it."""

    @abc.abstractmethod
    def typed(self, text: str) -> Any:
        """The value that a person typed; None, which is no word, for what cannot be read."""

    @abc.abstractmethod
    def to_statement(self) -> dict[str, Any]:
        """Its part of a survey's JSON."""

    @property
    @abc.abstractmethod
    def allowed(self) -> str:
        """What a word is, for people and for error messages."""

    # --- derived --------------------------------------------------------------------------

    @property
    @final
    def bits(self) -> int:
        """Bits of a whole code."""
        return self.units * self.unit_bits

    @property
    @final
    def row_bytes(self) -> int:
        """Bytes of a code in an array of them."""
        return (self.bits + 7) // 8

    @final
    def admits(self, value: object) -> bool:
        """Whether a value is a word of this code; all others are counted as "other"."""
        return self._number(value) != 0

    @final
    def row(self, value: object) -> Rows:
        """The code of one value; of zeros only where it is none of this code.

        The row has the same length for all values. Reading a value takes time that grows with its own length.
        """
        return self._row(self._number(value))

    @final
    def _row(self, number: int) -> Rows:
        return np.frombuffer(self._packed(number), dtype=np.uint8)

    @final
    def _packed(self, number: int) -> bytes:
        return (number << 8 * self.row_bytes - self.bits).to_bytes(self.row_bytes, "big")

    @final
    def rows(self, values: Iterable[Any]) -> Rows:
        """The codes of many values."""
        codes = bytearray()
        known: dict[str, bytes] = {}
        for value in values:
            if type(value) is str:  # of words that many people have, each is read once
                found = known.get(value)
                if found is None:
                    found = known[value] = self._packed(self._number(value))
                codes += found
            else:
                codes += self._packed(self._number(value))
        return np.frombuffer(codes, dtype=np.uint8).reshape(-1, self.row_bytes)

    @final
    def labelled_rows(self, values: list[Any]) -> tuple[Rows, list[str]]:
        """The codes of very many different values, and each as it is counted, for people to read.

        Zeros where a value is no word, and then its text says nothing.
        """
        table = self._ascii_units
        if table is None or set(map(type, values)) - {str}:
            rows = self.rows(values)
            there: list[bool] = np.any(rows, axis=1).tolist()
            pairs = zip(values, there, strict=True)
            return rows, [self.shown(self._counted(value)) if word else "" for value, word in pairs]
        rows, labels, read = text_rows(values, table)
        if not read.all():
            others = np.flatnonzero(~read)
            rows[others] = self.rows([values[place] for place in others.tolist()])
            for place in others.tolist():
                labels[place] = self.shown(self._counted(values[place])) if rows[place].any() else ""
        return rows, labels

    @final
    def label(self, value: object) -> str:
        """A word as it is counted and shown, once it is normalised; `admits` says whether it is one."""
        number = int.from_bytes(self.row(value).tobytes(), "big") >> (8 * self.row_bytes - self.bits)
        return self.shown(self.value(number))

    @final
    def value(self, number: int) -> Any:
        """The value of a whole code, given as a number; None if no value has it."""
        found = self._value(number) if number else None
        # Read again: a chain of units that no word is written in stands for no word.
        return found if found is not None and self._number(found) == number else None

    @final
    def extensions(self, state: int, units: int, *, last: bool) -> Extensions:
        """All ways to go on from a state for so many units; `last` if the code ends there."""
        bits, states = np.zeros(1, dtype=np.int64), np.array([state], dtype=np.int64)
        for _ in range(units):
            parts = []
            for at in np.unique(states).tolist():
                table = np.array([ENDED]) if at == ENDED else self.step(at)
                good = np.flatnonzero(table != REFUSED)
                grown = (bits[states == at, None] << self.unit_bits) | good
                parts.append((grown.ravel(), np.broadcast_to(table[good], grown.shape).ravel()))
            bits, states = (np.concatenate(column) for column in zip(*parts, strict=True))
        if last:
            whole = (states == ENDED) | (states == 0)
            bits, states = bits[whole], np.full(int(whole.sum()), ENDED)
        order = np.argsort(bits, kind="stable")
        return Extensions(bits[order], states[order])


def joined_units(units: list[int], code: WordCode) -> int:
    """The code of a chain of units, with zeros after its end; 0 for a chain that is too long."""
    if len(units) > code.units:
        return 0
    number, width = 0, code.unit_bits
    for unit in units:
        number = number << width | unit
    return number << (code.units - len(units)) * width


def units_of(number: int, code: WordCode) -> list[int]:
    """The units of a code, without the zeros at the end."""
    mask = (1 << code.unit_bits) - 1
    units = [number >> code.unit_bits * place & mask for place in range(code.units - 1, -1, -1)]
    while units and units[-1] == 0:
        units.pop()
    return units


def check_longest(code: Any) -> None:
    """Refuse words longer than any survey has."""
    object.__setattr__(code, "longest", check_integer("longest", code.longest, 1, LONGEST))


def check_case(case: object) -> None:
    """Refuse what is no rule for capital letters."""
    if case not in CASES:
        raise DomainError(f"case must be one of {', '.join(CASES)}").at("case")
