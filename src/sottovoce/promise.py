"""What a survey promises each person, in the words that tables, captions and pictures share."""

from __future__ import annotations

__all__ = ["and_delta", "delta_of", "promised"]


def delta_of(survey: object) -> float:
    """The delta of a survey, plan or mechanism; 0 for those that have none: their promise is pure epsilon-LDP.

    Examples
    --------
    >>> import sottovoce as sv
    >>> delta_of(sv.Survey.distribution(["yes", "no"], epsilon=1.0))
    0.0
    >>> delta_of(sv.Survey.mean(2, 1.0, epsilon=1.0, delta=1e-6, mechanism="gaussian"))
    1e-06
    """
    return float(getattr(survey, "delta", 0.0))


def and_delta(delta: float) -> str:
    """What stands behind an epsilon: nothing where delta is 0.

    Examples
    --------
    >>> and_delta(1e-6), and_delta(0.0)
    (', delta 1e-06', '')
    """
    return f", delta {delta:g}" if delta else ""


def promised(epsilon: float, delta: float = 0.0) -> str:
    """Epsilon, and delta wherever there is one: without it the promise would say more than holds.

    Examples
    --------
    >>> promised(1.0), promised(0.5, 1e-6)
    ('epsilon 1', 'epsilon 0.5, delta 1e-06')
    """
    return f"epsilon {epsilon:g}{and_delta(delta)}"
