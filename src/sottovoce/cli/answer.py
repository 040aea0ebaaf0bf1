"""`sottovoce answer`: answer one survey as a device does, and show what that cost."""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_json, add_number
from sottovoce.cli.device_options import add_allowed, add_device, device_settings, one_line_errors
from sottovoce.cli.output import print_json
from sottovoce.core.limits import DEFAULT_CAP

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.device import Device, Receipt

__all__ = ["register"]

_DESCRIPTION = """\
Answer a survey as a device does: fetch it, verify its signature, check the budget, randomize the value here, record
the report, send it. Run again, it sends the same bytes until they have arrived, and never draws a second report.
A survey with a calendar is answered in this device's own period: before that, nothing is drawn, and the command says
when to come back. The report of a survey that states a relay goes to that relay only, sealed so that it cannot read it.
"""

_EXAMPLES = """\
SURVEY is an id, the first eight or more digits of one, or a title. VALUE is a label, a number, a record such as
age=31,country=FR, several choices such as tea,water (or '' for none), a word, or a vector such as 0.5,-1,2; "-" reads
it from standard input, where other users of this machine cannot see it. Write -- before a value that begins with a
dash. In a survey of words, a value that is not a word of the survey is answered as "other", and the report does not
reveal that.

examples:
  sottovoce answer http://127.0.0.1:8470 Colours red
  sottovoce answer https://stats.example.org 3f2a9c41 age=31,country=FR --budget 4
  echo red | sottovoce answer https://stats.example.org Colours - --otherwise blue --json
  sottovoce answer https://stats.example.org Sleep yes --calendar sleep.ics
  sottovoce answer https://stats.example.org Colours red --relay https://relay.example.org --insist-on-relay

exit status: 0 if the report has arrived (at the relay, if the survey states one), its period or round has not come, or
renewals are refused; 2 otherwise.
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.hides_words = True
    parser.add_argument("url", metavar="URL", help="address of the collector")
    parser.add_argument("survey", metavar="SURVEY", help="id of the survey, the beginning of one, or a title")
    parser.add_argument("value", metavar="VALUE", help="the private value, or - to read it from standard input")
    parser.add_argument(
        "--group",
        metavar="GROUP",
        help="the group that the report is sent for, in the open, of a survey with groups: B, or arm=B,platform=web",
    )
    parser.add_argument(
        "--otherwise", metavar="VALUE", help="send this value for any value outside the domain (default: refuse those)"
    )
    parser.add_argument("--key", metavar="KEY", help="the collector's public key (default: trust the first one seen)")
    add_number(parser, "--cap", "E", "largest epsilon of one survey", DEFAULT_CAP)
    add_device(parser)
    add_allowed(parser)
    parser.add_argument(
        "--refuse-renewals",
        action="store_true",
        help="answer a survey that renews in one window at most, now and in future",
    )
    parser.add_argument(
        "--calendar", type=Path, metavar="FILE", help="write this device's next period of the survey to an .ics file"
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.device import Device

    settings = {"cap": arguments.cap, "allow_mechanisms": arguments.allow_mechanism, **device_settings(arguments)}
    with one_line_errors(), Device(arguments.store, key=arguments.key, **settings) as device:
        receipt = _answer(device, arguments)
        written = None if arguments.calendar is None else _write_calendar(receipt, arguments.calendar)
        _show(device, receipt, written, as_json=arguments.json)
    return 0 if receipt.state in ("sent", "waiting", "declined") else 2


def _line(raw: bytes) -> str:
    """A line decoded as command lines are: bytes that are not UTF-8 are kept, and are in no domain."""
    return raw.rstrip(b"\r\n").decode("utf-8", "surrogateescape")


def _answer(device: Device, arguments: argparse.Namespace) -> Receipt:
    from sottovoce.device import REFUSE
    from sottovoce.surveys.groups import typed_group

    survey_id = device.find(arguments.url, arguments.survey)
    if arguments.refuse_renewals:
        device.refuse_renewals(survey_id)
    if device.is_answered(survey_id):
        return device.answer(arguments.url, survey_id, None)
    survey = device.survey(arguments.url, survey_id)
    otherwise = REFUSE if arguments.otherwise is None else survey.parse(arguments.otherwise)

    def value(period: object) -> object:
        text = _line(sys.stdin.buffer.readline()) if arguments.value == "-" else arguments.value
        return survey.parse(text)

    group = None if arguments.group is None else typed_group(arguments.group)
    return device.answer(arguments.url, survey_id, value, group=group, otherwise=otherwise)


def _write_calendar(receipt: Receipt, path: Path) -> str:
    """Write the device's coming period, and say so; a file that is there is replaced."""
    from datetime import UTC, datetime

    from sottovoce.core.errors import SurveyError
    from sottovoce.device.turns import calendar_file

    period = receipt.period if receipt.state in ("waiting", "due") else receipt.after
    if period is None:
        return f"no period of this survey is to come for this device; {path} was not written"
    content = calendar_file(receipt.survey, receipt.title, receipt.collector, period, datetime.now(UTC))
    try:
        # It says when this person answers, which only they should know.
        with open(path, "wb", opener=partial(os.open, mode=0o600)) as file:
            file.write(content.encode())
    except OSError as error:
        problem = error.strerror or "it cannot be written"
        raise SurveyError(f"{path}: {problem}; choose another file for --calendar") from error
    return f"this device's period ({period.label}) was written to {path}"


def _show(device: Device, receipt: Receipt, written: str | None, *, as_json: bool) -> None:
    ledger = device.ledger
    if as_json:
        print_json({**receipt.to_dict(), "ledger": ledger.to_dict()})
        return
    print(f"{receipt.title or 'survey'} ({receipt.survey[:12]}), asked by {receipt.collector}")
    print(f"  {receipt}")
    if written is not None:
        print(f"  {written}")
    if receipt.state in ("unsent", "sent", "refused") and not receipt.drawn:
        print("  this device answered before: its first report stands, and no other was drawn")
    elif receipt.drawn:
        delta = f" and delta {receipt.delta:.3g}" if receipt.delta else ""
        where = " in this window" if receipt.after is not None else ""
        cost = f"epsilon {receipt.epsilon:.4g}{delta}"
        print(f"  randomized on this device with {cost}; no other report will be drawn{where}")
    print()
    print(ledger)
