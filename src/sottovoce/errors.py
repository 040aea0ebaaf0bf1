"""Every exception this package raises on purpose.

::

    SottovoceError
    ├── SurveyError (ValueError)          a survey cannot be stated like this
    │   ├── DomainError                   labels, sizes or attributes are wrong
    │   ├── MechanismError                unknown, unsuitable or undeployable mechanism
    │   ├── QueryError                    an expression that cannot be read, or asked of this domain
    │   └── WorkloadError                 queries that cannot be asked, or are not well formed
    ├── ValueOutsideDomainError (ValueError)   a person's value is not in the survey's domain
    ├── ReportError (ValueError)          bytes that are no report of this survey
    ├── MismatchError (ValueError)        two things that belong to different surveys
    ├── NoReportsError (ValueError)       an estimate was asked for before any report came
    ├── ProjectionError (ValueError)      a vector that cannot be projected
    ├── SessionError (ValueError)         an adaptive session, or a person's seat in one, cannot go on like this
    ├── PlanError (ValueError)            a plan that cannot be met, or is over-determined
    ├── SimulationError (ValueError)      a simulation's distribution, seed or size is wrong
    ├── CapacityError (MemoryError)       the answer would not fit into memory
    └── MissingExtraError (ImportError)   an optional dependency is needed for this call

A message says what was wrong, what is allowed and what to do. It never holds a
private value: `ValueOutsideDomainError` knows the domain, not the value, and is
raised outside any ``except`` block so that no chained exception holds it either.
"""

__all__ = [
    "CapacityError",
    "DomainError",
    "MechanismError",
    "MismatchError",
    "MissingExtraError",
    "NoReportsError",
    "PlanError",
    "ProjectionError",
    "QueryError",
    "ReportError",
    "SessionError",
    "SimulationError",
    "SottovoceError",
    "SurveyError",
    "ValueOutsideDomainError",
    "WorkloadError",
]


class SottovoceError(Exception):
    """Root of the tree: catch this to catch everything the package raises on purpose."""


class SurveyError(SottovoceError, ValueError):
    """A survey cannot be stated like this; names the field, the allowed range and the remedy."""


class DomainError(SurveyError):
    """The set of possible values is not well formed."""


class MechanismError(SurveyError):
    """The mechanism is unknown, cannot serve this domain, or must not be deployed."""


class QueryError(SurveyError):
    """An expression cannot be read, or could go wrong for some record; says where, and what is allowed."""


class WorkloadError(SurveyError):
    """The queries are not well formed, do not fit the domain, or are too many."""


class ValueOutsideDomainError(SottovoceError, ValueError):
    """A person's value is not in the domain. Says what is allowed, never what was given."""


class ReportError(SottovoceError, ValueError):
    """Bytes that no device following this survey could have sent."""


class MismatchError(SottovoceError, ValueError):
    """Reports or aggregates of one survey were handed to another."""


class NoReportsError(SottovoceError, ValueError):
    """There is nothing to estimate from."""


class ProjectionError(SottovoceError, ValueError):
    """The vector cannot be projected: empty, of the wrong shape, or not finite."""


class SessionError(SottovoceError, ValueError):
    """An adaptive session has no round left, or its saved state or a person's seat is not of this survey."""


class PlanError(SottovoceError, ValueError):
    """A plan is over- or under-determined, or no choice can meet it; says which bound forbids it."""


class SimulationError(SottovoceError, ValueError):
    """A simulation's distribution, number of people or seed is wrong."""


class CapacityError(SottovoceError, MemoryError):
    """The result would not fit into memory; says how large it would be and what to do."""


class MissingExtraError(SottovoceError, ImportError):
    """An optional dependency is missing; names the extra that brings it."""
