"""Sottovoce: linear queries about people under local differential privacy.

>>> import sottovoce as sv
>>> survey = sv.Survey.distribution(["red", "green", "blue"], epsilon=1.0)
>>> estimate = survey.estimate(survey.simulate(["green"] * 10_000, seed=7))
>>> estimate["green"].value > 0.9
True
"""

from sottovoce import adaptive, engines, errors, questions
from sottovoce.adaptive.session import Session
from sottovoce.analyst import connect
from sottovoce.audit import audit
from sottovoce.domain import Domain
from sottovoce.expressions import Query, query
from sottovoce.mechanisms import MECHANISMS, Mechanism
from sottovoce.planning.plan import Plan, plan
from sottovoce.surveys.aggregate import Aggregate, Reports
from sottovoce.surveys.estimate import Estimate
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey
from sottovoce.version import __version__ as __version__

__all__ = [
    "MECHANISMS",
    "Aggregate",
    "Domain",
    "Estimate",
    "Mechanism",
    "Panel",
    "Plan",
    "Query",
    "Reports",
    "Session",
    "Survey",
    "adaptive",
    "audit",
    "connect",
    "engines",
    "errors",
    "plan",
    "query",
    "questions",
]
