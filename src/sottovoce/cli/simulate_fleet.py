"""`sottovoce simulate fleet`: simulated devices that answer a running collector over HTTP."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sottovoce.cli import INTERRUPTED
from sottovoce.cli.arguments import Commands, add_integer, add_json, add_number
from sottovoce.cli.connection import shown
from sottovoce.cli.output import console, print_json, progress, titled_table
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from sottovoce.lab.fleet import Sent

__all__ = ["register"]

_DESCRIPTION = """\
Simulate devices that answer a survey of a running collector, each once. Some are full devices, with their own ledger,
that send one report per request; the reports of the others arrive in batches, as from an application's server. If the
collector is busy or unavailable, the same bytes are sent again later. The rounds of a panel are answered as they open,
until all are closed, the time is over, or Ctrl-C.
"""

_EXAMPLES = """\
SURVEY is an id, the beginning of one, or a title. Populations and vectors are those of 'sottovoce simulate shares'
and 'sottovoce simulate vector'.

examples:
  sottovoce simulate fleet --url http://127.0.0.1:8470 --survey Colours --people 1e5
  sottovoce simulate fleet --url http://127.0.0.1:8470 --survey 3f2a9c41 --people 1e6 --singles 0 --seed 7
  sottovoce simulate fleet --url http://127.0.0.1:8470 --survey Music --people 1e5 --seconds 600 --json
"""

_ENDED: Final = {
    "done": "",
    "sealed": "the survey was sealed before everybody had answered",
    "time": "the time limit was reached before everybody had answered",
    "interrupted": "interrupted before everybody had answered",
}


def register(kinds: Commands) -> None:
    """Add the kind."""
    parser = kinds.add_parser(
        "fleet", help="simulated devices that answer a running collector", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument("--url", required=True, metavar="URL", help="address of the collector")
    parser.add_argument("--survey", required=True, metavar="SURVEY", help="survey to answer; see below")
    add_integer(parser, "--people", "N", "number of devices", required=True)
    add_integer(parser, "--singles", "K", "number of full devices", 200)
    add_integer(parser, "--batch", "B", "reports per batch", 1000)
    parser.add_argument(
        "--population", default="zipf", metavar="P", help="distribution of people's values (default: zipf)"
    )
    add_integer(parser, "--resend", "R", "number of batches to send twice", 0)
    add_number(parser, "--seconds", "T", "time limit (default: none)")
    add_integer(parser, "--seed", "S", "seed, to repeat a simulation (default: random)")
    parser.add_argument("--truth", type=Path, metavar="FILE", help="write the true answers as JSON")
    parser.add_argument("--insecure", action="store_true", help="allow plain http to another machine")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.core.files import check_file, write_file
    from sottovoce.lab import fleet
    from sottovoce.lab.fleet.drive import survey_id_of

    if arguments.truth is not None:
        check_file(arguments.truth, "truth")
    survey_id = survey_id_of(arguments.url, arguments.survey, insecure=arguments.insecure)
    with progress("answering", max(1, arguments.people), "devices") as advance:
        sent = fleet.run(
            arguments.url,
            survey_id,
            arguments.people,
            singles=arguments.singles,
            batch=arguments.batch,
            distribution=arguments.population,
            seed=arguments.seed,
            resend=arguments.resend,
            seconds=arguments.seconds,
            insecure=arguments.insecure,
            progress=advance,
        )
    if arguments.truth is not None:
        write_file(arguments.truth, _truth(sent))
    if arguments.json:
        print_json(sent.to_dict())
    else:
        _show(sent)
    return INTERRUPTED if sent.ended == "interrupted" else 0


def _truth(sent: Sent) -> str:
    """What a perfect estimate would say, as JSON."""
    answers = [{"label": label, "truth": value} for label, value in sent.truth]
    stated = {"survey": sent.survey, "kind": sent.kind, "people": sent.people, "answers": answers}
    return json.dumps(stated, ensure_ascii=False, indent=1) + "\n"


def _show(sent: Sent) -> None:
    table = titled_table(
        f"{plural(sent.people, 'simulated device')}, survey {sent.survey[:12]} ({sent.kind})", f"seed {sent.seed}"
    )
    table.add_column("reports")
    table.add_column("", justify="right", style="bold")
    table.add_row("accepted", f"{sent.accepted:,}")
    table.add_row("  from full devices, one per request", f"{sent.singles:,}")
    table.add_row(f"  in {plural(sent.batches, 'batch', 'batches')}", f"{sent.accepted - sent.singles:,}")
    for code, n in sent.refused.items():
        table.add_row(f"refused: {shown(code)}", f"[red]{n:,}[/]")
    if sent.resent:
        table.add_row("sent twice and acknowledged again", f"{sent.resent:,}")
    if sent.rounds:
        table.add_row("rounds answered", ", ".join(str(number) for number in sent.rounds))
    if sent.waits:
        table.add_row("times the collector was busy or unavailable", f"{sent.waits:,}")
    table.add_row("reports per second", f"{sent.rate:,.0f}")
    out = console()
    out.print(table)
    if _ENDED[sent.ended]:
        out.print(_ENDED[sent.ended])
