"""Adaptive sessions: what they ask, what they keep, and how they go on after being killed."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.adaptive import ChoiceAnswer, RoundAnswer, Session
from sottovoce.adaptive.crowd import SimulatedCrowd
from sottovoce.core.errors import QueryError, SessionError, SurveyError, ValueOutsideDomainError
from sottovoce.surveys.panel import Panel

DOMAIN = sv.Domain.product(age=range(100), country=["DE", "FR", "IT"], words=2**40)
N = 30_000


def people(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    age, country = rng.integers(100, size=N), np.array(["DE", "FR", "IT"])[rng.integers(3, size=N)]
    return {"age": age, "country": country, "words": rng.integers(2**40, size=N)}


@pytest.fixture
def survey() -> Panel:
    return sv.Panel(DOMAIN, rounds=4, epsilon=2.0)


def converse(session: Session) -> list[float]:
    """A conversation whose later questions depend on earlier answers."""
    first = session.ask("age < 50")
    second = session.ask(f"age < {20 if first.value > 0.5 else 30}")
    third = session.choose("find(country, ('FR',))", ["FR", "others"])
    fourth = session.ask(f"words / {2**40} * {second.value!r}")
    return [first.raw, second.raw, *third.require_estimate().raw.tolist(), fourth.raw]


def test_answers_near_the_truth_and_inside_their_intervals(survey: Panel) -> None:
    """At level 1 - 1e-7 none of four intervals should fail; they are about 0.09 wide, and so can fail."""
    values = people()
    session = sv.Session.simulated(survey, values, seed=3)
    truths = [np.mean(values["age"] < 50), np.mean(values["country"] == "FR"), np.mean(values["age"] / 99)]
    answers = [session.ask(text) for text in ("age < 50", "country == 'FR'", "age / 99")]
    for answer, truth in zip(answers, truths, strict=True):
        low, high = answer.interval(1 - 1e-7)
        assert low <= truth <= high
        assert high - low < 0.2
    assert [answer.round for answer in answers] == [1, 2, 3]
    assert session.remaining == 1
    assert sum(answer.n_reports for answer in answers) < N


def test_everybody_is_in_exactly_one_round(survey: Panel) -> None:
    session = sv.Session.simulated(survey, people(), seed=3)
    counted = [session.ask("1").n_reports for _ in range(4)]
    assert sum(counted) == N
    assert min(counted) > 0


def test_the_same_seed_repeats_the_conversation(survey: Panel) -> None:
    once, again = (converse(sv.Session.simulated(survey, people(), seed=5)) for _ in range(2))
    assert once == again
    assert once != converse(sv.Session.simulated(survey, people(), seed=6))
    assert converse(sv.Session.simulated(survey, people())) != converse(sv.Session.simulated(survey, people()))


def test_the_assignment_does_not_depend_on_the_questions(survey: Panel) -> None:
    one, other = sv.Session.simulated(survey, people(), seed=5), sv.Session.simulated(survey, people(), seed=5)
    for text in ("age < 3", "country == 'FR'", "bit(words, 4)", "1"):
        assert one.ask(text).n_reports == other.choose("age", 100).n_reports


# --- refusals that lose nothing ------------------------------------------------------------------


@pytest.mark.parametrize("text", ["age", "2 * (age < 30)", "-1.0000001", "age / 98", "clip(age, -2, 2)"])
def test_a_query_that_leaves_the_radius_is_refused(survey: Panel, text: str) -> None:
    session = sv.Session.simulated(survey, people(), seed=1)
    with refuses(QueryError, "query"):
        session.ask(text)
    assert session.remaining == 4
    assert len(session.history) == 0


def test_a_device_clips_what_an_analyst_would_be_refused(survey: Panel) -> None:
    hostile = sv.adaptive.round_of(survey, 1, sv.query("age * 1000000 - 3"))
    asked = hostile.people({"age": [0, 1, 99], "country": ["DE"] * 3, "words": [0, 0, 0]})
    assert asked.between(0, 3).tolist() == [[-1.0], [1.0], [1.0]]
    assert len(hostile.randomize({"age": 99, "country": "FR", "words": 2**40 - 1})) == 5
    choice = sv.adaptive.round_of(survey, 1, sv.query("age * 1000 - 5"), 7)
    ends = {"age": [0, 99], "country": ["DE", "IT"], "words": [0, 2**40 - 1]}
    assert choice.people(ends).between(0, 2).tolist() == [0, 6]


def test_a_larger_radius_takes_larger_queries() -> None:
    survey = sv.Panel(DOMAIN, rounds=1, epsilon=4.0, radius=99.0)
    answer = sv.Session.simulated(survey, people(), seed=2).ask("age")
    assert answer.interval(1 - 1e-7).low < 49.5 < answer.interval(1 - 1e-7).high


def test_after_the_last_round(survey: Panel) -> None:
    session = sv.Session.simulated(survey, people(), seed=1)
    converse(session)
    before = session.history.to_json()
    for ask in (lambda: session.ask("age < 3"), lambda: session.choose("age", 100)):
        with pytest.raises(SessionError, match="all 4 rounds"):
            ask()
    assert session.history.to_json() == before
    assert session.remaining == 0


@pytest.mark.parametrize("seed", range(3))
def test_an_empty_round_says_so_and_loses_nothing(seed: int) -> None:
    survey = sv.Panel(sv.Domain.product(age=range(100)), rounds=50, epsilon=1.0)
    session = sv.Session.simulated(survey, {"age": [30, 40]}, seed=seed)
    answers = [session.ask("age < 35 and 0 <= age") for _ in range(49)]
    empty = [answer for answer in answers if answer.empty]
    assert len(empty) >= 47
    answer = empty[0]
    assert answer.value == 0.0
    assert math.isnan(answer.raw)
    assert answer.interval() == (0.0, 1.0)
    assert "nobody answered" in repr(answer)
    assert "nobody answered" in answer.bound.statement
    assert answer.to_dict()["raw"] is None
    assert json.loads(session.history.to_json())
    choice = session.choose("age // 50", 2)
    assert choice.empty == (choice.n_reports == 0)
    assert sum(a.n_reports for a in session.history) == 2


def test_an_empty_choice() -> None:
    session = sv.Session.simulated(sv.Panel(10, rounds=2, epsilon=1.0), [], seed=1)
    answer = session.choose("value", 10)
    assert answer.empty
    assert answer.top() == []
    assert answer.to_dict()["choices"] == []
    with pytest.raises(SessionError, match="nobody"):
        answer.require_estimate()
    assert session.intervals() == [None]
    assert session.bound.value == 2.0


@pytest.mark.parametrize(
    "values",
    [
        {"age": [1], "country": [0]},
        {"age": [1], "country": [0], "words": [0], "extra": [0]},
        {"age": [1, 2], "country": [0], "words": [0]},
        {"age": [100], "country": [0], "words": [0]},
        {"age": [1], "country": [0], "words": [2**40]},
        [{"age": 1, "country": "FR"}],
        [{"age": 1, "country": "Atlantis", "words": 3}],
        [(1, "FR")],
    ],
)
def test_records_that_do_not_fit(survey: Panel, values: object) -> None:
    with pytest.raises(ValueOutsideDomainError) as caught:
        sv.Session.simulated(survey, values, seed=1)
    assert "Atlantis" not in str(caught.value)


def test_choices_must_be_two_or_more_and_not_too_many(survey: Panel) -> None:
    session = sv.Session.simulated(survey, people(), seed=1)
    for choices in (1, 0, -3, 2**21, ["alone"], True):
        with pytest.raises(SurveyError):
            session.choose("age", choices)
    with refuses(QueryError, "query"):
        session.choose("age / 2", 10)
    assert session.remaining == 4


@pytest.mark.parametrize("rounds", [0, -1, 2**16 + 1, 1.5, True, "20", None])
def test_rounds_out_of_range(rounds: object) -> None:
    with refuses(SurveyError, "rounds"):
        sv.Panel(DOMAIN, rounds=rounds, epsilon=1.0)  # type: ignore[arg-type]


# --- records are never listed ---------------------------------------------------------------------


def test_the_largest_product_costs_nothing() -> None:
    domain = sv.Domain.product(a=2**32, b=2**31)
    assert domain.size == 2**63
    survey = sv.Panel(domain, rounds=2, epsilon=16.0)
    session = sv.Session.simulated(survey, [(2**32 - 1, 2**31 - 1), (0, 0)] * 500, seed=1)
    assert session.ask("bit(a, 31) and bit(b, 30)").value == pytest.approx(0.5, abs=0.2)
    assert len(sv.adaptive.round_of(survey, 1, sv.query("a < b")).randomize((2**32 - 1, 2**31 - 1))) == 5


# --- statements ---------------------------------------------------------------------------------


def test_statements_survive_json(survey: Panel) -> None:
    rounds = [
        sv.adaptive.round_of(survey, 1, sv.query("age < 30")),
        sv.adaptive.round_of(survey, 4, sv.query("age // 10"), 10),
    ]
    for stated in (survey, *rounds):
        again = sv.Survey.from_json(stated.to_json())
        assert again == stated
        assert again.id == stated.id
    assert len({stated.id for stated in (survey, *rounds)}) == 3


# --- killed and resumed -------------------------------------------------------------------------


def test_going_on_from_a_file_is_going_on(survey: Panel, tmp_path: Path) -> None:
    whole = sv.Session.simulated(survey, people(), seed=9)
    converse(whole)
    path = tmp_path / "session.json"
    first = sv.Session.simulated(survey, people(), seed=9, path=path).ask("age < 50")
    session = sv.Session.simulated(survey, people(), path=path)
    assert session.remaining == 3
    assert session.history[0].raw == first.raw
    session.ask(f"age < {20 if first.value > 0.5 else 30}")
    sv.Session.simulated(survey, people(), path=path).choose("find(country, ('FR',))", ["FR", "others"])
    last = sv.Session.simulated(survey, people(), path=path)
    assert isinstance(last.history[2], ChoiceAnswer)
    assert last.history[2].labels == ("FR", "others")
    assert isinstance(last.history[1], RoundAnswer)
    last.ask(f"words / {2**40} * {last.history[1].value!r}")
    assert json.loads(last.history.to_json()) == json.loads(whole.history.to_json())


def test_a_session_cut_short_in_a_round_finishes_that_round(
    survey: Panel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "session.json"
    expected = sv.Session.simulated(survey, people(), seed=9).ask("age < 50")
    session = sv.Session.simulated(survey, people(), seed=9, path=path)
    with monkeypatch.context() as patched:
        patched.setattr(SimulatedCrowd, "answer", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            session.ask("age < 50")
    again = sv.Session.simulated(survey, people(), path=path)
    assert [answer.raw for answer in again.history] == [expected.raw]
    assert again.remaining == 3


def test_killed_between_rounds_the_conversation_is_the_same(survey: Panel, tmp_path: Path) -> None:
    """A process that kills itself after every answer, started until all rounds are done."""
    code = textwrap.dedent("""
        import os, signal, sys
        import numpy as np, sottovoce as sv
        survey = sv.Survey.from_json(sys.argv[1])
        rng = np.random.default_rng(0)
        n = 30_000
        sizes = {"age": 100, "country": 3, "words": 2**40}
        values = {name: rng.integers(size, size=n) for name, size in sizes.items()}
        values["country"] = np.array(["DE", "FR", "IT"])[values["country"]]
        session = sv.Session.simulated(survey, values, seed=9, path=sys.argv[2])
        h = session.history
        step = len(h)
        if step == 0: session.ask("age < 50")
        if step == 1: session.ask(f"age < {20 if h[0].value > 0.5 else 30}")
        if step == 2: session.choose("find(country, ('FR',))", ["FR", "others"])
        if step == 3: session.ask(f"words / {2**40} * {h[1].value!r}")
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    path = tmp_path / "session.json"
    for _ in range(4):
        done = subprocess.run([sys.executable, "-c", code, survey.to_json(), str(path)], check=False)
        assert done.returncode == -signal.SIGKILL
    whole = sv.Session.simulated(survey, people(), seed=9)
    converse(whole)
    resumed = sv.Session.simulated(survey, people(), path=path)
    assert resumed.remaining == 0
    assert resumed.history.to_json() == whole.history.to_json()


def test_a_file_that_cannot_be_written_asks_nobody(
    survey: Panel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "session.json"
    session = sv.Session.simulated(survey, people(), seed=9, path=path)
    before = path.read_bytes()

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", refuse)
        with pytest.raises(SessionError, match="No space left"):
            session.ask("age < 50")
    assert path.read_bytes() == before
    assert session.remaining == 4
    assert os.listdir(tmp_path) == ["session.json"]
    assert session.ask("age < 50").raw == sv.Session.simulated(survey, people(), seed=9).ask("age < 50").raw


def damages(text: str) -> list[str]:
    """The kept session with one thing wrong in each."""
    found = ["", "{", "[]", "null", text[:-20], text.replace('"format": 2', '"format": 1', 1)]
    for change in (
        {"rounds": None},
        {"opened": 3},
        {"crowd": {"people": "x"}},
        {"crowd": []},
        {"extra": 1},
        {"panel": {}},
    ):
        found.append(json.dumps({**json.loads(text), **change}))
    for key, value in (
        ("counts", [-1]),
        ("counts", [10**9]),
        ("counts", [1, 2]),
        ("counts", ["a"]),
        ("counts", [2**70]),
        ("n_reports", -1),
        ("n_reports", 1.5),
        ("n_reports", True),
        ("asked", {}),
        ("labels", None),
    ):
        kept = json.loads(text)
        kept["rounds"][0][key] = value
        found.append(json.dumps(kept))
    kept = json.loads(text)
    kept["rounds"] = kept["rounds"][1:]
    return [*found, json.dumps(kept)]


def test_a_damaged_file_is_refused_and_left_alone(survey: Panel, tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    session = sv.Session.simulated(survey, people(), seed=9, path=path)
    session.ask("age < 50")
    session.ask("age < 51")
    for text in damages(path.read_text()):
        path.write_text(text)
        with pytest.raises(SessionError):
            sv.Session.simulated(survey, people(), path=path)
        assert path.read_text() == text


def test_other_people_another_seed_another_survey(survey: Panel, tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    sv.Session.simulated(survey, people(), seed=9, path=path)
    fewer = {name: column[:-1] for name, column in people().items()}
    with refuses(SessionError, "values"):
        sv.Session.simulated(survey, fewer, path=path)
    with refuses(SessionError, "seed"):
        sv.Session.simulated(survey, people(), seed=10, path=path)
    other = sv.Panel(DOMAIN, rounds=5, epsilon=2.0)
    with pytest.raises(SessionError, match="another panel"):
        sv.Session.simulated(other, people(), path=path)
    assert sv.Session.simulated(survey, people(), seed=9, path=path).remaining == 4


def test_saving_by_hand(survey: Panel, tmp_path: Path) -> None:
    session = sv.Session.simulated(survey, people())
    answer = session.ask("age < 50")
    session.save(tmp_path / "kept.json")
    again = sv.Session.simulated(survey, people(), path=tmp_path / "kept.json")
    assert again.history[0].raw == answer.raw  # type: ignore[union-attr]
    assert again.ask("age < 51").raw == session.ask("age < 51").raw


# --- what is shown --------------------------------------------------------------------------------


def test_history_as_table_and_json(survey: Panel) -> None:
    session = sv.Session.simulated(survey, people(), seed=1)
    assert repr(session.history) == "<no question asked yet>"
    converse(session)
    lines = repr(session.history).splitlines()
    assert len(lines) == 5
    assert lines[1].endswith("age < 50")
    table = session.history.to_pandas()
    assert list(table.index) == [1, 2, 3, 4]
    assert table.loc[1, "query"] == "age < 50"
    assert [entry["round"] for entry in json.loads(session.history.to_json())] == [1, 2, 3, 4]
    assert len(session.history[1:3]) == 2
    html = session.history._repr_html_()
    assert html.count("<tr>") == 5
    assert "age &lt; 50" in html
    assert "age < 50" not in html


def test_intervals_of_the_whole_session_are_wider(survey: Panel) -> None:
    session = sv.Session.simulated(survey, people(), seed=1)
    converse(session)
    alone = [answer.interval(0.95) for answer in session.history if isinstance(answer, RoundAnswer)]
    together = [session.intervals(0.95)[i] for i in (0, 1, 3)]
    for one, all_ in zip(alone, together, strict=True):
        assert all_ is not None
        assert all_.low <= one.low
        assert one.high <= all_.high
    with refuses(SurveyError, "level"):
        session.intervals(1)  # type: ignore[arg-type]


def test_nothing_shown_holds_a_record(survey: Panel) -> None:
    session = sv.Session.simulated(survey, people(), seed=1)
    assert repr(session.crowd) == "<30,000 simulated people>"
    assert "30,000 people" in repr(session)
    assert "words" not in repr(session)


# --- what a hostile or careless hand did to it ------------------------------------------------------


def test_a_round_that_was_cut_short_is_finished_before_the_next(survey: Panel, tmp_path: Path) -> None:
    """An interrupt in the middle of a round: its people have begun to answer, so nobody else's question goes there."""

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    expected = sv.Session.simulated(survey, people(), seed=9).ask("age < 50").raw
    session = sv.Session.simulated(survey, people(), seed=9, path=tmp_path / "kept")
    with pytest.raises(KeyboardInterrupt):
        session.ask("age < 50", progress=interrupt)
    answer = session.ask("age < 10")
    assert answer.round == 2
    assert session.history[0].raw == expected  # type: ignore[union-attr]
    assert session.history[0].query == "age < 50"


def test_two_sessions_on_one_file_do_not_overwrite_each_other(survey: Panel, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    one, other = (
        sv.Session.simulated(survey, people(), seed=9, path=path),
        sv.Session.simulated(survey, people(), path=path),
    )
    answer = one.ask("age < 50")
    with pytest.raises(SessionError, match="another session"):
        other.ask("age < 10")
    assert other.remaining == 4
    assert sv.Session.simulated(survey, people(), path=path).history[0].raw == answer.raw  # type: ignore[union-attr]
    one.ask("age < 20")
    path.unlink()
    with pytest.raises(SessionError, match="changed or removed"):
        one.ask("age < 30")
    assert one.remaining == 2


def test_the_file_is_the_same_from_every_folder(survey: Panel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = sv.Session.simulated(survey, people(), seed=9, path="kept")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    session.ask("age < 50")
    assert sv.Session.simulated(survey, people(), path=tmp_path / "kept").remaining == 3
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept["crowd"].pop("seed"),
        lambda kept: kept["crowd"].update(seed="-3"),
        lambda kept: kept["crowd"].update(seed=" 9"),
        lambda kept: kept["crowd"].update(people=30000.9),
        lambda kept: kept["crowd"].update(more="1"),
        lambda kept: kept["rounds"][0].update(counts=[kept["rounds"][0]["counts"][0] - 0.5]),
        lambda kept: kept["rounds"][0].update(counts=["3"]),
        lambda kept: kept["rounds"][0].update(counts=[True]),
        lambda kept: kept["rounds"][0].update(labels="abc"),
        lambda kept: kept["rounds"][0].update(labels=["a"]),
        lambda kept: kept["rounds"][1].update(labels=["FR"]),
        lambda kept: kept["rounds"][1].update(labels=[1, 2]),
        lambda kept: kept["rounds"][0].update(more=1),
        lambda kept: kept.update(format=True),
    ],
)
def test_a_state_is_read_strictly(survey: Panel, tmp_path: Path, change: object) -> None:
    path = tmp_path / "kept"
    session = sv.Session.simulated(survey, people(), seed=9, path=path)
    session.ask("age < 50")
    session.choose("find(country, ('FR',))", ["FR", "others"])
    kept = json.loads(path.read_text())
    change(kept)  # type: ignore[operator]
    path.write_text(json.dumps(kept))
    with pytest.raises(SessionError):
        sv.Session.simulated(survey, people(), path=path)


def test_rounds_in_rounds_in_rounds_are_not_read(survey: Panel) -> None:
    nested: dict[str, object] = sv.adaptive.round_of(survey, 1, "age < 30").to_statement()
    for _ in range(400):
        nested = {**nested, "survey": nested}
    with pytest.raises(SurveyError):
        sv.Survey.from_json(json.dumps(nested))


def test_mistyped_arguments_get_an_explanation(survey: Panel, tmp_path: Path) -> None:
    session = sv.Session.simulated(survey, people(), seed=1)
    for choices in (3.5, None, "ab", {"a", "b"}, ["a", "a"], b"ab"):
        with pytest.raises(SurveyError):
            session.choose("age", choices)  # type: ignore[arg-type]
    assert session.choose("age // 50", np.int64(2)).n_reports > 0  # type: ignore[arg-type]
    for path in (3, b"\0", "a\0b", "\ud800", "x" * 5000):
        with pytest.raises(SessionError):
            sv.Session.simulated(survey, people(), path=path)  # type: ignore[arg-type]
    empty = sv.Session.simulated(sv.Panel(10, rounds=2, epsilon=1.0), [], seed=1).ask("value < 3")
    with pytest.raises(SurveyError):
        empty.interval(7)
    assert sv.adaptive.round_of(survey, 1, "age < 30") == sv.adaptive.round_of(survey, 1, sv.query("age < 30"))


def test_intervals_at_the_edge_of_sure(survey: Panel) -> None:
    many = sv.Session.simulated(sv.Panel(10, rounds=2**16, epsilon=1.0), [1] * 10, seed=1)
    many.ask("value < 3")
    assert many.intervals(1 - 1e-13)[0] is not None
