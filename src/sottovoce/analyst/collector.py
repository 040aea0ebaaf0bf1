"""A collector as an analyst sees it: its surveys and its tokens."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, final

from sottovoce.analyst.connection import Connection, check_minimum
from sottovoce.analyst.find import find_survey
from sottovoce.analyst.live import LiveSurvey
from sottovoce.analyst.records import NewToken, TokenInfo, read
from sottovoce.client.fetch import Listed
from sottovoce.client.http import Http
from sottovoce.errors import SurveyError
from sottovoce.scopes import SCOPES, TOKEN_ID
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.statement import Stated
from sottovoce.surveys.survey import Survey

__all__ = ["Collector"]


@final
class Collector:
    """A collector; make one with `sottovoce.connect`."""

    def __init__(self, http: Http, key: str | None = None) -> None:
        self.http = http
        self._connection = Connection(http, key)

    @property
    def key(self) -> bytes:
        """Its public key, with which it signs surveys; the pinned one, where one was given."""
        return self._connection.key

    # --- surveys ----------------------------------------------------------------------------

    def surveys(self) -> list[Listed]:
        """All surveys that are open or sealed, oldest first; rounds stand under their survey."""
        return self._connection.surveys()

    def survey(self, name: str) -> LiveSurvey:
        """The survey of that id; or the only one whose id begins so (4 characters or more), or that has this title."""
        return self._fetch(find_survey(name, self.surveys))

    def publish(self, survey: Survey | Panel, minimum_reports: int | None = None) -> LiveSurvey:
        """Publish a survey, signed by the collector, for devices to answer. One that stands already is left as it is.

        Parameters
        ----------
        minimum_reports
            No estimate is given before so many reports; the collector's own setting unless given.
        """
        if not isinstance(survey, Stated):
            raise SurveyError(f"only a survey can be published, not {type(survey).__name__}")
        if isinstance(survey, Survey) and survey.seat is not None:
            raise SurveyError("a round is published by asking: use the session of its panel")
        body = {
            "statement": survey.to_json(),
            "attachments": {digest: base64.b64encode(raw).decode() for digest, raw in survey.attachments.items()},
            "minimum_reports": check_minimum(minimum_reports),
        }
        self.http.post("/v1/surveys", body)
        return self._fetch(survey.id)

    def _fetch(self, survey_id: str) -> LiveSurvey:
        return LiveSurvey(self._connection, self._connection.fetch(survey_id))

    # --- tokens -----------------------------------------------------------------------------

    def tokens(self) -> list[TokenInfo]:
        """All tokens, by their ids; the tokens themselves are known to nobody but their holders."""
        return read(self.http.get("/v1/tokens"), dict[str, list[TokenInfo]]).get("tokens", [])

    def create_token(self, scopes: Iterable[str], note: str = "") -> NewToken:
        """A new token. It is in the answer and nowhere else: hand it over and forget it.

        Parameters
        ----------
        scopes
            Of "read", "ask" (rounds; and read), "publish" (create and seal; and read) and "admin" (everything).
        note
            Whom or what it is for.
        """
        wanted = [scopes] if isinstance(scopes, str) else list(scopes)
        if not wanted or any(scope not in SCOPES for scope in wanted):
            raise SurveyError(f"scopes must be one or more of {', '.join(SCOPES)}")
        body: dict[str, Any] = {"scopes": sorted(set(wanted)), "note": str(note)}
        return read(self.http.post("/v1/tokens", body), NewToken)

    def revoke_token(self, token_id: str) -> None:
        """From now on the token of that id opens nothing."""
        if not isinstance(token_id, str) or not TOKEN_ID.fullmatch(token_id):
            # Not shown: somebody may have pasted the whole token.
            raise SurveyError("a token is revoked by its id, the 8 characters after 'sv_'; see 'sottovoce token list'")
        self.http.delete(f"/v1/tokens/{token_id}")

    def __repr__(self) -> str:
        return f"<collector at {self.http.url}>"
