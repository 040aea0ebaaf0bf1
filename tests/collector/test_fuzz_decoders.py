"""More than 100,000 bodies through the intake, each read a second time by a slow reader that knows no arrays.

Whatever is sent, the answer is a documented refusal or reports that `mechanism.decode` takes and that encode to the
same bytes; and both readers agree on every code, every position and every byte.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bodies import Shelf, Verdict, adaptive, base64url, ids, json_report, reports, slow_batch, slow_json, surveys
from sottovoce.collector.intake.checking import Intake
from sottovoce.collector.intake.survey_cache import SurveyCache
from sottovoce.formats.wire import BATCH_HEADER_BYTES, encode_batch
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

MOST = 8
BODIES = 4_200
"""Of each kind, for each survey: 12 surveys and two kinds make 100,800."""

NAMES = list(surveys())


@cache
def intake() -> Intake:
    return Intake(SurveyCache(Shelf(adaptive(), *surveys().values())), max_batch_reports=MOST, clock=lambda: 0.0)


def quick(read: Callable[[str, bytes], object], survey: Survey, body: bytes) -> Verdict:
    """What the intake says, in the slow reader's words."""
    try:
        arrival, refused = read(survey.id, body)  # type: ignore[misc]
    except Refusal as error:
        return error.code
    if arrival is None:
        assert refused
        return b"", [(one.position, one.code) for one in refused]
    assert arrival.survey == survey.id
    assert arrival.n * (16 + survey.mechanism.report_bytes) == len(arrival.rows)
    return arrival.rows, [(one.position, one.code) for one in refused]


def kind_of(verdict: Verdict) -> str:
    if isinstance(verdict, str):
        return verdict
    taken, refused = verdict
    return "taken" if not refused else "partly" if taken else "none"


class Draws:
    """Random integers, drawn many at once: a body takes a dozen."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._left: list[int] = []

    def below(self, bound: int) -> int:
        if not self._left:
            self._left = self._rng.integers(0, 2**48, size=20_000).tolist()
        return self._left.pop() % bound

    def bytes(self, n: int) -> bytes:
        return self._rng.bytes(n)


def edge(draws: Draws, width: int) -> bytes:
    """Payloads near the limits of integers, bitmaps and sorted lists."""
    piece = (b"\xff\xff\x7f", b"\x00\x00\x80", b"\xff", b"\x00", b"\x01", b"\x80", b"\x00\x01", b"\x2c\x01")[
        draws.below(8)
    ]
    return (piece * width)[:width]


def batches(name: str, seed: int) -> Iterator[bytes]:
    """Honest bodies, and what becomes of them on a bad day."""
    survey, honest, draws = surveys()[name], reports(name), Draws(seed)
    width = survey.mechanism.report_bytes
    row, some_ids = 20 + width, ids(64)
    others = [surveys()[other].id for other in NAMES] + [adaptive().id]
    for _ in range(BODIES):
        n = draws.below(5)
        sent = [(some_ids[draws.below(64)], honest[draws.below(len(honest))]) for _ in range(n)]
        body = encode_batch(survey.id, sent)
        rest = BATCH_HEADER_BYTES + draws.below(max(1, n)) * row
        match draws.below(14):
            case 0:
                pass
            case 1 | 2 | 3:  # bits flip, anywhere or in one row
                changed = bytearray(body)
                for _ in range(1 + draws.below(3)):
                    changed[draws.below(len(changed))] ^= 1 << draws.below(8)
                body = bytes(changed)
            case 4:
                body = body[: draws.below(len(body))]
            case 5:
                body += draws.bytes(1 + draws.below(2 * row))
            case 6:  # a whole number of rows of noise
                body = body[:BATCH_HEADER_BYTES] + draws.bytes(row * draws.below(4))
            case 7 | 8:  # the payload of one row
                body = body[: rest + 20] + draws.bytes(width) + body[rest + row :]
            case 9 | 10:
                body = body[: rest + 20] + edge(draws, width) + body[rest + row :]
            case 11:
                body = body[:4] + bytes.fromhex(others[draws.below(len(others))]) + body[BATCH_HEADER_BYTES:]
            case 12:  # far too many, or just one
                body = encode_batch(survey.id, [(some_ids[0], honest[0])] * (MOST - 1 + draws.below(40)))
            case _:
                body = draws.bytes(draws.below(200))
        yield body


def texts(name: str, seed: int) -> Iterator[bytes]:
    """The same for JSON."""
    survey, honest, draws = surveys()[name], reports(name), Draws(seed)
    width, some_ids = survey.mechanism.report_bytes, [one.hex() for one in ids(64)]
    written = [base64url(report) for report in honest]
    odd: list[object] = ["", "é", "A", "=", None, 1, 1.5, True, [], {}, ["x"], "\\", '"', "0" * 32, "\0", 10**30]
    marks = b'{}[]:,"\\ =+/-_0aA\xff\x00u'
    for _ in range(BODIES):
        n = draws.below(5)
        sent: list[object] = [
            {"id": some_ids[draws.below(64)], "report": written[draws.below(len(written))]} for _ in range(n)
        ]
        whole: object = {"reports": sent} if n != 1 or draws.below(2) else sent[0]
        one = sent[draws.below(n)] if n else {}
        assert isinstance(one, dict)
        match draws.below(12):
            case 0 | 1 | 2 | 3:
                text = bytearray(json.dumps(whole).encode())
                for _ in range(1 + draws.below(2)):
                    at = draws.below(len(text))
                    match draws.below(3):
                        case 0:
                            text[at] = marks[draws.below(len(marks))]
                        case 1:
                            del text[at]
                        case _:
                            text.insert(at, marks[draws.below(len(marks))])
                yield bytes(text)
                continue
            case 4:
                one[("id", "report", "extra")[draws.below(3)]] = odd[draws.below(len(odd))]
            case 5:
                one["report"] = base64url(survey.tag + draws.bytes(width))
            case 6:
                one["report"] = base64url(survey.tag + edge(draws, width))
            case 7:
                one["report"] = base64url(draws.bytes(draws.below(width + 8)))
            case 8 if one:
                letters = list(one["report"])
                letters[draws.below(len(letters))] = "AZaz09-_+/=."[draws.below(12)]
                one["report"] = "".join(letters) + "=" * draws.below(2)
            case 9 if one:
                one["id"] = (one["id"].upper(), one["id"][1:], one["id"] + "0", base64url(bytes(16)))[draws.below(4)]
            case 10:
                text_ = json.dumps(whole)
                twice = ('"id": "", ', '"report": "A", ', '"reports": [], ', '"x": {}, ')[draws.below(4)]
                yield text_.replace("{", "{" + twice, 1 + draws.below(2)).encode()
                continue
            case _:
                whole = {"reports": [json_report(bytes(16), honest[0])] * (MOST - 1 + draws.below(4))}
        yield json.dumps(whole, ensure_ascii=bool(draws.below(2))).encode()


@pytest.mark.parametrize("name", NAMES)
def test_batches(name: str) -> None:
    survey, seen = surveys()[name], Counter[str]()
    for body in batches(name, seed=NAMES.index(name)):
        verdict = slow_batch(survey, body, MOST)
        assert quick(intake().read_batch, survey, body) == verdict
        seen[kind_of(verdict)] += 1
    # None of it is for show: every answer occurs.
    kinds = {"taken", "partly", "none", "bad_batch", "wrong_survey", "empty_batch", "too_many_reports"}
    assert set(seen) == kinds
    assert min(seen.values()) >= 20
    assert seen.total() == BODIES


@pytest.mark.parametrize("name", NAMES)
def test_json(name: str) -> None:
    survey, seen = surveys()[name], Counter[str]()
    for body in texts(name, seed=100 + NAMES.index(name)):
        verdict = slow_json(survey, body, MOST)
        assert quick(intake().read_json, survey, body) == verdict
        seen[kind_of(verdict)] += 1
    assert set(seen) == {"taken", "partly", "none", "bad_json", "empty_batch", "too_many_reports"}
    assert min(seen.values()) >= 20
    assert seen.total() == BODIES


@settings(deadline=None, max_examples=400)
@given(st.data())
def test_batches_of_any_bytes(data: st.DataObject) -> None:
    survey = surveys()[data.draw(st.sampled_from(NAMES))]
    width = survey.mechanism.report_bytes
    payload = st.binary(min_size=width, max_size=width)
    rows = st.lists(st.tuples(st.binary(min_size=16, max_size=16), st.just(survey.tag), payload), max_size=4)
    made = rows.map(lambda drawn: encode_batch(survey.id, [(i, tag + rest) for i, tag, rest in drawn]))
    body = data.draw(made | st.binary(max_size=120))
    assert quick(intake().read_batch, survey, body) == slow_batch(survey, body, MOST)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, max_examples=400)
@given(st.data())
def test_json_of_any_shape(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    survey = surveys()[name]
    ids_drawn = st.binary(min_size=15, max_size=17).map(bytes.hex) | _VALUES
    reports_drawn = st.sampled_from([base64url(report) for report in reports(name)]) | _VALUES
    entry = st.fixed_dictionaries({"id": ids_drawn, "report": reports_drawn}) | _VALUES
    whole = data.draw(entry | st.fixed_dictionaries({"reports": st.lists(entry, max_size=4) | _VALUES}))
    body = json.dumps(whole, ensure_ascii=data.draw(st.booleans())).encode("utf-8", "surrogatepass")
    assert quick(intake().read_json, survey, body) == slow_json(survey, body, MOST)
