"""Audits of vector mechanisms: the shipped ones sound, faults in them found, the printed ones unsound."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core.errors import SottovoceError
from sottovoce.mechanisms import VectorMechanism, codebook, serving
from sottovoce.mechanisms.codebook import Codebook


@pytest.mark.parametrize("name", [name for name, kind in serving(VectorMechanism).items() if kind.deployable])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_shipped_mechanisms_are_sound(name: str, epsilon: float) -> None:
    result = sv.audit(name, epsilon, domain_size=5, samples=200, seconds=0.5)
    assert result.sound
    assert result.exact_epsilon <= epsilon
    assert result.certified_lower_bound <= epsilon


def test_baselines_and_printed_algorithms_cannot_be_audited_as_deployable() -> None:
    for name in ("sphere", "published_gaussian", "published_rejection"):
        with pytest.raises(SottovoceError):
            sv.audit(name, 1.0)


@pytest.mark.parametrize("fault", ["one more mark", "no mark for nan", "truthful"])
def test_faults_in_the_ranking_are_found(fault: str, monkeypatch) -> None:
    sound = codebook.mark

    def broken(scores, marked):
        top = sound(scores, marked)
        if fault == "one more mark" and scores[0] > 0:
            top[np.flatnonzero(~top)[0]] = True
        if fault == "no mark for nan" and np.isnan(scores).any():
            top[:] = False
        if fault == "truthful" and scores[0] > 0.3:
            top[:] = sound(scores, 1)
        return top

    monkeypatch.setattr(codebook, "mark", broken)
    assert sv.audit(Codebook.best(4, 1.0, 1.0, 0.0, 100), samples=100).verdict == "broken"


def test_sums_that_could_overflow_are_refused() -> None:
    survey = sv.Survey.mean(2, 1.0, 1.0, mechanism="rejection")
    huge = sv.Aggregate(survey, survey.mechanism.max_reports, survey.aggregate().counts.copy())
    with pytest.raises(sv.errors.CapacityError, match="at most"):
        huge.add(survey.randomize([0.1, 0.2]))
    with pytest.raises(sv.errors.CapacityError):
        huge.merge(huge)
    assert sv.Survey.distribution(5, 1.0).mechanism.max_reports > 10**18
