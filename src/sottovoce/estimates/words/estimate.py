"""An estimate of words that nobody listed: those that were found, and the share of any one that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.answer import Answer
from sottovoce.core.calls import with_clear_calls
from sottovoce.core.entries import entries_of
from sottovoce.core.errors import SurveyError, UnknownAnswerError
from sottovoce.core.extras import import_pandas
from sottovoce.core.limits import check_integer
from sottovoce.core.progress import steps
from sottovoce.core.words import guarantee, plural
from sottovoce.domain.words.codes import WordCode
from sottovoce.estimates.arms import Arms
from sottovoce.estimates.asked import AskedSurvey
from sottovoce.estimates.combinations import weights_by
from sottovoce.estimates.covariance import rows_of
from sottovoce.estimates.estimate import Estimate, SearchProgress
from sottovoce.estimates.influence import Influence
from sottovoce.estimates.intervals import Interval, check_level
from sottovoce.estimates.watched import Always, check_always, level_of_look, look_note, refuse_so_far
from sottovoce.estimates.words.covariance import word_covariance
from sottovoce.estimates.words.influence import intrusions, word_influence
from sottovoce.estimates.words.intervals import chosen_words, raw_share, selected_interval, word_arms
from sottovoce.estimates.words.search import FoundWord, SearchRule, WordSearch, search_words
from sottovoce.figures.bars import plot_answers
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.projections.checks import Projected
from sottovoce.projections.simplex import project_capped

__all__ = ["OTHER", "WordAnswer", "WordAnswers", "WordEstimate"]

OTHER = "other"
"""The label of all values that are not words of the survey."""


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class WordAnswer(Answer):
    """A word with its share, and whether it is certain that people have it."""

    certain: bool

    row_fields: ClassVar[tuple[str, ...]] = (*Answer.row_fields, "certain")

    @property
    def shown_label(self) -> str:
        """The word, with a question mark if it may be there by chance."""
        return self.label if self.certain else f"{self.label} (?)"


@final
@dataclass(frozen=True, eq=False)
class WordAnswers(Sequence[WordAnswer]):
    """Answers for many words as columns; a sequence of `WordAnswer`.

    Examples
    --------
    >>> import numpy as np
    >>> numbers = np.array([0.25, 0.0])
    >>> found = WordAnswers(["tea", "coffee"], numbers, numbers, numbers, numbers, numbers > 0, "", 0.95)
    >>> len(found), found[0].label, [one.certain for one in found]
    (2, 'tea', [True, False])
    """

    labels: list[str]
    value: NDArray[np.float64]
    raw: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    certain: NDArray[np.bool_]
    method: str
    level: float

    def columns(self) -> dict[str, NDArray[Any]]:
        """All columns but the labels."""
        return {name: getattr(self, name) for name in WordAnswer.row_fields[1:]}

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            columns: dict[str, Any] = {name: column[index] for name, column in self.columns().items()}
            return WordAnswers(self.labels[index], **columns, method=self.method, level=self.level)
        return self._answer(self.labels[index], *(column[index].item() for column in self.columns().values()))

    def __iter__(self) -> Iterator[WordAnswer]:
        rows = zip(self.labels, *(column.tolist() for column in self.columns().values()), strict=True)
        return (self._answer(*row) for row in rows)

    def _answer(self, *row: Any) -> WordAnswer:
        shared: dict[str, Any] = {"method": self.method, "level": self.level, "is_share": True}
        return WordAnswer(**dict(zip(WordAnswer.row_fields, row, strict=True)), **shared)

    def __repr__(self) -> str:
        return f"<answers for {plural(len(self), 'word')}, {int(self.certain.sum()):,} of them certain>"

    def to_pandas(self) -> Any:
        """A DataFrame indexed by label. Needs pandas."""
        pd = import_pandas()
        return pd.DataFrame(self.columns(), index=pd.Index(self.labels, name="label"))


Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class WordEstimate(Estimate):
    """The words found, the most common first, as answers; and `of` and `of_many` for any others.

    Attributes
    ----------
    search
        How the words were found.

    Examples
    --------
    >>> import sottovoce as sv
    >>> survey = sv.Survey(sv.words(8, "latin"), epsilon=4.0, people=10_000)
    >>> estimate = survey.estimate(survey.simulate(["tea"] * 6000 + ["coffee"] * 4000, seed=1))
    >>> estimate.labels(), estimate.certain.tolist()
    (['tea', 'coffee'], [True, True])
    >>> answer = estimate.of("cocoa")
    >>> answer.low, answer.high < 0.05
    (0.0, True)
    """

    search: WordSearch | None = None

    describes: ClassVar[str] = "words"

    @classmethod
    def from_counts(
        cls,
        survey: AskedSurvey,
        counts: Any,
        n_reports: int,
        *,
        rule: SearchRule | None = None,
        progress: SearchProgress | None = None,
    ) -> Self:
        """Find the common words in the counts of a survey.

        Values are the raw shares projected on those that are at least 0 and add up to at most 1.
        """
        if rule is not None and not isinstance(rule, SearchRule):
            raise SurveyError("rule must be a SearchRule, or None").at("rule")
        if progress is not None and not callable(progress):
            raise SurveyError("progress must be a function of the steps done and of how many, or None").at("progress")
        mechanism: HashedPrefixes = survey.mechanism  # type: ignore[assignment]
        tallies = survey.design.read(counts, n_reports)
        with steps("searching for words") as shown:

            def show(done: int, of: int) -> None:
                shown.say(f"searching for words: {100 * done // max(1, of)} %")

            search = search_words(tallies, survey.question.code, rule, progress or show)
        raw = raw_share(mechanism, [word.supporting for word in search.found], [word.trials for word in search.found])
        projected = project_capped(raw, 1) if len(raw) else Projected(raw.copy(), 0.0)
        columns = projected.values, projected.gap, survey.bound(n_reports)
        return cls(survey, n_reports, raw, *columns, None, tallies.counts.ravel(), search=search)

    # --- the words found -----------------------------------------------------------------------

    @property
    def _search(self) -> WordSearch:
        if self.search is None:
            raise SurveyError("an estimate of words comes with its search; make it with survey.estimate").at("search")
        return self.search

    @property
    def _mechanism(self) -> HashedPrefixes:
        mechanism: HashedPrefixes = self.survey.mechanism  # type: ignore[assignment]
        return mechanism

    @property
    def _code(self) -> WordCode:
        code: WordCode = self.survey.question.code
        return code

    @property
    def found(self) -> tuple[FoundWord, ...]:
        """The words found, the most common first, with the evidence for each."""
        return self._search.found

    def label(self, index: int) -> str:
        return self._code.shown(self.found[index].value)

    def labels(self) -> list[str]:
        return [self._code.shown(word.value) for word in self.found]

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Whether each word found is certain: that any such is nobody's has probability `false_discovery` at most."""
        return np.array([word.certain for word in self.found], dtype=bool)

    @cached_property
    def standard_errors(self) -> Floats:
        """Standard error of every raw share, including the sampling of people and shared buckets (plug-in)."""
        support = self._mechanism.support
        effects = [self._search.levels[word.level].shared.design_effect for word in self.found]
        pairs = zip(np.clip(self.raw, 0, 1), self.found, effects, strict=True)
        errors = np.array([float(effect * support.variance(f, word.trials)) ** 0.5 for f, word, effect in pairs])
        errors.flags.writeable = False
        return errors

    def interval(self, level: float = 0.95, simultaneous: bool = False, always: bool | str | None = None) -> Interval:
        """Confidence intervals of the words found, each given that it was found; see `word_intervals`.

        Intervals that hold at every look are those of one look, at the level of each.
        """
        check_level(level)
        if not isinstance(simultaneous, bool):
            raise SurveyError("simultaneous must be True or False").at("simultaneous")
        kind = self.always if always is None else check_always(always)
        key = level, bool(simultaneous), kind
        if key not in self._intervals:
            one_look = self._level_of_look(level, kind)
            interval = selected_interval(self._mechanism, self._search, one_look, simultaneous)
            note = "" if kind is None else look_note(kind)
            self._intervals[key] = Interval(interval.low, interval.high, interval.method + note)
        return self._intervals[key]

    def _level_of_look(self, level: float, kind: Always | None) -> float:
        if kind is None:
            return level
        if kind == "so far":
            raise refuse_so_far("which reports are about a word is drawn by chance, so there is no interval")
        return level_of_look(level, self.n_reports)

    def _answer(self, index: int, level: float) -> WordAnswer:
        return WordAnswer(**self._parts(index, level), certain=self.found[index].certain)

    # --- any word ------------------------------------------------------------------------------

    def of(self, word: Any, level: float = 0.95) -> WordAnswer:
        """The share of people with one word, chosen without looking at the answers, with its interval."""
        if not self._code.admits(word):
            raise UnknownAnswerError(f"this is not a word of this survey; allowed: {self._code.allowed}").at("word")
        answer: WordAnswer = self.of_many([word], level)[0]
        return answer

    def of_many(self, words: Iterable[Any], level: float = 0.95, skip_invalid: bool = False) -> WordAnswers:
        """`of` for many words, in their order, as columns.

        Words are normalised as devices do. `certain` holds for all words of one call together: that any called so is
        nobody's has probability `false_discovery` at most, if they were chosen without looking at the answers. The more
        are asked for, the more evidence it takes, so that a word may be certain alone and not among a million.

        Parameters
        ----------
        skip_invalid
            Leave out values that are not words of this survey, instead of raising an error.
        """
        check_level(level)
        if isinstance(words, str | bytes):
            raise SurveyError("words must be a list of words; for a single one use of").at("words")
        given = entries_of(words)
        rows, labels = self._code.labelled_rows(given.tolist() if isinstance(given, np.ndarray) else list(given))
        words_there: NDArray[np.bool_] = np.asarray(rows.any(axis=1))
        if skip_invalid:
            labels = [label for label, there in zip(labels, words_there.tolist(), strict=True) if there]
            rows = np.ascontiguousarray(rows[words_there])
        elif not words_there.all():
            raise UnknownAnswerError(
                f"the candidate at position {int(np.argmin(words_there))} is not a word of this survey; allowed: "
                f"{self._code.allowed}; skip_invalid=True leaves such candidates out"
            ).at("words")
        return self._answers(labels, rows, level)

    def _answers(self, labels: list[str], rows: NDArray[np.uint8], level: float) -> WordAnswers:
        one_look = self._level_of_look(level, self.always)
        raw, low, high, certain = chosen_words(self._mechanism, self._code, self._search, rows, one_look)
        # A word found may owe its support to another word: its tail says so.
        sure = self._search.rule.false_discovery / max(1, len(labels))
        weak = {word.code.tobytes() for word in self.found if word.tail > sure}
        for row in np.flatnonzero(certain).tolist():
            certain[row] = rows[row].tobytes() not in weak
        method = self.interval(level).method
        return WordAnswers(labels, raw.clip(low, high), raw, low, high, certain, method, level)

    @with_clear_calls('estimate.covariance(["tea", "coffee"])')
    def covariance(self, weights: Any = None) -> Floats:
        """The covariance of the raw shares of words, or of weighted sums of them, as `of_many` gives these shares.

        Words in a list, mappings of words to numbers, a list of such, or an array with one column per word found. Words
        should be chosen without looking at the answers; those found by default. From the reports that support two words
        at once: see `sottovoce.estimates.words.covariance`.
        """
        counted = weights is None or (isinstance(weights, np.ndarray) and weights.dtype.kind in "fiu")
        named = [word.value for word in self.found] if counted else _words_in(weights)
        codes = {row.tobytes(): row for row in map(self._code.row, named) if row.any()}
        places = {key: place for place, key in enumerate(codes)}

        def find(word: Any) -> int:
            place = places.get(self._code.row(word).tobytes())
            if place is None:
                raise UnknownAnswerError(f"this is not a word of this survey; allowed: {self._code.allowed}")
            return place

        size = len(codes)
        rows = rows_of(weights, size, lambda given: weights_by(find, size, given, "weights"), lambda: np.eye(size))
        if not size:
            return np.zeros((len(rows), len(rows)))
        stacked = np.stack(list(codes.values()))
        return np.asarray(rows @ word_covariance(self._mechanism, self._code, self._search, stacked) @ rows.T)

    @cached_property
    def other(self) -> WordAnswer:
        """The share of people whose value is not a word of this survey, with its 95 % interval."""
        return self._other(0.95)

    def _other(self, level: float) -> WordAnswer:
        nothing = np.zeros((1, self._code.row_bytes), dtype=np.uint8)
        answer: WordAnswer = self._answers([OTHER], nothing, level)[0]
        return answer

    def __getitem__(self, name: object) -> WordAnswer:
        """The answer for one word: as it is listed if it was found, and by `of` if not."""
        index = self._listed_index(name)
        return self.of(name) if index is None else self._answer(index, 0.95)

    def __contains__(self, name: object) -> bool:
        """Whether the word was found."""
        return self._listed_index(name) is not None

    def _listed_index(self, name: object) -> int | None:
        row = self._code.row(name)
        same = (index for index, word in enumerate(self.found) if word.code.tobytes() == row.tobytes())
        return next(same, None) if row.any() else None

    def _beside(self, whole: Self, most: int, level: float) -> list[Answer]:
        """The words found in this group: those of everybody were chosen by looking at its reports too."""
        return self._first(most, level)

    def _arms(self, picked: Sequence[Any], level: float, beside: Any) -> Arms:
        """Named words; there is no process that holds at every look, since known words change as reports come in."""
        rows, _ = self._code.labelled_rows([self.survey.question.parse(word.name) for word in picked])
        return word_arms(self._mechanism, self._code, self._search, rows, level)

    # --- malicious devices -----------------------------------------------------------------------

    def influence(self, hostile: int | float = 0.01) -> Influence:
        """How far malicious devices can move the share of a listed word, and how many bring a word onto the list."""
        return word_influence(self._mechanism, self._code, self._search, self.n_reports, hostile)

    # --- other forms -------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"<estimate of {plural(len(self), 'word')} found in {plural(self.n_reports, 'report')}, "
            f"{int(self.certain.sum()):,} of them certain, {guarantee(self.epsilon, self.delta)}>"
        )

    def summary(self, level: float = 0.95) -> dict[str, Any]:
        """The summary that every estimate has, with how words were found, the share of others, and the influence."""
        search, other = self._search, self._other(level)
        return {
            **super().summary(level),
            "words": {
                "false_discovery": search.rule.false_discovery,
                "expected_doubtful": search.rule.doubtful * sum(level.candidates > 0 for level in search.levels),
                "other": {name: getattr(other, name) for name in ("value", "raw", "low", "high")},
                "prefixes_kept": list(search.kept),
                "candidates": search.candidates,
                "cut": search.cut,
                "hostile_devices": intrusions(self._mechanism, self._code, search, self.n_reports),
            },
        }

    def columns(self, level: float = 0.95) -> dict[str, NDArray[Any]]:
        """The words found as columns: value, raw, low, high and certain, the most common first."""
        return {**super().columns(level), "certain": self.certain}

    def plot(self, ax: Any = None, k: int | None = None, level: float = 0.95, doubtful: bool = False) -> Any:
        """Bars of the k most common words, 20 by default and 200 at most; returns the matplotlib axes.

        Words that may be there by chance are drawn only if `doubtful` is true.
        """
        if not isinstance(doubtful, bool):
            raise SurveyError("doubtful must be True or False").at("doubtful")
        words = self._sorted(level, doubtful)
        shown = words[: check_integer("k", 20 if k is None else k, 1, 2**53)]
        note = "; (?) may be there by chance" if doubtful and not self.certain.all() else ""
        return plot_answers(shown, self._caption(level) + note, ax, total=len(words), title=self.survey.title)

    def _summary(self, most: int) -> tuple[list[Answer], int]:
        """The certain words; the others, which may be there by chance, are counted in the last line."""
        certain: list[Answer] = [*self._sorted(0.95, False)]
        return certain[:most], len(certain[most:])

    def _sorted(self, level: float, doubtful: bool) -> list[WordAnswer]:
        """The words found, the most common first; those that may be there by chance if asked for."""
        order = np.argsort(-self.shown(level), kind="stable").tolist()
        return [self._answer(at, level) for at in order if doubtful or self.found[at].certain]

    def _caption(self, level: float) -> str:
        doubtful = int((~self.certain).sum())
        also = f"; {plural(doubtful, 'word')} more that may be there by chance" if doubtful else ""
        return super()._caption(level) + also


def _words_in(weights: Any) -> list[Any]:
    """All words that weights name, each once or more often."""
    if isinstance(weights, str | bytes) or not isinstance(weights, Iterable):
        return [weights]
    if isinstance(weights, Mapping):
        return list(weights)
    return [word for one in weights for word in (one if isinstance(one, Mapping) else [one])]
