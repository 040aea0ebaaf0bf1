"""What a plan says will be found, beside what searches find."""

import numpy as np
import pytest

from sottovoce.planning.planner import plan
from sottovoce.questions.words import Words

pytestmark = pytest.mark.slow

RUNS = 6
WORDS = 24
PEOPLE = 40_000


def test_as_many_words_are_found_as_the_plan_says() -> None:
    """Words of two levels with shares around the limit, each with a prefix of its own.

    Found or not is a bit for every word and run, of the planned chance; by Hoeffding's inequality the mean of 144 of
    them deviates by 0.242 with a probability below 1e-7. Another 0.02 is left to what the plan reckons with: as many
    kept prefixes as there can be of one share.
    """
    planned = plan(Words.of(longest=6, alphabet="latin"), epsilon=4.0, people=PEOPLE)
    recall, survey = planned.recall, planned.survey()
    assert recall is not None
    least, most = (recall.share(chance, length=6) for chance in (0.1, 0.9))
    shares = np.linspace(least, most, WORDS)
    chances = np.array([recall.probability(share, length=6) for share in shares])
    rng = np.random.default_rng(20)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    found = 0
    for run in range(RUNS):
        common = ["".join(letters[[place, *rng.integers(26, size=5)]]) for place in range(WORDS)]
        rest = rng.choice(letters[rng.integers(26, size=(2_000, 6))].view("U6")[:, 0], size=PEOPLE)
        held = [*np.repeat(common, np.round(shares * PEOPLE).astype(int)).tolist(), *rest.tolist()][:PEOPLE]
        estimate = survey.estimate(survey.simulate(held, seed=run))
        certain = {answer.label for answer in estimate.top(len(estimate)) if answer.certain}
        found += sum(word in certain for word in common)
    assert abs(found / (RUNS * WORDS) - chances.mean()) < 0.262
