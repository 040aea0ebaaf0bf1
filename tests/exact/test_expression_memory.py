"""What a small expression can make a device build: measured in bytes, for the trees that ask for the most."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sottovoce import Domain
from sottovoce.core.errors import QueryError
from sottovoce.domain import LabelDomain
from sottovoce.expressions import Query, check, query
from sottovoce.expressions.limits import MAX_CONSTANTS, MAX_LABELS, MAX_MEMORY, MAX_NODES, MAX_TABLES
from sottovoce.expressions.part import Part

pytestmark = pytest.mark.slow

VALUE = ["attribute", "value"]
WIDE = Domain.of(2**17)
LABELS = Domain.of(list(range(0, 600_000, 3)))
WORDS = Domain.text(62, "ab")
NAMES = Domain.text(13)
NINE = list(range(9))
LONG = ["integer", "9007199254740993"]


def parts(part: Part) -> Iterator[Part]:
    """A checked expression's parts, one that stands at several places as often."""
    yield part
    for argument in part.parts:
        yield from parts(argument)


def arrays(asked: Query, domain: Domain) -> list[np.ndarray[Any, Any]]:
    """The different arrays that a checked expression holds."""
    held = {}
    for part in parts(asked._compiled(domain).part):
        for data in part.data if isinstance(part.data, tuple) else (part.data,):
            if isinstance(data, np.ndarray):
                held[id(data)] = data
    return list(held.values())


GREEDY: dict[str, tuple[Domain, Any]] = {
    "sparse": (WIDE, ["max", *[["sparse", NINE, [0] * 9]] * (MAX_NODES - 1)]),
    "find": (WIDE, ["max", *[["find", VALUE, NINE]] * (MAX_NODES // 2 - 1)]),
    "in": (WIDE, ["or", *[["in", VALUE, NINE]] * (MAX_NODES // 2 - 1)]),
    "labels": (LABELS, ["max", *[VALUE] * (MAX_NODES - 1)]),
    "labels found": (LABELS, ["max", *[["find", VALUE, NINE]] * (MAX_NODES // 2 - 1)]),
    "one long list": (Domain.of(2**62), ["find", VALUE, list(range(MAX_CONSTANTS))]),
    "long integers": (Domain.of(2**62), ["in", VALUE, [LONG] * 32_000]),
    "tables": (Domain.of(2**15), ["max", *[["table", [1e-9] * 2**15]] * 2]),
    "sparse over everything": (Domain.of(2**62), ["max", *[["sparse", list(range(32)), [0.5] * 32]] * 1000]),
    "letters": (WORDS, ["max", *[["letter", VALUE, 61]] * (MAX_NODES // 3)]),
    "texts": (NAMES, ["in", VALUE, ["ab" * 4] * 60_000]),
    "a long text": (WORDS, ["in", VALUE, ["ab", "a" * 62]]),
}


@pytest.mark.parametrize("name", GREEDY)
def test_one_record_takes_little_memory_and_arrays_are_made_once(name: str) -> None:
    domain, tree = GREEDY[name]
    text = json.dumps(tree, separators=(",", ":"))
    record = "ab" if domain in (WORDS, NAMES) else 6
    tracemalloc.start()
    try:
        asked = Query.from_json(text)
        asked.check(domain)
        answer = asked.evaluate_one(domain, record)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert np.isfinite(answer)
    # The rest is for labels: they stand in one array, and are put in order when a record is found among them.
    assert peak < MAX_MEMORY - 3 * 8 * MAX_LABELS
    labels = domain.size if isinstance(domain, LabelDomain) else 0
    entries = sum(array.size for array in arrays(asked, domain))
    # A member of a list stands in at most two arrays, and sparse has one number more than members.
    assert entries <= labels + MAX_TABLES + 2 * MAX_CONSTANTS + MAX_NODES


def test_lists_without_a_table_are_searched_alike() -> None:
    lists = [list(range(k, 2**17, 12_000 + k)) for k in range(12)]
    tree = ["max", *[["*", k + 1, ["find", VALUE, listed]] for k, listed in enumerate(lists)]]
    records = np.unique([*np.concatenate(lists), *range(0, 2**17, 997), 2**17 - 1])
    expected = [
        max((k + 1) * (listed.index(value) if value in listed else len(listed)) for k, listed in enumerate(lists))
        for value in records.tolist()
    ]
    asked = Query.from_tree(tree)
    assert asked.evaluate(WIDE, WIDE.split(records)).tolist() == expected
    ways = {part.op for part in parts(asked._compiled(WIDE).part)}
    assert {"gather", "search"} <= ways, "some lists have a table, and some do not"


def test_labels_are_counted_once_an_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = Domain.product(one=[3, 7, 9], other=[1, 2, 4, 8], name=["a", "b"] + [str(i) for i in range(100)], n=100)
    monkeypatch.setattr(check, "MAX_LABELS", 6)
    for text in ("one + one * one", "other - other", "one if name == 'a' else n"):
        assert query(text).check(codes).kind == "integer"
    with pytest.raises(QueryError, match=r"column 7: .* at most 6 integer labels in all; use fewer"):
        query("one + other").check(codes)
    monkeypatch.setattr(check, "MAX_LABELS", 7)
    assert query("one + other").evaluate_one(codes, {"one": 9, "other": 8, "name": "a", "n": 0}) == 17


def test_two_domains_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"label {i}" for i in range(50)]
    domain = Domain.product(a=names, b=list(names), c=names[::-1])
    compared = []
    same = LabelDomain.__eq__

    def counted(self: LabelDomain, other: object) -> bool:
        compared.append(1)
        return same(self, other)

    monkeypatch.setattr(LabelDomain, "__eq__", counted)
    equal = ["==", ["attribute", "a"], ["attribute", "b"]]
    asked = Query.from_tree(["and", *[equal] * 300])
    assert asked.evaluate_one(domain, {"a": names[7], "b": names[7], "c": names[0]}) == 1
    assert len(compared) == 1
    with pytest.raises(QueryError, match="different domains"):
        query("a == b and a == c").check(domain)


@pytest.mark.parametrize("op", ["min", "max", "and", "or"])
def test_many_arguments_take_no_more_memory_than_a_few(op: str) -> None:
    people = 2**14
    columns = WIDE.split(np.arange(people))

    def peak(arguments: int) -> int:
        truths = [["<", VALUE, k] for k in range(arguments)]
        numbers = [["+", VALUE, k] for k in range(arguments)]
        asked = Query.from_tree([op, *(truths if op in ("and", "or") else numbers)])
        asked.check(WIDE)
        tracemalloc.start()
        try:
            asked.evaluate(WIDE, columns)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(200) < peak(3) + 8 * people
