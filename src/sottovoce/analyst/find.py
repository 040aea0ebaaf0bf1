"""Find a survey by its id, the beginning of its id, or its title."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from sottovoce.core.errors import ServiceError, SurveyError
from sottovoce.core.text import one_line
from sottovoce.device.fetch import Listed
from sottovoce.surveys.statement import is_digest

__all__ = ["find_survey"]

_PREFIX: Final = re.compile(r"[0-9a-f]{4,63}")
_SHOWN: Final = 8


def find_survey(name: str, surveys: Callable[[], Iterable[Listed]]) -> str:
    """The id of the only survey with this id, title, or beginning of an id (4 digits or more).

    The list is fetched only if needed. It is unsigned: the survey must be verified.

    Examples
    --------
    >>> listed = [Listed("3f" * 32, "Colours", "distribution", 1.0, "open")]
    >>> find_survey("Colours", lambda: listed) == find_survey("3f3f", lambda: listed) == "3f" * 32
    True

    Raises
    ------
    SurveyError
        If there is more than one.
    ServiceError
        If there is none, or the collector cannot be reached.
    """
    if not isinstance(name, str) or not name:
        raise SurveyError("a survey is named by its id, the beginning of its id, or its title")
    if is_digest(name):
        return name
    prefix = name if _PREFIX.fullmatch(name) else None
    found = {
        one.id: one
        for one in surveys()
        if is_digest(one.id) and (one.title == name or (prefix and one.id.startswith(prefix)))
    }
    if not found:
        raise ServiceError(
            f"there is no survey with the title {one_line(name)!r} or an id that begins with it; "
            "'sottovoce survey list' lists all",
            code="unknown_survey",
            status=404,
        )
    if len(found) > 1:
        first = list(found.values())[:_SHOWN]
        shown = ", ".join(f"{one.id[:12]} ({one_line(one.title, 40) or 'no title'})" for one in first)
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise SurveyError(f"{len(found)} surveys match {one_line(name)!r}: {shown}{more}; name one by its id")
    return next(iter(found))
