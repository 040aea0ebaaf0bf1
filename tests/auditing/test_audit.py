"""The audit: exact where finite, certified elsewhere; sound mechanisms pass and its own error rate holds."""

import math
import os

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.auditing.channel import device_channel, stated_channel, worst_ratio
from sottovoce.auditing.empirical import certify
from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms import FiniteMechanism, create, serving
from sottovoce.randomness import os_source, within_epsilon


@pytest.mark.slow
@pytest.mark.parametrize("name", serving(FiniteMechanism))
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_registry_is_sound(name: str, epsilon: float) -> None:
    result = sv.audit(name, epsilon=epsilon, domain_size=9, samples=2000)
    assert result.sound
    assert epsilon - 1e-9 < result.exact_epsilon <= epsilon
    assert result.certified_lower_bound <= epsilon


@pytest.mark.parametrize("name", serving(FiniteMechanism))
def test_every_pair_of_values_at_a_larger_domain(name: str) -> None:
    """The stated channel over all outputs and all pairs equals the closed form (the device equals it at small J)."""
    mechanism = create(name, 9, 1.3)
    ratio = worst_ratio(stated_channel(mechanism))
    assert ratio == mechanism.privacy_ratio()
    assert within_epsilon(ratio, 1.3)


@pytest.mark.parametrize("name", serving(FiniteMechanism))
@pytest.mark.parametrize("domain_size", [1024, 10**5])
def test_closed_form_at_large_domains(name: str, domain_size: int) -> None:
    result = create(name, domain_size, 2.0)
    assert within_epsilon(result.privacy_ratio(), 2.0)
    assert result.exact_epsilon > 1.999


def test_certified_bound_approaches_the_truth() -> None:
    """With enough reports the bound comes close: the audit has power, not only soundness."""
    result = sv.audit("randomized_response", epsilon=2.0, domain_size=2, samples=40_000)
    assert 1.8 < result.certified_lower_bound <= 2.0


def test_certified_bound_on_large_reports_uses_structure() -> None:
    """No report repeats among 64 noisy bits; the bits' own frequencies still tell two values apart."""
    device = create("unary_optimized", 64, 3.0)
    source = os_source()
    found = certify(lambda v: device.encode(device.randomize(v, source)), [(0, 63)], samples=6000)
    assert 1.5 < found.lower_bound <= 3.0


def test_a_length_that_tells_is_found() -> None:
    found = certify(lambda v: b"x" * (1 + v), [(0, 1)], samples=4000)
    assert found.lower_bound > 4
    half = certify(lambda v: b"x" * (1 + (v and os.urandom(1)[0] % 2)), [(0, 1)], samples=4000)
    assert half.lower_bound > 3


def test_false_alarms_stay_below_alpha() -> None:
    """Epsilon exactly 1, audited 400 times at alpha = 1 %: Binomial(400, 0.01) exceeds 20 with chance below 1e-8."""
    rng = np.random.default_rng(11)
    keep = math.e / (1 + math.e)
    alarms = 0
    for _ in range(400):
        found = certify(lambda v: bytes([v if rng.random() < keep else 1 - v]), [(0, 1)], samples=400, alpha=0.01)
        alarms += found.lower_bound > 1.0
    assert alarms <= 20


def test_delta_is_taken_off() -> None:
    """Truth with probability 1/10 and a coin otherwise is (0, 1/10)-LDP: beyond that delta nothing is certified."""
    rng = np.random.default_rng(5)

    def device(v: int) -> bytes:
        return bytes([v if rng.random() < 0.1 else 2 + rng.integers(2)])

    assert certify(device, [(0, 1)], samples=20_000).lower_bound > 1
    assert certify(device, [(0, 1)], samples=20_000, delta=0.11).lower_bound < 0.05


def test_a_mechanism_object_is_audited_at_its_own_parameters() -> None:
    result = sv.audit(serving(FiniteMechanism)["subset_selection"](7, 1.5, 2), samples=2000)
    assert (result.mechanism, result.domain_size, result.epsilon, result.sound) == ("subset_selection", 7, 1.5, True)


def test_result_is_plain_data() -> None:
    found = sv.audit("hadamard", epsilon=1.0, samples=1000).to_dict()
    assert {"mechanism", "epsilon", "delta", "exact_epsilon", "certified_lower_bound", "sound"} <= set(found)
    assert found["delta"] == 0.0


def test_enumeration_runs_the_real_device_code() -> None:
    """Every row of the enumerated channel is a distribution over exactly the encodable reports."""
    mechanism = create("subset_selection", 5, 1.0)
    for row in device_channel(mechanism).values():
        assert sum(row.values()) == 1
        assert all(mechanism.encode(mechanism.decode(report)) == report for report in row)


def test_what_says_which_instance_is_refused_beside_a_survey_and_a_delta_beside_a_pure_mechanism() -> None:
    survey = sv.Survey(sv.shares(2), epsilon=1.0)
    for subject, given in (
        (survey, {"epsilon": 2.0}),
        (survey.mechanism, {"domain_size": 4}),
        (survey, {"delta": 1e-6}),
        ("hadamard", {"delta": 1e-6}),
    ):
        with pytest.raises(MechanismError) as refused:
            sv.audit(subject, **given)  # type: ignore[arg-type]
        assert [refused.value.field] == list(given)
