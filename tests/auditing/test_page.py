"""The page of soundness says what the audits found, and nothing else."""

from __future__ import annotations

import math
from dataclasses import replace
from html import escape

from sottovoce.auditing import audit
from sottovoce.auditing.page import render

SOUND = audit("randomized_response", 1.0, samples=1000)


def test_all_is_well_where_all_is():
    page = render([SOUND, replace(SOUND, epsilon=2.0)])
    assert "The one mechanism here is sound" in page
    assert "NOT sound" not in page
    assert "What the paper prints" not in page
    assert page.count("<th>epsilon ") == 2


def test_one_that_is_not_sound_is_told_at_once():
    bad = replace(SOUND, sound=False, exact_epsilon=math.inf, witness="values 0 and 1 <b>")
    page = render([SOUND, bad])
    assert "1 of 2 audits failed" in page
    assert "∞ exact" in page
    assert "values 0 and 1 &lt;b&gt;" in page


def test_the_printed_algorithms_fail_without_failing_the_rest():
    printed = replace(SOUND, mechanism="published_rejection", sound=False)
    page = render([SOUND, printed])
    assert "The one mechanism here is sound" in page
    assert "What the paper prints" in page
    assert page.count("NOT sound") == 1


def test_a_delta_is_told_and_its_epsilon_called_proved():
    page = render([replace(SOUND, mechanism="gaussian", delta=1e-6), SOUND])
    assert "delta 1e-06" in page
    assert page.count("1.0000 proved") == page.count("1.0000 exact") == 1
    assert "at delta 1e-06: " in page
    assert "proved" not in render([SOUND])


def test_what_was_found_alike_is_told_once():
    page = render([replace(SOUND, epsilon=epsilon) for epsilon in (0.5, 1.0, 2.0)])
    assert page.count(escape(SOUND.method)) == 1
    assert "0.5, 1, 2</td>" in page


def test_reports_that_prove_nothing_are_no_figure():
    assert "none certified" in render([replace(SOUND, certified_lower_bound=0.0)])
    assert "none certified" not in render([replace(SOUND, certified_lower_bound=0.5)])
