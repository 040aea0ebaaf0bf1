"""The page of soundness says what the audits found, and nothing else."""

from __future__ import annotations

import math
from dataclasses import replace
from html import escape

from sottovoce.auditing import audit
from sottovoce.auditing.page import render

SOUND = audit("randomized_response", epsilon=1.0, domain_size=16, samples=1000)


def test_all_is_well_where_all_is():
    page = render([SOUND, replace(SOUND, epsilon=2.0)])
    assert "The one mechanism here is sound" in page
    assert "BROKEN" not in page
    assert page.count("<th>epsilon ") == 2


def test_one_that_is_not_sound_is_told_at_once():
    bad = replace(SOUND, verdict="broken", exact_epsilon=math.inf, witness="values 0 and 1 <b>")
    page = render([SOUND, bad])
    assert "1 of 2 audits failed" in page
    assert "exact ∞" in page
    assert "values 0 and 1 &lt;b&gt;" in page


def test_a_delta_is_told_and_its_epsilon_is_no_exact_one():
    page = render([replace(SOUND, mechanism="gaussian", delta=1e-6), SOUND])
    assert "delta 1e-06" in page
    assert page.count("at most 1.0000") == page.count("exact 1.0000") == 1
    assert "at delta 1e-06: " in page
    assert "at most 1.0000" not in render([SOUND])


def test_what_was_found_alike_is_told_once():
    page = render([replace(SOUND, epsilon=epsilon) for epsilon in (0.5, 1.0, 2.0)])
    assert page.count(escape(SOUND.method)) == 1
    assert "0.5, 1, 2</td>" in page


def test_reports_that_prove_nothing_are_no_figure():
    assert "none certified" in render([replace(SOUND, certified_lower_bound=0.0)])
    assert "none certified" not in render([replace(SOUND, certified_lower_bound=0.5)])


def test_verdicts_and_what_they_rely_on_are_told():
    sampled = replace(SOUND, mechanism="hadamard", verdict="sampled", assumptions=("one <thing>", "another"))
    page = render([SOUND, sampled])
    assert page.count('<span class="yes">proved</span>') == page.count('<span class="yes">sampled</span>') == 1
    assert "1 of 2 audits are proved for every value, the others sampled" in page
    assert "<li>one &lt;thing&gt; <small>hadamard</small></li>" in page
