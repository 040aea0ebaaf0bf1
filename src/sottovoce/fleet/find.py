"""Which survey is meant, by its id, the beginning of one, or its title."""

from __future__ import annotations

import re

from sottovoce.client import Collector, Http
from sottovoce.errors import SurveyError

__all__ = ["find_survey"]


def find_survey(url: str, wanted: str, *, insecure: bool = False) -> str:
    """The id of the one survey of a collector that has this title, or whose id begins so (4 digits or more).

    Raises
    ------
    SurveyError
        If there is none, or more than one.
    ServiceError
        If the collector cannot be reached.
    """
    if re.fullmatch(r"[0-9a-f]{64}", wanted):
        return wanted
    http = Http(url, insecure=insecure)
    listed = Collector(http).surveys()
    http.close()
    prefix = wanted if re.fullmatch(r"[0-9a-f]{4,63}", wanted) else None
    found = sorted({one.id for one in listed if one.title == wanted or (prefix and one.id.startswith(prefix))})
    if len(found) == 1:
        return found[0]
    if found:
        raise SurveyError(f"{len(found)} surveys are called that; name one by its id: {', '.join(found)}")
    raise SurveyError("the collector has no survey of that title or id; 'sottovoce survey list' shows what there is")
