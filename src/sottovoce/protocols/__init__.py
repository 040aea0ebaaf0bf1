"""The paper's protocols put together from mechanisms and projections: one kind of survey each."""

from typing import Final

from sottovoce.protocols.adaptive import AdaptiveSurvey
from sottovoce.protocols.distribution import DistributionSurvey
from sottovoce.protocols.means import MeanSurvey
from sottovoce.protocols.queries import QuerySurvey
from sottovoce.protocols.rounds import ChoiceRound, QuestionRound
from sottovoce.statement import Stated

__all__ = ["KINDS", "AdaptiveSurvey", "ChoiceRound", "DistributionSurvey", "MeanSurvey", "QuerySurvey", "QuestionRound"]

KINDS: Final[dict[str, type[Stated]]] = {
    kind.kind: kind
    for kind in (DistributionSurvey, QuerySurvey, MeanSurvey, AdaptiveSurvey, QuestionRound, ChoiceRound)
}
"""Every kind of survey, by its name in JSON."""
