"""Real distributions: as their packages carry them, and clear words where they do not."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import MissingExtraError, SimulationError
from sottovoce.lab.populations import real_data as module
from sottovoce.lab.populations.distributions import frequencies
from sottovoce.lab.populations.real_data import REAL, real_data


@pytest.mark.parametrize("name", REAL)
def test_they_are_distributions_over_distinct_values_the_most_common_first(name):
    found = real_data(name, 500)
    assert len(set(found.labels)) == len(found.labels) == len(found.shares) == 500
    assert found.shares.sum() == pytest.approx(1, abs=1e-12)
    assert (np.diff(found.shares) <= 0).all()
    assert found.shares[-1] > 0
    assert found.source
    assert np.array_equal(frequencies(name, 500), found.shares)


def test_more_values_than_there_are_is_told():
    with pytest.raises(SimulationError, match=r"surnames has 88,799 values, fewer than"):
        real_data("surnames", 100_000)
    with refuses(SimulationError, "name"):
        real_data("incomes", 10)


def test_a_missing_package_is_told_with_what_to_install(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert importlib.util.find_spec("names") is not None
    with pytest.raises(MissingExtraError, match=r"need the package names: pip install 'sottovoce\[data\]'"):
        real_data("surnames", 7)
