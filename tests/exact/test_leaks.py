"""No error and no printed form holds a private value, and nothing handed in is changed.

Secrets are recognisable; they are looked for in messages, arguments, attributes, chained
exceptions and formatted tracebacks.
"""

from __future__ import annotations

import dataclasses
import pickle
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from sottovoce.auditing import audit
from sottovoce.core.errors import SottovoceError, ValueOutsideDomainError
from sottovoce.mechanisms import FiniteMechanism, create, serving
from sottovoce.randomness import os_source
from sottovoce.workloads import Marginals, Prefix

TEXT = "secret-gazpacho-7731"
NUMBER = 987654321
FRAGMENTS = ("gazpacho", "7731", "987654321", "987_654_321", "987,654,321", "9.87654321", "3ade68b1")


class Witness:
    """A private value of a type of its own, whose every textual form is the secret."""

    def __repr__(self) -> str:
        return TEXT

    __str__ = __repr__


SECRETS: list[Any] = [TEXT, NUMBER, -NUMBER, float(NUMBER), TEXT.encode(), (TEXT,), {TEXT: 1}, [NUMBER], Witness()]


def everything_in(error: BaseException) -> str:
    """All text that a log, a debugger's summary or a pickle would take from an error."""
    told: list[str] = []
    seen: list[BaseException | None] = [error]
    while seen:
        current = seen.pop()
        if current is None:
            continue
        told += [str(current), repr(current), repr(current.args), repr(vars(current)), repr(current.__dict__)]
        told += getattr(current, "__notes__", [])
        seen += [current.__cause__, current.__context__]
    told += traceback.format_exception(error)
    told.append(repr(pickle.dumps(error)))
    return "\n".join(told)


def assert_silent(error: BaseException) -> None:
    text = everything_in(error)
    # The call that fails stands in this file without the secret in its line, so the traceback is searched whole.
    for fragment in FRAGMENTS:
        assert fragment not in text, text


def _planted() -> list[BaseException]:
    noted = ValueError("quiet")
    noted.add_note(TEXT)
    carrying = ValueError("quiet")
    carrying.value = NUMBER  # type: ignore[attr-defined]
    caused, suppressed = ValueError("quiet"), ValueError("quiet")
    caused.__cause__ = KeyError(TEXT)
    suppressed.__context__ = KeyError(NUMBER)
    suppressed.__suppress_context__ = True
    return [ValueError(TEXT), ValueError("quiet", NUMBER), noted, carrying, caused, suppressed]


@pytest.mark.parametrize("error", _planted(), ids=["message", "argument", "note", "attribute", "cause", "context"])
def test_the_search_finds_a_planted_leak(error: BaseException) -> None:
    with pytest.raises(AssertionError):
        assert_silent(error)


def caught(call: Callable[[], object]) -> SottovoceError:
    with pytest.raises(SottovoceError) as info:
        call()
    return info.value


DOMAINS = {
    "labels": sv.Domain.of(["red", "green", "blue"]),
    "integer labels": sv.Domain.of([3, 5, 7]),
    "range": sv.Domain.of(range(10, 40, 3)),
    "size": sv.Domain.of(5),
    "product": sv.Domain.product(age=range(100), city=["Rome", "Oslo"]),
}


@pytest.mark.parametrize("secret", SECRETS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())
def test_a_refused_value_is_not_repeated(domain: sv.Domain, secret: Any) -> None:
    survey = sv.Survey(sv.shares(domain), epsilon=1.0)
    for refuse in (
        lambda: domain.index(secret),
        lambda: domain.indices([secret]),
        lambda: domain.indices(secret),
        lambda: survey.randomize(secret),
        lambda: survey.simulate([secret]),
        lambda: survey.simulate_aggregate([secret]),
    ):
        error = caught(refuse)
        assert isinstance(error, ValueOutsideDomainError)
        assert error.__cause__ is None
        assert error.__context__ is None
        assert_silent(error)


@pytest.mark.parametrize(
    "table",
    [
        {"age": [5, NUMBER], "city": ["Rome", "Oslo"]},
        {"age": [5, 6], "city": ["Rome", TEXT]},
        {"age": [5], TEXT: ["Rome"]},
        {"age": [5, 6, NUMBER], "city": ["Rome"]},
        pd.DataFrame({"age": [5, NUMBER], "city": ["Rome", TEXT]}),
        [{"age": NUMBER, "city": "Rome"}],
        [(5, TEXT)],
        {"age": TEXT, "city": TEXT},
        {"age": [[NUMBER]], "city": [[TEXT]]},
    ],
    ids=lambda table: type(table).__name__,
)
def test_a_refused_record_is_not_repeated(table: Any) -> None:
    survey = sv.Survey(sv.shares(DOMAINS["product"]), epsilon=1.0)
    assert_silent(caught(lambda: survey.simulate(table)))


def test_arrays_of_every_kind_stay_silent() -> None:
    survey = sv.Survey(sv.shares(["red", "green"]), epsilon=1.0)
    for values in (
        np.array([NUMBER]),
        np.array([NUMBER], dtype=np.uint64),
        np.array([float(NUMBER)]),
        np.array([TEXT]),
        np.array([TEXT, None], dtype=object),
        np.array([[NUMBER]]),
        pd.Series([TEXT], index=[TEXT]),
        pd.Series([NUMBER, None], dtype="Int64"),
        pd.Series([TEXT], dtype="category"),
        [NUMBER, [TEXT]],
        [[NUMBER], [TEXT, TEXT]],
        (value for value in (TEXT, NUMBER)),
    ):
        assert_silent(caught(lambda values=values: survey.simulate(values)))


PERSON = {"age": range(100), "city": ["Rome", "Oslo"]}
PANEL = sv.Panel(PERSON, rounds=2, epsilon=1.0)
KINDS: dict[str, tuple[sv.Survey, list[Any]]] = {
    "shares": (sv.Survey(sv.shares(["red", "green"]), epsilon=1.0), []),
    "queries, histogram": (sv.Survey(sv.queries(Prefix(8)), epsilon=1.0, strategy="histogram"), []),
    "queries, haar": (sv.Survey(sv.queries(Prefix(8)), epsilon=1.0, strategy="haar"), []),
    "queries, direct": (sv.Survey(sv.queries(Prefix(8)), epsilon=1.0, strategy="direct", people=100), []),
    "queries, fourier": (
        sv.Survey(sv.queries(Marginals(PERSON, k=1)), epsilon=1.0, strategy="fourier"),
        [(5, TEXT), (NUMBER, "Rome")],
    ),
    "vector": (
        sv.Survey(sv.vector(2, 1.0), epsilon=1.0, people=100),
        [[NUMBER, TEXT], [[NUMBER, 1.0]], [float(NUMBER)] * 3],
    ),
    "mean of a round": (
        sv.adaptive.round_of(PANEL, 1, "age < 30"),
        [{"age": NUMBER, "city": "Rome"}, (5, TEXT), {"age": 5, TEXT: 1}],
    ),
    "choice of a round": (
        sv.adaptive.round_of(PANEL, 2, "age // 10", 10),
        [{"age": NUMBER, "city": "Rome"}, (5, TEXT)],
    ),
}
"""A survey of every kind, and values of nearly the right form besides `SECRETS`."""


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_question_repeats_a_refused_value(kind: str) -> None:
    survey, others = KINDS[kind]
    for secret in (*SECRETS, *others):
        for refuse in (
            lambda secret=secret: survey.randomize(secret),
            lambda secret=secret: survey.private_input(secret),
            lambda secret=secret: survey.simulate([secret]),
            lambda secret=secret: survey.simulate_aggregate([secret]),
        ):
            error = caught(refuse)
            assert isinstance(error, ValueOutsideDomainError)
            assert error.__cause__ is None
            assert error.__context__ is None
            assert_silent(error)
    for histogram in ([NUMBER], [TEXT, TEXT], [[NUMBER], [NUMBER, 1]], [-NUMBER] * 200):
        assert_silent(caught(lambda histogram=histogram: survey.simulate_aggregate(histogram=histogram)))


def test_a_vector_outside_the_ball_is_not_repeated() -> None:
    """A device clips it, without a word; a simulation refuses it without naming it."""
    survey = sv.Survey(sv.vector(2, 1.0), epsilon=1.0, people=100)
    assert len(survey.randomize([float(NUMBER), -NUMBER])) == len(survey.randomize([0.0, 0.0]))
    assert_silent(caught(lambda: survey.simulate([[float(NUMBER), 0.0]])))


def test_attributes_of_people_in_a_round_are_not_repeated() -> None:
    survey, _ = KINDS["mean of a round"]
    for columns in (
        {"age": np.array([NUMBER]), "city": np.array([0])},
        {"age": np.array([TEXT]), "city": np.array([0])},
        {"age": np.array([5]), TEXT: np.array([0])},
        {"age": np.array([5, NUMBER]), "city": np.array([0])},
    ):
        assert_silent(caught(lambda columns=columns: survey.simulate_columns(columns, seed=1)))


@pytest.mark.parametrize("name", serving(FiniteMechanism))
def test_mechanisms_do_not_repeat_a_refused_index(name: str) -> None:
    mechanism = create(name, 5, 1.0)
    for secret in (NUMBER, TEXT, float(NUMBER), Witness()):
        error = caught(lambda secret=secret: mechanism.randomize(secret, os_source()))
        assert isinstance(error, ValueOutsideDomainError)
        assert_silent(error)


def test_a_histogram_is_not_repeated() -> None:
    """How many simulated people have a value may stand for real ones."""
    survey = sv.Survey(sv.shares(["red", "green"]), epsilon=1.0)
    for histogram in ([NUMBER], [NUMBER, -NUMBER], [float(NUMBER), 1.0], [TEXT, TEXT], [[NUMBER], [NUMBER, 1]]):
        assert_silent(caught(lambda histogram=histogram: survey.simulate_aggregate(histogram=histogram)))


@pytest.mark.parametrize("mechanism", serving(FiniteMechanism))
def test_printed_forms_hold_no_value(mechanism: str) -> None:
    """Even where the secret is a label: the one-line forms tell of the survey, never of an answer.

    A printed estimate shows its answers, as it should.
    """
    survey = sv.Survey(sv.shares(["a", "b", "c", TEXT]), epsilon=1.0, mechanism=mechanism)
    reports = survey.simulate([TEXT] * 50, seed=1)
    aggregate = survey.aggregate().add(reports)
    estimate = survey.estimate(aggregate)
    assert TEXT not in repr(estimate)
    for thing in (survey, reports, aggregate, survey.mechanism):
        for text in (repr(thing), str(thing), f"{thing}"):
            assert TEXT not in text
            assert len(text) < 300


def test_errors_about_reports_do_not_quote_them() -> None:
    survey = sv.Survey(sv.shares(["red", "green"]), epsilon=1.0)
    for report in (survey.tag + TEXT.encode(), TEXT.encode(), TEXT, NUMBER, survey.tag + b"\xff"):
        assert_silent(caught(lambda report=report: survey.aggregate().add([report])))


def test_errors_survive_pickling() -> None:
    """Errors cross process borders; what arrives is the same message."""
    error = caught(lambda: DOMAINS["size"].index(TEXT))
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made two lines above
    assert type(again) is type(error)
    assert str(again) == str(error)


def _frozen_things() -> list[Any]:
    survey = sv.Survey(sv.shares(["a", "b", "c"]), epsilon=1.0)
    reports = survey.simulate(["a"] * 20, seed=1)
    aggregate = survey.aggregate().add(reports)
    return [
        survey,
        survey.domain,
        survey.mechanism,
        reports,
        aggregate,
        survey.estimate(aggregate),
        audit("hadamard", samples=100),
    ]


def test_results_are_frozen() -> None:
    for thing in _frozen_things():
        for field in dataclasses.fields(thing):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(thing, field.name, None)
            with pytest.raises(dataclasses.FrozenInstanceError):
                delattr(thing, field.name)


def test_arrays_are_read_only() -> None:
    *_, aggregate, estimate, _ = _frozen_things()
    for array in (aggregate.counts, estimate.raw, estimate.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    merged = aggregate + aggregate
    with pytest.raises(ValueError, match="read-only"):
        merged.counts[0] = 1


@pytest.mark.parametrize("name", serving(FiniteMechanism))
def test_adding_and_merging_change_no_operand(name: str) -> None:
    survey = sv.Survey(sv.shares(5), epsilon=1.0, mechanism=name)
    reports = survey.simulate([0, 1, 2, 3, 4], seed=1)
    batch = reports.batch.copy()
    a = survey.aggregate().add(reports)
    b = survey.aggregate().add(list(reports)[:2])
    before = [(x.n_reports, x.counts.copy()) for x in (a, b)]
    for act in (
        lambda: a.add(reports),
        lambda: a.add(iter(reports)),
        lambda: a.merge(b),
        lambda: a + b,
        lambda: survey.estimate(a),
        lambda: survey.estimate(reports),
    ):
        act()
        for x, (n, counts) in zip((a, b), before, strict=True):
            assert x.n_reports == n
            assert np.array_equal(x.counts, counts)
        assert np.array_equal(reports.batch, batch)


@pytest.mark.parametrize("name", serving(FiniteMechanism))
def test_a_failure_midway_changes_nothing(name: str) -> None:
    survey = sv.Survey(sv.shares(5), epsilon=1.0, mechanism=name)
    good = list(survey.simulate([0, 1, 2, 3, 4], seed=1))
    aggregate = survey.aggregate().add(good)
    counts = aggregate.counts.copy()

    def breaks() -> Any:
        yield from good
        raise OSError("the connection is gone")

    for reports, error in (
        ([*good, b"short"], SottovoceError),
        ([*good, survey.tag + b"\xff" * survey.mechanism.report_bytes], SottovoceError),
        ([*good, None], SottovoceError),
        (breaks(), OSError),
    ):
        with pytest.raises(error):
            aggregate.add(reports)
        assert aggregate.n_reports == 5
        assert np.array_equal(aggregate.counts, counts)


def test_values_handed_in_are_not_changed() -> None:
    values = np.array([3, 1, 2, 0, 4])
    histogram = np.array([1, 2, 3, 4, 5])
    kept = values.copy(), histogram.copy()
    for name in serving(FiniteMechanism):
        survey = sv.Survey(sv.shares(5), epsilon=1.0, mechanism=name)
        survey.simulate(values, seed=1)
        survey.simulate_aggregate(values, seed=1)
        survey.simulate_aggregate(histogram=histogram, seed=1)
    assert np.array_equal(values, kept[0])
    assert np.array_equal(histogram, kept[1])
    values[0] = 0
    assert values.flags.writeable
