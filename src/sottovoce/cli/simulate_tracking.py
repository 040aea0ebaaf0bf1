"""`sottovoce simulate KIND --histories FILE`: a tracking survey of people whose values over time are known."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.cli.estimate_curve import add_curve, curve_answers, curve_page, draw_curve
from sottovoce.cli.output import console, print_json, progress, working
from sottovoce.cli.survey_options import add_calendar, given_calendar, given_design, people_of_a_period

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.lab.populations.histories import RecordedHistories
    from sottovoce.questions.base import Question
    from sottovoce.surveys.survey import Tracking

__all__ = ["add_histories", "refuse_tracking_options", "simulate_histories"]


def add_histories(parser: Parser) -> None:
    """A file of histories, the calendar and what to show of the curve."""
    parser.add_argument(
        "--histories",
        type=Path,
        metavar="FILE",
        help="a tracking survey of the people of a CSV or Parquet file: a column per period, or person,period,value; "
        "with --users, so many people drawn from them",
    )
    add_calendar(parser)
    add_curve(parser)
    parser.add_argument("--picture", type=Path, metavar="PATH", help="also write the curve, as .png, .svg or .pdf")


def refuse_tracking_options(arguments: argparse.Namespace, *, needs_users: bool = True) -> None:
    """Without histories there are no periods to simulate."""
    from sottovoce.cli.parser import UsageError

    curve = arguments.answer is not None or arguments.smooth or arguments.picture is not None
    if curve or given_calendar(arguments):
        raise UsageError("periods are simulated from --histories FILE: give it, or leave the options of periods out")
    if needs_users and arguments.users is None:
        raise UsageError("the following arguments are required: --users")


def simulate_histories(question: Question, arguments: argparse.Namespace) -> int:
    """Everybody draws a period and answers then; the curve stands beside the truth."""
    from sottovoce.cli.output import check_picture
    from sottovoce.estimates.intervals import check_level
    from sottovoce.lab.populations.histories import read_histories
    from sottovoce.lab.simulation.repeats import seeds_of
    from sottovoce.surveys.calendar import Calendar
    from sottovoce.surveys.survey import Survey

    check_picture(arguments.picture)
    check_level(arguments.level)
    recorded = read_histories(arguments.histories)
    stated = given_calendar(arguments)
    if not {"periods", "renews"} & set(stated):
        stated["periods"] = len(recorded.periods)
    own, drawn = (None, None) if arguments.seed is None else seeds_of(arguments.seed, 2)
    if arguments.users is not None:
        recorded = recorded.resampled(arguments.users, drawn)
    users = people_of_a_period(recorded.people, Calendar.of(**stated))
    with working("comparing designs"):
        tracking = Survey.tracking(question, arguments.epsilon, users=users, **stated, **given_design(arguments))
    values = _values(tracking, recorded)
    histories = [values(number) for number in range(1, len(recorded.periods) + 1)]
    with progress("simulating", recorded.people) as advance:
        curve = tracking.estimate(tracking.simulate(histories, seed=own, progress=advance))
    draw_curve(arguments, curve)
    answers, truth = curve_answers(arguments, curve), _truth(tracking, recorded)
    if not arguments.json:
        console().print(curve_page(curve, answers, arguments.level, smooth=arguments.smooth, truth=truth))
        return 0
    curves = [curve.to_dict(answer, arguments.level, arguments.smooth) for answer in answers]
    if truth is not None:
        for found in curves:
            for point in found["points"]:
                point["truth"] = truth(found["answer"], point["period"])
    head = {"survey": tracking.id, "kind": "tracking", "people": recorded.people, "seed": arguments.seed}
    print_json({**head, "curves": curves})
    return 0


def _values(tracking: Tracking, recorded: RecordedHistories) -> Callable[[int], Any]:
    """The values of all people in a period."""
    import numpy as np

    parsed = [tracking.parse(text) for text in recorded.texts]
    plain = all(isinstance(one, (str, int, float)) for one in parsed)
    table = np.array(parsed) if plain else None

    def of(number: int) -> Any:
        column = recorded.held[:, number - 1]
        return table[column] if table is not None else [parsed[at] for at in column.tolist()]

    return of


def _truth(tracking: Tracking, recorded: RecordedHistories) -> Callable[[str, int], float] | None:
    """The true value of an answer in a period, where values can be listed or are numbers."""
    import numpy as np

    from sottovoce.questions.number import Number
    from sottovoce.workloads.base import Workload

    question = tracking.question
    if isinstance(question, Number):
        numbers = np.array([float(text) for text in recorded.texts])
        return lambda answer, number: float(recorded.shares(number) @ numbers) if answer == "mean" else float("nan")
    domain = question.domain
    if domain is None or not isinstance(question.workload, Workload):
        return None
    places = [domain.index(tracking.parse(text)) for text in recorded.texts]
    workload = question.workload

    def of(answer: str, number: int) -> float:
        shares = np.bincount(places, weights=recorded.shares(number), minlength=domain.size)
        return float(workload.matvec(shares)[question.find(answer)])

    return of
