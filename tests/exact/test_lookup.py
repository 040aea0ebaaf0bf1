"""Looking a value up is the same work for every value, whatever labels a hostile collector has chosen.

Comparisons, hashed blocks and lines are counted; nothing is timed.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from sottovoce.core.errors import ValueOutsideDomainError
from sottovoce.domain import Domain, LabelDomain, domain_from_statement, lookup
from sottovoce.domain.lookup import Lookup, TextLookup
from tracing import lines_run

COLLIDING = [i << 40 for i in range(-300, 300)]
"""Integers whose hashes agree in all the bits that a small table looks at."""
LONG_PREFIX = ["x" * 5000 + str(i) for i in range(200)]
UNEVEN = ["", "a", "a\0", "é", "\U0001f600" * 40, *LONG_PREFIX]
OUTSIDE: list[Any] = ["water", "x" * 4999, "x" * 10**5, "", 7, -1, 10**40, None, 0.5, True, b"a", object(), "\ud800"]


class Counted:
    """A key that counts how often it is compared."""

    compared = 0

    def __init__(self, key: Any) -> None:
        self.key = key

    def __ge__(self, other: Any) -> bool:  # what `listed <= key` asks of the key that is looked up
        Counted.compared += 1
        return bool(self.key >= other)

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return bool(self.key == other)

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 600])
def test_every_key_takes_as_many_comparisons(size: int) -> None:
    keys = COLLIDING[:size]
    found = Lookup(keys)
    steps = set()
    for i, key in [*enumerate(keys), (-1, 1), (-1, 10**30), (-1, -(10**30))]:
        Counted.compared = 0
        assert found.find(Counted(key)) == i
        steps.add(Counted.compared)
    assert steps == {(size - 1).bit_length() + 1}


def test_a_million_labels_take_twenty_comparisons() -> None:
    found = Lookup(range(0, 3 * 10**6, 3))
    Counted.compared = 0
    assert found.find(Counted(3 * 765_432)) == 765_432
    assert Counted.compared == 21


@pytest.mark.parametrize("texts", [UNEVEN, ["no", "yes"], ["a" * i for i in range(150)]])
def test_every_text_hashes_as_many_blocks(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found, blocks, digest = TextLookup(texts), [], lookup._digest

    def counted(content: bytes) -> bytes:
        blocks.append(max(1, -(-len(content) // 128)))
        return digest(content)

    monkeypatch.setattr(lookup, "_digest", counted)
    work = set()
    for text in [*texts, *(value for value in OUTSIDE if isinstance(value, str))]:
        blocks.clear()
        assert found.find(text) == (texts.index(text) if text in texts else -1)
        work.add((len(blocks), sum(blocks)))
    assert len(work) == 1


@pytest.mark.parametrize(
    ("domain", "inside"),
    [
        (Domain.of(COLLIDING), COLLIDING[::50]),
        (domain_from_statement({"labels": UNEVEN}), UNEVEN[::20]),
        (Domain.of(["1", "2", "3"]), ["1", "3"]),
        (Domain.text(4, "abc"), ["", "a", "cccc"]),
        (Domain.of(range(-7, 70, 7)), [-7, 63]),
    ],
)
def test_the_same_lines_run_for_every_value_inside_and_outside(domain: Domain, inside: list[Any]) -> None:
    record = Domain.product(first=domain, second=3)
    for warm in (inside[0], 0):
        domain._find(warm)  # what is made once is made
    for ask, values in (
        (domain._find, [*inside, *OUTSIDE]),
        (record._find, [{"first": value, "second": other} for value in [*inside, *OUTSIDE] for other in (1, 9)]),
    ):
        # But for one line that tells integers from everything else, by their type.
        runs = [[line for line in lines_run(partial(ask, v)) if line[0] != "as_integer"] for v in values]
        assert len(runs[0]) > 1
        assert all(run == runs[0] for run in runs)


def test_many_and_one_agree() -> None:
    for domain in (domain_from_statement({"labels": UNEVEN}), Domain.of(COLLIDING)):
        assert isinstance(domain, LabelDomain)
        assert domain.indices(domain.names).tolist() == [domain.index(name) for name in domain.names]
        for outside in ("water", 5 if isinstance(domain.names[0], int) else "x"):
            with pytest.raises(ValueOutsideDomainError, match="position 1"):
                domain.indices([domain.names[0], outside])
