"""Vector mechanisms in round numbers: the ball, the Gaussian's grid, the rejection's units, what a survey may state."""

from __future__ import annotations

import math

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.kernels import normals
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.vector import as_vector, clip_to_ball
from sottovoce.theory.calibration import discrete_gaussian_variance
from sottovoce.theory.rejection import RejectionConstants, best_tilt_and_clip

UNIT = 2**40


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e-100, 1e100, 1e200])
@pytest.mark.parametrize("radius", [1.0, 2.0, 5.0, 10.0])
def test_clipping_to_a_ball_at_any_scale(radius: float, scale: float) -> None:
    """(3, -4) has norm 5; neither its square nor that of anything scaled with it may overflow or vanish."""
    expected = np.array([3.0, -4.0]) * min(1.0, radius / 5)
    found = clip_to_ball(np.array([3.0, -4.0]) * scale, radius * scale)
    np.testing.assert_allclose(found / scale, expected, rtol=1e-15)


def test_a_vector_at_the_radius_stays_as_it_is() -> None:
    """To the last bit: 1/49 times 49 is not 1 in floating point, and is not what comes back."""
    direction = np.array([49.0, 1.0]) / 49
    radius = float(49 * np.linalg.norm(direction))
    assert (direction * 49).tolist() != [49.0, 1.0]
    assert clip_to_ball(np.array([49.0, 1.0]), radius).tolist() == [49.0, 1.0]


@pytest.mark.parametrize("value", [object(), "one", [1.0, [2.0]], {}, [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], 1])
def test_what_is_no_vector_raises_nothing(value: object) -> None:
    assert as_vector(value, 2) is None


def test_a_vector_may_be_a_list() -> None:
    found = as_vector([1, 2.5], 2)
    assert found is not None
    assert found.dtype == np.float64
    assert found.tolist() == [1.0, 2.5]


def gaussian(radius: float = 2.0) -> Gaussian:
    return Gaussian(3, radius, 1.0, 1e-6, 1000, 10**8)


class Noise:
    """Stands in for a generator whose next standard normals are known."""

    def __init__(self, numbers: list[list[float]]) -> None:
        self.numbers = np.array(numbers)

    def standard_normal(self, shape: tuple[int, int]) -> np.ndarray:
        assert shape == self.numbers.shape
        return self.numbers.copy()


def test_the_grid_is_a_thousandth_of_the_radius() -> None:
    assert gaussian().on_grid(np.array([1.0, -0.5, 0.0019])) == [500, -250, 0]
    assert gaussian(0.25).on_grid(np.array([0.125, -0.0625, 0.00049])) == [500, -250, 1]


def test_one_step_too_many_takes_the_others_with_it() -> None:
    """1000^2 + 1 is above 1000^2: everything shrinks by 1000/1001, toward zero."""
    assert gaussian(1.0).on_grid(np.array([1.0, 0.0015, 0.0])) == [999, 0, 0]
    assert gaussian(1.0).on_grid(np.array([-1.0, -0.0015, 0.0])) == [-999, 0, 0]


def test_gaussian_entries_are_cut_where_the_bound_says() -> None:
    """z^2 = 93 is the least integer above 2 (65 + 2) log 2; entries end at steps + floor(sqrt(93 variance)) + 1."""
    bound = 1000 + 96436 + 1
    assert 96436**2 <= 93 * 10**8 < 96437**2
    assert 92 < 2 * 67 * math.log(2) < 93
    assert (gaussian().bound, gaussian().largest_step, gaussian().codec.bound) == (bound, bound, bound)
    vectors = np.array([[1.0, -0.5, 0.0019], [2.0, -2.0, 0.0]])
    drawn = Noise([[0.0, 0.00026, -0.00024], [10.0, -10.0, 9.7]])
    batch = gaussian().randomize_many(vectors, drawn)  # type: ignore[arg-type]
    assert batch.tolist() == [[500, -247, -2], [bound, -bound, 97000]]


def test_a_gaussians_errors_in_numbers() -> None:
    made = gaussian(3.0)
    noise = 10**8 * (3 / 1000) ** 2
    assert (made.noise, made.proxy) == pytest.approx((noise, noise + 9), rel=1e-14)
    assert made.worst_total_variance == pytest.approx(3 * noise + 9, rel=1e-14)
    assert made.sharing_factor(100) == 1.0


def test_what_a_gaussian_survey_may_state_at_most() -> None:
    assert Gaussian(3, 1.0, 1.0, 1e-6, 1, 2**53 - 1).noise_variance == 2**53 - 1
    with refuses(SurveyError, "noise_variance"):
        Gaussian(3, 1.0, 1.0, 1e-6, 1, 2**53)
    with refuses(SurveyError, "steps"):
        Gaussian(3, 1.0, 1.0, 1e-6, 2**30 + 1, 2**53 - 1)


@pytest.mark.parametrize(("delta", "steps"), [(0.2, 1093), (0.1, 813), (0.24, 1199), (0.25, 1225)])
def test_two_bytes_are_filled_to_the_last_number(delta: float, steps: int) -> None:
    """One step less than fit; in each of these cases one number more or fewer than 32767 would change how many do."""
    reach = 1 + math.sqrt(93 * discrete_gaussian_variance(0.5, delta))
    fitting = 32767 / reach
    assert {math.floor(fitting - 1 / reach), math.floor(fitting + 1 / reach)} != {math.floor(fitting)}
    made = Gaussian.best(2, 1.0, 0.5, delta, 1)
    assert (made.steps, made.report_bytes) == (steps, 4)
    assert steps == math.floor(fitting) - 1


def test_people_at_the_limit_of_the_bias() -> None:
    """1130 people are a hundredth squared of 11300000, and the bias is then a hundredth of a standard error."""
    assert Gaussian.best(1, 1.0, 1.0, 1.002434e-06, 1130).parameters() == {"steps": 371, "noise_variance": 11300000}
    assert Gaussian.best(1, 1.0, 1.0, 1.002434e-06, 1131).report_bytes == 3


def test_the_least_variance_is_enough() -> None:
    """2^20 itself, on a grid of one step, in two bytes."""
    made = Gaussian.best(65536, 1.0, 0.01, 2.8117e-10, 100)
    assert (made.steps, made.noise_variance, made.report_bytes) == (1, 2**20, 2 * 65536)


def rejection(radius: float = 3.0) -> Rejection:
    return Rejection(5, radius, 1.0, 0.0, 3 * 2**38, UNIT)


def test_tilt_and_clip_are_in_units_of_two_to_the_minus_forty() -> None:
    assert rejection().constants == RejectionConstants(0.75, 1.0)
    for epsilon in (0.7, 1.0, 3.0):
        tilt, clip = best_tilt_and_clip(epsilon)
        made = Rejection.best(3, 1.0, epsilon, 0.0, 1)
        assert abs(made.tilt - tilt * UNIT) <= 0.5
        assert 0 <= clip * UNIT - made.clip < 1


def test_what_a_rejection_survey_may_state() -> None:
    for tilt, clip in ((8 * UNIT, UNIT), (UNIT, UNIT), (UNIT, 2**20)):
        assert Rejection(3, 1.0, 1.0, 0.0, tilt, clip).parameters() == {"tilt": tilt, "clip": clip}
    for tilt, clip, name in (
        (0, UNIT, "tilt"),
        (8 * UNIT + 1, UNIT, "tilt"),
        (UNIT, 0, "clip"),
        (UNIT, UNIT + 1, "clip"),
    ):
        with refuses(SurveyError, name):
            Rejection(3, 1.0, 1.0, 0.0, tilt, clip)


def test_the_largest_normal_stays_below_the_largest_step() -> None:
    largest = normals.box_muller(np.array([0, 0], np.uint32))[0]
    assert 6.7 < largest < 7
    assert rejection().largest_step == 7 * 2**30
    assert rejection().max_reports == (2**63 - 1) // (7 * 2**30)


class Words:
    """Stands in for a generator whose next 64-bit words are known."""

    def __init__(self, words: np.ndarray) -> None:
        self.words = words

    def integers(self, low: int, high: int, *, size: tuple[int, int], dtype: type, endpoint: bool) -> np.ndarray:
        assert (low, high + endpoint, size, dtype) == (0, 2**64, self.words.shape, np.uint64)
        return self.words.copy()


def test_a_simulated_bit_is_a_word_below_the_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chance out of 2^64 is a multiple of 2^10: of those nearby one is it, and the word just below counts."""
    made = rejection()
    monkeypatch.setattr(normals, "inner_products", lambda units, seeds: np.full(len(units), 5.0))
    near = made.threshold(5.0) // 2048 * 2048
    multiples = np.array([near + 1024 * k for k in range(-8, 9)], dtype=np.uint64)
    batches = []
    for words in (multiples, multiples - np.uint64(1)):
        drawn = Words(np.stack([np.arange(17, dtype=np.uint64), words], axis=1))
        batches.append(made.randomize_many(np.zeros((17, 5)), drawn))  # type: ignore[arg-type]
        assert batches[-1][:, 0].tolist() == list(range(17))
    at, below = (int(batch[:, 1].sum()) for batch in batches)
    assert 0 < at < 17
    assert below == at + 1


def test_a_rejections_errors_in_numbers() -> None:
    made, c = rejection(), RejectionConstants(0.75, 1.0)
    assert 0 < c.along - c.noise < 1
    assert (made.noise, made.along) == (pytest.approx(9 * c.noise, rel=1e-14), pytest.approx(9 * c.along, rel=1e-14))
    assert made.truncation == 1e-4
    assert made.proxy == pytest.approx(9 * c.proxy, rel=1e-14)
    assert made.sharing_factor(100) == 1.0


@pytest.mark.parametrize(
    "stated",
    [
        {},
        {"tilt": UNIT},
        {"clip": UNIT},
        {"tilt": UNIT, "clip": UNIT, "a": 1},
        {"tilt": UNIT, "clip": UNIT, "z": 1},
    ],
)
def test_a_survey_states_a_mechanisms_own_parameters_and_no_others(stated: dict[str, int]) -> None:
    good = Rejection.restore({"clip": UNIT, "tilt": UNIT}, 3, 1.0, 1.0, 0.0)
    assert good == Rejection(3, 1.0, 1.0, 0.0, UNIT, UNIT)
    with refuses(SurveyError, "parameters"):
        Rejection.restore(stated, 3, 1.0, 1.0, 0.0)
