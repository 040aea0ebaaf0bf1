"""The paper's rule for when to project, for reproducing its algorithms; the package itself always projects."""

from __future__ import annotations

from math import log

from sottovoce.errors import MechanismError, SurveyError
from sottovoce.limits import check_domain_size, check_epsilon, check_integer

__all__ = ["paper_threshold_rule"]

_LARGEST = 2**63


def paper_threshold_rule(
    n_reports: int,
    epsilon: float,
    n_queries: int,
    domain_size: int,
    mechanism: str,
    delta: float | None = None,
    n_users: int | None = None,
) -> bool:
    """Say whether the printed algorithm projects this many reports' raw answer on A B_1, or returns it as it is.

    Bassily, *Linear Queries Estimation with Local Differential Privacy*, projects

    * in Algorithm 2 (``mechanism="gaussian"``) if n < d^2 log(2/delta) / (8 epsilon^2 log J),
    * in Algorithm 4 (``mechanism="rejection"``) if n-hat < d^2 log(n) / (4 epsilon^2 log J), where n people were
      asked and n-hat of them were not rejected; it is the same rule with the delta = 2/n^2 of Algorithm 3.

    Projecting on a convex set that holds the truth never increases the L2 error, so the rule gains nothing; it is
    here to reproduce the paper.

    Parameters
    ----------
    n_reports : int
        Reports averaged: n of Algorithm 2, n-hat of Algorithm 4.
    epsilon : float
        Privacy parameter.
    n_queries : int
        d, the rows of the query matrix.
    domain_size : int
        J, its columns.
    mechanism : str
        ``"gaussian"`` or ``"rejection"``.
    delta : float, optional
        Of the Gaussian mechanism, which needs it.
    n_users : int, optional
        People asked: n of Algorithm 4, which needs it.

    Raises
    ------
    SurveyError
        If a parameter is missing or out of range.
    MechanismError
        If the mechanism is neither of the two.

    Examples
    --------
    >>> paper_threshold_rule(1_000, 1.0, 256, 4_000, "gaussian", delta=1e-6)
    True
    >>> paper_threshold_rule(1_000_000, 1.0, 256, 4_000, "gaussian", delta=1e-6)
    False
    >>> paper_threshold_rule(9_000, 1.0, 256, 4_000, "rejection", n_users=20_000)
    True
    """
    reports = check_integer("n_reports", n_reports, 0, _LARGEST)
    d = check_integer("n_queries", n_queries, 1, _LARGEST)
    common = d**2 / (check_epsilon(epsilon) ** 2 * log(check_domain_size(domain_size, _LARGEST)))
    if mechanism == "gaussian":
        return reports < common * (log(2) - log(_checked_delta(delta))) / 8
    if mechanism == "rejection":
        if n_users is None:
            raise SurveyError("n_users is missing: Algorithm 4 compares the reports with the people asked; pass both")
        return reports < common * log(check_integer("n_users", n_users, max(1, reports), _LARGEST)) / 4
    raise MechanismError(
        f"{mechanism!r} has no threshold: the paper states one for 'gaussian' (Algorithm 2) and "
        "'rejection' (Algorithm 4)"
    )


def _checked_delta(delta: float | None) -> float:
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 < delta < 1:
        raise SurveyError("delta is missing or out of range: the Gaussian mechanism needs one above 0 and below 1")
    return float(delta)
