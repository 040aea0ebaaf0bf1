"""Nothing a device does or says depends on the private value, except the report, and that as the mechanism has it."""

from __future__ import annotations

import logging
import pickle
import traceback
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, refusal
from refusing import refuses
from sottovoce.core.errors import SottovoceError, ValueOutsideDomainError
from sottovoce.core.signing import SigningKey
from sottovoce.device import Device, MemoryStore
from sottovoce.device.drawing import has, prepare, why_not
from sottovoce.domain import LabelDomain
from tracing import lines_run

SECRET = "secret-gazpacho-7731"
SECRETS = [SECRET, 987654321, (SECRET,), {SECRET: 1}, [987654321], SECRET.encode()]
PIECES = ("_read", "readinto", "_wait", "left", "close")
"""Functions that run as often as the network hands over a piece of an answer."""
FRAGMENTS = ("gazpacho", "7731", "987654321")


def assert_silent(text: str) -> None:
    for fragment in FRAGMENTS:
        assert fragment not in text


@pytest.fixture
def labels(played: Played) -> sv.Survey:
    made = sv.Survey(sv.shares(["red", "green", SECRET]), epsilon=1.0, mechanism="randomized_response", title="Soup")
    played.publish(made)
    return made


def test_the_value_is_kept_nowhere(
    played: Played, labels: sv.Survey, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    mine = Device(tmp_path / "device.db")
    receipt = mine.answer(played.url, labels.id, SECRET)
    ledger = mine.ledger
    for thing in (mine, receipt, ledger, *ledger, mine.collector(played.url)):
        assert_silent(repr(thing) + str(thing))
    assert_silent(ledger.to_json() + ledger._repr_html_() + repr(receipt.to_dict()))
    for file in tmp_path.iterdir():
        assert_silent(file.read_bytes().decode("latin-1"))
    assert_silent(caplog.text)
    mine.close()


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: type(secret).__name__)
def test_errors_do_not_repeat_it(played: Played, device: MakeDevice, secret: object) -> None:
    surveys = [
        sv.Survey(sv.shares(5), epsilon=1.0),
        sv.Survey(sv.vector(3, 1.0), epsilon=1.0),
        sv.Survey(sv.queries(sv.workloads.Prefix(16)), epsilon=1.0, strategy="haar"),
    ]
    for survey in surveys:
        played.publish(survey)
        with pytest.raises(
            ValueOutsideDomainError, match=r"also reveals something.*`otherwise` \(--otherwise\)"
        ) as info:
            device().answer(played.url, survey.id, secret)
        error = info.value
        assert error.__cause__ is None
        assert error.__context__ is None
        told = [*traceback.format_exception(error), repr(error.args), repr(vars(error)), repr(pickle.dumps(error))]
        assert_silent("".join(told))
    assert played.bodies == []
    assert device().ledger.spent == 0


def test_errors_of_the_network_and_the_disk_do_not_either(
    played: Played, labels: sv.Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = Device(tmp_path / "device.db")
    mine.survey(played.url, labels.id)
    path = tmp_path / "device.db"
    kept = path.read_bytes()
    path.write_bytes(b"damaged")
    with pytest.raises(SottovoceError) as info:
        mine.answer(played.url, labels.id, SECRET)
    assert_silent("".join(traceback.format_exception(info.value)))
    path.write_bytes(kept)
    played.twists["POST", "/reports"] = lambda _: refusal(400, "bad_report")
    assert_silent(mine.answer(played.url, labels.id, SECRET).problem)
    mine.close()


# --- the value is looked at last -------------------------------------------------------------


def test_refusals_come_before_the_value_is_looked_at(
    played: Played, labels: sv.Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cap, budget, key, sealed survey and a wrong default are refused without ever touching the value."""
    touched: list[object] = []
    real = sv.Survey.private_input
    monkeypatch.setattr(sv.Survey, "private_input", lambda s, v: touched.append(v) or real(s, v))
    for settings in ({"cap": 0.5}, {"budget": 0.5}, {"key": SigningKey(bytes(32)).public}):
        with pytest.raises(SottovoceError):
            Device(MemoryStore(), **settings).answer(played.url, labels.id, SECRET)
    with refuses(ValueOutsideDomainError, "otherwise"):
        Device(MemoryStore()).answer(played.url, labels.id, SECRET, otherwise="purple")
    assert touched == ["purple"]
    played.states[labels.id] = "sealed"
    with pytest.raises(SottovoceError):
        Device(MemoryStore()).answer(played.url, labels.id, SECRET)
    assert touched == ["purple"]
    played.states.clear()
    Device(MemoryStore()).answer(played.url, labels.id, SECRET)
    assert set(touched[1:]) == {SECRET}


def test_a_wrong_default_is_refused_whatever_the_value(played: Played, labels: sv.Survey) -> None:
    for value in ("red", "purple", None):
        with refuses(ValueOutsideDomainError, "otherwise"):
            Device(MemoryStore()).answer(played.url, labels.id, value, otherwise="purple")
    assert played.bodies == []


def test_a_value_outside_is_answered_as_the_default(played: Played, device: MakeDevice) -> None:
    """At epsilon 16 over two values the report is the default's but for a chance of 1e-7 each: 20 devices agree."""
    survey = sv.Survey(sv.shares(["no", "yes"]), epsilon=16.0, mechanism="randomized_response")
    played.publish(survey)
    for value in [None, "maybe", 7, "yes"] * 5:
        Device(MemoryStore(), cap=16.0, budget=16.0).answer(played.url, survey.id, value, otherwise="no")
    got = [survey.mechanism.decode(row[20:]) for row in played.reports(survey)]
    assert got == [0, 0, 0, 1] * 5


def test_silence_does_not_tell_inside_from_outside(played: Played, labels: sv.Survey) -> None:
    """With a default, what goes over the wire has the same shape and number of requests."""
    shapes = set()
    for value in ("red", SECRET, "purple", None, 10**30, object()):
        played.requests.clear()
        played.bodies.clear()
        Device(MemoryStore()).answer(played.url, labels.id, value, otherwise="red")
        shapes.add((tuple(played.requests), tuple(map(len, played.bodies))))
    assert len(shapes) == 1


@pytest.mark.parametrize("kind", ["labels", "mean"])
def test_the_same_lines_run_for_every_value(
    played: Played, labels: sv.Survey, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The mechanism aside, which is tested on its own: its draws take as many steps as chance has it."""
    mean = sv.Survey(sv.vector(3, 1.0), epsilon=1.0)
    played.publish(mean)
    survey = labels if kind == "labels" else mean
    values = ["red", "green", SECRET] if kind == "labels" else [[0, 0, 0], [1e9, 0, 0], [-1.0, 0.5, 0.1]]
    fixed = survey.randomize(values[0])
    monkeypatch.setattr(sv.Survey, "randomize", lambda self, value: fixed)
    runs = []
    for value in [values[0], *values]:  # the first one warms caches
        with Device(MemoryStore()) as mine:
            run = lines_run(lambda value=value, mine=mine: mine.answer(played.url, survey.id, value))
        runs.append([line for line in run if line[0] not in PIECES])
    assert runs[1] == runs[2] == runs[3]
    assert any(name == "_chosen" for name, _ in runs[1])


# --- no message is built in secret -----------------------------------------------------------


def caches(domain: LabelDomain) -> set[str]:
    return set(vars(domain)) - {"names"}


@pytest.mark.parametrize("value", ["red", SECRET, "purple", 0, 10**30, None, object()], ids=lambda v: type(v).__name__)
def test_all_labels_are_gone_through_before_the_value_is(
    played: Played, labels: sv.Survey, monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    """Whatever is built once over all labels, be it for an error's words, is there when the value is looked up."""
    found: list[tuple[object, set[str]]] = []
    real = LabelDomain._find
    monkeypatch.setattr(LabelDomain, "_find", lambda s, v: (found.append((v, caches(s))), real(s, v))[1])
    words: list[object] = []
    allowed = LabelDomain._allowed.fget
    assert allowed is not None
    monkeypatch.setattr(LabelDomain, "_allowed", property(lambda s: (words.append(len(found)), allowed(s))[1]))
    Device(MemoryStore()).answer(played.url, labels.id, value, otherwise="green")
    built = {"_texts", "_has_truths"}
    first = next(i for i, (v, _) in enumerate(found) if v is value and i >= 2)  # after the two public probes
    assert found[first][1] >= built
    assert found[-1][1] == found[first][1], "nothing was left to build after it"
    assert [place for place in words if place > first] == [], "no error's words, which would go through all labels"


@pytest.mark.parametrize(
    "survey",
    [
        sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=1.0),
        sv.Survey(sv.shares([3, 5, 7]), epsilon=1.0),
        sv.Survey(sv.shares(range(-5, 5)), epsilon=1.0),
        sv.Survey(sv.shares(sv.Domain.text(3, "abc")), epsilon=1.0),
        sv.Survey(sv.shares({"age": range(10), "city": ["Rome", "Oslo"]}), epsilon=1.0),
        sv.Survey(sv.queries(sv.workloads.Prefix(16)), epsilon=1.0, strategy="haar"),
        sv.adaptive.round_of(
            sv.Panel({"age": range(10), "city": ["Rome", "Oslo"]}, rounds=1, epsilon=1.0), 1, "age / 9"
        ),
        sv.Survey(sv.vector(2, 1.0), epsilon=1.0),
    ],
    ids=lambda survey: f"{survey.kind}-{survey.id[:4]}",
)
def test_membership_is_what_randomizing_takes(survey: sv.Survey) -> None:
    """Decided without words, it is the same as with them."""
    values = [
        *("red", "purple", "", "ab", "abcd", 0, 3, -5, -6, 15, 16, 10**30, None, 1.0, True, np.int64(3), [0.0, 1.0]),
        *(
            [1.0],
            {"age": 3, "city": "Rome"},
            {"age": 3},
            {"age": 99, "city": "Rome"},
            (3, "Oslo"),
            (3, "Paris"),
            b"red",
        ),
    ]
    prepare(survey)
    inside = [has(survey, value) for value in values]
    assert inside == [why_not(survey, value) == "" for value in values]
    assert any(inside)
    assert not all(inside)
