"""The page of soundness says what the audits found, and nothing else."""

from __future__ import annotations

import math
from dataclasses import replace

from sottovoce.audit import audit
from sottovoce.audit.page import render

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
