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
    ├── SignatureError (ValueError)       a survey that is not what the device's pinned key signed
    ├── BudgetError (ValueError)          a survey that asks for more than the device's owner allows
    ├── LedgerError (ValueError)          a device's own records cannot be read or written
    ├── SettingsError (ValueError)        a setting of the service is unknown or out of range
    ├── ServiceError (OSError)            the collector cannot be reached, or refuses what it was asked
    ├── StoreError (OSError)              the collector's database cannot do what it was asked
    │   ├── StoreFullError                the disk is full: nothing was kept, free some and send again
    │   └── StoreUnavailableError         the database is away or locked: nothing was kept, try again
    ├── CapacityError (MemoryError)       the answer would not fit into memory
    └── MissingExtraError (ImportError)   an optional dependency is needed for this call

A message says what was wrong, what is allowed and what to do. It never holds a
private value: `ValueOutsideDomainError` knows the domain, not the value, and is
raised outside any ``except`` block so that no chained exception holds it either.
"""

from typing import Self

__all__ = [
    "BudgetError",
    "CapacityError",
    "DomainError",
    "LedgerError",
    "MechanismError",
    "MismatchError",
    "MissingExtraError",
    "NoReportsError",
    "PlanError",
    "ProjectionError",
    "QueryError",
    "ReportError",
    "ServiceError",
    "SessionError",
    "SettingsError",
    "SignatureError",
    "SimulationError",
    "SottovoceError",
    "StoreError",
    "StoreFullError",
    "StoreUnavailableError",
    "SurveyError",
    "ValueOutsideDomainError",
    "WorkloadError",
]


class SottovoceError(Exception):
    """Root of the tree: catch this to catch everything the package raises on purpose.

    Attributes
    ----------
    field
        The parameter that is wrong, where one is to blame: forms show the message beside it.
    """

    field: str | None = None

    def at(self, field: str) -> Self:
        """The same error, naming the parameter that is wrong; one that is named already stays."""
        self.field = self.field or field
        return self


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


class SignatureError(SottovoceError, ValueError):
    """A survey whose signature, id or key is not what the device trusts; nothing was answered."""


class BudgetError(SottovoceError, ValueError):
    """A survey asks for a larger epsilon than the device's owner allows, or than the ledger has left."""


class LedgerError(SottovoceError, ValueError):
    """A device's records of what it has answered cannot be read or written, so it answers nothing."""


class SettingsError(SottovoceError, ValueError):
    """A setting of the service is unknown, unreadable or out of range."""


class ServiceError(SottovoceError, OSError):
    """The collector cannot be reached, or refuses; `code` says why in one word, `status` is HTTP's number or 0."""

    def __init__(self, message: str, code: str = "unreachable", status: int = 0, retry_after: float | None = None):
        super().__init__(message)
        self.code, self.status, self.retry_after = code, status, retry_after


class StoreError(SottovoceError, OSError):
    """The collector's database cannot do what it was asked; nothing was changed."""


class StoreFullError(StoreError):
    """The disk is full; nothing was kept."""


class StoreUnavailableError(StoreError):
    """The database is away or stays locked; nothing was kept, and the same may succeed later."""
