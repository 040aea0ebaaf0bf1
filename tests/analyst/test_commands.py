"""The commands around a collector, against a real one."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from analyst.conftest import MINIMUM, check_error, counted, devices, send
from collector.service import running
from commands import run_here
from sottovoce.analyst.parquet import read_export
from sottovoce.core.errors import ServiceError
from sottovoce.core.limits import DEFAULT_CAP, DEFAULT_DELTA_CAP
from sottovoce.estimates.influence import influence
from sottovoce.questions.shares import Shares

WEEKLY = ("--every", "week", "--starts", "2031-01-06", "--periods", "52", "--renews", "quarter")
VALUES = ["red"] * 300 + ["green"] * 150 + ["blue"] * 50


@pytest.fixture
def answered(service, collector):
    """A survey with 500 counted reports."""
    survey = sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=2.0, title="answered")
    live = collector.publish(survey)
    if not live.status().n_reports:
        send(service.url, survey, survey.simulate(VALUES, seed=1))
    counted(live)
    return live


# --- surveys ------------------------------------------------------------------------------------


def test_an_epsilon_that_devices_refuse_is_told_before_it_is_published(service, run):
    words = ("survey", "create", "shares", "--labels", "a,b", "--title", "caps", "--epsilon")
    assert run(*words, f"{DEFAULT_CAP:g}").err == ""
    above = run(*words, f"{DEFAULT_CAP + 1:g}", "--json")
    assert f"warning: epsilon {DEFAULT_CAP + 1:g} is above {DEFAULT_CAP:g}" in above.err
    assert above.json["epsilon"] == DEFAULT_CAP + 1


def test_delta_has_a_cap_too(service, run):
    survey = sv.Survey(sv.vector(2, 1.0), epsilon=1.0, delta=10 * DEFAULT_DELTA_CAP, mechanism="gaussian")
    Path("survey.json").write_text(survey.to_json())
    assert f"is above {DEFAULT_DELTA_CAP:g}" in run("survey", "create", "file", "survey.json").err


def test_the_list_says_that_it_is_public(service, run, answered):
    assert "anybody can read this list" in " ".join(run("survey", "list").out.split())


def test_the_list_needs_no_token(service, run, answered, monkeypatch):
    monkeypatch.delenv("SOTTOVOCE_TOKEN")
    assert answered.id in run("survey", "list", "--json").out


@pytest.mark.parametrize(
    ("words", "stated"),
    [
        (
            ["shares", "--labels", "a,b,c", "--epsilon", "1", "--title", "by labels"],
            lambda: sv.Survey(sv.shares(["a", "b", "c"]), epsilon=1.0, title="by labels"),
        ),
        (
            ["shares", "--values", "1e3", "--epsilon", "2", "--mechanism", "hadamard"],
            lambda: sv.Survey(sv.shares(1000), epsilon=2.0, mechanism="hadamard"),
        ),
        (
            ["queries", "--workload", "prefix:16", "--epsilon", "1", "--strategy", "haar"],
            lambda: sv.Survey(sv.queries(sv.workloads.Prefix(16)), epsilon=1.0, strategy="haar"),
        ),
        (
            ["vector", "--dimension", "3", "--radius", "2", "--epsilon", "1"],
            lambda: sv.Survey(sv.vector(3, 2.0), epsilon=1.0),
        ),
        (
            ["panel", "--attributes", "age=0..99", "sex=f,m", "name=text:4", "--rounds", "7", "--epsilon", "1"],
            lambda: sv.Panel({"age": range(100), "sex": ["f", "m"], "name": sv.Domain.text(4)}, rounds=7, epsilon=1.0),
        ),
        (
            [*("shares", "--labels", "no,yes", "--epsilon", "1", "--people", "5200", "--title", "by weeks"), *WEEKLY],
            lambda: sv.Tracking(
                Shares(["no", "yes"]),
                epsilon=1.0,
                every="week",
                starts="2031-01-06",
                periods=52,
                renews="quarter",
                people=400,
                title="by weeks",
            ),
        ),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_create_publishes_what_the_library_would_state(service, run, collector, words, stated):
    survey = stated()
    outcome = run("survey", "create", *words, "--minimum-reports", "33", "--json")
    assert outcome.status == 0, outcome
    told = outcome.json
    assert (told["id"], told["minimum_reports"], told["state"]) == (survey.id, 33, "open")
    assert collector.survey(survey.id).survey.id == survey.id
    spoken = run("survey", "create", *words)
    assert spoken.status == 0
    assert survey.id in spoken.out
    assert f"sottovoce answer {service.url} {survey.id[:12]} VALUE" in spoken.out
    assert f"sottovoce {'ask' if words[0] == 'panel' else 'estimate'} {survey.id[:12]}" in spoken.out


def test_a_tracking_survey_is_shown_with_its_promise_and_its_periods(run, collector):
    asked = ("survey", "create", "shares", "--labels", "no,yes", "--epsilon", "1", "--title", "shown by weeks")
    created = " ".join(run(*asked, *WEEKLY).out.split())
    promise = "epsilon 1 in each window of 13 weeks, epsilon 2 for any 13 weeks, and epsilon 4 over all 52 weeks"
    assert promise in created
    assert "in a period" in created
    shown = " ".join(run("survey", "show", "shown by weeks").out.split())
    for told in (promise, "0 of 52 have begun", "begins 2031-01-06"):
        assert told in shown
    check_error(run("estimate", "shown by weeks", "--json"), "NoReportsError", "period")


def test_a_survey_with_a_relay_says_so(run, collector):
    asked = ("survey", "create", "shares", "--labels", "no,yes", "--epsilon", "4", "--title", "through a relay")
    url = "https://relay.example.org"
    check_error(run(*asked, "--relay", url, "--json"), "UsageError", "--least")
    check_error(run(*asked, "--least", "500", "--json"), "UsageError", "--relay")
    check_error(run(*asked, "--relay", url, "--least", "1", "--json"), "SurveyError", "least", "2")
    check_error(run(*asked, "--relay", url, "--least", "9", "--central-delta", "0", "--json"), "SurveyError", "above 0")
    created = " ".join(run(*asked, "--relay", url, "--least", "500").out.split())
    assert "epsilon 4 locally, through https://relay.example.org in batches of 500 or more" in created
    assert collector.survey("through a relay").survey.relay == sv.Relay(url, 500)
    found = collector.survey("through a relay").survey.amplified()
    shown = " ".join(run("survey", "show", "through a relay").out.split())
    assert str(found) in created
    assert "local epsilon 4" in shown.partition("guarantees")[0]
    assert "epsilon: the local one" in " ".join(run("survey", "list").out.split())
    for told in (f"through {url} in batches of 500 or more", str(found), found.assumption):
        assert told in shown


def test_create_from_a_file(service, run, tmp_path):
    survey = sv.Survey(sv.queries(sv.workloads.Prefix(4)), epsilon=1.0, strategy="factorized")
    ((_, attachment),) = survey.attachments.items()
    (tmp_path / "survey.json").write_text(survey.to_json())
    (tmp_path / "attached").write_bytes(attachment)
    words = ["survey", "create", "file", str(tmp_path / "survey.json"), "--json"]
    check_error(run(*words), "SurveyError", "attachment is missing")
    assert run(*words, "--attachment", str(tmp_path / "attached")).json["id"] == survey.id
    (tmp_path / "attached").write_bytes(attachment + b"!")
    assert run(*words, "--attachment", str(tmp_path / "attached")).status == 2
    check_error(run("survey", "create", "file", str(tmp_path / "no.json"), "--json"), "SurveyError", "no.json")
    (tmp_path / "survey.json").write_text("{")
    check_error(run(*words), "SurveyError", "survey.json", "not valid JSON")


def test_list_and_show(service, run, answered):
    listed = run("survey", "list", "--json").json["surveys"]
    (line,) = [one for one in listed if one["title"] == "answered"]
    about = {"id": answered.id, "title": "answered", "kind": "shares"}
    assert line == {**about, "epsilon": 2.0, "delta": 0.0, "state": "open"}
    assert answered.id[:12] in run("survey", "list").out
    shown = run("survey", "show", "answered", "--json").json
    assert (shown["id"], shown["n_reports"], shown["fingerprint"]) == (answered.id, 500, service.fingerprint)
    assert shown["statement"] == answered.survey.to_statement()
    spoken = run("survey", "show", answered.id[:8]).out
    assert answered.id in spoken
    assert service.fingerprint[:16] in spoken


def test_a_delta_is_told_wherever_epsilon_is(service, run, collector, answered):
    words = ["vector", "--dimension", "2", "--epsilon", "1", "--delta", "1e-6", "--mechanism", "gaussian"]
    created = run("survey", "create", *words, "--title", "with delta").out
    assert "vector, epsilon 1, delta 1e-06, gaussian" in created
    live = collector.survey("with delta")
    assert (live.status().delta, answered.status().delta) == (1e-6, 0.0)
    listed = run("survey", "list", "--json").json["surveys"]
    assert {one["title"]: one["delta"] for one in listed}["with delta"] == 1e-6
    lines = [line.split() for line in run("survey", "list").out.splitlines()]
    assert ["id", "title", "kind", "epsilon", "delta", "state"] in lines
    assert [line[-3:] for line in lines if line[:1] == [live.id[:12]]] == [["1", "1e-06", "open"]]
    assert [line[-3:] for line in lines if line[:1] == [answered.id[:12]]] == [["2", "0", "open"]]
    rows = [line.split() for line in run("survey", "show", "with delta").out.splitlines()]
    assert ["delta", "1e-06"] in rows
    pure = [line.split()[:1] for line in run("survey", "show", "answered").out.splitlines()]
    assert ["epsilon"] in pure
    assert ["delta"] not in pure
    send(service.url, live.survey, live.survey.simulate([[0.5, 0.0]] * 20, seed=1))
    counted(live)
    assert "20 reports; epsilon 1, delta 1e-06, gaussian" in " ".join(run("estimate", "with delta").out.split())
    assert run("estimate", "with delta", "--json").json["delta"] == 1e-6


def test_titles_cannot_write_on_the_terminal(service, run, collector):
    collector.publish(sv.Survey(sv.shares(3), epsilon=1.0, title="[bold red]loud[/] [link=x]y"))
    assert "[bold red]loud[/]" in run("survey", "list").out


def test_seal_and_delete(service, run, collector):
    survey = sv.Survey(sv.shares(3), epsilon=1.0, title="short-lived")
    live = collector.publish(survey)
    assert run("survey", "seal", "short-lived", "--json").json["state"] == "sealed"
    assert live.status().state == "sealed"
    check_error(run("survey", "delete", "short-lived", "--json"), "UsageError", "--yes", "cannot be undone")
    assert live.status().state == "sealed"
    assert "deleted" in run("survey", "delete", "short-lived", "--yes").out
    with pytest.raises(ServiceError):
        live.status()


# --- estimates ----------------------------------------------------------------------------------


def test_estimate(service, run, answered):
    expected = answered.estimate()
    told = run("estimate", "answered", "--level", "0.9", "--top", "2", "--hostile", "10", "--json").json
    assert told["answers"] == [line.row() for line in expected.top(2, 0.9)]
    assert (told["n_reports"], told["waiting"], told["epsilon"], told["n_answers"]) == (500, 0, 2.0, 3)
    assert told["bound"]["l2"] == expected.bound.value
    assert told["influence"] == influence(answered.survey, 500, 10).to_dict()
    spoken = run("estimate", "answered").out
    assert "500 reports" in spoken
    assert "red" in spoken
    assert "epsilon 2, randomized_response" in " ".join(spoken.split())
    assert f"expected L2 error over all answers: at most {expected.bound.value:.4g}\n" in spoken
    assert told["raw_bound"]["l2"] == expected.raw_bound.value >= expected.bound.value
    assert f"expected L2 error over all raw answers: at most {expected.raw_bound.value:.4g}\n" in spoken
    assert "5 malicious devices among 500 reports" in " ".join(spoken.split())


def test_sums(service, run, answered):
    told = run("estimate", "answered", "--sum", "red", "green", "--sum", "blue", "--json").json
    expected = answered.estimate()
    assert told["method"] == expected.interval().method
    both, alone = expected.sum(["red", "green"]), expected.sum(["blue"])
    assert [(one["labels"], one["value"], one["low"], one["high"]) for one in told["sums"]] == [
        (["red", "green"], both.value, both.low, both.high),
        (["blue"], alone.value, alone.low, alone.high),
    ]
    spoken = " ".join(run("estimate", "answered", "--sum", "red", "green").out.split())
    assert f"red + green: {both.value:.4f}, 95 % from {both.low:.4f} to {both.high:.4f}" in spoken
    assert "intervals: Feldman and Cousins' limits of a count, exact" in spoken


def test_answers_to_queries_keep_their_order(service, run, collector):
    survey = sv.Survey(sv.queries(sv.workloads.Prefix(4)), epsilon=4.0, title="in order")
    live = collector.publish(survey)
    send(service.url, survey, survey.simulate([0] * 300 + [3] * 200, seed=1))
    counted(live)
    expected = live.estimate()
    told = run("estimate", "in order", "--level", "0.9", "--json").json
    assert told["answers"] == expected.to_dict(0.9)["answers"]
    largest = run("estimate", "in order", "--level", "0.9", "--top", "4", "--json").json
    assert largest["answers"] == [line.row() for line in expected.top(4, 0.9)]
    assert largest["answers"] != told["answers"]


def test_watch_ends_with_the_survey(service, run, collector):
    survey = sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=2.0, title="sealed and watched")
    live = collector.publish(survey)
    send(service.url, survey, survey.simulate(VALUES, seed=1))
    counted(live)
    live.seal()
    outcome = run("estimate", "sealed and watched", "--watch", "--json")
    assert [json.loads(line)["n_reports"] for line in outcome.out.splitlines()] == [500]
    assert "500 reports" in run("estimate", "sealed and watched", "--watch").out


def test_estimate_draws(service, run, answered, tmp_path):
    assert run("estimate", "answered", "--picture", str(tmp_path / "colours.svg"), "--json").json["picture"]
    assert (tmp_path / "colours.svg").read_text().startswith("<?xml")
    check_error(run("estimate", "answered", "--picture", "colours.doc", "--json"), "SimulationError", ".svg")


def test_estimate_writes_tables(service, run, answered, tmp_path):
    places = [tmp_path / name for name in ("colours.csv", "colours.parquet")]
    found = run("estimate", "answered", "--csv", str(places[0]), "--parquet", str(places[1]), "--json").json
    assert (found["csv"], found["parquet"]) == (str(places[0]), str(places[1]))
    estimate = answered.estimate()
    assert places[0].read_bytes().decode() == estimate.to_csv()
    assert pq.read_table(places[1]) == estimate.to_arrow()


@pytest.mark.parametrize(
    ("words", "kind", "helpful"),
    [
        (["--level", "2"], "SurveyError", "level must be"),
        (["--top", "0"], "SurveyError", "top is 0"),
        (["--hostile", "0"], "SurveyError", "hostile is 0"),
        (["--hostile", "501"], "SurveyError", "hostile is 501"),
        (["--hostile", "many"], "UsageError", "not a number"),
        (["--sum", "red", "purple"], "UnknownAnswerError", "purple"),
        (["--sum", "red", "red"], "SurveyError", "twice"),
    ],
)
def test_estimate_refuses(service, run, answered, words, kind, helpful):
    check_error(run("estimate", "answered", *words, "--json"), kind, helpful)


def test_estimate_below_the_minimum(service, run, collector):
    survey = sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=1.5, title="too few")
    live = collector.publish(survey)
    send(service.url, survey, survey.simulate(VALUES[: MINIMUM - 1], seed=1))
    counted(live)
    check_error(run("estimate", "too few", "--json"), "ServiceError", f"its estimate needs at least {MINIMUM}")


# --- asking -------------------------------------------------------------------------------------


PEOPLE = {"age": np.arange(2000) % 100}


def test_ask(service, run, collector):
    survey = sv.Panel({"age": range(100)}, rounds=3, epsilon=4.0, title="people")
    live = collector.publish(survey)
    with devices(service.url, survey, PEOPLE):
        first = run("ask", "people", "age < 30", "--reports", "300", "--json").json
        spoken = run("ask", "people", "age // 50", "--choices", "young,old", "--seconds", "0.2")
        session = live.session(reports=300)
        assert first["answer"] == session.history[0].to_dict()
        assert (first["remaining"], first["finished"], len(first["history"])) == (2, False, 1)
        assert spoken.status == 0
        assert "old" in spoken.out
        assert "2 of 3 rounds asked" in " ".join(spoken.out.split())
        # An open round with the same question is finished, and its answer is the answer.
        live.open_round(sv.adaptive.round_of(survey, 3, "age < 60"))
        third = run("ask", "people", "age < 60", "--reports", "300", "--json").json
        assert (third["finished"], third["answer"]["round"], third["remaining"]) == (True, 3, 0)
    check_error(run("ask", "people", "age < 70", "--reports", "1", "--json"), "SessionError", "all 3 rounds")


def test_ask_resumes_a_round_with_its_own_choices_alone(service, run, collector):
    survey = sv.Panel({"age": range(100)}, rounds=2, epsilon=4.0, title="chosen")
    live = collector.publish(survey)
    live.open_round(sv.adaptive.round_of(survey, 1, "age // 50", 2), ("young", "old"))
    asked = ("ask", "chosen", "age // 50", "--reports", "300", "--json", "--choices")
    for other in ("old,young", "young,middle,old", "2"):
        check_error(run(*asked, other), "SessionError", "young,old")
    with devices(service.url, survey, PEOPLE):
        told = run(*asked, "young,old").json
    assert (told["answer"]["round"], told["finished"]) == (1, True)


def test_ask_finishes_another_question_first(service, run, collector):
    survey = sv.Panel({"age": range(100)}, rounds=2, epsilon=4.0, title="left open")
    collector.publish(survey).open_round(sv.adaptive.round_of(survey, 1, "age < 60"))
    with devices(service.url, survey, PEOPLE):
        told = run("ask", "left open", "age < 30", "--reports", "300", "--json").json
    assert [one["round"] for one in told["history"]] == [1, 2]
    assert (told["answer"]["round"], told["finished"]) == (2, False)


def test_ask_interrupted_says_what_to_do(service, run, collector, monkeypatch):
    survey = sv.Panel({"age": range(100)}, rounds=2, epsilon=4.0, title="interrupted")
    live = collector.publish(survey)

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sottovoce.analyst.crowd.time.sleep", interrupt)
    outcome = run("ask", "interrupted", "age < 30", "--reports", "300")
    assert (outcome.status, outcome.out) == (130, "")
    assert "round 1 stays open" in outcome.err
    assert [one.state for one in live.rounds()] == ["open"]


def test_ask_refuses(service, run, collector, answered):
    collector.publish(sv.Panel({"age": range(100)}, rounds=2, epsilon=1.0, title="mistakes"))
    check_error(run("ask", "mistakes", "age < 30", "--json"), "SessionError", "when a round ends")
    check_error(run("ask", "mistakes", "height < 3", "--reports", "9", "--json"), "QueryError", "height")
    check_error(run("ask", "mistakes", "age <", "--reports", "9", "--json"), "QueryError")
    check_error(run("ask", "mistakes", "age", "--reports", "9", "--json"), "QueryError", "this panel allows")
    check_error(run("ask", "answered", "age < 3", "--reports", "9", "--json"), "SessionError", "has no rounds")
    check_error(run("estimate", "mistakes", "--json"), "SessionError", "sottovoce ask")


# --- exports ------------------------------------------------------------------------------------


def test_export(service, run, answered, tmp_path):
    told = run("export", "answered", "--parquet", str(tmp_path / "out"), "--json").json
    assert (told["reports"], told["kept"]) == (500, 0)
    assert read_export(answered.survey, tmp_path / "out") == answered.aggregate()
    assert "0 reports in 0 new files" in run("export", "answered", "--parquet", str(tmp_path / "out")).out
    (tmp_path / "taken").write_text("a file, no folder")
    taken = run("export", "answered", "--parquet", str(tmp_path / "taken"), "--json")
    check_error(taken, "ReportError", "cannot be written")


# --- tokens -------------------------------------------------------------------------------------


def test_tokens(service, run):
    made = run("token", "create", "--scopes", "read, ask", "--note", "Ada", "--json").json
    assert (made["scopes"], made["note"]) == (["read", "ask"], "Ada")
    listed = run("token", "list")
    assert made["id"] in listed.out
    assert made["token"] not in listed.out
    (line,) = [one for one in run("token", "list", "--json").json["tokens"] if one["id"] == made["id"]]
    assert line == {"id": made["id"], "scopes": ["read", "ask"], "note": "Ada", "revoked": False, "expires": None}
    refused = run("token", "list", "--token", made["token"], "--json")
    assert made["token"] not in check_error(refused, "ServiceError")
    assert run("token", "revoke", made["id"], "--json").json == {"id": made["id"], "revoked": True}
    assert run("token", "revoke", "ffffffff").status == 2
    pasted = run("token", "revoke", made["token"], "--json")
    assert made["token"] not in check_error(pasted, "SurveyError", "8 characters")
    check_error(run("token", "create", "--scopes", "all", "--json"), "SurveyError", "read, ask, publish, admin")
    spoken = run("token", "create", "--scopes", "publish").out
    assert spoken.startswith("sv_")


def test_the_last_token_of_an_administrator_is_revoked_only_on_purpose(tmp_path, capsys, monkeypatch):
    """A service of its own, whose only such token this is."""
    run = run_here(capsys)
    with running(tmp_path / "data") as alone:
        monkeypatch.setenv("SOTTOVOCE_URL", alone.url)
        monkeypatch.setenv("SOTTOVOCE_TOKEN", alone.token)
        own = alone.token.split("_")[1]
        check_error(run("token", "revoke", own, "--json"), "UsageError", "last token of an administrator")
        monkeypatch.setattr("sys.stdin", Typed("no\n"))
        assert "was not revoked" in run("token", "revoke", own).err
        run("token", "create", "--scopes", "admin", "--expires", "90d")
        check_error(run("token", "revoke", own, "--json"), "UsageError", "last token of an administrator")
        other = run("token", "create", "--scopes", "admin", "--json").json
        assert run("token", "revoke", other["id"]).status == 0, "another one is left"
        monkeypatch.setattr("sys.stdin", Typed("yes\n"))
        asked = run("token", "revoke", own)
        assert (asked.status, asked.out) == (0, f"{own} is revoked\n")
        assert "--new-admin-token" in asked.err


class Typed(io.StringIO):
    """What somebody types at a terminal."""

    def isatty(self):
        return True


# --- connections --------------------------------------------------------------------------------


COMMANDS = [
    ["survey", "create", "shares", "--values", "3", "--epsilon", "1"],
    ["survey", "list"],
    ["survey", "show", "answered"],
    ["survey", "seal", "answered"],
    ["survey", "delete", "answered", "--yes"],
    ["estimate", "answered"],
    ["ask", "answered", "age < 3", "--reports", "5"],
    ["export", "answered", "--parquet", "nowhere"],
    ["token", "create", "--scopes", "read"],
    ["token", "list"],
    ["token", "revoke", "00000000"],
]
SECRET = "sv_0123abcd_" + "A" * 43


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_collector_or_no_token_is_told(run, words):
    check_error(run(*words, "--json"), "UsageError", "SOTTOVOCE_URL")
    if words != ["survey", "list"]:
        check_error(run(*words, "--url", "http://127.0.0.1:1", "--json"), "UsageError", "SOTTOVOCE_TOKEN")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_unreachable_collector_is_told(run, words):
    line = check_error(run(*words, "--url", "http://127.0.0.1:1", "--token", SECRET, "--json"), "ServiceError")
    assert "cannot be reached" in line
    assert SECRET not in line


@pytest.mark.parametrize("words", [words for words in COMMANDS if words[:2] != ["survey", "list"]], ids=" ".join)
def test_a_wrong_token_is_told(service, run, collector, answered, words):
    rounds = collector.publish(sv.Panel({"age": range(100)}, rounds=2, epsilon=1.0, title="mistakes"))
    named = [rounds.id if words[0] == "ask" and word == "answered" else word for word in words]
    outcome = run(*named, "--token", SECRET, "--json")
    assert SECRET not in check_error(outcome, "ServiceError", "token") + outcome.out
    assert not any(Path.cwd().iterdir())


def test_other_bad_connections(service, run):
    check_error(run("survey", "list", "--url", "ftp://x", "--json"), "ServiceError", "must look like")
    check_error(run("survey", "list", "--url", "http://stats.example.org", "--json"), "ServiceError", "--insecure")
    check_error(run("survey", "list", "--token", "two words", "--json"), "ServiceError", "the token is malformed")
    check_error(run("survey", "show", "answered", "--key", "abc", "--json"), "SignatureError")
    check_error(
        run("survey", "show", "answered", "--key", "0" * 64, "--json"), "SignatureError", "is not the given one"
    )


@pytest.mark.parametrize("words", [["survey", "show"], ["survey", "seal"], ["estimate"]], ids=" ".join)
def test_unknown_and_ambiguous_surveys(service, run, collector, words):
    check_error(run(*words, "no such title", "--json"), "ServiceError", "sottovoce survey list")
    for size in (3, 4):
        collector.publish(sv.Survey(sv.shares(size), epsilon=1.0, title="one of two"))
    check_error(run(*words, "one of two", "--json"), "SurveyError", "2 surveys match", "by its id")


HELP = [
    *[words[:2] for words in COMMANDS if words[0] in ("survey", "token")],
    *[["survey", "create", kind] for kind in ("shares", "queries", "vector", "panel", "file")],
    *[["estimate"], ["ask"], ["export"], ["survey"], ["token"]],
]


@pytest.mark.parametrize("words", HELP, ids=" ".join)
def test_help_shows_examples(run, words):
    outcome = run(*words, "--help")
    assert (outcome.status, outcome.err) == (0, "")
    assert " ".join(("sottovoce", *words)) in outcome.out.split("examples:\n", 1)[1]
