"""What a hostile or careless hand does to strategies: nothing may widen epsilon, nor be silently wrong."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import MechanismError, SottovoceError, SurveyError, WorkloadError
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.strategies import STRATEGIES, Setting, Strategy, factorize, load, optimize, options, worst_variance_bound
from sottovoce.strategies.factorized import Coordinates
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.search.cache import directory
from sottovoce.workloads import Dense, Identity, Prefix


def made(name: str, epsilon: float = 1.0, size: int = 8) -> Strategy:
    return STRATEGIES[name].designs(Setting(Prefix(size), epsilon, 0.0, 1000))[0]


@pytest.mark.parametrize("name", ["direct", "factorized", "optimized", "haar", "hierarchical", "histogram"])
def test_a_strategy_does_not_bring_its_own_epsilon(name: str) -> None:
    with refuses(SurveyError, "epsilon"):
        sv.Survey(sv.queries(Prefix(8)), epsilon=0.5, strategy=made(name, 2.0))
    assert sv.Survey(sv.queries(Prefix(8)), epsilon=2.0, strategy=made(name, 2.0)).epsilon == 2.0


def test_a_strategy_does_not_bring_its_own_delta_workload_or_size() -> None:
    strategy = made("haar")
    assert (
        sv.Survey(sv.queries(Prefix(8)), epsilon=1.0, delta=1e-6, strategy=strategy).delta == 0
    )  # it promises more than is asked
    (noisy,) = STRATEGIES["direct"].designs(Setting(Prefix(8), 1.0, 1e-6, 1000, mechanism="gaussian"))
    with refuses(SurveyError, "delta"):
        sv.Survey(sv.queries(Prefix(8)), epsilon=1.0, strategy=noisy, max_report_bytes=64)
    with refuses(SurveyError, "strategy"):
        sv.Survey(sv.queries(Identity(8)), epsilon=1.0, strategy=strategy)
    with refuses(SurveyError, "mechanism"):
        sv.Survey(sv.queries(Prefix(8)), epsilon=1.0, mechanism="codebook", strategy=strategy)
    (long,) = STRATEGIES["histogram"].designs(Setting(Prefix(30), 0.1, 0.0, 1000, mechanism="subset_selection"))
    with refuses(SurveyError, "max_report_bytes"):
        sv.Survey(sv.queries(Prefix(30)), epsilon=0.1, strategy=long, max_report_bytes=1)


def test_intervals_count_what_people_share() -> None:
    """A survey for 100 people answered by 100,000: rotations are shared, and intervals must be wider for it."""
    shared = sv.Survey(sv.queries(Identity(32)), epsilon=1.0, strategy="direct", people=100)
    alone = sv.Survey(sv.queries(Identity(32)), epsilon=1.0, strategy="direct", people=10**7)
    people, widths = np.eye(32, dtype=int)[0] * 100_000, []
    for survey in (shared, alone):
        low, high = survey.estimate(survey.simulate_aggregate(histogram=people, seed=1)).interval()
        widths.append(float((high - low)[5]))
    assert widths[0] > 3 * widths[1]


@pytest.mark.parametrize("scale", [1e8, 1e9, 1e12])
def test_a_small_query_beside_a_huge_one_is_told_or_refused(scale: float) -> None:
    values = np.arange(8)
    workload = Dense(np.array([scale * (values >= 4), values % 2, values == 5], dtype=float))
    found = options(Setting(workload, 1.0, 0.0, 10_000), list(STRATEGIES))
    for one in found:
        if one.design is None:
            assert one.strategy != "optimized" or "too small compared with other queries" in one.reason
            continue
        for value in range(8):
            exact = one.design.answers(one.design.coordinates.matvec(np.eye(8)[value]))
            assert (np.abs(exact - workload.column(value)) <= 1e-4 * np.array([scale, 1.0, 1.0])).all(), one.strategy
    assert found[0].fits


def test_queries_that_all_answer_alike_have_answers() -> None:
    workload = Dense(np.full((2, 4), 2.5))
    survey = sv.Survey(sv.queries(workload), epsilon=1.0, people=100)
    estimate = survey.estimate(survey.simulate([0, 1, 2, 3] * 25, seed=1))
    assert np.allclose(estimate.values, 2.5)
    for name in ("optimized", "hierarchical", "haar", "histogram"):
        survey = sv.Survey(sv.queries(workload), epsilon=1.0, strategy=name, people=100)
        estimate = survey.estimate(survey.simulate([0, 1, 2, 3] * 25, seed=1))
        assert np.allclose(estimate.values, 2.5)


def test_a_channel_that_is_blind_to_a_query_is_not_kept_nor_read(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sottovoce.strategies import save

    values = np.arange(8)
    workload = Dense(np.array([1e5 * (values >= 4), values % 2], dtype=float))
    half = (values >= 4).astype(int)
    blind = ChannelMatrix(np.array([11 - 6 * half, 5 + 6 * half]), 4)
    strategy = OptimizedStrategy.of(workload, 1.0, blind, np.full(8, 1 / 8))
    with pytest.raises(MechanismError):
        strategy.check()
    save(strategy, tmp_path / "blind")
    with pytest.raises(MechanismError):
        load(tmp_path / "blind", workload, 1.0)


def test_parameters_that_would_take_for_ever() -> None:
    with refuses(SurveyError, "sizes"):
        Fourier(2, 1.0, (1,) * 100_000 + (2,), 100_000)
    with pytest.raises(SurveyError):
        Fourier(4, 1.0, (1, 4), 1)


def test_coordinates_that_are_none() -> None:
    for header in (struct.pack("<II", 1, 0), struct.pack("<II", 0, 8) + bytes(64)):
        with pytest.raises(MechanismError):
            Coordinates.from_bytes(header)
    for weights in ([1.7e308, 1.7e308, -1.7e308, -1.7e308] * 2, [np.nan] * 8, [2.0, -1.0] + [0.0] * 6):
        with pytest.raises(MechanismError):
            Coordinates(np.full((1, 8), 0.5, dtype=np.float32), np.array(weights))


def test_no_home_directory_is_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(OSError, match="home"):
        directory()
    assert optimize(Prefix(3), 1.0).worst > 0


def test_mistyped_arguments_get_an_explanation(tmp_path) -> None:
    for call in (
        lambda: optimize("prefix:8", 1.0),  # type: ignore[arg-type]
        lambda: factorize(None),  # type: ignore[arg-type]
        lambda: worst_variance_bound(3, 1.0),  # type: ignore[arg-type]
        lambda: sv.Survey(sv.queries("prefix:8"), epsilon=1.0),  # type: ignore[arg-type]
    ):
        with refuses(WorkloadError, "workload"):
            call()
    for path in (None, 3, b"x", "a\0b"):
        with pytest.raises(SottovoceError):
            load(path, Prefix(3), 1.0)  # type: ignore[arg-type]
    with pytest.raises(MechanismError):
        ChannelMatrix([[1, 2], [3]], 2)  # type: ignore[arg-type]
    with refuses(SurveyError, "attachments"):
        sv.Survey.from_json(json.dumps({}), "x")  # type: ignore[arg-type]
    for name in ("optimised", "", None, 3, ["haar"]):
        with refuses(SurveyError, "strategy"):
            sv.Survey(sv.queries(Prefix(8)), epsilon=1.0, strategy=name)  # type: ignore[arg-type]
