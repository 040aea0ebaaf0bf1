"""The way to a collector: requests with an analyst's token, and surveys that are verified before anybody sees them."""

from __future__ import annotations

from functools import cached_property
from typing import final

from sottovoce.analyst.pin import check_key, check_pin
from sottovoce.analyst.records import read
from sottovoce.client.fetch import Collector as Publications
from sottovoce.client.fetch import Listed
from sottovoce.client.http import Http
from sottovoce.client.patience import Patience
from sottovoce.limits import check_integer
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey

__all__ = ["Connection", "check_minimum"]


@final
class Connection:
    """A collector reached over `http`; with `key`, only the one that holds this key."""

    def __init__(self, http: Http, key: str | None = None) -> None:
        self.http = http
        # What devices check, analysts check with the same code. They wait for nobody: a person is looking.
        self._published = Publications(http, Patience(attempts=1))
        self._pin = None if key is None else check_pin(key)

    @cached_property
    def key(self) -> bytes:
        """The collector's public key, with which it signs surveys; the pinned one, where one was given."""
        told = read(self.http.get("/v1/key"), dict[str, str])
        return check_key(told.get("key", ""), self._pin)

    def surveys(self) -> list[Listed]:
        """All surveys that are open or sealed, oldest first."""
        if self._pin is not None:
            _ = self.key  # the list is not signed; at least it comes from the collector that was meant
        return self._published.surveys()

    def fetch(self, survey_id: str) -> Survey | Panel:
        """The survey of that id, if the collector has signed it."""
        return self._published.survey(survey_id, self.key).survey


def check_minimum(number: int | None) -> int | None:
    """A minimum of reports as a request states it; None leaves it to the collector."""
    return None if number is None else check_integer("minimum_reports", number, 1, 2**53)
