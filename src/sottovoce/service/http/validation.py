"""The part of a JSON value that has the wrong shape, and what it must be; nothing of the value is quoted.

msgspec decides whether a value is valid. Where it is not, its type is walked beside the value to find the first fault.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from msgspec import inspect

from sottovoce.core.words import plural
from sottovoce.protocol.base import BASE64, BASE64URL, HEX_32, HEX_64, LINE

__all__ = ["Fault", "describe", "find_fault"]

_FORMS: Final = {
    None: "text",
    HEX_32: "32 hexadecimal digits",
    HEX_64: "64 hexadecimal digits",
    LINE: "one line of text",
    BASE64: "base64",
    BASE64URL: "base64url",
}

_WORDS: Final[dict[type[inspect.Type], str]] = {
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.BoolType: "true or false",
    inspect.NoneType: "null",
    inspect.ListType: "a list",
    inspect.DictType: "an object",
    inspect.StructType: "an object",
}

_PYTHON: Final[dict[type[inspect.Type], tuple[type, ...]]] = {
    inspect.StrType: (str,),
    inspect.LiteralType: (str,),
    inspect.IntType: (int,),
    inspect.FloatType: (int, float),
    inspect.BoolType: (bool,),
    inspect.NoneType: (type(None),),
    inspect.ListType: (list,),
    inspect.DictType: (dict,),
    inspect.StructType: (dict,),
}
"""The Python types that JSON of each type becomes when it is decoded without a type."""


class Fault(NamedTuple):
    """The path of a part with the wrong shape, empty for the whole value, and what is wrong there."""

    path: str
    message: str


def find_fault(value: Any, expected: Any) -> Fault | None:
    """The first part of a decoded JSON value that is not as its type demands; None where no single part is at fault.

    Examples
    --------
    >>> import msgspec
    >>> Order = msgspec.defstruct("Order", [("drinks", list[str]), ("note", str, "")], forbid_unknown_fields=True)
    >>> find_fault({"drinks": ["tea", 3]}, Order)
    Fault(path='drinks[1]', message='drinks[1] must be text')
    >>> find_fault({"note": "quick"}, Order).message
    'drinks is missing'
    >>> find_fault({"cups": 2}, Order).message
    'the body has an unknown field; the fields are drinks, note'
    """
    return _fault(value, inspect.type_info(expected), "")


def describe(expected: Any) -> str:
    """What a value of a type must be.

    Examples
    --------
    >>> import msgspec
    >>> from typing import Annotated
    >>> describe(Annotated[float, msgspec.Meta(gt=0, lt=1)]), describe(int | None)
    ('a number between 0 and 1', 'a whole number or null')
    """
    return _described(inspect.type_info(expected))


def _bare(kind: inspect.Type) -> inspect.Type:
    return _bare(kind.type) if isinstance(kind, inspect.Metadata) else kind


def _is_a(value: Any, kind: inspect.Type) -> bool:
    types = _PYTHON.get(type(_bare(kind)), (object,))
    return isinstance(value, types) and (bool in types or object in types or not isinstance(value, bool))


def _fault(value: Any, given: inspect.Type, path: str) -> Fault | None:
    kind = _bare(given)
    if isinstance(kind, inspect.UnionType):
        options = [option for option in kind.types if _is_a(value, option)]
        return _fault(value, options[0], path) if len(options) == 1 else _wrong(kind, path)
    if not _is_a(value, kind):
        return _wrong(kind, path)
    match kind:
        case inspect.StrType() if kind.pattern is not None and not re.search(kind.pattern, value):
            return _wrong(kind, path)
        case inspect.LiteralType() if value not in kind.values:
            return _wrong(kind, path)
        case inspect.IntType() | inspect.FloatType() if not _in_range(value, kind):
            return _wrong(kind, path)
        case inspect.StrType() | inspect.ListType() | inspect.DictType() if not _has_length(value, kind):
            return _wrong(kind, path)
        case inspect.ListType():
            faults = (_fault(item, kind.item_type, f"{path}[{at}]") for at, item in enumerate(value))
            return next(filter(None, faults), None)
        case inspect.DictType():
            return _dict_fault(value, kind, path)
        case inspect.StructType():
            return _struct_fault(value, kind, path)
    return None


def _dict_fault(value: dict[str, Any], kind: inspect.DictType, path: str) -> Fault | None:
    for key, inner in value.items():
        if _fault(key, kind.key_type, path):
            return Fault(path, f"a key of {path or 'the body'} must be {_described(kind.key_type)}")
        if fault := _fault(inner, kind.value_type, f"{path}[...]"):
            return fault
    return None


def _struct_fault(value: dict[str, Any], kind: inspect.StructType, path: str) -> Fault | None:
    known = {field.encode_name: field for field in kind.fields}
    if kind.forbid_unknown_fields and not value.keys() <= known.keys():
        fields = f"the fields are {', '.join(known)}"
        return Fault(path, f"{path or 'the body'} has an unknown field; {fields}")
    for name, field in known.items():
        inner = f"{path}.{name}" if path else name
        if name in value:
            if fault := _fault(value[name], field.type, inner):
                return fault
        elif field.required:
            return Fault(inner, f"{inner} is missing")
    return None


def _wrong(kind: inspect.Type, path: str) -> Fault:
    return Fault(path, f"{path or 'the body'} must be {_described(kind)}")


def _in_range(value: float, kind: inspect.IntType | inspect.FloatType) -> bool:
    return (
        (kind.gt is None or value > kind.gt)
        and (kind.ge is None or value >= kind.ge)
        and (kind.lt is None or value < kind.lt)
        and (kind.le is None or value <= kind.le)
    )


def _has_length(value: Any, kind: Any) -> bool:
    return (kind.min_length or 0) <= len(value) <= (len(value) if kind.max_length is None else kind.max_length)


def _described(given: inspect.Type) -> str:
    kind = _bare(given)
    match kind:
        case inspect.UnionType():
            return " or ".join(_described(option) for option in kind.types)
        case inspect.LiteralType():
            return f"one of {', '.join(map(str, kind.values))}"
        case inspect.StrType():
            return _FORMS.get(kind.pattern, "text of a certain form") + _lengths(kind, "character", "characters")
        case inspect.ListType() | inspect.DictType():
            return _WORDS[type(kind)] + _lengths(kind, "entry", "entries")
        case inspect.IntType() | inspect.FloatType():
            return _WORDS[type(kind)] + _bounds(kind)
    return _WORDS.get(type(kind), "of another form")


def _lengths(kind: Any, noun: str, many: str) -> str:
    low, high = kind.min_length or 0, kind.max_length
    if high is None:
        return f" of at least {plural(low, noun, many)}" if low else ""
    return f" of {low} to {plural(high, noun, many)}" if low else f" of at most {plural(high, noun, many)}"


def _bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.gt is not None and kind.lt is not None:
        return f" between {kind.gt:,g} and {kind.lt:,g}"
    if kind.ge is not None and kind.le is not None:
        return f" from {_number(kind.ge)} to {_number(kind.le)}"
    words = {"more than": kind.gt, "at least": kind.ge, "less than": kind.lt, "at most": kind.le}
    return "".join(f" of {word} {_number(bound)}" for word, bound in words.items() if bound is not None)


def _number(bound: float) -> str:
    return f"{int(bound):,}" if bound == int(bound) else f"{bound:g}"
