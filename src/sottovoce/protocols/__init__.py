"""The paper's protocols put together from mechanisms and projections: one kind of survey each."""

from typing import Final

from sottovoce.protocols.distribution import DistributionSurvey
from sottovoce.protocols.offline import MeanSurvey, QuerySurvey
from sottovoce.survey import Survey

__all__ = ["KINDS", "DistributionSurvey", "MeanSurvey", "QuerySurvey"]

KINDS: Final[dict[str, type[Survey]]] = {
    "distribution": DistributionSurvey,
    "queries": QuerySurvey,
    "mean": MeanSurvey,
}
"""Every kind of survey, by its name in JSON."""
