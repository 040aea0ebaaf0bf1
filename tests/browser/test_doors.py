"""One question, four doors: Python, a command in its own process, HTTP to a running service, and the page in a browser.

Every door gives the same numbers to the last digit that it shows, names the same design, and makes the same survey.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

import sottovoce as sv
from browser.dashboard import signed_in
from browser.visitor import Visitor
from collector.service import Service, environment
from sottovoce.core.words import figure
from sottovoce.questions import Queries, Question, Shares, Vector
from sottovoce.workloads.parse import parse_workload

pytestmark = pytest.mark.slow


class Asked(NamedTuple):
    """The same question as each door is asked it."""

    question: Question
    parameters: dict[str, Any]

    @property
    def options(self) -> list[str]:
        return [word for name, value in self.parameters.items() for word in (f"--{name}", str(value))]


def queries(workload: str) -> Asked:
    return Asked(Queries(parse_workload(workload)), {"workload": workload})


SHARES = Asked(Shares(sv.Domain.of(40)), {"values": 40})
MEAN = Asked(Vector(20, 2.0), {"dimension": 20, "radius": 2.0})

GRID: list[tuple[Asked, dict[str, float]]] = [
    (SHARES, {"epsilon": 2.0, "margin": 0.01}),
    (SHARES, {"epsilon": 0.5, "people": 20_000}),
    (SHARES, {"people": 50_000, "l2": 0.05}),
    (queries("prefix:24"), {"epsilon": 1.0, "l2": 0.5}),
    (queries("prefix:12"), {"people": 100_000, "margin": 0.02}),
    (queries("prefix:16"), {"epsilon": 4.0, "people": 3_000}),
    (queries("ranges:12"), {"epsilon": 1.0, "margin": 0.05}),
    (queries("marginals:age=3,sex=2,city=2:2"), {"epsilon": 2.0, "margin": 0.02}),
    (MEAN, {"epsilon": 1.0, "margin": 0.1}),
    (MEAN, {"people": 200_000, "l2": 0.2}),
]


def named(cell: tuple[Asked, dict[str, float]]) -> str:
    asked, given = cell
    return "-".join([asked.question.kind, *(str(value) for value in (*asked.parameters.values(), *given))])


def command(*words: str) -> Any:
    """What `sottovoce ... --json` prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "sottovoce", *words, "--json"],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def options_of(given: dict[str, float]) -> list[str]:
    return [word for name, value in given.items() for word in (f"--{name}", str(value))]


def printed(*words: str) -> str:
    """What `sottovoce ...` prints for people, its lines joined."""
    done = subprocess.run(
        [sys.executable, "-m", "sottovoce", *words], capture_output=True, text=True, check=True, env=environment()
    )
    return " ".join(done.stdout.split())


SAME = ("epsilon", "people", "margin", "l2", "strategy", "mechanism", "solved_for", "criterion")


@pytest.mark.parametrize("cell", GRID, ids=map(named, GRID))
def test_every_door_gives_the_same_plan(cell: tuple[Asked, dict[str, float]], service: Service) -> None:
    asked, given = cell
    plan = sv.plan(asked.question, **given)  # type: ignore[arg-type]
    here = json.loads(json.dumps(plan.to_dict()))
    typed = command("plan", asked.question.kind, *asked.options, *options_of(given))
    body = {"kind": asked.question.kind, "parameters": asked.parameters, **given}
    posted = service.ask("POST", "/v1/plans", json=body).json
    for name in SAME:
        assert here[name] == typed[name] == posted[name], name
    assert [option["strategy"] for option in typed["options"]] == [option["strategy"] for option in posted["options"]]
    assert [option["reason"] for option in typed["options"]] == [option["reason"] for option in posted["options"]]
    again = sv.Survey(asked.question, epsilon=plan.epsilon, people=plan.people, criterion=plan.criterion)
    assert plan.survey().id == again.id == typed["survey"] == posted["survey"]
    draft = {
        "kind": asked.question.kind,
        "parameters": asked.parameters,
        "epsilon": plan.epsilon,
        "people": plan.people,
        "criterion": plan.criterion,
    }
    drafted = service.ask("POST", "/v1/drafts", json=draft).json
    assert (drafted["id"], drafted["margin"], drafted["l2"]) == (again.id, plan.margin, plan.l2)


@pytest.mark.parametrize("cell", [GRID[0], GRID[3], GRID[8]], ids=lambda cell: named(cell))
def test_the_page_shows_it_too(cell: tuple[Asked, dict[str, float]], service: Service, visitor: Visitor) -> None:
    asked, given = cell
    plan = sv.plan(asked.question, **given)  # type: ignore[arg-type]
    shown = {"kind": asked.question.kind, **asked.parameters, "solve": plan.solved_for, "criterion": plan.criterion}
    page = signed_in(visitor, service, f"/plan?{urlencode(shown | given)}")
    people = page.get_by_role("textbox", name="People, as a number")
    expect(people).to_have_value(f"{plan.people:,}")
    expect(page.locator(".stale")).to_have_count(0)
    expect(page.get_by_role("region", name="Designs")).to_contain_text(re.compile(re.escape(plan.best.strategy)))
    expect(page.get_by_text(plan.survey().id[:12])).to_have_count(1)
    sentence = printed("plan", asked.question.kind, *asked.options, *options_of(given)).replace(" ", "")
    best = page.get_by_role("region", name="Designs").get_by_role("row").nth(1)
    shares = asked.question.answers_are_shares
    margin, l2 = figure((100 if shares else 1) * plan.margin), figure(plan.l2)
    expect(best.get_by_role("cell").nth(0)).to_have_text(re.compile(rf"^± {re.escape(margin)}( points?)?$"))
    expect(best.get_by_role("cell").nth(1)).to_have_text(l2)
    answer = page.get_by_role("status").first
    expect(answer).to_contain_text(re.compile(rf"known to about ± {re.escape(margin)}(?![\d.])"))
    usual = plan.expected_l2
    both = f"L2 at most {l2}" + ("" if usual is None else f", about {figure(usual.l2)} for uniform values") + "."
    expect(answer).to_contain_text(both)
    assert f"knowntoabout±{margin}" in sentence, "the command prints the same digits"
    assert both.replace(" ", "") in sentence
