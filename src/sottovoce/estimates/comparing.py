"""`compare`: two estimates of the same answers, of different people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias, overload

from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import MismatchError, NoReportsError, SottovoceError, SurveyError
from sottovoce.estimates.comparison import Comparison
from sottovoce.estimates.curve import Curve
from sottovoce.estimates.curve_comparison import CurveComparison
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.intervals import check_level
from sottovoce.estimates.watched import check_always, refuse_so_far

__all__ = ["compare"]

GroupName: TypeAlias = str | Mapping[str, str]
"""A value of one public variable, or values of several."""


@overload
def compare(
    first: Curve,
    second: GroupName,
    other: GroupName,
    *,
    answers: Iterable[Any] | None = ...,
    level: float = ...,
    always: bool | str | None = ...,
) -> CurveComparison: ...


@overload
def compare(
    first: Estimate,
    second: Estimate | GroupName,
    other: GroupName | None = ...,
    *,
    answers: Iterable[Any] | None = ...,
    level: float = ...,
    always: bool | str | None = ...,
) -> Comparison: ...


@with_clear_calls("sv.compare(first, second)")
def compare(
    first: Estimate | Curve,
    second: Estimate | GroupName,
    other: GroupName | None = None,
    *,
    answers: Iterable[Any] | None = None,
    level: float = 0.95,
    always: bool | str | None = None,
) -> Comparison | CurveComparison:
    """Compare two estimates with the same answers: the first less the second, answer by answer.

    They are of two surveys, or of two groups of one: ``compare(estimate, "A", "B")``. The people must be different:
    nobody answered both surveys. Surveys may differ in epsilon, mechanism, title and number of people. Two groups of a
    tracking survey are compared in every period: ``compare(curve, "A", "B")``.

    Parameters
    ----------
    first, second
        The two estimates; or an estimate or a curve of a survey with groups, and one of its groups.
    other
        The other group.
    answers
        Names of the answers that are compared; all of them by default. P-values are adjusted for their number. Words
        must be named, and chosen without looking at these estimates.
    level
        The level of the intervals.
    always
        True for intervals and p-values that hold at every look together while reports come in, for a test that is
        watched and stopped early; False for one look. By default as the estimates are `watched`; of a curve, True for
        open periods alone.

    Examples
    --------
    >>> import sottovoce as sv
    >>> question = sv.shares(["tea", "coffee", "water"])
    >>> a, b = (sv.Survey(question, epsilon=1.0, title=name) for name in ("Page A", "Page B"))
    >>> first = a.estimate(a.simulate(["tea"] * 5000 + ["coffee"] * 3000 + ["water"] * 2000, seed=1))
    >>> second = b.estimate(b.simulate(["tea"] * 4000 + ["coffee"] * 4000 + ["water"] * 2000, seed=2))
    >>> comparison = compare(first, second)
    >>> print(comparison["tea"])
    tea: +11.4 points (+7.7 to +15.1), p < 0.0001
    >>> comparison.joint.degrees, comparison.joint.p_value < 0.001
    (2, True)
    """
    if isinstance(first, Curve):
        return _compare_periods(first, (second, other), answers, level, always)
    if isinstance(first, Estimate) and not isinstance(second, Estimate):
        if other is None:
            raise SurveyError(
                "compare an estimate with another one, or name two groups: compare(estimate, 'A', 'B')"
            ).at("second")
        first, second = first.in_group(second), first.in_group(other)
    elif other is not None:
        raise SurveyError("other is a group: give two estimates, or one and two of its groups").at("other")
    for name, given in (("first", first), ("second", second)):
        if not isinstance(given, Estimate):
            raise SurveyError(f"{name} must be an estimate, as survey.estimate(reports) gives it").at(name)
    check_level(level)
    kinds = (first.always, second.always) if always is None else (check_always(always),)
    if "so far" in kinds:
        raise refuse_so_far("a comparison has no interval")
    _check_same_answers(first, second)
    _check_different_people(first, second)
    question = first.survey.question
    try:
        picked = tuple(question.compared(name) for name in _names(question, answers))
    except SottovoceError as error:
        raise error.at("answers") from None
    twice = {one.name for one in picked if sum(one.name == other.name for other in picked) > 1} if answers else set()
    if twice:
        raise SurveyError(f"answers names {sorted(twice)[0]!r} twice; name it once").at("answers")
    watched = any(kind is not None for kind in kinds)
    return Comparison(first.watched(watched), second.watched(watched), picked, level, watched)


def _compare_periods(
    curve: Curve, groups: tuple[Any, Any], answers: Iterable[Any] | None, level: float, always: bool | str | None
) -> CurveComparison:
    """Compare two groups in every period in which both have reports."""
    if None in groups or any(isinstance(group, Estimate | Curve) for group in groups):
        raise SurveyError("name two groups of the curve: compare(curve, 'A', 'B')").at("second")
    named = None if answers is None else list(_names(curve.tracking.question, answers))
    comparisons = {}
    for number, estimate in curve.estimates.items():
        looks = False if number not in curve.unfinished else True if always is None else always
        with suppress(NoReportsError):
            comparisons[number] = compare(estimate, *groups, answers=named, level=level, always=looks)
    if not comparisons:
        raise NoReportsError("no period has reports of both groups: choose others, or wait").at("second")
    return CurveComparison(curve, comparisons, level)


def _names(question: Any, answers: Iterable[Any] | None) -> list[Any]:
    if answers is None:
        names: list[Any] = question.compared_names()
        return names
    if isinstance(answers, str | bytes) or not isinstance(answers, Iterable):
        raise SurveyError('answers must be a list of answers, such as ["tea", "coffee"]').at("answers")
    given = list(answers)
    if not given:
        raise SurveyError("answers is empty: name at least one, or leave it out").at("answers")
    return given


def _check_same_answers(first: Estimate, second: Estimate) -> None:
    """Refuse questions that differ: their answers are about different things."""
    one, other = first.survey.question, second.survey.question
    if one.to_statement() == other.to_statement():
        return
    if one.kind != other.kind:
        what = f"the first asks for {one.kind}, the second for {other.kind}"
    else:
        what = f"both ask for {one.kind}, of {one.values_text} and of {other.values_text}"
    raise MismatchError(
        f"first and second must have the same answers, in the same order: {what}; ask the same question twice"
    ).at("second")


def _check_different_people(first: Estimate, second: Estimate) -> None:
    """Refuse estimates that are known to share people: their errors are not independent."""
    if _differ_in_group(first, second):
        return
    if first.survey.id == second.survey.id:
        raise MismatchError(
            "first and second are of one survey, so they share people; compare two groups of it, if it states any, or "
            "publish two surveys, for example with different titles"
        ).at("second")
    parents = first.survey.parent_id, second.survey.parent_id
    if parents[0] is not None and parents[0] == parents[1]:
        raise MismatchError(
            "first and second are parts of one survey, whose people may answer again: compare periods of a tracking "
            "survey with curve.difference, or ask in two surveys"
        ).at("second")


def _differ_in_group(first: Estimate, second: Estimate) -> bool:
    """Whether both are of one survey in one period, and of people who differ in a public variable."""
    one, other = first.survey, second.survey
    whole = [survey.id if survey.group is None else survey.group_of for survey in (one, other)]
    values = [
        dict(estimate.chosen) or (estimate.survey.group.values if estimate.survey.group else {})
        for estimate in (first, second)
    ]
    shared = values[0].keys() & values[1].keys()
    return whole[0] == whole[1] and any(values[0][name] != values[1][name] for name in shared)
