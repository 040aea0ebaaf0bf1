"""Sottovoce: linear queries about people under local differential privacy.

>>> import sottovoce as sv
>>> survey = sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=1.0)
>>> estimate = survey.estimate(survey.simulate(["green"] * 10_000, seed=7))
>>> estimate["green"].value > 0.9
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sottovoce.core.version import __version__ as __version__

if TYPE_CHECKING:
    from sottovoce import adaptive, engines, questions, workloads
    from sottovoce.adaptive.session import Session
    from sottovoce.analyst import connect
    from sottovoce.auditing import audit
    from sottovoce.core import errors
    from sottovoce.device import Device
    from sottovoce.disclosure import disclose
    from sottovoce.domain import Domain
    from sottovoce.estimates.comparing import compare
    from sottovoce.estimates.estimate import Estimate
    from sottovoce.expressions import Query, query
    from sottovoce.histories import audit_device
    from sottovoce.mechanisms import MECHANISMS, Mechanism
    from sottovoce.planning.panel import plan_panel
    from sottovoce.planning.plan import Plan
    from sottovoce.planning.planner import plan
    from sottovoce.questions.choices import choices
    from sottovoce.questions.number import number
    from sottovoce.questions.queries import queries
    from sottovoce.questions.records import records
    from sottovoce.questions.relation import relation
    from sottovoce.questions.shares import shares
    from sottovoce.questions.vector import vector
    from sottovoce.questions.words import words
    from sottovoce.surveys.aggregate import Aggregate, Reports
    from sottovoce.surveys.composition import compose
    from sottovoce.surveys.panel import Panel
    from sottovoce.surveys.relay import Relay
    from sottovoce.surveys.survey import Survey, Tracking

_HOMES = {
    "MECHANISMS": "mechanisms",
    "Aggregate": "surveys.aggregate",
    "Device": "device",
    "Domain": "domain",
    "Estimate": "estimates.estimate",
    "Mechanism": "mechanisms",
    "Panel": "surveys.panel",
    "Plan": "planning.plan",
    "Query": "expressions",
    "Relay": "surveys.relay",
    "Reports": "surveys.aggregate",
    "Session": "adaptive.session",
    "Survey": "surveys.survey",
    "Tracking": "surveys.survey",
    "audit": "auditing",
    "audit_device": "histories",
    "choices": "questions.choices",
    "compare": "estimates.comparing",
    "compose": "surveys.composition",
    "connect": "analyst",
    "disclose": "disclosure",
    "number": "questions.number",
    "plan": "planning.planner",
    "plan_panel": "planning.panel",
    "queries": "questions.queries",
    "query": "expressions",
    "records": "questions.records",
    "relation": "questions.relation",
    "shares": "questions.shares",
    "vector": "questions.vector",
    "words": "questions.words",
}
"""Where each name is defined. A name is loaded when it is first used: a device needs no SciPy, and no Numba."""

_MODULES = {
    "adaptive": "adaptive",
    "engines": "engines",
    "errors": "core.errors",
    "questions": "questions",
    "workloads": "workloads",
}

__all__ = [
    "MECHANISMS",
    "Aggregate",
    "Device",
    "Domain",
    "Estimate",
    "Mechanism",
    "Panel",
    "Plan",
    "Query",
    "Relay",
    "Reports",
    "Session",
    "Survey",
    "Tracking",
    "__version__",
    "adaptive",
    "audit",
    "audit_device",
    "choices",
    "compare",
    "compose",
    "connect",
    "disclose",
    "engines",
    "errors",
    "number",
    "plan",
    "plan_panel",
    "queries",
    "query",
    "questions",
    "records",
    "relation",
    "shares",
    "vector",
    "words",
    "workloads",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"sottovoce.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"sottovoce.{_MODULES[name]}")
    else:
        raise AttributeError(f"module 'sottovoce' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
