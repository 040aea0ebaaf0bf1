"""Pictures: what is drawn, and that nothing global is touched."""

from __future__ import annotations

import io
import subprocess
import sys

import matplotlib
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

import sottovoce as sv
from sottovoce.core.answer import Answer
from sottovoce.core.errors import MissingExtraError, SurveyError
from sottovoce.figures.bars import MOST_BARS, plot_answers


@pytest.fixture
def estimate():
    survey = sv.Survey(sv.shares(["red", "green", "blue", "mauve"]), epsilon=1.0)
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
    axes = Figure().subplots()
    assert estimate.plot(ax=axes) is axes


def test_what_cannot_be_drawn_on_is_refused(estimate):
    with pytest.raises(SurveyError) as refusal:
        estimate.plot(ax=5)
    assert refusal.value.field == "ax"


def test_a_distribution_is_drawn_as_its_whole_histogram_in_order():
    survey = sv.Survey(sv.number(0, 600, "minutes", wants="distribution", points=30), epsilon=2.0)
    found = survey.estimate(survey.simulate(range(600), seed=1))
    axes = found.plot()
    bins = found.histogram(merged=True)
    assert [bar.get_x() for bar in axes.patches] == pytest.approx([one.start for one in bins])
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([100 * one.value for one in bins])
    assert axes.get_xlabel() == "minutes"


def test_answers_in_an_order_of_their_own_keep_it():
    survey = sv.Survey(sv.records({"plan": ["free", "pro"], "country": ["DE", "FR", "IT"]}, tables=2), epsilon=2.0)
    found = survey.estimate(survey.simulate({"plan": ["pro", "free"] * 300, "country": ["IT", "FR"] * 300}, seed=1))
    axes = found.plot(k=5)
    assert [text.get_text() for text in axes.get_yticklabels()] == found.labels()[:5]
    assert axes.get_xlabel().startswith("5 of 11 values, the first; ")
    table = found.table("country", "plan")
    bars = table.plot()
    names = ["DE, free", "DE, pro", "FR, free", "FR, pro", "IT, free", "IT, pro"]
    assert [text.get_text() for text in bars.get_yticklabels()] == names
    assert bars.get_xlabel() == "table of country and plan: 3 x 2 shares from 600 reports, 95 % intervals"


def test_integers_are_drawn_in_their_order_in_bins_that_can_be_told_from_noise():
    survey = sv.Survey(sv.shares(range(18, 98)), epsilon=4.0, title="Ages")
    few, many = (
        survey.estimate(survey.simulate([18 + at % 80 for at in range(n)], seed=1)) for n in (3_000, 3_000_000)
    )
    bars = few.plot().patches
    assert 2 <= len(bars) <= 40
    assert [bar.get_x() for bar in bars] == sorted(bar.get_x() for bar in bars)
    assert sum(bar.get_height() for bar in bars) == pytest.approx(100, abs=1)
    assert len(many.plot().patches) == 80
    assert few.plot().get_title(loc="left").startswith("Ages\n3,000 reports")
    assert len(few.plot(k=5).patches) == 5


def test_words_that_may_be_there_by_chance_are_drawn_on_demand():
    survey = sv.Survey(sv.words(6, "latin"), epsilon=6.0, people=1000, title="Drinks")
    seeds = (survey.estimate(survey.simulate_aggregate(["tea"] * 1000, seed=seed)) for seed in range(20))
    found = next(estimate for estimate in seeds if not estimate.certain.all())
    assert len(found.plot().patches) == int(found.certain.sum())
    assert len(found.plot(doubtful=True).patches) == len(found)
    assert "may be there by chance" in str(found)
    with pytest.raises(SurveyError) as refusal:
        found.plot(doubtful=1)
    assert refusal.value.field == "doubtful"


def test_a_curve_of_one_period_has_days_on_its_axis():
    tracking = sv.Tracking(["yes", "no"], periods=3, every="week", starts="2027-01-04", epsilon=2.0)
    curve = tracking.estimate({1: tracking.simulate(lambda _: ["yes"] * 300, seed=1)[1]})
    low, high = curve.plot("yes").get_xlim()
    assert high - low < 10


def drawn(answers, **more):
    """Bars of made-up answers, laid out as they are saved."""
    axes = plot_answers(answers, "400 reports", **more)
    axes.figure.savefig(io.BytesIO(), format="png")
    return axes


def made_up(values, label="answer {}", width=0.1):
    return [
        Answer(
            label=label.format(i),
            value=value,
            raw=value + width / 5,
            low=value - width,
            high=value + width,
            is_share=True,
        )
        for i, value in enumerate(values)
    ]


SHAPES = {
    "one": made_up([0.9]),
    "two alike": made_up([0.5, 0.5]),
    "all as large": made_up([1.0] * 20, width=0.0),
    "falling": made_up([1 / (i + 1) for i in range(20)]),
    "more than are drawn": made_up([1.0] * 300),
    "negative": made_up([-0.2, -0.5, -0.9]),
    "on both sides": made_up([0.9, 0.1, -0.1, -0.9]),
    "zero": made_up([0.0, 0.0], width=0.0),
    "long labels": made_up([0.9, 0.8], label="a label that is as long as a line of a letter, and then longer, {}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("given", [False, True])
def test_the_legend_covers_nothing_that_is_drawn(shape, given):
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = drawn(SHAPES[shape], ax=figure.subplots() if given else None)
    legend = axes.get_legend().get_window_extent()
    for part in [*axes.patches, *axes.lines]:
        seen = Bbox.intersection(part.get_window_extent(), axes.bbox)  # the rest is clipped
        assert seen is None or not legend.overlaps(seen), part
    for whisker in axes.collections[0].get_segments():
        assert not any(legend.contains(*end) for end in axes.transData.transform(whisker))
    assert legend.y0 >= axes.bbox.y1 - 1
    canvas = axes.figure.bbox
    assert canvas.x0 <= legend.x0
    assert legend.y1 <= canvas.y1, "cut off"


@pytest.mark.parametrize("shape", SHAPES)
def test_whiskers_bars_and_marks_lie_within_the_axes(shape):
    axes = drawn(SHAPES[shape])
    left, right = axes.get_xlim()
    shown = SHAPES[shape][:MOST_BARS]
    assert left <= min(0, *(100 * number for one in shown for number in (one.value, one.raw, one.low, one.high)))
    assert right >= max(0, *(100 * number for one in shown for number in (one.value, one.raw, one.low, one.high)))


def test_a_mean_is_drawn_in_its_unit_and_not_in_per_cent():
    survey = sv.Survey(sv.number(0, 600, "minutes"), epsilon=2.0)
    estimate = survey.estimate(survey.simulate([100, 300] * 2000, seed=1))
    axes = estimate.plot()
    axes.figure.canvas.draw()
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([estimate.values[0]])
    assert axes.get_xlabel() == "minutes\n4,000 reports, epsilon 2, 95 % intervals"
    assert not any("%" in tick.get_text() for tick in axes.get_xticklabels())
    assert f"<td>mean</td><td>{estimate['mean'].value_text}</td>" in estimate._repr_html_()
    assert estimate["mean"].value_text.endswith(" minutes")


def test_a_vector_is_drawn_in_its_own_numbers_on_both_sides_of_zero():
    survey = sv.Survey(sv.vector(3, 1.0), epsilon=4.0)
    estimate = survey.estimate(survey.simulate([[0.5, 0.0, -0.5]] * 9000, seed=1))
    axes = estimate.plot()
    axes.figure.canvas.draw()
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(sorted(estimate.values, reverse=True))
    assert axes.get_xlim()[0] < estimate.interval().low.min()
    assert not any("%" in tick.get_text() for tick in axes.get_xticklabels())


def test_the_caption_says_how_many_of_how_many_are_shown(estimate):
    assert estimate.plot(k=3).get_xlabel() == "3 of 4 values, the largest; 4,300 reports, epsilon 1, 95 % intervals"
    assert estimate.plot().get_xlabel() == "4,300 reports, epsilon 1, 95 % intervals"
    assert drawn(made_up([0.0] * 2000)).get_xlabel() == "200 of 2,000 values, the largest; 400 reports"


def test_long_labels_keep_both_ends_and_leave_room_for_bars():
    axes = drawn(SHAPES["long labels"])
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        f"a label that is as long as a li…d then longer, {i}" for i in (0, 1)
    ]
    assert axes.bbox.width > 0.4 * axes.figure.bbox.width


def test_pictures_are_white_whatever_style_is_set_and_can_be_read_on_dark_axes(estimate):
    with matplotlib.rc_context({"figure.facecolor": "black", "axes.facecolor": "black"}):
        axes = estimate.plot()
        dark = estimate.plot(ax=Figure().subplots())
    assert axes.figure.get_facecolor() == (1, 1, 1, 1)
    assert axes.get_facecolor()[3] == 0, "so that the figure shows through"
    inks = [to_rgb(one.get_yticklabels()[0].get_color()) for one in (axes, dark)]
    assert max(inks[0]) < 0.3
    assert min(inks[1]) > 0.7


def test_the_legend_of_a_curve_lies_below_it():
    tracking = sv.Tracking(sv.questions.Shares(["yes", "no"]), epsilon=1.0, every="day", starts="2026-01-01", periods=9)
    curve = tracking.estimate(tracking.simulate([["yes", "no"] * 900] * 9, seed=1), closed=range(1, 9))
    for ax in (None, Figure(figsize=(6, 3), layout="constrained").subplots()):
        axes = curve.plot("yes", smooth=True, ax=ax)
        axes.figure.savefig(io.BytesIO(), format="png")
        legend, canvas = axes.get_legend().get_window_extent(), axes.figure.bbox
        assert legend.y1 <= axes.bbox.y0
        assert not any(legend.overlaps(tick.get_window_extent()) for tick in axes.get_xticklabels())
        assert legend.y0 >= canvas.y0
        assert axes.title.get_window_extent().x1 <= canvas.x1 or ax is not None


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
        "survey = sv.Survey(sv.shares(3), epsilon=1.0)\n"
        "survey.estimate(survey.simulate([0, 1, 2] * 50, seed=1)).plot()\n"
        "sys.exit('matplotlib.pyplot' in sys.modules or matplotlib.rcParams.copy() != before)"
    )
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0
