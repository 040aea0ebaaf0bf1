"""Settings of the whole suite: property tests repeat exactly, unless told to explore; no terminal is looked at."""

import os

import pytest
from hypothesis import settings

settings.register_profile("repeat", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


@pytest.fixture(autouse=True)
def as_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables have the width they have in a file, whatever terminal the tests are run from."""
    monkeypatch.delenv("COLUMNS", raising=False)
