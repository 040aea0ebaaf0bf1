"""The vectors under vectors/, three times: as written, as answered by the library, and by a second client.

The second client is written from vectors/README.md alone and shares nothing with the library.
"""

from __future__ import annotations

import decimal
import hashlib
import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import make_vectors
import sottovoce as sv
from sottovoce.core import errors
from sottovoce.domain import domain_from_statement
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.randomness import tape_source

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "vectors"


@cache
def read(name: str) -> Any:
    return json.loads((VECTORS / name).read_text("utf-8"))


def cases(names: Iterable[str] = serving(FiniteMechanism)) -> list[Any]:
    return [
        pytest.param(case, id=f"{name}-{case['domain_size']}-{case['survey']['epsilon']:.3g}")
        for name in sorted(names)
        for case in read(f"{name}.json")
    ]


every_survey = pytest.mark.parametrize("case", cases())


# --- as written -----------------------------------------------------------------------------


def test_the_files_are_what_the_generator_writes() -> None:
    """If this fails the wire format has changed: that needs a new format number, not just new files."""
    for name, text in make_vectors.files().items():
        assert (VECTORS / name).read_text("utf-8") == text, name


def test_the_files_are_small_and_explained() -> None:
    page = (VECTORS / "README.md").read_text("utf-8")
    assert sum(len(text.encode()) for text in make_vectors.files().values()) < 850_000
    for path in VECTORS.glob("*.json"):
        assert f"`{path.name}`" in page or read(path.name)["about"], path.name


def test_every_mechanism_has_vectors() -> None:
    for name in serving(FiniteMechanism):
        assert {case["survey"]["design"]["mechanism"]["name"] for case in read(f"{name}.json")} == {name}


# --- as the library answers -----------------------------------------------------------------


@every_survey
def test_the_library_derives_the_same_from_a_survey(case: dict[str, Any]) -> None:
    survey = sv.Survey.from_json(json.dumps(case["survey"]))
    assert survey.canonical == case["canonical"].encode()
    assert survey.id == case["id"]
    assert survey.tag.hex() == case["tag"]
    assert survey.domain.size == case["domain_size"]
    assert survey.mechanism.report_bytes == case["report_bytes"]


@every_survey
def test_the_library_sends_the_same_reports(case: dict[str, Any]) -> None:
    survey = sv.Survey.from_json(case["canonical"])
    for vector in case["reports"]:
        source = tape_source(bytes.fromhex(vector["tape"]))
        payload = survey.mechanism.encode(survey.mechanism.randomize(vector["value"], source))
        assert payload.hex() == vector["payload"]
        assert survey.tag + payload == bytes.fromhex(vector["report"])
        with pytest.raises(EOFError):
            source.below(2)


@every_survey
def test_the_library_reads_the_reports(case: dict[str, Any]) -> None:
    mechanism = sv.Survey.from_json(case["canonical"]).mechanism
    for vector in case["reports"]:
        payload = bytes.fromhex(vector["payload"])
        assert mechanism.encode(mechanism.decode(payload)) == payload
        assert mechanism.probability(mechanism.decode(payload), vector["value"]) > 0


def test_the_library_draws_the_same_numbers() -> None:
    for vector in read("source.json")["below"]:
        assert tape_source(bytes.fromhex(vector["tape"])).below(vector["n"]) == vector["result"]
    for vector in read("source.json")["bernoulli"]:
        drawn = tape_source(bytes.fromhex(vector["tape"])).bernoulli(int(vector["threshold"]))
        assert drawn is vector["result"]


def test_the_library_rounds_the_same_way() -> None:
    for vector in read("thresholds.json"):
        levels = TwoLevel(vector["inside"], vector["outside"], vector["epsilon"])
        assert str(levels.threshold) == vector["threshold"]


@pytest.mark.parametrize("case", read("domains.json"), ids=lambda case: json.dumps(case["domain"])[:40])
def test_the_library_numbers_the_same_values(case: dict[str, Any]) -> None:
    domain = domain_from_statement(case["domain"])
    assert domain.size == case["size"]
    for vector in case["values"]:
        assert domain.index(vector["value"]) == vector["index"]
        assert domain.label(vector["index"]) == vector["label"]
    for value in case["outside"]:
        with pytest.raises(errors.ValueOutsideDomainError):
            domain.index(value)


@pytest.mark.parametrize("case", read("bad_reports.json"), ids=lambda case: case["fault"])
def test_the_library_refuses_bad_reports(case: dict[str, Any]) -> None:
    survey = sv.Survey.from_json(case["canonical"])
    with pytest.raises(getattr(errors, case["error"])):
        survey.aggregate().add(bytes.fromhex(case["report"]))


@pytest.mark.parametrize("case", read("bad_surveys.json"), ids=lambda case: case["fault"])
def test_the_library_refuses_bad_surveys(case: dict[str, Any]) -> None:
    error = getattr(errors, case["error"])
    assert issubclass(error, errors.SurveyError)
    with pytest.raises(error):
        sv.Survey.from_json(case["text"])


# --- as a second client answers -------------------------------------------------------------


class Tape:
    """vectors/README.md, "Random bytes"."""

    def __init__(self, tape: str) -> None:
        self.bytes = bytes.fromhex(tape)

    def take(self, n: int) -> int:
        taken, self.bytes = self.bytes[:n], self.bytes[n:]
        assert len(taken) == n
        return sum(byte << 8 * i for i, byte in enumerate(taken))

    def bernoulli(self, threshold: int) -> bool:
        return self.take(8) < threshold

    def below(self, n: int) -> int:
        bits = len(bin(n - 1)) - 2 if n > 1 else 0
        drawn = n if bits else 0
        while drawn >= n:
            drawn = self.take(-(-bits // 8)) % 2**bits
        return drawn


def exactly(epsilon: float) -> tuple[decimal.Context, decimal.Decimal]:
    context = decimal.Context(prec=120)
    return context, context.create_decimal(decimal.Decimal(epsilon))


def inside_threshold(inside: int, outside: int, epsilon: float) -> int:
    """vectors/README.md, "Thresholds", with 120 digits."""
    context, exact = exactly(epsilon)
    weight = context.multiply(inside, exact.exp(context))
    share = context.divide(weight, context.add(weight, outside))
    return int(context.multiply(share, 2**64).to_integral_value(decimal.ROUND_FLOOR))


def bits_of(n: int) -> int:
    return n.bit_length()


def power_above(n: int) -> int:
    power = 1
    while power <= n:
        power *= 2
    return power


def odd(n: int) -> bool:
    return bin(n).count("1") % 2 == 1


def integer(number: int, below: int) -> bytes:
    return number.to_bytes(-(-bits_of(below - 1) // 8), "little")


def bitmap(values: list[int], J: int) -> bytes:
    out = bytearray(-(-J // 8))
    for v in values:
        out[v // 8] |= 1 << v % 8
    return bytes(out)


def hadamard(tape: Tape, value: int, J: int, epsilon: float, _: dict[str, int]) -> bytes:
    K, row = power_above(J), value + 1
    sign = tape.bernoulli(inside_threshold(K // 2, K // 2, epsilon))
    position = tape.below(K)
    if (not odd(row & position)) != sign:
        position ^= row & -row
    return integer(position, K)


def hadamard_blocks(tape: Tape, value: int, J: int, epsilon: float, own: dict[str, int]) -> bytes:
    B = own["blocks"]
    b = power_above(-(-J // B))
    s, K = b // 2, B * b
    block, row = value // (b - 1), value % (b - 1) + 1
    low = row & -row
    inside = tape.bernoulli(inside_threshold(s, K - s, epsilon))
    favoured, rest = tape.below(b), tape.below(K - s)
    if inside:
        return integer(block * b + (favoured ^ (low if odd(row & favoured) else 0)), K)
    if rest < K - b:
        c = rest // b
        return integer((c + 1 if c >= block else c) * b + rest % b, K)
    r = rest - (K - b)
    p = (r & (low - 1)) | ((r & ~(low - 1)) << 1)
    return integer(block * b + (p if odd(row & p) else p ^ low), K)


def digits(number: int, q: int, length: int) -> list[int]:
    return [number // q**place % q for place in reversed(range(length))]


def point(number: int, q: int, t: int) -> list[int]:
    m = 0
    while number >= (q ** (m + 1) - 1) // (q - 1):
        m += 1
    return [0] * (t - 1 - m) + [1, *digits(number - (q**m - 1) // (q - 1), q, m)]


class Field:
    """vectors/README.md, "the field": products by long multiplication, no logarithms."""

    def __init__(self, q: int) -> None:
        self.q = q
        self.p = next((d for d in range(2, int(q**0.5) + 1) if q % d == 0), q)
        self.k = next(k for k in range(1, 9) if self.p**k == q)
        self.low = [0] * self.k
        if self.k > 1:
            self.low = next(low for low in map(self.poly, range(q)) if self.is_primitive(low))

    def poly(self, element: int) -> list[int]:
        return digits(element, self.p, self.k)[::-1]

    def element(self, poly: list[int]) -> int:
        return sum(a % self.p * self.p**i for i, a in enumerate(poly))

    def is_primitive(self, low: list[int]) -> bool:
        self.low = low
        powers = [1]
        while len(powers) < self.q - 1:
            powers.append(self.times(powers[-1], self.p))
        return set(powers) == set(range(1, self.q))

    def minus(self, a: int, b: int) -> int:
        return self.element([x - y for x, y in zip(self.poly(a), self.poly(b), strict=True)])

    def times(self, a: int, b: int) -> int:
        long = [0] * (2 * self.k - 1)
        for i, x in enumerate(self.poly(a)):
            for j, y in enumerate(self.poly(b)):
                long[i + j] += x * y
        while len(long) > self.k:
            top = long.pop()
            for i, x in enumerate(self.low):
                long[len(long) - self.k + i] -= top * x
        return self.element(long)

    def inverse(self, a: int) -> int:
        result = 1
        for bit in bin(self.q - 2)[2:]:  # Fermat: a^(q-1) is 1
            result = self.times(result, result)
            result = self.times(result, a) if bit == "1" else result
        return result


@cache
def field_of(q: int) -> Field:
    return Field(q)


def projective_geometry(tape: Tape, value: int, J: int, epsilon: float, own: dict[str, int]) -> bytes:
    q, t = own["order"], own["dimension"]
    field = field_of(q)
    K, s = (q**t - 1) // (q - 1), (q ** (t - 1) - 1) // (q - 1)
    orthogonal = tape.bernoulli(inside_threshold(s, K - s, epsilon))
    i, o = tape.below(s), tape.below(q ** (t - 1))
    a = point(value, q, t)
    pivot = a.index(1)
    others = point(i, q, t - 1) if orthogonal else digits(o, q, t - 1)
    vector = [*others[:pivot], 0, *others[pivot:]]
    entry = 0 if orthogonal else 1
    for x, y in zip(a, vector, strict=True):
        entry = field.minus(entry, field.times(x, y))
    vector[pivot] = entry
    lead = next(place for place, entry in enumerate(vector) if entry)
    scale = field.inverse(vector[lead])
    tail = [field.times(entry, scale) for entry in vector[lead + 1 :]]
    number = (q ** len(tail) - 1) // (q - 1) + sum(x * q**place for place, x in enumerate(reversed(tail)))
    return integer(number, K)


def randomized_response(tape: Tape, value: int, J: int, epsilon: float, _: dict[str, int]) -> bytes:
    truthful = tape.bernoulli(inside_threshold(1, J - 1, epsilon))
    other = tape.below(J - 1)
    return integer(value if truthful else other + 1 if other >= value else other, J)


def subset_selection(tape: Tape, value: int, J: int, epsilon: float, own: dict[str, int]) -> bytes:
    k = own["subset_size"]
    contains = tape.bernoulli(inside_threshold(k, J - k, epsilon))
    members: list[int] = []
    for bound in range(J - 1 - k, J - 1):
        d = tape.below(bound + 1)
        members.append(bound if d in members else d)
    place = tape.below(k)
    members = sorted(v + 1 if v >= value else v for v in members)
    if contains:
        members[place] = value
    each = bits_of(J - 1)
    if -(-k * each // 8) < -(-J // 8):
        packed = sum(v << each * i for i, v in enumerate(sorted(members)))
        return packed.to_bytes(-(-k * each // 8), "little")
    return bitmap(members, J)


def unary(tape: Tape, value: int, J: int, own: int, other: int) -> bytes:
    return bitmap([v for v in range(J) if tape.bernoulli(own if v == value else other)], J)


def unary_optimized(tape: Tape, value: int, J: int, epsilon: float, _: dict[str, int]) -> bytes:
    context, exact = exactly(epsilon)
    share = context.divide(2**64, context.add(exact.exp(context), 1))
    return unary(tape, value, J, 2**63, int(share.to_integral_value(decimal.ROUND_CEILING)))


def unary_symmetric(tape: Tape, value: int, J: int, epsilon: float, _: dict[str, int]) -> bytes:
    own = inside_threshold(1, 1, epsilon / 2)
    return unary(tape, value, J, own, 2**64 - own)


CLIENT: dict[str, Callable[[Tape, int, int, float, dict[str, int]], bytes]] = {
    "hadamard": hadamard,
    "hadamard_blocks": hadamard_blocks,
    "projective_geometry": projective_geometry,
    "randomized_response": randomized_response,
    "subset_selection": subset_selection,
    "unary_optimized": unary_optimized,
    "unary_symmetric": unary_symmetric,
}


@pytest.mark.parametrize("case", cases(CLIENT))
def test_a_second_client_sends_the_same_reports(case: dict[str, Any]) -> None:
    identity = hashlib.sha256(case["canonical"].encode()).hexdigest()
    assert identity == case["id"]
    statement = json.loads(case["canonical"])
    for vector in case["reports"]:
        tape = Tape(vector["tape"])
        own = statement["design"]["mechanism"]
        payload = CLIENT[own["name"]](tape, vector["value"], case["domain_size"], statement["epsilon"], own)
        assert tape.bytes == b""
        assert identity[:8] + payload.hex() == vector["report"]


def test_a_second_client_draws_and_rounds_the_same() -> None:
    for vector in read("source.json")["below"]:
        tape = Tape(vector["tape"])
        assert tape.below(vector["n"]) == vector["result"]
        assert tape.bytes == b""
    for vector in read("source.json")["bernoulli"]:
        assert Tape(vector["tape"]).bernoulli(int(vector["threshold"])) == vector["result"]
    for vector in read("thresholds.json"):
        rounded = inside_threshold(vector["inside"], vector["outside"], vector["epsilon"])
        assert str(rounded) == vector["threshold"]


def test_a_second_client_answers_by_every_mechanism() -> None:
    """The one here by what the page of vectors describes, the TypeScript one by all: its tests replay the vectors."""
    page = (VECTORS / "README.md").read_text("utf-8")
    described = re.findall(r"^\| `(\w+)` \| ", page, re.MULTILINE)
    assert sorted(described) == sorted(CLIENT)
    registry = (ROOT / "clients" / "js" / "src" / "mechanisms" / "registry.ts").read_text("utf-8")
    answered = re.findall(r'^  \["(\w+)", \w+\],$', registry.split("FINITE")[1].split("]);")[0], re.MULTILINE)
    assert answered == list(serving(FiniteMechanism))


def test_codebook_reports_replay() -> None:
    """From the file alone: the survey is read back, its vector padded with zeros, its tape replayed."""
    for case in read("codebook.json")["surveys"]:
        survey = sv.Survey.from_json(json.dumps(case["survey"]))
        mechanism = survey.mechanism
        assert (survey.id, list(mechanism.key)) == (case["id"], case["key"])
        for report in case["reports"]:
            vector = np.zeros(mechanism.dimension)
            vector[: len(report["vector"])] = report["vector"]
            drawn = mechanism.randomize(vector, tape_source(bytes.fromhex(report["tape"])))
            assert mechanism.encode(drawn).hex() == report["payload"]


def test_philox_words_by_plain_integers() -> None:
    """An independent Philox in Python integers, from the published description."""
    for case in read("philox.json")["words"]:
        (k0, k1), (c0, c1, c2, c3) = case["key"], case["counter"]
        for _ in range(10):
            p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
            c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 % 2**32, (p0 >> 32) ^ c3 ^ k1, p0 % 2**32
            k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
        assert [f"{word:08x}" for word in (c0, c1, c2, c3)] == case["words"]
