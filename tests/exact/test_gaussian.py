"""The Gaussian mechanism: what a survey may state, sensitivity in integers, wire form, and its audit with faults."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import sottovoce as sv
import sottovoce.mechanisms.gaussian as module
from cases import each
from refusing import refuses
from sottovoce.core.errors import MechanismError, ReportError, SurveyError, ValueOutsideDomainError
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.vector import VectorTrials, clip_to_ball
from sottovoce.mechanisms.vector_codecs import SignedCodec
from sottovoce.randomness import ByteSource, os_source
from sottovoce.theory.calibration import discrete_gaussian_sigma

GRID = [
    (dimension, epsilon, delta, people)
    for dimension in (1, 7, 1000)
    for epsilon in (2.0**-20, 0.5, 1.0, 16.0)
    for delta in (1e-300, 1e-6, 0.9)
    for people in (1, 10**6, 10**12)
]


def seeded() -> ByteSource:
    return ByteSource(np.random.default_rng(4).bytes)


@each(("dimension", "epsilon", "delta", "people"), GRID)
def test_best_keeps_its_promises(dimension: int, epsilon: float, delta: float, people: int) -> None:
    m = Gaussian.best(dimension, 2.5, epsilon, delta, people)
    assert m.delta_upper <= Fraction(delta)
    assert math.sqrt(m.noise) == pytest.approx(discrete_gaussian_sigma(epsilon, delta, 2.5), rel=1e-6)
    assert m.codec.bytes_each <= 4
    assert max(m.parameters().values()) < 2**53
    assert m.step <= 0.014 * math.sqrt(m.noise / people)
    assert Gaussian(dimension, 2.5, epsilon, delta, **m.parameters()) == m
    # The tail beyond the cut, over all coordinates, by the sub-Gaussian bound.
    reach = (m.bound - m.steps) ** 2 / (2 * m.noise_variance)
    assert math.log2(2 * dimension) - reach / math.log(2) < -64


def test_fewer_bytes_for_fewer_people() -> None:
    widths = [Gaussian.best(3, 1.0, 1.0, 1e-6, people).codec.bytes_each for people in (100, 10**6, 10**9)]
    assert widths == [2, 3, 4]


def test_delta_zero_is_refused_with_a_remedy() -> None:
    with pytest.raises(MechanismError, match="codebook"):
        Gaussian.best(3, 1.0, 1.0, 0.0, 1000)
    good = Gaussian.best(3, 1.0, 1.0, 1e-6, 1000)
    with refuses(MechanismError, "delta"):
        Gaussian(3, 1.0, 1.0, 0.0, **good.parameters())


def test_a_hostile_survey_cannot_state_too_little_noise() -> None:
    good = Gaussian.best(3, 1.0, 1.0, 1e-6, 10**6)
    less = math.floor(good.noise_variance * (1 - 1e-6))
    for steps, variance in ((good.steps, less), (good.steps * 2, good.noise_variance), (2**30, 2**20)):
        with refuses(MechanismError, "noise_variance"):
            Gaussian(3, 1.0, 1.0, 1e-6, steps, variance)
    for epsilon, delta in ((0.999, 1e-6), (1.0, 0.99e-6)):
        with refuses(MechanismError, "noise_variance"):
            Gaussian(3, 1.0, epsilon, delta, **good.parameters())


@pytest.mark.parametrize(
    ("steps", "variance"),
    [(0, 2**40), (-1, 2**40), (1, 2**19), (1, 2**53), (True, 2**40), (1, 2.0**40), (10, "9"), (2**31, 2**52)],
)
def test_parameters_out_of_range_are_refused(steps: object, variance: object) -> None:
    with pytest.raises(SurveyError):
        Gaussian(3, 1.0, 1.0, 1e-6, steps, variance)  # type: ignore[arg-type]


@settings(max_examples=300)
@given(
    arrays(np.float64, 6, elements=st.floats(allow_nan=True, allow_infinity=True)),
    st.sampled_from([1, 5, 89_801, 2**27]),
    st.sampled_from([1e-100, 0.1, 1.0, 3.0, 1e100]),
)
def test_sensitivity_holds_in_integers_for_any_floats(vector: np.ndarray, steps: int, radius: float) -> None:
    """On the grid as the device puts it there, and even for a vector that never went through the ball."""
    m = Gaussian(6, radius, 16.0, 0.999, steps, max(2**20, min(2**53 - 1, steps * steps)))
    for candidate in (vector, clip_to_ball(np.where(np.isfinite(vector), vector, 0.0), radius)):
        with np.errstate(over="ignore", invalid="ignore"):
            whole = m.on_grid(candidate)
        assert sum(number * number for number in whole) <= steps * steps
    exact = candidate / radius * steps
    assert np.abs(np.array(whole) - exact).max() <= 1 + 1e-6 + np.abs(exact).max() * 1e-12
    assert (np.abs(whole) <= np.abs(exact) + 1e-6 + np.abs(exact) * 1e-12).all()


def test_a_sum_that_rounding_broke_is_shrunk_toward_zero() -> None:
    m = Gaussian(2, 1.0, 4.0, 1e-3, 1000, 2**30)
    whole = m.on_grid(np.array([0.8, -0.8]))  # outside the ball, as a rounding error writ large
    assert whole == [706, -706]
    assert m.on_grid(np.array([0.6, 0.8])) == [600, 800]
    assert m.on_grid(np.array([-1.0, 0.0])) == [-1000, 0]


def test_the_noise_does_not_depend_on_the_vector() -> None:
    """The same bytes give the same noise, and as many are read, whatever the vector is."""
    m = Gaussian.best(4, 1.0, 1.0, 1e-6, 10**6)
    seen, read = set(), set()
    for vector in (trial.value for trial in VectorTrials(m.dimension, m.radius).edges()):
        amounts: list[int] = []
        generator = np.random.default_rng(4)
        source = ByteSource(lambda n, log=amounts, g=generator: (log.append(n), g.bytes(n))[1])
        report = m.randomize(vector, source)
        finite = clip_to_ball(np.where(np.isfinite(vector), vector, 0.0), 1.0)
        seen.add(tuple(np.subtract(report, m.on_grid(finite)).tolist()))
        read.add(tuple(amounts))
    assert len(seen) == len(read) == 1


def test_reports_are_cut_at_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    m = Gaussian.best(2, 1.0, 1.0, 1e-6, 10**6)
    for noise, expected in ((10**12, m.bound), (-(10**12), -m.bound)):
        monkeypatch.setattr(module, "discrete_gaussian", lambda variance, source, noise=noise: noise)
        report = m.randomize(np.zeros(2), os_source())
        assert report == (expected, expected)
        assert m.decode(m.encode(report)) == report


def test_a_wrong_shape_raises_without_the_value() -> None:
    m = Gaussian.best(2, 1.0, 1.0, 1e-6, 10**6)
    with pytest.raises(ValueOutsideDomainError) as caught:
        m.randomize(np.array([0.123456]), os_source())
    assert "0.12" not in str(caught.value)


@pytest.mark.parametrize("bound", [1, 127, 128, 32_767, 32_768, 8_388_000, 2**31 - 1, 2**40])
def test_signed_codec(bound: int) -> None:
    codec = SignedCodec(3, bound)
    numbers = sorted({0, 1, -1, bound, -bound, bound // 2})
    reports = [(a, b, c) for a in numbers for b in numbers for c in numbers]
    rows = np.frombuffer(b"".join(codec.encode(r) for r in reports), dtype=np.uint8).reshape(len(reports), -1)
    batch = np.array(reports, dtype=np.int64)
    assert np.array_equal(codec.encode_many(batch), rows)
    assert np.array_equal(codec.decode_many(rows), batch)
    assert [codec.decode(row.tobytes()) for row in rows] == reports
    assert 256 ** (codec.bytes_each - 1) / 2 - 1 < bound < 256**codec.bytes_each / 2
    beyond = (0, bound + 1, 0)
    if bound + 1 < 256**codec.bytes_each / 2:
        payload = b"".join(n.to_bytes(codec.bytes_each, "little", signed=True) for n in beyond)
        with pytest.raises(ReportError, match="out of range"):
            codec.decode(payload)
        with pytest.raises(ReportError, match="report 1 of 2"):
            codec.decode_many(np.frombuffer(bytes(codec.width) + payload, dtype=np.uint8).reshape(2, -1))
    for wrong in (b"", bytes(codec.width + 1), bytes(codec.width - 1)):
        with pytest.raises(ReportError):
            codec.decode(wrong)
    for wrong_batch in (np.zeros((2, 2), np.int64), np.zeros((2, 3)), np.full((1, 3), bound + 1), [[0, 0, 0]]):
        with pytest.raises(ReportError):
            codec.check_many(wrong_batch)  # type: ignore[arg-type]


def test_the_most_negative_number_is_no_report() -> None:
    """Two's complement has one number more below zero than above; no device sends it."""
    with pytest.raises(ReportError):
        SignedCodec(1, 127).decode(b"\x80")
    assert SignedCodec(1, 127).decode(b"\x81") == (-127,)


def test_counting_and_estimating() -> None:
    m = Gaussian.best(3, 2.0, 1.0, 1e-6, 100)
    batch = m.randomize_many(np.tile([1.0, -1.0, 0.5], (50, 1)), np.random.default_rng(3))
    m.codec.check_many(batch)
    whole, parts = m.empty(), m.empty()
    m.count_into(whole, batch)
    for i in reversed(range(50)):
        m.count_into(parts, batch[i : i + 1])
    assert np.array_equal(whole, parts)
    assert m.estimate(whole, 50) == pytest.approx(batch.mean(axis=0) * 2.0 / m.steps)
    assert m.noise == pytest.approx(m.noise_variance * (2.0 / m.steps) ** 2)
    assert m.along == pytest.approx(m.noise + 4.0)
    assert m.truncation == pytest.approx(2 * np.sqrt(3) / np.sqrt(m.noise_variance))
    assert m.proxy == pytest.approx(m.noise + 4.0)
    assert m.worst_total_variance == pytest.approx(3 * m.noise + 4.0)


@pytest.mark.parametrize(("dimension", "epsilon", "delta"), [(1, 0.5, 1e-9), (5, 1.0, 1e-6), (40, 4.0, 1e-3)])
def test_audit_is_sound(dimension: int, epsilon: float, delta: float) -> None:
    result = sv.audit(Gaussian.best(dimension, 3.0, epsilon, delta, 10**6), samples=200, seconds=0.5)
    assert result.sound
    assert 0.999 * epsilon < result.exact_epsilon <= epsilon
    assert result.certified_lower_bound <= epsilon


@dataclass(frozen=True)
class Unshrunk(Gaussian):
    """Trusts the floats."""

    def on_grid(self, vector):
        return [round(number) for number in vector / self.radius * self.steps + 0.49]


@dataclass(frozen=True)
class NoisyOnlyWhereItMatters(Gaussian):
    """Adds noise only to entries that are not zero."""

    def _randomize(self, vector, source):
        noise = iter(super()._randomize(np.zeros(self.dimension), source))
        return tuple(n + next(noise) if n else 0 for n in self.on_grid(vector))


@dataclass(frozen=True)
class CalibratedToTheRadius(Gaussian):
    """The published mistake: sensitivity r. Its parameters are never checked."""

    def _check_parameters(self):
        pass


@pytest.mark.parametrize("fault", [Unshrunk, NoisyOnlyWhereItMatters])
def test_audit_catches(fault) -> None:
    assert not sv.audit(fault.best(4, 1.0, 1.0, 1e-6, 10**6), samples=100, seconds=0.5).sound


def test_audit_catches_the_published_calibration() -> None:
    good = Gaussian.best(2, 1.0, 1.0, 1e-6, 10**6)
    bad = CalibratedToTheRadius(2, 1.0, 1.0, 1e-6, good.steps, good.noise_variance // 4)
    result = sv.audit(bad, samples=100, seconds=0.5)
    assert not result.sound
    assert 2.0 < result.exact_epsilon < 2.3


def test_device_reads_only_exact_integers() -> None:
    """The device's draws are integers below n: no 64-bit threshold that came from a float."""

    class Integers:
        def __init__(self) -> None:
            self.source = seeded()

        def below(self, n: int) -> int:
            assert type(n) is int
            return self.source.below(n)

        def bernoulli(self, threshold: int) -> bool:
            raise AssertionError

    m = Gaussian.best(5, 1.0, 1.0, 1e-6, 10**6)
    report = m.randomize(np.full(5, 0.2), Integers())
    assert all(type(number) is int for number in report)
    assert len(m.encode(report)) == m.report_bytes
