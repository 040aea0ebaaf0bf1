"""What is offered, what is chosen, and what is said about it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from document import ROOT
from refusing import refuses
from sottovoce.core.errors import CapacityError, MechanismError, SurveyError
from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.strategies import STRATEGIES, Option, Setting, Strategy, choose, explain, optimize, options
from sottovoce.strategies import options as options_function
from sottovoce.strategies.factorized import FactorizedStrategy
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.search.descent import ChannelSearch
from sottovoce.workloads import Bins, Dense, Identity, Marginals, Prefix, Ranges, Workload
from sottovoce.workloads.ball import Ball

PEOPLE = 1000
ALL = tuple(STRATEGIES)
WORKLOADS: tuple[Workload, ...] = (
    Identity(4),
    Prefix(5),
    Marginals(k=2, a=2, b=3),
    Dense(np.random.default_rng(3).normal(size=(3, 5))),
)
module = __import__(options_function.__module__, fromlist=["_"])


@pytest.fixture(autouse=True)
def cache_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
@pytest.mark.parametrize("criterion", ["l2", "margin"])
def test_the_best_comes_first_and_every_figure_is_the_designs_own(workload: Workload, criterion: str) -> None:
    setting = Setting(workload, 1.0, 0.0, PEOPLE)
    found = options(setting, ALL, criterion)  # type: ignore[arg-type]
    assert {one.strategy for one in found} == set(STRATEGIES)
    fitting = [one for one in found if one.fits]
    assert list(found[: len(fitting)]) == fitting
    errors = [one.error(criterion) for one in fitting]  # type: ignore[arg-type]
    assert errors == pytest.approx(sorted(errors), rel=1e-9)
    for one in fitting:
        assert one.design is not None
        assert one.margin == one.design.margin(PEOPLE)
        assert one.l2 == one.design.expected_error(PEOPLE)
        assert one.status == one.design.variance().status
        assert one.report_bytes == one.design.mechanism.report_bytes
        assert one.fetched_bytes == len(one.design.attachment or b"")
        assert one.bound == one.design.bound(PEOPLE)
    assert choose(setting, ALL, criterion) == found[0]  # type: ignore[arg-type]


def test_a_population_that_is_known_changes_what_is_compared() -> None:
    setting, shares = Setting(Prefix(5), 1.0, 0.0, PEOPLE), np.array([0.6, 0.1, 0.1, 0.1, 0.1])
    for one in options(setting, ["haar", "histogram"], population=shares):
        assert one.design is not None
        assert one.margin == one.design.margin(PEOPLE, shares)
        assert one.l2 == one.design.expected_error(PEOPLE, shares)


def test_ties_go_to_the_shorter_report_then_to_the_first() -> None:
    """Over two values five mechanisms are one; the report of a unary encoding is no shorter."""
    found = options(Setting(Identity(2), 1.0, 0.0, PEOPLE), ["histogram"])
    equal = [one for one in found if one.l2 == pytest.approx(found[0].l2, rel=1e-9)]
    bits = [one.design.mechanism.report_bits for one in equal if one.design is not None]
    assert bits == sorted(bits)
    assert found[0].mechanism == "randomized_response"
    assert len(equal) >= 2
    again = options(Setting(Identity(2), 1.0, 0.0, PEOPLE), ["histogram"])
    assert [one.mechanism for one in again] == [one.mechanism for one in found]


def test_errors_within_rounding_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A design that is better in the last digit and longer by a byte is not chosen for it."""
    exact = Histogram.expected_error

    def shaken(self: Histogram, n_reports: int, population: object = None) -> float:
        found = exact(self, n_reports, population)
        return found * (1 - 1e-12) if self.mechanism.report_bytes > 1 else found

    monkeypatch.setattr(Strategy, "expected_error", shaken)
    found = options(Setting(Identity(9), 3.0, 0.0, PEOPLE), ["histogram"])
    assert found[0].mechanism == "randomized_response"
    assert found[0].report_bytes == 1


def test_reports_and_attachments_may_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    found = options(Setting(Identity(40), 1.0, 0.0, PEOPLE, max_report_bytes=1), ALL)
    assert all(one.report_bytes <= 1 for one in found if one.fits)
    long = next(one for one in found if one.mechanism == "subset_selection")
    assert (long.fits, long.reason) == (False, "its report takes 5 bytes; 1 are allowed")
    assert long.l2 < found[0].l2
    assert f"{long.mechanism} would err" in explain(found, found[0])
    assert "cannot be chosen: its report takes 5 bytes" in explain(found, found[0])
    monkeypatch.setattr(module, "MAX_ATTACHMENT_BYTES", 10)
    setting = Setting(Prefix(5), 1.0, 0.0, PEOPLE)
    (fetched,) = (one for one in options(setting, ALL) if one.strategy == "factorized")
    assert "would have to fetch" in fetched.reason
    assert options(replace(setting, strategy="factorized"), ALL)[0].fits


def test_what_takes_minutes_is_not_tried_unless_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> list[Strategy]:
        raise AssertionError("tried")

    monkeypatch.setattr(FactorizedStrategy, "designs", forbidden)
    monkeypatch.setattr(ChannelSearch, "stage", forbidden)
    found = {
        one.strategy: one
        for one in options(Setting(Prefix(FactorizedStrategy.quick_values + 1), 1.0, 0.0, PEOPLE), ALL)
    }
    assert found["optimized"].reason.startswith("not tried: searching for a channel over 513 values takes minutes")
    assert "sottovoce optimize" in found["optimized"].reason
    assert "--epsilon 1" in found["optimized"].reason
    assert found["factorized"].reason.startswith("not tried: factorizing over 513 values")
    for name in ("optimized", "factorized"):
        one = found[name]
        assert (one.design, one.bound, one.fits) == (None, None, False)
        assert math.isnan(one.margin)
        assert math.isnan(one.l2)
        with pytest.raises(AssertionError, match="tried"):
            options(Setting(Prefix(40 if name == "factorized" else 33), 1.0, 0.0, PEOPLE, strategy=name), ALL)
    assert OptimizedStrategy.quick_values < 40


def test_auto_does_not_depend_on_what_the_machine_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A channel kept by an earlier search counts only where the strategy is named."""
    kept = optimize(Prefix(33), 1.0, steps=None)
    setting = Setting(Prefix(33), 1.0, 0.0, PEOPLE)
    (auto,) = (one for one in options(setting, ALL) if one.strategy == "optimized")
    assert auto.design is None
    monkeypatch.setattr(ChannelSearch, "stage", lambda *_: pytest.fail("searched again"))
    (named,) = options(replace(setting, strategy="optimized"), ALL)
    assert named.design is not None
    assert named.design.worst == pytest.approx(kept.worst, rel=1e-9)


def test_more_values_than_fit_into_memory_are_priced() -> None:
    found = options(Setting(Identity(2**40), 1.0, 0.0, 10**6), ["histogram"])
    hadamard = next(one for one in found if one.mechanism == "hadamard")
    assert hadamard.fits
    assert hadamard.margin == pytest.approx(1.959964 / math.tanh(0.5) / 1000, rel=1e-6)
    refused = options(Setting(Identity(2**40), 1.0, 0.0, 10**6), ALL)
    assert {one.strategy for one in refused if one.fits} == {"histogram"}


def test_only_vector_mechanisms_answer_vectors() -> None:
    found = options(Setting(Ball(1, 2.0), 1.0, 0.0, PEOPLE), ["direct"])
    assert [(one.strategy, one.mechanism) for one in found] == [
        ("direct", "binary"),
        ("direct", "codebook"),
        ("direct", "rejection"),
    ]
    assert found[0].status == "exact"
    (refused,) = options(Setting(Ball(1, 2.0), 1.0, 0.0, PEOPLE), ["haar"])
    assert "values that can be listed" in refused.reason


def test_a_named_mechanism_is_the_only_one() -> None:
    setting = Setting(Prefix(5), 1.0, 0.0, PEOPLE, mechanism="codebook")
    found = options(setting, ALL)
    assert {one.strategy for one in found if one.fits} == {"direct", "factorized"}
    assert all("codebook" not in one.mechanism for one in found if not one.fits)
    with pytest.raises(MechanismError, match=r"no design can serve: .*haar.* goes with mechanism 'haar'"):
        choose(setting, ["haar"])
    with refuses(SurveyError, "strategy"):
        options(setting, ["wavelet"])


def test_a_design_that_cannot_be_compared_is_listed_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_long(*_: object) -> float:
        raise CapacityError("cannot be compared")

    monkeypatch.setattr(Strategy, "margin", too_long)
    (one,) = options(Setting(Prefix(5), 1.0, 0.0, PEOPLE), ["haar"])
    assert (one.strategy, one.mechanism, one.design, one.reason) == ("haar", "haar", None, "cannot be compared")


def test_options_are_plain_values_and_sentences() -> None:
    found = options(Setting(Ranges(4), 1.0, 0.0, PEOPLE), ["haar", "direct", "fourier"])
    told = [one.to_dict() for one in found]
    assert json.loads(json.dumps(told)) == told
    assert told[0]["l2"] == found[0].l2
    assert told[-1]["l2"] is None
    assert told[-1]["strategy"] == "fourier"
    text = explain(found, found[0])
    assert text.startswith("haar: margin ")
    assert "of all 10" in text
    assert "errs" in text
    second = next(one for one in found if one.fits and one is not found[0])
    assert "haar would err" in explain(found, second)
    number = options(Setting(Ball(1, 1.0), 1.0, 0.0, PEOPLE), ["direct"])
    assert "L2" not in explain(number, number[0])
    assert isinstance(number[0], Option)


@pytest.mark.parametrize("workload", [Dense([[3.0, 3.0, 3.0]]), Bins(range(6), [0, 6])], ids=repr)
def test_answers_that_are_the_same_for_everybody(workload: Workload) -> None:
    """Their variance is 0 for many designs, and a little below by rounding: neither a root nor a ratio may fail."""
    found = options(Setting(workload, 1.0, 0.0, PEOPLE), ALL)
    errors = [one.l2_raw for one in found if one.fits]
    assert errors[0] == 0 < errors[-1]
    assert errors == pytest.approx(sorted(errors), rel=1e-9)
    assert "errs by" in explain(found, found[0])
    assert all(one.l2_raw < 1e-7 for one in found if one.strategy in ("haar", "hierarchical"))


@pytest.mark.parametrize("people", [10**6, 10**9])
@pytest.mark.parametrize("epsilon", [1.0, 8.0, 16.0])
@pytest.mark.parametrize("dimension", [1, 2, 60])
def test_auto_takes_what_every_client_runs_and_counts_shared_rotations(
    dimension: int, epsilon: float, people: int
) -> None:
    """Few coordinates, a large epsilon and 10^9 people: there are not rotations enough, and the error says so."""
    setting = Setting(Ball(dimension, 1.0), epsilon, 1e-6, people)
    found = options(setting, ["direct"])
    assert found[0].fits
    assert all(one.design.mechanism.in_browsers for one in found if one.fits)
    left = {one.mechanism: one.reason for one in found if not one.fits and one.design is not None}
    assert set(left) == {"gaussian", "rejection"}
    assert set(left.values()) == {"browsers cannot run it: name it to have it"}
    for one in found:
        if one.mechanism != "codebook":
            continue
        mechanism = one.design.mechanism
        alone = replace(one.design, mechanism=replace(mechanism, rotations=2**32)).total_variance(None, people).value
        sharing = mechanism.sharing_factor(people)
        assert sharing > (100 if people == 10**9 and epsilon > 1 else 1)
        assert one.l2_raw > math.sqrt(alone)
        assert one.l2_raw >= math.sqrt(alone + 0.9 * (sharing - 1) * dimension * mechanism.noise / people)
    for name in ("gaussian", "rejection"):
        assert options(replace(setting, mechanism=name), ["direct"])[0].fits


def test_every_mechanism_says_whether_the_browser_runs_it() -> None:
    registry = (ROOT / "clients" / "js" / "src" / "mechanisms" / "registry.ts").read_text()
    ported = set(re.findall(r'\["(\w+)", \w+Law\]', registry))
    assert {name for name, kind in MECHANISMS.items() if kind.in_browsers} == ported


def test_sharing_changes_what_auto_takes_for_queries() -> None:
    """One rotation for everybody: the codebook of `factorized` is no longer the best."""
    setting = Setting(Prefix(40), 4.0, 0.0, 10**9, max_counters=64)
    few, many = options(setting, ["factorized", "haar"]), options(replace(setting, people=1000), ["factorized", "haar"])
    errors = [{one.strategy: one.l2 for one in found} for found in (few, many)]
    assert errors[0]["factorized"] / errors[0]["haar"] > 10 * errors[1]["factorized"] / errors[1]["haar"]
    assert few[0].strategy == "haar"
