"""The rejection mechanism: public normals, constants against quadrature, the clamp, wire form, audit with faults."""

import json
import math
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import MechanismError, ReportError, SurveyError
from sottovoce.kernels.normals import box_muller, inner_products, many_normals, seed_key, seed_normals
from sottovoce.mechanisms.rejection import UNIT, Rejection, estimate_accepted
from sottovoce.mechanisms.sphere import Sphere
from sottovoce.mechanisms.vector_codecs import SeedBitCodec
from sottovoce.randomness import ONE, ByteSource, os_source, within_epsilon
from sottovoce.randomness.philox import REJECTION_NORMALS, words
from sottovoce.theory.rejection import RejectionConstants, best_tilt_and_clip

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "normals.json").read_text())
EPSILONS = [2.0**-20, 0.1, 0.5, 1.0, 2.0, 4.0, 16.0]


# --- public normals ---------------------------------------------------------------------------


@pytest.mark.parametrize("case", VECTORS["seeds"], ids=lambda case: case["seed"])
def test_normals_of_a_seed_are_pinned(case: dict[str, list[str]]) -> None:
    seed, expected = int(str(case["seed"]), 16), [float(text) for text in case["normals"]]
    stream = words(seed_key(seed), len(case["words"]), layers=1, rotation=0, purpose=REJECTION_NORMALS)[0]
    assert [f"{word:08x}" for word in stream] == case["words"]
    compiled = many_normals(np.array([seed], dtype=np.uint64), len(expected))[0]
    for found in (seed_normals(seed, len(expected)), compiled):
        assert np.abs(found - expected).max() < VECTORS["tolerance"]


@pytest.mark.parametrize("case", VECTORS["pairs"], ids=lambda case: "-".join(case["words"]))
def test_box_muller_is_pinned_at_its_edges(case: dict[str, list[str]]) -> None:
    found = box_muller(np.array([int(word, 16) for word in case["words"]], dtype=np.uint32))
    assert np.abs(found - [float(text) for text in case["normals"]]).max() < VECTORS["tolerance"]


def test_compiled_and_reference_normals_agree() -> None:
    seeds = np.random.default_rng(1).integers(2**63, size=200).astype(np.uint64) * np.uint64(2) + np.uint64(1)
    reference = np.array([seed_normals(int(seed), 11) for seed in seeds])
    assert np.abs(many_normals(seeds, 11) - reference).max() < 1e-12
    units = np.random.default_rng(2).standard_normal((200, 11))
    assert np.abs(inner_products(units, seeds) - (units * reference).sum(axis=1)).max() < 1e-11


def test_normals_do_not_depend_on_how_many_are_asked_for() -> None:
    assert np.array_equal(seed_normals(77, 3), seed_normals(77, 10)[:3])


# --- constants --------------------------------------------------------------------------------


def accept(constants: RejectionConstants, t: float) -> float:
    half = constants.clip / 2
    drift = constants.tilt * t - constants.tilt**2 / 2
    return math.exp(max(-half, min(half, drift))) / (2 * math.cosh(half))


def expectation(constants: RejectionConstants, f) -> float:
    """E f(t, acc(t)) by quadrature between the kinks."""
    s, half = constants.tilt, constants.clip / 2
    kinks = sorted({-14.0, 14.0} | {k for k in (s / 2 - half / s, s / 2 + half / s) if -14 < k < 14})
    density = 1 / math.sqrt(2 * math.pi)
    return sum(
        quad(lambda t: density * math.exp(-t * t / 2) * f(t, accept(constants, t)), a, b, epsabs=1e-14, limit=200)[0]
        for a, b in pairwise(kinks)
    )


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("tilt_factor", [1.0, 0.4, 2.0])
def test_closed_forms_equal_quadrature(epsilon: float, tilt_factor: float) -> None:
    tilt, clip = best_tilt_and_clip(epsilon)
    c = RejectionConstants(tilt * tilt_factor, clip)
    p, m = expectation(c, lambda t, acc: acc), expectation(c, lambda t, acc: t * acc)
    assert c.accepted == pytest.approx(p, rel=1e-10)
    assert c.signal == pytest.approx(m, rel=1e-6, abs=1e-14)
    assert c.second_moment == pytest.approx(expectation(c, lambda t, acc: t * t * acc), rel=1e-10)
    along = expectation(c, lambda t, acc: t * t * (acc * (1 - p) ** 2 + (1 - acc) * p**2))
    assert c.along * c.signal**2 == pytest.approx(along, rel=1e-9)
    assert c.chance(0.7) == pytest.approx(expectation(c, lambda t, acc: accept(c, t + 0.7)), rel=1e-4)


def test_quoted_figures() -> None:
    noise = {e: RejectionConstants(*best_tilt_and_clip(e)).noise for e in (0.5, 1.0, 2.0, 3.0, 4.0, 8.0)}
    assert noise[0.5] == pytest.approx(30.6, abs=0.05)
    assert noise[1.0] == pytest.approx(10.13, abs=0.005)
    assert noise[2.0] == pytest.approx(5.02, abs=0.005)
    assert noise[3.0] == pytest.approx(4.547, abs=5e-4)
    assert noise[4.0] == pytest.approx(noise[3.0], rel=1e-9)
    assert noise[8.0] == pytest.approx(noise[3.0], rel=1e-9)
    # The paper's estimator, at the tilt that is best for it.
    accepted = min(RejectionConstants(s, 1.0).accepted_noise for s in np.linspace(0.6, 1.2, 601))
    assert accepted == pytest.approx(17.3, abs=0.05)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_best_parameters_are_best(epsilon: float) -> None:
    tilt, clip = best_tilt_and_clip(epsilon)
    least = RejectionConstants(tilt, clip).noise
    assert clip <= epsilon
    scales = np.geomspace(0.2, 3, 60)
    for clip_factor in (0.3, 0.8, 0.95, 0.99, 1.0, 1.01, 1.1, 2.0, 5.0):
        if clip * clip_factor <= epsilon:
            others = min(RejectionConstants(tilt * k, clip * clip_factor).noise for k in scales)
            assert others >= least * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("cosine", [0.0, 0.5, 1.0])
def test_proxy_bounds_every_moment_generating_function(epsilon: float, cosine: float) -> None:
    """E exp(x (report - mean)) <= exp(x^2 proxy/2), r = 1, for a direction at any angle to everybody's vector."""
    c = RejectionConstants(*best_tilt_and_clip(epsilon))
    p, m = c.accepted, c.signal
    worst = 0.0
    for x in np.concatenate([-np.geomspace(0.05, 12, 25), np.geomspace(0.05, 12, 25)]):

        def mgf(t: float, acc: float, x: float = float(x)) -> float:
            total = 0.0
            for chance, b in ((acc, 1 - p), (1 - acc, -p)):
                spread = (x * b) ** 2 * (1 - cosine**2) / 2
                total += chance * math.exp(x * b * cosine * t + spread)
            return total

        worst = max(worst, 2 * (math.log(expectation(c, mgf)) - x * cosine * m) / x**2 / m**2)
    assert worst <= (c.proxy - 1) * (1 + 1e-9)
    # It is not wasteful either: what it must hold for comes close to it.
    assert worst >= 0.75 * (c.proxy - 1)


# --- the clamp --------------------------------------------------------------------------------


@given(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from(EPSILONS))
def test_every_float_gives_a_threshold_within_epsilon(inner_product: float, epsilon: float) -> None:
    m = Rejection.best(3, 1.0, epsilon, 0.0, 1)
    assert 0 < m.lowest <= m.threshold(inner_product) <= m.highest < ONE


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_bounds_imply_the_guarantee(epsilon: float) -> None:
    m = Rejection.best(3, 1.0, epsilon, 0.0, 1)
    assert max(Fraction(m.highest, m.lowest), Fraction(ONE - m.lowest, ONE - m.highest)) == m.privacy_ratio()
    assert within_epsilon(m.privacy_ratio(), epsilon)
    assert not within_epsilon(Fraction(m.highest + 1, m.lowest - 1), m.clip / UNIT)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_thresholds_follow_the_law(epsilon: float) -> None:
    m = Rejection.best(3, 1.0, epsilon, 0.0, 1)
    for t in np.linspace(-7, 7, 57):
        assert m.threshold(float(t)) / 2**64 == pytest.approx(accept(m.constants, float(t)), rel=1e-14)
    assert m.threshold(math.nan) / 2**64 == pytest.approx(1 / (2 * math.cosh(m.clip / UNIT / 2)))


# --- parameters and wire ----------------------------------------------------------------------


def test_parameters_are_checked() -> None:
    m = Rejection.best(3, 1.0, 1.0, 0.0, 1)
    assert Rejection(3, 1.0, 1.0, 0.0, **m.parameters()) == m
    assert max(m.parameters().values()) < 2**53
    for tilt, clip in ((0, UNIT), (UNIT, 0), (UNIT, UNIT + 1), (9 * UNIT, UNIT), (1.5, UNIT), (UNIT, True)):
        with pytest.raises(SurveyError):
            Rejection(3, 1.0, 1.0, 0.0, tilt, clip)
    with refuses(SurveyError, "delta"):
        Rejection(3, 1.0, 1.0, 1e-6, **m.parameters())
    with refuses(MechanismError, "tilt"):
        Rejection(3, 1.0, 1.0, 0.0, 1, 1)


def test_codec() -> None:
    codec, rng = SeedBitCodec(), np.random.default_rng(1)
    batch = rng.integers(0, 2**64 - 1, size=(50, 2), dtype=np.uint64, endpoint=True)
    batch[:, 1] &= np.uint64(1)
    rows = codec.encode_many(batch)
    assert np.array_equal(codec.decode_many(rows), batch)
    for row, (seed, bit) in zip(rows, batch.tolist(), strict=True):
        assert codec.encode((seed, bit)) == row.tobytes()
        assert codec.decode(row.tobytes()) == (seed, bit)
    for bad in (b"", bytes(8), bytes(10), bytes(8) + b"\x02", bytes(8) + b"\xff"):
        with pytest.raises(ReportError):
            codec.decode(bad)
    wrong = rows.copy()
    wrong[3, 8] = 2
    with pytest.raises(ReportError, match="report 3 of 50"):
        codec.decode_many(wrong)
    for wrong_batch in (batch.astype(np.int64), batch[:, :1], batch * np.uint64(2) + np.uint64(2)):
        with pytest.raises(ReportError):
            codec.check_many(wrong_batch)


def test_the_seed_is_drawn_first_and_whole() -> None:
    """Eight bytes of seed, eight of the bit, whatever the vector: nothing else is read."""
    m = Rejection.best(4, 1.0, 1.0, 0.0, 1)
    for vector in (np.zeros(4), np.ones(4), np.full(4, np.nan), np.full(4, 1e300)):
        amounts: list[int] = []
        tape = iter([bytes(range(8)), bytes(8)])
        source = ByteSource(lambda n, log=amounts, t=tape: (log.append(n), next(t))[1])
        assert m.randomize(vector, source) == (0x0706050403020100, 1)
        assert amounts == [8, 8]


def test_a_device_needs_neither_scipy_nor_compiled_code() -> None:
    """Both deployable mechanisms of this family, from their parameters to the encoded report."""
    code = """
import sys, numpy as np
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.randomness import os_source
for m in (Rejection(3, 1.0, 1.0, 0.0, 2**39, 2**40), Gaussian(3, 1.0, 1.0, 1e-6, 1000, 10**8)):
    assert len(m.encode(m.randomize(np.zeros(3), os_source()))) == m.report_bytes
print(sorted({'scipy', 'numba', 'pandas', 'matplotlib'} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- aggregate and estimates ------------------------------------------------------------------


def test_aggregate_is_what_the_definitions_say() -> None:
    m = Rejection.best(3, 2.0, 1.0, 0.0, 1)
    batch = m.randomize_many(np.tile([1.0, -1.0, 0.5], (40, 1)), np.random.default_rng(3))
    m.codec.check_many(batch)
    whole, parts = m.empty(), m.empty()
    m.count_into(whole, batch)
    for i in reversed(range(40)):
        m.count_into(parts, batch[i : i + 1])
    assert np.array_equal(whole, parts)
    normals = np.array([seed_normals(int(seed), 3) for seed in batch[:, 0]])
    bits = batch[:, 1].astype(float)
    c = m.constants
    assert whole[0] == bits.sum()
    expected = 2.0 * (normals * (bits - c.accepted)[:, None]).mean(axis=0) / c.signal
    assert m.estimate(whole, 40) == pytest.approx(expected, abs=1e-6)
    expected = 2.0 * normals[bits == 1].mean(axis=0) / (c.signal / c.accepted)
    assert estimate_accepted(m, whole) == pytest.approx(expected, abs=1e-6)
    assert estimate_accepted(m, m.empty()).tolist() == [0, 0, 0]


def test_simulation_draws_the_devices_bit() -> None:
    """For the same seed and word the simulated bit is the device's: their thresholds agree to 2^-50."""
    m = Rejection.best(3, 1.0, 2.0, 0.0, 1)
    vector = np.array([0.6, 0.0, -0.5])
    batch = m.randomize_many(np.tile(vector, (300, 1)), np.random.default_rng(6))
    again = np.random.default_rng(6).integers(0, ONE - 1, size=(300, 2), dtype=np.uint64, endpoint=True)
    for (seed, bit), (_, word) in zip(batch.tolist(), again.tolist(), strict=True):
        tape = iter([seed.to_bytes(8, "little"), word.to_bytes(8, "little")])
        assert m.randomize(vector, ByteSource(lambda n, t=tape: next(t))) == (seed, bit)


def test_error_model() -> None:
    m = Rejection.best(5, 3.0, 2.0, 0.0, 1)
    c = m.constants
    assert m.noise == pytest.approx(9 * c.noise)
    assert m.along == pytest.approx(9 * c.along)
    assert m.worst_total_variance == pytest.approx(9 * (4 * c.noise + c.along))


# --- audit ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dimension", "epsilon"), [(1, 0.1), (4, 1.0), (33, 4.0)])
def test_audit_is_sound(dimension: int, epsilon: float) -> None:
    m = Rejection.best(dimension, 2.0, epsilon, 0.0, 1)
    result = sv.audit(m, samples=100, seconds=0.5)
    assert result.sound
    assert m.clip / UNIT - 1e-9 < result.exact_epsilon <= epsilon
    assert result.certified_lower_bound <= epsilon


@dataclass(frozen=True)
class Unclamped(Rejection):
    """Believes the floats, and clips nothing."""

    def threshold(self, inner_product):
        s = self.tilt / UNIT
        drift = min(s * inner_product - s * s / 2, 100.0) if inner_product == inner_product else 0.0
        return min(ONE, int(math.exp(drift) / (2 * math.cosh(self.clip / UNIT / 2)) * 2.0**64))


@dataclass(frozen=True)
class WiderByOneUnit(Rejection):
    """The upper bound is exceeded by one part in 2**64."""

    def threshold(self, inner_product):
        return self.highest + 1 if inner_product > 3 else super().threshold(inner_product)


@dataclass(frozen=True)
class Truthful(Rejection):
    """The bit is the sign of the inner product."""

    def threshold(self, inner_product):
        return ONE if inner_product > 0 else 0


@pytest.mark.parametrize("fault", [Unclamped, WiderByOneUnit, Truthful])
def test_audit_catches(fault) -> None:
    assert not sv.audit(fault.best(4, 1.0, 1.0, 0.0, 1), samples=100, seconds=0.5).sound


def test_a_baseline_has_no_audit_and_never_runs_on_a_device() -> None:
    sphere = Sphere.best(3, 1.0, 1.0, 0.0, 1)
    assert not Sphere.deployable
    with refuses(MechanismError, "mechanism"):
        sv.audit(sphere)
    with pytest.raises(MechanismError, match="never runs on a device"):
        sphere.randomize(np.zeros(3), os_source())
