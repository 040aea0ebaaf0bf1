"""Settings of the whole suite: property tests repeat exactly, unless told to explore; no terminal is looked at."""

import os

import pytest
from hypothesis import settings

settings.register_profile("repeat", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


LONGEST = (
    "collector/test_simulation.py",
    "collector/test_crashes.py",
    "docs/test_build.py",
    "exact/test_conformance.py",
    "collector/test_openapi_fuzz.py",
    "docs/test_examples.py",
    "property/test_hull.py",
    "statistical/test_adaptive_strategies.py",
    "collector/test_worker.py",
    "statistical/test_codebook.py",
    "cli/test_demo.py",
    "cli/test_strategies.py",
    "statistical/test_adaptive_error.py",
)
"""Files that take longest: several processes begin with them, so that none is left alone with one at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, all else in its order; within a file nothing moves."""
    rank = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get("/".join(item.path.parts[-2:]), len(rank)))


@pytest.fixture(autouse=True)
def as_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables have the width they have in a file, whatever terminal the tests are run from."""
    monkeypatch.delenv("COLUMNS", raising=False)
