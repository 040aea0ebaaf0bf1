"""The demo's last story: the same question, the same people and the same central guarantee, without and with a
shuffler.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from sottovoce.core.words import guarantee
from sottovoce.estimates.estimate import Estimate
from sottovoce.lab.demo.demo import REPORT_BYTES, EstimatedShare, state_survey
from sottovoce.lab.demo.instruments import answer_text, true_frequencies
from sottovoce.lab.simulation.repeats import seeds_of
from sottovoce.lab.simulation.survey_error import Errors
from sottovoce.planning.plan import Plan
from sottovoce.planning.planner import plan
from sottovoce.surveys.simulation import histogram_of
from sottovoce.surveys.survey import Survey

__all__ = ["ShuffledCrowd", "compare_shuffled"]

PEOPLE: Final = 50_000
DELTA: Final = 1e-6
_SHOWN: Final = 12


@dataclass(frozen=True, eq=False)
class ShuffledCrowd:
    """What the same people's reports say where each hides itself, and where one batch hides all of them.

    Attributes
    ----------
    direct
        By the survey of the first story: its local epsilon is all there is.
    shuffled
        At the largest local epsilon for which a batch of everybody is proved to reveal no more than that.
    planned
        The plan of the second survey, with its certificate.
    """

    direct: Estimate
    shuffled: Estimate
    planned: Plan

    @property
    def people(self) -> int:
        """How many people answered."""
        return self.direct.n_reports

    @property
    def promises(self) -> tuple[str, str]:
        """The guarantees of both."""
        return f"local {guarantee(self.direct.epsilon)} on the device, against any collusion", self.planned.promise

    @property
    def errors(self) -> tuple[Errors, Errors]:
        """Distances of both estimates from the truth."""
        truth = true_frequencies()
        return Errors.of(self.direct, truth), Errors.of(self.shuffled, truth)

    @property
    def rows(self) -> tuple[list[EstimatedShare], list[EstimatedShare]]:
        """The answers that most people give in truth, as each estimate has them."""
        truth = true_frequencies()
        common = np.argsort(-truth, kind="stable")[:_SHOWN].tolist()

        def of(estimate: Estimate) -> list[EstimatedShare]:
            low, high = estimate.interval()
            columns = (truth, estimate.shown(), estimate.raw, low, high)
            return [EstimatedShare(answer_text(i), *(float(column[i]) for column in columns)) for i in common]

        return of(self.direct), of(self.shuffled)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        crowds = {}
        for name, estimate, errors, promise, rows in zip(
            ("direct", "shuffled"), (self.direct, self.shuffled), self.errors, self.promises, self.rows, strict=True
        ):
            crowds[name] = {
                "epsilon": estimate.epsilon,
                "mechanism": estimate.survey.mechanism.name,
                "promise": promise,
                **asdict(errors),
                "top": [{**asdict(row), "hit": row.hit} for row in rows],
            }
        central = self.planned.central
        return {"people": self.people, **crowds, "central": None if central is None else central.to_dict()}


def compare_shuffled(seed: int) -> ShuffledCrowd:
    """Let the same simulated people answer both surveys."""
    direct = state_survey()
    planned = plan(
        direct.question, central_epsilon=direct.epsilon, delta=DELTA, people=PEOPLE, max_report_bytes=REPORT_BYTES
    )
    people_seed, direct_seed, shuffled_seed = seeds_of(seed, 3)
    people = histogram_of(true_frequencies(), PEOPLE, people_seed)

    def asked(survey: Survey, own_seed: int) -> Estimate:
        return survey.estimate(survey.simulate_aggregate(histogram=people, seed=own_seed))

    return ShuffledCrowd(asked(direct, direct_seed), asked(planned.survey(direct.title), shuffled_seed), planned)
