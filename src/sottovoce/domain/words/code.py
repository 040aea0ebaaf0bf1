"""A code of values nobody listed: a value is a row of bits that is read from the left.

A code is a chain of *units* of equally many bits. An automaton reads them: from a state and a unit follows the next
state, so that all ways to go on from a prefix can be listed without knowing any word. Zeros follow the end of a word.
The code of zeros alone stands for "other": for every value that is not a word of this code.

A typed word is spelt in one form before it is counted, for all texts that are canonically equivalent. A survey states
its rule, and its devices, its analysts and its pages follow it. Every step is on code points, so that no step depends
on a locale, a dictionary or the letters around a letter. Normal forms and small letters of assigned characters are
stable (Unicode Standard Annex #15, Sec. 3; Unicode stability policy). A character that is newer than the Unicode
version of a device or a browser is kept there as it was typed, so that two devices of different age may count a
capital letter of a new script apart. Texts that look alike are not merged: a Cyrillic "a" is another letter than a
Latin one, and a character joiner is a character, since Persian words and emoji are written with it.
"""

from __future__ import annotations

import abc
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import DomainError
from sottovoce.core.limits import check_integer

__all__ = [
    "CASES",
    "ENDED",
    "LONGEST",
    "REFUSED",
    "AsciiUnits",
    "Extensions",
    "Rows",
    "TextRows",
    "WordCode",
    "check_case",
    "check_longest",
    "spelt",
]


_AT_ONCE: Final = 1 << 14


class AsciiUnits(NamedTuple):
    """The units of every ASCII character once it is spelt, none for what no word contains; and what a code states."""

    each: Sequence[Sequence[int]]
    longest: int
    units: int
    unit_bits: int
    lower: bool


class TextRows(NamedTuple):
    """The code of each text, zeros for no word; how it is spelt; and which were read here, others being zeros."""

    rows: NDArray[np.uint8]
    spelt: list[str]
    read: NDArray[np.bool_]


def _text_rows(texts: Sequence[str], table: AsciiUnits) -> TextRows:
    """Codes of texts that are spelt in ASCII, all characters being in the table and no space to be trimmed or joined.

    Examples
    --------
    >>> each = [[ord(letter) - 96] if letter.islower() else [] for letter in map(chr, range(128))]
    >>> codes = _text_rows(["ab", "café", "", "longer"], AsciiUnits(each, 3, 3, 5, True))
    >>> codes.rows.tolist(), codes.read.tolist()
    ([[8, 128], [0, 0], [0, 0], [0, 0]], [True, False, False, True])
    """
    parts = [_piece(texts[start : start + _AT_ONCE], table) for start in range(0, len(texts), _AT_ONCE)]
    if not parts:
        return TextRows(np.zeros((0, _row_bytes(table)), dtype=np.uint8), [], np.zeros(0, dtype=bool))
    return TextRows(
        np.concatenate([part.rows for part in parts]),
        [text for part in parts for text in part.spelt],
        np.concatenate([part.read for part in parts]),
    )


def _row_bytes(table: AsciiUnits) -> int:
    return (table.units * table.unit_bits + 7) // 8


def _piece(texts: Sequence[str], table: AsciiUnits) -> TextRows:
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    joined = "".join(texts)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    owner = np.repeat(np.arange(len(texts)), lengths)
    width = np.array([len(units) for units in table.each] + [0])  # the last is for all that is not ASCII
    per_point = width[np.minimum(points, 128)]
    space = points == ord(" ")
    # A space at either end, or beside another, is taken off when a text is spelt.
    edge = np.ones(len(points) + 1, dtype=bool)
    edge[1:-1] = owner[1:] != owner[:-1]
    loose = space & (edge[:-1] | edge[1:])
    loose[1:] |= space[1:] & space[:-1]
    read = np.ones(len(texts), dtype=bool)
    read[owner[(per_point == 0) | loose]] = False
    read &= lengths > 0
    rows = np.zeros((len(texts), _row_bytes(table)), dtype=np.uint8)
    words = read & (lengths <= table.longest)
    mine = words[owner]
    if mine.any():
        rows[words] = _packed(points[mine], (np.cumsum(words) - 1)[owner[mine]], int(words.sum()), table)
    spelt = [text.lower() for text in texts] if table.lower else list(texts)
    return TextRows(rows, spelt, read)


def _packed(points: NDArray[np.uint32], owner: NDArray[np.int64], n: int, table: AsciiUnits) -> NDArray[np.uint8]:
    """The codes of `n` words, whose characters are all in the table."""
    width = np.array([len(units) for units in table.each])
    filled = np.zeros((128, int(width.max())), dtype=np.uint16)
    for point, units in enumerate(table.each):
        filled[point, : len(units)] = units
    counts = width[points]
    chain = filled[points][np.arange(filled.shape[1]) < counts[:, None]]
    at = np.repeat(owner, counts)
    first = np.searchsorted(at, np.arange(n))
    column = np.arange(len(at)) - first[at]
    used = int(column.max()) + 1
    matrix = np.zeros((n, used), dtype=np.uint16)
    matrix[at, column] = chain
    shifts = np.arange(table.unit_bits - 1, -1, -1, dtype=np.uint16)
    bits = (matrix[:, :, None] >> shifts & np.uint16(1)).astype(np.uint8).reshape(n, -1)
    rows = np.zeros((n, _row_bytes(table)), dtype=np.uint8)
    packed = np.packbits(bits, axis=1)
    rows[:, : packed.shape[1]] = packed
    return rows


CASES: Final = ("lower", "keep")
"""What becomes of capital letters."""

_SPACES: Final = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
"""White space, listed since languages differ in what they trim."""

_CONTROLS: Final = "\x00-\x1f\x7f-\x9f\ud800-\udfff"
_HIDDEN: Final = "\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069"
_REFUSED: Final = re.compile(f"[{_CONTROLS}{_HIDDEN}]")
"""Control characters, lone surrogates, marks that steer the direction of writing, and a space of no width."""


def spelt(text: str, case: str) -> str | None:
    """The one spelling of a text: NFC, in small letters if so stated, white space trimmed and joined.

    None for a text that is not a word: white space alone, or a lone surrogate, a control character, or a mark that
    steers the direction of writing, which could make a list misleading.

    Examples
    --------
    >>> spelt("  Cafe\\u0301 au  lait ", "lower")
    'café au lait'
    >>> spelt("\\u202etxet", "lower") is None
    True
    """
    if text.isascii():  # which is NFC as it stands
        spelling = text.lower() if case == "lower" else text
    else:
        spelling = unicodedata.normalize("NFC", text)
        if case == "lower":
            # Letter by letter: in a whole word, Python and JavaScript would look at a sigma's neighbours.
            spelling = unicodedata.normalize("NFC", "".join(letter.lower() for letter in spelling))
    spelling = _SPACES.sub(" ", spelling).strip(" ")
    return None if not spelling or _REFUSED.search(spelling) else spelling


__all__ += ["joined_units", "units_of"]

Rows = NDArray[np.uint8]
"""Codes, one per row: eight bits to a byte, the first bit the highest, zeros after the last."""

LONGEST: Final = 64
"""Most characters or bytes of a word."""

ENDED: Final = -1
"""The state after the end of a word; only zeros follow."""
REFUSED: Final = -2
"""The state after a unit with which no word continues."""


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
        """The code of a value as a number; 0 for a value that is not a word of this code."""

    @abc.abstractmethod
    def _value(self, number: int) -> Any:
        """A value whose code this number may be; None if there is none. Never called with 0."""

    def _counted(self, value: Any) -> Any:
        """A word as it is counted: normalised."""
        return value

    @property
    def _ascii_units(self) -> AsciiUnits | None:
        """How texts of ASCII characters are written; None where values are not texts."""
        return None

    @abc.abstractmethod
    def shown(self, value: Any) -> str:
        """A value as people read it."""

    @abc.abstractmethod
    def typed(self, text: str) -> Any:
        """The value that a person typed; None, which is not a word, if the text cannot be read."""

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
        """The code of one value; zeros alone if it is not a word of this code.

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
            if type(value) is str:  # a word that many people have is read once
                code = known.get(value)
                if code is None:
                    code = known[value] = self._packed(self._number(value))
                codes += code
            else:
                codes += self._packed(self._number(value))
        return np.frombuffer(codes, dtype=np.uint8).reshape(-1, self.row_bytes)

    @final
    def labelled_rows(self, values: list[Any]) -> tuple[Rows, list[str]]:
        """The codes of very many different values, and each as it is counted, for people to read.

        The code is zeros and the text is empty where a value is not a word.
        """
        table = self._ascii_units
        if table is None or set(map(type, values)) - {str}:
            rows = self.rows(values)
            there: list[bool] = np.any(rows, axis=1).tolist()
            pairs = zip(values, there, strict=True)
            return rows, [self.shown(self._counted(value)) if word else "" for value, word in pairs]
        rows, labels, read = _text_rows(values, table)
        if not read.all():
            others = np.flatnonzero(~read)
            rows[others] = self.rows([values[index] for index in others.tolist()])
            for index in others.tolist():
                labels[index] = self.shown(self._counted(values[index])) if rows[index].any() else ""
        return rows, labels

    @final
    def label(self, value: object) -> str:
        """A word as it is counted and shown, once it is normalised; `admits` says whether it is one."""
        number = int.from_bytes(self.row(value).tobytes(), "big") >> (8 * self.row_bytes - self.bits)
        return self.shown(self.value(number))

    @final
    def value(self, number: int) -> Any:
        """The value of a whole code, given as a number; None if no value has it."""
        value = self._value(number) if number else None
        # Read again: not every chain of units is the code of a word.
        return value if value is not None and self._number(value) == number else None

    @final
    def extensions(self, state: int, units: int, *, last: bool) -> Extensions:
        """All ways to go on from a state for a number of units; `last` if the code ends there."""
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
    units = [number >> code.unit_bits * index & mask for index in range(code.units - 1, -1, -1)]
    while units and units[-1] == 0:
        units.pop()
    return units


def check_longest(code: Any) -> None:
    """Refuse words longer than any survey has."""
    object.__setattr__(code, "longest", check_integer("longest", code.longest, 1, LONGEST))


def check_case(case: object) -> None:
    """Refuse an unknown rule for capital letters."""
    if case not in CASES:
        raise DomainError(f"case must be one of {', '.join(CASES)}").at("case")
