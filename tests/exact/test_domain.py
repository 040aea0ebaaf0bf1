"""Domains at their limits: sizes, spellings and messages that are fixed; nothing private is told."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from enum import Enum, IntEnum
from functools import partial
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import CapacityError, DomainError, ValueOutsideDomainError, WorkloadError
from sottovoce.domain import Domain, RangeDomain, TextDomain, ValueNumbers, domain_from_statement
from sottovoce.questions import Queries
from sottovoce.workloads import Bins, Dense, Features, Identity, Marginals, Parities, Prefix, Ranges, Sparse
from tracing import lines_run

EXACT = 2**53 - 1
HUGE = [
    Domain.of(2**50),
    Domain.of(2**63 - 1),
    Domain.of(range(2**63 - 1, 0, -1)),
    Domain.text(13),
    Domain.text(62, "ab"),
]


def test_the_numbering_that_is_written_down() -> None:
    """By hand: N(0), N(1), N(2) = 1, 4, 13 texts of three letters."""
    domain = Domain.text(3, "abc")
    assert domain.size == 40
    assert domain.index("cab") == (1 + 2 * 13) + (1 + 0 * 4) + (1 + 1 * 1) == 30
    assert domain.index("") == 0
    assert domain.to_statement() == {"alphabet": "abc", "length": 3}
    assert repr(domain) == "Domain.text(3, 'abc')"
    assert domain == TextDomain("abc", 3) != TextDomain("acb", 3)
    assert Domain.text(np.int64(3), "abc") == domain
    assert Domain.text(62, "ab").size == 2**63 - 1


class Drink(Enum):
    """Members whose values are labels, and one whose name is."""

    TEA = "tea"
    COFFEE = "coffee"
    water = 3


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@pytest.mark.parametrize(
    "domain",
    [
        Domain.of(["yes", "no"]),
        Domain.text(2, "01"),
        Domain.text(2, "ab"),
        Domain.product(smokes=["yes", "no"]),
        Domain.product(smokes=["yes", "no"], plan=["free", "pro"]),
    ],
    ids=repr,
)
def test_a_number_is_not_a_label(domain: Domain) -> None:
    """0 and 1 in people's data would be the first and the second label: yes would be counted as no."""
    for value in (0, 1, np.int64(1), True, 1.0):
        with pytest.raises(ValueOutsideDomainError) as refusal:
            domain.index(value)
        assert "sottovoce.domain.ValueNumbers" in str(refusal.value)
    for values in ([0, 1], np.array([0, 1]), np.array([True, False]), [0, "yes"]):
        with pytest.raises(ValueOutsideDomainError):
            domain.indices(values)
    with pytest.raises(ValueOutsideDomainError):
        Domain.product(one=domain if not domain.field_names else 2, two=["a", "b"]).indices({"one": [0], "two": [1]})
    assert domain.indices(ValueNumbers(np.array([1, 0]))).tolist() == [1, 0]
    for numbers in ([domain.size], [-1], [0.5], ["yes"]):
        with pytest.raises(ValueOutsideDomainError):
            domain.indices(ValueNumbers(numbers))


def test_a_survey_of_labels_refuses_numbers_at_every_door() -> None:
    survey = sv.Survey(["yes", "no"], epsilon=1.0)
    for give in (survey.randomize, survey.private_input):
        for value in (0, 1, np.int64(0), True):
            with pytest.raises(ValueOutsideDomainError):
                give(value)
    for give in (survey.simulate, survey.simulate_aggregate):
        for values in ([0, 1], np.array([0, 1])):
            with pytest.raises(ValueOutsideDomainError):
                give(values)
    form = sv.Survey(sv.records({"smokes": ["yes", "no"], "plan": ["free", "pro"]}), epsilon=1.0)
    with pytest.raises(ValueOutsideDomainError):
        form.simulate({"smokes": np.array([0, 1]), "plan": ["free", "pro"]})
    with pytest.raises(ValueOutsideDomainError):
        sv.Survey(sv.choices(["bus", "tram"]), epsilon=1.0).randomize([0])
    assert len(survey.simulate(ValueNumbers([0, 1, 1]), seed=1)) == 3


def test_members_of_an_enum_are_their_labels() -> None:
    domain = Domain.of(["tea", "coffee", "water"])
    assert [domain.index(drink) for drink in Drink] == [0, 1, 2]
    assert domain.indices([*Drink, "tea"]).tolist() == [0, 1, 2, 0]
    assert domain.indices(np.array([*Drink], dtype=object)).tolist() == [0, 1, 2]
    assert Domain.of(Level) == Domain.of([1, 2])
    assert Domain.of([1, 2]).indices([Level.HIGH, 1]).tolist() == [1, 0]
    assert Domain.of(range(1, 3)).indices([Level.HIGH, Level.LOW]).tolist() == [1, 0]
    assert Domain.of(["LOW", "HIGH"]).indices([Level.HIGH, Level.LOW]).tolist() == [1, 0]
    assert Domain.of(Drink).labels() == ["TEA", "COFFEE", "water"], "their values are not all texts"
    either = Enum("either", {"yes": "no", "no": "yes"})
    with pytest.raises(ValueOutsideDomainError):
        Domain.of(["yes", "no"]).index(either.yes)  # type: ignore[attr-defined]


def test_truth_values_are_labels_where_the_survey_says_so() -> None:
    domain = Domain.of([True, False])
    assert domain == Domain.of(["true", "false"])
    assert domain.indices([True, False, "true"]).tolist() == [0, 1, 0]
    assert domain.indices(np.array([True, False])).tolist() == [0, 1]
    assert domain.index(np.True_) == 0
    for value in (1, 0, 1.0, None):
        with pytest.raises(ValueOutsideDomainError):
            domain.index(value)


def test_labels_that_people_cannot_tell_apart_are_refused_in_new_surveys() -> None:
    for labels in (["", "a"], [" ", "a"], ["a", " a"], ["a ", "b", "a"], ["\ta", "a\n"]):
        with pytest.raises(DomainError):
            Domain.of(labels)
        for make in (sv.shares, sv.choices, lambda labels: sv.records({"x": labels, "y": 2})):
            with pytest.raises((DomainError, sv.errors.SurveyError)):
                make(labels)
        assert domain_from_statement({"labels": labels}).labels() == labels, "an old survey still opens"
    assert Domain.of([" a", "b"]).labels() == [" a", "b"]


@pytest.mark.parametrize(
    ("length", "alphabet", "phrases"),
    [
        (3, "a", ("a string of 2 to 64 characters",)),
        (3, "", ("a string of 2 to 64 characters",)),
        (3, "".join(map(chr, range(65))), ("a string of 2 to 64 characters",)),
        (3, ["a", "b"], ("a string of 2 to 64 characters",)),
        (3, "aba", ("more than once", "must be distinct")),
        (3, "a\ud800", ("not valid Unicode text", "remove the lone surrogate")),
        (3, "ab\0", ("contains the character U+0000", "remove it")),
        (0, "ab", ("an integer from 1 to 62", "at most 9223372036854775808 texts")),
        (63, "ab", ("an integer from 1 to 62",)),
        (True, "ab", ("an integer from 1 to 62",)),
        (3.0, "ab", ("an integer from 1 to 62",)),
        (14, "abcdefghijklmnopqrstuvwxyz", (f"domain size is {(26**15 - 1) // 25}:", "to 9223372036854775808")),
    ],
)
def test_texts_that_cannot_be_asked_for(length: Any, alphabet: Any, phrases: tuple[str, ...]) -> None:
    with pytest.raises(DomainError) as caught:
        Domain.text(length, alphabet)
    assert all(phrase in str(caught.value) for phrase in phrases)


@pytest.mark.parametrize(
    ("domain", "statement"),
    [
        (range(EXACT - 1, EXACT + 1), {"start": EXACT - 1, "step": 1, "size": 2}),
        (range(EXACT, EXACT + 2), {"start": EXACT, "step": 1, "size": 2}),
        (range(EXACT + 1, EXACT + 3), {"start": "9007199254740992", "step": 1, "size": 2}),
        (range(-EXACT, -EXACT - 2, -1), {"start": -EXACT, "step": -1, "size": 2}),
        (range(-EXACT - 1, 0), {"start": "-9007199254740992", "step": 1, "size": "9007199254740992"}),
        (range(0, 2**54, 2**53), {"start": 0, "step": "9007199254740992", "size": 2}),
        (EXACT, {"start": 0, "step": 1, "size": EXACT}),
        (2**63 - 1, {"start": 0, "step": 1, "size": "9223372036854775807"}),
        (
            range(-(2**63), 2**63, 2**64 - 1),
            {"start": "-9223372036854775808", "step": "18446744073709551615", "size": 2},
        ),
    ],
    ids=repr,
)
def test_integers_are_stated_in_one_way(domain: Any, statement: dict[str, Any]) -> None:
    assert Domain.of(domain).to_statement() == statement
    assert domain_from_statement(json.loads(json.dumps(statement))) == Domain.of(domain)


@pytest.mark.parametrize(
    "start",
    [
        2**53,
        -(2**53),
        "9007199254740991",
        "-9007199254740991",
        "0",
        "",
        "-",
        "09007199254740992",
        "+9007199254740992",
        "-09007199254740992",
        " 9007199254740992",
        "9007199254740992\n",
        "9_007_199_254_740_992",
        "9007199254740992.0",
        "9.007199254740992e15",
        "0x20000000000000",
        "٩٠٠٧١٩٩٢٥٤٧٤٠٩٩٢",
        "9223372036854775807",  # its own spelling, but the range leaves int64
        "9" * 5000,
        2.0**53,
        True,
        None,
        ["9007199254740992"],
    ],
    ids=lambda start: repr(start)[:30],
)
def test_any_other_spelling_is_refused(start: Any) -> None:
    domain_from_statement({"start": "9007199254740992", "step": 1, "size": 2})
    with pytest.raises(DomainError):
        domain_from_statement({"start": start, "step": 1, "size": 2})


def test_a_distribution_is_asked_over_at_most_2_to_the_40_values() -> None:
    assert sv.Survey(sv.shares(range(2**62, 2**62 + 2**40)), epsilon=1.0, mechanism="hadamard").n_answers == 2**40
    for domain in (2**40 + 1, range(2**40 + 1), Domain.of(2**63 - 1), Domain.text(9), {"word": Domain.text(9)}):
        with refuses(DomainError, "values"):
            sv.Survey(sv.shares(domain), epsilon=1.0, mechanism="hadamard")
    survey = sv.Survey(sv.shares(Domain.text(8)), epsilon=1.0, mechanism="hadamard")
    stated = json.loads(survey.to_json())
    assert stated["question"]["domain"] == {"alphabet": "abcdefghijklmnopqrstuvwxyz", "length": 8}
    assert sv.Survey.from_json(survey.to_json()) == survey
    for domain in ({"alphabet": "ab", "length": 40}, {"start": 0, "step": 1, "size": "9223372036854775807"}):
        with refuses(DomainError, "values"):
            sv.Survey.from_json(json.dumps({**stated, "question": {"kind": "shares", "domain": domain}}))


WORKLOADS: dict[str, Callable[[Domain], object]] = {
    "identity": lambda domain: Queries(Identity(domain)),
    "prefix": Prefix,
    "ranges": Ranges,
    "bins of one": lambda domain: Bins(domain, 1),
    "marginals": lambda domain: Marginals(Domain.of({"a": domain}), 1),
    "dense": lambda domain: Dense(np.ones((1, 4)), domain),
    "sparse": lambda domain: Sparse(([0], [0], [1.0], (1, 4)), domain),
    "features": lambda domain: Features(domain, lambda value: 1.0, names=["one"]),
    "parities": lambda domain: Parities(domain.size, 1),
}


@pytest.mark.parametrize("domain", HUGE, ids=repr)
@pytest.mark.parametrize("ask", WORKLOADS.values(), ids=WORKLOADS.keys())
def test_workloads_refuse_domains_that_are_too_large_for_them(ask: Callable[[Domain], object], domain: Domain) -> None:
    with pytest.raises(
        (WorkloadError, CapacityError), match=r"at most|more than|columns|cannot be binned|integer from 1 to"
    ):
        ask(domain)


def test_shares_of_a_huge_domain_are_not_listed() -> None:
    """The identity is as large as any domain; only what would list its values is refused."""
    shares = Identity(Domain.of(2**40))
    assert (shares.n_queries, shares.radius) == (2**40, 1.0)
    for refuse in (shares.dense, lambda: shares.columns([0]), lambda: shares.column(0)):
        with pytest.raises(CapacityError):
            refuse()


def test_a_workload_with_few_queries_reaches_over_a_huge_domain() -> None:
    halves = Bins(Domain.of(2**53 - 1), [0, 2**52, 2**53 - 1])
    assert halves.columns([0, 2**52 - 1, 2**52, 2**53 - 2]).tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    for refuse in (halves.dense, lambda: halves.rmatvec([1.0, 1.0])):
        with pytest.raises(CapacityError):
            refuse()


@pytest.mark.parametrize(
    "domain", [Domain.text(4), Domain.product(word=Domain.text(4), n=2**20), RangeDomain(-5, 1, 10)]
)
def test_no_error_holds_what_was_given(domain: Domain) -> None:
    """A text too long, one of foreign letters, a number far away; alone, in a list, in a record and in a table."""
    for secret in ("gazpacho", "GAZPACHO", "\ud800gazpacho", 7731773177317731, -7731773177317731):
        values: list[tuple[Callable[[Any], Any], Any]] = [(domain.index, secret), (domain.indices, [secret])]
        values += [(domain.columns, [secret]), (domain.split, [secret] * 2), (domain.indices, [0, 0, secret])]
        values += [(domain.index, {"word": secret, "n": 1}), (domain.columns, {"word": [secret], "n": [1]})]
        values += [(domain.index, {"word": "a", "n": secret}), (domain.columns, [{"word": secret, "n": 1}])]
        for ask, value in values:
            with pytest.raises(ValueOutsideDomainError) as caught:
                ask(value)
            told = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
            assert caught.value.__cause__ is None
            assert caught.value.__context__ is None
            assert not re.search("gazpacho|77317731", told, re.IGNORECASE)


def test_a_text_that_ends_in_nul_is_no_shorter_text() -> None:
    domain = Domain.text(3, "ab")
    for text in ("\0", "a\0", "\0a", "a\0b", "ab\0"):
        for ask, value in ((domain.index, text), (domain.indices, [text]), (domain.indices, ["a", text])):
            with pytest.raises(ValueOutsideDomainError):
                ask(value)


def test_a_texts_length_does_not_show_in_the_lines_that_run() -> None:
    """One text alone, as a device has it: by itself, in a list and in a record."""
    domain = Domain.text(5, "abc")
    person = Domain.product(word=domain, n=3)
    ways: list[tuple[Callable[[Any], Any], Callable[[str], Any]]] = [
        (domain.index, lambda text: text),
        (domain.columns, lambda text: [text]),
        (person.columns, lambda text: [{"word": text, "n": 1}]),
    ]
    for ask, given in ways:
        ask(given("abcab"))  # what is made once is made
        first = lines_run(partial(ask, given("")))
        assert len(first) > 2 * domain.max_length
        for text in ("a", "cc", "abcab", "ccccc"):
            assert lines_run(partial(ask, given(text))) == first


def test_texts_cannot_be_changed() -> None:
    domain = Domain.text(3)
    for field in ("alphabet", "max_length", "size"):
        with pytest.raises((FrozenInstanceError, AttributeError)):
            setattr(domain, field, 4)
