"""Words found in one round beside those found in several."""

from __future__ import annotations

import pytest

from evidence.experiments.one_round import one_round_table


def test_one_round_finds_about_as_rare_values_as_several() -> None:
    (line,) = one_round_table([10**6], [2.0])
    assert line.rounds > 1
    assert line.ratio == pytest.approx(1.0, abs=0.15)
