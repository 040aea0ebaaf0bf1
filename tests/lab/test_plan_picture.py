"""A plan's picture: its curves are the plan's own figures, its points simulations of the planned survey."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.figures.style import save_figure
from sottovoce.lab.simulation.plan_picture import (
    REPEATS,
    crowds_simulated,
    people_simulated,
    plan_curves,
    plan_figure,
)
from sottovoce.lab.simulation.survey_error import measure_population
from sottovoce.planning.curves import curve_by_people
from sottovoce.strategies.laws.variance import Population
from sottovoce.theory.bounds import theorem_4_2
from sottovoce.theory.offline_bounds import theorem_3_4
from sottovoce.workloads import Prefix

pytestmark = pytest.mark.slow


def test_curves_are_the_plans_figures_and_points_are_simulations() -> None:
    plan = sv.plan(sv.shares(12), epsilon=1.0, people=3000)
    done: list[int] = []
    curves = plan_curves(plan, done.append)
    assert sum(done) == people_simulated(plan) == REPEATS * sum(one.people for one in curves.measured)
    at = curves.people.index(3000)
    # The curve scales one margin; the plan computes its own, from whole counts.
    assert curves.margin[at] == pytest.approx(plan.margin, rel=5e-3)
    assert min(curves.l2_raw[at], curves.l2_bound[at]) == plan.l2
    assert curves.l2_bound_paper[at] == theorem_4_2(12, 1.0, 3000).value
    assert curves.options == curve_by_people(plan)
    last, worst = curves.measured[-1], plan.design.worst_population()
    assert worst is not None
    again = measure_population(plan.survey(), 3000, worst, repeats=REPEATS, seed=7)
    assert (last.people, last.mean, last.distribution) == (3000, again.mean, "worst population")


def test_the_papers_bound_is_drawn_for_its_own_protocol_only() -> None:
    direct, haar = (
        plan_curves(sv.plan(sv.queries(Prefix(12)), epsilon=1.0, people=500, strategy=name))
        for name in ("direct", "haar")
    )
    at = direct.people.index(500)
    assert direct.l2_bound_paper[at] == theorem_3_4(12, 12, math.sqrt(12), 1.0, 500).value
    assert math.isnan(direct.l2_bound_paper[0])  # stated for 120 people or more
    assert all(map(math.isnan, haar.l2_bound_paper))


def test_people_are_drawn_from_the_plans_population() -> None:
    shares = np.array([0.625, 0.125, 0.125, 0.125])
    given = sv.plan(sv.shares(4), epsilon=1.0, people=1000, population=shares)
    last = plan_curves(given).measured[-1]
    again = measure_population(given.survey(), 1000, shares, repeats=REPEATS, seed=7)
    assert (last.mean, last.distribution) == (again.mean, "population given")
    answering = Population.answering(Prefix(4).matvec(shares))
    answers_only = sv.plan(sv.queries(Prefix(4)), epsilon=1.0, people=1000, strategy="haar", population=answering)
    assert plan_curves(answers_only).measured == ()


def test_crowds_stay_affordable() -> None:
    huge = sv.plan(sv.shares(2**21), epsilon=1.0, people=10**9)
    assert crowds_simulated(huge) == []
    assert people_simulated(huge) == 0
    wide = sv.plan(sv.vector(2**16), epsilon=1.0, people=10**6, mechanism="codebook")
    assert crowds_simulated(wide)[-1] == 256
    assert crowds_simulated(sv.plan(sv.shares(4), epsilon=1.0, people=1)) == [10]


def test_the_picture_shows_the_curves() -> None:
    curves = plan_curves(sv.plan(sv.shares(20), epsilon=1.0, people=2000))
    left, middle, right = plan_figure(curves).axes
    drawn = {line.get_label(): list(line.get_ydata()) for line in left.lines}
    assert drawn["projected, bound for every population"] == list(curves.l2_bound)
    assert drawn["raw, worst population"] == list(curves.l2_raw)
    assert drawn["the paper's bound, as printed"] == list(curves.l2_bound_paper)
    simulated = drawn["projected, simulated (worst population)"]
    assert simulated == [one.mean.l2_projected for one in curves.measured]
    points = list(middle.lines[0].get_ydata())
    assert points == [100 * margin for margin in curves.margin]
    assert middle.get_ylabel() == "margin of one answer (95 %), per cent points"
    assert {line.get_label() for line in right.lines} >= set(curves.options.lines)
    assert {(ax.get_xscale(), ax.get_yscale()) for ax in (left, middle, right)} == {("log", "log")}


def test_every_kind_of_plan_can_be_drawn(tmp_path: Path) -> None:
    plans = {
        3: sv.plan(sv.shares(2**21), epsilon=1.0, people=3000, criterion="margin"),
        2: sv.plan(sv.queries(Prefix(6)), epsilon=1.0, people=500, strategy="haar"),  # one design only
    }
    for panels, plan in plans.items():
        assert len(plan_figure(plan_curves(plan)).axes) == panels
    path = tmp_path / "plan.png"
    save_figure(plan_figure(plan_curves(sv.plan(sv.vector(3), epsilon=1.0, people=500))), path)
    assert path.read_bytes().startswith(b"\x89PNG")
