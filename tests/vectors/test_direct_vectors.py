"""The direct surveys of vectors/codebook.json: as the library answers, and as a second client answers.

The second client is written from docs/contributors/wire_format/ alone and shares nothing with the library.
"""

from __future__ import annotations

import base64
import decimal
import hashlib
import json
import math
import struct
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.randomness import tape_source

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
TYPES = {"identity", "prefix", "ranges", "bins", "marginals", "parities", "dense", "features", "sparse", "stack"}


@cache
def read() -> Any:
    return json.loads((VECTORS / "codebook.json").read_text("utf-8"))["direct"]


def stated(case: dict[str, Any]) -> Any:
    return json.loads(case["canonical"])["question"]["workload"]


def whole(case: dict[str, Any], vector: list[float]) -> list[float]:
    """Trailing zeros are left out of the vectors."""
    return vector + [0.0] * (case["queries"] - len(vector))


every_survey = pytest.mark.parametrize("case", read(), ids=lambda case: str(stated(case)["type"]))


def test_every_workload_is_there() -> None:
    assert {stated(case)["type"] for case in read()} == TYPES


# --- as the library answers -----------------------------------------------------------------


@every_survey
def test_the_library_sends_the_same_reports(case: dict[str, Any]) -> None:
    survey: Any = sv.Survey.from_json(case["canonical"])
    workload = survey.question.workload
    assert (survey.id, workload.n_queries, workload.radius) == (case["id"], case["queries"], case["radius"])
    for vector in case["reports"]:
        column = workload.column(survey.domain.index(vector["value"]))
        assert column.tolist() == whole(case, vector["vector"])
        drawn = survey.mechanism.randomize(column, tape_source(bytes.fromhex(vector["tape"])))
        assert survey.tag + survey.mechanism.encode(drawn) == bytes.fromhex(vector["report"])


# --- as a second client answers -------------------------------------------------------------


def line(domain: Any) -> list[Any]:
    """The values of a domain of labels or of a range."""
    return domain.get("labels") or [domain["start"] + i * domain["step"] for i in range(domain["size"])]


def axes(domain: Any) -> list[list[Any]]:
    return [line(inner["domain"]) for inner in domain["attributes"]] if "attributes" in domain else [line(domain)]


def digits(domain: Any, value: Any) -> list[int]:
    """The numbers of a value's attributes; of the value itself where there are none."""
    given = [value[inner["name"]] for inner in domain["attributes"]] if "attributes" in domain else [value]
    return [axis.index(one) for axis, one in zip(axes(domain), given, strict=True)]


def numbers(text: str, kind: str) -> Any:
    raw = base64.b64decode(text)
    return struct.unpack(f"<{len(raw) // 8}{kind}", raw)


def column(asked: Any, domain: Any, value: Any) -> list[float]:
    """The rows of the page's table, one type after the other."""
    own, sizes, kind = digits(domain, value), [len(axis) for axis in axes(domain)], asked["type"]
    J, v = math.prod(sizes), 0
    for size, digit in zip(sizes, own, strict=True):
        v = v * size + digit
    if kind == "identity":
        return [float(i == v) for i in range(J)]
    if kind == "prefix":
        return [float(v <= i) for i in range(J)]
    if kind == "ranges":
        return [float(i <= v <= j) for i in range(J) for j in range(i, J)]
    if kind == "bins":
        x = value[asked["attribute"]] if "attribute" in asked else value
        return [float(low <= x < high) for low, high in zip(asked["edges"], asked["edges"][1:], strict=False)]
    if kind == "marginals":
        tables = list(combinations(range(len(sizes)), asked["k"]))
        cells = [(table, cell) for table in tables for cell in product(*(range(sizes[place]) for place in table))]
        return [float(all(own[place] == at for place, at in zip(*each, strict=True))) for each in cells]
    if kind == "parities":
        bits = own if "attributes" in domain else [v >> b & 1 for b in range((J - 1).bit_length())]
        sets = [each for size in range(1, asked["order"] + 1) for each in combinations(range(len(bits)), size)]
        return [-1.0 if sum(bits[b] for b in each) % 2 else 1.0 for each in sets]
    if kind in ("dense", "features"):
        return list(numbers(asked["matrix"], "d")[v::J])
    if kind == "sparse":
        places = zip(numbers(asked["rows"], "q"), numbers(asked["columns"], "q"), strict=True)
        entries = dict(zip(places, numbers(asked["values"], "d"), strict=True))
        return [entries.get((i, v), 0.0) for i in range(asked["queries"])]
    parts = zip(asked["parts"], asked["weights"], strict=True)
    return [weight * x for part, weight in parts for x in column(part, domain, value)]


def people(domain: Any) -> list[Any]:
    if "attributes" not in domain:
        return line(domain)
    names = [inner["name"] for inner in domain["attributes"]]
    return [dict(zip(names, record, strict=True)) for record in product(*axes(domain))]


def philox(key: list[int], counter: tuple[int, int, int, int]) -> tuple[int, ...]:
    (k0, k1), (c0, c1, c2, c3) = key, counter
    for _ in range(10):
        p, q = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = q >> 32 ^ c1 ^ k0, q % 2**32, p >> 32 ^ c3 ^ k1, p % 2**32
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return c0, c1, c2, c3


def rotated(x: list[float], key: list[int], rotation: int, layers: int) -> list[float]:
    D = len(x)
    for layer in range(layers):
        words = [word for block in range(-(-D // 128)) for word in philox(key, (block, layer, rotation, 0))]
        x = [-y if words[i // 32] >> i % 32 & 1 else y for i, y in enumerate(x)]
        x = [sum(-y if (i & j).bit_count() % 2 else y for j, y in enumerate(x)) for i in range(D)]
    return [y * float(D) ** (-layers / 2) for y in x]


def codebook(a: list[float], r: float, epsilon: float, id_: bytes, own: dict[str, Any], tape: bytes) -> bytes:
    def take(n: int) -> int:
        nonlocal tape
        taken, tape = tape[:n], tape[n:]
        assert len(taken) == n
        return int.from_bytes(taken, "little")

    def below(n: int) -> int:
        bits = (n - 1).bit_length()
        drawn = n if bits else 0
        while drawn >= n:
            drawn = take(-(-bits // 8)) % 2**bits
        return drawn

    D, M, m, P = own["size"], own["candidates"], own["marked"], own["rotations"]
    with decimal.localcontext(prec=120):
        weight = m * decimal.Decimal(epsilon).exp()
        threshold = int(2**64 * weight / (weight + M - m))
    h = M // 2
    rotation, b, kept, i, o = below(P), below(D // h), take(8) < threshold, below(m), below(M - m)
    assert tape == b""
    u = [y / r for y in a]
    u += [math.sqrt(max(0.0, 1 - sum(y * y for y in u)))]
    x = rotated(u + [0.0] * (D - len(u)), list(struct.unpack("<II", id_[:8])), rotation, own["layers"])
    x = x[b * h : (b + 1) * h]
    top = {2 * j + (x[j] < 0) for j in sorted(range(h), key=lambda j: -abs(x[j]))[:m]}
    found = sorted(top)[i] if kept else [c for c in range(M) if c not in top][o]
    return (2 * (rotation * D + b * h) + found).to_bytes(-(-(2 * P * D - 1).bit_length() // 8), "little")


@every_survey
def test_a_second_client_sends_the_same_reports(case: dict[str, Any]) -> None:
    survey, asked = json.loads(case["canonical"]), stated(case)
    id_ = hashlib.sha256(case["canonical"].encode()).digest()
    assert id_.hex() == case["id"]
    columns = [column(asked, asked["domain"], value) for value in people(asked["domain"])]
    r = math.sqrt(max(sum(x * x for x in each) for each in columns))
    assert math.isclose(r, case["radius"], rel_tol=1e-14)
    for vector in case["reports"]:
        a = column(asked, asked["domain"], vector["value"])
        assert a == whole(case, vector["vector"])
        tape = bytes.fromhex(vector["tape"])
        payload = codebook(a, r, survey["epsilon"], id_, survey["design"]["mechanism"], tape)
        assert (id_[:4] + payload).hex() == vector["report"]
