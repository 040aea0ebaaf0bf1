"""Surveys of words are audited from the word to the bytes, and planted faults are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.domain.words.letters import UnicodeCode
from sottovoce.domain.words.trials import random_word
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.questions import Words

SURVEYS: dict[str, dict[str, Any]] = {
    "latin": {"alphabet": "latin", "longest": 6},
    "unicode": {"longest": 8},
    "bytes": {"alphabet": "bytes", "longest": 3},
    "integers": {"below": 2**60},
}


@pytest.mark.parametrize("name", SURVEYS)
def test_surveys_of_words_are_sound(name: str) -> None:
    survey = sv.Survey(sv.words(**SURVEYS[name]), epsilon=1.0)
    result = sv.audit(survey, samples=200, seconds=0.05)
    assert result.verdict == "sampled", result.witness
    assert 0.999 < result.exact_epsilon <= 1.0
    assert result.certified_lower_bound <= 1.0
    assert (result.survey, result.domain_size) == (survey.id, Words.of(**SURVEYS[name]).code.bits)


def truthful(m: HashedPrefixes, code: Any, source: Any) -> Any:
    row = source.below(sum(m.rows))
    source.bernoulli(m.inner._levels.threshold)
    source.below(m.inner.space.hyperplane_points)
    source.below(m.buckets - m.inner.space.hyperplane_points)
    return row * m.buckets + m.bucket(np.asarray(code), row)


def whole_code(m: HashedPrefixes, code: Any, source: Any) -> Any:
    """Hashes all bits in every row, whatever its level."""
    row = source.below(sum(m.rows))
    last = sum(m.rows) - 1
    return row * m.buckets + m.inner.randomize(m.bucket(np.asarray(code), last), source)


def chosen_row(m: HashedPrefixes, code: Any, source: Any) -> Any:
    """Reports in a row that depends on the value."""
    drawn = source.below(sum(m.rows))
    row = (drawn + int(np.any(code))) % sum(m.rows)
    return row * m.buckets + m.inner.randomize(m.bucket(np.asarray(code), row), source)


def silent_other(m: HashedPrefixes, code: Any, source: Any) -> Any:
    """Draws nothing for what is no word."""
    if not np.any(code):
        return 0
    row = source.below(sum(m.rows))
    return row * m.buckets + m.inner.randomize(m.bucket(np.asarray(code), row), source)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [truthful, whole_code, chosen_row, silent_other], ids=lambda f: f.__name__)
@pytest.mark.parametrize("miniatures", [True, False])
def test_planted_faults_of_the_device_are_found(
    fault: Callable[..., Any], miniatures: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = sv.Survey(sv.words(alphabet="latin", longest=6), epsilon=1.0)
    honest = HashedPrefixes.randomize

    def device(m: HashedPrefixes, code: Any, source: Any) -> Any:
        return fault(m, code, source) if miniatures or m.bits > 8 else honest(m, code, source)

    monkeypatch.setattr(HashedPrefixes, "randomize", device)
    result = sv.audit(survey, samples=200, seconds=0.05)
    assert result.verdict == "broken"
    assert np.isinf(result.exact_epsilon)


def test_a_device_that_tells_capitals_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault before the mechanism: the survey states small letters, and a device keeps what was typed."""
    survey = sv.Survey(sv.words(longest=6), epsilon=1.0)
    honest = UnicodeCode._number
    kept = UnicodeCode(6, "keep")

    def number(code: UnicodeCode, value: object) -> int:
        return honest(kept, value) if isinstance(value, str) and value.isupper() else honest(code, value)

    monkeypatch.setattr(UnicodeCode, "_number", number)
    result = sv.audit(survey, samples=200, seconds=0.5)
    assert result.verdict == "broken"
    assert "becomes another input" in result.witness


def test_words_are_hidden_among_those_of_others() -> None:
    survey = sv.Survey(sv.words(alphabet="latin", longest=6), epsilon=2.0)
    small, large = survey.amplified(people=1_000, delta=1e-6), survey.amplified(people=100_000, delta=1e-6)
    assert large.epsilon < small.epsilon < 2.0


def test_random_words_are_words() -> None:
    rng = np.random.default_rng()
    for given in SURVEYS.values():
        code = Words.of(**given).code
        numbers = [random_word(code, rng) for _ in range(20)]
        assert all(code.admits(code.value(number)) for number in numbers)
        assert len(set(numbers)) > 1
