"""Options of `sottovoce estimate` for how things are related, and for made-up records of a form."""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.cli.arguments import add_integer, refuse_options
from sottovoce.cli.estimate_groups import deliver

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.estimates.estimate import Estimate

__all__ = ["add_related_options", "deliver_related", "refuse_related_options", "wants_related"]

_OPTIONS = ("line", "correlation", "synthesize")
_RECORDS = 10_000
_UNREAD = ("hostile", "sum", "likeliest", "words", "word", "fixed", "top", "csv", "parquet", "by", "compare", "weights")


def add_related_options(parser: Parser) -> None:
    """`--line`, `--correlation`, and `--synthesize` with its `--records` and `--seed`."""
    group = parser.add_argument_group("relations, and forms with tables of pairs")
    group.add_argument(
        "--line",
        nargs="*",
        metavar="NAME",
        help="slopes with intervals: of a relation on these regressors (default: all); of a form the outcome, then "
        "what it depends on",
    )
    group.add_argument(
        "--correlation", nargs=2, metavar="NAME", help="the correlation of two fields, with its interval"
    )
    group.add_argument(
        "--synthesize",
        type=Path,
        metavar="PATH",
        help="write made-up records that agree with the tables of a form, as CSV; nobody's, and epsilon stays",
    )
    add_integer(group, "--records", "N", f"how many to make up (default: {_RECORDS:,})")
    add_integer(group, "--seed", "S", "the same seed makes up the same records (default: drawn, and told)")


def wants_related(arguments: argparse.Namespace) -> bool:
    """Whether one of these options is given."""
    return any(getattr(arguments, name) is not None for name in (*_OPTIONS, "records", "seed"))


def refuse_related_options(arguments: argparse.Namespace, reason: str) -> None:
    """Refuse these options where they play no part."""
    refuse_options(arguments, reason, *_OPTIONS, "records", "seed")


def deliver_related(arguments: argparse.Namespace, estimate: Estimate) -> None:
    """Print what was asked, as text or JSON, and write the files."""
    from sottovoce.cli.parser import UsageError

    given = [name for name in _OPTIONS if getattr(arguments, name) is not None]
    if len(given) != 1:
        raise UsageError("give one of --line, --correlation and --synthesize")
    refuse_options(arguments, f"plays no part beside --{given[0]}: leave it out", *_UNREAD)
    if given[0] != "synthesize":
        refuse_options(arguments, "is for --synthesize: leave it out", "records", "seed")
    found: Any = estimate  # a question's own estimates have what is asked here, and others say who has it
    if given[0] == "synthesize":
        refuse_options(arguments, "is for --line: leave it out", "picture")
        _synthesize(arguments, found)
        return
    if given[0] == "correlation":
        refuse_options(arguments, "is for --line: leave it out", "picture")
        answer = found.correlation(*arguments.correlation, level=arguments.level)
        deliver(arguments, str(answer), answer.to_dict())
        return
    names = arguments.line
    of_form = getattr(found, "regression", None)
    if of_form is not None and len(names) < 2:
        raise UsageError("--line of a form takes the outcome, and then what it depends on")
    line = found.line(*names) if of_form is None else of_form(names[0], on=names[1:])
    if arguments.picture is not None:
        from sottovoce.figures.style import save_figure

        save_figure(line.plot(level=arguments.level).figure, arguments.picture)
    deliver(arguments, line.text(arguments.level), line.to_dict(arguments.level))


def _synthesize(arguments: argparse.Namespace, estimate: Any) -> None:
    import secrets

    from sottovoce.core.files import check_file, write_file

    check_file(arguments.synthesize, "table")
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    made_up = estimate.synthesize(_RECORDS if arguments.records is None else arguments.records, seed)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(made_up.columns)
    writer.writerows(zip(*made_up.columns.values(), strict=True))
    write_file(arguments.synthesize, text.getvalue().encode())
    plain = {
        "label": made_up.label,
        "records": len(made_up),
        "seed": seed,
        "path": str(arguments.synthesize),
        "errors": [{**error._asdict(), "names": list(error.names)} for error in made_up.errors],
    }
    deliver(arguments, f"{made_up}\n{arguments.synthesize}: CSV, seed {seed}", plain)
