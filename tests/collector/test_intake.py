"""Binary bodies: what is taken, what is refused as a whole, what report by report, and what is asked of the store."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from bodies import Shelf, adaptive, ids, json_report, reports, surveys
from sottovoce.collector.intake.checking import Intake
from sottovoce.collector.intake.survey_cache import SurveyCache
from sottovoce.collector.surveys.published import survey_of
from sottovoce.core.errors import StoreError, StoreUnavailableError
from sottovoce.formats.wire import BATCH_HEADER_BYTES, encode_batch
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.survey import Survey

NAMES = list(surveys())


def shelf() -> Shelf:
    return Shelf(adaptive(), *surveys().values())


@pytest.fixture(scope="module")
def intake() -> Intake:
    return Intake(SurveyCache(shelf()), max_batch_reports=40, clock=lambda: 7200.5)


def body_of(name: str, n: int) -> bytes:
    return encode_batch(surveys()[name].id, zip(ids(n), reports(name)[:n], strict=True))


def refusal(intake: Intake, survey_id: str, body: bytes) -> Refusal:
    with pytest.raises(Refusal) as caught:
        intake.read_batch(survey_id, body)
    return caught.value


def bad_payload(name: str) -> bytes:
    """Of the right width, and no report: all bits set, or the largest integers."""
    width = surveys()[name].mechanism.report_bytes
    return b"\xff\xff\x7f" * (width // 3) if name == "gaussian" else b"\xff" * width


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 40])
def test_honest_batches_are_taken_whole(intake: Intake, name: str, n: int) -> None:
    survey = surveys()[name]
    arrival, refused = intake.read_batch(survey.id, body_of(name, n))
    assert refused == []
    assert arrival is not None
    assert (arrival.survey, arrival.n, arrival.epoch) == (survey.id, n, 2)
    expected = b"".join(i + report[4:] for i, report in zip(ids(n), reports(name)[:n], strict=True))
    assert arrival.rows == expected


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 5])
def test_a_foreign_tag_is_refused(intake: Intake, name: str, n: int) -> None:
    """Each of the tag's four bytes counts."""
    survey = surveys()[name]
    for byte in range(4):
        body = bytearray(body_of(name, n))
        row = 16 + 4 + survey.mechanism.report_bytes
        body[BATCH_HEADER_BYTES + (n - 1) * row + 16 + byte] ^= 1
        arrival, refused = intake.read_batch(survey.id, bytes(body))
        assert [(one.position, one.code) for one in refused] == [(n - 1, "wrong_survey")]
        assert (0 if arrival is None else arrival.n) == n - 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 5])
def test_a_payload_no_device_sends_is_refused(intake: Intake, name: str, n: int) -> None:
    survey = surveys()[name]
    rows = list(zip(ids(n), reports(name), strict=False))
    rows[n // 2] = (rows[n // 2][0], survey.tag + bad_payload(name))
    arrival, refused = intake.read_batch(survey.id, encode_batch(survey.id, rows))
    assert [(one.position, one.code) for one in refused] == [(n // 2, "bad_report")]
    others = b"".join(i + report[4:] for at, (i, report) in enumerate(rows) if at != n // 2)
    assert (b"" if arrival is None else arrival.rows) == others


def test_verdicts_are_mixed_and_in_order(intake: Intake) -> None:
    survey, honest = surveys()["hadamard"], reports("hadamard")
    bad, foreign = survey.tag + b"\xff\xff", b"\0\0\0\0" + honest[0][4:]
    sent = [bad, honest[1], foreign, bad, honest[2], foreign]
    arrival, refused = intake.read_batch(survey.id, encode_batch(survey.id, zip(ids(6), sent, strict=True)))
    codes = [(0, "bad_report"), (2, "wrong_survey"), (3, "bad_report"), (5, "wrong_survey")]
    assert [(one.position, one.code) for one in refused] == codes
    assert arrival is not None
    assert arrival.rows == ids(6)[1] + honest[1][4:] + ids(6)[4] + honest[2][4:]
    nothing, all_refused = intake.read_batch(
        survey.id, encode_batch(survey.id, zip(ids(2), [bad, foreign], strict=True))
    )
    assert nothing is None
    assert [one.code for one in all_refused] == ["bad_report", "wrong_survey"]


def test_a_report_both_foreign_and_bad_is_refused_once(intake: Intake) -> None:
    survey = surveys()["hadamard"]
    sent = [(i, b"\xff" * 6) for i in ids(3)]
    assert [
        (one.position, one.code) for one in intake.read_batch(survey.id, encode_batch(survey.id, sent)).refused
    ] == [(at, "wrong_survey") for at in range(3)]


def test_any_sixteen_bytes_are_an_id_and_doubles_are_for_later(intake: Intake) -> None:
    survey, honest = surveys()["hadamard"], reports("hadamard")
    for report_id in (bytes(16), b"\xff" * 16):
        sent = [(report_id, honest[0]), (report_id, honest[0])]
        arrival, refused = intake.read_batch(survey.id, encode_batch(survey.id, sent))
        assert arrival is not None
        assert (arrival.n, refused) == (2, [])


@pytest.mark.parametrize("name", NAMES)
def test_truncated_and_extended_bodies_are_refused_whole(intake: Intake, name: str) -> None:
    survey, body = surveys()[name], body_of(name, 2)
    row = 20 + survey.mechanism.report_bytes
    for cut in range(len(body)):
        if cut < BATCH_HEADER_BYTES or (cut - BATCH_HEADER_BYTES) % row:
            assert refusal(intake, survey.id, body[:cut]).code == "bad_batch"
    assert refusal(intake, survey.id, body + b"\0").code == "bad_batch"
    assert refusal(intake, survey.id, body[:-row] + body[-row + 1 :]).code == "bad_batch"
    assert refusal(intake, survey.id, body[:BATCH_HEADER_BYTES]).code == "empty_batch"
    assert refusal(intake, survey.id, b"").code == "bad_batch"


def test_a_batch_of_another_survey_is_refused_whole(intake: Intake) -> None:
    ours, theirs = surveys()["question"], surveys()["optimized"]
    assert ours.mechanism.report_bytes == theirs.mechanism.report_bytes
    for n in (1, 3):
        error = refusal(intake, ours.id, body_of("optimized", n))
        assert (error.code, error.status) == ("wrong_survey", 422)
        magic = b"SVR2" + body_of("question", n)[4:]
        assert refusal(intake, ours.id, magic).code == "bad_batch"


def test_too_many_reports_are_refused_whole(intake: Intake) -> None:
    survey = surveys()["hadamard"]
    body = encode_batch(survey.id, [(bytes(16), reports("hadamard")[0])] * 41)
    error = refusal(intake, survey.id, body)
    assert (error.code, error.status) == ("too_many_reports", 413)
    assert "41" in str(error)
    assert "40" in str(error)


def test_unknown_surveys_are_named_as_such_and_odd_ids_never_reach_the_store(intake: Intake) -> None:
    kept = shelf()
    fresh = Intake(SurveyCache(kept))
    for odd in ("", "ab", "'; DROP TABLE surveys; --", "../" * 22, "\0" * 64, "A" * 64, "g" * 64, "٠" * 64, "a" * 65):
        error = refusal(fresh, odd, b"")
        assert (error.code, error.status) == ("unknown_survey", 404)
    assert kept.asked == 0
    for _ in range(3):  # that there is none is not remembered: it may be published a moment later
        assert refusal(fresh, "ab" * 32, b"").code == "unknown_survey"
    assert kept.asked == 3
    assert not fresh.knows("ab" * 32)


def test_an_adaptive_survey_says_where_reports_go(intake: Intake) -> None:
    survey_id = adaptive().id
    for body in (b"", body_of("question", 1), encode_batch(survey_id, [(bytes(16), adaptive().tag + b"\0")])):
        error = refusal(intake, survey_id, body)
        assert (error.code, error.status) == ("survey_panel", 422)
        assert f"/v1/surveys/{survey_id}/rounds/latest" in str(error)
    with pytest.raises(Refusal, match="accepts no reports itself"):
        intake.read_json(survey_id, b"{}")


def test_what_was_sent_is_in_no_message(intake: Intake) -> None:
    survey = surveys()["rejection"]
    secret = b"\x7f" * survey.mechanism.report_bytes
    sent = [(b"secret-secret-id", survey.tag + secret), (b"secret-secret-id", b"\x7e\x7e\x7e\x7e" + secret)]
    _, refused = intake.read_batch(survey.id, encode_batch(survey.id, sent))
    messages = [one.message for one in refused]
    messages.append(str(refusal(intake, survey.id, encode_batch(survey.id, sent)[:-1])))
    assert len(messages) == 3
    for message in messages:
        assert not any(piece in message for piece in ("secret", "7f7f", "7e7e", "\x7f\x7f", "x7f"))
        assert not any(part in message for part in (str(0x7F7F7F), "127"))


def test_a_survey_is_read_once_even_when_everybody_comes_at_once() -> None:
    kept = shelf()
    fresh, survey = Intake(SurveyCache(kept)), surveys()["optimized"]
    body, taken = body_of("optimized", 3), []
    asked: list[str] = []
    original = kept.attachment
    kept.attachment = lambda digest: asked.append(digest) or original(digest)  # type: ignore[method-assign]
    gate = threading.Barrier(8)

    def come() -> None:
        gate.wait()
        taken.append(fresh.read_batch(survey.id, body))

    threads = [threading.Thread(target=come) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 8
    assert all(one.arrival is not None and one.arrival.n == 3 for one in taken)
    assert asked == list(survey.attachments)
    before = kept.asked
    fresh.read_batch(survey.id, body)
    assert kept.asked == before
    assert fresh.knows(survey.id)


def test_the_least_recently_used_survey_is_forgotten() -> None:
    fresh = Intake(SurveyCache(shelf(), most=2))
    a, b, c = (surveys()[name].id for name in ("hadamard", "unary", "question"))
    fresh.learn(a)
    fresh.learn(b)
    fresh.read_batch(a, body_of("hadamard", 1))
    fresh.learn(c)
    assert [fresh.knows(one) for one in (a, b, c)] == [True, False, True]
    assert fresh.read_batch(b, body_of("unary", 1)).arrival is not None


def test_states_are_for_the_store_to_decide_except_that_nothing_is_left_to_read() -> None:
    kept, survey = shelf(), surveys()["unary"]
    kept.records[survey.id] = replace(kept.records[survey.id], state="sealed")
    assert Intake(SurveyCache(kept)).read_batch(survey.id, body_of("unary", 1)).arrival is not None
    kept.records[survey.id] = replace(kept.records[survey.id], state="deleted", canonical=b"")
    error = refusal(Intake(SurveyCache(kept)), survey.id, body_of("unary", 1))
    assert (error.code, error.status) == ("survey_deleted", 410)


def test_what_is_damaged_in_the_store_is_the_stores_fault() -> None:
    kept, survey, other = shelf(), surveys()["unary"], surveys()["hadamard"]
    for canonical in (b"", b"{}", b"\xff", other.canonical):
        kept.records[survey.id] = replace(kept.records[survey.id], canonical=canonical)
        with pytest.raises(StoreError, match=survey.id[:12]):
            Intake(SurveyCache(kept)).read_batch(survey.id, body_of("unary", 1))
    kept.attachments.clear()
    with pytest.raises(StoreError, match="attachment"):
        survey_of(kept, kept.records[surveys()["optimized"].id])


def test_a_survey_of_another_format_is_refused_by_its_id() -> None:
    """As a database that an older version wrote holds them."""
    kept, survey = shelf(), surveys()["hadamard"]
    older = survey.canonical.replace(b'"format":2', b'"format":1')
    with pytest.raises(StoreError, match=f"survey {survey.id[:12]} .* reads format 2"):
        survey_of(kept, replace(kept.records[survey.id], canonical=older))


def test_a_store_that_is_away_is_told_and_nothing_is_remembered() -> None:
    kept, survey = shelf(), surveys()["unary"]
    original = kept.survey

    def away(survey_id: str) -> None:
        raise StoreUnavailableError("away")

    kept.survey = away  # type: ignore[method-assign]
    fresh = Intake(SurveyCache(kept))
    with pytest.raises(StoreUnavailableError):
        fresh.read_batch(survey.id, body_of("unary", 1))
    kept.survey = original  # type: ignore[method-assign]
    assert fresh.read_batch(survey.id, body_of("unary", 1)).arrival is not None


def test_time_is_coarse() -> None:
    now = [3600.0 * 5 - 0.001]
    coarse = Intake(SurveyCache(shelf()), time_precision=1800, clock=lambda: now[0])
    survey = surveys()["unary"]
    seen = []
    for n in (1, 2):
        for later in (0.0, 0.002, 1799.9):
            now[0] = 3600.0 * 5 - 0.001 + later
            arrival = coarse.read_batch(survey.id, body_of("unary", n)).arrival
            assert arrival is not None
            seen.append(arrival.epoch)
    assert seen == [9, 10, 10] * 2


def test_wide_reports_alone_are_judged_as_in_a_batch(intake: Intake) -> None:
    """One report takes another path than many; both give the same verdicts on the same rows."""
    rng = np.random.default_rng(9)
    for name, survey in surveys().items():
        width = survey.mechanism.report_bytes
        pool = [report[4:] for report in reports(name)] + [rng.bytes(width) for _ in range(40)]
        for payload in pool:
            one = [(bytes(16), survey.tag + payload)]
            alone = intake.read_batch(survey.id, encode_batch(survey.id, one))
            beside = intake.read_batch(survey.id, encode_batch(survey.id, one * 2))
            in_json = intake.read_json(survey.id, _json(one[0]))
            assert alone == in_json
            assert len(alone.refused) * 2 == len(beside.refused)
            if alone.arrival is not None:
                assert beside.arrival is not None
                assert beside.arrival.rows == alone.arrival.rows * 2


def _json(pair: tuple[bytes, bytes]) -> bytes:
    sent = json_report(*pair)
    return f'{{"report": "{sent["report"]}", "id": "{sent["id"]}"}}'.encode()


def test_surveys_of_these_tests_have_bad_payloads() -> None:
    for name, survey in surveys().items():
        assert isinstance(survey, Survey)
        assert not survey.mechanism.codec.good_rows(np.frombuffer(bad_payload(name), dtype=np.uint8)[None, :])[0]
