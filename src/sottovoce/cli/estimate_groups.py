"""Options of `sottovoce estimate` for surveys with groups: side by side, compared, and weighed to a population."""

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
    """`--by`, `--compare` and `--weights`."""
    group = parser.add_argument_group("groups", "for a survey that states public groups; one of these")
    group.add_argument("--by", metavar="NAME", help="the answers of every group that this variable makes, side by side")
    group.add_argument(
        "--compare", nargs=2, metavar="GROUP", help="the differences of two groups, with intervals and tests"
    )
    group.add_argument(
        "--weights",
        type=Path,
        metavar="FILE",
        help="weigh groups to a population: a CSV file with the columns variable, value and share",
    )


def wants_groups(arguments: argparse.Namespace) -> bool:
    """Whether one of these options is given."""
    return any(getattr(arguments, name) is not None for name in _OPTIONS)


def refuse_group_options(arguments: argparse.Namespace, reason: str) -> None:
    """Refuse these options where they play no part."""
    refuse_options(arguments, reason, *_OPTIONS)


def deliver_groups(arguments: argparse.Namespace, estimate: Estimate) -> None:
    """Print what was asked of the groups, as text or JSON, and write the picture."""
    from sottovoce.cli.parser import UsageError
    from sottovoce.estimates.comparing import compare

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
        found = estimate.weighted(arguments.weights, level=arguments.level)
    _show(arguments, found, found.to_dict())
    if arguments.picture is not None:
        from sottovoce.figures.style import save_figure

        save_figure(found.plot().figure, arguments.picture)


def _show(arguments: argparse.Namespace, found: Any, plain: dict[str, Any]) -> None:
    if arguments.json:
        print_json(plain)
    else:
        console().print(str(found), markup=False, highlight=False, soft_wrap=True)
