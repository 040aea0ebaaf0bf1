"""Vectors of designs: what a device derives from a survey and its attachment, reports, and what it must refuse.

Nothing is searched for and nothing is compressed here, because both may differ between machines: channels and
coordinates are written out by hand, and their attachments packed as zlib's stored blocks.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.core.errors import SottovoceError
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.sampled import LevelResponse, tilted_weights
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.unary import UnaryOptimized
from sottovoce.randomness import ByteSource
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.factorized import Coordinates, FactorizedStrategy
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.workloads import Bins, Dense, Identity, Marginals, Parities, Prefix, Ranges
from vectors_refused import CODEBOOK

__all__ = ["strategy_vectors"]

Tape = Callable[[str], Any]
Rows = list[list[int]]

LIMIT = 3139872686
"""floor(2**32 e/(1 + e)): the most of 2**32 that keeps epsilon 1 against the rest."""

CYCLE = [[44, 18, 18, 20], [20, 44, 18, 18], [18, 20, 44, 18], [18, 18, 20, 44], [28, 28, 28, 28]]
"""A channel of 7 bits over four values: entries at their rows' ends, entries between, and an even row."""

PACKED = (
    "0400000000000000000000000000c03f000000000000d03f000000000000d03f000000000000d83f"
    "5356434d050000000400000007"
    "78da136260601042c23240ac838641628c0c0ccccc408201415004007a400141"
)
"""The weights (1, 2, 2, 3)/8 and CYCLE, as zlib once compressed them: other bytes, the same content."""

SIGNED = [[0.5, -0.5, 0.5, -0.5], [0.5, 0.5, -0.5, -0.5], [0.625, 0.25, -0.125, 0.0]]
"""Coordinates of four values that are exact in single precision."""

DENSE = [[0.75, -0.5, 0.25], [2.5, 0.0, 1.5]]
"""Queries that one coordinate tells: itself, and twice itself and one."""


def strategy_vectors(tape: Tape) -> dict[str, Any]:
    """Surveys with reports, and refusals; `tape` makes a recorder of known bytes from a label."""
    surveys = [_asked_by(design) for design in _designs()]
    return {
        "about": "Surveys of queries whose strategy is not direct. `derived` is what a client works out; "
        "`attachments` may each stand for the digest named; `input` is what is randomized for a value: its number, or "
        "a column as hexadecimal floats. Thresholds are decimal text.",
        "weights": [
            {"levels": levels, "tilt": tilt, "weights": list(tilted_weights(levels, tilt))}
            for levels, tilt in ((1, 0), (4, 0), (4, 8), (3, -12), (7, 5), (7, -5), (9, 1), (40, 15))
        ],
        "surveys": [_survey(survey, tape) for survey in surveys],
        "bad_attachments": [_refused(*case) for case in _bad_attachments()],
        "bad_surveys": [_refused_survey(*case) for case in _bad_surveys()],
    }


def _designs() -> Iterator[Strategy]:
    ages, records = Prefix(range(18, 31)), Marginals(k=2, club=3, member=2, team=5)
    yield HierarchicalStrategy(ages, Hierarchical(13, 1.0, 3, 5))
    yield HierarchicalStrategy(Prefix(16), Hierarchical(16, 0.5, 2, -12))
    yield HierarchicalStrategy(Identity(64), Hierarchical(64, 3.0, 64))
    yield HierarchicalStrategy(Ranges(1000), Hierarchical(1000, 1.0, 10))
    yield HaarStrategy(ages, Haar(13, 1.0, 8))
    yield HaarStrategy(Ranges(16), Haar(16, 2.0, -12))
    yield HaarStrategy(Identity(2), Haar(2, 1.0))
    yield HaarStrategy(Prefix(1000), Haar(1000, 0.25, 3))
    yield FourierStrategy(records, Fourier(30, 1.0, (3, 2, 5), 2, tilt=8))
    yield FourierStrategy(Parities(5, 3), Fourier(32, 2.0, (2,) * 5, 3, tilt=-4))
    bins = Bins(records.domain, [0, 2, 5], attribute="team")
    yield FourierStrategy(bins, Fourier(30, 1.0, (3, 2, 5), 1, only=3))
    yield FourierStrategy(Identity(["no", "yes", "perhaps"]), Fourier(3, 0.5, (3,), 1))
    yield Histogram(Prefix(5), RandomizedResponse(5, 2.0))
    yield Histogram(ages, SubsetSelection(13, 1.0, 4))
    yield Histogram(Ranges(6), UnaryOptimized(6, 1.0))
    yield Histogram(Prefix(5), Hadamard(5, 1.0))
    yield Histogram(ages, HadamardBlocks(13, 2.0, 4))
    yield Histogram(Ranges(6), ProjectiveGeometry(6, 1.0, 3, 3))
    yield OptimizedStrategy.of(Prefix(4), 1.0, ChannelMatrix(np.array(CYCLE), 7), np.array([1, 2, 2, 3]) / 8)
    yield OptimizedStrategy.of(Identity(2), 1.0, ChannelMatrix(np.array(_pair(LIMIT)), 32), np.array([0.5, 0.5]))
    signed = Coordinates(np.array(SIGNED, dtype=np.float32), np.full(4, 0.25))
    yield FactorizedStrategy(Prefix(4), Codebook(3, 1.0, 1.0, 0.0, 64, 32, 11, 15, 6), signed)
    small = Coordinates(np.array([[0.75, -0.5, 0.25]], dtype=np.float32), np.array([0.5, 0.25, 0.25]))
    yield FactorizedStrategy(Dense(DENSE), Codebook(1, 1.0, 2.0, 0.0, 128, 16, 2, 3, 5), small)


def _pair(most: int) -> Rows:
    return [[most, 2**32 - most], [2**32 - most, most]]


def _survey(survey: Any, tape: Tape) -> dict[str, Any]:
    J, design = survey.domain.size, survey.design
    packed = _attachments(design)
    for attachment in packed:
        if sv.Survey.from_json(survey.to_json(), {design.digest: attachment}).id != survey.id:
            raise ValueError("an attachment stands for another survey")
    return {
        "strategy": design.name,
        "canonical": survey.to_json(),
        "id": survey.id,
        "tag": survey.tag.hex(),
        "domain_size": J,
        "digest": design.digest,
        "attachments": [attachment.hex() for attachment in packed],
        "derived": _derived(survey.mechanism),
        "report_bytes": survey.mechanism.report_bytes,
        "reports": [_report(survey, value, run, tape) for value in sorted({0, 1, J // 2, J - 1}) for run in range(3)],
    }


def _attachments(design: Strategy) -> list[bytes]:
    """Bytes that a device may be sent: for a channel stored by hand, and compressed where a literal is kept."""
    if isinstance(design, OptimizedStrategy):
        matrix = design.mechanism.matrix
        rows, weights = matrix.integers.tolist(), list(design.weights)
        kept = [bytes.fromhex(PACKED)] if rows == CYCLE else []
        return [pack_channel(rows, matrix.bits, weights), *kept]
    return [] if design.attachment is None else [design.attachment]


def _derived(mechanism: Any) -> dict[str, Any]:
    """Tables that a client needs for its draws."""
    if isinstance(mechanism, LevelResponse):
        names = ("spans", "nodes", "columns", "weights", "offsets")
        return {
            **{name: list(getattr(mechanism, name)) for name in names},
            "threshold": str(mechanism._response.threshold),
        }
    if isinstance(mechanism, Fourier):
        return {
            "bits": list(mechanism.bits),
            "weights": list(mechanism.weights),
            "drawn": mechanism.drawn,
            "coefficients": mechanism.coefficients.tolist(),
            "codes": mechanism.codes(np.arange(mechanism.domain_size)).tolist(),
            "threshold": str(mechanism._response.threshold),
        }
    if isinstance(mechanism, Codebook):
        return {"key": list(mechanism.key), "threshold": str(mechanism.levels.threshold)}
    if hasattr(mechanism, "matrix"):
        return {"bits": mechanism.matrix.bits, "integers": mechanism.matrix.integers.tolist()}
    return {}


def _report(survey: Any, value: int, run: int, tape: Tape) -> dict[str, Any]:
    recorder = tape(f"sottovoce {survey.id} {value} {run}")
    given = survey.design.inputs(np.array([value]))[0]
    payload = survey.mechanism.encode(
        survey.mechanism.randomize(given if given.ndim else int(given), ByteSource(recorder))
    )
    return {
        "value": value,
        "input": [float(x).hex() for x in given] if given.ndim else int(given),
        "tape": recorder.read.hex(),
        "payload": payload.hex(),
        "report": (survey.tag + payload).hex(),
    }


# --- attachments by hand ---------------------------------------------------------------------


def stored(content: bytes) -> bytes:
    """A zlib stream that holds its content as it is: the same bytes whatever zlib is there."""
    length = len(content)
    return (
        b"\x78\x01\x01"
        + struct.pack("<HH", length, length ^ 0xFFFF)
        + content
        + struct.pack(">I", zlib.adler32(content))
    )


def channel_content(rows: Rows, bits: int, code: Callable[[int, int, int], int] | None = None) -> bytes:
    """Header, minima, maxima, and the codes' bytes plane by plane."""

    def usual(x: int, low: int, high: int) -> int:
        return 0 if x == low else 1 if x == high else x - low + 1

    coded = [(code or usual)(x, min(row), max(row)) for row in rows for x in row]
    ends = [min(row) for row in rows] + [max(row) for row in rows]
    planes = bytes(number >> 8 * plane & 255 for plane in range(4) for number in coded)
    header = struct.pack("<4sIIB", b"SVCM", len(rows), len(rows[0]), bits)
    return header + struct.pack(f"<{len(ends)}I", *ends) + planes


def pack_channel(rows: Rows, bits: int, weights: list[float]) -> bytes:
    """The attachment of a channel, not compressed."""
    content = channel_content(rows, bits)
    return struct.pack(f"<Q{len(weights)}d", len(weights), *weights) + content[:13] + stored(content[13:])


def channel_digest(content: bytes, weights: list[float]) -> str:
    """What a survey names the attachment by."""
    numbers = struct.pack(f"<{len(weights)}d", *weights)
    return hashlib.sha256(numbers + hashlib.sha256(content).digest()).hexdigest()


# --- refusals --------------------------------------------------------------------------------


def _asked_by(design: Strategy) -> sv.Survey:
    return sv.Survey(sv.queries(design.workload), epsilon=design.mechanism.epsilon, strategy=design)


def _stating(design: Strategy, /, **changes: Any) -> str:
    """The design's survey with some of the fields of its design changed, canonical or not; None leaves one out."""
    stated = json.loads(_asked_by(design).to_json())
    changed = {**stated["design"], **changes}
    stated["design"] = {name: field for name, field in changed.items() if field is not None}
    return _compact(stated)


def _compact(stated: dict[str, Any]) -> str:
    return json.dumps(stated, separators=(",", ":"), sort_keys=True)


def _by_name() -> dict[str, Strategy]:
    """One design of each strategy, the first; for `optimized` also the pair at its limit."""
    found: dict[str, Strategy] = {}
    for made in _designs():
        found.setdefault(made.name if made.name not in found or made.name != "optimized" else "pair", made)
    return found


def _bad_attachments() -> Iterator[tuple[str, str, str, bytes]]:
    """(fault, survey, digest named there, bytes). The digest is that of the bytes wherever they have one."""
    known = _by_name()
    cycle, pair, even = known["optimized"], known["pair"], [0.25] * 4
    good = pack_channel(CYCLE, 7, even)
    right = channel_digest(channel_content(CYCLE, 7), even)

    def channel(fault: str, rows: Rows, bits: int = 7, weights: list[float] | None = None, **how: Any) -> Any:
        shares = weights or [1 / len(rows[0])] * len(rows[0])
        over, content = pair if bits == 32 else cycle, channel_content(rows, bits, **how)
        digest = channel_digest(content, shares)
        numbers = struct.pack(f"<Q{len(shares)}d", len(shares), *shares)
        return fault, _stating(over, digest=digest), digest, numbers + content[:13] + stored(content[13:])

    def damaged(fault: str, attachment: bytes, digest: str = right) -> Any:
        return fault, _stating(cycle, digest=digest), digest, attachment

    yield channel("channel: one unit above e^epsilon", _pair(LIMIT + 1), 32)
    yield channel("channel: a column one unit too large", [[45, *CYCLE[0][1:]], *CYCLE[1:]])
    yield channel("channel: a column one unit too small", [*CYCLE[:4], [28, 27, 28, 28]])
    yield channel("channel: a zero entry", [*CYCLE[:3], [0, 18, 20, 44], [46, 28, 28, 28]])
    yield channel("channel: bits 0", CYCLE, 0)
    yield channel("channel: bits 33", CYCLE, 33)
    yield channel("channel: one report only", [[128] * 4])
    yield channel("channel: three values for a survey over four", [row[:3] for row in CYCLE])
    yield channel("channel: a maximum not coded as 1", CYCLE, code=lambda x, low, high: x - low + 1 if x > low else 0)
    yield channel("channel: weights of another number", CYCLE, weights=[0.5, 0.25, 0.25])
    yield channel("channel: weights that do not sum to one", CYCLE, weights=[0.25, 0.25, 0.25, 0.5])
    yield channel("channel: a negative weight", CYCLE, weights=[-0.25, 0.5, 0.5, 0.25])
    yield channel("channel: a weight that is no number", CYCLE, weights=[float("nan"), 0.5, 0.25, 0.25])
    yield damaged("channel: another digest", good, "0" * 64)
    yield damaged("channel: the digest in upper case", good, right.upper())
    yield damaged("channel: other weights than named", pack_channel(CYCLE, 7, [0.5, 0.25, 0.125, 0.125]))
    yield damaged("channel: another matrix than named", pack_channel(CYCLE[1:4] + CYCLE[:1] + CYCLE[4:], 7, even))
    yield damaged("channel: empty", b"")
    yield damaged("channel: more weights announced than there are bytes", b"\xff" * 8 + good[8:])
    yield damaged("channel: truncated in the header", good[:50])
    yield damaged("channel: the last byte missing", good[:-1])
    yield damaged("channel: a byte too many", good + b"\x00")
    yield damaged("channel: another beginning", good.replace(b"SVCM", b"SVCN"))
    yield damaged("channel: the checksum of zlib wrong", good[:-1] + bytes([good[-1] ^ 1]))
    content = channel_content(CYCLE, 7)
    yield damaged("channel: packed longer than announced", good[:53] + stored(content[13:] + b"\x00"))
    yield damaged("channel: packed shorter than announced", good[:53] + stored(content[13:-1]))
    yield from _bad_coordinates(known["factorized"])


def _bad_coordinates(design: Strategy) -> Iterator[tuple[str, str, str, bytes]]:
    def coordinates(fault: str, rows: list[list[float]], weights: list[float], tail: bytes = b"") -> Any:
        shape = struct.pack("<II", len(rows), len(weights))
        singles = [x for row in rows for x in row]
        numbers = struct.pack(f"<{len(weights)}d", *weights) + struct.pack(f"<{len(singles)}f", *singles)
        attachment = shape + numbers + tail
        digest = hashlib.sha256(attachment).hexdigest()
        return f"coordinates: {fault}", _stating(design, digest=digest), digest, attachment

    even, good = [0.25] * 4, design.attachment or b""
    yield coordinates("a column longer than 1", [[1.0, 0.0, 0.0, 0.0], [0.125] * 4, [0.0] * 4], even)
    yield coordinates("an entry that is no number", [[float("nan"), 0.0, 0.0, 0.0], *SIGNED[1:]], even)
    yield coordinates("weights that do not sum to one", SIGNED, [0.25, 0.25, 0.25, 0.5])
    yield coordinates("a negative weight", SIGNED, [-0.25, 0.5, 0.5, 0.25])
    yield coordinates("no column", [[]], [])
    yield coordinates("over three values", [row[:3] for row in SIGNED], [0.5, 0.25, 0.25])
    yield coordinates("no row", [], even)
    yield coordinates("a byte too many", SIGNED, even, b"\x00")
    for fault, attachment in (("empty", b""), ("the last byte missing", good[:-1])):
        digest = hashlib.sha256(attachment).hexdigest()
        yield f"coordinates: {fault}", _stating(design, digest=digest), digest, attachment
    yield "coordinates: another digest", _stating(design, digest="0" * 64), "0" * 64, good


def _bad_surveys() -> Iterator[tuple[str, str]]:
    """(fault, survey): refused whatever the attachments."""
    known = _by_name()
    haar, fourier, tree, cycle = known["haar"], known["fourier"], known["hierarchical"], known["optimized"]

    def tuned(design: Strategy, **changes: Any) -> str:
        stated = json.loads(_stating(design))["design"]["mechanism"]
        return _stating(design, mechanism={**stated, **changes})

    yield "an unknown strategy", _stating(haar, strategy="wavelet")
    yield "a strategy that is no text", _stating(haar, strategy={"name": "haar"})
    yield "no strategy", _stating(haar, strategy=None)
    yield "no mechanism", _stating(haar, mechanism=None)
    yield "a design with more than it should hold", _stating(haar, users=1000)
    yield "a digest without an attachment", _stating(haar, digest="0" * 64)
    yield "an attachment without a digest", _stating(cycle, digest=None)
    yield "an attachment that nobody has", _stating(cycle)
    yield "another strategy's mechanism", _stating(haar, mechanism={"name": "hierarchical", "branching": 2, "tilt": 0})
    yield "direct by a tree", _stating(haar, strategy="direct")
    yield "direct by a mechanism for values", _stating(known["histogram"], strategy="direct")
    yield "a histogram by a mechanism for vectors", _stating(known["histogram"], mechanism=CODEBOOK)
    yield "delta above 0", _compact({**json.loads(_stating(haar)), "delta": 1e-6})
    yield "a histogram with delta above 0", _compact({**json.loads(_stating(known["histogram"])), "delta": 1e-6})
    yield "a missing parameter", _stating(tree, mechanism={"name": "hierarchical", "branching": 2})
    yield "branching 1", tuned(tree, branching=1)
    yield "branching above J", tuned(tree, branching=14)
    yield "tilt 16", tuned(haar, tilt=16)
    yield "a tilt that is no integer", tuned(haar, tilt=0.5)
    yield "sizes of another domain", tuned(fourier, sizes=[3, 2, 4])
    yield "the sizes in another order", tuned(fourier, sizes=[2, 3, 5])
    yield "order 0", tuned(fourier, order=0)
    yield "another order than the tables'", tuned(fourier, order=3)
    yield "one attribute only where tables are asked", tuned(fourier, order=1, only=1)


def _refused(fault: str, survey: str, digest: str, attachment: bytes) -> dict[str, str]:
    error = _error(fault, survey, {digest: attachment})
    return {"fault": fault, "survey": survey, "digest": digest, "attachment": attachment.hex(), "error": error}


def _refused_survey(fault: str, survey: str) -> dict[str, str]:
    return {"fault": fault, "survey": survey, "error": _error(fault, survey, {})}


def _error(fault: str, survey: str, attachments: dict[str, bytes]) -> str:
    try:
        sv.Survey.from_json(survey, attachments)
    except SottovoceError as error:
        return type(error).__name__
    raise ValueError(f"{fault} is accepted")
