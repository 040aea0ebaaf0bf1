"""Eight tasks, each in at most three lines of Python after `import sottovoce as sv`."""

from __future__ import annotations

import textwrap
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from collector.service import running

DRINKS = ["tea"] * 600 + ["coffee"] * 400
MINUTES = [30.0] * 600 + [300.0] * 400
FORMS = [{"plan": "free", "minutes": 30.0}] * 3000 + [{"plan": "pro", "minutes": 300.0}] * 3000

TASKS = {
    "shares": """
        survey = sv.Survey(sv.shares(["tea", "coffee"]), epsilon=4)
        result = survey.estimate(survey.simulate(drinks, seed=1))["tea"]
    """,
    "a number": """
        survey = sv.Survey(sv.number(0, 600, "minutes"), epsilon=4)
        result = survey.estimate(survey.simulate(minutes, seed=1)).mean()
    """,
    "a number over time": """
        survey = sv.Tracking(sv.number(0, 600), epsilon=4, every="month", starts="2027-01-01", periods=3)
        result = survey.estimate(survey.simulate([minutes] * 3, seed=1))
    """,
    "a plan": """
        result = sv.plan(sv.shares(40), epsilon=1, margin=0.01)
    """,
    "all answers": """
        survey = sv.Survey(sv.shares(["tea", "coffee"]), epsilon=4)
        result = [(one.label, float(one)) for one in survey.estimate(survey.simulate(drinks, seed=1))]
    """,
    "means of groups": """
        survey = sv.Survey(sv.records({"plan": ["free", "pro"], "minutes": sv.number(0, 600)}), epsilon=4)
        result = survey.estimate(survey.simulate(forms, seed=1)).mean("minutes", by="plan")
    """,
    "the answer of a device": """
        with sv.Device(folder / "device.db") as device:
            result = device.answer(url, "Drinks", "tea")
    """,
    "an audit": """
        result = sv.audit(sv.Survey(["tea", "coffee"], epsilon=1), samples=200, seconds=0.2)
    """,
}

RIGHT: dict[str, Any] = {
    "shares": lambda found: abs(float(found) - 0.6) < 0.2,
    "a number": lambda found: abs(float(found) - 138) < 60,
    "a number over time": lambda found: len(found.periods) == 3,
    "a plan": lambda found: "people" in str(found),
    "all answers": lambda found: [label for label, _ in found] == ["tea", "coffee"],
    "means of groups": lambda found: [one.value < 150 for one in found] == [True, False],
    "the answer of a device": lambda found: found.state == "sent",
    "an audit": lambda found: found.verdict == "proved",
}


@pytest.mark.parametrize("task", TASKS)
def test_a_task_takes_three_lines(task: str, tmp_path: Path) -> None:
    lines = textwrap.dedent(TASKS[task]).strip()
    assert len(lines.splitlines()) <= 3
    names: dict[str, Any] = {"sv": sv, "drinks": DRINKS, "minutes": MINUTES, "forms": FORMS, "folder": tmp_path}
    with ExitStack() as stack:
        if "url" in lines:
            service = stack.enter_context(running(tmp_path / "data"))
            sv.connect(service.url, service.token).publish(sv.Survey(["tea", "coffee"], epsilon=1, title="Drinks"))
            names |= {"url": service.url}
        exec(lines, names)  # noqa: S102
    assert RIGHT[task](names["result"])
