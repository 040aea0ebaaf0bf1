"""Audits of vector mechanisms: the shipped ones sound, faults in them found, the printed ones unsound."""

from dataclasses import replace

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core.errors import SottovoceError
from sottovoce.mechanisms import VectorMechanism, binary, codebook, gaussian, rejection, serving, vector
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.randomness.scripts import ScriptedSource


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, kind in serving(VectorMechanism).items() if kind.deployable])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_shipped_mechanisms_are_sound(name: str, epsilon: float) -> None:
    result = sv.audit(name, epsilon=epsilon, domain_size=5, samples=200, seconds=0.5)
    assert result.sound
    assert result.exact_epsilon <= epsilon
    assert result.certified_lower_bound <= epsilon


def test_baselines_and_printed_algorithms_cannot_be_audited_as_deployable() -> None:
    for name in ("sphere", "published_gaussian", "published_rejection"):
        with pytest.raises(SottovoceError):
            sv.audit(name, epsilon=1.0)


@pytest.mark.slow
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
    survey = sv.Survey(sv.vector(2, 1.0), epsilon=1.0, mechanism="rejection")
    huge = sv.Aggregate(survey, survey.mechanism.max_reports, survey.aggregate().counts.copy())
    with pytest.raises(sv.errors.CapacityError, match="at most"):
        huge.add(survey.randomize([0.1, 0.2]))
    with pytest.raises(sv.errors.CapacityError):
        huge.merge(huge)
    assert sv.Survey(sv.shares(5), epsilon=1.0).mechanism.max_reports > 10**18


DEPLOYABLE = [name for name, kind in serving(VectorMechanism).items() if kind.deployable]


@pytest.mark.parametrize("name", DEPLOYABLE)
@pytest.mark.parametrize("fault", ["not finite", "clipping"])
def test_what_becomes_of_vectors_outside_the_ball_is_stated_a_second_time(name: str, fault: str, monkeypatch) -> None:
    def broken(array, radius):
        if fault == "not finite":
            return vector.clip_to_ball(np.where(np.isfinite(array), array, radius), radius)
        return vector.clip_to_ball(np.where(np.isfinite(array), array, 0.0), 0.9 * radius)

    for module in (vector, binary, codebook, gaussian, rejection):
        monkeypatch.setattr(module, "inside_ball", broken)
    assert sv.audit(name, epsilon=1.0, domain_size=4, samples=100, seconds=0.2).verdict == "broken"


@pytest.mark.parametrize("radius", [1e-100, 0.3, 1.0, 1e100])
def test_both_statements_round_alike(radius: float) -> None:
    reference = Codebook.best(5, radius, 1.0, 0.0, 100).audit_reference()
    rng = np.random.default_rng(1)
    random = [rng.standard_normal(5) * radius * scale for scale in (0.1, 0.5, 1.0, 1e5) for _ in range(50)]
    for array in [*(trial.value for trial in reference.trials.edges()), *random]:
        assert np.array_equal(reference.inside(array), vector.inside_ball(array, radius))


def test_adverse_vectors_are_run_even_if_there_is_no_time(monkeypatch) -> None:
    seen = set()
    original = Gaussian.randomize

    def randomize(self, array, source):
        if isinstance(source, ScriptedSource):
            seen.update({"nan"} if np.isnan(array).any() else {"huge"} if np.abs(array).max() > 1e100 else {"other"})
        return original(self, array, source)

    monkeypatch.setattr(Gaussian, "randomize", randomize)
    assert sv.audit(Gaussian.best(8, 1.0, 1.0, 1e-6, 100), samples=100, seconds=1e-6).sound
    assert seen == {"nan", "huge", "other"}


def test_miniatures_of_a_codebook_have_its_key_and_radius() -> None:
    mechanism = replace(Codebook.best(4, 3.0, 1.0, 0.0, 100), key=(5, 6))
    assert {(small.radius, small.key) for small in mechanism.own_miniatures()} == {(3.0, (5, 6))}


def test_a_fault_with_one_key_alone_is_found_on_the_miniature(monkeypatch) -> None:
    device = Codebook._randomize

    def broken(self, array, source):
        sent = device(self, array, source)
        return 0 if self.key == (5, 6) and self.rotations == 1 and array[0] > 0 else sent

    monkeypatch.setattr(Codebook, "_randomize", broken)
    mechanism = replace(Codebook.best(4, 1.0, 1.0, 0.0, 100), key=(5, 6))
    assert "miniature" in sv.audit(mechanism, samples=100, seconds=0.2).witness
