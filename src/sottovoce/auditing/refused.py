"""Surveys that a device must refuse: the audited one with one thing changed, where Python's device refuses it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from sottovoce.auditing.subject import AuditedSurvey
from sottovoce.core.errors import SottovoceError

__all__ = ["RefusedSurvey", "refused_surveys"]

_UNKNOWN: Final = "unknown"
_NUMBERS: Final[tuple[Any, ...]] = (0, -1, 0.5, 2**53, 10**400, True, None, "1", [], {})
_TEXTS: Final[tuple[Any, ...]] = ("", "unknown", 1, None, [], {})
_LISTS: Final[tuple[Any, ...]] = ([], None, {}, "")
_PLACES: Final = 16
"""Bytes of an attachment that are changed, one at a time."""


class RefusedSurvey(NamedTuple):
    """What was changed, and the survey's JSON and attachments after it."""

    change: str
    statement: str
    attachments: Mapping[str, bytes]


def refused_surveys(survey: AuditedSurvey) -> Iterator[RefusedSurvey]:
    """Changed surveys that the Python device refuses to read, each for one reason."""
    for changed in _changed(survey.to_json(), survey.attachments):
        try:
            type(survey).from_json(changed.statement, changed.attachments)  # type: ignore[attr-defined]
        except SottovoceError:
            yield changed


def _changed(statement: str, attachments: Mapping[str, bytes]) -> Iterator[RefusedSurvey]:
    yield RefusedSurvey("its JSON is cut off", statement[:-1], attachments)
    yield RefusedSurvey("its JSON has more after it", f"{statement}1", attachments)
    first = statement.index('"')
    end = statement.index(",", first)
    yield RefusedSurvey("it has a field twice", f"{statement[:end]},{statement[first:]}", attachments)
    for words, changed in _changes(json.loads(statement), ""):
        # A number that no double holds, and one that is none.
        for form in (json.dumps(changed), json.dumps(changed).replace("null", "NaN")):
            yield RefusedSurvey(words, form, attachments)
    for digest, content in attachments.items():
        others = {other: kept for other, kept in attachments.items() if other != digest}
        yield RefusedSurvey("an attachment is missing", statement, others)
        yield RefusedSurvey("an attachment is cut off", statement, {**others, digest: content[:-1]})
        for place in range(0, len(content), max(1, len(content) // _PLACES)):
            turned = bytes([*content[:place], content[place] ^ 1, *content[place + 1 :]])
            yield RefusedSurvey(f"byte {place} of an attachment is changed", statement, {**others, digest: turned})
            new = hashlib.sha256(turned).hexdigest()
            stated = statement.replace(digest, new)
            yield RefusedSurvey(
                f"byte {place} of an attachment and its digest are changed", stated, {**others, new: turned}
            )


def _changes(stated: Any, path: str) -> Iterator[tuple[str, Any]]:
    """What may be changed in a JSON value, in words, and the value after it."""
    if isinstance(stated, dict):
        yield f"{path or 'it'} has an unknown field", {**stated, _UNKNOWN: 1}
        for name, held in stated.items():
            yield f"{path}{name} is missing", {key: kept for key, kept in stated.items() if key != name}
            for words, changed in _changes(held, f"{path}{name}."):
                yield words, {**stated, name: changed}
    elif isinstance(stated, list):
        yield from ((f"{path[:-1]} is {other!r}", other) for other in _LISTS)
        if stated:
            yield f"{path[:-1]} has its first entry twice", [stated[0], *stated]
            for words, changed in _changes(stated[0], f"{path}0."):
                yield words, [changed, *stated[1:]]
    elif isinstance(stated, str):
        yield from ((f"{path[:-1]} is {other!r}", other) for other in _TEXTS)
    else:
        yield from ((f"{path[:-1]} is {other!r:.20}", other) for other in _NUMBERS)
