"""Making surveys: any question by `ask`, and a friendly name for each kind of question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, Unpack

from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import DEFAULT_COUNTERS, DEFAULT_REPORT_BYTES, DEFAULT_USERS, check_dimension
from sottovoce.core.words import plural
from sottovoce.domain import Domain
from sottovoce.expressions import Query
from sottovoce.expressions import query as as_query
from sottovoce.mechanisms.binary import Binary
from sottovoce.questions.base import Question
from sottovoce.questions.choices import Choices
from sottovoce.questions.number import Number
from sottovoce.questions.queries import Queries
from sottovoce.questions.records import Records
from sottovoce.questions.shares import Shares
from sottovoce.questions.vector import Vector
from sottovoce.questions.words import Words
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.options import Criterion
from sottovoce.strategies.setting import AUTO, Setting
from sottovoce.surveys.choosing import Asking, NamedMechanism, design_for
from sottovoce.surveys.panel import Panel, Seat
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.statement import check_title
from sottovoce.surveys.terms import Terms
from sottovoce.workloads.ball import Ball
from sottovoce.workloads.base import Workload

__all__ = ["Constructors"]


@dataclass(frozen=True, repr=False)
class Constructors(Terms):
    """The constructors of `Survey`."""

    @classmethod
    def ask(
        cls,
        question: Question,
        epsilon: float,
        delta: float = 0.0,
        *,
        strategy: str | Strategy = AUTO,
        mechanism: NamedMechanism = AUTO,
        users: int = DEFAULT_USERS,
        max_report_bytes: int = DEFAULT_REPORT_BYTES,
        max_counters: int = DEFAULT_COUNTERS,
        criterion: Criterion = "l2",
        title: str = "",
        seat: Seat | None = None,
        relay: Relay | None = None,
    ) -> Self:
        """Ask any question.

        Parameters
        ----------
        question
            One of `sottovoce.questions`.
        epsilon
            The privacy parameter: any two values give any report with probabilities within a factor e**epsilon.
        delta
            0 for pure epsilon-LDP; the `gaussian` mechanism needs a small positive delta.
        strategy, mechanism
            Names, or "auto" for the least expected error of all usable designs; `explain` gives the reason. A strategy
            may also be an object of `sottovoce.strategies`, which includes its mechanism; a mechanism for values may be
            an object or class of your own, see "Adding a mechanism".
        users
            The expected number of people, for which the design is chosen; any number may answer.
        max_report_bytes
            Maximum length of a report. A mechanism that is named may exceed it.
        max_counters
            Maximum number of integers of the aggregate, for the mechanism "codebook". With fewer than `users` needs,
            people share rotations, which adds error; aggregates too large for one process are counted in shards by
            `sottovoce.engines`.
        criterion
            The error by which designs are compared: "l2" over all answers, or the "margin" of the worst answer.
        relay
            A relay that all reports go through, which makes the central guarantee much better than epsilon.
        """
        check_title(title)
        if not isinstance(question, Question):
            raise SurveyError("question must be one of sottovoce.questions, for example Shares(40)").at("question")
        setting = Setting(question.workload, epsilon, delta, users, AUTO, AUTO, max_report_bytes, max_counters)
        return cls(question, design_for(question, setting, strategy, mechanism, criterion), title, seat, relay=relay)

    @classmethod
    def distribution(
        cls, domain: object, epsilon: float, mechanism: NamedMechanism = AUTO, **others: Unpack[Asking]
    ) -> Self:
        """Ask how people are distributed over a domain, under pure epsilon-LDP.

        Parameters
        ----------
        domain
            Labels, an integer size, a range, a mapping of named attributes, or a `Domain`.
        mechanism
            A name, an object or a class, or "auto"; as for `ask`.
        others
            As for `ask`.
        """
        return cls.ask(Shares(domain), epsilon, mechanism=mechanism, **others)  # type: ignore[arg-type]

    @classmethod
    def queries(
        cls,
        workload: Workload,
        epsilon: float,
        delta: float = 0.0,
        mechanism: NamedMechanism = AUTO,
        **others: Unpack[Asking],
    ) -> Self:
        """Ask for the mean answers to a fixed set of linear queries.

        Parameters
        ----------
        workload
            The queries, one of `sottovoce.workloads`.
        others
            As for `ask`; `strategy` is "direct", "factorized", "optimized", "hierarchical", "haar", "fourier",
            "histogram" or "auto".
        """
        return cls.ask(Queries(workload), epsilon, delta, mechanism=mechanism, **others)

    @classmethod
    def mean(
        cls,
        dimension: int,
        radius: float,
        epsilon: float,
        delta: float = 0.0,
        mechanism: str = AUTO,
        *,
        clip: bool = False,
        labels: Sequence[str] = (),
        **others: Unpack[Asking],
    ) -> Self:
        """Ask for the mean of people's vectors, each of norm at most `radius`; a vector of one number may be a number.

        A device moves a vector outside the ball to the nearest point of the ball, since a refusal would reveal
        something. A simulation refuses such a vector, so that a wrong radius is noticed, unless `clip` is True.
        `labels` name the coordinates in estimates. Neither `clip` nor `labels` is part of the survey. `others` are as
        for `ask`.

        Examples
        --------
        >>> from sottovoce import Survey
        >>> survey = Survey.mean(2, radius=5.0, epsilon=4.0, labels=["height", "width"])
        >>> estimate = survey.estimate(survey.simulate([[3.0, 4.0]] * 50_000, seed=1))
        >>> round(estimate["width"].value, 1)
        4.0
        """
        ball = _named(dimension, radius, labels) if len(labels) else None
        return cls.ask(Vector(dimension, radius, clip, ball), epsilon, delta, mechanism=mechanism, **others)

    @classmethod
    def words(
        cls,
        longest: int = 16,
        alphabet: str = "unicode",
        *,
        epsilon: float,
        case: str = "lower",
        below: int | None = None,
        **others: Unpack[Asking],
    ) -> Self:
        """Ask for words that nobody listed: an estimate finds the common ones, and tells the share of any word.

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
        others
            As for `ask`.
        """
        question = Words.of(longest=longest, alphabet=alphabet, case=case, below=below)
        return cls.ask(question, epsilon, **others)

    @classmethod
    def choices(
        cls,
        options: object,
        epsilon: float,
        most: int | None = None,
        mechanism: str = AUTO,
        **others: Unpack[Asking],
    ) -> Self:
        """Ask which options people tick, under pure epsilon-LDP; a person's value is a set of options.

        Parameters
        ----------
        options
            Labels, an integer number of options, or a range.
        most
            How many options a person may tick; all by default. The error grows with it.
        others
            As for `ask`.

        Examples
        --------
        >>> from sottovoce import Survey
        >>> survey = Survey.choices(["bus", "tram", "bike", "car"], most=2, epsilon=1.0)
        >>> reports = survey.simulate([{"bus", "tram"}] * 6000 + [{"bike"}] * 3000 + [set()] * 1000, seed=1)
        >>> estimate = survey.estimate(reports)
        >>> estimate.values.round(1)
        array([0.6, 0.6, 0.3, 0. ])
        """
        listed = Domain.of(options)
        question = Choices(listed, listed.size if most is None else most)
        return cls.ask(question, epsilon, mechanism=mechanism, **others)

    @classmethod
    def number(
        cls,
        low: float,
        high: float,
        epsilon: float,
        unit: str = "",
        wants: str = "mean",
        points: int | None = None,
        **others: Unpack[Asking],
    ) -> Self:
        """Ask for the mean of a number between two ends; or its spread, or its distribution.

        Numbers outside the ends are clipped, on devices and in simulations.

        Parameters
        ----------
        unit
            Of the number, and of the answers.
        wants
            "mean"; "spread" for the mean and the standard deviation; or "distribution" for the curve, quantiles, the
            histogram and the mean, each less precise.
        points
            Grid points, or bins of a distribution; as many as suit by default.
        others
            As for `ask`.

        Examples
        --------
        >>> from sottovoce import Survey
        >>> survey = Survey.number(low=0, high=600, unit="minutes", epsilon=1.0)
        >>> estimate = survey.estimate(survey.simulate([90.0] * 5000 + [30.5] * 5000, seed=1))
        >>> mean = estimate.mean()
        >>> mean.low < 60.25 < mean.high, mean.high - mean.low < 30
        (True, True)
        """
        return cls.ask(Number.of(low=low, high=high, unit=unit, wants=wants, points=points), epsilon, **others)

    @classmethod
    def records(
        cls,
        attributes: Mapping[str, Any],
        tables: int = 2,
        *,
        epsilon: float,
        **others: Unpack[Asking],
    ) -> Self:
        """Ask for the tables of a record's attributes, from one report per person.

        Parameters
        ----------
        attributes
            Names, each with its values as for `distribution`, or a number: `sottovoce.number(0, 600, "minutes")`.
        tables
            The most attributes of a table: 1 for every attribute alone, 2 for all pairs too.
        others
            As for `ask`.
        """
        return cls.ask(Records(attributes, tables), epsilon, **others)

    @staticmethod
    def adaptive(domain: object, rounds: int, epsilon: float, *, radius: float = 1.0, title: str = "") -> Panel:
        """A panel: questions in sequence, each chosen after the answers before it.

        Parameters
        ----------
        domain
            The possible records, as for `distribution`; products of up to 2**63 records.
        rounds
            Maximum number of questions. Everybody answers one of them, drawn once: more rounds mean fewer people per
            round.
        radius
            Values of queries must stay within [-radius, radius].
        """
        return Panel(Domain.of(domain), rounds, epsilon, radius, title)

    @classmethod
    def round(cls, panel: Panel, number: int, query: Query | str, size: int | None = None, *, title: str = "") -> Self:
        """One round of a panel: the mean of a query or, with `size`, its distribution over 0 .. size-1.

        Examples
        --------
        >>> from sottovoce import Survey
        >>> panel = Survey.adaptive({"age": range(100), "country": ["DE", "FR"]}, rounds=5, epsilon=1.0)
        >>> Survey.round(panel, 1, "country == 'FR'").question.kind
        'vector'
        >>> Survey.round(panel, 2, "age // 10", size=10).question.kind
        'shares'
        """
        seat = Seat(panel, number, as_query(query))
        if size is None:
            return cls.ask(seat.mean(), panel.epsilon, mechanism=Binary.name, title=title, seat=seat)
        return cls.ask(seat.choice(size), panel.epsilon, title=title, seat=seat)


def _named(dimension: int, radius: float, labels: Sequence[str]) -> Ball:
    """The ball whose coordinates have these names."""
    expected = check_dimension(dimension)
    texts = [] if isinstance(labels, str) else [label for label in labels if isinstance(label, str) and label]
    if len(labels) != expected or len(set(texts)) != expected:
        many = plural(expected, "different text")
        raise SurveyError(f"labels must be {many}, one for each coordinate").at("labels")
    return Ball(dimension, radius, tuple(texts))
