"""Find the survey that a command names, at a collector that is asked as a device asks it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sottovoce.surveys.statement import is_digest

if TYPE_CHECKING:
    from sottovoce.device import CollectorClient

__all__ = ["find_listed", "split_address"]

_SHORTEST_PREFIX: Final = 8
_MOST_SHOWN: Final = 8
_ADDRESS: Final = re.compile(r"(https?://.+?)/(?:v1/surveys|survey|s)/([0-9a-f]{64})/?")


def split_address(text: str) -> tuple[str, str] | None:
    """The collector and the id in the address of a survey's page; None if it is no such address.

    Examples
    --------
    >>> split_address("https://stats.example.org/s/" + "3f" * 32)[0]
    'https://stats.example.org'
    >>> split_address("Colours") is None
    True
    """
    found = _ADDRESS.fullmatch(text)
    return None if found is None else (found[1], found[2])


def find_listed(collector: CollectorClient, wanted: str) -> str:
    """The id of the named survey. The list is unsigned; the survey is verified before it is used."""
    from sottovoce.core.errors import SurveyError

    if not wanted:
        raise SurveyError("no survey is given; name it by title or id")
    if is_digest(wanted):
        return wanted
    is_prefix = re.fullmatch(rf"[0-9a-f]{{{_SHORTEST_PREFIX},63}}", wanted) is not None
    found = {
        listed.id
        for listed in collector.surveys()
        if is_digest(listed.id) and (listed.title == wanted or (is_prefix and listed.id.startswith(wanted)))
    }
    if len(found) == 1:
        return found.pop()
    if found:
        shown = ", ".join(sorted(found)[:_MOST_SHOWN]) + (", and more" if len(found) > _MOST_SHOWN else "")
        raise SurveyError(f"{len(found)} surveys match; name one by its id: {shown}")
    raise SurveyError(
        f"the collector has no such survey; give its title, or {_SHORTEST_PREFIX} to 64 hexadecimal digits of its id"
    )
