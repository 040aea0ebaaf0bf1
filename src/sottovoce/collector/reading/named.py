"""The answers of an estimate by place: their labels, their numbers, and of words whether each is certain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from numpy.typing import NDArray

from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.words.estimate import WordsEstimate

__all__ = ["columns_with_certainty", "label_of"]

_NUMBERS: Final = ("value", "raw", "low", "high")


def label_of(estimate: Estimate, names: Sequence[str] = ()) -> Callable[[int], str]:
    """The label of each answer; `names` are those of a round's choices."""
    if names:
        return names.__getitem__
    return estimate.labels().__getitem__ if isinstance(estimate, WordsEstimate) else estimate.survey.answer_label


def columns_with_certainty(estimate: Estimate, level: float) -> dict[str, NDArray[Any]]:
    """The columns value, raw, low and high; and certain, if the answers are words."""
    found: dict[str, NDArray[Any]] = {name: estimate.columns(level)[name] for name in _NUMBERS}
    return found | {"certain": estimate.certain} if isinstance(estimate, WordsEstimate) else found
