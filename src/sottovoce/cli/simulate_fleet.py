"""`sottovoce simulate fleet`: many simulated devices answer a running collector over the real wire."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sottovoce.cli import INTERRUPTED
from sottovoce.cli.arguments import Commands, add_json, number, whole_number
from sottovoce.cli.connection import shown
from sottovoce.cli.output import console, print_json, progress, titled_table
from sottovoce.plural import counted

if TYPE_CHECKING:
    from sottovoce.fleet import Sent

__all__ = ["register"]

_DESCRIPTION = """\
Drive simulated devices that answer a survey of a running collector, each once. Some are full devices, with a ledger
of their own, that send one report a request; the reports of the others arrive in batches, as through a relay. When
the collector is busy or away, the same bytes are sent again later. The rounds of a panel are answered as
they open, by those who have drawn them, until all are over, the time has passed, or Ctrl-C.
"""

_EXAMPLES = """\
SURVEY is an id, the beginning of one, or a title. Distributions are those of 'sottovoce simulate distribution';
people of a survey of means are those of 'sottovoce simulate mean'.

examples:
  sottovoce simulate fleet --url http://127.0.0.1:8470 --survey Colours --users 1e5
  sottovoce simulate fleet --url http://127.0.0.1:8470 --survey 3f2a9c41 --users 1e6 --singles 0 --seed 7 --truth t.json
  sottovoce simulate fleet --url http://127.0.0.1:8470 --survey Music --users 1e5 --seconds 600 --json
"""

_ENDED: Final = {
    "done": "",
    "sealed": "the survey was sealed before everybody had answered",
    "time": "the time was over before everybody had answered",
    "interrupted": "interrupted before everybody had answered",
}


def register(kinds: Commands) -> None:
    """Add the kind."""
    parser = kinds.add_parser(
        "fleet", help="devices that answer a running collector", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument("--url", required=True, metavar="URL", help="address of the collector")
    parser.add_argument("--survey", required=True, metavar="SURVEY", help="which survey; see below")
    parser.add_argument("--users", type=whole_number, required=True, metavar="N", help="how many devices answer")
    parser.add_argument(
        "--singles", type=whole_number, default=200, metavar="K", help="devices that send by themselves (default: 200)"
    )
    parser.add_argument(
        "--batch", type=whole_number, default=1000, metavar="B", help="reports in a relay's batch (default: 1000)"
    )
    parser.add_argument("--distribution", default="zipf", metavar="D", help="of people's values (default: zipf)")
    parser.add_argument(
        "--resend", type=whole_number, default=0, metavar="R", help="send so many batches twice (default: 0)"
    )
    parser.add_argument("--seconds", type=number, metavar="T", help="stop after so long (default: when all is done)")
    parser.add_argument(
        "--seed", type=whole_number, metavar="S", help="for the same people again (default: a fresh one)"
    )
    parser.add_argument("--truth", type=Path, metavar="FILE", help="write what a perfect estimate would say, as JSON")
    parser.add_argument("--insecure", action="store_true", help="allow plain http to another machine")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce import fleet
    from sottovoce.fleet.find import survey_id_of

    survey_id = survey_id_of(arguments.url, arguments.survey, insecure=arguments.insecure)
    with progress("answering", max(1, arguments.users), "devices") as advance:
        sent = fleet.run(
            arguments.url,
            survey_id,
            arguments.users,
            singles=arguments.singles,
            batch=arguments.batch,
            distribution=arguments.distribution,
            seed=arguments.seed,
            resend=arguments.resend,
            seconds=arguments.seconds,
            insecure=arguments.insecure,
            progress=advance,
        )
    if arguments.truth is not None:
        _write(arguments.truth, sent)
    if arguments.json:
        print_json(sent.to_dict())
    else:
        _show(sent)
    return INTERRUPTED if sent.ended == "interrupted" else 0


def _write(path: Path, sent: Sent) -> None:
    from sottovoce.errors import SimulationError

    answers = [{"label": label, "truth": value} for label, value in sent.truth]
    told: dict[str, Any] = {"survey": sent.survey, "kind": sent.kind, "users": sent.users, "answers": answers}
    problem = ""
    try:
        path.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        problem = error.strerror or "it cannot be opened"
    if problem:
        raise SimulationError(f"the truth cannot be written to {str(path)!r}: {problem}; the reports were sent")


def _show(sent: Sent) -> None:
    table = titled_table(
        f"{counted(sent.users, 'simulated device')}, survey {sent.survey[:12]} ({sent.kind})", f"seed {sent.seed}"
    )
    table.add_column("reports")
    table.add_column("", justify="right", style="bold")
    table.add_row("accepted", f"{sent.accepted:,}")
    table.add_row("  one by one, from devices with a ledger", f"{sent.singles:,}")
    table.add_row(f"  in {counted(sent.batches, 'batch', 'batches')}", f"{sent.accepted - sent.singles:,}")
    for code, n in sent.refused.items():
        table.add_row(f"refused: {shown(code)}", f"[red]{n:,}[/]")
    if sent.resent:
        table.add_row("sent twice, and acknowledged again", f"{sent.resent:,}")
    if sent.rounds:
        table.add_row("rounds answered", ", ".join(str(one) for one in sent.rounds))
    if sent.waits:
        table.add_row("times the collector was busy or away", f"{sent.waits:,}")
    table.add_row("reports a second", f"{sent.rate:,.0f}")
    out = console()
    out.print(table)
    if _ENDED[sent.ended]:
        out.print(_ENDED[sent.ended])
