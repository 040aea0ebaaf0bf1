"""The certificate on the command line: Python's own numbers, their composition, a picture, and helpful refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

import sottovoce as sv
from commands import Run
from sottovoce.core.words import rounded_up

GOAL = ("--central-epsilon", "0.5", "--delta", "1e-8")


@pytest.fixture
def stated(tmp_path: Path) -> Path:
    """The JSON of a survey without a relay."""
    path = tmp_path / "survey.json"
    path.write_text(survey().to_json())
    return path


def survey(**more: object) -> sv.Survey:
    return sv.Survey(sv.shares(100), epsilon=4.0, mechanism="randomized_response", title="A [b] c", **more)


def test_the_certificate_is_that_of_python(run: Run, stated: Path) -> None:
    found = survey().amplified(people=100_000, delta=1e-6)
    told = run("amplify", str(stated), "--people", "1e5", "--delta", "1e-6", "--json").json
    assert told == {"surveys": [{"survey": survey().id, "title": "A [b] c", **found.to_dict()}], "composed": None}
    shown = " ".join(run("amplify", str(stated), "--people", "1e5", "--delta", "1e-6").out.split())
    assert f"{found}; proved by the mechanism's own channel." in shown
    assert found.assumption in shown
    assert "A [b] c" in shown


def test_a_relay_says_how_many_and_with_what_delta(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "relayed.json"
    path.write_text(survey(relay=sv.Relay("https://relay.example.org", 3000, 1e-7)).to_json())
    (told,) = run("amplify", str(path), "--json").json["surveys"]
    assert (told["n"], told["delta"]) == (3000, 1e-7)
    assert told["epsilon"] == survey().amplified(people=3000, delta=1e-7).epsilon


@pytest.mark.slow
def test_several_surveys_are_composed(run: Run, stated: Path) -> None:
    found = survey().amplified(people=100_000, delta=1e-6)
    composed = sv.compose([found, found], delta=1e-6, times=3)
    words = ("amplify", str(stated), str(stated), "--people", "1e5", "--delta", "1e-6", "--times", "3")
    assert run(*words, "--json").json["composed"] == composed.to_dict()
    assert f"All together: {composed}." in " ".join(run(*words).out.split())


@pytest.mark.slow
def test_the_picture_is_drawn(run: Run, stated: Path, tmp_path: Path) -> None:
    picture = tmp_path / "central.svg"
    told = run("amplify", str(stated), "--people", "1e5", "--delta", "1e-6", "--picture", str(picture), "--json").json
    assert told["picture"] == str(picture)
    assert picture.read_text().startswith("<?xml")
    found = survey().amplified(people=100_000, delta=1e-6)
    ax = found.plot()
    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    ((marked,), people) = lines["this survey"], lines["100,000 people"]
    assert marked == found.epsilon
    assert marked in people
    assert all(lines["10,000 people"] >= people)
    assert all(people >= lines["1,000,000 people"])
    assert all(people <= lines["without a shuffler"])
    assert f"central epsilon {rounded_up(found.epsilon)} proved" in ax.get_title(loc="left")


@pytest.mark.parametrize(
    ("words", "helpful"),
    [
        (("--delta", "1e-6"), "people must be given"),
        (("--people", "1000"), "delta must be given"),
        (("--people", "1", "--delta", "1e-6"), "people is 1: it must be 2 or more"),
        (("--people", "1000", "--delta", "0"), "delta must be above 0: with a small chance nobody's report hides"),
        (("--people", "1000", "--delta", "1"), "below 1"),
        (("--people", "1000", "--delta", "1e-6", "--times", "0"), "times is 0"),
        (("--people", "1000.5", "--delta", "1e-6"), "is not a whole number"),
        (("--people", "1000", "--delta", "1e-6", "--picture", "central.txt"), "must end in .png"),
    ],
)
def test_mistakes_are_told(run: Run, stated: Path, words: tuple[str, ...], helpful: str) -> None:
    outcome = run("amplify", str(stated), *words, "--json")
    assert outcome.status == 2
    assert helpful in outcome.json["error"]["message"]


def test_what_has_no_certificate_is_told(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    for other, helpful in (
        (sv.Panel(4, rounds=3, epsilon=1.0), "is a panel, which has no certificate"),
        (
            sv.Survey(sv.vector(2, 1.0), epsilon=1.0, delta=1e-6, mechanism="gaussian"),
            "choose a mechanism without delta",
        ),
    ):
        path.write_text(other.to_json())
        outcome = run("amplify", str(path), "--people", "1000", "--delta", "1e-6", "--json")
        assert outcome.status == 2
        assert helpful in outcome.json["error"]["message"]


# --- plans ------------------------------------------------------------------------------------


def test_a_plan_under_a_shuffler_is_that_of_python(run: Run) -> None:
    found = sv.plan(sv.shares(40), central_epsilon=0.5, delta=1e-8, people=100_000)
    told = run("plan", "shares", "--values", "40", *GOAL, "--people", "1e5", "--json").json
    assert told == {**found.to_dict(), "survey": found.survey().id}
    shown = " ".join(run("plan", "shares", "--values", "40", *GOAL, "--people", "1e5").out.split())
    assert "100,000 people at central epsilon 0.5, delta 1e-08: what error?" in shown
    assert found.promise in shown
    assert found.central is not None
    assert found.central.device_note in shown
    publish = (
        f"--epsilon {found.epsilon:g} --people 100000 --strategy {found.best.strategy} --mechanism "
        f"{found.best.mechanism} --relay https://RELAY --least 100000 --central-delta 1e-08"
    )
    assert publish in shown


@pytest.mark.slow
def test_a_smaller_batch_and_a_limit_of_the_local_epsilon(run: Run) -> None:
    words = ("plan", "shares", "--values", "40", *GOAL, "--margin", "0.02", "--least", "5000", "--epsilon", "2")
    found = sv.plan(sv.shares(40), central_epsilon=0.5, delta=1e-8, margin=0.02, least=5000, epsilon=2.0)
    told = run(*words, "--json").json
    assert (told["epsilon"], told["people"], told["central"]) == (2.0, found.people, found.to_dict()["central"])
    assert "Local epsilon 2 is the largest allowed" in run(*words).out
    outcome = run("plan", "shares", "--values", "40", "--central-epsilon", "0.5", "--people", "1000", "--json")
    assert outcome.status == 2
    assert "delta must be above 0" in outcome.json["error"]["message"]
