"""The paper's claim for offline queries: projected, the error neither grows with d nor falls faster than n^(-1/4).

Slopes over a factor of 64 from means of three runs whose relative spread is below 10 %, at its ends and in its middle:
a slope's standard error is below (0.1/sqrt(3)) / (log(64)/sqrt(2)) < 0.02, so the intervals below are five of those
wide on each side.
"""

import pytest

from evidence.experiments.dimension import measure_point, save_picture, slope

pytestmark = pytest.mark.slow


def test_error_is_free_of_the_dimension(tmp_path) -> None:
    by_queries = [measure_point(d, 4_000, repeats=3) for d in (64, 512, 4096)]
    by_people = [measure_point(1024, n, repeats=3) for n in (500, 4_000, 32_000)]
    assert all(p.l2_projected < min(p.bound, p.l2_raw) for p in by_queries + by_people)
    assert slope(by_queries, "n_queries") < 0.05, "the projected error grows with the number of queries"
    assert 0.4 < slope(by_queries, "n_queries", "l2_raw") < 0.6, "no power: the raw error must grow like sqrt(d)"
    assert -0.35 < slope(by_people, "people") < -0.15
    assert -0.6 < slope(by_people, "people", "l2_raw") < -0.4
    save_picture(by_queries, by_people, tmp_path / "dimension.png")
    assert (tmp_path / "dimension.png").stat().st_size > 10_000
