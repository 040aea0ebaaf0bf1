"""Which field of a body is wrong and what it must be, in words that repeat nothing of what was sent."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from sottovoce.collector.api.structs import BASE64, BASE64URL, HEX_32, HEX_64, LINE
from sottovoce.plural import counted

__all__ = ["wrong_field"]

_PLACE: Final = re.compile(r" - at (?:`(key)` in )?`\$\.?([^`]*)`$")
_MISSING: Final = re.compile(r"Object missing required field `(\w+)`")
_KIND: Final = re.compile(r"Expected `([^`]+)`(?: of length)?(?: ([<>]=?) (-?\d+))?")

_KINDS: Final = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_UNITS: Final = {"str": ("character", ""), "array": ("entry", "entries"), "object": ("entry", "entries")}
_FORMS: Final = {
    HEX_32: "32 hexadecimal digits",
    HEX_64: "64 hexadecimal digits",
    LINE: "one line of text, without control characters",
    BASE64: "base64",
    BASE64URL: "base64url",
}
_BOUNDS: Final = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}


def wrong_field(said: str, kind: Any) -> tuple[str | None, str]:
    """The field, None for the body as a whole, and what is wrong with it.

    Parameters
    ----------
    said
        The words of msgspec's `ValidationError`, which can quote what was sent.
    kind
        The struct that the body should have been.

    Examples
    --------
    >>> wrong_field("Expected `str` of length <= 200 - at `$.note`", None)
    ('note', 'note must be text of at most 200 characters')
    >>> wrong_field("Expected `int | null`, got `str` - at `$.minimum_reports`", None)
    ('minimum_reports', 'minimum_reports must be a whole number or null')
    """
    place = _PLACE.search(said)
    problem = said[: place.start()] if place else said
    at = place[2][:100] if place else ""
    if missing := _MISSING.match(problem):
        field = f"{at}.{missing[1]}" if at else missing[1]
        return field, f"{field} is missing"
    subject = f"a key of {at}" if place and place[1] else at or "the body"
    return at or None, f"{subject} {_told(problem, at, kind)}"


def _told(problem: str, at: str, kind: Any) -> str:
    if problem.startswith("Object contains unknown field"):
        known = "" if at else ", ".join(getattr(kind, "__struct_fields__", ()))
        return "holds a field that there is not" + (f"; there are {known}" if known else "")
    if problem.startswith("Invalid enum value"):
        words = _words(kind, at)
        return f"must be one of {', '.join(words)}" if words else "is none of the words that are allowed"
    if "matching regex" in problem:
        forms = [form for pattern, form in _FORMS.items() if problem.endswith(f"regex {pattern!r}")]
        return f"must be {forms[0]}" if forms else "has not the form that it must have"
    found = _KIND.match(problem)
    if found is None or not _KINDS.keys() >= (names := set(found[1].split(" | "))):
        return "has not the form that it must have"
    told = " or ".join(word for name, word in _KINDS.items() if name in names)
    if found[2] is None:
        return f"must be {told}"
    bound, number = _BOUNDS[found[2]], int(found[3])
    return f"must be {told} of {bound} {counted(number, *_UNITS[found[1]]) if found[1] in _UNITS else f'{number:,}'}"


def _words(kind: Any, at: str) -> tuple[str, ...]:
    """The words that a field of the body may be, or that a list there may hold; empty where that is not so simple."""
    hint = get_type_hints(kind).get(at.partition("[")[0]) if isinstance(kind, type) else None
    if "[" in at and get_origin(hint) is list:
        (hint,) = get_args(hint)
    return get_args(hint) if get_origin(hint) is Literal else ()
