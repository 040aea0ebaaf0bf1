"""`sottovoce answer` and `sottovoce ledger`, run here against a played collector."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from device.played import Played, refusal
from sottovoce.cli import main
from sottovoce.core.signing import to_base64url

SECRET = "gazpacho-7731"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def here(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(words)
        out, err = capsys.readouterr()
        return status, out, err

    return here


@pytest.fixture
def colours(played: Played) -> sv.Survey:
    survey = sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=1.0, title="Favourite colours")
    played.publish(survey)
    return survey


def test_by_title_id_and_prefix(played: Played, colours: sv.Survey, run: Any) -> None:
    for i, name in enumerate((colours.title, colours.id, colours.id[:8], colours.id[:63])):
        status, out, err = run("answer", played.url, name, "red", "--store", f"{i}.db")
        assert (status, err) == (0, "")
        assert "Favourite colours" in out
        assert "sent" in out
        assert "epsilon 7 of 8 left" in out
    assert len(set(played.reports(colours))) == 4


def test_as_json_and_again(played: Played, colours: sv.Survey, run: Any) -> None:
    key = to_base64url(played.key.public)
    for value in ("red", "blue", "purple"):
        status, out, _ = run("answer", played.url, colours.id, value, "--json", "--key", key, "--budget", "3")
        told = json.loads(out)
        assert (status, told["state"], told["epsilon"], told["survey"]) == (0, "sent", 1.0, colours.id)
        assert told["ledger"]["epsilon"] == {"spent": 1.0, "left": 2.0, "budget": 3.0}
    assert len(played.bodies) == 1
    status, out, _ = run("ledger", "--json")
    assert (status, json.loads(out)["epsilon"]["left"]) == (0, 7.0)
    assert "Favourite colours" in run("ledger")[1]


def test_the_number_of_answers_is_limited(played: Played, colours: sv.Survey, run: Any) -> None:
    assert run("answer", played.url, colours.id, "red", "--max-answers", "1")[0] == 0
    other = played.publish(sv.Survey(sv.shares(["red", "green"]), epsilon=0.01, title="Other"))
    status, _, err = run("answer", played.url, other, "red", "--max-answers", "1")
    assert status == 2
    assert "this device has given 1 answer and its limit is 1; raise max_answers (--max-answers)" in err
    status, out, _ = run("ledger", "--json", "--max-answers", "5")
    assert json.loads(out)["answers"] == {"given": 1, "left": 4, "limit": 5}
    assert "no more answers of at most 1" in run("ledger", "--max-answers", "1")[1]


def test_two_surveys_of_one_title(played: Played, colours: sv.Survey, run: Any) -> None:
    other = played.publish(sv.Survey(sv.shares(["red", "green"]), epsilon=1.0, title="Favourite colours"))
    status, _, err = run("answer", played.url, "Favourite colours", SECRET)
    assert status == 2
    assert colours.id in err
    assert other in err
    assert SECRET not in err
    assert run("answer", played.url, colours.id[:9], "red")[0] == 0


@pytest.mark.parametrize("name", ["No such title", "abcdef0", "ab" * 10])
def test_no_such_survey(played: Played, colours: sv.Survey, run: Any, name: str) -> None:
    status, _, err = run("answer", played.url, name, SECRET)
    assert status == 2
    assert "no such survey" in err
    assert SECRET not in err


def test_an_empty_name_is_no_untitled_survey(played: Played, run: Any) -> None:
    """As from a variable of the shell that was never set."""
    played.publish(sv.Survey(sv.shares(["red", "green"]), epsilon=1.0))
    status, _, err = run("answer", played.url, "", "red")
    assert status == 2
    assert "no survey is given" in err
    assert not played.bodies


def test_answering_again_is_told_as_such(played: Played, colours: sv.Survey, run: Any) -> None:
    assert "no other report will be drawn" in run("answer", played.url, colours.title, "red")[1]
    told = {run("answer", played.url, colours.title, value)[:2] for value in ("red", "blue", SECRET)}
    assert len(told) == 1
    ((status, out),) = told
    assert status == 0
    assert "answered before: its first report stands" in out


def test_a_value_that_looks_like_an_option(played: Played, colours: sv.Survey, run: Any) -> None:
    assert "write -- before a value that begins with a dash" in run("answer", played.url, colours.id, "-0.1,0")[2]


def test_a_list_that_lies_about_a_title(played: Played, colours: sv.Survey, run: Any) -> None:
    listed = {"id": colours.id, "title": "Harmless", "kind": "shares", "epsilon": 0.1, "state": "open"}
    played.twists["GET", "/v1/surveys"] = lambda _: (200, {}, json.dumps({"surveys": [listed]}).encode())
    status, _, err = run("answer", played.url, "Harmless", "red")
    assert status == 2
    assert "another title" in err
    assert played.bodies == []


@pytest.mark.parametrize(
    "words",
    [
        (SECRET,),
        ("red", SECRET),
        (f"--{SECRET}",),
        (f"-{SECRET}",),
        ("red", f"--{SECRET}"),
        ("--", f"-{SECRET}"),
        ("red", "--otherwise", SECRET),
    ],
    ids=["unknown", "one more", "option", "dash", "unknown option", "after dashes", "otherwise"],
)
def test_mistakes_do_not_repeat_the_value(played: Played, colours: sv.Survey, run: Any, words: tuple[str, ...]) -> None:
    for extra in ((), ("--json",)):
        status, out, err = run("answer", *extra, played.url, colours.id, *words)
        assert status == 2
        assert err.startswith("sottovoce: error: ")
        assert SECRET not in out + err
    assert played.bodies == []


def test_otherwise_and_standard_input(
    played: Played, colours: sv.Survey, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the bytes are: a value that cannot be read must look like any other."""
    seen = set()
    for i, raw in enumerate((b"red\n", SECRET.encode(), b"\xff\xfe\n", b"", b"\xed\xa0\x80\r\n", b"\0\n")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), "utf-8", "strict"))
        played.requests.clear()
        status, out, err = run("answer", played.url, colours.id, "-", "--otherwise", "blue", "--store", f"{i}.db")
        seen.add((status, out, err, tuple(played.requests)))
    assert len(seen) == 1
    assert len(played.bodies) == 6


def test_a_list_of_hostile_ids(played: Played, colours: sv.Survey, run: Any) -> None:
    """Ids that are none are not looked at, however they are called; of too many only some are shown."""

    def listed(*ids: str) -> None:
        named = [{"id": i, "title": colours.title, "kind": "", "epsilon": 1, "state": "open"} for i in ids]
        played.twists["GET", "/v1/surveys"] = lambda _: (200, {}, json.dumps({"surveys": named}).encode())

    listed("\x1b]0;title\x07\x1b[2J", "b" * 10_000, colours.id.upper(), colours.id + "\n", colours.id)
    assert run("answer", played.url, colours.title, "red")[0] == 0
    listed(*(f"{i:064x}" for i in range(5000)))
    status, _, err = run("answer", played.url, colours.title, "red", "--json", "--store", "b.db")
    assert status == 2
    assert "5000 surveys" in err
    assert len(err) < 1100


@pytest.mark.parametrize("label", ["A" * 500_000, "\x1b[2J\u202e" * 1000], ids=["long", "escapes"])
def test_errors_are_one_short_line(played: Played, run: Any, label: str) -> None:
    statement = sv.Survey(sv.shares(["a", "b"]), epsilon=1.0).to_statement()
    statement["question"]["domain"] = {"labels": [label, label]}
    envelope = played.signed(json.dumps(statement, separators=(",", ":"), sort_keys=True, ensure_ascii=False))
    played.twists["GET", envelope["id"]] = lambda _: (200, {}, json.dumps(envelope).encode())
    for extra in ((), ("--json",)):
        status, out, err = run("answer", played.url, envelope["id"], "a", *extra)
        assert status == 2
        assert err.startswith("sottovoce: error: label ")
        assert err.rstrip("\n").isprintable()
        assert len(err) + len(out) < 3000


@pytest.mark.parametrize("command", ["answer", "ledger"])
def test_errors_of_the_store_are_one_short_line(played: Played, colours: sv.Survey, run: Any, command: str) -> None:
    name = "\x1b[2J" + "d" * 200
    Path(name).write_text("no store")
    words = (command, played.url, colours.id, "red") if command == "answer" else (command,)
    status, _, err = run(*words, "--store", name)
    assert status == 2
    assert "not a database" in err
    assert err.rstrip("\n").isprintable()


def test_what_did_not_arrive(played: Played, colours: sv.Survey, run: Any) -> None:
    played.twists["POST", "/reports"] = lambda _: refusal(503, "busy", Retry_After="3600")
    status, out, _ = run("answer", played.url, colours.id, "red")
    assert status == 2
    assert "not sent yet" in out
    played.twists.clear()
    assert "not sent yet" in run("ledger")[1]
    assert "not sent yet" not in run("ledger", "--send")[1]
    assert len(set(played.reports(colours))) == 1


def test_over_the_cap_and_no_ledger(played: Played, colours: sv.Survey, run: Any, tmp_path: Path) -> None:
    assert run("ledger")[0] == 2
    assert list(tmp_path.iterdir()) == []
    status, _, err = run("answer", played.url, colours.id, "red", "--cap", "0.5")
    assert status == 2
    assert "allows 0.5 per survey" in err
    assert run("answer", "http://stats.example.org", colours.id, "red")[0] == 2


def test_an_adaptive_survey_waits(played: Played, run: Any) -> None:
    survey = sv.Panel({"age": range(100), "country": ["DE", "FR"]}, rounds=5, epsilon=1.0, title="Who?")
    played.publish(survey)
    status, out, _ = run("answer", played.url, "Who?", "age=31,country=FR")
    assert status == 0
    assert "waiting" in out
    assert "epsilon 8 of 8 left" in out


PEOPLE = sv.Domain.product(age=range(100), city=["Rome", 'Oslo, "N"', "a=b"], word=sv.Domain.text(5))


@pytest.mark.parametrize(
    ("domain", "text", "value"),
    [
        (["red", "green"], "red", "red"),
        (["red", "green"], "1", 1),
        (["1", "2"], "2", "2"),
        ([3, 5, 7], "5", 5),
        (range(-5, 5), "-3", -3),
        (range(-5, 5), "+3", 3),
        (10, "1e3", "1e3"),
        (10, "9" * 5000, "9" * 5000),
        (sv.Domain.text(5), "anna", "anna"),
        (sv.Domain.text(5, "0123"), "12", "12"),
        (PEOPLE, "age=31, city=Rome ,word=anna", {"age": 31, "city": "Rome", "word": "anna"}),
        (PEOPLE, 'word=,city="Oslo, \\"N\\"",age=0', {"word": "", "city": 'Oslo, "N"', "age": 0}),
        (PEOPLE, 'age=1,city="a=b",word=b', {"age": 1, "city": "a=b", "word": "b"}),
        (PEOPLE, "age=1,age=2,city=Rome,word=b", "age=1,age=2,city=Rome,word=b"),
        (PEOPLE, "age=1,country=FR", "age=1,country=FR"),
        (PEOPLE, "31", "31"),
    ],
)
def test_reading_values(domain: Any, text: str, value: object) -> None:
    survey = sv.Panel(domain, rounds=2, epsilon=1.0)
    assert survey.parse(text) == value


def test_reading_vectors() -> None:
    survey = sv.Survey(sv.vector(3, 1.0), epsilon=1.0)
    assert survey.parse("0.5,-1, 2e-3") == [0.5, -1.0, 0.002]
    assert survey.parse("0.5,x") == "0.5,x"


def test_a_device_loads_nothing_heavy(played: Played, colours: sv.Survey, tmp_path: Path) -> None:
    heavy = ("scipy", "numba", "granian", "psycopg", "pyarrow", "pandas", "matplotlib", "rich")
    program = (
        "import sys; from sottovoce.device import Device\n"
        f"Device({str(tmp_path / 'device.db')!r}).answer({played.url!r}, {colours.id!r}, 'red')\n"
        f"print(*[m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
