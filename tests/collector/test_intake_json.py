"""JSON bodies: strict types and names, one writing of an id and of a report, a verdict on each."""

from __future__ import annotations

import json

import pytest

from bodies import Shelf, adaptive, base64url, ids, json_report, reports, surveys
from sottovoce.collector.intake.checking import Intake
from sottovoce.collector.intake.survey_cache import SurveyCache
from sottovoce.protocol.errors import RefusedReport
from sottovoce.service.refusal import Refusal

SURVEY = surveys()["hadamard"]
ID, REPORT = ids(1)[0], reports("hadamard")[0]


@pytest.fixture(scope="module")
def intake() -> Intake:
    return Intake(SurveyCache(Shelf(adaptive(), *surveys().values())), max_batch_reports=40, clock=lambda: 0.0)


@pytest.mark.parametrize("name", list(surveys()))
def test_one_and_many_honest_reports_are_taken(intake: Intake, name: str) -> None:
    survey = surveys()[name]
    pairs = list(zip(ids(40), reports(name), strict=True))
    for n in (1, 40):
        body = json.dumps({"reports": [json_report(*pair) for pair in pairs[:n]]}).encode()
        arrival, refused = intake.read_json(survey.id, body)
        assert refused == []
        assert arrival is not None
        assert (arrival.survey, arrival.n) == (survey.id, n)
        assert arrival.rows == b"".join(i + report[4:] for i, report in pairs[:n])
    alone = intake.read_json(survey.id, json.dumps(json_report(*pairs[0]), indent=4).encode() + b"\n")
    assert alone.arrival is not None
    assert alone.arrival.rows == pairs[0][0] + pairs[0][1][4:]


def verdict(intake: Intake, sent: dict[str, str]) -> str:
    """The verdict on one report, which is the same alone and among honest ones."""
    honest = json_report(ID, REPORT)
    alone = intake.read_json(SURVEY.id, json.dumps(sent).encode())
    among = intake.read_json(SURVEY.id, json.dumps({"reports": [honest, sent, honest]}).encode())
    assert (alone.arrival is None) == bool(alone.refused)
    assert among.arrival is not None
    assert among.arrival.n == 3 - len(alone.refused)
    assert among.refused == [RefusedReport(1, one.code, one.message) for one in alone.refused]
    for one in alone.refused:
        assert all(len(value) < 6 or value not in one.message for value in sent.values())
    return alone.refused[0].code if alone.refused else ""


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "ab",
        ID.hex()[:-1],
        ID.hex() + "0",
        ID.hex() + "00",
        ID.hex()[:-2],
        "AB" * 16,
        ID.hex()[:-1] + "g",
        " " + ID.hex()[:-1],
        ID.hex()[:16] + " " + ID.hex()[16:],
        ID.hex() + "\n",
        "0x" + ID.hex()[2:],
        base64url(ID),
        "٠" * 32,
        'a"' * 16,
        "\0" * 32,
    ],
)
def test_other_ids_are_refused(intake: Intake, bad: str) -> None:
    assert verdict(intake, {"id": bad, "report": base64url(REPORT)}) == "bad_id"


def test_reports_have_one_writing(intake: Intake) -> None:
    right = base64url(REPORT)
    assert len(REPORT) % 3 == 0
    assert verdict(intake, {"id": ID.hex(), "report": right}) == ""
    foreign = ("+", "/", "=", " ", "\n", "é", "٠", '"', "\\", "\0", ".")
    for odd in foreign:
        assert verdict(intake, {"id": ID.hex(), "report": right[:-1] + odd}) == "bad_encoding"
        assert verdict(intake, {"id": ID.hex(), "report": right + odd}) == "bad_encoding"
    for padded in (right + "=", right + "==", right + "===="):
        assert verdict(intake, {"id": ID.hex(), "report": padded}) == "bad_encoding"
    for length in ("", right[:-1], right + "A", right + "AAAA", REPORT.hex()):
        assert verdict(intake, {"id": ID.hex(), "report": length}) == "wrong_length"
    assert verdict(intake, {"id": ID.hex(), "report": base64url(bytes(4) + REPORT[4:])}) == "wrong_survey"
    assert verdict(intake, {"id": ID.hex(), "report": base64url(REPORT[:4] + b"\xff\xff")}) == "bad_report"


def test_plus_and_slash_are_not_minus_and_underscore(intake: Intake) -> None:
    """A seed may be anything, so a report can be written with all 64 letters."""
    survey = surveys()["rejection"]
    for seed in (b"\xef\xbe\xfb" * 3, b"\xff" * 9):
        report = survey.tag + seed[:8] + b"\1"
        right = base64url(report)
        assert {"-", "_"} & set(right)
        for sent, taken in ((right, True), (right.replace("-", "+").replace("_", "/"), False)):
            body = json.dumps({"id": ID.hex(), "report": sent}).encode()
            assert (intake.read_json(survey.id, body).arrival is not None) == taken


@pytest.mark.parametrize(("name", "spare"), [("question", 2), ("unary", 4)])
def test_unused_bits_of_the_last_letter_are_zero(intake: Intake, name: str, spare: int) -> None:
    survey, report = surveys()[name], reports(name)[0]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    right = base64url(report)
    assert 6 * len(right) - 8 * len(report) == spare
    last = letters.index(right[-1])
    for other in range(2**spare):
        body = json.dumps({"id": ID.hex(), "report": right[:-1] + letters[last + other]}).encode()
        assert [one.code for one in intake.read_json(survey.id, body).refused] == ["bad_encoding"] * bool(other)


GOOD = json.dumps(json_report(ID, REPORT))
DEEP = 100_000


OTHER_JSON = [
    "",
    "null",
    "1",
    '"text"',
    "[]",
    f"[{GOOD}]",
    "{}",
    "{",
    GOOD[:-1],
    GOOD + GOOD,
    GOOD + "x",
    "\ufeff" + GOOD,
    GOOD.replace('"id"', '"Id"'),
    GOOD.replace('"report"', '"reports"'),
    GOOD[:-1] + ', "extra": 1}',
    GOOD[:-1] + ', "reports": []}',
    '{"id": "ID"}',
    '{"report": "AAAA"}',
    '{"reports": null}',
    '{"reports": {}}',
    '{"reports": "x"}',
    '{"reports": [null]}',
    '{"reports": [[]]}',
    '{"reports": [{}]}',
    f'{{"reports": [{GOOD}, {GOOD[:-1]}, "extra": ""}}]}}',
    f'{{"reports": [{GOOD},]}}',
    f'{{"reports": [{GOOD}], "extra": 1}}',
    '{"id": 1, "report": "AAAA"}',
    '{"id": null, "report": "AAAA"}',
    '{"id": ["ID"], "report": "AAAA"}',
    '{"id": "ID", "report": NaN}',
    '{"id": "ID", "report": 1e999}',
    GOOD.replace('"', "'"),
    GOOD.replace('{"id"', '{"id": "\\ud800", "id"'),
    GOOD[:-1] + ', "id": "ID"}',
    GOOD[:-1] + ', "\\u0069d": "ID"}',
    GOOD[:-1] + ', "report": "AAAA"}',
    f'{{"reports": [{GOOD}], "reports": [{GOOD}]}}',
    f'{{"reports": [], "reports": [{GOOD}]}}',
    f'{{"reports": [{GOOD}, {GOOD[:-1]}, "id": "00"}}]}}',
    "[" * DEEP,
    '{"reports": ' + "[" * DEEP + "]" * DEEP + "}",
    '{"reports":' * DEEP,
    '{"extra": ' + "[" * DEEP + "]" * DEEP + "}",
    '{"id": ' + '{"id": ' * DEEP,
    GOOD.replace('"id": "', '"id": "\x01'),
]


@pytest.mark.parametrize("number", range(len(OTHER_JSON)))
def test_other_json_is_refused_whole(intake: Intake, number: int) -> None:
    body = OTHER_JSON[number].replace('"ID"', f'"{ID.hex()}"')
    with pytest.raises(Refusal) as caught:
        intake.read_json(SURVEY.id, body.encode())
    assert (caught.value.code, caught.value.status) == ("bad_json", 400)
    assert not any(piece in str(caught.value) for piece in ("extra", ID.hex(), base64url(REPORT)))


def test_other_encodings_than_utf8_are_refused_whole(intake: Intake) -> None:
    for body in (GOOD.encode("utf-16"), GOOD.encode("utf-32"), GOOD.encode()[:-3] + b"\xff" + GOOD.encode()[-3:]):
        with pytest.raises(Refusal):
            intake.read_json(SURVEY.id, body)


def test_the_place_of_a_wrong_type_is_told(intake: Intake) -> None:
    body = f'{{"reports": [{GOOD}, {{"id": 5, "report": "AAAA"}}]}}'
    with pytest.raises(Refusal, match=r"at reports\[1\]\.id: one report is"):
        intake.read_json(SURVEY.id, body.encode())


def test_numbers_of_reports(intake: Intake) -> None:
    with pytest.raises(Refusal) as caught:
        intake.read_json(SURVEY.id, b'{"reports": []}')
    assert (caught.value.code, caught.value.status) == ("empty_batch", 422)
    with pytest.raises(Refusal) as caught:
        intake.read_json(SURVEY.id, ('{"reports": [' + ", ".join([GOOD] * 41) + "]}").encode())
    assert (caught.value.code, caught.value.status) == ("too_many_reports", 413)


def test_a_quotation_mark_in_a_value_spoils_only_its_report(intake: Intake) -> None:
    body = f'{{"reports": [{GOOD}, {{"id": "a\\"", "report": "b\\"c"}}, {GOOD}]}}'
    arrival, refused = intake.read_json(SURVEY.id, body.encode())
    assert arrival is not None
    assert (arrival.n, [(one.position, one.code) for one in refused]) == (2, [(1, "bad_id")])


def test_positions_are_those_of_the_body_whatever_was_wrong(intake: Intake) -> None:
    bad, foreign = base64url(SURVEY.tag + b"\xff\xff"), base64url(bytes(6))
    sent = [json_report(ID, REPORT)] * 8
    for at, report in ((1, bad), (3, "?"), (4, foreign), (6, bad), (7, "A")):
        sent[at] = {"id": ID.hex(), "report": report}
    sent[0] = {"id": "", "report": base64url(REPORT)}
    arrival, refused = intake.read_json(SURVEY.id, json.dumps({"reports": sent}).encode())
    assert arrival is not None
    assert arrival.n == 2
    assert [(one.position, one.code) for one in refused] == [
        (0, "bad_id"),
        (1, "bad_report"),
        (3, "bad_encoding"),
        (4, "wrong_survey"),
        (6, "bad_report"),
        (7, "wrong_length"),
    ]
    none = intake.read_json(SURVEY.id, json.dumps({"reports": [sent[0], sent[3]]}).encode())
    assert none.arrival is None
    assert [(one.position, one.code) for one in none.refused] == [(0, "bad_id"), (1, "bad_encoding")]
