"""What a worker says of surveys that it cannot count: which, why, and what to do; once for each change."""

from __future__ import annotations

import logging
from typing import Final, final

from sottovoce.core.errors import SottovoceError
from sottovoce.service.running.outage import Outage

__all__ = ["SurveyTroubles"]

_MOST: Final = 1024
"""Surveys in trouble that are remembered; beyond them some are said again."""

_LOG: Final = logging.getLogger("sottovoce.collector.counting.aggregator")


@final
class SurveyTroubles:
    """Surveys with which something fails at present, by their short ids; `what` says what."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._outages: dict[str, Outage] = {}

    def failed(self, survey: str, error: Exception) -> None:
        """It failed with this survey."""
        if len(self._outages) >= _MOST:
            self._outages.clear()
        outage = self._outages.get(survey)
        if outage is None:
            outage = self._outages[survey] = Outage(_LOG, f"survey {survey[:12]} {self._what}", logging.ERROR)
        outage.failed(f"{_reason(error)}; its reports stay stored, and it is tried again")

    def worked(self, survey: str) -> None:
        """It worked with this survey."""
        outage = self._outages.pop(survey, None)
        if outage is not None:
            outage.worked()


def _reason(error: Exception) -> str:
    """Our own words; of what was not foreseen only the kind, since its words may quote a report."""
    if isinstance(error, SottovoceError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is too little memory for it; give the machine more, or seal the survey and publish another"
    return f"{type(error).__name__}, a fault of this program: report it with this line"
