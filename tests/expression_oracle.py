"""What a tree gives for one record, in plain Python: a second evaluator, written from docs/expressions.md alone.

It works on Python's own integers, floats, strings and truths, one record at a time, and knows no bounds.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sottovoce.domain import Domain, RangeDomain, TextDomain
from sottovoce.workloads.naming import value_at

COMPARE = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
LOGIC = {"and": all, "or": any, "not": lambda sides: not next(iter(sides))}


@cache
def record_at(domain: Domain, index: int) -> dict[str, Any]:
    """The record of that number: values by attribute, "value" where there is only one."""
    if isinstance(domain, TextDomain):
        return {"value": domain.label(index)}
    parts: dict[str, Any] = {}
    for name, inner in reversed(Domain.attributes_of(domain)):
        index, part = divmod(index, inner.size)
        parts[name] = inner.label(part) if isinstance(inner, TextDomain) else value_at(inner, part)
    return parts


def number(tree: Any) -> int | float | None:
    """The number a constant stands for."""
    if isinstance(tree, list) and tree[0] == "integer":
        return int(tree[1])
    if isinstance(tree, (int, float)) and not isinstance(tree, bool):
        whole = tree == int(tree) and abs(tree) <= 2**53 - 1
        return int(tree) if whole else float(tree)
    return None


def kind(tree: Any, domain: Domain) -> str:
    """integer, real, truth or text."""
    if isinstance(tree, (bool, str)):
        return "truth" if isinstance(tree, bool) else "text"
    value = number(tree)
    if value is not None:
        return "real" if isinstance(value, float) else "integer"
    op, *rest = tree
    if op == "attribute":
        held = value_of_attribute(domain, rest[0], 0)
        return "text" if isinstance(held, str) else "integer"
    if op in COMPARE or op in LOGIC or op in ("in", "bit"):
        return "truth"
    if op == "prefix":
        return kind(rest[0], domain)
    if op in ("//", "%", "letter", "find"):
        return "integer"
    if op in ("table", "sparse"):
        return "real" if any(isinstance(number(member), float) for member in rest[-1]) else "integer"
    inner = {kind(part, domain) for part in (rest[1:] if op == "if" else rest)}
    if op == "if" and inner == {"truth"}:
        return "truth"
    return "real" if op == "/" or "real" in inner else "integer"


def value_of_attribute(domain: Domain, name: str, index: int) -> Any:
    return record_at(domain, index)[name]


def same(values: list[Any], reals: bool) -> list[Any]:
    return [float(value) if reals else int(value) for value in values]


def answer(tree: Any, domain: Domain, index: int) -> Any:
    """The answer of the record of that number, of the tree's own kind."""
    if isinstance(tree, (bool, str)):
        return tree
    value = number(tree)
    if value is not None:
        return value
    op, *rest = tree
    if op == "attribute":
        return value_of_attribute(domain, rest[0], index)
    if op in ("table", "sparse"):
        numbers = [number(member) for member in rest[-1]]
        if op == "sparse":
            found = dict(zip((number(i) for i in rest[0]), numbers, strict=True)).get(index, 0)
        else:
            found = numbers[index]
        return same([found], kind(tree, domain) == "real")[0]
    if op in ("prefix", "letter"):
        return of_attribute(op, rest[0][1], rest[1], domain, index)
    sides = [answer(part, domain, index) for part in (rest[:1] if op in ("in", "find") else rest)]
    if op in LOGIC:
        return LOGIC[op](sides)
    if op in ("in", "find"):
        return found_among(op, sides[0], rest[1])
    kinds = [kind(part, domain) for part in rest]
    if op == "if":
        chosen = sides[1] if sides[0] else sides[2]
        return chosen if kinds[1:] == ["truth", "truth"] else same([chosen], "real" in kinds[1:])[0]
    if "text" not in kinds:
        sides = same(sides, "real" in kinds or op == "/")
    return computed(op, sides)


def computed(op: str, sides: list[Any]) -> Any:
    if op in COMPARE:
        return COMPARE[op](*sides)
    a, b = sides[0], sides[-1]
    table = {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "/": lambda: a / b,
        "//": lambda: a // b,
        "%": lambda: a % b,
        "neg": lambda: -a,
        "abs": lambda: abs(a),
        "min": lambda: min(sides),
        "max": lambda: max(sides),
        "clip": lambda: min(max(a, sides[1]), b),
        "bit": lambda: bool(a >> b & 1),
    }
    return table[op]()


def found_among(op: str, value: Any, members: list[Any]) -> Any:
    if isinstance(value, str):
        listed: list[Any] = members
    else:
        numbers = [number(member) for member in members]
        reals = isinstance(value, float) or any(isinstance(n, float) for n in numbers)
        listed, value = same(numbers, reals), same([value], reals)[0]
    if op == "in":
        return value in listed
    return listed.index(value) if value in listed else len(listed)


def of_attribute(op: str, name: str, k: int, domain: Domain, index: int) -> Any:
    inner = dict(Domain.attributes_of(domain))[name]
    value = value_of_attribute(domain, name, index)
    if isinstance(inner, RangeDomain):
        width = (inner.size - 1).bit_length()
        bits = f"{(value - inner.start) // inner.step:0{width}b}"
        return int("0" + bits[:k], 2)
    assert isinstance(inner, TextDomain)
    if op == "prefix":
        return value[:k]
    return 1 + inner.alphabet.index(value[k]) if k < len(value) else 0
