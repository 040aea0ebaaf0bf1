"""A device's round is drawn once. Everything here tries to make it draw again."""

from __future__ import annotations

import copy
import json
import os
import pickle
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.errors import MismatchError, SessionError, ValueOutsideDomainError
from sottovoce.protocols import AdaptiveSurvey

ROUNDS = 60_000
"""So many that two draws agree with chance 1/60,000."""

RECORD = {"age": 42, "country": "FR"}


@pytest.fixture
def survey() -> AdaptiveSurvey:
    return sv.Survey.adaptive(sv.Domain.product(age=range(100), country=["DE", "FR"]), rounds=ROUNDS, epsilon=1.0)


def test_opened_again_and_again(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    rounds = {survey.enrol(tmp_path / "seat").round for _ in range(50)}
    assert len(rounds) == 1


def test_from_many_threads_at_once(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    for trial in range(20):
        with ThreadPoolExecutor(16) as pool:
            seats = list(pool.map(lambda _: survey.enrol(tmp_path / f"seat{trial}"), range(16)))  # noqa: B023
        assert len({seat.round for seat in seats}) == 1


def test_from_many_processes_at_once(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    code = (
        "import sys, sottovoce as sv; survey = sv.Survey.from_json(sys.argv[1]); "
        "seat = survey.enrol(sys.argv[2]); asked = survey.question(seat.round, sv.query('age < 50')); "
        "print(seat.round, seat.answer(asked, {'age': 42, 'country': 'FR'}).hex())"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, survey.to_json(), tmp_path / "seat"], stdout=subprocess.PIPE)
        for _ in range(6)
    ]
    assert len({process.communicate()[0] for process in started}) == 1
    assert all(process.returncode == 0 for process in started)


def test_copies_and_pickles_keep_it(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    seat = survey.enrol(tmp_path / "seat")
    for other in (copy.copy(seat), copy.deepcopy(seat), pickle.loads(pickle.dumps(seat))):  # noqa: S301
        assert other.round == seat.round
        assert other.path == seat.path
    with pytest.raises(AttributeError):
        seat.round = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        "null",
        "\x00" * 50,
        '{"format": 1, "survey": "SURVEY"}',
        '{"format": 2, "survey": "SURVEY", "round": 1}',
        '{"format": 1, "survey": "SURVEY", "round": 0}',
        '{"format": 1, "survey": "SURVEY", "round": 60001}',
        '{"format": 1, "survey": "SURVEY", "round": true}',
        '{"format": 1, "survey": "SURVEY", "round": "7"}',
        '{"format": 1, "survey": "SURVEY", "round": 7, "more": 0}',
        '{"format": 1, "survey": "SURVEY", "round": 7, "round": 8}',
    ],
)
def test_a_damaged_file_is_an_error_and_stays(survey: AdaptiveSurvey, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "seat"
    text = damage.replace("SURVEY", survey.id)
    path.write_text(text)
    with pytest.raises(SessionError, match="damaged"):
        survey.enrol(path)
    assert path.read_text() == text


def test_bytes_that_are_no_text(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    (tmp_path / "seat").write_bytes(b"\xff\xfe\xfd")
    with pytest.raises(SessionError, match="cannot be read"):
        survey.enrol(tmp_path / "seat")


def test_another_survey_finds_no_seat_there(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    survey.enrol(tmp_path / "seat")
    before = (tmp_path / "seat").read_bytes()
    other = sv.Survey.adaptive(survey.domain, rounds=ROUNDS, epsilon=1.5)
    with pytest.raises(MismatchError):
        other.enrol(tmp_path / "seat")
    assert (tmp_path / "seat").read_bytes() == before


def test_a_folder_that_is_not_there_or_cannot_be_written(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="cannot be written"):
        survey.enrol(tmp_path / "nowhere" / "seat")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SessionError, match="cannot be read"):
        survey.enrol(tmp_path / "folder")


def test_a_crash_before_the_link_leaves_nothing(
    survey: AdaptiveSurvey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", refuse)
        with pytest.raises(SessionError, match="No space left"):
            survey.enrol(tmp_path / "seat")
    assert list(tmp_path.iterdir()) == []
    survey.enrol(tmp_path / "seat")


def test_only_its_owner_may_read_it(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    survey.enrol(tmp_path / "seat")
    assert stat.S_IMODE((tmp_path / "seat").stat().st_mode) == 0o600


def test_all_rounds_are_drawn_alike(tmp_path: Path) -> None:
    """600 seats over 3 rounds: chi-squared with 2 degrees above 30 has chance 3e-7; a round never drawn gives 300."""
    survey = sv.Survey.adaptive(10, rounds=3, epsilon=1.0)
    seen = [0, 0, 0]
    for i in range(600):
        seen[survey.enrol(tmp_path / str(i)).round - 1] += 1
    assert sum((count - 200) ** 2 / 200 for count in seen) < 30


# --- the answer ------------------------------------------------------------------------------


def test_a_round_that_is_not_its_own_is_not_answered(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    seat = survey.enrol(tmp_path / "seat")
    asked = survey.question(seat.round % ROUNDS + 1, sv.query("age < 50"))
    assert seat.answer(asked, RECORD) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["seat"]


def test_the_same_bytes_for_ever(tmp_path: Path) -> None:
    """A bit would agree half the time; a choice among 2^16 has reports that do not."""
    survey = sv.Survey.adaptive(2**16, rounds=1, epsilon=0.5)
    asked = survey.choice(1, sv.query("value"), 2**16)
    first = survey.enrol(tmp_path / "seat").answer(asked, 7)
    assert all(survey.enrol(tmp_path / "seat").answer(asked, 7) == first for _ in range(20))
    assert all(survey.enrol(tmp_path / "seat").answer(asked, other) == first for other in range(100))


def test_threads_that_answer_at_once_send_one_report(tmp_path: Path) -> None:
    survey = sv.Survey.adaptive(2**16, rounds=1, epsilon=0.5)
    asked = survey.choice(1, sv.query("value"), 2**16)
    for trial in range(20):
        seat = survey.enrol(tmp_path / f"seat{trial}")
        with ThreadPoolExecutor(16) as pool:
            assert len(set(pool.map(lambda _: seat.answer(asked, 7), range(16)))) == 1  # noqa: B023


def test_another_question_in_the_same_round_gets_no_answer(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    seat = survey.enrol(tmp_path / "seat")
    seat.answer(survey.question(seat.round, sv.query("age < 50")), RECORD)
    for other in (
        survey.question(seat.round, sv.query("age < 51")),
        survey.choice(seat.round, sv.query("age"), 100),
    ):
        with pytest.raises(MismatchError, match="answers one, once"):
            seat.answer(other, RECORD)


def test_the_answer_is_written_before_it_is_sent(
    survey: AdaptiveSurvey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = survey.enrol(tmp_path / "seat")
    asked = survey.question(seat.round, sv.query("age < 50"))

    def refuse(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", refuse)
        with pytest.raises(SessionError):
            seat.answer(asked, RECORD)
    assert seat.answer(asked, RECORD) == seat.answer(asked, RECORD)


@pytest.mark.parametrize("damage", ["", "{}", '{"format": 1, "round": "ROUND", "report": "zz"}'])
def test_a_damaged_answer_is_never_drawn_again(survey: AdaptiveSurvey, tmp_path: Path, damage: str) -> None:
    seat = survey.enrol(tmp_path / "seat")
    asked = survey.question(seat.round, sv.query("age < 50"))
    text = damage.replace("ROUND", asked.id)
    (tmp_path / "seat.answer").write_text(text)
    with pytest.raises(SessionError, match="damaged"):
        seat.answer(asked, RECORD)
    assert (tmp_path / "seat.answer").read_text() == text


def test_a_foreign_round_is_refused(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    seat = survey.enrol(tmp_path / "seat")
    other = sv.Survey.adaptive(survey.domain, rounds=ROUNDS, epsilon=2.0)
    with pytest.raises(MismatchError):
        seat.answer(other.question(seat.round, sv.query("age < 50")), RECORD)


def test_neither_file_nor_error_nor_repr_holds_the_record(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    seat = survey.enrol(tmp_path / "seat")
    asked = survey.question(seat.round, sv.query("age < 50"))
    for record in ({"age": 987654}, {"age": 42, "country": "Atlantis"}, {"age": 42, "country": "FR", "x": 987654}):
        with pytest.raises(ValueOutsideDomainError) as caught:
            seat.answer(asked, record)
        assert "987654" not in str(caught.value)
        assert "Atlantis" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
    seat.answer(asked, RECORD)
    kept = json.loads((tmp_path / "seat.answer").read_text())
    assert set(kept) == {"format", "round", "report"}
    assert len(kept["report"]) == 2 * (4 + 1)
    assert "42" not in repr(seat).replace(survey.id[:12], "").replace(str(seat.round), "")


def test_another_working_folder_or_name_is_no_second_seat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey = sv.Survey.adaptive(2**16, rounds=1, epsilon=0.5)
    asked = survey.choice(1, "value", 2**16)
    monkeypatch.chdir(tmp_path)
    seat = survey.enrol("seat")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    report = seat.answer(asked, 7)
    monkeypatch.chdir(tmp_path)
    assert survey.enrol("seat").answer(asked, 7) == report
    (tmp_path / "link").symlink_to(tmp_path / "seat")
    assert survey.enrol("link").answer(asked, 7) == report


def test_what_a_crash_left_is_swept_up(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    seat = survey.enrol(tmp_path / "seat")
    (tmp_path / ".seat.answer.0123456789abcdef.part").write_text("an earlier draw that was never sent")
    seat.answer(survey.question(seat.round, "age < 50"), RECORD)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["seat", "seat.answer"]


def test_what_is_no_round_is_not_answered(survey: AdaptiveSurvey, tmp_path: Path) -> None:
    seat = survey.enrol(tmp_path / "seat")
    for wrong in (survey, None, "age < 50", sv.Survey.distribution(3, 1.0)):
        with pytest.raises(SessionError, match="a seat answers a round"):
            seat.answer(wrong, RECORD)  # type: ignore[arg-type]
