"""Surveys on a real collector: published, verified, estimated as in one process, exported, sealed, deleted."""

from __future__ import annotations

import pytest

import sottovoce as sv
from analyst.conftest import MINIMUM, counted, send
from refusing import refuses
from sottovoce.analyst.parquet import read_export
from sottovoce.core.errors import ReportError, ServiceError, SessionError, SignatureError, SurveyError
from sottovoce.core.signing import fingerprint, to_base64url

VALUES = ["red"] * 300 + ["green"] * 150 + ["blue"] * 50


def colours(title: str) -> sv.Survey:
    return sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=1.0, title=title)


def refused(status: int, code: str):
    """The collector refuses with that status and code."""
    return pytest.raises(ServiceError, check=lambda error: (error.status, error.code) == (status, code))


# --- publishing and finding ---------------------------------------------------------------------


def test_what_is_published_comes_back_verified(service, collector):
    survey = colours("there and back")
    live = collector.publish(survey)
    assert collector.publish(survey).id == live.id == survey.id
    for name in (survey.id, survey.id[:12], "there and back"):
        found = collector.survey(name)
        assert found.survey == survey
    assert [one.title for one in collector.surveys() if one.id == survey.id] == ["there and back"]
    assert fingerprint(collector.key) == service.fingerprint


@pytest.mark.parametrize(
    "survey",
    [
        sv.Survey(sv.queries(sv.workloads.Prefix(16)), epsilon=1.0, strategy="haar"),
        sv.Survey(sv.vector(5, 2.0), epsilon=1.0),
        sv.Panel({"age": range(100), "name": sv.Domain.text(4)}, rounds=5, epsilon=1.0),
    ],
    ids=lambda survey: survey.kind,
)
def test_every_kind_can_be_published(collector, survey):
    assert collector.publish(survey).survey.id == collector.survey(survey.id).survey.id == survey.id


def test_attachments_travel_too(collector, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    survey = sv.Survey(sv.queries(sv.workloads.Prefix(4)), epsilon=1.0, strategy="optimized")
    assert survey.attachments
    collector.publish(survey)
    assert collector.survey(survey.id).survey.attachments == survey.attachments


def test_one_title_of_two_surveys_names_neither(collector):
    first, second = colours("twice"), sv.Survey(sv.shares(5), epsilon=1.0, title="twice")
    collector.publish(first)
    collector.publish(second)
    with pytest.raises(SurveyError, match="2 surveys match 'twice'") as caught:
        collector.survey("twice")
    assert first.id[:12] in str(caught.value)
    assert second.id[:12] in str(caught.value)


def test_an_unknown_survey(collector):
    for name in ("no such title", "0123"):
        with refused(404, "unknown_survey"):
            collector.survey(name)
    with pytest.raises(ServiceError) as caught:
        collector.survey("0" * 64)
    assert caught.value.status == 404
    with refuses(SurveyError, "name"):
        collector.survey("")


def test_only_surveys_can_be_published(collector):
    adaptive = sv.Panel(10, rounds=2, epsilon=1.0)
    with refuses(SurveyError, "survey"):
        collector.publish(sv.adaptive.round_of(adaptive, 1, "value < 3"))
    with refuses(SurveyError, "survey"):
        collector.publish("a survey")
    with refuses(SurveyError, "minimum_reports"):
        collector.publish(colours("none"), minimum_reports=0)


def test_the_pinned_key_must_be_the_collectors(service, collector):
    survey = colours("pinned")
    collector.publish(survey)
    for pin in (service.fingerprint[:16], to_base64url(collector.key)):
        assert sv.connect(service.url, service.token, key=pin).survey(survey.id).id == survey.id
    with refuses(SignatureError, "key"):
        sv.connect(service.url, service.token, key="0" * 64).survey(survey.id)
    with refuses(SignatureError, "key"):
        sv.connect(service.url, service.token, key="0" * 64).surveys()


# --- estimates ----------------------------------------------------------------------------------


def test_the_estimate_is_the_one_made_in_process(service, collector):
    survey = colours("the same")
    reports = survey.simulate(VALUES, seed=1)
    live = collector.publish(survey)
    ids = send(service.url, survey, reports)
    send(service.url, survey, reports, ids)  # every report twice, as a device does that heard no acknowledgement
    counted(live)
    here = survey.estimate(reports)
    there = live.estimate()
    assert live.aggregate() == survey.aggregate().add(reports)
    assert there.to_json() == here.to_json()
    status = live.status()
    assert (status.n_reports, status.waiting, status.state, status.mechanism) == (
        500,
        0,
        "open",
        survey.mechanism.name,
    )
    assert (status.rounds, status.asked, status.minimum_reports) == (None, None, MINIMUM)


def test_nothing_is_told_below_the_minimum(service, collector):
    survey = colours("few")
    live = collector.publish(survey, minimum_reports=30)
    send(service.url, survey, survey.simulate(VALUES[:29], seed=1))
    counted(live)
    assert live.status().minimum_reports == 30
    for read in (live.aggregate, live.estimate):
        with refused(409, "too_few_reports"):
            read()
    send(service.url, survey, survey.simulate(VALUES[:1], seed=2))
    counted(live)
    assert live.estimate().n_reports == 30


def test_watching_ends_with_the_sealed_survey(service, collector):
    survey = colours("watched")
    live = collector.publish(survey)
    send(service.url, survey, survey.simulate(VALUES, seed=1))
    counted(live)
    seen = []
    for estimate in live.watch(0.1):
        seen.append((estimate.n_reports, estimate.always))
        if len(seen) == 1:
            send(service.url, survey, survey.simulate(VALUES[:100], seed=2))
        else:
            live.seal()
    assert seen == [(500, "population"), (600, "population"), (600, None)]
    assert [estimate.n_reports for estimate in live.watch(0.1)] == [600]
    with refuses(SurveyError, "seconds"):
        next(live.watch(0))


def test_an_adaptive_survey_has_no_estimate_of_its_own(collector):
    live = collector.publish(sv.Panel(10, rounds=2, epsilon=1.0, title="rounds only"))
    for read in (live.aggregate, live.estimate, lambda: next(live.watch())):
        with pytest.raises(SessionError, match="round by round"):
            read()


def test_a_plain_survey_has_no_rounds(collector):
    live = collector.publish(colours("no rounds"))
    for use in (live.rounds, lambda: live.session(reports=10)):
        with pytest.raises(SessionError, match="has no rounds"):
            use()


# --- the end ------------------------------------------------------------------------------------


def test_sealed_is_sealed_and_deleted_is_gone(service, collector):
    survey = colours("to be deleted")
    live = collector.publish(survey)
    live.seal()
    live.seal()
    assert live.status().state == "sealed"
    with refused(409, "survey_sealed"):
        send(service.url, survey, survey.simulate(VALUES, seed=1))
    live.delete()
    with pytest.raises(ServiceError) as caught:
        live.status()
    assert caught.value.status == 410
    assert survey.id not in {one.id for one in collector.surveys()}
    with pytest.raises(ServiceError) as caught:
        collector.publish(survey)
    assert caught.value.status == 409


# --- exports ------------------------------------------------------------------------------------


def test_an_export_is_counted_to_the_same_integers(service, collector, tmp_path):
    survey = colours("exported")
    live = collector.publish(survey)
    send(service.url, survey, survey.simulate(VALUES, seed=1))
    counted(live)
    first = live.export(tmp_path / "new" / "folder")
    assert (first.reports, first.kept) == (500, 0)
    assert first.files >= 1
    assert read_export(survey, tmp_path / "new" / "folder") == live.aggregate()
    again = live.export(tmp_path / "new" / "folder")
    assert (again.files, again.reports) == (0, 0)
    for seed in range(2, 8):
        send(service.url, survey, survey.simulate(VALUES[:40], seed=seed))
        counted(live)
        live.export(tmp_path / "new" / "folder")
    # However the collector put its segments together meanwhile.
    assert read_export(survey, tmp_path / "new" / "folder") == live.aggregate()
    assert live.aggregate().n_reports == 740
    with sv.engines.local().count(survey, tmp_path / "new" / "folder") as found:
        assert (found.ids, found.aggregate()) == ("stated", live.aggregate())


def test_an_export_goes_on_after_an_interruption(service, collector, tmp_path):
    survey = colours("interrupted")
    live = collector.publish(survey)
    for seed in range(3):
        send(service.url, survey, survey.simulate(VALUES[:50], seed=seed))
        counted(live)

    def interrupt(n: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        live.export(tmp_path, progress=interrupt)
    assert len(list(tmp_path.iterdir())) == 1
    assert live.export(tmp_path).kept == 1
    assert read_export(survey, tmp_path) == live.aggregate()


def test_a_survey_without_reports_exports_nothing(collector, tmp_path):
    survey = colours("empty")
    assert collector.publish(survey).export(tmp_path) == (0, 0, 0)
    with refuses(ReportError, "folder"):
        read_export(survey, tmp_path)


# --- tokens -------------------------------------------------------------------------------------


def test_tokens_open_what_they_are_for(service, collector):
    survey = colours("scoped")
    collector.publish(survey)
    made = collector.create_token(["read"], note="a reader")
    assert made.token.startswith(f"sv_{made.id}_")
    assert made.token not in repr(made)
    reader = sv.connect(service.url, made.token)
    assert reader.survey(survey.id).status().state == "open"
    for forbidden in (lambda: reader.publish(survey), reader.tokens, reader.survey(survey.id).seal):
        with pytest.raises(ServiceError) as caught:
            forbidden()
        assert caught.value.status == 403
        assert made.token not in str(caught.value)
    listed = {one.id: one for one in collector.tokens()}
    assert (listed[made.id].note, listed[made.id].scopes, listed[made.id].revoked) == ("a reader", ["read"], False)
    collector.revoke_token(made.id)
    assert {one.id: one.revoked for one in collector.tokens()}[made.id]
    with pytest.raises(ServiceError) as caught:
        reader.survey(survey.id).status()
    assert caught.value.status == 401
    assert made.token not in repr(reader) + str(caught.value)


def test_tokens_that_cannot_be(collector):
    for scopes in ([], ["read", "everything"], "all"):
        with refuses(SurveyError, "scopes"):
            collector.create_token(scopes)
    secret = "sv_0123abcd_" + "A" * 43
    with pytest.raises(SurveyError, match="8 characters") as caught:
        collector.revoke_token(secret)
    assert secret not in str(caught.value)
    with pytest.raises(ServiceError) as caught:
        collector.revoke_token("00000000")
    assert caught.value.status == 404


# --- what can go wrong on the way ---------------------------------------------------------------


def test_a_wrong_token(service):
    stranger = sv.connect(service.url, "sv_0123abcd_" + "A" * 43)
    with pytest.raises(ServiceError) as caught:
        stranger.tokens()
    assert caught.value.status == 401
    assert "A" * 43 not in str(caught.value)


def test_nobody_is_there():
    with pytest.raises(ServiceError, match="cannot be reached") as caught:
        sv.connect("http://127.0.0.1:1", "sv_0123abcd_" + "A" * 43).surveys()
    assert caught.value.status == 0
