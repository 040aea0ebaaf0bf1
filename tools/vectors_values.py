"""Vectors of the forms in which a person's value may be given: accepted alike, or refused alike, in every language."""

from __future__ import annotations

from typing import Any

import sottovoce as sv
from sottovoce.questions.base import Question
from sottovoce.questions.registry import question_to_statement

__all__ = ["value_vectors"]

_ABOUT = (
    "Forms of one person's value. `question` is its part of a survey's JSON. Each pair of `alike` is a form and the "
    "plain value that it is read as; `refused` are no values of it. Numbers, texts, truth values and null are "
    "themselves; "
    "everything else is an object: infinity, -infinity, nan, nothing (undefined), integer (its digits), list, set, "
    "object (names and values), map (the same as a mapping that is not the plain one), floats and integers (arrays of "
    "numbers). Entries of vectors that are not finite count as 0."
)

INFINITY, NEGATIVE, NAN, NOTHING = ({"is": name} for name in ("infinity", "-infinity", "nan", "nothing"))
HUGE = {"is": "integer", "of": "1" + "0" * 310}


def _list(*entries: object) -> dict[str, Any]:
    return {"is": "list", "of": list(entries)}


def _set(*entries: object) -> dict[str, Any]:
    return {"is": "set", "of": list(entries)}


def _object(**fields: object) -> dict[str, Any]:
    return {"is": "object", "of": [list(field) for field in fields.items()]}


def _map(*fields: tuple[object, object]) -> dict[str, Any]:
    return {"is": "map", "of": [list(field) for field in fields]}


def _array(kind: str, *entries: float) -> dict[str, Any]:
    return {"is": kind, "of": list(entries)}


_NOT_NUMBERS = [True, "7", "", _list(7), _list(), _set(7), _object(), _map()]
_NUMBERS = [
    (7, 7.0),
    ({"is": "integer", "of": "7"}, 7),
    (601, 600),
    (-1e300, 0),
    (INFINITY, 600),
    (NEGATIVE, 0),
    (HUGE, 600),
]
_MISSING = [None, NAN, NOTHING]

_FORM = sv.records({"age": range(9), "hours": sv.number(0, 10), "plan": ["free", "pro"]})
_GAPS = sv.records(
    {
        "age": sv.shares(range(9), missing="as 0"),
        "hours": sv.number(0, 10, missing="as 5"),
        "plan": sv.shares(["free", "pro"], missing="as free"),
    }
)
_PLAIN = _object(age=3, hours=2.5, plan="pro")
_SAME_RECORD = [
    (_object(plan="pro", age=3, hours=2.5), _PLAIN),
    (_map(("plan", "pro"), ("age", 3), ("hours", 2.5)), _PLAIN),
    (_list(3, 2.5, "pro"), _PLAIN),
    (_object(age=3.0, hours=2.5, plan="pro"), _PLAIN),
    (_object(age=3, hours=INFINITY, plan="pro"), _object(age=3, hours=10, plan="pro")),
]
_NO_RECORDS = [
    *(None, NAN, "age=3", 3, True, _set(3, 2.5, "pro"), _list(), _list(3, 2.5), _list(3, 2.5, "pro", 1)),
    _object(age=3, hours=2.5, plan="pro", more=1),
    _map(("age", 3), ("hours", 2.5), ("plan", "pro"), (1, 1)),
    _list(_list("age", 3), _list("hours", 2.5), _list("plan", "pro")),
    _array("floats", 3, 2.5, 0),
    _object(age=9, hours=2.5, plan="pro"),
    _object(age=3, hours="2.5", plan="pro"),
    _object(age=3, hours=2.5, plan=1),
]
_GAPPED = [
    (_object(), _object(age=0, hours=5, plan="free")),
    (_map(), _object(age=0, hours=5, plan="free")),
    (_list(None, NAN, None), _object(age=0, hours=5, plan="free")),
    (_object(age=NOTHING, plan="pro"), _object(age=0, hours=5, plan="pro")),
]

_CASES: list[tuple[Question, list[tuple[Any, Any]], list[Any]]] = [
    (sv.number(0, 600), _NUMBERS, [*_NOT_NUMBERS, *_MISSING]),
    (sv.number(0, 600, wants="distribution"), _NUMBERS, [*_NOT_NUMBERS, *_MISSING]),
    (sv.number(0, 600, missing="as 300"), [*_NUMBERS, *[(none, 300) for none in _MISSING]], _NOT_NUMBERS),
    (sv.shares(["tea", "coffee"]), [("tea", "tea")], [*_MISSING, 0, 1.0, True, "", "Tea", INFINITY, _list("tea")]),
    (sv.shares(["tea", "coffee"], missing="as coffee"), [(none, "coffee") for none in _MISSING], [0, "", _object()]),
    (sv.shares([False, True]), [(True, "true"), (False, "false")], [0, 1, "True", None]),
    (
        sv.shares(range(10, 20)),
        [(12.0, 12), ({"is": "integer", "of": "12"}, 12)],
        [*_MISSING, 9, 20, 12.5, INFINITY, NEGATIVE, HUGE, True, "12", _list(12)],
    ),
    (sv.shares(range(10, 20), missing="as 11"), [(none, 11) for none in _MISSING], [INFINITY, HUGE, "", True]),
    (
        sv.shares({"age": range(9), "plan": ["free", "pro"]}),
        [
            (_map(("plan", "pro"), ("age", 3)), _object(age=3, plan="pro")),
            (_list(3, "pro"), _object(age=3, plan="pro")),
        ],
        [*_MISSING, 3, _object(age=3), _object(age=3, plan="pro", more=1), _set(3, "pro"), _list(3), _map(), _object()],
    ),
    (
        sv.choices(["tea", "coffee", "water"], most=2),
        [
            (_list("water", "tea"), _list("tea", "water")),
            (_set("water", "tea"), _list("tea", "water")),
            (_set(), _list()),
        ],
        [
            *(*_MISSING, "tea", 0, True, _object(), _map(), _object(tea=1), _list("tea", "tea"), _list("wine")),
            *(_list("tea", "coffee", "water"), _list(None), _list(_list("tea"))),
        ],
    ),
    (
        sv.choices(["tea", "coffee"], missing="as coffee"),
        [(none, _list("coffee")) for none in _MISSING],
        ["coffee", _map()],
    ),
    (sv.choices(range(5), most=2), [(_array("integers", 1, 3), _list(1, 3)), (_list(3.0), _list(3))], [3, _list(5)]),
    (_FORM, _SAME_RECORD, [*_NO_RECORDS, _object(), _map(), _object(age=3, plan="pro"), _list(None, NAN, None)]),
    (_GAPS, [*_SAME_RECORD, *_GAPPED], _NO_RECORDS),
    (
        sv.relation({"age": sv.number(0, 99)}, {"paid": ["no", "yes"]}),
        [(_list(101, "yes"), _object(paid="yes", age=99))],
        [*_MISSING, _object(age=3), _object(age=3, paid=True), _list("yes", 3)],
    ),
    (
        sv.vector(3),
        [
            (_array("floats", 0.5, 0, 1), _list(0.5, 0, 1)),
            (_array("integers", 1, 0, -2), _list(1, 0, -2)),
            (_list(None, INFINITY, NAN), _list(0, 0, 0)),
            (_list(True, {"is": "integer", "of": "2"}, HUGE), _list(1, 2, 0)),
        ],
        [*_MISSING, 1, "1,2,3", _list(), _list(1, 2), _list(1, 2, 3, 4), _list(1, 2, "3"), _set(1, 2, 3), _object()],
    ),
    (
        sv.vector(1),
        [(0.5, _list(0.5)), (INFINITY, _list(0)), (None, _list(0)), (NAN, _list(0))],
        ["1", _list(), _set(1)],
    ),
    (sv.words(8, "latin"), [(other, "日本") for other in (*_MISSING, 7, True, INFINITY, _list(), _map())], []),
]


def value_vectors() -> dict[str, Any]:
    """The questions, with what is accepted and what is refused."""
    return {
        "about": _ABOUT,
        "cases": [
            {"question": question_to_statement(question), "alike": [list(pair) for pair in alike], "refused": refused}
            for question, alike, refused in _CASES
        ],
    }
