"""Domains too large to list: texts and long ranges against plain Python, and records of either taken apart again."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import each
from refusing import refuses
from sottovoce.core.errors import DomainError, SurveyError, ValueOutsideDomainError
from sottovoce.domain import Domain, ProductDomain, RangeDomain, TextDomain, domain_from_statement

PLAIN = settings(deadline=None)

alphabets = st.text(st.characters(codec="utf-8", min_codepoint=1), min_size=2, max_size=64).map(
    lambda t: "".join(dict.fromkeys(t))
)
alphabets = alphabets.filter(lambda alphabet: len(alphabet) > 1)


def longest(alphabet: str) -> int:
    """Length of the longest texts that may be asked for."""
    length = 0
    while sum(len(alphabet) ** j for j in range(length + 2)) <= 2**63:
        length += 1
    return length


@st.composite
def text_domains(draw: st.DrawFn) -> TextDomain:
    alphabet = draw(alphabets)
    return Domain.text(draw(st.integers(1, longest(alphabet)) | st.just(longest(alphabet))), alphabet)


def texts_of(domain: TextDomain) -> st.SearchStrategy[str]:
    """Any text of the domain; often a long one."""
    letters = st.sampled_from(domain.alphabet)
    long = st.lists(letters, min_size=domain.max_length, max_size=domain.max_length)
    return (st.lists(letters, max_size=domain.max_length) | long).map("".join)


def codes(domain: TextDomain, text: str) -> list[int]:
    """What texts are ordered by: Python puts a list before its extensions, as the domain puts texts."""
    return [domain.alphabet.index(letter) for letter in text]


@pytest.mark.parametrize(
    ("alphabet", "length"), [("ab", 5), ("ba", 4), ("zyx", 3), ("0123456789", 2), ("😀e\u0301", 3)]
)
def test_small_domains_hold_every_text_in_order(alphabet: str, length: int) -> None:
    domain = Domain.text(length, alphabet)
    every = ["".join(t) for j in range(length + 1) for t in itertools.product(alphabet, repeat=j)]
    every.sort(key=lambda text: codes(domain, text))
    assert domain.size == len(every)
    assert domain.labels() == every
    assert [domain.index(text) for text in every] == list(range(domain.size))
    assert domain.indices(every).tolist() == list(range(domain.size))
    for k in range(length + 2):
        assert domain.prefixes(np.arange(domain.size), k).tolist() == [domain.index(text[:k]) for text in every]
        expected = [1 + alphabet.index(text[k]) if k < len(text) else 0 for text in every]
        assert domain.letters(np.arange(domain.size), k).tolist() == expected


@PLAIN
@given(text_domains(), st.data())
def test_a_text_and_its_number_name_each_other(domain: TextDomain, data: st.DataObject) -> None:
    texts = data.draw(st.lists(texts_of(domain), max_size=6))
    numbers = [domain.index(text) for text in texts]
    assert all(0 <= number < domain.size for number in numbers)
    assert [domain.label(number) for number in numbers] == texts
    for given_as in (texts, tuple(texts), iter(texts), pd.Series(texts, dtype=object), np.array(texts, dtype=object)):
        found = domain.indices(given_as)
        assert found.tolist() == numbers
        assert found.dtype == np.int64
    number = data.draw(st.integers(0, domain.size - 1))
    assert domain.index(domain.label(number)) == number


@PLAIN
@given(text_domains(), st.data())
def test_texts_are_numbered_in_their_order(domain: TextDomain, data: st.DataObject) -> None:
    """Two of them, often with a common beginning: their numbers compare as they do."""
    one, two = data.draw(texts_of(domain)), data.draw(texts_of(domain))
    two = (one[: data.draw(st.integers(0, len(one)))] + two)[: domain.max_length]
    assert (domain.index(one) < domain.index(two)) == (codes(domain, one) < codes(domain, two))


@PLAIN
@given(text_domains(), st.data())
def test_texts_with_a_common_beginning_stand_together(domain: TextDomain, data: st.DataObject) -> None:
    """From the beginning itself to its last extension, and neither neighbour starts so."""
    text = data.draw(texts_of(domain))
    first = domain.index(text)
    rest = domain.max_length - len(text)
    last = first + sum(len(domain.alphabet) ** j for j in range(rest + 1)) - 1
    assert domain.label(last) == text + domain.alphabet[-1] * rest
    inside = data.draw(st.integers(first, last))
    assert domain.label(inside).startswith(text)
    for outside in {first - 1, last + 1} & {max(first - 1, 0), min(last + 1, domain.size - 1)}:
        assert not domain.label(outside).startswith(text)


@PLAIN
@given(text_domains(), st.data())
def test_beginnings_and_letters_are_those_of_the_strings(domain: TextDomain, data: st.DataObject) -> None:
    texts = data.draw(st.lists(texts_of(domain), min_size=1, max_size=5))
    positions = domain.indices(texts)
    k = data.draw(st.integers(0, domain.max_length + 2))
    assert [domain.label(number) for number in domain.prefixes(positions, k)] == [text[:k] for text in texts]
    letters = domain.letters(positions, k)
    assert letters.dtype == domain.prefixes(positions, k).dtype == np.int64
    assert letters.tolist() == [domain.alphabet.index(text[k]) + 1 if k < len(text) else 0 for text in texts]
    assert positions.tolist() == domain.indices(texts).tolist()


@PLAIN
@given(text_domains(), st.data())
def test_anything_else_is_refused_one_at_a_time_and_all_at_once(domain: TextDomain, data: st.DataObject) -> None:
    strangers = st.text(max_size=3) | st.binary(max_size=2) | st.none() | st.floats() | st.integers(-3, 2**65)
    too_long = texts_of(domain).map(lambda text: text + domain.alphabet[0] * (domain.max_length + 1 - len(text)))
    listed = data.draw(st.lists(texts_of(domain) | strangers | too_long | st.just("\ud800"), min_size=1, max_size=4))

    def allowed(value: Any) -> bool:
        return isinstance(value, str) and len(value) <= domain.max_length and set(value) <= set(domain.alphabet)

    for value in listed:
        if allowed(value):
            assert domain.indices([value]).tolist() == [domain.index(value)]
        else:
            for refuse in (
                domain.index,
                lambda value: domain.indices([value]),
                lambda value: domain.indices(["", value]),
            ):
                with pytest.raises(ValueOutsideDomainError):
                    refuse(value)
    if all(map(allowed, listed)):
        assert domain.indices(listed).tolist() == [domain.index(value) for value in listed]
    else:
        first = next(place for place, value in enumerate(listed) if not allowed(value))
        with pytest.raises(ValueOutsideDomainError, match=f"^the value at position {first} is not"):
            domain.indices(listed)


@PLAIN
@given(text_domains())
def test_statements_restore_texts(domain: TextDomain) -> None:
    assert domain_from_statement(domain.to_statement()) == domain
    assert hash(domain_from_statement(domain.to_statement())) == hash(domain)
    assert Domain.of(domain) is domain


@each("size", range(2, 65))
def test_as_many_texts_as_int64_can_number(size: int) -> None:
    """The longest texts of every alphabet are numbered to the end, and one character more is refused."""
    alphabet = "".join(map(chr, range(0x100, 0x100 + size)))
    length = longest(alphabet)
    domain = Domain.text(length, alphabet)
    last = alphabet[-1] * length
    assert domain.size <= 2**63
    assert domain.index(last) == domain.indices([last])[0] == domain.size - 1
    assert domain.label(domain.size - 1) == last
    assert domain.letters([domain.size - 1], length - 1)[0] == size
    assert domain.prefixes([domain.size - 1], length)[0] == domain.size - 1
    with pytest.raises(DomainError):
        Domain.text(length + 1, alphabet)


@pytest.mark.parametrize("place", [-1, True, 1.0, None, "1", 2**63], ids=repr)
def test_places_are_counted_from_zero(place: Any) -> None:
    domain = Domain.text(3)
    for ask, field in ((domain.prefixes, "k"), (domain.letters, "i")):
        with refuses(SurveyError, field):
            ask([0], place)


@pytest.mark.parametrize("numbers", [[-1], [7], [2**63], [True], ["a"], [1.0], 3, [[0]]], ids=repr)
def test_numbers_that_no_value_has(numbers: Any) -> None:
    words = Domain.text(2, "ab")
    for ask in (words.split, lambda n: words.prefixes(n, 1), lambda n: words.letters(n, 1)):
        with pytest.raises(ValueOutsideDomainError):
            ask(numbers)


@st.composite
def long_ranges(draw: st.DrawFn) -> Domain:
    """Anywhere in int64, in either direction, of any size."""
    start = draw(st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), 2**63 - 1, 2**53, 0]))
    last = draw(st.integers(-(2**63), 2**63 - 1).filter(lambda last: last != start))
    step = draw(
        st.integers(max(1, abs(last - start) // (2**63 - 2) + 1), abs(last - start)) | st.just(abs(last - start))
    )
    return Domain.of(range(start, last + (1 if last > start else -1), step if last > start else -step))


@PLAIN
@given(long_ranges(), st.data())
def test_long_ranges_agree_with_plain_arithmetic(domain: RangeDomain, data: st.DataObject) -> None:
    """One at a time in Python's integers, all at once in NumPy's, which must not wrap around."""
    assert 2 <= domain.size <= 2**63 - 1
    numbers = [*data.draw(st.lists(st.integers(0, domain.size - 1), max_size=5)), 0, domain.size - 1]
    values = [domain.start + domain.step * number for number in numbers]
    assert [domain.index(value) for value in values] == numbers
    assert domain.indices(values).tolist() == numbers
    assert domain.indices(np.array(values, dtype=np.int64)).tolist() == numbers
    assert [int(domain.label(number)) for number in numbers] == values
    stranger = data.draw(st.integers(-(2**63), 2**63 - 1))
    steps, between = divmod(stranger - domain.start, domain.step)
    if between or not 0 <= steps < domain.size:
        with pytest.raises(ValueOutsideDomainError):
            domain.indices(np.array([values[0], stranger]))


@PLAIN
@given(long_ranges())
def test_statements_restore_long_ranges(domain: RangeDomain) -> None:
    """Also through canonical JSON, whose numbers end at 2**53 - 1."""
    stated = json.loads(rfc8785.dumps(domain.to_statement()))
    assert domain_from_statement(stated) == domain
    for field, number in (("start", domain.start), ("step", domain.step), ("size", domain.size)):
        assert stated[field] == (number if abs(number) < 2**53 else str(number))
        wrong: list[Any] = [str(number), float(number), f"+{number}", f"0{number}", f" {number}", f"{number}.0"]
        for other in [*wrong[1:], number] if abs(number) >= 2**53 else wrong:
            with pytest.raises(DomainError):
                domain_from_statement({**stated, field: other})


@st.composite
def plain_domains(draw: st.DrawFn) -> Domain:
    """Of every kind and of up to 2**63 values."""
    integers = st.integers(-(2**63), 2**63 - 1 - 2**40).flatmap(
        lambda start: st.integers(2, 2**40).map(lambda size: range(start, start + size))
    )
    return Domain.of(
        draw(text_domains() | integers | st.integers(2, 2**63 - 1) | st.just(["x", "y,z"]) | st.just([7, 3]))
    )


@st.composite
def products(draw: st.DrawFn) -> ProductDomain:
    """As many attributes as fit, up to 2**63 records."""
    found: dict[str, Domain] = {}
    size = 1
    for number, domain in enumerate(draw(st.lists(plain_domains(), min_size=1, max_size=6))):
        if size * domain.size <= 2**63:
            size *= domain.size
            found[f"a{number}"] = domain
    while size * 2 <= 2**63 and draw(st.integers(0, 3)) and len(found) < 70:
        size *= 2
        found[f"b{len(found)}"] = Domain.of(2)
    return ProductDomain(tuple(found.items()))


@PLAIN
@given(plain_domains() | products(), st.data())
def test_columns_and_split_agree_with_indices(domain: Domain, data: st.DataObject) -> None:
    """A record's number goes apart into its attributes' numbers, and those make it again in Python's own integers."""
    numbers = [*data.draw(st.lists(st.integers(0, domain.size - 1), max_size=4)), 0, domain.size - 1]
    attributes = Domain.attributes_of(domain)
    parts = domain.split(np.array(numbers, dtype=np.int64))
    assert list(parts) == [name for name, _ in attributes]
    assert all(part.dtype == np.int64 for part in parts.values())
    again = [0] * len(numbers)
    for name, inner in attributes:
        assert all(0 <= part < inner.size for part in parts[name].tolist())
        again = [number * inner.size + part for number, part in zip(again, parts[name].tolist(), strict=True)]
    assert again == numbers
    if isinstance(domain, ProductDomain):
        values: Any = {name: [value_of(inner, part) for part in parts[name]] for name, inner in attributes}
        records = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    else:
        assert attributes == (("value", domain),)
        records = values = [value_of(domain, number) for number in numbers]
    for given_as in (values, records):
        assert domain.indices(given_as).tolist() == numbers
        found = domain.columns(given_as)
        assert {name: part.tolist() for name, part in found.items()} == {name: p.tolist() for name, p in parts.items()}


def value_of(domain: Domain, number: int) -> str | int:
    """The value itself, from its label."""
    label = domain.label(number)
    return label if isinstance(domain, TextDomain) or domain == Domain.of(["x", "y,z"]) else int(label)


@pytest.mark.parametrize(
    "values",
    [
        {"age": [1]},
        {"age": [1], "name": ["ab"], "more": [0]},
        {"age": [1, 2], "name": ["ab"]},
        {"age": [1], "name": ["a b"]},
        [{"age": 1}],
        [{"age": 1, "name": "ab", "more": 0}],
        [{"age": 100, "name": "ab"}],
        [-1],
        "ab",
    ],
    ids=repr,
)
def test_columns_need_exactly_the_attributes(values: Any) -> None:
    with pytest.raises(ValueOutsideDomainError):
        Domain.product(age=range(100), name=Domain.text(3)).columns(values)
