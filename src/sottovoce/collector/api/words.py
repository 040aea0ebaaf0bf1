"""The shares of single words, from all reports of a survey of words so far."""

from __future__ import annotations

from typing import Annotated, Final, cast

from msgspec import Meta

from sottovoce.collector.api.reading import answerable_survey, holds_at_every_look, searched
from sottovoce.collector.api.service import Service
from sottovoce.estimates.words.estimate import WordEstimate
from sottovoce.protocol.base import Level, Looks, SurveyId
from sottovoce.protocol.estimates import AnswerRow, Word, WordsAnswer, WordsAsked
from sottovoce.questions.base import Question
from sottovoce.service.http.route import route
from sottovoce.service.refusal import Refusal

__all__ = ["ROUTES"]

_MOST_IN_ADDRESS: Final = 10
"""Words in an address; a body takes more."""

_MAX_BYTES: Final = 2**24

_ABOUT: Final = {
    "scopes": ("read",),
    "errors": {
        409: "there are too few reports, or the survey does not ask for words, or its rounds or periods have them",
        422: "a given value is not a word of this survey; `field` and the message say which one",
        503: "too many requests are in progress, or the database is unavailable; try again later",
    },
}

Asked = Annotated[
    list[Word],
    Meta(min_length=1, max_length=_MOST_IN_ADDRESS, description="a word, given again for every further one"),
]


@route("GET", "/v1/surveys/{survey_id}/words", **_ABOUT)
async def get_words(
    service: Service, survey_id: SurveyId, word: Asked, level: Level = 0.95, always: Looks = "0"
) -> WordsAnswer:
    """The share of people with each of these words, with intervals, from all reports so far."""
    return await _shares(service, survey_id, word, level, always, "word")


@route("POST", "/v1/surveys/{survey_id}/words", max_bytes=_MAX_BYTES, **_ABOUT)
async def ask_words(service: Service, survey_id: SurveyId, body: WordsAsked) -> WordsAnswer:
    """The share of people with each word of a longer list, with intervals; nothing is stored."""
    return await _shares(service, survey_id, body.words, body.level, body.always, "words")


async def _shares(
    service: Service, survey_id: str, texts: list[str], level: float, always: str, field: str
) -> WordsAnswer:
    record, survey = await service.wait_for_store(answerable_survey, service, survey_id)
    if not survey.question.is_searched:
        message = f"survey {record.id[:12]} does not ask for words: its answers are listed, see its estimate"
        raise Refusal(409, "survey_not_of_words", message)
    values = _values(survey.question, texts, field)
    estimate = await searched(service, record, survey)
    watched = await service.wait_for_store(holds_at_every_look, service, record, always)
    return await service.compute(_answer, cast(WordEstimate, estimate.watched(watched)), values, level)


def _values(question: Question, texts: list[str], field: str) -> list[object]:
    """The words that were typed; none of them is repeated in a refusal."""
    values = []
    for number, text in enumerate(texts, 1):
        value = question.parse(text)
        if not question.admits(value):
            message = f"number {number} of the given words is not a word of this survey; allowed: {question.allowed}"
            raise Refusal(422, "invalid_word", message, field=field)
        values.append(value)
    return values


def _answer(estimate: WordEstimate, values: list[object], level: float) -> WordsAnswer:
    rows = [AnswerRow(**answer.row()) for answer in estimate.of_many(values, level)]
    return WordsAnswer(estimate.survey.id, estimate.n_reports, level, rows)


ROUTES: Final = (get_words, ask_words)
