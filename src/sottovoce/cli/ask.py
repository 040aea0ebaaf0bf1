"""`sottovoce ask`: ask the devices of a panel one question and show the answer."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_integer, add_number
from sottovoce.cli.connection import CONNECTION, SURVEY, add_connection, connected, shown
from sottovoce.cli.output import Advance, console, print_json, progress, titled_table, working
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from sottovoce.adaptive.history import AnyAnswer
    from sottovoce.adaptive.session import Session
    from sottovoce.adaptive.state import SessionState
    from sottovoce.cli.parser import Parser

__all__ = ["register"]

_DESCRIPTION = """\
Ask the next question of a panel: open its next round, wait for the devices of that round, close it, and estimate the
answer. A question may depend on all earlier answers. Ctrl-C leaves the round open; the same command resumes it, and
nobody is asked twice.
"""

_EXAMPLES = f"""\
A round ends once --reports are counted or after --seconds, whichever comes first, but never before the collector's
minimum number of reports. The documentation describes questions under 'expressions'.

{CONNECTION}
examples:
  sottovoce ask People "age < 30" --reports 10_000
  sottovoce ask People "age < 30 and country in ('FR', 'DE')" --seconds 3600
  sottovoce ask People "find(country, ('FR', 'DE'))" --choices France,Germany,other --reports 1e4 --json
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.add_argument("survey", metavar="SURVEY", help=SURVEY)
    parser.add_argument("question", metavar="QUESTION", help="an expression over a person's record")
    add_integer(parser, "--reports", "N", "close the round after this number of reports")
    add_number(parser, "--seconds", "S", "close the round after this time")
    parser.add_argument(
        "--choices",
        metavar="C",
        help="ask for the distribution over these choices: names separated by commas, or their number",
    )
    add_number(parser, "--level", "P", "confidence level of the intervals", 0.95)
    add_connection(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.estimates.intervals import check_level
    from sottovoce.expressions import query
    from sottovoce.surveys.panel import Panel

    check_level(arguments.level)
    asked = query(arguments.question)
    live = connected(arguments).survey(arguments.survey)
    if isinstance(live.survey, Panel):
        asked.check(live.survey.domain)  # report an error before waiting for devices
    session = live.session(reports=arguments.reports, seconds=arguments.seconds, finish=False)
    _refuse_other_choices(session.state, asked.text, arguments.choices)
    try:
        answer = None
        if session.state.opened is not None:
            with _waiting(arguments, "finishing the open round") as advance:
                answer = session.finish(progress=advance)
        finished = answer is not None
        if answer is None or not _is_same(answer, asked.text, arguments.choices):
            with _waiting(arguments, "waiting for reports") as advance:
                answer = _ask(session, arguments, advance)
            finished = False
    except KeyboardInterrupt:
        left_open = len(session.history) + 1
        sys.stderr.write(f"round {left_open} stays open on the collector; the same command resumes it\n")
        raise
    if arguments.json:
        result = {"survey": live.id, "answer": answer.to_dict(arguments.level), "finished": finished}
        print_json({**result, "history": session.history.to_dicts(arguments.level), "remaining": session.remaining})
    else:
        _show(session, live.survey.title, arguments.level)
    return 0


def _waiting(arguments: argparse.Namespace, words: str) -> AbstractContextManager[Advance]:
    """A progress bar if the number of reports is known."""
    return _counting(words) if arguments.reports is None else progress(words, arguments.reports, "reports")


@contextmanager
def _counting(words: str) -> Iterator[Advance]:
    """A counter, for a wait of unknown length."""
    count = 0
    with working(words) as tell:

        def advance(more: int) -> None:
            nonlocal count
            count += more
            tell(f"{words}: {count:,} so far; Ctrl-C leaves the round open")

        yield advance


def _choices(text: str) -> int | list[str]:
    return int(text) if text.isdecimal() and len(text) < 10 else [name.strip() for name in text.split(",")]


def _refuse_other_choices(state: SessionState, question: str, choices: str | None) -> None:
    """An open round that asks the same question for other choices is not the one that is resumed."""
    from sottovoce.adaptive.answer import n_choices, seat_of
    from sottovoce.core.errors import SessionError

    if choices is None or state.opened is None or seat_of(state.opened).query.text != question:
        return
    size = n_choices(state.opened)
    if size and _choices(choices) != (list(state.opened_labels) or size):
        named = ",".join(state.opened_labels) or str(size)
        raise SessionError(
            f"round {seat_of(state.opened).round} asks this question already, with --choices {shown(named)}: resume it "
            "with these, and ask for other choices after it"
        ).at("choices")


def _is_same(answer: AnyAnswer, question: str, choices: str | None) -> bool:
    """Whether the round that was open asked the same question."""
    from sottovoce.adaptive.answer import RoundAnswer

    return answer.query == question and isinstance(answer, RoundAnswer) == (choices is None)


def _ask(session: Session, arguments: argparse.Namespace, advance: Advance) -> AnyAnswer:
    if arguments.choices is None:
        return session.ask(arguments.question, progress=advance)
    return session.choose(arguments.question, _choices(arguments.choices), progress=advance)


def _show(session: Session, title: str, level: float) -> None:
    history = session.history
    panel = session.panel
    left = plural(session.remaining, "round")
    table = titled_table(
        f"{shown(title) or panel.id[:12]}: {len(history):,} of {plural(panel.rounds, 'round')} asked, epsilon "
        f"{panel.epsilon:g}",
        f"each interval holds for one question; {left} left",
    )
    table.add_column("round", justify="right")
    table.add_column("question", overflow="fold")
    table.add_column("answer", justify="right", style="bold")
    table.add_column(f"{100 * level:g} % interval", justify="right")
    table.add_column("reports", justify="right")
    for answer in history.to_dicts(level):
        lines = answer.get("choices", [answer])
        for line in lines or [{}]:
            label = f": {line['label']}" if "label" in line else ""
            value = f"{line['value']:.4f}" if "value" in line else "nobody answered"
            ends = f"{line['low']:.4f} to {line['high']:.4f}" if "low" in line else ""
            table.add_row(f"{answer['round']}", shown(answer["query"] + label), value, ends, f"{answer['n_reports']:,}")
    console().print(table)
