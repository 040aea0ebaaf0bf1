"""A hostile collector: whatever it sends, the device draws nothing, sends nothing and says why."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, as_json
from sottovoce.core.errors import MechanismError, ServiceError, SignatureError, SottovoceError, SurveyError
from sottovoce.core.signing import SigningKey, to_base64url
from sottovoce.device import Device
from sottovoce.surveys.survey import Survey

Envelope = dict[str, Any]


def assert_nothing_happened(played: Played, mine: Device) -> None:
    assert mine.ledger.spent == 0
    assert played.bodies == []


def refused(played: Played, mine: Device, survey_id: str, value: object = 1) -> SottovoceError:
    with pytest.raises(SottovoceError) as info:
        mine.answer(played.url, survey_id, value)
    assert_nothing_happened(played, mine)
    return info.value


# --- tampering on the way --------------------------------------------------------------------


def edit(**fields: object) -> Callable[[Envelope], None]:
    """Change fields of the statement and leave the signature as it was."""

    def change(envelope: Envelope) -> None:
        statement = json.loads(envelope["statement"])
        for name, value in fields.items():
            assert statement[name] != value
            statement[name] = value
        envelope["statement"] = json.dumps(statement, separators=(",", ":"), sort_keys=True)

    return change


def with_matching_id(change: Callable[[Envelope], None]) -> Callable[[Envelope], None]:
    def both(envelope: Envelope) -> None:
        change(envelope)
        envelope["id"] = hashlib.sha256(envelope["statement"].encode()).hexdigest()

    return both


def flip_signature(envelope: Envelope) -> None:
    envelope["signature"] = ("B" if envelope["signature"][0] == "A" else "A") + envelope["signature"][1:]


def signed_by_another(envelope: Envelope) -> None:
    other = SigningKey(bytes(32))
    envelope["key"] = to_base64url(other.public)
    envelope["signature"] = to_base64url(other.sign(envelope["statement"].encode()))


def another_key_same_signature(envelope: Envelope) -> None:
    envelope["key"] = to_base64url(SigningKey(bytes(32)).public)


TAMPERINGS = {
    "signature": flip_signature,
    "signature of nothing": lambda e: e.update(signature=to_base64url(bytes(64))),
    "signature cut": lambda e: e.update(signature=e["signature"][:-4]),
    "signature padded": lambda e: e.update(signature=e["signature"] + "===="),
    "id": lambda e: e.update(id="ab" * 32),
    "epsilon": edit(epsilon=0.5),
    "design": edit(design={"strategy": "direct", "mechanism": {"name": "binary"}}),
    "radius": edit(question={"kind": "vector", "dimension": 3, "radius": 2}),
    "title": edit(title="Something else"),
    "epsilon and id": with_matching_id(edit(epsilon=0.5)),
    "radius and id": with_matching_id(edit(question={"kind": "vector", "dimension": 3, "radius": 2})),
    "another's signature": signed_by_another,
    "another's key": another_key_same_signature,
    "a small-order key": lambda e: e.update(key=to_base64url(bytes(32)), signature=to_base64url(bytes(64))),
    "one space": lambda e: e.update(statement=e["statement"] + " "),
    "a lone surrogate": lambda e: e.update(statement="\ud800"),
}


@pytest.mark.parametrize("pinned", ["given", "kept"])
@pytest.mark.parametrize("change", TAMPERINGS.values(), ids=TAMPERINGS.keys())
def test_tampering_is_noticed(
    played: Played, device: MakeDevice, change: Callable[[Envelope], None], pinned: str
) -> None:
    survey = sv.Survey(sv.vector(3, 1.0), epsilon=1.0)
    played.publish(survey)
    mine = device(key=played.key.public) if pinned == "given" else device()
    if pinned == "kept":
        mine.survey(played.url, survey.id)
    played.change = change
    error = refused(played, mine, survey.id, [0, 0, 0])
    assert isinstance(error, (SignatureError, ServiceError))
    if change is not TAMPERINGS["a lone surrogate"]:
        assert isinstance(error, SignatureError)
    played.change = lambda envelope: None
    assert mine.answer(played.url, survey.id, [0, 0, 0]).state == "sent"


def test_without_a_pin_the_signature_still_must_fit(played: Played, device: MakeDevice) -> None:
    survey = sv.Survey(sv.vector(3, 1.0), epsilon=1.0)
    played.publish(survey)
    for name, change in TAMPERINGS.items():
        if name != "another's signature":  # there is nothing yet to tell that key from the right one
            played.change = change
            refused(played, device(), survey.id, [0, 0, 0])


def test_another_survey_than_asked_for(played: Played, survey: Survey, device: MakeDevice) -> None:
    other = sv.Survey(sv.shares(5), epsilon=1.0)
    played.twists["GET", survey.id] = lambda _: as_json(200, played.envelope(other))
    assert isinstance(refused(played, device(), survey.id), SignatureError)


# --- signed nonsense -------------------------------------------------------------------------


def statement(**changes: object) -> str:
    made = sv.Survey(sv.shares(["red", "green"]), epsilon=1.0, mechanism="randomized_response").to_statement()
    made.update(changes)
    return json.dumps(made, separators=(",", ":"), sort_keys=True)


def designed(mechanism: object) -> str:
    return statement(design={"strategy": "histogram", "mechanism": mechanism})


def asking(**domain: object) -> str:
    return statement(question={"kind": "shares", "domain": domain})


SIGNED = {
    "unknown mechanism": designed({"name": "trust_me"}),
    "published mechanism": designed({"name": "published.gaussian"}),
    "mechanism of another kind": designed(["randomized_response"]),
    "unknown strategy": statement(design={"strategy": "hope", "mechanism": {"name": "randomized_response"}}),
    "strategy of another question": statement(design={"strategy": "direct", "mechanism": {"name": "binary"}}),
    "epsilon beyond all": statement(epsilon=1000),
    "epsilon as text": statement(epsilon="1"),
    "epsilon nan": statement().replace('"epsilon":1.0', '"epsilon":NaN'),
    "epsilon negative": statement(epsilon=-3),
    "another format": statement(format=1),
    "another kind": statement(question={"kind": "census"}),
    "one field more": statement(clear_text=True),
    "a huge domain": asking(start=0, step=1, size=2**53),
    "labels twice": asking(labels=["red", "red"]),
    "title of two lines": statement(title="a\nb"),
    "not an object": "[]",
    "not JSON": "hello",
    "empty": "",
    "nested": "[" * 100_000 + "]" * 100_000,
    "nested objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "a long number": '{"format":2,"question":' + "9" * 100_000 + "}",
}


@pytest.mark.parametrize("text", SIGNED.values(), ids=SIGNED.keys())
def test_signed_nonsense(played: Played, device: MakeDevice, text: str) -> None:
    envelope = played.signed(text)
    played.twists["GET", envelope["id"]] = lambda _: as_json(200, envelope)
    assert isinstance(refused(played, device(), envelope["id"]), SurveyError)


def test_an_unknown_mechanism_is_called_that(played: Played, device: MakeDevice) -> None:
    envelope = played.signed(SIGNED["unknown mechanism"])
    played.twists["GET", envelope["id"]] = lambda _: as_json(200, envelope)
    assert isinstance(refused(played, device(), envelope["id"]), MechanismError)


@pytest.mark.parametrize(
    "respelled",
    [
        lambda text: text.replace(",", ", "),
        lambda text: text.replace('"epsilon":1', '"epsilon":1.00'),
        lambda text: "{" + ",".join(sorted(text[1:-1].split(","), reverse=True)) + "}",
        lambda text: text.replace("Colours", "Colou\\u0072s"),
    ],
    ids=["spaces", "number", "order", "escape"],
)
def test_signed_but_not_canonical(played: Played, device: MakeDevice, respelled: Callable[[str], str]) -> None:
    """Two spellings of one survey would be two ids, and so two answers."""
    text = sv.Survey(sv.shares(9), epsilon=1.0, mechanism="hadamard", title="Colours").to_json()
    changed = respelled(text)
    assert changed != text
    envelope = played.signed(changed)
    played.twists["GET", envelope["id"]] = lambda _: as_json(200, envelope)
    assert isinstance(refused(played, device(), envelope["id"]), (SignatureError, SurveyError))


def test_a_large_statement_is_not_read(played: Played, device: MakeDevice) -> None:
    envelope = played.signed(json.dumps("x" * 2**24))
    played.twists["GET", envelope["id"]] = lambda _: as_json(200, envelope)
    error = refused(played, device(), envelope["id"])
    assert isinstance(error, ServiceError)
    assert "longer than" in str(error)


def test_attachments_are_checked(played: Played, device: MakeDevice) -> None:
    survey = sv.Survey(sv.queries(sv.workloads.Prefix(16)), epsilon=1.0, strategy="optimized")
    played.publish(survey)
    ((digest, right),) = survey.attachments.items()
    damaged = bytearray(right)
    damaged[20] ^= 1
    for wrong in (b"", bytes(damaged), right + b"\0", right[:-1], bytes(100)):
        played.twists["GET", digest] = lambda _, wrong=wrong: (200, {}, wrong)
        assert isinstance(refused(played, device(), survey.id), SurveyError)
    played.twists.clear()
    played.change = lambda envelope: envelope.update(attachments=[])
    assert isinstance(refused(played, device(), survey.id), SurveyError)
    played.change = lambda envelope: envelope["attachments"].extend(["ab" * 32, "../key"] * 50_000)
    assert device().answer(played.url, survey.id, 3).state == "sent"
    assert len([path for _, path in played.requests if "ab" * 32 in path or "key" in path]) == 0


# --- no answer at all ------------------------------------------------------------------------


def envelope_with(**changes: object) -> Callable[[Played, Survey], Any]:
    return lambda played, survey: as_json(200, {**played.envelope(survey), **changes})


def endless(played: Played, survey: Survey) -> Any:
    def write(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        while True:
            handler.wfile.write(b'{"surveys": [' + b" " * 2**16)

    return write


ANSWERS: dict[str, Any] = {
    "HTML": lambda p, s: (200, {"Content-Type": "text/html"}, b"<!doctype html><title>Hello</title>"),
    "nothing": lambda p, s: (200, {}, b""),
    "null": lambda p, s: as_json(200, None),
    "a list": lambda p, s: as_json(200, [1, 2]),
    "a number": lambda p, s: (200, {}, b"1" * 5000),
    "nested lists": lambda p, s: (200, {}, b"[" * 500_000),
    "half": lambda p, s: (200, {}, b'{"id": "'),
    "not UTF-8": lambda p, s: (200, {}, b'{"id": "\xff\xfe"}'),
    "zip": lambda p, s: (200, {"Content-Encoding": "gzip"}, gzip.compress(b"[" + b" " * 10**7)),
    "redirect": lambda p, s: (302, {"Location": f"{p.url}/v1/surveys/{s.id}/"}, b""),
    "permanent redirect": lambda p, s: (308, {"Location": "https://elsewhere.example/"}, b""),
    "500": lambda p, s: as_json(500, {"error": "what?"}),
    "error of wrong types": lambda p, s: as_json(404, {"error": {"code": 7, "message": []}}),
    "error with an escape": lambda p, s: as_json(
        404, {"error": {"code": "a\x1b[2J", "message": "b\x1b]0;c\x07" * 999}}
    ),
    "field missing": lambda p, s: as_json(200, {"id": s.id}),
    "statement no text": envelope_with(statement={"format": 1}),
    "signature no text": envelope_with(signature=7),
    "signature no base64": envelope_with(signature="!" * 86),
    "signature not ASCII": envelope_with(signature="é" * 86),
    "key null": envelope_with(key=None),
    "key empty": envelope_with(key=""),
    "attachments no list": envelope_with(attachments="all"),
    "attachments of numbers": envelope_with(attachments=[1]),
    "state no text": envelope_with(state=["open"]),
    "state unheard of": envelope_with(state="ajar"),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_an_answer_that_is_none(played: Played, survey: Survey, device: MakeDevice, answer: Any) -> None:
    played.twists["GET", survey.id] = lambda _: answer(played, survey)
    error = refused(played, device(), survey.id)
    assert isinstance(error, (ServiceError, SignatureError))
    assert str(error).isprintable()
    assert len(str(error)) < 1000


def test_an_answer_without_end(played: Played, survey: Survey, device: MakeDevice) -> None:
    played.twists["GET", survey.id] = endless(played, survey)
    error = refused(played, device(), survey.id)
    assert isinstance(error, ServiceError)
    assert error.code == "bad_answer"


@pytest.mark.parametrize(
    "raw",
    [b"", b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{", b"\0" * 1000],
    ids=["closed", "SSH", "cut", "zeros"],
)
def test_a_server_that_speaks_something_else(played: Played, survey: Survey, device: MakeDevice, raw: bytes) -> None:
    played.twists["GET", survey.id] = lambda handler: handler.wfile.write(raw) and None
    error = refused(played, device(), survey.id)
    assert isinstance(error, ServiceError)
    assert error.code == "unreachable"
