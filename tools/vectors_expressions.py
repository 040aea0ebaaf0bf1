"""Vectors for expressions: texts, their trees, answers and bounds, and trees that must be refused."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sottovoce.core.errors import QueryError
from sottovoce.domain import Domain
from sottovoce.expressions import Query, query

__all__ = ["expression_vectors"]

_DOMAINS: Final[dict[str, Domain]] = {
    "people": Domain.product(
        age=range(-3, 11, 2), country=["DE", "FR", "it's"], home=["DE", "FR", "it's"], code=[5, -1, 40], flag=2
    ),
    "texts": Domain.product(name=Domain.text(4, "abc"), word=Domain.text(2, "é😀")),
    "long texts": Domain.text(13),
    "wide": Domain.of(range(-(2**63), 2**63 - 2, 2)),
    "exact": Domain.of(range(2**53 - 3, 2**53 + 5)),
    "half": Domain.of(range(2**62 - 2, 2**62 + 2)),
    "steps": Domain.of(range(2**63 - 1, -(2**63), -(2**62))),
    "small": Domain.of(6),
    "labels": Domain.of(["yes", "no"]),
    "large": Domain.product(a=2**40, b=range(2**22)),
}

_MANY: Final = tuple(range(-20, 20, 3))

_ASKED: Final[dict[str, list[str]]] = {
    "people": [
        *("age", "code", "flag", "3", "-3", "0.1", "1e20", "True", "age + code", "age - code", "age * code"),
        *("age + 0.1", "age * 0.1 * code", "(age < 3) + 0.5 * (age > 6)", "(age < 3) + (code > 3)", "age / 3"),
        *("7 / clip(age, 1, 4)", "(age < 3) / -0.7", "age / (code + 1.25)", "age // 3", "age % 3"),
        *("code // 9223372036854775807", "code % 4611686018427387904", "(age > 2) % 2", "-age", "-(age * 0.3)"),
        *("-(age < 3)", "-(5)", "abs(age)", "abs(age / 7)", "min(age, code)", "min(age, 2.5, code)"),
        *("max(age, code, 3)", "max(age < 3, 0)", "min(0 * 0.5 * code, 0)", "max(0, 0 * 0.5 * code)"),
        *("clip(0 * 0.5 * code, 0, 0)", "clip(age, -1, 3)", "clip(age * 0.5, -1, 3)"),
        *("clip(age, code - 45, max(code, 8))", "age < 3", "age <= 3", "age > 3", "age >= 3", "age == 3", "age != 3"),
        *("age == code * 0.2", "(age < 3) == (code < 3)", "-1 <= age < 6", "country == 'FR'", "'DE' != country"),
        *("country == home", "country != home", "age < 3 and country in ('FR', 'DE')"),
        *("age < 0 or code > 30 or flag == 1", "not age < 3", "age if flag == 1 else 0.5", "age if code > 3 else 7"),
        *("age < 3 if flag == 1 else code < 3", "age in (3, 5)", "age in (3, 5.0, 7.5)", "age * 0.5 in (1.5, -0.5)"),
        *(f"age in {_MANY}", "country not in ('DE',)", "code in (5, 5)", "find(age, (3, 5, -1))"),
        *("find(country, ('FR', 'DE'))", f"find(age, {_MANY})", f"find(age * 0.5, {_MANY})"),
        *(f"find(age * 1099511627776, {_MANY})", "bit(age + 3, 0)", "bit(age + 3, 3)", "bit(age + 3, 62)"),
        *("bit(flag == 1, 0)", "prefix(age, 0)", "prefix(age, 1)", "prefix(age, 2)", "prefix(age, 3)"),
        *("sparse((0, 3, 377), (1, -2, 3))", "sparse((0, 3, 377), (0.5, -2, 3))"),
        "1 + sparse((5,), (9007199254740993,))",
    ],
    "texts": [
        *("name == 'ab'", "prefix(name, 0) == ''", "prefix(name, 1) == 'a'", "prefix(name, 2) == 'cb'"),
        *("prefix(name, 4) == name", "prefix(name, 2) in ('', 'a', 'ab')", "find(prefix(name, 1), ('c', 'a', ''))"),
        *("letter(name, 0)", "letter(name, 3)", "letter(word, 0)", "letter(word, 1)", "word == 'é😀'"),
        *("word in ('', '😀')", "letter(name, 1) + 10 * letter(word, 0)"),
    ],
    "long texts": [
        "prefix(value, 4) == 'anna'",
        "prefix(value, 12) == 'zzzzzzzzzzzz'",
        "letter(value, 12)",
        "value == ''",
    ],
    "wide": [
        *("value", "prefix(value, 1)", "prefix(value, 63)", "prefix(value, 10)", "value // 4611686018427387904"),
        *("value % 1000", "value < -9223372036854775806", "value * 1.5", "value / 3", "value == 0.5"),
        *("value == -9223372036854775808", "value in (-9223372036854775808, 0)"),
        *("bit(clip(value, 0, 4611686018427387904), 62)", "min(value, 0) // 2"),
        *("value + 9223372036854775808.0", "value < 1234567890123456789.0", "value / 1e20", "value / 1e21"),
    ],
    "exact": [
        *("value", "value * 1.5", "value == 9007199254740992", "value == 9007199254740992.0"),
        *("value < 9007199254740993", "value + 0.5", "value / 1", "value - 9007199254740992"),
        *("9007199254740991 + 1 < value", "value in (9007199254740993, 0.5)"),
    ],
    "half": [
        "value",
        "value + value // 2",
        "value - 4611686018427387904",
        "bit(value, 62)",
        "bit(value, 61)",
        "value * -1",
    ],
    "steps": [
        "value",
        "prefix(value, 1)",
        "prefix(value, 2)",
        "value // 4611686018427387904",
        "value % 7",
        "value / 2",
    ],
    "small": [
        "table((1, -2, 3, 0, 5, 7))",
        "table((0.5, -2, 3, 0, 5, 1e300)) * 2",
        "value * table((1, 0, 1, 0, 1, 0))",
    ],
    "labels": ["value == 'yes'", "table((1, 0))", "find(value, ('no',))"],
    "large": [
        *("a", "b", "a * b", "sparse((0, 4611686018427387903), (1, 2))"),
        *("sparse((4194304, 4611686018427387902), (0.5, 2))", "a - b * 0.5", "a * 8388607 % 1000003 if b > 7 else 0"),
    ],
}

_GOES_WRONG: Final[dict[str, list[str]]] = {
    "people": [
        *("nobody < 3", "country == 'UK'", "country in ('DE', 'UK')", "country < 'FR'", "country == age"),
        *("country + 1", "country", "'FR'", "'FR' == 'FR'", "age and flag", "not age", "1 if age else 2"),
        *("country if age < 3 else 2", "age in ('DE',)", "country in (1, 2)", "find(age, (1, 1))"),
        *("find(age, (9007199254740993, 9007199254740992, 0.5))", "1 / age", "1 / 0", "1 / (1e-200 * 1e-200)"),
        *("0.5 // 2", "age / 2 % 2", "9223372036854775807 + age", "-9223372036854775808 - code"),
        *("age * 1152921504606846976", "-(-9223372036854775808)", "abs(-9223372036854775808)", "1e308 * 10"),
        *("1e308 + 1e308", "1 / 5e-324", "clip(age, 3, 2)", "clip(age, age, 3)", "bit(age, 0)", "bit(flag, 63)"),
        *("bit(age / 1, 0)", "prefix(country, 1)", "prefix(code, 1)", "prefix(age, 4)", "letter(age, 0)"),
        *("letter(country, 0)", "table((1, 2))", "sparse((378,), (1,))"),
    ],
    "texts": [
        "name == word",
        "name == 'abcab'",
        "name == 'd'",
        "prefix(name, 5) == 'a'",
        "letter(name, 4)",
        "prefix(name, 1)",
    ],
    "wide": ["-value", "abs(value)", "value - 1", "value * value", "bit(value, 0)", "prefix(value, 63) * 4"],
    "half": ["value + value", "value * 2", "value * -3"],
    "small": ["table((1, 2, 3))", "sparse((6,), (1,))"],
}

_UNREADABLE: Final[dict[str, str]] = {
    "not JSON": "age < 30",
    "null": "null",
    "an object": '{"+": [1, 2]}',
    "an empty array": "[]",
    "no operation": "[1,2]",
    "an unknown operation": '["power",1,2]',
    "capitals": '["ABS",1]',
    "too few arguments": '["+",1]',
    "too many arguments": '["+",1,2,3]',
    "one argument to min": '["min",1]',
    "an infinite number": '["abs",1e999]',
    "an integer no double holds": "9007199254740993",
    "a small integer as text": '["integer","5"]',
    "an integer with a leading zero": '["integer","09007199254740992"]',
    "an integer beyond 64 bits": '["integer","9223372036854775808"]',
    "an attribute that is no text": '["attribute",1]',
    "an attribute without a name": '["attribute",""]',
    "a lone surrogate": '["attribute","\\ud800"]',
    "a step of 0": '["//",3,0]',
    "a step that is no integer": '["%",3,1.5]',
    "a step that is a truth": '["%",3,true]',
    "a step that is no constant": '["//",3,["neg",-2]]',
    "an empty list": '["in",3,[]]',
    "a list of two kinds": '["in",3,[1,"a"]]',
    "a list of truths": '["in",3,[true]]',
    "a list that is a number": '["find",3,3]',
    "a list with an expression": '["in",3,[["neg",1]]]',
    "a place below 0": '["bit",3,-1]',
    "a place above 63": '["bit",3,64]',
    "a prefix of an expression": '["prefix",["abs",["attribute","age"]],1]',
    "a prefix of a bare name": '["prefix","age",1]',
    "indices that fall": '["sparse",[2,1],[1,1]]',
    "an index twice": '["sparse",[1,1],[1,1]]',
    "more indices than numbers": '["sparse",[1,2],[1]]',
    "a table of texts": '["table",["a"]]',
    "33 levels": '["abs",' * 32 + "1" + "]" * 32,
    "1025 parts": '["min"' + ",1" * 1024 + "]",
}


def expression_vectors() -> dict[str, Any]:
    """Everything, as plain JSON values."""
    return {
        "about": "Expressions (docs/expressions.md). `domains` are statements by name. `asked`: a text, its tree, its "
        "kind and bounds over a domain, and the answers of records given by their numbers. `goes_wrong`: trees to be "
        "refused over that domain. `unreadable`: JSON texts to be refused over any. Numbers of records and integers "
        "are decimal text, reals are hexadecimal floats of C, truths are true and false.",
        "domains": {name: domain.to_statement() for name, domain in _DOMAINS.items()},
        "asked": [_answered(name, query(text)) for name, texts in _ASKED.items() for text in texts],
        "goes_wrong": [_refused(name, query(text)) for name, texts in _GOES_WRONG.items() for text in texts],
        "unreadable": [_unread(fault, text) for fault, text in _UNREADABLE.items()],
    }


def _answered(name: str, asked: Query) -> dict[str, Any]:
    domain = _DOMAINS[name]
    checked = asked.check(domain)
    records = _records(domain)
    found = asked.evaluate(domain, domain.split(np.array(records)))
    return {
        "domain": name,
        "text": asked.text,
        "tree": asked.tree,
        "canonical": asked.to_json(),
        "kind": checked.kind,
        "low": _written(checked.kind, checked.low),
        "high": _written(checked.kind, checked.high),
        "nodes": checked.nodes,
        "depth": checked.depth,
        "records": [str(record) for record in records],
        "answers": [_written(checked.kind, value) for value in found.tolist()],
    }


def _records(domain: Domain) -> list[int]:
    """All of a few; else the ends, and some between that stand in no simple relation to the attributes' sizes."""
    if domain.size <= 12:
        return list(range(domain.size))
    between = {domain.size * k // 17 for k in range(17)}
    return sorted({0, 1, domain.size // 2 - 1, domain.size // 2, domain.size - 2, domain.size - 1} | between)


def _written(kind: str, value: float) -> str | bool:
    if kind == "truth":
        return bool(value)
    return str(int(value)) if kind == "integer" else float(value).hex()


def _refused(name: str, asked: Query) -> dict[str, Any]:
    try:
        asked.check(_DOMAINS[name])
    except QueryError as error:
        return {"domain": name, "text": asked.text, "tree": asked.tree, "error": type(error).__name__}
    raise ValueError(f"{asked} is accepted over {name}")


def _unread(fault: str, text: str) -> dict[str, str]:
    try:
        Query.from_json(text)
    except QueryError as error:
        return {"fault": fault, "text": text, "error": type(error).__name__}
    raise ValueError(f"{fault} is accepted")
