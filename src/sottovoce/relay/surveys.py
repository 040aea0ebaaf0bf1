"""The surveys whose messages this relay holds, and how many it must hold of each.

The least number is read from the statement, whose SHA-256 is the survey's id: a collector cannot give the relay another
number than it gives devices.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final, final

from sottovoce.core.errors import ServiceError
from sottovoce.relay.store import RelayStore
from sottovoce.relay.upstream import StatedSurvey, passed_on
from sottovoce.service.http.slow_work import SlowWork
from sottovoce.service.refusal import Refusal
from sottovoce.surveys.statement import is_digest

__all__ = ["RelayedSurveys"]

_FRESH: Final = 300.0
"""Seconds for which a survey is believed to be open."""

_REFUSED: Final = 10.0
"""Seconds for which a refusal is repeated without asking."""

_MOST_REFUSED: Final = 4096

_LAST_CALL: Final = 3600.0
"""Seconds before a period closes in which its messages leave as soon as they are enough."""


@final
class RelayedSurveys:
    """The surveys of a relay. Used in one event loop, but for `takes_no_more` and `closing`.

    Parameters
    ----------
    store
        Remembers the least numbers.
    ask
        Asks the collector; waits, and raises `ServiceError` or `Refusal`.
    asking
        The threads that do so.
    """

    def __init__(
        self,
        store: RelayStore,
        ask: Callable[[str], StatedSurvey],
        asking: SlowWork,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._ask, self._asking, self._clock = store, ask, asking, clock
        self._known = set(store.surveys())
        self._fresh_until: dict[str, float] = {}
        self._refused: dict[str, tuple[float, Refusal]] = {}
        self._closes: dict[str, float] = {}

    async def check(self, survey_id: str) -> None:
        """Return if messages of this survey can be taken.

        Raises
        ------
        Refusal
            If the survey is unknown, wants no relay or takes no more reports; or if it has never been heard of and the
            collector does not answer.
        """
        if self._fresh_until.get(survey_id, 0.0) > self._clock():
            return
        if not is_digest(survey_id):
            raise Refusal(404, "unknown_survey", "a survey's id has 64 hexadecimal digits in lower case")
        until, refusal = self._refused.get(survey_id, (0.0, None))
        if refusal is not None and until > self._clock():
            raise refusal
        try:
            await self._asking.once(survey_id, self._learn, survey_id)
        except ServiceError as error:
            if survey_id not in self._known or error.status in (404, 410):
                raise self._remembered(survey_id, passed_on(error)) from None
        except Refusal as error:
            raise self._remembered(survey_id, error) from None
        self._known.add(survey_id)
        self._fresh_until[survey_id] = self._clock() + _FRESH

    def _learn(self, survey_id: str) -> None:
        stated = self._asked(survey_id)
        if not stated.is_open:
            raise Refusal(409, "survey_sealed", f"survey {survey_id[:12]} is sealed and accepts no more reports")
        if survey_id not in self._known:
            self._store.learn(survey_id, stated.least)

    def _remembered(self, survey_id: str, refusal: Refusal) -> Refusal:
        """The refusal itself, after it is kept for a while, so that nobody can make the relay ask without end."""
        if refusal.status < 500:
            if len(self._refused) >= _MOST_REFUSED:
                self._refused.clear()
            self._refused[survey_id] = self._clock() + _REFUSED, refusal
        return refusal

    def _asked(self, survey_id: str) -> StatedSurvey:
        stated = self._ask(survey_id)
        if stated.closes < math.inf:
            self._closes[survey_id] = stated.closes
        return stated

    def closing(self, now: float) -> frozenset[str]:
        """The periods of tracking surveys that close soon: what leaves later may come too late."""
        return frozenset(survey for survey, closes in [*self._closes.items()] if closes - _LAST_CALL <= now)

    def takes_no_more(self, survey_id: str) -> bool:
        """Whether the collector says that a survey is sealed or deleted; waits for it, and raises `ServiceError`."""
        try:
            return not self._asked(survey_id).is_open
        except ServiceError as error:
            if error.status == 410:
                return True
            raise
