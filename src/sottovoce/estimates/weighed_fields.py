"""An estimate of a form weighed to a known population by its private fields, alone or beside public groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final, final

import numpy as np

from sottovoce.core.answer import Answer, unknown_answer
from sottovoce.core.errors import SurveyError
from sottovoce.estimates.groups import Estimated
from sottovoce.estimates.margin_weights import Margin, Stratum, weigh_means
from sottovoce.estimates.population import Margins, margin_classes
from sottovoce.estimates.record_functions import Functions, RecordMeans
from sottovoce.estimates.weighted import Method, WeighedGroup, Weighted
from sottovoce.mechanisms.base import Floats
from sottovoce.workloads.naming import find_record, record_name
from sottovoce.workloads.tabulated import TableCells

__all__ = ["weighted_by_fields"]

_INTERVALS: Final = "normal, with errors by linearisation"
_MEAN: Final = "mean of "


@final
@dataclass(frozen=True)
class _AnswerFunction:
    """A cell of a table, or the mean of a number: weights of cells, and what is made of their sum."""

    label: str
    names: tuple[str, ...]
    weights: Floats
    limits: tuple[float, float] = (0.0, 1.0)
    error: float = 0.0
    unit: str = ""
    is_share: bool = True


def weighted_by_fields(
    estimate: Estimated, margins: Margins, names: list[Any] | None, level: float, method: Method | None
) -> Weighted:
    """Weigh the tables of a form so that these fields, and public variables, have the shares of the population."""
    means = RecordMeans(estimate)
    way: Method = "greg" if method is None else method
    known = [_margin(estimate, means, name, shares) for name, shares in margins.items()]
    form = _form(estimate)
    listed = _usual_names(estimate, form, margins) if names is None else names
    asked = [_asked(estimate, form, name) for name in listed]
    if all({*one.names} <= {*margins} for one in asked):
        raise SurveyError("answers are about fields of the population alone, which are known; name another field").at(
            "answers"
        )
    _check_tables(estimate, way, [margin.name for margin in known if not margin.is_public], asked)
    functions = _functions(asked)
    found, held = weigh_means(way, _strata(estimate, means, known), known, functions)
    errors, normal = np.sqrt(found.variances), NormalDist().inv_cdf((1 + level) / 2)
    groups = tuple(
        WeighedGroup({margin.name: one.label}, one.share, float(share), None, one.share / float(share))
        for margin, shares in zip(known, held, strict=True)
        for one, share in zip(margin.classes, shares, strict=True)
        if one.share > 0
    )
    by = f"{' and '.join(margins)} ({way})"
    columns = zip(asked, found.raw.tolist(), (normal * errors).tolist(), strict=True)
    answers = tuple(_answer(one, raw, reach, level) for one, raw, reach in columns)
    return Weighted(estimate, way, groups, by, answers, errors, means.variances(functions), found.remarks)


def _margin(estimate: Estimated, means: RecordMeans, name: str, shares: dict[str, float]) -> Margin:
    if name in _public(estimate):
        values = list(estimate.groups.groups.values_of(name, "population"))
        return Margin(name, margin_classes(name, shares, values), True)
    fields = estimate.survey.question.field_names
    if name not in fields:
        raise SurveyError(
            f"population has the variable {name}, which the survey does not have; it has "
            f"{', '.join([*_public(estimate), *fields])}"
        ).at("population")
    if estimate.survey.design.workload.number_field(name) is not None:
        raise SurveyError(
            f"{name} is a number, whose values have no shares; ask for it in bands, such as ['18-39', '40+'], to weigh "
            "by it"
        ).at("population")
    return Margin(name, margin_classes(name, shares, means.axis(name).labels()), False)


def _public(estimate: Estimated) -> list[str]:
    """The public variables of the survey."""
    return [] if estimate.groups is None else list(estimate.groups.groups.names)


def _strata(estimate: Estimated, means: RecordMeans, margins: Sequence[Margin]) -> list[Stratum]:
    """All people, or where public variables take part the people of each of their groups."""
    if not any(margin.is_public for margin in margins):
        return [Stratum(1.0, means, {})]
    strata = []
    for group in estimate.groups.groups:
        if group.number in estimate.groups.counted:
            own = estimate.groups.estimate(group.values)
            strata.append(Stratum(own.n_reports / estimate.n_reports, RecordMeans(own), group.values))
    return strata


def _form(estimate: Estimated) -> TableCells:
    """The attributes of the form."""
    cells: TableCells = estimate.survey.design.workload.table_cells((estimate.survey.question.field_names[0],))
    return cells


def _usual_names(estimate: Estimated, form: TableCells, margins: Margins) -> list[str]:
    """Every value of the other fields, and of a number its mean."""
    names, workload = [], estimate.survey.design.workload
    for place, (name, domain) in enumerate(form.attributes):
        if workload.number_field(name) is not None:
            names.append(_MEAN + name)
        elif name not in margins:
            names += [record_name(form, [(place, at)]) for at in range(domain.size)]
    if not names:
        raise SurveyError("every field of the form is in the population: leave one out, or name answers").at("answers")
    return names


def _asked(estimate: Estimated, form: TableCells, name: object) -> _AnswerFunction:
    """A cell by its name, such as "plan=pro", or a number's mean, such as "mean of minutes"."""
    workload = estimate.survey.design.workload
    text = str(name) if isinstance(name, str) else estimate.label(estimate.survey.answer_index(name))
    field = text.removeprefix(_MEAN)
    grid = workload.number_field(field) if text != field and field in dict(form.attributes) else None
    if grid is not None:
        ends = grid.low, grid.high
        return _AnswerFunction(text, (field,), grid.values, ends, grid.position_error, grid.unit, False)
    record = find_record(form, text)
    if not record:
        raise unknown_answer(text, [f"{at}={axis.label(0)}" for at, axis in form.attributes]).at("answers")
    parts = sorted(record.items(), key=lambda part: form.attributes[part[0]][0])
    weights = np.zeros([form.attributes[place][1].size for place, _ in parts])
    weights[tuple(at for _, at in parts)] = 1.0
    return _AnswerFunction(
        record_name(form, sorted(parts)), tuple(form.attributes[place][0] for place, _ in parts), weights
    )


def _functions(asked: Sequence[_AnswerFunction]) -> Functions:
    parts: dict[tuple[str, ...], Floats] = {}
    for place, one in enumerate(asked):
        part = parts.setdefault(one.names, np.zeros((len(asked), *one.weights.shape)))
        part[place] = one.weights
    return Functions(len(asked), parts)


def _check_tables(estimate: Estimated, method: Method, fields: list[str], asked: Sequence[_AnswerFunction]) -> None:
    """Refuse weights that need a table which the form does not ask for."""
    needed: list[tuple[set[str], str]] = []
    if method == "greg":
        needed += [({one, other}, "population") for one in fields for other in fields if one < other]
        needed += [({*one.names, field}, "answers") for one in asked for field in fields]
    if method == "rake":
        needed += [({*one.names, *fields}, "answers") for one in asked]
    for names, argument in needed:
        if estimate.survey.design.workload.table_cells(tuple(sorted(names))) is None:
            pairs = ", or method 'greg', which takes smaller tables" if method == "rake" and len(fields) > 1 else ""
            raise SurveyError(
                f"method {method!r} takes the table of {', '.join(sorted(names))}, which this survey did not ask for: "
                f"name fewer fields in population or in answers{pairs}, or ask the form with tables={len(names)}"
            ).at(argument)


def _answer(one: _AnswerFunction, raw: float, reach: float, level: float) -> Answer:
    low, high = one.limits
    return Answer(
        label=one.label,
        value=raw,
        low=min(max(raw - reach - one.error, low), high),
        high=max(min(raw + reach + one.error, high), low),
        raw=raw,
        unit=one.unit,
        method=_INTERVALS,
        level=level,
        is_share=one.is_share,
    )
