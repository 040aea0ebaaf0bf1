"""A collector as an analyst sees it: its surveys and its tokens."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, final

from sottovoce.analyst.find import find_survey
from sottovoce.analyst.live import LiveSurvey
from sottovoce.analyst.pin import check_key, check_pin
from sottovoce.analyst.records import NewToken, TokenInfo, read
from sottovoce.client.fetch import Collector as Publications
from sottovoce.client.fetch import Listed
from sottovoce.client.http import Http
from sottovoce.client.patience import Patience
from sottovoce.errors import SurveyError
from sottovoce.limits import check_integer
from sottovoce.protocols.adaptive import AdaptiveSurvey
from sottovoce.protocols.rounds import Round
from sottovoce.scopes import SCOPES, TOKEN_ID
from sottovoce.statement import Stated
from sottovoce.survey import Survey

__all__ = ["Collector"]


@final
class Collector:
    """A collector; make one with `sottovoce.connect`."""

    def __init__(self, http: Http, key: str | None = None) -> None:
        self.http = http
        # What devices check, analysts check with the same code. They wait for nobody: a person is looking.
        self._published = Publications(http, Patience(attempts=1))
        self._pin = None if key is None else check_pin(key)

    @cached_property
    def key(self) -> bytes:
        """Its public key, with which it signs surveys; the pinned one, where one was given."""
        told = read(self.http.get("/v1/key"), dict[str, str])
        return check_key(told.get("key", ""), self._pin)

    # --- surveys ----------------------------------------------------------------------------

    def surveys(self) -> list[Listed]:
        """All surveys that are open or sealed, oldest first; rounds stand under their survey."""
        if self._pin is not None:
            _ = self.key  # the list is not signed; at least it comes from the collector that was meant
        return self._published.surveys()

    def survey(self, name: str) -> LiveSurvey:
        """The survey of that id; or the only one whose id begins so (4 characters or more), or that has this title."""
        return self._fetch(find_survey(name, self.surveys))

    def publish(self, survey: Survey | AdaptiveSurvey, minimum_reports: int | None = None) -> LiveSurvey:
        """Publish a survey, signed by the collector, for devices to answer. One that stands already is left as it is.

        Parameters
        ----------
        minimum_reports
            No estimate is given before so many reports; the collector's own setting unless given.
        """
        if not isinstance(survey, Stated):
            raise SurveyError(f"only a survey can be published, not {type(survey).__name__}")
        if isinstance(survey, Round):
            raise SurveyError("a round is published by asking: use the session of its adaptive survey")
        body = {
            "statement": survey.to_json(),
            "attachments": {digest: base64.b64encode(raw).decode() for digest, raw in survey.attachments.items()},
            "minimum_reports": _minimum(minimum_reports),
        }
        self.http.post("/v1/surveys", body)
        return self._fetch(survey.id)

    def publish_round(self, asked: Round, labels: Sequence[str] = (), minimum_reports: int | None = None) -> LiveSurvey:
        """Open a round of an adaptive survey; what a session does. One that stands already is left as it is."""
        body = {"statement": asked.to_json(), "labels": list(labels), "minimum_reports": _minimum(minimum_reports)}
        self.http.post(f"/v1/surveys/{asked.survey.id}/rounds", body)
        return self._fetch(asked.id)

    def _fetch(self, survey_id: str) -> LiveSurvey:
        return LiveSurvey(self, self._published.survey(survey_id, self.key).survey)

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


def _minimum(number: int | None) -> int | None:
    return None if number is None else check_integer("minimum_reports", number, 1, 2**53)
