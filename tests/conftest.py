"""Settings of the whole suite: property tests repeat exactly, unless told to explore; no terminal is looked at."""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from sottovoce.mechanisms.registry import REGISTRY as MECHANISMS
from sottovoce.questions.registry import REGISTRY as QUESTIONS
from sottovoce.strategies.registry import REGISTRY as STRATEGIES

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So do shells start what they start in the background; whatever a test interrupts would inherit it, and go on.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("repeat", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


LONGEST = (
    "dist/test_dist.py",
    "docs/test_examples.py",
    "js/test_client_audit.py",
    "engines/test_spark_cluster.py",
    "collector/test_crashes.py",
    "docs/test_build.py",
    "engines/test_spark_stream.py",
    "cli/test_plan.py",
    "collector/test_openapi_fuzz.py",
    "statistical/test_adaptive_error.py",
    "js/test_deployed_audits.py",
    "collector/test_simulation.py",
    "browser/test_doors.py",
    "statistical/test_tracking.py",
    "docs/test_adding.py",
    "cli/test_demo.py",
    "engines/test_spark_local.py",
    "auditing/test_survey_audits.py",
    "collector/test_serve.py",
    "exact/test_watching.py",
    "statistical/test_accuracy.py",
    "evidence/test_reproduce.py",
    "evidence/test_coverage.py",
    "exact/test_strategy_registry.py",
    "statistical/test_adaptive_strategies.py",
    "exact/test_conformance.py",
    "auditing/test_surveys.py",
    "collector/test_plans.py",
)
"""Files that take longest: several processes begin with them, so that none is left alone with one at the end."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays until the end: the garbage collector need not look at it, nor that often at the rest."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, all else in its order; within a file nothing moves.

    Of a slow test with many cases the first one is not slow, so that `make test` runs one of everything.
    """
    kept: set[tuple[Path, str]] = set()
    for item in items:
        function = (item.path, getattr(item, "originalname", ""))
        if hasattr(item, "callspec") and function not in kept:
            kept.add(function)
            item.own_markers[:] = [mark for mark in item.own_markers if mark.name != "slow"]
    rank = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get("/".join(item.path.parts[-2:]), len(rank)))


@pytest.fixture(autouse=True)
def as_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables have the width they have in a file, whatever terminal the tests are run from."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def nothing_registered_by_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers, a page's example for one, is not known to the next."""
    for registry in (MECHANISMS, STRATEGIES, QUESTIONS):
        monkeypatch.setattr(registry, "_registered", {})
