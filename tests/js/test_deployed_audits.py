"""Every mechanism is audited in a survey of a usual size, in Python and in the client: what unit tests do not see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.auditing import auditable
from sottovoce.auditing.client import audit_client
from sottovoce.mechanisms import FiniteMechanism, SetMechanism, serving
from sottovoce.workloads import Marginals, Prefix

SECONDS = 0.4
"""Processor time of the runs of one device; what every audit does first takes about as much again."""


def surveys() -> dict[str, Any]:
    """A survey for every mechanism, by its name."""
    shares = {
        name: lambda name=name: sv.Survey(sv.shares(256), epsilon=1.0, mechanism=name)
        for name in serving(FiniteMechanism)
    }
    sets = {
        name: lambda name=name: sv.Survey(sv.choices(60, most=3), epsilon=1.0, mechanism=name, people=2000)
        for name in serving(SetMechanism)
    }

    def vector(name: str) -> Any:
        return lambda: sv.Survey(
            sv.vector(1 if name == "binary" else 16, 1.0),
            epsilon=1.0,
            delta=1e-6 if name == "gaussian" else 0.0,
            mechanism=name,
            people=2000,
        )

    attributes = {"plan": ["free", "pro", "team"], "minutes": sv.number(0, 600), "age": range(8)}
    return {
        **shares,
        **sets,
        **{name: vector(name) for name in ("binary", "codebook", "gaussian", "rejection")},
        "hierarchical": lambda: sv.Survey(sv.queries(Prefix(1000)), epsilon=1.0, strategy="hierarchical"),
        "haar": lambda: sv.Survey(sv.queries(Prefix(1000)), epsilon=1.0, strategy="haar"),
        "fourier": lambda: sv.Survey(
            sv.queries(Marginals({"a": 8, "b": 8, "c": 8}, k=2)), epsilon=1.0, strategy="fourier"
        ),
        "matrix_channel": lambda: sv.Survey(sv.queries(Prefix(16)), epsilon=1.0, strategy="optimized"),
        "rounded_channel": lambda: sv.Survey(sv.number(-20, 40), epsilon=1.0),
        "tables": lambda: sv.Survey(sv.records(attributes), epsilon=2.0),
        "products": lambda: sv.Survey(
            sv.relation({"plan": attributes["plan"], "age": sv.number(18, 90)}, attributes["minutes"]), epsilon=1.0
        ),
        "hashed_prefixes": lambda: sv.Survey(sv.words(8, "latin"), epsilon=1.0, people=2000),
    }


SURVEYS = surveys()


def check(name: str, compiled: Path) -> None:
    survey = SURVEYS[name]()
    assert survey.mechanism.name == name
    result = sv.audit(survey, samples=100, seconds=SECONDS)
    assert result.sound, result.witness
    assert result.exact_epsilon <= survey.epsilon
    if type(survey.mechanism).in_browsers:
        found = audit_client(survey, compiled / "index.js", seconds=SECONDS)
        assert found.agrees, found.difference
        assert found.refused > 100


def test_one_mechanism(compiled: Path) -> None:
    check("rounded_channel", compiled)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SURVEYS if name != "rounded_channel"])
def test_every_mechanism(name: str, compiled: Path) -> None:
    check(name, compiled)


def test_none_is_left_out() -> None:
    assert set(SURVEYS) == {name for name, kind in auditable().items() if kind.__module__.startswith("sottovoce.")}
