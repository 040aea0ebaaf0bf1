"""An analyst's view of a collector: its surveys and its tokens."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Final, final

from sottovoce.analyst.connection import Connection, check_minimum, read
from sottovoce.analyst.live import LiveSurvey
from sottovoce.core.answer import nearest_label
from sottovoce.core.errors import ServiceError, SurveyError
from sottovoce.core.scopes import SCOPES, TOKEN_ID
from sottovoce.core.text import one_line
from sottovoce.device.http import Http
from sottovoce.protocol.access import TokenCreated, TokenEntry
from sottovoce.protocol.surveys import ListedSurvey
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import Stated, is_beginning, is_digest
from sottovoce.surveys.survey import Survey, Tracking
from sottovoce.transparency.tree_head import TreeHead

__all__ = ["Collector", "find_survey"]

_SHOWN: Final = 8


def find_survey(name: str, surveys: Callable[[], Iterable[ListedSurvey]]) -> str:
    """The id of the only survey with this id, title, or beginning of an id (8 digits or more).

    The list is fetched only if needed. It is unsigned: the survey must be verified.

    Examples
    --------
    >>> listed = [ListedSurvey("3f" * 32, "Colours", "shares", 1.0, "open")]
    >>> find_survey("Colours", lambda: listed) == find_survey("3f3f3f3f", lambda: listed) == "3f" * 32
    True
    >>> find_survey("Color", lambda: listed)
    Traceback (most recent call last):
    sottovoce.core.errors.ServiceError: no survey has the title 'Color' or ...; did you mean 'Colours'?

    Raises
    ------
    SurveyError
        If there is more than one.
    ServiceError
        If there is none, or the collector cannot be reached.
    """
    if not isinstance(name, str) or not name:
        raise SurveyError("a survey is named by its id, the beginning of its id, or its title").at("name")
    if is_digest(name):
        return name
    listed = list(surveys())
    matches = {
        survey.id: survey
        for survey in listed
        if is_digest(survey.id) and (survey.title == name or is_beginning(name, survey.id))
    }
    if not matches:
        titles = [survey.title for survey in listed if survey.title]
        near = next((title for title in titles if title.startswith(name)), None) or nearest_label(name, titles)
        remedy = f"did you mean {one_line(near)!r}?" if near else "'sottovoce survey list' lists all"
        raise ServiceError(
            f"no survey has the title {one_line(name)!r} or an id that begins with it; {remedy}",
            code="unknown_survey",
            status=404,
        )
    if len(matches) > 1:
        first = list(matches.values())[:_SHOWN]
        shown = ", ".join(f"{survey.id[:12]} ({one_line(survey.title, 40) or 'no title'})" for survey in first)
        more = f" and {len(matches) - _SHOWN} more" if len(matches) > _SHOWN else ""
        raise SurveyError(f"{len(matches)} surveys match {one_line(name)!r}: {shown}{more}; name one by its id").at(
            "name"
        )
    return next(iter(matches))


@final
class Collector:
    """A collector; use `sottovoce.connect` to get one."""

    def __init__(self, http: Http, key: str | None = None) -> None:
        self.http = http
        self._connection = Connection(http, key)

    @property
    def key(self) -> bytes:
        """Its public key, which must match the pinned one if one was given."""
        return self._connection.key

    # --- surveys ----------------------------------------------------------------------------

    def surveys(self) -> list[ListedSurvey]:
        """All surveys that are open or sealed, oldest first; rounds are listed under their panel."""
        return self._connection.surveys()

    def survey(self, name: str) -> LiveSurvey:
        """The survey with that id, title, or unambiguous beginning of an id (4 characters or more)."""
        return self._fetch(find_survey(name, self.surveys))

    def publish(self, survey: Survey | Panel | Tracking, minimum_reports: int | None = None) -> LiveSurvey:
        """Publish a survey, which the collector signs; publishing it again changes nothing.

        Parameters
        ----------
        minimum_reports
            No estimate below this number of reports; the collector's setting by default. Devices are anonymous, so that
            anybody can reach it with invented reports: it does not protect anybody.
        """
        if not isinstance(survey, Stated):
            raise SurveyError(f"only a survey can be published, not {type(survey).__name__}").at("survey")
        if isinstance(survey, Survey) and survey.seat is not None:
            raise SurveyError("a round is published by its panel's session; use session()").at("survey")
        if isinstance(survey, Survey) and survey.period is not None:
            raise SurveyError("a period is opened by the collector; publish its tracking survey").at("survey")
        body = {
            "statement": survey.to_json(),
            "attachments": {digest: base64.b64encode(raw).decode() for digest, raw in survey.attachments.items()},
            "minimum_reports": check_minimum(minimum_reports),
        }
        self.http.post("/v1/surveys", body)
        return self._fetch(survey.id)

    def place_in_log(self, survey_id: str) -> tuple[int, TreeHead] | None:
        """The proved position of a survey in the collector's log of published surveys, and the log's signed head.

        None if the collector has no log; a log without the survey is an error (`TransparencyError`).
        """
        return self._connection.place_in_log(survey_id)

    def _fetch(self, survey_id: str) -> LiveSurvey:
        return LiveSurvey(self._connection, self._connection.fetch(survey_id))

    # --- tokens -----------------------------------------------------------------------------

    def tokens(self) -> list[TokenEntry]:
        """All tokens, by their ids; the collector does not know the tokens themselves."""
        return read(self.http.get("/v1/tokens"), dict[str, list[TokenEntry]]).get("tokens", [])

    def create_token(self, scopes: Iterable[str], note: str = "", expires_in: timedelta | None = None) -> TokenCreated:
        """Create a token, which is returned this once and stored nowhere.

        Parameters
        ----------
        scopes
            Some of "read", "ask" (rounds, and read), "publish" (create and seal, and read) and "admin" (everything).
        note
            A note, for instance the holder.
        expires_in
            How long it opens anything, from a minute to ten years, in whole seconds; by default until it is revoked.
        """
        names = [scopes] if isinstance(scopes, str) else list(scopes)
        if not names or any(scope not in SCOPES for scope in names):
            raise SurveyError(f"scopes must be one or more of {', '.join(SCOPES)}").at("scopes")
        body: dict[str, Any] = {"scopes": sorted(set(names)), "note": str(note)}
        if expires_in is not None:
            body["expires_in"] = int(expires_in.total_seconds())
        return read(self.http.post("/v1/tokens", body), TokenCreated)

    def revoke_token(self, token_id: str) -> None:
        """Revoke the token with that id."""
        if not isinstance(token_id, str) or not TOKEN_ID.fullmatch(token_id):
            # Not shown: somebody may have pasted the whole token.
            raise SurveyError(
                "a token is revoked by its id, the 8 characters after 'sv_'; see 'sottovoce token list'"
            ).at("token_id")
        self.http.delete(f"/v1/tokens/{token_id}")

    def __repr__(self) -> str:
        return f"<collector at {self.http.url}>"
