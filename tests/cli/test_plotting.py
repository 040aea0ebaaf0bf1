"""Pictures: what is drawn, and that nothing global is touched."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sottovoce as sv
from sottovoce.core.errors import MissingExtraError


@pytest.fixture
def estimate():
    survey = sv.Survey.distribution(["red", "green", "blue", "mauve"], epsilon=1.0)
    return survey.estimate(survey.simulate(["red"] * 3000 + ["green"] * 1000 + ["blue"] * 300, seed=2))


def test_bars_are_the_projected_values_sorted_with_their_intervals(estimate):
    axes = estimate.plot(k=3)
    top = estimate.top(3)
    assert [text.get_text() for text in axes.get_yticklabels()] == [answer.label for answer in top]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([100 * answer.value for answer in top])
    whiskers = axes.collections[0].get_segments()
    assert [tuple(w[:, 0]) for w in whiskers] == [pytest.approx((100 * a.low, 100 * a.high)) for a in top]
    raw = next(line for line in axes.lines if line.get_label() == "raw")
    assert list(raw.get_xdata()) == pytest.approx([100 * answer.raw for answer in top])


def test_axes_that_are_given_are_used(estimate):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert estimate.plot(ax=axes) is axes


def test_a_missing_library_is_named_with_what_to_install(estimate, monkeypatch):
    monkeypatch.setattr("sottovoce.figures.style.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'sottovoce\[plot\]'") as raised:
        estimate.plot()
    assert raised.value.__context__ is None


def test_the_demo_asks_for_the_library_before_it_works(run, monkeypatch):
    monkeypatch.setattr("sottovoce.figures.style.find_spec", lambda name: None)
    outcome = run("demo", "--no-report", "--picture", "demo.png", "--json")
    assert outcome.status == 2
    assert outcome.json["error"]["type"] == "MissingExtraError"


def test_neither_windows_nor_global_settings_are_touched():
    code = (
        "import sys, sottovoce as sv, matplotlib; before = matplotlib.rcParams.copy()\n"
        "survey = sv.Survey.distribution(3, 1.0); survey.estimate(survey.simulate([0, 1, 2] * 50, seed=1)).plot()\n"
        "sys.exit('matplotlib.pyplot' in sys.modules or matplotlib.rcParams.copy() != before)"
    )
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0
