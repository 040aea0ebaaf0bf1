"""What every mechanism is: one randomizer, with the device's side and the collector's in one place.

The device calls `randomize` and `encode`; the collector calls `decode` and counts. What a value
is, and what is estimated, is the business of the two families: `finite` (an index of a domain)
and `vector` (a point of a ball). All sides read the same rounded integers.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import CapacityError, MechanismError, SurveyError
from sottovoce.core.limits import MAX_CELLS, MAX_REPORT_BYTES, check_integer
from sottovoce.kernels.threads import zeros
from sottovoce.mechanisms.codecs import Codec, IndexCodec, Payloads, Report
from sottovoce.mechanisms.reference import ChannelReference, SampledReference
from sottovoce.randomness import Source
from sottovoce.theory.blanket import Blanket

__all__ = ["Batch", "Counts", "Floats", "InputLength", "Mechanism", "Report", "log_of"]

Batch: TypeAlias = NDArray[Any]
"""Many reports of one mechanism: the first axis runs over people."""

Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class InputLength(NamedTuple):
    """A length in words: what has it, how much, and of what."""

    what: str
    amount: int
    unit: str


@dataclass(frozen=True)
class Mechanism(abc.ABC):
    """One local randomizer. Abstract or final: a final one implements what is abstract and overrides nothing.

    Dataclass fields beyond the family's are the mechanism's own parameters, integers but for `tables`; they are frozen
    in the survey, because choosing them takes floating point and both sides must agree on them.
    """

    name: ClassVar[str]
    """Name in the registry and in a survey's JSON."""
    summary: ClassVar[str]
    """What a report is, in a few words."""
    use_when: ClassVar[str]
    """Advice for the table of mechanisms."""
    serves: ClassVar[str]
    """What it randomizes, or "one strategy" where its reports mean nothing without that; one word for each family."""
    deployed_size: ClassVar[int] = 256
    """The size of `typical` at which an audit by name runs it: that of usual surveys."""
    deployable: ClassVar[bool] = True
    """False for baselines that exist to be measured; a survey refuses those."""
    in_browsers: ClassVar[bool] = True
    """Whether the TypeScript client runs it too; "auto" leaves others to those who name them."""
    stated_by_survey: ClassVar[frozenset[str]]
    """Fields of the family, which the survey states or derives; all others are the mechanism's own parameters."""
    counted_as: ClassVar[Literal["batch", "number", "signed number"]] = "batch"
    """What `count_encoded` may take for granted of a report.

    ``"number"``: it is one of an `IndexCodec`, and adds one to the cell of that number. ``"signed number"``: it is one
    of an `IndexCodec`; 2 i adds one to cell i, and 2 i + 1 takes one off. ``"batch"``: nothing.
    """

    if TYPE_CHECKING:  # fields of every family; properties here would become their defaults

        @property
        def epsilon(self) -> float:
            """The privacy parameter of one report, as it is stated."""

        @property
        def delta(self) -> float:
            """The probability with which epsilon may be exceeded."""

    @property
    @abc.abstractmethod
    def codec(self) -> Codec:
        """How reports become bytes."""

    @property
    @abc.abstractmethod
    def cells(self) -> int:
        """How many integers the aggregate holds."""

    @property
    @abc.abstractmethod
    def largest_step(self) -> int:
        """The most that one report, however hostile, can move any integer of the aggregate."""

    @abc.abstractmethod
    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Add a batch of valid reports to `counts`, in place."""

    @final
    def count_encoded(self, counts: Counts, payloads: Payloads) -> None:
        """Add encoded reports, one per row, to `counts`, in place: what decoding and counting them gives.

        Reports that are numbers are checked and counted as their bytes stand, on all cores, without a decoded copy.
        A row that no device sends raises the `ReportError` of `decode_many`, and then nothing was counted.

        Examples
        --------
        >>> from sottovoce.mechanisms.hadamard import Hadamard
        >>> mechanism = Hadamard(5, epsilon=1.0)
        >>> counts = mechanism.empty()
        >>> mechanism.count_encoded(counts, np.array([[1], [7], [1]], dtype=np.uint8))
        >>> counts
        array([0, 2, 0, 0, 0, 0, 0, 1])
        """
        if self.counted_as != "batch" and payloads.shape[1:] == (self.codec.width,) and payloads.dtype == np.uint8:
            from sottovoce.kernels.counting import count_encoded

            outputs, signed = cast(IndexCodec, self.codec).outputs, self.counted_as == "signed number"
            if count_encoded(counts, payloads, outputs, signed=signed):
                return
        self.count_into(counts, self.codec.decode_many(payloads))

    @classmethod
    @abc.abstractmethod
    def typical(cls, size: int, epsilon: float, delta: float = 0.0) -> Self:
        """An instance to audit, over `size` values, coordinates, options or bits, or the nearest possible number.

        `delta` counts only for mechanisms that cannot do without one.
        """

    @abc.abstractmethod
    def randomize(self, value: Any, source: Source) -> Report:
        """One device's report on its input; an error never names the input."""

    @abc.abstractmethod
    def randomize_many(self, values: Any, rng: np.random.Generator) -> Batch:
        """Reports of many people at once, by the same law, for simulation. Inputs are trusted."""

    @abc.abstractmethod
    def citation(self) -> str:
        """BibTeX of the work the mechanism comes from."""

    @abc.abstractmethod
    def _check_parameters(self) -> None:
        """Raise `SurveyError` unless the mechanism's own parameters are in range."""

    @property
    @abc.abstractmethod
    def simulation_words(self) -> int:
        """Numbers held for one simulated report; simulations size their chunks by it."""

    def blanket(self) -> Blanket | None:
        """What every value's reports have in common, for shufflers, with the argument in its docstring.

        From the exact probabilities at the rounded thresholds in use, over all values that the device accepts. None
        where nothing better is known than what every mechanism of this epsilon has.
        """
        return None

    def audit_reference(self) -> ChannelReference | SampledReference | None:
        """A second implementation of the device, made from the parameters alone: what audits compare it with.

        Every mechanism of this package writes one. None for one of another package that does not, which is audited by
        the law that it states, and for one that no device runs.
        """
        return None

    @property
    def input_length(self) -> InputLength | None:
        """How long one input is on a device, which limits its work; None where the size of a report says as much."""
        return None

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """Small instances that between them take every branch of the device code; audits run all their outcomes.

        None where no instance is small enough. One that is has an exact law: `outputs`, `probability` and
        `privacy_ratio`.
        """
        return ()

    def own_miniatures(self) -> tuple[Self, ...]:
        """Miniatures with all of this mechanism's parameters that do not make it large, such as its key."""
        return type(self).miniatures(self.epsilon)

    def miniature_inputs(self) -> Iterable[Any]:
        """Inputs of a miniature on which all its outcomes are run: all there are, or those that are furthest apart."""
        return ()

    def log_prob(self, report: Any, value: Any) -> float:
        """log P(report | value), or a number by which it differs alike for all values; 0 where nothing is known."""
        return 0.0

    def stated_reference(self) -> ChannelReference | SampledReference | None:
        """What the stated law tells of a device's runs; None where the family has no law that could be run against."""
        return None

    @classmethod
    @final
    def parameter_names(cls) -> list[str]:
        """Names of the mechanism's own integer parameters."""
        return [f.name for f in fields(cls) if f.name not in cls.stated_by_survey]

    @classmethod
    @final
    def restore(cls, parameters: dict[str, Any], *stated: float) -> Self:
        """The mechanism with the own parameters that a survey states; anything missing or extra is refused.

        `stated` is what the survey states for every mechanism of the family, in the order of its fields.
        """
        expected = cls.parameter_names()
        if sorted(parameters) != sorted(expected):
            raise SurveyError(
                f"mechanism {cls.name!r} has parameters {sorted(expected) or 'none'}; the survey states "
                f"{sorted(parameters) or 'none'}: it must state exactly the mechanism's own"
            ).at("parameters")
        return cls(*stated, **parameters)

    @final
    def _check_own(self, name: str, smallest: int, largest: int) -> None:
        """Check one own parameter, and keep it as a plain int whatever kind of integer was given."""
        object.__setattr__(self, name, check_integer(name, getattr(self, name), smallest, largest))

    @final
    def _check_report_size(self) -> None:
        if self.report_bytes > MAX_REPORT_BYTES:
            raise MechanismError(
                f"{self.name} would send {self.report_bytes:,} bytes per report; at most {MAX_REPORT_BYTES:,} are "
                "allowed: use mechanism='auto' or a smaller survey"
            )

    @final
    def encode(self, report: Report) -> bytes:
        """The canonical bytes of a report."""
        return self.codec.encode(report)

    @final
    def decode(self, payload: bytes) -> Report:
        """The report behind canonical bytes; anything else raises `ReportError`."""
        report: Report = self.codec.decode(payload)
        return report

    @final
    def empty(self) -> Counts:
        """The aggregate of no reports: zeros."""
        if self.cells > MAX_CELLS:
            raise CapacityError(
                f"counting {self.name} reports here takes {self.cells:,} counters, above the {MAX_CELLS:,} that one "
                "process keeps; use a smaller domain, dimension or number of expected people"
            )
        return zeros(self.cells, np.int64)

    @property
    @final
    def max_reports(self) -> int:
        """How many reports the aggregate's 64-bit integers are sure to hold."""
        return (2**63 - 1) // self.largest_step

    @property
    @final
    def report_bits(self) -> int:
        """Information in one report, before padding to bytes."""
        return self.codec.bits

    @property
    @final
    def report_bytes(self) -> int:
        """Width of one encoded report; the same for every value and every draw."""
        return self.codec.width

    @final
    def parameters(self) -> dict[str, Any]:
        """The mechanism's own parameters, as they stand in a survey: integers, or lists of them or of objects."""
        return {name: _stated(getattr(self, name)) for name in self.parameter_names()}


def log_of(chance: Fraction) -> float:
    """The logarithm of a probability; minus infinity for 0."""
    return math.log(chance.numerator) - math.log(chance.denominator) if chance else -math.inf


def _stated(value: Any) -> Any:
    """A parameter as plain JSON values."""
    if isinstance(value, tuple) and value and hasattr(value[0], "to_statement"):
        return [part.to_statement() for part in value]
    return value
