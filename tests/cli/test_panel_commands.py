"""Adaptive questions on the command line: what is measured, what is planned, what is drawn, and every mistake."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest

from sottovoce.adaptive.session import Session
from sottovoce.lab.simulation.adaptive_curves import (
    REPEATS,
    adaptive_curves,
    adaptive_figure,
    people_simulated,
)
from sottovoce.lab.simulation.adaptive_error import measure_adaptive
from sottovoce.lab.simulation.analysts import (
    VALUES,
    draw_people,
    exaggerating_signs,
    people_counts,
    question,
    random_multipliers,
    signs,
    values,
)
from sottovoce.lab.simulation.repeats import seeds_of
from sottovoce.planning.panel import error_line, plan_panel
from sottovoce.surveys.panel import Panel
from sottovoce.theory.adaptive_bounds import MAX_ROUNDS, adaptive_bound, predicted_worst_error, theorem_5_2

SIMULATE = ("simulate", "panel", "--rounds", "6", "--people", "3000", "--epsilon", "1", "--seed", "5")
QUANTILE = (*SIMULATE, "--strategy", "quantile")
HITTERS = ("simulate", "panel", "--people", "2e5", "--epsilon", "4", "--strategy", "heavy_hitters", "--seed", "5")
PLAN = ("plan", "panel", "--rounds", "20", "--people", "1e6", "--epsilon", "1")


@pytest.mark.parametrize("words", [SIMULATE[:2], PLAN[:2]], ids=" ".join)
def test_help_shows_examples_of_that_command(run, words):
    outcome = run(*words, "--help")
    assert (outcome.status, outcome.err) == (0, "")
    assert " ".join(("sottovoce", *words)) in outcome.out.split("examples:\n", 1)[1]


# --- simulate -------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["random", "overfit", "quantile"])
def test_simulate_says_what_was_measured_and_what_theory_says(run, strategy):
    found = run(*SIMULATE, "--strategy", strategy, "--repeats", "3", "--json").json
    assert (found["strategy"], found["rounds"], found["people"], found["people_per_round"]) == (strategy, 6, 3000, 500)
    assert (found["epsilon"], found["repeats"], found["seed"]) == (1.0, 3, 5)
    assert found["linf_bound"] == adaptive_bound(6, 1.0, 1.0, 3000).value
    assert found["linf_bound_paper"] == theorem_5_2(6, 1.0, 1.0, 3000).value
    assert found["linf_predicted"] == predicted_worst_error(6, 1.0, 1.0, 3000)
    assert 0 < found["linf_error"] < found["linf_bound"]
    assert found["standard_errors"]["linf_error"] > 0
    assert found["seconds"] > 0
    assert (found["bias"] is None) == (strategy != "overfit")
    if strategy == "quantile":
        rank = found["outcome"]
        assert rank["measure"] == "rank error"
        assert 0 <= rank["mean"] <= 0.5
        assert 0 < rank["predicted"] < 0.5
    else:
        assert found["outcome"] is None
        assert found["linf_error_people"] != found["linf_error"]


def test_heavy_hitters_choose_their_rounds_and_tell_their_recall(run):
    found = run(*HITTERS, "--json").json
    recall = found["outcome"]
    assert (recall["measure"], recall["standard_error"]) == ("recall", None)
    # Ten values of which at least three are found: a search that finds nothing has recall 0.
    assert 0.3 <= recall["mean"] <= 1
    assert 0.3 <= recall["predicted"] <= 1
    assert found["rounds"] >= 2
    assert 0 < found["linf_error"] < 0.2
    assert (found["linf_bound"], found["linf_predicted"], found["linf_bound_paper"]) == (None, None, None)


def test_the_printed_theorem_says_nothing_about_few(run):
    words = list(SIMULATE)
    words[5] = "200"
    assert run(*words, "--json").json["linf_bound_paper"] is None
    assert "Theorem" not in run(*words).out
    words[3] = "1"
    assert run(*words, "--json").json["linf_bound_paper"] is None


@pytest.mark.parametrize("words", [SIMULATE, (*SIMULATE, "--strategy", "overfit"), QUANTILE])
def test_the_same_seed_gives_the_same_errors_and_another_gives_others(run, words):
    first, again = run(*words, "--json").json, run(*words, "--json").json
    changed = list(words)
    changed[changed.index("--seed") + 1] = "6"
    other = run(*changed, "--json").json
    assert first["linf_error"] == again["linf_error"] != other["linf_error"]


def test_errors_are_those_of_sessions_against_both_truths():
    found = measure_adaptive(5, 900, 2.0, repeats=3, seed=11)
    panel = Panel(values(), rounds=5, epsilon=2.0)
    questions_seed, *seeds = seeds_of(11, 7)
    multipliers = random_multipliers(5, questions_seed)
    population, own = [], []
    for people_seed, session_seed in zip(seeds[::2], seeds[1::2], strict=True):
        drawn = draw_people(900, people_seed)
        session = Session.simulated(panel, drawn, session_seed)
        answers = np.array([session.ask(question(m)).value for m in multipliers])
        means = np.array([signs(m)[drawn - 1].mean() for m in multipliers])
        population.append(np.abs(answers).max())
        own.append(np.abs(answers - means).max())
    assert found.mean.linf_error == pytest.approx(statistics.mean(population))
    assert found.mean.linf_error_people == pytest.approx(statistics.mean(own))
    assert found.standard_error is not None
    assert found.standard_error.linf_error == pytest.approx(statistics.stdev(population) / math.sqrt(3))


def test_every_question_divides_the_values_into_halves():
    multipliers = random_multipliers(1200, 3)
    assert len(set(multipliers[:510])) == 510
    assert set(multipliers) == set(range(1, 511))
    domain = values()
    columns = domain.columns(np.arange(1, VALUES + 1))
    for m in multipliers[:20]:
        assert question(m).evaluate(domain, columns).tolist() == signs(m).tolist()
        assert signs(m).sum() == 0
    assert people_counts(np.array([1, 1, VALUES])).tolist() == [2, *[0] * (VALUES - 2), 1]


def test_the_overfitting_analyst_adds_up_what_was_wrong():
    """Against the very answers it was made of: every one of them agrees with it in sign."""
    asked = [signs(m) for m in (2, 5, 7)]
    answers = [0.03, -0.02, 0.01]
    made = exaggerating_signs(asked, answers)
    assert made.sum() == 0
    assert all((made @ q > 0) == (a > 0) for q, a in zip(asked, answers, strict=True))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (SIMULATE, ("3,000 people in 6 rounds of about 500, random, epsilon 1: simulated once", "proved", "expected")),
        (
            (*SIMULATE, "--strategy", "overfit", "--repeats", "2"),
            ("±", "2 times", "they gain nothing", "these people's means"),
        ),
        (QUANTILE, ("quantile", "rank error", "Theorem 5.2 as printed", "seed 5")),
        (HITTERS, ("heavy_hitters", "recall", "largest of the frequencies found")),
    ],
)
def test_tables_for_people(run, words, expected):
    outcome = run(*words)
    assert (outcome.status, outcome.err) == (0, "")
    unwrapped = " ".join(outcome.out.split())
    for text in expected:
        assert text in unwrapped


# --- plan -----------------------------------------------------------------------------------


def test_plan_solves_for_what_is_missing(run):
    found = run(*PLAN, "--json").json
    bound = adaptive_bound(20, 1.0, 1.0, 10**6).value
    assert (found["solved_for"], found["error"], found["linf_bound"]) == ("error", bound, bound)
    assert found["linf_predicted"] == predicted_worst_error(20, 1.0, 1.0, 10**6)
    assert found["linf_bound_paper"] == theorem_5_2(20, 1.0, 1.0, 10**6).value
    target = str(bound * (1 + 1e-9))
    stated = {"--rounds": "20", "--people": "1e6", "--epsilon": "1", "--error": target}
    for missing in ("--rounds", "--people", "--epsilon"):
        given = [word for name, number in stated.items() if name != missing for word in (name, number)]
        solved = run("plan", "panel", *given, "--json").json
        name = missing.removeprefix("--")
        assert solved["solved_for"] == name
        assert solved[name] == pytest.approx({"rounds": 20, "people": 10**6, "epsilon": 1.0}[name], rel=0.011)
        assert solved["linf_bound"] <= float(target)


def test_plans_are_tight():
    """One person fewer, one round more, or a little less epsilon would miss the target."""
    few = plan_panel(rounds=12, epsilon=0.5, error=0.1)
    assert few.line.bound <= 0.1 < adaptive_bound(12, 1.0, 0.5, few.people - 1).value
    many = plan_panel(people=10**5, epsilon=0.5, error=0.1)
    assert many.line.bound <= 0.1 < adaptive_bound(many.rounds + 1, 1.0, 0.5, 10**5).value
    private = plan_panel(rounds=12, people=10**5, error=0.1)
    assert private.line.bound <= 0.1 < adaptive_bound(12, 1.0, private.epsilon * 0.99, 10**5).value
    assert plan_panel(people=10**10, epsilon=8.0, error=1.9).rounds == MAX_ROUNDS


def test_errors_grow_with_the_radius(run):
    one, three = (
        plan_panel(rounds=12, people=10**5, epsilon=1.0),
        plan_panel(rounds=12, people=10**5, epsilon=1.0, radius=3.0),
    )
    assert three.line.bound == pytest.approx(3 * one.line.bound)
    assert three.line.predicted == pytest.approx(3 * one.line.predicted)
    assert one.line == error_line(12, 1.0, 1.0, 10**5)
    words = ("plan", "panel", "--rounds", "12", "--people", "1e5", "--epsilon", "1", "--radius", "3", "--json")
    assert run(*words).json["linf_bound"] == three.line.bound


def test_plan_shows_fewer_and_more_rounds(run):
    found = run(*PLAN, "--json").json["by_rounds"]
    assert [line["rounds"] for line in found] == [1, 4, 16, 20, 64, 256]
    assert found[0]["paper"] is None
    for fewer, more in itertools.pairwise(found):
        assert fewer["bound"] < more["bound"]
        assert fewer["predicted"] < more["predicted"] < more["bound"] < more["paper"]


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (("--rounds", "20", "--people", "1e6", "--epsilon", "1"), "expected largest error at most 0.0372"),
        (("--rounds", "20", "--error", "0.02", "--epsilon", "1"), "3,454,780 people"),
        (("--rounds", "20", "--people", "1e6", "--error", "0.02"), "epsilon 2.58"),
        (("--people", "1e6", "--error", "0.05", "--epsilon", "1"), "32 rounds"),
    ],
)
def test_plans_as_tables(run, given, answer):
    outcome = run("plan", "panel", *given)
    unwrapped = " ".join(outcome.out.split())
    assert f"{answer}: corrected Theorem 5.2" in unwrapped
    assert "➜" in unwrapped


# --- pictures -------------------------------------------------------------------------------


def test_curves_are_the_formulas_and_points_are_simulations():
    plan, done = plan_panel(rounds=8, people=2000, epsilon=1.0), list[int]()
    curves = adaptive_curves(plan, done.append)
    assert sum(done) == people_simulated(plan)
    assert (curves.lines[0].rounds, curves.lines[-1].rounds) == (1, 64)
    assert curves.lines[5] == error_line(curves.lines[5].rounds, 1.0, 1.0, 2000)
    last = curves.measured[-1]
    assert last.rounds == 8
    assert last.overfitting == measure_adaptive(8, 2000, 1.0, "overfit", repeats=REPEATS, seed=7).mean.linf_error
    (axes,) = adaptive_figure(curves).axes
    drawn = {line.get_label(): line for line in axes.lines}
    proved = drawn["proved, however questions are chosen"]
    assert list(proved.get_ydata()) == [line.bound for line in curves.lines]
    assert list(drawn["simulated: an analyst who overfits"].get_xdata()) == [p.rounds for p in curves.measured]


def test_too_many_people_are_not_simulated_for_a_picture():
    plan = plan_panel(rounds=8, people=10**9, epsilon=1.0)
    assert people_simulated(plan) == 0
    assert adaptive_curves(plan).measured == ()


def test_a_plan_can_be_drawn(run, tmp_path):
    words = ("plan", "panel", "--rounds", "2", "--people", "1000", "--epsilon", "1")
    found = run(*words, "--picture", str(tmp_path / "error.png"), "--json").json
    assert found["picture"] == str(tmp_path / "error.png")
    assert (tmp_path / "error.png").read_bytes().startswith(b"\x89PNG")
    assert "error.svg: error against rounds" in run(*words, "--picture", str(tmp_path / "error.svg")).out


# --- mistakes -------------------------------------------------------------------------------


def changed(words: tuple[str, ...], options: dict[str, str | None]) -> list[str]:
    """The command with some options replaced, added, or (None) taken away."""
    given = dict(zip(words[2::2], words[3::2], strict=True)) | {f"--{name}": value for name, value in options.items()}
    return [*words[:2], *(word for pair in given.items() if pair[1] is not None for word in pair), "--json"]


@pytest.mark.parametrize(
    ("words", "options", "kind", "helpful"),
    [
        (SIMULATE, {"rounds": None}, "SimulationError", "--rounds is missing"),
        (SIMULATE, {"rounds": "0"}, "SurveyError", "rounds is 0"),
        (SIMULATE, {"rounds": "1e5"}, "SurveyError", "from 1 to 65536"),
        (SIMULATE, {"rounds": "2.5"}, "UsageError", "not a whole number"),
        (SIMULATE, {"people": "0"}, "SimulationError", "from 1 to 100,000,000"),
        (SIMULATE, {"people": "1e9"}, "SimulationError", "from 1 to 100,000,000"),
        (SIMULATE, {"epsilon": "0"}, "SurveyError", "epsilon is 0"),
        (SIMULATE, {"strategy": "guess"}, "UsageError", "'random', 'overfit', 'quantile', 'heavy_hitters'"),
        (SIMULATE, {"repeats": "0"}, "SimulationError", "repeats must be"),
        (SIMULATE, {"seed": "-1"}, "SimulationError", "seed must be"),
        (QUANTILE, {"rounds": None}, "SimulationError", "--rounds is missing"),
        (QUANTILE, {"rounds": "63"}, "SimulationError", "from 1 to 62 for a quantile"),
        (QUANTILE, {"people": "0"}, "SimulationError", "people must be"),
        (QUANTILE, {"people": "20"}, "PlanError", "20 people are too few"),
        (QUANTILE, {"repeats": "0"}, "SimulationError", "repeats must be"),
        (HITTERS, {"rounds": "3"}, "SimulationError", "leave --rounds out"),
        (HITTERS, {"people": "200"}, "PlanError", "200 people are too few"),
        (PLAN, {"error": "0.1"}, "PlanError", "got rounds, people, epsilon, error"),
        (PLAN, {"epsilon": None}, "PlanError", "got rounds, people)"),
        (PLAN, {"epsilon": None, "error": "2"}, "PlanError", "below 2"),
        (PLAN, {"epsilon": None, "error": "1e-4"}, "PlanError", "at any epsilon up to"),
        (PLAN, {"people": None, "error": "1e-6"}, "PlanError", "a plan allows at most"),
        (PLAN, {"rounds": None, "error": "1e-3"}, "PlanError", "even for one question"),
        (PLAN, {"rounds": "1e6"}, "SurveyError", "from 1 to 65536"),
        (PLAN, {"people": "1e13"}, "SurveyError", "people is"),
        (PLAN, {"picture": "picture.doc"}, "SimulationError", "must end in .png"),
        (PLAN, {"picture": "nowhere/picture.png"}, "SimulationError", "there is no directory 'nowhere'"),
    ],
)
def test_mistakes_are_one_line_that_helps(run, words, options, kind, helpful):
    outcome = run(*changed(words, options))
    assert outcome.status == 2
    (line,) = outcome.err.splitlines()
    assert line.startswith("sottovoce: error: ")
    assert helpful in line
    assert outcome.json == {"error": {"type": kind, "message": line.removeprefix("sottovoce: error: ")}}


def test_a_picture_that_is_a_directory_is_refused(run, tmp_path):
    (tmp_path / "taken.png").mkdir()
    small = ("plan", "panel", "--rounds", "2", "--people", "100", "--epsilon", "1")
    outcome = run(*small, "--picture", str(tmp_path / "taken.png"), "--json")
    assert outcome.status == 2
    assert "is a directory; name a file in it for the picture" in outcome.json["error"]["message"]
