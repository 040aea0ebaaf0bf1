"""The exceptions of this package.

::

    SottovoceError
    ├── SurveyError (ValueError)          a survey's parameters are invalid
    │   ├── DomainError                   labels, sizes or attributes are wrong
    │   ├── MechanismError                unknown, unsuitable or undeployable mechanism
    │   ├── QueryError                    an expression that cannot be read, or asked of this domain
    │   ├── UnknownAnswerError (KeyError)      no answer of an estimate has that name
    │   └── WorkloadError                 queries that are invalid or do not fit the domain
    ├── ValueOutsideDomainError (ValueError)   a person's value is not in the survey's domain
    ├── ReportError (ValueError)          bytes that are not a report of this survey
    ├── MismatchError (ValueError)        two things that belong to different surveys
    ├── NoReportsError (ValueError)       there are no reports to estimate from
    ├── ProjectionError (ValueError)      a vector that cannot be projected
    ├── SessionError (ValueError)         an adaptive session, or a person's seat in one, is invalid
    ├── PlanError (ValueError)            a plan that is infeasible or over-determined
    ├── SimulationError (ValueError)      a simulation's distribution, seed or size is wrong
    ├── SignatureError (ValueError)       a survey that the trusted key did not sign
    ├── ObliviousError (ValueError)       a sealed message, or a key to seal with, that cannot be used
    ├── TransparencyError (ValueError)    a log of surveys that is missing, or contradicts what was seen of it
    ├── BudgetError (ValueError)          a survey that asks for more than the device's owner allows
    ├── ClockError (ValueError)           a device's clock is out of range or disagrees with the collector's
    ├── LedgerError (ValueError)          a device's own records cannot be read or written
    ├── SettingsError (ValueError)        a setting of the service is unknown or out of range
    ├── ServiceError (OSError)            the collector cannot be reached, or refuses a request
    ├── StoreError (OSError)              an operation of the collector's database failed
    │   ├── ObjectStorageError            reports in object storage cannot be read, written or removed
    │   ├── StoreFullError                the disk is full: nothing was stored, free space and retry
    │   └── StoreUnavailableError         the database is unavailable or locked: nothing was stored, retry
    ├── CapacityError (MemoryError)       the answer would not fit into memory
    └── MissingExtraError (ImportError)   a package that this install leaves out is needed

A message says what is wrong, what is allowed and what to do. It never contains a
private value: `ValueOutsideDomainError` knows the domain, not the value, and is
raised outside any ``except`` block so that no chained exception holds it either.
"""

from typing import Self

__all__ = [
    "BudgetError",
    "CapacityError",
    "ClockError",
    "DomainError",
    "LedgerError",
    "MechanismError",
    "MismatchError",
    "MissingExtraError",
    "NoReportsError",
    "ObjectStorageError",
    "ObliviousError",
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
    "TransparencyError",
    "UnknownAnswerError",
    "ValueOutsideDomainError",
    "WorkloadError",
]


class SottovoceError(Exception):
    """Base class of all exceptions of this package.

    Attributes
    ----------
    field
        The parameter that is wrong, if there is one; forms show the message beside it.
    """

    field: str | None = None

    def at(self, field: str) -> Self:
        """This error, with the parameter that is wrong as its caller calls it; the outermost name stays."""
        self.field = field
        return self


class SurveyError(SottovoceError, ValueError):
    """A survey's parameters are invalid; names the field, the allowed range and the remedy."""


class DomainError(SurveyError):
    """The set of possible values is not well formed."""


class MechanismError(SurveyError):
    """The mechanism is unknown, cannot serve this domain, or must not be deployed."""


class QueryError(SurveyError):
    """An expression cannot be parsed, or could fail for some record; says where, and what is allowed."""


class WorkloadError(SurveyError):
    """The queries are not well formed, do not fit the domain, or are too many."""


class UnknownAnswerError(SurveyError, KeyError):
    """No answer of an estimate has that name; suggests the nearest one."""

    def __str__(self) -> str:
        # KeyError would show the message in quotes.
        return Exception.__str__(self)


class ValueOutsideDomainError(SottovoceError, ValueError):
    """A person's value is not in the domain. Says what is allowed, never what was given."""


class ReportError(SottovoceError, ValueError):
    """Bytes that no device following this survey could have sent."""


class MismatchError(SottovoceError, ValueError):
    """Reports or aggregates of one survey were used with another."""


class NoReportsError(SottovoceError, ValueError):
    """There are no reports to estimate from."""


class ProjectionError(SottovoceError, ValueError):
    """The vector cannot be projected: empty, of the wrong shape, or not finite."""


class SessionError(SottovoceError, ValueError):
    """An adaptive session has no round left, or its saved state or a seat belongs to another survey."""


class PlanError(SottovoceError, ValueError):
    """A plan is over- or under-determined, or infeasible; says which bound forbids it."""


class SimulationError(SottovoceError, ValueError):
    """A simulation's distribution, number of people or seed is wrong."""


class CapacityError(SottovoceError, MemoryError):
    """The result would not fit into memory; says how large it would be and what to do."""


class MissingExtraError(SottovoceError, ImportError):
    """A package is missing that this install leaves out; says what to install."""


class SignatureError(SottovoceError, ValueError):
    """A survey whose signature, id or key is not what the device trusts; nothing was answered."""


class ObliviousError(SottovoceError, ValueError):
    """A sealed message, or a key to seal with, cannot be used; the code says why, and the message quotes nothing.

    Attributes
    ----------
    code
        A word for programs, such as ``unknown_key``.
    """

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


class TransparencyError(SottovoceError, ValueError):
    """A collector's log of surveys is missing, lacks the survey, or contradicts what was seen of it before.

    Attributes
    ----------
    conflict
        Whether two signed heads of the log contradict each other.
    """

    def __init__(self, message: str, *, conflict: bool = False):
        super().__init__(message)
        self.conflict = conflict


class BudgetError(SottovoceError, ValueError):
    """A survey asks for a larger epsilon than the device's owner allows, or than the ledger has left."""


class ClockError(SottovoceError, ValueError):
    """A device's clock is out of range, or more than a day off the collector's; nothing was answered."""


class LedgerError(SottovoceError, ValueError):
    """A device's ledger cannot be read or written, so it answers nothing."""


class SettingsError(SottovoceError, ValueError):
    """A setting of the service is unknown, unreadable or out of range."""


class ServiceError(SottovoceError, OSError):
    """The collector cannot be reached, or refuses; `code` is the reason in one word, `status` the HTTP status or 0."""

    def __init__(self, message: str, code: str = "unreachable", status: int = 0, retry_after: float | None = None):
        super().__init__(message)
        self.code, self.status, self.retry_after = code, status, retry_after


class StoreError(SottovoceError, OSError):
    """An operation of the collector's database failed; nothing was changed."""


class ObjectStorageError(StoreError):
    """Object storage refuses, does not answer, or does not hold what was written to it; nothing was changed."""


class StoreFullError(StoreError):
    """The disk is full; nothing was stored."""


class StoreUnavailableError(StoreError):
    """The database is unavailable or locked; nothing was stored, and a retry may succeed."""
