"""Write the test vectors under vectors/: what any client in any language must reproduce bit for bit.

Run `python tools/make_vectors.py`. Nothing random goes in: tapes come from SHAKE-256 of a label,
so the files change only when the wire contract does.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.core.errors import SottovoceError
from sottovoce.domain import LabelDomain
from sottovoce.kernels.rotations import signs
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.randomness import ONE, ByteSource
from sottovoce.randomness.philox import philox4x32
from sottovoce.workloads import Prefix
from vectors_adaptive import adaptive_vectors
from vectors_calendars import calendar_vectors
from vectors_collector import collector_vectors
from vectors_expressions import expression_vectors
from vectors_groups import group_vectors
from vectors_log import log_vectors
from vectors_numbers import number_vectors
from vectors_oblivious import oblivious_vectors
from vectors_refused import bad_survey_vectors
from vectors_relations import relation_vectors
from vectors_relays import relay_vectors
from vectors_seats import seat_vectors
from vectors_sets import set_vectors
from vectors_strategies import strategy_vectors
from vectors_tables import table_vectors
from vectors_values import value_vectors
from vectors_words import word_vectors
from vectors_workloads import direct_vectors

VECTORS = Path(__file__).resolve().parent.parent / "vectors"

SIZES: dict[str, list[tuple[int, float]]] = {
    "hadamard": [(2, 1.0), (5, 2.0), (1000, 0.5), (2**40, 1.0)],
    "hadamard_blocks": [(2, 1.0), (5, 2.0), (1000, 3.0), (2**40, 8.0)],
    "projective_geometry": [(2, 1.0), (5, 2.0), (1000, 0.5), (1000, 3.0), (2**40, 4.0)],
    "randomized_response": [(2, 1.0), (5, 2.0), (1000, 3.0), (2**40, 16.0)],
    "subset_selection": [(2, 1.0), (5, 2.0), (17, 0.5), (300, 4.0)],
}
"""Numbers of values and epsilons of a mechanism's surveys, where they are other than `SMALL`."""

SMALL = [(2, 1.0), (5, 2.0), (17, 0.5)]

SPACES = [(2, 2), (5, 2), (3, 7), (19, 4), (53, 8), (5, 3)]
"""Order and dimension of the projective spaces of the surveys above and of the last one, all over prime fields."""

PRIME_POWERS = [
    (5, 1.0, 4, 2),
    (100, 1.1, 4, 5),
    (9, 2.0, 8, 2),
    (70, 2.2, 9, 3),
    (1000, 3.3, 27, 4),
    (2**40, 5.5, 256, 6),
]
"""Size, epsilon, order and dimension of surveys over other fields."""


class Recorder:
    """An endless tape of bytes that only depend on a label, and a record of what was read."""

    def __init__(self, label: str) -> None:
        self._stream = hashlib.shake_256(label.encode()).digest(1 << 14)
        self.read = b""

    def __call__(self, n: int) -> bytes:
        start = len(self.read)
        self.read += self._stream[start : start + n]
        if len(self.read) < start + n:
            raise EOFError("make the tape longer")
        return self.read[start:]


def mechanism_vectors(name: str) -> list[dict[str, Any]]:
    """Surveys of one mechanism, each with reports drawn from known bytes."""
    surveys = [sv.Survey(sv.shares(J), epsilon=epsilon, mechanism=name) for J, epsilon in SIZES.get(name, SMALL)]
    people = sv.Domain.product(age=range(18, 24), country=["DE", "FR", "Österreich"])
    surveys.append(
        sv.Survey(sv.shares(people), epsilon=math.log(3), mechanism=name, title="Älter als 17? “sotto voce”")
    )
    if name == "projective_geometry":
        surveys = [over_space(survey, *space) for survey, space in zip(surveys, SPACES, strict=True)]
        surveys += [
            over_space(sv.Survey(sv.shares(J), epsilon=e, mechanism=name), *space) for J, e, *space in PRIME_POWERS
        ]
    return [survey_vector(survey) for survey in surveys]


def over_space(survey: sv.Survey, order: int, dimension: int) -> sv.Survey:
    """The survey with this space in place of the one that the library would choose."""
    statement = json.loads(survey.to_json())
    statement["design"]["mechanism"].update(order=order, dimension=dimension)
    return sv.Survey.from_json(json.dumps(statement))


def survey_vector(survey: sv.Survey) -> dict[str, Any]:
    """Everything a client derives from one survey."""
    return {
        "survey": json.loads(survey.canonical),
        "canonical": survey.to_json(),
        "id": survey.id,
        "tag": survey.tag.hex(),
        "domain_size": survey.domain.size,
        "thresholds": thresholds(survey),
        "report_bytes": survey.mechanism.report_bytes,
        "reports": [report_vector(survey, value, run) for value, run in draws(survey)],
    }


def thresholds(survey: sv.Survey) -> dict[str, str]:
    """Probabilities out of 2**64, as decimal text: they do not fit into a JSON number."""
    drawn = list(dict.fromkeys(private_bits(survey)))
    names = ["inside"] if len(drawn) == 1 else ["own", "other", *map(str, range(2, len(drawn)))]
    return {name: str(threshold) for name, threshold in zip(names, drawn, strict=False)}


def private_bits(survey: sv.Survey) -> list[int]:
    """The threshold of every private bit that is drawn for value 0; draws depend on nothing."""
    found: list[int] = []

    class Noting(ByteSource):
        def bernoulli(self, threshold: int) -> bool:
            found.append(threshold)
            return super().bernoulli(threshold)

    survey.mechanism.randomize(0, Noting(Recorder("private bits")))
    return found


def draws(survey: sv.Survey) -> list[tuple[int, int]]:
    """(value, run): the first, the last and one in between, several times each."""
    J = survey.domain.size
    values = sorted({0, 1, J // 2, J - 1})
    long = len(private_bits(survey)) > 8
    return [(value, run) for value in values for run in range(1 if long else 3)]


def report_vector(survey: sv.Survey, value: int, run: int) -> dict[str, Any]:
    """One report: the bytes drawn, and the bytes sent."""
    recorder = Recorder(f"sottovoce {survey.id} {value} {run}")
    payload = survey.mechanism.encode(survey.mechanism.randomize(value, ByteSource(recorder)))
    return {
        "value": value,
        "tape": recorder.read.hex(),
        "payload": payload.hex(),
        "report": (survey.tag + payload).hex(),
    }


def philox_vectors() -> dict[str, Any]:
    """Public randomness: words of counters, and signs of rotations."""
    corners = [((0, 0), (0, 0, 0, 0)), ((2**32 - 1,) * 2, (2**32 - 1,) * 4), ((0x01234567, 0x89ABCDEF), (5, 2, 77, 0))]
    answers = [(key, counter, philox4x32(key, np.array([counter], dtype=np.uint32))[0]) for key, counter in corners]
    rotations = [((3, 4), 64, 0, 6), ((3, 4), 256, 12345, 4)]
    return {
        "about": "Philox4x32-10: `words` of counters (block, layer, rotation, purpose); `signs` of a rotation, "
        "one bit a position, little-endian, a set bit meaning -1.",
        "words": [
            {"key": list(key), "counter": list(counter), "words": [f"{word:08x}" for word in found]}
            for key, counter, found in answers
        ],
        "signs": [
            {
                "key": list(key),
                "size": size,
                "rotation": rotation,
                "layers": [
                    np.packbits(row < 0, bitorder="little").tobytes().hex() for row in signs(key, size, rotation, k)
                ],
            }
            for key, size, rotation, k in rotations
        ],
    }


def codebook_vectors() -> dict[str, Any]:
    """Surveys answered by the codebook, each with reports drawn from known bytes."""
    surveys = [
        sv.Survey(sv.vector(3, 1.0), epsilon=1.0, mechanism="codebook"),
        sv.Survey(sv.vector(300, 2.5), epsilon=4.0, mechanism="codebook"),
        sv.Survey(sv.queries(Prefix(range(18, 40))), epsilon=0.5, mechanism="codebook", strategy="direct"),
    ]
    return {
        "about": "Surveys answered by the codebook: what a client derives, and reports drawn from known bytes. "
        "`vector` is what is randomized: the person's vector, or the column of their value. It is given without its "
        "trailing zeros; fill it up to d. `direct` has a small survey of every workload, with the number of its "
        "`queries`, its `radius`, and in each of its reports the person's `value`.",
        "surveys": [
            {
                "survey": json.loads(survey.canonical),
                "id": survey.id,
                "tag": survey.tag.hex(),
                "key": list(survey.mechanism.key),
                "threshold": str(survey.mechanism.levels.threshold),
                "report_bytes": survey.mechanism.report_bytes,
                "reports": [vector_report(survey, vector, run) for run in range(3) for vector in vectors_of(survey)],
            }
            for survey in surveys
        ],
        "direct": direct_vectors(Recorder),
    }


def vectors_of(survey: Any) -> list[list[float]]:
    """Zero, an axis, a vector with several entries, and one outside the ball; or columns."""
    asked = survey.question.workload
    if survey.kind == "queries":
        return [asked.column(value).tolist() for value in (0, 10, 21)]
    d, r = asked.n_queries, asked.radius
    several = [round(r / 4 * (-1) ** i / (i + 1), 6) if i < 5 else 0.0 for i in range(d)]
    return [[0.0] * d, [-r] + [0.0] * (d - 1), several, [3 * x for x in [r, r] + [0.0] * (d - 2)]]


def vector_report(survey: Any, vector: list[float], run: int) -> dict[str, Any]:
    """One report of a vector; trailing zeros of the vector are left out."""
    shown = list(vector)
    while shown and shown[-1] == 0:
        shown.pop()
    recorder = Recorder(f"sottovoce {survey.id} {shown} {run}")
    payload = survey.mechanism.encode(survey.mechanism.randomize(np.array(vector), ByteSource(recorder)))
    return {"vector": shown, "tape": recorder.read.hex(), "payload": payload.hex()}


def source_vectors() -> dict[str, Any]:
    """Integers and Bernoulli draws from known bytes."""
    below = []
    for n in (
        1,
        2,
        3,
        5,
        6,
        128,
        200,
        255,
        256,
        257,
        1000,
        65535,
        65536,
        10**6,
        2**27,
        2**32,
        2**33,
        2**40 - 1,
        2**40,
        2**53 - 1,
    ):
        for run in range(3):
            recorder = Recorder(f"below {n} {run}")
            result = ByteSource(recorder).below(n)
            below.append({"n": n, "tape": recorder.read.hex(), "result": result})
    bernoulli = []
    for threshold in (0, 1, 255, 2**32, 2**63, 3 * 2**62, ONE - 1, ONE):
        words = {0, ONE - 1, *(word for word in (threshold - 1, threshold) if 0 <= word < ONE)}
        for word in sorted(words):
            tape = word.to_bytes(8, "little").hex()
            bernoulli.append({"threshold": str(threshold), "tape": tape, "result": word < threshold})
    return {"below": below, "bernoulli": bernoulli}


def threshold_vectors() -> list[dict[str, Any]]:
    """Rounded probabilities over the whole range of epsilon, where float64 gets them wrong."""
    found = []
    for epsilon in (2.0**-20, 0.01, 0.1, 0.5, 1.0, math.log(2), math.log(3), 2.0, math.pi, 4.0, 8.0, 16.0):
        for inside, outside in ((1, 1), (1, 999), (16, 1008), (2**19, 2**40)):
            levels = TwoLevel(inside, outside, epsilon)
            found.append({"epsilon": epsilon, "inside": inside, "outside": outside, "threshold": str(levels.threshold)})
    return found


def domain_vectors() -> list[dict[str, Any]]:
    """Values, their numbers and how they read; and what is no value."""
    cases: list[tuple[sv.Domain, list[Any], list[Any]]] = [
        (sv.Domain.of(["red", "green", "blue"]), ["red", "green", "blue"], ["Red", "", 0, 2, 3, 1.5, True, None]),
        (sv.Domain.of([True, False, "unsure"]), ["true", "false", True, False, "unsure"], ["True", 0, 1, None]),
        (
            sv.Domain.of(["tea", "coffee"]).with_missing("as prefer not to say"),
            ["tea", "coffee", "prefer not to say", None],
            ["", "no", 0, False],
        ),
        (
            sv.Domain.product(age=3, plan=sv.Domain.of(["free", "pro"]).with_missing("as free")),
            [{"age": 1, "plan": None}, {"age": 1}, {"age": 2, "plan": "pro"}],
            [{"plan": "pro"}, {"age": None, "plan": "pro"}, {}, {"age": 1, "town": "Oslo"}],
        ),
        (LabelDomain(("ü", "u\u0308", "日本", "", "😀")), ["ü", "u\u0308", "日本", "", "😀"], ["日", "\u00fc ", 5]),
        (sv.Domain.of([10, -5, 2**53 - 1]), [10, -5, 2**53 - 1, 10.0], [0, 1, "10", 10.5, False]),
        (sv.Domain.of([10, -5]).with_missing("as 0"), [10, -5, 0, None, -0.0], [1, "10", "", False]),
        (sv.Domain.of(5), [0, 4, 3.0], [5, -1, "0", True, None, 3.5]),
        (sv.Domain.of(range(1, 6)).with_missing("as 3"), [1, 5, 3, None, 3.0], [0, 6, "", "3", 3.5, False]),
        (sv.Domain.of(range(-(2**63), 2**62, 2**60)).with_missing(f"as {-(2**63)}"), [None, 0], [-1, -2.5, ""]),
        (sv.Domain.of(range(10, -12, -4)), [10, 6, -10], [11, 8, -14, "6"]),
        (
            sv.Domain.text(3, "bé😀"),
            ["", "b", "bbb", "é", "😀b", "😀😀😀"],
            ["bbbb", "B", "e\u0301", "bé ", 0, 39, 40, True],
        ),
        (sv.Domain.text(12, "01"), ["", "0", "10", "111111111111"], ["2", 0, 1, "0000000000000"]),
        (
            sv.Domain.product(age=range(18, 100), country=["DE", "FR"], club=[7, 3]),
            [
                {"age": 18, "country": "DE", "club": 7},
                {"age": 18, "country": "DE", "club": 3},
                {"age": 18, "country": "FR", "club": 7},
                {"age": 99, "country": "FR", "club": 3},
            ],
            [{"age": 18, "country": "DE"}, {"age": 17, "country": "DE", "club": 7}, 0, 327, 328, -1, {}, "age"],
        ),
        (sv.Domain.product(smokes=["yes", "no"]), [{"smokes": "yes"}, {"smokes": "no"}], [0, 1, "yes", True]),
    ]
    found = []
    for domain, inside, outside in cases:
        numbers = [domain.index(value) for value in inside]
        found.append(
            {
                "domain": domain.to_statement(),
                "size": domain.size,
                "values": [
                    {"value": value, "index": index, "label": domain.label(index)}
                    for value, index in zip(inside, numbers, strict=True)
                ],
                "outside": outside,
            }
        )
    return found


def refusal(survey: sv.Survey, report: bytes) -> str:
    """The class of the error that a report causes."""
    try:
        survey.aggregate().add(report)
    except SottovoceError as error:
        return type(error).__name__
    raise ValueError(f"{report.hex()} is accepted")


def bad_report_vectors() -> list[dict[str, Any]]:
    """Bytes that no device following the survey could have sent, one fault each."""
    index = sv.Survey(sv.shares(300), epsilon=1.0, mechanism="randomized_response")
    bitmap = sv.Survey(sv.shares(13), epsilon=1.0, mechanism="unary_optimized")
    subset = sv.Survey(sv.shares(17), epsilon=0.5, mechanism="subset_selection")
    listed = sv.Survey(sv.shares(300), epsilon=4.0, mechanism="subset_selection")
    size = listed.mechanism.parameters()["subset_size"]

    def members(*numbers: int) -> bytes:
        packed = sum(v << (9 * i) for i, v in enumerate(numbers))
        return packed.to_bytes(listed.mechanism.report_bytes, "little")

    def bits(survey: sv.Survey, *numbers: int) -> bytes:
        return sum(1 << v for v in numbers).to_bytes(survey.mechanism.report_bytes, "little")

    full = range(subset.mechanism.parameters()["subset_size"])
    first = list(range(size))
    spare = 8 * listed.mechanism.report_bytes - 9 * size
    padded = int.from_bytes(members(*first), "little") | 1 << (9 * size)
    cases = [
        (index, "empty", b""),
        (index, "truncated", index.tag + b"\x05"),
        (index, "tag alone", index.tag),
        (index, "one byte too long", index.tag + b"\x05\x00\x00"),
        (index, "first number out of range", index.tag + (300).to_bytes(2, "little")),
        (index, "all bits set", index.tag + b"\xff\xff"),
        (index, "big-endian", index.tag + (43).to_bytes(2, "big")),
        (index, "another survey's tag", bytes(4) + b"\x05\x00"),
        (index, "tag with one bit flipped", bytes([index.tag[0] ^ 1]) + index.tag[1:] + b"\x05\x00"),
        (bitmap, "first padding bit set", bitmap.tag + bits(bitmap, 0, 13)),
        (bitmap, "last padding bit set", bitmap.tag + bits(bitmap, 15)),
        (subset, "one member too few", subset.tag + bits(subset, *full[1:])),
        (subset, "one member too many", subset.tag + bits(subset, *full, 16)),
        (subset, "no member", subset.tag + bits(subset)),
        (subset, "padding bit instead of a member", subset.tag + bits(subset, *full[1:], 17)),
        (listed, "members not increasing", listed.tag + members(*first[::-1])),
        (listed, "a member twice", listed.tag + members(*first[:-1], first[-2])),
        (listed, "member out of range", listed.tag + members(*first[:-1], 300)),
        (listed, "padding not zero", listed.tag + padded.to_bytes(listed.mechanism.report_bytes, "little")),
    ]
    if spare < 1:
        raise ValueError("choose a subset size that leaves padding")
    return [
        {
            "canonical": survey.to_json(),
            "fault": fault,
            "report": report.hex(),
            "error": refusal(survey, report),
        }
        for survey, fault, report in cases
    ]


def files() -> dict[str, str]:
    """Every vector file's name and text."""
    contents: dict[str, Any] = {f"{name}.json": mechanism_vectors(name) for name in serving(FiniteMechanism)}
    contents["philox.json"] = philox_vectors()
    contents["codebook.json"] = codebook_vectors()
    contents["source.json"] = source_vectors()
    contents["thresholds.json"] = threshold_vectors()
    contents["domains.json"] = domain_vectors()
    contents["values.json"] = value_vectors()
    contents["bad_reports.json"] = bad_report_vectors()
    contents["bad_surveys.json"] = bad_survey_vectors()
    contents["expressions.json"] = expression_vectors()
    contents["adaptive.json"] = adaptive_vectors(Recorder)
    contents["seats.json"] = seat_vectors()
    contents["calendars.json"] = calendar_vectors()
    contents["relays.json"] = relay_vectors()
    contents["groups.json"] = group_vectors(Recorder)
    contents["log.json"] = log_vectors()
    contents["strategies.json"] = strategy_vectors(Recorder)
    contents["tables.json"] = table_vectors(Recorder)
    contents["relations.json"] = relation_vectors(Recorder)
    contents["sets.json"] = set_vectors(Recorder)
    contents["words.json"] = word_vectors(Recorder)
    contents["numbers.json"] = number_vectors(Recorder)
    contents["oblivious.json"] = oblivious_vectors()
    contents["collector.json"] = collector_vectors(Recorder)
    return {name: json.dumps(content, ensure_ascii=False, indent=1) + "\n" for name, content in contents.items()}


def main() -> None:
    """Write the files."""
    for name, text in files().items():
        (VECTORS / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"{name}: {len(text.encode()):,} bytes\n")


if __name__ == "__main__":
    main()
