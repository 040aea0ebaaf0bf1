"""Words: which words, byte strings or integers do people have? Nobody lists them beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.answer import Answer
from sottovoce.core.entries import entries_of
from sottovoce.core.errors import SimulationError, SurveyError
from sottovoce.core.words import plural
from sottovoce.domain.words.code import CASES
from sottovoce.domain.words.codes import ALPHABETS, LONGEST, WordCode, code_from_statement, word_code
from sottovoce.domain.words.trials import WordTrials
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.series import PickedAnswer
from sottovoce.estimates.words.estimate import WordEstimate
from sottovoce.estimates.words.recall import Recall, RecallGoal
from sottovoce.questions.base import Question
from sottovoce.questions.invented_words import WordPeople
from sottovoce.questions.parameter import Parameter, clear_question
from sottovoce.questions.people import People
from sottovoce.strategies.words.recall import WordRecall
from sottovoce.workloads.words import OneWord

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import Panel

__all__ = ["Words", "words"]


@clear_question('sv.words(longest=12, alphabet="latin")')
def words(longest: int = 16, alphabet: str = "unicode", *, case: str = "lower", below: int | None = None) -> Words:
    """The question for words that nobody listed: an estimate finds the common ones, and the share of any word.

    Parameters
    ----------
    longest
        The most characters of a word, or bytes. Longer words, empty ones and invalid text answer as "other".
    alphabet
        "unicode", "latin", "digits", "hexadecimal", "ascii", "bytes", or a string of the characters. The fewer
        characters, the fewer levels, and the rarer the long words that are found.
    case
        "lower" to count words in small letters, "keep" to tell capital letters apart.
    below
        Instead of words, integers from 0 to below this, at most 2**64.

    Examples
    --------
    >>> words(longest=16, alphabet="latin").code.bits
    80
    """
    return Words.of(longest=longest, alphabet=alphabet, case=case, below=below)


@final
@dataclass(frozen=True, repr=False)
class Words(Question):
    """The most common words, found without a list; and the share of any word, asked afterwards.

    A value is normalised as the survey states. A value that is not a word then, or is too long, answers as "other".

    Examples
    --------
    >>> question = Words.of(longest=16, alphabet="latin")
    >>> question.code.bits, question.code.admits(" Covid "), question.code.admits("日本")
    (80, True, False)
    """

    code: WordCode

    kind: ClassVar[str] = "words"
    called: ClassVar[str] = "In their own words"
    summary: ClassVar[str] = "the most common words, without a list of them"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "longest",
            "integer",
            "the most characters of a word; longer ones answer as other",
            "16",
            default=16,
            low=1,
            high=LONGEST,
        ),
        Parameter(
            "alphabet",
            "alphabet",
            f"unicode, {', '.join(ALPHABETS)}, bytes, or the characters themselves",
            "latin",
            default="unicode",
            choices=("unicode", *ALPHABETS, "bytes"),
        ),
        Parameter("case", "choice", "what becomes of capital letters", "lower", default="lower", choices=CASES),
        Parameter(
            "below", "integer", "instead of words, integers below this", "1000000", optional=True, low=2, high=2**64
        ),
    )
    strategies: ClassVar[tuple[str, ...]] = ("prefixes",)
    goals: ClassVar[tuple[Parameter, ...]] = (
        Parameter("share", "number", "share of people with a word that is to be found; instead of an error", "0.01"),
        Parameter("probability", "number", "probability with which it is to be found (default: 0.9)", "0.9"),
    )
    is_searched: ClassVar[bool] = True
    projected_on: ClassVar[str] = "shares that add up to at most one"
    held: ClassVar[str] = "the one word that a person answers, whichever it is"

    def __post_init__(self) -> None:
        if not isinstance(self.code, WordCode):
            raise SurveyError("code must be a WordCode; use sottovoce.words").at("code")

    @classmethod
    def _of(cls, **given: Any) -> Self:
        return cls(word_code(given["alphabet"], given["longest"], given["case"], given.get("below")))

    @classmethod
    def _fields(cls) -> tuple[str, ...]:
        return ("code",)

    @classmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        return cls(code_from_statement(statement["code"]))

    def _statement(self) -> dict[str, Any]:
        return {"code": self.code.to_statement()}

    @cached_property
    def workload(self) -> OneWord:
        return OneWord(self.code)

    @property
    def domain(self) -> None:
        return None

    def private_input(self, value: object) -> NDArray[np.uint8]:
        """The value's code; that of "other" for a value that is not a word, since an error would reveal something."""
        return self.code.row(value)

    def parse(self, text: str) -> object:
        return self.code.typed(text)

    def admits(self, value: object) -> bool:
        """Whether the value is a word of the survey, and not answered as "other"."""
        return self.code.admits(value)

    def audit_trials(self) -> WordTrials:
        return WordTrials(self.code)

    def people(self, values: Any) -> People:
        rows = self.code.rows(entries_of(values))
        return People(len(rows), lambda start, stop: rows[start:stop])

    def people_of_histogram(self, histogram: ArrayLike) -> NoReturn:
        """Always refused: words are not listed, so there is no number of people with each."""
        raise SimulationError("words cannot be counted by value; give values, one word per person").at("histogram")

    @property
    def answers_are_shares(self) -> bool:
        return True

    @property
    def listed_by_size(self) -> bool:
        return True

    def invented_people(self) -> WordPeople:
        return WordPeople.invented(self.code)

    def people_of_lines(self, lines: Iterable[str]) -> WordPeople:
        return WordPeople.of_lines(self.code, lines)

    @property
    def values_text(self) -> str:
        return f"any word that fits into {plural(self.code.bits, 'bit')}; what does not answers as other"

    @property
    def allowed(self) -> str:
        return self.code.allowed

    def goal(self, **given: object) -> RecallGoal:
        return RecallGoal.of(**given)

    def recall(self, design: Any, people: int, goal: RecallGoal | None = None) -> Recall | None:
        """The probability that a word is found, by its share."""
        return None if design is None else Recall(WordRecall(design.mechanism, self.code, people), goal or RecallGoal())

    @property
    def estimate_class(self) -> type[WordEstimate]:
        return WordEstimate

    def _followed(self, answer: str | int | None) -> PickedAnswer:
        """The share of one word, which is named by itself."""
        value = self.parse(answer) if isinstance(answer, str) else answer
        if value is None or not self.admits(value):
            raise SurveyError(
                f"answer must be a word of this survey, such as one that an estimate of a period found; allowed: "
                f"{self.allowed}"
            ).at("answer")

        def share(estimate: Estimate, level: float) -> Answer:
            answer: Answer = estimate.of(value, level)
            return answer

        return PickedAnswer(self.shown(value), "", share, None, (0.0, 1.0), is_share=True)

    def followed_names(self, latest: Estimate | None, most: int) -> list[str]:
        """The words that are most common at the end."""
        return [] if latest is None else latest.labels()[:most]

    def compared_names(self) -> list[str]:
        """Always refused: words that were found by the same reports would differ too much by chance."""
        raise SurveyError(
            "name the words that are compared, chosen without looking at these estimates, for example "
            'answers=["tea", "coffee"]'
        ).at("answers")

    def panels(self, n_answers: int) -> list[Panel]:
        from sottovoce.workloads.pictures import Bars

        return [Bars("share of people with each word", 0, n_answers, shares=True)]

    def _find(self, name: object) -> int:
        """Words have no numbers."""
        raise SurveyError("words are not listed: ask an estimate for the share of one, with estimate.of(word)")

    def shown(self, value: object) -> str:
        """A word as it is counted and shown, once it is normalised; `code.admits` says whether it is one."""
        return self.code.label(value)

    def label(self, index: int) -> str:
        return self.workload.name(index)
