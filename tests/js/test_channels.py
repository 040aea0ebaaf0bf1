"""The exact channel of every mechanism in JavaScript is the one that Python states: all outcomes of all draws.

No sampling and no tolerance: integers against integers. Where a channel is too large for that, see `test_samples`.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from js.bridge import Bridge, as_sent
from js.stated import probability
from js.surveys import miniatures


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 3.0])
@pytest.mark.parametrize("name", miniatures(1.0))
def test_every_outcome_has_the_probability_that_python_states(client: Bridge, name: str, epsilon: float) -> None:
    survey, values = miniatures(epsilon)[name]
    for value in values:
        found = client.about(survey, "law", value=as_sent(value))
        law = {bytes.fromhex(report): Fraction(int(k), int(found["of"])) for report, k in found["chances"].items()}
        assert sum(law.values()) == 1
        assert law == {payload: probability(survey, survey.tag + payload, value) for payload in law}
