"""`sottovoce amplify`: the central guarantee of a survey whose reports are shuffled, and of several together."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_integer, add_json, add_number
from sottovoce.cli.output import check_picture, console, print_json, titled_table, working

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.surveys.amplified import Amplified
    from sottovoce.surveys.composition import Composed
    from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["register"]

_DESCRIPTION = """\
Compute the central guarantee of a survey whose reports reach the collector only as a shuffled batch: an upper bound on
epsilon, proved by computation, and a lower bound beside it. It holds where the shuffler does not collude with the
collector; the local epsilon holds without that. With several surveys or --times, also that of all of them together, for
a person who answers each. Nothing is simulated.
"""

_EXAMPLES = """\
examples:
  sottovoce amplify survey.json                        with a relay: its smallest batch and its delta
  sottovoce amplify survey.json --people 1e5 --delta 1e-6   100,000 honest answers in one batch
  sottovoce amplify survey.json --people 1e5 --delta 1e-6 --picture central.png
  sottovoce amplify weekly.json --people 1e5 --delta 1e-6 --times 4      four windows of a tracking survey
  sottovoce amplify one.json other.json --people 1e5 --delta 1e-6 --json
"""

_METHODS = {
    "blanket": "by the mechanism's own channel",
    "clones": "by a bound for every mechanism",
    "local": "by the local guarantee: shuffling so few adds nothing",
}


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.add_argument(
        "surveys", type=Path, nargs="+", metavar="FILE", help="the survey's JSON; several for all of them"
    )
    parser.add_argument("--attachment", type=Path, metavar="FILE", help="the file that it names by digest, if any")
    add_integer(
        parser, "--people", "N", "honest answers in one batch (default: the smallest batch of the survey's relay)"
    )
    add_number(parser, "--delta", "D", "delta of the central guarantee (default: that of the survey's relay)")
    add_integer(parser, "--times", "K", "number of times that a person answers all of them", 1)
    parser.add_argument(
        "--picture", type=Path, metavar="PATH", help="also draw central against local epsilon, as .png, .svg or .pdf"
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    check_picture(arguments.picture)
    surveys = _surveys(arguments)
    with working("computing the certificate"):
        certificates = [survey.amplified(people=arguments.people, delta=arguments.delta) for survey in surveys]
        together = _together(certificates, arguments)
    if arguments.picture is not None:
        from sottovoce.figures.style import save_figure

        with working("drawing"):
            save_figure(certificates[0].plot().figure, arguments.picture)
    if arguments.json:
        drawn = {} if arguments.picture is None else {"picture": str(arguments.picture)}
        each = [
            {"survey": survey.id, "title": survey.title, **certificate.to_dict()}
            for survey, certificate in zip(surveys, certificates, strict=True)
        ]
        print_json({"surveys": each, "composed": None if together is None else together.to_dict(), **drawn})
        return 0
    _show(surveys, certificates, together)
    if arguments.picture is not None:
        console().print(f"{arguments.picture}: central against local epsilon", markup=False, soft_wrap=True)
    return 0


def _surveys(arguments: argparse.Namespace) -> list[Survey | Tracking]:
    """The surveys of the files; a panel is refused."""
    from sottovoce.cli.parser import UsageError
    from sottovoce.cli.survey_create import stated_in_file
    from sottovoce.core.errors import SurveyError
    from sottovoce.surveys.panel import Panel

    for option in ("attachment", "picture"):
        if len(arguments.surveys) > 1 and getattr(arguments, option) is not None:
            raise UsageError(f"--{option} is for one survey (see: sottovoce amplify --help)")
    surveys = [stated_in_file(path, arguments.attachment) for path in arguments.surveys]
    for path, survey in zip(arguments.surveys, surveys, strict=True):
        if isinstance(survey, Panel):
            raise SurveyError(
                f"{str(path)!r} is a panel, which has no certificate: each question waits for the answers before it, "
                "and a batch cannot; ask a survey of all queries at once, or a tracking survey"
            )
    return [survey for survey in surveys if not isinstance(survey, Panel)]


def _together(certificates: list[Amplified], arguments: argparse.Namespace) -> Composed | None:
    """What all of them together reveal, at the largest of their deltas; None for one survey that is answered once."""
    from sottovoce.surveys.composition import compose

    if len(certificates) == arguments.times == 1:
        return None
    return compose(certificates, delta=max(certificate.delta for certificate in certificates), times=arguments.times)


def _show(surveys: list[Survey | Tracking], certificates: list[Amplified], together: Composed | None) -> None:
    from rich.markup import escape

    from sottovoce.core.text import one_line
    from sottovoce.core.words import rounded_up

    out = console()
    table = titled_table(
        "what shuffled reports reveal of one person",
        "local: of one report by itself; central: of a batch, proved; at least: nothing below can be proved",
    )
    table.add_column("survey", no_wrap=True)
    table.add_column("title")
    for heading in ("local epsilon", "central epsilon", "at least", "delta", "honest answers"):
        table.add_column(heading, justify="right", no_wrap=True)
    for survey, certificate in zip(surveys, certificates, strict=True):
        table.add_row(
            survey.id[:12],
            escape(one_line(survey.title)),
            f"{certificate.local_epsilon:g}",
            f"[bold]{rounded_up(certificate.epsilon)}[/]",
            f"{certificate.lower:.3g}" if certificate.lower else "",
            f"{certificate.delta:g}",
            f"{certificate.n:,}",
        )
    out.print(table)
    if together is None:
        out.print(f"\n{certificates[0]}; proved {_METHODS[certificates[0].method]}.", markup=False)
    else:
        out.print(f"\nAll together: {together}.", markup=False)
    out.print((together or certificates[0]).assumption, markup=False, style="dim")
