"""vectors/strategies.json: as the library answers, and as a second client answers.

The second client is written from docs/contributors/wire_format/ alone, in plain integers. It shares nothing with the
library.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import cache
from itertools import combinations
from math import gcd, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core import errors
from sottovoce.mechanisms import ChannelMechanism, serving
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.sampled import tilted_weights
from sottovoce.questions import Queries
from sottovoce.randomness import tape_source
from sottovoce.strategies.optimized import pack_channel, unpack_channel

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


@cache
def read() -> Any:
    return json.loads((VECTORS / "strategies.json").read_text("utf-8"))


def stated(case: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(case["canonical"])
    return found


def named(case: dict[str, Any]) -> str:
    return f"{case['strategy']}-{case['domain_size']}-{case['id'][:8]}"


every_survey = pytest.mark.parametrize("case", read()["surveys"], ids=named)
every_tree = pytest.mark.parametrize(
    "case", [case for case in read()["surveys"] if case["strategy"] in ("hierarchical", "haar")], ids=named
)
every_fourier = pytest.mark.parametrize(
    "case", [case for case in read()["surveys"] if case["strategy"] == "fourier"], ids=named
)
every_channel = pytest.mark.parametrize(
    "case", [case for case in read()["surveys"] if case["strategy"] == "optimized"], ids=named
)


# --- as the library answers -----------------------------------------------------------------


def surveys_of(case: dict[str, Any]) -> list[Any]:
    """The survey read with each of its attachments, or with none where it needs none."""
    held = [{case["digest"]: bytes.fromhex(packed)} for packed in case["attachments"]] or [{}]
    return [sv.Survey.from_json(case["canonical"], attachments) for attachments in held]


def test_every_strategy_has_vectors() -> None:
    """Of queries; numbers and forms have files of their own."""
    assert {case["strategy"] for case in read()["surveys"]} == set(Queries.strategies) - {"direct", "tables"}
    named = {stated(case)["design"]["mechanism"]["name"] for case in read()["surveys"]}
    assert named >= set(serving(ChannelMechanism)) - {"rounded_channel"}


@every_survey
def test_the_library_derives_the_same(case: dict[str, Any]) -> None:
    for survey in surveys_of(case):
        assert (survey.to_json(), survey.id, survey.tag.hex()) == (case["canonical"], case["id"], case["tag"])
        assert (survey.design.name, survey.design.digest) == (case["strategy"], case["digest"])
        assert survey.domain.size == case["domain_size"]
        assert survey.mechanism.report_bytes == case["report_bytes"]
        assert set(survey.attachments) == ({case["digest"]} if case["attachments"] else set())


@every_survey
def test_the_library_sends_the_same_reports(case: dict[str, Any]) -> None:
    for survey in surveys_of(case):
        for vector in case["reports"]:
            given = survey.design.inputs(np.array([vector["value"]]))[0]
            expected = vector["input"]
            assert ([float(x).hex() for x in given] if given.ndim else int(given)) == expected
            source = tape_source(bytes.fromhex(vector["tape"]))
            payload = survey.mechanism.encode(survey.mechanism.randomize(given if given.ndim else int(given), source))
            assert payload.hex() == vector["payload"]
            assert survey.tag + payload == bytes.fromhex(vector["report"])
            with pytest.raises(EOFError):
                source.below(2)
            assert survey.aggregate().add([bytes.fromhex(vector["report"])]).n_reports == 1


def test_the_library_weights_levels_the_same() -> None:
    for row in read()["weights"]:
        assert list(tilted_weights(row["levels"], row["tilt"])) == row["weights"]


@every_channel
def test_a_channel_packed_here_is_the_same_channel(case: dict[str, Any]) -> None:
    """Bytes differ with how they were packed; what they hold, and so the digest, does not."""
    matrices = [unpack_channel(bytes.fromhex(packed)) for packed in case["attachments"]]
    for matrix, weights in matrices:
        assert matrix.integers.tolist() == case["derived"]["integers"]
        assert matrix == matrices[0][0]
        assert ChannelMatrix.from_bytes(matrix.to_bytes()) == matrix
        again = {case["digest"]: pack_channel(matrix, weights)}
        assert sv.Survey.from_json(case["canonical"], again).id == case["id"]


@pytest.mark.parametrize("case", read()["bad_attachments"], ids=lambda case: case["fault"])
def test_the_library_refuses_bad_attachments(case: dict[str, Any]) -> None:
    attachments = {case["digest"]: bytes.fromhex(case["attachment"])}
    with pytest.raises(getattr(errors, case["error"])):
        sv.Survey.from_json(case["survey"], attachments)


@pytest.mark.parametrize("case", read()["bad_surveys"], ids=lambda case: case["fault"])
def test_the_library_refuses_bad_surveys(case: dict[str, Any]) -> None:
    with pytest.raises(getattr(errors, case["error"])):
        sv.Survey.from_json(case["survey"])


# --- as a second client answers -------------------------------------------------------------


class Tape:
    """docs/contributors/wire_format/report.md, "From random bytes to integers"."""

    def __init__(self, tape: str) -> None:
        self.bytes = bytes.fromhex(tape)

    def take(self, n: int) -> int:
        taken, self.bytes = self.bytes[:n], self.bytes[n:]
        assert len(taken) == n
        return int.from_bytes(taken, "little")

    def bernoulli(self, threshold: int) -> bool:
        return self.take(8) < threshold

    def below(self, n: int) -> int:
        bits = (n - 1).bit_length()
        drawn = n if bits else 0
        while drawn >= n:
            drawn = self.take(-(-bits // 8)) % 2**bits
        return drawn


def even_threshold(epsilon: float) -> int:
    """T(1, 1), with 100 digits."""
    with localcontext() as context:
        context.prec = 100
        e = Decimal(epsilon).exp()
        return int(2**64 * e / (e + 1))


def index(number: int, below: int) -> bytes:
    return number.to_bytes(-(-(below - 1).bit_length() // 8), "little")


def odd(number: int) -> int:
    return bin(number).count("1") % 2


def level_weights(levels: int, tilt: int) -> list[int]:
    falling = [1024]
    while len(falling) < levels:
        falling.append(max(1, falling[-1] * (16 - abs(tilt)) // 16))
    common = gcd(*falling)
    reduced = [weight // common for weight in falling]
    return reduced if tilt < 0 else reduced[::-1]


def tree(J: int, mechanism: dict[str, Any]) -> dict[str, list[int]]:
    """Spans, nodes, columns, weights and offsets of the levels."""
    if mechanism["name"] == "haar":
        spans = [2**power for power in range((J - 1).bit_length(), 0, -1)]
    else:
        spans = [1]
        while spans[0] * mechanism["branching"] < J:
            spans.insert(0, spans[0] * mechanism["branching"])
    nodes = [-(-J // span) for span in spans]
    columns = [1 << (n - 1).bit_length() for n in nodes]
    return {
        "spans": spans,
        "nodes": nodes,
        "columns": columns,
        "weights": level_weights(len(spans), mechanism["tilt"]),
        "offsets": [2 * sum(columns[:level]) for level in range(len(spans) + 1)],
    }


def level_report(tape: Tape, value: int, J: int, epsilon: float, mechanism: dict[str, Any]) -> bytes:
    found = tree(J, mechanism)
    drawn = tape.below(sum(found["weights"]))
    kept = tape.bernoulli(even_threshold(epsilon))
    column = tape.below(max(found["columns"]))
    level = 0
    while drawn >= sum(found["weights"][: level + 1]):
        level += 1
    size, span = found["columns"][level], found["spans"][level]
    column %= size
    sign = odd(value // span & column)
    if mechanism["name"] == "haar":
        sign ^= value // (span // 2) % 2
    reported = sign if kept else 1 - sign
    return index(found["offsets"][level] + column + size * reported, found["offsets"][-1])


def masks(mechanism: dict[str, Any]) -> list[list[int]]:
    """Coefficients, group by group of as many attributes touched."""
    bits = [(size - 1).bit_length() for size in mechanism["sizes"]]
    only = mechanism["only"]
    places = [only - 1] if only else range(len(bits))
    found = []
    for touched in range(1, mechanism["order"] + 1):
        group: list[int] = []
        for chosen in combinations(places, touched):
            part = [0]
            for place, width in enumerate(bits):
                inner = range(1, 2**width) if place in chosen else [0]
                part = [mask * 2**width + digit for mask in part for digit in inner]
            group += part
        found.append(group)
    return found


def code(value: int, sizes: list[int]) -> int:
    found = 0
    for place, size in enumerate(sizes):
        found = found << (size - 1).bit_length() | value // prod(sizes[place + 1 :]) % size
    return found


def fourier_report(tape: Tape, value: int, J: int, epsilon: float, mechanism: dict[str, Any]) -> bytes:
    groups = masks(mechanism)
    weights = level_weights(mechanism["order"], mechanism["tilt"])
    drawn = tape.below(sum(len(group) * weight for group, weight in zip(groups, weights, strict=True)))
    kept = tape.bernoulli(even_threshold(epsilon))
    number = 0
    for group, weight in zip(groups, weights, strict=True):
        if drawn < len(group) * weight:
            number += drawn // weight
            break
        drawn -= len(group) * weight
        number += len(group)
    every = [mask for group in groups for mask in group]
    sign = odd(every[number] & code(value, mechanism["sizes"]))
    return index(2 * number + (sign if kept else 1 - sign), 2 * len(every))


def unpacked(attachment: bytes) -> tuple[list[list[int]], int, str]:
    """The channel in an attachment, its bits, and the digest of both."""
    (count,) = struct.unpack_from("<Q", attachment)
    weights, packed = attachment[8 : 8 + 8 * count], attachment[8 + 8 * count :]
    magic, m, J, bits = struct.unpack_from("<4sIIB", packed)
    assert (magic, J) == (b"SVCM", count)
    body = zlib.decompress(packed[13:])
    assert len(body) == 8 * m + 4 * m * J
    ends = struct.unpack_from(f"<{2 * m}I", body)
    planes = body[8 * m :]
    rows = []
    for i in range(m):
        row = []
        for j in range(J):
            coded = sum(planes[plane * m * J + i * J + j] << 8 * plane for plane in range(4))
            row.append(ends[i] if coded == 0 else ends[m + i] if coded == 1 else ends[i] + coded - 1)
        rows.append(row)
    content = hashlib.sha256(packed[:13] + body).digest()
    return rows, bits, hashlib.sha256(weights + content).hexdigest()


def is_private(rows: list[list[int]], bits: int, epsilon: float) -> bool:
    """Whether it is a channel, and within e^epsilon, with 100 digits: no integers of 32 bits come closer to a tie."""
    with localcontext() as context:
        context.prec = 100
        e = Decimal(epsilon).exp()
        within = all(max(row) <= e * min(row) for row in rows)
    sums = {sum(column) for column in zip(*rows, strict=True)}
    return within and sums == {2**bits} and min(map(min, rows)) > 0


def channel_report(tape: Tape, value: int, rows: list[list[int]], bits: int) -> bytes:
    drawn = tape.below(2**bits)
    column = [row[value] for row in rows]
    return index(sum(sum(column[: i + 1]) <= drawn for i in range(len(rows))), len(rows))


def replay(case: dict[str, Any], device: Callable[[Tape, int], bytes]) -> None:
    identity = hashlib.sha256(case["canonical"].encode()).hexdigest()
    assert identity == case["id"]
    for vector in case["reports"]:
        tape = Tape(vector["tape"])
        payload = device(tape, vector["value"])
        assert tape.bytes == b""
        assert identity[:8] + payload.hex() == vector["report"]


def test_a_second_client_weights_levels_the_same() -> None:
    for row in read()["weights"]:
        assert level_weights(row["levels"], row["tilt"]) == row["weights"]


@every_tree
def test_a_second_client_climbs_the_same_trees(case: dict[str, Any]) -> None:
    survey, J = stated(case), case["domain_size"]
    derived = dict(case["derived"])
    assert derived.pop("threshold") == str(even_threshold(survey["epsilon"]))
    assert tree(J, survey["design"]["mechanism"]) == derived
    replay(case, lambda tape, value: level_report(tape, value, J, survey["epsilon"], survey["design"]["mechanism"]))


@every_fourier
def test_a_second_client_sends_the_same_parities(case: dict[str, Any]) -> None:
    survey, J, derived = stated(case), case["domain_size"], case["derived"]
    mechanism = survey["design"]["mechanism"]
    assert [mask for group in masks(mechanism) for mask in group] == derived["coefficients"]
    assert [code(value, mechanism["sizes"]) for value in range(J)] == derived["codes"]
    assert level_weights(mechanism["order"], mechanism["tilt"]) == derived["weights"]
    assert derived["threshold"] == str(even_threshold(survey["epsilon"]))
    replay(case, lambda tape, value: fourier_report(tape, value, J, survey["epsilon"], mechanism))


@every_channel
def test_a_second_client_looks_up_the_same_rows(case: dict[str, Any]) -> None:
    survey = stated(case)
    for attachment in case["attachments"]:
        rows, bits, digest = unpacked(bytes.fromhex(attachment))
        assert (rows, bits) == (case["derived"]["integers"], case["derived"]["bits"])
        assert digest == case["digest"] == survey["design"]["digest"]
        assert is_private(rows, bits, survey["epsilon"])
        replay(case, lambda tape, value, rows=rows, bits=bits: channel_report(tape, value, rows, bits))  # type: ignore[misc]


def test_a_second_client_finds_the_unit_that_is_too_much() -> None:
    """And nothing else about it: the digest is right and the columns add up."""
    case = next(case for case in read()["bad_attachments"] if "one unit above" in case["fault"])
    rows, bits, digest = unpacked(bytes.fromhex(case["attachment"]))
    assert digest == case["digest"]
    assert not is_private(rows, bits, json.loads(case["survey"])["epsilon"])
    less = [[entry - 1 if entry == max(row) else entry + 1 for entry in row] for row in rows]
    assert is_private(less, bits, json.loads(case["survey"])["epsilon"])


@pytest.mark.parametrize("case", [case for case in read()["surveys"] if case["strategy"] == "factorized"], ids=named)
def test_a_second_client_reads_the_same_columns(case: dict[str, Any]) -> None:
    attachment = bytes.fromhex(case["attachments"][0])
    assert hashlib.sha256(attachment).hexdigest() == case["digest"] == stated(case)["design"]["digest"]
    k, J = struct.unpack_from("<II", attachment)
    assert len(attachment) == 8 + 8 * J + 4 * k * J
    singles = struct.unpack_from(f"<{k * J}f", attachment, 8 + 8 * J)
    for vector in case["reports"]:
        assert [singles[row * J + vector["value"]].hex() for row in range(k)] == vector["input"]
