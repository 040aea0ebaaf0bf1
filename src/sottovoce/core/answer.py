"""One answer of an estimate: its label, its value, and an interval that holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from itertools import islice
from typing import Any, ClassVar

from sottovoce.core.errors import SurveyError, UnknownAnswerError

__all__ = ["Answer", "aligned", "nearest_label", "unknown_answer", "within"]

_USUAL: float = 0.95
_MOST_DECIMALS = 9
_UNKNOWN = "unknown"
_MOST_COMPARED = 2**12
"""Labels among which the nearest is looked for."""

_LONGEST = 80
"""Characters up to which a message repeats a name."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An estimated answer with its interval.

    ``float(answer)`` is its value, ``f"{answer:.1%}"`` formats the value, and ``str(answer)`` is a sentence.

    Attributes
    ----------
    label
        What is estimated.
    value
        The estimate as it is shown: the projected one for an answer of a survey, else the raw one, always moved into
        the interval. NaN where it is unknown: a ratio whose denominator may be zero.
    low, high
        The ends of the interval; infinite where nothing can be said.
    raw
        The unbiased estimate, which may be an impossible number, such as a negative share.
    unit
        The unit of the numbers; empty for shares and for plain numbers.
    method
        The inequalities behind the interval, and what else there is to say about it.
    level
        The confidence level of the interval.
    is_share
        Whether the answer is a share of the people, or a difference of shares, which is printed in per cent.
    splits
        The answers of the groups that a public variable makes, where the survey has groups: see `by`.

    Examples
    --------
    >>> tea = Answer(label="tea", value=0.412, low=0.398, high=0.426, raw=0.4121, is_share=True)
    >>> print(tea)
    tea: 41.2 % (39.8 % to 42.6 %)
    >>> float(tea), f"{tea:.0%}"
    (0.412, '41%')
    >>> print(Answer(label="mean", value=62.31, low=58.1, high=66.5, raw=62.31, unit="minutes"))
    mean: 62.3 minutes (58.1 to 66.5)
    >>> print(Answer(label="pro among DE", value=math.nan, low=0.0, high=1.0, raw=-13.9, is_share=True))
    pro among DE: unknown (0.0 % to 100.0 %)
    """

    label: str
    value: float
    low: float
    high: float
    raw: float
    unit: str = ""
    method: str = ""
    level: float = _USUAL
    is_share: bool = False
    splits: Callable[[str], dict[str, Answer]] | None = field(default=None, repr=False, compare=False)

    row_fields: ClassVar[tuple[str, ...]] = ("label", "value", "raw", "low", "high")
    """What differs from answer to answer of an estimate: the columns of its tables."""

    def __post_init__(self) -> None:
        # No door can show a number that its own interval excludes.
        object.__setattr__(self, "value", within(self.value, self.low, self.high))

    def row(self) -> dict[str, Any]:
        """The fields that differ from answer to answer of an estimate, as plain values; None where not finite."""
        return _plain({name: getattr(self, name) for name in self.row_fields})

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values; None for numbers that are not finite."""
        return _plain({one.name: getattr(self, one.name) for one in fields(self) if one.name != "splits"})

    def by(self, variable: str) -> dict[str, Answer]:
        """This answer among the people of each group that a public variable makes, by its values.

        ``estimate["tea"].by("arm")["B"]`` is the share of tea in arm B.
        """
        if self.splits is None:
            raise SurveyError(
                "this answer has no groups: answers of an estimate split where its survey states them, as in "
                "groups={'arm': ['A', 'B']}"
            ).at("variable")
        return self.splits(variable)

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __str__(self) -> str:
        level = "" if self.level == _USUAL else f", level {100 * self.level:g} %"
        return f"{self.shown_label}: {self.value_text} ({self.interval_text}{level})"

    def __repr__(self) -> str:
        return str(self)

    @property
    def value_text(self) -> str:
        """The value with its unit, rounded as the width of the interval allows."""
        return self._with_unit(self._number(self.value))

    @property
    def interval_text(self) -> str:
        """The interval in words, rounded like the value."""
        if math.isinf(self.low) and math.isinf(self.high):
            return "any value"
        sign = " %" if self.is_share else ""
        if math.isinf(self.high):
            return f"at least {self._number(self.low)}{sign}"
        if math.isinf(self.low):
            return f"at most {self._number(self.high)}{sign}"
        return f"{self._number(self.low)}{sign} to {self._number(self.high)}{sign}"

    @property
    def raw_text(self) -> str:
        """The raw estimate with its unit, rounded like the value."""
        return self._with_unit(self._number(self.raw))

    @property
    def shown_label(self) -> str:
        """The label as tables and pictures show it."""
        return self.label

    def _with_unit(self, number: str) -> str:
        unit = "%" if self.is_share else self.unit
        return f"{number} {unit}" if unit and number != _UNKNOWN else number

    def _number(self, number: float) -> str:
        scale = 100.0 if self.is_share else 1.0
        half = scale * (self.high - self.low) / 2
        if math.isnan(number):
            return _UNKNOWN
        if not (0 < half < math.inf):
            return f"{scale * number:.1f}" if self.is_share else f"{number:.4g}"
        # Two digits of half the interval; shares, which are listed in a column, get one decimal where that is enough.
        decimals = -math.floor(math.log10(half)) + (0 if self.is_share else 1)
        decimals = min(max(decimals, int(self.is_share)), _MOST_DECIMALS)
        text = f"{scale * number:,.{decimals}f}"
        return text.removeprefix("-") if not text.strip("-0.,") else text


def within(value: float, low: float, high: float) -> float:
    """The number of an interval that is nearest to a value; NaN stays what it is.

    Examples
    --------
    >>> within(-0.02, 0.0, 0.05), within(0.03, 0.0, 0.05), within(math.nan, 0.0, 1.0)
    (0.0, 0.03, nan)
    """
    return value if math.isnan(value) else min(max(value, low), high)


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields as JSON has them: it knows no number that is not finite."""
    odd = (name for name, value in fields.items() if isinstance(value, float) and not math.isfinite(value))
    return {**fields, **dict.fromkeys(odd)}


def aligned(rows: list[tuple[str, str, str]]) -> str:
    """Rows of a label, a value and an interval as text, in columns.

    Examples
    --------
    >>> print(aligned([("tea", "41.2 %", "39.8 % to 42.6 %"), ("coffee", "9.0 %", "8.1 % to 9.9 %")]))
    tea     41.2 %  (39.8 % to 42.6 %)
    coffee   9.0 %  (8.1 % to 9.9 %)
    """
    labels, values = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
    return "\n".join(f"{label:<{labels}}  {value:>{values}}  ({interval})" for label, value, interval in rows)


def nearest_label(name: object, labels: Iterable[str]) -> str | None:
    """The label that is most like a name, among the first few thousand; None if none is like it.

    Examples
    --------
    >>> nearest_label("tee", ["coffee", "tea"]), nearest_label("juice", ["coffee", "tea"])
    ('tea', None)
    >>> nearest_label("plan=FREE", ["plan=pro", "plan=free"])
    'plan=free'
    """
    text = str(name)
    if len(text) > _LONGEST:
        return None
    # By small letters: who writes FREE for free wrote the right word.
    written = {label.casefold(): label for label in islice(labels, _MOST_COMPARED)}
    near = get_close_matches(text.casefold(), written, 1)
    return written[near[0]] if near else None


def unknown_answer(name: object, labels: Iterable[str], what: str = "answer") -> UnknownAnswerError:
    """The error for a name that no answer has, with the nearest label or an example.

    Examples
    --------
    >>> str(unknown_answer("tee", ["coffee", "tea"])), str(unknown_answer("juice", ["coffee", "tea"]))
    ("no answer is named 'tee'; did you mean 'tea'?", "no answer is named 'juice'; the first one is 'coffee'")
    """
    listed = list(islice(labels, _MOST_COMPARED))
    nearest = nearest_label(name, listed)
    named = repr(name) if len(repr(name)) <= _LONGEST else "that long"
    if nearest is not None:
        remedy = f"did you mean {nearest!r}?"
    else:
        remedy = f"the first one is {listed[0]!r}" if listed else "there is none"
    return UnknownAnswerError(f"no {what} is named {named}; {remedy}")
