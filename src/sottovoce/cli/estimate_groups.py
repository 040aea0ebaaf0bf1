"""Options of `sottovoce estimate` for groups, side by side and compared, and for weighing to a known population."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.cli.arguments import refuse_options
from sottovoce.cli.output import console, print_json

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.estimates.estimate import Estimate

__all__ = ["add_group_options", "deliver_groups", "refuse_group_options", "wants_groups"]

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


def deliver_groups(arguments: argparse.Namespace, estimate: Estimate) -> None:
    """Print what was asked of the groups, as text or JSON, and write the picture."""
    from sottovoce.cli.parser import UsageError
    from sottovoce.estimates.comparing import compare

    if arguments.method is not None and arguments.weights is None:
        raise UsageError("--method says how --weights weighs: give both, or leave --method out")
    if sum(getattr(arguments, name) is not None for name in _OPTIONS) > 1:
        raise UsageError("give one of --by, --compare and --weights")
    found: Any
    if arguments.by is not None:
        found = estimate.by(arguments.by)
        plain = {value: one.to_dict(arguments.level) for value, one in found.items()}
        _show(arguments, found, {"by": arguments.by, "groups": plain})
        return
    if arguments.compare is not None:
        found = compare(estimate, *arguments.compare, level=arguments.level, always=arguments.always or None)
    else:
        found = estimate.weighted(arguments.weights, level=arguments.level, method=arguments.method)
    _show(arguments, found, found.to_dict())
    if arguments.picture is not None:
        from sottovoce.figures.style import save_figure

        save_figure(found.plot().figure, arguments.picture)


def _show(arguments: argparse.Namespace, found: Any, plain: dict[str, Any]) -> None:
    if arguments.json:
        print_json(plain)
    else:
        console().print(str(found), markup=False, highlight=False, soft_wrap=True)
