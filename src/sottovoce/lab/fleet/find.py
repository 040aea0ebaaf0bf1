"""Which survey a fleet is to answer: what a device, which has no token, can find out."""

from __future__ import annotations

from sottovoce.analyst.collector import find_survey
from sottovoce.core.errors import ServiceError, SurveyError
from sottovoce.device import CollectorClient, Http

__all__ = ["survey_id_of"]


def survey_id_of(url: str, name: str, *, insecure: bool = False) -> str:
    """The id of the survey of that id, beginning of an id, or title.

    Raises
    ------
    SurveyError
        If there is none, or more than one.
    ServiceError
        If the collector cannot be reached.
    """
    http = Http(url, insecure=insecure)
    try:
        return find_survey(name, CollectorClient(http).surveys)
    except ServiceError as error:
        if error.code != "unknown_survey":
            raise
        raise SurveyError(str(error)) from error
    finally:
        http.close()
