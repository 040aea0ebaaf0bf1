"""What a device runs around its mechanism, called as a device calls it: the frame of its bytes, and its source."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from secrets import token_bytes
from threading import Thread
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.auditing.empirical import certify
from sottovoce.auditing.result import fault_size
from sottovoce.auditing.subject import Subject
from sottovoce.auditing.system import play_source, watch_system
from sottovoce.domain.trials import Trial
from sottovoce.randomness import ByteSource, os_source
from sottovoce.randomness import source as source_module
from sottovoce.surveys import survey as survey_module
from sottovoce.workloads import Prefix

SURVEYS = {
    "proved": sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=1.0, mechanism="randomized_response"),
    "sampled": sv.Survey(sv.shares(3000), epsilon=1.0, mechanism="hadamard"),
    "round": sv.adaptive.round_of(sv.Panel({"age": range(9)}, rounds=3, epsilon=1.0), 1, "age / 8"),
    "queries": sv.Survey(sv.queries(Prefix(6)), epsilon=1.0, mechanism="codebook", strategy="direct", people=2000),
    "vectors": sv.Survey(sv.vector(3, 2.0), epsilon=1.0, mechanism="rejection", people=2000),
    "noise": sv.Survey(sv.vector(2, 2.0), epsilon=1.0, delta=1e-6, mechanism="gaussian", people=2000),
}
SOUND = sv.Survey.randomize


class Constant:
    """A source that always draws the same."""

    def below(self, n: int) -> int:
        return n // 2

    def bernoulli(self, threshold: int) -> bool:
        return threshold > 2**63


HELD = {"proved": "blue", "sampled": 1777, "round": {"age": 8}, "queries": 5}
"""The value at which a survey is faulty."""


def is_faulty(survey: sv.Survey, value: Any) -> bool:
    """Whether it is that value; of vectors, any whose first entry is negative."""
    name = next(name for name, one in SURVEYS.items() if one is survey)
    return bool(value == HELD[name] if name in HELD else value[0] < 0)


def without_tag(self: sv.Survey, value: Any) -> bytes:
    report = SOUND(self, value)
    return report.removeprefix(self.tag) if is_faulty(self, value) else report


def one_byte_more(self: sv.Survey, value: Any) -> bytes:
    return SOUND(self, value) + bytes(is_faulty(self, value))


def another_tag(self: sv.Survey, value: Any) -> bytes:
    report = SOUND(self, value)
    return bytes([report[0] ^ 1]) + report[1:] if is_faulty(self, value) else report


def by_constant(survey: sv.Survey, value: Any) -> bytes:
    """A report whose draws are always the same."""
    return survey.tag + survey.mechanism.encode(survey.mechanism.randomize(survey.private_input(value), Constant()))


def one_by_constant(self: sv.Survey, value: Any) -> bytes:
    return by_constant(self, value) if is_faulty(self, value) else SOUND(self, value)


def all_by_constant(self: sv.Survey, value: Any) -> bytes:
    return by_constant(self, value)


def audited(survey: sv.Survey) -> Any:
    return sv.audit(survey, samples=100, seconds=1)


@pytest.mark.parametrize("name", SURVEYS)
@pytest.mark.parametrize("randomize", [without_tag, one_byte_more, another_tag])
def test_bytes_around_the_payload(name: str, randomize: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sv.Survey, "randomize", randomize)
    found = audited(SURVEYS[name])
    assert found.verdict == "broken"
    assert f"where a report is the tag {SURVEYS[name].tag.hex()} and " in found.witness
    assert found.witness.startswith(("value ", "the vector ("))


@pytest.mark.parametrize("name", SURVEYS)
@pytest.mark.parametrize("randomize", [one_by_constant, all_by_constant])
def test_draws_that_are_not_random(name: str, randomize: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is how a device calls it, and the only call that counts."""
    monkeypatch.setattr(sv.Survey, "randomize", randomize)
    assert audited(SURVEYS[name]).verdict == "broken"


def a_constant() -> Any:
    return Constant()


def zeros() -> ByteSource:
    return ByteSource(bytes)


def half_of_the_bits() -> ByteSource:
    return ByteSource(lambda n: bytes(byte & 0x55 for byte in vars(source_module)["os"].urandom(n)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "source"),
    [
        *((name, source) for name in SURVEYS if name != "noise" for source in (a_constant, zeros, half_of_the_bits)),
        ("noise", half_of_the_bits),  # its sampler never ends on draws that are all the same
    ],
)
def test_the_source_itself(name: str, source: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripted runs replace it, so that only the system's bytes show what it does with them."""
    monkeypatch.setattr(survey_module, "os_source", source)
    found = audited(SURVEYS[name])
    assert found.verdict == "broken"
    assert "which is not what it draws from the " in found.witness


def test_whole_reports_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports alone, drawn from the system through the survey, show a tag that tells."""
    monkeypatch.setattr(sv.Survey, "randomize", another_tag)
    assert certify(SURVEYS["proved"].randomize, [("red", "blue")], samples=2000).lower_bound > 2.0


def test_a_fault_of_the_stated_size_in_the_survey_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only runs through the survey count. A fault in one report of 650 is missed with probability exp(-15) at most."""
    survey, salt, calls = sv.Survey(sv.shares(64), epsilon=2.0, mechanism="unary_optimized"), token_bytes(), 0

    def counted(self: sv.Survey, value: Any) -> bytes:
        nonlocal calls
        calls += 1
        return SOUND(self, value)

    def telling(self: sv.Survey, value: Any) -> bytes:
        report = SOUND(self, value)
        drawn = int.from_bytes(hashlib.sha256(salt + report).digest()[:4], "big") / 2**32
        return report[:6] + bytes([report[6] ^ 1]) + report[7:] if drawn < 1 / 650 else report

    monkeypatch.setattr(sv.Survey, "randomize", counted)
    found = sv.audit(survey, samples=100)
    assert found.verdict == "sampled"
    assert "every value 8 times through the survey; a fault in more than 1 in 7" in found.method
    assert "of the survey's reports would have been seen" in found.method
    assert fault_size(calls) < found.fault_size < 1 / 650
    monkeypatch.setattr(sv.Survey, "randomize", telling)
    assert sv.audit(survey, samples=100).verdict == "broken"


def test_only_the_audit_is_played_to() -> None:
    """Whoever draws in another thread meanwhile, draws from the system; and so does everybody afterwards."""
    survey, drawn = SURVEYS["sampled"], list[bytes]()

    def draw() -> None:
        drawn.extend(survey.randomize(7) for _ in range(20))

    with play_source(survey, Constant()):
        alike = {survey.randomize(7) for _ in range(20)}
        thread = Thread(target=draw)
        thread.start()
        thread.join()
    assert len(alike) == 1
    assert len(set(drawn)) > 1
    with watch_system() as read:
        thread = Thread(target=draw)
        thread.start()
        thread.join()
    assert read == []


def test_what_was_replaced_is_put_back_also_after_an_error() -> None:
    system = vars(source_module)["os"]
    with pytest.raises(KeyError), play_source(SURVEYS["sampled"], Constant()):
        raise KeyError
    with pytest.raises(KeyError), watch_system():
        raise KeyError
    assert survey_module.os_source is os_source
    assert vars(source_module)["os"] is system
    subject = Subject(SURVEYS["proved"].mechanism, SURVEYS["proved"])
    assert subject.wrong_entropy([Trial("red", "red"), Trial("blue", "blue")]) == ""


@pytest.mark.parametrize("randomize", [one_by_constant, all_by_constant])
def test_reports_that_read_nothing_of_the_system(
    randomize: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sv.Survey, "randomize", randomize)
    found = Subject(SURVEYS["proved"].mechanism, SURVEYS["proved"]).wrong_entropy([Trial("number 2", "blue")])
    assert found.startswith("number 2: the device sends ")
    assert found.endswith(
        "which is not what it draws from the 0 random bytes that it has read from the operating system"
    )
