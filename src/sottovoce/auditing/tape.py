"""Tapes: the random bytes of one report, made from the outcomes that its draws should have.

A device in another language that is given the same bytes must send the same report. Outcomes are chosen where faults
hide: both sides of every threshold, both ends of every range, words that must be rejected, bits that must be ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from secrets import SystemRandom
from typing import Final, Literal, TypeAlias, final

from sottovoce.randomness import ONE

__all__ = ["Coin", "Recorder", "Replay"]

Coin: TypeAlias = Literal["up", "down", "any"]
"""How coins fall: just below their threshold, just at it, or at random."""

_COIN: Final = 0
"""What a coin is recorded as; an integer draw as its n."""
_NOTHING: Final = (-1, 0)
_COIN_BYTES: Final = 8
_MOST_REJECTED: Final = 2


@final
class Recorder:
    """A source that chooses outcomes and writes down the bytes for them, one piece per read.

    Parameters
    ----------
    coin
        How coins fall.
    wished
        Outcomes of integer draws by their place among all draws; the others are random.
    """

    def __init__(self, rng: SystemRandom, coin: Coin = "any", wished: Mapping[int, int] | None = None) -> None:
        self._rng, self._coin, self._wished = rng, coin, wished or {}
        self.pieces: list[bytes] = []
        self.asked: list[int] = []
        """n of an integer draw, `_COIN` for a coin."""
        self.outcomes: list[int] = []
        """Of an integer draw its result, of a coin its word."""

    @property
    def tape(self) -> str:
        """The pieces in hexadecimal, with commas between them."""
        return ",".join(piece.hex() for piece in self.pieces)

    def below(self, n: int) -> int:
        """The integer that is wished for, or any; sometimes after words that are to be rejected."""
        place, bits = len(self.asked), (n - 1).bit_length()
        outcome = self._wished.get(place)
        outcome = self._rng.randrange(n) if outcome is None else min(outcome, n - 1)
        self.asked.append(n)
        self.outcomes.append(outcome)
        if bits:
            refused = [n, (1 << bits) - 1, self._rng.randrange(n, 1 << bits)] if n < 1 << bits else []
            for word in self._rng.sample(refused, self._rng.randint(0, min(_MOST_REJECTED, len(refused)))):
                self._write(word, bits)
            self._write(outcome, bits)
        return outcome

    def bernoulli(self, threshold: int) -> bool:
        """Whether the word that is written lies below the threshold."""
        words = {"up": threshold - 1, "down": threshold, "any": self._rng.randrange(ONE)}
        word = min(max(words[self._coin], 0), ONE - 1)
        self.asked.append(_COIN)
        self.outcomes.append(word)
        self.pieces.append(word.to_bytes(_COIN_BYTES, "little"))
        return word < threshold

    def _write(self, word: int, bits: int) -> None:
        width = (bits + 7) // 8
        unused = self._rng.getrandbits(8 * width - bits) << bits if bits % 8 else 0
        self.pieces.append((word | unused).to_bytes(width, "little"))


@final
class Replay:
    """A source that gives other values the draws of a recorded tape. `rewind` before each of them."""

    __slots__ = ("_recorded", "_rest", "_same")

    def __init__(self, recorded: Recorder) -> None:
        self._recorded = list(zip(recorded.asked, recorded.outcomes, strict=True))
        self.rewind()

    def rewind(self) -> None:
        """Begin again."""
        self._rest, self._same = iter(self._recorded), True

    @property
    def is_same(self) -> bool:
        """Whether exactly the recorded draws were asked for."""
        return self._same and next(self._rest, None) is None

    def below(self, n: int) -> int:
        """The recorded integer."""
        asked, outcome = next(self._rest, _NOTHING)
        self._same &= asked == n
        return outcome if outcome < n else 0

    def bernoulli(self, threshold: int) -> bool:
        """Whether the recorded word lies below this threshold."""
        asked, word = next(self._rest, _NOTHING)
        self._same &= asked == _COIN
        return word < threshold
