"""Verdicts on rows: `good_rows` says of each row what `decode` says of it, for every codec of every registry.

`decode_many` takes a batch exactly when all of its rows are good. All byte strings of one or two bytes are tried;
elsewhere random ones, mutated honest ones, and ones at the edges of the rules.
"""

from __future__ import annotations

import numpy as np
import pytest

from cases import each
from sottovoce.core.errors import ReportError
from sottovoce.mechanisms import ChannelMechanism, FiniteMechanism, Mechanism, VectorMechanism, create, serving
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.codecs import BitmapCodec, Codec, IndexCodec, SubsetBitmapCodec, SubsetCodec
from sottovoce.mechanisms.vector_codecs import SeedBitCodec, SignedCodec


def _vector(name: str) -> Mechanism:
    if name == "binary":
        return Binary(1, 1.0, 1.0, 0.0)
    return serving(VectorMechanism)[name].best(6, 1.0, 1.0, 1e-6 if name == "gaussian" else 0.0, 10_000)


MECHANISM_CODECS: dict[str, Codec] = {
    **{
        f"{name}-{size}": create(name, size, 2.0).codec for name in serving(FiniteMechanism) for size in (3, 8, 21, 300)
    },
    **{name: _vector(name).codec for name in serving(VectorMechanism)},
    **{name: serving(ChannelMechanism)[name].typical(12, 1.0).codec for name in serving(ChannelMechanism)},
}

CODECS: dict[str, Codec] = {
    **MECHANISM_CODECS,
    **{f"index-{outputs}": IndexCodec(outputs) for outputs in (2, 255, 256, 257, 2**16, 2**24 - 1, 2**41 + 1, 2**63)},
    **{f"bitmap-{size}": BitmapCodec(size) for size in (1, 7, 8, 9, 16)},
    "subset-bitmap": SubsetBitmapCodec(20, 4),
    **{
        f"subset-{size}-{of}": SubsetCodec(size, of)
        for size, of in ((1000, 1), (1000, 3), (33, 5), (2**20, 7), (2**40 - 3, 3), (256, 4))
    },
    **{f"signed-{d}-{b}": SignedCodec(d, b) for d, b in ((1, 1), (3, 127), (2, 128), (2, 40_000), (1, 2**47), (1, 7))},
    "signed-8-bytes": SignedCodec(2, 2**62),
    "seed": SeedBitCodec(),
}


def test_every_kind_of_codec_is_tried() -> None:
    kinds = {IndexCodec, BitmapCodec, SubsetBitmapCodec, SubsetCodec, SignedCodec, SeedBitCodec}
    assert {type(codec) for codec in CODECS.values()} == kinds
    assert {type(codec) for codec in MECHANISM_CODECS.values()} == kinds


def candidates(codec: Codec) -> np.ndarray:
    width, rng = codec.width, np.random.default_rng(3)
    if width <= 2:
        numbers = np.arange(256**width, dtype="<u4")
        return numbers.view(np.uint8).reshape(-1, 4)[:, :width]
    random = rng.integers(0, 256, (400, width), dtype=np.uint8)
    small = np.where(rng.random((400, width)) < 0.7, 0, random)
    top = [(2**bit - less).to_bytes(width + 1, "little")[:width] for bit in range(8 * width) for less in (0, 1)]
    edges = np.frombuffer(b"".join(top), dtype=np.uint8).reshape(-1, width)
    return np.vstack([random, small, edges, 255 - edges, _near_misses(codec)])


def _near_misses(codec: Codec) -> np.ndarray:
    """Honest rows, and the same with each bit of the first flipped."""
    if isinstance(codec, IndexCodec):
        most = codec.outputs - 1
        rows = [n.to_bytes(codec.width, "little") for n in (0, 1, most, most + 1) if n < 256**codec.width]
    elif isinstance(codec, SignedCodec):
        rows = [codec.encode((n,) * codec.dimension) for n in (0, codec.bound, -codec.bound)]
        beyond = (codec.bound + 1).to_bytes(codec.bytes_each + 1, "little")[: codec.bytes_each]
        below = (-codec.bound - 1).to_bytes(codec.bytes_each + 1, "little", signed=True)[: codec.bytes_each]
        rest = bytes(codec.width - codec.bytes_each)
        rows += [beyond + rest, rest + beyond, below + rest, rest + below]
    elif isinstance(codec, SeedBitCodec):
        rows = [codec.encode((2**64 - 1, bit)) for bit in (0, 1)]
    else:
        size = getattr(codec, "domain_size", codec.bits)
        members = getattr(codec, "subset_size", 2)
        rows = [codec.encode(tuple(range(members))), codec.encode(tuple(range(size - members, size)))]
    flipped = [
        (int.from_bytes(row, "little") ^ 1 << bit).to_bytes(codec.width, "little")
        for row in rows
        for bit in range(8 * codec.width)
    ]
    return np.frombuffer(b"".join(rows + flipped), dtype=np.uint8).reshape(-1, codec.width)


def takes(codec: Codec, payload: bytes) -> bool:
    try:
        report = codec.decode(payload)
    except ReportError:
        return False
    assert codec.encode(report) == payload
    return True


def refuses_batch(codec: Codec, rows: np.ndarray) -> bool:
    try:
        codec.decode_many(rows)
    except ReportError:
        return True
    return False


@each("codec", CODECS.values())
def test_verdicts_are_those_of_decode(codec: Codec) -> None:
    rows = candidates(codec)
    if len(rows) > 4000:
        rows = rows[:: len(rows) // 4000]
    expected = np.array([takes(codec, row.tobytes()) for row in rows])
    verdicts = codec.good_rows(rows)
    assert verdicts.dtype == np.bool_
    assert np.array_equal(verdicts, expected)
    assert expected.any()
    # Cut out of longer rows, as they arrive, the same.
    wider = np.hstack([rows, rows])[:, codec.width :]
    assert np.array_equal(codec.good_rows(wider), expected)
    # A whole batch is refused exactly when one of its rows is bad, wherever it stands.
    good, bad = rows[expected], rows[~expected]
    assert np.array_equal(codec.encode_many(codec.decode_many(good)), good)
    few = good[:3]
    for row in bad[:: max(1, len(bad) // 100)]:
        assert refuses_batch(codec, row[None, :])
        assert refuses_batch(codec, np.vstack([few, row, few]))
        assert codec.good_rows(np.vstack([few, row, few])).sum() == 2 * len(few)
    full = isinstance(codec, IndexCodec) and codec.outputs == 256**codec.width
    full = full or (isinstance(codec, BitmapCodec) and codec.domain_size == 8 * codec.width)
    assert full or len(bad)


@each("codec", CODECS.values())
def test_rows_of_another_width_are_no_rows(codec: Codec) -> None:
    rows = np.zeros((2, codec.width), dtype=np.uint8)
    for wrong in (rows[:, 1:], np.hstack([rows, rows]), rows[0], rows.astype(np.int8)):
        with pytest.raises(ReportError, match=f"rows of {codec.width} bytes"):
            codec.good_rows(wrong)
    assert codec.good_rows(rows[:0]).shape == (0,)
