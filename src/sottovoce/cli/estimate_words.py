"""`sottovoce estimate` of a survey of words: how to search, the words found, and the shares of words that are named."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from sottovoce.cli.arguments import add_integer, add_number

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.estimates.estimate import Estimate
    from sottovoce.estimates.words.estimate import WordsEstimate
    from sottovoce.estimates.words.search import SearchRule
    from sottovoce.questions.base import Question

__all__ = ["add_words", "given_rule", "named_words", "refuse_words_options", "word_lines", "words_of"]

_OPTIONS: Final = ("word", "words", "false_discovery", "most_prefixes")


def add_words(parser: Parser) -> None:
    """Which words are asked for by name, and how others are searched for."""
    group = parser.add_argument_group("surveys of words")
    group.add_argument(
        "--word", action="append", metavar="WORD", help="also the share of this word; given again, of one more"
    )
    group.add_argument("--words", metavar="FILE", help="also the shares of these words: a text file, one per line")
    add_number(group, "--false-discovery", "P", "largest probability that any certain word is nobody's (default: 0.05)")
    add_integer(
        group, "--most-prefixes", "M", "prefixes kept at a level at most: a search takes time and memory for each"
    )


def refuse_words_options(arguments: argparse.Namespace, question: Question) -> None:
    """Options of words are for words, and those of listed answers are not."""
    from sottovoce.cli.parser import UsageError
    from sottovoce.questions.words import Words

    is_words = isinstance(question, Words)
    for name in ("sum", "likeliest") if is_words else _OPTIONS:
        if getattr(arguments, name):
            option = "--" + name.replace("_", "-")
            remedy = "use --word" if is_words else "leave it out"
            kind = "listed answers; this survey asks" if is_words else "surveys of words; this one does not ask"
            raise UsageError(f"{option} is for {kind} for words: {remedy}")


def given_rule(arguments: argparse.Namespace) -> SearchRule | None:
    """How to search, as the options say; None as usual."""
    from sottovoce.estimates.words.search import SearchRule

    names = ("false_discovery", "most_prefixes")
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return SearchRule(**given) if given else None


def named_words(arguments: argparse.Namespace, estimate: WordsEstimate) -> list[dict[str, Any]]:
    """The shares of the words that were named, in their order; one that is none of the survey's is refused."""
    from sottovoce.core.errors import SurveyError

    texts = [*(arguments.word or ()), *(_lines(arguments.words) if arguments.words else ())]
    code = words_of(estimate).survey.question.code
    values = [code.typed(text) for text in texts]
    wrong = next((place for place, value in enumerate(values, 1) if not code.admits(value)), 0)
    if wrong:
        raise SurveyError(f"number {wrong} of the named words is none of this survey; allowed: {code.allowed}").at(
            "word" if wrong <= len(arguments.word or ()) else "words"
        )
    return [one._asdict() for one in estimate.of_many(values, arguments.level)] if values else []


def _lines(name: str) -> list[str]:
    """The lines of a text file, without empty ones."""
    from sottovoce.lab.populations.words import read_lines

    return [line for line in read_lines(name, "words") if line.strip()]


def words_of(estimate: Estimate) -> WordsEstimate:
    """The estimate, which is of words."""
    from sottovoce.estimates.words.estimate import WordsEstimate

    assert isinstance(estimate, WordsEstimate)
    return estimate


def word_lines(found: dict[str, Any], level: float) -> list[str]:
    """What is to be known about a list of words, below its table."""
    told, other = found["words"], found["words"]["other"]
    wrong, chance = f"{100 * told['false_discovery']:.3g} %", f"{told['expected_doubtful']:.3g}"
    lines = [
        f"certain: that any of the words found is nobody's has a probability of at most {wrong}; of the others, about "
        f"{chance} are expected by chance",
        f"other, for what is no word of this survey: {other['value']:.4f}, {100 * level:g} % from "
        f"{other['low']:.4f} to {other['high']:.4f}",
        f"intervals: {found['method']}",
    ]
    if "named" in found:
        lines.append(
            "a named word is judged as one that was chosen without looking at the list: of one that you chose from the "
            "list, quote what the list says"
        )
    lines.append(found["influence"]["statement"])
    if told["cut"]:
        lines.append("some prefixes were dropped for want of memory: see --most-prefixes")
    return lines
