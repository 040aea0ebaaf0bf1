"""Options of `sottovoce estimate` for groups, side by side and compared, and for weighing to a known population."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.cli.arguments import refuse_options
from sottovoce.cli.output import console, print_json, written_files
from sottovoce.core.errors import SurveyError

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.estimates.estimate import Estimate
    from sottovoce.estimates.words.search import SearchRule
    from sottovoce.formats.sharded import ShardedAggregate

__all__ = [
    "add_group_options",
    "chosen_option",
    "deliver",
    "deliver_groups",
    "estimate_of_groups",
    "refuse_group_options",
    "wants_groups",
    "write_tables",
]

_OPTIONS = ("by", "compare", "weights")


def add_group_options(parser: Parser) -> None:
    """`--by`, `--compare`, and `--weights` with its `--method`."""
    group = parser.add_argument_group(
        "groups", "for a survey that states public groups; --weights also for the fields of a form"
    )
    group.add_argument("--by", metavar="NAME", help="the answers of every group that this variable makes, side by side")
    group.add_argument(
        "--compare", nargs=2, metavar="GROUP", help="the differences of two groups, with intervals and tests"
    )
    group.add_argument(
        "--weights",
        type=Path,
        metavar="FILE",
        help="weigh to a population by groups or private fields: a CSV file with the columns variable, value and share",
    )
    group.add_argument(
        "--method",
        metavar="NAME",
        help="how private fields are weighed: by regression (greg, the default) or by raking; groups are raked",
    )


def wants_groups(arguments: argparse.Namespace) -> bool:
    """Whether one of these options is given."""
    return any(getattr(arguments, name) is not None for name in (*_OPTIONS, "method"))


def refuse_group_options(arguments: argparse.Namespace, reason: str) -> None:
    """Refuse these options where they play no part."""
    refuse_options(arguments, reason, *_OPTIONS, "method")


def estimate_of_groups(totals: list[ShardedAggregate], rule: SearchRule | None) -> Estimate:
    """The estimate of a survey from the counts of its groups, each from files of its own."""
    whole = totals[0].survey.whole
    if any(total.survey.group is None for total in totals):
        raise SurveyError(
            "a file has the counts of all groups together: give one file for each group, each of its own survey"
        ).at("aggregate")
    return whole.estimate({total.survey.group: total.aggregate() for total in totals}, rule=rule)


_UNREAD = ("hostile", "sum", "likeliest", "words", "fixed")


def chosen_option(arguments: argparse.Namespace) -> str:
    """Which of these options is given; more than one is refused."""
    from sottovoce.cli.parser import UsageError

    if arguments.method is not None and arguments.weights is None:
        raise UsageError("--method says how --weights weighs: give both, or leave --method out")
    given = [name for name in _OPTIONS if getattr(arguments, name) is not None]
    if len(given) > 1:
        raise UsageError("give one of --by, --compare and --weights")
    return given[0]


def deliver_groups(arguments: argparse.Namespace, estimate: Estimate) -> None:
    """Print what was asked of the groups, as text or JSON, and write the files."""
    from sottovoce.estimates.comparing import compare
    from sottovoce.figures.style import save_figure
    from sottovoce.surveys.groups import typed_group

    option, level = chosen_option(arguments), arguments.level
    refuse_options(arguments, f"plays no part beside --{option}: leave it out", *_UNREAD)
    found: Any
    if option == "by":
        refuse_options(arguments, "names what --compare and --weights tell: leave it out", "word")
        found = estimate.by(arguments.by)
        given = () if arguments.top is None else (arguments.top,)
        text, plain = found.text(level, *given), found.to_dict(level, *given)
        write_tables(arguments, found, level)
        picture = partial(found.plot, *given, level=level)
    elif option == "compare":
        refuse_options(arguments, "is for --by: a comparison tells all answers", "top")
        pair = map(typed_group, arguments.compare)
        found = compare(estimate, *pair, answers=arguments.word, level=level)
        text, plain = str(found), found.to_dict()
        write_tables(arguments, found)
        picture = found.plot
    else:
        refuse_options(arguments, "is for --by and --compare: leave it out", "top", "csv", "parquet", "always")
        found = estimate.weighted(arguments.weights, answers=arguments.word, level=level, method=arguments.method)
        text, plain = str(found), found.to_dict()
        picture = found.plot
    if arguments.picture is not None:
        save_figure(picture().figure, arguments.picture)
    deliver(arguments, text, plain)


def write_tables(arguments: argparse.Namespace, found: Any, *how: Any) -> None:
    """Write the files that were asked for."""
    if arguments.csv is not None:
        found.to_csv(arguments.csv, *how)
    if arguments.parquet is not None:
        found.to_parquet(arguments.parquet, *how)


def deliver(arguments: argparse.Namespace, text: str, plain: dict[str, Any]) -> None:
    """Print text, or one JSON object that names the files written."""
    if arguments.json:
        print_json({**plain, **written_files(arguments)})
    else:
        console().print(text, markup=False, highlight=False, soft_wrap=True)
