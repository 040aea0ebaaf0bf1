"""Hashed prefixes: a public row hashes a prefix of a code to a point of a projective space, which is randomized.

For values that nobody listed: whatever the number of possible ones, a report is a few bytes.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Final, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError, ValueOutsideDomainError
from sottovoce.core.limits import SHARD_CELLS, check_epsilon, check_integer
from sottovoce.domain.trials import Trial, Trials
from sottovoce.mechanisms.base import Batch, Counts, Mechanism, Report, log_of
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.projective_reference import ProjectiveReference
from sottovoce.mechanisms.projective_space import ProjectiveSpace
from sottovoce.mechanisms.reference import ExactReference, in_hex, index_rows
from sottovoce.mechanisms.support import Support
from sottovoce.randomness import Source, epsilon_of
from sottovoce.randomness.philox import PREFIX_HASHES, Key, words
from sottovoce.randomness.scripts import Request, random_below
from sottovoce.theory.blanket import Blanket

__all__ = ["MAX_CODE_BITS", "MAX_ROWS", "HashedPrefixes"]

MAX_CODE_BITS: Final = 1536
"""Most bits of a value's code."""
MAX_ROWS: Final = 4096
"""Most rows of all levels together."""


@final
@dataclass(frozen=True)
class HashedPrefixes(Mechanism):
    """One of R public rows, drawn alike for all; its hash of a prefix of the value, by projective geometry response.

    Guarantee
        Pure epsilon-LDP: the row is drawn alike for all; given it, a report is one of an epsilon-LDP mechanism on the
        prefix's bucket, whatever the hash is.
    Error
        A report supports the sender's own prefix with probability P1, and any other one with s/K on average over the
        public hashes: `support`.
    Symbols
        A level is a prefix length, `ends` in bits, with `rows` rows. K = (q^t - 1)/(q - 1) points are the buckets, q
        `order` and t `dimension`; s of them lie in a hyperplane. The report r K + point is one integer.
    Deviations
        Local hashing draws a function per person, and a candidate then costs as many steps as there are people. Here a
        row's function hashes to many buckets, and within them projective geometry response is as accurate; a candidate
        costs one look-up per row. A row's hash is linear over GF(2): the XOR of one word for every bit that is set.
    """

    bits: int
    epsilon: float
    ends: tuple[int, ...]
    rows: tuple[int, ...]
    order: int
    dimension: int
    key: Key = field(default=(0, 0), repr=False)

    name: ClassVar[str] = "hashed_prefixes"
    summary: ClassVar[str] = "a public row, and a point for the bucket of a prefix"
    use_when: ClassVar[str] = "words, byte strings or integers that nobody listed"
    serves: ClassVar[str] = "words"
    deployed_size: ClassVar[int] = 64
    stated_by_survey: ClassVar[frozenset[str]] = frozenset({"bits", "epsilon", "key"})
    counted_as = "number"

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", check_integer("bits", self.bits, 1, MAX_CODE_BITS))
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        self._check_parameters()
        self._check_report_size()

    def _check_parameters(self) -> None:
        for name in ("ends", "rows"):
            given = getattr(self, name)
            if not isinstance(given, tuple | list) or not given:
                raise SurveyError(f"{name} must be a list of integers, one for every level").at(name)
            most = self.bits if name == "ends" else MAX_ROWS
            object.__setattr__(
                self, name, tuple(check_integer(f"{name}[{i}]", entry, 1, most) for i, entry in enumerate(given))
            )
        if any(a >= b for a, b in pairwise(self.ends)) or self.ends[-1] != self.bits:
            raise SurveyError(f"ends must increase, and the last must be the {self.bits} bits of a whole code").at(
                "ends"
            )
        if len(self.rows) != len(self.ends) or sum(self.rows) > MAX_ROWS:
            raise SurveyError(f"rows must be one number for every level, at most {MAX_ROWS:,} together").at("rows")
        self._check_own("order", 2, 2**31)
        self._check_own("dimension", 2, 64)
        if ProjectiveSpace(self.order, self.dimension).points * sum(self.rows) > 2**62:
            raise SurveyError("order, dimension and rows give more reports than a 64-bit integer can number").at(
                "order"
            )
        _ = self.inner

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """One level and two, one row and several, a prime order and a prime power."""
        return (
            cls(2, epsilon, (2,), (1,), 2, 3),
            cls(3, epsilon, (1, 3), (1, 2), 2, 2),
            cls(2, epsilon, (1, 2), (1, 1), 3, 2),
            cls(1, epsilon, (1,), (2,), 4, 2),
        )

    @classmethod
    def typical(cls, size: int, epsilon: float, delta: float = 0.0) -> Self:
        """Two levels over codes of `size` bits."""
        ends = (size,) if size < 2 else (size // 2, size)
        return cls(size, epsilon, ends, (2,) * len(ends), 5, 3)

    @cached_property
    def inner(self) -> ProjectiveGeometry:
        """The mechanism on buckets."""
        points = ProjectiveSpace(self.order, self.dimension).points
        return ProjectiveGeometry(points, self.epsilon, self.order, self.dimension)

    @property
    def buckets(self) -> int:
        """K."""
        return self.inner.cells

    @cached_property
    def codec(self) -> IndexCodec:
        """The row, times K, plus the point."""
        return IndexCodec(self.cells)

    @property
    def cells(self) -> int:
        """One count for every row and point."""
        return sum(self.rows) * self.buckets

    @property
    def largest_step(self) -> int:
        """A report is counted once."""
        return 1

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first row of every level, and the number of all rows."""
        return tuple(accumulate(self.rows, initial=0))

    @cached_property
    def row_ends(self) -> NDArray[np.int64]:
        """The bits of the prefix that each row hashes."""
        return np.repeat(np.array(self.ends), self.rows)

    # --- the hash -----------------------------------------------------------------------------

    def _words(self, row: int) -> NDArray[np.uint32]:
        """A row's word for every bit of the code; zero beyond its prefix."""
        row_words: NDArray[np.uint32] = words(self.key, self.bits, layers=1, rotation=row, purpose=PREFIX_HASHES)[0]
        row_words[self.row_ends[row] :] = 0
        return row_words

    @cached_property
    def tables(self) -> NDArray[np.uint32]:
        """For every row, every byte of a code and every value of it: the XOR of the words of the bits that are set."""
        size = (self.bits + 7) // 8
        tables = np.zeros((sum(self.rows), size, 256), dtype=np.uint32)
        for row in range(len(tables)):
            own = np.zeros(8 * size, dtype=np.uint32)
            own[: self.bits] = self._words(row)
            for bit in range(8):  # the bits of a byte, the highest first
                low = 1 << (7 - bit)
                set_too = np.flatnonzero(np.arange(256) & low)
                tables[row][:, set_too] ^= own.reshape(size, 8)[:, bit, None]
        tables.flags.writeable = False
        return tables

    def bucket(self, code: NDArray[np.uint8], row: int) -> int:
        """The bucket of a code's prefix: its hash, a word, times K, over 2^32."""
        set_bits = np.unpackbits(code)[: self.bits].astype(bool)
        # Every word is taken, set or not, so that the work tells nothing.
        hashed = int(np.bitwise_xor.reduce(np.where(set_bits, self._words(row), np.uint32(0))))
        return hashed * self.buckets >> 32

    # --- the device -------------------------------------------------------------------------------

    def randomize(self, code: Any, source: Source) -> Report:
        """One device's report on the code of its value, as bytes. An error never names it."""
        held = np.asarray(code)
        if held.dtype != np.uint8 or held.shape != ((self.bits + 7) // 8,) or np.unpackbits(held)[self.bits :].any():
            raise ValueOutsideDomainError(f"the value is not a code of {self.bits} bits")
        row = source.below(sum(self.rows))
        point = self.inner.randomize(self.bucket(held, row), source)
        return row * self.buckets + cast(int, point)

    # --- the collector ----------------------------------------------------------------------------

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Histogram of reports."""
        from sottovoce.kernels.counting import count_into

        count_into(counts, batch)

    def whole(self, counts: Any) -> Counts:
        """Counts as one array of a row per hash, also if they come in shards."""
        if not isinstance(counts, np.ndarray):
            joined = self.empty()
            for number, part in counts.shards():
                joined[number * SHARD_CELLS :][: len(part)] = part
            counts = joined
        return np.asarray(counts.reshape(sum(self.rows), self.buckets))

    def supporting(self, counts: Any) -> NDArray[Any]:
        """For every row and bucket, how many reports support it: in 32 bits where all reports fit into them."""
        rows = self.whole(counts)
        held = np.int32 if int(rows.sum()) < 2**31 else np.int64
        support = np.empty(rows.shape, dtype=held)
        for number, row in enumerate(rows):
            support[number] = self.inner._supporting(row)
        return support

    @property
    def support(self) -> Support:
        """P1, and s/K: over the public hashes, another prefix is in each bucket alike."""
        return Support(self.inner._support.own, Fraction(self.inner.space.hyperplane_points, self.buckets))

    # --- the simulation -------------------------------------------------------------------------

    def randomize_many(self, codes: NDArray[np.uint8], rng: np.random.Generator) -> Batch:
        """Reports of many people at once, by the same law. Codes are trusted."""
        from sottovoce.kernels.words import buckets

        drawn = rng.integers(0, sum(self.rows), size=len(codes))
        points = self.inner.randomize_many(buckets(self.tables, codes, drawn, self.buckets), rng)
        return np.asarray(drawn * self.buckets + points)

    @property
    def simulation_words(self) -> int:
        """Numbers held for one simulated report."""
        return 4

    # --- the auditor ----------------------------------------------------------------------------

    def probability(self, report: Report, code: Any) -> Fraction:
        """The probability of the point for the bucket in the row, over the number of rows."""
        row, point = divmod(cast(int, report), self.buckets)
        return self.inner.probability(point, self.bucket(np.asarray(code), row)) / sum(self.rows)

    def log_prob(self, report: Report, code: Any) -> float:
        return log_of(self.probability(report, code))

    def privacy_ratio(self) -> Fraction:
        """The ratio of the points: two values fall into different buckets of a row, or have the same chances there."""
        return self.inner.privacy_ratio()

    @property
    def delta(self) -> float:
        """None: the guarantee is pure."""
        return 0.0

    @property
    def exact_epsilon(self) -> float:
        """The epsilon of the rounded channel; never above the stated one."""
        return epsilon_of(self.privacy_ratio())

    def blanket(self) -> Blanket:
        """As if two values were in different buckets of every row.

        The row is drawn alike for all, and given it L is that of two buckets, the same one or two different ones. The
        cover of the mechanism on buckets is above both in convex order, and mixtures over rows keep that order. Which
        buckets values take depends on the hashes, so no pair's own law is stated.
        """
        why = "no row tells two values apart better than one that hashes them to different buckets"
        return Blanket((), why, self.inner.blanket())

    def miniature_inputs(self) -> Iterator[NDArray[np.uint8]]:
        """Every possible code. Only for miniatures."""
        size = (self.bits + 7) // 8
        for code in range(1 << self.bits):
            yield np.frombuffer((code << (8 * size - self.bits)).to_bytes(size, "big"), dtype=np.uint8)

    def outputs(self) -> Iterator[Report]:
        """All rows and points."""
        return iter(range(self.cells))

    def for_key(self, key: Key) -> Self:
        """This mechanism with other hashes."""
        return replace(self, key=key)

    def audit_reference(self) -> HashedPrefixesReference:
        return HashedPrefixesReference(
            self.bits, self.epsilon, self.privacy_ratio(), self.ends, self.rows, self.key, self.inner.audit_reference()
        )

    def citation(self) -> str:
        """Local hashing: Wang, Blocki, Li and Jha 2017; prefixes: Wang, Li and Jha 2021."""
        return (
            "@article{wang2021locally, author={Wang, Tianhao and Li, Ninghui and Jha, Somesh}, title={Locally "
            "Differentially Private Heavy Hitter Identification}, journal={IEEE Transactions on Dependable and Secure "
            "Computing}, volume={18}, number={2}, year={2021}}"
        )


@final
class CodeTrials(Trials):
    """Codes of `bits` bits, as bytes."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def _trial(self, number: int) -> Trial:
        size = (self.bits + 7) // 8
        code = (number << 8 * size - self.bits).to_bytes(size, "big")
        row = np.frombuffer(code, dtype=np.uint8)
        return Trial(f"the code {in_hex(code)}", row, row)

    def edges(self) -> Iterator[Trial]:
        return map(self._trial, (0, 1, (1 << self.bits) - 1, 1 << self.bits - 1))

    def random(self, rng: np.random.Generator) -> Trial:
        return self._trial(random_below(1 << self.bits, rng))

    def apart(self, rng: np.random.Generator) -> list[Trial]:
        """A code, one that begins differently, one that ends differently, and the code of "other"."""
        last = (1 << self.bits) - 1
        return [self._trial(number) for number in (last, last >> 1, last - 1, 0)]


@final
class HashedPrefixesReference(ExactReference):
    """The row, and what the reference of the points says of the bucket of a prefix, by a second hash."""

    noun = "words"
    unit = "bit"
    samples: ClassVar[int] = 5_000
    batch: ClassVar[int] = 128

    def __init__(
        self,
        bits: int,
        epsilon: float,
        stated_ratio: Fraction,
        ends: tuple[int, ...],
        rows: tuple[int, ...],
        key: Key,
        inner: ProjectiveReference,
    ) -> None:
        super().__init__(CodeTrials(bits), bits, epsilon, stated_ratio)
        self.bits, self.ends, self.key, self.inner = bits, ends, key, inner
        self.last_rows = list(accumulate(rows))

    def ratio(self) -> Fraction:
        return self.inner.ratio()

    def wrong_law(self) -> str:
        return self.inner.wrong_law()

    def requests(self, outcomes: Sequence[int]) -> list[Request]:
        return [self.last_rows[-1], *self.inner.requests(0)]

    def payloads(self, inputs: Sequence[Any], played: Sequence[list[int]]) -> list[bytes]:
        draws, points = np.array(played, dtype=np.int64), self.inner.points
        hashes = [self._hash(np.asarray(code).tobytes(), row) for code, (row, *_) in zip(inputs, played, strict=True)]
        payloads = self.inner.payloads(np.array([hashed * points // 2**32 for hashed in hashes]), draws[:, 1:])
        numbers = [int.from_bytes(payload.tobytes(), "little") for payload in payloads]
        reports = index_rows(draws[:, 0] * points + np.array(numbers), self.last_rows[-1] * points)
        return [report.tobytes() for report in reports]

    def _hash(self, code: bytes, row: int) -> int:
        """The XOR of the words of the bits that are set, of those that the row's level reads."""
        number, level = int.from_bytes(code, "big") >> 8 * len(code) - self.bits, bisect(self.last_rows, row)
        stream = words(self.key, self.bits, layers=1, rotation=row, purpose=PREFIX_HASHES)[0].tolist()
        hashed = 0
        for bit in range(self.ends[level]):
            if number >> self.bits - 1 - bit & 1:
                hashed ^= stream[bit]
        return hashed
