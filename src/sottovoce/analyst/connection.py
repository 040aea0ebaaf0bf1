"""A connection to a collector: requests with an analyst's token, and verified surveys."""

from __future__ import annotations

from functools import cached_property
from typing import final

from sottovoce.analyst.pin import check_key, check_pin
from sottovoce.analyst.records import read
from sottovoce.core.limits import check_integer
from sottovoce.device.fetch import CollectorClient, Listed
from sottovoce.device.http import Http, Patience
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking
from sottovoce.transparency.evidence import check_log_proof
from sottovoce.transparency.tree_head import TreeHead

__all__ = ["Connection", "check_minimum"]


@final
class Connection:
    """A collector reached over `http`; with `key`, only the one that has this key."""

    def __init__(self, http: Http, key: str | None = None) -> None:
        self.http = http
        # Analysts verify with the same code as devices, without retries: a person is waiting.
        self._published = CollectorClient(http, Patience(attempts=1))
        self._pin = None if key is None else check_pin(key)

    @cached_property
    def key(self) -> bytes:
        """The collector's public key, which must match the pinned one if one was given."""
        sent = read(self.http.get("/v1/key"), dict[str, str])
        return check_key(sent.get("key", ""), self._pin)

    def surveys(self) -> list[Listed]:
        """All surveys that are open or sealed, oldest first."""
        if self._pin is not None:
            _ = self.key  # the list is unsigned; at least it comes from the right collector
        return self._published.surveys()

    def fetch(self, survey_id: str) -> Survey | Panel | Tracking:
        """The survey with that id, verified."""
        return self._published.survey(survey_id, self.key).survey

    def place_in_log(self, survey_id: str) -> tuple[int, TreeHead] | None:
        """The survey's position in the log of published surveys, proved, and the signed head; None without a log.

        Raises
        ------
        TransparencyError
            If there is a log, and it does not prove that the survey is in it.
        """
        proof = self._published.log_proof(survey_id, 0)
        return None if proof is None else (proof.position, check_log_proof(proof, self.key, survey_id, None))


def check_minimum(number: int | None) -> int | None:
    """Check a minimum number of reports; None leaves it to the collector."""
    return None if number is None else check_integer("minimum_reports", number, 1, 2**53)
