"""Sottovoce: linear queries about people under local differential privacy.

>>> import sottovoce as sv
>>> survey = sv.Survey.distribution(["red", "green", "blue"], epsilon=1.0)
>>> estimate = survey.estimate(survey.simulate(["green"] * 10_000, seed=7))
>>> estimate["green"].value > 0.9
True
"""

from sottovoce import adaptive, engines, errors
from sottovoce.aggregate import Aggregate, Reports
from sottovoce.analyst import connect
from sottovoce.audit import audit
from sottovoce.domain import Domain
from sottovoce.estimate import Estimate
from sottovoce.expressions import Query, query
from sottovoce.mechanisms import MECHANISMS, Mechanism
from sottovoce.survey import Survey
from sottovoce.theory.planner import Plan, plan

__version__ = "0.1.0"

__all__ = [
    "MECHANISMS",
    "Aggregate",
    "Domain",
    "Estimate",
    "Mechanism",
    "Plan",
    "Query",
    "Reports",
    "Survey",
    "adaptive",
    "audit",
    "connect",
    "engines",
    "errors",
    "plan",
    "query",
]
