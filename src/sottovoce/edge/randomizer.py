"""Reports of many rows, each drawn as a device draws its own: exactly, from the operating system's entropy.

Row by row, and not by the vectorised draws of simulations: those take their numbers from a generator whose state
explains every report, and only the device's own sampler is what audits enumerate (docs/contributors/decisions/0054).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import final

from sottovoce.core.errors import SurveyError, ValueOutsideDomainError
from sottovoce.device.drawing import REFUSE, check_otherwise
from sottovoce.edge.person_ledger import PersonLedger
from sottovoce.edge.rows import EdgeReport, InputRow, RowFault
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["Randomizer"]


@final
class Randomizer:
    """Draws one report for every row, or one for every person if there is a ledger.

    Parameters
    ----------
    survey
        A survey that is answered once. Panels and tracking surveys are refused: a person answers one round or one
        period of those, and which one must not depend on when a server runs.
    otherwise
        A value of the domain, the same for everybody, that takes the place of values that are missing or outside it.
        Without it such a row is a fault.
    ledger
        Remembers who has a report, and gives the same one again. Without it every call draws, and spends epsilon
        again for people who were there before.

    Examples
    --------
    >>> import sottovoce as sv
    >>> from sottovoce.edge import InputRow
    >>> randomizer = Randomizer(Survey(sv.shares(["tea", "coffee"]), epsilon=1.0))
    >>> first, second = randomizer.draw([InputRow(1, "tea"), InputRow(2, "wine")])
    >>> len(first.report_id), len(first.report)
    (16, 5)
    >>> second.number
    2
    """

    def __init__(
        self, survey: Survey | Panel | Tracking, *, otherwise: object = REFUSE, ledger: PersonLedger | None = None
    ) -> None:
        self.survey = _answered_once(survey)
        check_otherwise(self.survey, otherwise)
        self._otherwise, self._ledger = otherwise, ledger

    def draw(self, rows: Sequence[InputRow]) -> list[EdgeReport | RowFault]:
        """A report or a fault for every row, in their order.

        That order may depend on the values: pass reports on in the order of their ids, as `sottovoce randomize` does.
        """
        if self._ledger is None:
            return [self._draw(row) for row in rows]
        return self._ledger.draw_once(self.survey, rows, self._draw)

    def _draw(self, row: InputRow) -> EdgeReport | RowFault:
        if not row.readable or (row.fault and self._otherwise is REFUSE):
            return RowFault(row.number, row.fault)
        try:
            report = self.survey.randomize(self._otherwise if row.fault else row.value)
        except ValueOutsideDomainError as error:
            if self._otherwise is REFUSE:
                return RowFault(row.number, str(error))
            report = self.survey.randomize(self._otherwise)
        return EdgeReport(secrets.token_bytes(REPORT_ID_BYTES), report)


def _answered_once(survey: Survey | Panel | Tracking) -> Survey:
    """The survey, if everybody answers it once."""
    if isinstance(survey, Panel) or (isinstance(survey, Survey) and survey.seat is not None):
        raise SurveyError(
            "a panel is answered by devices, each in the one round it has drawn; a server at the edge cannot know "
            "which one that is: publish a survey that is asked once"
        )
    if isinstance(survey, Tracking) or survey.period is not None:
        raise SurveyError(
            "a tracking survey is answered by devices, each in the one period it has drawn, and its epsilon holds for "
            "the whole history only so: publish a survey that is asked once for every period, and state that the "
            "epsilons of a person's periods add up"
        )
    if survey.groups is not None:
        raise SurveyError(
            "a survey with groups is answered by devices, each once over all groups; a server at the edge draws for "
            "one survey and cannot keep to that: publish a survey without groups, or one for each group"
        )
    if survey.relay is not None:
        raise SurveyError(
            "the survey states a relay, through which every device sends its own report, one at a time; a server at "
            "the edge would send what people expect to go that way: publish a survey without a relay"
        )
    return survey
